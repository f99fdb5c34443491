"""Loops of products: MMAs back to back, reads and loads between them, registers within their number."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from schedule_problems import gemm, small_problems
from wave_mlir.scheduling import (
    VALUE,
    Dependence,
    Operation,
    Problem,
    Products,
    Resource,
    Schedule,
    Use,
    modulo,
    one_trip_ahead,
    pipelined,
    pressure,
    resource_bound,
    schedule_products,
    shortened,
    verify,
)
from wave_mlir.scheduling.anchored import solve_around
from wave_mlir.scheduling.bounds import quantum


@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize("tile", [(4, 4, 2, 8), (8, 4, 2, 8), (4, 4, 4, 8), (6, 2, 2, 4)], ids=str)
def test_gemm(tile: tuple[int, int, int, int], copies: int) -> None:
    problem, schedule = pipelined(replace(gemm(*tile), registers=256), {"a": copies, "b": copies})
    verify(problem, schedule)
    assert schedule.interval == resource_bound(problem)
    assert pressure(problem, schedule) <= 256 - 20
    clocks = sorted(s.clock for n, s in schedule.slots.items() if n.startswith("mma"))
    if schedule.interval == 16 * len(clocks):
        assert clocks == list(range(0, schedule.interval, 16))
    for d in problem.dependences:
        if d.source.startswith("load") and d.kind == VALUE:
            assert schedule.cycles[d.target] - schedule.cycles[d.source] >= 0.7 * schedule.interval


def test_the_sequence_and_its_fragments() -> None:
    products = Products.of(gemm(4, 2, 2, 8))
    assert products is not None
    assert (products.sets, products.outer, products.inner) == (2, 0, 1)
    assert products.sequence[:8] == (
        "mma.0.0.0.0", "mma.0.1.0.0", "mma.0.0.0.1", "mma.0.1.0.1", "mma.1.0.0.0",
        "mma.1.1.0.0", "mma.1.0.0.1", "mma.1.1.0.1",
    )  # fmt: skip
    assert [m.split(".")[3] for m in products.sequence] == ["0"] * 16 + ["1"] * 16
    fragment = next(f for f in products.fragments if f.name == "read.a2.1")
    assert (fragment.set, fragment.operand, fragment.number) == (1, 0, 2)
    assert fragment.users == ("mma.2.0.1.0", "mma.2.1.1.0", "mma.2.0.1.1", "mma.2.1.1.1")
    more_columns = Products.of(gemm(2, 4, 2, 8))
    assert more_columns is not None
    assert more_columns.outer == 1


def test_halves_apart_where_a_group_is_too_small() -> None:
    """One inner fragment: the second half of its product would wait for the first."""
    products = Products.of(gemm(4, 1, 1, 4))
    assert products is not None
    assert [m.split(".")[4] for m in products.sequence] == ["0"] * 4 + ["1"] * 4


def test_few_registers() -> None:
    """One copy of the outer operand's fragments instead of two."""
    full = one_trip_ahead(gemm(8, 4, 2, 8))
    wide, narrow = (replace(full, registers=r) for r in (300, 250))
    copies = {"a": 1, "b": 1}
    first, second = schedule_products(wide, copies), schedule_products(narrow, copies)
    assert first is not None
    assert second is not None
    assert pressure(wide, first) > pressure(narrow, second)
    assert pressure(narrow, second) <= 230
    assert first.interval == second.interval == 2048


def test_other_loops() -> None:
    mma = Operation("mma", "mma", 32, (Use("matrix", 16),))
    computed = Operation("exp", "vector", 16)
    problem = Problem("p", (computed, mma), (Dependence("exp", "mma"),), (Resource("matrix"),))
    assert Products.of(problem) is None
    assert Products.of(Problem("p", (computed,))) is None
    assert schedule_products(problem) is None
    assert pipelined(problem)[1].interval == modulo(problem).interval == 16


@settings(max_examples=60, deadline=None)
@given(small_problems(most=6), st.data())
def test_solving_around_what_is_given(problem: Problem, data: st.DataObject) -> None:
    """Operations that stand as in a known schedule stay; the result is right at the interval of that schedule."""
    known = modulo(problem)
    names = data.draw(st.sets(st.sampled_from([o.name for o in problem.operations])))
    step = quantum(problem)
    given_cycles = {n: known.cycles[n] // step for n in sorted(names)}
    cycles = solve_around(problem, known.interval // step, step, given_cycles, 50)
    if cycles is None:
        return
    assert given_cycles.items() <= cycles.items()
    clocks = {n: c * step for n, c in cycles.items()}
    verify(problem, Schedule.of_cycles(problem, "around", known.interval, clocks))


def test_given_clocks_that_cannot_be() -> None:
    operations = (Operation("a", "x", 4, (Use("u", 2),)), Operation("b", "x", 4, (Use("u", 2),)))
    problem = Problem("p", operations, (Dependence("a", "b", 0, 4),), (Resource("u"),))
    assert solve_around(problem, 8, 1, {"a": 0, "b": 3}) is None
    assert solve_around(problem, 8, 1, {"a": 0, "b": 9}) is None  # meets a, an interval later
    assert solve_around(problem, 8, 1, {"b": 0}) == {"b": 0, "a": -11}


def test_pressure() -> None:
    """A value of two registers for three clocks, one of three for one clock, at intervals of 4 and 2."""
    operations = (Operation("a", "x", 1, (), 2), Operation("b", "x", 1, (), 3), Operation("c", "x"))
    problem = Problem("p", operations, (Dependence("a", "c"), Dependence("b", "c")))
    cycles = {"a": 0, "b": 2, "c": 3}
    assert pressure(problem, Schedule.of_cycles(problem, "x", 4, cycles)) == 5
    assert pressure(problem, Schedule.of_cycles(problem, "x", 2, cycles)) == 7
    assert pressure(problem, Schedule.of_cycles(problem, "x", 3, cycles)) == 5


def test_latencies() -> None:
    problem = shortened(gemm(2, 2, 1, 2), 100)
    assert max(d.latency for d in problem.dependences) == max(o.latency for o in problem.operations) == 100
    assert max(d.latency for d in one_trip_ahead(gemm(2, 2, 1, 2)).dependences) < resource_bound(gemm(2, 2, 1, 2))
