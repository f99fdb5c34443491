"""Lower bounds of the interval, and longest paths, which solvers use as priorities."""

from __future__ import annotations

from math import gcd

from .problem import Dependence, Problem, SchedulingError


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


def recurrence_bound(problem: Problem) -> int:
    """Clocks that the slowest circle of dependences needs for a trip; no interval is shorter.

    Raises SchedulingError when a circle within one trip can never be kept.
    """
    circle = _positive(problem, 1 + sum(d.latency for d in problem.dependences))
    if circle:
        raise SchedulingError(
            f"problem '{problem.name}': {', '.join(circle)} need each other within one trip; one of these dependences "
            "needs a distance of a trip or more",
            operations=tuple(circle),
        )
    low, high = 1, 1 + max((d.latency for d in problem.dependences), default=0) * len(problem.operations)
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


def minimum_interval(problem: Problem) -> int:
    """The larger of both bounds."""
    return max(resource_bound(problem), recurrence_bound(problem))


def _positive(problem: Problem, interval: int) -> list[str]:
    """Names along a circle whose latencies exceed its trips at this interval; empty if there is none (Bellman-Ford)."""
    longest = {o.name: 0 for o in problem.operations}
    via: dict[str, Dependence] = {}
    moved = ""
    for _ in range(len(problem.operations) + 1):
        moved = ""
        for d in problem.dependences:
            if longest[d.source] + d.latency - interval * d.distance > longest[d.target]:
                longest[d.target] = longest[d.source] + d.latency - interval * d.distance
                via[d.target] = d
                moved = d.target
        if not moved:
            return []
    for _ in problem.operations:
        moved = via[moved].source
    circle = [moved]
    while via[circle[-1]].source != moved:
        circle.append(via[circle[-1]].source)
    return circle[::-1]


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
