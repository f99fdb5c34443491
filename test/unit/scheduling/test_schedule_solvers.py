"""Solvers against the independent check, bounds, and all there is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from schedule_problems import gemm, shortest_interval, small_problems
from wave_mlir.scheduling import (
    Dependence,
    NoSchedule,
    Operation,
    Problem,
    Resource,
    SchedulingError,
    Use,
    check,
    list_schedule,
    minimum_interval,
    modulo,
    recurrence_bound,
    resource_bound,
    verify,
)
from wave_mlir.scheduling.bounds import critical_circle, depths, heights, quantum


@settings(max_examples=80, deadline=None)
@given(small_problems())
def test_modulo_on_random_problems(problem: Problem) -> None:
    check(problem)
    schedule = modulo(problem)
    verify(problem, schedule)
    assert schedule.interval >= minimum_interval(problem)
    if schedule.interval > minimum_interval(problem) and schedule.interval <= 6:
        best = shortest_interval(problem, schedule.interval)
        assert best is not None
        assert schedule.interval <= best + 1


@settings(max_examples=50, deadline=None)
@given(small_problems(most=8))
def test_list_on_random_problems(problem: Problem) -> None:
    schedule = list_schedule(problem)
    verify(problem, schedule)
    assert schedule.stages == 1


@settings(max_examples=40, deadline=None)
@given(small_problems(most=4, longest=3))
def test_bounds_hold(problem: Problem) -> None:
    best = shortest_interval(problem, 8)
    assert best is None or best >= max(recurrence_bound(problem), resource_bound(problem))


@pytest.mark.parametrize("copies", [1, 2, 3])
@pytest.mark.parametrize("tile", [(4, 4, 2, 8), (8, 4, 2, 8), (4, 4, 4, 8), (2, 2, 1, 2)], ids=str)
def test_gemm_loops_are_bound_by_the_busiest_unit(tile: tuple[int, int, int, int], copies: int) -> None:
    problem = gemm(*tile)
    schedule = modulo(problem, {"a": copies, "b": copies})
    verify(problem, schedule)
    assert schedule.interval == resource_bound(problem)
    listed = list_schedule(problem)
    verify(problem, listed)
    assert listed.interval > schedule.interval


def chain(*latencies: int) -> Problem:
    """Operations in a circle of one trip."""
    names = [f"op{i}" for i in range(len(latencies))]
    operations = tuple(Operation(n, "x", t) for n, t in zip(names, latencies, strict=True))
    after = [Dependence(a, b, 0, o.latency) for a, b, o in zip(names, names[1:], operations, strict=False)]
    return Problem("chain", operations, (*after, Dependence(names[-1], names[0], 1, latencies[-1])))


def test_recurrences() -> None:
    problem = chain(8, 12, 20)
    assert recurrence_bound(problem) == 40
    assert sorted(critical_circle(problem)) == ["op0", "op1", "op2"]
    assert quantum(problem) == 4
    assert modulo(problem).interval == 40
    assert heights(problem, 40) == {"op0": 40, "op1": 32, "op2": 20}
    assert depths(problem, 40) == {"op0": 0, "op1": 8, "op2": 20}
    with pytest.raises(SchedulingError, match="the interval 39 is below its recurrence bound"):
        heights(problem, 39)
    assert critical_circle(Problem("p", ())) == []


def test_a_circle_within_a_trip() -> None:
    operations = (Operation("a", "x", 1), Operation("b", "x", 1))
    problem = Problem("p", operations, (Dependence("a", "b", 0, 1), Dependence("b", "a", 0, 1)))
    with pytest.raises(SchedulingError, match="'p': .* need each other within one trip"):
        recurrence_bound(problem)


def test_no_schedule() -> None:
    """An operation that meets itself at every interval that is tried."""
    uses = tuple(Use("u", 1, start=s) for s in range(0, 200, 1)) + (Use("u", 1, start=0),)
    with pytest.raises(NoSchedule, match="no schedule of an interval up to"):
        modulo(Problem("p", (Operation("a", "x", 0, uses),), (), (Resource("u"),)))
