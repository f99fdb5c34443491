"""Shorter lives of values in a schedule that is there: fewer registers at the same interval."""

from __future__ import annotations

from .bounds import quantum
from .pressure import pressure
from .problem import VALUE, Problem
from .reservation import Reservation
from .schedule import Schedule

LATE = ("lds_read",)
"""Kinds that are moved: what they need takes no registers, and they wait for nothing that could be hidden longer."""


def shorten(problem: Problem, schedule: Schedule) -> Schedule:
    """The schedule with its LDS reads as late as dependences and resources allow, if it needs fewer registers so.

    Interval and everything else stay in place. The last ones move first, so that a read finds the places free that
    others had in front of it.
    """
    step, interval = quantum(problem), schedule.interval
    if interval % step or any(clock % step for clock in schedule.cycles.values()):
        return schedule
    looser = problem.with_copies(schedule.copies)
    cycles = {name: clock // step for name, clock in schedule.cycles.items()}
    table = Reservation(looser, interval // step, step)
    for operation in looser.operations:
        table.place(operation, cycles[operation.name])
    reads = [o for o in looser.operations if o.kind in LATE and any(d.kind == VALUE for d in looser.outgoing[o.name])]
    for read in sorted(reads, key=lambda o: -cycles[o.name]):
        table.remove(read.name)
        cycles[read.name] = _latest(looser, table, cycles, read.name, step)
        table.place(read, cycles[read.name])
    clocks = {name: cycle * step for name, cycle in cycles.items()}
    later = Schedule.of_cycles(problem, schedule.strategy, interval, clocks, schedule.copies, schedule.unroll)
    return later if pressure(problem, later) < pressure(problem, schedule) else schedule


def _latest(problem: Problem, table: Reservation, cycles: dict[str, int], name: str, step: int) -> int:
    """The last clock, in steps, at which an operation that is not in the table can be issued; at least where it was."""
    now = cycles[name]
    ends = [cycles[d.target] + d.distance * table.interval - -(-d.latency // step) for d in problem.outgoing[name]]
    last = min(ends, default=now)
    free = table.starts(problem.by_name[name])
    for clock in range(min(last, now + table.interval - 1), now, -1):
        if free >> clock % table.interval & 1:
            return clock
    return now
