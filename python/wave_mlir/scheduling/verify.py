"""Checks a schedule by running it: several trips are laid out one after the other and watched.

Written without the solvers' code (no modulo arithmetic of dependences or reservation tables), so that a mistake of
theirs shows here.
"""

from __future__ import annotations

from collections.abc import Iterator

from .problem import (
    READ_AFTER_WRITE,
    WRITE_AFTER_READ,
    Dependence,
    Problem,
    SchedulingError,
    with_copies,
)
from .schedule import MOST_STAGES, MOST_UNROLL, Schedule

Event = tuple[str, int]
"""An operation and the trip it is executed for."""


def verify(problem: Problem, schedule: Schedule, *, timing: bool = True) -> None:
    """Raise SchedulingError, which names the broken dependence, unless the schedule is right for the problem.

    Checked: every operation has one place; the order of the steady loop, run over several trips, keeps every
    dependence; a copy of an LDS buffer still has what its reader is to find. With `timing` also latencies, and that no
    resource is used beyond its capacity; without, a schedule may be slow but not wrong.
    """
    _check_slots(problem, schedule)
    _check_copies(problem, schedule)
    events = list(_run(problem, schedule))
    _check_buffers(problem, schedule, events)
    _check_order(problem, schedule, events)
    if timing:
        _check_latencies(problem, schedule)
        _check_resources(problem, schedule, events)


def _fail(schedule: Schedule, text: str, dependence: Dependence | None = None, *operations: str) -> SchedulingError:
    return SchedulingError(f"schedule '{schedule.name}': {text}", dependence=dependence, operations=operations)


def _check_slots(problem: Problem, schedule: Schedule) -> None:
    if schedule.interval < 1 or schedule.unroll < 1:
        raise _fail(schedule, "the interval and the unroll factor must be 1 or more")
    if schedule.stages > MOST_STAGES or schedule.unroll > MOST_UNROLL:
        text = f"{schedule.stages} stages and unroll {schedule.unroll}"
        raise _fail(schedule, f"{text}; the most are {MOST_STAGES} stages and unroll {MOST_UNROLL}")
    missing = [o.name for o in problem.operations if o.name not in schedule.slots]
    if missing:
        raise _fail(schedule, f"no place for {_names(missing)}; add a line for each", None, *missing)
    unknown = [n for n in schedule.slots if n not in problem.by_name]
    if unknown:
        raise _fail(schedule, f"{_names(unknown)} not in the loop; remove these lines", None, *unknown)
    previous = None
    for name in schedule.ordered:
        slot = schedule.slots[name]
        if not 0 <= slot.clock < schedule.interval or slot.stage < 0:
            raise _fail(
                schedule,
                f"'{name}' is at clock {slot.clock} of stage {slot.stage}; clocks go from 0 to "
                f"{schedule.interval - 1}, stages from 0",
                None,
                name,
            )
        if previous is not None:
            before = schedule.slots[previous]
            if before.order == slot.order:
                raise _fail(
                    schedule, f"'{previous}' and '{name}' have the same place {slot.order}", None, previous, name
                )
            if before.clock > slot.clock:
                text = f"'{name}' at clock {slot.clock} is listed after '{previous}' at clock {before.clock}"
                raise _fail(schedule, f"{text}; clocks must not decrease", None, previous, name)
        previous = name


def _names(names: list[str]) -> str:
    shown = ", ".join(f"'{n}'" for n in names[:5])
    return shown + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _check_copies(problem: Problem, schedule: Schedule) -> None:
    buffers = {b.name: b for b in problem.buffers}
    total = sum(b.bytes * schedule.copies.get(b.name, 1) for b in problem.buffers)
    for name, count in schedule.copies.items():
        if name not in buffers:
            raise _fail(schedule, f"there is no LDS buffer '{name}' to copy; the loop has {_names(sorted(buffers))}")
        most = buffers[name].most
        if count < 1 or (most and count > most):
            raise _fail(schedule, f"{count} copies of '{name}'; give 1" + (f" to {most}" if most else " or more"))
    if problem.lds_bytes and total > problem.lds_bytes:
        each = ", ".join(f"'{b.name}' {schedule.copies.get(b.name, 1)} x {b.bytes}" for b in problem.buffers)
        text = f"the LDS buffers need {total} of {problem.lds_bytes} bytes ({each}); use fewer copies or smaller tiles"
        raise _fail(schedule, text)


def _trips(problem: Problem, schedule: Schedule) -> int:
    copies = max(schedule.copies.values(), default=1)
    return schedule.stages + max((d.distance for d in problem.dependences), default=0) + copies + 1


def _run(problem: Problem, schedule: Schedule) -> Iterator[Event]:
    """What is executed, in order: prologue, steady loop and epilogue of so many trips that everything meets."""
    trips = _trips(problem, schedule)
    ordered = schedule.ordered
    for newest in range(trips + schedule.stages - 1):
        for name in ordered:
            trip = newest - schedule.slots[name].stage
            if 0 <= trip < trips:
                yield name, trip


def _check_order(problem: Problem, schedule: Schedule, events: list[Event]) -> None:
    place = {event: i for i, event in enumerate(events)}
    trips = range(_trips(problem, schedule))
    for dependence in problem.dependences:
        effective = with_copies(dependence, schedule.copies)
        for trip in trips:
            other = place.get((dependence.target, trip + effective.distance))
            if other is not None and other <= place[dependence.source, trip]:
                raise _broken(schedule, effective)


def _broken(schedule: Schedule, d: Dependence) -> SchedulingError:
    source, target = schedule.slots[d.source], schedule.slots[d.target]
    text = (
        f"broken dependence: {d}, but '{d.source}' has stage {source.stage}, place {source.order} and '{d.target}' "
        f"stage {target.stage}, place {target.order}"
    )
    if d.frees:
        return _fail(schedule, f"{text}; move '{d.source}' forward or give '{d.buffer}' more copies", d)
    return _fail(schedule, f"{text}; put '{d.target}' after '{d.source}' or in a later stage", d)


def _check_buffers(problem: Problem, schedule: Schedule, events: list[Event]) -> None:
    """Follow which trip's data each copy of each buffer has."""
    reads: dict[str, list[Dependence]] = {}
    writes: dict[str, list[str]] = {}
    for d in problem.dependences:
        if d.buffer and d.kind == READ_AFTER_WRITE:
            reads.setdefault(d.target, []).append(d)
            if d.buffer not in writes.setdefault(d.source, []):
                writes[d.source].append(d.buffer)
    held: dict[tuple[str, int, str], int] = {}
    for name, trip in events:
        for d in reads.get(name, ()):
            wanted = trip - d.distance
            copies = schedule.copies.get(d.buffer, 1)
            found = held.get((d.buffer, wanted % copies, d.source))
            if wanted >= 0 and found != wanted:
                raise _stale(problem, schedule, d, None if found is None or found < wanted else found - wanted)
        for buffer in writes.get(name, ()):
            held[buffer, trip % schedule.copies.get(buffer, 1), name] = trip


def _stale(problem: Problem, schedule: Schedule, d: Dependence, ahead: int | None) -> SchedulingError:
    if ahead is None:
        return _broken(schedule, d)
    newer = _count(ahead, "trip", "trips")
    text = f"'{d.source}' has overwritten '{d.buffer}' with data of {newer} later when '{d.target}' reads it"
    copies = schedule.copies.get(d.buffer, 1)
    freeing = next(
        (f for f in problem.dependences if f.kind == WRITE_AFTER_READ and (f.source, f.target) == (d.target, d.source)),
        Dependence(d.target, d.source, 1, kind=WRITE_AFTER_READ, buffer=d.buffer),
    )
    broken = f"broken dependence: {with_copies(freeing, schedule.copies)}"
    remedy = f"it has {_count(copies, 'copy', 'copies')}: give it more, or read earlier"
    return _fail(schedule, f"{broken}: {text}; {remedy}", freeing)


def _count(number: int, one: str, several: str) -> str:
    return f"{number} {one if number == 1 else several}"


def _check_latencies(problem: Problem, schedule: Schedule) -> None:
    for d in problem.dependences:
        effective = with_copies(d, schedule.copies)
        for trip in range(2):
            issued = trip * schedule.interval + schedule.cycles[d.source]
            used = (trip + effective.distance) * schedule.interval + schedule.cycles[d.target]
            if used < issued + d.latency:
                text = f"'{d.target}' is issued {used - issued} clocks after '{d.source}', which takes {d.latency}"
                raise _fail(schedule, f"{text} ({effective}); move them apart", effective)


def _check_resources(problem: Problem, schedule: Schedule, events: list[Event]) -> None:
    """Sweep over all that begins and ends; at one clock ends come first."""
    changes: dict[str, list[tuple[int, int, str]]] = {r.name: [] for r in problem.resources}
    for name, trip in events:
        issued = trip * schedule.interval + schedule.cycles[name]
        for use in problem.by_name[name].uses:
            if use.clocks:
                begin = issued + use.start
                changes[use.resource].append((begin, use.amount, name))
                changes[use.resource].append((begin + use.clocks, -use.amount, name))
    for resource in problem.resources:
        busy = 0
        for clock, amount, name in sorted(changes[resource.name]):
            busy += amount
            if busy > resource.capacity:
                text = f"'{name}' finds '{resource.name}' busy at clock {clock % schedule.interval}: {busy} of"
                raise _fail(schedule, f"{text} {resource.capacity} used; give it another clock", None, name)
