"""Schedules whose stages are said beforehand: what of which trip meets in the steady loop is decided first.

With stages given, the steady loop is one body whose dependences cross fewer trips, or none: it is scheduled as such
(retiming), and stages are added again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from .latencies import one_trip_ahead
from .listing import list_schedule
from .problem import VALUE, Problem
from .schedule import Schedule

_LOADS = ("global_load", "gather_to_lds")
FOUR_STAGES = {**dict.fromkeys(_LOADS, 0), "lds_write": 1, "lds_read": 2}
"""Stages by kind: loads, LDS writes, LDS reads; all else is in stage 3."""


def four_stage(problem: Problem, copies: Mapping[str, int] | None = None) -> tuple[Problem, Schedule]:
    """Loads, LDS writes, LDS reads and computation, each of them a trip after the one before; and the problem solved.

    Without operations of a kind there are fewer stages. A dependence that this would break puts its target later.
    """
    kinds = sorted({FOUR_STAGES.get(o.kind, 3) for o in problem.operations if o.kind != "barrier"})
    wanted = {o.name: kinds.index(FOUR_STAGES.get(o.kind, 3)) for o in problem.operations if o.kind != "barrier"}
    return _staged(problem, copies, wanted, "four-stage")


def attention(problem: Problem, copies: Mapping[str, int] | None = None) -> tuple[Problem, Schedule]:
    """Two products with other work between: the first of one trip meets the rest of the trip before. And the problem.

    Loads and LDS writes are a trip ahead of the first product. So MMAs of one trip and what is computed from those of
    another one use the matrix and the vector unit at the same time. A third product is a stage later again.
    """
    level = product_levels(problem)
    first = int(bool(problem.of_kind(*_LOADS)))
    wanted = {}
    for operation in problem.operations:
        if operation.kind != "barrier":
            ahead = operation.kind in (*_LOADS, "lds_write")
            wanted[operation.name] = level[operation.name] + (0 if ahead else first)
    return _staged(problem, copies, wanted, "attention")


def product_levels(problem: Problem) -> dict[str, int]:
    """How many products are before each operation; what only feeds a product, such as its reads, is in its level."""
    product = {o.name: o.kind == "mma" for o in problem.operations}
    after: dict[str, int] = {}
    for name in sorted(problem.by_name, key=problem.sequence.__getitem__):
        sources = [d.source for d in problem.incoming[name] if d.kind == VALUE and d.distance == 0]
        same = product[name]
        after[name] = max((after[s] + (product[s] and not same) for s in sources), default=0)
    for name in sorted(problem.by_name, key=problem.sequence.__getitem__, reverse=True):
        users = [d.target for d in problem.outgoing[name] if d.kind == VALUE and d.distance == 0]
        if users and not product[name] and not any(_depends_on_product(problem, name, product)):
            after[name] = min(after[u] for u in users)
    return after


def _depends_on_product(problem: Problem, name: str, product: Mapping[str, bool]) -> list[bool]:
    """For everything that an operation's value is made from in its trip, whether it is a product."""
    seen, todo = {name}, [name]
    found = []
    while todo:
        for d in problem.incoming[todo.pop()]:
            if d.kind == VALUE and d.distance == 0 and d.source not in seen:
                seen.add(d.source)
                todo.append(d.source)
                found.append(product[d.source])
    return found


def _staged(
    problem: Problem, copies: Mapping[str, int] | None, wanted: Mapping[str, int], strategy: str
) -> tuple[Problem, Schedule]:
    """The schedule with at least these stages."""
    solved = one_trip_ahead(problem)
    looser = solved.with_copies(copies or {})
    stages = _legal(looser, wanted)
    retimed = replace(
        looser,
        dependences=tuple(
            replace(d, distance=d.distance + stages[d.target] - stages[d.source]) for d in looser.dependences
        ),
    )
    body = list_schedule(retimed)
    cycles = {name: stages[name] * body.interval + clock for name, clock in body.cycles.items()}
    return solved, Schedule.of_cycles(solved, strategy, body.interval, cycles, copies)


def _legal(problem: Problem, wanted: Mapping[str, int]) -> dict[str, int]:
    """The least stages from those wanted on that keep all dependences; what has none goes with what it waits for."""
    stages = {o.name: wanted.get(o.name, 0) for o in problem.operations}
    while True:
        moved = False
        for d in problem.dependences:
            if stages[d.target] + d.distance < stages[d.source]:
                stages[d.target] = stages[d.source] - d.distance
                moved = True
        if not moved:
            return stages
