"""rocdl intrinsics that move data between lanes or compute; ids, barriers and waits are in ops_gpu."""

from __future__ import annotations

import numpy as np
from mlir import ir

from .cohort import Cohort
from .ops_casts import convert_float, emit_unary
from .ops_cross_lane import emit_dpp, emit_lanes, from_lanes, swizzle_sources
from .ops_math import FUNCTIONS
from .program import Compiler, handles


@handles("rocdl.update.dpp")
def _update_dpp(c: Compiler, op: ir.Operation) -> None:
    control = c.integer(op, "dppCtrl")
    if control < 0x100:
        emit_dpp(c, op, "quad_perm", [(control >> 2 * i) & 3 for i in range(4)])
        return
    ranged = {0x100: "row_shl", 0x110: "row_shr", 0x120: "row_ror", 0x150: "row_share", 0x160: "row_xmask"}
    single = {
        0x130: "wave_shl",
        0x134: "wave_rol",
        0x138: "wave_shr",
        0x13C: "wave_ror",
        0x140: "row_mirror",
        0x141: "row_half_mirror",
        0x142: "row_bcast_15",
        0x143: "row_bcast_31",
    }
    if control in single:
        emit_dpp(c, op, single[control], 1)
    elif control & ~15 in ranged:
        emit_dpp(c, op, ranged[control & ~15], control & 15)
    else:
        raise c.unsupported(f"dpp control {control:#x}")


@handles("rocdl.ds_swizzle")
def _ds_swizzle(c: Compiler, op: ir.Operation) -> None:
    offset = c.known_constant(op.operands[1])
    if offset is None:
        raise c.unsupported("the pattern must be a constant")
    offset &= 0xFFFF
    lane = np.arange(c.lanes)
    if offset & 0x8000:
        if offset & 0x7F00:
            raise c.unsupported(f"swizzle mode {offset:#x}")
        perm = np.array([(offset >> 2 * i) & 3 for i in range(4)])
        emit_lanes(c, op, lane // 4 * 4 + perm[lane % 4])
    else:
        emit_lanes(c, op, swizzle_sources(offset & 31, offset >> 5 & 31, offset >> 10 & 31, c.lanes))


@handles("rocdl.ds_bpermute")
def _bpermute(c: Compiler, op: ir.Operation) -> None:
    index, value, result = c.use(op.operands[0]), c.use(op.operands[1]), c.define(op.results[0])
    lanes = c.lanes

    def step(cohort: Cohort) -> None:
        env = cohort.env
        source = (env[index].astype(np.int64) >> 2) % lanes
        source = np.broadcast_to(source, (source.shape[0], lanes))
        moved = from_lanes(cohort, env[value], source)
        if cohort.mask is not None:
            moved = np.where(from_lanes(cohort, cohort.mask, source), moved, np.zeros((), dtype=moved.dtype))
        env[result] = moved

    c.emit(step)


@handles("rocdl.ballot")
def _ballot(c: Compiler, op: ir.Operation) -> None:
    predicate, result, target = c.use(op.operands[0]), c.define(op.results[0]), c.dtype(op.results[0]).np
    weights = np.uint64(1) << np.arange(c.lanes, dtype=np.uint64)

    def step(cohort: Cohort) -> None:
        bits = np.broadcast_to(cohort.env[predicate], (cohort.size, c.lanes))
        if cohort.mask is not None:
            bits = bits & cohort.mask
        total = np.where(bits, weights, np.uint64(0)).sum(axis=1, dtype=np.uint64)
        cohort.env[result] = total[:, None].astype(target)

    c.emit(step)


@handles("rocdl.mbcnt.lo", "rocdl.mbcnt.hi")
def _mbcnt(c: Compiler, op: ir.Operation) -> None:
    """Adds to operand 1 the number of set bits of operand 0 that stand for lanes below this one."""
    mask, base, result = c.use(op.operands[0]), c.use(op.operands[1]), c.define(op.results[0])
    lane = np.arange(c.lanes, dtype=np.int64)
    below = np.clip(lane if op.name.endswith("lo") else lane - 32, 0, 32)
    limits = ((np.int64(1) << below) - 1).astype(np.uint32)[None, :]

    def step(cohort: Cohort) -> None:
        env = cohort.env
        count = np.bitwise_count(env[mask].astype(np.uint32) & limits).astype(np.int32)
        env[result] = env[base] + count

    c.emit(step)


@handles("rocdl.permlane16.swap", "rocdl.permlane32.swap")
def _permlane_swap(c: Compiler, op: ir.Operation) -> None:
    """Swaps the odd rows (of 16 or 32 lanes) of the first operand with the even rows of the second."""
    first, second, result = c.use(op.operands[0]), c.use(op.operands[1]), c.define(op.results[0])
    row = 16 if "16" in op.name else 32
    lane = np.arange(c.lanes)
    odd = (lane // row % 2 == 1)[None, :]
    down, up = np.where(odd[0], lane - row, lane), np.where(odd[0], lane, lane + row)

    def step(cohort: Cohort) -> None:
        env = cohort.env
        shape = np.broadcast_shapes(env[first].shape, env[second].shape, (1, c.lanes))
        a, b = (np.broadcast_to(env[s], shape) for s in (first, second))
        env[result] = (np.where(odd, b[:, down], a), np.where(odd, b, a[:, up]))

    c.emit(step)


@handles("llvm.extractvalue")
def _extract_value(c: Compiler, op: ir.Operation) -> None:
    source, result = c.use(op.operands[0]), c.define(op.results[0])
    position = list(ir.DenseI64ArrayAttr(op.attributes["position"]))

    def step(cohort: Cohort) -> None:
        value = cohort.env[source]
        for number in position:
            value = value[number]
        cohort.env[result] = value

    c.emit(step)


_INTRINSICS = {"exp2": "exp2", "exp": "exp", "log": "log2", "sqrt": "sqrt", "tanh": "tanh"}  # v_log is base 2


@handles(*(f"rocdl.{name}" for name in _INTRINSICS))
def _intrinsic(c: Compiler, op: ir.Operation) -> None:
    function, target = FUNCTIONS[_INTRINSICS[op.name.split(".")[1]]], c.dtype(op.results[0])
    emit_unary(c, op, lambda a: convert_float(function(a.astype(np.float64)), target))


@handles("rocdl.rcp")
def _reciprocal(c: Compiler, op: ir.Operation) -> None:
    target = c.dtype(op.results[0])
    emit_unary(c, op, lambda a: convert_float(1.0 / a.astype(np.float64), target))


@handles("rocdl.sin", "rocdl.cos")
def _turns(c: Compiler, op: ir.Operation) -> None:
    """The argument is in turns (v_sin_f32 computes sin(2 pi x))."""
    function, target = FUNCTIONS[op.name.split(".")[1]], c.dtype(op.results[0])
    emit_unary(c, op, lambda a: convert_float(function(2 * np.pi * np.remainder(a.astype(np.float64), 1.0)), target))


@handles("rocdl.fmed3")
def _median(c: Compiler, op: ir.Operation) -> None:
    slots, result = [c.use(v) for v in op.operands], c.define(op.results[0])

    def step(cohort: Cohort) -> None:
        a, b, d = (cohort.env[s] for s in slots)
        cohort.env[result] = np.maximum(np.minimum(a, b), np.minimum(np.maximum(a, b), d))

    c.emit(step)
