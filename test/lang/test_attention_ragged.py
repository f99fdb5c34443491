"""Prefill and extend attention as in examples/attention_ragged.py: lengths known at run time."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import wave_mlir.lang as tkl
from attention_ragged import EXTEND, PREFILL, Shape, extend_kernel, inputs, prefill_kernel, reference
from running import check, check_machine
from wave_mlir.wave.constraints import MMAType

KERNELS = {"prefill": (prefill_kernel, PREFILL), "extend": (extend_kernel, EXTEND)}
TYPES = {"f16": (tkl.f16, np.float16, 3e-3), "bf16": (tkl.bf16, ml_dtypes.bfloat16, 2e-2)}
LENGTHS, PREFIXES = (1, 37, 64, 9, 65), (7, 0, 64, 33, 1)


def run(
    name: str,
    shape: Shape,
    mma: MMAType = MMAType.F32_16x16x16_F16,
    dtype: str = "f16",
    waves: int = 2,
    target: str = "gfx942",
    machine: bool = False,
) -> None:
    make, names = KERNELS[name]
    kind, array, tolerance = TYPES[dtype]
    kernel, subs = make(shape, mma, kind, waves)
    given = inputs(shape, array)
    want = {len(names) - 1: reference(shape, given)}
    arguments = [given[n] for n in names]
    made = check(kernel, subs, arguments, want, target=target, tolerance=tolerance, orders=("reverse",))
    if machine:
        check_machine(made, arguments, want, tolerance, seed=5)


@pytest.mark.thin(3)
@pytest.mark.parametrize("mma", [MMAType.F32_16x16x16_F16, MMAType.F32_32x32x8_F16], ids=lambda m: m.name)
@pytest.mark.parametrize(("dtype", "target", "waves"), [("f16", "gfx942", 1), ("bf16", "gfx950", 4)])
def test_prefill(mma: MMAType, dtype: str, target: str, waves: int) -> None:
    run("prefill", Shape(LENGTHS, 4, 2, 32, 64), mma, dtype, waves, target)


@pytest.mark.thin(3)
@pytest.mark.parametrize("mma", [MMAType.F32_16x16x16_F16, MMAType.F32_32x32x8_F16], ids=lambda m: m.name)
@pytest.mark.parametrize(("dtype", "target", "waves"), [("f16", "gfx942", 1), ("bf16", "gfx950", 4)])
def test_extend(mma: MMAType, dtype: str, target: str, waves: int) -> None:
    run("extend", Shape(LENGTHS, 4, 2, 32, 64, PREFIXES, cache=128), mma, dtype, waves, target)


@pytest.mark.parametrize("name", ["prefill", "extend"])
def test_machine_code(name: str) -> None:
    """An odd head, no prefix at all for one sequence."""
    run(name, Shape((5, 33), 2, 1, 40, 40, (0, 12) if name == "extend" else (), cache=32), machine=True)


def test_no_prefix_at_all() -> None:
    """The first loop makes no trip for any sequence."""
    run("extend", Shape((3, 17), 1, 1, 32, 32, (0, 0), cache=16))
