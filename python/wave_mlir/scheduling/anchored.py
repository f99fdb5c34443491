"""Modulo scheduling around operations whose clocks are given.

Where one unit decides the interval, its operations are best put first, one behind the other; all others then have
windows: after what they need, before what needs them, both through chains of dependences. They are placed by the
ends of their windows, each as early as its window and the resources allow. One that finds no place takes it by
force, as in iterative modulo scheduling; given clocks stay.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping

from .problem import Dependence, Problem
from .reservation import Reservation

_FAR = 1 << 40


def solve_around(
    problem: Problem, interval: int, step: int, given: Mapping[str, int], budget: int = 12
) -> dict[str, int] | None:
    """Cycles of all operations, in steps, at one interval (in steps); None when there is no way, or none was found.

    `given` has cycles that stay. `budget` placements for each other operation are made before giving up.
    """
    attempt = _Around(problem, interval, step, given)
    return attempt.cycles if attempt.possible() and attempt.run(budget * len(problem.operations)) else None


class _Around:
    def __init__(self, problem: Problem, interval: int, step: int, given: Mapping[str, int]) -> None:
        self.problem = problem
        self.interval = interval
        self.step = step
        self.given = given
        self.table = Reservation(problem, interval, step)
        self.cycles = dict(given)
        self.first = dict.fromkeys(problem.by_name, -_FAR) | dict(given)
        self.end = dict.fromkeys(problem.by_name, _FAR) | dict(given)
        self.tried: dict[str, int] = {}
        self.fixed = Reservation(problem, interval, step)
        self.rank: dict[str, tuple[int, int]] = {}
        self.queue: list[tuple[tuple[int, int], str]] = []

    def _ways(self, d: Dependence) -> int:
        """Steps from issue of the source to that of the target, at least."""
        return d.latency // self.step - self.interval * d.distance

    def possible(self) -> bool:
        """Compute the windows; whether each has a clock in it and the given clocks keep what is between them."""
        for name, cycle in self.given.items():
            operation = self.problem.by_name[name]
            if not self.table.starts(operation) >> (cycle % self.interval) & 1:
                return False
            self.table.place(operation, cycle)
            self.fixed.place(operation, cycle)
        for _ in range(len(self.problem.operations) + 1):
            if not self._tighten():
                return all(self.first[n] <= self.end[n] for n in self.first)
        return False

    def _tighten(self) -> bool:
        """One round of all dependences; whether a window became smaller."""
        changed = False
        for d in self.problem.dependences:
            way = self._ways(d)
            if self.first[d.source] + way > self.first[d.target] and self.first[d.source] > -_FAR:
                if d.target in self.given:
                    self.first[d.target] = _FAR  # no window: the given clock is too early
                    return False
                self.first[d.target] = self.first[d.source] + way
                changed = True
            if self.end[d.target] - way < self.end[d.source] and self.end[d.target] < _FAR:
                if d.source in self.given:
                    self.end[d.source] = -_FAR
                    return False
                self.end[d.source] = self.end[d.target] - way
                changed = True
        return changed

    def run(self, budget: int) -> bool:
        self.rank = {n: (self.end[n], self.problem.sequence[n]) for n in self.first}
        self.queue = [(self.rank[n], n) for n in self.rank if n not in self.given]
        heapq.heapify(self.queue)
        while self.queue:
            if budget == 0:
                return False
            budget -= 1
            _, name = heapq.heappop(self.queue)
            if not self._place(name):
                return False
        return True

    def _earliest(self, name: str) -> int:
        earliest = self.first[name]
        for d in self.problem.incoming[name]:
            if d.source in self.cycles and d.source != name:
                earliest = max(earliest, self.cycles[d.source] + self._ways(d))
        if earliest == -_FAR:  # nothing before it: not more than a trip ahead of what comes after
            ends = [
                self.cycles[d.target] - self._ways(d) for d in self.problem.outgoing[name] if d.target in self.cycles
            ]
            last = min([self.end[name], *ends])
            earliest = last - self.interval + 1 if last < _FAR else 0
        return earliest

    def _place(self, name: str) -> bool:
        operation = self.problem.by_name[name]
        starts = self.table.starts(operation)
        earliest = self._earliest(name)
        cycle = self._next(starts, earliest)
        if cycle is None or cycle > self.end[name]:
            cycle = max(earliest, self.tried.get(name, -_FAR) + 1)
            if cycle > self.end[name]:
                cycle = min(earliest, self.end[name])
            free = self._free_of_given(operation.name, cycle)
            if free is None:
                return False
            cycle = free
            for other in self.table.in_the_way(operation, cycle):
                self._evict(other)
        self.table.place(operation, cycle)
        self.cycles[name] = self.tried[name] = cycle
        self._evict_broken(name)
        return True

    def _next(self, starts: int, earliest: int) -> int | None:
        """The first cycle from `earliest` on whose place modulo the interval is in the set."""
        if not starts:
            return None
        by = earliest % self.interval
        turned = (starts >> by | starts << (self.interval - by)) & ((1 << self.interval) - 1)
        return earliest + (turned & -turned).bit_length() - 1

    def _free_of_given(self, name: str, cycle: int) -> int | None:
        """The first cycle from one on, within the window, at which only operations that may move are in the way."""
        starts = self.fixed.starts(self.problem.by_name[name])
        found = self._next(starts, cycle)
        if found is None or found > self.end[name]:
            low = max(self.first[name], self.end[name] - self.interval + 1)
            found = self._next(starts, low)
        return found if found is not None and found <= self.end[name] else None

    def _evict_broken(self, name: str) -> None:
        """Take out what the operation just placed comes too late or too early for."""
        here = self.cycles[name]
        for d in self.problem.outgoing[name]:
            if d.target != name and d.target in self.cycles and self.cycles[d.target] < here + self._ways(d):
                self._evict(d.target)
        for d in self.problem.incoming[name]:
            if d.source != name and d.source in self.cycles and here < self.cycles[d.source] + self._ways(d):
                self._evict(d.source)

    def _evict(self, name: str) -> None:
        if name in self.cycles and name not in self.given:
            del self.cycles[name]
            self.table.remove(name)
            heapq.heappush(self.queue, (self.rank[name], name))
