"""Reductions: over registers, lanes, waves and loops, of sizes that divide nothing."""

from __future__ import annotations

import numpy as np
import pytest
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from running import check
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL

M, N, BM, BN = tkl.sym.M, tkl.sym.N, tkl.sym.BLOCK_M, tkl.sym.BLOCK_N
REFERENCE = {"sum": np.sum, "max": np.max, "min": np.min}
DTYPES = {"f32": (tkl.f32, np.float32), "f16": (tkl.f16, np.float16), "i32": (tkl.i32, np.int32)}


def data(shape: tuple[int, ...], dtype, low: int = -9) -> np.ndarray:
    return np.random.default_rng(7).integers(low, 9, shape).astype(dtype)


# Each kind with each size; dtypes and waves in turn.
ROWS = [
    (kind, list(DTYPES)[(i + j) % 3], n, 1 + (i + j) % 2)
    for i, kind in enumerate(REFERENCE)
    for j, n in enumerate([1, 17, 64, 100, 256])
]


@pytest.mark.thin(4)
@pytest.mark.parametrize(("kind", "dtype", "n", "waves"), ROWS)
def test_rows_in_a_loop(kind: str, dtype: str, n: int, waves: int) -> None:
    element, array = DTYPES[dtype]
    constraints = [
        tkw.WorkgroupConstraint(M, BM, 0),
        tkw.WaveConstraint(M, BM / waves),
        tkw.TilingConstraint(N, BN),
        tkw.HardwareConstraint(64, vector_shapes={M: 1, N: BN}),
    ]
    first = {"sum": 0, "max": -100, "min": 100}[kind]

    @tkw.wave(constraints)
    def kernel(a: tkl.Memory[M, N, GLOBAL, element], c: tkl.Memory[M, GLOBAL, element]):
        @tkw.iterate(N, init_args=[tkl.Register[M, element](first)])
        def loop(acc):
            return getattr(tkw, kind)(tkw.read(a), acc, dim=N)

        tkw.write(loop, c)

    # Values of one sign: a forgotten neutral element at the end of a row would show in max and min.
    a = data((37, n), array, 1) * (-1 if kind == "max" else 1)
    want = REFERENCE[kind](a, axis=1).astype(array)
    check(kernel, {BM: 4, BN: 64, M: 37, N: n}, [a, np.zeros(37, array)], {1: want})


@pytest.mark.thin(5)
@pytest.mark.parametrize("kind", REFERENCE)
@pytest.mark.parametrize(("n", "waves"), [(512, 4), (256, 2), (300, 4), (64, 1)])
def test_block(kind: str, n: int, waves: int) -> None:
    constraints = [
        tkw.WorkgroupConstraint(M, 1, 0),
        tkw.WorkgroupConstraint(N, BN, 1),
        tkw.WaveConstraint(N, BN / waves),
        tkw.HardwareConstraint(64, vector_shapes={M: 1, N: 64}),
    ]

    @tkw.wave(constraints)
    def kernel(a: tkl.Memory[M, N, GLOBAL, tkl.f32], c: tkl.Memory[M, N, GLOBAL, tkl.f32]):
        x = tkw.read(a)
        tkw.write(x * getattr(tkw, kind)(x, dim=N, block=True), c)

    a = data((5, n), np.float32, 1) * (-1 if kind == "max" else 1)
    block = -(-n // (64 * waves)) * 64 * waves
    check(kernel, {M: 5, N: n, BN: block}, [a, np.zeros_like(a)], {1: a * REFERENCE[kind](a, axis=1, keepdims=True)})


def test_over_the_outer_dim() -> None:
    """Rows are summed: the dim is in registers, and then among lanes."""
    for shape in ({M: 1, N: 64}, {M: 16, N: 4}):

        @tkw.wave(
            [
                tkw.WorkgroupConstraint(N, BN, 0),
                tkw.TilingConstraint(M, BM),
                tkw.HardwareConstraint(64, vector_shapes=shape),
            ]
        )
        def kernel(a: tkl.Memory[M, N, GLOBAL, tkl.f32], c: tkl.Memory[N, GLOBAL, tkl.f32]):
            @tkw.iterate(M, init_args=[tkl.Register[N, tkl.f32](0.0)])
            def loop(acc):
                return tkw.sum(tkw.read(a), acc, dim=M)

            tkw.write(loop, c)

        a = data((37, 70), np.float32)
        check(kernel, {M: 37, N: 70, BM: 16, BN: 64}, [a, np.zeros(70, np.float32)], {1: a.sum(0)})


def test_softmax() -> None:
    @tkw.wave(
        [
            tkw.WorkgroupConstraint(M, 1, 0),
            tkw.WorkgroupConstraint(N, N, 1),
            tkw.WaveConstraint(N, N / 4),
            tkw.HardwareConstraint(64, vector_shapes={M: 1, N: 64}),
        ]
    )
    def kernel(a: tkl.Memory[M, N, GLOBAL, tkl.f32], c: tkl.Memory[M, N, GLOBAL, tkl.f32]):
        x = tkw.read(a)
        e = tkw.exp2((x - tkw.max(x, dim=N, block=True)) * 1.4426950408889634)
        tkw.write(e / tkw.sum(e, dim=N, block=True), c)

    a = np.random.default_rng(1).standard_normal((5, 512)).astype(np.float32)
    e = np.exp(a - a.max(1, keepdims=True).astype(np.float64))
    check(kernel, {M: 5, N: 512}, [a, np.zeros_like(a)], {1: e / e.sum(1, keepdims=True)}, tolerance=1e-7)


def test_accumulator_with_another_dim() -> None:
    """The result of a sum is repeated along what only the accumulator has."""
    S = tkl.sym.S

    @tkw.wave(
        [
            tkw.WorkgroupConstraint(S, 1, 0),
            tkw.TilingConstraint(M, BM),
            tkw.HardwareConstraint(64, vector_shapes={S: 0, M: 1, N: 64}),
        ]
    )
    def kernel(a: tkl.Memory[M, N, GLOBAL, tkl.f32], c: tkl.Memory[S, N, GLOBAL, tkl.f32]):
        @tkw.iterate(M, init_args=[tkl.Register[S, N, tkl.f32](1.0)])
        def loop(acc):
            return tkw.sum(tkw.read(a), acc, dim=M)

        tkw.write(loop, c)

    a = data((12, 64), np.float32)
    want = np.repeat(a.sum(0, keepdims=True) + 1, 3, 0)
    check(kernel, {S: 3, M: 12, N: 64, BM: 4}, [a, np.zeros((3, 64), np.float32)], {1: want})
