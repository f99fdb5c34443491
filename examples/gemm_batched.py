"""A batched GEMM with a transposed operand and the batch inside of the result: C[M, B, N] = A[B, M, K] · W[B, K, N].

python examples/gemm_batched.py
"""

from __future__ import annotations

import numpy as np
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import SHARED_ADDRESS_SPACE as SHARED
from wave_mlir.wave.compile import WaveCompileOptions, wave_compile
from wave_mlir.wave.constraints import MMAType

B, M, N, K = tkl.sym.B, tkl.sym.M, tkl.sym.N, tkl.sym.K
BM, BN, BK = tkl.sym.BLOCK_M, tkl.sym.BLOCK_N, tkl.sym.BLOCK_K


@tkw.wave(
    [
        tkw.WorkgroupConstraint(M, BM, 0),
        tkw.WorkgroupConstraint(N, BN, 1),
        tkw.WorkgroupConstraint(B, 1, 2),  # a matrix of the batch a workgroup
        tkw.TilingConstraint(K, BK),
        # B is no dim of the MMA: an operation covers one of it.
        tkw.HardwareConstraint(64, mma_type=MMAType.F32_16x16x16_F16, vector_shapes={B: 0}),
    ]
)
def gemm(
    a: tkl.Memory[B, M, K, SHARED, tkl.f16],
    w: tkl.Memory[B, K, N, SHARED, tkl.f16],
    c: tkl.Memory[M, B, N, GLOBAL, tkl.f32],
):
    """`permute` renames dims and moves nothing; the MMA wants [rows, K] and [columns, K]."""

    @tkw.iterate(K, init_args=[tkl.Register[B, M, N, tkl.f32](0.0)])
    def total(acc):
        return tkw.mma(tkw.read(a), tkw.permute(tkw.read(w), target_shape=[B, N, K]), acc)

    tkw.write(tkw.permute(total, target_shape=[M, B, N]), c)


def main() -> None:
    """Three products, compared with numpy."""
    batch, m, n, k = 3, 40, 32, 24
    subs = {BM: 32, BN: 32, BK: 16, B: batch, M: m, N: n, K: k}
    rng = np.random.default_rng(0)
    a, w = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((batch, m, k), (batch, k, n)))
    c = np.empty((m, batch, n), np.float32)
    wave_compile(WaveCompileOptions(subs=subs, target="gfx942"), gemm)(a, w, c)
    assert (c == (a.astype(np.float32) @ w.astype(np.float32)).transpose(1, 0, 2)).all()
    print(f"{batch} products of {m} x {n} x {k}: exact")


if __name__ == "__main__":
    main()
