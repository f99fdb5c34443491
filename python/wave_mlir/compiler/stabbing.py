"""The fewest points that hit every interval."""

from __future__ import annotations

from collections.abc import Sequence

Points = Sequence[int]
"""The points of an interval on their way from the producer to the consumer."""


def stab(intervals: Sequence[Points], given: set[int], allowed: set[int]) -> list[int] | None:
    """The fewest points of `allowed` that, with those `given`, hit every interval; None when some cannot be hit.

    Points of an interval that wraps around a loop form two stretches, so the greedy choice at the end of the shortest
    interval is tried from each point of one interval and the best result kept.
    """
    left = [tuple(p for p in points if p in allowed) for points in intervals if not given & set(points)]
    if any(not points for points in left):
        return None
    return _fewest(left, _greedy(left))


def _greedy(left: list[tuple[int, ...]]) -> list[int]:
    """A solution, not always the least: the point that hits most; of equals the one nearest before a consumer."""
    chosen: list[int] = []
    while left:
        counts: dict[int, int] = {}
        nearness: dict[int, int] = {}
        for points in left:
            for position, p in enumerate(points):
                counts[p] = counts.get(p, 0) + 1
                nearness[p] = max(nearness.get(p, -len(points)), position - len(points))
        best = max(counts, key=lambda p: (counts[p], nearness[p], p))
        chosen.append(best)
        left = [points for points in left if best not in points]
    return sorted(chosen)


_BUDGET = 20_000


def _fewest(left: list[tuple[int, ...]], start: list[int]) -> list[int]:
    """Branch and bound below the size of `start`: some point of the shortest interval must be chosen.

    Points that hit the same intervals count once (the last of them), so the search stays small.
    """
    sets = [frozenset(points) for points in left]
    hits: dict[frozenset[int], int] = {}
    for p in sorted({p for points in left for p in points}):
        hits[frozenset(i for i, points in enumerate(sets) if p in points)] = p
    useful = [p for hit, p in hits.items() if not any(hit < other for other in hits)]
    covers = {p: frozenset(i for i, points in enumerate(sets) if p in points) for p in useful}
    best = list(start)
    budget = _BUDGET

    def search(missing: frozenset[int], chosen: list[int]) -> None:
        nonlocal best, budget
        if not missing:
            if len(chosen) < len(best):
                best = sorted(chosen)
            return
        if len(chosen) + 1 >= len(best) or budget <= 0:
            return
        budget -= 1
        narrow = min(missing, key=lambda i: sum(i in c for c in covers.values()))
        for p in sorted((p for p in useful if narrow in covers[p]), key=lambda p: (-len(covers[p] & missing), -p)):
            search(missing - covers[p], [*chosen, p])

    search(frozenset(range(len(sets))), [])
    return best
