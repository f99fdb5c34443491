"""wave-apply-schedule: a kernel's schedule by hand becomes places for the ops of its loops."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from wave_mlir.compiler.diagnostics import PassError
from wave_mlir.compiler.directives import PLANS, LoopPlan, loaded
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.lane_access import REST
from wave_mlir.compiler.loop_problem import CannotSchedule, LoopProblem
from wave_mlir.compiler.loop_schedule import annotate, check_room, loops, spare_lds
from wave_mlir.compiler.manual_groups import stagger_of
from wave_mlir.compiler.manual_schedule import place_of, schedule_by_hand, tags_of
from wave_mlir.compiler.pass_options import at_least
from wave_mlir.compiler.pass_registry import ModuleOp, Pass, option, register_pass
from wave_mlir.compiler.tile_ir import kernels


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

    copies: int = option(0, help="copies of each LDS buffer of the loops; 0 = one")

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
        for op in found:
            try:
                loop = LoopProblem(info, op, spare_lds(info))
            except CannotSchedule as error:
                text = f"the loop '{plan.loop}' cannot be scheduled: {error}; take it out of the schedule"
                raise PassError(error.op, text).note(place_of(plan.at), "the schedule") from None
            stagger = stagger_of(info, plan)
            annotate(loop, schedule_by_hand(loop, plan, self._copies(loop)), stagger=stagger)

    def _copies(self, loop: LoopProblem) -> dict[str, int]:
        if self.copies < 2:
            return {}
        copies = dict.fromkeys(loop.copyable(), self.copies)
        check_room(loop, copies)
        return copies
