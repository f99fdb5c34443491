"""Loops and conditionals: decorators whose function is the body, and whose name then stands for the results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType

import sympy
from mlir import ir

from wave_mlir.dialect import Expr, builders
from wave_mlir.lang.dtypes import i1, index
from wave_mlir.lang.symbols import ExprLike, is_condition

from . import source
from .carried_conditions import CarriedCondition, on_carried
from .elementwise import broadcast_to, compare, without
from .predication import can_run_anywhere, take_apart
from .trace import Trace, call_body, current, tagged, unpacked, want_value
from .values import Value

Results = Value | tuple[Value, ...] | None
_Index = Value | ExprLike


def iterate(
    axis: sympy.Symbol,
    init_args: Sequence[Value] = (),
    start: _Index | None = None,
    condition: ExprLike | None = None,
    step: ExprLike | None = None,
    tag: str | None = None,
) -> Callable[[Callable], Results]:
    """A loop over the tiles of dim `axis`, which a TilingConstraint divides; the decorated function is its body.

    It gets the carried values (first `init_args`) and returns their next ones. With `start` and `condition` it is a
    while loop whose axis is a carried index that the body sets by `set_symbol(axis, …)`; the condition is of the axis,
    of other symbols, and of carried integers, as `GET_ITER_ARG(number)`. `step`: tiles a trip.
    `tag`: a name for a manual schedule.
    """

    def build(body: Callable) -> Results:
        return _iterate(current("iterate"), body, axis, list(init_args), start, condition, step, tag)

    return build


def _iterate(
    trace: Trace,
    body: Callable,
    axis: sympy.Symbol,
    init_args: list[Value],
    start: _Index | None,
    condition: ExprLike | None,
    step: ExprLike | None,
    tag: str | None,
) -> Results:
    if (start is None) != (condition is None):
        raise source.error("iterate: a while loop needs both start and condition")
    name = trace.dim(axis, "iterate")
    init = [_carried(v, i) for i, v in enumerate(init_args)]
    first = None if start is None else as_index(start)
    guard = CarriedCondition(trace, axis, condition, len(init)) if on_carried(condition) else None  # type: ignore[arg-type]
    if guard is not None and first is not None:
        first = guard.first(first, init)
    if condition is None:
        trace.counted_axes.add(name)

    def loop_over(init: list[Value]) -> Results:
        """The loop, with these values carried; `opened` gets its op first."""
        loop_context = builders.iterate(
            name,
            [v.ir for v in init],
            start=None if first is None else first.ir,
            condition=None if condition is None else guard.test() if guard else trace.expr(condition),
            step=None if step is None else trace.expr(step),
        )
        with loop_context as loop:
            opened.append(loop.op.operation)
            tagged(loop.op, tag)
            arguments = [trace.value(c, v.dims, v.dtype) for c, v in zip(loop.carried, init, strict=True)]
            trace.while_axes += [name] * (condition is not None)
            results = call_body(body, arguments, f"iterate({name})")
            results = _matching(results, init, f"iterate({name})")
            if guard is not None:
                guard.close(results)
            del trace.while_axes[len(trace.while_axes) - (condition is not None) :]
            loop.yield_(*(r.ir for r in results))
        return unpacked([trace.value(r, v.dims, v.dtype) for r, v in zip(loop.results, init, strict=True)])

    opened: list[ir.Operation] = []
    with source.location():
        return _with_parts(trace, init, loop_over, opened)


def _carried(value: object, number: int) -> Value:
    tile = want_value(value, f"iterate: init_args[{number}]")
    return broadcast_to(tile, ()) if tile.is_scalar and tile.dtype != index else tile


class _Parts(Exception):
    """Results of a body are for each of the parts that waves divide a dim into, and what they replace is not yet."""

    def __init__(self, dims: list[tuple[str, ...]]) -> None:
        super().__init__()
        self.dims = dims


def _with_parts(
    trace: Trace, values: list[Value], build: Callable[[list[Value]], Results], opened: list[ir.Operation]
) -> Results:
    """`build(values)`, whose op is the last of `opened`; again with values of more dims where its results have parts.

    What a body computes along a dim that waves divide has a result for each part (`wave_parts`), which is known once
    the body is traced.
    """
    depth, logs = len(trace.while_axes), len(trace.debug_logs)
    while True:
        try:
            return build(values)
        except _Parts as wider:
            if len(trace.debug_logs) > logs:
                raise source.error(
                    "a body with a debug_log has results for each part of a dim that waves divide, and starts from "
                    "values that are not; broadcast these first"
                ) from None
            del trace.while_axes[depth:]
            opened.pop().erase()
            values = [broadcast_to(v, dims) for v, dims in zip(values, wider.dims, strict=True)]


def _matching(results: list[Value], init: Sequence[Value], what: str) -> list[Value]:
    """The results of a body, each of the shape and dtype of what it replaces (dims may be in another order)."""
    if len(results) != len(init):
        raise source.error(
            f"{what}: the body returns {len(results)} values and {len(init)} are carried; return one for each"
        )
    matched = []
    trace = current(what)
    numbers = {p.number for p in trace.wave_parts.values()}
    more = [[d for d in r.dims if d in numbers and d not in v.dims] for r, v in zip(results, init, strict=True)]
    if any(more):
        raise _Parts([(*dims, *v.dims) for dims, v in zip(more, init, strict=True)])
    for number, (given, old) in enumerate(zip(results, init, strict=True)):
        result = without(given, [d for d in given.dims if d not in old.dims and trace.is_unit(d)])
        missing = [d for d in old.dims if d in numbers and d not in result.dims]
        result = broadcast_to(result, (*missing, *result.dims)) if missing else result
        if result.dtype.mlir != old.dtype.mlir or set(result.dims) != set(old.dims):
            raise source.error(
                f"{what}: result {number} is {result!r} and the carried value {old!r}; cast, broadcast or reduce it"
            )
        matched.append(broadcast_to(result, old.dims) if result.dims != old.dims else result)
    return matched


def as_index(value: _Index) -> Value:
    """A one-element value as an index: of an expression, a scalar or a tile."""
    trace = current()
    with source.location():
        if isinstance(value, Value):
            return value
        made = builders.scalar(trace.expr(value), index.ir_type())
    return trace.value(made, (), index)


def conditional(
    condition: ExprLike | Value, else_return: Value | Sequence[Value] | None = None
) -> Callable[[Callable], Results]:
    """The decorated function runs where `condition` holds: a relation over symbols, or a one-element value.

    Its results are the function's, elsewhere `else_return` (one for each, of the same shape and dtype).
    """

    def build(body: Callable) -> Results:
        return _conditional(current("conditional"), body, condition, else_return)

    return build


def _else_values(given: Value | Sequence[Value] | None) -> list[Value]:
    if given is None:
        return []
    values = [given] if isinstance(given, Value) else list(given)
    return [want_value(v, "conditional: else_return") for v in values]


def _conditional(
    trace: Trace, body: Callable, condition: ExprLike | Value, else_return: Value | Sequence[Value] | None
) -> Results:
    decided = _predicate(trace, condition)
    own = _by_lanes(trace, decided, condition)
    opened: list[ir.Operation] = []

    def branch_of(others: list[Value]) -> Results:
        context = builders.conditional(decided if own is None else own.ir, else_values=[v.ir for v in others])
        with context as branch:
            opened.append(branch.op.operation)
            results = call_body(body, others if _takes_values(body) else (), "conditional")
            if results and not others:
                raise source.error("conditional: the body returns values; say in else_return what they are elsewhere")
            results = _matching(results, others, "conditional")
            branch.yield_(*(r.ir for r in results))
        if own is not None and can_run_anywhere(branch.op.regions[0].blocks[0], own):
            return unpacked(take_apart(trace, branch.op.operation, own, results, others))
        return unpacked([trace.value(r, v.dims, v.dtype) for r, v in zip(branch.results, others, strict=True)])

    with source.location():
        return _with_parts(trace, _else_values(else_return), branch_of, opened)


def _by_lanes(trace: Trace, decided: Expr | ir.Value, condition: ExprLike | Value) -> Value | None:
    """The condition as a tile of i1 if lanes of a wave decide it differently, else None."""
    if isinstance(condition, Value):
        if all(trace.is_unit(d) for d in condition.dims):
            return None
        return condition if condition.dtype.kind == "bool" else compare("ne", condition, 0)
    if not isinstance(decided, Expr) or "lane" not in decided.symbols:
        return None
    with source.location():
        return trace.value(builders.apply_expr(decided, trace.tile_type((), i1)), (), i1)


def _takes_values(body: Callable) -> bool:
    """Whether the body has parameters: the values of `else_return`, to start from."""
    return isinstance(body, FunctionType) and body.__code__.co_argcount > len(body.__defaults__ or ())


def _predicate(trace: Trace, condition: ExprLike | Value) -> Expr | ir.Value:
    """An expression, or the IR value of a condition."""
    if isinstance(condition, Value):
        if condition.dtype.is_float:
            raise source.error(f"conditional: a condition of {condition.dtype}; compare it, as in x > 0")
        return condition.ir
    if isinstance(condition, bool) or is_condition(condition):
        return trace.expr(condition)
    return trace.expr(sympy.Ne(condition, 0))
