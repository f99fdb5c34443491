"""wave-swizzle-shared: moves the elements of LDS buffers so that accesses have no bank conflicts."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from wave_mlir.compiler.direct_swizzle import exchange
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.lane_access import in_lds, index_of
from wave_mlir.compiler.lds import allocations, buffers
from wave_mlir.compiler.lds_swizzle import Buffer, RowLayout, buffer_of, choose, row_of
from wave_mlir.compiler.pass_registry import Pass, register_pass
from wave_mlir.dialect import Expr, MemoryType


@register_pass("wave-swizzle-shared", requires="lane", establishes="lane")
@dataclass(frozen=True)
class SwizzleShared(Pass):
    """Choose for each LDS buffer where its elements live, by the bank conflicts of all its accesses.

    The 16-byte chunks of a row change places by XOR with the number of the row; rows shorter than all banks are taken
    together for that where it helps; where neither does, rows are padded by up to four chunks, if LDS has room.
    Conflicts are counted exactly for the phases in which the target serves the lanes. Reads and writes get the same new
    indices. `wave.lds_conflicts` on the allocation says the worst degree that is left (1: none).

    Before (rows of 64 f16):

        %x = wave.read %l index [lane mod 16, lane floordiv 16 * 8] : !wave.memory<[128, 64], f16, shared> -> …

    After:

        %x = wave.read %l index [lane mod 16, (lane floordiv 16 xor lane mod 8) * 8] : …

    A direct copy writes its lanes behind one another, so what it writes stays and its lanes read other places of global
    memory instead: chunks are exchanged only among the lanes of a wave, and there is no padding.

    Buffers that atomics access, and accesses that may lie across two chunks, keep their places.
    """

    def run(self, module: ir.Module) -> None:
        """Choose for the buffers of every kernel of the module."""
        for view in module.body.operations:
            if view.operation.name == "wave.kernel":
                _Chooser(KernelInfo.of(view), view.operation).run()


class _Chooser:
    def __init__(self, info: KernelInfo, kernel: ir.Operation) -> None:
        self.info = info
        shared = [op for op in allocations(kernel) if in_lds(op.results[0])]
        self.found = [b for op in shared if (b := buffer_of(info, op)) is not None]
        self.spare = info.target.lds_bytes - sum(b.bytes + 15 for b in buffers(kernel, info))
        self._moved: dict[tuple[RowLayout, Expr, Expr, Expr, int], tuple[Expr, Expr]] = {}

    def run(self) -> None:
        i64 = ir.IntegerType.get_signless(64)
        chosen: dict[tuple, tuple[RowLayout, int, int]] = {}
        for buffer in self.found:
            key = (buffer.extents, buffer.element_bytes, tuple(buffer.patterns.items()))
            if key not in chosen or chosen[key][0].pad:
                chosen[key] = choose(self.info, buffer, self.spare)
            layout, _, worst = chosen[key]
            self._apply(buffer, layout)
            buffer.allocate.attributes["wave.lds_conflicts"] = ir.IntegerAttr.get(i64, worst)

    def _apply(self, buffer: Buffer, layout: RowLayout) -> None:
        if layout.pad:
            self._pad(buffer, layout.pad)
        if layout.phases == 1:
            return
        for op in buffer.accesses:
            index = index_of(op, self.info)
            row = row_of(index, buffer.extents).simplify(self.info.facts)
            key = (layout, row, index[-2], index[-1], buffer.columns)
            if key not in self._moved:
                self._moved[key] = self._place(layout, *key[1:])
            op.attributes["index"] = ir.ArrayAttr.get([*index[:-2], *self._moved[key]])
        for op in buffer.copies:
            exchange(self.info, op, layout, buffer.extents)

    def _place(self, layout: RowLayout, row: Expr, last: Expr, column: Expr, columns: int) -> tuple[Expr, Expr]:
        """The new last two coordinates: `row` counts rows through all dims, `last` those of the last but one."""
        facts = self.info.facts
        new_row, new_column = layout.place(row, column, columns)
        if layout.fold > 1:  # rows that fold are of the last but one dim, whose extent the fold divides
            last = last // layout.fold * layout.fold + new_row % layout.fold
        return last.simplify(facts), new_column.simplify(facts)

    def _pad(self, buffer: Buffer, pad: int) -> None:
        strides, size = [Expr.constant(1)], buffer.columns + pad
        for extent in reversed(buffer.extents[:-1]):
            strides.insert(0, Expr.constant(size))
            size *= extent
        result = buffer.allocate.results[0]
        memory = MemoryType(result.type)
        result.set_type(MemoryType.get(memory.shape, memory.element_type, "shared", strides))
        rows = (size - buffer.columns * size // (buffer.columns + pad)) * buffer.element_bytes
        self.spare -= rows
