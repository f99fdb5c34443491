"""GEMMs of sizes that nothing divides, odd and tiny tiles, many waves, sizes known at run time only."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
import sympy
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from gemms import NUMPY, SPACE, K, M, N, constraints, integers, plain, product, run, tiles
from wave_mlir import sim
from wave_mlir.lang.dtypes import DataType
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import SHARED_ADDRESS_SPACE as SHARED
from wave_mlir.wave.compile import CompiledKernel, WaveCompileOptions, wave_compile
from wave_mlir.wave.constraints import MMAType as Mma

SPACES = pytest.mark.parametrize("space", [SHARED, GLOBAL], ids=["shared", "global"])
DIMS = (1, 17, 64, 100)
DYNAMIC = [(M,), (N,), (K,), (M, N, K)]
NAMES = ["".join(s.name for s in d) for d in DYNAMIC]
KINDS = {tkl.f16: Mma.F32_16x16x16_F16, tkl.bf16: Mma.F32_16x16x16_BF16, tkl.i8: Mma.I32_16x16x32_I8}
KINDS |= {tkl.f8e4m3fnuz: Mma.F32_16x16x32_F8}


def _inputs(size: tuple[int, int, int], dtype: DataType) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    m, n, k = size
    a, b = integers((m, k), dtype), integers((n, k), dtype, 1)
    return a, b, product(a, b).astype(NUMPY[tkl.i32 if dtype is tkl.i8 else tkl.f32])


def _run(dtype: DataType, size: tuple[int, int, int], tile: Sequence[int], waves: tuple[int, int], **options) -> None:
    a, b, want = _inputs(size, dtype)
    subs = {**tiles(*tile, options.pop("space", SHARED)), **dict(zip((M, N, K), size, strict=True))}
    run(plain(dtype, constraints(KINDS[dtype], waves)), subs, [a, b], want, **options)


# each value of a dim with each of another, not all triples
SIZES = [(DIMS[i], DIMS[j], DIMS[(i + j) % 4]) for i, j in itertools.product(range(4), repeat=2)]


@pytest.mark.thin(5)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_sizes(size: tuple[int, int, int]) -> None:
    _run(tkl.f16, size, (32, 32, 32), (2, 2), machine=size[0] == 17, space=SHARED if size[1] % 2 else GLOBAL)


@pytest.mark.thin(5)
@pytest.mark.parametrize("dtype", [tkl.f16, tkl.i8], ids=str)
@pytest.mark.parametrize("tile", [(1, 1, 1), (8, 8, 8), (3, 5, 7), (1, 64, 16), (64, 1, 32), (48, 24, 40)], ids=str)
@SPACES
def test_tiles(space: sympy.Symbol, tile: tuple[int, int, int], dtype: DataType) -> None:
    """Tiles smaller than an MMA, and ones it does not divide. Machine code too: rows of 13 elements are not aligned."""
    _run(dtype, (9, 11, 13), tile, (1, 1), space=space, machine=True)


@pytest.mark.parametrize("waves", [(1, 1), (2, 2), (4, 1), (1, 4), (4, 2), (2, 4), (8, 1)], ids=str)
def test_waves(waves: tuple[int, int]) -> None:
    tile = (128, 32, 32) if waves[0] == 8 else (64, 64, 32)
    _run(tkl.f16, (130, 70, 40), tile, waves, machine=waves == (4, 2))


# --- sizes at run time ---


@cache
def _dynamic(dtype: DataType, dynamic: tuple, space: sympy.Symbol) -> CompiledKernel:
    subs = {**tiles(32, 32, 32, space), **{s: 100 for s in (M, N, K) if s not in dynamic}}
    options = WaveCompileOptions(subs=subs, target="gfx942", dynamic_symbols=dynamic)
    return wave_compile(options, plain(dtype, constraints(KINDS[dtype], (2, 2))))


@pytest.mark.thin(3)
@pytest.mark.parametrize("values", [(1, 17, 64), (17, 1, 100), (64, 100, 17), (100, 64, 1), (33, 72, 40)], ids=str)
@pytest.mark.parametrize("dynamic", DYNAMIC, ids=NAMES)
@pytest.mark.parametrize(("dtype", "space"), [(tkl.f16, SHARED), (tkl.i8, GLOBAL)], ids=["f16-shared", "i8-global"])
def test_run_time_sizes(dtype: DataType, space: sympy.Symbol, dynamic: tuple, values: tuple[int, int, int]) -> None:
    """One kernel for all sizes: rows that are aligned, rows that are not, one trip, no whole trip."""
    made = _dynamic(dtype, dynamic, space)
    m, n, k = (value if s in dynamic else 100 for s, value in zip((M, N, K), values, strict=True))
    a, b, want = _inputs((m, n, k), dtype)
    c = np.full_like(want, 77)
    symbols = {s.name: v for s, v in {M: m, N: n, K: k}.items() if s in dynamic}
    sim.run(made._compiled.module, [a, b, c], symbols=symbols)
    np.testing.assert_array_equal(c, want)
    c[:] = 77
    made._compiled.run_isa(a, b, c, seed=3)
    np.testing.assert_array_equal(c, want)


@pytest.mark.parametrize("k", [0, 8, 45, 64])
def test_run_time_sums_of_computed_operands(k: int) -> None:
    """Operands that are not 0 beyond K: the loop over whole tiles and the one over the rest add the same points."""

    @tkw.wave(constraints(waves=(2, 2)))
    def gemm(
        a: tkl.Memory[M, K, SPACE, tkl.f16],
        b: tkl.Memory[N, K, SPACE, tkl.f16],
        c: tkl.Memory[M, N, GLOBAL, tkl.f32],
    ):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
        def loop(acc):
            return tkw.mma(tkw.read(a) + 1.0, tkw.read(b) - 2.0, acc)

        tkw.write(loop, c)

    a, b = integers((50, k), tkl.f16), integers((40, k), tkl.f16, 1)
    want = product(a.astype(np.float32) + 1, b.astype(np.float32) - 2).astype(np.float32)
    run(gemm, {**tiles(32, 32, 32), M: 50, N: 40}, [a, b], want, dynamic=[K], machine=True)


@pytest.mark.parametrize("size", [(40, 50, 60), (40, 56, 64)], ids=str)
def test_run_time_columns(size: tuple[int, int, int]) -> None:
    """B[K, N]: rows of run-time length N, walked along K of known size."""

    @tkw.wave(constraints(waves=(2, 2)))
    def gemm(
        a: tkl.Memory[M, K, SPACE, tkl.f16],
        b: tkl.Memory[K, N, SPACE, tkl.f16],
        c: tkl.Memory[M, N, GLOBAL, tkl.f32],
    ):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
        def loop(acc):
            return tkw.mma(tkw.read(a), tkw.permute(tkw.read(b), target_shape=[N, K]), acc)

        tkw.write(loop, c)

    m, n, k = size
    a, b = integers((m, k), tkl.f16), integers((n, k), tkl.f16, 1)
    subs = {**tiles(32, 32, 32), M: m, K: k}
    run(gemm, subs, [a, b.T.copy()], product(a, b).astype(np.float32), dynamic=[N], machine=True)


@pytest.mark.thin(5)
@pytest.mark.parametrize("space", [SHARED, GLOBAL], ids=["shared", "global"])
@pytest.mark.parametrize("dtype", KINDS, ids=str)
def test_run_time_sizes_cost_little(dtype: DataType, space: sympy.Symbol) -> None:
    """The loop over whole tiles has at most 1.3 times the instructions of the kernel whose sizes are known, and loads
    as wide."""
    kernel = plain(dtype, constraints(KINDS[dtype], (2, 2)))

    def loop(dynamic: tuple):
        subs = {**tiles(64, 64, 64, space), **{s: 512 for s in (M, N, K) if s not in dynamic}}
        options = WaveCompileOptions(subs=subs, target="gfx942", dynamic_symbols=dynamic)
        return wave_compile(options, kernel).report.kernels[0].hot_loop.counts

    static = loop(())
    for dynamic in DYNAMIC:
        counts = loop(dynamic)
        assert counts["mfma"] == static["mfma"]
        assert counts.by_width["load"] == static.by_width["load"]
        assert counts.instructions <= 1.3 * static.instructions


def test_instructions_executed_for_run_time_sizes() -> None:
    """The same of what a trip executes."""
    kernel = plain(tkl.f16, constraints(waves=(2, 2)))

    def executed(dynamic: tuple, k: int) -> int:
        values = {M: 64, N: 64, K: k}
        subs = {**tiles(64, 64, 32), **{s: v for s, v in values.items() if s not in dynamic}}
        made = wave_compile(WaveCompileOptions(subs=subs, target="gfx942", dynamic_symbols=dynamic), kernel)
        a, b, want = _inputs((64, 64, k), tkl.f16)
        c = np.zeros_like(want)
        count = made._compiled.run_isa(a, b, c, seed=1).executed
        np.testing.assert_array_equal(c, want)
        return count

    static, run_time = (executed(dynamic, 512) - executed(dynamic, 256) for dynamic in ((), (M, N, K)))
    assert run_time <= 1.3 * static
