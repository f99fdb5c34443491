"""What a loop in lane form does alike in every trip, and so can do once, before its first one."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from mlir import ir

from wave_mlir.dialect import Expr, MemoryType

from .copies_elsewhere import Elsewhere
from .kernel_info import KernelInfo
from .lane_access import DIVISIBLE, FULL, LIMITS, in_lds, memory_of
from .loop_costs import registers
from .loop_memory import has_offset
from .loop_slots import is_pure
from .tile_ir import bound_names, expressions, walk

_READS = ("wave.read", "wave.buffer_load")
_WRITES = ("wave.write", "wave.buffer_store", "wave.atomic")
_COPY = "wave.gather_to_shared"
_LANES = ("wave.shuffle", "gpu.shuffle", "wave.mma", "wave.scaled_mma")

READ_SHARE = 4
"""Values read in front of a loop, and kept for all of it, get up to a part 1/READ_SHARE of the registers a lane has."""


class Invariants:
    """Moves what is alike in every trip of a loop in front of it.

    These are reads of memory that nothing in the loop writes, at places and under masks that do not change; copies to
    LDS buffers of such values, if other loops that use a buffer fill it first; and what is computed from such reads,
    unless it is larger.
    Each trip still has all else, so values that are cheap to make again do not take registers. Reads and copies that
    `stays` says yes to are not moved.
    """

    def __init__(
        self, info: KernelInfo, loop: ir.Operation, stays: Callable[[ir.Operation], bool] = lambda _: False
    ) -> None:
        self.loop = loop
        self._stays = stays
        self.body = loop.regions[0].blocks[0]
        self._room = info.target.registers.general // READ_SHARE
        self._moved: set[ir.Value] = set()
        self._inside = list(walk(self.body))
        self._info = info
        self._runs = _runs(info, loop)
        self._counted = _symbols_of_trips(info, loop)
        self._writes_global = any(self._writes(op) and not in_lds(_target_of(op)) for op in self._inside)

    @staticmethod
    def _writes(op: ir.Operation) -> bool:
        return op.name in _WRITES or op.name == _COPY

    def move(self) -> None:
        """Move them; not out of loops that end by a condition, which may wait for what others write."""
        if "trips" not in self.loop.attributes or any("is_volatile" in op.attributes for op in self._inside):
            return
        for view in list(self.body.operations):
            op = view.operation
            if op.block != self.body:
                continue  # moved with another one
            if self._is_source(op):
                if not self._stays(op):
                    self._move_read(op)
            elif op.name == _COPY or (op.name == "wave.write" and in_lds(memory_of(op))):
                if not self._stays(op):
                    self._move_copies(_target_of(op))
            elif is_pure(op) and op.name not in _LANES and any(v in self._moved for v in op.operands):
                self._move_computed(op)

    def _is_source(self, op: ir.Operation) -> bool:
        """Whether an op reads global memory that the loop leaves as it is."""
        return op.name in _READS and not in_lds(memory_of(op)) and not self._writes_global

    def _move_read(self, op: ir.Operation) -> None:
        users = [use.owner.operation.name for use in op.results[0].uses]
        if users and all(name == "wave.write" for name in users):
            return  # it moves with its copies, and takes no registers in the loop
        if self._is_safe(op) and self._take(registers(op.results[0].type), lambda: self._pull(op)):
            self._moved.update(op.results)

    def _is_safe(self, op: ir.Operation) -> bool:
        """Whether an access of global memory may be made where the loop has no trip.

        What is known in the loop, so that an access needs no mask, is about the sizes that decide on its trips.
        """
        if self._runs:
            return True
        shape = MemoryType(memory_of(op).type).shape
        exprs = [expr for _, expr in expressions(op)]
        used = {name for expr in (*shape, *exprs) for name in self._info.resolve(expr).symbols}
        return not used & self._counted

    def _take(self, count: int, move: Callable[[], bool]) -> bool:
        """Move something that keeps registers for all of the loop, if there is room."""
        if count > self._room or not move():
            return False
        self._room -= count
        return True

    def _move_computed(self, op: ir.Operation) -> None:
        """Of the registers its operands take, those that nothing else uses could be given back: so it is not larger."""
        made = sum(registers(r.type) for r in op.results)
        if made <= sum(registers(v.type) for v in op.operands if v in self._moved) and self._pull(op):
            self._moved.update(op.results)

    # --- LDS buffers

    def _move_copies(self, buffer: ir.Value) -> None:
        """All that is written to a buffer, and what is read of it where registers allow."""
        uses = self._uses(buffer)
        if uses is None or not all(self._is_ready(op) for op in uses if self._writes(op)):
            return
        for op in uses:
            if self._writes(op):
                self._pull(op)
        for op in uses:
            if op.name == "wave.read" and self._take(registers(op.results[0].type), lambda op=op: self._pull(op)):
                self._moved.update(op.results)

    def _uses(self, buffer: ir.Value) -> list[ir.Operation] | None:
        """The accesses of a buffer in this loop in program order, if all stand in its body, writes before reads, and no
        other one can tell whether they are made before the loop."""
        if isinstance(buffer.owner, ir.Block) or has_offset(buffer):
            return None
        every = [use.owner.operation for use in buffer.uses]
        found = [op for op in self._inside if op in every]
        if any(op.block != self.body or op.name not in ("wave.read", "wave.write", _COPY) for op in found):
            return None
        writes = [self._writes(op) for op in found]
        if writes != sorted(writes, reverse=True):
            return None
        others = [op for op in every if op not in found]
        return found if self._runs or Elsewhere(self.loop, found, others).all_write_first() else None

    def _is_ready(self, op: ir.Operation) -> bool:
        """Whether a write could be moved: a copy also reads global memory."""
        if op.name == _COPY and (self._writes_global or not self._is_safe(op)):
            return False
        return self._closure(op) is not None

    # --- moving

    def _pull(self, op: ir.Operation) -> bool:
        """Move an op, and what makes its operands; False where one of these changes from trip to trip."""
        needed = self._closure(op)
        for each in needed or ():
            each.move_before(self.loop)
        return needed is not None

    def _closure(self, op: ir.Operation) -> list[ir.Operation] | None:
        found: list[ir.Operation] = []
        return found if self._collect(op, found) else None

    def _collect(self, op: ir.Operation, found: list[ir.Operation]) -> bool:
        for value in op.operands:
            if isinstance(value.owner, ir.Block):
                if value.owner == self.body:
                    return False
                continue
            maker = value.owner.operation
            if maker.block != self.body or maker in found:
                continue
            moves = self._is_safe(maker) if self._is_source(maker) else is_pure(maker) and maker.name not in _LANES
            if not moves or not self._collect(maker, found):
                return False
        found.append(op)
        return True


def _target_of(op: ir.Operation) -> ir.Value:
    return op.opview.target if op.name == _COPY else memory_of(op)


def _runs(info: KernelInfo, loop: ir.Operation) -> bool:
    """Whether a loop has a trip for sure."""
    if "trips" not in loop.attributes:
        return False
    low, _ = info.resolve(Expr(loop.attributes["trips"]), bound_names(loop)).range(info.facts)
    return low is not None and low > 0


def _symbols_of_trips(info: KernelInfo, loop: ir.Operation) -> set[str]:
    """The symbols that decide how many trips a loop has, and those of which it promises something."""
    if "trips" not in loop.attributes:
        return set()
    promised = [ir.DictAttr(loop.attributes[a]) for a in (FULL, DIVISIBLE, LIMITS) if a in loop.attributes]
    exprs = [Expr(loop.attributes["trips"]), *(Expr.symbol(entry.name) for names in promised for entry in names)]
    return {name for expr in exprs for name in info.resolve(expr, bound_names(loop)).symbols}


def loops_inside_out(block: ir.Block) -> Iterator[ir.Operation]:
    """The loops of a block and the blocks in it, inner ones first."""
    for view in list(block.operations):
        for region in view.operation.regions:
            for inner in region.blocks:
                yield from loops_inside_out(inner)
        if view.operation.name == "wave.iterate":
            yield view.operation
