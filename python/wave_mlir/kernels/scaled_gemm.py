"""A matrix product of 4-bit floats with a scale for each 32 elements along K (OCP MX)."""

# Annotations of kernels are types of the language, and kinds of MMAs come from the tables of the targets.
# pyright: reportInvalidTypeForm=false

from __future__ import annotations

import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE
from wave_mlir.wave.constraints import ScaledMMAType

from .common import Subs
from .gemm import BLOCK_K, SPACE, K, M, N, tiling

__all__ = ["get_scaled_gemm_kernel"]

GROUP = 32
"""Elements along K that share a scale."""
BLOCK = (32, 32, 256)
"""Tile of a workgroup along M, N and K, unless one is asked for."""


def get_scaled_gemm_kernel(
    shape: tuple[int, int, int],
    mfma_variant: ScaledMMAType,
    block_shape: tuple[int, int, int] | None = None,
    waves_per_block: tuple[int, int] | None = None,
) -> tuple[tkw.WaveKernel, Subs]:
    """scaled_gemm(a[M, K/2], a_scale[M, K/32], b[N, K/2], b_scale[N, K/32], c[M, N]): C = A Bᵀ in f32, for gfx950.

    a, b: bytes of two f4e2m1 along K, the first in the low half; scales: bytes of f8e8m0. shape: (M, N, K), K a
    multiple of 32. block_shape: tile of a workgroup, by default 32 x 32 x 256. waves_per_block: along M and N, by
    default 2 x 2.
    Raises ValueError for sizes that are none.
    """
    what = "get_scaled_gemm_kernel"
    constraints, subs = tiling(what, shape, mfma_variant, block=block_shape or BLOCK, waves=waves_per_block)
    if shape[2] % GROUP:
        raise ValueError(f"{what}: K is {shape[2]}; it is a multiple of {GROUP}, the elements that share a scale")
    packed, scales = K / 2, K / GROUP

    @tkw.wave([*constraints, tkw.TilingConstraint(K, BLOCK_K)], compat=True)
    def scaled_gemm(
        a: tkl.Memory[M, packed, SPACE, tkl.i8],
        a_scale: tkl.Memory[M, scales, SPACE, tkl.i8],
        b: tkl.Memory[N, packed, SPACE, tkl.i8],
        b_scale: tkl.Memory[N, scales, SPACE, tkl.i8],
        c: tkl.Memory[M, N, GLOBAL_ADDRESS_SPACE, tkl.f32],
    ):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
        def total(acc):
            x, y = (tkw.bitcast(tkw.read(m), tkl.f4e2m1fn) for m in (a, b))
            x_scale, y_scale = (tkw.bitcast(tkw.read(m), tkl.f8e8m0fnu) for m in (a_scale, b_scale))
            return tkw.scaled_mma(x, x_scale, y, y_scale, acc)

        tkw.write(total, c)  # pyright: ignore[reportArgumentType]

    return scaled_gemm, subs | dict(zip((M, N, K), shape, strict=True))
