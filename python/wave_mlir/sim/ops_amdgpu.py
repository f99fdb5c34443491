"""amdgpu conversions between packed 8-bit and 4-bit floats and wider ones."""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np
from mlir import ir

from .cohort import Cohort
from .dtypes import DType
from .ops_casts import convert_float
from .ops_vector import full, lead
from .program import Compiler, handles


def _vector_of(c: Compiler, value: ir.Value) -> Callable[[Cohort], np.ndarray]:
    slot = c.use(value)
    if c.shape(value):
        return lambda cohort: cohort.env[slot]
    return lambda cohort: cohort.env[slot][..., None]


def _padded(values: np.ndarray, count: int) -> np.ndarray:
    """Values with zeros for elements that the operation leaves undefined."""
    missing = count - values.shape[2]
    if missing <= 0:
        return values
    return np.concatenate([values, np.zeros((*values.shape[:2], missing), dtype=values.dtype)], axis=2)


@handles("amdgpu.ext_packed_fp8")
def _extend(c: Compiler, op: ir.Operation) -> None:
    """One element source[index], or the pair of word `index`."""
    source, result, index = _vector_of(c, op.operands[0]), c.define(op.results[0]), c.integer(op, "index")
    pair = bool(c.shape(op.results[0]))

    def step(cohort: Cohort) -> None:
        values = _padded(source(cohort), 4).astype(np.float32)
        cohort.env[result] = values[..., 2 * index : 2 * index + 2] if pair else values[..., index]

    c.emit(step)


@handles("amdgpu.scaled_ext_packed")
def _scaled_extend(c: Compiler, op: ir.Operation) -> None:
    """The pair of word `index`, times the power of two in the scale's exponent."""
    source, scale, result = _vector_of(c, op.operands[0]), c.use(op.operands[1]), c.define(op.results[0])
    index, target = c.integer(op, "index"), c.dtype(op.results[0])

    def step(cohort: Cohort) -> None:
        values = _padded(source(cohort), 8)[..., 2 * index : 2 * index + 2].astype(np.float64)
        cohort.env[result] = convert_float(values * power_of_two(cohort.env[scale])[..., None], target)

    c.emit(step)


def power_of_two(scale: np.ndarray) -> np.ndarray:
    """2 to the exponent of an f32 scale, in f64; its mantissa and sign do not count (they are not read)."""
    exponent = (np.ascontiguousarray(scale, dtype=np.float32).view(np.uint32) >> 23) & 0xFF
    return np.where(exponent == 0xFF, np.nan, np.exp2(exponent.astype(np.float64) - 127))


def _insert_into(
    c: Compiler, op: ir.Operation, existing: list[ir.Value], start: int, count: int
) -> Callable[[Cohort, np.ndarray], np.ndarray]:
    """Puts `count` new elements at `start` of `existing` (zeros where there is none)."""
    kind, (total,) = c.dtype(op.results[0]), c.shape(op.results[0])
    slot = c.use(existing[0]) if existing else None

    def insert(cohort: Cohort, values: np.ndarray) -> np.ndarray:
        old = np.zeros((1, 1, total), dtype=kind.np) if slot is None else cohort.env[slot]
        out = full(old, lead(old, values)).copy()
        out[..., start : start + count] = values
        return out

    return insert


@handles("amdgpu.packed_trunc_2xfp8")
def _truncate(c: Compiler, op: ir.Operation) -> None:
    (first_in,), second_in, existing = c.operand_groups(op)
    word, target = c.integer(op, "wordIndex"), c.dtype(op.results[0])
    first, second = c.use(first_in), c.use(second_in[0]) if second_in else None
    insert, result = _insert_into(c, op, existing, 2 * word, 2), c.define(op.results[0])

    def step(cohort: Cohort) -> None:
        a = cohort.env[first]
        b = np.zeros((1, 1), dtype=a.dtype) if second is None else cohort.env[second]
        pair = np.stack([full(a, lead(a, b)), full(b, lead(a, b))], axis=-1)
        cohort.env[result] = insert(cohort, convert_float(pair, target))

    c.emit(step)


@handles("amdgpu.packed_scaled_trunc")
def _scaled_truncate(c: Compiler, op: ir.Operation) -> None:
    source_in, scale_in, *existing = op.operands
    word, target = c.integer(op, "index"), c.dtype(op.results[0])
    source, scale = _vector_of(c, source_in), c.use(scale_in)
    insert, result = _insert_into(c, op, existing, 2 * word, 2), c.define(op.results[0])

    def step(cohort: Cohort) -> None:
        values = _padded(source(cohort), 2).astype(np.float64) / power_of_two(cohort.env[scale])[..., None]
        cohort.env[result] = insert(cohort, convert_float(values, target))

    c.emit(step)


def stochastic_round(values: np.ndarray, noise: np.ndarray, target: DType) -> np.ndarray:
    """f32 to 8 bits: add the top bits of `noise` below the mantissa that is kept, then cut off.

    The ISA adds the random bits to the f32 mantissa's dropped bits; a result in the subnormal range drops more of them.
    """
    info = ml_dtypes.finfo(target.np)
    _, exponent = np.frexp(values.astype(np.float64))
    lowest = int(np.log2(float(info.smallest_normal)))
    unit = np.exp2(np.maximum(exponent - 1, lowest).astype(np.float64) - info.nmant)
    part = (noise.view(np.uint32) >> np.uint32(32 - (23 - info.nmant))).astype(np.float64)
    magnitude = np.abs(values.astype(np.float64)) / unit + part / 2.0 ** (23 - info.nmant)
    result = np.copysign(np.floor(magnitude) * unit, values)
    return np.where(np.isfinite(values), result, values).astype(np.float32).astype(target.np)


@handles("amdgpu.packed_stoch_round_fp8")
def _stochastic(c: Compiler, op: ir.Operation) -> None:
    source_in, noise_in, *existing = op.operands
    source, noise, target = c.use(source_in), c.use(noise_in), c.dtype(op.results[0])
    insert = _insert_into(c, op, existing, c.integer(op, "storeIndex"), 1)
    result = c.define(op.results[0])

    def step(cohort: Cohort) -> None:
        env = cohort.env
        env[result] = insert(cohort, stochastic_round(env[source], env[noise], target)[..., None])

    c.emit(step)
