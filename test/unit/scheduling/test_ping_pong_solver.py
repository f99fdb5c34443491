"""The strategy ping-pong on problems of its own: segments that keep two barriers between accesses of a buffer."""

from __future__ import annotations

import pytest
from wave_mlir.scheduling import (
    Buffer,
    Dependence,
    NoSchedule,
    Operation,
    Problem,
    Resource,
    Schedule,
    Use,
    check,
    ping_pong,
    verify,
)
from wave_mlir.scheduling.problem import READ_AFTER_WRITE, WRITE_AFTER_READ


def product(steps: int = 8, registers: int = 4, limit: int = 512) -> Problem:
    """A load, an LDS write and read, and a chain of matrix operations on what was read."""
    operations = [
        Operation("load", "global_load", 1000, (Use("memory", 64),), registers),
        Operation("write", "lds_write", 64, (Use("lds", 16),)),
        Operation("read", "lds_read", 128, (Use("lds", 16),), registers),
        *(Operation(f"mma.{n}", "mma", 32, (Use("matrix", 16),), 4) for n in range(steps)),
    ]
    dependences = [
        Dependence("load", "write", 0, 1000),
        Dependence("write", "read", 0, 64, READ_AFTER_WRITE, "LDS", "lds"),
        Dependence("read", "write", 1, 0, WRITE_AFTER_READ, "LDS", "lds"),
        *(Dependence("read", f"mma.{n}", 0, 128) for n in range(steps)),
        *(Dependence(f"mma.{n}", f"mma.{n + 1}", 0, 32) for n in range(steps - 1)),
        Dependence(f"mma.{steps - 1}", "mma.0", 1, 32),
    ]
    resources = tuple(Resource(n) for n in ("memory", "lds", "matrix"))
    return Problem("k", tuple(operations), tuple(dependences), resources, (Buffer("lds", 1024),), limit, 4096)


def segments(schedule: Schedule) -> dict[str, int]:
    """Through all stages: the barriers before an operation."""
    ends = [n for n in schedule.ordered if n.startswith("added.barrier")]
    order = {n: schedule.slots[n].order for n in schedule.slots}
    trip = len(ends)
    return {
        n: schedule.slots[n].stage * trip + sum(order[e] < order[n] for e in ends)
        for n in schedule.slots
        if not n.startswith("added")
    }


@pytest.mark.parametrize("copies", [1, 2, 3])
@pytest.mark.parametrize("steps", [8, 16, 32])
def test_two_barriers_between(copies: int, steps: int) -> None:
    problem = product(steps)
    check(problem)
    solved, schedule = ping_pong(problem, {"lds": copies})
    verify(solved, schedule, timing=False)
    at = segments(schedule)
    trip = sum(n.startswith("added.barrier") for n in schedule.slots)
    assert at["read"] >= at["write"] + 2
    assert at["write"] + trip * copies >= at["read"] + 2
    assert trip >= (4 if copies == 1 else 2)
    assert {at[f"mma.{n}"] % 2 for n in range(steps)} == {1}
    assert {at[n] % 2 for n in ("load", "write", "read")} == {0}


def test_fewest_registers_where_none_fit() -> None:
    _, schedule = ping_pong(product(32, registers=400, limit=256), {"lds": 2})
    assert schedule.strategy == "ping-pong"


def test_one_copy_needs_two_clusters() -> None:
    with pytest.raises(NoSchedule, match="cannot be written and read two barriers apart"):
        ping_pong(product(4 + 3), {"lds": 1})  # seven operations are not cut into equal parts


def test_few_products() -> None:
    with pytest.raises(NoSchedule, match="at least 4 matrix operations"):
        ping_pong(product(3))
