"""Schedules of loops whose work is products: MMAs back to back, everything else between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .anchored import solve_around
from .bounds import minimum_interval, quantum, resource_bound
from .latencies import one_trip_ahead
from .modulo import modulo
from .pressure import pressure
from .problem import Problem
from .products import Products
from .schedule import Schedule

ADDRESSES = 20
"""Registers kept for addresses and what else a loop needs."""

ROOM = 8
"""An interval is made up to a part 1/ROOM longer so that everything fits between the MMAs."""


FLIGHTS = (1.0, 0.75, 0.5)
"""Parts of a trip that loads are to be ahead of their use, in the order in which they are tried."""


def pipelined(problem: Problem, copies: Mapping[str, int] | None = None) -> tuple[Problem, Schedule]:
    """The best schedule that overlaps trips, and the problem with the latencies that it hides.

    Loads are a trip ahead of their use, or a little less where nothing else fits between the MMAs; a loop of other work
    is scheduled by `modulo`. Raises NoSchedule.
    """
    for portion in FLIGHTS:
        shorter = one_trip_ahead(problem, portion)
        schedule = schedule_products(shorter, copies)
        if schedule is not None:
            return shorter, schedule
    shorter = one_trip_ahead(problem)
    return shorter, modulo(shorter, copies)


def schedule_products(problem: Problem, copies: Mapping[str, int] | None = None) -> Schedule | None:
    """The schedule of a loop of products; None for other loops, or where not all finds a place between MMAs.

    MMAs are in the order of `Products`, at equal distances. Fragments have two copies where registers allow, else those
    of the inner operand.
    """
    products = Products.of(problem)
    if products is None:
        return None
    for fragments in ({0: 2, 1: 2}, {products.outer: 1, products.inner: 2}):
        ordered = products.ordered(fragments).with_copies(copies or {})
        schedule = _between(problem, ordered, products, copies or {})
        if schedule is not None and _fits(problem, schedule):
            return schedule
    return None


def _fits(problem: Problem, schedule: Schedule) -> bool:
    return not problem.registers or pressure(problem, schedule) + ADDRESSES <= problem.registers


def _intervals(problem: Problem, step: int) -> Iterator[int]:
    """Intervals to try, in steps: more and more above the lower bound."""
    least = -(-minimum_interval(problem) // step)
    more = 0
    while more * ROOM <= least:
        yield least + more
        more = more * 2 or 1


def _between(problem: Problem, ordered: Problem, products: Products, copies: Mapping[str, int]) -> Schedule | None:
    step = quantum(ordered)
    count = len(products.sequence)
    if minimum_interval(ordered) * ROOM > resource_bound(ordered) * (ROOM + 1):
        return None
    for interval in _intervals(ordered, step):
        given = {name: i * interval // count for i, name in enumerate(products.sequence)}
        cycles = solve_around(ordered, interval, step, given)
        if cycles is not None:
            clocks = {name: cycle * step for name, cycle in cycles.items()}
            return Schedule.of_cycles(problem, "modulo", interval * step, clocks, copies)
    return None
