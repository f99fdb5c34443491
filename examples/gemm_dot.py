"""A product without MMA instructions, for few columns: GenericDot divides rows among lanes, and a sum among some.

python examples/gemm_dot.py
"""

from __future__ import annotations

import numpy as np
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.wave.compile import WaveCompileOptions, wave_compile
from wave_mlir.wave.constraints import GenericDot, MMAOperand

M, N, K = tkl.sym.M, tkl.sym.N, tkl.sym.K
BM, BK = tkl.sym.BLOCK_M, tkl.sym.BLOCK_K
# Four lanes share a row; each has 8 consecutive elements of K at a time, and 2 columns.
DOT = GenericDot(along_dim=MMAOperand.M, k_mult=4, k_vec_size=8, out_vec_size=2)


@tkw.wave(
    [
        tkw.WorkgroupConstraint(M, BM, 0),
        tkw.TilingConstraint(K, BK),
        tkw.HardwareConstraint(64, mma_type=DOT),
    ]
)
def gemm(
    a: tkl.Memory[M, K, GLOBAL, tkl.f16], b: tkl.Memory[N, K, GLOBAL, tkl.f16], c: tkl.Memory[M, N, GLOBAL, tkl.f32]
):
    """Sums are in f32, the dtype of the accumulator."""

    @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
    def total(acc):
        return tkw.mma(tkw.read(a), tkw.read(b), acc)

    tkw.write(total, c)


def main() -> None:
    """Two columns."""
    m, n, k = 40, 2, 96
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((m, k), (n, k)))
    c = np.empty((m, n), np.float32)
    wave_compile(WaveCompileOptions(subs={BM: 16, BK: 32, M: m, N: n, K: k}, target="gfx942"), gemm)(a, b, c)
    assert (c == a.astype(np.float32) @ b.astype(np.float32).T).all()
    print(f"{m} x {n} x {k} without MMA: exact")


if __name__ == "__main__":
    main()
