"""The shortest interval at which an attempt succeeds."""

from __future__ import annotations

from collections.abc import Callable

Attempt = Callable[[int], dict[str, int] | None]
"""Cycles at an interval, both in steps, or None."""


def search(lowest: int, most: int, attempt: Attempt) -> tuple[int, dict[str, int]] | None:
    """The shortest interval found and its cycles: twice as far from the lower bound each time, then back by halves."""
    failed, more = lowest - 1, 0
    while True:
        interval = min(lowest + more, most)
        if interval <= failed:
            return None
        found = attempt(interval)
        if found is not None:
            break
        failed, more = interval, more * 2 or 1
    while failed + 1 < interval:
        middle = (failed + interval) // 2
        better = attempt(middle)
        if better is None:
            failed = middle
        else:
            interval, found = middle, better
    return interval, found
