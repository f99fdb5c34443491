"""Kernels that the tests of launching and caching share. Each factory makes a new function each time it is called."""

from __future__ import annotations

import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.wave.compile import CompiledKernel, WaveCompileOptions, wave_compile
from wave_mlir.wave.kernel import WaveKernel

M, N, K = tkl.sym.M, tkl.sym.N, tkl.sym.K
BM, BN, BK, SPACE = tkl.sym.BLOCK_M, tkl.sym.BLOCK_N, tkl.sym.BLOCK_K, tkl.sym.ADDRESS_SPACE
ROWS = [tkw.WorkgroupConstraint(M, 64, 0), tkw.HardwareConstraint(64, vector_shapes={M: 64})]


def added(number: float = 1.0, dtype: tkl.DataType = tkl.f32, constraints: list | None = None, layout=None):
    """c = a + number, along M."""
    items = (M, GLOBAL, dtype) if layout is None else (M, GLOBAL, dtype, layout)

    @tkw.wave(ROWS if constraints is None else constraints)
    def add(a: tkl.Memory[items], c: tkl.Memory[M, GLOBAL, dtype]):  # type: ignore[valid-type]
        tkw.write(tkw.read(a) + number, c)

    return add


def scaled() -> WaveKernel:
    """c = a * x + n, with a float and an integer scalar."""

    @tkw.wave(ROWS)
    def scale(a: tkl.Memory[M, GLOBAL, tkl.f32], c: tkl.Memory[M, GLOBAL, tkl.f32], x: tkl.f32, n: tkl.i32):
        shift = tkw.cast(tkw.broadcast(n, [M]), tkl.f32)
        tkw.write(tkw.read(a) * tkw.broadcast(x, [M]) + shift, c)

    return scale


def gemm() -> WaveKernel:
    """c = a bᵀ in f16 with f32 sums; a [M, K], b [N, K]."""
    constraints = [
        tkw.WorkgroupConstraint(M, BM, 0),
        tkw.WorkgroupConstraint(N, BN, 1),
        tkw.TilingConstraint(K, BK),
        tkw.WaveConstraint(M, BM / 2),
        tkw.WaveConstraint(N, BN / 2),
        tkw.HardwareConstraint(threads_per_wave=64, mma_type=tkw.MMAType.F32_16x16x16_F16),
    ]

    @tkw.wave(constraints)
    def multiply(
        a: tkl.Memory[M, K, SPACE, tkl.f16], b: tkl.Memory[N, K, SPACE, tkl.f16], c: tkl.Memory[M, N, GLOBAL, tkl.f32]
    ):
        zero = tkl.Register[M, N, tkl.f32](0.0)

        @tkw.iterate(K, init_args=[zero])
        def loop(acc: tkl.Register[M, N, tkl.f32]):
            return tkw.mma(tkw.read(a), tkw.read(b), acc)

        tkw.write(loop, c)

    return multiply


GEMM_SUBS = {BM: 32, BN: 32, BK: 16, SPACE: tkl.AddressSpace.SHARED_MEMORY}


def compiled_add(size: int = 128, **options) -> CompiledKernel:
    """`added()` for `size` elements."""
    return wave_compile(WaveCompileOptions(subs={M: size}, target="gfx942", **options), added())


def compiled_gemm(m: int = 64, n: int = 64, k: int = 32, dynamic: tuple = (), **options) -> CompiledKernel:
    """`gemm()` for a shape; `dynamic` lists which of M, N, K are known at the launch only."""
    subs = {**GEMM_SUBS, **{s: v for s, v in ((M, m), (N, n), (K, k)) if s not in dynamic}}
    made = WaveCompileOptions(subs=subs, target="gfx942", dynamic_symbols=dynamic, **options)
    return wave_compile(made, gemm())
