"""Matrix products C[M, N] = A · B with f32 (or i32) sums: plain, of transposed operands, with the sum divided."""

# Annotations of kernels are types of the language, and MMAType is an enumeration made from the tables of the targets.
# pyright: reportInvalidTypeForm=false

from __future__ import annotations

import sympy

import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE, SHARED_ADDRESS_SPACE, WORKGROUP_2
from wave_mlir.wave.constraints import MMAType

from .common import Dtype, Subs, dtype_of, positive, split_dynamic

__all__ = ["get_gemm_kernel", "get_gemm_kernel_transpose_a_b", "get_splitk_gemm_kernel"]

M, N, K, S = tkl.sym.M, tkl.sym.N, tkl.sym.K, tkl.sym.S
BLOCK_M, BLOCK_N, BLOCK_K = tkl.sym.BLOCK_M, tkl.sym.BLOCK_N, tkl.sym.BLOCK_K
SPACE = tkl.sym.ADDRESS_SPACE

BLOCK = (64, 64, 32)
"""Tile of a workgroup along M, N and K, unless one is asked for."""
WAVES = (2, 2)
"""Waves of a workgroup along M and N, unless others are asked for."""


def tiling(
    what: str,
    shape: tuple[int, int, int],
    mma: MMAType,
    threads_per_wave: int = 64,
    block: tuple[int, int, int] | None = None,
    waves: tuple[int, int] | None = None,
) -> tuple[list[tkw.Constraint], Subs]:
    """Constraints of a product by tiles, but that of K, and the values of tile sizes. Raises ValueError."""
    m, n, k = block or BLOCK
    across, along = waves or WAVES
    positive(what, dict(zip(("M", "N", "K"), shape, strict=True)) | {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k})
    positive(what, {"waves along M": across, "waves along N": along})
    constraints: list[tkw.Constraint] = [
        tkw.WorkgroupConstraint(M, BLOCK_M, 0),
        tkw.WorkgroupConstraint(N, BLOCK_N, 1),
        tkw.WaveConstraint(M, BLOCK_M / across),
        tkw.WaveConstraint(N, BLOCK_N / along),
        tkw.HardwareConstraint(threads_per_wave=threads_per_wave, mma_type=mma),
    ]
    return constraints, {BLOCK_M: m, BLOCK_N: n, BLOCK_K: k, SPACE: SHARED_ADDRESS_SPACE}


def sum_dtype(dtype: tkl.DataType) -> tkl.DataType:
    """What sums of products of an element type are kept in."""
    return tkl.i32 if dtype.is_integer else tkl.f32


def product(
    constraints: list[tkw.Constraint], dtype: tkl.DataType, transposed: bool = False, out: tkl.DataType | None = None
) -> tkw.WaveKernel:
    """The kernel gemm(a, b, c): A[M, K], B[N, K], or transposed A[K, M], B[K, N]; C[M, N] of sums (as out)."""
    result = sum_dtype(dtype)
    stored = out or result
    a_shape, b_shape = ((K, M), (K, N)) if transposed else ((M, K), (N, K))
    i, j = tkw.IndexMapping.iterator(0), tkw.IndexMapping.iterator(1)
    a_map = tkw.IndexMapping(2, inputs={K: j, M: i}, outputs={M: i, K: j}) if transposed else None
    b_map = tkw.IndexMapping(2, inputs={K: j, N: i}, outputs={N: i, K: j}) if transposed else None

    @tkw.wave(constraints, compat=True)
    def gemm(
        a: tkl.Memory[*a_shape, SPACE, dtype],
        b: tkl.Memory[*b_shape, SPACE, dtype],
        c: tkl.Memory[M, N, GLOBAL_ADDRESS_SPACE, stored],
    ):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, result](0)])
        def total(acc):
            return tkw.mma(tkw.read(a, mapping=a_map), tkw.read(b, mapping=b_map), acc)

        tkw.write(total, c)  # pyright: ignore[reportArgumentType]

    return gemm


def get_gemm_kernel(
    shape: tuple[int, int, int],
    dynamic_dims: bool | tuple[bool, bool, bool],
    mfma_variant: MMAType,
    dtype: Dtype = tkl.f16,
    threads_per_wave: int = 64,
    block_shape: tuple[int, int, int] | None = None,
    waves_per_block: tuple[int, int] | None = None,
    n_service_waves: int = 0,
) -> tuple[tkw.WaveKernel, Subs, list[sympy.Symbol]]:
    """gemm(a[M, K], b[N, K], c[M, N]): C = A Bᵀ for `shape` = (M, N, K), its symbols and the dynamic ones.

    dynamic_dims: which of M, N, K come with the arguments. block_shape: tile of a workgroup along M, N, K, by default
    64 x 64 x 32. waves_per_block: waves along M and N, by default 2 x 2. Raises ValueError for sizes that are none, and
    for service waves, which this compiler does not have.
    """
    what = "get_gemm_kernel"
    if n_service_waves:
        raise ValueError(f"{what}: n_service_waves is {n_service_waves}; all waves run the same code here, give 0")
    constraints, subs = tiling(what, shape, mfma_variant, threads_per_wave, block_shape, waves_per_block)
    known, dynamic = split_dynamic(what, dict(zip((M, N, K), shape, strict=True)), dynamic_dims)
    return product([*constraints, tkw.TilingConstraint(K, BLOCK_K)], dtype_of(dtype)), subs | known, dynamic


def get_gemm_kernel_transpose_a_b(
    shape: tuple[int, int, int],
    dynamic_dims: bool | tuple[bool, bool, bool],
    mfma_variant: MMAType,
    dtype: Dtype = tkl.f16,
    threads_per_wave: int = 64,
) -> tuple[tkw.WaveKernel, Subs, list[sympy.Symbol]]:
    """gemm(a[K, M], b[K, N], c[M, N]): C = Aᵀ B; otherwise as `get_gemm_kernel`."""
    what = "get_gemm_kernel_transpose_a_b"
    constraints, subs = tiling(what, shape, mfma_variant, threads_per_wave)
    known, dynamic = split_dynamic(what, dict(zip((M, N, K), shape, strict=True)), dynamic_dims)
    kernel = product([*constraints, tkw.TilingConstraint(K, BLOCK_K)], dtype_of(dtype), transposed=True)
    return kernel, subs | known, dynamic


def get_splitk_gemm_kernel(
    shape: tuple[int, int, int],
    num_splits: int,
    mfma_variant: MMAType,
    dtype: Dtype = tkl.f16,
    threads_per_wave: int = 64,
    block_shape: tuple[int, int, int] | None = None,
    waves_per_block: tuple[int, int] | None = None,
) -> tuple[tkw.WaveKernel, Subs]:
    """splitk_gemm(a[M, K], b[N, K], c[M, N]): C += A Bᵀ, the sum over K divided among `num_splits` workgroups.

    They add to C atomically, so C is cleared before the call. Each has whole tiles of K; the last ones may have none.
    """
    what = "get_splitk_gemm_kernel"
    positive(what, {"num_splits": num_splits})
    constraints, subs = tiling(what, shape, mfma_variant, threads_per_wave, block_shape, waves_per_block)
    operand, tiles = dtype_of(dtype), sympy.ceiling(sympy.ceiling(K / BLOCK_K) / S)
    result = sum_dtype(operand)
    parts = [
        tkw.WorkgroupConstraint(S, 1, 2),
        tkw.TilingConstraint(K, BLOCK_K, iters=tiles, start=WORKGROUP_2 * tiles * BLOCK_K),
    ]

    @tkw.wave([*constraints, *parts], compat=True)
    def splitk_gemm(
        a: tkl.Memory[M, K, SPACE, operand],
        b: tkl.Memory[N, K, SPACE, operand],
        c: tkl.Memory[M, N, GLOBAL_ADDRESS_SPACE, result],
    ):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, result](0)])
        def part(acc):
            return tkw.mma(tkw.read(a), tkw.read(b), acc)

        tkw.atomic_add(part, c)

    return splitk_gemm, subs | dict(zip((M, N, K), shape, strict=True)) | {S: num_splits}
