"""Exchanges between lanes of elements below 32 bits: several travel in one, bits kept."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from running import check
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL

M, N = tkl.sym.M, tkl.sym.N
TYPES = {"f16": (tkl.f16, np.float16), "bf16": (tkl.bf16, ml_dtypes.bfloat16), "i8": (tkl.i8, np.int8),
         "f32": (tkl.f32, np.float32)}  # fmt: skip
EXCHANGES = r"\t(ds_swizzle_b32|ds_bpermute_b32|v_permlane\w*|v_mov_b32_dpp)"


def bits(array: np.ndarray) -> np.ndarray:
    return array.view(f"u{array.dtype.itemsize}")


@pytest.mark.parametrize("elements", [2, 3, 4, 8])
@pytest.mark.parametrize("name", ["f16", "i8", "f32"])
def test_shuffles_keep_bits(name: str, elements: int) -> None:
    """All bit patterns, NaNs of every payload among them; a lane gets the elements of the lane it asks."""
    kind, array = TYPES[name]

    @tkw.wave([tkw.WorkgroupConstraint(M, 1, 0), tkw.HardwareConstraint(64, vector_shapes={M: 1, N: 64 * elements})])
    def kernel(a: tkl.Memory[M, N, GLOBAL, kind], c: tkl.Memory[M, N, GLOBAL, kind]):
        tkw.write(tkw.shuffle(tkw.read(a, elements), 16, 64), c, elements)

    rng = np.random.default_rng(elements)
    width = 64 * elements
    a = rng.integers(0, 256, (3, width * np.dtype(array).itemsize), dtype=np.uint8).view(array)
    want = bits(a).reshape(3, 64, elements)[:, np.arange(64) ^ 16].reshape(3, width)
    made = check(kernel, {M: 3, N: width}, [a, np.zeros_like(a)], {1: want.view(array)})
    words = -(-elements * np.dtype(array).itemsize // 4)
    assert len(re.findall(EXCHANGES, made.isa)) == words


@pytest.mark.parametrize("name", ["f16", "bf16", "f32"])
def test_reductions_of_several_rows(name: str) -> None:
    """Rows that lanes reduce alike share their exchanges: half as many for 16 bits."""
    kind, array = TYPES[name]

    @tkw.wave([tkw.WorkgroupConstraint(M, 8, 0), tkw.HardwareConstraint(64, vector_shapes={M: 1, N: 64})])
    def kernel(a: tkl.Memory[M, N, GLOBAL, kind], c: tkl.Memory[M, GLOBAL, kind]):
        tkw.write(tkw.max(tkw.read(a), dim=N), c)

    a = np.random.default_rng(8).integers(-99, 99, (16, 64)).astype(array)
    want = a.astype(np.float32).max(1).astype(array)
    made = check(kernel, {M: 16, N: 64}, [a, np.zeros_like(want)], {1: want})
    text = made.ir("gpu")
    assert text.count("gpu.shuffle") + text.count("rocdl.update.dpp") == (4 if name != "f32" else 8) * 6
