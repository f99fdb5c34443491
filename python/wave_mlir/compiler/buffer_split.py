"""Where an access of lane form is, as a buffer access sees it: a uniform base, a scalar step of loops, a lane offset.

An element is at `base + scalar + offset` of its memory, in elements. `base` goes into the descriptor's 64-bit address;
`scalar` and `offset` are 32-bit byte offsets of the instruction. The hardware holds `offset` against the descriptor's
valid bytes (those of the memory from `base` on); published texts disagree on whether it adds `scalar` first. So a split
is only made when it is proven that no lane that is not masked has an offset beyond `LIMIT` bytes, with `scalar` and
without, and none is negative. A masked lane is out of range either way, as `scalar` is not negative and does not wrap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from mlir import ir

from wave_mlir.dialect import Expr, Facts, MemoryType

from .kernel_info import KernelInfo
from .lane_access import Within, index_of, mask_expr, memory_of, names_of, symbol_values_of, value_type, width_of
from .tile_ir import ancestors

LIMIT = (1 << 31) - 1 - 16
"""The most valid bytes of a descriptor: offsets from 2^31 on are out of range, whatever an access adds to them."""

MASKED = 1 << 31
"""The byte offset of a masked lane."""

SCALAR_LIMIT = (1 << 31) - (1 << 16)
"""A scalar offset stays below, so that MASKED plus it does not wrap on hardware that adds them before its check."""

SCALAR_OFFSET = "wave.scalar_offset"
"""Attribute of a buffer access: the part of its `base` that is the scalar offset of the instruction."""

RANGE_MASKED = "wave.range_masked"
"""Attribute of a buffer access that leaves a mask to the descriptor: past the memory's end is out of range."""


@dataclass(frozen=True)
class Place:
    """Base, scalar and lane offset in elements; `conditions` that a mask has still to check."""

    base: Expr
    scalar: Expr
    offset: Expr
    conditions: tuple[Expr, ...]
    range_masked: bool


@dataclass(frozen=True)
class _Coordinate:
    """One coordinate in parts, each at least 0 where the lane is not masked."""

    base: Expr  # uniform, the same in all trips
    step: Expr  # uniform, of loops
    lane: Expr
    stride: Expr
    extent: Expr


@dataclass
class BufferSplitter:
    """Splits the accesses of one kernel."""

    info: KernelInfo
    _known: dict[tuple, Place | None] = field(default_factory=dict)
    _coordinates: dict[tuple, _Coordinate] = field(default_factory=dict)
    _facts: dict[tuple, Facts] = field(default_factory=dict)

    def place(self, op: ir.Operation) -> Place | None:
        """The split of a read or write of global memory; None when it is not proven to be right."""
        memory = MemoryType(memory_of(op).type)
        bits = memory.element_type.width if hasattr(memory.element_type, "width") else 64
        if bits < 8 or width_of(op) * bits > 128:
            return None
        bound = names_of(op)
        uniform = self._uniform(op, bound)
        shape = [self.info.resolve(e, self.info.without_axes(bound)) for e in memory.shape]
        predicate = None if op.opview.mask is None else mask_expr(op.opview.mask)
        if predicate is not None:
            predicate = self.info.resolve(predicate, bound)
        index, strides = index_of(op, self.info), self.info.strides_of(memory_of(op))
        within = Within.of(op)
        key = (tuple(index), tuple(strides), tuple(shape), predicate, uniform, tuple(bound), value_type(op), within)
        if key not in self._known:
            facts = self._facts_for(bound, within)
            coordinates = []
            for part in zip(index, strides, shape, strict=True):
                known = self._coordinates.get((part, uniform, facts))
                if known is None:
                    known = self._coordinates[part, uniform, facts] = _split(part[0], uniform, *part[1:], facts)
                coordinates.append(known)
            self._known[key] = _place(coordinates, _conjuncts(predicate), width_of(op), bits // 8, facts)
        return self._known[key]

    def _facts_for(self, bound: Sequence[str], within: Within) -> Facts:
        key = tuple(bound), within
        if key not in self._facts:
            self._facts[key] = within.extend(self.info.facts_for(bound))
        return self._facts[key]

    def _uniform(self, op: ir.Operation, bound: Sequence[str]) -> tuple[str, ...]:
        """Symbols that are the same in all lanes of a wave: ids, dynamic symbols, counters of counted loops."""
        names = [n for n in self.info.dynamic if n not in bound]
        names += [f"wg.{axis}" for axis in "xyz"]
        for name, value in zip(bound, symbol_values_of(op), strict=True):
            if name.startswith("iv.") and _counts_trips(value):
                names.append(name)
        return tuple(names)


def _counts_trips(value: ir.Value) -> bool:
    """Whether a value is the trip counter of a loop (the axis of a while loop may differ from lane to lane)."""
    if not isinstance(value, ir.BlockArgument):
        return False
    return "condition" not in value.owner.owner.attributes


def in_loop(op: ir.Operation) -> bool:
    """Whether an op is in a loop of its kernel; lowering makes loops of scf from the outside in."""
    return any(parent.name in ("wave.iterate", "scf.for", "scf.while") for parent in ancestors(op))


def _conjuncts(predicate: Expr | None) -> tuple[Expr, ...]:
    if predicate is None:
        return ()
    if predicate.kind != "and":
        return (predicate,)
    return tuple(part for operand in predicate.operands for part in _conjuncts(operand))


def _split(coordinate: Expr, uniform: tuple[str, ...], stride: Expr, extent: Expr, facts: Facts) -> _Coordinate:
    zero = Expr.constant(0)
    whole = coordinate.simplify(facts)
    same, lane = whole.split(uniform)
    if _least(same, facts) < 0 or _least(lane, facts) < 0:
        same, lane = zero, whole  # a lane that is not masked is inside the memory: at least 0
    step, base = _loops(same)
    if _least(base, facts) < 0 or _least(step, facts) < 0:
        step, base = zero, same
    return _Coordinate(base, step, lane, stride, extent)


def _loops(uniform: Expr) -> tuple[Expr, Expr]:
    """(the terms that depend on trip counters, the others)."""
    parts, constant = uniform.linear_parts()
    step, base = Expr.constant(0), Expr.constant(constant)
    for factor, coefficient in parts:
        if any(name.startswith("iv.") for name in factor.symbols):
            step = step + factor * coefficient
        else:
            base = base + factor * coefficient
    return step, base


def _least(expr: Expr, facts: Facts) -> int:
    low, _ = expr.range(facts)
    return -1 if low is None else low


def _place(
    coordinates: list[_Coordinate], conditions: tuple[Expr, ...], width: int, size: int, facts: Facts
) -> Place | None:
    """The split of an access of `width` elements of `size` bytes, if it is right."""
    if any(_least(c.stride, facts) < 0 or _may_wrap(c.lane, facts) for c in coordinates):
        return None
    total = _sum([Expr.constant(1), *((c.extent - 1) * c.stride for c in coordinates)], facts)
    if not _fits(coordinates, total, width, size, facts):
        return None
    base = _sum([c.base * c.stride for c in coordinates], facts)
    step = _sum([c.step * c.stride for c in coordinates], facts)
    lane = _sum([c.lane * c.stride for c in coordinates], facts)
    most = step.range(facts)[1]
    steps = [replace(c, lane=c.lane + c.step) for c in coordinates]
    fits = most is not None and most * size <= SCALAR_LIMIT and _fits(steps, total, width, size, facts)
    scalar = step if fits else Expr.constant(0)
    if scalar != step:
        base = (base + step).simplify(facts)
    left = _not_left_to_range(coordinates, conditions, lane, scalar, size, facts)
    return Place(base, scalar, lane, left, len(left) < len(conditions))


def _may_wrap(lane: Expr, facts: Facts) -> bool:
    """Whether a lane's part may be negative before its constant is added.

    The constant may become the instruction's immediate or part of the scalar offset; what is in the register alone
    must then be in range.
    """
    _, constant = lane.linear_parts()
    return constant > 0 and _least((lane - constant).expand(), facts) < 0


def _sum(terms: Sequence[Expr], facts: Facts) -> Expr:
    total = Expr.constant(0)
    for term in terms:
        total = total + term
    return total.simplify(facts)


def _fits(coordinates: list[_Coordinate], total: Expr, width: int, size: int, facts: Facts) -> bool:
    """Whether the byte offsets of lanes that are not masked are proven to be in a descriptor's reach.

    Such a lane is inside the memory, so its offset along a dim is also below the extent.
    """
    whole = total.range(facts)[1]
    if whole is not None and whole * size <= LIMIT:
        return True
    most = width - 1
    for c in coordinates:
        by_lane = (c.lane * c.stride).range(facts)[1]
        by_extent = ((c.extent - 1) * c.stride).range(facts)[1]
        bounds = [b for b in (by_lane, by_extent) if b is not None]
        if not bounds:
            return False
        most += max(0, min(bounds))
    return (most + 1) * size <= LIMIT


def _not_left_to_range(
    coordinates: list[_Coordinate],
    conditions: tuple[Expr, ...],
    lane: Expr,
    scalar: Expr,
    size: int,
    facts: Facts,
) -> tuple[Expr, ...]:
    """The conditions that a mask has to check because the descriptor's range does not imply them.

    Past the extent of the first, slowest dim is past the memory's end when the other coordinates only add to it; the
    scalar offset, which may not be checked, must have no part of the first dim. The lane offset may not wrap.
    """
    if not coordinates or not conditions:
        return conditions
    first, rest = coordinates[0], coordinates[1:]
    most = lane.range(facts)[1]
    parts_add = all(_least(part, facts) >= 0 for c in coordinates for part in (c.base, c.lane))
    steps_add = _least(first.step, facts) >= 0 and (first.step.constant_value == 0 or scalar.constant_value == 0)
    if most is None or (most + 16) * size >= MASKED or not parts_add or not steps_add:
        return conditions
    if not _slowest(first, rest, facts):
        return conditions
    inside = (first.base + first.step + first.lane).lt(first.extent).simplify(facts)
    return tuple(c for c in conditions if c.simplify(facts) != inside)


def _slowest(first: _Coordinate, rest: list[_Coordinate], facts: Facts) -> bool:
    """Whether the memory ends at or before extent * stride of its first dim."""
    end = _sum([(c.extent - 1) * c.stride for c in rest], facts)
    return end.lt(first.stride).prove(facts) is True
