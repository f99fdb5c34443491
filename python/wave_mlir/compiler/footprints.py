"""Which bytes the waves of a workgroup touch, and whether two accesses may meet: a proof that they do not, or "maybe".

A place is a start in bytes, an expression over lane, wave ids, trip counters and symbols. These are sorted by who
shares them: lane and wave ids are enumerated; a symbol that all waves share stays one symbol in both accesses; one that
differs (another trip, a lane's own value) is renamed in the second. What is left of the difference of two starts
decides: a number shifts one set of bytes against the other, exactly; an expression is asked of `prove`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import pairwise

import numpy as np
from mlir import ir

from wave_mlir.dialect import Expr, MemoryType, prove

from .kernel_info import KernelInfo
from .lane_access import COORDINATES, element_bits
from .lds import read_by_masked_lanes
from .shared_values import SharedValues

HARDWARE = frozenset(("lane", "wave.x", "wave.y", "wave.z"))
"""Symbols that are enumerated."""
_SPAN = 1 << 21  # units from the first to the last; of what spreads further the ends of each wave are compared alone
_STEPS = 512  # distances between two places that are tried one by one


class Meeting(IntEnum):
    """Which lanes may touch a byte of both accesses: none but each lane its own, lanes of one wave, several waves."""

    NONE = 0
    LANES = 1
    WAVES = 2


@dataclass(frozen=True)
class Later:
    """The second access is made in a later trip of a loop (the next one; or `far`: one after that) than the first.

    loop: its number in the program; None: the same trip of all loops around both.
    """

    loop: int | None = None
    far: bool = False


SAME_TRIP = Later()


@dataclass(frozen=True)
class Place:
    """The bytes from `start` on, `size` of them, of lanes for which all of `masks` hold (over HARDWARE alone).

    coordinates: in global memory, where known, (position along a dim, elements along it) for each dim.
    """

    start: Expr
    size: int
    masks: tuple[Expr, ...]
    asynchronous: bool = False
    coordinates: tuple[tuple[Expr, int], ...] = ()


@dataclass
class _Bytes:
    """For each wave the starts of its accesses of `size` bytes, from byte `low` on."""

    low: int
    size: int
    starts: list[list[int]]
    own: bool  # no byte is touched by two lanes of a wave
    unit: int  # divides all starts, and the size
    _sets: dict[int, tuple[list[int], list[int]]] = field(default_factory=dict)

    def sets(self, unit: int) -> tuple[list[int], list[int]]:
        """For each wave the units it touches as bits of a number, and those that the other waves touch."""
        if unit not in self._sets:
            one = (1 << self.size // unit) - 1
            found = []
            for row in self.starts:
                bits = 0
                for start in row:
                    bits |= one << start // unit
                found.append(bits)
            self._sets[unit] = found, _unions_of_others(found)
        return self._sets[unit]

    def ends(self) -> list[tuple[int, int] | None]:
        """For each wave its first byte and one past its last; None where it touches nothing."""
        return [(self.low + r[0], self.low + r[-1] + self.size) if r else None for r in self.starts]


@dataclass
class Footprints:
    """Places of one kernel's accesses and what is known of pairs of them."""

    info: KernelInfo
    values: SharedValues
    _bytes: dict[tuple[Expr, int, tuple[Expr, ...]], _Bytes | None] = field(default_factory=dict)
    _pairs: dict[tuple[Place, Place, Later], Meeting] = field(default_factory=dict)
    _places: dict[Place, tuple[_Bytes | None, int]] = field(default_factory=dict)
    _splits: dict[Expr, tuple[Expr, Expr]] = field(default_factory=dict)

    def place(self, op: ir.Operation, memory: ir.Value) -> Place | None:
        """The bytes of `memory` that an access of lane form touches; None where these are not known.

        An LDS buffer that has its offset is counted from the start of LDS, another memory from its own.
        """
        if (buffer := read_by_masked_lanes(op, memory, self.info)) is not None:
            return Place(Expr.constant(buffer.offset or 0), buffer.bytes, self._masks(self.values.conditionals(op)))
        found = self._extent(op, memory)
        if found is None:
            return None
        linear, width = found
        kind = MemoryType(memory.type)
        bits = element_bits(kind.element_type)
        if bits % 8:
            start, size = linear * bits // 8, (width * bits + 14) // 8
        else:
            start, size = linear * (bits // 8), width * bits // 8
        owner = memory.owner
        if not isinstance(owner, ir.Block) and "offset" in owner.operation.attributes:
            start = start + ir.IntegerAttr(owner.operation.attributes["offset"]).value
        start = self.values.canonical(op, start)
        if not HARDWARE.issuperset(start.symbols):
            start = start.simplify(self.values.facts)
        coordinates = self._coordinates(op, width) if isinstance(owner, ir.Block) else ()
        masks = self._masks(self.values.predicates(op))
        return Place(start, size, masks, op.name == "wave.gather_to_shared", coordinates)

    def _coordinates(self, op: ir.Operation, width: int) -> tuple[tuple[Expr, int], ...]:
        name = "index" if "index" in op.attributes else COORDINATES
        bound = self.values.names(op)
        if name not in op.attributes:
            return ()
        found = [self.info.resolve(Expr(e), bound) for e in op.attributes[name]]
        places = [self.values.canonical(op, e).simplify(self.values.facts) for e in found]
        return tuple((e, width if number == len(places) - 1 else 1) for number, e in enumerate(places))

    def _extent(self, op: ir.Operation, memory: ir.Value) -> tuple[Expr, int] | None:
        """(first element of a lane, number of elements)."""
        attributes = op.attributes
        if op.name == "wave.gather_to_shared":
            target = memory == op.opview.target
            linear = self._linear(op, memory, "target_index" if target else "source_index")
            width = ir.IntegerAttr(attributes["elements"]).value
            if linear is None or not target:
                return None if linear is None else (linear, width)
            return linear.subs({"lane": 0}), width * self.info.wave_size  # the others follow the first lane
        kind = (op.results[0] if len(op.results) else op.operands[0]).type
        width = kind.shape[0] if isinstance(kind, ir.VectorType) else 1
        if "index" in attributes:
            linear = self._linear(op, memory, "index")
            return None if linear is None else (linear, width)
        if "base" in attributes:
            bound = self.values.names(op)
            base, offset = Expr(attributes["base"]), Expr(attributes["offset"])
            return self.info.resolve(base, bound) + self.info.resolve(offset, bound), width
        return None

    def _linear(self, op: ir.Operation, memory: ir.Value, index: str) -> Expr | None:
        bound = self.values.names(op)
        terms = [
            self.info.resolve(Expr(e), bound) * stride
            for e, stride in zip(op.attributes[index], self.info.strides_of(memory), strict=True)
        ]
        linear = Expr.sum(*terms) if terms else Expr.constant(0)
        return None if "el" in linear.symbols else linear

    def _masks(self, conditions: list[Expr]) -> tuple[Expr, ...]:
        found = [self.info.resolve(e) for e in conditions]
        return tuple(e for e in found if HARDWARE.issuperset(e.symbols))

    def meet(self, a: Place | None, b: Place | None, when: Later) -> Meeting:
        """Who may touch a byte of both `a` and, at the same time or `when` later, `b`."""
        if a is None or b is None:
            return self._most
        key = (a, b, SAME_TRIP if HARDWARE.issuperset(b.start.symbols) else when)
        known = self._pairs.get(key)
        if known is None:
            found = self._compare(a, b, when)
            if found == Meeting.WAVES and a.coordinates and b.coordinates and self._apart_along_dims(a, b, when):
                found = Meeting.LANES
            known = self._pairs[key] = min(found, self._most)
        return known

    @property
    def _most(self) -> Meeting:
        x, y, z = self.info.block_waves
        return Meeting.WAVES if x * y * z > 1 else Meeting.LANES

    def all_meet(self, places: Iterable[Place | None]) -> Meeting:
        """Who may touch a byte of any two of some places; WAVES where that is not seen at once.

        (One question instead of one for each pair, where each wave keeps to bytes of its own.)
        """
        found: list[tuple[_Bytes, int]] = []
        for place in dict.fromkeys(places):
            if place is None or not HARDWARE.issuperset(place.start.symbols):
                return self._most
            touched, shift = self._fixed(place)
            if touched is None or touched.low + shift < 0:
                return self._most
            found.append((touched, touched.low + shift))
        unit = math.gcd(*(t.unit for t, _ in found), *(at for _, at in found))
        unions = [0] * math.prod(self.info.block_waves)
        for touched, at in found:
            unions = [u | w << at // unit for u, w in zip(unions, touched.sets(unit)[0], strict=True)]
        seen = 0
        for union in unions:
            if seen & union:
                return self._most
            seen |= union
        return Meeting.LANES

    def tiles_apart(self, places: Sequence[Place | None], when: Later) -> bool:
        """Whether any two of the places, one of them in a later trip, are apart along some dim.

        (One question for the tile of a trip instead of one for each pair of its accesses.)
        """
        known = [p for p in places if p is not None and p.coordinates]
        if not known or len(known) < len(places):
            return False
        dims = range(len(known[0].coordinates))
        return any(self._dim_apart([p.coordinates[dim] for p in known], when) for dim in dims)

    def waves_apart(self, places: Sequence[Place | None]) -> bool:
        """Whether each wave keeps to positions of its own along some dim, in all trips."""
        known = [p for p in places if p is not None and p.coordinates]
        if not known or len(known) < len(places):
            return False
        return any(self._waves_apart_in([p.coordinates[d] for p in known]) for d in range(len(known[0].coordinates)))

    def _waves_apart_in(self, along: Sequence[tuple[Expr, int]]) -> bool:
        splits = [(*self._uniform_split(position), size) for position, size in dict.fromkeys(along)]
        common = splits[0][1]
        if any(shared != common for _, shared, _ in splits) or self.values.later(common, None, False) != common:
            return False
        if self.values.changes(common):
            return False
        ends: list[tuple[int, int]] = []
        for wave in self._waves():
            ids = {f"wave.{axis}": int(n) for axis, n in zip("xyz", wave, strict=True)}
            ranges = [(rest.subs(ids).range(self.values.facts), size) for rest, _, size in splits]
            if any(low is None or high is None for (low, high), _ in ranges):
                return False
            ends.append((min(r[0] for r, _ in ranges), max(r[1] + size for r, size in ranges)))  # type: ignore[operator]
        ends.sort()
        return all(before[1] <= after[0] for before, after in pairwise(ends))

    def _dim_apart(self, along: Sequence[tuple[Expr, int]], when: Later) -> bool:
        facts = self.values.facts
        shared, low, high = None, 0, 0
        for position, size in along:
            rest, common = self._uniform_split(position)
            least, most = rest.range(facts)
            if least is None or most is None or (shared is not None and common != shared):
                return False
            low, high = (least, most + size) if shared is None else (min(low, least), max(high, most + size))
            shared = common
        if shared is None:
            return False
        step = (self.values.later(shared, when.loop, when.far) - shared).simplify(facts)
        return prove(Expr.or_(step.ge(high - low), step.le(low - high)), facts) is True

    # --- two places ---

    def _compare(self, a: Place, b: Place, when: Later) -> Meeting:
        if when == SAME_TRIP and HARDWARE.issuperset((*a.start.symbols, *b.start.symbols)):
            (first, low), (last, high) = self._fixed(a), self._fixed(b)
            if first is not None and last is not None:
                return self._exactly(a, b, first, last, high - low)
        second = self.values.later(b.start, when.loop, when.far)
        (rest_a, shared_a), (rest_b, shared_b) = self._uniform_split(a.start), self._uniform_split(second)
        if not HARDWARE.issuperset((*rest_a.symbols, *rest_b.symbols)):
            return self._by_ranges(a, b, a.start, second)
        (rest_a, low), (rest_b, high) = self._split(rest_a), self._split(rest_b)
        difference = shared_b - shared_a + (high - low)
        if difference.symbols:
            difference = difference.simplify(self.values.facts)
        first, last = self._touched(rest_a, a), self._touched(rest_b, b)
        if first is None or last is None:
            return self._by_ranges(a, b, a.start, second)
        shift = difference.constant_value
        if shift is None:
            apart = self._apart(first, last, difference) or self._apart_at_all(first, last, difference)
            return Meeting.LANES if apart else Meeting.WAVES
        return self._exactly(a, b, first, last, shift)

    @staticmethod
    def _exactly(a: Place, b: Place, first: _Bytes, last: _Bytes, shift: int) -> Meeting:
        """The sets of bytes compared; what each lane does at its own place needs nothing."""
        plain = not a.asynchronous and not b.asynchronous
        return _meet(first, last, shift, same_lane=plain and shift == 0 and first is last and first.own)

    def _fixed(self, place: Place) -> tuple[_Bytes | None, int]:
        """The bytes of a place over HARDWARE, and how far they are moved."""
        if place not in self._places:
            rest, constant = self._split(place.start)
            self._places[place] = self._touched(rest, place), constant
        return self._places[place]

    def _uniform_split(self, start: Expr) -> tuple[Expr, Expr]:
        """(the part over HARDWARE, the rest), of a sum."""
        if HARDWARE.issuperset(start.symbols):
            return start, Expr.constant(0)
        if start not in self._splits:
            shared, rest = start.split([s for s in start.symbols if s not in HARDWARE])
            self._splits[start] = (rest, shared)
        return self._splits[start]

    @staticmethod
    def _split(start: Expr) -> tuple[Expr, int]:
        """(all but the constant, the constant)."""
        constant = start.linear_parts()[1]
        return (start - constant, constant) if constant else (start, 0)

    def _apart(self, a: _Bytes, b: _Bytes, difference: Expr) -> bool:
        """Whether different waves are apart whatever the difference is, by the ends of what each touches."""
        seen = set()
        for i, first in enumerate(a.ends()):
            for j, last in enumerate(b.ends()):
                if i != j and first is not None and last is not None:
                    seen.add((first[0] - last[1], first[1] - last[0]))
        facts = self.values.facts
        apart = (Expr.or_(difference.le(low), difference.ge(high)) for low, high in sorted(seen))
        return all(prove(condition, facts) is True for condition in apart)

    def _apart_at_all(self, a: _Bytes, b: _Bytes, difference: Expr) -> bool:
        """Whether different waves are apart at each distance there is, where that is a number and so many steps."""
        terms, start = difference.linear_parts()
        if len(terms) != 1 or terms[0][0].name is None:
            return False
        symbol, step = terms[0]
        low, high = symbol.range(self.values.facts)
        ends = [e for e in (*a.ends(), *b.ends()) if e is not None]
        span = max(e[1] for e in ends) - min(e[0] for e in ends) if ends else 0
        if low is None or (step < 0 and start + step * low > span) or (step > 0 and start + step * low < -span):
            return False
        for number in range(low, low + _STEPS):
            distance = start + step * number
            if (high is not None and number > high) or (abs(distance) > span and (distance > 0) == (step > 0)):
                return True
            if self._far_from_units(a, b, distance) or _meet(a, b, distance, same_lane=False) == Meeting.WAVES:
                return False
        return False

    @staticmethod
    def _far_from_units(a: _Bytes, b: _Bytes, distance: int) -> bool:
        """Whether sets of bytes would be too large at a distance."""
        ends = [e for e in (*a.ends(), *b.ends()) if e is not None]
        unit = math.gcd(a.unit, b.unit, b.low + distance - a.low)
        return bool(ends) and (max(e[1] for e in ends) - min(e[0] for e in ends)) // unit > _SPAN

    def _by_ranges(self, a: Place, b: Place, first: Expr, second: Expr) -> Meeting:
        """By the least and the greatest byte of each wave, where more is not known."""
        facts = self.values.facts
        ranges = []
        for place, start in ((a, first), (b, second)):
            ends = []
            for wave in self._waves():
                low, high = start.subs({f"wave.{axis}": n for axis, n in zip("xyz", wave, strict=True)}).range(facts)
                ends.append(None if low is None or high is None else (low, high + place.size))
            ranges.append(ends)
        for i, x in enumerate(ranges[0]):
            for j, y in enumerate(ranges[1]):
                if i != j and (x is None or y is None or (x[0] < y[1] and y[0] < x[1])):
                    return Meeting.WAVES
        return Meeting.LANES

    def _apart_along_dims(self, a: Place, b: Place, when: Later) -> bool:
        """Whether any two different waves are apart along some dim."""
        waves = range(math.prod(self.info.block_waves))
        left = [(i, j) for i in waves for j in waves if i != j]
        for (x, size_x), (y, size_y) in zip(a.coordinates, b.coordinates, strict=True):
            if left:
                left = self._together(Place(x, size_x, a.masks), Place(y, size_y, b.masks), when, left)
        return not left

    def _together(self, a: Place, b: Place, when: Later, waves: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """The pairs of waves that may meet along one dim."""
        second = self.values.later(b.start, when.loop, when.far)
        (rest_a, shared_a), (rest_b, shared_b) = self._uniform_split(a.start), self._uniform_split(second)
        if not HARDWARE.issuperset((*rest_a.symbols, *rest_b.symbols)):
            return waves
        first, last = self._touched(rest_a, a), self._touched(rest_b, b)
        if first is None or last is None:
            return waves
        facts, here, there = self.values.facts, first.ends(), last.ends()
        distance = (shared_b - shared_a).simplify(facts)
        known: dict[tuple[int, int], bool] = {}
        found = []
        for i, j in waves:
            x, y = here[i], there[j]
            if x is None or y is None:  # one of them touches nothing
                continue
            low, high = x[0] - y[1], x[1] - y[0]
            if (low, high) not in known:
                known[low, high] = prove(Expr.or_(distance.le(low), distance.ge(high)), facts) is True
            if not known[low, high]:
                found.append((i, j))
        return found

    # --- sets of bytes ---

    def _waves(self) -> list[tuple[int, ...]]:
        return list(np.ndindex(*self.info.block_waves))

    def _touched(self, start: Expr, place: Place) -> _Bytes | None:
        key = (start, place.size, place.masks)
        if key not in self._bytes:
            self._bytes[key] = self._enumerate(start, place)
        return self._bytes[key]

    def _enumerate(self, start: Expr, place: Place) -> _Bytes | None:
        waves = np.array(self._waves(), dtype=np.int64)
        values = {"lane": np.arange(self.info.wave_size, dtype=np.int64)[None, :]}
        values |= {f"wave.{axis}": waves[:, n : n + 1] for n, axis in enumerate("xyz")}
        shape = (len(waves), self.info.wave_size)
        first = self._values(start, values, shape)
        active = np.ones(shape, dtype=bool)
        for mask in place.masks:
            active &= self._values(mask, values, shape) != 0
        if not active.any():
            return _Bytes(0, place.size, [[] for _ in waves], own=True, unit=place.size)
        low, high = int(first[active].min()), int(first[active].max()) + place.size
        rows = [np.unique(row[on] - low) for row, on in zip(first, active, strict=True)]
        apart = all(len(row) < 2 or int(np.diff(row).min()) >= place.size for row in rows)
        own = apart and sum(map(len, rows)) == int(active.sum())
        unit = math.gcd(place.size, int(np.gcd.reduce(np.concatenate(rows))))
        made = _Bytes(low, place.size, [row.tolist() for row in rows], own, unit)
        return made if (high - low) // made.unit <= _SPAN else None

    @staticmethod
    def _values(expr: Expr, values: dict[str, np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
        return np.broadcast_to(expr.eval_numpy({s: values[s] for s in expr.symbols}), shape)


def _unions_of_others(sets: Sequence[int]) -> list[int]:
    before, after = [0], [0]
    for bits in sets:
        before.append(before[-1] | bits)
    for bits in reversed(sets):
        after.append(after[-1] | bits)
    return [before[n] | after[len(sets) - 1 - n] for n in range(len(sets))]


def _meet(a: _Bytes, b: _Bytes, shift: int, same_lane: bool) -> Meeting:
    """Who touches a byte of both, `b` being moved by `shift`."""
    distance = b.low + shift - a.low
    unit = math.gcd(a.unit, b.unit, distance)
    up_a, up_b = max(0, -distance) // unit, max(0, distance) // unit
    result = Meeting.NONE
    for mine, same, others in zip(a.sets(unit)[0], *b.sets(unit), strict=True):
        moved = mine << up_a if up_a else mine
        # the shorter number is shifted down where the other is far up
        if moved >> up_b & others if up_b else moved & others:
            return Meeting.WAVES
        if not same_lane and (moved >> up_b & same if up_b else moved & same):
            result = Meeting.LANES
    return result
