"""A matrix product by a fixed number of workgroups, each of which computes one tile of the result after the other."""

# Annotations of kernels are types of the language, and MMAType is an enumeration made from the tables of the targets.
# pyright: reportInvalidTypeForm=false

from __future__ import annotations

import sympy

import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE, WORKGROUP_0
from wave_mlir.wave.constraints import MMAType

from .common import Subs, positive
from .gemm import BLOCK_K, BLOCK_M, BLOCK_N, SPACE, K, M, N, tiling

__all__ = ["get_persistent_gemm_kernel"]

GROUPS, TILE, ROW, COLUMN = tkl.sym.NUM_CTAS, tkl.sym.TILE, tkl.sym.ROW, tkl.sym.COLUMN

COMPUTE_UNITS = 304
"""Workgroups unless another number is asked for: the compute units of an MI300X (gfx942), one each."""
BLOCK = (128, 256, 64)
"""Tile of a workgroup along M, N and K, unless one is asked for."""


def get_persistent_gemm_kernel(
    shape: tuple[int, int, int],
    mfma_variant: MMAType,
    threads_per_wave: int = 64,
    block_shape: tuple[int, int, int] | None = None,
    waves_per_block: tuple[int, ...] | None = None,
    num_ctas: int | None = None,
) -> tuple[tkw.WaveKernel, Subs]:
    """persistent_gemm(a[M, K], b[N, K], c[M, N]): C = A Bᵀ of f16 to f32 by `num_ctas` workgroups, 304 by default.

    shape: (M, N, K). block_shape: tile along M, N, K, by default 128 x 256 x 64. waves_per_block: along M and N, by
    default 2 x 2; a third number is that of waves along z, which is 1. Raises ValueError for sizes that are none.
    """
    what = "get_persistent_gemm_kernel"
    groups = COMPUTE_UNITS if num_ctas is None else num_ctas
    positive(what, {"num_ctas": groups})
    if waves_per_block and waves_per_block[2:] not in ((), (1,)):
        raise ValueError(f"{what}: waves_per_block is {waves_per_block}; it has waves along M and N, and 1 along z")
    waves = (waves_per_block[0], waves_per_block[1]) if waves_per_block else None
    constraints, subs = tiling(what, shape, mfma_variant, threads_per_wave, block_shape or BLOCK, waves)
    across, tiles = sympy.ceiling(N / BLOCK_N), sympy.ceiling(M / BLOCK_M) * sympy.ceiling(N / BLOCK_N)
    i, j = tkw.IndexMapping.iterator(0), tkw.IndexMapping.iterator(1)
    a_map = tkw.IndexMapping(2, inputs={M: i + ROW, K: j}, outputs={M: i, K: j})
    b_map = tkw.IndexMapping(2, inputs={N: i + COLUMN, K: j}, outputs={N: i, K: j})
    c_map = tkw.IndexMapping(2, inputs={M: i, N: j}, outputs={M: i + ROW, N: j + COLUMN})
    more = [tkw.GridConstraint(GROUPS), tkw.TilingConstraint(TILE), tkw.TilingConstraint(K, BLOCK_K)]

    @tkw.wave([*constraints, *more], compat=True)
    def persistent_gemm(
        a: tkl.Memory[M, K, SPACE, tkl.f16],
        b: tkl.Memory[N, K, SPACE, tkl.f16],
        c: tkl.Memory[M, N, GLOBAL_ADDRESS_SPACE, tkl.f32],
    ):
        @tkw.iterate(TILE, start=tkw.scalar(WORKGROUP_0, tkl.i32), condition=tiles > TILE, init_args=[])
        def run():
            tkw.set_symbol(ROW, tkw.scalar(sympy.floor(TILE / across) * BLOCK_M, tkl.i32))
            tkw.set_symbol(COLUMN, tkw.scalar(TILE % across * BLOCK_N, tkl.i32))

            @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
            def total(acc):
                return tkw.mma(tkw.read(a, mapping=a_map), tkw.read(b, mapping=b_map), acc)

            tkw.write(total, c, mapping=c_map)  # pyright: ignore[reportArgumentType]
            tkw.set_symbol(TILE, tkw.scalar(TILE + GROUPS, tkl.i32))

        del run

    return persistent_gemm, subs | dict(zip((M, N, K), shape, strict=True)) | {GROUPS: groups}
