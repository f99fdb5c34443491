"""Elementwise operations of the reference evaluator: floats in f64, integers in 64 bits, rounded to the type once."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..dtypes import DType, wrap


def _float_rem(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.fmod(a, b)


def _int_div(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.floor_divide(a, np.where(b == 0, 1, b))  # by 0 as by 1, as compiled


def _int_rem(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.fmod(a, np.where(b == 0, 1, b))


def _half_away(x: np.ndarray) -> np.ndarray:
    return np.trunc(x + np.copysign(np.nextafter(0.5, 0), x))


FLOAT_BINARY: dict[str, Callable] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "mod": np.mod, "rem": _float_rem,
    "minimum": np.minimum, "maximum": np.maximum, "pow": np.power, "atan2": np.arctan2,
}  # fmt: skip
INT_BINARY: dict[str, Callable] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "minimum": np.minimum, "maximum": np.maximum,
    "div": _int_div, "mod": np.mod, "rem": _int_rem, "and": np.bitwise_and, "or": np.bitwise_or,
    "xor": np.bitwise_xor, "shl": np.left_shift, "shr": np.right_shift,
}  # fmt: skip
FLOAT_UNARY: dict[str, Callable] = {
    "neg": np.negative, "abs": np.abs, "exp": np.exp, "exp2": np.exp2, "log": np.log, "log2": np.log2,
    "log10": np.log10, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "cbrt": np.cbrt,
    "reciprocal": lambda x: 1 / x, "sin": np.sin, "cos": np.cos, "tan": np.tan, "sinh": np.sinh, "cosh": np.cosh,
    "tanh": np.tanh, "tanh_approx": np.tanh, "softsign": lambda x: x / (1 + np.abs(x)), "round": _half_away,
    "roundeven": np.rint, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc,
}  # fmt: skip
INT_UNARY: dict[str, Callable] = {"neg": np.negative, "abs": np.abs, "not": np.invert}
COMPARE: dict[str, Callable] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip


def wide(data: np.ndarray, dtype: DType) -> np.ndarray:
    """The values in f64 or int64."""
    return data.astype(np.float64 if dtype.is_float else np.int64)


def narrow(data: np.ndarray, dtype: DType) -> np.ndarray:
    """The values rounded to `dtype`, nearest even; integers wrap around."""
    if not dtype.is_float:
        return data.astype(bool) if dtype.name == "i1" else wrap(data.astype(np.int64), dtype)
    if dtype.bits < 16 or dtype.name == "bf16":  # ml_dtypes goes through f32, which would round twice
        return _odd_to_f32(data.astype(np.float64)).astype(dtype.np)
    return data.astype(dtype.np)


def _odd_to_f32(data: np.ndarray) -> np.ndarray:
    """Rounded to f32 by round to odd, after which a second rounding gives what a single one would."""
    near = data.astype(np.float32)
    exact = near.astype(np.float64)
    inexact = np.isfinite(data) & np.isfinite(near) & (exact != data)
    even = (near.view(np.int32) & 1) == 0
    other = np.nextafter(near, np.where(exact < data, np.float32(math.inf), np.float32(-math.inf)))
    return np.where(inexact & even, other, near)


def cast(data: np.ndarray, source: DType, target: DType, saturate: bool) -> np.ndarray:
    """Conversion of elements."""
    values = data.astype(np.float64 if source.is_float else np.int64)
    if not target.is_float:
        return _saturated(values, target) if source.is_float else narrow(values, target)
    if saturate:
        import ml_dtypes

        greatest = float(ml_dtypes.finfo(target.np).max)
        values = np.clip(values, -greatest, greatest)
    return narrow(values, target)


def _saturated(values: np.ndarray, target: DType) -> np.ndarray:
    """Toward zero; out of range the nearest integer there is, NaN is 0."""
    whole = np.where(np.isnan(values), 0.0, np.trunc(values))
    if target.name == "i1":
        return whole != 0
    bits = 64 if target.name == "index" else target.bits
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    inside = (whole > low) & (whole < high)
    integers = np.where(inside, whole, 0.0).astype(np.int64)
    return narrow(np.where(inside, integers, np.where(whole > 0, high, np.where(whole < 0, low, 0))), target)


def identity(kind: str, dtype: DType) -> float | int:
    """The neutral element of sum, max or min."""
    if kind == "sum":
        return 0
    if dtype.is_float:
        return -math.inf if kind == "max" else math.inf
    limits = np.iinfo(np.int64 if dtype.name == "index" else dtype.np)
    return int(limits.min if kind == "max" else limits.max)
