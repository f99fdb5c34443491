"""List scheduling: one trip after the other, each operation as soon as what it needs is there."""

from __future__ import annotations

from collections.abc import Mapping

from .bounds import heights, quantum, recurrence_bound
from .problem import Problem
from .reservation import Reservation
from .schedule import Schedule


def list_schedule(problem: Problem, copies: Mapping[str, int] | None = None) -> Schedule:
    """The schedule of one stage: operations by the length of the way behind them, each as soon as possible.

    The interval is long enough for the whole trip, and for what the next trip needs of this one.
    """
    looser = problem.with_copies(copies or {})
    step = quantum(looser)
    within = Problem(
        problem.name, problem.operations, tuple(d for d in looser.dependences if d.distance == 0), problem.resources
    )
    room = 1 + sum(o.latency + sum(u.start + u.clocks for u in o.uses) for o in problem.operations)
    room = -(-(room + sum(d.latency for d in within.dependences)) // step)
    cycles = _place(within, room, step)
    end = max((_end(within, n, c * step) for n, c in cycles.items()), default=1)
    across = [d for d in looser.dependences if d.distance > 0]
    needed = [-(-(cycles[d.source] * step + d.latency - cycles[d.target] * step) // d.distance) for d in across]
    interval = max([1, end, recurrence_bound(looser), *needed])
    clocks = {name: cycle * step for name, cycle in cycles.items()}
    return Schedule.of_cycles(problem, "list", -(-interval // step) * step, clocks, copies)


def _end(problem: Problem, name: str, cycle: int) -> int:
    return cycle + max((u.start + u.clocks for u in problem.by_name[name].uses), default=1)


def _place(problem: Problem, room: int, step: int) -> dict[str, int]:
    """Cycles in steps. Among operations that are ready the one with the longest way to the end goes first."""
    table = Reservation(problem, room, step)
    far = heights(problem, room * step)
    waiting = {o.name: len(problem.incoming[o.name]) for o in problem.operations}
    ready = [name for name, count in waiting.items() if count == 0]
    cycles: dict[str, int] = {}
    while ready:
        earliest = {
            n: max((cycles[d.source] + d.latency // step for d in problem.incoming[n]), default=0) for n in ready
        }
        now = min(earliest.values())
        name = min((n for n in ready if earliest[n] == now), key=lambda n: (-far[n], problem.position[n]))
        operation = problem.by_name[name]
        later = table.starts(operation) >> earliest[name]
        cycles[name] = earliest[name] + (later & -later).bit_length() - 1
        table.place(operation, cycles[name])
        ready.remove(name)
        for d in problem.outgoing[name]:
            waiting[d.target] -= 1
            if waiting[d.target] == 0:
                ready.append(d.target)
    return cycles
