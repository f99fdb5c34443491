"""Schedules of loops whose work is products: MMAs back to back, everything else between them."""

from __future__ import annotations

from collections.abc import Mapping
from math import lcm

from .anchored import solve_around
from .bounds import minimum_interval, quantum, resource_bound
from .latencies import one_trip_ahead
from .modulo import modulo
from .pressure import pressure
from .problem import NoSchedule, Problem
from .products import Products
from .rows import by_rows
from .schedule import Schedule
from .searching import search
from .shorten import shorten
from .staged import four_stage

ADDRESSES = 20
"""Registers kept for addresses and what else a loop needs."""

ROOM = 8
"""An interval is made up to a part 1/ROOM longer so that everything fits between the MMAs."""


BUDGET = 4
"""Placements for each operation before an interval is given up."""

FLIGHTS = (1.0, 0.75, 0.5)
"""Parts of a trip that loads are to be ahead of their use, in the order in which they are tried."""


def pipelined(problem: Problem, copies: Mapping[str, int] | None = None) -> tuple[Problem, Schedule]:
    """The best schedule that overlaps trips, and the problem with the latencies that it hides.

    Loads are a trip ahead of their use, or a little less where nothing else fits between the MMAs; a loop of other work
    is scheduled by `modulo`. Raises NoSchedule.
    """
    found: list[tuple[Problem, Schedule]] = []
    bound = minimum_interval(one_trip_ahead(problem).with_copies(copies or {}))
    for portion in FLIGHTS:
        shorter = one_trip_ahead(problem, portion)
        schedule = schedule_products(shorter, copies)
        if schedule is not None:
            found.append((shorter, schedule))
            if schedule.interval <= bound:
                return found[-1]
    shorter = one_trip_ahead(problem)
    try:
        other = modulo(shorter, copies)
    except NoSchedule:
        if not found:
            raise
        return min(found, key=lambda f: f[1].interval)
    others = [(shorter, other)]
    if other.interval > bound:
        others.append(four_stage(problem, copies))
        least = min(o.interval for _, o in others)
        denser = by_rows(shorter, copies, below=least) if _runs(problem, other) else None
        if denser is not None and _runs(problem, denser):
            others.append((shorter, denser))
    others = [(solved, shorten(solved, schedule)) for solved, schedule in others]
    others = [o for o in others if not problem.registers or pressure(*o) <= problem.registers] or others[:2]
    best, shortest = (min(c, key=lambda f: f[1].interval, default=None) for c in (found, others))
    if best is None or (shortest is not None and best[1].interval > shortest[1].interval and _fits(*shortest)):
        return shortest or others[0]
    return best


def _runs(problem: Problem, schedule: Schedule) -> bool:
    """Whether the loop makes as many trips as the schedule has under way; yes if that is not known."""
    trips = int(problem.attributes.get("trips", "0"))
    return not trips or schedule.stages - 1 + lcm(schedule.unroll, *schedule.copies.values()) <= trips


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


def _between(problem: Problem, ordered: Problem, products: Products, copies: Mapping[str, int]) -> Schedule | None:
    """The schedule around the sequence of MMAs, of the shortest interval found up to a part 1/ROOM above the bound."""
    step = quantum(ordered)
    count = len(products.sequence)
    least = -(-resource_bound(ordered) // step)
    most = least + least // ROOM

    def attempt(interval: int) -> dict[str, int] | None:
        given = {name: i * interval // count for i, name in enumerate(products.sequence)}
        return solve_around(ordered, interval, step, given, BUDGET)

    lowest = -(-minimum_interval(ordered) // step)
    found = search(lowest, most, attempt) if lowest <= most else None
    if found is None:
        return None
    clocks = {name: cycle * step for name, cycle in found[1].items()}
    return Schedule.of_cycles(problem, "modulo", found[0] * step, clocks, copies)
