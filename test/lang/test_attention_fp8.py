"""Attention with 8-bit floats as in examples/attention_fp8.py."""

from __future__ import annotations

import numpy as np
import pytest
from attention_fp8 import Shape, fp8_kernel, inputs, reference
from running import check, check_machine
from wave_mlir.wave.constraints import MMAType

K4_16 = (MMAType.F32_16x16x32_F8, MMAType.F32_16x16x32_K4_F8)
K4_32 = (MMAType.F32_32x32x16_F8, MMAType.F32_32x32x16_K4_F8)
PLAIN_16 = (MMAType.F32_16x16x32_F8,) * 2


def run(shape: Shape, target: str, mma: tuple, waves: int = 2, tolerance: float = 1e-5, machine: bool = False) -> None:
    kernel, subs = fp8_kernel(shape, target, mma, waves)
    given = [*inputs(shape, target), np.full((shape.heads, shape.queries, shape.v_size), np.nan, np.float32)]
    want = {3: reference(shape, target, *given[:3])}
    made = check(kernel, subs, given, want, target=target, tolerance=tolerance, orders=("reverse",))
    if machine:
        check_machine(made, given, want, tolerance, seed=3)


@pytest.mark.thin(2)
@pytest.mark.parametrize("target", ["gfx942", "gfx950"])
@pytest.mark.parametrize("mma", [K4_16, K4_32, PLAIN_16], ids=["16x16 K4", "32x32 K4", "16x16"])
def test_one_tile_of_keys(target: str, mma: tuple) -> None:
    """Without rescaling the rounding of P is the reference's."""
    run(Shape(2, 40, 64, 64, 64), target, mma, machine=mma == K4_16)


@pytest.mark.thin(2)
@pytest.mark.parametrize("size", [(40, 100, 64), (17, 65, 32), (9, 200, 40)], ids=str)
@pytest.mark.parametrize("waves", [1, 4])
def test_several_tiles_of_keys(size: tuple[int, int, int], waves: int) -> None:
    """P is rounded against the maximum so far: as exact as fp8."""
    queries, keys, head = size
    run(Shape(1, queries, keys, head, head, causal=True), "gfx942", K4_16, waves, tolerance=0.12)


def test_tiny_scales() -> None:
    """Hidden keys do not leak in however small the scales are: the mask comes after scaling."""
    run(Shape(1, 33, 64, 32, 32, scales=(1e-6, 1e-6, 1.0), causal=True), "gfx942", K4_16)
