"""The independent check finds each way in which a schedule can be wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest
from wave_mlir.scheduling import (
    READ_AFTER_WRITE,
    WRITE_AFTER_READ,
    Buffer,
    Dependence,
    Operation,
    Problem,
    Resource,
    Schedule,
    SchedulingError,
    Slot,
    Use,
    check,
    verify,
)

PROBLEM = Problem(
    "p",
    operations=(
        Operation("load", "global_load", 20, (Use("memory", 4),)),
        Operation("write", "lds_write", 8, (Use("lds", 2),)),
        Operation("read", "lds_read", 8, (Use("lds", 2),)),
        Operation("mma", "mma", 4, (Use("matrix", 4),)),
    ),
    dependences=(
        Dependence("load", "write", 0, 20, reason="tile"),
        Dependence("write", "read", 0, 8, READ_AFTER_WRITE, buffer="x"),
        Dependence("read", "write", 1, 0, WRITE_AFTER_READ, buffer="x"),
        Dependence("read", "mma", 0, 8, reason="lhs"),
        Dependence("mma", "mma", 1, 4, reason="accumulator"),
    ),
    resources=(Resource("memory"), Resource("lds"), Resource("matrix")),
    buffers=(Buffer("x", 100, most=3),),
    lds_bytes=250,
)

GOOD = {"load": 0, "write": 20, "read": 28, "mma": 36}


def made(interval: int, copies: int = 1, **cycles: int) -> Schedule:
    return Schedule.of_cycles(PROBLEM, "test", interval, {**GOOD, **cycles}, {"x": copies})


@pytest.mark.parametrize(
    "schedule",
    [made(40), made(10), made(9, 2, read=31, mma=39), made(8, 2, read=30, mma=38), made(7, 2, read=29, mma=37)],
    ids=lambda s: f"{s.interval}",
)
def test_good(schedule: Schedule) -> None:
    check(PROBLEM)
    verify(PROBLEM, schedule)


def test_slots_of_cycles() -> None:
    schedule = made(10)
    assert schedule.slots == {
        "load": Slot(0, 1, 0), "write": Slot(2, 0, 0), "mma": Slot(3, 2, 6), "read": Slot(2, 3, 8),
    }  # fmt: skip
    assert schedule.ordered == ["write", "load", "mma", "read"]
    assert (schedule.stages, schedule.cycles) == (4, GOOD)
    assert made(10, load=-3, write=17, read=25, mma=33).stages == 5
    assert schedule.slot("mma").clock == 6
    with pytest.raises(SchedulingError, match="has no operation 'x'; give it a place"):
        schedule.slot("x")


@pytest.mark.parametrize(
    ("schedule", "text"),
    [
        (made(40, write=19), "'write' is issued 19 clocks after 'load', which takes 20"),
        (made(40, mma=27), r"broken dependence: 'mma' in the same trip needs 'read' \(value: lhs\)"),
        (made(40, load=21), r"broken dependence: 'write' in the same trip needs 'load' \(value: tile\)"),
        (made(40, write=32), "broken dependence: 'read' in the same trip needs 'write'"),
        (made(7), "broken dependence: 'write' of the next trip needs 'read'"),
        (made(4, 2, read=29, mma=37), "'write' 2 trips later needs 'read'.*overwritten 'x' with data of 2 trips later"),
        (made(3, 2, read=32, mma=40), "more, or read earlier"),
        (made(8), "'(write|read)' finds 'lds' busy at clock 4: 2 of 1 used"),
        (made(40, 0), "0 copies of 'x'; give 1 to 3"),
        (made(40, 4), "4 copies of 'x'; give 1 to 3"),
        (made(40, 3), "need 300 of 250 bytes .*'x' 3 x 100.*; use fewer copies or smaller tiles"),
        (replace(made(40), copies={"y": 1}), "no LDS buffer 'y' to copy; the loop has 'x'"),
        (replace(made(40), interval=0), "the interval and the unroll factor must be 1 or more"),
        (replace(made(40), slots={"load": Slot(0, 0, 0)}), "no place for 'write', 'read', 'mma'; add a line for each"),
        (replace(made(40), slots={**made(40).slots, "x": Slot(0, 9, 39)}), "'x' not in the loop; remove these lines"),
        (
            replace(made(40), slots={**made(40).slots, "mma": Slot(0, 3, 40)}),
            "'mma' is at clock 40 of stage 0; clocks go",
        ),
        (replace(made(40), slots={**made(40).slots, "mma": Slot(0, 2, 36)}), "'read' and 'mma' have the same place 2"),
        (
            replace(made(40), slots={**made(40).slots, "mma": Slot(0, 3, 27)}),
            "after 'read' at clock 28; clocks must not",
        ),
    ],
    ids=str,
)
def test_broken(schedule: Schedule, text: str) -> None:
    with pytest.raises(SchedulingError, match=text):
        verify(PROBLEM, schedule)


def test_the_error_has_the_dependence() -> None:
    with pytest.raises(SchedulingError) as error:
        verify(PROBLEM, made(7))
    assert error.value.operations == ("read", "write")
    assert error.value.dependence is not None
    assert error.value.dependence.kind == WRITE_AFTER_READ


def test_without_timing_only_order_counts() -> None:
    verify(PROBLEM, made(40, write=1, read=2, mma=3), timing=False)
    with pytest.raises(SchedulingError, match="broken dependence"):
        verify(PROBLEM, made(40, write=2, read=1), timing=False)
