"""GEMMs over the matrix of gemm_cases: in the simulator and as machine code, with all checks, compared exactly."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable
from pathlib import Path

import gemm_cases
import numpy as np
import pytest
import second_opinion
from gemm_cases import GemmCase
from wave_mlir import sim
from wave_mlir.compiler import driver
from wave_mlir.compiler.driver import Compiled, CompileError

COVERING = gemm_cases.covering()
SEEDS = (0, 1, 2)
ROUNDS = int(os.environ.get("WAVE_GEMM_ROUNDS", "1"))
"""How many sizes the slow sweep takes for each combination of everything else; 0: all there are, which takes hours."""
SWEEP = [
    case
    for case in (gemm_cases.configurations(ROUNDS) if ROUNDS else gemm_cases.all_cases())
    if gemm_cases.expected_error(case) is None
]


@functools.lru_cache(maxsize=len(COVERING))
def _compiled(case: GemmCase) -> Compiled:
    return driver.compile_module(gemm_cases.gemm_text(case))


def _check(c: np.ndarray, a: np.ndarray, b: np.ndarray) -> None:
    np.testing.assert_array_equal(c, gemm_cases.expected(a, b, c.dtype))


def _simulate(case: GemmCase, order: str = "forward") -> None:
    a, b, c = gemm_cases.inputs(case)
    sim.run(_compiled(case).module, [a, b, c], order=order)
    _check(c, a, b)


def _execute(case: GemmCase, isa_run: Callable[..., object], folder: Path, seeds: tuple[int, ...]) -> None:
    compiled = _compiled(case)
    if reason := second_opinion.misread(compiled.isa):
        pytest.xfail(reason)
    (kernel,) = compiled.kernels
    path = folder / "gemm.hsaco"
    path.write_bytes(compiled.hsaco)
    for seed in seeds:
        a, b, c = gemm_cases.inputs(case, seed)
        isa_run(path, kernel.name, [a, b, c], kernel.grid_for(), kernel.block, case.target, seed)
        _check(c, a, b)


@pytest.mark.thin(3)
@pytest.mark.parametrize("case", COVERING, ids=str)
def test_simulated(case: GemmCase) -> None:
    _simulate(case)


CLIPPED = [
    case
    for case in SWEEP
    if case.space == "shared" and case.tile[0] == 64 and case.waves == (4, 1) and case.width == 32
]
"""16 rows a wave under an MMA of 32: half of a wave's lanes read no row of theirs, and need no barrier for it."""


@pytest.mark.parametrize("case", CLIPPED[:: max(1, len(CLIPPED) // 2)], ids=str)
def test_clipped_rows(case: GemmCase, isa: Callable[..., object]) -> None:
    for seed in SEEDS:
        a, b, c = gemm_cases.inputs(case, seed)
        sim.run(_compiled(case).module, [a, b, c], order="reverse")
        _check(c, a, b)
        isa(_compiled(case), a, b, np.zeros_like(c), seed=seed)


@pytest.mark.thin(5)
@pytest.mark.parametrize("case", COVERING, ids=str)
def test_machine_code(case: GemmCase, isa: Callable[..., object]) -> None:
    for seed in SEEDS:
        a, b, c = gemm_cases.inputs(case, seed)
        isa(_compiled(case), a, b, c, seed=seed)
        _check(c, a, b)


@pytest.mark.second_opinion
@pytest.mark.parametrize("case", COVERING, ids=str)
def test_second_opinion(case: GemmCase, isa_run: Callable[..., object], tmp_path: Path) -> None:
    _execute(case, isa_run, tmp_path, SEEDS)


@pytest.mark.parametrize("case", gemm_cases.refused(), ids=str)
def test_refused(case: GemmCase) -> None:
    with pytest.raises(CompileError) as caught:
        driver.compile_module(gemm_cases.gemm_text(case))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.severity == "error"
    assert re.search(r":\d+:\d+", diagnostic.location), diagnostic
    wanted = gemm_cases.expected_error(case)
    assert wanted is not None and re.search(wanted, diagnostic.message, re.IGNORECASE), diagnostic
    assert "internal" not in diagnostic.message and "Traceback" not in str(diagnostic)


@pytest.mark.slow
@pytest.mark.parametrize("case", SWEEP, ids=str)
def test_sweep_simulated(case: GemmCase) -> None:
    _simulate(case, "reverse")


@pytest.mark.slow
@pytest.mark.parametrize("case", SWEEP, ids=str)
def test_sweep_machine_code(case: GemmCase, isa: Callable[..., object]) -> None:
    a, b, c = gemm_cases.inputs(case)
    isa(_compiled(case), a, b, c)
    _check(c, a, b)


@pytest.mark.slow
@pytest.mark.second_opinion
@pytest.mark.parametrize("case", SWEEP, ids=str)
def test_sweep_second_opinion(case: GemmCase, isa_run: Callable[..., object], tmp_path: Path) -> None:
    _execute(case, isa_run, tmp_path, (0,))
