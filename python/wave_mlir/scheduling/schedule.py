"""The answer to a problem: when each operation is issued, and what follows from that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from .problem import Problem, SchedulingError

MOST_STAGES, MOST_UNROLL = 64, 1024
"""Limits of a schedule: trips under way at once, each of which is in the code of prologue and epilogue, and trips that
the emitted loop's body has. What is useful is far below."""


@dataclass(frozen=True)
class Slot:
    """Where an operation stands: the trip it belongs to is `stage` behind the newest one; `order` counts the steady
    loop's operations from 0; `clock` is the clock of the steady loop at which it is issued."""

    stage: int
    order: int
    clock: int


@dataclass(frozen=True)
class Schedule:
    """A schedule of the loop called `name`.

    `interval` is the clocks from one trip's start to the next one's. `slots` are in the order of the steady loop.
    `copies` says how many copies each LDS buffer has (1 for those not named); `unroll` how many trips the body of the
    emitted loop has.
    """

    name: str
    strategy: str
    interval: int
    slots: Mapping[str, Slot]
    copies: Mapping[str, int] = field(default_factory=dict)
    unroll: int = 1

    @staticmethod
    def of_cycles(
        problem: Problem,
        strategy: str,
        interval: int,
        cycles: Mapping[str, int],
        copies: Mapping[str, int] | None = None,
        unroll: int = 1,
    ) -> Schedule:
        """The schedule that issues each operation at a clock counted from its own trip's start (any sign).

        Stages are made to start at 0; of operations issued at one clock, the one that another needs goes first.
        """
        lowest = min((c // interval for c in cycles.values()), default=0)
        rank = problem.sequence

        def key(name: str) -> tuple[int, int, int]:
            # Of two operations at one clock, the later stage is of an older trip: it cannot need the newer one.
            return cycles[name] % interval, -(cycles[name] // interval), rank[name]

        names = sorted(cycles, key=key)
        slots = {n: Slot(cycles[n] // interval - lowest, order, cycles[n] % interval) for order, n in enumerate(names)}
        return Schedule(problem.name, strategy, interval, slots, dict(copies or {}), unroll)

    @property
    def stages(self) -> int:
        """How many trips are under way at once; 1 for a loop that is not pipelined."""
        return 1 + max((s.stage for s in self.slots.values()), default=0)

    @cached_property
    def cycles(self) -> dict[str, int]:
        """Clock of each operation, counted from the start of its own trip."""
        return {n: s.stage * self.interval + s.clock for n, s in self.slots.items()}

    @cached_property
    def ordered(self) -> list[str]:
        """Names in the order in which the steady loop has them."""
        return sorted(self.slots, key=lambda n: self.slots[n].order)

    def slot(self, name: str) -> Slot:
        """Where an operation stands. Raises SchedulingError for a name the schedule does not have."""
        try:
            return self.slots[name]
        except KeyError:
            raise SchedulingError(
                f"schedule '{self.name}' has no operation '{name}'; give it a place in the list of slots",
                operations=(name,),
            ) from None
