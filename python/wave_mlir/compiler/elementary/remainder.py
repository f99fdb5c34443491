"""Remainder of bf16."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith


def of_bf16(op: ir.Operation) -> ir.Value:
    """arith.remf of bf16 in f32, which is exact: the remainder has no bits that its operands have not.

    The conversions are by bits: LLVM would narrow a remainder between conversions back to bf16, which it cannot select.
    """
    kind = op.results[0].type
    shape = kind.shape if isinstance(kind, ir.VectorType) else None

    def of(element: ir.Type) -> ir.Type:
        return element if shape is None else ir.VectorType.get(shape, element)

    short, word, single = (
        of(t) for t in (ir.IntegerType.get_signless(16), ir.IntegerType.get_signless(32), ir.F32Type.get())
    )
    amount = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 16)
    sixteen = arith.ConstantOp(word, amount if shape is None else ir.DenseElementsAttr.get_splat(word, amount)).result

    def widened(value: ir.Value) -> ir.Value:
        bits = arith.ExtUIOp(word, arith.BitcastOp(short, value).result).result
        return arith.BitcastOp(single, arith.ShLIOp(bits, sixteen).result).result

    remainder = arith.RemFOp(*(widened(v) for v in op.operands)).result
    bits = arith.ShRUIOp(arith.BitcastOp(word, remainder).result, sixteen).result
    return arith.BitcastOp(kind, arith.TruncIOp(short, bits).result).result
