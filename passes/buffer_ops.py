"""wave-buffer-ops: accesses global memory through buffer descriptors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

from mlir import ir
from wave_mlir.compiler.buffer_split import RANGE_MASKED, SCALAR_OFFSET, BufferSplitter, Place, in_loop
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.lane_access import (
    COORDINATES,
    accesses,
    make_mask,
    memory_of,
    names_of,
    stored_of,
    symbol_values_of,
    width_of,
)
from wave_mlir.compiler.pass_registry import Pass, PassError, register_pass
from wave_mlir.dialect import Expr, MemoryType


@register_pass("wave-buffer-ops", requires="lane", establishes="lane")
@dataclass(frozen=True)
class BufferOps(Pass):
    """Turn reads and writes of global memory into buffer accesses: a uniform base, a 32-bit lane offset, no branches.

    The uniform part of an index (workgroup ids, dynamic symbols, trip counters) goes into the base, of which what
    changes in a loop becomes the instruction's scalar offset (`wave.scalar_offset`) where that is proven to fit; the
    rest is the lane's offset. The descriptor has the memory's real number of bytes from the base on. A masked lane
    gets an offset out of range: it reads 0, or its store is dropped. A mask that only says that the slowest dim is
    inside its extent is left to the range (`wave.range_masked`) and costs nothing.

    An access stays as it is, with a 64-bit address, when it is not proven that the offsets of its lanes are below
    2^31 bytes: a memory or tile too large, rows of a length known at run time without an assumption, run-time strides.
    So does a volatile read: to LLVM a load by a descriptor may be left out or moved out of a loop.

    Before (M = 100, K = 64):

        %v = wave.read %a mask %m index [wg.x * 64 + lane floordiv 4, iv.K * 32 + lane mod 4 * 8] symbols(iv.K = %k)
               : !wave.memory<[M, K], f16, global> -> vector<8xf16>

    After:

        %v = wave.buffer_load %a base [wg.x * 4096 + iv.K * 32] offset [lane floordiv 4 * 64 + lane mod 4 * 8]
               symbols(iv.K = %k) {wave.range_masked, wave.scalar_offset = #wave.expr<iv.K * 32>} : …

    It cuts no accesses (wave-split-accesses does) and leaves atomics and elements below 8 bits alone.
    """

    def run(self, module: ir.Module) -> None:
        """Rewrite the accesses of every kernel of the module."""
        for view in module.body.operations:
            op = view.operation
            if op.name == "wave.kernel":
                splitter = BufferSplitter(KernelInfo.of(view))
                found = list(accesses(op.regions[0].blocks[0]))
                written = {memory_of(access) for access in found if access.name != "wave.read"}
                for access in found:
                    _rewrite(splitter, access, memory_of(access) in written)


def _rewrite(splitter: BufferSplitter, op: ir.Operation, written: bool) -> None:
    if op.name not in ("wave.read", "wave.write") or MemoryType(memory_of(op).type).space != "global":
        return
    if op.name == "wave.read" and "is_volatile" in op.attributes:
        return
    if any("el" in Expr(e).symbols for e in op.attributes["index"]):
        raise PassError(op, "the index still depends on the element; run wave-split-accesses before wave-buffer-ops")
    place = splitter.place(op)
    if place is None:
        return
    with op.location, ir.InsertionPoint(op):
        new = _buffer_access(op, place, written)
    for old, result in zip(op.results, new.results, strict=True):
        old.replace_all_uses_with(result)
    mask = op.opview.mask
    op.erase()
    _erase_unused(mask)


def _buffer_access(op: ir.Operation, place: Place, written: bool) -> ir.Operation:
    """written: the kernel writes to the memory, so that wave-place-barriers asks where accesses of it are."""
    mask = _mask(op, place)
    used = {*place.base.symbols, *place.scalar.symbols, *place.offset.symbols}
    symbols = [(n, v) for n, v in zip(names_of(op), symbol_values_of(op), strict=True) if n in used]
    attributes = {n: a for n, a in op.attributes.items() if n not in ("index", "symbol_names", "operandSegmentSizes")}
    attributes["base"], attributes["offset"] = place.base + place.scalar, place.offset
    bound = [s for e in op.attributes["index"] for s in Expr(e).symbols if s in names_of(op)]
    if written and in_loop(op) and used.issuperset(bound):
        attributes[COORDINATES] = op.attributes["index"]
    if symbols:
        attributes["symbol_names"] = ir.ArrayAttr.get([ir.StringAttr.get(n) for n, _ in symbols])
    if place.scalar.constant_value != 0:
        attributes[SCALAR_OFFSET] = place.scalar
    if place.range_masked:
        attributes[RANGE_MASKED] = ir.UnitAttr.get()
    masks = [] if mask is None else [mask]
    last = [*masks, *(v for _, v in symbols)]
    sizes = [1, len(masks), len(symbols)]
    if op.name == "wave.read":
        attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get(sizes)
        return ir.Operation.create("wave.buffer_load", [op.results[0].type], [memory_of(op), *last], attributes)
    attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([1, *sizes])
    return ir.Operation.create("wave.buffer_store", [], [stored_of(op), memory_of(op), *last], attributes)


def _mask(op: ir.Operation, place: Place) -> ir.Value | None:
    """The mask of the conditions that are left; the one there is when none went."""
    mask = op.opview.mask
    if mask is None or not place.range_masked:
        return mask
    if not place.conditions:
        return None
    return make_mask(reduce(Expr.and_, place.conditions), width_of(op), mask.owner.operation)


def _erase_unused(mask: ir.Value | None) -> None:
    if mask is None or isinstance(mask.owner, ir.Block):
        return
    owner = mask.owner.operation
    if owner.name == "wave.mask" and next(iter(mask.uses), None) is None:
        owner.erase()
