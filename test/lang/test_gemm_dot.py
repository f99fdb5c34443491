"""GenericDot: products without MMA instructions."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from gemms import NUMPY, SPACE, B, K, M, N, constraints, integers, plain, product, run, tiles
from wave_mlir.compiler.diagnostics import CompileError
from wave_mlir.lang.dtypes import DataType
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import SHARED_ADDRESS_SPACE as SHARED
from wave_mlir.wave.compile import WaveCompileOptions, wave_compile
from wave_mlir.wave.constraints import GenericDot, MMAOperand
from wave_mlir.wave.constraints import MMAType as Mma

SIZES = [
    (out, k_vec, k_mult, along)
    for (out, k_vec), k_mult in zip([(1, 4), (4, 1), (2, 8), (1, 2)] * 2, [1, 4, 16, 64, 4, 1, 64, 2], strict=True)
    for along in (MMAOperand.M, MMAOperand.N)
]


def _dot(out: int, k_vec: int, k_mult: int, along: MMAOperand) -> GenericDot:
    return GenericDot(out_vec_size=out, k_vec_size=k_vec, k_mult=k_mult, along_dim=along)


@pytest.mark.thin(5)
@pytest.mark.parametrize(
    ("out", "k_vec", "k_mult", "along"), SIZES, ids=[f"{o}-{v}-{m}-{a.name}" for o, v, m, a in SIZES]
)
def test_vector_sizes(out: int, k_vec: int, k_mult: int, along: MMAOperand) -> None:
    lanes, across, summed = 64 // k_mult, 2 * out, min(k_vec * k_mult, 64)
    m, n, k = lanes + 3, across + 1, summed + 5
    m, n = (m, n) if along is MMAOperand.M else (n, m)
    a, b = integers((m, k), tkl.f16), integers((n, k), tkl.f16, 1)
    block = (lanes, across) if along is MMAOperand.M else (across, lanes)
    subs = {**tiles(*block, summed, SHARED if out == 1 else GLOBAL), M: m, N: n, K: k}
    kernel = plain(tkl.f16, constraints(_dot(out, k_vec, k_mult, along)))
    run(kernel, subs, [a, b], product(a, b).astype(np.float32), machine=k_vec == 4)


@pytest.mark.parametrize("waves", [(2, 2), (4, 1)], ids=str)
@pytest.mark.parametrize(("dtype", "space"), [(tkl.f32, SHARED), (tkl.bf16, GLOBAL), (tkl.i8, SHARED)], ids=str)
def test_types_and_waves(dtype: DataType, space: sympy.Symbol, waves: tuple[int, int]) -> None:
    m, n, k = 33, 20, 20
    a, b = integers((m, k), dtype), integers((n, k), dtype, 1)
    want = product(a, b).astype(NUMPY[tkl.i32 if dtype is tkl.i8 else tkl.f32])
    kernel = plain(dtype, constraints(_dot(1, 4, 2, MMAOperand.M), waves))
    run(kernel, {**tiles(32, 4, 8, space), M: m, N: n, K: k}, [a, b], want, machine=waves == (2, 2))


def test_batched() -> None:
    @tkw.wave(
        constraints(
            _dot(2, 4, 4, MMAOperand.N), extra=[tkw.WorkgroupConstraint(B, tkl.sym.BLOCK_B, 2)], vector_shapes={B: 0}
        )
    )
    def gemm(
        a: tkl.Memory[B, M, K, SPACE, tkl.f16],
        b: tkl.Memory[B, N, K, SPACE, tkl.f16],
        c: tkl.Memory[B, M, N, GLOBAL, tkl.f32],
    ):
        @tkw.iterate(K, init_args=[tkl.Register[B, M, N, tkl.f32](0.0)])
        def loop(acc):
            return tkw.mma(tkw.read(a), tkw.read(b), acc)

        tkw.write(loop, c)

    a, b = integers((3, 9, 20), tkl.f16), integers((3, 18, 20), tkl.f16, 1)
    subs = {**tiles(4, 8, 16), tkl.sym.BLOCK_B: 2, B: 3, M: 9, N: 18, K: 20}
    run(gemm, subs, [a, b], product(a, b).astype(np.float32), machine=True)


@pytest.mark.parametrize("first_is_dot", [True, False])
def test_chained_with_an_mma(first_is_dot: bool) -> None:
    """One of two chained products with an MMA: their layouts meet in between."""
    inner = tkl.sym.INNER
    kinds = [GenericDot(along_dim=MMAOperand.M, k_vec_size=4), Mma.F32_16x16x16_F16]
    first, second = kinds if first_is_dot else reversed(kinds)

    @tkw.wave(
        [
            tkw.WorkgroupConstraint(M, 16, 0),
            tkw.WorkgroupConstraint(N, 16, 1),
            tkw.TilingConstraint(K, 16),
            tkw.HardwareConstraint(64, mma_type=first),
        ]
    )
    def chain(
        q: tkl.Memory[M, inner, GLOBAL, tkl.f16],
        k: tkl.Memory[K, inner, GLOBAL, tkl.f16],
        v: tkl.Memory[N, K, GLOBAL, tkl.f16],
        c: tkl.Memory[M, N, GLOBAL, tkl.f32],
    ):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
        def loop(acc):
            scores = tkw.mma(tkw.read(q), tkw.read(k), tkl.Register[M, K, tkl.f32](0.0))
            return tkw.mma(tkw.cast(scores, tkl.f16), tkw.read(v), acc, mma_type=second)

        tkw.write(loop, c)

    q, k, v = (integers(shape, tkl.f16, i, 1) for i, shape in enumerate([(20, 16), (40, 16), (24, 40)]))
    want = product(product(q, k), v).astype(np.float32)
    run(chain, {M: 20, N: 24, K: 40, inner: 16}, [q, k, v], want, machine=True)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (GenericDot(k_mult=3), r"sizes that do not fit; they must be positive, and k_mult divide the 64 lanes"),
        (GenericDot(k_vec_size=0), r"sizes that do not fit"),
        (GenericDot(along_dim=MMAOperand.K), r"divided along MMAOperand.M or N; K is summed over"),
    ],
    ids=["k_mult", "k_vec_size", "along_dim"],
)
def test_mistakes(how: GenericDot, message: str) -> None:
    kernel = plain(tkl.f16, constraints(how))
    with pytest.raises(CompileError, match=message):
        wave_compile(WaveCompileOptions(subs={**tiles(16, 16, 16), M: 16, N: 16, K: 16}, target="gfx942"), kernel)
