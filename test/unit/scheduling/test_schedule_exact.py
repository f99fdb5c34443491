"""The solvers against CP-SAT, and CP-SAT against all there is."""

from __future__ import annotations

import pytest
from exact_schedule import exists, shortest
from hypothesis import given, settings
from schedule_problems import gemm, shortest_interval, small_problems
from wave_mlir.scheduling import Problem, minimum_interval, modulo, one_trip_ahead, pipelined
from wave_mlir.scheduling.bounds import implied


@settings(max_examples=15, deadline=None)
@given(small_problems(most=4, longest=3))
def test_exact_is_exact(problem: Problem) -> None:
    best = shortest_interval(problem, 5)
    for interval in range(1, 6):
        assert exists(problem, interval, 1, 20) == (best is not None and interval >= best)


@settings(max_examples=15, deadline=None)
@given(small_problems(most=6))
def test_modulo_is_near_the_shortest(problem: Problem) -> None:
    ours = modulo(problem).interval
    best, proven = shortest(problem, minimum_interval(problem), ours, 20)
    assert proven
    assert ours <= best + 1


@pytest.mark.parametrize("tile", [(2, 2, 1, 2), (2, 2, 2, 4), (4, 2, 1, 4)], ids=str)
def test_loops_of_products(tile: tuple[int, int, int, int]) -> None:
    copies = {"a": 2, "b": 2}
    problem = gemm(*tile)
    asked = one_trip_ahead(problem).with_copies(copies)
    ours = pipelined(problem, copies)[1].interval
    best, _ = shortest(asked, minimum_interval(asked), ours, 20)
    assert ours == best


@settings(max_examples=30, deadline=None)
@given(small_problems(most=4, longest=3))
def test_what_is_implied_holds(problem: Problem) -> None:
    """The dependences that are said to follow do not make the shortest interval longer."""
    best = shortest_interval(problem, 5)
    stronger = Problem(problem.name, problem.operations, (*problem.dependences, *implied(problem)), problem.resources)
    assert shortest_interval(stronger, 5) == best
