"""Shortest intervals by an exact solver: CP-SAT of OR-Tools, a requirement of the tests only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ortools.sat.python import cp_model
from wave_mlir.scheduling import Problem
from wave_mlir.scheduling.bounds import quantum


def shortest(problem: Problem, bound: int, ours: int, seconds: float) -> tuple[int, bool]:
    """The shortest interval from `bound` to `ours` (clocks), and True; or one that none is shorter than, and False.

    `problem` has its copies of LDS buffers applied. Each interval gets so many seconds.
    """
    step = quantum(problem)
    for interval in range(-(-bound // step), ours // step):
        feasible = exists(problem, interval, step, seconds)
        if feasible is not False:
            return interval * step, bool(feasible)
    return ours, True


def exists(problem: Problem, interval: int, step: int, seconds: float, workers: int = 1) -> bool | None:
    """Whether a schedule of an interval (in steps) exists; None if that is not known after so many seconds."""
    if any(u.clocks // step > interval for o in problem.operations for u in o.uses):
        return False
    model = cp_model.CpModel()
    stages = 2 + max((d.latency for d in problem.dependences), default=0) * len(problem.operations) // (step * interval)
    places = {o.name: model.new_int_var(0, interval - 1, o.name) for o in problem.operations}
    trips = {o.name: model.new_int_var(0, stages, f"{o.name} trips") for o in problem.operations}
    for d in problem.dependences:
        way = d.latency // step - interval * d.distance
        model.add(places[d.target] + interval * trips[d.target] - places[d.source] - interval * trips[d.source] >= way)
    for resource in problem.resources:
        _resource(model, problem, resource.name, resource.capacity, places, interval, step)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = workers
    status = solver.solve(model)
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return True
    return False if status == cp_model.INFEASIBLE else None


def _resource(
    model: cp_model.CpModel,
    problem: Problem,
    name: str,
    capacity: int,
    places: Mapping[str, Any],
    interval: int,
    step: int,
) -> None:
    """A use stands at its place and an interval later, so that what reaches around the end meets what it meets."""
    intervals, amounts = [], []
    for operation in problem.operations:
        for number, use in enumerate(u for u in operation.uses if u.resource == name and u.clocks):
            at = model.new_int_var(0, interval - 1, f"{operation.name} {name} {number}")
            model.add_modulo_equality(at, places[operation.name] + use.start // step, interval)
            for again in (0, interval):
                size = use.clocks // step
                intervals.append(model.new_fixed_size_interval_var(at + again, size, f"{operation.name} {again}"))
                amounts.append(use.amount)
    if capacity == 1:
        model.add_no_overlap(intervals)
    else:
        model.add_cumulative(intervals, amounts, capacity)
