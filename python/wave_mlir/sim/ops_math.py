"""math: each function is computed in f64 and rounded once to its type; f64 functions are computed in long double.

The hardware's transcendental instructions are within a unit in the last place of that; a kernel must not depend on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from mlir import ir

from .cohort import Cohort
from .dtypes import DType, unsigned, wrap
from .ops_arith import emit_binary
from .ops_casts import convert_float, emit_unary, round_to_odd_f32
from .program import Compiler, handles

Unary = Callable[[np.ndarray], np.ndarray]


def _by_element(function: Callable[[float], float]) -> Unary:
    lifted = np.frompyfunc(function, 1, 1)
    return lambda a: np.asarray(lifted(a), dtype=np.float64)


def round_half_away(a: np.ndarray) -> np.ndarray:
    """Nearest integer, halves away from zero."""
    whole = np.trunc(a)
    return np.where(np.isfinite(a), whole + np.where(np.abs(a - whole) >= 0.5, np.copysign(1.0, a), 0.0), a)


FUNCTIONS: dict[str, Unary] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "rsqrt": lambda a: 1.0 / np.sqrt(a),
    "cbrt": np.cbrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "erf": _by_element(math.erf),
    "erfc": _by_element(math.erfc),
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "roundeven": np.rint,
    "round": round_half_away,
    "absf": np.abs,
}


def _wider(target: DType) -> type[np.floating]:
    """The type to compute in: numpy's own functions of f64 are up to 4 units in the last place off."""
    return np.longdouble if target.np == np.float64 else np.float64


@handles(*(f"math.{name}" for name in FUNCTIONS))
def _function(c: Compiler, op: ir.Operation) -> None:
    function, target = FUNCTIONS[op.name.split(".")[1]], c.dtype(op.results[0])
    wide = _wider(target)
    emit_unary(c, op, lambda a: convert_float(function(a.astype(wide)), target))


@handles("math.sincos")
def _sincos(c: Compiler, op: ir.Operation) -> None:
    source, target = c.use(op.operands[0]), c.dtype(op.results[0])
    sine, cosine = c.define(op.results[0]), c.define(op.results[1])

    def step(cohort: Cohort) -> None:
        values = cohort.env[source].astype(np.float64)
        cohort.env[sine] = convert_float(np.sin(values), target)
        cohort.env[cosine] = convert_float(np.cos(values), target)

    c.emit(step)


def _in_double(function: Callable[[np.ndarray, np.ndarray], np.ndarray], c: Compiler, op: ir.Operation) -> None:
    target = c.dtype(op.results[0])
    wide = _wider(target)
    emit_binary(c, op, lambda a, b: convert_float(function(a.astype(wide), b.astype(wide)), target))


@handles("math.powf")
def _powf(c: Compiler, op: ir.Operation) -> None:
    _in_double(np.power, c, op)


@handles("math.atan2")
def _atan2(c: Compiler, op: ir.Operation) -> None:
    _in_double(np.arctan2, c, op)


@handles("math.fpowi")
def _fpowi(c: Compiler, op: ir.Operation) -> None:
    _in_double(np.power, c, op)


@handles("math.copysign")
def _copysign(c: Compiler, op: ir.Operation) -> None:
    target = c.dtype(op.results[0])
    if target.np in (np.float16, np.float32, np.float64):
        emit_binary(c, op, np.copysign)
    else:
        _in_double(np.copysign, c, op)


@handles("math.ipowi")
def _ipowi(c: Compiler, op: ir.Operation) -> None:
    target = c.dtype(op.results[0])

    def power(base: np.ndarray, exponent: np.ndarray) -> np.ndarray:
        result = np.ones(np.broadcast_shapes(base.shape, exponent.shape), dtype=target.np)
        square, left = base, np.maximum(exponent, 0)
        while left.any():
            result = np.where(left & 1, result * square, result)
            square, left = square * square, left >> 1
        inverse = np.where(base == 1, 1, np.where(base == -1, np.where(exponent & 1, -1, 1), 0)).astype(target.np)
        return wrap(np.where(exponent < 0, inverse, result), target)

    emit_binary(c, op, power)


@handles("math.absi")
def _absi(c: Compiler, op: ir.Operation) -> None:
    target = c.dtype(op.results[0])
    emit_unary(c, op, lambda a: wrap(np.abs(a), target))


@handles("math.isnan", "math.isinf", "math.isfinite", "math.isnormal")
def _classify(c: Compiler, op: ir.Operation) -> None:
    kind, source = op.name.split(".")[1], c.dtype(op.operands[0])
    if kind == "isnormal":
        import ml_dtypes

        least = float(ml_dtypes.finfo(source.np).smallest_normal)
        emit_unary(c, op, lambda a: np.isfinite(a.astype(np.float64)) & (np.abs(a.astype(np.float64)) >= least))
    else:
        test = {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite}[kind]
        emit_unary(c, op, lambda a: test(a.astype(np.float64)))


@handles("math.ctpop", "math.ctlz", "math.cttz")
def _count_bits(c: Compiler, op: ir.Operation) -> None:
    dtype, kind = c.dtype(op.operands[0]), op.name.split(".")[1]

    def count(a: np.ndarray) -> np.ndarray:
        bits = unsigned(np.ascontiguousarray(a), dtype).astype(np.uint64)
        if kind == "ctpop":
            return wrap(np.bitwise_count(bits), dtype)
        if kind == "cttz":
            low = np.bitwise_count((bits & (~bits + np.uint64(1))) - np.uint64(1))
            return wrap(np.minimum(low, dtype.bits), dtype)
        for shift in (1, 2, 4, 8, 16, 32):
            bits = bits | (bits >> np.uint64(shift))
        return wrap(dtype.bits - np.bitwise_count(bits).astype(np.int64), dtype)

    emit_unary(c, op, count)


# ----------------------------------------------------------------------------------------------------------------- fma


def _split_product(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """f64 product and its error (Dekker)."""
    factor = 134217729.0  # 2**27 + 1
    product = a * b
    a_high = a * factor - (a * factor - a)
    b_high = b * factor - (b * factor - b)
    a_low, b_low = a - a_high, b - b_high
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def _sum_to_odd(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x + y in f64, rounded to odd, so that a second rounding to a narrower type is right."""
    total = x + y
    part = total - x
    error = (x - (total - part)) + (y - part)
    even = (total.view(np.int64) & 1) == 0
    toward = np.where(error > 0, np.inf, -np.inf)
    adjust = (error != 0) & even & np.isfinite(total)
    return np.where(adjust, np.nextafter(total, toward), total)


def fused_multiply_add(a: np.ndarray, b: np.ndarray, addend: np.ndarray) -> np.ndarray:
    """a*b + addend with one rounding to the operands' type."""
    kind = a.dtype
    x, y, z = (np.asarray(v, dtype=np.float64) for v in (a, b, addend))
    if kind == np.float64:
        product, error = _split_product(x, y)
        total = product + z
        part = total - product
        rest = (product - (total - part)) + (z - part)
        return np.where(np.isfinite(error + rest), total + (rest + error), x * y + z)
    exact = _sum_to_odd(x * y, z)  # the product of two 24-bit mantissas is exact in f64
    if kind.itemsize == 1:
        return round_to_odd_f32(exact).astype(kind)
    if kind == np.float32 or kind == np.float16:
        return exact.astype(kind)
    return round_to_odd_f32(exact).astype(kind)


@handles("math.fma")
def _fma(c: Compiler, op: ir.Operation) -> None:
    a, b, d = (c.use(v) for v in op.operands)
    result = c.define(op.results[0])

    def step(cohort: Cohort) -> None:
        env = cohort.env
        env[result] = fused_multiply_add(env[a], env[b], env[d])

    c.emit(step)


@handles("math.clampf")
def _clampf(c: Compiler, op: ir.Operation) -> None:
    value, low, high = (c.use(v) for v in op.operands)
    result = c.define(op.results[0])

    def step(cohort: Cohort) -> None:
        env = cohort.env
        env[result] = np.minimum(np.maximum(env[value], env[low]), env[high])

    c.emit(step)
