"""Machine code executed by a program that is not ours.

The environment variable WAVE_SECOND_OPINION names the folder that holds `run_hsaco.py` (or a folder with it in `isa/`).
Tests that use it carry the marker `second_opinion`; without the variable they are deselected.
"""

from __future__ import annotations

import functools
import importlib
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import numpy as np

VARIABLE = "WAVE_SECOND_OPINION"
Scalar = int | float | np.generic


def available() -> bool:
    """Whether the variable is set (an empty value counts as unset)."""
    return bool(os.environ.get(VARIABLE))


@functools.cache
def _runner() -> ModuleType:
    named = Path(os.environ[VARIABLE])
    for folder in (named, named / "isa"):
        if (folder / "run_hsaco.py").is_file():
            sys.path.insert(0, str(folder.resolve()))
            _share_package_test()
            return importlib.import_module("run_hsaco")
    raise RuntimeError(f"{VARIABLE} names {named}, which has no run_hsaco.py")


def _share_package_test() -> None:
    """The runner imports `test.…` of the repository that it stands on; pytest has made our tests the package `test`."""
    ours, repository = sys.modules.get("test"), os.environ.get("TINYGRAD_REPO")
    if ours is not None and repository:
        ours.__path__ = [*getattr(ours, "__path__", ()), os.path.join(repository, "test")]


def isa_run(
    hsaco_path: str | os.PathLike[str],
    kernel: str,
    arrays: Sequence[np.ndarray | Scalar],
    grid: Sequence[int],
    block: Sequence[int],
    arch: str,
    seed: int = 0,
) -> object:
    """Run `kernel` of a code object; `arrays` (in the order of the kernel's arguments) are updated in place.

    `grid` counts workgroups. Values loaded are held back until the wait that covers them, and waves run in an order
    drawn from `seed`, so that missing waits and barriers change results. Arrays of types that the runner does not
    know (8-bit floats, bfloat16) are passed as their bytes. Returns the runner's statistics; raises its errors.
    """
    passed = [_plain(a) if isinstance(a, np.ndarray) else a for a in arrays]
    return _runner().run(
        os.fspath(hsaco_path), kernel, passed, grid=tuple(grid), block=tuple(block), arch=arch,
        strict=True, schedule="random", seed=seed,
    )  # fmt: skip


def refused(hsaco_path: str | os.PathLike[str], kernel: str) -> dict[int, str]:
    """The instructions that the runner says it cannot run: byte offset in the kernel -> its reason."""
    return dict(_runner().unsupported(os.fspath(hsaco_path), kernel))


_FROM_ACCUMULATORS = re.compile(r"^\s*ds_write\w* v\d+, a(\d|\[)", re.MULTILINE)


def misread(isa: str) -> str:
    """What of this code the runner is known to read wrongly, without saying so; "" for nothing.

    Found by moving the operands of each kind of instruction of an exact kernel to AGPRs, one kind at a time.
    """
    return "LDS writes from AGPRs store other registers in this runner" if _FROM_ACCUMULATORS.search(isa) else ""


def _plain(array: np.ndarray) -> np.ndarray:
    """A view of the same memory with a type numpy itself has."""
    if not (array.flags.c_contiguous and array.flags.writeable):
        raise ValueError("arrays are updated in place: they must be C-contiguous and writable")
    return array if array.dtype.isbuiltin == 1 else array.view(np.uint8)
