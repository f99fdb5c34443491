"""Convolutions as products: rows are output pixels, the contracted dim runs over the filter and the channels."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
import torch
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from gemms import BK, BM, BN, SPACE, K, M, constraints, integers, run
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import SHARED_ADDRESS_SPACE as SHARED

N, H, W, C, F = tkl.sym.N_IMAGES, tkl.sym.H, tkl.sym.W, tkl.sym.C, tkl.sym.F
HF, WF, HO, WO = tkl.sym.HF, tkl.sym.WF, tkl.sym.H_OUT, tkl.sym.W_OUT
I, J = tkw.IndexMapping.iterator(0), tkw.IndexMapping.iterator(1)  # noqa: E741


def _kernel(layout: str, stride: int, padding: int):
    """Images [N, H, W, C] or [N, C, H, W], filters [HF, WF, C, F], results as the images."""
    row, col = I % (HO * WO) // WO, I % WO
    filter_row, filter_col = J // C // WF, J // C % WF
    place = {
        N: I // (HO * WO),
        H: row * stride + filter_row - padding,
        W: col * stride + filter_col - padding,
        C: J % C,
    }
    images = tkw.IndexMapping(2, inputs=place, outputs={M: I, K: J})
    filters = tkw.IndexMapping(2, inputs={HF: filter_row, WF: filter_col, C: J % C, F: I}, outputs={F: I, K: J})
    results = tkw.IndexMapping(2, inputs={M: I, F: J}, outputs={N: I // (HO * WO), HO: row, WO: col, F: J})
    order = {"nhwc": (N, H, W, C), "nchw": (N, C, H, W)}[layout]
    out_order = {"nhwc": (N, HO, WO, F), "nchw": (N, F, HO, WO)}[layout]
    rules = [
        tkw.WorkgroupConstraint(M, BM, 0),
        tkw.WorkgroupConstraint(F, BN, 1),
        tkw.TilingConstraint(K, BK),
        tkw.WaveConstraint(M, BM / 2),
        tkw.WaveConstraint(F, BN / 2),
        *[r for r in constraints() if isinstance(r, tkw.HardwareConstraint)],
    ]

    @tkw.wave(rules)
    def convolution(
        x: tkl.Memory[(*order, SPACE, tkl.f16)],
        w: tkl.Memory[HF, WF, C, F, SPACE, tkl.f16],
        out: tkl.Memory[(*out_order, GLOBAL, tkl.f32)],
    ):
        @tkw.iterate(K, init_args=[tkl.Register[M, F, tkl.f32](0.0)])
        def loop(acc):
            return tkw.mma(tkw.read(x, mapping=images), tkw.read(w, mapping=filters), acc)

        tkw.write(loop, out, mapping=results)

    return convolution


CASES = [  # n, h, w, c, f, hf, wf, stride, padding
    (1, 5, 9, 4, 10, 3, 2, 1, 0),
    (2, 7, 6, 3, 20, 3, 3, 2, 1),
    (1, 4, 8, 16, 16, 1, 1, 1, 0),
]


@pytest.mark.thin(5)
@pytest.mark.parametrize("case", CASES, ids=lambda c: "x".join(map(str, c)))
@pytest.mark.parametrize("layout", ["nhwc", "nchw"])
@pytest.mark.parametrize("space", [SHARED, GLOBAL], ids=["shared", "global"])
def test_convolution(space: sympy.Symbol, layout: str, case: tuple[int, ...]) -> None:
    n, h, w, c, f, hf, wf, stride, padding = case
    x, filters = integers((n, h, w, c), tkl.f16), integers((hf, wf, c, f), tkl.f16, 1)
    want = torch.nn.functional.conv2d(
        torch.from_numpy(x.astype(np.float64)).permute(0, 3, 1, 2),
        torch.from_numpy(filters.astype(np.float64)).permute(3, 2, 0, 1),
        stride=stride,
        padding=padding,
    ).numpy()
    ho, wo = want.shape[2:]
    x, want = (x, want.transpose(0, 2, 3, 1)) if layout == "nhwc" else (x.transpose(0, 3, 1, 2), want)
    subs = {N: n, H: h, W: w, C: c, F: f, HF: hf, WF: wf, HO: ho, WO: wo, M: n * ho * wo, K: hf * wf * c}
    subs |= {BM: 32, BN: 32, BK: 16, SPACE: space}
    args = [np.ascontiguousarray(x), filters]
    run(
        _kernel(layout, stride, padding),
        subs,
        args,
        np.ascontiguousarray(want.astype(np.float32)),
        machine=case[3] == 4,
    )
