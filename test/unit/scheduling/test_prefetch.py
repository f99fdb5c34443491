"""The strategy prefetch: right for every shape of GEMM loop, at the interval of the MMAs, all else before its use."""

from __future__ import annotations

from dataclasses import replace

import pytest
from schedule_problems import gemm
from wave_mlir.scheduling import Dependence, NoSchedule, Operation, Problem, Use, prefetch, verify

SHAPES = [(4, 4, 2, 8, 2), (8, 4, 2, 8, 2), (2, 2, 1, 2, 2), (3, 3, 2, 6, 2), (2, 8, 2, 10, 1), (1, 2, 4, 2, 1)]
COPIES = [{}, {"a": 2, "b": 2}, {"a": 3, "b": 3}]


@pytest.mark.parametrize("copies", COPIES, ids=lambda c: str(c.get("a", 1)))
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_gemm(shape: tuple[int, int, int, int, int], copies: dict[str, int]) -> None:
    rows, columns, depth, loads, halves = shape
    problem = gemm(rows, columns, depth, loads, halves=halves)
    try:
        schedule = prefetch(problem, copies)
    except NoSchedule:
        assert not copies and rows * columns * depth * halves < 36  # one copy: no room for writes between its reads
        return
    verify(problem, schedule, timing=False)
    assert schedule.interval == 16 * rows * columns * depth * halves
    assert schedule.unroll % max(copies.values(), default=1) == 0
    for d in problem.dependences:
        apart = schedule.cycles[d.target] - schedule.cycles[d.source] + d.distance * schedule.interval
        if d.source.startswith("read") and d.target.startswith("mma"):
            assert apart >= min(128, schedule.interval // 4) - 16
        if d.source.startswith("load"):
            assert apart >= min(schedule.interval - 16, 448)


def test_few_registers_take_rows() -> None:
    """Where operands of whole steps do not fit, reads come row by row, and take fewer registers."""
    problem = gemm(8, 4, 2, 8)
    copies = {"a": 2, "b": 2}
    wide, narrow = (prefetch(replace(problem, registers=n), copies) for n in (256, 232))
    ahead = [
        sum(s.cycles[d.target] - s.cycles[d.source] for d in problem.dependences if d.source.startswith("read.a"))
        for s in (wide, narrow)
    ]
    assert ahead[1] < ahead[0]
    verify(problem, narrow, timing=False)


def test_short_loops_load_far_ahead() -> None:
    """A short trip's loads are several trips ahead, if the loop makes enough trips; the loop is unrolled for them."""
    problem = gemm(2, 2, 1, 2)
    far = prefetch(problem, {"a": 2, "b": 2})
    near = prefetch(replace(problem, attributes={"trips": "6"}), {"a": 2, "b": 2})
    assert (far.unroll, near.unroll) == (4, 2)
    assert far.stages > near.stages and near.stages - 1 + near.unroll <= 6


def _with(problem: Problem, operation: Operation, *dependences: Dependence) -> Problem:
    return replace(
        problem, operations=(*problem.operations, operation), dependences=(*problem.dependences, *dependences)
    )


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (_with(gemm(2, 2, 1, 2), Operation("v", "vector", 4)), "'v' is none; use the strategy modulo"),
        (_with(gemm(2, 2, 1, 2), Operation("g", "global_load", 4)), "'g' feeds neither a matrix operation nor an LDS"),
        (_with(gemm(2, 2, 1, 2), Operation("w", "lds_write", 4)), "'w' does not write what one load gives"),
        (Problem("p", (Operation("g", "global_load", 4),)), "no matrix operation to fetch for"),
        (
            _with(gemm(2, 2, 1, 2), Operation("d", "gather_to_lds", 4)),
            "direct copies of the next tile need LDS buffers of their own",
        ),
        (
            _with(gemm(2, 2, 1, 16), Operation("m", "mma", 4, (Use("matrix", 4),))),
            "a trip is too short for the LDS accesses",
        ),
    ],
    ids=["vector", "load", "write", "no mma", "direct", "short"],
)
def test_loops_of_another_shape(problem: Problem, message: str) -> None:
    with pytest.raises(NoSchedule, match=message):
        prefetch(problem)
