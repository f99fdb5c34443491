"""Dims that the waves of a workgroup divide, each for results of its own.

`SymbolicAlias(U, K, …)` with one element of U for each wave's part of K makes U count these parts, over all workgroups.
A reduction along K, or an MMA over it, is then of a wave's part, and its result has the dim U: while such a kernel is
traced, a tile over K is one over U and the dim of positions in a part.
"""

from __future__ import annotations

from collections.abc import Sequence

from wave_mlir.dialect import Expr
from wave_mlir.lang.dtypes import DataType, i32
from wave_mlir.lang.symbols import index_symbol

from .elementwise import broadcast_to, cast, compare, select
from .trace import Trace, WavePart
from .values import Value


def divided(
    trace: Trace, iterators: dict[str, str], expressions: Sequence[Expr], free: int
) -> tuple[dict[str, str], list[Expr]]:
    """The iterators of a mapping, and expressions over them, with two iterators for each dim that waves divide.

    free: a number from which on iterators have no names yet.
    """
    found: dict[str, str] = {}
    inner: dict[str, Expr] = {}
    for dim, name in iterators.items():
        part = trace.wave_parts.get(dim)
        if part is None:
            found[dim] = name
            continue
        found[part.number], found[part.inner] = f"i{free}", f"i{free + 1}"
        inner[name] = Expr.symbol(f"i{free}") * part.length + Expr.symbol(f"i{free + 1}")
        free += 2
    return found, [e.subs(inner) for e in expressions] if inner else list(expressions)


def identity(trace: Trace, dims: Sequence[str]) -> tuple[dict[str, str], list[Expr]]:
    """`divided` of the mapping that takes each point to itself."""
    names = {d: f"i{n}" for n, d in enumerate(dims)}
    return divided(trace, names, [Expr.symbol(n) for n in names.values()], len(names))


def position(trace: Trace, part: WavePart, dtype: DataType) -> Value:
    """The coordinate along the whole dim, for each part and position."""
    from .compute_ops import apply_expr, self_index

    both = [self_index(index_symbol(d), i32) for d in (part.number, part.inner)]
    both = [broadcast_to(v, (part.number, part.inner)) for v in both]
    return cast(apply_expr(both, lambda number, inner: number * part.length + inner), dtype)


def inside(trace: Trace, value: Value, part: WavePart, kind: str) -> Value:
    """The operand of a reduction, with its neutral element where the whole dim ends within a part."""
    size = trace.bindings.integer(part.whole)
    if size is not None and size % part.length == 0:
        return value
    held = position(trace, part, i32)
    extent = trace.filled(index_symbol(part.whole), held.dims, i32)
    return select(broadcast_to(compare("lt", held, extent), value.dims), value, _neutral(kind, value.dtype))


def with_numbers(trace: Trace, values: Sequence[Value]) -> list[Value]:
    """Operands of an MMA: if one has a dim of wave parts, all have."""
    numbers = {p.number for p in trace.wave_parts.values()}
    wanted = [d for d in dict.fromkeys(d for v in values for d in v.dims) if d in numbers]
    found = []
    for value in values:
        missing = [d for d in wanted if d not in value.dims]
        found.append(broadcast_to(value, (*missing, *value.dims)) if missing else value)
    return found


def _neutral(kind: str, dtype: DataType) -> float:
    """What changes no result of a reduction."""
    if kind == "sum":
        return 0
    sign = -1 if kind == "max" else 1
    if dtype.is_float:
        return sign * float("inf")
    return -(2 ** (dtype.bits - 1)) if sign < 0 else 2 ** (dtype.bits - 1) - 1
