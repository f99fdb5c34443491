"""Elementwise wave ops on the vectors of one lane, as arith and math ops."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from mlir import ir
from mlir.dialects import arith, math

Build = Callable[..., ir.OpView]

# wave op: (for floats, for integers); None where the dtype has no such op.
_BINARY: dict[str, tuple[Build | None, Build | None]] = {
    "add": (arith.AddFOp, arith.AddIOp),
    "sub": (arith.SubFOp, arith.SubIOp),
    "mul": (arith.MulFOp, arith.MulIOp),
    "div": (arith.DivFOp, arith.FloorDivSIOp),
    "rem": (arith.RemFOp, arith.RemSIOp),
    "minimum": (arith.MinimumFOp, arith.MinSIOp),
    "maximum": (arith.MaximumFOp, arith.MaxSIOp),
    "and": (None, arith.AndIOp),
    "or": (None, arith.OrIOp),
    "xor": (None, arith.XOrIOp),
    "shl": (None, arith.ShLIOp),
    "shr": (None, arith.ShRSIOp),
    "pow": (math.PowFOp, None),
    "atan2": (math.Atan2Op, None),
}
_UNARY: dict[str, tuple[Build | None, Build | None]] = {
    "abs": (math.AbsFOp, math.AbsIOp),
    "exp": (math.ExpOp, None),
    "exp2": (math.Exp2Op, None),
    "log": (math.LogOp, None),
    "log2": (math.Log2Op, None),
    "log10": (math.Log10Op, None),
    "sqrt": (math.SqrtOp, None),
    "rsqrt": (math.RsqrtOp, None),
    "cbrt": (math.CbrtOp, None),
    "sin": (math.SinOp, None),
    "cos": (math.CosOp, None),
    "tan": (math.TanOp, None),
    "sinh": (math.SinhOp, None),
    "cosh": (math.CoshOp, None),
    "tanh": (math.TanhOp, None),
    "tanh_approx": (partial(math.TanhOp, fastmath=arith.FastMathFlags.afn), None),
    "round": (math.RoundOp, None),
    "roundeven": (math.RoundEvenOp, None),
    "floor": (math.FloorOp, None),
    "ceil": (math.CeilOp, None),
    "trunc": (math.TruncOp, None),
}
_DIVISIONS = ("div", "rem", "mod")
_COMPARE = {
    "eq": (arith.CmpFPredicate.OEQ, arith.CmpIPredicate.eq),
    "ne": (arith.CmpFPredicate.UNE, arith.CmpIPredicate.ne),
    "lt": (arith.CmpFPredicate.OLT, arith.CmpIPredicate.slt),
    "le": (arith.CmpFPredicate.OLE, arith.CmpIPredicate.sle),
    "gt": (arith.CmpFPredicate.OGT, arith.CmpIPredicate.sgt),
    "ge": (arith.CmpFPredicate.OGE, arith.CmpIPredicate.sge),
}
_COMPOSED = ("neg", "not", "mod", "reciprocal", "softsign")

ELEMENTWISE = frozenset(f"wave.{n}" for n in (*_BINARY, *_UNARY, *_COMPOSED, "compare", "select", "cast", "bitcast"))


def element_of(kind: ir.Type) -> ir.Type:
    """The element type of a vector, or the scalar type itself."""
    return kind.element_type if isinstance(kind, ir.VectorType) else kind


def is_float(kind: ir.Type) -> bool:
    """Whether a scalar or vector type has float elements."""
    return isinstance(element_of(kind), ir.FloatType)


def constant(kind: ir.Type, value: float) -> ir.Value:
    """A scalar constant, or a vector with it in each element."""
    element = element_of(kind)
    attribute = (
        ir.FloatAttr.get(element, float(value))
        if isinstance(element, ir.FloatType)
        else ir.IntegerAttr.get(element, int(value))
    )
    if isinstance(kind, ir.VectorType):
        attribute = ir.DenseElementsAttr.get_splat(kind, attribute)
    return arith.ConstantOp(kind, attribute).result


def build(op: ir.Operation, operands: list[ir.Value], result: ir.Type) -> ir.Value | None:
    """The op on vectors (or scalars); None when its dtype has no such operation. `result` is the type to give."""
    name = op.name.removeprefix("wave.")
    which = 0 if is_float(operands[0].type) else 1
    if name in _DIVISIONS and which == 1:
        operands = [operands[0], _nonzero(operands[1])]
    if name in ("shl", "shr") and which == 1:
        return _shift(name, *operands)
    if name in _BINARY:
        builder = _BINARY[name][which]
        return builder(*operands).result if builder else None
    if name in _UNARY:
        builder = _UNARY[name][which]
        return builder(operands[0]).result if builder else None
    if name == "compare":
        predicate = _COMPARE[str(op.attributes["predicate"]).split()[-1].rstrip(">").split("<")[-1]][which]
        return (arith.CmpFOp if which == 0 else arith.CmpIOp)(predicate, *operands).result
    if name == "select":
        return arith.SelectOp(*operands).result
    if name == "cast":
        return cast(operands[0], result, "saturate" in op.attributes)
    if name == "bitcast":
        return arith.BitcastOp(result, operands[0]).result
    return _composed(name, operands)


def _shift(name: str, x: ir.Value, amount: ir.Value) -> ir.Value:
    """A shift; by the width or more all bits are out (0, or the sign), where arith leaves the result undefined. So does
    a negative amount."""
    width = element_of(x.type).width
    known = _known(amount)
    if known is not None and 0 <= known < width:
        return (arith.ShLIOp if name == "shl" else arith.ShRSIOp)(x, amount).result
    if name == "shr":
        least = arith.MinUIOp(amount, constant(amount.type, width - 1)).result
        return arith.ShRSIOp(x, least).result
    inside = arith.CmpIOp(arith.CmpIPredicate.ult, amount, constant(amount.type, width)).result
    return arith.SelectOp(inside, arith.ShLIOp(x, amount).result, constant(x.type, 0)).result


def _known(value: ir.Value) -> int | None:
    """The integer that a constant is, also in each element; None of other values."""
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "arith.constant":
        return None
    found = value.owner.operation.attributes["value"]
    found = found.get_splat_value() if isinstance(found, ir.DenseElementsAttr) and found.is_splat else found
    return found.value if isinstance(found, ir.IntegerAttr) else None


def _nonzero(divisor: ir.Value) -> ir.Value:
    """The divisor, with 1 for 0: beyond a dim's extent reads give 0, and to divide by it would be undefined."""
    if _known(divisor):
        return divisor
    is_zero = arith.CmpIOp(arith.CmpIPredicate.eq, divisor, constant(divisor.type, 0)).result
    return arith.SelectOp(is_zero, constant(divisor.type, 1), divisor).result


def _composed(name: str, operands: list[ir.Value]) -> ir.Value:
    x = operands[0]
    if name == "neg":
        return arith.NegFOp(x).result if is_float(x.type) else arith.SubIOp(constant(x.type, 0), x).result
    if name == "not":
        return arith.XOrIOp(x, constant(x.type, -1)).result
    if name == "reciprocal":
        return arith.DivFOp(constant(x.type, 1.0), x).result
    if name == "softsign":
        below = arith.AddFOp(constant(x.type, 1.0), math.AbsFOp(x).result).result
        return arith.DivFOp(x, below).result
    y = operands[1]  # mod: lhs - floor(lhs / rhs) * rhs
    if not is_float(x.type):
        return arith.SubIOp(x, arith.MulIOp(arith.FloorDivSIOp(x, y).result, y).result).result
    # The remainder has the sign of lhs; where that is not the sign of rhs, one rhs more.
    remainder = arith.RemFOp(x, y).result
    zero = constant(x.type, 0.0)
    nonzero = arith.CmpFOp(arith.CmpFPredicate.ONE, remainder, zero).result
    below = arith.CmpFOp(arith.CmpFPredicate.OLT, remainder, zero).result
    wrong = arith.XOrIOp(below, arith.CmpFOp(arith.CmpFPredicate.OLT, y, zero).result).result
    fixed = arith.AddFOp(remainder, y).result
    return arith.SelectOp(arith.AndIOp(nonzero, wrong).result, fixed, remainder).result


def cast(value: ir.Value, result: ir.Type, saturate: bool = False) -> ir.Value:
    """A value as another element type: floats round to nearest even, floats to integers truncate.

    With `saturate` what is out of range becomes the greatest or least finite value.
    """
    source, target = element_of(value.type), element_of(result)
    if source == target:
        return value
    if isinstance(source, ir.FloatType) and isinstance(target, ir.FloatType):
        return _cast_float(value, result, saturate)
    if isinstance(source, ir.FloatType):
        return arith.FPToSIOp(result, value).result
    if isinstance(target, ir.FloatType):
        if isinstance(source, ir.IndexType):
            value = arith.IndexCastOp(_like(result, ir.IntegerType.get_signless(64)), value).result
        return (arith.UIToFPOp if _is_i1(source) else arith.SIToFPOp)(result, value).result
    if isinstance(source, ir.IndexType) or isinstance(target, ir.IndexType):
        return (arith.IndexCastUIOp if _is_i1(source) else arith.IndexCastOp)(result, value).result
    if source.width > target.width:
        return arith.TruncIOp(result, value).result
    return (arith.ExtUIOp if _is_i1(source) else arith.ExtSIOp)(result, value).result


def _is_i1(kind: ir.Type) -> bool:
    return isinstance(kind, ir.IntegerType) and kind.width == 1


def _like(kind: ir.Type, element: ir.Type) -> ir.Type:
    return ir.VectorType.get(kind.shape, element) if isinstance(kind, ir.VectorType) else element


# The greatest finite values of the types that are narrower than f16.
_F8_MAX = {"f8E4M3FN": 448.0, "f8E4M3FNUZ": 240.0, "f8E5M2": 57344.0, "f8E5M2FNUZ": 57344.0, "f4E2M1FN": 6.0,
           "f6E2M3FN": 7.5, "f6E3M2FN": 28.0, "f16": 65504.0, "bf16": 3.3895313892515355e38}  # fmt: skip


def _cast_float(value: ir.Value, result: ir.Type, saturate: bool) -> ir.Value:
    source, target = element_of(value.type), element_of(result)
    if saturate and str(target) in _F8_MAX:
        limit = _F8_MAX[str(target)]
        low, high = constant(value.type, -limit), constant(value.type, limit)
        # minnum and maxnum would lose a NaN; select keeps it
        over = arith.CmpFOp(arith.CmpFPredicate.OGT, value, high).result
        value = arith.SelectOp(over, high, value).result
        under = arith.CmpFOp(arith.CmpFPredicate.OLT, value, low).result
        value = arith.SelectOp(under, low, value).result
    if source.width < target.width:
        return arith.ExtFOp(result, value).result
    if source.width > target.width:
        return arith.TruncFOp(result, value).result
    wide = _like(result, ir.F32Type.get())
    return arith.TruncFOp(result, arith.ExtFOp(wide, value).result).result
