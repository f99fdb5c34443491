"""wave-count-waits: says at each wait for direct copies how many may stay in flight."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from wave_mlir.compiler.copy_waits import left_in_flight
from wave_mlir.compiler.gpu_barrier import OUTSTANDING
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.pass_registry import Pass, register_pass
from wave_mlir.compiler.stagger import Stretches
from wave_mlir.compiler.tile_ir import kernels


@register_pass("wave-count-waits", requires="lane", establishes="lane")
@dataclass(frozen=True)
class CountWaits(Pass):
    """Let each barrier that waits for direct copies to LDS wait for those alone that are used before the next wait.

    Copies complete in order. So `wave.outstanding` is the number of copies issued, on every path, after the last one
    that is needed; without it all are waited for. This is what lets the copies of later trips of a pipelined loop stay
    in flight.

    Before:

        wave.gather_to_shared … to %l0 …
        wave.gather_to_shared … to %l1 …
        wave.shared_memory_barrier wait_async
        wave.read %l0 …
        wave.shared_memory_barrier wait_async
        wave.read %l1 …

    After:

        …
        wave.shared_memory_barrier wait_async {wave.outstanding = 1 : i64}
        wave.read %l0 …

    Copies of one buffer are not told apart. Where groups of waves are a barrier apart all copies are waited for. It
    places no waits (wave-place-barriers does), and it does not change those of `wave.memory_counter_wait`.
    """

    def run(self, module: ir.Module) -> None:
        """Count in every kernel of the module."""
        i64 = ir.IntegerType.get_signless(64)
        for kernel in kernels(module):
            apart = Stretches.of(KernelInfo.of(kernel)).number
            for op, left in left_in_flight(kernel.operation):
                if op not in apart:
                    op.attributes[OUTSTANDING] = ir.IntegerAttr.get(i64, left)
