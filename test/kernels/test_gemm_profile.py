"""Counts and modelled timeline of GEMMs' machine code against numbers that the sizes alone give."""

from __future__ import annotations

from collections.abc import Callable

import gemm_cases
import numpy as np
import pytest
from gemm_cases import GemmCase
from wave_mlir.compiler import driver
from wave_mlir.compiler.targets import DTYPE_BITS

CASES = (
    GemmCase("gfx942", "f16", 16, "shared", (64, 64, 32), (2, 2), 128, 64, 96),
    GemmCase("gfx950", "f8", 32, "shared", (128, 128, 64), (2, 2), 128, 256, 128),
    GemmCase("gfx942", "i8", 32, "global", (64, 64, 32), (1, 1), 64, 128, 64),
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_profile(case: GemmCase, isa: Callable[..., object]) -> None:
    a, b, c = gemm_cases.inputs(case)
    run = isa(driver.compile_module(gemm_cases.gemm_text(case)), a, b, c, trace=1)
    np.testing.assert_array_equal(c, gemm_cases.expected(a, b, c.dtype))
    profile, timeline = run.profile(), run.timeline()
    workgroups = case.m // case.tile[0] * (case.n // case.tile[1])
    products = 2 * case.m * case.n * case.k // case.kind.flops
    assert profile.matrix_count == products
    assert profile.matrix_clocks == products * case.kind.clocks
    assert profile.total == run.executed == sum(profile.by_wave()) == sum(profile.by_class().values())

    accesses = profile.global_accesses()
    moved = {kind: sum(a.bytes for a in accesses if a.kind == kind) for kind in ("load", "store")}
    assert moved["store"] == c.nbytes
    element = DTYPE_BITS[case.operand_type] // 8
    if case.space == "shared":  # each workgroup reads its rows of A and B once
        assert moved["load"] == workgroups * (case.tile[0] + case.tile[1]) * case.k * element
    assert all(access.degree >= 1 for access in (*accesses, *profile.lds_accesses()))

    waves = case.waves[0] * case.waves[1]
    assert timeline.waves == waves
    assert timeline.busy_clocks("mfma") == products // workgroups * case.kind.clocks
    share = timeline.busy_clocks("mfma", 0) / timeline.clocks
    assert 0 < timeline.mfma_utilisation == pytest.approx(share)  # all SIMDs have as much to do
    assert timeline.mfma_utilisation <= timeline.mfma_utilisation_of_loop <= 1
    assert sum(timeline.stalls_by_reason().values()) < waves * timeline.clocks
