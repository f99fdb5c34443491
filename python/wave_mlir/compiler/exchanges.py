"""How the lanes of a wave exchange the elements of a tile so that it gets another layout.

Two ways to make the operations. Where both layouts are permutations of bits (digits of powers of two, every place has
an element), bits of the register's number and of the lane's change places, pair by pair, and a last exchange permutes
lanes: so each step moves half of the registers. Any other plan is carried out as it stands: each register of the result
selects among those that lanes fetch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, permutations
from typing import TypeVar

from wave_mlir.dialect import Layout, Move, Plan

from .exchange_graph import Graph, Slot

_MOST_TRIED = 24

Label = tuple[str, int] | None
"""A bit of a coordinate, or None for a bit that moves nothing."""


@dataclass(frozen=True)
class Exchange:
    """Operations and the words of the result in order, `registers` elements of them in all."""

    graph: Graph
    results: tuple[int, ...]
    registers: int


def exchange(
    source: Layout, target: Layout, plan: Plan, packed: int, lanes: int, rows: Sequence[int], cost: Callable[..., int]
) -> Exchange:
    """The cheapest exchange for a plan within a wave.

    packed: elements of a word; lanes: of a wave; rows: numbers of lanes of which an instruction swaps rows between two
    registers; cost: of an Exchange.
    """
    found = [_by_moves(plan, packed, lanes)]
    found += _by_bits(source, target, packed, lanes, rows)
    return min(found, key=cost)


# --- by bits --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Permutation:
    """Where the bits of places come from: `origin[i]` is the source's bit of bit i of the target.

    Bits below `registers` are of the register's number (where a layout has fewer, these move nothing), others of the
    lane's. `labels`: what the source's bits mean.
    """

    registers: int
    origin: tuple[int, ...]
    labels: tuple[Label, ...]


def _labels(layout: Layout, source: str, bits: int) -> list[Label] | None:
    """What each bit of a register's or lane's number moves; None when a digit is no power of two."""
    found: list[Label] = []
    for extent, dim, stride in layout.digits.get(source, []):
        if extent & (extent - 1) or (dim is not None and stride & (stride - 1)):
            return None
        for i in range(extent.bit_length() - 1):
            found.append(None if dim is None else (dim, (stride << i).bit_length() - 1))
    return found + [None] * (bits - len(found)) if len(found) <= bits else None


def _bits_of(layout: Layout, registers: int, lanes: int) -> list[Label] | None:
    """The labels of all places' bits; None where the layout is no permutation of bits."""
    if layout.clip or any(n & (n - 1) for n in layout.extents.values()):
        return None
    own, others = _labels(layout, "reg", registers), _labels(layout, "lane", lanes)
    if own is None or others is None:
        return None
    labels = own + others
    known = [label for label in labels if label is not None]
    inside = all(1 << bit < layout.extents[dim] for dim, bit in known)
    return labels if inside and len(set(known)) == len(known) else None


def _permutations(source: Layout, target: Layout, lanes: int) -> Iterator[_Permutation]:
    """The permutations of bits that lead from one layout to the other; bits that move nothing may go anywhere."""
    registers = (max(source.registers, target.registers) - 1).bit_length()
    lane_bits = lanes.bit_length() - 1
    before, after = _bits_of(source, registers, lane_bits), _bits_of(target, registers, lane_bits)
    if before is None or after is None or {x for x in before if x} != {x for x in after if x}:
        return
    fixed = [before.index(label) if label is not None else -1 for label in after]
    free = [i for i, label in enumerate(before) if label is None]
    for i in list(free):  # a bit that moves nothing before and after stays
        if after[i] is None:
            fixed[i] = i
            free.remove(i)
    open_ = [i for i, origin in enumerate(fixed) if origin < 0]
    for chosen in _some(permutations(free)):
        origin = list(fixed)
        for place, bit in zip(open_, chosen, strict=True):
            origin[place] = bit
        yield _Permutation(registers, tuple(origin), tuple(before))


_Item = TypeVar("_Item")


def _some(found: Iterator[_Item]) -> Iterator[_Item]:
    return islice(found, _MOST_TRIED)


def _by_bits(source: Layout, target: Layout, packed: int, lanes: int, rows: Sequence[int]) -> list[Exchange]:
    """Exchanges by bits: one for each way to pair the bits that change between registers and lanes."""
    made: list[Exchange] = []
    for permutation in _permutations(source, target, lanes):
        count = permutation.registers
        leaving = [o for o in permutation.origin[count:] if o < count]
        coming = [o for o in permutation.origin[:count] if o >= count]
        for order in _some(permutations(coming)):
            steps = list(zip(leaving, order, strict=True))
            made.append(_Bits(permutation, packed, lanes, rows).run(steps, target.registers))
            if len(made) >= _MOST_TRIED:
                return made
    return made


class _Bits:
    """Carries out one permutation of bits."""

    def __init__(self, permutation: _Permutation, packed: int, lanes: int, rows: Sequence[int]) -> None:
        self.permutation, self.packed, self.rows = permutation, packed, rows
        self.graph = Graph(packed, lanes)
        self.free = [label is None for label in permutation.labels]  # bits whose value changes nothing
        self.moving = sum(1 << i for i in range(permutation.registers) if not self.free[i])
        words = max(packed, 1 << permutation.registers) // packed
        self.words = [self.graph.pick([self._source(w * packed + i) for i in range(packed)]) for w in range(words)]

    def _source(self, register: int) -> Slot:
        """Where the element of a register is at first; of registers that hold the same, one stands for all."""
        register &= self.moving
        return self.graph.word(register // self.packed), register % self.packed

    def run(self, steps: Sequence[tuple[int, int]], registers: int) -> Exchange:
        """Swap the bits of each pair (register, lane), permute lanes, and pick the result's registers."""
        count = self.permutation.registers
        where = list(range(len(self.permutation.origin)))  # the place in which the source's bits are now
        for register, lane in steps:
            self._swap(register, lane - count, self.free[lane])
            where[register], where[lane] = lane, register
        places = [where[origin] for origin in self.permutation.origin]
        table = [_moved(lane, [p - count for p in places[count:]]) for lane in range(self.graph.lanes)]
        elements = [_moved(r, places[:count]) for r in range(1 << count)][:registers]
        results = []
        for first in range(0, registers, self.packed):
            slots: list[Slot | None] = [self._slot(e) for e in elements[first : first + self.packed]]
            slots += [None] * (self.packed - len(slots))
            results.append(self.graph.from_lanes(self.graph.pick(slots), table))
        return Exchange(self.graph, tuple(results), registers)

    def _slot(self, register: int) -> Slot:
        return self.words[register // self.packed], register % self.packed

    def _swap(self, register: int, lane: int, same_lane: bool) -> None:
        """Let a bit of the register's number and one of the lane's change places.

        same_lane: lanes that differ in the bit hold the same, so that nothing has to move between them.
        """
        step = (1 << register) // self.packed
        if not step:
            self._swap_inside(1 << register, lane, same_lane)
            return
        for low in [w for w in range(len(self.words)) if not w & step]:
            a, b = self.words[low], self.words[low + step]
            high = self.graph.bit(lane)
            if same_lane:
                chosen = self.graph.select(a, b, high)
                self.words[low] = self.words[low + step] = chosen
            elif 1 << lane in self.rows and a != b:
                self.words[low], self.words[low + step] = self.graph.swap(a, b, 1 << lane)
            else:
                other = self.graph.xor(self.graph.select(b, a, high), 1 << lane)
                self.words[low] = self.graph.select(a, other, high)
                self.words[low + step] = self.graph.select(other, b, high)

    def _swap_inside(self, step: int, lane: int, same_lane: bool) -> None:
        """The same for a bit that counts elements of one word."""
        elements = [bool(i & step) for i in range(self.packed)]
        for number, word in enumerate(self.words):
            other = self.graph.pick([(word, i ^ step) for i in range(self.packed)])
            moved = other if same_lane else self.graph.xor(other, 1 << lane)
            self.words[number] = self.graph.blend(word, moved, self.graph.bit(lane), elements)


def _moved(number: int, places: Sequence[int]) -> int:
    """The number whose bit `places[i]` is bit i of this one."""
    return sum((number >> i & 1) << place for i, place in enumerate(places))


# --- by moves -------------------------------------------------------------------------------------


def _by_moves(plan: Plan, packed: int, lanes: int) -> Exchange:
    """What the plan says, with the elements that go the same way packed."""
    graph = Graph(packed, lanes)
    tables = _tables(plan, lanes)
    wanted: dict[tuple[int, ...], list[int]] = {}
    for moves in plan.moves:
        for move in moves:
            registers = wanted.setdefault(tables[move], [])
            if move.register not in registers:
                registers.append(move.register)
    fetched: dict[tuple[tuple[int, ...], int], Slot] = {}
    for table, registers in wanted.items():
        registers.sort()
        for first in range(0, len(registers), packed):
            part = registers[first : first + packed]
            slots: list[Slot | None] = [(graph.word(r // packed), r % packed) for r in part]
            word = graph.from_lanes(graph.pick([*slots, *[None] * (packed - len(part))]), table)
            fetched |= {(table, r): (word, i) for i, r in enumerate(part)}
    chosen: list[Slot | None] = []
    for moves in plan.moves:
        slot: Slot | None = None
        for move in moves:
            other = fetched[tables[move], move.register]
            slot = other if slot is None else _either(graph, slot, other, [s >= 0 for s in move.lanes])
        chosen.append(slot)
    some = (graph.word(0), 0)
    results = []
    for first in range(0, len(chosen), packed):
        part = chosen[first : first + packed] + [None] * (packed - len(chosen[first : first + packed]))
        results.append(graph.pick(part if any(s is not None for s in part) else [some, *part[1:]]))
    return Exchange(graph, tuple(results), len(chosen))


def _either(graph: Graph, a: Slot, b: Slot, where: list[bool]) -> Slot:
    """The element b in some lanes, a in the others."""
    if a == b:
        return a
    packed = graph.packed
    if a[1] != b[1]:
        b = graph.pick([b if i == a[1] else None for i in range(packed)]), a[1]
    return graph.select(a[0], b[0], where), a[1]


def _tables(plan: Plan, lanes: int) -> dict[Move, tuple[int, ...]]:
    """The source lane of every lane for each move; lanes that a move does not serve go with others of its kind."""
    made: list[tuple[int, ...]] = []
    found: dict[Move, tuple[int, ...]] = {}
    moves = dict.fromkeys(m for each in plan.moves for m in each)
    for move in sorted(moves, key=lambda m: m.lanes.count(-1)):
        served = [*move.lanes, *[-1] * (lanes - len(move.lanes))]
        known = next((t for t in made if all(s in (-1, t[i]) for i, s in enumerate(served))), None)
        if known is None:
            mask = move.xor
            known = tuple(s if s >= 0 else lane ^ (mask or 0) for lane, s in enumerate(served))
            made.append(known)
        found[move] = known
    return found
