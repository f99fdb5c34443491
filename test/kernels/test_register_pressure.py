"""Accumulators of large tiles stay in registers: no spills, and next to no moves between the halves of the file."""

from __future__ import annotations

import pytest
from gemm_cases import GemmCase, gemm_text
from wave_mlir import report
from wave_mlir.compiler import driver

# 256 accumulator registers a lane; with LLVM's own order the first had 300 moves in the loop, the last spilled.
CASES = (
    GemmCase("gfx942", "f16", 16, "shared", (256, 256, 64), (2, 2), 256, 256, 256),
    GemmCase("gfx942", "bf8", 16, "shared", (256, 256, 64), (1, 4), 256, 256, 256),
    GemmCase("gfx950", "bf16", 16, "shared", (256, 256, 64), (4, 1), 256, 256, 256),
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_accumulators_stay(case: GemmCase) -> None:
    assert case.acc_registers == 256
    (kernel,) = report.analyze(driver.compile_module(gemm_text(case)).isa).kernels
    assert kernel.hot_loop is not None
    counts = kernel.hot_loop.counts
    assert (kernel.vgpr_spills, kernel.sgpr_spills, kernel.total["scratch"]) == (0, 0, 0)
    assert counts["accvgpr_move"] <= 40, "operand fragments may wait in AGPRs, accumulators may not"
