"""Memories whose dims are expressions of symbols (sizes of a convolution's output), read without mappings."""

from __future__ import annotations

import numpy as np
import pytest
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from running import check
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL

H, W, C, F, K = tkl.sym.H, tkl.sym.W, tkl.sym.C, tkl.sym.F, tkl.sym.K
ROWS, COLUMNS = H - F + 1, W - F + 1


@pytest.mark.parametrize("h, w, c", [(11, 11, 8), (11, 7, 4), (6, 6, 4)])
def test_dims_of_equal_sizes_are_told_apart(h: int, w: int, c: int) -> None:
    """Each is known by its expression, not by its size alone."""
    tiles = [tkw.WorkgroupConstraint(ROWS, 2, 0), tkw.WorkgroupConstraint(COLUMNS, 4, 1)]
    tiles += [tkw.WorkgroupConstraint(C, 8, 2), tkw.HardwareConstraint(64, vector_shapes={ROWS: 1, COLUMNS: 1, C: 8})]

    @tkw.wave(tiles)
    def kernel(x: tkl.Memory[ROWS, COLUMNS, C, GLOBAL, tkl.f32], y: tkl.Memory[COLUMNS, C, ROWS, GLOBAL, tkl.f32]):
        tkw.write(tkw.permute(tkw.read(x), [COLUMNS, C, ROWS]), y)

    shape = (h - 3, w - 3, c)
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    wanted = x.transpose(1, 2, 0).copy()
    check(kernel, {H: h, W: w, F: 4, C: c}, [x, np.zeros_like(wanted)], {1: wanted})


def test_an_expression_as_large_as_a_named_dim() -> None:
    """(H - F + 1) * (W - F + 1) is 64 and so is C: the named dim is C's alone."""
    pixels = ROWS * COLUMNS
    tiles = [tkw.WorkgroupConstraint(pixels, 32, 0), tkw.WorkgroupConstraint(C, 32, 1), tkw.TilingConstraint(K, 16)]
    tiles += [tkw.HardwareConstraint(64, mma_type=tkw.MMAType.F32_16x16x16_F16)]

    @tkw.wave(tiles)
    def kernel(
        a: tkl.Memory[pixels, K, GLOBAL, tkl.f16],
        b: tkl.Memory[C, K, GLOBAL, tkl.f16],
        c: tkl.Memory[pixels, C, GLOBAL, tkl.f32],
    ):
        @tkw.iterate(K, init_args=[tkl.Register[pixels, C, tkl.f32](0.0)])
        def total(acc):
            return tkw.mma(tkw.read(a), tkw.read(b), acc)

        tkw.write(total, c)

    rng = np.random.default_rng(3)
    a, b = (rng.integers(-4, 5, (64, 16)).astype(np.float16) for _ in range(2))
    wanted = a.astype(np.float32) @ b.T.astype(np.float32)
    check(kernel, {H: 11, W: 11, F: 4, C: 64, K: 16}, [a, b, np.zeros_like(wanted)], {2: wanted})
