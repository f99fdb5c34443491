"""Exchanges between lanes to gpu form."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, gpu, vector

from wave_mlir.dialect import Expr

from .expand_exchange import swapped_rows
from .gpu_function import GpuFunction

_I32 = 32
_DPP_CONTROLS = {7: 0x141, 8: 0x128, 15: 0x140}  # half-row mirror, row rotation by 8, row mirror
_DPP_ROW_XMASK = 0x160


def lower_shuffle(function: GpuFunction, op: ir.Operation) -> None:
    """wave.shuffle → exchanges of each element, or of 32 bits of smaller ones; a lane that reads nothing keeps its own
    value."""
    source = op.opview.source
    with op.location, ir.InsertionPoint(op):
        if not isinstance(source.type, ir.VectorType):
            value = _exchanged(function, op, source)
        else:
            packed = _packed(source)
            elements = [vector.ExtractOp(packed, [], [i]).result for i in range(packed.type.shape[0])]
            shuffled = [_exchanged(function, op, e) for e in elements]
            value = _unpacked(vector.FromElementsOp(packed.type, shuffled).result, source.type)
    op.results[0].replace_all_uses_with(value)
    op.erase()


def _exchanged(function: GpuFunction, op: ir.Operation, value: ir.Value) -> ir.Value:
    """One element of other lanes: by a DPP move or a swap of rows where the target has them for the mask."""
    mode = str(op.attributes["mode"]).split()[-1].rstrip(">").split("<")[-1]
    offset, width = (ir.IntegerAttr(op.attributes[n]).value for n in ("offset", "width"))
    exchanges = function.info.target.exchanges
    if mode == "xor" and getattr(value.type, "width", 0) == _I32:
        if offset in exchanges.dpp_xors:
            return _by_dpp(value, offset, exchanges.row_xmask)
        if offset in exchanges.swapped_rows:
            return _by_swap(function, op, value, offset)
    i32 = ir.IntegerType.get_signless(_I32)
    numbers = (arith.ConstantOp(i32, n).result for n in (offset, width))
    return _shuffled(value, *numbers, ir.Attribute.parse(f"#gpu<shuffle_mode {mode}>"))


def _by_dpp(value: ir.Value, mask: int, row_xmask: bool) -> ir.Value:
    """The value of lane `lane xor mask`, by the DPP control that does it (ISA documents, "DPP_CTRL")."""
    control = _DPP_ROW_XMASK + mask if row_xmask else _DPP_CONTROLS.get(mask)
    if control is None:  # a permutation of four lanes: two bits each
        control = sum((lane ^ mask) << 2 * lane for lane in range(4))
    i32, true = ir.IntegerType.get_signless(_I32), ir.BoolAttr.get(True)
    numbers = {"dppCtrl": control, "rowMask": 15, "bankMask": 15}
    attributes: dict[str, ir.Attribute] = {name: ir.IntegerAttr.get(i32, n) for name, n in numbers.items()}
    kind = {"results": [value.type], "operands": [value, value], "attributes": attributes | {"boundCtrl": true}}
    return ir.Operation.create("rocdl.update.dpp", **kind).results[0]


def _by_swap(function: GpuFunction, op: ir.Operation, value: ir.Value, rows: int) -> ir.Value:
    """The value of lane `lane xor rows`: one half of the swap of a register with itself."""
    i32, kind = ir.IntegerType.get_signless(_I32), value.type
    whole = value if kind == i32 else arith.BitcastOp(i32, value).result
    halves = swapped_rows(whole, whole, rows)
    odd = function.emitter.emit_truth((Expr.symbol("lane") // rows % 2).eq(1), op)
    moved = arith.SelectOp(odd, halves[0], halves[1]).result
    return moved if kind == i32 else arith.BitcastOp(kind, moved).result


def _packed(value: ir.Value) -> ir.Value:
    """A vector of smaller elements as one of 32 bits each, whatever bits these are; others as they are."""
    kind = ir.VectorType(value.type)
    (count,), element = kind.shape, kind.element_type
    if isinstance(element, ir.IndexType) or element.width not in (8, 16) or count == 1:
        return value
    per_word = _I32 // element.width
    words = -(-count // per_word)
    if count % per_word:
        places = [min(i, count - 1) for i in range(words * per_word)]
        value = vector.ShuffleOp(value, value, places).result
    return vector.BitCastOp(ir.VectorType.get([words], ir.IntegerType.get_signless(_I32)), value).result


def _unpacked(value: ir.Value, kind: ir.VectorType) -> ir.Value:
    """What `_packed` has packed, as a vector of this type."""
    if value.type == kind:
        return value
    (count,), (words,) = kind.shape, value.type.shape
    whole = ir.VectorType.get([words * _I32 // kind.element_type.width], kind.element_type)
    value = vector.BitCastOp(whole, value).result
    return value if whole == kind else vector.ExtractStridedSliceOp(kind, value, [0], [count], [1]).result


def _shuffled(value: ir.Value, offset: ir.Value, width: ir.Value, mode: ir.Attribute) -> ir.Value:
    shuffle = gpu.ShuffleOp(value, offset, width, mode)
    if mode == ir.Attribute.parse("#gpu<shuffle_mode xor>"):  # its partner is always in the group
        return shuffle.results[0]
    return arith.SelectOp(shuffle.results[1], shuffle.results[0], value).result
