"""Direct copies to LDS of lane form to gpu form: raw buffer loads that go to LDS.

The source has the descriptor and offsets of a buffer load. The target is what the scalar register m0 holds plus the
instruction's immediate plus lane * width; the immediate moves the source too, and is taken off its offset again. So
copies of a wave that follow one another in LDS share m0 as far as the immediate reaches.
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, llvm, memref, rocdl

from wave_mlir.dialect import Expr

from .buffer_split import SCALAR_OFFSET
from .diagnostics import PassError
from .direct_copies import BASE, COPY, OFFSET
from .gpu_access import index_operands, linear_index
from .gpu_buffer import element_bytes, integer, lane_offset, mark_range, pointer_type, policy, resource, scalar_offset
from .gpu_function import GpuFunction
from .tile_ir import bound_names

_DYNAMIC = -(1 << 31)
_ALL_BUT_VECTOR_MEMORY = 0x78F
"""Mask of a scheduling barrier that everything may pass but accesses to global memory."""

__all__ = ["COPY", "lower_copy"]


def lower_copy(function: GpuFunction, op: ir.Operation) -> None:
    """wave.gather_to_shared → rocdl.raw.ptr.buffer.load.lds. Raises PassError at one that has no buffer address."""
    _check(function, op)
    with op.location, ir.InsertionPoint(op):
        bound, resolve = bound_names(op), function.info.resolve
        source, target = op.opview.source, op.opview.target
        size = element_bytes(source)
        zero = Expr.constant(0)
        scalar = resolve(Expr(op.attributes[SCALAR_OFFSET]), bound) if SCALAR_OFFSET in op.attributes else zero
        base = (resolve(Expr(op.attributes[BASE]), bound) - scalar).simplify(function.info.facts)
        offset = resolve(Expr(op.attributes[OFFSET]), bound) * size
        place, immediate = _place(function, op, target, offset, size)
        made = rocdl.RawPtrBufferLoadLdsOp(
            resource(function, op, base),
            place,
            integer(32, op.attributes["elements"].value * size),
            lane_offset(function, op, (offset - immediate).simplify(function.info.facts)),
            scalar_offset(function, op, scalar * size),
            integer(32, immediate),
            policy(function, op),
        )
        mark_range(op, made.operation)
        if function.counted:  # waits count copies in the order of the program: LLVM must not change it
            mask = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), _ALL_BUT_VECTOR_MEMORY)
            ir.Operation.create("rocdl.sched.barrier", [], [], {"mask": mask})
    op.erase()


def _check(function: GpuFunction, op: ir.Operation) -> None:
    if BASE not in op.attributes or OFFSET not in op.attributes:
        raise PassError(op, "the copy has no buffer address; run wave-gather-to-shared before wave-to-gpu")
    target = function.info.target
    bits = ir.IntegerAttr(op.attributes["elements"]).value * element_bytes(op.opview.source) * 8
    if bits not in target.direct_to_lds_bits:
        widths = ", ".join(map(str, target.direct_to_lds_bits)) or "no"
        raise PassError(op, f"a lane copies {bits} bits, and {target.name} has direct copies to LDS of {widths} bits; "
                            "copy through registers")  # fmt: skip


def _place(function: GpuFunction, op: ir.Operation, target: ir.Value, offset: Expr, size: int) -> tuple[ir.Value, int]:
    """(the pointer to LDS without the immediate, the immediate); `offset`: the lane's source in bytes."""
    bound = bound_names(op)
    facts = function.info.facts
    index = [function.info.resolve(e, bound) for e in op.opview.target_index]
    _, constant = (linear := (linear_index(function, target, index) * size).simplify(facts)).linear_parts()
    room = function.info.target.offsets["buffer"].high + 1
    immediate = constant % room if constant >= 0 else 0
    low, _ = (offset - immediate).simplify(facts).range(facts)
    if low is None or low < 0:  # it must not wrap: it would be out of range
        immediate = 0
    start, _ = function.lds_places[target]
    moving = (linear - constant).expand()
    byte = function.emitter.shared(
        ("place of a copy", moving), [moving], op, index_operands(op), lambda values: _uniform(moving, values[0])
    )
    if start + constant - immediate:
        byte = arith.AddIOp(byte, integer(32, start + constant - immediate)).result
    return llvm.GEPOp(
        pointer_type(3), _lds(function, op), [byte], [_DYNAMIC], ir.IntegerType.get_signless(8), None
    ).result, immediate


def _uniform(place: Expr, value: ir.Value) -> ir.Value:
    """A number that is the same in all lanes of a wave as i32, where LLVM sees that it is."""
    i32 = ir.IntegerType.get_signless(32)
    value = arith.IndexCastOp(i32, value).result
    if not any(name.startswith("wave.") for name in place.symbols):
        return value
    return rocdl.ReadfirstlaneOp(i32, value).result


def _lds(function: GpuFunction, op: ir.Operation) -> ir.Value:
    """The pointer to the start of LDS."""

    def build(_: list[ir.Value]) -> ir.Value:
        assert function.lds is not None  # the target is in it
        start = memref.ExtractAlignedPointerAsIndexOp(function.lds).result
        return llvm.IntToPtrOp(pointer_type(3), arith.IndexCastOp(ir.IntegerType.get_signless(32), start).result).result

    return function.emitter.shared(("LDS",), [], op, None, build)
