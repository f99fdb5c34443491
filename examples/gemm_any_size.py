"""A GEMM whose sizes are arguments: C[M, N] = A[M, K] · B[N, K]ᵀ, one kernel for every M, N and K.

Whole tiles of aligned rows run in a loop as short as one for known sizes; what is left of K runs in a second one.

    python examples/gemm_any_size.py
"""

from __future__ import annotations

import numpy as np
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import SHARED_ADDRESS_SPACE as SHARED
from wave_mlir.wave.compile import WaveCompileOptions, wave_compile
from wave_mlir.wave.constraints import MMAType

M, N, K = tkl.sym.M, tkl.sym.N, tkl.sym.K
BM, BN, BK = tkl.sym.BLOCK_M, tkl.sym.BLOCK_N, tkl.sym.BLOCK_K


@tkw.wave(
    [
        tkw.WorkgroupConstraint(M, BM, 0),  # a workgroup computes BM rows …
        tkw.WorkgroupConstraint(N, BN, 1),  # … by BN columns,
        tkw.TilingConstraint(K, BK),  # BK of the sum at a time,
        tkw.WaveConstraint(M, BM / 2),  # with two by two waves
        tkw.WaveConstraint(N, BN / 2),
        tkw.HardwareConstraint(threads_per_wave=64, mma_type=MMAType.F32_16x16x16_F16),
    ]
)
def gemm(
    a: tkl.Memory[M, K, SHARED, tkl.f16], b: tkl.Memory[N, K, SHARED, tkl.f16], c: tkl.Memory[M, N, GLOBAL, tkl.f32]
):
    """SHARED operands are read through LDS."""

    @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
    def total(acc):
        return tkw.mma(tkw.read(a), tkw.read(b), acc)

    tkw.write(total, c)


def main() -> None:
    """Compile once, multiply matrices of several sizes, compare with numpy."""
    options = WaveCompileOptions(subs={BM: 32, BN: 32, BK: 32}, dynamic_symbols=[M, N, K], target="gfx942")
    compiled = wave_compile(options, gemm)
    rng = np.random.default_rng(0)
    for m, n, k in ((64, 64, 64), (17, 50, 40), (1, 1, 1)):
        a, b = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((m, k), (n, k)))
        c = np.empty((m, n), np.float32)
        compiled(a, b, c)
        assert (c == a.astype(np.float32) @ b.astype(np.float32).T).all()
        print(f"{m} x {n} x {k}: exact")


if __name__ == "__main__":
    main()
