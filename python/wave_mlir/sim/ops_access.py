"""Loads and stores: memref.load/store, vector.load/store, masked forms, gather, scatter, 1-D transfers, atomics."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from mlir import ir

from . import access
from .access import Plan
from .cohort import Cohort
from .dtypes import DType
from .memory import MemRef
from .program import Compiler, handles
from .waits import ATOMIC


def plan_for(c: Compiler, op: ir.Operation, dtype: DType, count: int) -> Plan:
    """The plan of the current operation's access of `count` elements."""
    assert c.info is not None
    if dtype.packed:
        raise c.unsupported(f"memory of {dtype.name}; keep packed types as i8 in memory and use vector.bitcast")
    return Plan(c.info, dtype, count, c.integer(op, "alignment", 0))


def _count(shape: tuple[int, ...]) -> int:
    return int(np.prod(shape, dtype=np.int64)) if shape else 1


@handles("memref.load", "vector.load")
def _load(c: Compiler, op: ir.Operation) -> None:
    source, *index_values = op.operands
    shape = c.shape(op.results[0])
    if len(shape) > 1:
        raise c.unsupported("loads of vectors of more than one dim; split them")
    c.note_access(source, reads=True, writes=False)
    plan = plan_for(c, op, c.dtype(source), _count(shape))
    memref, indices, result = c.use(source), [c.use(v) for v in index_values], c.define(op.results[0])
    scalar, condition = not shape, _condition_of(op)
    wanted = None if condition is None else c.use(condition)

    def step(cohort: Cohort) -> None:
        env = cohort.env
        used = None if wanted is None else env[wanted].astype(bool)
        value = access.load(cohort, plan, env[memref], [env[i] for i in indices], wanted=used)
        env[result] = value[..., 0] if scalar else value

    c.emit(step)


def _condition_of(op: ir.Operation) -> ir.Value | None:
    """The condition of a masked load from global memory, `select(c, load[select(c, i, j)], other)`: what it reads
    elsewhere drops. (In LDS the barriers have to hold for what is read elsewhere too.)"""
    if "workgroup" in str(ir.MemRefType(op.operands[0].type).memory_space):
        return None
    uses = list(op.results[0].uses)
    if len(uses) != 1 or len(op.operands) < 2:
        return None
    taken, chosen = uses[0].owner.operation, op.operands[len(op.operands) - 1].owner
    if taken.name != "arith.select" or not isinstance(chosen, ir.OpView | ir.Operation):
        return None
    condition = taken.operands[0]
    drops = taken.operands[1] == op.results[0] and taken.operands[2] != op.results[0]
    same = chosen.operation.name == "arith.select" and chosen.operation.operands[0] == condition
    return condition if drops and same and not isinstance(condition.type, ir.VectorType) else None


@handles("memref.store", "vector.store")
def _store(c: Compiler, op: ir.Operation) -> None:
    value_in, target, *index_values = op.operands
    shape = c.shape(value_in)
    if len(shape) > 1:
        raise c.unsupported("stores of vectors of more than one dim; split them")
    c.note_access(target, reads=False, writes=True)
    plan = plan_for(c, op, c.dtype(target), _count(shape))
    value, memref, indices = c.use(value_in), c.use(target), [c.use(v) for v in index_values]
    scalar = not shape

    def step(cohort: Cohort) -> None:
        env = cohort.env
        data = env[value]
        access.store(cohort, plan, env[memref], [env[i] for i in indices], data[..., None] if scalar else data)

    c.emit(step)


class _Elements:
    """Element-wise access of a vector: each element has its own mask and may have its own index."""

    def __init__(self, c: Compiler, op: ir.Operation, memref: ir.Value, indices: list[ir.Value]) -> None:
        self.plan = plan_for(c, op, c.dtype(memref), 1)
        self.plan.alignment = 0
        self.memref = c.use(memref)
        self.indices = [c.use(v) for v in indices]

    def load(self, cohort: Cohort, mask: np.ndarray, steps: np.ndarray, fill: np.ndarray) -> np.ndarray:
        """mask, fill: (…, …, n); steps: (…, …, n) element offsets along the last dim."""
        env = cohort.env
        memref: MemRef = env[self.memref]
        indices = [env[i] for i in self.indices]
        pieces = []
        for element in range(fill.shape[2]):
            here = [*indices[:-1], indices[-1] + steps[..., element]]
            lanes = mask[..., element]
            if not lanes.any():
                pieces.append(fill[..., element])
                continue
            value = access.load(cohort, self.plan, memref, here, lanes)[..., 0]
            pieces.append(np.where(lanes, value, fill[..., element]))
        shape = np.broadcast_shapes(*(p.shape for p in pieces))
        return np.stack([np.broadcast_to(p, shape) for p in pieces], axis=-1)

    def store(self, cohort: Cohort, mask: np.ndarray, steps: np.ndarray, values: np.ndarray) -> None:
        env = cohort.env
        memref: MemRef = env[self.memref]
        indices = [env[i] for i in self.indices]
        for element in range(values.shape[2]):
            lanes = mask[..., element]
            if lanes.any():
                here = [*indices[:-1], indices[-1] + steps[..., element]]
                access.store(cohort, self.plan, memref, here, values[..., element : element + 1], lanes)


def _steps(count: int) -> np.ndarray:
    return np.arange(count, dtype=np.int64).reshape(1, 1, count)


@handles("vector.maskedload")
def _masked_load(c: Compiler, op: ir.Operation) -> None:
    source, *rest = op.operands
    *index_values, mask_in, fill_in = rest
    c.note_access(source, reads=True, writes=False)
    elements = _Elements(c, op, source, index_values)
    whole = plan_for(c, op, c.dtype(source), c.shape(op.results[0])[0])
    mask, fill, result = c.use(mask_in), c.use(fill_in), c.define(op.results[0])
    steps = _steps(whole.count)

    def step(cohort: Cohort) -> None:
        env = cohort.env
        bits = env[mask]
        lanes = bits[..., 0]
        if (bits == lanes[..., None]).all():  # whole vectors are in or out
            value = access.load(cohort, whole, env[elements.memref], [env[i] for i in elements.indices], lanes)
            env[result] = value if lanes.all() else np.where(bits, value, env[fill])
            return
        env[result] = elements.load(cohort, bits, steps, env[fill])

    c.emit(step)


@handles("vector.maskedstore")
def _masked_store(c: Compiler, op: ir.Operation) -> None:
    target, *rest = op.operands
    *index_values, mask_in, value_in = rest
    c.note_access(target, reads=False, writes=True)
    elements = _Elements(c, op, target, index_values)
    whole = plan_for(c, op, c.dtype(target), c.shape(value_in)[0])
    mask, value = c.use(mask_in), c.use(value_in)
    steps = _steps(whole.count)

    def step(cohort: Cohort) -> None:
        env = cohort.env
        bits = env[mask]
        lanes = bits[..., 0]
        if (bits == lanes[..., None]).all():
            access.store(cohort, whole, env[elements.memref], [env[i] for i in elements.indices], env[value], lanes)
            return
        elements.store(cohort, bits, steps, env[value])

    c.emit(step)


@handles("vector.gather")
def _gather(c: Compiler, op: ir.Operation) -> None:
    source, *rest = op.operands
    *index_values, steps_in, mask_in, fill_in = rest
    if len(c.shape(op.results[0])) != 1:
        raise c.unsupported("gathers of vectors of more than one dim; split them")
    c.note_access(source, reads=True, writes=False)
    elements = _Elements(c, op, source, index_values)
    steps, mask, fill, result = c.use(steps_in), c.use(mask_in), c.use(fill_in), c.define(op.results[0])

    def step(cohort: Cohort) -> None:
        env = cohort.env
        env[result] = elements.load(cohort, env[mask], env[steps].astype(np.int64), env[fill])

    c.emit(step)


@handles("vector.scatter")
def _scatter(c: Compiler, op: ir.Operation) -> None:
    target, *rest = op.operands
    *index_values, steps_in, mask_in, value_in = rest
    if len(c.shape(value_in)) != 1:
        raise c.unsupported("scatters of vectors of more than one dim; split them")
    c.note_access(target, reads=False, writes=True)
    elements = _Elements(c, op, target, index_values)
    steps, mask, value = c.use(steps_in), c.use(mask_in), c.use(value_in)

    def step(cohort: Cohort) -> None:
        env = cohort.env
        elements.store(cohort, env[mask], env[steps].astype(np.int64), env[value])

    c.emit(step)


@handles("vector.transfer_read", "vector.transfer_write")
def _transfer(c: Compiler, op: ir.Operation) -> None:
    """1-D transfers with a minor identity map: out-of-bounds elements read the padding, or are dropped."""
    groups = c.operand_groups(op)
    reads = op.name == "vector.transfer_read"
    if reads:
        (source,), index_values, (other,), masks = groups
        shape = c.shape(op.results[0])
    else:
        (other,), (source,), index_values, masks = groups
        shape = c.shape(other)
    rank = len(ir.MemRefType(source.type).shape)
    dims = ", ".join(f"d{i}" for i in range(rank))
    if len(shape) != 1 or str(op.attributes["permutation_map"]) != f"affine_map<({dims}) -> (d{rank - 1})>":
        raise c.unsupported("only 1-D transfers along the last dim are modelled")
    in_bounds = "true" in str(op.attributes["in_bounds"]) if "in_bounds" in op.attributes else False
    c.note_access(source, reads=reads, writes=not reads)
    elements = _Elements(c, op, source, list(index_values))
    mask = c.use(masks[0]) if masks else None
    data = c.define(op.results[0]) if reads else c.use(other)
    fill = c.use(other) if reads else -1
    steps = _steps(shape[0])

    def lanes_of(cohort: Cohort) -> np.ndarray:
        env = cohort.env
        last = env[elements.indices[-1]][..., None] + steps
        bits = np.ones((1, 1, shape[0]), dtype=bool) if mask is None else env[mask]
        if not in_bounds:
            extent = env[elements.memref].shape[-1]
            bound = extent[..., None] if isinstance(extent, np.ndarray) else extent
            bits = bits & (last >= 0) & (last < bound)
        return bits

    def read(cohort: Cohort) -> None:
        env = cohort.env
        filler = np.broadcast_to(env[fill][..., None], (*env[fill].shape, shape[0]))
        env[data] = elements.load(cohort, lanes_of(cohort), steps, filler)

    c.emit(read if reads else lambda cohort: elements.store(cohort, lanes_of(cohort), steps, cohort.env[data]))


# ------------------------------------------------------------------------------------------------------------- atomics

Combine = Callable[[np.ndarray, np.ndarray], np.ndarray]

ATOMIC_KINDS: dict[str, Combine] = {
    "addf": np.add,
    "addi": np.add,
    "mulf": np.multiply,
    "muli": np.multiply,
    "maximumf": np.maximum,
    "minimumf": np.minimum,
    "maxnumf": np.fmax,
    "minnumf": np.fmin,
    "maxs": np.maximum,
    "mins": np.minimum,
    "maxu": np.maximum,
    "minu": np.minimum,
    "andi": np.bitwise_and,
    "ori": np.bitwise_or,
    "xori": np.bitwise_xor,
    "assign": lambda old, new: new,
}
ATOMIC_ORDER = (
    "addf",
    "addi",
    "andi",
    "assign",
    "maximumf",
    "maxnumf",
    "maxs",
    "maxu",
    "minimumf",
    "minnumf",
    "mins",
    "minu",
    "mulf",
    "muli",
    "ori",
    "xori",
)
"""Names of arith::AtomicRMWKind by number."""


def atomic_update(
    cohort: Cohort,
    plan: Plan,
    memref: MemRef,
    at: np.ndarray,
    values: np.ndarray,
    combine: Combine,
    active: np.ndarray | None,
    as_unsigned: bool = False,
) -> np.ndarray:
    """Apply `combine(old, value)` lane by lane in order; the old values, (waves, lanes). The caller checked bounds."""
    storage = memref.storage
    machine = cohort.machine
    shape = (cohort.size, machine.lanes)
    lanes = np.ones(shape, dtype=bool) if active is None else np.broadcast_to(active, shape)
    flat = np.broadcast_to(access.flat_addresses(cohort, storage, np.where(lanes, at, 0)), shape)
    access.count_operation(cohort, plan, storage.space, lanes)
    access.record(cohort, plan, storage, flat, lanes, reads=True, writes=True, kind=ATOMIC)
    old = np.zeros(shape, dtype=plan.dtype.np)
    values = np.broadcast_to(values, shape)
    window = storage.window(plan.dtype.size)
    kind = np.dtype(f"u{plan.dtype.np.itemsize}") if as_unsigned else plan.dtype.np
    addresses, operands = flat[lanes], values[lanes]
    if operands.dtype.names is None:
        operands = operands.view(kind)
    results = np.empty(addresses.shape, dtype=plan.dtype.np)
    pending = np.arange(addresses.size)
    while pending.size:  # one round for each lane of the most contended address
        _, first = np.unique(addresses[pending], return_index=True)
        chosen = pending[first]
        before = window[addresses[chosen]].view(kind)
        after = np.asarray(combine(before, operands[chosen]), dtype=kind)
        if storage.turns is not None:
            storage.turns.note_change(before, after)
        window[addresses[chosen]] = after.view(window.dtype)
        results[chosen] = before.view(plan.dtype.np)
        pending = np.delete(pending, first)
    old[lanes] = results
    return old


@handles("memref.atomic_rmw")
def _atomic_rmw(c: Compiler, op: ir.Operation) -> None:
    value_in, target, *index_values = op.operands
    kind = ATOMIC_ORDER[c.integer(op, "kind")]
    c.note_access(target, reads=True, writes=True, atomic=True)
    plan = plan_for(c, op, c.dtype(target), 1)
    value, memref, indices = c.use(value_in), c.use(target), [c.use(v) for v in index_values]
    result = c.define(op.results[0])
    combine = ATOMIC_KINDS[kind]

    def step(cohort: Cohort) -> None:
        env = cohort.env
        ref: MemRef = env[memref]
        index = [env[i] for i in indices]
        at = access.offsets(ref, index)
        inside = access.in_range(ref, at, plan.size)
        active = access.mask_for(cohort, inside)
        if inside is None and "bounds" in cohort.machine.checks:
            access.check_bounds(cohort, plan, ref, index, at, active)
        if "alignment" in cohort.machine.checks:
            access.check_alignment(cohort, plan, ref.storage, at, active)
        env[result] = atomic_update(cohort, plan, ref, at, env[value], combine, active, kind in ("maxu", "minu"))

    c.emit(step)
