"""Lower bounds of the interval, and longest paths, which solvers use as priorities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import gcd

from .problem import ORDER, Dependence, Problem, SchedulingError, Use


def quantum(problem: Problem) -> int:
    """The largest number of clocks that divides all times of a problem; schedules need look at multiples of it only."""
    times = [d.latency for d in problem.dependences]
    times += [t for o in problem.operations for u in o.uses for t in (u.clocks, u.start)]
    return gcd(*times) or 1


def resource_bound(problem: Problem) -> int:
    """Clocks that the busiest resource needs for one trip; no interval is shorter."""
    work = {r.name: 0 for r in problem.resources}
    for operation in problem.operations:
        for use in operation.uses:
            work[use.resource] += use.clocks * use.amount
    longest = max((u.clocks for o in problem.operations for u in o.uses if _whole(problem, u.resource)), default=0)
    return max([1, longest, *(-(-work[r.name] // r.capacity) for r in problem.resources)])


def _whole(problem: Problem, resource: str) -> bool:
    return next(r.capacity for r in problem.resources if r.name == resource) == 1


def recurrence_bound(problem: Problem, least: int = 1) -> int:
    """Clocks that the slowest circle of dependences needs for a trip, or `least` if that is more.

    Raises SchedulingError when a circle within one trip can never be kept.
    """
    if not _positive(problem, least):
        return least
    high = 1 + sum(d.latency for d in problem.dependences)
    circle = _positive(problem, high)
    if circle:
        raise SchedulingError(
            f"problem '{problem.name}': {', '.join(circle)} need each other within one trip; one of these dependences "
            "needs a distance of a trip or more",
            operations=tuple(circle),
        )
    low = least + 1
    while low < high:
        middle = (low + high) // 2
        if _positive(problem, middle):
            low = middle + 1
        else:
            high = middle
    return low


def critical_circle(problem: Problem) -> list[str]:
    """Operations of a circle of dependences that keeps the interval at `recurrence_bound`; none if nothing does."""
    bound = recurrence_bound(problem)
    return _positive(problem, bound - 1) if bound > 1 else []


def implied(problem: Problem) -> list[Dependence]:
    """Dependences that follow from those there are and from resources of one unit.

    All operations that come after one operation and before another one have to fit between these one after the other:
    the accesses between two barriers take as long as LDS needs for all of them. Looked at are pairs that do not use the
    resource themselves.
    """
    found: list[Dependence] = []
    for resource in problem.resources:
        if resource.capacity == 1:
            uses = {o.name: u for o in problem.operations for u in o.uses if u.resource == resource.name}
            for first in problem.operations:
                if first.name not in uses:
                    found += _implied(problem, first.name, uses, f"what is between on {resource.name}")
    return found


def _implied(problem: Problem, first: str, uses: Mapping[str, Use], reason: str) -> list[Dependence]:
    """The dependences on one operation that follow from one resource, of which `uses` says who uses it when."""
    between: dict[tuple[str, int], dict[str, tuple[int, int]]] = {}
    for a in problem.outgoing[first]:
        if a.target in uses:
            for b in problem.outgoing[a.target]:
                if b.target not in uses:
                    ways = between.setdefault((b.target, a.distance + b.distance), {})
                    head, tail = ways.get(a.target, (a.latency, b.latency))
                    ways[a.target] = max(head, a.latency), max(tail, b.latency)
    found = []
    for (last, distance), ways in between.items():
        if len(ways) > 1:
            work = sum(uses[n].clocks for n in ways)
            head = min(h + uses[n].start for n, (h, _) in ways.items())
            tail = min(t - uses[n].start - uses[n].clocks for n, (_, t) in ways.items())
            found.append(Dependence(first, last, distance, head + work + tail, ORDER, reason))
    return found


def minimum_interval(problem: Problem) -> int:
    """The larger of both bounds, with what dependences and resources imply together."""
    stronger = replace(problem, dependences=(*problem.dependences, *implied(problem)))
    return recurrence_bound(stronger, resource_bound(problem))


def _positive(problem: Problem, interval: int) -> list[str]:
    """Names along a circle whose latencies exceed its trips at this interval; empty if there is none.

    Bellman-Ford, in an order in which all dependences within a trip are met in one round; a circle in what was last
    improved by what is one to be found.
    """
    longest = dict.fromkeys(problem.by_name, 0)
    via: dict[str, str] = {}
    rank = problem.position
    edges = sorted(
        ((d.source, d.target, d.latency - interval * d.distance) for d in problem.dependences), key=lambda e: rank[e[0]]
    )
    while True:
        moved = False
        for source, target, way in edges:
            if longest[source] + way > longest[target]:
                longest[target] = longest[source] + way
                via[target] = source
                moved = True
        circle = _circle(via)
        if circle or not moved:
            return circle


def _circle(via: dict[str, str]) -> list[str]:
    """A circle in a map from each name to the one before it."""
    done: set[str] = set()
    for start in via:
        way: dict[str, None] = {}
        name: str | None = start
        while name is not None and name not in done and name not in way:
            way[name] = None
            name = via.get(name)
        if name is not None and name in way:
            names = list(way)
            return names[names.index(name) :][::-1]
        done.update(way)
    return []


def heights(problem: Problem, interval: int) -> dict[str, int]:
    """For each operation the longest way to the end: latencies minus the interval for each trip crossed.

    `interval` is at least the recurrence bound, else this does not end well: then SchedulingError is raised.
    """
    return _longest(problem, interval, backwards=True)


def depths(problem: Problem, interval: int) -> dict[str, int]:
    """For each operation the longest way from the beginning, as `heights`."""
    return _longest(problem, interval, backwards=False)


def _longest(problem: Problem, interval: int, *, backwards: bool) -> dict[str, int]:
    far = {o.name: (o.latency if backwards else 0) for o in problem.operations}
    order = sorted(problem.dependences, key=lambda d: problem.sequence[d.source], reverse=backwards)
    for _ in range(len(problem.operations) + 1):
        changed = False
        for d in order:
            near, here = (d.target, d.source) if backwards else (d.source, d.target)
            way = far[near] + d.latency - interval * d.distance
            if way > far[here]:
                far[here] = way
                changed = True
        if not changed:
            return far
    raise SchedulingError(f"problem '{problem.name}': the interval {interval} is below its recurrence bound")
