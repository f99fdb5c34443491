"""wave-hoist-invariants: what every trip of a loop does alike is done once, before the loop."""

from __future__ import annotations

from dataclasses import dataclass

from wave_mlir.compiler.invariants import Invariants, loops_inside_out
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.manual_schedule import named_tags, tags_of
from wave_mlir.compiler.pass_registry import ModuleOp, Pass, register_pass
from wave_mlir.compiler.tile_ir import body_of, kernels


@register_pass("wave-hoist-invariants", requires="lane", establishes="lane")
@dataclass(frozen=True)
class HoistInvariants(Pass):
    """Move reads that give the same in every trip of a loop in front of it, with what is computed from them alone.

    Before:

        %r = wave.iterate K2 iv(%k) trips(64) iter_args(…) {
          %q = wave.buffer_load %a base [wg.x * 8192] offset [lane * 4] : … -> vector<4xf16>
          …

    After:

        %q = wave.buffer_load %a base [wg.x * 8192] offset [lane * 4] : … -> vector<4xf16>
        %r = wave.iterate K2 iv(%k) trips(64) iter_args(…) {
          …

    Nothing in the loop may write what is read: reads of global memory stay in loops that write any, or have volatile
    accesses, or end by a condition. Where trips may be none, only reads move that have to do with none of the sizes
    that decide on it. Copies to LDS move with what they copy unless who else reads the buffer might see it. Reads
    move up to a quarter of the registers a lane has; reads of LDS beyond that stay in the loop. Passes after this one
    need not look for such reads: a scheduled loop has none to find a place for. What
    a schedule by hand names stays.
    """

    def run(self, module: ModuleOp) -> None:
        """Move them out of the loops of every kernel of the module, inner loops first."""
        for kernel in kernels(module):
            info = KernelInfo.of(kernel)
            named = named_tags(kernel.operation)
            for loop in loops_inside_out(body_of(kernel)):
                Invariants(info, loop, lambda op, named=named: any(t in named for t in tags_of(op.location))).move()
