"""An fp8 layer: silu(A·Gᵀ) ∘ (A·Uᵀ), and its result quantised to fp8 with a scale a row.

A, G and U are 8-bit floats with a scale for each row of A and each column of the weights. Both products are made in one
pass over A. The greatest value of a row, over all waves that share it, becomes the greatest 8-bit float.

    python examples/gemm_fp8.py
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import SHARED_ADDRESS_SPACE as SHARED
from wave_mlir.wave.compile import WaveCompileOptions, wave_compile
from wave_mlir.wave.constraints import MMAType

M, N, K = tkl.sym.M, tkl.sym.N, tkl.sym.K
BM, BN, BK = tkl.sym.BLOCK_M, tkl.sym.BLOCK_N, tkl.sym.BLOCK_K
F8, MOST = tkl.f8e4m3fnuz, 240.0  # gfx942's own 8-bit float, and its greatest value
LOG2E = 1.4426950408889634


@tkw.wave(
    [
        tkw.WorkgroupConstraint(M, BM, 0),
        tkw.WorkgroupConstraint(N, BN, 1),
        tkw.TilingConstraint(K, BK),
        tkw.WaveConstraint(N, BN / 2),
        tkw.HardwareConstraint(64, mma_type=MMAType.F32_16x16x32_F8),
    ]
)
def layer(
    a: tkl.Memory[M, K, SHARED, F8],
    gate: tkl.Memory[N, K, SHARED, F8],
    up: tkl.Memory[N, K, SHARED, F8],
    a_scale: tkl.Memory[M, GLOBAL, tkl.f32],
    gate_scale: tkl.Memory[N, GLOBAL, tkl.f32],
    up_scale: tkl.Memory[N, GLOBAL, tkl.f32],
    scale: tkl.Memory[M, GLOBAL, tkl.f32],
    out: tkl.Memory[M, N, GLOBAL, F8],
):
    """The workgroup's tile has all of N, so that it knows the greatest value of its rows."""
    zero = tkl.Register[M, N, tkl.f32](0.0)

    @tkw.iterate(K, init_args=[zero, zero])
    def products(g, u):
        rows = tkw.read(a)
        return tkw.mma(rows, tkw.read(gate), g), tkw.mma(rows, tkw.read(up), u)

    g, u = products
    rows = tkw.read(a_scale)
    g, u = g * rows * tkw.read(gate_scale), u * rows * tkw.read(up_scale)
    x = g / (tkw.exp2(g * -LOG2E) + 1.0) * u
    # `block`: over the waves that divide N too.
    row_scale = tkw.max(tkw.abs(x), dim=N, block=True) / MOST
    tkw.write(row_scale, scale)
    tkw.write(tkw.cast(x / tkw.broadcast(row_scale, [M, N]), F8), out)


def main() -> None:
    """A small layer, compared with numpy in f64."""
    m, n, k = 20, 64, 64
    rng = np.random.default_rng(0)
    a, gate, up = (rng.standard_normal(s).astype(ml_dtypes.float8_e4m3fnuz) for s in ((m, k), (n, k), (n, k)))
    scales = [rng.uniform(0.1, 0.5, s).astype(np.float32) for s in (m, n, n)]
    scale, out = np.empty(m, np.float32), np.empty((m, n), ml_dtypes.float8_e4m3fnuz)
    options = WaveCompileOptions(subs={BM: 32, BN: 64, BK: 32, M: m, N: n, K: k}, target="gfx942")
    wave_compile(options, layer)(a, gate, up, *scales, scale, out)
    g, u = (
        a.astype(float) @ w.astype(float).T * scales[0][:, None] * s for w, s in ((gate, scales[1]), (up, scales[2]))
    )
    want = g / (1 + np.exp(-g)) * u
    error = np.abs(out.astype(float) * scale[:, None] - want).max() / np.abs(want).max()
    assert error < 0.05
    print(f"fp8 layer of {m} x {n} x {k}: greatest error {error:.3f} of the greatest value")


if __name__ == "__main__":
    main()
