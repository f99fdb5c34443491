"""A schedule by hand, applied to a loop in lane form: tags, stages and clusters become a place for each op.

Ops are found by the tag in their locations, which all that a tagged op became has. What the schedule says is not
checked here for what it breaks: wave-pipeline-loops verifies every dependence of the places.
"""

from __future__ import annotations

from collections.abc import Iterator

from mlir import ir

from wave_mlir.compiler.directives import PLANS, TAGGED, Inserted, Interleaved, Item, LoopPlan, Nodes, Position, loaded
from wave_mlir.dialect import wave as ops
from wave_mlir.scheduling import Schedule, Slot
from wave_mlir.scheduling.bounds import resource_bound

from .diagnostics import PassError
from .loop_costs import is_free
from .loop_problem import LoopProblem
from .loop_slots import FIRST
from .unrolling import iteration_of

_TYPES = {
    "lds_read": "Read",
    "global_load": "Read",
    "lds_write": "Write",
    "global_store": "Write",
    "mma": "MMA",
    "gather_to_lds": "GatherToLDS",
}
"""Kinds of operations -> the types of ops that a schedule names."""

Entry = str | Inserted
"""What has a place: an operation of the problem, by name, or an op to add."""


def tags_of(location: ir.Location) -> Iterator[str]:
    """The tags that a location says."""
    if location.is_a_name():
        if location.name_str.startswith(TAGGED):
            yield location.name_str.removeprefix(TAGGED)
        yield from tags_of(location.child_loc)
    elif location.is_a_fused():
        for inner in location.locations:
            yield from tags_of(inner)


def named_tags(kernel: ir.Operation) -> set[str]:
    """The tags of ops that the kernel's schedule by hand gives a place, if it has one that can be read."""
    if PLANS not in kernel.attributes or not isinstance(kernel.attributes[PLANS], ir.StringAttr):
        return set()
    try:
        return set().union(*(plan.tags() for plan in loaded(ir.StringAttr(kernel.attributes[PLANS]).value)))
    except ValueError:  # wave-apply-schedule says what is wrong with it
        return set()


def place_of(at: Position) -> ir.Location:
    """Where the user wrote it."""
    return ir.Location.file(*at)


def schedule_by_hand(loop: LoopProblem, plan: LoopPlan, copies: dict[str, int] | None) -> Schedule:
    """The schedule that a plan asks for, its added ops put into the loop; copies None: as many of each LDS buffer as
    its places need. Raises PassError at what is wrong."""
    return _ByHand(loop, plan).schedule(copies)


class _ByHand:
    """A plan at work on its loop."""

    def __init__(self, loop: LoopProblem, plan: LoopPlan) -> None:
        self.loop = loop
        self.plan = plan
        self.kinds = {name: operation.kind for name, operation in loop.operations.items()}
        self.tags = {name: list(dict.fromkeys(tags_of(op.location))) for name, op in loop.body}
        self.stages: dict[str, int] = {}
        self._steps: dict[ir.Operation, int] = {}

    def schedule(self, copies: dict[str, int] | None) -> Schedule:
        """Places by the plan; ops are added at the end, when nothing is wrong with it."""
        cycles = self._staged()
        order = [*self.plan.starts, *(cycles if self.plan.order is None else self.plan.order), *self.plan.ends]
        entries = [entry for item in order for entry in self._entries(item)]
        if not self.plan.stages and self.plan.order is None:  # nothing is said of the order: as the ops are written
            count, placed = len(self.plan.starts), set(entries)
            entries[count:count] = [name for name, _ in self.loop.body if name not in placed]
        entries = self._beside(entries)
        self._check(entries)
        named = self._add(entries)
        for added in self.plan.before:
            with place_of(added.at), ir.InsertionPoint(self.loop.loop):
                _made(added).attributes[FIRST] = ir.UnitAttr.get()
        slots = {name: Slot(stage, i, 0) for i, (name, stage) in enumerate(named)}
        copies = self._needed(slots) if copies is None else copies
        interval = max(1, resource_bound(self.loop.problem(copies, barriers=False)))
        return Schedule(self.loop.name, "manual", interval, slots, copies, self.plan.unroll)

    def _needed(self, slots: dict[str, Slot]) -> dict[str, int]:
        """Copies of the LDS buffers that are written for a tile while those before it are still read; 1 not said."""
        needed = {}
        for name in self.loop.copyable():
            uses = [slots[access.name] for access in self.loop.accesses(name) if access.name in slots]
            first = min((s.stage, s.order) for s in uses)
            last = max((s.stage, s.order) for s in uses)
            count = last[0] - first[0] + (first[1] <= last[1])
            if count > 1:
                needed[name] = count
        return needed

    def _staged(self) -> list[Item]:
        """Notes each op's stage. Returns the steady loop by cycles, in each the older trips first."""
        for number, stage in enumerate(self.plan.stages):
            for cycle in stage:
                for item in cycle:
                    for entry in self._entries(item):
                        if isinstance(entry, str) and self.stages.setdefault(entry, number) != number:
                            op = self.loop.ops[entry]
                            raise PassError(
                                place_of(item.at),
                                f"an op is put into stage {number} and into stage {self.stages[entry]}; give it one",
                            ).note(op, "the op")
        count = max((len(stage) for stage in self.plan.stages), default=0)
        return [item for c in range(count) for s in reversed(self.plan.stages) if c < len(s) for item in s[c]]

    # --- what is meant ---
    def _entries(self, item: Item) -> list[Entry]:
        if isinstance(item, Inserted):
            return [item]
        if isinstance(item, Nodes):
            return list(self._select(item))
        return list(self._interleave(item))

    def _select(self, nodes: Nodes) -> list[str]:
        """The operations of a set, in program order or by the parts of a dim. What the kernel tags may have become
        nothing in the loop: constants, what all trips do alike."""
        found = list(self.loop.operations)
        for step in nodes.steps:
            if step[0] in ("tag", "tagged"):
                found = [n for n in found if step[1] in self.tags[n]]
            elif step[0] == "type":
                found = [n for n in found if self._type(n) in step[1:]]
            elif step[0] == "space":
                found = [n for n in found if (self._space(n) == step[1]) == step[2]]
            elif step[0] == "iteration":
                found = [n for n in found if iteration_of(self.loop.ops[n].location) == step[1]]
            elif found:
                found = self._part(nodes, found, str(step[1]), int(step[2]), int(step[3]))
        gone = nodes.steps[0][0] == "tagged" and not any(nodes.steps[0][1] in tags for tags in self.tags.values())
        if not found and not gone:
            have = ", ".join(sorted({f"{t} ({self._type(n)})" for n in self.tags for t in self.tags[n]})) or "none"
            raise PassError(
                place_of(nodes.at),
                f"no op of the loop '{self.plan.loop}' is in this set of ops of {nodes.name}; its tags and types of "
                f"ops are: {have}",
            ).note(self.loop.loop, "the loop")
        return found

    def _type(self, name: str) -> str:
        scaled = self.loop.ops[name].name == "wave.scaled_mma"
        return "ScaledMMA" if scaled else _TYPES.get(self.kinds[name], self.kinds[name])

    def _space(self, name: str) -> str:
        return "shared" if self.kinds[name].startswith("lds_") else "global"

    def _part(self, nodes: Nodes, names: list[str], dim: str, parts: int, number: int) -> list[str]:
        axis = ir.StringAttr(self.loop.loop.attributes["axis"]).value
        steps = {n: self._step(self.loop.ops[n]) for n in names} if dim == axis else {}
        ids = sorted({s for s in steps.values() if s is not None})
        if not steps or None in steps.values() or len(ids) % parts:
            have = f"there are {len(ids)} steps along {dim}" if steps else f"the loop's dim is {axis}"
            raise PassError(
                place_of(nodes.at),
                f"{nodes.name} cannot be cut into {parts} equal parts along {dim}: {have}; MMAs, and reads of their "
                "operands, are cut along the loop's dim",
            ).note(self.loop.loop, "the loop")
        size = len(ids) // parts
        part = ids[number * size : (number + 1) * size]
        return sorted((n for n in names if steps[n] in part), key=lambda n: steps[n] or 0)

    def _step(self, op: ir.Operation) -> int | None:
        """How many MMAs of its chain come before an MMA in a trip; of other ops, the first MMA's that uses them."""
        if op not in self._steps:
            if op.name in ("wave.mma", "wave.scaled_mma"):
                before = op.opview.acc.owner
                self._steps[op] = 0
                if not isinstance(before, ir.Block) and before.operation.block == op.block:
                    last = before.operation
                    self._steps[op] = 1 + (self._step(last) or 0) if last.name == op.name else 0
            else:
                users = [use.owner.operation for r in op.results for use in r.uses]
                found = [self._step(u) for u in users if u.block == op.block and u.name != "wave.yield"]
                self._steps[op] = min((s for s in found if s is not None), default=-1)
        return None if self._steps[op] < 0 else self._steps[op]

    def _interleave(self, item: Interleaved) -> Iterator[str]:
        waiting = [[n for nodes in group for n in self._select(nodes)] for group in item.groups]
        for count, name in enumerate((n for nodes in item.base for n in self._select(nodes)), 1):
            yield name
            for group, every, first in zip(waiting, item.intervals, item.offsets, strict=True):
                if group and count > first and (count - first) % every == 0:
                    yield group.pop(0)
        for group in waiting:
            yield from group

    def _beside(self, entries: list[Entry]) -> list[Entry]:
        """With the ops that are added next to some."""
        for where, nodes, added in self.plan.beside:
            chosen = set(self._select(nodes))
            places = [i for i, entry in enumerate(entries) if entry in chosen]
            if places:
                entries.insert(places[0] if where == "before" else places[-1] + 1, added)
        return entries

    # --- what comes of it ---
    def _check(self, entries: list[Entry]) -> None:
        """Each op that matters has one stage and one place."""
        seen: set[str] = set()
        for entry in entries:
            if isinstance(entry, str) and entry in seen:
                raise self._at_op(entry, "the schedule has this op twice; give it one place in the clusters")
            if isinstance(entry, str):
                seen.add(entry)
        for name, op in self.loop.body:
            if self.plan.stages and name not in self.stages and (name in seen or not self._follows(name, op)):
                raise self._at_op(name, "this op is in no stage of the schedule; give it one with set_stage")
            if name not in seen and not self._follows(name, op):
                raise self._at_op(name, "this op has no place in the schedule; put it into a cluster")

    def _follows(self, name: str, op: ir.Operation) -> bool:
        """Whether an op without a place goes where its users are."""
        return self.kinds[name] == "vector" or is_free(op)

    def _at_op(self, name: str, text: str) -> PassError:
        return PassError(self.loop.ops[name], text).note(place_of(self.plan.at), "the schedule")

    def _add(self, entries: list[Entry]) -> list[tuple[str, int]]:
        """Puts added ops into the loop, each behind the op it follows, in that op's stage. Names with stages."""
        before: str | None = next((e for e in entries if isinstance(e, str)), None)
        named: list[tuple[str, int]] = []
        for number, entry in enumerate(entries):
            stage = self.stages.get(before or "", 0)
            if isinstance(entry, str):
                before = entry
                named.append((entry, self.stages.get(entry, 0)))
                continue
            name = f"added.{number}"
            with place_of(entry.at), self._insertion_point(before):
                self.loop.ops[name] = _made(entry)
            named.append((name, stage))
        return named

    def _insertion_point(self, before: str | None) -> ir.InsertionPoint:
        if before is None:
            return ir.InsertionPoint.at_block_begin(self.loop.loop.regions[0].blocks[0])
        return ir.InsertionPoint.after(self.loop.ops[before])


def _made(added: Inserted) -> ir.Operation:
    """The op that is added, at the insertion point."""
    given = dict(added.arguments)
    if added.kind == "SetWavePrio":
        return ops.SetWavePrioOp(given["priority"]).operation
    if added.kind == "MemoryCounterWait":
        return ops.MemoryCounterWaitOp(**{n: given.get(n) for n in ("load", "store", "ds", "exp")}).operation
    if added.kind == "SharedMemoryBarrier":
        return ops.SharedMemoryBarrierOp(wait_async=bool(given.get("wait_async_ops")) or None).operation
    if added.kind == "WorkgroupBarrier":
        return ops.WorkgroupBarrierOp().operation
    return ops.SchedulingBarrierOp().operation
