"""Packed operands: memory holds 32-bit words, each of which is four i8 along K.

The words are loaded as words; `bitcast` makes four elements of each, and the dim K/4 becomes K.

    python examples/gemm_packed.py
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
        tkw.WorkgroupConstraint(M, BM, 0),
        tkw.WorkgroupConstraint(N, BN, 1),
        tkw.TilingConstraint(K, BK),  # K/4 is divided with it
        tkw.HardwareConstraint(64, mma_type=MMAType.I32_16x16x32_I8),
    ]
)
def gemm(
    a: tkl.Memory[M, K / 4, SHARED, tkl.i32],
    b: tkl.Memory[N, K / 4, SHARED, tkl.i32],
    c: tkl.Memory[M, N, GLOBAL, tkl.i32],
):
    """The loop is over K, in elements."""

    @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.i32](0)])
    def total(acc):
        return tkw.mma(tkw.bitcast(tkw.read(a), tkl.i8), tkw.bitcast(tkw.read(b), tkl.i8), acc)

    tkw.write(total, c)


def main() -> None:
    """A product of words, compared with that of the bytes in them."""
    m, n, k = 32, 48, 64
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-128, 128, shape).astype(np.int8) for shape in ((m, k), (n, k)))
    c = np.empty((m, n), np.int32)
    options = WaveCompileOptions(subs={BM: 32, BN: 32, BK: 32, M: m, N: n, K: k}, target="gfx942")
    wave_compile(options, gemm)(a.view(np.int32), b.view(np.int32), c)
    assert (c == a.astype(np.int32) @ b.astype(np.int32).T).all()
    print(f"{m} x {n} x {k} of packed i8: exact")


if __name__ == "__main__":
    main()
