"""Ping-pong: two groups of waves take turns with the matrix unit, half a step apart.

A trip is cut by barriers into segments, by turns one of memory (loads, LDS, vector arithmetic) and one of matrix
operations. One group of waves is a segment ahead of the other, so while the waves of one compute, those of the other
load. With S segments a trip, an operation in segment s (counted through its trip's stages) keeps

    s(target) + S * distance >= s(source)        for values, and
    s(target) + S * distance >= s(source) + 2    for accesses of one LDS buffer,

where 2 is what makes them safe between the groups: the access of the group behind in segment s, and that of the group
ahead in segment s + 1, are at the same time. The least such segments are found from 0 on; reads of LDS then go as late
as their users let them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from math import lcm

from .pressure import pressure
from .problem import VALUE, NoSchedule, Operation, Problem
from .schedule import MOST_STAGES, Schedule, Slot
from .staged import product_levels

STRATEGY = "ping-pong"
BARRIER = "added.barrier"
"""What the names of the barriers begin with that the strategy adds."""

APART = 2
"""Barriers between accesses of one LDS buffer by waves of different groups."""
PARTS = (1, 2, 4)
"""Into how many clusters of matrix operations a trip's products are cut, from what needs the fewest barriers on."""
LEAST_MMAS = 4
"""Matrix operations of a cluster at least."""
LOAD_CLOCKS = 1000
"""Clocks that a global load is to be under way."""
OTHER_REGISTERS = 26
"""Registers that a lane needs for addresses and the like."""
MOST_REGISTERS = 256
"""Registers that instructions can name of one kind."""
_LOADS = ("global_load", "gather_to_lds")
_NOT_MOVED = ("global_store", "global_atomic", "lds_atomic")


def ping_pong(problem: Problem, copies: Mapping[str, int] | None = None) -> tuple[Problem, Schedule]:
    """The schedule with the fewest clusters that fits the registers, and the problem with what it adds.

    Added is a barrier behind each segment (`added.barrier.N`), for the steady loop alone. Of those that fit, results
    that have to be moved from trip to trip decide. Raises NoSchedule for a loop of few matrix operations, with
    synchronisation of the user's own, or whose LDS buffers cannot be written and read two barriers apart.
    """
    _check_kinds(problem)
    attempts = [a for parts in PARTS for a in _attempts(problem, dict(copies or {}), parts)]
    if not attempts:
        raise NoSchedule(
            f"problem '{problem.name}': its LDS buffers cannot be written and read two barriers apart, which two "
            "groups of waves half a step apart need; give the buffers two copies, or use larger tiles",
            operations=tuple(o.name for o in problem.of_kind("lds_write", "gather_to_lds")),
        )
    budget = min(problem.registers or MOST_REGISTERS, MOST_REGISTERS) - OTHER_REGISTERS
    held = {id(s): pressure(problem, s) for s, _ in attempts}
    fitting = [a for a in attempts if held[id(a[0])] <= budget]
    if fitting:
        chosen, _ = min(fitting, key=lambda a: (_moved(problem, a[0]), a[1]))
    else:
        chosen, _ = min(attempts, key=lambda a: held[id(a[0])])
    return _with_barriers(problem, chosen)


def _moved(problem: Problem, schedule: Schedule) -> int:
    """Registers of results that are still used when the next trip's are made, and that the steady loop has to move: it
    has no trips in its body for them to take turns."""
    unroll, cycles = lcm(*schedule.copies.values()), schedule.cycles
    moved = 0
    for operation in problem.operations:
        users = [d for d in problem.outgoing[operation.name] if d.kind == VALUE]
        if operation.kind == "mma" or not users:
            continue
        life = max(cycles[d.target] + d.distance * schedule.interval for d in users) - cycles[operation.name]
        moved += operation.registers * (unroll % max(1, -(-life // schedule.interval)) != 0)
    return moved


def _check_kinds(problem: Problem) -> None:
    if not _clusters(problem, 1):
        raise NoSchedule(
            f"problem '{problem.name}': ping-pong is for loops whose products have at least {LEAST_MMAS} matrix "
            "operations each; use larger tiles, or another strategy",
            operations=tuple(o.name for o in problem.of_kind("mma")),
        )
    for operation in problem.of_kind("barrier", "order"):
        raise NoSchedule(
            f"problem '{problem.name}': '{operation.name}' is synchronisation of your own, and ping-pong places all of "
            "it; take it out, or schedule by hand",
            operations=(operation.name,),
        )


def _attempts(problem: Problem, copies: dict[str, int], parts: int) -> Iterator[tuple[Schedule, int]]:
    """Schedules with so many clusters for each product. First those in which a load takes the place of the write of the
    tile before, whose registers it takes: then the loads of a trip need not all be there at once. Where LDS has no room
    for copies that are so long under way, the longest there is room for. With each, by how many clocks loads are under
    way too short."""
    clusters = _clusters(problem, parts)
    if clusters is None:
        return
    clocks = max(sum(_clocks(problem.by_name[m]) for m in cluster) for cluster in clusters)
    lead = APART * max(1, -(-LOAD_CLOCKS // (APART * clocks)))
    trip = 2 * len(clusters)
    enough = sorted(range(lead, lead + trip, 2), key=lambda n: (n % trip != 0, n))
    found = False
    for segments in _solved(problem.with_copies(copies), clusters, enough):
        found = True
        yield _schedule(problem, copies, segments, clocks), segments.missing(clocks)
    shorter = () if found else range(lead - 2, 0, -2)
    for segments in islice(_solved(problem.with_copies(copies), clusters, shorter), 1):
        yield _schedule(problem, copies, segments, clocks), segments.missing(clocks)


def _solved(problem: Problem, clusters: list[list[str]], leads: Iterable[int]) -> Iterator[_Segments]:
    # A wait for direct copies is for all of them: those of a trip are issued together.
    spreads = (False,) if problem.of_kind("gather_to_lds") else (True, False)
    for lead in leads:
        for spread in spreads:
            segments = _Segments(problem, clusters, lead, spread)
            if segments.solve():
                yield segments


def _clusters(problem: Problem, parts: int) -> list[list[str]] | None:
    """Products one after the other, each cut into parts by its steps; None where the parts would be too small.

    Within a part operations of one chain stand together, so that LLVM leaves their result in its place.
    """
    level = product_levels(problem)
    depth: dict[str, int] = {}
    mmas = {o.name for o in problem.of_kind("mma")}
    for name in sorted(mmas, key=problem.sequence.__getitem__):
        before = [d.source for d in problem.incoming[name] if d.kind == VALUE and not d.distance and d.source in mmas]
        depth[name] = max((depth[b] + 1 for b in before), default=0)
    found = []
    for number in sorted({level[m] for m in mmas}):
        own = sorted((m for m in mmas if level[m] == number), key=lambda m: (depth[m], problem.position[m]))
        size = len(own) // parts
        if size < LEAST_MMAS or len(own) % parts:
            return None
        found += [sorted(own[i : i + size], key=problem.position.__getitem__) for i in range(0, len(own), size)]
    return found


def _clocks(operation: Operation) -> int:
    return max((u.clocks for u in operation.uses if u.resource == "matrix"), default=operation.latency)


@dataclass
class _Segments:
    """The segment of each operation. `lead`: segments from a load to the first use of what it brings. `spread`: loads
    are shared out among a trip's segments of memory."""

    problem: Problem
    clusters: Sequence[Sequence[str]]
    lead: int
    spread: bool
    of: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.trip = 2 * len(self.clusters)
        self._cluster = {m: n for n, cluster in enumerate(self.clusters) for m in cluster}
        self._asynchronous = {o.name for o in self.problem.of_kind(*_LOADS)}
        self.edges = [(d.source, d.target, self._least(d.source, d.buffer) - self.trip * d.distance)
                      for d in self.problem.dependences]  # fmt: skip

    def _least(self, source: str, buffer: str) -> int:
        """Segments from an operation to one that depends on it: a load has its lead, unless it reads LDS."""
        if source in self._asynchronous:
            return max(self.lead, APART)
        return APART if buffer else 0

    def solve(self) -> bool:
        """Whether there are segments; then they are the least, but for those that go as late as they can."""
        self.of = dict.fromkeys(self.problem.by_name, 0)
        loads = [o.name for o in self.problem.operations if o.kind in _LOADS]
        for number, name in enumerate(loads if self.spread else []):
            self.of[name] = 2 * (number * len(self.clusters) // len(loads))
        limit = MOST_STAGES * self.trip
        while self._round() or self._push():
            if max(self.of.values()) >= limit:
                return False
        self._delay()
        return True

    def missing(self, clocks: int) -> int:
        """By how many clocks loads are under way too short; direct copies are waited for two barriers ahead of use."""
        ahead = self.lead - APART * bool(self.problem.of_kind("gather_to_lds"))
        return max(0, LOAD_CLOCKS - ahead * clocks)

    def _round(self) -> bool:
        """Matrix operations to the next segment of their cluster, all at once; what else there is to even ones."""
        before = dict(self.of)
        for number, cluster in enumerate(self.clusters):
            at = max(self.of[m] for m in cluster)
            at += (2 * number + 1 - at) % self.trip
            self.of.update(dict.fromkeys(cluster, at))
        for name, at in self.of.items():
            if name not in self._cluster:
                self.of[name] = at + at % 2
        return self.of != before

    def _push(self) -> bool:
        moved = False
        for source, target, least in self.edges:
            if self.of[target] < self.of[source] + least:
                self.of[target] = self.of[source] + least
                moved = True
        return moved

    def _delay(self) -> None:
        """Reads of LDS, and arithmetic on the way to matrix operations, as late as what follows lets them."""
        after: dict[str, list[tuple[str, int]]] = {}
        for source, target, least in self.edges:
            after.setdefault(source, []).append((target, least))
        names = [o.name for o in self.problem.operations if o.kind not in (*_LOADS, *_NOT_MOVED, "mma", "lds_write")]
        for name in sorted(names, key=self.problem.sequence.__getitem__, reverse=True):
            latest = min((self.of[t] - least for t, least in after.get(name, []) if t != name), default=0)
            self.of[name] = max(self.of[name], latest - latest % 2)


def _schedule(problem: Problem, copies: dict[str, int], segments: _Segments, clocks: int) -> Schedule:
    """Clocks in a segment only say the order: matrix operations by their steps, other operations the older trips first,
    and a write with the load of a later tile behind it."""
    width = max(clocks, max(len(c) for c in segments.clusters) + 4, 2 * len(problem.operations) + 4)
    cycles = {name: at * width for name, at in segments.of.items()}
    for cluster in segments.clusters:
        cycles.update({name: cycles[name] + 1 + n for n, name in enumerate(cluster)})
    for number, write in enumerate(problem.of_kind("lds_write")):
        loads = [d.source for d in problem.incoming[write.name] if d.kind == VALUE and not d.distance]
        cycles[write.name] += 1 + 2 * number
        for name in loads:  # behind the write that frees its registers, if it is in the same segment
            if problem.by_name[name].kind == "global_load" and cycles[name] % width == 0:
                cycles[name] += 2 + 2 * number
    return Schedule.of_cycles(problem, STRATEGY, segments.trip * width, cycles, copies)


def _with_barriers(problem: Problem, schedule: Schedule) -> tuple[Problem, Schedule]:
    """The barrier behind each segment."""
    mmas = {o.name for o in problem.of_kind("mma")}
    first = min(mmas, key=lambda m: schedule.slots[m].order)
    width = schedule.slots[first].clock - 1  # the first cluster is in segment 1, its first operation at clock 1 of it
    listed: list[tuple[str, Slot]] = []
    for number in range(schedule.interval // width):
        listed += [(n, schedule.slots[n]) for n in schedule.ordered if schedule.slots[n].clock // width == number]
        listed.append((f"{BARRIER}.{number}", Slot(schedule.stages - 1, 0, (number + 1) * width - 1)))
    slots = {name: replace(slot, order=order) for order, (name, slot) in enumerate(listed)}
    added = tuple(Operation(n, "barrier") for n in slots if n not in schedule.slots)
    return replace(problem, operations=(*problem.operations, *added)), replace(schedule, slots=slots)
