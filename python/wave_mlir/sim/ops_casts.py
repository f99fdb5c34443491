"""Casts of arith and index: between integers, floats and index, and bit casts."""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np
from mlir import ir

from .cohort import Cohort
from .dtypes import DType, from_bytes, to_bytes, unsigned, wrap
from .ops_arith import _fault
from .program import Compiler, handles

Unary = Callable[[np.ndarray], np.ndarray]


def emit_unary(c: Compiler, op: ir.Operation, function: Unary) -> None:
    """result = function(operand)."""
    a, r = c.use(op.operands[0]), c.define(op.results[0])

    def step(cohort: Cohort) -> None:
        cohort.env[r] = function(cohort.env[a])

    c.emit(step)


def convert_float(values: np.ndarray, target: DType) -> np.ndarray:
    """Round to nearest even into another float type; overflow follows the type's rule (inf, else NaN)."""
    if values.dtype == target.np:
        return values
    if values.dtype == np.float64 and target.np not in (np.float16, np.float32):
        # ml_dtypes goes through f32, which would round twice; round to odd on the way instead.
        return round_to_odd_f32(values).astype(target.np)
    return values.astype(target.np)


def round_to_odd_f32(values: np.ndarray) -> np.ndarray:
    """f64 to f32 such that a further rounding to nearest gives what one rounding would."""
    single = values.astype(np.float32)
    back = single.astype(np.float64)
    inexact = (back != values) & np.isfinite(values) & np.isfinite(single)
    even = (single.view(np.int32) & 1) == 0
    toward = np.where(values > back, np.float32(np.inf), np.float32(-np.inf))
    return np.where(inexact & even, np.nextafter(single, toward), single)


def float_to_int(values: np.ndarray, target: DType, signed: bool) -> np.ndarray:
    """Round toward zero and saturate, NaN to 0, as v_cvt does (the IR leaves these cases open)."""
    wide = np.nan_to_num(values.astype(np.float64), nan=0.0, posinf=np.inf, neginf=-np.inf)
    if target.np == np.bool_:
        return np.trunc(wide) != 0
    low, high = (-(1 << (target.bits - 1)), (1 << (target.bits - 1)) - 1) if signed else (0, (1 << target.bits) - 1)
    whole = np.trunc(wide)
    out = np.where(np.abs(whole) < 2.0**63, whole, 0.0).astype(np.int64)
    if not signed and target.bits == 64:
        out = np.where(whole >= 2.0**63, np.where(whole < 2.0**64, whole, 0.0).astype(np.uint64).view(np.int64), out)
    out = np.where(whole >= float(high), np.int64(high if high < 1 << 63 else -1), out)
    out = np.where(whole <= float(low), np.int64(low), out)
    return wrap(out, target)


def int_to_float(values: np.ndarray, source: DType, target: DType, signed: bool) -> np.ndarray:
    """Round to nearest even."""
    if source.np == np.bool_:
        values = -values.astype(np.int8) if signed else values.astype(np.int8)
    elif not signed:
        values = unsigned(values, source)
    if target.np in (np.float16, np.float32, np.float64):
        return values.astype(target.np)
    if source.bits <= 16:
        return values.astype(np.float32).astype(target.np)
    return round_to_odd_f32(_f64_to_odd(values)).astype(target.np)


def _f64_to_odd(values: np.ndarray) -> np.ndarray:
    """Integers as f64; those above 2**53 lose bits that cannot matter for types of 8 mantissa bits, kept sticky."""
    large = np.abs(values.astype(np.float64)) >= 2.0**53
    if not large.any():
        return values.astype(np.float64)
    sticky = np.where(large, (values >> 11 << 11) | np.where(values & 2047, 2048, 0).astype(values.dtype), values)
    return sticky.astype(np.float64)


@handles("arith.extf")
def _extend_float(c: Compiler, op: ir.Operation) -> None:
    target = c.dtype(op.results[0]).np
    emit_unary(c, op, lambda a: a.astype(target))


@handles("arith.truncf")
def _truncate_float(c: Compiler, op: ir.Operation) -> None:
    mode = str(op.attributes["roundingmode"]) if "roundingmode" in op.attributes else "to_nearest_even"
    if "to_nearest_even" not in mode:
        raise c.unsupported(f"rounding mode {mode}")
    target = c.dtype(op.results[0])
    emit_unary(c, op, lambda a: convert_float(a, target))


@handles("arith.extsi", "arith.extui")
def _extend_int(c: Compiler, op: ir.Operation) -> None:
    source, target = c.dtype(op.operands[0]), c.dtype(op.results[0])
    signed = op.name == "arith.extsi"
    if source.np == np.bool_:
        one = target.np.type(-1 if signed else 1)
        emit_unary(c, op, lambda a: wrap(a.astype(target.np) * one, target))
    elif signed:
        emit_unary(c, op, lambda a: a.astype(target.np))
    else:
        emit_unary(c, op, lambda a: unsigned(a, source).astype(target.np))


@handles("arith.trunci")
def _truncate_int(c: Compiler, op: ir.Operation) -> None:
    source, target = c.dtype(op.operands[0]), c.dtype(op.results[0])
    flags = str(op.attributes["overflowFlags"]) if "overflowFlags" in op.attributes else ""
    if "nsw" in flags:
        _checked_cast(c, op, target)
        return
    del source
    emit_unary(c, op, lambda a: wrap(a, target))


@handles("arith.index_cast", "index.casts")
def _index_cast(c: Compiler, op: ir.Operation) -> None:
    target = c.dtype(op.results[0])
    if target.bits < c.dtype(op.operands[0]).bits:
        _checked_cast(c, op, target)
    else:
        source = c.dtype(op.operands[0])
        if source.np == np.bool_:
            emit_unary(c, op, lambda a: -a.astype(target.np))
        else:
            emit_unary(c, op, lambda a: a.astype(target.np))


def _checked_cast(c: Compiler, op: ir.Operation, target: DType) -> None:
    """Truncation that must keep the value."""
    a, r, info = c.use(op.operands[0]), c.define(op.results[0]), c.info
    assert info is not None

    def step(cohort: Cohort) -> None:
        values = cohort.env[a]
        result = wrap(values, target)
        cohort.env[r] = result
        if "overflow" in cohort.machine.checks and target.np != np.bool_:
            bad = result != values
            if bad.any():
                _fault(
                    cohort,
                    info,
                    "overflow",
                    bad,
                    f"the index does not fit {target.name}; use i64, or split the offset "
                    "into a uniform and a lane part",
                )

    c.emit(step)


@handles("arith.index_castui", "index.castu")
def _index_cast_unsigned(c: Compiler, op: ir.Operation) -> None:
    source, target = c.dtype(op.operands[0]), c.dtype(op.results[0])
    emit_unary(c, op, lambda a: wrap(unsigned(a, source).astype(np.uint64), target))


@handles("arith.sitofp", "arith.uitofp")
def _int_to_float(c: Compiler, op: ir.Operation) -> None:
    source, target, signed = c.dtype(op.operands[0]), c.dtype(op.results[0]), op.name == "arith.sitofp"
    emit_unary(c, op, lambda a: int_to_float(a, source, target, signed))


@handles("arith.fptosi", "arith.fptoui")
def _float_to_int(c: Compiler, op: ir.Operation) -> None:
    target, signed = c.dtype(op.results[0]), op.name == "arith.fptosi"
    emit_unary(c, op, lambda a: float_to_int(a, target, signed))


@handles("arith.bitcast")
def _bitcast(c: Compiler, op: ir.Operation) -> None:
    source, target = c.dtype(op.operands[0]), c.dtype(op.results[0])
    if source.np.itemsize == target.np.itemsize and source.bits == source.np.itemsize * 8:
        emit_unary(c, op, lambda a: np.ascontiguousarray(a).view(target.np))
    else:
        emit_unary(c, op, lambda a: from_bytes(to_bytes(a[..., None], source), target)[..., 0])


@handles("arith.scaling_extf")
def _scaling_extend(c: Compiler, op: ir.Operation) -> None:
    target = c.dtype(op.results[0])
    _scaled(c, op, lambda values, scale: convert_float(values * scale, target))


@handles("arith.scaling_truncf")
def _scaling_truncate(c: Compiler, op: ir.Operation) -> None:
    target = c.dtype(op.results[0])
    _scaled(c, op, lambda values, scale: convert_float(values / scale, target))


def _scaled(c: Compiler, op: ir.Operation, function: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> None:
    a, s, r = c.use(op.operands[0]), c.use(op.operands[1]), c.define(op.results[0])

    def step(cohort: Cohort) -> None:
        env = cohort.env
        scale = env[s].astype(np.float32).astype(ml_dtypes.float8_e8m0fnu).astype(np.float64)
        env[r] = function(env[a].astype(np.float64), scale)

    c.emit(step)
