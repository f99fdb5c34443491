"""Schedules with stages said beforehand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from schedule_problems import gemm, small_problems
from wave_mlir.scheduling import (
    Dependence,
    Operation,
    Problem,
    Resource,
    Schedule,
    Use,
    attention,
    four_stage,
    list_schedule,
    resource_bound,
    verify,
)


def stages(schedule: Schedule) -> dict[str, set[int]]:
    """The stages of operations by the first part of their names."""
    found: dict[str, set[int]] = {}
    for name, slot in schedule.slots.items():
        found.setdefault(name.split(".")[0], set()).add(slot.stage)
    return found


@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize("tile", [(4, 4, 2, 8), (2, 2, 1, 2)], ids=str)
def test_four_stages_of_a_gemm(tile: tuple[int, int, int, int], copies: int) -> None:
    problem, schedule = four_stage(gemm(*tile), {"a": copies, "b": copies})
    verify(problem, schedule)
    assert stages(schedule) == {"load": {0}, "write": {1}, "read": {2}, "mma": {3}}
    assert schedule.interval <= 1.1 * resource_bound(problem) + 64
    assert schedule.strategy == "four-stage"


def test_fewer_stages_without_lds() -> None:
    operations = (Operation("load", "global_load", 9), Operation("mma", "mma"))
    problem, schedule = four_stage(Problem("p", operations, (Dependence("load", "mma", 0, 9),)))
    verify(problem, schedule)
    assert schedule.stages == 2


def softmax_loop() -> Problem:
    """S = Q K; P = exp(S) with a running maximum; O += P V: K and V from memory."""
    vector, matrix = (Use("vector", 32),), (Use("matrix", 64),)
    operations = (
        Operation("k.load", "global_load", 500),
        Operation("v.load", "global_load", 500),
        Operation("first.mma", "mma", 80, matrix),
        Operation("max", "vector", 16, vector),
        Operation("exp", "vector", 32, vector),
        Operation("second.mma", "mma", 80, matrix),
    )
    dependences = (
        Dependence("k.load", "first.mma", 0, 500),
        Dependence("first.mma", "max", 0, 80),
        Dependence("max", "max", 1, 16),
        Dependence("max", "exp", 0, 16),
        Dependence("exp", "second.mma", 0, 32),
        Dependence("v.load", "second.mma", 0, 500),
        Dependence("second.mma", "second.mma", 1, 80),
    )
    return Problem("attention", operations, dependences, (Resource("vector"), Resource("matrix")))


def test_attention_overlaps_the_products() -> None:
    problem, schedule = attention(softmax_loop())
    verify(problem, schedule)
    assert {n: s.stage for n, s in schedule.slots.items()} == {
        "k.load": 0, "v.load": 1, "first.mma": 1, "max": 2, "exp": 2, "second.mma": 2,
    }  # fmt: skip
    assert schedule.interval < list_schedule(problem).interval / 2


@settings(max_examples=40, deadline=None)
@given(small_problems(most=7), st.data())
def test_random_kinds(problem: Problem, data: st.DataObject) -> None:
    kinds = st.sampled_from(["global_load", "lds_write", "lds_read", "vector", "mma", "barrier"])
    operations = tuple(replace(o, kind=data.draw(kinds)) for o in problem.operations)
    for solver in (four_stage, attention):
        solved, schedule = solver(replace(problem, operations=operations))
        verify(solved, schedule)
