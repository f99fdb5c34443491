"""What stands before and after the MMA: biases, scales, activations, fused products, quantisation."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from gemms import NUMPY, SPACE, K, M, N, constraints, integers, product, run, tiles
from running import check
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import SHARED_ADDRESS_SPACE as SHARED

SPACES = pytest.mark.parametrize("space", [SHARED, GLOBAL], ids=["shared", "global"])
LOG2E = 1.4426950408889634


@SPACES
def test_scales_bias_residual(space: sympy.Symbol) -> None:
    @tkw.wave(constraints(waves=(2, 2)))
    def gemm(
        a: tkl.Memory[M, K, SPACE, tkl.f16],
        b: tkl.Memory[N, K, SPACE, tkl.f16],
        row_scale: tkl.Memory[M, GLOBAL, tkl.f32],
        col_scale: tkl.Memory[N, GLOBAL, tkl.f32],
        bias: tkl.Memory[N, GLOBAL, tkl.f16],
        residual: tkl.Memory[M, N, GLOBAL, tkl.f16],
        c: tkl.Memory[M, N, GLOBAL, tkl.f16],
    ):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
        def loop(acc):
            return tkw.mma(tkw.read(a), tkw.read(b), acc)

        scaled = loop * tkw.read(row_scale) * tkw.read(col_scale) + tkw.cast(tkw.read(bias), tkl.f32)
        tkw.write(tkw.cast(scaled + tkw.cast(tkw.read(residual), tkl.f32), tkl.f16), c)

    m, n, k = 50, 72, 70
    a, b = integers((m, k), tkl.f16, 0, 1), integers((n, k), tkl.f16, 1, 1)
    rows, cols = (2.0 ** integers((s,), tkl.f32, 3, 1) for s in (m, n))
    bias, residual = integers((n,), tkl.f16, 5), integers((m, n), tkl.f16, 6)
    want = (product(a, b) * rows[:, None] * cols + bias + residual).astype(np.float16)
    subs = {**tiles(32, 32, 32, space), M: m, N: n, K: k}
    run(gemm, subs, [a, b, rows.astype(np.float32), cols.astype(np.float32), bias, residual], want, machine=True)


@SPACES
def test_prologue(space: sympy.Symbol) -> None:
    """Operands that are computed: what lies beyond K is not 0 then, and must not be added."""

    @tkw.wave(constraints(waves=(2, 2)))
    def gemm(
        a: tkl.Memory[M, K, SPACE, tkl.f16],
        b: tkl.Memory[N, K, SPACE, tkl.i8],
        scale: tkl.Memory[N, GLOBAL, tkl.f16],
        c: tkl.Memory[M, N, GLOBAL, tkl.f32],
    ):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
        def loop(acc):
            weights = tkw.cast(tkw.read(b), tkl.f16) * tkw.read(scale) - 2.0
            return tkw.mma(tkw.read(a) + 1.0, weights, acc)

        tkw.write(loop, c)

    m, n, k = 50, 72, 70
    a, b, scale = integers((m, k), tkl.f16), integers((n, k), tkl.i8, 1), integers((n,), tkl.f16, 2)
    want = product(a.astype(np.float32) + 1, b.astype(np.float32) * scale[:, None] - 2).astype(np.float32)
    run(gemm, {**tiles(32, 32, 32, space), M: m, N: n, K: k}, [a, b, scale], want, machine=True)


@pytest.mark.parametrize("waves", [(1, 1), (2, 2)], ids=str)
@SPACES
def test_gate_and_up(space: sympy.Symbol, waves: tuple[int, int]) -> None:
    """silu(A·Gᵀ) ∘ (A·Uᵀ): two accumulators, one pass over A."""

    @tkw.wave(constraints(waves=waves))
    def gemm(
        a: tkl.Memory[M, K, SPACE, tkl.f16],
        gate: tkl.Memory[N, K, SPACE, tkl.f16],
        up: tkl.Memory[N, K, SPACE, tkl.f16],
        c: tkl.Memory[M, N, GLOBAL, tkl.f32],
    ):
        zero = tkl.Register[M, N, tkl.f32](0.0)

        @tkw.iterate(K, init_args=[zero, zero])
        def loop(g, u):
            rows = tkw.read(a)
            return tkw.mma(rows, tkw.read(gate), g), tkw.mma(rows, tkw.read(up), u)

        g, u = loop
        tkw.write(g / (tkw.exp2(g * -LOG2E) + 1.0) * u, c)

    m, n, k = 50, 64, 70
    a, gate, up = integers((m, k), tkl.f16), integers((n, k), tkl.f16, 1), integers((n, k), tkl.f16, 2)
    g, u = product(a, gate).astype(np.float64), product(a, up).astype(np.float64)
    with np.errstate(over="ignore"):
        want = (g / (1 + np.exp(-g)) * u).astype(np.float32)
    subs = {**tiles(32, 32, 32, space), M: m, N: n, K: k}
    run(gemm, subs, [a, gate, up], want, tolerance=0.05, machine=waves == (2, 2))


@pytest.mark.thin(3)
@pytest.mark.parametrize("waves", [(1, 1), (2, 1), (2, 2), (1, 4)], ids=str)
@pytest.mark.parametrize(
    ("target", "dtype"), [("gfx942", tkl.f8e4m3fnuz), ("gfx950", tkl.f8e4m3fn)], ids=["gfx942", "gfx950"]
)
def test_quantised(target: str, dtype, waves: tuple[int, int]) -> None:
    """A scale a row: the greatest absolute value of the row, over all waves along N, becomes the greatest f8."""
    most = {tkl.f8e4m3fnuz: 240.0, tkl.f8e4m3fn: 448.0}[dtype]

    @tkw.wave(constraints(waves=waves))
    def gemm(
        a: tkl.Memory[M, K, SPACE, tkl.f16],
        b: tkl.Memory[N, K, SPACE, tkl.f16],
        scales: tkl.Memory[M, GLOBAL, tkl.f32],
        c: tkl.Memory[M, N, GLOBAL, dtype],
    ):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
        def loop(acc):
            return tkw.mma(tkw.read(a), tkw.read(b), acc)

        scale = tkw.max(tkw.abs(loop), dim=N, block=True) / most
        tkw.write(scale, scales)
        tkw.write(tkw.cast(loop / tkw.broadcast(scale, [M, N]), dtype), c)

    m, n, k = 48, 64, 40
    a, b = integers((m, k), tkl.f16), integers((n, k), tkl.f16, 1)
    exact = product(a, b).astype(np.float32)
    scale = (np.abs(exact).max(1) / np.float32(most)).astype(np.float32)
    want = {2: scale, 3: (exact / scale[:, None]).astype(NUMPY[dtype])}
    args = [a, b, np.zeros(m, np.float32), np.zeros((m, n), NUMPY[dtype])]
    subs = {**tiles(32, 64, 32), M: m, N: n, K: k}
    check(gemm, subs, args, want, target=target, isa=waves == (2, 2))
