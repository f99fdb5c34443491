"""Kernels of rows as in examples/rowwise.py."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import rowwise
import wave_mlir.lang as tkl
from running import check, check_machine

TYPES = {
    "f16": (tkl.f16, np.float16, 5e-3),
    "bf16": (tkl.bf16, ml_dtypes.bfloat16, 4e-2),
    "f32": (tkl.f32, np.float32, 1e-5),
}
RNG = np.random.default_rng(4)


def numbers(dtype: type, *sizes: int) -> np.ndarray:
    return RNG.standard_normal(sizes).astype(np.float32).astype(dtype)


@pytest.mark.thin(11)
@pytest.mark.parametrize("name", list(rowwise.CASES))
@pytest.mark.parametrize("dtype", list(TYPES))
@pytest.mark.parametrize(("columns", "waves"), [(64, 1), (100, 1), (33, 1), (512, 2), (700, 4), (1, 1)])
def test_rows(name: str, dtype: str, columns: int, waves: int) -> None:
    kind, array, tolerance = TYPES[dtype]
    make, reference, extra = rowwise.CASES[name]
    given = [numbers(array, 6, columns), *(numbers(array, columns) for _ in range(extra))]
    want = reference(*(v.astype(np.float64) for v in given))
    arguments = [*given, np.full((6, columns), np.nan, array)]
    subs = rowwise.substitutions(6, columns, waves)
    made = check(make(kind, waves), subs, arguments, {len(given): want}, tolerance=tolerance, orders=("reverse",))
    if (columns, dtype) == (100, "f16") or waves == 4 and dtype == "bf16":
        check_machine(made, arguments, {len(given): want}, tolerance, seed=1)


@pytest.mark.parametrize("low", [-6e4, 6e4])
def test_softmax_of_great_numbers(low: float) -> None:
    x = (low + RNG.integers(-40, 40, (4, 100))).astype(np.float16)
    want = {1: rowwise.softmax(x.astype(np.float64))}
    check(rowwise.softmax_kernel(), rowwise.substitutions(4, 100), [x, np.zeros_like(x)], want, tolerance=1e-3)


@pytest.mark.thin(4)
@pytest.mark.parametrize("columns", [64, 100, 26])
@pytest.mark.parametrize("dtype", ["f16", "f32"])
def test_rotary(columns: int, dtype: str) -> None:
    kind, array, tolerance = TYPES[dtype]
    x = numbers(array, 13, columns)
    want = {1: rowwise.rotary(x.astype(np.float64))}
    given = [x, np.full_like(x, np.nan)]
    made = check(
        rowwise.rotary_kernel(dtype=kind), rowwise.substitutions(13, columns), given, want, tolerance=tolerance
    )
    if columns == 100:
        check_machine(made, given, want, tolerance, seed=2)
