"""`schedule=`: kernels whose loops are reordered and overlapped give the same bits as those that are not."""

from __future__ import annotations

from collections.abc import Sequence

import gemms
import numpy as np
import pytest
import wave_mlir.lang as tkl
from attention_forward import Shape, Variant, attention_kernel, inputs
from gemms import BK, BM, BN, SHARED, SPACE, K, M, N
from wave_mlir.compiler.diagnostics import CompileError
from wave_mlir.wave.compile import CompiledKernel, WaveCompileOptions, wave_compile
from wave_mlir.wave.constraints import MMAType
from wave_mlir.wave.scheduling import SchedulingType

SELDOM = ("FOUR_STAGE", "PREFETCH_ATTENTION", "MANUAL")
OVERLAPPED = [SchedulingType.PREFETCH, SchedulingType.MODULO]


def _gemm(k: int | None, schedule: SchedulingType, **options: object) -> CompiledKernel:
    kernel = gemms.plain(tkl.f16, gemms.constraints(MMAType.F32_16x16x16_F16, (2, 1)))
    subs = {M: 64, N: 32, BM: 32, BN: 32, BK: 32, SPACE: SHARED} | ({} if k is None else {K: k})
    dynamic = [K] if k is None else []
    return wave_compile(
        WaveCompileOptions(subs=subs, dynamic_symbols=dynamic, schedule=schedule, target="gfx942", **options), kernel
    )


def _multiplied(made: CompiledKernel, k: int) -> None:
    a, b = gemms.integers((64, k), tkl.f16), gemms.integers((32, k), tkl.f16, seed=1)
    c = np.full((64, 32), np.nan, np.float32)
    made(a, b, c)
    np.testing.assert_array_equal(c, gemms.product(a, b))


EVERY = [
    pytest.param(s, id=s.name, marks=[pytest.mark.slow] * (s.name in SELDOM))
    for s in SchedulingType
    if s.name != "PING_PONG"
]
"""Ping-pong is for 8 waves and has tests of its own."""


@pytest.mark.parametrize("schedule", EVERY)
def test_kinds(schedule: SchedulingType) -> None:
    made = _gemm(320, schedule)
    assert ("wave.steady" in made.ir("scheduled")) == (schedule not in (SchedulingType.NONE, SchedulingType.MANUAL))
    _multiplied(made, 320)


@pytest.mark.parametrize("schedule", OVERLAPPED, ids=lambda s: s.name)
def test_lengths_at_run_time(schedule: SchedulingType) -> None:
    made = _gemm(None, schedule)
    for k in (32, 100, 160, 320):
        _multiplied(made, k)


def test_copies_of_buffers() -> None:
    made = _gemm(320, SchedulingType.PREFETCH, multi_buffer_count=3)
    assert made.ir("scheduled").count("wave.allocate") == 6
    _multiplied(made, 320)


def test_too_many_copies() -> None:
    with pytest.raises(CompileError, match="copies of this loop's LDS buffers take"):
        _gemm(320, SchedulingType.PREFETCH, multi_buffer_count=40)


def test_what_is_no_schedule() -> None:
    with pytest.raises(CompileError, match=r"schedule is 'prefetch'; it has to be one of SchedulingType.NONE, "):
        _gemm(320, "prefetch")  # type: ignore[arg-type]


def _attention(schedule: SchedulingType, variant: Variant, shape: Shape, given: Sequence[np.ndarray]) -> np.ndarray:
    kinds = (MMAType.F32_16x16x16_F16, MMAType.F32_16x16x16_F16)
    kernel, subs = attention_kernel(shape, variant, kinds, tkl.f16, 2, block_m=64)
    made = wave_compile(WaveCompileOptions(subs=subs, schedule=schedule, target="gfx942"), kernel)
    assert ("wave.steady" in made.ir("scheduled")) == (schedule is not SchedulingType.NONE)
    out = np.full((shape.heads, shape.queries, shape.v_size), np.nan, np.float32)
    made(*given, out)
    return out


@pytest.mark.slow
@pytest.mark.parametrize("variant", [Variant(), Variant(causal=True)], ids=str)
def test_attention(variant: Variant) -> None:
    """What is computed of what does not change, so the bits do not."""
    shape = Shape(heads=1, queries=64, keys=320, qk_size=32, v_size=32)
    given = inputs(shape, variant, np.float16)
    plain = _attention(SchedulingType.NONE, variant, shape, given)
    assert np.isfinite(plain).all()
    for schedule in OVERLAPPED:
        np.testing.assert_array_equal(_attention(schedule, variant, shape, given), plain)
