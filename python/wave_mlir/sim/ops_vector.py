"""vector operations on registers. A value is (waves or 1, lanes or 1, *dims); vector dims are never narrowed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from mlir import ir

from .cohort import Cohort
from .dtypes import DType, from_bytes, to_bytes, unsigned
from .ops_arith import FLOAT_OPS
from .ops_casts import emit_unary
from .program import Compiler, handles


def lead(*values: np.ndarray) -> tuple[int, int]:
    """Common (waves, lanes) shape of values."""
    w, n = np.broadcast_shapes(*(v.shape[:2] for v in values))
    return w, n


def full(values: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Values with their (waves, lanes) broadcast."""
    return np.broadcast_to(values, (*shape, *values.shape[2:]))


def _integers(op: ir.Operation, name: str) -> list[int]:
    attribute = op.attributes[name]
    if isinstance(attribute, ir.DenseI64ArrayAttr):
        return list(ir.DenseI64ArrayAttr(attribute))
    return [int(ir.IntegerAttr(a).value) for a in ir.ArrayAttr(attribute)]


@handles("vector.broadcast")
def _broadcast(c: Compiler, op: ir.Operation) -> None:
    source, target = c.shape(op.operands[0]), c.shape(op.results[0])
    grown = (1,) * (len(target) - len(source)) + source
    emit_unary(c, op, lambda a: np.broadcast_to(a.reshape(*a.shape[:2], *grown), (*a.shape[:2], *target)))


@handles("vector.shape_cast")
def _shape_cast(c: Compiler, op: ir.Operation) -> None:
    target = c.shape(op.results[0])
    emit_unary(c, op, lambda a: a.reshape(*a.shape[:2], *target))


@handles("vector.transpose")
def _transpose(c: Compiler, op: ir.Operation) -> None:
    order = (0, 1, *(2 + p for p in _integers(op, "permutation")))
    emit_unary(c, op, lambda a: a.transpose(order))


@handles("vector.bitcast")
def _bitcast(c: Compiler, op: ir.Operation) -> None:
    source, target = c.dtype(op.operands[0]), c.dtype(op.results[0])
    emit_unary(c, op, lambda a: from_bytes(to_bytes(a, source), target))


class _Position:
    """A position with static and dynamic parts."""

    def __init__(self, c: Compiler, op: ir.Operation, dynamic: list[ir.Value]) -> None:
        slots = iter([c.use(v) for v in dynamic])
        marker = ir.ShapedType.get_dynamic_size()
        self.parts: list[int | tuple[int]] = [
            (next(slots),) if p == marker else p for p in _integers(op, "static_position")
        ]
        self.static = tuple(p for p in self.parts if isinstance(p, int))
        self.is_static = len(self.static) == len(self.parts)

    def pick(self, cohort: Cohort, lanes: tuple[int, int]) -> tuple[np.ndarray, ...]:
        """Index arrays that pick one place per wave and lane."""
        places = [np.arange(lanes[0])[:, None], np.arange(lanes[1])[None, :]]
        for part in self.parts:
            places.append(np.full((1, 1), part) if isinstance(part, int) else cohort.env[part[0]])
        return tuple(np.broadcast_arrays(*places))

    def shape(self, cohort: Cohort) -> tuple[int, int]:
        return lead(*(cohort.env[p[0]] for p in self.parts if not isinstance(p, int)))


@handles("vector.extract")
def _extract(c: Compiler, op: ir.Operation) -> None:
    source, *dynamic = op.operands
    position = _Position(c, op, dynamic)
    if position.is_static:
        place = (slice(None), slice(None), *position.static)
        emit_unary(c, op, lambda a: a[place])
        return
    slot, result = c.use(source), c.define(op.results[0])

    def step(cohort: Cohort) -> None:
        values = cohort.env[slot]
        lanes = np.broadcast_shapes(values.shape[:2], position.shape(cohort))
        cohort.env[result] = full(values, lanes)[position.pick(cohort, lanes)]  # type: ignore[arg-type]

    c.emit(step)


@handles("vector.insert")
def _insert(c: Compiler, op: ir.Operation) -> None:
    value_in, target_in, *dynamic = op.operands
    position = _Position(c, op, dynamic)
    value, target, result = c.use(value_in), c.use(target_in), c.define(op.results[0])

    def step(cohort: Cohort) -> None:
        new, old = cohort.env[value], cohort.env[target]
        lanes = lead(new, old)
        if position.is_static:
            out = full(old, lanes).copy()
            out[(slice(None), slice(None), *position.static)] = new
        else:
            lanes = np.broadcast_shapes(lanes, position.shape(cohort))
            out = full(old, lanes).copy()
            out[position.pick(cohort, lanes)] = full(new, lanes)  # type: ignore[arg-type]
        cohort.env[result] = out

    c.emit(step)


@handles("vector.scalable.extract", "vector.scalable.insert", "vector.vscale")
def _scalable(c: Compiler, op: ir.Operation) -> None:
    raise c.unsupported("scalable vectors are not modelled")


def _slices(op: ir.Operation, rank: int, sizes: list[int]) -> tuple[slice, ...]:
    starts, steps = _integers(op, "offsets"), _integers(op, "strides")
    cut = [slice(s, s + (n - 1) * t + 1, t) for s, n, t in zip(starts, sizes, steps, strict=False)]
    return (slice(None), slice(None), *cut, *[slice(None)] * (rank - len(cut)))


@handles("vector.extract_strided_slice")
def _extract_slice(c: Compiler, op: ir.Operation) -> None:
    place = _slices(op, len(c.shape(op.operands[0])), _integers(op, "sizes"))
    emit_unary(c, op, lambda a: a[place])


@handles("vector.insert_strided_slice")
def _insert_slice(c: Compiler, op: ir.Operation) -> None:
    value, target, result = c.use(op.operands[0]), c.use(op.operands[1]), c.define(op.results[0])
    inner, outer = c.shape(op.operands[0]), c.shape(op.operands[1])
    missing = len(outer) - len(inner)
    starts = _integers(op, "offsets")
    steps = [1] * missing + _integers(op, "strides")
    sizes = [1] * missing + list(inner)
    place = (
        slice(None),
        slice(None),
        *(slice(s, s + (n - 1) * t + 1, t) for s, n, t in zip(starts, sizes, steps, strict=True)),
    )

    def step(cohort: Cohort) -> None:
        new, old = cohort.env[value], cohort.env[target]
        lanes = lead(new, old)
        out = full(old, lanes).copy()
        out[place] = new.reshape(*new.shape[:2], *sizes)
        cohort.env[result] = out

    c.emit(step)


@handles("vector.shuffle")
def _shuffle(c: Compiler, op: ir.Operation) -> None:
    a, b, result = c.use(op.operands[0]), c.use(op.operands[1]), c.define(op.results[0])
    picks = np.array([max(i, 0) for i in _integers(op, "mask")])
    scalar = not c.shape(op.operands[0])

    def step(cohort: Cohort) -> None:
        first, second = cohort.env[a], cohort.env[b]
        if scalar:
            first, second = first[..., None], second[..., None]
        lanes = lead(first, second)
        cohort.env[result] = np.concatenate([full(first, lanes), full(second, lanes)], axis=2)[:, :, picks]

    c.emit(step)


@handles("vector.from_elements")
def _from_elements(c: Compiler, op: ir.Operation) -> None:
    slots, result, target = [c.use(v) for v in op.operands], c.define(op.results[0]), c.shape(op.results[0])

    def step(cohort: Cohort) -> None:
        parts = [cohort.env[s] for s in slots]
        lanes = lead(*parts)
        cohort.env[result] = np.stack([full(p, lanes) for p in parts], axis=-1).reshape(*lanes, *target)

    c.emit(step)


@handles("vector.to_elements")
def _to_elements(c: Compiler, op: ir.Operation) -> None:
    source, results = c.use(op.operands[0]), [c.define(v) for v in op.results]

    def step(cohort: Cohort) -> None:
        values = cohort.env[source]
        flat = values.reshape(*values.shape[:2], -1)
        for number, slot in enumerate(results):
            cohort.env[slot] = flat[..., number]

    c.emit(step)


@handles("vector.interleave")
def _interleave(c: Compiler, op: ir.Operation) -> None:
    a, b, result = c.use(op.operands[0]), c.use(op.operands[1]), c.define(op.results[0])
    target = c.shape(op.results[0])

    def step(cohort: Cohort) -> None:
        first, second = cohort.env[a], cohort.env[b]
        lanes = lead(first, second)
        cohort.env[result] = np.stack([full(first, lanes), full(second, lanes)], axis=-1).reshape(*lanes, *target)

    c.emit(step)


@handles("vector.deinterleave")
def _deinterleave(c: Compiler, op: ir.Operation) -> None:
    source, even, odd = c.use(op.operands[0]), c.define(op.results[0]), c.define(op.results[1])

    def step(cohort: Cohort) -> None:
        values = cohort.env[source]
        cohort.env[even], cohort.env[odd] = values[..., 0::2], values[..., 1::2]

    c.emit(step)


@handles("vector.step")
def _step(c: Compiler, op: ir.Operation) -> None:
    (count,) = c.shape(op.results[0])
    c.alias(op.results[0], c.constant(np.arange(count, dtype=np.int64).reshape(1, 1, count)))


@handles("vector.constant_mask")
def _constant_mask(c: Compiler, op: ir.Operation) -> None:
    target, sizes = c.shape(op.results[0]), _integers(op, "mask_dim_sizes")
    mask = np.zeros((1, 1, *target), dtype=bool)
    mask[(slice(None), slice(None), *(slice(0, s) for s in sizes))] = True
    c.alias(op.results[0], c.constant(mask))


@handles("vector.create_mask")
def _create_mask(c: Compiler, op: ir.Operation) -> None:
    slots, result, target = [c.use(v) for v in op.operands], c.define(op.results[0]), c.shape(op.results[0])
    rank = len(target)
    axes = [np.arange(n).reshape(1, 1, *(n if i == d else 1 for i in range(rank))) for d, n in enumerate(target)]

    def step(cohort: Cohort) -> None:
        out = np.ones((1, 1, *target), dtype=bool)
        for slot, axis in zip(slots, axes, strict=True):
            bound = cohort.env[slot]
            out = out & (axis < bound.reshape(*bound.shape[:2], *(1,) * rank))
        cohort.env[result] = out

    c.emit(step)


@handles("vector.fma")
def _fma(c: Compiler, op: ir.Operation) -> None:
    from .ops_math import fused_multiply_add

    a, b, d = (c.use(v) for v in op.operands)
    result = c.define(op.results[0])

    def step(cohort: Cohort) -> None:
        env = cohort.env
        env[result] = fused_multiply_add(env[a], env[b], env[d])

    c.emit(step)


# ---------------------------------------------------------------------------------------------------------- reductions

Combine = Callable[[np.ndarray, np.ndarray], np.ndarray]


def combiner(kind: str, dtype: DType) -> Combine:
    """The two-operand function of a vector or gpu reduction kind, in the element type."""
    if dtype.is_float:
        names = {
            "add": "addf",
            "mul": "mulf",
            "minimumf": "minimumf",
            "maximumf": "maximumf",
            "minnumf": "minnumf",
            "maxnumf": "maxnumf",
        }
        return FLOAT_OPS[names[kind]]
    if dtype.np == np.bool_ and kind in ("add", "mul", "minui", "maxui"):
        return {"add": np.logical_xor, "mul": np.logical_and, "minui": np.logical_and, "maxui": np.logical_or}[kind]
    plain: dict[str, Combine] = {
        "add": np.add,
        "mul": np.multiply,
        "and": np.bitwise_and,
        "or": np.bitwise_or,
        "xor": np.bitwise_xor,
        "minsi": np.minimum,
        "maxsi": np.maximum,
    }
    if kind in plain:
        return plain[kind]
    choose = np.minimum if kind == "minui" else np.maximum
    return lambda a, b: choose(unsigned(a, dtype), unsigned(b, dtype)).astype(dtype.np)


def combining_kind(op: ir.Operation, name: str) -> str:
    """`add` of `#vector.kind<add>` or `#gpu<all_reduce_op add>`."""
    return str(op.attributes[name]).removesuffix(">").replace("<", " ").split()[-1]


def _fold(values: np.ndarray, axis: int, start: np.ndarray | None, combine: Combine) -> np.ndarray:
    parts = [values.take(i, axis=axis) for i in range(values.shape[axis])]
    total = parts.pop(0) if start is None else start
    for part in parts:
        total = combine(total, part)
    return total


@handles("vector.reduction")
def _reduction(c: Compiler, op: ir.Operation) -> None:
    combine = combiner(combining_kind(op, "kind"), c.dtype(op.operands[0]))
    source, result = c.use(op.operands[0]), c.define(op.results[0])
    start = c.use(op.operands[1]) if len(op.operands) > 1 else None

    def step(cohort: Cohort) -> None:
        env = cohort.env
        env[result] = _fold(env[source], 2, None if start is None else env[start], combine)

    c.emit(step)


@handles("vector.multi_reduction")
def _multi_reduction(c: Compiler, op: ir.Operation) -> None:
    combine = combiner(combining_kind(op, "kind"), c.dtype(op.operands[0]))
    source, start, result = c.use(op.operands[0]), c.use(op.operands[1]), c.define(op.results[0])
    dims = sorted(_integers(op, "reduction_dims"), reverse=True)

    def step(cohort: Cohort) -> None:
        env = cohort.env
        values = env[source]
        for dim in dims:
            values = _fold(values, 2 + dim, None, combine)
        env[result] = combine(env[start], values)

    c.emit(step)
