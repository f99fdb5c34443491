"""wave-promote: brings tiles of memories placed in shared space through LDS."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import prod

from mlir import ir
from wave_mlir.compiler.diagnostics import emit_remark
from wave_mlir.compiler.gather_cost import gather_cost
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.lane_access import element_bits
from wave_mlir.compiler.lds import buffers, check_fits
from wave_mlir.compiler.lds_lifetimes import outer_lifetimes
from wave_mlir.compiler.lds_places import places
from wave_mlir.compiler.pass_registry import Pass, register_pass
from wave_mlir.compiler.relaying import can_relay
from wave_mlir.compiler.tile_ir import bound_values
from wave_mlir.compiler.transposed_reads import suits
from wave_mlir.compiler.transposing import run_of, transposing
from wave_mlir.dialect import Expr, Layout, MemoryType, TileType

_BLOCKING = ("wave.write", "wave.atomic", "wave.scatter_add", "wave.buffer_store", "wave.set_symbol",
             "wave.shared_memory_barrier", "wave.workgroup_barrier", "wave.barrier_signal",
             "wave.barrier_wait")  # fmt: skip


@register_pass("wave-promote", requires="placed", establishes="staged")
@dataclass(frozen=True)
class Promote(Pass):
    """Replace each read of a memory argument in shared space by a copy to LDS and a read from there.

    The argument moves to global space. Each tile gets an LDS buffer, allocated at the kernel's start, with the tile's
    dims in the order of the memory's. In a block all global reads come first, then all writes to LDS, then the reads
    from LDS, so that one barrier serves all; a region, a write that may alias, an atomic or a barrier ends such a
    group. Two reads of a group with one index share a copy.

    Before:

        %x = wave.read %a index [wg.x * 64 + at.M, iv.K * 32 + at.K] symbols(iv.K = %k)
               : !wave.memory<[M, K], f16, shared> -> !wave.tile<[M, K], f16, #lhs>

    After:

        %la = wave.allocate : !wave.memory<[64, 32], f16, shared>
        …
        %g = wave.read %a index [wg.x * 64 + at.M, iv.K * 32 + at.K] symbols(iv.K = %k)
               : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16, #lhs>
        wave.write %g, %la index [at.M, at.K] : …
        %x = wave.read %la index [at.M, at.K] : !wave.memory<[64, 32], f16, shared> -> !wave.tile<[M, K], f16, #lhs>

    Where the reader's registers run along another dim than is contiguous in memory (a transposed operand), the buffer
    has that dim last, and wave-coalesce makes the copy transpose; but not where the target can transpose at the read
    (wave-transpose-reads).

    The copy keeps the reader's layout; wave-coalesce gives it a better one. A read whose rows are where other tiles say
    (a page table) is copied too, if that takes no more clocks than to gather straight from global memory; a remark
    tells both. One whose elements are where other tiles say stays a read from global memory.
    """

    def run(self, module: ir.Module) -> None:
        """Promote in every kernel of the module."""
        for view in module.body.operations:
            if view.operation.name == "wave.kernel":
                _Promoter(KernelInfo.of(view), view.operation).run()


@dataclass
class _Group:
    """Reads of one block that are copied together, before `anchor`."""

    anchor: ir.Operation
    reads: list[ir.Operation] = field(default_factory=list)


class _Promoter:
    def __init__(self, info: KernelInfo, kernel: ir.Operation) -> None:
        self.info = info
        self.kernel = kernel
        self.entry = kernel.regions[0].blocks[0]
        self.buffer: ir.Operation | None = None  # the last one allocated
        self.shared = [a for a in self.entry.arguments if _in_shared(a.type)]

    def run(self) -> None:
        if not self.shared:
            return
        groups: list[_Group] = []
        self._collect(self.entry, groups)
        for group in groups:
            self._copy(group)
        for argument in self.shared:
            memory = MemoryType(argument.type)
            argument.set_type(MemoryType.get(memory.shape, memory.element_type, "global", memory.strides))
        # said here already, before what does not fit is unrolled
        found = buffers(self.kernel, self.info)
        at = places([b.bytes for b in found], outer_lifetimes(self.kernel.opview, found))
        shared = [replace(b, offset=offset) for b, offset in zip(found, at, strict=True)]
        check_fits(self.kernel, self.info, shared, self.info.target.lds_bytes)

    # --- which reads go together -----------------------------------------------------------------
    def _collect(self, block: ir.Block, groups: list[_Group]) -> None:
        group: _Group | None = None
        after_anchor: list[ir.Operation] = []
        for view in block.operations:
            op = view.operation
            if len(op.regions) or op.name in _BLOCKING:
                group = None
                for region in op.regions:
                    for inner in region.blocks:
                        self._collect(inner, groups)
                continue
            if self._is_promoted(op):
                if group is None or any(_defines(other, op) for other in after_anchor):
                    group, after_anchor = _Group(op), []
                    groups.append(group)
                group.reads.append(op)
            after_anchor.append(op)

    def _is_promoted(self, op: ir.Operation) -> bool:
        if op.name != "wave.read" or op.opview.memory not in self.shared:
            return False
        mask = op.opview.mask
        values = [mask, *op.opview.symbol_values]
        if not any(v is not None and isinstance(v.type, TileType | ir.VectorType) for v in values):
            return True
        return self._gathers_rows(op)

    def _gathers_rows(self, op: ir.Operation) -> bool:
        """Whether a read at positions from other tiles has rows that are contiguous, and a way by LDS that pays."""
        tile, mask = TileType(op.results[0].type), op.opview.mask
        if mask is not None and (isinstance(mask.owner, ir.Block) or mask.owner.operation.name != "wave.mask"):
            return False
        values = [*op.opview.symbol_values, *(() if mask is None else mask.owner.operation.operands)]
        if any(isinstance(v.type, ir.VectorType) or not can_relay(v, list(tile.dims)) for v in values):
            return False
        last = Expr(list(op.attributes["index"])[-1])
        steps = {d: last.coefficient(f"at.{d}") for d in tile.dims}
        contiguous = next((d for d, step in steps.items() if step is not None and step.constant_value == 1), None)
        gathered = [n for n, v in bound_values(op).items() if _differs(v)]
        if contiguous is None or set(gathered) & set(last.symbols):
            return False
        cost = gather_cost(self.info, Layout(tile.layout), contiguous, element_bits(tile.element_type))
        emit_remark(op, str(cost))
        return cost.pays

    # --- copies ----------------------------------------------------------------------------------
    def _copy(self, group: _Group) -> None:
        copies: dict[tuple, ir.Value] = {}
        loads: list[tuple[ir.Operation, ir.Value, list[str]]] = []
        backs: list[tuple[ir.Operation, ir.Value, list[str]]] = []
        for read in group.reads:
            tile = TileType(read.results[0].type)
            dims = self._transposed(self._dims_in_memory_order(read, tile), tile)
            key = (read.opview.memory, read.attributes["index"], tuple(dims), read.opview.mask,
                   tuple(read.opview.symbol_values))  # fmt: skip
            if key not in copies:
                copies[key] = self._allocate(read, tile, dims)
                with ir.InsertionPoint(group.anchor):
                    load = read.clone()
                loads.append((load.operation, copies[key], dims))
            backs.append((read, copies[key], dims))
        for load, buffer, dims in loads:
            with load.location, ir.InsertionPoint(group.anchor):
                sizes = ir.DenseI32ArrayAttr.get([1, 1, 0, 0, 0])
                attributes = {"index": _local(dims), "operandSegmentSizes": sizes}
                ir.Operation.create("wave.write", [], [load.results[0], buffer], attributes)
        for read, buffer, dims in backs:
            self._read_back(read, buffer, dims)
            read.erase()

    def _dims_in_memory_order(self, read: ir.Operation, tile: TileType) -> list[str]:
        """The tile's dims, ordered as they first appear in the index, so that what is contiguous stays contiguous."""
        seen: list[str] = []
        for expr in read.attributes["index"]:
            seen += [s.removeprefix("at.") for s in Expr(expr).symbols if s.startswith("at.")]
        order = list(dict.fromkeys(d for d in seen if d in tile.dims))
        return [d for d in tile.dims if d not in order] + order

    def _transposed(self, dims: list[str], tile: TileType) -> list[str]:
        """The dims in the order that makes the reader's registers contiguous, if copies can transpose."""
        layout, bits = Layout(tile.layout), element_bits(tile.element_type)
        along, run = run_of(layout)
        if along not in dims or along == dims[-1] or run < 2 or bits > 32 or bits < 8:
            return dims
        if suits(self.info.target, layout, dims[-1], along, bits):  # the hardware transposes at the read
            return dims
        way = transposing(self.info, dict(layout.extents), dims[-1], along, bits, 128)
        return dims if way is None else [d for d in dims if d != along] + [along]

    def _allocate(self, read: ir.Operation, tile: TileType, dims: list[str]) -> ir.Value:
        extents = Layout(tile.layout).extents
        shape = [Expr.constant(extents[d]) for d in dims]
        memory = MemoryType.get(shape, tile.element_type, "shared")
        begin = ir.InsertionPoint.at_block_begin(self.entry)
        with read.location, begin if self.buffer is None else ir.InsertionPoint.after(self.buffer):
            self.buffer = ir.Operation.create("wave.allocate", [memory])
        return self.buffer.results[0]

    def _read_back(self, read: ir.Operation, buffer: ir.Value, dims: list[str]) -> None:
        attributes = {
            "index": _local(dims),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0, 0, 0]),
        }
        with read.location, ir.InsertionPoint(read):
            back = ir.Operation.create("wave.read", [read.results[0].type], [buffer], attributes)
        read.results[0].replace_all_uses_with(back.results[0])


def _local(dims: list[str]) -> ir.ArrayAttr:
    return ir.ArrayAttr.get([Expr.symbol(f"at.{d}") for d in dims])


def _differs(value: ir.Value) -> bool:
    """Whether a value is a tile of more than one element."""
    return isinstance(value.type, TileType) and prod(Layout(TileType(value.type).layout).extents.values()) > 1


def _in_shared(kind: ir.Type) -> bool:
    return isinstance(kind, MemoryType) and MemoryType(kind).space == "shared"


def _defines(op: ir.Operation, user: ir.Operation) -> bool:
    """Whether `user` uses a result of `op`, so that it cannot move before it."""
    return any(operand == result for operand in user.operands for result in op.results)
