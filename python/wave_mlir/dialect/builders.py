"""Builders of wave IR: functions that take Python values where the ops take attributes.

    from wave_mlir.dialect import builders as wave

Expressions are `Expr`, int or text (`"BLOCK_M floordiv 2"`), symbols are str. `symbols` of an op is a dict of symbol to
the value that stands for it. Ops go to the current insertion point with the current location. Ops that need nothing
beyond values and types (`add`, `exp2`, `permute`, …) have generated builders in `wave_mlir.dialect.wave`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from mlir import ir

from . import wave as ops
from .expr import Expr
from .wave import AtomicKind, MappingAttr, MemoryType, Predicate, ReduceKind, TileType

ExprLike = Expr | int | str
Symbols = Mapping[str, ir.Value]


def tile(dims: Sequence[str] | None, element_type: ir.Type, layout: ir.Attribute | None = None) -> TileType:
    """`!wave.tile<[dims], element_type, layout>`; dims None: a tile of unknown shape."""
    return TileType.get(dims, element_type, layout)


def memory(shape: Sequence[ExprLike], element_type: ir.Type, space: str = "global") -> MemoryType:
    """A dense `!wave.memory` in space global, shared or register."""
    return MemoryType.get(shape, element_type, space)  # pyright: ignore[reportArgumentType]


def module(form: str = "tile", target: str = "gfx942") -> ir.Module:
    """An empty module that carries its form and target."""
    result = ir.Module.create()
    result.operation.attributes["wave.form"] = ir.StringAttr.get(form)
    result.operation.attributes["wave.target"] = ir.StringAttr.get(target)
    return result


def _bindings(symbols: Symbols | None) -> dict[str, object]:
    """The operands and attribute of `symbols(…)`."""
    if not symbols:
        return {"symbol_values": [], "symbol_names": None}
    return {"symbol_values": list(symbols.values()), "symbol_names": list(symbols)}


def symbol_operands(op: ir.OpView | ir.Operation) -> dict[str, ir.Value]:
    """The values that stand for symbols of an op, by symbol; empty for an op that takes none."""
    view = op.opview if isinstance(op, ir.Operation) else op
    names = getattr(view, "symbol_names", None)
    if names is None:
        return {}
    return {name.value: value for name, value in zip(names, view.symbol_values, strict=True)}


# --- kernels and regions ---


@dataclass(frozen=True)
class Kernel:
    """A kernel under construction: its op and its arguments by name."""

    op: ir.OpView
    args: dict[str, ir.Value]


@contextmanager
def kernel(
    name: str,
    args: Mapping[str, ir.Type],
    symbols: Mapping[str, ExprLike] | None = None,
    dynamic: Sequence[str] = (),
    constraints: Sequence[ir.Attribute] = (),
) -> Iterator[Kernel]:
    """A `wave.kernel`; the body is built inside `with`, `wave.return` is added at its end."""
    context = ir.Context.current
    bound = {symbol: Expr.get(value) for symbol, value in (symbols or {}).items()}
    op = ops.KernelOp(
        name,
        ir.ArrayAttr.get([ir.StringAttr.get(n) for n in args]),
        ir.DictAttr.get(bound, context),
        ir.ArrayAttr.get([ir.StringAttr.get(n) for n in dynamic]),
        ir.ArrayAttr.get(list(constraints)),
    )
    block = op.body.blocks.append(*args.values())
    with ir.InsertionPoint(block):
        yield Kernel(op, dict(zip(args, block.arguments, strict=True)))
        ops.ReturnOp()


@dataclass
class Loop:
    """A loop under construction: `iv` (None in tile form), the carried values, and after `yield_` its results."""

    op: ir.OpView
    iv: ir.Value | None
    carried: list[ir.Value]

    def yield_(self, *values: ir.Value) -> None:
        """Ends the body; in the while form with `iv` the axis' next value comes first."""
        ops.YieldOp(list(values))

    @property
    def results(self) -> list[ir.Value]:
        """The values after the last trip."""
        return list(self.op.operation.results)


@contextmanager
def iterate(
    axis: str,
    init: Sequence[ir.Value] = (),
    *,
    trips: ExprLike | None = None,
    step: ExprLike | None = None,
    start: ir.Value | None = None,
    condition: ExprLike | None = None,
    iv: bool | None = None,
    symbols: Symbols | None = None,
) -> Iterator[Loop]:
    """A `wave.iterate` over `axis`, its body built inside `with` and ended by `loop.yield_(…)`.

    `iv` says whether the region has an induction variable, by default where `trips` is given. A body that is not ended
    yields nothing.
    """
    has_iv = trips is not None if iv is None else iv
    op = ops.IterateOp(
        [v.type for v in init],
        axis,
        list(init),
        start=start,
        trips=trips,
        step=step,
        condition=condition,
        has_iv=has_iv or None,
        **_bindings(symbols),
    )
    types = ([ir.IndexType.get()] if has_iv else []) + [v.type for v in init]
    block = op.body.blocks.append(*types)
    arguments = list(block.arguments)
    loop = Loop(op, arguments[0] if has_iv else None, arguments[1:] if has_iv else arguments)
    with ir.InsertionPoint(block):
        yield loop
        _end(block)


def _end(block: ir.Block) -> None:
    operations = list(block.operations)
    if not operations or operations[-1].operation.name != "wave.yield":
        ops.YieldOp([])


@dataclass
class Conditional:
    """A conditional under construction."""

    op: ir.OpView

    def yield_(self, *values: ir.Value) -> None:
        """Ends the region with its results."""
        ops.YieldOp(list(values))

    @contextmanager
    def otherwise(self) -> Iterator[None]:
        """Builds the else region."""
        block = self.op.else_region.blocks.append()
        with ir.InsertionPoint(block):
            yield
            _end(block)

    @property
    def results(self) -> list[ir.Value]:
        """The values of the region that ran, or the else values."""
        return list(self.op.operation.results)


@contextmanager
def conditional(
    condition: ExprLike | ir.Value,
    *,
    else_values: Sequence[ir.Value] = (),
    results: Sequence[ir.Type] | None = None,
    symbols: Symbols | None = None,
) -> Iterator[Conditional]:
    """A `wave.conditional` on an expression or on a value of one element; the then region is built inside `with`.

    Its results are of the else values' types, or `results` where an else region follows.
    """
    value = condition if isinstance(condition, ir.Value) else None
    op = ops.ConditionalOp(
        [v.type for v in else_values] if results is None else list(results),
        else_values=list(else_values),
        condition=None if value is not None else condition,
        condition_value=value,
        **_bindings(symbols),
    )
    block = op.then_region.blocks.append()
    with ir.InsertionPoint(block):
        yield Conditional(op)
        _end(block)


def set_symbol(symbol: str, value: ir.Value) -> None:
    """From here on the symbol means the value (tile form)."""
    ops.SetSymbolOp(symbol, value)


def apply_expr(expr: ExprLike, result: ir.Type, symbols: Symbols | None = None) -> ir.Value:
    """The expression for each element, of type `result`; its inputs are named in `symbols`."""
    return ops.ApplyExprOp(result, expr, **_bindings(symbols)).result


def scalar(expr: ExprLike, result: ir.Type, symbols: Symbols | None = None) -> ir.Value:
    """The value of the expression converted to `result`'s element type."""
    return ops.ScalarOp(result, expr, **_bindings(symbols)).result


def mask(predicate: ExprLike, result: ir.Type, symbols: Symbols | None = None) -> ir.Value:
    """The predicate for each element of `result`, whose elements are i1."""
    return ops.MaskOp(result, predicate, **_bindings(symbols)).result


def self_index(dim: str, result: ir.Type, symbols: Symbols | None = None) -> ir.Value:
    """The coordinate of each element along `dim`."""
    return ops.SelfIndexOp(result, dim, **_bindings(symbols)).result


# --- memory ---


def read(
    source: ir.Value,
    result: ir.Type,
    *,
    index: Sequence[ExprLike] | None = None,
    mask: ir.Value | None = None,
    mapping: MappingAttr | None = None,
    dynamic: Sequence[ir.Value] = (),
    symbols: Symbols | None = None,
    elements_per_thread: int | None = None,
    volatile: bool = False,
    nontemporal: bool = False,
) -> ir.Value:
    """A `wave.read` of type `result` from the memory `source`."""
    return ops.ReadOp(
        result,
        source,
        list(dynamic),
        mask=mask,
        index=index,
        mapping=mapping,
        elements_per_thread=elements_per_thread,
        is_volatile=volatile or None,
        nontemporal=nontemporal or None,
        **_bindings(symbols),
    ).result


def write(
    value: ir.Value,
    target: ir.Value,
    *,
    index: Sequence[ExprLike] | None = None,
    mask: ir.Value | None = None,
    mapping: MappingAttr | None = None,
    dynamic: Sequence[ir.Value] = (),
    symbols: Symbols | None = None,
    elements_per_thread: int | None = None,
    volatile: bool = False,
    nontemporal: bool = False,
) -> ir.OpView:
    """A `wave.write` of the value to the memory `target`."""
    return ops.WriteOp(
        value,
        target,
        list(dynamic),
        mask=mask,
        index=index,
        mapping=mapping,
        elements_per_thread=elements_per_thread,
        is_volatile=volatile or None,
        nontemporal=nontemporal or None,
        **_bindings(symbols),
    )


def atomic(
    kind: AtomicKind,
    value: ir.Value,
    target: ir.Value,
    *,
    index: Sequence[ExprLike] | None = None,
    mask: ir.Value | None = None,
    symbols: Symbols | None = None,
    returns: bool = False,
) -> ir.Value | None:
    """A `wave.atomic`; with `returns` the value that was in memory before."""
    result = value.type if returns else None
    op = ops.AtomicOp(result, kind, value, target, [], mask=mask, index=index, **_bindings(symbols))
    return op.result if returns else None


def allocate(result: MemoryType, offset: int | None = None) -> ir.Value:
    """Shared memory of the workgroup; `offset` in bytes, once it is placed."""
    return ops.AllocateOp(result, offset=offset).memory


# --- computation ---


def register(value: float | int | ir.Value, result: ir.Type) -> ir.Value:
    """A tile filled with a number or a scalar value."""
    if isinstance(value, ir.Value):
        return ops.RegisterOp(result, scalar=value).result
    element = getattr(result, "element_type", result)
    is_integer = isinstance(element, (ir.IntegerType, ir.IndexType))
    literal = ir.IntegerAttr.get(element, int(value)) if is_integer else ir.FloatAttr.get(element, float(value))
    return ops.RegisterOp(result, value=literal).result


def mma(
    lhs: ir.Value, rhs: ir.Value, acc: ir.Value, kind: str | None = None, symbols: Symbols | None = None
) -> ir.Value:
    """`lhs * rhs^T + acc`."""
    return ops.MmaOp(lhs, rhs, acc, kind=kind, **_bindings(symbols)).result


def scaled_mma(
    lhs: ir.Value,
    lhs_scale: ir.Value,
    rhs: ir.Value,
    rhs_scale: ir.Value,
    acc: ir.Value,
    kind: str | None = None,
    symbols: Symbols | None = None,
) -> ir.Value:
    """`mma` with a scale for each 32 elements along the contracted dim."""
    return ops.ScaledMmaOp(lhs, lhs_scale, rhs, rhs_scale, acc, kind=kind, **_bindings(symbols)).result


def reduce(
    kind: ReduceKind,
    source: ir.Value | Sequence[ir.Value],
    dim: str,
    result: ir.Type,
    *,
    acc: ir.Value | None = None,
    block: bool = False,
    symbols: Symbols | None = None,
) -> ir.Value:
    """Sum, max or min along `dim`, over the whole workgroup with `block`."""
    sources = [source] if isinstance(source, ir.Value) else list(source)
    op = ops.ReduceOp(result, kind, sources, dim, acc=acc, block=block or None, **_bindings(symbols))
    return op.result


def compare(predicate: Predicate, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
    """i1 for each element."""
    return ops.CompareOp(predicate, lhs, rhs).result


def cast(source: ir.Value, element_type: ir.Type, saturate: bool = False) -> ir.Value:
    """The value with other elements, its shape and layout kept."""
    old = source.type
    if isinstance(old, TileType):
        result: ir.Type = old.with_element_type(element_type)
    elif isinstance(old, ir.VectorType):
        result = ir.VectorType.get(old.shape, element_type)
    else:
        result = element_type
    return ops.CastOp(result, source, saturate=saturate or None).result


def relayout(source: ir.Value, layout: ir.Attribute) -> ir.Value:
    """The tile in another layout."""
    return ops.RelayoutOp(TileType(source.type).with_layout(layout), source).result
