"""Split-K: few rows and columns and a long sum, which workgroups divide and add up atomically.

python examples/gemm_split_k.py
"""

from __future__ import annotations

import numpy as np
import sympy
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import SHARED_ADDRESS_SPACE as SHARED
from wave_mlir.lang.global_symbols import WORKGROUP_2
from wave_mlir.wave.compile import WaveCompileOptions, wave_compile
from wave_mlir.wave.constraints import MMAType

M, N, K, SPLITS = tkl.sym.M, tkl.sym.N, tkl.sym.K, tkl.sym.SPLITS
BM, BN, BK = tkl.sym.BLOCK_M, tkl.sym.BLOCK_N, tkl.sym.BLOCK_K
# Tiles of K a workgroup: whole ones, so that no two workgroups add the same element.
TILES = sympy.ceiling(sympy.ceiling(K / BK) / SPLITS)


@tkw.wave(
    [
        tkw.WorkgroupConstraint(M, BM, 0),
        tkw.WorkgroupConstraint(N, BN, 1),
        tkw.WorkgroupConstraint(SPLITS, 1, 2),
        # The loop begins at the workgroup's own part; beyond K operands read as 0.
        tkw.TilingConstraint(K, BK, iters=TILES, start=WORKGROUP_2 * TILES * BK),
        tkw.HardwareConstraint(64, mma_type=MMAType.F32_16x16x16_F16),
    ]
)
def gemm(
    a: tkl.Memory[M, K, SHARED, tkl.f16], b: tkl.Memory[N, K, SHARED, tkl.f16], c: tkl.Memory[M, N, GLOBAL, tkl.f32]
):
    """Adds to C, which the caller clears."""

    @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
    def part(acc):
        return tkw.mma(tkw.read(a), tkw.read(b), acc)

    tkw.atomic_add(part, c)


def main() -> None:
    """A sum over 200, in tiles of 16, by four workgroups."""
    m, n, k = 16, 32, 200
    subs = {BM: 16, BN: 32, BK: 16, SPLITS: 4, M: m, N: n, K: k}
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((m, k), (n, k)))
    c = np.zeros((m, n), np.float32)
    wave_compile(WaveCompileOptions(subs=subs, target="gfx942"), gemm)(a, b, c)
    assert (c == a.astype(np.float32) @ b.astype(np.float32).T).all()
    print(f"{m} x {n} x {k} in 4 parts: exact")


if __name__ == "__main__":
    main()
