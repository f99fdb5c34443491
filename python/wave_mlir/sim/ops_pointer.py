"""Pointers: memrefs as addresses, llvm pointer arithmetic, and the rocdl buffer intrinsics on resources.

Every storage has a virtual address (Storage.base); an address names a storage and a byte in it, wherever it came from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from mlir import ir

from . import access
from .access import Plan
from .cohort import Cohort
from .dtypes import DType, element_type, to_bytes, vector_shape, wrap
from .errors import SimError
from .memory import LDS, MemRef, Resource, Storage
from .ops_buffer import check_copy_size, copy_to_lds, full_mask_or_none
from .program import Compiler, OpInfo, handles
from .spinning import is_volatile

OUT_OF_RANGE = "wave.out_of_range"
ADDRESS_BITS = 40  # storages start at multiples of 2**40


@handles("memref.extract_aligned_pointer_as_index")
def _extract_pointer(c: Compiler, op: ir.Operation) -> None:
    source, result = c.use(op.operands[0]), c.define(op.results[0])
    c.program.use.all_args = True

    def step(cohort: Cohort) -> None:
        ref: MemRef = cohort.env[source]
        cohort.env[result] = ref.base + ref.storage.base

    c.emit(step)


def _emit(c: Compiler, source: int, result: int, function: Callable[[np.ndarray], np.ndarray]) -> None:
    def step(cohort: Cohort) -> None:
        cohort.env[result] = function(cohort.env[source])

    c.emit(step)


@handles("llvm.inttoptr", "llvm.ptrtoint", "llvm.addrspacecast")
def _convert(c: Compiler, op: ir.Operation) -> None:
    """LDS addresses fit 32 bits, as on hardware; a global one in 32 bits is an error where it is used."""
    source, result = c.use(op.operands[0]), c.define(op.results[0])
    if str(op.results[0].type).startswith("!llvm.ptr"):
        mask = np.int64(0xFFFFFFFF if str(op.operands[0].type) == "i32" else -1)
        _emit(c, source, result, lambda a: a.astype(np.int64) & mask)
    else:
        kind = c.dtype(op.results[0])
        _emit(c, source, result, lambda a: wrap(a, kind))


@handles("llvm.getelementptr")
def _element_pointer(c: Compiler, op: ir.Operation) -> None:
    element = ir.TypeAttr(op.attributes["elem_type"]).value
    constants = list(ir.DenseI32ArrayAttr(op.attributes["rawConstantIndices"]))
    if len(constants) != 1:
        raise c.unsupported("only pointers to scalars and vectors, with one index")
    size = _bytes_of(element)
    base, *dynamic = (c.use(v) for v in op.operands)
    result = c.define(op.results[0])

    def step(cohort: Cohort) -> None:
        env = cohort.env
        index = env[dynamic[0]].astype(np.int64) if dynamic else constants[0]
        env[result] = env[base] + index * size

    c.emit(step)


def _bytes_of(kind: ir.Type) -> int:
    count = int(np.prod(vector_shape(kind), dtype=np.int64))
    return element_type(kind).size * count


def find_storage(cohort: Cohort, info: OpInfo, address: np.ndarray) -> tuple[Storage, np.ndarray]:
    """The storage that addresses point into, and the bytes in it. All active lanes must point into the same one."""
    number = address >> ADDRESS_BITS
    active = np.ones((1, 1), dtype=bool) if cohort.mask is None else cohort.mask
    chosen = np.broadcast_to(number, np.broadcast_shapes(number.shape, active.shape))
    chosen = chosen[np.broadcast_to(active, chosen.shape)]
    first = int(chosen[0]) if chosen.size else 1
    storages = cohort.machine.storages
    if first == 0:
        return _find_lds(cohort, info, address)
    if chosen.size and (chosen != first).any():
        raise SimError("unsupported", f"{info.name}: lanes point into different buffers", location=info.location)
    if not 1 <= first <= len(storages):
        raise SimError("bounds", f"{info.name}: the pointer points into no buffer", location=info.location)
    storage = storages[first - 1]
    return storage, address - storage.base


def _find_lds(cohort: Cohort, info: OpInfo, address: np.ndarray) -> tuple[Storage, np.ndarray]:
    """LDS allocations follow one another from address 0; the one that holds the lowest address."""
    lowest = int(address.min())
    for storage in cohort.machine.storages:
        if storage.space == LDS and storage.base <= lowest < storage.base + max(storage.stride, 1):
            return storage, address - storage.base
    raise SimError("bounds", f"{info.name}: the pointer points into no buffer", location=info.location)


def _pointer_access(c: Compiler, op: ir.Operation, kind: ir.Type) -> tuple[Plan, tuple[int, ...]]:
    shape, dtype = vector_shape(kind), element_type(kind)
    if dtype.packed or c.info is None or len(shape) > 1:
        raise c.unsupported(f"an access of {kind}")
    count, alignment = shape[0] if shape else 1, c.integer(op, "alignment", 0)
    return Plan(c.info, dtype, count, alignment, volatile=is_volatile(op)), shape


def _memref(storage: Storage, dtype: DType) -> MemRef:
    return MemRef(storage, np.zeros((1, 1), dtype=np.int64), (None,), (1,), dtype)


@handles("llvm.load")
def _load(c: Compiler, op: ir.Operation) -> None:
    plan, shape = _pointer_access(c, op, op.results[0].type)
    c.program.use.all_args = True
    pointer, result = c.use(op.operands[0]), c.define(op.results[0])

    def step(cohort: Cohort) -> None:
        storage, at = find_storage(cohort, plan.info, cohort.env[pointer])
        value = access.load_at(
            cohort, plan, _memref(storage, plan.dtype), [np.zeros((1, 1), np.int64)], at, cohort.mask
        )
        cohort.env[result] = value if shape else value[..., 0]

    c.emit(step)


@handles("llvm.store")
def _store(c: Compiler, op: ir.Operation) -> None:
    plan, shape = _pointer_access(c, op, op.operands[0].type)
    c.program.use.all_args = True
    value, pointer = c.use(op.operands[0]), c.use(op.operands[1])

    def step(cohort: Cohort) -> None:
        storage, at = find_storage(cohort, plan.info, cohort.env[pointer])
        data = cohort.env[value]
        ref = replace(_memref(storage, plan.dtype), base=at)
        zero = [np.zeros((1, 1), np.int64)]
        access.store(cohort, plan, ref, zero, data if shape else data[..., None])

    c.emit(step)


@handles("rocdl.make.buffer.rsrc")
def _make_resource(c: Compiler, op: ir.Operation) -> None:
    pointer, stride, size, _ = (c.use(v) for v in op.operands)
    if c.known_constant(op.operands[1]) not in (0, None):
        raise c.unsupported("resources with a stride")
    del stride
    result = c.define(op.results[0])

    def step(cohort: Cohort) -> None:
        valid = cohort.env[size].astype(np.int64)
        cohort.env[result] = Resource(cohort.env[pointer], valid & 0xFFFFFFFF)  # num_records has 32 bits

    c.emit(step)


class _ResourceAddress:
    """offset is in the range check, soffset outside it."""

    def __init__(self, c: Compiler, resource: ir.Value, offset: ir.Value, scalar: ir.Value) -> None:
        assert c.info is not None
        self.info = c.info
        self.slots = [c.use(v) for v in (resource, offset, scalar)]
        self.only_masked = False
        c.program.use.all_args = True

    def limit_to_masked(self, op: ir.Operation) -> None:
        """Take notice of the promise on `op` that only masked lanes, at 2^31 and beyond, are out of range."""
        attributes = op.attributes
        self.only_masked = OUT_OF_RANGE in attributes and ir.StringAttr(attributes[OUT_OF_RANGE]).value == "masked"

    def check(self, cohort: Cohort, plan: Plan, ref: MemRef, at: np.ndarray, shift: np.ndarray) -> None:
        """Report lanes out of range that no mask has put there."""
        if not self.only_masked or "bounds" not in cohort.machine.checks:
            return
        inside = access.in_range(ref, at, plan.size)
        assert inside is not None and ref.origin is not None
        bad = ~inside & (at - ref.origin < 1 << 31)
        if cohort.mask is not None:
            bad = bad & cohort.mask
        access.report_out_of_bounds(cohort, plan, ref, bad, at + shift)

    def compute(self, cohort: Cohort, dtype: DType) -> tuple[MemRef, np.ndarray, np.ndarray]:
        resource, offset, scalar = (cohort.env[s] for s in self.slots)
        storage, base = find_storage(cohort, self.info, resource.address)
        ref = replace(_memref(storage, dtype), base=base, origin=base, valid=resource.valid)
        return ref, base + (offset.astype(np.int64) & 0xFFFFFFFF), scalar.astype(np.int64)


@handles("rocdl.raw.ptr.buffer.load")
def _resource_load(c: Compiler, op: ir.Operation) -> None:
    plan, shape = _pointer_access(c, op, op.results[0].type)
    resource, offset, scalar, _ = op.operands
    address, result = _ResourceAddress(c, resource, offset, scalar), c.define(op.results[0])
    address.limit_to_masked(op)

    def step(cohort: Cohort) -> None:
        ref, at, shift = address.compute(cohort, plan.dtype)
        address.check(cohort, plan, ref, at, shift)
        value = access.load_buffer(cohort, plan, ref, at, None, shift)
        cohort.env[result] = value if shape else value[..., 0]

    c.emit(step)


@handles("rocdl.raw.ptr.buffer.store")
def _resource_store(c: Compiler, op: ir.Operation) -> None:
    value_in, resource, offset, scalar, _ = op.operands
    plan, shape = _pointer_access(c, op, value_in.type)
    address, value = _ResourceAddress(c, resource, offset, scalar), c.use(value_in)
    address.limit_to_masked(op)

    def step(cohort: Cohort) -> None:
        ref, at, shift = address.compute(cohort, plan.dtype)
        address.check(cohort, plan, ref, at, shift)
        data = cohort.env[value]
        access.store_buffer(cohort, plan, ref, at, data if shape else data[..., None], cohort.mask, shift)

    c.emit(step)


@handles("rocdl.raw.ptr.buffer.load.lds")
def _resource_copy(c: Compiler, op: ir.Operation) -> None:
    """The LDS address of a lane is the pointer, the immediate offset and lane * size; data past the range is 0."""
    resource, lds, size_in, offset, scalar, immediate_in, _ = op.operands
    size, immediate = c.known_constant(size_in), c.known_constant(immediate_in)
    if size is None or immediate is None or c.info is None:
        raise c.unsupported("size and offset must be constants")
    check_copy_size(c, size)
    word = element_type(ir.IntegerType.get_signless(32 if size >= 4 else 8 * size, op.context))
    plan = Plan(c.info, word, max(1, size // 4), counter=False)
    address, pointer = _ResourceAddress(c, resource, offset, scalar), c.use(lds)
    address.limit_to_masked(op)
    c.program.use.copies_async = True

    def step(cohort: Cohort) -> None:
        ref, at, shift = address.compute(cohort, word)
        address.check(cohort, plan, ref, at + immediate, shift)
        raw = to_bytes(access.load_buffer(cohort, plan, ref, at + immediate, None, shift), word)
        storage, where = find_storage(cohort, plan.info, cohort.env[pointer])
        copy_to_lds(cohort, plan, raw, storage, where + immediate, full_mask_or_none(cohort))

    c.emit(step)
