"""memref operations that make or describe memrefs; affine.apply and friends are in ops_gpu."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from mlir import ir

from .cohort import Cohort
from .dtypes import element_type
from .errors import SimError
from .memory import MemRef
from .program import Compiler, Private, handles

DYNAMIC = ir.ShapedType.get_dynamic_size()
DYNAMIC_STRIDE = ir.ShapedType.get_dynamic_stride_or_offset()


def layout_of(kind: ir.MemRefType) -> tuple[list[int], int]:
    """Static strides and offset in elements; DYNAMIC_STRIDE where not static."""
    strides, offset = kind.get_strides_and_offset()
    return list(strides), int(offset)


def _mixed(static: list[int], dynamic: list[int], marker: int) -> list[int | tuple[int]]:
    """Static numbers, with a 1-tuple of the slot where the number is dynamic."""
    slots = iter(dynamic)
    return [(next(slots),) if n == marker else n for n in static]


def _value(cohort: Cohort, item: int | tuple[int]) -> int | np.ndarray:
    if isinstance(item, int):
        return item
    found = cohort.env[item[0]]
    return int(found.item()) if found.size == 1 else found


def _static(op: ir.Operation, name: str) -> list[int]:
    return list(ir.DenseI64ArrayAttr(op.attributes[name]))


@handles("memref.view")
def _view(c: Compiler, op: ir.Operation) -> None:
    source, shift, *sizes = (c.use(v) for v in op.operands)
    kind = ir.MemRefType(op.results[0].type)
    dtype, shape = element_type(kind), _mixed(list(kind.shape), sizes, DYNAMIC)
    c.define(op.results[0])
    _keep_roots(c, op)
    result = c.use(op.results[0])

    def step(cohort: Cohort) -> None:
        base: MemRef = cohort.env[source]
        extents = [_value(cohort, s) for s in shape]
        strides: list = [1] * len(extents)
        for dim in range(len(extents) - 2, -1, -1):
            strides[dim] = strides[dim + 1] * extents[dim + 1]
        cohort.env[result] = replace(
            base, base=base.base + cohort.env[shift], shape=tuple(extents), strides=tuple(strides), dtype=dtype
        )

    c.emit(step)


def _keep_roots(c: Compiler, op: ir.Operation) -> None:
    roots = c.roots(op.operands[0])
    if roots is not None:
        c.set_roots(op.results[0], roots)


@handles("memref.subview")
def _subview(c: Compiler, op: ir.Operation) -> None:
    source_group, offset_group, size_group, stride_group = c.operand_groups(op)
    source = c.use(source_group[0])
    groups = []
    for values, name, marker in (
        (offset_group, "static_offsets", DYNAMIC_STRIDE),
        (size_group, "static_sizes", DYNAMIC),
        (stride_group, "static_strides", DYNAMIC_STRIDE),
    ):
        groups.append(_mixed(_static(op, name), [c.use(v) for v in values], marker))
    starts, sizes, steps = groups
    kept = _kept_dims(op, sizes)
    c.define(op.results[0])
    _keep_roots(c, op)
    result = c.use(op.results[0])

    def step(cohort: Cohort) -> None:
        base: MemRef = cohort.env[source]
        at = base.base
        for start, stride in zip(starts, base.strides, strict=True):
            at = at + np.multiply(_value(cohort, start), stride) * base.dtype.size
        extents = [_value(cohort, s) for s in sizes]
        strides = [_value(cohort, s) * t for s, t in zip(steps, base.strides, strict=True)]
        cohort.env[result] = replace(
            base, base=np.atleast_2d(at), shape=tuple(extents[d] for d in kept), strides=tuple(strides[d] for d in kept)
        )

    c.emit(step)


def _kept_dims(op: ir.Operation, sizes: list) -> list[int]:
    """Dims of a subview that its (possibly rank-reduced) result keeps."""
    wanted = list(ir.MemRefType(op.results[0].type).shape)
    kept: list[int] = []
    spare = len(sizes) - len(wanted)
    for dim, size in enumerate(sizes):
        static = size if isinstance(size, int) else DYNAMIC
        if spare and static == 1 and (len(kept) == len(wanted) or wanted[len(kept)] != 1):
            spare -= 1
        else:
            kept.append(dim)
    return kept


@handles("memref.reinterpret_cast")
def _reinterpret(c: Compiler, op: ir.Operation) -> None:
    source_group, offset_group, size_group, stride_group = c.operand_groups(op)
    source = c.use(source_group[0])
    (start,) = _mixed(_static(op, "static_offsets"), [c.use(v) for v in offset_group], DYNAMIC_STRIDE)
    sizes = _mixed(_static(op, "static_sizes"), [c.use(v) for v in size_group], DYNAMIC)
    strides = _mixed(_static(op, "static_strides"), [c.use(v) for v in stride_group], DYNAMIC_STRIDE)
    source_offset = layout_of(ir.MemRefType(op.operands[0].type))[1]
    c.define(op.results[0])
    _keep_roots(c, op)
    result = c.use(op.results[0])

    def step(cohort: Cohort) -> None:
        base: MemRef = cohort.env[source]
        # The offset counts from the aligned pointer; a static offset of the source is in base.base already.
        shift = np.multiply(_value(cohort, start), base.dtype.size)
        back = 0 if source_offset == DYNAMIC_STRIDE else source_offset * base.dtype.size
        cohort.env[result] = replace(
            base,
            base=np.atleast_2d(base.base + shift - back),
            shape=tuple(_value(cohort, s) for s in sizes),
            strides=tuple(_value(cohort, s) for s in strides),
        )

    c.emit(step)


@handles("memref.cast", "memref.memory_space_cast", "memref.assume_alignment")
def _same(c: Compiler, op: ir.Operation) -> None:
    source = c.use(op.operands[0])
    if not op.results:
        return
    c.define(op.results[0])
    _keep_roots(c, op)
    result = c.use(op.results[0])

    def step(cohort: Cohort) -> None:
        cohort.env[result] = cohort.env[source]

    c.emit(step)


def known_extent(memref: MemRef, dim: int) -> int | np.ndarray:
    """Extent of a dim. Raises SimError where a pointer gives none."""
    extent = memref.shape[dim]
    if extent is None:
        raise SimError("unsupported", "the extent of a memref made from a pointer is not known")
    return extent


@handles("memref.collapse_shape")
def _collapse(c: Compiler, op: ir.Operation) -> None:
    source, groups = (
        c.use(op.operands[0]),
        [list(ir.ArrayAttr(g)) for g in ir.ArrayAttr(op.attributes["reassociation"])],
    )
    numbers = [[int(ir.IntegerAttr(i).value) for i in g] for g in groups]
    c.define(op.results[0])
    _keep_roots(c, op)
    result = c.use(op.results[0])

    def step(cohort: Cohort) -> None:
        base: MemRef = cohort.env[source]
        shape, strides = [], []
        for dims in numbers:
            extent: int | np.ndarray = 1
            for dim in dims:
                extent = np.multiply(extent, known_extent(base, dim))
            shape.append(extent)
            strides.append(base.strides[dims[-1]])
        cohort.env[result] = replace(base, shape=tuple(shape), strides=tuple(strides))

    c.emit(step)


@handles("memref.alloca", "memref.alloc")
def _alloca(c: Compiler, op: ir.Operation) -> None:
    kind = ir.MemRefType(op.results[0].type)
    if DYNAMIC in kind.shape:
        raise c.unsupported("allocations of run-time size")
    space = "LDS" if "workgroup" in str(kind.memory_space) else "private"
    if op.name == "memref.alloc" and space == "private" and "private" not in str(kind.memory_space):
        raise c.unsupported("allocations in global memory; pass the buffer as an argument")
    slot = c.new_slot()
    c.program.storages.append(Private(slot, f"{space} array", kind, space, c.info))
    c._scope[0].append(slot)
    c.alias(op.results[0], slot)
    c.set_roots(op.results[0], set())


@handles("memref.dealloc", "memref.prefetch", "memref.distinct_objects")
def _nothing(c: Compiler, op: ir.Operation) -> None:
    for value, result in zip(op.operands, op.results, strict=False):
        c.alias(result, c.use(value))


@handles("memref.dim")
def _dim(c: Compiler, op: ir.Operation) -> None:
    source, number = c.use(op.operands[0]), c.use(op.operands[1])
    result = c.define(op.results[0])

    def step(cohort: Cohort) -> None:
        extent = cohort.env[source].shape[int(cohort.env[number].flat[0])]
        cohort.env[result] = np.array([[extent]], dtype=np.int64) if isinstance(extent, int) else extent

    c.emit(step)


@handles("memref.extract_strided_metadata")
def _metadata(c: Compiler, op: ir.Operation) -> None:
    source = c.use(op.operands[0])
    base_out, offset_out, *rest = (c.define(v) for v in op.results)
    _keep_roots(c, op)
    rank = len(rest) // 2

    def as_array(value: int | np.ndarray | None) -> np.ndarray:
        if value is None:
            raise c.unsupported("the extent is not known")
        return np.atleast_2d(np.asarray(value, dtype=np.int64))

    def step(cohort: Cohort) -> None:
        env = cohort.env
        ref: MemRef = env[source]
        env[base_out] = replace(ref, base=np.zeros((1, 1), dtype=np.int64), shape=(), strides=())
        env[offset_out] = ref.base // ref.dtype.size
        for dim in range(rank):
            env[rest[dim]] = as_array(ref.shape[dim])
            env[rest[rank + dim]] = as_array(ref.strides[dim])

    c.emit(step)
