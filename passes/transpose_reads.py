"""wave-transpose-reads: LDS reads across rows by the hardware's transposed reads."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from wave_mlir.compiler.direct_copies import all_lanes
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.lane_access import accesses, is_shared
from wave_mlir.compiler.lane_values import concatenate
from wave_mlir.compiler.pass_registry import Pass, register_pass
from wave_mlir.compiler.transposed_reads import TransposedReads


@register_pass("wave-transpose-reads", requires="lane", establishes="lane")
@dataclass(frozen=True)
class TransposeReads(Pass):
    """Turn LDS reads of elements of several rows into reads that the hardware transposes, where the target has them.

    The lanes of such a read, 16 at a time, are at neighbouring elements of a row, and the elements of a lane go down
    the rows: operands of MMAs that are transposed in LDS. A read of 64 bits along the row takes the place of 4 reads
    of 16 bits (or 8 of 8); what a lane gets is a column of what 16 lanes have read.

    Before (gfx950; a buffer of 32 rows, K, of 64 columns):

        %v = wave.read %l index [lane floordiv 16 * 4 + el, lane mod 16] : … -> vector<4xf16>

    After:

        %v = wave.read %l index [lane floordiv 4, lane mod 4 * 4 + el] {wave.transposed_read} : … -> vector<4xf16>

    It leaves masked reads alone, and those in conditionals that not all lanes enter.
    """

    def run(self, module: ir.Module) -> None:
        """Rewrite the reads of every kernel of the module."""
        for view in module.body.operations:
            op = view.operation
            if op.name == "wave.kernel":
                info = KernelInfo.of(view)
                if info.target.transposed_lds_bits:
                    reads = TransposedReads(info)
                    for access in [a for a in accesses(op.regions[0].blocks[0]) if a.name == "wave.read"]:
                        _rewrite(reads, access)


def _rewrite(reads: TransposedReads, op: ir.Operation) -> None:
    if not is_shared(op) or not all_lanes(op):
        return
    with op.location, ir.InsertionPoint(op):
        parts = reads.parts(op)
        if parts is None:
            return
        value = concatenate(parts)
    op.results[0].replace_all_uses_with(value)
    op.erase()
