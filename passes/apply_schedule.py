"""wave-apply-schedule: a kernel's schedule by hand becomes places for the ops of its loops."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from mlir import ir
from wave_mlir.compiler.diagnostics import PassError
from wave_mlir.compiler.directives import PLANS, LoopPlan, Nodes, loaded
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.lane_access import REST
from wave_mlir.compiler.loop_problem import CannotSchedule, LoopProblem
from wave_mlir.compiler.loop_schedule import annotate, check_room, loops, spare_lds
from wave_mlir.compiler.loop_slots import Schedule as LoopSchedule
from wave_mlir.compiler.manual_groups import stagger_of
from wave_mlir.compiler.manual_schedule import place_of, schedule_by_hand, tags_of
from wave_mlir.compiler.pass_options import at_least
from wave_mlir.compiler.pass_registry import ModuleOp, Pass, option, register_pass
from wave_mlir.compiler.tile_ir import kernels
from wave_mlir.compiler.unrolling import Unrolled, of_iterations
from wave_mlir.passes.pipeline_loops import pipeline_loop, rotating
from wave_mlir.scheduling import Schedule, Slot


@register_pass("wave-apply-schedule", requires="lane", establishes="lane")
@dataclass(frozen=True)
class ApplySchedule(Pass):
    """Annotate the loops that a schedule by hand names with its stages and its order.

    `wave.manual` on a kernel is the text of a schedule written in Python (docs/scheduling.md): for the loop with a tag,
    which ops are in which stage, and their order. Tags are in the locations of ops. Ops that the schedule adds
    (scheduling barriers, priorities, barriers, waits) are put into the loop. Ops that only compute in registers and
    have no place go where their users are.

    Before:

        wave.kernel @gemm … attributes {wave.manual = "[…]"} {
          %r = wave.iterate K … {
            %a = wave.buffer_load …                   // loc("wave.tag:a"(…))

    After:

        wave.kernel @gemm … {
          %r = wave.iterate K … attributes {wave.pipeline = {strategy = "manual", stages = 2, …}} {
            %a = wave.buffer_load … {wave.slot = {order = 0 : i64, stage = 0 : i64}}

    Two groups of waves a barrier apart become `stagger` in `wave.pipeline`.

    It verifies no dependence: wave-pipeline-loops does, for all annotations alike.
    """

    copies: int = option(
        0, help="copies of each LDS buffer of the loops; 0 = as many as the places of its accesses need"
    )

    def __post_init__(self) -> None:
        """Raises ValueError for a number of copies that there is not."""
        at_least(self, "copies", 0)

    def run(self, module: ModuleOp) -> None:
        """Annotate the loops of every kernel of the module that has a schedule."""
        for kernel in kernels(module):
            op = kernel.operation
            if PLANS not in op.attributes:
                continue
            if not isinstance(op.attributes[PLANS], ir.StringAttr):
                raise PassError(op, f"wave.manual is {op.attributes[PLANS]}; write the text of a schedule, a string")
            try:
                plans = loaded(ir.StringAttr(op.attributes[PLANS]).value)
            except ValueError as error:
                raise PassError(op, f"wave.manual cannot be read: {error}") from None
            del op.attributes[PLANS]
            for plan in plans:
                self._apply(KernelInfo.of(kernel), plan)

    def _apply(self, info: KernelInfo, plan: LoopPlan) -> None:
        candidates = [c for c in loops(info.kernel.operation.regions[0].blocks[0]) if REST not in c.attributes]
        found = [c for c in candidates if plan.loop in tags_of(c.location)]
        if not found:
            have = ", ".join(sorted({t for c in candidates for t in tags_of(c.location)})) or "none"
            text = f"no innermost loop has the tag '{plan.loop}'; the tags of loops are: {have}"
            raise PassError(place_of(plan.at), text)
        apart = of_iterations(plan)
        for op in found:
            loop, said = self._problem(info, plan, op), plan
            if apart is not None:
                unrolled = self._unrolled(loop, plan, apart)
                if unrolled is None:
                    continue  # fewer tiles than the body would have
                loop, said = self._problem(info, plan, unrolled), replace(plan, unroll=1)
            stagger = stagger_of(info, plan)
            copies = {} if apart is not None else self._copies(loop) if self.copies else None
            schedule = schedule_by_hand(loop, said, copies)
            if schedule.copies:
                check_room(loop, schedule.copies)
            annotate(loop, schedule, stagger=stagger)

    def _problem(self, info: KernelInfo, plan: LoopPlan, op: ir.Operation) -> LoopProblem:
        try:
            return LoopProblem(info, op, spare_lds(info))
        except CannotSchedule as error:
            text = f"the loop '{plan.loop}' cannot be scheduled: {error}; take it out of the schedule"
            raise PassError(error.op, text).note(place_of(plan.at), "the schedule") from None

    def _unrolled(self, loop: LoopProblem, plan: LoopPlan, apart: Nodes) -> ir.Operation | None:
        """The loop with as many tiles a trip as the plan says, each with LDS buffers of its own where these are copied;
        None where it has fewer tiles."""
        if plan.unroll < 2:
            raise PassError(
                place_of(apart.at),
                f"{apart.name} of one trip: the loop '{plan.loop}' is not unrolled; call unroll(loop, n) for it",
            )
        copies = self._copies(loop)
        if copies and self.copies != plan.unroll:
            text = f"the trips of '{plan.loop}' are told apart: give its LDS buffers {plan.unroll} copies, or one"
            raise PassError(place_of(plan.at), text)
        slots = {name: Slot(0, order, 0) for order, (name, _) in enumerate(loop.body)}
        annotate(loop, Schedule(loop.name, "unrolled", 1, slots, copies, plan.unroll))
        loop.loop.attributes[REST] = ir.UnitAttr.get()  # what is left then is not scheduled
        schedule = LoopSchedule.of(loop.loop)
        makers: list[Unrolled] = []

        def make(*arguments: Any) -> Unrolled:
            makers.append(Unrolled(*arguments))
            return makers[0]

        pipeline_loop(loop.info, schedule, rotating([schedule]), make=make)
        made = makers[0].made
        if made is not None:
            del made.attributes[REST]
        return made

    def _copies(self, loop: LoopProblem) -> dict[str, int]:
        if self.copies < 2:
            return {}
        copies = dict.fromkeys(loop.copyable(), self.copies)
        check_room(loop, copies)
        return copies
