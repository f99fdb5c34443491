"""Functions that were asked for in their approximate form (`fastmath<afn>`): bare instructions, and a short tanh."""

from __future__ import annotations

from collections.abc import Iterable

from mlir import ir
from mlir.dialects import arith, llvm, math, vector

from .numbers import through_f32

_LOG2_E = 1.4426950408889634
# function -> the machine's, factor of the argument, factor of the result
_INSTRUCTIONS: dict[str, tuple[str, float, float]] = {
    "exp2": ("exp2", 1.0, 1.0),
    "exp": ("exp2", _LOG2_E, 1.0),
    "log2": ("log", 1.0, 1.0),
    "log": ("log", 1.0, 1 / _LOG2_E),
    "log10": ("log", 1.0, 0.3010299956639812),
}
_FLAGGED = ("sqrt", "sin", "cos")  # LLVM makes them short when it may approximate
# Below this x is nearer to tanh(x) than the quotient, whose error is 2^-24 / x: both are within 2^-15.
_TANH_LINEAR = 2.0**-7

RELAXED = {
    "arith.addf": "contract",
    "arith.subf": "contract",
    "arith.mulf": "contract",
    "arith.divf": "contract, arcp, afn",
}
"""Arithmetic -> the flags that it gets in a module that prefers speed."""


def relax(ops: Iterable[ir.Operation]) -> None:
    """Give arithmetic of at most 32 bits its flags, unless it has some."""
    for op in ops:
        kind = op.results[0].type
        element = kind.element_type if isinstance(kind, ir.VectorType) else kind
        if ir.FloatType(element).width <= 32 and "none" in str(op.attributes["fastmath"]):
            op.attributes["fastmath"] = ir.Attribute.parse(f"#arith.fastmath<{RELAXED[op.name]}>")


def can(name: str, kind: ir.Type) -> bool:
    """Whether `math.name` has an approximate form for a scalar or vector type."""
    element = kind.element_type if isinstance(kind, ir.VectorType) else kind
    flat = not isinstance(kind, ir.VectorType) or kind.rank == 1
    return flat and ir.FloatType(element).width <= 32 and name in (*_INSTRUCTIONS, *_FLAGGED, "tanh", "rsqrt")


def build(op: ir.Operation, name: str) -> ir.Value:
    """The approximate form of the op, at the insertion point."""
    if name == "tanh":
        return through_f32(op, lambda values: _tanh(values[0]))
    if name == "rsqrt":
        return through_f32(op, lambda values: _quotient(_constant(values[0], 1.0), _flagged("sqrt", values[0])))
    if name in _FLAGGED:
        return through_f32(op, lambda values: _flagged(name, values[0]))
    instruction, before, after = _INSTRUCTIONS[name]
    return through_f32(op, lambda values: _times(_instruction(instruction, _times(values[0], before)), after))


def _flagged(name: str, value: ir.Value) -> ir.Value:
    """LLVM's intrinsic with leave to approximate.

    As a call: conversion to ROCDL takes an op such as `llvm.intr.sin` for one that the target has not.
    """
    flags = ir.Attribute.parse("#llvm.fastmath<contract, afn>")
    return llvm.CallIntrinsicOp(value.type, f"llvm.{name}", [value], [], [], fastmathFlags=flags).results_


def _instruction(name: str, value: ir.Value) -> ir.Value:
    """The machine's own instruction on each element: around `llvm.exp2` there would be code for denormal numbers."""

    def call(element: ir.Value) -> ir.Value:
        return llvm.CallIntrinsicOp(element.type, f"llvm.amdgcn.{name}", [element], [], []).results_

    if not isinstance(value.type, ir.VectorType):
        return call(value)
    count = value.type.shape[0]
    elements = [call(vector.extract(value, [], [i])) for i in range(count)]
    return vector.FromElementsOp(value.type, elements).result


def _times(value: ir.Value, factor: float) -> ir.Value:
    return value if factor == 1.0 else arith.MulFOp(value, _constant(value, factor)).result


def _quotient(a: ir.Value, b: ir.Value) -> ir.Value:
    """a / b by the reciprocal instruction."""
    flags = arith.FastMathFlags.afn | arith.FastMathFlags.arcp | arith.FastMathFlags.contract
    return arith.DivFOp(a, b, fastmath=flags).result


def _constant(like: ir.Value, value: float) -> ir.Value:
    kind = like.type
    if isinstance(kind, ir.VectorType):
        attribute = ir.DenseElementsAttr.get_splat(kind, ir.FloatAttr.get(kind.element_type, value))
        return arith.ConstantOp(kind, attribute).result
    return arith.ConstantOp(kind, ir.FloatAttr.get(kind, value)).result


def _tanh(x: ir.Value) -> ir.Value:
    """(1 - t) / (1 + t), t = 2^(-2 log2(e) |x|)."""
    one, size = _constant(x, 1.0), math.AbsFOp(x).result
    t = _instruction("exp2", arith.MulFOp(size, _constant(x, -2.0 * _LOG2_E)).result)
    quotient = _quotient(arith.SubFOp(one, t).result, arith.AddFOp(one, t).result)
    small = arith.CmpFOp(arith.CmpFPredicate.OLT, size, _constant(x, _TANH_LINEAR)).result
    return arith.SelectOp(small, x, math.CopySignOp(quotient, x).result).result
