"""The part of a kernel that some of its effects need: ops, and values that loops carry for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mlir import ir

from .tile_ir import ancestors, segments

_LOOP, _BRANCH = "wave.iterate", "wave.conditional"


class Slice:
    """What the given ops need, through values, and the ops around each.

    ops: all of them. carried: (loop, number) of the results of loops that are needed, and with them what the loop
    carries. results: the same of conditionals. A needed loop needs its trip count, not what it carries for others.
    """

    def __init__(self, seeds: Iterable[ir.Operation]) -> None:
        self.ops: set[ir.Operation] = set()
        self.carried: set[tuple[ir.Operation, int]] = set()
        self.results: set[tuple[ir.Operation, int]] = set()
        self._values: list[ir.Value] = []
        for op in seeds:
            self._need(op)
        while self._values:
            self._value(self._values.pop())

    def _need(self, op: ir.Operation) -> None:
        if op in self.ops:
            return
        self.ops.add(op)
        self._values += _own_operands(op)
        for around in ancestors(op):
            if around.name == "wave.kernel":
                break
            self._need(around)

    def _value(self, value: ir.Value) -> None:
        if isinstance(value, ir.BlockArgument):
            loop = value.owner.owner.operation
            if loop.name == _LOOP:
                self._need(loop)
                number = value.arg_number - (len(value.owner.arguments) - len(loop.results))
                if number >= 0:
                    self._carry(loop, number)
            return
        op = value.owner.operation
        self._need(op)
        if op.name == _LOOP:
            self._carry(op, list(op.results).index(value))
        elif op.name == _BRANCH:
            self._result(op, list(op.results).index(value))

    def _carry(self, loop: ir.Operation, number: int) -> None:
        if (loop, number) not in self.carried:
            self.carried.add((loop, number))
            self._values.append(init_of(loop, number))
            self._values += [end.operands[len(end.operands) - len(loop.results) + number] for end in ends(loop)]

    def _result(self, branch: ir.Operation, number: int) -> None:
        if (branch, number) not in self.results:
            self.results.add((branch, number))
            self._values += [end.operands[number] for end in ends(branch)]
            others = else_values(branch)
            self._values += others[number : number + 1]


def ends(op: ir.Operation) -> Iterator[ir.Operation]:
    """The terminators of an op's regions."""
    for region in op.regions:
        for block in region.blocks:
            yield block.operations[len(block.operations) - 1].operation


def init_of(loop: ir.Operation, number: int) -> ir.Value:
    """What a loop starts with for one of its results."""
    return segments(loop)[1][number]


def else_values(branch: ir.Operation) -> list[ir.Value]:
    """The results of a conditional whose region is not run and that has no other one."""
    return segments(branch)[2]


def _own_operands(op: ir.Operation) -> list[ir.Value]:
    """What an op itself needs, whichever of its results are used."""
    if op.name == "wave.yield":
        return []
    if op.name in (_LOOP, _BRANCH):
        groups = segments(op)
        own = (0, 2) if op.name == _LOOP else (0, 1)
        return [value for number in own for value in groups[number]]
    return list(op.operands)
