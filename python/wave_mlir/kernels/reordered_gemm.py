"""A matrix product whose workgroups go through the result in groups of rows, so that they share what L2 holds."""

# MMAType is an enumeration made from the tables of the targets.
# pyright: reportInvalidTypeForm=false

from __future__ import annotations

import sympy

import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.wave.constraints import MMAType

from .common import Dtype, Subs, dtype_of, positive
from .gemm import BLOCK_K, BLOCK_M, BLOCK_N, K, M, N, product, sum_dtype, tiling

__all__ = ["get_reordered_matmul"]


def get_reordered_matmul(
    m_size: int,
    n_size: int,
    k_size: int,
    block_m_size: int,
    block_n_size: int,
    block_k_size: int,
    group_m_size: int,
    mfma_variant: MMAType,
    input_dtype: Dtype = tkl.f16,
    output_dtype: Dtype = tkl.f32,
) -> tuple[tkw.WaveKernel, Subs]:
    """gemm(a[M, K], b[N, K], c[M, N]): C = A Bᵀ, in groups of `group_m_size` tiles along M, column by column.

    Sums, of f32 or i32, are rounded to output_dtype. Raises ValueError for sizes that are none, and for floats of
    integers or the other way around.
    """
    what = "get_reordered_matmul"
    shape, block = (m_size, n_size, k_size), (block_m_size, block_n_size, block_k_size)
    dtype, result = dtype_of(input_dtype), dtype_of(output_dtype)
    positive(what, {"group_m_size": group_m_size})
    if result.is_integer != dtype.is_integer:
        raise ValueError(f"{what}: output_dtype is {result}; sums of {dtype} are {sum_dtype(dtype)}")
    constraints, subs = tiling(what, shape, mfma_variant, block=block)
    grid = (sympy.ceiling(M / BLOCK_M), sympy.ceiling(N / BLOCK_N))
    order = tkw.reordered_workgroups(grid, group=group_m_size)
    kernel = product([*constraints, tkw.TilingConstraint(K, BLOCK_K), *order], dtype, out=result)
    return kernel, subs | dict(zip((M, N, K), shape, strict=True))
