"""Arithmetic on MLIR values with Python's operators: floats of one format, integers of its width, conditions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from mlir import ir
from mlir.dialects import arith, math, scf, vector

Number = int | float


@dataclass(frozen=True)
class Format:
    """A binary float format. mantissa: bits after the point. bias: of the exponent, also the greatest exponent."""

    name: str
    width: int
    mantissa: int
    bias: int

    @property
    def magic(self) -> float:
        """1.5 · 2^mantissa: a small number added to it is rounded to an integer, which are then its low bits."""
        return 1.5 * 2.0**self.mantissa

    @property
    def least_normal(self) -> float:
        """The least number that is not denormal."""
        return 2.0 ** (1 - self.bias)


FORMATS = {"f32": Format("f32", 32, 23, 127), "f64": Format("f64", 64, 52, 1023)}


class Constants:
    """The constants of one function, each made once, at its beginning."""

    def __init__(self, block: ir.Block):
        self._block = block
        self._made: dict[tuple[ir.Type, str], ir.Value] = {}

    def get(self, kind: ir.Type, value: Number) -> ir.Value:
        """A scalar, or a vector with the value in each element."""
        key = (kind, repr(value))
        if key not in self._made:
            element = kind.element_type if isinstance(kind, ir.VectorType) else kind
            is_float = isinstance(element, ir.FloatType)
            attribute = (
                ir.FloatAttr.get(element, value) if is_float else ir.IntegerAttr.get(element, _wrapped(value, element))
            )
            if isinstance(kind, ir.VectorType):
                attribute = ir.DenseElementsAttr.get_splat(kind, attribute)
            with ir.InsertionPoint.at_block_begin(self._block):
                self._made[key] = arith.ConstantOp(kind, attribute).result
        return self._made[key]


def _wrapped(value: Number, element: ir.Type) -> int:
    """The integer as a signed one of the type's width."""
    if isinstance(element, ir.IndexType):
        return int(value)
    width = ir.IntegerType(element).width
    low = int(value) & ((1 << width) - 1)
    return low - (1 << width) if width > 1 and low >> (width - 1) else low


@dataclass(frozen=True)
class Kind:
    """Where numbers live: a format, and the shape of vectors, of one dim (None: scalars)."""

    format: Format
    shape: tuple[int, ...] | None
    constants: Constants = field(compare=False)

    def _shaped(self, element: ir.Type) -> ir.Type:
        return element if self.shape is None else ir.VectorType.get(self.shape, element)

    @property
    def float_type(self) -> ir.Type:
        """Type of a Real."""
        return self._shaped(ir.F32Type.get() if self.format.width == 32 else ir.F64Type.get())

    def int_type(self, width: int = 0) -> ir.Type:
        """Type of an Int, by default of the format's width."""
        return self._shaped(ir.IntegerType.get_signless(width or self.format.width))

    def real(self, value: float) -> Real:
        """A constant."""
        return Real(self.constants.get(self.float_type, float(value)), self)

    def integer(self, value: int, width: int = 0) -> Int:
        """A constant; bits beyond the width are dropped."""
        return Int(self.constants.get(self.int_type(width), value), self)

    def from_bits(self, bits: Int) -> Real:
        """The float with these bits."""
        return Real(arith.BitcastOp(self.float_type, bits.ir).result, self)


@dataclass(frozen=True)
class Bool:
    """A condition for each element."""

    ir: ir.Value
    kind: Kind

    def __and__(self, other: Bool) -> Bool:
        return Bool(arith.AndIOp(self.ir, other.ir).result, self.kind)

    def __or__(self, other: Bool) -> Bool:
        return Bool(arith.OrIOp(self.ir, other.ir).result, self.kind)

    def negated(self) -> Bool:
        """Where this does not hold."""
        return Bool(arith.XOrIOp(self.ir, self.kind.constants.get(self.ir.type, 1)).result, self.kind)

    def any(self) -> ir.Value:
        """i1: whether it holds for some element."""
        if self.kind.shape is None:
            return self.ir
        return vector.ReductionOp(ir.IntegerType.get_signless(1), vector.CombiningKind.OR, self.ir).result


@dataclass(frozen=True)
class Int:
    """Integers; operators wrap around, `>>` fills with zeros."""

    ir: ir.Value
    kind: Kind

    @property
    def width(self) -> int:
        """Bits of an element."""
        kind = self.ir.type
        return ir.IntegerType(kind.element_type if isinstance(kind, ir.VectorType) else kind).width

    def _other(self, other: Int | int) -> ir.Value:
        return other.ir if isinstance(other, Int) else self.kind.constants.get(self.ir.type, other)

    def _with(self, op: Callable[..., ir.OpView], other: Int | int) -> Int:
        return Int(op(self.ir, self._other(other)).result, self.kind)

    def __add__(self, other: Int | int) -> Int:
        return self._with(arith.AddIOp, other)

    def __sub__(self, other: Int | int) -> Int:
        return self._with(arith.SubIOp, other)

    def __mul__(self, other: Int | int) -> Int:
        return self._with(arith.MulIOp, other)

    def __and__(self, other: Int | int) -> Int:
        return self._with(arith.AndIOp, other)

    def __or__(self, other: Int | int) -> Int:
        return self._with(arith.OrIOp, other)

    def __xor__(self, other: Int | int) -> Int:
        return self._with(arith.XOrIOp, other)

    def __lshift__(self, other: Int | int) -> Int:
        return self._with(arith.ShLIOp, other)

    def __rshift__(self, other: Int | int) -> Int:
        return self._with(arith.ShRUIOp, other)

    def signed_shift(self, other: Int | int) -> Int:
        """Shifted right, the sign kept."""
        return self._with(arith.ShRSIOp, other)

    def divided(self, divisor: int) -> Int:
        """Unsigned quotient."""
        return self._with(arith.DivUIOp, divisor)

    def times(self, other: Int) -> tuple[Int, Int]:
        """Low and high half of the unsigned product."""
        low, high = arith.MulUIExtendedOp(self.ir, other.ir).results
        return Int(low, self.kind), Int(high, self.kind)

    def is_set(self, bit: int) -> Bool:
        """Whether a bit is 1."""
        return (self & (1 << bit)).differs(0)

    def differs(self, other: Int | int) -> Bool:
        """self != other."""
        return Bool(arith.CmpIOp(arith.CmpIPredicate.ne, self.ir, self._other(other)).result, self.kind)

    def below(self, other: Int | int) -> Bool:
        """self < other, both signed."""
        return Bool(arith.CmpIOp(arith.CmpIPredicate.slt, self.ir, self._other(other)).result, self.kind)

    def below_unsigned(self, other: Int | int) -> Bool:
        """self < other, both unsigned."""
        return Bool(arith.CmpIOp(arith.CmpIPredicate.ult, self.ir, self._other(other)).result, self.kind)

    def extended(self, width: int) -> Int:
        """With zeros before it."""
        return Int(arith.ExtUIOp(self.kind.int_type(width), self.ir).result, self.kind)

    def truncated(self, width: int) -> Int:
        """The low bits."""
        return Int(arith.TruncIOp(self.kind.int_type(width), self.ir).result, self.kind)

    def leading_zeros(self) -> Int:
        """Zeros before the first 1."""
        return Int(math.CountLeadingZerosOp(self.ir).result, self.kind)

    def real(self) -> Real:
        """The signed integer, rounded to the format."""
        return Real(arith.SIToFPOp(self.kind.float_type, self.ir).result, self.kind)

    def unsigned_real(self) -> Real:
        """The unsigned integer, rounded to the format."""
        return Real(arith.UIToFPOp(self.kind.float_type, self.ir).result, self.kind)


@dataclass(frozen=True)
class Real:
    """Floats; each operator rounds once. Comparisons do not hold with a NaN, but `differs` does."""

    ir: ir.Value
    kind: Kind

    def _other(self, other: Real | Number) -> ir.Value:
        return other.ir if isinstance(other, Real) else self.kind.real(other).ir

    def _with(self, op: Callable[..., ir.OpView], other: Real | Number) -> Real:
        return Real(op(self.ir, self._other(other)).result, self.kind)

    def __add__(self, other: Real | Number) -> Real:
        return self._with(arith.AddFOp, other)

    def __sub__(self, other: Real | Number) -> Real:
        return self._with(arith.SubFOp, other)

    def __mul__(self, other: Real | Number) -> Real:
        return self._with(arith.MulFOp, other)

    def __truediv__(self, other: Real | Number) -> Real:
        return self._with(arith.DivFOp, other)

    def __rsub__(self, other: Number) -> Real:
        return self.kind.real(other) - self

    def __rtruediv__(self, other: Number) -> Real:
        return self.kind.real(other) / self

    def __neg__(self) -> Real:
        return Real(arith.NegFOp(self.ir).result, self.kind)

    __radd__ = __add__
    __rmul__ = __mul__

    def fma(self, factor: Real | Number, addend: Real | Number) -> Real:
        """self · factor + addend, rounded once."""
        return Real(math.FmaOp(self.ir, self._other(factor), self._other(addend)).result, self.kind)

    def polynomial(self, coefficients: Sequence[float]) -> Real:
        """The polynomial of self, lowest power first, by Horner's rule."""
        total = self.kind.real(coefficients[-1])
        for coefficient in reversed(coefficients[:-1]):
            total = total.fma(self, coefficient)
        return total

    def __abs__(self) -> Real:
        return Real(math.AbsFOp(self.ir).result, self.kind)

    def with_sign_of(self, other: Real) -> Real:
        """|self| with the other's sign."""
        return Real(math.CopySignOp(self.ir, other.ir).result, self.kind)

    def floor(self) -> Real:
        """The greatest integer not above."""
        return Real(math.FloorOp(self.ir).result, self.kind)

    def bits(self) -> Int:
        """The representation."""
        return Int(arith.BitcastOp(self.kind.int_type(), self.ir).result, self.kind)

    def _compared(self, predicate: arith.CmpFPredicate, other: Real | Number) -> Bool:
        return Bool(arith.CmpFOp(predicate, self.ir, self._other(other)).result, self.kind)

    def __lt__(self, other: Real | Number) -> Bool:
        return self._compared(arith.CmpFPredicate.OLT, other)

    def __gt__(self, other: Real | Number) -> Bool:
        return self._compared(arith.CmpFPredicate.OGT, other)

    def equals(self, other: Real | Number) -> Bool:
        """self == other."""
        return self._compared(arith.CmpFPredicate.OEQ, other)

    def differs(self, other: Real | Number) -> Bool:
        """self != other, or one is NaN."""
        return self._compared(arith.CmpFPredicate.UNE, other)

    def is_nan(self) -> Bool:
        """Whether it is NaN."""
        return self._compared(arith.CmpFPredicate.UNO, self)

    def at_most(self, limit: float) -> Real:
        """The lesser of self and a limit; NaN stays."""
        return choose(self > limit, limit, self)

    def at_least(self, limit: float) -> Real:
        """The greater of self and a limit; NaN stays."""
        return choose(self < limit, limit, self)


def choose(condition: Bool, if_true: Real | Number, if_false: Real | Number) -> Real:
    """One of two floats for each element; one of them at least is a Real."""
    kind = condition.kind
    a, b = (v if isinstance(v, Real) else kind.real(v) for v in (if_true, if_false))
    return Real(arith.SelectOp(condition.ir, a.ir, b.ir).result, kind)


def choose_int(condition: Bool, if_true: Int, if_false: Int) -> Int:
    """One of two integers for each element."""
    return Int(arith.SelectOp(condition.ir, if_true.ir, if_false.ir).result, condition.kind)


Change = Callable[[Real, Sequence[ir.Value]], Sequence[ir.Value]]


def sometimes(condition: Bool, x: Real, values: Sequence[ir.Value], change: Change) -> list[ir.Value]:
    """The values; in lanes that have an element for which the condition holds, what `change(x, values)` gives instead.

    `change` is built into a branch, and of a vector it gets one element after another in a loop: code for what is rare
    is there once. It must itself keep the values of elements for which the condition does not hold.
    """
    branch = scf.IfOp(condition.any(), [v.type for v in values], has_else=True)
    with ir.InsertionPoint(branch.then_block):
        if x.kind.shape is None:
            scf.YieldOp(list(change(x, values)))
        else:
            scf.YieldOp(_one_by_one(x, values, change))
    with ir.InsertionPoint(branch.else_block):
        scf.YieldOp(list(values))
    return list(branch.results)


def _one_by_one(x: Real, values: Sequence[ir.Value], change: Change) -> list[ir.Value]:
    """`change` of each element of a one-dimensional vector, in a loop."""
    kind = x.kind
    scalar = Kind(kind.format, None, kind.constants)
    index, at = ir.IndexType.get(), [ir.ShapedType.get_dynamic_size()]
    (count,) = kind.shape or (1,)
    first, last, step = (kind.constants.get(index, n) for n in (0, count, 1))
    loop = scf.ForOp(first, last, step, list(values))
    with ir.InsertionPoint(loop.body):
        i, carried = loop.induction_variable, list(loop.inner_iter_args)
        old = [vector.extract(v, [i], at) for v in carried]
        new = change(Real(vector.extract(x.ir, [i], at), scalar), old)
        scf.YieldOp([vector.insert(n, v, [i], at) for n, v in zip(new, carried, strict=True)])
    return list(loop.results)


# --- numbers as sums of two ---


@dataclass(frozen=True)
class Pair:
    """high + low, |low| at most half a unit of high's last place or little more."""

    high: Real
    low: Real


def pair(kind: Kind, parts: Sequence[float]) -> Pair:
    """A constant in two parts."""
    return Pair(kind.real(parts[0]), kind.real(parts[1]))


def sum_of(larger: Real, smaller: Real) -> Pair:
    """The exact sum; |larger| must be at least |smaller|, or larger 0."""
    high = larger + smaller
    return Pair(high, (larger - high) + smaller)


def any_sum(a: Real, b: Real) -> Pair:
    """The exact sum, whichever is larger (Knuth)."""
    high = a + b
    part = high - a
    return Pair(high, (a - (high - part)) + (b - part))


def quotient(a: Pair, b: Pair) -> Real:
    """a / b, rounded from a result of more than the format's precision."""
    inverse = 1.0 / b.high
    first = a.high * inverse
    rest = (-first).fma(b.high, a.high) + (-first).fma(b.low, a.low)
    return rest.fma(inverse, first)


def product(a: Pair, b: Pair) -> Pair:
    """a · b with an error of a few units of the low part's last place."""
    high = a.high * b.high
    low = a.high.fma(b.high, -high)
    return Pair(high, low + a.high.fma(b.low, a.low * b.high))


def through_f32(op: ir.Operation, compute: Callable[[list[ir.Value]], ir.Value]) -> ir.Value:
    """`compute` of the op's operands; those of less than 32 bits as f32, its result then rounded to their type."""
    kind = op.results[0].type
    element = kind.element_type if isinstance(kind, ir.VectorType) else kind
    if ir.FloatType(element).width >= 32:
        return compute(list(op.operands))
    single = ir.F32Type.get()
    wide = ir.VectorType.get(kind.shape, single) if isinstance(kind, ir.VectorType) else single
    result = compute([arith.ExtFOp(wide, v).result for v in op.operands])
    return arith.TruncFOp(kind, result).result
