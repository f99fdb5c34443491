"""MMAs whose contracted dim waves divide: each wave sums its part, and the parts are added through LDS.

Where a loop carries the accumulator and only adds to it, the waves' parts are carried instead and added after the loop:
the first wave starts from the loop's initial value, the others from 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, vector

from wave_mlir.dialect import Expr
from wave_mlir.dialect.wave import ReduceKind

from .expand_elementwise import constant
from .lane_values import concatenate
from .reductions import CLUSTERS, WAVES, combiner, rows_attr
from .tile_ir import body_of

Waves = tuple[tuple[int, int, int], ...]
"""(axis, extent, stride) of the waves that have a part each."""

_TOGETHER = 16
"""Elements of a lane that go through LDS at a time: 4 kB a wave for 32-bit sums."""


@dataclass(frozen=True)
class PartialSum:
    """A vector `base + the sum over waves of partial`; `first` is the MMA that began the partial sum, from 0."""

    base: ir.Value
    partial: ir.Value
    first: ir.Operation
    waves: Waves


class PartialSums:
    """The sums over waves of one kernel in lane form."""

    def __init__(self) -> None:
        self._known: dict[ir.Value, PartialSum] = {}

    def _part(self, value: ir.Value, waves: Waves) -> PartialSum | None:
        """How a vector was made, if these waves have parts of it."""
        found = self._known.get(value)
        return found if found is not None and found.waves == waves else None

    def started(self, given: list[ir.Value], waves: Waves) -> tuple[list[ir.Value], list[ir.Operation | None]]:
        """What the instructions of an MMA start from instead of its accumulators, and the first of each if it is known.

        Where waves have a part of the sum each, that is 0, or the part so far.
        """
        if not waves:
            return given, [None] * len(given)
        parts = [self._part(value, waves) for value in given]
        zero = constant(given[0].type, 0)
        return [p.partial if p else zero for p in parts], [p.first if p else None for p in parts]

    def totals(
        self, given: list[ir.Value], partials: list[ir.Value], firsts: Sequence[ir.Operation | None], waves: Waves
    ) -> list[ir.Value]:
        """The results of an MMA with accumulators `given`, of which each wave has the part `partials`."""
        totals = _over_waves(partials, waves)
        add = combiner("sum", totals[0].type.element_type)
        found = []
        for value, partial, first, total in zip(given, partials, firsts, totals, strict=True):
            part = self._part(value, waves)
            base = part.base if part else value
            found.append(add(base, total))
            if first is not None:
                self._known[found[-1]] = PartialSum(base, partial, first, waves)
        return found

    def after_loop(self, loop: ir.Operation, first_init: int) -> list[ir.Value]:
        """The results of a new loop, those that are sums over waves taken after it, where nothing in it needs them.

        first_init: the number of the loop's first initial value among its operands. The insertion point is after it.
        """
        body = body_of(loop)
        carried = list(body.arguments)[len(body.arguments) - len(loop.results) :]
        last = body.operations[len(body.operations) - 1].operation
        results = list(loop.results)
        groups: dict[Waves, list[int]] = {}
        if self._known:
            _erase_unused(body)
        for number, argument in enumerate(carried):
            place = len(last.operands) - len(carried) + number
            part = self._known.get(last.operands[place])
            if part is None or part.base != argument or not _only_added(argument, last.operands[place], last):
                continue
            self._carry(loop, first_init + number, argument, last, place, part)
            groups.setdefault(part.waves, []).append(number)
        if groups:
            _erase_unused(body)
        for waves, numbers in groups.items():
            for number, total in zip(numbers, _over_waves([results[n] for n in numbers], waves), strict=True):
                results[number] = total
        return results

    def _carry(
        self, loop: ir.Operation, init: int, argument: ir.Value, last: ir.Operation, place: int, part: PartialSum
    ) -> None:
        """Let the loop carry the wave's own part."""
        part.first.operands[_ACC[part.first.name]] = argument
        last.operands[place] = part.partial
        start = loop.operands[init]
        numbers = [Expr.symbol(f"wave.{'xyz'[axis]}") // stride % extent for axis, extent, stride in part.waves]
        is_first = [number.eq(0) for number in numbers]
        predicate = is_first[0] if len(is_first) == 1 else Expr.and_(*is_first)
        with ir.InsertionPoint(loop):
            kind = ir.VectorType.get(start.type.shape, ir.IntegerType.get_signless(1))
            mask = ir.Operation.create("wave.mask", [kind], [], {"expr": predicate}).results[0]
            loop.operands[init] = arith.SelectOp(mask, start, constant(start.type, 0)).result


_ACC = {"wave.mma": 2, "wave.scaled_mma": 4}


def _over_waves(partials: Sequence[ir.Value], waves: Waves) -> list[ir.Value]:
    """The sums over waves of several vectors of one type."""
    width = partials[0].type.shape[0]
    count = max(1, _TOGETHER // width)
    totals = []
    for at in range(0, len(partials), count):
        own = partials[at : at + count]
        whole = concatenate(list(own))
        attributes = {
            "kind": ir.AttrBuilder.get("Wave_ReduceKindAttr")(ReduceKind.Sum, context=ir.Context.current),
            "dim": ir.StringAttr.get("K"),
            "block": ir.UnitAttr.get(),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0, 0]),
            CLUSTERS: rows_attr([]),
            WAVES: rows_attr(waves),
        }
        total = ir.Operation.create("wave.reduce", [whole.type], [whole], attributes).results[0]
        kind = own[0].type
        for n in range(len(own)):
            one = total if len(own) == 1 else _slice(kind, total, n * width, width)
            totals.append(one)
    return totals


def _slice(kind: ir.Type, value: ir.Value, at: int, width: int) -> ir.Value:
    return vector.ExtractStridedSliceOp(kind, value, [at], [width], [1]).result


def _only_added(argument: ir.Value, total: ir.Value, last: ir.Operation) -> bool:
    """Whether a carried value is used for its total only, and the total by the end of the trip only."""
    users = [use.owner.operation for use in argument.uses]
    return users == [total.owner.operation] and [use.owner.operation for use in total.uses] == [last]


def _erase_unused(block: ir.Block) -> None:
    """Erase sums over waves that nothing needs, and what they were made with."""
    for view in reversed(list(block.operations)):
        op = view.operation
        if op.name in _MADE and all(next(iter(r.uses), None) is None for r in op.results):
            op.erase()


_MADE = frozenset({"wave.reduce", "vector.shuffle", "vector.extract_strided_slice", "vector.extract",
                   "vector.from_elements", "arith.addf", "arith.addi"})  # fmt: skip
