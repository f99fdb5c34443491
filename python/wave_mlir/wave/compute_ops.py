"""MMA, reductions, scans, shapes, index arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import sympy

from wave_mlir.compiler.targets import TargetError, resolve_alias
from wave_mlir.dialect import builders
from wave_mlir.dialect import wave as ops
from wave_mlir.lang.dtypes import DataType, i1, i32, index
from wave_mlir.lang.symbols import ExprLike, is_condition, value_symbol

from . import source
from .constraints import GenericDot, MmaLike, MMAType
from .dot import dot
from .elementwise import binary, broadcast_to, cast, common_dims, without
from .regions import as_index
from .trace import Trace, current, tagged, want_value, with_tag
from .values import Number, Value
from .wave_parts import inside, position, with_numbers


@with_tag
def register(shape: Sequence[ExprLike], dtype: DataType, value: Number) -> Value:
    """A tile of `shape` filled with a number."""
    trace = current("register")
    return trace.filled(value, trace.dims(shape, "register"), dtype)


@with_tag
def scalar(value: Number | ExprLike | Value, dtype: DataType) -> Value:
    """One element: a number or the value of an expression, as `dtype`."""
    trace = current("scalar")
    if isinstance(value, Value):
        return cast(value, dtype)
    if isinstance(value, sympy.Basic) and value.free_symbols:
        with source.location():
            made = builders.scalar(trace.expr(value), dtype.ir_type())
        return broadcast_to(trace.value(made, (), dtype), ())
    number = float(value) if dtype.is_float else value
    return trace.filled(number, (), dtype)


def _mma_kind(trace: Trace, mma_type: MmaLike | None, lhs: Value, rhs: Value) -> str:
    chosen = trace.default_mma if mma_type is None else mma_type
    if isinstance(chosen, (tuple, list)):
        raise source.error(
            f"mma: mma_type is one kind such as MMAType.F32_16x16x16_F16, not {chosen!r}; where the "
            "HardwareConstraint has several, each MMA names its own: mma(…, mma_type=…)"
        )
    name = getattr(chosen, "name", str(chosen))
    try:
        if chosen is None and lhs.dtype.bits != 16:
            return trace.target.default_mma(lhs.dtype.mlir).name
        if chosen is None:  # the language's own default, for operands of 16 bits
            name = MMAType.F32_16x16x16_F16.name
        return resolve_alias(trace.target, name, lhs.dtype.mlir, rhs.dtype.mlir).name
    except TargetError as error:
        raise source.error(f"mma: {error}") from None


def _mma_shapes(lhs: Value, rhs: Value, acc: Value) -> None:
    """The contraction rule: dims of lhs and rhs that acc lacks are summed over."""
    contracted = [d for d in lhs.dims if d in rhs.dims and d not in acc.dims]
    wanted = {d for d in (*lhs.dims, *rhs.dims) if d not in contracted}
    if not contracted or wanted != set(acc.dims):
        raise source.error(
            f"mma: lhs [{', '.join(lhs.dims)}], rhs [{', '.join(rhs.dims)}] and acc [{', '.join(acc.dims)}] do not "
            "fit: lhs and rhs share the dims that are summed over, and acc has all the others"
        )


def _summed_alone(value: Value, other: Value, acc: Value) -> Value:
    """The operand without dims that neither the other one nor acc has: they are summed over before.

    Such a dim has one element a workgroup as a rule: the head of keys that all query heads of a tile share.
    """
    return without(value, [d for d in value.dims if d not in other.dims and d not in acc.dims])


def mma(lhs: Value, rhs: Value, acc: Value, mma_type: MmaLike | None = None, tag: str | None = None) -> Value:
    """`lhs * rhs^T + acc`: a sum over the dims that lhs and rhs share and acc lacks. `tag`: for a manual schedule."""
    trace = current("mma")
    a, b, c = (want_value(v, "mma") for v in (lhs, rhs, acc))
    if trace.wave_parts:
        a, b, c = with_numbers(trace, (a, b, c))
    a, b = _summed_alone(a, b, c), _summed_alone(b, a, c)
    if a.dtype.mlir != b.dtype.mlir and not (a.dtype.bits == 8 and b.dtype.bits == 8):
        raise source.error(f"mma: operands of {a.dtype} and {b.dtype}; make them equal with tkw.cast")
    _mma_shapes(a, b, c)
    chosen = trace.default_mma if mma_type is None else mma_type
    if isinstance(chosen, GenericDot):
        return dot(trace, a, b, c, chosen, lambda tile, dim, acc: _reduce_along("sum", [tile], dim, acc, False))
    kind = _mma_kind(trace, mma_type, a, b)
    trace.mma_kinds.append(kind)
    own = kind if mma_type is not None or kind != trace.mma_kinds[0] else None
    with source.location():
        result = builders.mma(a.ir, b.ir, c.ir, kind=own)
    tagged(result.owner, tag)
    return trace.value(result, c.dims, c.dtype)


@with_tag
def scaled_mma(
    lhs: Value, lhs_scale: Value, rhs: Value, rhs_scale: Value, acc: Value, mma_type: MmaLike | None = None
) -> Value:
    """`mma` of 8, 6 or 4-bit floats with a scale (e8m0) for each 32 elements along the contracted dim."""
    trace = current("scaled_mma")
    a, sa, b, sb, c = (want_value(v, "scaled_mma") for v in (lhs, lhs_scale, rhs, rhs_scale, acc))
    kind = _mma_kind(trace, mma_type, a, b)
    trace.mma_kinds.append(kind)
    own = kind if mma_type is not None or kind != trace.mma_kinds[0] else None
    with source.location():
        result = builders.scaled_mma(a.ir, sa.ir, b.ir, sb.ir, c.ir, kind=own)
    return trace.value(result, c.dims, c.dtype)


_JOIN = {"sum": "add", "max": "maximum", "min": "minimum"}


def _reduce(
    kind: str,
    src: Value | Sequence[Value],
    acc: Value | None,
    dim: sympy.Symbol | None,
    block: bool,
) -> Value:
    trace = current(kind)
    values = [want_value(v, kind) for v in ([src] if isinstance(src, Value) else list(src))]
    if dim is None:
        if len(values[0].dims) != 1:
            raise source.error(f"{kind}: say along which dim: dim=… one of {', '.join(values[0].dims)}")
        name = values[0].dims[0]
    else:
        name = trace.dim(dim, kind)
    part = trace.wave_parts.get(name)
    if part is not None:
        name = part.inner
    if name not in values[0].dims:
        raise source.error(f"{kind}: the tile [{', '.join(values[0].dims)}] has no dim {name}")
    if part is not None:
        values = [inside(trace, v, part, kind) for v in values]
        if acc is not None and part.number not in acc.dims:
            acc = broadcast_to(acc, (part.number, *acc.dims))
    kept = tuple(d for d in values[0].dims if d != name)
    start = None if acc is None else want_value(acc, f"{kind}: acc")
    if start is not None:
        if name in start.dims or not set(start.dims) >= set(kept) or start.dtype.mlir != values[0].dtype.mlir:
            raise source.error(f"{kind}: acc is {start!r}; it must be a tile [{', '.join(kept)}] of {values[0].dtype}")
        if set(start.dims) > set(kept):  # the result is repeated along the dims that only acc has
            return binary(_JOIN[kind], start, _reduce(kind, src, None, dim, block))
        start = broadcast_to(start, kept)
    return _reduce_along(kind, values, name, start, block)


def _reduce_along(kind: str, values: Sequence[Value], dim: str, start: Value | None, block: bool) -> Value:
    trace = current(kind)
    kept = tuple(d for d in values[0].dims if d != dim)
    with source.location():
        result = builders.reduce(
            ops.ReduceKind[kind.capitalize()],
            [v.ir for v in values],
            dim,
            trace.tile_type(kept, values[0].dtype),
            acc=None if start is None else start.ir,
            block=block,
        )
    return trace.value(result, kept, values[0].dtype)


@with_tag
def sum(
    src: Value | Sequence[Value], acc: Value | None = None, dim: sympy.Symbol | None = None, block: bool = False
) -> Value:
    """The sum along `dim`, plus `acc`; with `block` over all waves that divide the dim."""
    return _reduce("sum", src, acc, dim, block)


@with_tag
def max(
    src: Value | Sequence[Value], acc: Value | None = None, dim: sympy.Symbol | None = None, block: bool = False
) -> Value:
    """The greatest element along `dim`, and `acc`."""
    return _reduce("max", src, acc, dim, block)


@with_tag
def min(
    src: Value | Sequence[Value], acc: Value | None = None, dim: sympy.Symbol | None = None, block: bool = False
) -> Value:
    """The least element along `dim`, and `acc`."""
    return _reduce("min", src, acc, dim, block)


@with_tag
def cumsum(src: Value, acc: Value | None = None, dim: sympy.Symbol | None = None, block: bool = False) -> Value:
    """Sums up to each element along `dim`, plus `acc`; over all waves that divide the dim, with `block` or without."""
    trace = current("cumsum")
    value = want_value(src, "cumsum")
    name = value.dims[-1] if dim is None else trace.dim(dim, "cumsum")
    if name not in value.dims:
        raise source.error(f"cumsum: the tile [{', '.join(value.dims)}] has no dim {name}")
    with source.location():
        result = trace.value(ops.CumsumOp(value.ir, name, symbol_values=[]).result, value.dims, value.dtype)
    return result if acc is None else result + acc


def topk(src: Value, k_dim: sympy.Symbol, dim: sympy.Symbol) -> tuple[Value, Value]:
    """The greatest elements along `dim`, greatest first, and their positions; as many as `k_dim` is."""
    trace = current("topk")
    value = want_value(src, "topk")
    name, result_dim = trace.dim(dim, "topk"), trace.dim(k_dim, "topk")
    if name not in value.dims:
        raise source.error(f"topk: the tile [{', '.join(value.dims)}] has no dim {name}")
    k = trace.bindings.integer(result_dim)
    if k is None or k < 1:
        raise source.error(f"topk: {result_dim} is no positive number at compile time; bind it in subs")
    dims = tuple(result_dim if d == name else d for d in value.dims)
    with source.location():
        op = ops.TopkOp(
            trace.tile_type(dims, value.dtype), trace.tile_type(dims, i32), value.ir, k, name, symbol_values=[]
        )
    return trace.value(op.values, dims, value.dtype), trace.value(op.positions, dims, i32)


@with_tag
def permute(src: Value, target_shape: Sequence[sympy.Symbol]) -> Value:
    """The same tile with its dims in another order."""
    trace = current("permute")
    value, dims = want_value(src, "permute"), trace.dims(target_shape, "permute")
    if set(dims) != set(value.dims) or len(dims) != len(value.dims):
        raise source.error(f"permute: [{', '.join(dims)}] is no order of the dims [{', '.join(value.dims)}]")
    return broadcast_to(value, dims)


@with_tag
def broadcast(arg: Value, target_shape: Sequence[ExprLike] | None = None) -> Value:
    """The tile repeated along the dims of `target_shape` that it lacks."""
    trace = current("broadcast")
    value = want_value(arg, "broadcast")
    if target_shape is None:
        return value
    dims = trace.dims(target_shape, "broadcast")
    missing = [d for d in value.dims if d not in dims]
    if missing:
        raise source.error(f"broadcast: the target [{', '.join(dims)}] lacks dim {', '.join(missing)} of the tile")
    return broadcast_to(value, dims)


@with_tag
def reshape(
    inputs: Value | Sequence[Value], target_shape: Sequence[sympy.Symbol] | Mapping[sympy.Symbol, int]
) -> Value:
    """The same elements, in row-major order of the tile, with other dims."""
    trace = current("reshape")
    given = [inputs] if isinstance(inputs, Value) else list(inputs)
    if len(given) != 1:
        raise source.error("reshape takes one tile and the dims of the result: reshape(x, [M, N])")
    if isinstance(target_shape, Mapping):  # vector shapes of the tile: layouts are the compiler's choice
        return want_value(given[0], "reshape")
    value, dims = want_value(given[0], "reshape"), trace.dims(target_shape, "reshape")
    with source.location():
        result = ops.ReshapeOp(trace.tile_type(dims, value.dtype), value.ir).result
    return trace.value(result, dims, value.dtype)


@with_tag
def extract(register: Value, offsets: Sequence[ExprLike] | ExprLike) -> Value:
    """The element at a position of what a lane holds: one number for each dim."""
    trace = current("extract")
    value = want_value(register, "extract")
    positions = _listed(offsets)
    if len(positions) != len(value.dims):
        raise source.error(
            f"extract: {len(positions)} positions for a tile [{', '.join(value.dims)}]; one for each dim"
        )
    with source.location():
        result = ops.ExtractOp(
            trace.tile_type((), value.dtype), value.ir, [], [trace.expr(p) for p in positions]
        ).result
    return trace.value(result, (), value.dtype)


@with_tag
def extract_slice(
    register: Value, offsets: Sequence[ExprLike], sizes: Sequence[ExprLike], strides: Sequence[ExprLike]
) -> Value:
    """Elements `offset + i * stride`, i below size, of what a lane holds, along each dim.

    They keep their places in the tile: a write stores them there and leaves the rest of memory, reductions and MMAs see
    them alone. Elements of different slices have no place in common and cannot be added.
    """
    trace = current("extract_slice")
    value = want_value(register, "extract_slice")
    parts = [[trace.expr(e) for e in _listed(p)] for p in (offsets, sizes, strides)]
    if any(len(p) != len(value.dims) for p in parts):
        raise source.error(f"extract_slice: offsets, sizes and strides need {len(value.dims)} numbers each")
    with source.location():
        result = ops.ExtractSliceOp(trace.tile_type(value.dims, value.dtype), value.ir, [], *parts).result
    return trace.value(result, value.dims, value.dtype)


def _listed(values: Sequence[ExprLike] | ExprLike) -> list[ExprLike]:
    return list(values) if isinstance(values, (tuple, list)) else [values]  # type: ignore[list-item]


@with_tag
def shuffle(src: Value, offset: int, width: int) -> Value:
    """The value of lane `l xor offset` in each group of `width` lanes."""
    value = want_value(src, "shuffle")
    with source.location():
        result = ops.ShuffleOp(ops.ShuffleMode.Xor, value.ir, offset, width).result
    return current("shuffle").value(result, value.dims, value.dtype)


@with_tag
def self_index(dim: sympy.Symbol, dtype: DataType, elements_per_thread: ExprLike | None = None) -> Value:
    """The coordinate of each element along `dim`."""
    trace = current("self_index")
    name = trace.dim(dim, "self_index")
    if not dtype.is_integer:
        raise source.error(f"self_index: a coordinate is an integer, not {dtype}; take tkl.i32 and cast it")
    if name in trace.wave_parts:
        return position(trace, trace.wave_parts[name], dtype)
    with source.location():
        result = builders.self_index(name, trace.tile_type((name,), dtype))
    return trace.value(result, (name,), dtype)


@with_tag
def apply_expr(value: Value | Sequence[Value], expr: Callable[..., ExprLike]) -> Value:
    """Index arithmetic on each element: `expr` gets a symbol for each value and returns an expression of them.

    The result is of index, or of i1 where the expression is a relation; cast it to other types.
    """
    trace = current("apply_expr")
    values = [want_value(v, "apply_expr") for v in ([value] if isinstance(value, Value) else list(value))]
    for v in values:
        if not v.dtype.is_integer:
            raise source.error(f"apply_expr: index arithmetic is of integers, not {v.dtype}; cast it first")
    symbols = [value_symbol(f"$arg{i}") for i in range(len(values))]
    given = expr(*symbols)
    dims = common_dims(values, "apply_expr")
    result = i1 if isinstance(given, bool) or is_condition(given) else index
    converted = trace.expr(given)
    names = [f"d{i}" for i in range(len(values))]
    for name in names:
        trace.used.pop(name, None)
    tiles = [broadcast_to(v, dims) for v in values]
    with source.location():
        made = builders.apply_expr(
            converted, trace.tile_type(dims, result), {n: t.ir for n, t in zip(names, tiles, strict=True)}
        )
    return trace.value(made, dims, result)


def set_symbol(symbol: sympy.Symbol, value: Value | ExprLike) -> None:
    """From here on, in this region and those inside it, the symbol means the value (one element a lane)."""
    trace = current("set_symbol")
    name = trace.dim(symbol, "set_symbol")
    if isinstance(value, Value) and not value.dtype.is_integer:
        raise source.error(f"set_symbol: {name} is an integer and the value of {value.dtype}; cast it first")
    if name in trace.bindings.values and name not in trace.while_axes:
        raise source.error(f"set_symbol: {name} is bound in subs to {trace.bindings.values[name]}; drop it there")
    with source.location():
        builders.set_symbol(name, as_index(value).ir)
    trace.set_symbols[name] = value.dims if isinstance(value, Value) else ()
