"""Schedules of loops, apart from the IR: problems, solvers, an independent check, a text form.

`check(problem)` says whether a problem makes sense, `verify(problem, schedule)` whether a schedule solves it.
"""

from __future__ import annotations

from .bounds import minimum_interval, recurrence_bound, resource_bound
from .latencies import one_trip_ahead, shortened
from .listing import list_schedule
from .modulo import modulo
from .ping_pong import ping_pong
from .prefetch import prefetch
from .pressure import pressure
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
from .product_solver import pipelined, schedule_products
from .products import Products
from .rows import by_rows
from .schedule import MOST_STAGES, MOST_UNROLL, Schedule, Slot
from .shorten import shorten
from .staged import attention, four_stage
from .text import dump, load
from .verify import verify

__all__ = [
    "KINDS",
    "MOST_STAGES",
    "MOST_UNROLL",
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
    "Products",
    "Resource",
    "Schedule",
    "SchedulingError",
    "Slot",
    "Use",
    "attention",
    "by_rows",
    "check",
    "dump",
    "four_stage",
    "list_schedule",
    "load",
    "minimum_interval",
    "modulo",
    "one_trip_ahead",
    "ping_pong",
    "pipelined",
    "prefetch",
    "pressure",
    "recurrence_bound",
    "resource_bound",
    "schedule_products",
    "shortened",
    "shorten",
    "verify",
]
