"""A progress line on standard error for long runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .machine import Machine

FIRST_AFTER = 2.0  # seconds before the first line
EVERY = 0.5  # seconds between two


class Progress:
    """Prints how far a run is, once it has taken over two seconds. show: a callback that takes (seconds, operations,
    part of the waves that have ended) instead of the line."""

    def __init__(self, show: Callable[[float, int, float], None] | None = None) -> None:
        self._show = show
        self._start = time.perf_counter()
        self._next = self._start + FIRST_AFTER
        self._printed = False

    @staticmethod
    def wanted(progress: bool | Callable[[float, int, float], None] | None) -> Progress | None:
        """The progress a caller asked for: None means only on a terminal."""
        if callable(progress):
            return Progress(progress)
        if progress or (progress is None and sys.stderr.isatty()):
            return Progress()
        return None

    def tick(self, machine: Machine) -> None:
        """Called at every jump of the program."""
        now = time.perf_counter()
        if now < self._next:
            return
        self._next = now + EVERY
        done = float(machine.ended.mean()) if machine.waves else 1.0
        if self._show is not None:
            self._show(now - self._start, machine.executed, done)
            return
        self._printed = True
        sys.stderr.write(
            f"\rsimulating: {now - self._start:.1f} s, {machine.executed:,} wave operations, "
            f"{done:.0%} of the waves ended"
        )
        sys.stderr.flush()

    def finish(self) -> None:
        """End the line."""
        if self._printed:
            sys.stderr.write("\n")
