"""The backward pieces of attention as in examples/attention_backward.py."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import wave_mlir.lang as tkl
from attention_backward import Shape, inputs, keys_kernel, queries_kernel, reference, rows_kernel
from running import check, check_machine
from wave_mlir.wave.constraints import MMAType

TYPES = {"f16": (tkl.f16, np.float16, 3e-3), "bf16": (tkl.bf16, ml_dtypes.bfloat16, 2e-2)}


class Backward:
    """Inputs and results of one shape."""

    def __init__(self, shape: Shape, dtype: str = "f16") -> None:
        self.shape = shape
        self.kind, array, self.tolerance = TYPES[dtype]
        self.inputs = inputs(shape, array)
        self.want = reference(shape, *self.inputs)

    def run(self, name: str, mma: MMAType, waves: int, target: str, machine: bool = False) -> None:
        """One of the kernels that walk a dim, compared with its results."""
        make, results = {"keys": (keys_kernel, ("dk", "dv")), "queries": (queries_kernel, ("dq",))}[name]
        kernel, subs = make(self.shape, mma, self.kind, waves)
        rows = [self.want[n].astype(np.float32) for n in ("lse", "d")]
        outputs = [np.full(self.want[n].shape, np.nan, np.float32) for n in results]
        given = [*self.inputs, *rows, *outputs]
        want = {6 + i: self.want[n] for i, n in enumerate(results)}
        made = check(kernel, subs, given, want, target=target, tolerance=self.tolerance, orders=("reverse",))
        if machine:
            check_machine(made, given, want, self.tolerance, seed=11)


@pytest.mark.thin(11)
@pytest.mark.parametrize("name", ["keys", "queries"])
@pytest.mark.parametrize("mma", [MMAType.F32_16x16x16_F16, MMAType.F32_32x32x8_F16], ids=lambda m: m.name)
@pytest.mark.parametrize("dtype", ["f16", "bf16"])
@pytest.mark.parametrize("waves", [1, 4])
def test_kinds(name: str, mma: MMAType, dtype: str, waves: int) -> None:
    Backward(Shape(2, 40, 70, 32, 64, causal=True), dtype).run(name, mma, waves, "gfx942")


@pytest.mark.thin(3)
@pytest.mark.parametrize("name", ["keys", "queries"])
@pytest.mark.parametrize("mma", [MMAType.F32_16x16x32_F16, MMAType.F32_32x32x16_F16], ids=lambda m: m.name)
def test_kinds_of_gfx950(name: str, mma: MMAType) -> None:
    Backward(Shape(1, 40, 33, 64, 32)).run(name, mma, 2, "gfx950", machine=True)


@pytest.mark.thin(4)
@pytest.mark.parametrize("name", ["keys", "queries"])
@pytest.mark.parametrize("head", [13, 40, 72])
def test_head_sizes(name: str, head: int) -> None:
    Backward(Shape(1, 17, 21, head, head)).run(name, MMAType.F32_16x16x16_F16, 2, "gfx942")


@pytest.mark.thin(4)
@pytest.mark.parametrize("name", ["keys", "queries"])
@pytest.mark.parametrize("size", [(1, 1), (64, 64), (9, 65)], ids=str)
def test_lengths(name: str, size: tuple[int, int]) -> None:
    shape = Shape(1, *size, 32, 32, causal=True)
    Backward(shape).run(name, MMAType.F32_16x16x16_F16, 2, "gfx942", machine=size == (9, 65))


def test_rows() -> None:
    backward = Backward(Shape(2, 13, 5, 32, 40))
    kernel, subs = rows_kernel(backward.shape)
    given = [backward.want["o"].astype(np.float32), backward.inputs[3], np.full((2, 13), np.nan, np.float32)]
    made = check(kernel, subs, given, {2: backward.want["d"]}, tolerance=1e-5)
    check_machine(made, given, {2: backward.want["d"]}, 1e-5, seed=0)
