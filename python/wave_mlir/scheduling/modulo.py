"""Iterative modulo scheduling with backtracking.

B. R. Rau, "Iterative Modulo Scheduling", 1994: at each interval from the lower bound on, operations are placed by
priority at the first clock that suits those placed before; where none does, the operation takes its place by force and
those in its way are placed anew. A budget of placements decides when an interval is given up.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Mapping

from .anchored import solve_around
from .bounds import critical_circle, heights, minimum_interval, quantum
from .problem import NoSchedule, Operation, Problem
from .reservation import Reservation
from .schedule import Schedule
from .searching import Attempt, search

BUDGET = 6
"""Placements for each operation before an interval is given up (Rau: 6 is near the best for time and result)."""

MOST = 800
"""Placements at most before an interval of a large problem is given up."""

SHUFFLES, SMALL = 4, 150
"""Where the interval is not at the bound, problems of up to SMALL operations are tried in so many other orders."""

SLACK = 4
"""An interval of more than so many times the lower bound is not tried."""


def modulo(problem: Problem, copies: Mapping[str, int] | None = None, *, budget: int = BUDGET) -> Schedule:
    """The schedule of the shortest interval found. Raises NoSchedule when there is none of a sensible length.

    Two orders of placing operations are tried: by the way to the end, and by windows around the operation that most
    others depend on (a barrier, if there is one); then some orders near the first one.
    """
    looser = problem.with_copies(copies or {})
    step = quantum(looser)
    lowest = -(-minimum_interval(looser) // step)
    most = SLACK * lowest + 8
    found: tuple[int, dict[str, int]] | None = None
    for attempt in _attempts(looser, step, budget):
        better = search(lowest, most if found is None else found[0] - 1, attempt)
        found = better or found
        if found is not None and found[0] == lowest:
            break
    if found is None:
        raise NoSchedule(
            f"problem '{problem.name}': no schedule of an interval up to {most * step} clocks found; split the loop's "
            "body, or order it by hand",
            operations=tuple(critical_circle(looser)),
        )
    clocks = {name: cycle * step for name, cycle in found[1].items()}
    return Schedule.of_cycles(problem, "modulo", found[0] * step, clocks, copies)


def _attempts(problem: Problem, step: int, budget: int) -> list[Attempt]:
    """Ways to schedule at one interval."""
    most = max(problem.by_name, key=lambda n: len(problem.incoming[n]) + len(problem.outgoing[n]))
    count = len(problem.operations)
    placements = min(budget * count, max(MOST, 2 * count))

    def shuffled(interval: int) -> dict[str, int] | None:
        tries = (solve(problem, interval, step, placements // 2, seed) for seed in range(1, SHUFFLES + 1))
        return next((t for t in tries if t is not None), None)

    return [
        lambda interval: solve(problem, interval, step, placements),
        lambda interval: solve_around(problem, interval, step, {most: 0}, -(-placements // count)),
        *([shuffled] if count <= SMALL else []),
    ]


def solve(problem: Problem, interval: int, step: int, budget: int, seed: int = 0) -> dict[str, int] | None:
    """Cycles of each operation at one interval, both in steps; None when the budget was used up.

    `seed` chooses an order of placing: 0 is that of the ways to the end, others change these by up to a tenth.
    """
    return _Interval(problem, interval, step, seed).run(budget)


class _Interval:
    """One interval."""

    def __init__(self, problem: Problem, interval: int, step: int, seed: int) -> None:
        self.problem = problem
        self.interval = interval
        self.step = step
        self.table = Reservation(problem, interval, step)
        self.empty = Reservation(problem, interval, step)
        far = heights(problem, interval * step)
        chance = random.Random(seed)
        self.rank = {
            name: (-far[name] * (1 + (chance.random() / 10 if seed else 0)), problem.sequence[name])
            for name in sorted(far, key=problem.sequence.__getitem__)
        }
        self.cycles: dict[str, int] = {}
        self.last: dict[str, int] = {}
        self.queue = [(rank, name) for name, rank in self.rank.items()]
        heapq.heapify(self.queue)

    def run(self, budget: int) -> dict[str, int] | None:
        while self.queue:
            if budget == 0:
                return None
            budget -= 1
            _, name = heapq.heappop(self.queue)
            operation = self.problem.by_name[name]
            if not self._place(operation):
                return None
        return self.cycles

    def _earliest(self, name: str) -> int:
        earliest = 0
        for d in self.problem.incoming[name]:
            if d.source in self.cycles and d.source != name:
                ready = self.cycles[d.source] + d.latency // self.step - self.interval * d.distance
                earliest = max(earliest, ready)
        return earliest

    def _place(self, operation: Operation) -> bool:
        name, earliest = operation.name, self._earliest(operation.name)
        starts = self.table.starts(operation)
        if starts:
            turned = self._from(starts, earliest)
            cycle = earliest + (turned & -turned).bit_length() - 1
        else:
            if not self.empty.starts(operation):
                return False
            cycle = max(earliest, self.last.get(name, -1) + 1)
            for other in self.table.in_the_way(operation, cycle):
                self._evict(other)
        self.table.place(operation, cycle)
        self.cycles[name] = self.last[name] = cycle
        self._evict_late(name)
        return True

    def _from(self, starts: int, earliest: int) -> int:
        """The set of starts counted from `earliest` on, around the interval."""
        by = earliest % self.interval
        return (starts >> by | starts << (self.interval - by)) & ((1 << self.interval) - 1)

    def _evict_late(self, name: str) -> None:
        """Take out those that now come too early after the one just placed."""
        for d in self.problem.outgoing[name]:
            other = self.cycles.get(d.target)
            if d.target != name and other is not None:
                ready = self.cycles[name] + d.latency // self.step - self.interval * d.distance
                if other < ready:
                    self._evict(d.target)

    def _evict(self, name: str) -> None:
        if name in self.cycles:
            del self.cycles[name]
            self.table.remove(name)
            heapq.heappush(self.queue, (self.rank[name], name))
