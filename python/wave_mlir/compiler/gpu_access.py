"""Lane-form accesses to gpu form: linear offsets, masks, loads and stores."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import amdgpu, arith, memref, scf, vector

from wave_mlir.dialect import Expr, MemoryType, prove

from . import gpu_volatile
from .diagnostics import PassError
from .gpu_function import GpuFunction, flat_memref, stored_element
from .gpu_masked_stores import MASKED_STORE, kind_of
from .kernel_info import is_stride_symbol
from .lane_access import ALIGNMENT, memory_of, stored_of
from .tile_ir import bound_names
from .transposed_reads import TRANSPOSED_READ

_MAX_ALIGNMENT = 16


def symbol_operands(op: ir.Operation) -> dict[str, ir.Value]:
    """The values that an op's `symbols(…)` give, by name."""
    if "symbol_names" not in op.attributes:
        return {}
    names = [a.value for a in ir.ArrayAttr(op.attributes["symbol_names"])]
    return dict(zip(names, op.opview.symbol_values, strict=True))


def index_operands(op: ir.Operation) -> dict[str, ir.Value]:
    """`symbol_operands`, each as a value of type index."""
    return {name: as_index(value) for name, value in symbol_operands(op).items()}


def as_index(value: ir.Value) -> ir.Value:
    """A one-element integer or index value as `index`; emitted at the current insertion point."""
    if isinstance(value.type, ir.VectorType):
        if value.type.shape[0] != 1:
            raise PassError(
                value, f"a symbol's value is a {value.type}, one for each element; run wave-split-accesses first"
            )
        value = vector.ExtractOp(value, [], [0]).result
    if isinstance(value.type, ir.IndexType):
        return value
    return arith.IndexCastOp(ir.IndexType.get(), value).result


def strides_of(function: GpuFunction, memory: ir.Value) -> tuple[Expr, ...]:
    """Strides of a memory in elements, as expressions."""
    return function.strides[memory]


def linear_index(function: GpuFunction, memory: ir.Value, index: list[Expr]) -> Expr:
    """The element offset of an index in a memory."""
    total = Expr.constant(0)
    for coordinate, stride in zip(index, strides_of(function, memory), strict=True):
        total = total + coordinate * stride
    return total.simplify(function.info.facts)


def bind_allocation(function: GpuFunction, op: ir.Operation) -> None:
    """Make the view of LDS that a `wave.allocate` stands for."""
    memory = MemoryType(op.results[0].type)
    if "offset" not in op.attributes:
        raise PassError(op, "the buffer has no place in LDS yet; run wave-pack-shared before wave-to-gpu")
    if function.lds is None:
        raise PassError(op, "the kernel has no LDS although it allocates some; run wave-pack-shared before wave-to-gpu")
    strides = tuple(function.info.resolve(s) for s in memory.element_strides)
    extents = [function.info.resolve(e).constant_value for e in memory.shape]
    size = 1 + sum((e - 1) * s.constant_value for e, s in zip(extents, strides, strict=True))
    with op.location, ir.InsertionPoint(op):
        offset = arith.ConstantOp(ir.IndexType.get(), op.attributes["offset"].value).result
        view = memref.ViewOp(flat_memref(memory.element_type, "workgroup", size), function.lds, offset, []).result
    function.strides[view] = strides
    function.lds_places[view] = (op.attributes["offset"].value, size)
    op.results[0].replace_all_uses_with(view)
    op.erase()


def mask_condition(function: GpuFunction, op: ir.Operation) -> ir.Value | None:
    """The access's mask as one i1 for all its elements, or None without one.

    After wave-split-accesses a mask is the same for all elements of an access: a `wave.mask` without `el`, or of one
    element.
    """
    mask = op.opview.mask
    if mask is None:
        return None
    owner = mask.owner
    if isinstance(owner, ir.OpView | ir.Operation) and owner.operation.name == "wave.mask":
        return emit_mask(function, owner.operation, op)
    if not isinstance(mask.type, ir.VectorType):
        return mask
    if mask.type.shape == [1]:
        return vector.ExtractOp(mask, [], [0]).result
    raise PassError(op, "the elements of this access have masks of their own; run wave-split-accesses first")


def emit_mask(function: GpuFunction, mask: ir.Operation, here: ir.Operation) -> ir.Value:
    """The i1 of a `wave.mask` whose predicate is the same for all its elements, emitted at the access that needs it.

    (Not at the mask: what the expression shares with ops lowered since then stands after it.)
    """
    expr = mask.opview.expr
    if "el" in expr.symbols:
        if isinstance(mask.results[0].type, ir.VectorType) and mask.results[0].type.shape != [1]:
            raise PassError(mask, "the predicate differs from element to element; run wave-split-accesses before")
        expr = expr.subs({"el": 0}).simplify(function.info.facts)
    with mask.location, ir.InsertionPoint(here):
        operands = index_operands(mask)
        if expr.constant_value is not None:
            return arith.ConstantOp(ir.IntegerType.get_signless(1), int(expr.constant_value != 0)).result
    return function.emitter.emit_truth(expr, here, operands)


def known_alignment(function: GpuFunction, linear: Expr, element_bytes: int) -> int:
    """The greatest power of two, up to 16, that divides the byte offset for sure."""
    if linear.constant_value == 0:
        return _MAX_ALIGNMENT
    divisor = linear.divisor(function.info.facts) * element_bytes
    return min(_MAX_ALIGNMENT, divisor & -divisor) if divisor else _MAX_ALIGNMENT


def _element_bytes(element: ir.Type) -> int:
    width = 64 if isinstance(element, ir.IndexType) else element.width
    return max(1, width // 8)


def _shifted(function: GpuFunction, memory: ir.Value, linear: Expr) -> tuple[ir.Value, Expr]:
    """An LDS buffer from the constant part of an offset on, and the rest: the constant becomes an immediate.

    (Added to the offset it would be hoisted out of loops with the sum: a register for each access.)
    """
    _, constant = linear.linear_parts()
    if memory not in function.lds_places or constant <= 0:
        return memory, linear
    rest = (linear - constant).expand()
    low, _ = rest.range(function.info.facts)
    start, size = function.lds_places[memory]
    if low is None or low < 0 or constant >= size or function.lds is None:
        return memory, linear
    known = function.lds_shifted.get((memory, constant))
    if known is None:
        element = ir.MemRefType(memory.type).element_type
        with ir.InsertionPoint.after(memory.owner):
            at = arith.ConstantOp(ir.IndexType.get(), start + constant * _element_bytes(element)).result
            known = memref.ViewOp(flat_memref(element, "workgroup", size - constant), function.lds, at, []).result
        function.lds_shifted[memory, constant] = known
    return known, rest


def _place(function: GpuFunction, op: ir.Operation, memory: ir.Value) -> tuple[ir.Value, ir.Value, int]:
    """The memory (LDS: from a constant on), the linear offset of an access in it, its alignment in bytes."""
    bound = bound_names(op)
    index = [function.info.resolve(e, bound) for e in op.opview.index]
    linear = linear_index(function, memory, index)
    if "el" in linear.symbols:
        raise PassError(op, "the index still depends on the element; run wave-split-accesses before wave-to-gpu")
    element = ir.MemRefType(memory.type).element_type
    alignment = _element_bytes(element)
    if not any(is_stride_symbol(s) for stride in strides_of(function, memory) for s in stride.symbols):
        # otherwise the memory starts at any element
        proven = ir.IntegerAttr(op.attributes[ALIGNMENT]).value if ALIGNMENT in op.attributes else 1
        alignment = max(proven, known_alignment(function, linear, alignment))
    if op.opview.mask is None:
        memory, linear = _shifted(function, memory, linear)
    return memory, function.emitter.emit_number(linear, op, index_operands(op)), alignment


def lower_read(function: GpuFunction, op: ir.Operation) -> None:
    """wave.read → vector.load. A masked lane reads at offset 0 and drops what it got: no branch, where the memory has
    as many elements there as are read. (Barriers are placed for that too: a masked read of LDS may be anywhere.)"""
    memory = memory_of(op)
    with op.location, ir.InsertionPoint(op):
        result = op.results[0]
        kind = result.type if isinstance(result.type, ir.VectorType) else ir.VectorType.get([1], result.type)
        if _never(op):
            value = zero_vector(kind)
        else:
            condition = mask_condition(function, op)
            memory, offset, alignment = _place(function, op, memory)
            if condition is None:
                value = _load(op, kind, memory, offset, alignment)
            elif _holds(function, op, memory, kind.shape[0]):
                zero = function.emitter.emit(Expr.constant(0), op)
                offset = arith.SelectOp(condition, offset, zero).result
                value = _load(op, kind, memory, offset, alignment)
                value = arith.SelectOp(condition, value, zero_vector(kind)).result
            else:
                branch = scf.IfOp(condition, [kind], has_else=True)
                with ir.InsertionPoint(branch.then_block):
                    scf.YieldOp([_load(op, kind, memory, offset, alignment)])
                with ir.InsertionPoint(branch.else_block):
                    scf.YieldOp([zero_vector(kind)])
                value = branch.results[0]
        if kind != result.type:
            value = vector.ExtractOp(value, [], [0]).result
    result.replace_all_uses_with(value)
    op.erase()


def in_memory(kind: ir.VectorType) -> ir.VectorType:
    """What a vector is in memory: an i1 is a byte there, 0 or 1."""
    element = stored_element(kind.element_type)
    return kind if element == kind.element_type else ir.VectorType.get(kind.shape, element)


def to_memory(value: ir.Value) -> ir.Value:
    """A vector as it is stored."""
    kind = in_memory(ir.VectorType(value.type))
    return value if value.type == kind else arith.ExtUIOp(kind, value).result


def from_memory(value: ir.Value, kind: ir.VectorType) -> ir.Value:
    """A vector that was loaded, as one of type `kind`."""
    if value.type == kind:
        return value
    zero = arith.ConstantOp(value.type, ir.DenseElementsAttr.get_splat(value.type, _zero(value.type.element_type)))
    return arith.CmpIOp(arith.CmpIPredicate.ne, value, zero.result).result


def _zero(element: ir.Type) -> ir.Attribute:
    return ir.FloatAttr.get(element, 0.0) if isinstance(element, ir.FloatType) else ir.IntegerAttr.get(element, 0)


def _load(op: ir.Operation, kind: ir.VectorType, memory: ir.Value, offset: ir.Value, alignment: int) -> ir.Value:
    if TRANSPOSED_READ in op.attributes:
        return amdgpu.TransposeLoadOp(kind, memory, [offset]).result
    nontemporal = _flag(op, "nontemporal")
    if _is_volatile(op, memory):
        return from_memory(gpu_volatile.load(in_memory(kind), memory, offset, alignment, nontemporal), kind)
    load = vector.LoadOp(in_memory(kind), memory, [offset], nontemporal=nontemporal, alignment=alignment)
    return from_memory(load.result, kind)


def _is_volatile(op: ir.Operation, memory: ir.Value) -> bool:
    """Whether an access has to say that it is volatile: LDS is the workgroup's own."""
    return "is_volatile" in op.attributes and isinstance(memory, ir.BlockArgument)


def _never(op: ir.Operation) -> bool:
    """Whether the mask holds for no element."""
    mask = op.opview.mask
    if mask is None or not isinstance(mask.owner, ir.OpView | ir.Operation):
        return False
    return mask.owner.operation.name == "wave.mask" and mask.owner.operation.opview.expr.constant_value == 0


def _holds(function: GpuFunction, op: ir.Operation, memory: ir.Value, count: int) -> bool:
    """Whether a memory surely has `count` elements from offset 0 on: one without elements may have no address."""
    if not isinstance(memory, ir.BlockArgument):
        return ir.MemRefType(memory.type).shape[0] >= count
    shape = [Expr(e) for e in function.op.attributes["wave.args"][memory.arg_number]["shape"]]
    strided = any(is_stride_symbol(name) for s in function.strides[memory] for name in s.symbols)
    product = Expr.constant(1)
    for extent in shape[-1:] if strided else shape:
        product = product * extent
    loops = {s.removeprefix("iv.") for e in op.opview.index for s in Expr(e).symbols if s.startswith("iv.")}
    facts = function.info.facts_inside(frozenset(loops.difference(bound_names(op))))
    if prove(product.ge(count), facts):
        return True
    # a positive multiple of a number is at least as much
    return product.divisor(facts) >= count and prove(product.ge(1), facts) is True


def lower_write(function: GpuFunction, op: ir.Operation) -> None:
    """wave.write → vector.store, under scf.if when masked (`join_masked_stores` comes later)."""
    memory, value = memory_of(op), stored_of(op)
    if _never(op):
        op.erase()
        return
    with op.location, ir.InsertionPoint(op):
        condition = mask_condition(function, op)
        memory, offset, alignment = _place(function, op, memory)
        if not isinstance(value.type, ir.VectorType):
            value = vector.BroadcastOp(ir.VectorType.get([1], value.type), value).result
        if condition is None:
            _store(op, value, memory, offset, alignment)
        else:
            branch = scf.IfOp(condition)
            branch.operation.attributes[MASKED_STORE] = kind_of(function.info, op.opview.mask)
            with ir.InsertionPoint(branch.then_block):
                _store(op, value, memory, offset, alignment)
                scf.YieldOp([])
    op.erase()


_ATOMIC = {
    "add": (arith.AtomicRMWKind.addf, arith.AtomicRMWKind.addi),
    "min": (arith.AtomicRMWKind.minimumf, arith.AtomicRMWKind.mins),
    "max": (arith.AtomicRMWKind.maximumf, arith.AtomicRMWKind.maxs),
    "and": (None, arith.AtomicRMWKind.andi),
    "or": (None, arith.AtomicRMWKind.ori),
    "xor": (None, arith.AtomicRMWKind.xori),
    "exchange": (arith.AtomicRMWKind.assign, arith.AtomicRMWKind.assign),
}


def lower_atomic(function: GpuFunction, op: ir.Operation) -> None:
    """wave.atomic → memref.atomic_rmw, under scf.if when masked; a masked lane's old value is 0."""
    view = op.opview
    memory, value = view.memory, view.value
    name = str(op.attributes["kind"]).split()[-1].rstrip(">").split("<")[-1]
    with op.location, ir.InsertionPoint(op):
        condition = mask_condition(function, op)
        memory, offset, _ = _place(function, op, memory)
        vectored = isinstance(value.type, ir.VectorType)
        one = vector.ExtractOp(value, [], [0]).result if vectored else value
        kind = _ATOMIC[name][0 if isinstance(one.type, ir.FloatType) else 1]
        if kind is None:
            raise PassError(op, f"an atomic {name} is of integers; the value is of {one.type}")
        if condition is None:
            old = memref.AtomicRMWOp(kind, one, memory, [offset]).result
        else:
            branch = scf.IfOp(condition, [one.type], has_else=True)
            with ir.InsertionPoint(branch.then_block):
                scf.YieldOp([memref.AtomicRMWOp(kind, one, memory, [offset]).result])
            with ir.InsertionPoint(branch.else_block):
                scf.YieldOp([vector.ExtractOp(zero_vector(ir.VectorType.get([1], one.type)), [], [0]).result])
            old = branch.results[0]
        if len(op.results):
            result = vector.FromElementsOp(op.results[0].type, [old]).result if vectored else old
            op.results[0].replace_all_uses_with(result)
    op.erase()


def _store(op: ir.Operation, value: ir.Value, memory: ir.Value, offset: ir.Value, alignment: int) -> None:
    nontemporal = _flag(op, "nontemporal")
    if _is_volatile(op, memory):
        gpu_volatile.store(to_memory(value), memory, offset, alignment, nontemporal)
        return
    vector.StoreOp(to_memory(value), memory, [offset], nontemporal=nontemporal, alignment=alignment)


def _flag(op: ir.Operation, name: str) -> bool | None:
    return True if name in op.attributes else None


def zero_vector(kind: ir.VectorType) -> ir.Value:
    """The constant 0 of a vector type."""
    return arith.ConstantOp(kind, ir.DenseElementsAttr.get_splat(kind, _zero(kind.element_type))).result
