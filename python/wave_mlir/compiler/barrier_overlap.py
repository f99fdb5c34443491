"""Whether two accesses to LDS touch a common byte, for the proof of barriers: by tables of who touches what."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from math import gcd

import numpy as np
from mlir import ir

from wave_mlir.dialect import Expr, Facts, MemoryType, prove

from .kernel_info import KernelInfo
from .lane_access import COORDINATES, element_bits, names_of
from .lds import read_by_masked_lanes
from .shared_values import SharedValues

_LANES = ("lane", "wave.x", "wave.y", "wave.z")
_OTHER_LANE = "el"  # not used in indices of split accesses; never negative, as a lane
_TABLE = 1 << 22  # entries of a table, at most


class Who(Enum):
    """Who touches a byte that two accesses have in common: nobody else, another lane of the wave, another wave."""

    NOBODY = 0
    LANES = 1
    WAVES = 2


@dataclass(frozen=True)
class _Bytes:
    """`size` bytes from `start` on, where `mask` is not 0."""

    start: Expr
    size: int
    mask: Expr
    along: tuple[tuple[Expr, int], ...] = ()
    """In global memory, where known: the position along each dim, and how many elements from there."""


@dataclass
class Overlap:
    """Answers for the accesses of one kernel."""

    info: KernelInfo
    values: SharedValues
    _bytes: dict[tuple[ir.Operation, ir.Value], _Bytes | None] = field(default_factory=dict)
    _known: dict[tuple, Who] = field(default_factory=dict)
    _grids: dict[tuple[Expr, Expr], tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    _waves: dict[tuple[Expr, tuple[int, ...], bool], Expr] = field(default_factory=dict)
    _facts: tuple[Facts, Facts] | None = None

    def of(
        self, a: ir.Operation, memory: ir.Value, b: ir.Operation, other: ir.Value, since: tuple[tuple[int, int], ...]
    ) -> Who:
        """Who may meet when `b` comes after `a`: `since` says how many trips of which loops went by (see `Since`)."""
        if memory != other and None in (_place_of(memory), _place_of(other)):
            return Who.NOBODY
        first, second = self._of(a, memory), self._of(b, other)
        several = int(np.prod(self.info.block_waves)) > 1
        if first is None or second is None:
            return Who.WAVES if several else Who.LANES
        asynchronous = "wave.gather_to_shared" in (a.name, b.name)
        key = (first, second, since, asynchronous)
        if key not in self._known:
            self._known[key] = self._compare(first, self._moved(second, since), asynchronous)
        return self._known[key]

    def _moved(self, second: _Bytes, since: tuple[tuple[int, int], ...]) -> _Bytes:
        """The second access as another wave makes it, where trips have gone by."""
        loop, trips = next(((loop, trips) for loop, trips in since if trips), (-1, -1))
        loop, far = (None, False) if trips < 0 else (loop, trips == 2)  # -1: the same trip of all loops around both
        along = tuple((self.values.later(e, loop, far), n) for e, n in second.along)
        return _Bytes(self.values.later(second.start, loop, far), second.size, second.mask, along)

    def _of(self, op: ir.Operation, memory: ir.Value) -> _Bytes | None:
        key = (op, memory)
        if key not in self._bytes:
            self._bytes[key] = self._addressed(op, memory)
        return self._bytes[key]

    def _addressed(self, op: ir.Operation, memory: ir.Value) -> _Bytes | None:
        offset = _place_of(memory) or 0
        if (buffer := read_by_masked_lanes(op, memory, self.info)) is not None:
            return _Bytes(Expr.constant(offset), buffer.bytes, _mask(self.values.conditionals(op)))
        kind = MemoryType(memory.type)
        bits = element_bits(kind.element_type)
        copy = op.name == "wave.gather_to_shared"
        start, names = self._element(op, memory), names_of(op)
        if start is None:
            return None
        value = None if copy else (op.results[0] if len(op.results) else op.operands[0]).type
        elements = value.shape[0] if isinstance(value, ir.VectorType) else 1
        if copy:
            elements = ir.IntegerAttr(op.attributes["elements"]).value
            if not isinstance(memory.owner, ir.Block):
                elements, start = elements * self.info.wave_size, start.subs({"lane": 0})
        start = self.values.canonical(op, self.info.resolve(start, names) * bits)
        size = -(-(elements * bits) // 8) if bits % 8 == 0 else (elements * bits + 14) // 8
        mask = _mask(self.values.predicates(op))
        along: tuple[tuple[Expr, int], ...] = ()
        index = op.attributes.get(COORDINATES, op.attributes.get("index"))
        if isinstance(memory.owner, ir.Block) and index is not None:
            places = [self.values.canonical(op, self.info.resolve(Expr(e), names)) for e in index]
            along = tuple((e, elements if n == len(places) - 1 else 1) for n, e in enumerate(places))
        return _Bytes((start // 8 + offset).simplify(self.values.facts), size, mask, along)

    def _element(self, op: ir.Operation, memory: ir.Value) -> Expr | None:
        """The first element that a lane accesses."""
        if "base" in op.attributes:
            return Expr(op.attributes["base"]) + Expr(op.attributes["offset"])
        name = "index"
        if op.name == "wave.gather_to_shared":
            name = "source_index" if isinstance(memory.owner, ir.Block) else "target_index"
        start = Expr.constant(0)
        for coordinate, stride in zip(op.attributes[name], self.info.strides_of(memory), strict=True):
            start = start + Expr(coordinate) * stride
        return None if "el" in start.symbols else start

    # --- two accesses ---

    def _compare(self, a: _Bytes, b: _Bytes, asynchronous: bool) -> Who:
        grids = self._grid_pair(a, b)
        who = Who.WAVES if grids is None else _common(*grids, a.size, b.size, asynchronous)
        return Who.LANES if who is Who.WAVES and (grids is None or a.along) and self._apart(a, b) else who

    def _grid_pair(self, a: _Bytes, b: _Bytes) -> tuple[_Grid, _Grid] | None:
        """First bytes by wave and lane, counted from one place; None where the distance is no number."""
        parts = [access.start.split([s for s in access.start.symbols if s not in _LANES]) for access in (a, b)]
        if any(s not in _LANES for _, rest in parts for s in rest.symbols):
            return None
        gap = (parts[1][0] - parts[0][0]).simplify(self.values.facts).constant_value
        if gap is None:
            return None
        first, second = self._grid(parts[0][1], a.mask), self._grid(parts[1][1], b.mask)
        return first, (second[0] + gap, second[1])

    def _grid(self, start: Expr, mask: Expr) -> _Grid:
        if (start, mask) not in self._grids:
            x, y, z = self.info.block_waves
            shape = (x * y * z, self.info.wave_size)
            ids = np.indices((x, y, z)).reshape(3, -1, 1)
            values = {"lane": np.arange(shape[1])} | {f"wave.{axis}": ids[n] for n, axis in enumerate("xyz")}
            made = [np.broadcast_to(e.eval_numpy({s: values[s] for s in e.symbols}), shape) for e in (start, mask)]
            self._grids[start, mask] = made[0], made[1] != 0
        return self._grids[start, mask]

    def _apart(self, a: _Bytes, b: _Bytes) -> bool:
        """Whether no two lanes of different waves meet, each pair of waves asked of `prove`."""
        ways = list(zip(a.along, b.along, strict=True)) if a.along and b.along else []
        ways = ways or [((a.start, a.size), (b.start, b.size))]
        waves = list(np.ndindex(*self.info.block_waves))
        pairs = [(first, second) for first in waves for second in waves if first != second]
        return all(any(self._one_apart(x, y, pair, a.mask, b.mask) for x, y in ways) for pair in pairs)

    def _one_apart(
        self, a: tuple[Expr, int], b: tuple[Expr, int], waves: tuple[Wave, Wave], mask: Expr, other: Expr
    ) -> bool:
        """Whether two stretches, of two waves, are proven to have nothing in common."""
        x, y = self._of_wave(a[0], waves[0], False), self._of_wave(b[0], waves[1], True)
        ways = [(x + a[1]).le(y), (y + b[1]).le(x)]
        ways += [Expr.not_(self._of_wave(m, w, n)) for m, w, n in ((mask, waves[0], False), (other, waves[1], True))]
        return prove(Expr.or_(*ways), self._lane_facts()) is True

    def _of_wave(self, expr: Expr, wave: Wave, second: bool) -> Expr:
        """An expression for one wave; of the second access with another symbol for the lane."""
        key = (expr, wave, second)
        if key not in self._waves:
            values: dict[str, int | Expr] = {f"wave.{axis}": int(n) for axis, n in zip("xyz", wave, strict=True)}
            self._waves[key] = expr.subs(values | ({"lane": Expr.symbol(_OTHER_LANE)} if second else {}))
        return self._waves[key]

    def _lane_facts(self) -> Facts:
        """The facts, with a range for the other lane."""
        if self._facts is None or self._facts[0] is not self.values.facts:
            lane = (0, self.info.wave_size - 1)
            self._facts = self.values.facts, self.values.facts.extended({_OTHER_LANE: lane}, {}, [])
        return self._facts[1]


Wave = tuple[int, ...]
"""Ids of a wave."""


def _mask(conditions: list[Expr]) -> Expr:
    """Where all conditions hold; those over more than lane and wave ids are left out."""
    mask = Expr.constant(1)
    for condition in conditions:
        if all(s in _LANES for s in condition.symbols):
            mask = Expr.and_(mask, condition)
    return mask


def _place_of(memory: ir.Value) -> int | None:
    """The offset of a buffer in LDS, None for other memories and before there is one."""
    owner = memory.owner
    if isinstance(owner, ir.Block) or "offset" not in owner.operation.attributes:
        return None
    return ir.IntegerAttr(owner.operation.attributes["offset"]).value


_Grid = tuple[np.ndarray, np.ndarray]
"""(first byte, whether it takes part) of each lane: waves x lanes."""


def _common(a: _Grid, b: _Grid, size_a: int, size_b: int, asynchronous: bool) -> Who:
    """Who meets, by a table of the waves that touch each unit of bytes."""
    if not a[1].any() or not b[1].any():
        return Who.NOBODY
    low = min(int(g[0][g[1]].min()) for g in (a, b))
    high = max(int(a[0][a[1]].max()) + size_a, int(b[0][b[1]].max()) + size_b)
    unit = gcd(size_a, size_b, *(int(np.gcd.reduce(g[0][g[1]] - low)) for g in (a, b)))
    if (high - low) // unit * len(a[0]) > _TABLE:
        return Who.WAVES if len(a[0]) > 1 else Who.LANES
    first, second = (_table(g, low, (high - low) // unit, n // unit, unit) for g, n in ((a, size_a), (b, size_b)))
    same = (first & second).sum(axis=0)
    if (first.sum(axis=0) * second.sum(axis=0) > same).any():
        return Who.WAVES
    alone = np.array_equal(a[0], b[0]) and np.array_equal(a[1], b[1]) and first.sum() * unit == a[1].sum() * size_a
    if not same.any() or (alone and size_a == size_b and not asynchronous):
        return Who.NOBODY
    return Who.LANES


def _table(grid: _Grid, low: int, length: int, size: int, unit: int) -> np.ndarray:
    """(waves, units): who touches what."""
    table = np.zeros((len(grid[0]), length), dtype=np.int64)
    for wave, (starts, active) in enumerate(zip(*grid, strict=True)):
        at = (starts[active] - low) // unit
        for n in range(size):
            table[wave, at + n] = 1
    return table
