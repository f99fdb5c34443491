"""wave-lower-reductions: makes reductions of lane vectors out of arithmetic, shuffles and LDS."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.pass_registry import Pass, register_pass
from wave_mlir.compiler.reductions import ReductionLowering


@register_pass("wave-lower-reductions", requires="lane", establishes="lane")
@dataclass(frozen=True)
class LowerReductions(Pass):
    """Lower each `wave.reduce` of vectors: first over the vectors it is given (what a lane holds), then over the lanes
    of each cluster that its attribute `wave.clusters` names, then, for a block reduction, over waves through LDS.

    A cluster is [extent, stride] in lanes: lanes that differ in (lane floordiv stride) mod extent hold different
    elements along the reduced dim. Lanes exchange in log2(extent) steps, each lane with the one whose bit differs, so
    that all end with the result. `wave.waves` names the waves of a block reduction as [axis, extent, stride].

    Before:

        %s = wave.reduce sum %x0, %x1 along K acc %old {wave.clusters = [array<i64: 16, 1>]}
               : vector<1xf32>, vector<1xf32> -> vector<1xf32>

    After:

        %0 = arith.addf %x0, %x1 : vector<1xf32>
        %1 = wave.shuffle xor %0 offset 1 width 64 : vector<1xf32>
        %2 = arith.addf %0, %1 : vector<1xf32>
        …
        %s = arith.addf %old, %8 : vector<1xf32>
    """

    def run(self, module: ir.Module) -> None:
        """Lower the reductions of every kernel. Raises PassError for a cluster that is no power of two."""
        for view in module.body.operations:
            if view.operation.name == "wave.kernel":
                lowering = ReductionLowering(KernelInfo.of(view), view.operation.regions[0].blocks[0])
                lowering.run()
