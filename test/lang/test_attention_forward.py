"""Attention as in examples/attention_forward.py, over variants, head sizes, dtypes, MMA kinds, waves and targets."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import wave_mlir.lang as tkl
from attention_forward import Shape, Variant, attention_kernel, inputs, reference
from running import check, check_machine
from wave_mlir.wave.constraints import MMAType

F16_16 = (MMAType.F32_16x16x16_F16,) * 2
F16_32 = (MMAType.F32_32x32x8_F16,) * 2
DOUBLE_16 = (MMAType.F32_16x16x32_K8_F16, MMAType.F32_16x16x16_F16)
DOUBLE_32 = (MMAType.F32_32x32x16_K8_F16, MMAType.F32_32x32x8_F16)
WIDE_16 = (MMAType.F32_16x16x32_F16,) * 2
WIDE_32 = (MMAType.F32_32x32x16_F16,) * 2
TYPES = {"f16": (tkl.f16, np.float16, 2e-3), "bf16": (tkl.bf16, ml_dtypes.bfloat16, 1.5e-2)}


def run(
    shape: Shape,
    variant: Variant,
    mma: tuple[MMAType, MMAType] = F16_16,
    dtype: str = "f16",
    waves: int = 2,
    target: str = "gfx942",
    machine: bool = False,
) -> None:
    kind, array, tolerance = TYPES[dtype]
    kernel, subs = attention_kernel(shape, variant, mma, kind, waves, block_m=32 * waves)
    given = inputs(shape, variant, array)
    out = np.full((shape.heads, shape.queries, shape.v_size), np.nan, np.float32)
    want = {len(given): reference(shape, variant, *given)}
    made = check(kernel, subs, [*given, out], want, target=target, tolerance=tolerance, orders=("reverse",))
    if machine:
        check_machine(made, [*given, out], want, tolerance, seed=7)


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    "variant",
    [
        Variant(),
        Variant(transposed_v=True),
        Variant(causal=True),
        Variant(causal=True, window=9),
        Variant(bias=True),
        Variant(soft_cap=2.0),
    ],
    ids=str,
)
def test_variants(variant: Variant) -> None:
    run(Shape(4, 33, 45, 32, 32, kv_heads=2), variant, machine=True)


@pytest.mark.thin(5)
@pytest.mark.parametrize("mma", [F16_16, F16_32], ids=["16x16", "32x32"])
@pytest.mark.parametrize("head", [13, 40, 72, 80, 96, 192])
def test_head_sizes(head: int, mma: tuple[MMAType, MMAType]) -> None:
    run(Shape(1, 33, 45, head, head), Variant(causal=True), mma)


@pytest.mark.thin(5)
@pytest.mark.parametrize("mma", [F16_16, F16_32, DOUBLE_16, DOUBLE_32], ids=lambda m: m[0].name)
@pytest.mark.parametrize("dtype", ["f16", "bf16"])
@pytest.mark.parametrize("waves", [1, 2, 4])
def test_kinds(mma: tuple[MMAType, MMAType], dtype: str, waves: int) -> None:
    run(Shape(2, 50, 70, 64, 64, kv_heads=1), Variant(bias=True), mma, dtype, waves)


@pytest.mark.thin(11)
@pytest.mark.parametrize("mma", [F16_32, WIDE_16, WIDE_32], ids=lambda m: m[0].name)
@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_kinds_of_gfx950(mma: tuple[MMAType, MMAType], dtype: str) -> None:
    run(
        Shape(2, 50, 70, 64, 64, kv_heads=1), Variant(causal=True, window=17), mma, dtype, target="gfx950", machine=True
    )


@pytest.mark.thin(3)
@pytest.mark.parametrize(("queries", "keys"), [(1, 1), (64, 64), (65, 63), (40, 9), (12, 1)], ids=str)
def test_lengths(queries: int, keys: int) -> None:
    """With more queries than keys the first ones see no key: their output is 0."""
    run(Shape(1, queries, keys, 32, 32), Variant(causal=True), waves=1)
