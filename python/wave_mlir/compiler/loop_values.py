"""Where operands of a scheduled loop's ops come from, found once: the loop's parts emit each op for several tiles."""

from __future__ import annotations

from dataclasses import dataclass, field

from mlir import ir

from .loop_slots import SLOT, STEADY_ALONE, Schedule
from .tile_ir import bound_values, walk


@dataclass(eq=False)
class Source:
    """A value that ops of a loop's body use; compared by identity.

    copies: of an LDS buffer that tiles take turns with. counter: whether it is the trip counter. yielded, init: of a
    carried argument, what the trip before yields, and the initial value. maker: the op of the body that makes it. One
    with none of these is from outside of the loop.
    """

    value: ir.Value
    copies: list[ir.Value] | None = None
    counter: bool = False
    yielded: Source | None = None
    init: ir.Value | None = None
    maker: Plan | None = None

    @property
    def fixed(self) -> bool:
        """Whether it is the same for all tiles."""
        return self.copies is None and not self.counter and self.yielded is None and self.maker is None


@dataclass(eq=False)
class Plan:
    """What emitting an op takes.

    placed: whether it has a slot of its own. alone: whether it is in the steady loop alone. again: whether each
    user gets its own. operands: by number, without those that are the same for all tiles. inner: the same for each
    op in its regions, without what comes from inside. counted: symbols that are the trip counter, where that is no
    operand otherwise. moved: `location` is another one than the op has.
    """

    op: ir.Operation
    stage: int
    placed: bool
    alone: bool
    again: bool
    location: ir.Location
    results: list[Source] = field(default_factory=list)
    operands: list[tuple[int, Source]] = field(default_factory=list)
    inner: list[list[tuple[int, Source]]] = field(default_factory=list)
    counted: list[str] = field(default_factory=list)
    moved: bool = False


class Plans:
    """The plans of a loop's ops: `ops` in the order of the steady loop; `arguments` are the carried ones."""

    def __init__(self, schedule: Schedule, buffers: dict[ir.Value, list[ir.Value]]) -> None:
        self._schedule = schedule
        self._sources = {value: Source(value, copies) for value, copies in buffers.items()}
        if schedule.counter is not None:
            self._sources[schedule.counter] = Source(schedule.counter, counter=True)
        self.arguments = [self._of(argument) for argument in schedule.yielded]
        plans = {op: self._plan(op) for op in (view.operation for view in schedule.body.operations)}
        for argument, init in zip(self.arguments, schedule.loop.opview.init_args, strict=True):
            argument.yielded, argument.init = self._of(schedule.yielded[argument.value]), init
        for plan in plans.values():
            self._connect(plan)
        self.ops = [plans[op] for op in schedule.ops]

    def _of(self, value: ir.Value) -> Source:
        if value not in self._sources:
            self._sources[value] = Source(value)
        return self._sources[value]

    def _plan(self, op: ir.Operation) -> Plan:
        slot = self._schedule.slots.get(op)
        again = op in self._schedule.again
        placed, alone = SLOT in op.attributes, STEADY_ALONE in op.attributes
        plan = Plan(op, -1 if slot is None else slot.stage, placed, alone, again, op.location)
        for result in op.results:
            source = self._of(result)
            source.maker = plan
            plan.results.append(source)
        return plan

    def _connect(self, plan: Plan) -> None:
        """Finds where the operands come from, when all values of the body are known."""
        op, counter = plan.op, self._schedule.counter
        sources = [self._of(value) for value in op.operands]
        if any(s.counter for s in sources):
            plan.counted = [name for name, value in bound_values(op).items() if value == counter]
            if len(plan.counted) != sum(s.counter for s in sources):
                plan.counted = []
        moving = [(n, s) for n, s in enumerate(sources) if not s.fixed]
        plan.operands = [(n, s) for n, s in moving if not (s.counter and plan.counted)]
        for child in inside_of(op):
            outer = [(n, self._of(v)) for n, v in enumerate(child.operands) if not self._is_inside(op, v)]
            plan.inner.append([(n, s) for n, s in outer if not s.fixed])

    def _is_inside(self, op: ir.Operation, value: ir.Value) -> bool:
        """Whether a value is made in the regions of an op."""
        block = value.owner if isinstance(value.owner, ir.Block) else value.owner.operation.block
        current: ir.Operation | None = None if block == self._schedule.body else block.owner.operation
        while current is not None and current != self._schedule.loop:
            if current == op:
                return True
            current = None if current.parent is None else current.parent.operation
        return False


def inside_of(op: ir.Operation) -> list[ir.Operation]:
    """The ops in the regions of an op, in the order of the program."""
    return [inner for region in op.regions for block in region.blocks for inner in walk(block)]
