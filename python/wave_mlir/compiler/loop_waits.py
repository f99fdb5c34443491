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

Instance = tuple[int, int]
"""The number of an op of the body, and the turn it is executed in."""


@dataclass
class _Counter:
    """What is under way of one kind, the oldest first, with the clock of its issue."""

    lds: bool
    under_way: list[tuple[Instance, int]] = field(default_factory=list)

    def wait(self, needed: set[Instance], now: int) -> tuple[int, bool] | None:
        """Wait for what is needed and for what has surely come: the count, and whether it is more than was needed.

        None where nothing of what is needed is under way.
        """
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


@dataclass(frozen=True)
class _Step:
    """What an op of the body does to the counters.

    needs: the ops whose results it uses, and how many turns ago they were made. issues: the counters that its accesses
    go to. waits: what is left under way by counter, for an op that waits itself.
    """

    op: ir.Operation
    clocks: int
    needs: frozenset[Instance]
    issues: tuple[str, ...]
    waits: dict[str, int]


def plan(loop: ir.Operation, target: Target) -> list[tuple[ir.Operation, dict[str, int]]]:
    """(op, counts): before these ops of a steady loop, waits by kind ("load", "ds") spare later ones."""
    steps = _steps(loop, target)
    counters = {"load": _Counter(lds=False), "ds": _Counter(lds=True)}
    now, found = 0, []
    for turn in range(_ROUNDS):
        found = []
        for number, step in enumerate(steps):
            if step.needs:
                needed = {(source, turn - back) for source, back in step.needs}
                waits = {name: w for name, c in counters.items() if (w := c.wait(needed, now)) is not None}
                if any(more for _, more in waits.values()):
                    found.append((step.op, {name: left for name, (left, _) in waits.items()}))
            for kind in step.issues:
                counters[kind].under_way.append(((number, turn), now))
            for kind, left in step.waits.items():
                under_way = counters[kind].under_way
                del under_way[: max(len(under_way) - left, 0)]
            now += step.clocks
    return found


def _steps(loop: ir.Operation, target: Target) -> list[_Step]:
    ops = [view.operation for view in loop.regions[0].blocks[0].operations]
    sources = _Sources(loop, ops)
    steps = []
    for op in ops:
        uses = op.name not in _TRANSPARENT and op.name != "wave.yield"
        needs = frozenset(one for v in op.operands if (one := sources.of(v)) is not None) if uses else frozenset()
        steps.append(_Step(op, _clocks(op, target), needs, tuple(_issues(op)), _waits(op)))
    return steps


def _clocks(op: ir.Operation, target: Target) -> int:
    """Clocks until the next op is issued, of a wave that has its SIMD alone: those of an MMA, or of its issue."""
    if op.name in ("wave.mma", "wave.scaled_mma") and "kind" in op.attributes:
        try:
            return target.mma(op.attributes["kind"].value).clocks
        except TargetError:
            return ISSUE_CLOCKS
    return 0


def _waits(op: ir.Operation) -> dict[str, int]:
    """What an op leaves under way, by counter."""
    if op.name in ("wave.shared_memory_barrier", "wave.barrier_wait"):
        return {"ds": 0, "load": 0} if "wait_async" in op.attributes else {"ds": 0}
    if op.name == "wave.memory_counter_wait":
        return {name: ir.IntegerAttr(op.attributes[name]).value for name in ("load", "ds") if name in op.attributes}
    return {}


def _issues(op: ir.Operation) -> Iterator[str]:
    """The counters that the accesses of an op, and of those in its regions, go to."""
    for one in (op, *(inner for region in op.regions for block in region.blocks for inner in walk(block))):
        kind = _counted(one)
        if kind is not None:
            yield kind


def _counted(op: ir.Operation) -> str | None:
    """The counter that an access goes to."""
    if op.name == "wave.gather_to_shared":
        return "load"
    if op.name not in _COUNTED:
        return None
    memory = op.operands[0 if op.name in ("wave.read", "wave.buffer_load") else 1]
    return "ds" if in_lds(memory) else "load"


class _Sources:
    """Which access a value of the body comes from, through slices and carried arguments."""

    def __init__(self, loop: ir.Operation, ops: list[ir.Operation]) -> None:
        body = loop.regions[0].blocks[0]
        first = len(body.arguments) - len(loop.results)
        self._yielded = dict(zip(list(body.arguments)[first:], ops[-1].operands, strict=True))
        self._made: dict[ir.Value, Instance | ir.Value] = {}  # or, of a slice, what it is a slice of
        for number, op in enumerate(ops):
            for result in op.results:
                self._made[result] = op.operands[0] if op.name in _TRANSPARENT else (number, 0)

    def of(self, value: ir.Value) -> Instance | None:
        """The op that makes a value, and how many turns ago; None for one from outside, or that is only carried on."""
        back = 0
        while back < _ROUNDS:
            if value in self._yielded:
                value, back = self._yielded[value], back + 1
                continue
            made = self._made.get(value)
            if made is None or isinstance(made, tuple):
                return None if made is None else (made[0], back)
            value = made
        return None
