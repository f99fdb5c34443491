"""wave-place-waits: waits in steady loops that cover several accesses at once."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.loop_slots import STEADY
from wave_mlir.compiler.loop_waits import plan
from wave_mlir.compiler.pass_registry import ModuleOp, Pass, register_pass
from wave_mlir.compiler.tile_ir import body_of, kernels, walk


@register_pass("wave-place-waits", requires="lane", establishes="lane")
@dataclass(frozen=True)
class PlaceWaits(Pass):
    """Put waits into steady loops: at the first use of a load, for all loads that have surely come by then.

    LLVM waits where a result is used, for just that; here one wait by count does for what several uses need: for the
    global loads issued up to 96 clocks of MMAs after the one that is needed (or a 14th of its time under way), which
    come with it if that is 384 clocks old, and for the LDS accesses that are 160 clocks old. A wait is never later than
    LLVM's, and one load at least stays under way.

    Before:

        wave.write %x0, %lds … : …
        wave.write %x1, %lds … : …

    After:

        wave.memory_counter_wait load 4
        wave.write %x0, %lds … : …
        wave.write %x1, %lds … : …

    Loops that wave-pipeline-loops did not make stay as they are; there LLVM waits.
    """

    def run(self, module: ModuleOp) -> None:
        """Place the waits of every steady loop of the module."""
        i64 = ir.IntegerType.get_signless(64)
        for kernel in kernels(module):
            target = KernelInfo.of(kernel).target
            loops = [op for op in walk(body_of(kernel)) if op.name == "wave.iterate" and STEADY in op.attributes]
            for loop in loops:
                for op, counts in plan(loop, target):
                    attributes = {name: ir.IntegerAttr.get(i64, n) for name, n in counts.items()}
                    with op.location, ir.InsertionPoint(op):
                        ir.Operation.create("wave.memory_counter_wait", [], [], attributes)
                        ir.Operation.create("wave.scheduling_barrier", [], [], {"allow": ir.ArrayAttr.get([])})
