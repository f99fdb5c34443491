"""Places for LDS buffers in which those that are needed at one time are apart, with the least bytes that takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, islice, permutations

from .lds import aligned

Lifetime = tuple[int, int] | None
"""The first and the last point at which a buffer is needed, both included; None: it is never accessed."""

_EXACT = 6
"""Buffers up to which every order is tried."""
_TRIES = 3000
"""Orders that are tried of more buffers."""


def places(sizes: Sequence[int], lifetimes: Sequence[Lifetime]) -> list[int]:
    """A byte offset for each buffer, aligned, such that buffers with a common point have no common byte.

    Buffers are placed one after the other, each as low as it goes, in the order that gives the least end. Of up to six
    all orders are tried, of more those that swap two of the best one until that changes nothing, or `least` is met.
    """
    goal = least(sizes, lifetimes)
    best: list[int] = []
    for order in _orders(sizes, lifetimes):
        offsets = _placed(order, sizes, lifetimes)
        if not best or end_of(sizes, offsets) < end_of(sizes, best):
            best = offsets
        if end_of(sizes, best) <= goal:
            return best
    if len(sizes) <= _EXACT:
        return best
    return _improved(best, sizes, lifetimes, goal)


def least(sizes: Sequence[int], lifetimes: Sequence[Lifetime]) -> int:
    """Bytes that no places can do without: those of the buffers needed at the point where they are most."""
    most = max(sizes, default=0)
    for point in {lifetime[0] for lifetime in lifetimes if lifetime is not None}:
        there = [s for s, lifetime in zip(sizes, lifetimes, strict=True) if _is_needed(lifetime, point)]
        unused = max(aligned(s) - s for s in there)  # the last one need not end at a multiple of the alignment
        most = max(most, sum(aligned(s) for s in there) - unused)
    return most


def end_of(sizes: Sequence[int], offsets: Sequence[int]) -> int:
    """Bytes from the start of LDS to the end of the last buffer."""
    return max((o + s for o, s in zip(offsets, sizes, strict=True)), default=0)


def _is_needed(lifetime: Lifetime, point: int) -> bool:
    return lifetime is not None and lifetime[0] <= point <= lifetime[1]


def _orders(sizes: Sequence[int], lifetimes: Sequence[Lifetime]) -> Iterator[tuple[int, ...]]:
    """Orders to begin with: large ones first, long-lived ones first, by the time they are needed, as given; or all."""
    numbers = tuple(range(len(sizes)))
    length = [0 if lifetime is None else lifetime[1] - lifetime[0] + 1 for lifetime in lifetimes]
    start = [0 if lifetime is None else lifetime[0] for lifetime in lifetimes]
    yield tuple(sorted(numbers, key=lambda n: (-sizes[n], n)))
    yield tuple(sorted(numbers, key=lambda n: (-length[n], -sizes[n], n)))
    yield tuple(sorted(numbers, key=lambda n: (-length[n] * sizes[n], n)))
    yield tuple(sorted(numbers, key=lambda n: (start[n], -sizes[n], n)))
    yield from permutations(numbers) if len(sizes) <= _EXACT else [numbers]


def _improved(offsets: list[int], sizes: Sequence[int], lifetimes: Sequence[Lifetime], goal: int) -> list[int]:
    """Places from which no swap of two buffers in their order leads to a lower end, or a lower sum of all places."""
    best, order = offsets, sorted(range(len(sizes)), key=lambda n: (offsets[n], n))
    tries = _TRIES
    while tries > 0 and end_of(sizes, best) > goal:
        found = None
        for a, b in islice(combinations(range(len(order)), 2), tries):
            tries -= 1
            swapped = list(order)
            swapped[a], swapped[b] = swapped[b], swapped[a]
            placed = _placed(swapped, sizes, lifetimes)
            if (end_of(sizes, placed), sum(placed)) < (end_of(sizes, best), sum(best)):
                best, found = placed, swapped
                break
        if found is None:
            return best
        order = found
    return best


def _placed(order: Sequence[int], sizes: Sequence[int], lifetimes: Sequence[Lifetime]) -> list[int]:
    offsets = [0] * len(sizes)
    done: list[int] = []
    for number in order:
        taken = sorted((offsets[o], offsets[o] + sizes[o]) for o in done if _together(lifetimes[o], lifetimes[number]))
        at = 0
        for start, end in taken:
            if at + sizes[number] > start:
                at = max(at, aligned(end))
        offsets[number] = at
        done.append(number)
    return offsets


def _together(a: Lifetime, b: Lifetime) -> bool:
    """Whether two lifetimes have a point in common."""
    return a is not None and b is not None and a[0] <= b[1] and b[0] <= a[1]
