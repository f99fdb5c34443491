"""Two-dimensional convolution as a matrix product: output pixels by filters, summed over a filter's elements."""

# Annotations of kernels are types of the language, and MMAType is an enumeration made from the tables of the targets.
# pyright: reportInvalidTypeForm=false

from __future__ import annotations

import sympy

import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE, SHARED_ADDRESS_SPACE
from wave_mlir.wave.constraints import MMAType

from .common import Dtype, Subs, dtype_of, positive

__all__ = ["get_igemm_conv2d"]

IMAGES, H, W, C, NF = tkl.sym.IMAGES, tkl.sym.H, tkl.sym.W, tkl.sym.C, tkl.sym.NF
HF, WF, H_OUT, W_OUT = tkl.sym.HF, tkl.sym.WF, tkl.sym.H_OUT, tkl.sym.W_OUT
PIXELS, TERMS = tkl.sym.PIXELS, tkl.sym.TERMS  # output pixels of all images; elements of a filter
BLOCK_M, BLOCK_N, BLOCK_K = tkl.sym.BLOCK_M, tkl.sym.BLOCK_N, tkl.sym.BLOCK_K

_LAYOUTS = {
    "nchw_fchw": ((IMAGES, C, H, W), (NF, C, HF, WF), (IMAGES, NF, H_OUT, W_OUT)),
    "nhwc_hwcf": ((IMAGES, H, W, C), (HF, WF, C, NF), (IMAGES, H_OUT, W_OUT, NF)),
}
"""Name -> dims of the images, the filters and the results in memory."""

_MMA = {tkl.f16: MMAType.F32_16x16x16_F16, tkl.bf16: MMAType.F32_16x16x16_BF16}  # pyright: ignore[reportAttributeAccessIssue]


def get_igemm_conv2d(
    layout: str,
    n: int,
    h: int,
    w: int,
    c: int,
    hf: int,
    wf: int,
    nf: int,
    stride: int,
    input_dtype: Dtype,
    output_dtype: Dtype,
    mem_space: sympy.Symbol = SHARED_ADDRESS_SPACE,
    block_m: int | None = None,
    block_n: int | None = None,
    block_k: int | None = None,
    ratio_m: int | None = None,
    ratio_n: int | None = None,
) -> tuple[tkw.WaveKernel, Subs]:
    """conv(x, we, out) without padding, and its symbols.

    layout: "nhwc_hwcf" or "nchw_fchw". n images of h x w pixels and c channels; nf filters of hf x wf. block_m,
    block_n, block_k: tile of a workgroup in pixels, filters and terms, by default 64, 128, 32; ratio_m, ratio_n: its
    waves along pixels and filters, by default 2 and 2. Raises ValueError for what there is not.
    """
    what = "get_igemm_conv2d"
    sizes = {"n": n, "h": h, "w": w, "c": c, "hf": hf, "wf": wf, "nf": nf, "stride": stride}
    tile = {"block_m": block_m or 64, "block_n": block_n or 128, "block_k": block_k or 32}
    waves = {"ratio_m": ratio_m or 2, "ratio_n": ratio_n or 2}
    positive(what, sizes | tile | waves)
    dtype, result = dtype_of(input_dtype), dtype_of(output_dtype)
    if layout not in _LAYOUTS:
        raise ValueError(f"{what}: layout is {layout!r}; it is one of {', '.join(_LAYOUTS)}")
    if dtype not in _MMA or result != tkl.f32:
        raise ValueError(f"{what}: {dtype} to {result}; it takes f16 or bf16, and makes f32")
    if hf > h or wf > w:
        raise ValueError(f"{what}: filters of {hf} x {wf} do not fit images of {h} x {w}")
    kernel = _kernel(layout, stride, dtype, mem_space, waves["ratio_m"], waves["ratio_n"])
    out_h, out_w = (h - hf) // stride + 1, (w - wf) // stride + 1
    subs: Subs = {IMAGES: n, H: h, W: w, C: c, HF: hf, WF: wf, NF: nf, H_OUT: out_h, W_OUT: out_w}
    subs |= {PIXELS: n * out_h * out_w, TERMS: hf * wf * c}
    return kernel, subs | dict(zip((BLOCK_M, BLOCK_N, BLOCK_K), tile.values(), strict=True))


def _kernel(
    layout: str, stride: int, dtype: tkl.DataType, space: sympy.Symbol, waves_m: int, waves_n: int
) -> tkw.WaveKernel:
    """Pixel i of all images is at (image, row, column); term j of a sum at (row, column, channel) of the filter."""
    x_dims, filter_dims, out_dims = _LAYOUTS[layout]
    i, j = tkw.IndexMapping.iterator(0), tkw.IndexMapping.iterator(1)
    image, row, column = i // (H_OUT * W_OUT), i % (H_OUT * W_OUT) // W_OUT, i % W_OUT
    filter_row, filter_column, channel = j // C // WF, j // C % WF, j % C
    x_at = {IMAGES: image, H: row * stride + filter_row, W: column * stride + filter_column, C: channel}
    filter_at = {HF: filter_row, WF: filter_column, C: channel, NF: i}
    out_at = {IMAGES: image, H_OUT: row, W_OUT: column, NF: j}
    images = tkw.IndexMapping(2, inputs={d: x_at[d] for d in x_dims}, outputs={PIXELS: i, TERMS: j})
    filters = tkw.IndexMapping(2, inputs={d: filter_at[d] for d in filter_dims}, outputs={NF: i, TERMS: j})
    results = tkw.IndexMapping(2, inputs={PIXELS: i, NF: j}, outputs={d: out_at[d] for d in out_dims})
    constraints = [
        tkw.WorkgroupConstraint(PIXELS, BLOCK_M, 0),
        tkw.WorkgroupConstraint(NF, BLOCK_N, 1),
        tkw.TilingConstraint(TERMS, BLOCK_K),
        tkw.WaveConstraint(PIXELS, BLOCK_M / waves_m),
        tkw.WaveConstraint(NF, BLOCK_N / waves_n),
        tkw.HardwareConstraint(64, mma_type=_MMA[dtype]),
    ]

    @tkw.wave(constraints, compat=True)
    def conv(
        x: tkl.Memory[*x_dims, space, dtype],
        we: tkl.Memory[*filter_dims, space, dtype],
        out: tkl.Memory[*out_dims, GLOBAL_ADDRESS_SPACE, tkl.f32],
    ):
        @tkw.iterate(TERMS, init_args=[tkl.Register[PIXELS, NF, tkl.f32](0.0)])
        def total(acc):
            return tkw.mma(tkw.read(x, mapping=images), tkw.read(we, mapping=filters), acc)

        tkw.write(total, out, mapping=results)  # pyright: ignore[reportArgumentType]

    return conv
