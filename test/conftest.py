"""Shared by all pytest tests: the machine-code runner as a fixture; markers of tests that need other programs."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import foreign_kernels
import llvm_mca
import pytest
import second_opinion
from hypothesis import settings

if TYPE_CHECKING:
    from wave_mlir.isa import IsaRun
    from wave_mlir.isa.compiled import HasKernels

os.environ["WAVE_VERIFY_FORMS"] = "1"  # before wave_mlir is imported: all tests check the form after each pass
os.environ["WAVE_CACHE"] = "0"  # what is tested is compiled; tests of the cache turn it on

# The same examples in each run, so that what passes once passes always; WAVE_RANDOM_EXAMPLES=1 looks for new ones.
settings.register_profile("fixed", derandomize=True)
if not os.environ.get("WAVE_RANDOM_EXAMPLES"):
    settings.load_profile("fixed")


def _thin(items: Sequence[pytest.Item]) -> None:
    """Mark as slow all but each n-th case of a test marked `thin(n)`: of a matrix of parameters, n with no factor in
    common with their numbers leaves a mixture. The first case always stays."""
    seen: dict[str, int] = {}
    for item in items:
        if marker := item.get_closest_marker("thin"):
            name = item.nodeid.partition("[")[0]
            seen[name] = seen.get(name, -1) + 1
            if seen[name] % marker.args[0]:
                item.add_marker(pytest.mark.slow)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect tests that need the external runner, kernels of other compilers or an llvm-mca, when there are none.

    The workers of a parallel run must find the same tests: a name with an address in it is an error here.
    """
    _thin(items)
    changing = [item.nodeid for item in items if " at 0x" in item.nodeid]
    if changing:
        raise pytest.UsageError(f"{changing[0]}: this name differs in each run; give the parameters other ids")
    there = {"second_opinion": second_opinion.available(), "foreign": foreign_kernels.available()}
    there["mca"] = llvm_mca.find() != ""
    missing = [marker for marker, available in there.items() if not available]
    chosen, left_out = [], []
    for item in items:
        (left_out if any(item.get_closest_marker(m) for m in missing) else chosen).append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = chosen


@pytest.fixture(scope="session")
def isa() -> Callable[..., IsaRun]:
    """`isa(compiled, *args, seed=0, symbols=None, kernel=None, …)` runs a compiled kernel's machine code in the
    project's own runner with all checks; arrays are updated in place, the first fault raises `IsaError`."""

    def run(compiled: HasKernels, *args: object, **options: object) -> IsaRun:
        from wave_mlir.isa.compiled import run_compiled

        return run_compiled(compiled, args, **options)  # type: ignore[arg-type]

    return run


@pytest.fixture(scope="session", params=["own", pytest.param("second opinion", marks=pytest.mark.second_opinion)])
def machine_run(request: pytest.FixtureRequest) -> Callable[..., object]:
    """`machine_run(hsaco_path, kernel, arrays, grid, block, arch, seed)` in each runner there is. The project's own
    takes the assembly that lies beside the code object (suffix .s): it needs no disassembler for that."""
    if request.param != "own":
        return second_opinion.isa_run

    def run(path: Path, kernel: str, arrays: Sequence[object], grid: object, block: object, arch: str, seed: int = 0):
        from wave_mlir import isa

        options = {"kernel": kernel, "target": arch, "seed": seed}
        return isa.run(path.with_suffix(".s"), arrays, grid, block, **options)  # type: ignore[arg-type]

    return run


@pytest.fixture(scope="session")
def isa_run() -> Callable[..., object]:
    """`isa_run(hsaco_path, kernel, arrays, grid, block, arch, seed)`, see `second_opinion.isa_run`."""
    return second_opinion.isa_run
