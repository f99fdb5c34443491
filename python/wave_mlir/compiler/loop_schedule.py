"""From a loop in lane form to a schedule, and from a schedule to attributes of the IR."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from math import lcm

from mlir import ir

from wave_mlir.dialect import Expr
from wave_mlir.scheduling import (
    MOST_STAGES,
    NoSchedule,
    Problem,
    Schedule,
    SchedulingError,
    attention,
    check,
    four_stage,
    list_schedule,
    ping_pong,
    pipelined,
    prefetch,
    pressure,
    shorten,
    verify,
)
from wave_mlir.scheduling.prefetch import MOST_REGISTERS, OTHER_REGISTERS

from .diagnostics import PassError, location_text
from .kernel_info import KernelInfo
from .lds import aligned, allocations, buffer_of
from .loop_added import add_ops, raised_around_products, with_added
from .loop_problem import LoopProblem
from .loop_slots import COPIES, PIPELINE, SLOT, copies_of
from .service_waves import loads_for_others
from .stagger import second_half

Solver = Callable[[Problem, Mapping[str, int]], tuple[Problem, Schedule]]


def _one_by_one(problem: Problem, copies: Mapping[str, int]) -> tuple[Problem, Schedule]:
    return problem, list_schedule(problem, copies)


def _prefetch(problem: Problem, copies: Mapping[str, int]) -> tuple[Problem, Schedule]:
    try:
        return problem, prefetch(problem, copies)
    except NoSchedule:  # a loop of another shape
        return pipelined(problem, copies)


STAGGERED = "ping-pong"
"""The strategy that divides the waves into two groups, a barrier apart."""

SPECIALIZED = "specialized"
"""The strategy that gives a workgroup waves that only copy to LDS, for those that compute (`service_waves`)."""

SOLVERS: dict[str, Solver] = {
    "list": _one_by_one,
    "modulo": pipelined,
    "prefetch": _prefetch,
    "four-stage": four_stage,
    "attention": attention,
    STAGGERED: ping_pong,
    SPECIALIZED: _prefetch,
}
"""Strategies by name: what solves the problem of a loop. It gives the problem it solved with the solution: a strategy
may settle for shorter latencies."""

UNTIMED = ("prefetch", STAGGERED)
"""Strategies that go by leads of their own and not by the problem's latencies and resources."""

ONE_TRIP = ("list",)
"""Strategies that do not overlap trips: copies of LDS buffers would be of no use."""


def loops(block: ir.Block) -> Iterator[ir.Operation]:
    """The innermost loops of a block, in program order."""
    for view in block.operations:
        op = view.operation
        inner = [found for region in op.regions for b in region.blocks for found in loops(b)]
        yield from inner
        if op.name == "wave.iterate" and not inner:
            yield op


def spare_lds(info: KernelInfo) -> int:
    """Bytes of LDS that a kernel leaves free, its buffers one after the other, with the copies chosen so far."""
    end = 0
    for op in allocations(info.kernel.operation):
        end = aligned(end) + aligned(buffer_of(op, info).bytes) * (copies_of(op) - 1) + buffer_of(op, info).bytes
    return max(0, info.target.lds_bytes - end)


def copies_for(loop: LoopProblem, strategy: str, wanted: int) -> dict[str, int]:
    """Copies of the LDS buffers that can have some: `wanted`, or with 0 two of each where LDS has room.

    For direct copies of waves that do nothing else it is three, where LDS has room for so many.
    """
    may = loop.copyable()
    if strategy in ONE_TRIP or not may:
        return {}
    if wanted:
        return dict.fromkeys(may, wanted) if wanted > 1 else {}
    more = sum(aligned(loop.sizes[n]) for n in may)
    direct = any(o.kind == "gather_to_lds" for o in loop.operations.values())
    if strategy == SPECIALIZED and direct and 2 * more <= loop.spare_bytes:
        return dict.fromkeys(may, 3)  # copies of others fly for two trips
    return dict.fromkeys(may, 2) if more <= loop.spare_bytes else {}


def check_room(loop: LoopProblem, copies: Mapping[str, int]) -> None:
    """Raise PassError unless LDS has room for so many copies of a loop's buffers."""
    more = sum(aligned(loop.sizes[name]) * (count - 1) for name, count in copies.items())
    if more > loop.spare_bytes:
        error = PassError(
            loop.loop,
            f"{max(copies.values())} copies of this loop's LDS buffers take {more} bytes more, and {loop.spare_bytes} "
            "are free; ask for fewer copies or use smaller tiles",
        )
        for name in copies:
            error.note(loop.buffers[name], f"{loop.sizes[name]} bytes a copy")
        raise error


def solve(loop: LoopProblem, strategy: str, copies: Mapping[str, int], priority: int = 0) -> Schedule:
    """The verified schedule of a loop; `priority` other than 0: clusters of matrix operations have it.

    Raises NoSchedule where the strategy finds none.
    """
    if strategy == STAGGERED:
        _check_waves(loop)
    problem = loop.problem(copies, barriers=strategy != STAGGERED)
    check(problem)
    if strategy == SPECIALIZED:
        problem = _without_copies(loop, problem)
    solved, schedule = SOLVERS[strategy](problem, copies)
    if schedule.stages > MOST_STAGES:
        raise NoSchedule(f"it would overlap {schedule.stages} trips, and {MOST_STAGES} is the most; take strategy list")
    if schedule.strategy not in UNTIMED:
        schedule = shorten(solved, schedule)
    verify(solved, schedule, timing=schedule.strategy not in UNTIMED)
    if strategy == SPECIALIZED:
        _check_registers(solved, schedule)
        return schedule  # waves that compute have a higher priority all the time
    return raised_around_products(problem, schedule) if priority else schedule


def _check_waves(loop: LoopProblem) -> None:
    """Each SIMD has as many waves of one group as of the other."""
    x, y, z = loop.info.block_waves
    simds = loop.info.target.simds_per_compute_unit
    if x * y * z % (2 * simds):
        raise NoSchedule(
            f"ping-pong is for two groups of waves on each of {simds} SIMDs, so for {2 * simds} waves a workgroup or a "
            f"multiple of it, and there are {x * y * z}"
        )


def _without_copies(loop: LoopProblem, problem: Problem) -> Problem:
    """The problem of waves for which others load what goes to LDS: that takes no registers of theirs."""
    others = {op for op in loads_for_others(loop.ops.values())}
    made = tuple(replace(o, registers=0) if loop.ops.get(o.name) in others else o for o in problem.operations)
    return replace(problem, operations=made)


def _check_registers(problem: Problem, schedule: Schedule) -> None:
    """Waves that serve take registers of the others: what these hold has to fit the rest."""
    needed, there = pressure(problem, schedule) + OTHER_REGISTERS, min(problem.registers, MOST_REGISTERS)
    if needed > there:
        raise NoSchedule(
            f"problem '{problem.name}': with as many waves more, that only copy, a lane has {there} registers, and the "
            f"waves that compute need {needed}; use smaller tiles, or another strategy",
            operations=tuple(o.name for o in problem.of_kind("mma")[:1]),
        )


def real(loop: LoopProblem, schedule: Schedule) -> Schedule:
    """The schedule without barriers that stand for no op yet."""
    names = [name for name in schedule.ordered if name in loop.ops]
    slots = {name: replace(schedule.slots[name], order=order) for order, name in enumerate(names)}
    return replace(schedule, slots=slots)


def check_by_hand(loop: LoopProblem, schedule: Schedule) -> None:
    """Raise PassError, at the op that needs another one, unless a schedule from outside is right for the loop."""
    try:
        verify(with_added(loop.problem(schedule.copies, barriers=False), schedule), schedule, timing=False)
    except SchedulingError as error:
        ops = [loop.ops[n] for n in error.operations if n in loop.ops]
        failure = PassError(ops[-1] if ops else loop.loop, str(error))
        for op in ops[:-1]:
            failure.note(op, "the other op")
        raise failure from None


def notes(loop: LoopProblem) -> dict[str, str]:
    """Where each op comes from, for the text form."""
    return {name: location_text(op.location) for name, op in loop.body}


def annotate(loop: LoopProblem, schedule: Schedule, priority: int = 1, stagger: Expr | None = None) -> None:
    """Write a schedule into the IR, as the pass that builds the pipelined loop takes it, with what it adds.

    priority: of the waves where the schedule raises it. stagger: the condition of waves a barrier behind the others.
    """
    add_ops(loop, schedule, priority)
    i64 = ir.IntegerType.get_signless(64)

    def number(value: int) -> ir.Attribute:
        return ir.IntegerAttr.get(i64, value)

    unroll = lcm(schedule.unroll, *(n for n in schedule.copies.values()))
    said: dict[str, ir.Attribute] = {
        "strategy": ir.StringAttr.get(schedule.strategy),
        "stages": number(schedule.stages),
        "interval": number(schedule.interval),
        "unroll": number(unroll),
    }
    if schedule.strategy == STAGGERED:
        stagger = second_half(loop.info)
    if stagger is not None:
        said["stagger"] = stagger
    loop.loop.attributes[PIPELINE] = ir.DictAttr.get(said)
    for name, slot in real(loop, schedule).slots.items():
        place = {"stage": number(slot.stage), "order": number(slot.order)}
        loop.ops[name].attributes[SLOT] = ir.DictAttr.get(place)
    for name, count in schedule.copies.items():
        if count > 1:
            loop.buffers[name].attributes[COPIES] = number(count)
