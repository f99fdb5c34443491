"""wave-expand: unrolls tiles into the vectors of one lane."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from wave_mlir.compiler.expansion import Expander
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.pass_registry import Pass, register_pass


@register_pass("wave-expand", requires="staged", establishes="lane")
@dataclass(frozen=True)
class Expand(Pass):
    """Turn each tile into the builtin vectors that one lane holds of it.

    A value becomes one vector for each combination of its own dims (the copies of an MMA fragment, or of the layout's
    first digit), in the order of its layout's registers. An MMA becomes one `wave.mma` a fragment: copy k of the
    K-chain takes the result of copy k-1. Loop-carried tiles become one carried vector a copy, numbered (result,
    row-major over its dims). An access gets its index over `lane`, `wave.*` and `el` (the element in the vector), and
    a `wave.mask` where an element may not exist (clipped layouts) or, for a write, where several lanes hold it.

    Before (M = 32, N = 16 in one wave, 16x16x16):

        %z = wave.mma %x, %y, %acc
               : !wave.tile<[M, K], f16, #lhs>, !wave.tile<[N, K], f16, #rhs>, !wave.tile<[M, N], f32, #acc>

    After:

        %z0 = wave.mma %x0, %y0, %acc0 kind f32_16x16x16_f16 : vector<4xf16>, vector<4xf16>, vector<4xf32>
        %z1 = wave.mma %x1, %y0, %acc1 kind f32_16x16x16_f16 : vector<4xf16>, vector<4xf16>, vector<4xf32>

    Comparisons stand right before the one op that needs them. Integer divisors of 0 become 1: beyond a dim's extent
    reads give 0, and to divide by it would be undefined.
    It adds no bounds (wave-bounds) and cuts no accesses (wave-split-accesses). Relayouts and reductions of tiles
    must be lowered before.
    """

    def run(self, module: ir.Module) -> None:
        """Expand every kernel of the module."""
        for view in module.body.operations:
            op = view.operation
            if op.name == "wave.kernel":
                block = op.regions[0].blocks[0]
                expander = Expander(KernelInfo.of(view))
                expander.note_widths(block)
                expander.expand_block(block)
                _compare_late(block)


_COMPARISONS = ("arith.cmpi", "arith.cmpf")


def _compare_late(block: ir.Block) -> None:
    """Put comparisons right before the one op that needs them: truth values of many elements at once fill the scalar
    registers."""
    for view in reversed(list(block.operations)):
        op = view.operation
        for region in op.regions:
            for inner in region.blocks:
                _compare_late(inner)
        if op.name in _COMPARISONS:
            users = [use.owner.operation for use in op.results[0].uses]
            if len(users) == 1 and users[0].block == block:
                op.move_before(users[0])
