"""The text form of schedules: round trips, and errors with lines and remedies."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wave_mlir.scheduling import Operation, Problem, Schedule, SchedulingError, Slot, dump, load

TEXT = """\
schedule gemm.K
strategy modulo
interval 64
unroll 2
copies a 2
copies b 3

# stage  clock  operation
      1      0  mma.0
      0      4  load/a.0
     12     63  mma.1
"""

SCHEDULE = Schedule(
    "gemm.K", "modulo", 64,
    {"mma.0": Slot(1, 0, 0), "load/a.0": Slot(0, 1, 4), "mma.1": Slot(12, 2, 63)}, {"a": 2, "b": 3}, 2,
)  # fmt: skip


def test_text() -> None:
    assert dump(SCHEDULE) == TEXT
    assert load(TEXT) == [SCHEDULE]
    assert load("") == []


def test_clocks_left_open() -> None:
    (schedule,) = load("schedule s\ninterval 8\n0 - a\n1 3 b # late\n 0 - c\n")
    assert schedule.slots == {"a": Slot(0, 0, 0), "b": Slot(1, 1, 3), "c": Slot(0, 2, 3)}
    assert (schedule.strategy, schedule.unroll, schedule.copies) == ("manual", 1, {})


@given(st.lists(st.integers(-31, 32), min_size=1, max_size=8), st.integers(1, 20), st.integers(1, 3))
def test_round_trip(clocks: list[int], interval: int, unroll: int) -> None:
    names = [f"op.{i}" for i in range(len(clocks))]
    problem = Problem("p", tuple(Operation(n, "x") for n in names))
    cycles = dict(zip(names, clocks, strict=True))
    one = Schedule.of_cycles(problem, "list", interval, cycles, {"x": 2}, unroll)
    other = Schedule("q", "manual", interval, one.slots)
    assert load(dump(one, other)) == [one, other]


HEAD = "schedule s\ninterval 8\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("interval 8", "file:1: 'interval' before any schedule; begin with 'schedule NAME'"),
        ("\nschedule", "file:2: expected 'schedule NAME'"),
        (HEAD + "schedule s", "file:3: a second schedule 's'; keep one of them"),
        ("schedule s\n\nstrategy x", "file:1: schedule 's' has no interval; write 'interval CLOCKS'"),
        ("schedule s\ninterval 0", "file:2: '0' is no interval; write a whole number from 1 to 1099511627776"),
        ("schedule s\nunroll two", "file:2: 'two' is no unroll count"),
        ("schedule s\ncopies x", "file:2: expected 'copies BUFFER COUNT'"),
        ("schedule s\ncopies x -1", "file:2: '-1' is no number of copies"),
        ("schedule s\n0 0 a", "file:2: an operation before the interval is known; write 'interval CLOCKS' above"),
        (HEAD + "interval 9", "file:3: 'interval' a second time; keep one of the lines"),
        (HEAD + "0 0 a\nunroll 2", "file:4: 'unroll' after the first operation; move it up"),
        (HEAD + "0 a", "file:3: expected 'STAGE CLOCK OPERATION' or one of 'schedule NAME'"),
        (HEAD + "x 0 a", "file:3: 'x' is no stage"),
        (HEAD + "0 x a", "file:3: 'x' is no clock"),
        (HEAD + "0 8 a", "file:3: clock 8 is not below the interval 8; write - or less"),
        (HEAD + "0 5 a\n0 4 b", r"file:4: clock 4 is below that of the line before \(5\); lines are in the order"),
        (HEAD + "0 5 a\n0 - a", "file:4: 'a' has a place already; keep one of the lines"),
        ("schedule s\ninterval " + "9" * 5000, r"file:2: '9{20}\.\.\.' is no interval; write a whole number from 1 to"),
        ("schedule s\ninterval \u0663", "is no interval"),
        ("schedule s\nunroll 1025", "file:2: '1025' is no unroll count; write a whole number from 1 to 1024"),
        ("schedule s\ncopies x 99999999999999", "is no number of copies; write a whole number from 1 to 1024"),
        (HEAD + "64 0 a", "file:3: '64' is no stage; write a whole number from 0 to 63"),
        (HEAD + "0 5 3a", "file:3: '3a' is no name of an operation"),
    ],
)
def test_mistakes(text: str, message: str) -> None:
    with pytest.raises(SchedulingError, match=message):
        load(text, "file")
