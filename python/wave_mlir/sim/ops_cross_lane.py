"""Exchange between the lanes of a wave: gpu.shuffle and reductions, amdgpu.dpp, swizzles, permlane swaps."""

from __future__ import annotations

import numpy as np
from mlir import ir

from .cohort import Cohort
from .ops_gpu import emit_barrier
from .ops_vector import Combine, combiner, combining_kind
from .program import Compiler, handles


def from_lanes(cohort: Cohort, values: np.ndarray, source: np.ndarray) -> np.ndarray:
    """values of lane source[w, l] for each lane l; source: (waves or 1, lanes)."""
    if values.shape[1] == 1:
        return values
    if source.shape[0] == 1:
        return values[:, source[0]]
    full = np.broadcast_to(values, (cohort.size, *values.shape[1:]))
    return full[np.arange(cohort.size)[:, None], np.broadcast_to(source, (cohort.size, source.shape[1]))]


def per_lane(mask: np.ndarray, values: np.ndarray) -> np.ndarray:
    """A (waves, lanes) mask shaped to go with values."""
    return mask.reshape(*mask.shape, *(1,) * (values.ndim - 2))


@handles("gpu.shuffle")
def _shuffle(c: Compiler, op: ir.Operation) -> None:
    """Lanes whose source is outside their segment of `width` keep their own value and get valid = false."""
    value, offset, width = (c.use(v) for v in op.operands)
    result, valid = c.define(op.results[0]), c.define(op.results[1])
    mode = str(op.attributes["mode"]).removesuffix(">").split()[-1]
    lane = np.arange(c.lanes, dtype=np.int64)[None, :]
    moves = {
        "xor": lambda by: lane ^ by,
        "up": lambda by: lane - by,
        "down": lambda by: lane + by,
        "idx": lambda by: by,
    }

    def step(cohort: Cohort) -> None:
        env = cohort.env
        by, size = env[offset].astype(np.int64), env[width].astype(np.int64)
        end = (lane + size) // size * size
        start = end - size
        source = moves[mode](by)
        inside = (source >= (0 if mode == "idx" else start)) & (source < end)
        source = np.where(inside & (source >= 0) & (source < c.lanes), source, lane)
        env[result] = from_lanes(cohort, env[value], source)
        env[valid] = inside

    c.emit(step)


@handles("gpu.rotate")
def _rotate(c: Compiler, op: ir.Operation) -> None:
    value = c.use(op.operands[0])
    result, valid = c.define(op.results[0]), c.define(op.results[1])
    by, width = c.integer(op, "offset"), c.integer(op, "width")
    lane = np.arange(c.lanes, dtype=np.int64)[None, :]
    source = np.where(lane < width, (lane + by) % width, lane)
    inside = lane < width

    def step(cohort: Cohort) -> None:
        cohort.env[result] = from_lanes(cohort, cohort.env[value], source)
        cohort.env[valid] = inside

    c.emit(step)


def first_active(cohort: Cohort) -> np.ndarray:
    """First active lane of each wave, (waves or 1, 1); 0 where none is."""
    if cohort.mask is None:
        return np.zeros((1, 1), dtype=np.int64)
    return np.argmax(np.broadcast_to(cohort.mask, (cohort.size, cohort.mask.shape[1])), axis=1)[:, None]


@handles("gpu.subgroup_broadcast", "rocdl.readfirstlane", "rocdl.readlane")
def _broadcast(c: Compiler, op: ir.Operation) -> None:
    value, result = c.use(op.operands[0]), c.define(op.results[0])
    lane = c.use(op.operands[1]) if len(op.operands) > 1 else None

    def step(cohort: Cohort) -> None:
        source = first_active(cohort) if lane is None else cohort.env[lane].astype(np.int64) % c.lanes
        if source.shape[1] > 1:  # the lane number is uniform on hardware: that of the first active lane
            source = np.take_along_axis(source, np.broadcast_to(first_active(cohort), (source.shape[0], 1)), axis=1)
        cohort.env[result] = from_lanes(cohort, cohort.env[value], source)

    c.emit(step)


# ---------------------------------------------------------------------------------------------------------- reductions


def _tree(values: np.ndarray, present: np.ndarray, axis: int, combine: Combine) -> tuple[np.ndarray, np.ndarray]:
    """Combine along an axis, pairwise; `present` says which entries count."""
    while values.shape[axis] > 1:
        count = values.shape[axis]
        half = (count + 1) // 2
        index = [slice(None)] * values.ndim
        low, high = list(index), list(index)
        low[axis], high[axis] = slice(0, count - half), slice(half, count)
        mid = list(index)
        mid[axis] = slice(count - half, half)
        a, b = values[tuple(low)], values[tuple(high)]
        has_a, has_b = present[tuple(low)], present[tuple(high)]
        joined = np.where(has_a & has_b, combine(a, b), np.where(has_a, a, b))
        values = np.concatenate([joined, values[tuple(mid)]], axis=axis)
        present = np.concatenate([has_a | has_b, present[tuple(mid)]], axis=axis)
    return values, present


def _active(cohort: Cohort, lanes: int) -> np.ndarray:
    mask = np.ones((1, lanes), dtype=bool) if cohort.mask is None else cohort.mask
    return np.broadcast_to(mask, (cohort.size, lanes))


@handles("gpu.subgroup_reduce")
def _subgroup_reduce(c: Compiler, op: ir.Operation) -> None:
    """Over the active lanes of each cluster (lanes l, l+stride, …), pairwise."""
    combine = combiner(combining_kind(op, "op"), c.dtype(op.operands[0]))
    value, result, lanes = c.use(op.operands[0]), c.define(op.results[0]), c.lanes
    size, stride = c.integer(op, "cluster_size", lanes), c.integer(op, "cluster_stride", 1)

    def step(cohort: Cohort) -> None:
        source = cohort.env[value]
        full = np.broadcast_to(source, (cohort.size, lanes, *source.shape[2:]))
        grouped = full.reshape(cohort.size, lanes // (size * stride), size, stride, *source.shape[2:])
        present = per_lane(_active(cohort, lanes), source).reshape(
            cohort.size, lanes // (size * stride), size, stride, *(1,) * (source.ndim - 2)
        )
        total, _ = _tree(grouped, present, 2, combine)
        cohort.env[result] = np.broadcast_to(total, grouped.shape).reshape(full.shape)

    c.emit(step)


@handles("gpu.all_reduce")
def _all_reduce(c: Compiler, op: ir.Operation) -> None:
    """Over all active lanes of the workgroup; has a barrier in it."""
    if list(op.regions[0].blocks):
        raise c.unsupported("a reduction region; use the op attribute")
    combine = combiner(combining_kind(op, "op"), c.dtype(op.operands[0]))
    value, result, lanes = c.use(op.operands[0]), c.define(op.results[0]), c.lanes
    info = c.info
    assert info is not None

    def give(cohort: Cohort) -> None:
        source = cohort.env[value]
        full = np.broadcast_to(source, (cohort.size, lanes, *source.shape[2:]))
        total, present = _tree(full, per_lane(_active(cohort, lanes), full), 1, combine)
        exchange = cohort.machine.exchange
        if info.number not in exchange:
            shape = (cohort.machine.waves, *total.shape[2:])
            exchange[info.number] = (np.zeros(shape, full.dtype), np.zeros((shape[0], *(1,) * len(shape[1:])), bool))
        values, has = exchange[info.number]
        values[cohort.waves], has[cohort.waves] = total[:, 0], present[:, 0]

    def collect(cohort: Cohort) -> None:
        values, has = cohort.machine.exchange[info.number]
        per = cohort.machine.geometry.waves_per_group
        mates = cohort.group * per + np.arange(per)
        total, _ = _tree(values[mates], has[mates], 1, combine)
        cohort.env[result] = total

    c.emit(give)
    emit_barrier(c, ("ds",))
    c.emit(collect)
    emit_barrier(c, ("ds",))


# ----------------------------------------------------------------------------------------------------------------- DPP


def dpp_sources(kind: str, argument: object, lanes: int) -> tuple[np.ndarray, np.ndarray]:
    """Source lane of each lane, and whether there is one, for a DPP control (AMD's ISA documents, "DPP").

    argument: four numbers of quad_perm, the distance of a shift or rotate, the lane of row_share, row_xmask's mask.
    """
    lane = np.arange(lanes)
    row, place = lane // 16 * 16, lane % 16
    always = np.ones(lanes, dtype=bool)
    if kind == "quad_perm":
        return lane // 4 * 4 + np.array(argument)[lane % 4], always
    distance = int(argument) if isinstance(argument, int) else 1
    simple = {
        "row_mirror": row + 15 - place,
        "row_half_mirror": lane // 8 * 8 + 7 - lane % 8,
        "row_ror": row + (place - distance) % 16,
        "wave_ror": (lane - 1) % lanes,
        "wave_rol": (lane + 1) % lanes,
        "row_share": row + distance % 16,
        "row_xmask": row + (place ^ distance % 16),
    }
    if kind in simple:
        return simple[kind], always
    source, valid = {
        "row_shl": (lane + distance, place + distance < 16),
        "row_shr": (lane - distance, place >= distance),
        "wave_shl": (lane + 1, lane + 1 < lanes),
        "wave_shr": (lane - 1, lane >= 1),
        "row_bcast_15": (row - 1, row > 0),
        "row_bcast_31": (np.full(lanes, 31), lane >= 32),
    }[kind]
    return np.where(valid, source, lane), valid


def emit_dpp(c: Compiler, op: ir.Operation, kind: str, argument: object) -> None:
    """The result of a DPP move: `old` where the row or bank is off, or the source is missing (0 with bound_ctrl)."""
    old, source, result = c.use(op.operands[0]), c.use(op.operands[1]), c.define(op.results[0])
    lanes = c.lanes
    where, exists = dpp_sources(kind, argument, lanes)
    lane = np.arange(lanes)
    row_mask, bank_mask = (c.integer(op, names, 15) for names in _mask_names(op))
    enabled = (((row_mask >> lane // 16) & 1) & ((bank_mask >> lane % 16 // 4) & 1)).astype(bool)[None, :]
    zero_fill = c.flag(op, "bound_ctrl") if op.name.startswith("amdgpu") else c.flag(op, "boundCtrl")

    def step(cohort: Cohort) -> None:
        env = cohort.env
        values, kept = env[source], env[old]
        shape = np.broadcast_shapes(values.shape, kept.shape, (1, lanes) + (1,) * (values.ndim - 2))
        values = np.broadcast_to(values, shape)
        moved = values[:, where]
        valid = exists[None, :] & _active(cohort, lanes)[:, where]
        missing = np.zeros((), dtype=values.dtype) if zero_fill else kept
        moved = np.where(per_lane(valid, moved), moved, missing)
        env[result] = np.where(per_lane(enabled, moved), moved, kept)

    c.emit(step)


def _mask_names(op: ir.Operation) -> tuple[str, str]:
    return ("row_mask", "bank_mask") if op.name.startswith("amdgpu") else ("rowMask", "bankMask")


@handles("amdgpu.dpp")
def _dpp(c: Compiler, op: ir.Operation) -> None:
    kind = str(op.attributes["kind"]).removesuffix(">").split()[-1]
    argument: object = None
    if "permArgument" in op.attributes:
        attribute = op.attributes["permArgument"]
        if isinstance(attribute, ir.ArrayAttr):
            argument = [int(ir.IntegerAttr(a).value) for a in attribute]
        elif isinstance(attribute, ir.IntegerAttr):
            argument = int(attribute.value)
    emit_dpp(c, op, kind, argument)


# -------------------------------------------------------------------------------------------------- swizzles, permlane


def swizzle_sources(and_mask: int, or_mask: int, xor_mask: int, lanes: int) -> np.ndarray:
    """Source lanes of ds_swizzle's bit mode: within each 32 lanes, ((lane & and) | or) ^ xor."""
    lane = np.arange(lanes)
    return lane // 32 * 32 + ((((lane % 32) & and_mask) | or_mask) ^ xor_mask) % 32


def emit_lanes(c: Compiler, op: ir.Operation, source: np.ndarray) -> None:
    """result = operand 0 of lane source[l]; a source that is not active gives 0."""
    value, result = c.use(op.operands[0]), c.define(op.results[0])

    def step(cohort: Cohort) -> None:
        moved = from_lanes(cohort, cohort.env[value], source[None, :])
        if cohort.mask is not None:
            valid = _active(cohort, c.lanes)[:, source]
            moved = np.where(per_lane(valid, moved), moved, np.zeros((), dtype=moved.dtype))
        cohort.env[result] = moved

    c.emit(step)


@handles("amdgpu.swizzle_bitmode")
def _swizzle(c: Compiler, op: ir.Operation) -> None:
    masks = [c.integer(op, name) for name in ("and_mask", "or_mask", "xor_mask")]
    emit_lanes(c, op, swizzle_sources(masks[0], masks[1], masks[2], c.lanes))


@handles("amdgpu.permlane_swap")
def _permlane_swap(c: Compiler, op: ir.Operation) -> None:
    emit_lanes(c, op, np.arange(c.lanes) ^ c.integer(op, "row_length"))
