"""Modulo scheduling by rows: legal by the independent check, dense where issue slots are all that there is."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from schedule_problems import small_problems
from wave_mlir.scheduling import (
    Dependence,
    Operation,
    Problem,
    Resource,
    Use,
    list_schedule,
    minimum_interval,
    one_trip_ahead,
    pipelined,
    product_solver,
    verify,
)
from wave_mlir.scheduling.rows import by_rows, components


@settings(max_examples=80, deadline=None)
@given(small_problems(most=8))
def test_random_problems(problem: Problem) -> None:
    bound = minimum_interval(problem)
    schedule = by_rows(problem, below=bound + 20)
    if schedule is not None:
        verify(problem, schedule)
        assert bound <= schedule.interval < bound + 20
    assert by_rows(problem, below=bound) is None


@settings(max_examples=60, deadline=None)
@given(small_problems(most=8))
def test_components(problem: Problem) -> None:
    """Two operations are in one component if each is reached from the other; numbers follow dependences."""
    reached = {name: {name} for name in problem.by_name}
    for _ in problem.operations:
        for d in problem.dependences:
            for found in reached.values():
                if d.source in found:
                    found.add(d.target)
    number = components(problem)
    for a in problem.by_name:
        for b in reached[a]:
            assert (number[a] == number[b]) == (a in reached[b])
            assert number[a] <= number[b]


def dense(seed: int, count: int = 40) -> Problem:
    """Operations of one and of four issue slots, which take all there are, each depending on two before it."""
    rng = random.Random(seed)
    sizes = [rng.choice((4, 4, 4, 16)) for _ in range(count)]
    operations = tuple(
        Operation(f"op.{i}", "vector", size, (Use("issue", size), Use("vector", size)), 1)
        for i, size in enumerate(sizes)
    )
    pairs = [(rng.randrange(max(0, i - 8), i), i) for i in range(1, count) for _ in range(2)]
    dependences = [Dependence(f"op.{a}", f"op.{b}", 0, sizes[a] + 40) for a, b in dict.fromkeys(pairs)]
    dependences.append(Dependence(f"op.{count - 1}", f"op.{count - 1}", 1, 16))
    return Problem("dense", operations, tuple(dependences), (Resource("issue"), Resource("vector")))


@pytest.mark.parametrize("seed", range(4))
def test_all_issue_slots_are_used(seed: int) -> None:
    problem = dense(seed)
    schedule = by_rows(problem, below=10 * minimum_interval(problem))
    assert schedule is not None
    verify(problem, schedule)
    assert schedule.interval == minimum_interval(problem) == sum(o.uses[0].clocks for o in problem.operations)


def test_more_trips_than_the_loop_makes_are_not_overlapped(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop of few trips gets no schedule by rows with more under way; one of many does, where it is shorter."""
    monkeypatch.setattr(product_solver, "modulo", list_schedule)
    problem = dense(1)
    bound = minimum_interval(problem)
    _, free = pipelined(problem)
    assert free.interval == bound and free.stages > 3
    for trips, interval in (("3", list_schedule(one_trip_ahead(problem)).interval), ("64", bound)):
        _, schedule = pipelined(replace(problem, attributes={"trips": trips}))
        assert schedule.interval <= interval
        assert (schedule.interval == bound) == (trips == "64")
