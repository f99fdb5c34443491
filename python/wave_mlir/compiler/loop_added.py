"""Operations that a schedule adds to a loop: barriers between clusters, priorities around those of matrix operations.

They are named `added.barrier.N`, `added.raise.N`, `added.lower.N`, and stand in the steady loop alone.
"""

from __future__ import annotations

from dataclasses import replace

from mlir import ir

from wave_mlir.dialect import wave as ops
from wave_mlir.scheduling import Operation, Problem, Schedule, Slot
from wave_mlir.scheduling.ping_pong import BARRIER, LEAST_MMAS

from .loop_problem import LoopProblem
from .loop_slots import STEADY_ALONE

RAISE, LOWER = "added.raise", "added.lower"
_KINDS = {BARRIER: "barrier", RAISE: "order", LOWER: "order"}


def with_added(problem: Problem, schedule: Schedule) -> Problem:
    """A problem with the operations that a schedule adds, which depend on nothing."""
    added = [n for n in schedule.ordered if n.rpartition(".")[0] in _KINDS and n not in problem.by_name]
    made = tuple(Operation(n, _KINDS[n.rpartition(".")[0]]) for n in added)
    return replace(problem, operations=(*problem.operations, *made))


def raised_around_products(problem: Problem, schedule: Schedule) -> Schedule:
    """The schedule with a higher priority in each run of matrix operations that nothing else stands in."""
    products = {o.name for o in problem.of_kind("mma")}
    run: list[str] = []
    listed: list[tuple[str, Slot]] = []
    for name in [*schedule.ordered, ""]:
        if name in products:
            run.append(name)
            continue
        marks = [(f"{kind}.{len(listed)}", schedule.slots[end]) for kind, end in ((RAISE, run[0]), (LOWER, run[-1]))
                 ] if len(run) >= LEAST_MMAS else []  # fmt: skip
        listed += [*marks[:1], *((m, schedule.slots[m]) for m in run), *marks[1:]]
        listed += [(name, schedule.slots[name])] if name else []
        run = []
    return replace(schedule, slots={n: replace(slot, order=order) for order, (n, slot) in enumerate(listed)})


def add_ops(loop: LoopProblem, schedule: Schedule, priority: int) -> None:
    """Put what a schedule adds into its loop, at the end of the body: where it goes is said by its place."""
    body = loop.loop.regions[0].blocks[0]
    end = body.operations[len(body.operations) - 1]
    for name in schedule.ordered:
        kind = name.rpartition(".")[0]
        if name in loop.ops or kind not in _KINDS:
            continue
        with loop.loop.location, ir.InsertionPoint(end):
            made = ops.SharedMemoryBarrierOp() if kind == BARRIER else ops.SetWavePrioOp(priority * (kind == RAISE))
        made.operation.attributes[STEADY_ALONE] = ir.UnitAttr.get()
        loop.ops[name] = made.operation
