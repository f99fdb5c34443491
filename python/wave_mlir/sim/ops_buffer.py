"""amdgpu memory operations: buffer resources, direct copies to LDS, transposed LDS reads."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from mlir import ir

from . import access
from .access import Plan
from .cohort import Cohort
from .dtypes import dtype_named, element_type, from_bytes, to_bytes, vector_shape
from .memory import MemRef, Storage
from .ops_access import ATOMIC_KINDS, Combine, atomic_update
from .ops_memref import DYNAMIC_STRIDE, _keep_roots, layout_of
from .program import Compiler, handles
from .waits import ASYNC


def memref_bytes(memref: MemRef) -> np.ndarray:
    """max over dims of extent * stride, in bytes: what a resource for the whole memref has as its size."""
    total: int | np.ndarray = memref.dtype.size
    for extent, stride in zip(memref.shape, memref.strides, strict=True):
        if extent is None:
            return np.full((1, 1), memref.storage.size, dtype=np.int64) - memref.base
        total = np.maximum(total, np.multiply(extent, stride) * memref.dtype.size)
        if isinstance(extent, int) and extent == 0:
            return np.zeros((1, 1), dtype=np.int64)
    return np.atleast_2d(np.asarray(total, dtype=np.int64))


def as_resource(memref: MemRef) -> MemRef:
    """The memref behind a resource of its own size (as it is when it has one already)."""
    if memref.valid is not None:
        return memref
    return replace(memref, valid=memref_bytes(memref), origin=memref.base)


@handles("amdgpu.fat_raw_buffer_cast")
def _fat_cast(c: Compiler, op: ir.Operation) -> None:
    (source_in,), valid_in, _ = c.operand_groups(op)
    source, valid = c.use(source_in), c.use(valid_in[0]) if valid_in else None
    offset = layout_of(ir.MemRefType(source_in.type))[1]
    reset = c.flag(op, "resetOffset")
    unchecked = not c.flag(op, "boundsCheck", True) and c.target.startswith("gfx1")  # only RDNA can switch it off
    c.define(op.results[0])
    _keep_roots(c, op)
    result = c.use(op.results[0])

    def step(cohort: Cohort) -> None:
        ref: MemRef = cohort.env[source]
        if reset:
            origin = ref.base
        elif offset == DYNAMIC_STRIDE:
            origin = np.zeros((1, 1), dtype=np.int64)
        else:
            origin = ref.base - offset * ref.dtype.size
        size = memref_bytes(ref) if valid is None else cohort.env[valid]
        if unchecked:
            size = np.full((1, 1), 1 << 33, dtype=np.int64)
        cohort.env[result] = replace(ref, valid=size, origin=origin)

    c.emit(step)


class _RawAddress:
    """Address of a raw buffer operation: indices and indexOffset in the range check, sgprOffset outside it."""

    def __init__(self, c: Compiler, op: ir.Operation, memref: ir.Value, indices: list, scalar: list) -> None:
        self.memref = c.use(memref)
        self.indices = [c.use(v) for v in indices]
        self.constant = c.integer(op, "indexOffset", 0)
        self.scalar = c.use(scalar[0]) if scalar else None
        self.unchecked = not c.flag(op, "boundsCheck", True) and c.target.startswith("gfx1")

    def compute(self, cohort: Cohort) -> tuple[MemRef, np.ndarray, np.ndarray | None]:
        """The resource, byte offsets in its storage, and the unchecked shift."""
        env = cohort.env
        ref = as_resource(env[self.memref])
        if self.unchecked:
            ref = replace(ref, valid=np.full((1, 1), 1 << 33, dtype=np.int64))
        at = access.offsets(ref, [env[i].astype(np.int64) for i in self.indices])
        if self.constant:
            at = at + self.constant * ref.dtype.size
        shift = None if self.scalar is None else env[self.scalar].astype(np.int64) * ref.dtype.size
        return ref, at, shift


def _plan(c: Compiler, op: ir.Operation, memref: ir.Value, shape: tuple[int, ...]) -> Plan:
    dtype = c.dtype(memref)
    if dtype.packed or len(shape) > 1 or c.info is None:
        raise c.unsupported("only scalars and 1-D vectors of types of 8 bits and more")
    return Plan(c.info, dtype, shape[0] if shape else 1)


@handles("amdgpu.raw_buffer_load")
def _raw_load(c: Compiler, op: ir.Operation) -> None:
    (memref,), indices, scalar = c.operand_groups(op)
    shape = c.shape(op.results[0])
    plan = _plan(c, op, memref, shape)
    c.note_access(memref, reads=True, writes=False)
    address = _RawAddress(c, op, memref, indices, scalar)
    result = c.define(op.results[0])

    def step(cohort: Cohort) -> None:
        ref, at, shift = address.compute(cohort)
        value = access.load_buffer(cohort, plan, ref, at, None, shift)
        cohort.env[result] = value if shape else value[..., 0]

    c.emit(step)


@handles("amdgpu.raw_buffer_store")
def _raw_store(c: Compiler, op: ir.Operation) -> None:
    (value_in,), (memref,), indices, scalar = c.operand_groups(op)
    shape = c.shape(value_in)
    plan = _plan(c, op, memref, shape)
    c.note_access(memref, reads=False, writes=True)
    address = _RawAddress(c, op, memref, indices, scalar)
    value = c.use(value_in)

    def step(cohort: Cohort) -> None:
        ref, at, shift = address.compute(cohort)
        data = cohort.env[value]
        access.store_buffer(cohort, plan, ref, at, data if shape else data[..., None], cohort.mask, shift)

    c.emit(step)


_RAW_ATOMICS: dict[str, tuple[Combine, bool]] = {
    "fadd": (ATOMIC_KINDS["addf"], False),
    "fmax": (ATOMIC_KINDS["maxnumf"], False),
    "smax": (ATOMIC_KINDS["maxs"], False),
    "umin": (ATOMIC_KINDS["minu"], True),
}


def _atomic(
    cohort: Cohort,
    plan: Plan,
    address: _RawAddress,
    values: np.ndarray,
    combine: Combine,
    as_unsigned: bool,
    element: int,
) -> np.ndarray:
    ref, at, shift = address.compute(cohort)
    at = at + element * plan.dtype.size
    inside = access.in_range(ref, at, plan.size)
    assert inside is not None
    lanes = inside if cohort.mask is None else inside & cohort.mask
    where = at if shift is None else at + shift
    checked = access._check_buffer(cohort, plan, ref, where, lanes)
    if checked is None:
        return np.zeros((1, 1), dtype=plan.dtype.np)
    return atomic_update(cohort, plan, ref, checked, values, combine, lanes, as_unsigned)


@handles(*(f"amdgpu.raw_buffer_atomic_{name}" for name in _RAW_ATOMICS))
def _raw_atomic(c: Compiler, op: ir.Operation) -> None:
    (value_in,), (memref,), indices, scalar = c.operand_groups(op)
    shape = c.shape(value_in)
    combine, as_unsigned = _RAW_ATOMICS[op.name.rsplit("_", 1)[1]]
    plan = replace_count(_plan(c, op, memref, shape))
    c.note_access(memref, reads=True, writes=True, atomic=True)
    address, value = _RawAddress(c, op, memref, indices, scalar), c.use(value_in)

    def step(cohort: Cohort) -> None:
        data = cohort.env[value]
        for element in range(shape[0] if shape else 1):
            part = data[..., element] if shape else data
            _atomic(cohort, plan, address, part, combine, as_unsigned, element)

    c.emit(step)


def replace_count(plan: Plan) -> Plan:
    """The plan of one element."""
    return Plan(plan.info, plan.dtype, 1)


@handles("amdgpu.raw_buffer_atomic_cmpswap")
def _raw_cmpswap(c: Compiler, op: ir.Operation) -> None:
    (new_in,), (expected_in,), (memref,), indices, scalar = c.operand_groups(op)
    plan = _plan(c, op, memref, c.shape(new_in))
    c.note_access(memref, reads=True, writes=True, atomic=True)
    address = _RawAddress(c, op, memref, indices, scalar)
    new, expected, result = c.use(new_in), c.use(expected_in), c.define(op.results[0])
    bits = np.dtype(f"u{plan.dtype.np.itemsize}")  # compared bit by bit, as the hardware does
    pair = np.dtype([("new", bits), ("expected", bits)])

    def swap(old: np.ndarray, operand: np.ndarray) -> np.ndarray:
        return np.where(old == operand["expected"], operand["new"], old)

    def step(cohort: Cohort) -> None:
        env = cohort.env
        ref, at, shift = address.compute(cohort)
        inside = access.in_range(ref, at, plan.size)
        assert inside is not None
        lanes = inside if cohort.mask is None else inside & cohort.mask
        where = access._check_buffer(cohort, plan, ref, at if shift is None else at + shift, lanes)
        if where is None:
            env[result] = np.zeros((1, 1), dtype=plan.dtype.np)
            return
        both = np.empty(np.broadcast_shapes(env[new].shape, env[expected].shape), dtype=pair)
        both["new"], both["expected"] = (np.ascontiguousarray(env[s]).view(bits) for s in (new, expected))
        env[result] = atomic_update(cohort, plan, ref, where, both, swap, lanes, as_unsigned=True)

    c.emit(step)


# --------------------------------------------------------------------------------------------------------- LDS copies


def copy_to_lds(
    cohort: Cohort, plan: Plan, data: np.ndarray, storage: Storage, at: np.ndarray, mask: np.ndarray | None
) -> None:
    """Write each lane's bytes (waves, lanes, n) behind one another from the first active lane's address on.

    at: byte offset in LDS, of which only the first active lane's counts. Recorded as in flight until it is waited for.
    """
    size = data.shape[2]
    padded = 4 if size < 4 else 16 if size == 12 else size
    if padded != size:
        data = np.concatenate([data, np.zeros((*data.shape[:2], padded - size), dtype=np.uint8)], axis=2)
    lanes = cohort.machine.lanes
    if at.shape[1] > 1:
        first = np.zeros((cohort.size, 1), np.int64) if mask is None else np.argmax(mask, axis=1)[:, None]
        at = np.take_along_axis(np.broadcast_to(at, (cohort.size, lanes)), first, axis=1)
    where = at + np.arange(lanes) * padded
    write = Plan(plan.info, BYTE, padded)
    checks = cohort.machine.checks
    if "bounds" in checks:
        access.check_bounds(cohort, write, _plain(storage), [], where, mask)
    if "alignment" in checks:
        access.check_alignment(cohort, Plan(plan.info, WORD, 1), storage, where, mask)
    waves = cohort.waves if mask is None else cohort.waves[mask.any(axis=1)]
    cohort.machine.waits.issue("vm", waves, 1)
    where = np.where(mask, where, 0) if mask is not None else where
    flat = access.flat_addresses(cohort, storage, np.clip(where, 0, max(storage.size - padded, 0)))
    access.record(cohort, write, storage, flat, mask, reads=False, writes=True, kind=ASYNC)
    values = np.broadcast_to(data, (*flat.shape, padded))
    if mask is not None:
        chosen = np.broadcast_to(mask, flat.shape)
        flat, values = flat[chosen], values[chosen]
    storage.store(flat, values, BYTE)


BYTE, WORD = dtype_named("i8"), dtype_named("i32")


def _plain(storage: Storage) -> MemRef:
    return MemRef(storage, np.zeros((1, 1), dtype=np.int64), (), (), BYTE)


def full_mask_or_none(cohort: Cohort) -> np.ndarray | None:
    """The mask with every wave spelled out, or None."""
    if cohort.mask is None:
        return None
    return np.broadcast_to(cohort.mask, (cohort.size, cohort.machine.lanes))


def check_copy_size(c: Compiler, size: int) -> None:
    """Raise when the target cannot copy `size` bytes a lane to LDS."""
    allowed = (1, 2, 4, 12, 16) if c.target in ("", "gfx950") else (1, 2, 4)
    if size not in allowed:
        listed = ", ".join(map(str, allowed))
        raise c.unsupported(f"a copy of {size} bytes a lane; {c.target or 'the hardware'} copies {listed}")


@handles("amdgpu.gather_to_lds")
def _gather_to_lds(c: Compiler, op: ir.Operation) -> None:
    (source_in,), source_indices, (target_in,), target_indices = c.operand_groups(op)
    kind = ir.TypeAttr(op.attributes["transferType"]).value
    dtype, shape = element_type(kind), vector_shape(kind)
    count = shape[0] if shape else 1
    if dtype.packed or c.info is None:
        raise c.unsupported(f"transfers of {kind}; use i8")
    check_copy_size(c, dtype.size * count)
    c.note_access(source_in, reads=True, writes=False)
    c.program.use.copies_async = True
    plan = Plan(c.info, dtype, count, counter=False)
    source, target = c.use(source_in), c.use(target_in)
    from_slots, to_slots = ([c.use(v) for v in values] for values in (source_indices, target_indices))

    def step(cohort: Cohort) -> None:
        env = cohort.env
        ref: MemRef = env[source]
        if ref.dtype.size != dtype.size:
            ref = replace(ref, dtype=ref.dtype)
        data = access.load(cohort, _bytes_plan(plan, ref), ref, [env[s] for s in from_slots])
        raw = to_bytes(data, ref.dtype)
        to: MemRef = env[target]
        at = access.offsets(to, [env[s] for s in to_slots])
        copy_to_lds(cohort, plan, raw, to.storage, at, full_mask_or_none(cohort))

    c.emit(step)


def _bytes_plan(plan: Plan, memref: MemRef) -> Plan:
    """The plan in elements of the memref, of the same number of bytes."""
    return Plan(plan.info, memref.dtype, max(1, plan.size // memref.dtype.size), counter=False)


@handles("amdgpu.transpose_load")
def _transpose_load(c: Compiler, op: ir.Operation) -> None:
    """ds_read_*_tr_*: 16 lanes load rows of 16 elements, 16/n lanes a row of n each; lane i gets column i."""
    source_in, *index_values = op.operands
    (count,) = c.shape(op.results[0])
    dtype = c.dtype(op.results[0])
    if c.info is None or count * dtype.bits not in (64, 96) or c.dtype(source_in).size * 8 < dtype.bits:
        raise c.unsupported(f"a transposed load of {count} x {dtype.name}")
    c.note_access(source_in, reads=True, writes=False)
    size = count * dtype.bits // 8
    source, indices, result = c.use(source_in), [c.use(v) for v in index_values], c.define(op.results[0])
    element = c.dtype(source_in)
    plan = Plan(c.info, element, size // element.size)
    lane = np.arange(c.lanes)
    per_row = 16 // count
    row = np.arange(count)
    lanes = lane[:, None] // 16 * 16 + row[None, :] * per_row + lane[:, None] % 16 // count
    places = np.broadcast_to(lane[:, None] % 16 % count, lanes.shape)

    def step(cohort: Cohort) -> None:
        env = cohort.env
        loaded = access.load(cohort, plan, env[source], [env[i] for i in indices])
        full = np.broadcast_to(loaded, (loaded.shape[0], c.lanes, loaded.shape[2]))
        values = from_bytes(to_bytes(full, element), dtype)
        env[result] = values[:, lanes, places]

    c.emit(step)
