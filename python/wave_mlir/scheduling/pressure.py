"""Registers that a schedule needs."""

from __future__ import annotations

from .problem import VALUE, Problem
from .schedule import Schedule


def pressure(problem: Problem, schedule: Schedule) -> int:
    """The most 32-bit registers a lane that results of the loop's operations hold at one clock of the steady loop.

    A result holds its registers from issue to its last user's issue; one that nothing uses until its latency is over.
    A result that lives longer than an interval is there several times.
    """
    interval, cycles = schedule.interval, schedule.cycles
    changes: dict[int, int] = {}
    always = 0
    for operation in problem.operations:
        if not operation.registers:
            continue
        begin = cycles[operation.name]
        ends = [cycles[d.target] + d.distance * interval for d in problem.outgoing[operation.name] if d.kind == VALUE]
        length = max(ends, default=begin + operation.latency) - begin
        always += operation.registers * (length // interval)
        if length % interval:
            first, last = begin % interval, (begin + length) % interval
            changes[first] = changes.get(first, 0) + operation.registers
            changes[last] = changes.get(last, 0) - operation.registers
            if last < first:
                always += operation.registers
    held = most = always
    for clock in sorted(changes):
        held += changes[clock]
        most = max(most, held)
    return most
