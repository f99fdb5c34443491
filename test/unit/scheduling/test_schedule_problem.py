"""Problems: what `check` refuses, ranks, copies of buffers."""

from __future__ import annotations

import pytest
from wave_mlir.scheduling import (
    READ_AFTER_WRITE,
    WRITE_AFTER_READ,
    Buffer,
    Dependence,
    Operation,
    Problem,
    Resource,
    SchedulingError,
    Use,
    check,
)

A, B = Operation("a", "load", 10, (Use("u", 4),)), Operation("b", "mma", 5, (Use("u", 2),))
U = Resource("u")


def problem(**changes: object) -> Problem:
    fields: dict[str, object] = {"name": "p", "operations": (A, B), "resources": (U,)}
    return Problem(**{**fields, **changes})  # type: ignore[arg-type]


def test_check_accepts() -> None:
    check(problem(dependences=(Dependence("a", "b"), Dependence("b", "a", 1))))


@pytest.mark.parametrize(
    ("bad", "text"),
    [
        (problem(operations=(A, A)), "two of the operations are called 'a'; rename one"),
        (problem(operations=(Operation("a b", "x"),)), "'a b' is no name for a operation; use letters"),
        (problem(resources=(Resource("u", 0),)), "resource 'u' has no capacity"),
        (problem(operations=(Operation("a", "x", -1),)), "operation 'a' has a negative latency"),
        (problem(resources=()), "uses a resource 'u' that the problem does not have; add it"),
        (problem(operations=(Operation("a", "x", 0, (Use("u", -1),)),)), "uses 'u' for a negative time"),
        (problem(operations=(Operation("a", "x", 0, (Use("u", 1, 2),)),)), "needs 2 of 'u', of which there are 1"),
        (problem(dependences=(Dependence("a", "c"),)), "a dependence names 'c', which is no operation"),
        (problem(dependences=(Dependence("a", "b", -1),)), "has the negative distance -1"),
        (problem(dependences=(Dependence("a", "b", kind="why"),)), "unknown kind 'why'; use one of value"),
        (
            problem(dependences=(Dependence("a", "b", buffer="x"),)),
            "names the buffer 'x', which the problem does not have",
        ),
        (problem(buffers=(Buffer("x", -1),)), "buffer 'x' has a negative size"),
        (
            problem(dependences=(Dependence("a", "b"), Dependence("b", "a"))),
            "depend on each other within one trip: a, b",
        ),
    ],
    ids=lambda v: v[:24] if isinstance(v, str) else "",
)
def test_check_refuses(bad: Problem, text: str) -> None:
    with pytest.raises(SchedulingError, match=text):
        check(bad)


def test_sequence_is_near_program_order() -> None:
    operations = tuple(Operation(n, "x") for n in "abcd")
    p = Problem("p", operations, (Dependence("d", "a"), Dependence("a", "b", 1)))
    assert list(p.sequence) == ["b", "c", "d", "a"]


def test_copies_loosen_what_frees_a_buffer() -> None:
    filled = Dependence("a", "b", 0, kind=READ_AFTER_WRITE, buffer="x")
    freed = Dependence("b", "a", 1, kind=WRITE_AFTER_READ, buffer="x")
    within = Dependence("b", "a", 0, kind=WRITE_AFTER_READ, buffer="x")
    p = problem(dependences=(filled, freed, within), buffers=(Buffer("x", 64),))
    assert [d.distance for d in p.with_copies({"x": 3}).dependences] == [0, 3, 0]
    assert p.with_copies({}) == p


def test_a_dependence_says_what_it_is() -> None:
    d = Dependence("a", "b", 1, kind=READ_AFTER_WRITE, buffer="x", reason="tile of lhs")
    assert str(d) == "'b' of the next trip needs 'a' (read after write in x: tile of lhs)"
