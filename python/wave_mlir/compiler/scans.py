"""Scans along a dim of a tile in lane form: cumsum.

A tile's places along a dim are the digits of its layout: in registers, in lanes and in waves, each with a stride along
the dim. A scan goes from the digit with the least stride to that with the greatest; after each it knows the inclusive
sums inside every group of the digits so far, and the groups' totals.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith

from wave_mlir.dialect import Expr, Layout, MemoryType
from wave_mlir.dialect import wave as ops

from .diagnostics import PassError
from .expand_elementwise import constant
from .kernel_info import KernelInfo
from .reductions import combiner, exchanged

_SOURCES = ("reg", "lane", "wave.x", "wave.y", "wave.z")


@dataclass(frozen=True)
class Digit:
    """A digit of a layout along the dim: where it is, its extent, stride along the dim, and stride in its source."""

    source: str
    extent: int
    stride: int
    at: int


def digits_along(layout: Layout, dim: str) -> list[Digit]:
    """The digits of a layout along a dim, from the least stride to the greatest."""
    found = []
    for source in _SOURCES:
        at = 1
        for extent, d, stride in layout.digits.get(source, []):
            if d == dim:
                found.append(Digit(source, extent, stride, at))
            at *= extent
    return sorted(found, key=lambda d: d.stride)


class Scan:
    """Inclusive sums along a dim. `registers`: what a lane holds, a vector of one element each."""

    def __init__(self, op: ir.Operation, info: KernelInfo, layout: Layout, dim: str) -> None:
        self.op = op
        self.info = info
        self.digits = digits_along(layout, dim)
        self.add: Callable[[ir.Value, ir.Value], ir.Value]
        self._made: dict[int, ir.Value] = {}  # masks of lanes that get a value from so many steps before

    def run(self, registers: list[ir.Value]) -> list[ir.Value]:
        """The sums up to each element. Raises PassError where lanes divide the dim not by a power of two."""
        self.add = combiner("sum", registers[0].type.element_type)
        sums, totals = list(registers), list(registers)
        for digit in self.digits:
            if digit.source == "reg":
                self._registers(digit, sums, totals)
            elif digit.source == "lane":
                self._lanes(digit, sums, totals)
            else:
                self._waves(digit, sums, totals)
        return sums

    def _registers(self, digit: Digit, sums: list[ir.Value], totals: list[ir.Value]) -> None:
        """Each register gets the totals of those before it; all of a group get the group's total."""
        for start in range(len(sums)):
            if start // digit.at % digit.extent:
                continue
            members = [start + n * digit.at for n in range(digit.extent)]
            before = totals[start]
            for member in members[1:]:
                sums[member] = self.add(before, sums[member])
                before = self.add(before, totals[member])
            for member in members:
                totals[member] = before

    def _lanes(self, digit: Digit, sums: list[ir.Value], totals: list[ir.Value]) -> None:
        """The same among lanes, for each distinct total: log2(extent) steps, lanes before the first adding nothing."""
        if digit.extent & (digit.extent - 1) or digit.at & (digit.at - 1):
            raise PassError(
                self.op,
                f"a cumsum over {digit.extent} lanes {digit.at} apart: lanes exchange in steps of powers of two; "
                "choose vector_shapes so that the lanes along the dim are a power of two",
            )
        done: dict[ir.Value, tuple[ir.Value, ir.Value]] = {}
        zero = constant(totals[0].type, 0)
        self._made.clear()
        for number, total in enumerate(list(totals)):
            if total not in done:
                done[total] = self._lane_group(digit, total, zero)
            before, whole = done[total]
            sums[number] = self.add(before, sums[number])
            totals[number] = whole

    def _lane_group(self, digit: Digit, total: ir.Value, zero: ir.Value) -> tuple[ir.Value, ir.Value]:
        """(sum of the lanes before, sum of all lanes of the cluster, which nobody asks for after the last digit)."""
        before, step = self._shifted(digit, total, 1, zero), 1
        while step < digit.extent:
            before = self.add(before, self._shifted(digit, before, step, zero))
            step *= 2
        whole, step = total, 1
        while step < digit.extent and digit != self.digits[-1]:
            whole = self.add(whole, exchanged(whole, digit.at * step, self.info.wave_size))
            step *= 2
        return before, whole

    def _waves(self, digit: Digit, sums: list[ir.Value], totals: list[ir.Value]) -> None:
        """The same among waves: each writes its total to LDS and reads those of the others."""
        done: dict[ir.Value, tuple[ir.Value, ir.Value]] = {}
        for number, total in enumerate(list(totals)):
            if total not in done:
                done[total] = self._wave_group(digit, total)
            before, whole = done[total]
            sums[number] = self.add(before, sums[number])
            totals[number] = whole

    def _wave_group(self, digit: Digit, total: ir.Value) -> tuple[ir.Value, ir.Value]:
        """(sum of the waves before, sum of all of them)."""
        size = self.info.block_waves[0] * self.info.block_waves[1] * self.info.block_waves[2]
        shape = [Expr.constant(size), Expr.constant(self.info.wave_size)]
        memory = MemoryType.get(shape, total.type.element_type, "shared")
        with ir.InsertionPoint.at_block_begin(entry_of(self.op)):
            buffer = ir.Operation.create("wave.allocate", [memory]).results[0]
        own = Expr.symbol(digit.source)
        place = own // digit.at % digit.extent
        self._access("wave.write", [total, buffer], [], self._row(digit, own))
        zero = constant(total.type, 0)
        before, whole = zero, None
        for number in range(digit.extent):
            row = self._row(digit, own + (number - place) * digit.at)
            part = self._access("wave.read", [buffer], [total.type], row)
            is_before = lane_mask(place.gt(number), self.info)
            before = self.add(before, arith.SelectOp(is_before, part, zero).result)
            whole = part if whole is None else self.add(whole, part)
        return before, whole

    def _row(self, digit: Digit, at: Expr) -> list[Expr]:
        """Where a total is: the wave's number in the workgroup, with `at` along the digit's axis, and the lane."""
        x, y, z = (at if digit.source == f"wave.{n}" else Expr.symbol(f"wave.{n}") for n in "xyz")
        counts = self.info.block_waves
        return [(x + counts[0] * (y + counts[1] * z)).simplify(self.info.facts), Expr.symbol("lane")]

    def _access(self, name: str, operands: list[ir.Value], results: list[ir.Type], index: list[Expr]):
        sizes = ir.DenseI32ArrayAttr.get([1] * len(operands) + [0, 0, 0])
        attributes = {"index": ir.ArrayAttr.get(index), "operandSegmentSizes": sizes}
        made = ir.Operation.create(name, results, operands, attributes)
        return made.results[0] if results else None

    def _shifted(self, digit: Digit, value: ir.Value, step: int, zero: ir.Value) -> ir.Value:
        """The value of the lane `step` before in the cluster, 0 where there is none."""
        moved = ops.ShuffleOp(ops.ShuffleMode.Up, value, digit.at * step, self.info.wave_size).result
        if step not in self._made:
            place = Expr.symbol("lane") // digit.at % digit.extent
            self._made[step] = lane_mask(place.ge(step), self.info)
        return arith.SelectOp(self._made[step], moved, zero).result


def entry_of(op: ir.Operation) -> ir.Block:
    """The body of the kernel around an op."""
    while op.name != "wave.kernel":
        op = op.parent.operation
    return op.regions[0].blocks[0]


def lane_mask(predicate: Expr, info: KernelInfo) -> ir.Value:
    """A predicate over `lane` as a vector of one i1."""
    kind = ir.VectorType.get([1], ir.IntegerType.get_signless(1))
    attributes = {"expr": predicate.simplify(info.facts)}
    return ir.Operation.create("wave.mask", [kind], [], attributes).results[0]
