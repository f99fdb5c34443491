"""`source=` and `target=` of reads and writes: an index mapping written with named iterators.

`IteratorBindings({m: M, k: K})` names the iterators. On the tile's side (a read's target, a write's source) each entry
is an iterator; on the memory's side each is an expression of iterators and symbols, or a tile of positions.
"""

from __future__ import annotations

from collections.abc import Sequence

import sympy

from wave_mlir.lang.mapping import IndexMapping
from wave_mlir.lang.symbols import ExprLike

from . import source
from .trace import Trace
from .values import MemoryValue, Value

Positions = Sequence[ExprLike | Value]


def mapping_of(
    trace: Trace, what: str, memory: MemoryValue, tile_side: Positions, memory_side: Positions
) -> tuple[IndexMapping, tuple[Value, ...]]:
    """The mapping, and its dynamic values. `what` is "read" or "write". An error is at the user's line."""
    iterators = _iterators(trace, what, tile_side)
    if len(memory_side) != len(memory.type.shape):
        raise source.error(
            f"{what}: {len(memory_side)} coordinates for memory {memory.name} [{', '.join(memory.dims)}]; give one for "
            "each dim"
        )
    named = {symbol: IndexMapping.iterator(n) for n, symbol in enumerate(iterators)}
    coordinates: dict[ExprLike, ExprLike] = {}
    dynamic: list[Value] = []
    for dim, position in zip(memory.type.shape, memory_side, strict=True):
        if isinstance(position, Value):
            coordinates[dim] = IndexMapping.dynamic_val(len(dynamic))
            dynamic.append(position)
        else:
            expression = sympy.sympify(position)
            _check_known(trace, what, expression, named)
            coordinates[dim] = expression.subs(named, simultaneous=True)
    own = {trace.bound_iterators[s]: named[s] for s in iterators}
    tile = {dim: iterator for dim, iterator in own.items()}
    positions = tuple(_positions(trace, what, value, own) for value in dynamic)
    inputs, outputs = (coordinates, tile) if what == "read" else (tile, coordinates)
    return IndexMapping(len(iterators), inputs, outputs, positions), tuple(dynamic)  # type: ignore[arg-type]


def _iterators(trace: Trace, what: str, tile_side: Positions) -> list[sympy.Symbol]:
    side = "target" if what == "read" else "source"
    found: list[sympy.Symbol] = []
    for entry in tile_side:
        if not isinstance(entry, sympy.Symbol) or entry not in trace.bound_iterators:
            known = ", ".join(str(s) for s in trace.bound_iterators) or "none"
            raise source.error(
                f"{what}: {entry} in {side}= is no iterator; name it in a constraint IteratorBindings({{{entry}: dim}})"
                f" (there are: {known})"
            )
        if entry in found:
            raise source.error(f"{what}: iterator {entry} occurs twice in {side}=")
        found.append(entry)
    return found


def _check_known(trace: Trace, what: str, expression: sympy.Basic, named: dict) -> None:
    for symbol in sorted(expression.free_symbols, key=str):
        if symbol in trace.bound_iterators and symbol not in named:
            raise source.error(
                f"{what}: iterator {symbol} of dim {trace.bound_iterators[symbol]} names a coordinate of memory and is "
                "not among those of the tile; add it there"
            )


def _positions(
    trace: Trace, what: str, value: Value, own: dict[sympy.Expr, sympy.Symbol]
) -> dict[sympy.Expr, sympy.Symbol]:
    """Which element of a dynamic value belongs to a point: its dims are dims of the tile."""
    by_name = {trace.dim(dim, what): dim for dim in own}
    missing = [d for d in value.dims if d not in by_name]
    if missing:
        raise source.error(
            f"{what}: a tile of positions [{', '.join(value.dims)}] has dim {', '.join(missing)}, which the accessed "
            f"tile [{', '.join(by_name)}] has not"
        )
    return {by_name[d]: own[by_name[d]] for d in value.dims}
