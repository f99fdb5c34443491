"""wave-schedule: decides in which order and for which trip the ops of a loop are issued."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from wave_mlir.compiler.diagnostics import emit_warning
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.lane_access import REST
from wave_mlir.compiler.lds import aligned
from wave_mlir.compiler.loop_problem import CannotSchedule, LoopProblem
from wave_mlir.compiler.loop_schedule import annotate, copies_for, loops, solve, spare_lds
from wave_mlir.compiler.pass_registry import Pass, PassError, option, register_pass
from wave_mlir.passes.pipelines import Strategy
from wave_mlir.scheduling import NoSchedule


@register_pass("wave-schedule", requires="lane", establishes="lane")
@dataclass(frozen=True)
class Schedule(Pass):
    """Annotate the innermost loops with a schedule: interval, stages, a place for each op, copies of LDS buffers.

    The ops of a loop's body, their latencies and what they use of the machine make a problem (docs/scheduling.md); a
    strategy solves it and the solution is verified by other means. `list` keeps trips apart and orders the ops of one;
    `modulo` overlaps trips so that the busiest unit is always busy; `prefetch` puts the loads and LDS accesses of a
    loop of MMAs between these, each a little before it is needed, and leaves other loops to `modulo`; `four-stage` puts
    loads, LDS writes, LDS reads and computation each a trip after the one before; `attention` computes the first product
    of one trip together with the rest of the trip before. LDS buffers get two copies where LDS has room.

    Before:

        %sum = wave.iterate K iv(%k) trips(64) iter_args(%acc = %zero : vector<4xf32>) {
          %a = wave.buffer_load …
          wave.write %a, %lds index […] : …
          %x = wave.read %lds index […] : …
          %z = wave.mma %x, %y, %acc …

    After:

        %lds = wave.allocate {wave.copies = 2 : i64} : …
        %sum = wave.iterate K … attributes {wave.pipeline =
            {interval = 1024 : i64, stages = 3 : i64, strategy = "modulo", unroll = 2 : i64}} {
          %a = wave.buffer_load … {wave.slot = {order = 0 : i64, stage = 0 : i64}}
          wave.write %a, %lds … {wave.slot = {order = 7 : i64, stage = 0 : i64}}
          %x = wave.read %lds … {wave.slot = {order = 3 : i64, stage = 1 : i64}}
          %z = wave.mma … {wave.slot = {order = 1 : i64, stage = 2 : i64}}
        }

    It moves nothing. A loop that cannot be scheduled stays as it is, with a warning that names the op in the way.
    Loops that run what another one left (`wave.rest`) are not worth it.
    """

    strategy: Strategy = option("none", help="how to schedule loops")
    copies: int = option(0, help="copies of each LDS buffer of a loop; 0 = two where LDS has room")

    def run(self, module: ir.Module) -> None:
        """Annotate the loops of every kernel of the module."""
        if self.strategy == "none":
            return
        for view in module.body.operations:
            if view.operation.name == "wave.kernel":
                info = KernelInfo.of(view)
                for loop in loops(view.operation.regions[0].blocks[0]):
                    if REST not in loop.attributes:
                        self._schedule(info, loop)

    def _schedule(self, info: KernelInfo, op: ir.Operation) -> None:
        try:
            loop = LoopProblem(info, op, spare_lds(info))
        except CannotSchedule as error:
            text = f"this loop is not scheduled: {error}; it runs as it is written"
            notes = [] if error.op == op else [(error.op.location, "this op is in the way")]
            emit_warning(op, text, notes)
            return
        copies = copies_for(loop, self.strategy, self.copies)
        self._check_room(loop, copies)
        try:
            schedule = solve(loop, self.strategy, copies)
        except NoSchedule as error:
            notes = [(loop.ops[n].location, "one of these ops") for n in error.operations if n in loop.ops]
            emit_warning(op, f"this loop is not scheduled: {error}; it runs as it is written", notes[:4])
            return
        annotate(loop, schedule)

    def _check_room(self, loop: LoopProblem, copies: dict[str, int]) -> None:
        more = sum(aligned(loop.sizes[name]) * (count - 1) for name, count in copies.items())
        if more <= loop.spare_bytes:
            return
        error = PassError(
            loop.loop,
            f"{self.copies} copies of this loop's LDS buffers take {more} bytes more, and {loop.spare_bytes} are free; "
            "ask for fewer copies or use smaller tiles",
        )
        for name in copies:
            error.note(loop.buffers[name], f"{loop.sizes[name]} bytes a copy")
        raise error
