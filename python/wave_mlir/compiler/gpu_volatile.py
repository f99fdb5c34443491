"""Volatile accesses by pointer: vector ops of MLIR have no such flag, so these are loads and stores of LLVM.

Data moves as integers, whatever the elements are.
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, llvm, memref, vector

_DYNAMIC = -(1 << 31)


def _bits(element: ir.Type) -> int:
    return 64 if isinstance(element, ir.IndexType) else element.width


def _moved(kind: ir.VectorType) -> ir.VectorType:
    return ir.VectorType.get(kind.shape, ir.IntegerType.get_signless(_bits(kind.element_type)))


def _pointer(memory: ir.Value, offset: ir.Value) -> ir.Value:
    """The address of the element at `offset` (index) of a global memory."""
    i64 = ir.IntegerType.get_signless(64)
    kind = ir.Type.parse("!llvm.ptr<1>")
    start = arith.IndexCastOp(i64, memref.ExtractAlignedPointerAsIndexOp(memory).result).result
    element = ir.IntegerType.get_signless(_bits(ir.MemRefType(memory.type).element_type))
    place = arith.IndexCastOp(i64, offset).result
    return llvm.GEPOp(kind, llvm.IntToPtrOp(kind, start).result, [place], [_DYNAMIC], element, None).result


def load(kind: ir.VectorType, memory: ir.Value, offset: ir.Value, alignment: int, nontemporal: bool | None) -> ir.Value:
    """A volatile load of a vector from global memory."""
    address = _pointer(memory, offset)
    value = llvm.LoadOp(_moved(kind), address, alignment=alignment, volatile_=True, nontemporal=nontemporal).res
    if isinstance(kind.element_type, ir.IndexType):
        return arith.IndexCastOp(kind, value).result
    return value if value.type == kind else vector.BitCastOp(kind, value).result


def store(value: ir.Value, memory: ir.Value, offset: ir.Value, alignment: int, nontemporal: bool | None) -> None:
    """A volatile store of a vector to global memory."""
    kind = _moved(ir.VectorType(value.type))
    if isinstance(value.type.element_type, ir.IndexType):
        value = arith.IndexCastOp(kind, value).result
    elif value.type != kind:
        value = vector.BitCastOp(kind, value).result
    llvm.StoreOp(value, _pointer(memory, offset), alignment=alignment, volatile_=True, nontemporal=nontemporal)
