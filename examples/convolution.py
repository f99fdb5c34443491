"""A convolution as a product ("implicit GEMM"): images [N, H, W, C], filters [HF, WF, C, F], stride, padding.

A row of the product is an output pixel, the sum runs over filter rows, filter columns and channels. The matrices are
never made: mappings say where in the image and in the filter an element is. Outside of the image it reads as 0.

    python examples/convolution.py
"""

from __future__ import annotations

import numpy as np
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import SHARED_ADDRESS_SPACE as SHARED
from wave_mlir.wave.compile import WaveCompileOptions, wave_compile
from wave_mlir.wave.constraints import MMAType

N, H, W, C, F = tkl.sym.IMAGES, tkl.sym.H, tkl.sym.W, tkl.sym.C, tkl.sym.F
HF, WF, HO, WO = tkl.sym.HF, tkl.sym.WF, tkl.sym.H_OUT, tkl.sym.W_OUT
M, K = tkl.sym.M, tkl.sym.K  # output pixels of all images; elements of a filter
BM, BN, BK = tkl.sym.BLOCK_M, tkl.sym.BLOCK_N, tkl.sym.BLOCK_K
I, J = tkw.IndexMapping.iterator(0), tkw.IndexMapping.iterator(1)  # noqa: E741


def kernel(stride: int, padding: int) -> tkw.WaveKernel:
    """The kernel (images, filters, results [N, H_OUT, W_OUT, F] of f32)."""
    image, row, col = I // (HO * WO), I % (HO * WO) // WO, I % WO  # of output pixel I
    filter_row, filter_col, channel = J // C // WF, J // C % WF, J % C  # of element J of the sum
    place = {H: row * stride + filter_row - padding, W: col * stride + filter_col - padding}
    images = tkw.IndexMapping(2, inputs={N: image, **place, C: channel}, outputs={M: I, K: J})
    filters = tkw.IndexMapping(2, inputs={HF: filter_row, WF: filter_col, C: channel, F: I}, outputs={F: I, K: J})
    results = tkw.IndexMapping(2, inputs={M: I, F: J}, outputs={N: image, HO: row, WO: col, F: J})

    @tkw.wave(
        [
            tkw.WorkgroupConstraint(M, BM, 0),
            tkw.WorkgroupConstraint(F, BN, 1),
            tkw.TilingConstraint(K, BK),
            tkw.HardwareConstraint(64, mma_type=MMAType.F32_16x16x16_F16),
        ]
    )
    def convolution(
        x: tkl.Memory[N, H, W, C, SHARED, tkl.f16],
        w: tkl.Memory[HF, WF, C, F, SHARED, tkl.f16],
        out: tkl.Memory[N, HO, WO, F, GLOBAL, tkl.f32],
    ):
        @tkw.iterate(K, init_args=[tkl.Register[M, F, tkl.f32](0.0)])
        def total(acc):
            return tkw.mma(tkw.read(x, mapping=images), tkw.read(w, mapping=filters), acc)

        tkw.write(total, out, mapping=results)

    return convolution


def reference(x: np.ndarray, w: np.ndarray, stride: int, padding: int) -> np.ndarray:
    """The convolution in numpy."""
    hf, wf = w.shape[:2]
    x = np.pad(x.astype(np.float32), ((0, 0), (padding, padding), (padding, padding), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(x, (hf, wf), (1, 2))[:, ::stride, ::stride]
    return np.einsum("nhwcij,ijcf->nhwf", windows, w.astype(np.float32))


def main() -> None:
    """Images that are not square, a filter that is not square."""
    n, h, w, c, f, hf, wf, stride, padding = 2, 6, 9, 4, 20, 3, 2, 2, 1
    rng = np.random.default_rng(0)
    x, filters = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((n, h, w, c), (hf, wf, c, f)))
    want = reference(x, filters, stride, padding)
    ho, wo = want.shape[1:3]
    subs = {N: n, H: h, W: w, C: c, F: f, HF: hf, WF: wf, HO: ho, WO: wo, M: n * ho * wo, K: hf * wf * c}
    options = WaveCompileOptions(subs=subs | {BM: 32, BN: 32, BK: 16}, target="gfx942")
    out = np.empty(want.shape, np.float32)
    wave_compile(options, kernel(stride, padding))(x, filters, out)
    assert (out == want).all()
    print(f"{n} images of {h} x {w} x {c}, {f} filters of {hf} x {wf}: exact")


if __name__ == "__main__":
    main()
