"""Which values of lane form are the same for every lane of the workgroup, as far as that can be proven."""

from __future__ import annotations

from collections.abc import Iterable

from mlir import ir

from .tile_ir import bound_values, expressions

UNIFORM = "wave.uniform"
"""On a conditional: all waves of the workgroup enter it or none, by the way it came about."""

_OWN = ("lane", "el")
_ELEMENTWISE = ("arith", "vector", "math")
_PURE = ("wave.apply_expr", "wave.scalar", "wave.mask", "wave.shuffle", "wave.read")


class Uniform:
    """Answers `value(v)` and `condition(op)` for the ops of one kernel. What is not proven is taken to differ."""

    def __init__(self) -> None:
        self._known: dict[ir.Value, bool] = {}
        self._owned: dict[ir.Value, bool] = {}

    def condition(self, op: ir.Operation) -> bool:
        """Whether all lanes of the workgroup agree on the condition of a `wave.conditional`."""
        return UNIFORM in op.attributes or self._expressions(op) and all(self.value(v) for v in _conditions(op))

    def value(self, value: ir.Value) -> bool:
        """Whether all lanes of the workgroup have the same value (of a vector: the same elements)."""
        if value not in self._known:
            before = len(self._known)
            self._known[value] = True  # where it depends on itself: that alone makes no difference
            found = self._argument(value) if isinstance(value, ir.BlockArgument) else self._result(value)
            if not found:
                for other in list(self._known)[before:]:  # what was found meanwhile may have relied on it
                    del self._known[other]
            self._known[value] = found
        return self._known[value]

    def _argument(self, value: ir.Value) -> bool:
        parent = value.owner.owner.operation
        if parent.name != "wave.iterate":
            return parent.name == "wave.kernel"
        if not self._loop(parent):
            return False
        results = list(parent.results)
        body = parent.regions[0].blocks[0]
        first = len(body.arguments) - len(results)
        if value.arg_number < first:
            return all(self.value(v) for v in _carried_axis(parent, body))
        return self._carried(parent, body, value.arg_number - first)

    def _loop(self, op: ir.Operation) -> bool:
        """Whether all lanes make the same trips."""
        return self._expressions(op) and all(self.value(v) for v in bound_values(op).values())

    def _carried(self, loop: ir.Operation, body: ir.Block, number: int) -> bool:
        yielded = list(body.operations[len(body.operations) - 1].operands)
        yielded = yielded[len(yielded) - len(loop.results) :]
        inits = list(loop.opview.init_args)
        return self.value(inits[number]) and self.value(yielded[number])

    def _result(self, value: ir.Value) -> bool:
        op = value.owner.operation
        if op.name == "wave.iterate":
            number = list(op.results).index(value)
            return self._loop(op) and self._carried(op, op.regions[0].blocks[0], number)
        if op.name == "wave.conditional":
            return self._branch(op, list(op.results).index(value))
        if op.name.partition(".")[0] in _ELEMENTWISE or op.name in _PURE:
            return self._expressions(op) and all(self.value(v) for v in op.operands if not _is_memory(v))
        return False

    def _branch(self, op: ir.Operation, number: int) -> bool:
        if not self.condition(op):
            return False
        ends = [b.operations[len(b.operations) - 1].operands for region in op.regions for b in region.blocks]
        others = list(op.opview.else_values)
        return all(self.value(end[number]) for end in ends) and (not others or self.value(others[number]))

    def differs(self, op: ir.Operation) -> bool:
        """Whether the condition of a `wave.conditional` is made from the lane's or wave's own number.

        That goes through arithmetic and reads, not through an exchange between lanes, after which they may agree.
        """
        if UNIFORM in op.attributes:
            return False
        return not self._expressions(op) or any(self._own(v) for v in _conditions(op))

    def trips_differ(self, op: ir.Operation) -> bool:
        """Whether how often a `wave.iterate` runs is made from the lane's or wave's own number, as in `differs`."""
        return not self._expressions(op) or any(self._own(v) for v in bound_values(op).values())

    def _own(self, value: ir.Value) -> bool:
        if value not in self._owned:
            self._owned[value] = self._made_of_own(value)
        return self._owned[value]

    def _made_of_own(self, value: ir.Value) -> bool:
        if isinstance(value, ir.BlockArgument):
            return False
        op = value.owner.operation
        if op.name.partition(".")[0] not in _ELEMENTWISE and op.name not in _PURE or op.name == "wave.shuffle":
            return False
        if any(_is_memory(v) and ", shared>" in str(v.type) for v in op.operands):
            return False
        return not self._expressions(op) or any(self._own(v) for v in op.operands if not _is_memory(v))

    @staticmethod
    def _expressions(op: ir.Operation) -> bool:
        names = [s for _, e in expressions(op) for s in e.symbols]
        return not any(s in _OWN or s.startswith("wave.") for s in names)


def _conditions(op: ir.Operation) -> Iterable[ir.Value]:
    """The values that a conditional decides by."""
    view = op.opview
    yield from bound_values(op).values()
    if view.condition_value is not None:
        yield view.condition_value


def _carried_axis(op: ir.Operation, body: ir.Block) -> list[ir.Value]:
    """What the position of a while loop is made of: its start and the next value that the body gives."""
    start = op.opview.start
    if start is None:
        return []
    return [start, body.operations[len(body.operations) - 1].operands[0]]


def _is_memory(value: ir.Value) -> bool:
    return str(value.type).startswith("!wave.memory")
