"""LDS reads of a schedule moved as late as they can be: still a schedule of the same interval, and fewer registers."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from schedule_problems import gemm, small_problems
from wave_mlir.scheduling import (
    NoSchedule,
    Problem,
    Schedule,
    attention,
    four_stage,
    list_schedule,
    modulo,
    pressure,
    shorten,
    verify,
)


def changed(problem: Problem, before: Schedule) -> Schedule:
    """The shortened schedule, checked."""
    after = shorten(problem, before)
    verify(problem, after)
    assert (after.interval, dict(after.copies)) == (before.interval, dict(before.copies))
    assert pressure(problem, after) <= pressure(problem, before)
    kinds = {n for n in before.slots if before.slots[n] != after.slots[n]}
    moved = {n for n in kinds if before.cycles[n] % before.interval != after.cycles[n] % after.interval}
    assert all(problem.by_name[n].kind == "lds_read" for n in moved)
    return after


@given(small_problems())
@settings(max_examples=150, deadline=None)
def test_small_problems(problem: Problem) -> None:
    for solve in (list_schedule, modulo):
        try:
            before = solve(problem)
        except NoSchedule:
            continue
        changed(problem, before)


@pytest.mark.parametrize("copies", [1, 2])
def test_reads_of_a_gemm_wait_for_their_products(copies: int) -> None:
    problem = gemm(4, 4, 2, 8)
    before = list_schedule(problem, {"a": copies, "b": copies})
    assert pressure(problem, changed(problem, before)) < pressure(problem, before)
    for strategy in (four_stage, attention):
        changed(*strategy(problem, {"a": copies, "b": copies}))


def test_nothing_to_gain() -> None:
    problem = gemm(1, 1, 1, 1)
    before = list_schedule(problem)
    once = shorten(problem, before)
    assert shorten(problem, once) == once
