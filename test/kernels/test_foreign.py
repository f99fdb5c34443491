"""Machine code that other compilers made runs right: Triton's and wave-lang's kernels against torch.

tools/foreign_kernels.py makes the kernels; without them these tests are deselected.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import foreign_kernels
import pytest
from wave_mlir import isa
from wave_mlir.report import codeobject

pytestmark = pytest.mark.foreign

KERNELS = foreign_kernels.descriptions()
UNALIGNED = ("wave-lang-gemm-four-stage",)
"""Kernels that rely on the unaligned mode: this one writes 128 bits of LDS at multiples of 8 bytes."""
OBJDUMP = codeobject.find_objdump(os.environ.get("WAVE_OBJDUMP", ""), os.environ.get("PATH", ""))
CODE_OBJECTS = [p for p in KERNELS if OBJDUMP and "code_object" in json.loads(p.read_text())]


def check(path: Path, form: str, seed: int) -> None:
    """Waves in an order drawn from the seed, loads held back until their wait, race checks on; data of the seed too."""
    import foreign_data  # torch is slow to import

    kernel = foreign_data.ForeignKernel(path)
    about = kernel.description
    tensors = kernel.tensors(seed)
    args, arrays = kernel.arguments(tensors)
    run = isa.run(
        path.parent / about[form], args, about["grid"], about["block"], kernel=about["kernel"], order="random",
        seed=seed, dynamic_lds=about["lds"], alignment=not path.stem.startswith(UNALIGNED),
    )  # fmt: skip
    assert not run.findings
    kernel.check(tensors, arrays)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("path", KERNELS, ids=lambda p: p.stem)
def test_assembly(path: Path, seed: int) -> None:
    check(path, "assembly", seed)


@pytest.mark.parametrize("path", CODE_OBJECTS, ids=lambda p: p.stem)
def test_code_object(path: Path) -> None:
    check(path, "code_object", 3)
