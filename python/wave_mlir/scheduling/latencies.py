"""Latencies that a schedule is to hide."""

from __future__ import annotations

from dataclasses import replace

from .bounds import minimum_interval, quantum, resource_bound
from .problem import VALUE, Dependence, Problem


def shortened(problem: Problem, longest: int) -> Problem:
    """The problem with no latency beyond `longest` clocks: what a longer one would need registers or stages for."""
    operations = tuple(replace(o, latency=longest) if o.latency > longest else o for o in problem.operations)
    dependences = tuple(replace(d, latency=longest) if d.latency > longest else d for d in problem.dependences)
    return replace(problem, operations=operations, dependences=dependences)


def _free(dependence: Dependence) -> Dependence:
    return replace(dependence, latency=0) if dependence.latency else dependence


def one_trip_ahead(problem: Problem, portion: float = 1.0) -> Problem:
    """The problem where loads need be at most about a trip ahead of their use: each has one set of registers.

    About: a few clocks are left between the end of one trip's use of the registers and the next trip's load. `portion`
    is the part of a trip that is asked for.
    """
    free = replace(problem, dependences=tuple(_free(d) for d in problem.dependences if d.kind != VALUE))
    shortest = minimum_interval(shortened(free, resource_bound(problem)))
    longest = int((shortest - min(48, shortest // 4)) * portion)
    step = quantum(problem)
    return shortened(problem, max(longest // step * step, step))
