"""Modulo scheduling by rows: which clock of the steady loop an operation has is decided apart from its trip.

Operations that do not depend on each other around a circle can be moved apart by whole trips, which changes nothing of
what is used when. So a placement evicts what is in its way and what its own circle of dependences forbids; everything
else that comes too early is lifted by whole intervals. Where all issue slots are needed, only this finds the places.
When all operations have a row, trips are chosen anew so that results live no longer than they have to.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping

from .bounds import heights, minimum_interval, quantum
from .problem import VALUE, Dependence, Operation, Problem
from .reservation import Reservation
from .schedule import MOST_STAGES, Schedule
from .searching import search

BUDGET = 800
"""Placements before an interval is given up."""
LEAST = 4
"""With fewer of them for each operation none is tried: that takes time and finds nothing."""
CHOICES = 8
"""Places that are compared for an operation that finds no free one."""

LARGE = 8
"""Operations of a circle whose centre is placed first."""
_CENTRE = 16
"""How many times dearer it is to evict that one."""
_FAR = 1 << 40


def by_rows(problem: Problem, copies: Mapping[str, int] | None = None, *, below: int) -> Schedule | None:
    """The schedule of the shortest interval found below `below` clocks; None if none was, or for a large loop."""
    if LEAST * len(problem.operations) > BUDGET:
        return None
    looser = problem.with_copies(copies or {})
    step = quantum(looser)
    lowest = -(-minimum_interval(looser) // step)
    found = search(lowest, below // step - 1, lambda interval: solve_rows(looser, interval, step, BUDGET))
    if found is None:
        return None
    clocks = {name: cycle * step for name, cycle in found[1].items()}
    made = Schedule.of_cycles(problem, "modulo", found[0] * step, clocks, copies)
    return made if made.interval < below and made.stages <= MOST_STAGES else None


def solve_rows(problem: Problem, interval: int, step: int, budget: int) -> dict[str, int] | None:
    """Cycles of each operation at one interval, both in steps; None when `budget` placements were used up."""
    rows = _Rows(problem, interval, step)
    return rows.settled() if rows.run(budget) else None


def components(problem: Problem) -> dict[str, int]:
    """The number of each operation's component: operations on a circle of dependences have the same.

    Numbers are in the order of dependences between components.
    """
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: dict[str, int] = {}
    count = 0
    for root in problem.by_name:
        if root in index:
            continue
        work = [(root, iter(problem.outgoing[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        while work:
            name, edges = work[-1]
            following = next((d.target for d in edges if d.target not in found), None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == index[name]:
                    while True:
                        member = stack.pop()
                        found[member] = count
                        if member == name:
                            break
                    count += 1
            elif following in index:
                low[name] = min(low[name], index[following])
            else:
                index[following] = low[following] = len(index)
                stack.append(following)
                work.append((following, iter(problem.outgoing[following])))
    return {name: count - 1 - number for name, number in found.items()}


class _Rows:
    """One interval."""

    def __init__(self, problem: Problem, interval: int, step: int) -> None:
        self.problem = problem
        self.interval = interval
        self.step = step
        self.table = Reservation(problem, interval, step)
        self.empty = Reservation(problem, interval, step)
        self.component = components(problem)
        self.members: dict[int, list[str]] = {}
        for name in problem.by_name:
            self.members.setdefault(self.component[name], []).append(name)
        far = heights(problem, interval * step)
        self.centres = self._centres()
        self.rank = {name: (name not in self.centres, -far[name], problem.sequence[name]) for name in problem.by_name}
        self.cycles: dict[str, int] = {}
        self.last: dict[str, int] = {}
        self.evicted = dict.fromkeys(problem.by_name, 0)
        self.queue = [(rank, name) for name, rank in self.rank.items()]
        heapq.heapify(self.queue)

    def _centres(self) -> set[str]:
        """Of each large circle the operation that most of it depends on, such as a barrier: the others go by it."""
        found = set()
        for names in self.members.values():
            if len(names) >= LARGE:
                mine = self.component[names[0]]
                degree = {
                    n: sum(self.component[d.source] == mine for d in self.problem.incoming[n])
                    + sum(self.component[d.target] == mine for d in self.problem.outgoing[n])
                    for n in names
                }
                found.add(max(names, key=degree.__getitem__))
        return found

    def _way(self, d: Dependence) -> int:
        """Steps from issue of the source to that of the target, at least."""
        return d.latency // self.step - self.interval * d.distance

    def run(self, budget: int) -> bool:
        """Place all operations; False when the budget is used up, or one never fits."""
        while self.queue:
            if budget == 0:
                return False
            budget -= 1
            _, name = heapq.heappop(self.queue)
            if not self._place(self.problem.by_name[name]):
                return False
        return True

    # --- placing -------------------------------------------------------------------------------
    def _place(self, operation: Operation) -> bool:
        name = operation.name
        own = self.empty.starts(operation)
        if not own:
            return False
        earliest, latest = self._window(name)
        starts = self.table.starts(operation)
        cycle = self._next(starts, earliest) if starts else None
        if cycle is None or cycle > latest:
            again = max(earliest, self.last.get(name, -1) + 1)
            cycle = self._least_in_the_way(operation, own, again if again <= latest else earliest, latest)
            for other in self.table.in_the_way(operation, cycle):
                self._evict(other)
        self.table.place(operation, cycle)
        self.cycles[name] = self.last[name] = cycle
        self._mend(name)
        return True

    def _window(self, name: str) -> tuple[int, int]:
        """The first cycle of an operation, and the last that its own circle allows without evicting."""
        mine = self.component[name]
        bounds = [0 if len(self.members[mine]) == 1 else -_FAR, 0]  # by its own circle, by others
        for d in self.problem.incoming[name]:
            if d.source in self.cycles and d.source != name:
                other = self.component[d.source] != mine
                bounds[other] = max(bounds[other], self.cycles[d.source] + self._way(d))
        ends = [
            self.cycles[d.target] - self._way(d)
            for d in self.problem.outgoing[name]
            if d.target in self.cycles and d.target != name and self.component[d.target] == mine
        ]
        earliest, latest = max(bounds), min(ends, default=_FAR)
        if earliest > latest >= bounds[0]:  # the circle is lifted then
            earliest = max(bounds[0], latest - self.interval + 1)
        return earliest, max(latest, earliest) if latest >= bounds[0] else _FAR

    def _next(self, starts: int, earliest: int) -> int:
        """The first cycle from `earliest` on whose row is in the set."""
        by = earliest % self.interval
        turned = (starts >> by | starts << (self.interval - by)) & ((1 << self.interval) - 1)
        return earliest + (turned & -turned).bit_length() - 1

    def _least_in_the_way(self, operation: Operation, own: int, earliest: int, latest: int) -> int:
        """Of the first places that the operation could have, the one that evicts least: work, and how often before."""
        clocks = [self._next(own, earliest)]
        while len(clocks) < CHOICES and clocks[-1] < latest:
            clocks.append(self._next(own, clocks[-1] + 1))
        if clocks[-1] > latest and len(clocks) > 1:
            clocks.pop()
        costs = [sum(map(self._weight, names)) for names in self.table.in_the_way_at(operation, clocks)]
        return clocks[costs.index(min(costs))]

    def _weight(self, name: str) -> int:
        clocks = max((u.clocks for u in self.problem.by_name[name].uses), default=0)
        return (1 + self.evicted[name]) * (self.step + clocks) * (_CENTRE if name in self.centres else 1)

    def _mend(self, name: str) -> None:
        """Evict what the operation's own circle forbids, and lift what else comes too early."""
        mine = self.component[name]
        late = 0
        for d in self.problem.incoming[name]:
            if d.source in self.cycles and d.source != name:
                missing = self.cycles[d.source] + self._way(d) - self.cycles[name]
                if missing > 0 and self.component[d.source] == mine:
                    self._evict(d.source)
                late = max(late, missing if self.component[d.source] != mine else 0)
        for d in self.problem.outgoing[name]:
            other = self.cycles.get(d.target)
            early = d.target != name and other is not None and other < self.cycles[name] + self._way(d)
            if early and self.component[d.target] == mine:
                self._evict(d.target)
        self._shift(mine, -(-late // self.interval))
        self._lift_behind([mine])

    def _lift_behind(self, changed: list[int]) -> None:
        """Move components by whole intervals behind what they wait for, those first that others wait for."""
        heapq.heapify(changed)
        while changed:
            number = heapq.heappop(changed)
            for name in self.members[number]:
                if name in self.cycles:
                    for d in self.problem.outgoing[name]:
                        target = self.component[d.target]
                        if target != number and d.target in self.cycles:
                            late = self.cycles[name] + self._way(d) - self.cycles[d.target]
                            if late > 0:
                                self._shift(target, -(-late // self.interval))
                                heapq.heappush(changed, target)

    def _shift(self, component: int, trips: int) -> None:
        for name in self.members[component]:
            if name in self.cycles:
                self.cycles[name] += trips * self.interval

    def _evict(self, name: str) -> None:
        if name in self.cycles:
            del self.cycles[name]
            self.evicted[name] += 1
            self.table.remove(name)
            heapq.heappush(self.queue, (self.rank[name], name))

    # --- trips ---------------------------------------------------------------------------------
    def settled(self) -> dict[str, int]:
        """The cycles with each component in the earliest trip it can have, then in later ones where registers gain."""
        order = sorted(self.members)
        into = {number: self._edges(number, incoming=True) for number in order}
        for number in order:
            slack = [self.cycles[d.target] - self.cycles[d.source] - self._way(d) for d in into[number]]
            self._shift(number, -(min(slack) // self.interval) if slack else 0)
        for number in reversed(order):
            edges = self._edges(number, incoming=False)
            slack = [self.cycles[d.target] - self.cycles[d.source] - self._way(d) for d in edges]
            later = min(slack) // self.interval if slack else 0
            if later > 0 and self._gain(edges, into[number], later) > 0:
                self._shift(number, later)
        return self.cycles

    def _edges(self, number: int, *, incoming: bool) -> list[Dependence]:
        """Dependences that enter or leave a component."""
        found = []
        for name in self.members[number]:
            for d in self.problem.incoming[name] if incoming else self.problem.outgoing[name]:
                if self.component[d.source if incoming else d.target] != number:
                    found.append(d)
        return found

    def _gain(self, leaving: list[Dependence], entering: list[Dependence], trips: int) -> int:
        """Registers times trips that are saved if a component is so many trips later."""
        sizes = self.problem.by_name
        mine = dict.fromkeys(d.source for d in leaving if d.kind == VALUE)
        held = 0
        for d in entering:
            if d.kind == VALUE:
                end = self.cycles[d.target] + trips * self.interval + d.distance * self.interval
                ends = [
                    self.cycles[o.target] + o.distance * self.interval
                    for o in self.problem.outgoing[d.source]
                    if o.kind == VALUE
                ]
                held += sizes[d.source].registers * max(0, end - max(ends)) // self.interval
        return sum(sizes[name].registers * trips for name in mine) - held
