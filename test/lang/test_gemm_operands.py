"""GEMMs whose operands lie otherwise: transposed, batched, packed into wider words, strided."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from gemms import NUMPY, SPACE, B, K, M, N, constraints, integers, product, run, tiles
from wave_mlir.compiler.diagnostics import CompileError
from wave_mlir.lang.dtypes import DataType
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import SHARED_ADDRESS_SPACE as SHARED
from wave_mlir.wave.compile import WaveCompileOptions, wave_compile
from wave_mlir.wave.constraints import MMAType as Mma

SPACES = pytest.mark.parametrize("space", [SHARED, GLOBAL], ids=["shared", "global"])
BB = tkl.sym.BLOCK_B
ROW, COL = tkw.IndexMapping.iterator(0), tkw.IndexMapping.iterator(1)


# --- transposed ---


def _transposed(way: str, lhs: bool, rhs: bool):
    """A[K, M] or B[K, N] where asked: read through a mapping, read and permuted, or read as it is."""

    def operand(memory, dim: sympy.Symbol, transposed: bool):
        if not transposed or way == "as it is":
            return tkw.read(memory)
        if way == "permuted":
            return tkw.permute(tkw.read(memory), target_shape=[dim, K])
        return tkw.read(memory, mapping=tkw.IndexMapping(2, inputs={K: COL, dim: ROW}, outputs={dim: ROW, K: COL}))

    def dims(dim: sympy.Symbol, transposed: bool) -> tuple:
        return (K, dim) if transposed else (dim, K)

    @tkw.wave(constraints(waves=(2, 2)))
    def gemm(
        a: tkl.Memory[(*dims(M, lhs), SPACE, tkl.f16)],
        b: tkl.Memory[(*dims(N, rhs), SPACE, tkl.f16)],
        c: tkl.Memory[M, N, GLOBAL, tkl.f32],
    ):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
        def loop(acc):
            return tkw.mma(operand(a, M, lhs), operand(b, N, rhs), acc)

        tkw.write(loop, c)

    return gemm


@pytest.mark.thin(5)
@pytest.mark.parametrize("size", [(64, 64, 64), (17, 100, 33)], ids=str)
@pytest.mark.parametrize(("lhs", "rhs"), [(True, False), (False, True), (True, True)], ids=["A", "B", "AB"])
@pytest.mark.parametrize("way", ["mapping", "permuted", "as it is"])
@SPACES
def test_transposed(space: sympy.Symbol, way: str, lhs: bool, rhs: bool, size: tuple[int, int, int]) -> None:
    m, n, k = size
    a, b = integers((m, k), tkl.f16), integers((n, k), tkl.f16, 1)
    args = [a.T.copy() if lhs else a, b.T.copy() if rhs else b]
    subs = {**tiles(32, 32, 32, space), M: m, N: n, K: k}
    want = product(a, b).astype(np.float32)
    run(_transposed(way, lhs, rhs), subs, args, want, machine=lhs and rhs and way == "mapping")


# --- batched ---


@pytest.mark.parametrize("block", [1, 2])
@pytest.mark.parametrize("out", ["BMN", "MBN"])
@SPACES
def test_batched(space: sympy.Symbol, out: str, block: int) -> None:
    """A batch dim on a grid dim, one or two of it a workgroup; the result in another order of dims."""
    dims = [{"B": B, "M": M, "N": N}[name] for name in out]

    @tkw.wave(constraints(waves=(2, 2), extra=[tkw.WorkgroupConstraint(B, BB, 2)], vector_shapes={B: 0}))
    def gemm(
        a: tkl.Memory[B, M, K, SPACE, tkl.f16],
        b: tkl.Memory[B, N, K, SPACE, tkl.f16],
        c: tkl.Memory[(*dims, GLOBAL, tkl.f32)],
    ):
        @tkw.iterate(K, init_args=[tkl.Register[B, M, N, tkl.f32](0.0)])
        def loop(acc):
            return tkw.mma(tkw.read(a), tkw.read(b), acc)

        tkw.write(tkw.permute(loop, target_shape=dims), c)

    a, b = integers((3, 50, 64), tkl.f16), integers((3, 32, 64), tkl.f16, 1)
    want = product(a, b).astype(np.float32)
    want = want if out == "BMN" else want.transpose(1, 0, 2).copy()
    subs = {**tiles(32, 32, 32, space), BB: block, B: 3, M: 50, N: 32, K: 64}
    run(gemm, subs, [a, b], want, machine=block == 2)


def test_one_operand_for_the_batch() -> None:
    @tkw.wave(constraints(waves=(2, 2), extra=[tkw.WorkgroupConstraint(B, BB, 2)], vector_shapes={B: 0}))
    def gemm(
        a: tkl.Memory[B, M, K, SPACE, tkl.f16],
        b: tkl.Memory[N, K, SPACE, tkl.f16],
        c: tkl.Memory[B, M, N, GLOBAL, tkl.f32],
    ):
        @tkw.iterate(K, init_args=[tkl.Register[B, M, N, tkl.f32](0.0)])
        def loop(acc):
            return tkw.mma(tkw.read(a), tkw.read(b), acc)

        tkw.write(loop, c)

    a, b = integers((3, 33, 40), tkl.f16), integers((50, 40), tkl.f16, 1)
    subs = {**tiles(32, 32, 32), BB: 1, B: 3, M: 33, N: 50, K: 40}
    run(gemm, subs, [a, b], product(a, b).astype(np.float32), machine=True)


# --- packed ---

PACKED = [
    (tkl.i32, tkl.i8, Mma.I32_16x16x32_I8, "gfx942"),
    (tkl.i64, tkl.i8, Mma.I32_32x32x16_I8, "gfx942"),
    (tkl.i32, tkl.f16, Mma.F32_16x16x16_F16, "gfx942"),
    (tkl.i32, tkl.f8e4m3fnuz, Mma.F32_16x16x32_F8, "gfx942"),
    (tkl.i32, tkl.f8e4m3fnuz, Mma.F32_16x16x32_K4_F8, "gfx942"),
    (tkl.i64, tkl.f8e4m3fnuz, Mma.F32_16x16x32_K4_F8, "gfx942"),  # four elements a lane: half a word
    (tkl.i32, tkl.f8e4m3fn, Mma.F32_32x32x16_F8, "gfx950"),
]


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    ("word", "dtype", "kind", "target"), PACKED, ids=[f"{w}-{d}-{k.name}-{t}" for w, d, k, t in PACKED]
)
@SPACES
def test_packed(space: sympy.Symbol, word: DataType, dtype: DataType, kind: object, target: str) -> None:
    """Memory of words, each of which holds several elements along K."""
    count = word.bits // dtype.bits
    acc_type = tkl.i32 if dtype is tkl.i8 else tkl.f32

    @tkw.wave(constraints(kind, (2, 2)))
    def gemm(
        a: tkl.Memory[M, K / count, SPACE, word],
        b: tkl.Memory[N, K / count, SPACE, word],
        c: tkl.Memory[M, N, GLOBAL, acc_type],
    ):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, acc_type](0)])
        def loop(acc):
            return tkw.mma(tkw.bitcast(tkw.read(a), dtype), tkw.bitcast(tkw.read(b), dtype), acc)

        tkw.write(loop, c)

    m, n, k = 50, 64, 104
    a, b = integers((m, k), dtype), integers((n, k), dtype, 1)
    words = np.dtype(f"int{word.bits}")
    subs = {**tiles(32, 64, 32, space), M: m, N: n, K: k}
    want = product(a, b).astype(NUMPY[acc_type])
    run(gemm, subs, [a.view(words), b.view(words)], want, target=target, machine=space is SHARED)


@pytest.mark.parametrize("waves", [(1, 1), (2, 2)], ids=str)
def test_packed_result(waves: tuple[int, int]) -> None:
    """Four f8 along N become one word; a lane of the accumulator has none of them together."""

    @tkw.wave(constraints(waves=waves))
    def gemm(
        a: tkl.Memory[M, K, SPACE, tkl.f16],
        b: tkl.Memory[N, K, SPACE, tkl.f16],
        c: tkl.Memory[M, N / 4, GLOBAL, tkl.i32],
    ):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
        def loop(acc):
            return tkw.mma(tkw.read(a), tkw.read(b), acc)

        tkw.write(tkw.bitcast(tkw.cast(loop, tkl.f8e4m3fnuz), tkl.i32), c)

    m, n, k = 40, 64, 32
    a, b = integers((m, k), tkl.f16, 0, 1), integers((n, k), tkl.f16, 1, 1)
    want = product(a, b).astype(np.float32).astype(NUMPY[tkl.f8e4m3fnuz]).view(np.int32)
    run(gemm, {**tiles(32, 64, 32), M: m, N: n, K: k}, [a, b], want, machine=True)


def test_elements_of_another_width_do_not_fit_the_memory() -> None:
    @tkw.wave(constraints())
    def gemm(a: tkl.Memory[M, K, GLOBAL, tkl.i8], c: tkl.Memory[M, K, GLOBAL, tkl.i8]):
        tkw.write(tkw.bitcast(tkw.read(a), tkl.f6e2m3fn), c)

    with pytest.raises(CompileError, match="write: a tile of f6e2m3fn into memory c of i8"):
        wave_compile(WaveCompileOptions(subs={**tiles(32, 32, 32), M: 64, K: 64}, target="gfx942"), gemm)


# --- views ---


@pytest.mark.parametrize("strides", [(None, None), (None, 1)], ids=["both", "rows"])
@SPACES
def test_views_with_strides(space: sympy.Symbol, strides: tuple) -> None:
    """Slices of larger tensors: their strides are given at the call."""
    view = tkl.MemoryLayout(strides=strides)

    @tkw.wave(constraints(waves=(2, 2)))
    def gemm(
        a: tkl.Memory[M, K, SPACE, tkl.f16, view],
        b: tkl.Memory[N, K, SPACE, tkl.f16, view],
        c: tkl.Memory[M, N, GLOBAL, tkl.f32, view],
    ):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
        def loop(acc):
            return tkw.mma(tkw.read(a), tkw.read(b), acc)

        tkw.write(loop, c)

    m, n, k = 50, 40, 70
    made = wave_compile(WaveCompileOptions(subs={**tiles(32, 32, 32, space), M: m, N: n, K: k}, target="gfx942"), gemm)
    a, b = integers((m, k + 13), tkl.f16)[:, 3 : 3 + k], integers((n, 2 * k), tkl.f16, 1)
    b = b[:, ::2] if strides == (None, None) else b[:, :k]
    whole = np.full((m, n + 5), 77, np.float32)
    made(a, b, whole[:, :n])
    np.testing.assert_array_equal(whole[:, :n], product(a, b))
    assert (whole[:, n:] == 77).all()
    whole[:] = 77
    made._compiled.run_isa(a, b, whole[:, :n], seed=2)
    np.testing.assert_array_equal(whole[:, :n], product(a, b))
    assert (whole[:, n:] == 77).all()
