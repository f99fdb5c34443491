"""Selections along a dim of a tile in lane form: topk.

A lane's registers and the lanes of its cluster give the best element, k times over, each without those taken before. Of
waves each has its own k then; lists go through LDS and are merged, in a bitonic network.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, vector

from wave_mlir.dialect import Expr, Layout, MemoryType

from .diagnostics import PassError
from .expand_elementwise import constant
from .kernel_info import KernelInfo
from .lane_values import concatenate
from .reductions import exchanged, register_of, registers_along
from .scans import Digit, digits_along, entry_of


@dataclass(frozen=True)
class Candidate:
    """An element that may be among the best: vectors of one element; `taken` is an i1 vector, None for "no"."""

    value: ir.Value
    place: ir.Value
    taken: ir.Value | None = None


List = list[Candidate | None]
"""The best elements, best first; None where there are no more."""


class Selection:
    """The k greatest elements along a dim, greatest first, and their positions; equal elements by position."""

    def __init__(self, op: ir.Operation, info: KernelInfo, layout: Layout, dim: str) -> None:
        self.op = op
        self.info = info
        self.layout = layout
        self.dim = dim
        self.along = registers_along(layout, dim)
        self.lanes = [d for d in digits_along(layout, dim) if d.source == "lane"]
        self.waves = [d for d in digits_along(layout, dim) if d.source.startswith("wave")]
        for digit in self.lanes:
            if digit.extent & (digit.extent - 1) or digit.at & (digit.at - 1):
                raise PassError(
                    op,
                    f"a topk over {digit.extent} lanes {digit.at} apart: lanes exchange in steps of powers of two; "
                    "choose vector_shapes so that the lanes along the dim are a power of two",
                )

    def run(self, registers: list[ir.Value], positions: list[ir.Value], k: int) -> list[list[Candidate]]:
        """For each element without the dim, in the order of registers, its k best. Raises PassError where k is more."""
        there = self.info.tile_extent(self.dim)
        if k > there:
            raise PassError(
                self.op, f"the {k} greatest of {there} elements along {self.dim}; choose a k of at most {there}"
            )
        lists: list[List] = []
        for kept in range(len(registers) // self.along):
            mine = [register_of(self.layout, self.dim, kept, n) for n in range(self.along)]
            lists.append(self._of_wave([Candidate(registers[n], positions[n]) for n in mine], k))
        for digit in self.waves:
            lists = self._of_waves(digit, lists, k)
        return [[c for c in found if c is not None] for found in lists]

    # --- in a wave ---

    def _of_wave(self, held: list[Candidate], k: int) -> List:
        """The k best of what the lanes of a wave hold; fewer where they hold less."""
        count = self.along
        for digit in self.lanes:
            count *= digit.extent
        found: List = []
        for _ in range(min(k, count)):
            best = self._best(held)
            found.append(Candidate(best.value, best.place))
            held = [
                Candidate(c.value, c.place, self._or(c.taken, self._compare("eq", c.place, best.place))) for c in held
            ]
        return found + [None] * (k - len(found))

    def _best(self, held: list[Candidate]) -> Candidate:
        """The best of what is not taken, of all lanes."""
        best = held[0]
        for other in held[1:]:
            best = self._better(best, other)
        for digit in self.lanes:
            step = 1
            while step < digit.extent:
                best = self._better(best, self._from_lane(best, digit.at * step))
                step *= 2
        return best

    def _from_lane(self, own: Candidate, offset: int) -> Candidate:
        """The candidate of lane `lane xor offset`."""
        value, place = (exchanged(v, offset, self.info.wave_size) for v in (own.value, own.place))
        if own.taken is None:
            return Candidate(value, place)
        wide = ir.VectorType.get([1], ir.IntegerType.get_signless(32))
        moved = exchanged(arith.ExtUIOp(wide, own.taken).result, offset, self.info.wave_size)
        return Candidate(value, place, arith.TruncIOp(own.taken.type, moved).result)

    # --- of waves ---

    def _of_waves(self, digit: Digit, lists: list[List], k: int) -> list[List]:
        """Each wave writes its lists to LDS, reads those of the waves that differ in the digit, and merges them."""
        sent = [[c for c in found if c is not None] for found in lists]
        buffers = [[self._stored(digit, [getattr(c, part) for c in found]) for part in ("value", "place")]
                   for found in sent]  # fmt: skip
        own = Expr.symbol(digit.source)
        place = own // digit.at % digit.extent
        merged = []
        for found, pair in zip(sent, buffers, strict=True):
            best: List = []
            for number in range(digit.extent):
                row = self._row(digit, own + (number - place) * digit.at)
                values, places = (self._loaded(buffer, row, len(found)) for buffer in pair)
                theirs: List = [Candidate(v, p) for v, p in zip(values, places, strict=True)]
                best = self._merged(best, theirs, k) if best else theirs
            merged.append(best + [None] * (k - len(best)))
        return merged

    def _stored(self, digit: Digit, found: list[ir.Value]) -> ir.Value:
        """A buffer with a list of each wave: one row a wave, one list for each lane that has elements of its own."""
        value = concatenate(found)
        counts = self.info.block_waves
        shape = [Expr.constant(counts[0] * counts[1] * counts[2]), Expr.constant(self._columns() * len(found))]
        memory = MemoryType.get(shape, value.type.element_type, "shared")
        with ir.InsertionPoint.at_block_begin(entry_of(self.op)):
            buffer = ir.Operation.create("wave.allocate", [memory]).results[0]
        index = [self._row(digit, Expr.symbol(digit.source)), self._column(len(found))]
        # lanes along the dim have the same list: the first of them stores it
        first = [(Expr.symbol("lane") // d.at % d.extent).eq(0) for d in self.lanes]
        predicate = Expr.and_(*first) if len(first) > 1 else first[0] if first else Expr.constant(1)
        masks = []
        if predicate.constant_value is None:
            kind = ir.VectorType.get([len(found)], ir.IntegerType.get_signless(1))
            expr = predicate.simplify(self.info.facts)
            masks = list(ir.Operation.create("wave.mask", [kind], [], {"expr": expr}).results)
        sizes = ir.DenseI32ArrayAttr.get([1, 1, len(masks), 0, 0])
        attributes = {"index": ir.ArrayAttr.get(index), "operandSegmentSizes": sizes}
        ir.Operation.create("wave.write", [], [value, buffer, *masks], attributes)
        return buffer

    def _loaded(self, buffer: ir.Value, row: Expr, count: int) -> list[ir.Value]:
        """The list in a row of a buffer, as vectors of one element."""
        element = MemoryType(buffer.type).element_type
        sizes = ir.DenseI32ArrayAttr.get([1, 0, 0, 0])
        attributes = {"index": ir.ArrayAttr.get([row, self._column(count)]), "operandSegmentSizes": sizes}
        value = ir.Operation.create("wave.read", [ir.VectorType.get([count], element)], [buffer], attributes).results[0]
        one = ir.VectorType.get([1], element)
        return [vector.ExtractStridedSliceOp(one, value, [n], [1], [1]).result for n in range(count)]

    def _columns(self) -> int:
        """Lanes that hold different elements without the dim."""
        digits = self.layout.digits.get("lane", [])
        return math.prod(extent for extent, dim, _ in digits if dim is not None and dim != self.dim)

    def _column(self, count: int) -> Expr:
        column, scale, at = Expr.constant(0), 1, 1
        for extent, dim, _ in self.layout.digits.get("lane", []):
            if dim is not None and dim != self.dim:
                column = column + Expr.symbol("lane") // at % extent * scale
                scale *= extent
            at *= extent
        column = column * count
        if count > 1:
            column = column + Expr.symbol("el")
        return column.simplify(self.info.facts)

    def _row(self, digit: Digit, at: Expr) -> Expr:
        """The wave's number in the workgroup, with `at` along the digit's axis."""
        x, y, z = (at if digit.source == f"wave.{n}" else Expr.symbol(f"wave.{n}") for n in "xyz")
        counts = self.info.block_waves
        return (x + counts[0] * (y + counts[1] * z)).simplify(self.info.facts)

    def _merged(self, left: List, right: List, k: int) -> List:
        """The k best of two lists, best first: of the two ends the better ones are the best, in bitonic order."""
        size = 1 << (max(len(left), len(right)) - 1).bit_length()
        if size < k:  # all of both may be needed
            size *= 2
        left, right = left + [None] * (size - len(left)), right + [None] * (size - len(right))
        found = [self._ordered(a, b)[0] for a, b in zip(left, reversed(right), strict=True)]
        step = size // 2
        while step:
            for start in range(size):
                if not start & step:
                    found[start], found[start + step] = self._ordered(found[start], found[start + step])
            step //= 2
        return found[:k]

    def _ordered(self, a: Candidate | None, b: Candidate | None) -> tuple[Candidate | None, Candidate | None]:
        """The better one first; nothing is the worst."""
        if a is None or b is None:
            return (a, b) if b is None else (b, a)
        wins = self._wins(b, a)
        return self._chosen(wins, b, a), self._chosen(wins, a, b)

    # --- comparing ---

    def _better(self, a: Candidate, b: Candidate) -> Candidate:
        """The candidate that comes first: not taken, then the greater value, then the lower position."""
        wins = self._wins(b, a)
        if a.taken is None or b.taken is None:
            return self._chosen(wins, b, a)
        free = arith.XOrIOp(b.taken, constant(b.taken.type, 1)).result
        wins = arith.AndIOp(free, arith.OrIOp(a.taken, wins).result).result
        chosen = self._chosen(wins, b, a)
        return Candidate(chosen.value, chosen.place, arith.AndIOp(a.taken, b.taken).result)

    def _chosen(self, first: ir.Value, a: Candidate, b: Candidate) -> Candidate:
        pairs = ((a.value, b.value), (a.place, b.place))
        return Candidate(*(arith.SelectOp(first, x, y).result for x, y in pairs))

    def _wins(self, a: Candidate, b: Candidate) -> ir.Value:
        """Whether a is greater than b, or equal and before it."""
        before = arith.AndIOp(self._compare("eq", a.value, b.value), self._compare("lt", a.place, b.place)).result
        return arith.OrIOp(self._compare("gt", a.value, b.value), before).result

    def _compare(self, how: str, a: ir.Value, b: ir.Value) -> ir.Value:
        if isinstance(a.type.element_type, ir.FloatType):
            return arith.CmpFOp(_FLOATS[how], a, b).result
        return arith.CmpIOp(_INTEGERS[how], a, b).result

    def _or(self, a: ir.Value | None, b: ir.Value) -> ir.Value:
        return b if a is None else arith.OrIOp(a, b).result


_FLOATS = {"gt": arith.CmpFPredicate.OGT, "lt": arith.CmpFPredicate.OLT, "eq": arith.CmpFPredicate.OEQ}
_INTEGERS = {"gt": arith.CmpIPredicate.sgt, "lt": arith.CmpIPredicate.slt, "eq": arith.CmpIPredicate.eq}
