"""Buffer accesses of lane form to gpu form: descriptors, offsets, raw buffer intrinsics.

One descriptor serves all accesses of a memory with the same base, and stands outside the loops that its base does not
depend on. The byte offset of a lane is `offset`, or `MASKED` where the mask does not hold; the immediate part is added
after that, so that accesses that differ in it share one register. Where an access is in no loop, what of a constant
does not fit the immediate is a scalar offset.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, llvm, memref, rocdl, vector

from wave_mlir.dialect import Expr

from .buffer_split import LIMIT, MASKED, RANGE_MASKED, SCALAR_OFFSET, in_loop
from .gpu_access import index_operands, mask_condition
from .gpu_function import GpuFunction
from .lane_access import mask_expr, memory_of, stored_of
from .tile_ir import bound_names

OUT_OF_RANGE = "wave.out_of_range"
"""Attribute of raw buffer intrinsics: "masked": only masked lanes may be out of range, which the simulator checks."""


@dataclass(frozen=True)
class _Address:
    """Operands of a raw buffer intrinsic."""

    resource: ir.Value
    offset: ir.Value
    scalar: ir.Value
    policy: ir.Value


def integer(bits: int, value: int) -> ir.Value:
    """A constant; the value may be given unsigned."""
    kind = ir.IntegerType.get_signless(bits)
    signed = value - (1 << bits) if value >> (bits - 1) else value
    return arith.ConstantOp(kind, ir.IntegerAttr.get(kind, signed)).result


def _as(bits: int, value: ir.Value) -> ir.Value:
    return arith.IndexCastOp(ir.IntegerType.get_signless(bits), value).result


def lower_load(function: GpuFunction, op: ir.Operation) -> None:
    """wave.buffer_load → rocdl.raw.ptr.buffer.load of dwords (or one smaller integer), and a bitcast."""
    result = op.results[0]
    kind = result.type if isinstance(result.type, ir.VectorType) else ir.VectorType.get([1], result.type)
    with op.location, ir.InsertionPoint(op):
        address = _address(function, op)
        raw = _raw_type(kind)
        load = rocdl.RawPtrBufferLoadOp(raw, address.resource, address.offset, address.scalar, address.policy)
        mark_range(op, load.operation)
        value = _from_raw(load.res, kind)
        if kind != result.type:
            value = vector.ExtractOp(value, [], [0]).result
    result.replace_all_uses_with(value)
    op.erase()


def lower_store(function: GpuFunction, op: ir.Operation) -> None:
    """wave.buffer_store → rocdl.raw.ptr.buffer.store."""
    value = stored_of(op)
    with op.location, ir.InsertionPoint(op):
        address = _address(function, op)
        if not isinstance(value.type, ir.VectorType):
            value = vector.BroadcastOp(ir.VectorType.get([1], value.type), value).result
        raw = _to_raw(value)
        store = rocdl.RawPtrBufferStoreOp(raw, address.resource, address.offset, address.scalar, address.policy)
        mark_range(op, store.operation)
    op.erase()


def mark_range(op: ir.Operation, access: ir.Operation) -> None:
    """Promise on a raw access that only masked lanes are out of range, unless `op` leaves its mask to the range."""
    if RANGE_MASKED not in op.attributes:
        access.attributes[OUT_OF_RANGE] = ir.StringAttr.get("masked")


# --- data ----------------------------------------------------------------------------------------
def _bytes(kind: ir.VectorType) -> int:
    element = kind.element_type
    return kind.shape[0] * (8 if isinstance(element, ir.IndexType) else element.width // 8)


def _raw_type(kind: ir.VectorType) -> ir.Type:
    """What the intrinsic moves: an integer of up to 32 bits, or a vector of dwords."""
    size = _bytes(kind)
    if size <= 4:
        return ir.IntegerType.get_signless(8 * size)
    return ir.VectorType.get([size // 4], ir.IntegerType.get_signless(32))


def _from_raw(value: ir.Value, kind: ir.VectorType) -> ir.Value:
    if not isinstance(value.type, ir.VectorType):
        value = vector.BroadcastOp(ir.VectorType.get([1], value.type), value).result
    if isinstance(kind.element_type, ir.IndexType):
        words = ir.VectorType.get(kind.shape, ir.IntegerType.get_signless(64))
        return arith.IndexCastOp(kind, vector.BitCastOp(words, value).result).result
    return value if value.type == kind else vector.BitCastOp(kind, value).result


def _to_raw(value: ir.Value) -> ir.Value:
    kind = ir.VectorType(value.type)
    if isinstance(kind.element_type, ir.IndexType):
        value = arith.IndexCastOp(ir.VectorType.get(kind.shape, ir.IntegerType.get_signless(64)), value).result
    raw = _raw_type(kind)
    if isinstance(raw, ir.VectorType):
        return value if value.type == raw else vector.BitCastOp(raw, value).result
    one = ir.VectorType.get([1], raw)
    value = value if value.type == one else vector.BitCastOp(one, value).result
    return vector.ExtractOp(value, [], [0]).result


# --- address -------------------------------------------------------------------------------------
def _address(function: GpuFunction, op: ir.Operation) -> _Address:
    bound = bound_names(op)
    resolve = function.info.resolve
    size = element_bytes(memory_of(op))
    scalar = resolve(Expr(op.attributes[SCALAR_OFFSET]), bound) if SCALAR_OFFSET in op.attributes else Expr.constant(0)
    base = (resolve(op.opview.base, bound) - scalar).simplify(function.info.facts)
    descriptor = resource(function, op, base)
    offset, immediate = _without_constant(resolve(op.opview.offset, bound) * size)
    room = function.info.target.offsets["buffer"].high + 1
    beyond = 0
    if not 0 <= immediate < room:
        if immediate > 0 and RANGE_MASKED not in op.attributes and not in_loop(op):
            beyond, immediate = immediate // room * room, immediate % room
        else:
            offset, immediate = offset + immediate, 0
    steps, constant = _without_constant((scalar * size + beyond).expand())
    if steps.constant_value is None and constant > 0 and immediate + constant < room:
        # Trips of an unrolled loop share a scalar register. The hardware holds the immediate against what is valid
        # from the base on: an element of the memory is inside all the more.
        immediate += constant
    else:
        steps = steps + constant
    value = lane_offset(function, op, offset)
    if immediate:
        value = arith.AddIOp(value, integer(32, immediate)).result
    return _Address(descriptor, value, scalar_offset(function, op, steps), policy(function, op))


def element_bytes(memory: ir.Value) -> int:
    """Bytes of an element of a memory of gpu form."""
    element = ir.MemRefType(memory.type).element_type
    return 8 if isinstance(element, ir.IndexType) else element.width // 8


def _without_constant(expr: Expr) -> tuple[Expr, int]:
    _, constant = expr.linear_parts()
    return (expr - constant).expand() if constant else expr, constant


def scalar_offset(function: GpuFunction, op: ir.Operation, scalar: Expr) -> ir.Value:
    """The scalar offset of an access as i32; `scalar` is in bytes."""
    if scalar.constant_value is not None:
        return integer(32, scalar.constant_value)
    return function.emitter.shared(
        ("scalar offset", scalar), [scalar], op, index_operands(op), lambda values: _as(32, values[0])
    )


def policy(function: GpuFunction, op: ir.Operation) -> ir.Value:
    """The cache policy of an access."""
    buffers = function.info.target.buffers
    bits = buffers.nontemporal if "nontemporal" in op.attributes else 0
    return integer(32, bits | (buffers.volatile if "is_volatile" in op.attributes else 0))


def lane_offset(function: GpuFunction, op: ir.Operation, offset: Expr) -> ir.Value:
    """The byte offset as i32, out of range where the mask does not hold."""
    mask = op.opview.mask
    operands = index_operands(op)
    emit = function.emitter.shared
    predicate = None if mask is None else mask_expr(mask)
    if predicate is not None:
        predicate = _at_first(function, mask.owner.operation, predicate)
        own = index_operands(mask.owner.operation)
        if all(operands.get(n, v) == v for n, v in own.items()):
            return emit(("masked offset", offset, predicate), [offset, predicate], op, own | operands, _select)
    value = emit(("offset", offset), [offset], op, operands, lambda values: _as(32, values[0]))
    if mask is None:
        return value
    condition = mask_condition(function, op)
    assert condition is not None  # there is a mask
    return arith.SelectOp(condition, value, integer(32, MASKED)).result


def _at_first(function: GpuFunction, mask: ir.Operation, predicate: Expr) -> Expr:
    """The predicate at an access's first element, which stands for all."""
    predicate = function.info.resolve(predicate, bound_names(mask))
    return predicate.subs({"el": 0}).simplify(function.info.facts) if "el" in predicate.symbols else predicate


def _select(values: list[ir.Value]) -> ir.Value:
    offset, condition = values
    if condition.type != ir.IntegerType.get_signless(1):
        zero = arith.ConstantOp(condition.type, 0).result
        condition = arith.CmpIOp(arith.CmpIPredicate.ne, condition, zero).result
    return arith.SelectOp(condition, _as(32, offset), integer(32, MASKED)).result


def resource(function: GpuFunction, op: ir.Operation, base: Expr) -> ir.Value:
    """The descriptor of a memory from `base` (elements) on."""
    memory = memory_of(op)
    key = ("resource", memory, base)
    known = function.spans.get(key)
    if known is None:
        size = element_bytes(memory)
        valid = ((function.total_elements(memory) - base) * size).simplify(function.info.facts)
        known = function.spans[key] = (base * size, valid)
    return function.emitter.shared(
        key, known, op, index_operands(op), lambda values: _descriptor(function, memory, known[1], *values)
    )


def _descriptor(function: GpuFunction, memory: ir.Value, valid: Expr, at: ir.Value, room: ir.Value) -> ir.Value:
    """at: bytes from the memory's start; room: the bytes left from there, clamped to what a descriptor can have."""
    address = _as(64, memref.ExtractAlignedPointerAsIndexOp(memory).result)
    pointer = llvm.IntToPtrOp(pointer_type(1), address).result
    if not _is_zero(at):
        dynamic = -(1 << 31)
        byte = ir.IntegerType.get_signless(8)
        pointer = llvm.GEPOp(pointer.type, pointer, [_as(64, at)], [dynamic], byte, None).result
    least, most = valid.range(function.info.facts)
    if least is None or least < 0:
        room = arith.MaxSIOp(room, arith.ConstantOp(room.type, 0).result).result
    if most is None or most > LIMIT:
        room = arith.MinSIOp(room, arith.ConstantOp(room.type, LIMIT).result).result
    flags = integer(32, function.info.target.buffers.flags)
    return rocdl.MakeBufferRsrcOp(pointer_type(8), pointer, integer(16, 0), _as(64, room), flags).result


def pointer_type(space: int) -> ir.Type:
    """`!llvm.ptr<space>`."""
    return ir.Type.parse(f"!llvm.ptr<{space}>")


def _is_zero(value: ir.Value) -> bool:
    owner = value.owner
    return not isinstance(owner, ir.Block) and owner.name == "arith.constant" and owner.attributes["value"].value == 0
