"""What atomics do, written with numpy on one pair of values: the tests' own formulas."""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np

Formula = Callable[[int, int, int], int]
"""(old value, operand, second operand or value compared with) to the new value; raw bits."""


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def integers(bits: int) -> dict[str, Formula]:
    """Integer atomics of 32 or 64 bits by the stem of the global instruction."""
    mask = (1 << bits) - 1

    def signed(v: int) -> int:
        return _signed(v, bits)

    return {
        "add": lambda old, a, b: (old + a) & mask,
        "sub": lambda old, a, b: (old - a) & mask,
        "smin": lambda old, a, b: min(old, a, key=signed),
        "smax": lambda old, a, b: max(old, a, key=signed),
        "umin": lambda old, a, b: min(old, a),
        "umax": lambda old, a, b: max(old, a),
        "and": lambda old, a, b: old & a,
        "or": lambda old, a, b: old | a,
        "xor": lambda old, a, b: old ^ a,
        "inc": lambda old, a, b: 0 if old >= a else old + 1,
        "dec": lambda old, a, b: a if old == 0 or old > a else old - 1,
        "swap": lambda old, a, b: a,
        "cmpswap": lambda old, a, b: a if old == b else old,
    }


def _scalar(raw: int, dtype: type) -> np.floating:
    size = np.dtype(dtype).itemsize
    return np.frombuffer(int(raw).to_bytes(size, "little"), dtype)[0]


def _raw(value: np.generic) -> int:
    return int.from_bytes(value.tobytes(), "little")


def float_add(dtype: type) -> Formula:
    """Sum of two floats, rounded once."""
    return lambda old, a, b: _raw(np.dtype(dtype).type(_scalar(old, dtype) + _scalar(a, dtype)))


def float_pick(dtype: type, smaller: bool) -> Formula:
    """The smaller or larger; the old one when they are equal."""

    def pick(old: int, a: int, b: int) -> int:
        x, y = _scalar(old, dtype), _scalar(a, dtype)
        return a if (y < x if smaller else y > x) else old

    return pick


def packed_add(dtype: type) -> Formula:
    """Two sums of 16-bit floats."""
    one = float_add(dtype)
    return lambda old, a, b: one(old & 0xFFFF, a & 0xFFFF, 0) | one(old >> 16, a >> 16, 0) << 16


FLOATS: dict[str, tuple[Formula, int, type]] = {
    "add_f32": (float_add(np.float32), 32, np.float32),
    "pk_add_f16": (packed_add(np.float16), 32, np.float16),
    "pk_add_bf16": (packed_add(ml_dtypes.bfloat16), 32, ml_dtypes.bfloat16),
    "add_f64": (float_add(np.float64), 64, np.float64),
    "min_f64": (float_pick(np.float64, True), 64, np.float64),
    "max_f64": (float_pick(np.float64, False), 64, np.float64),
}
"""Float atomics by the stem of the global instruction: formula, bits, element type."""


def operands(rng: np.random.Generator, bits: int, count: int) -> np.ndarray:
    """Random values with a few equal, small and extreme ones: uint32 or uint64 [count]."""
    dtype = np.uint32 if bits == 32 else np.uint64
    values = rng.integers(0, 1 << bits, count, dtype)
    values[::5] &= dtype(7)
    values[1::9] = dtype((1 << bits) - 1)
    values[2::11] = dtype(1 << (bits - 1))
    return values


def float_operands(rng: np.random.Generator, dtype: type, count: int) -> np.ndarray:
    """Random finite floats, as raw u32 or u64 [count] (two 16-bit ones in a word)."""
    size = np.dtype(dtype).itemsize
    per = max(1, 4 // size)
    values = (rng.standard_normal(count * per) * 4).astype(dtype)
    values[::7] = dtype(0)
    return np.ascontiguousarray(values).view(np.uint64 if size == 8 else np.uint32)
