"""Schedules of loops, apart from the IR: problems, solvers, an independent check, a text form.

`check(problem)` says whether a problem makes sense, `verify(problem, schedule)` whether a schedule solves it.
"""

from __future__ import annotations

from .bounds import minimum_interval, recurrence_bound, resource_bound
from .listing import list_schedule
from .modulo import modulo
from .problem import (
    KINDS,
    ORDER,
    READ_AFTER_WRITE,
    VALUE,
    WRITE_AFTER_READ,
    WRITE_AFTER_WRITE,
    Buffer,
    Dependence,
    NoSchedule,
    Operation,
    Problem,
    Resource,
    SchedulingError,
    Use,
    check,
)
from .schedule import Schedule, Slot
from .text import dump, load
from .verify import verify

__all__ = [
    "KINDS",
    "ORDER",
    "READ_AFTER_WRITE",
    "VALUE",
    "WRITE_AFTER_READ",
    "WRITE_AFTER_WRITE",
    "Buffer",
    "Dependence",
    "NoSchedule",
    "Operation",
    "Problem",
    "Resource",
    "Schedule",
    "SchedulingError",
    "Slot",
    "Use",
    "check",
    "dump",
    "list_schedule",
    "load",
    "minimum_interval",
    "modulo",
    "recurrence_bound",
    "resource_bound",
    "verify",
]
