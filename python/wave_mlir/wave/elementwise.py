"""Operations on each element: arithmetic, comparisons, maths functions, casts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from wave_mlir.dialect import builders
from wave_mlir.dialect import wave as ops
from wave_mlir.lang.dtypes import DataType, i1
from wave_mlir.lang.dtypes import bool as bool_type

from . import source
from .trace import check_visible, current, want_value, with_tag
from .values import MemoryValue, Operand, Value

# Operator -> op, by the kind of dtype it is of.
_BINARY: dict[str, Callable] = {
    "add": ops.AddOp,
    "sub": ops.SubOp,
    "mul": ops.MulOp,
    "truediv": ops.DivOp,
    "floordiv": ops.DivOp,
    "mod": ops.ModOp,
    "rem": ops.RemOp,
    "minimum": ops.MinimumOp,
    "maximum": ops.MaximumOp,
    "pow": ops.PowOp,
    "atan2": ops.Atan2Op,
    "and": ops.AndOp,
    "or": ops.OrOp,
    "xor": ops.XorOp,
    "shl": ops.ShlOp,
    "shr": ops.ShrOp,
}
_INTEGER_ONLY = ("and", "or", "xor", "shl", "shr")
_FLOAT_ONLY = ("pow", "atan2")
_SIGNS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "and": "&", "or": "|"}
_SIGNS |= {"xor": "^", "shl": "<<", "shr": ">>", "pow": "**"}
_UNARY: dict[str, Callable] = {
    "neg": ops.NegOp,
    "not": ops.NotOp,
    "abs": ops.AbsOp,
    "exp": ops.ExpOp,
    "exp2": ops.Exp2Op,
    "log": ops.LogOp,
    "log2": ops.Log2Op,
    "log10": ops.Log10Op,
    "sqrt": ops.SqrtOp,
    "rsqrt": ops.RsqrtOp,
    "cbrt": ops.CbrtOp,
    "reciprocal": ops.ReciprocalOp,
    "sin": ops.SinOp,
    "cos": ops.CosOp,
    "tan": ops.TanOp,
    "sinh": ops.SinhOp,
    "cosh": ops.CoshOp,
    "tanh": ops.TanhOp,
    "tanh_approx": ops.TanhApproxOp,
    "softsign": ops.SoftsignOp,
    "round": ops.RoundOp,
    "roundeven": ops.RoundevenOp,
    "floor": ops.FloorOp,
    "ceil": ops.CeilOp,
    "trunc": ops.TruncOp,
}
_ANY_DTYPE = ("neg", "abs")


def broadcast_to(value: Value, dims: Sequence[str]) -> Value:
    """The value repeated along the dims it lacks, its dims in the order of `dims`."""
    if value.dims == tuple(dims) and not value.is_scalar:
        return value
    trace = current()
    result = trace.tile_type(dims, value.dtype)
    with source.location():
        if value.is_scalar:
            made = builders.register(value.ir, result)
        elif set(value.dims) == set(dims):
            made = ops.PermuteOp(result, value.ir).result
        else:
            made = ops.BroadcastOp(result, value.ir).result
    return trace.value(made, dims, value.dtype)


def without(value: Value, dims: Sequence[str]) -> Value:
    """The sum over some dims: where each has one element a workgroup, the same elements."""
    trace = current()
    for name in dims:
        kept = tuple(d for d in value.dims if d != name)
        with source.location():
            made = builders.reduce(ops.ReduceKind.Sum, [value.ir], name, trace.tile_type(kept, value.dtype))
        value = trace.value(made, kept, value.dtype)
    return value


def common_dims(values: Sequence[Value], what: str) -> tuple[str, ...]:
    """The dims of the value that has all dims of the others, and those of one element a workgroup that it lacks.

    An error where it lacks other dims.
    """
    widest = max((v.dims for v in values), key=len)
    trace = current(what)
    for value in values:
        missing = [d for d in value.dims if d not in widest]
        if missing and all(trace.is_unit(d) for d in missing):
            widest = (*missing, *widest)
        elif missing:
            shapes = " and ".join(f"[{', '.join(v.dims)}]" for v in values)
            raise source.error(
                f"{what}: shapes {shapes} do not fit: the wider has no dim {', '.join(missing)}; broadcast one first"
            )
    return widest


def together(operands: Sequence[Operand], what: str) -> list[Value]:
    """The operands as tiles of one shape and dtype: numbers become tiles, narrower tiles are repeated."""
    for operand in operands:
        if isinstance(operand, MemoryValue):
            want_value(operand, what)
    values = [check_visible(o) for o in operands if isinstance(o, Value)]
    if not values:
        raise source.error(f"{what}: none of the operands is a tile")
    dtype = values[0].dtype
    for value in values:
        if value.dtype.mlir != dtype.mlir:
            raise source.error(
                f"{what}: operands of {dtype} and {value.dtype}; make them equal with tkw.cast(x, tkl.{dtype})"
            )
    dims = common_dims(values, what)
    trace = current()
    if all(v.is_scalar for v in values):  # arithmetic of scalar arguments is of tiles without dims
        dims = ()
    return [broadcast_to(o, dims) if isinstance(o, Value) else trace.filled(o, dims, dtype) for o in operands]


def binary(name: str, lhs: Operand, rhs: Operand) -> Value:
    """The op `name` of both operands, element by element."""
    what = _SIGNS.get(name, name)
    left, right = together((lhs, rhs), what)
    dtype = left.dtype
    if name in _INTEGER_ONLY and dtype.is_float:
        raise source.error(f"{what} needs integers; the operands are of {dtype}")
    if name in _FLOAT_ONLY and not dtype.is_float:
        raise source.error(f"{what} needs floats; the operands are of {dtype}: cast them first")
    if name == "truediv" and not dtype.is_float:
        raise source.error(f"/ of {dtype} would round; take // for the floor, or cast to a float type")
    if name == "floordiv" and dtype.is_float:
        return unary("floor", binary("truediv", left, right))
    with source.location():
        result = _BINARY[name](left.ir, right.ir).result
    return current().value(result, left.dims, dtype)


def unary(name: str, operand: Value) -> Value:
    """The op `name` of each element."""
    value = want_value(operand, name)
    if name not in _ANY_DTYPE and name != "not" and not value.dtype.is_float:
        raise source.error(f"{name} needs floats; the operand is of {value.dtype}: cast it first")
    if name == "not" and value.dtype.is_float:
        raise source.error(f"~ needs integers; the operand is of {value.dtype}")
    if value.is_scalar:
        value = broadcast_to(value, ())
    with source.location():
        result = _UNARY[name](value.ir).result
    return current().value(result, value.dims, value.dtype)


def compare(name: str, lhs: Operand, rhs: Operand) -> Value:
    """i1 for each element: lt, le, gt, ge, eq, ne."""
    left, right = together((lhs, rhs), name)
    with source.location():
        result = builders.compare(ops.Predicate[name.capitalize()], left.ir, right.ir)
    return current().value(result, left.dims, i1)


def _unary_function(name: str, text: str) -> Callable[..., Value]:
    def function(src: Value) -> Value:
        return unary(name, src)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    return with_tag(function)


exp = _unary_function("exp", "e to the power, of each element.")
exp2 = _unary_function("exp2", "2 to the power, of each element.")
log = _unary_function("log", "Natural logarithm.")
log2 = _unary_function("log2", "Logarithm to base 2.")
log10 = _unary_function("log10", "Logarithm to base 10.")
sqrt = _unary_function("sqrt", "Square root.")
rsqrt = _unary_function("rsqrt", "1 over the square root.")
cbrt = _unary_function("cbrt", "Cube root.")
reciprocal = _unary_function("reciprocal", "1 over each element.")
sin = _unary_function("sin", "Sine.")
cos = _unary_function("cos", "Cosine.")
tan = _unary_function("tan", "Tangent.")
sinh = _unary_function("sinh", "Hyperbolic sine.")
cosh = _unary_function("cosh", "Hyperbolic cosine.")
tanh = _unary_function("tanh", "Hyperbolic tangent.")
tanh_approx = _unary_function("tanh_approx", "Hyperbolic tangent, fast and less exact.")
round = _unary_function("round", "Nearest integer, halves away from zero.")
roundeven = _unary_function("roundeven", "Nearest integer, halves to even.")
floor = _unary_function("floor", "Greatest integer not above.")
ceil = _unary_function("ceil", "Least integer not below.")
trunc = _unary_function("trunc", "Integer part.")
abs = _unary_function("abs", "Absolute value.")


@with_tag
def softsign(src: Value, logit_cap: float = 30.0, apply_scaling: bool = False, head_dim: int | None = None) -> Value:
    """`cap * s / (1 + |s|)` of `s = src * scale / cap`; the scale is 1, or with `apply_scaling` 1 / sqrt(head_dim)."""
    if apply_scaling and not head_dim:
        raise source.error("softsign: apply_scaling needs head_dim, whose root divides the logits")
    scale = 1.0 / (float(head_dim) ** 0.5) if apply_scaling and head_dim else 1.0
    return unary("softsign", want_value(src, "softsign") * (scale / logit_cap)) * logit_cap


def _binary_function(name: str, op: str, text: str) -> Callable[..., Value]:
    def function(lhs: Operand, rhs: Operand) -> Value:
        return binary(op, lhs, rhs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    return with_tag(function)


minimum = _binary_function("minimum", "minimum", "The lesser of each two elements; NaN if either is.")
maximum = _binary_function("maximum", "maximum", "The greater of each two elements; NaN if either is.")
powf = _binary_function("powf", "pow", "lhs to the power rhs.")
atan2 = _binary_function("atan2", "atan2", "The angle of the point (rhs, lhs).")
mod = _binary_function("mod", "mod", "lhs - floor(lhs / rhs) * rhs, with the sign of rhs.")
remf = _binary_function("remf", "rem", "lhs - trunc(lhs / rhs) * rhs, with the sign of lhs.")


def _compare_function(name: str, text: str) -> Callable[..., Value]:
    def function(lhs: Operand, rhs: Operand) -> Value:
        return compare(name, lhs, rhs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    return with_tag(function)


gt = _compare_function("gt", "lhs > rhs of each element, as i1.")
ge = _compare_function("ge", "lhs >= rhs of each element, as i1.")
lt = _compare_function("lt", "lhs < rhs of each element, as i1.")
le = _compare_function("le", "lhs <= rhs of each element, as i1.")
eq = _compare_function("eq", "lhs == rhs of each element, as i1.")
ne = _compare_function("ne", "lhs != rhs of each element, as i1.")


@with_tag
def select(cond: Value, if_true: Operand, if_false: Operand) -> Value:
    """Where `cond` holds an element of `if_true`, elsewhere of `if_false`."""
    condition = want_value(cond, "select")
    if condition.dtype.kind != "bool":
        raise source.error(f"select: the condition is of {condition.dtype}; compare it to get a condition of i1")
    if not isinstance(if_true, Value) and not isinstance(if_false, Value):
        raise source.error("select: one of the two values must be a tile, whose dtype the other takes")
    first, second = together((if_true, if_false), "select")
    dims = common_dims([condition, first], "select")
    condition, first, second = (broadcast_to(v, dims) for v in (condition, first, second))
    with source.location():
        result = ops.SelectOp(condition.ir, first.ir, second.ir).result
    return current().value(result, dims, first.dtype)


def _want_dtype(dtype: object, what: str) -> DataType:
    if not isinstance(dtype, DataType):
        raise source.error(f"{what} takes an element type such as tkl.f16; {dtype!r} was given")
    return i1 if dtype == bool_type else dtype


@with_tag
def cast(src: Value, dtype: DataType) -> Value:
    """The values as another element type: floats round to nearest even. To integers they round toward zero;
    what is out of range becomes the greatest or least integer, and NaN 0."""
    value, wanted = want_value(src, "cast"), _want_dtype(dtype, "cast")
    if value.dtype.mlir == wanted.mlir:
        return value
    with source.location():
        result = builders.cast(value.ir, wanted.ir_type())
    return current().value(result, value.dims, wanted)


@with_tag
def bitcast(src: Value, dtype: DataType) -> Value:
    """The same bits as another element type; with another width the last dim has more elements, or fewer.

    So two f4 in each i8 of [M, K // 2] are a tile [M, K].
    """
    value, wanted = want_value(src, "bitcast"), _want_dtype(dtype, "bitcast")
    if value.dtype.mlir == wanted.mlir:
        return value
    trace = current()
    dims = value.dims
    if value.dtype.bits != wanted.bits:
        if not dims:
            raise source.error(f"bitcast: one element of {value.dtype} has other bits than one of {wanted}")
        dims = (*dims[:-1], trace.resized_dim(dims[-1], value.dtype.bits, wanted.bits))
    if value.is_scalar:
        value = broadcast_to(value, ())
    with source.location():
        result = ops.BitcastOp(trace.tile_type(dims, wanted), value.ir).result
    return trace.value(result, dims, wanted)
