"""Waits of a steady loop: how many accesses may still be under way where a result is first used.

The hardware counts global and LDS accesses of a wave, each kind in the order of issue; a wait lets the youngest
n be under way. LLVM waits at every first use for what that use needs. A wait that also covers what has surely come by
then saves those that would follow. `plan` finds these waits by running the loop's order round and round.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from mlir import ir

from .lane_access import in_lds
from .targets import Target, TargetError
from .tile_ir import walk

SLACK_CLOCKS, SLACK_PARTS = 96, 14
"""A wait for a global load covers those issued so many clocks after it, or a 14th of its time under way: these come
with it, and what issue takes besides the MMAs makes up for the time they lose."""
COME_CLOCKS = 384
"""A load that was issued later is still under way, mostly, and is waited for alone."""
LDS_CLOCKS = 160
"""A wait for an LDS access covers those issued so many clocks before: they take 100 to 150, and the others' queue."""
ISSUE_CLOCKS = 4
"""A wave issues at most one instruction in so many clocks."""

_ROUNDS = 3
_TRANSPARENT = ("vector.extract_strided_slice", "vector.bitcast", "vector.shape_cast")
_COUNTED = ("wave.read", "wave.buffer_load", "wave.write", "wave.buffer_store", "wave.atomic")
_MOST = {"load": 63, "ds": 15}

Instance = tuple[ir.Operation, int]


@dataclass
class _Counter:
    """What is under way of one kind, the oldest first, with the clock of its issue."""

    lds: bool
    under_way: list[tuple[Instance, int]] = field(default_factory=list)

    def wait(self, needed: set[Instance], now: int) -> tuple[int, bool] | None:
        """Wait for what is needed and for what has surely come: the count, and whether it is more than was needed."""
        last = max((i for i, (one, _) in enumerate(self.under_way) if one in needed), default=-1)
        if last < 0:
            return None
        age = now - self.under_way[last][1]
        patience = LDS_CLOCKS if self.lds else age - max(SLACK_CLOCKS, age // SLACK_PARTS)
        come = sum(now - since >= patience for _, since in self.under_way)
        if not self.lds:  # a wait for all loads would be one for whatever LLVM adds
            come = min(come, len(self.under_way) - 1) if age >= COME_CLOCKS else 0
        left = min(len(self.under_way) - max(last + 1, come), _MOST["ds" if self.lds else "load"])
        more = left < len(self.under_way) - (last + 1)
        del self.under_way[: len(self.under_way) - left]
        return left, more


def plan(loop: ir.Operation, target: Target) -> list[tuple[ir.Operation, dict[str, int]]]:
    """(op, counts): before these ops of a steady loop, waits by kind ("load", "ds") spare later ones."""
    body = loop.regions[0].blocks[0]
    ops = [view.operation for view in body.operations]
    clocks = {op: _clocks(op, target) for op in ops}
    counters = {"load": _Counter(lds=False), "ds": _Counter(lds=True)}
    sources = _Sources(loop)
    now, found = 0, []
    for turn in range(_ROUNDS):
        found = []
        for op in ops:
            if op.name not in _TRANSPARENT and op.name != "wave.yield":
                needed = {one for v in op.operands for one in sources.of(v, turn)}
                waits = {name: w for name, c in counters.items() if (w := c.wait(needed, now)) is not None}
                if any(more for _, more in waits.values()):
                    found.append((op, {name: left for name, (left, _) in waits.items()}))
            _issue(op, turn, now, counters)
            now += clocks[op]
    return found


def _clocks(op: ir.Operation, target: Target) -> int:
    """Clocks until the next op is issued, of a wave that has its SIMD alone: those of an MMA, or of its issue."""
    if op.name in ("wave.mma", "wave.scaled_mma") and "kind" in op.attributes:
        try:
            return target.mma(op.attributes["kind"].value).clocks
        except TargetError:
            return ISSUE_CLOCKS
    return 0


def _issue(op: ir.Operation, turn: int, now: int, counters: dict[str, _Counter]) -> None:
    if op.name in ("wave.shared_memory_barrier", "wave.barrier_wait"):
        counters["ds"].under_way.clear()
        if "wait_async" in op.attributes:
            counters["load"].under_way.clear()
    elif op.name == "wave.memory_counter_wait":
        for name, counter in counters.items():
            if name in op.attributes:
                left = ir.IntegerAttr(op.attributes[name]).value
                del counter.under_way[: max(len(counter.under_way) - left, 0)]
    else:
        for one in (op, *(inner for region in op.regions for block in region.blocks for inner in walk(block))):
            kind = _counted(one)
            if kind is not None:
                counters[kind].under_way.append(((one, turn), now))


def _counted(op: ir.Operation) -> str | None:
    """The counter that an access goes to."""
    if op.name == "wave.gather_to_shared":
        return "load"
    if op.name not in _COUNTED:
        return None
    memory = op.operands[0 if op.name in ("wave.read", "wave.buffer_load") else 1]
    return "ds" if in_lds(memory) else "load"


class _Sources:
    """Which accesses a value of the body comes from, through slices and carried arguments."""

    def __init__(self, loop: ir.Operation) -> None:
        body = loop.regions[0].blocks[0]
        self._body = body
        end = body.operations[len(body.operations) - 1]
        first = len(body.arguments) - len(loop.results)
        self._yielded = dict(zip(list(body.arguments)[first:], end.operands, strict=True))

    def of(self, value: ir.Value, turn: int) -> Iterator[Instance]:
        while turn >= 0:
            if value in self._yielded:
                value, turn = self._yielded[value], turn - 1
                continue
            owner = value.owner
            if isinstance(owner, ir.Block) or owner.operation.block != self._body:
                return
            if owner.name not in _TRANSPARENT:
                yield owner.operation, turn
                return
            value = owner.operands[0]
