"""Atomic updates of LDS that no instruction does: a loop of compare-and-swap on the dword that holds the element.

LLVM has such a loop too, but starts it with an ordinary load, which is a race with the other waves' updates. Here the
first value comes from a compare-and-swap as well (of 0 by 0, which changes nothing).
"""

from __future__ import annotations

from collections.abc import Callable

from mlir import ir
from mlir.dialects import arith, llvm, memref, scf

_COMBINE: dict[arith.AtomicRMWKind, Callable[..., ir.OpView]] = {
    arith.AtomicRMWKind.addf: arith.AddFOp, arith.AtomicRMWKind.addi: arith.AddIOp,
    arith.AtomicRMWKind.minimumf: arith.MinimumFOp, arith.AtomicRMWKind.maximumf: arith.MaximumFOp,
    arith.AtomicRMWKind.minnumf: arith.MinNumFOp, arith.AtomicRMWKind.maxnumf: arith.MaxNumFOp,
    arith.AtomicRMWKind.mins: arith.MinSIOp, arith.AtomicRMWKind.maxs: arith.MaxSIOp,
    arith.AtomicRMWKind.minu: arith.MinUIOp, arith.AtomicRMWKind.maxu: arith.MaxUIOp,
}  # fmt: skip
_DWORD = 32
_LDS = 3  # LLVM's address space
_NATIVE_F32 = (arith.AtomicRMWKind.addf, arith.AtomicRMWKind.minnumf, arith.AtomicRMWKind.maxnumf)


def needs_loop(op: ir.Operation) -> bool:
    """Whether a `memref.atomic_rmw` is one of LDS without an instruction of its own (64-bit ones are LLVM's)."""
    space = ir.MemRefType(op.operands[1].type).memory_space
    kind = _kind(op)
    if space is None or "workgroup" not in str(space) or kind not in _COMBINE:
        return False
    element = op.results[0].type
    if element.width < _DWORD:
        return True
    return element.width == _DWORD and isinstance(element, ir.FloatType) and kind not in _NATIVE_F32


def _kind(op: ir.Operation) -> arith.AtomicRMWKind:
    return arith.AtomicRMWKind(ir.IntegerAttr(op.attributes["kind"]).value)


def expand(op: ir.Operation) -> None:
    """Replace a `memref.atomic_rmw` by the loop."""
    value, memory, index = op.operands
    with op.location, ir.InsertionPoint(op):
        loop = _Loop(op.results[0].type, value, _COMBINE[_kind(op)])
        pointer, shift = loop.place(memory, index)
        zero = _i32(0)
        first, _ = _swap(pointer, zero, zero)
        around = scf.WhileOp([first.type], [first])
    before, after = (r.blocks.append(first.type, arg_locs=[op.location]) for r in around.regions)
    with op.location, ir.InsertionPoint(before):
        held = before.arguments[0]
        found, done = _swap(pointer, held, loop.updated(held, shift))
        again = arith.XOrIOp(done, arith.ConstantOp(done.type, 1).result).result
        scf.ConditionOp(again, [found])
    with op.location, ir.InsertionPoint(after):
        scf.YieldOp([after.arguments[0]])
    with op.location, ir.InsertionPoint(op):
        op.results[0].replace_all_uses_with(loop.element_of(around.results[0], shift))
    op.erase()


class _Loop:
    """The parts of the loop for elements of one type."""

    def __init__(self, element: ir.Type, value: ir.Value, combine: Callable[..., ir.OpView]) -> None:
        self.element = element
        self.value = value
        self.combine = combine
        self.bits = ir.IntegerType.get_signless(element.width)

    def place(self, memory: ir.Value, index: ir.Value) -> tuple[ir.Value, ir.Value]:
        """The pointer to the dword that holds an element, and how many bits the element is above the lowest."""
        index_type, i64 = ir.IndexType.get(), ir.IntegerType.get_signless(64)
        each = _DWORD // self.element.width
        count = arith.ConstantOp(index_type, each).result
        base = memref.ExtractAlignedPointerAsIndexOp(memory).result
        size = arith.ConstantOp(index_type, _DWORD // 8).result
        dword = arith.MulIOp(arith.DivUIOp(index, count).result, size).result
        address = arith.IndexCastOp(i64, arith.AddIOp(base, dword).result).result
        pointer = llvm.IntToPtrOp(ir.Type.parse(f"!llvm.ptr<{_LDS}>"), address).res
        rest = arith.IndexCastOp(ir.IntegerType.get_signless(32), arith.RemUIOp(index, count).result).result
        return pointer, arith.MulIOp(rest, _i32(self.element.width)).result

    def element_of(self, dword: ir.Value, shift: ir.Value) -> ir.Value:
        """The element in a dword."""
        moved = dword
        if self.element.width < _DWORD:
            moved = arith.TruncIOp(self.bits, arith.ShRUIOp(dword, shift).result).result
        return moved if self.element == self.bits else arith.BitcastOp(self.element, moved).result

    def updated(self, dword: ir.Value, shift: ir.Value) -> ir.Value:
        """The dword with the element updated."""
        new = self.combine(self.element_of(dword, shift), self.value).result
        new = new if self.element == self.bits else arith.BitcastOp(self.bits, new).result
        if self.element.width == _DWORD:
            return new
        wide = arith.ShLIOp(arith.ExtUIOp(dword.type, new).result, shift).result
        mask = arith.ShLIOp(_i32((1 << self.element.width) - 1), shift).result
        others = arith.AndIOp(dword, arith.XOrIOp(mask, _i32(-1)).result).result
        return arith.OrIOp(others, wide).result


def _i32(value: int) -> ir.Value:
    kind = ir.IntegerType.get_signless(_DWORD)
    return arith.ConstantOp(kind, ir.IntegerAttr.get(kind, value)).result


def _swap(pointer: ir.Value, expected: ir.Value, new: ir.Value) -> tuple[ir.Value, ir.Value]:
    """What a dword held, and whether that was what was expected and is the new value now."""
    pair = ir.Type.parse("!llvm.struct<(i32, i1)>")
    orderings = {n: llvm.AtomicOrdering.monotonic for n in ("success_ordering", "failure_ordering")}
    both = llvm.AtomicCmpXchgOp(pointer, expected, new, syncscope="workgroup", results=[pair], **orderings).results[0]
    parts = [
        llvm.ExtractValueOp(kind, both, ir.DenseI64ArrayAttr.get([n])).res
        for n, kind in enumerate((expected.type, ir.IntegerType.get_signless(1)))
    ]
    return parts[0], parts[1]
