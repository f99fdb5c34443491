"""gpu ids, barriers, waits and affine index maps; the same things in their amdgpu and rocdl forms.

What a barrier waits for: gpu.barrier and rocdl.barrier for all memory operations of the wave, asynchronous copies
included; amdgpu.lds_barrier for LDS operations only; rocdl.s.barrier and the signal/wait pair for nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from mlir import ir

from .cohort import Cohort
from .program import SUSPEND, Compiler, handles

_AXES = {"x": 0, "y": 1, "z": 2}


def _axis(op: ir.Operation) -> int:
    return _AXES[str(op.attributes["dimension"]).removesuffix(">")[-1]]


def _emit_value(c: Compiler, op: ir.Operation, function: Callable[[Cohort], np.ndarray]) -> None:
    dtype, result = c.dtype(op.results[0]).np, c.define(op.results[0])

    def step(cohort: Cohort) -> None:
        cohort.env[result] = function(cohort).astype(dtype, copy=False)

    c.emit(step)


def linear_thread(cohort: Cohort) -> np.ndarray:
    """Number of the thread in its workgroup, (waves, lanes)."""
    machine = cohort.machine
    waves = machine.wave_in_group[cohort.waves][:, None]
    return waves * machine.lanes + np.arange(machine.lanes)[None, :]


def thread_id(cohort: Cohort, axis: int) -> np.ndarray:
    """Thread id along an axis; threads are numbered x fastest."""
    x, y, _ = cohort.machine.geometry.block
    linear = linear_thread(cohort)
    if axis == 0:
        return linear % x
    if axis == 1:
        return linear // x % y
    return linear // (x * y)


def block_id(cohort: Cohort, axis: int) -> np.ndarray:
    """Workgroup id along an axis, (waves or 1, 1)."""
    grid = cohort.machine.geometry.grid
    if grid[axis] == 1:
        return np.zeros((1, 1), dtype=np.int64)
    group = cohort.group
    return group % grid[0] if axis == 0 else group // grid[0] % grid[1] if axis == 1 else group // (grid[0] * grid[1])


def _fixed(value: int) -> np.ndarray:
    return np.full((1, 1), value, dtype=np.int64)


@handles("gpu.thread_id")
def _thread_id(c: Compiler, op: ir.Operation) -> None:
    axis = _axis(op)
    _emit_value(c, op, lambda cohort: thread_id(cohort, axis))


@handles("gpu.block_id")
def _block_id(c: Compiler, op: ir.Operation) -> None:
    axis = _axis(op)
    _emit_value(c, op, lambda cohort: block_id(cohort, axis))


@handles("gpu.block_dim")
def _block_dim(c: Compiler, op: ir.Operation) -> None:
    axis = _axis(op)
    _emit_value(c, op, lambda cohort: _fixed(cohort.machine.geometry.block[axis]))


@handles("gpu.grid_dim")
def _grid_dim(c: Compiler, op: ir.Operation) -> None:
    axis = _axis(op)
    _emit_value(c, op, lambda cohort: _fixed(cohort.machine.geometry.grid[axis]))


@handles("gpu.global_id")
def _global_id(c: Compiler, op: ir.Operation) -> None:
    axis = _axis(op)

    def value(cohort: Cohort) -> np.ndarray:
        size = cohort.machine.geometry.block[axis]
        return block_id(cohort, axis) * size + thread_id(cohort, axis)

    _emit_value(c, op, value)


def _rocdl_ids(kind: str, axis: int) -> Callable[[Cohort], np.ndarray]:
    return {
        "workitem.id": lambda cohort: thread_id(cohort, axis),
        "workgroup.id": lambda cohort: block_id(cohort, axis),
        "workgroup.dim": lambda cohort: _fixed(cohort.machine.geometry.block[axis]),
        "grid.dim": lambda cohort: _fixed(cohort.machine.geometry.grid[axis]),
    }[kind]


@handles(
    *(f"rocdl.{kind}.{axis}" for kind in ("workitem.id", "workgroup.id", "workgroup.dim", "grid.dim") for axis in "xyz")
)
def _rocdl_id(c: Compiler, op: ir.Operation) -> None:
    kind, axis = op.name.removeprefix("rocdl.").rsplit(".", 1)
    _emit_value(c, op, _rocdl_ids(kind, _AXES[axis]))


@handles("gpu.lane_id")
def _lane_id(c: Compiler, op: ir.Operation) -> None:
    lanes = np.arange(c.lanes, dtype=np.int64)[None, :]
    _emit_value(c, op, lambda cohort: lanes)


@handles("gpu.subgroup_id")
def _subgroup_id(c: Compiler, op: ir.Operation) -> None:
    _emit_value(c, op, lambda cohort: cohort.machine.wave_in_group[cohort.waves][:, None])


@handles("gpu.subgroup_size", "rocdl.wavefrontsize")
def _subgroup_size(c: Compiler, op: ir.Operation) -> None:
    _emit_value(c, op, lambda cohort: _fixed(c.lanes))


@handles("gpu.num_subgroups")
def _num_subgroups(c: Compiler, op: ir.Operation) -> None:
    _emit_value(c, op, lambda cohort: _fixed(cohort.machine.geometry.waves_per_group))


# ------------------------------------------------------------------------------------------------------------ barriers


def emit_barrier(c: Compiler, waits_for: tuple[str, ...]) -> None:
    """A barrier that first waits for the operations of these counters."""
    info = c.info
    assert info is not None
    number = c.here
    c.program.visible[number + 1] = c.visible_slots()

    def step(cohort: Cohort) -> int | None:
        machine = cohort.machine
        cohort.pc = number + 1
        machine.signal(cohort, info, waits_for)
        return None if machine.await_phase(cohort, info) else SUSPEND

    c.emit(step)


@handles("gpu.barrier", "rocdl.barrier")
def _barrier(c: Compiler, op: ir.Operation) -> None:
    emit_barrier(c, ("ds", "vm"))


@handles("amdgpu.lds_barrier")
def _lds_barrier(c: Compiler, op: ir.Operation) -> None:
    c.program.use.lds_barrier = True
    emit_barrier(c, ("ds",))


@handles("rocdl.s.barrier")
def _bare_barrier(c: Compiler, op: ir.Operation) -> None:
    c.program.use.bare_barrier = True
    emit_barrier(c, ())


@handles("rocdl.s.barrier.signal")
def _signal(c: Compiler, op: ir.Operation) -> None:
    c.program.use.bare_barrier = True
    info = c.info
    assert info is not None

    def step(cohort: Cohort) -> None:
        cohort.machine.signal(cohort, info, ())
        cohort.refresh()

    c.emit(step)


@handles("rocdl.s.barrier.wait")
def _wait(c: Compiler, op: ir.Operation) -> None:
    info = c.info
    assert info is not None
    number = c.here
    c.program.visible[number + 1] = c.visible_slots()

    def step(cohort: Cohort) -> int | None:
        cohort.pc = number + 1
        return None if cohort.machine.await_phase(cohort, info) else SUSPEND

    c.emit(step)


# --------------------------------------------------------------------------------------------------------------- waits


def emit_wait(c: Compiler, limits: dict[str, int]) -> None:
    """Wait until at most so many operations of each counter are in flight."""
    c.program.use.waits = True

    def step(cohort: Cohort) -> None:
        for counter, left in limits.items():
            cohort.machine.waits.wait(counter, cohort.waves, left)

    c.emit(step)


@handles("amdgpu.memory_counter_wait")
def _counter_wait(c: Compiler, op: ir.Operation) -> None:
    limits: dict[str, int] = {}
    separate_stores = c.target.startswith("gfx1")  # stores have a counter of their own there
    for name in ("load", "store", "ds"):
        if name not in op.attributes or (name == "store" and separate_stores):
            continue
        counter, left = "ds" if name == "ds" else "vm", c.integer(op, name)
        limits[counter] = min(left, limits.get(counter, left))
    emit_wait(c, limits)


@handles("rocdl.s.waitcnt")
def _waitcnt(c: Compiler, op: ir.Operation) -> None:
    bits = c.integer(op, "bitfield") & 0xFFFF
    vm, ds = (bits & 15) | (bits >> 14 & 3) << 4, bits >> 8 & 15  # gfx9 encoding
    emit_wait(c, {k: v for k, v, none in (("vm", vm, 63), ("ds", ds, 15)) if v != none})


@handles(
    "rocdl.s.wait.loadcnt",
    "rocdl.s.wait.asynccnt",
    "rocdl.s.wait.dscnt",
    "rocdl.s.wait.storecnt",
    "rocdl.s.wait.expcnt",
    "rocdl.s.wait.tensorcnt",
)
def _wait_counter(c: Compiler, op: ir.Operation) -> None:
    kind = op.name.rsplit(".", 1)[1]
    counter = {"loadcnt": "vm", "asynccnt": "vm", "dscnt": "ds"}.get(kind)
    emit_wait(c, {counter: c.integer(op, "count")} if counter else {})


@handles("llvm.fence")
def _fence(c: Compiler, op: ir.Operation) -> None:
    """A fence for the wave is for the compiler only; a wider one that releases waits for the wave's operations."""
    scope = ir.StringAttr(op.attributes["syncscope"]).value if "syncscope" in op.attributes else ""
    releases = c.integer(op, "ordering") >= 5  # release, acq_rel, seq_cst
    if "wavefront" not in scope and "singlethread" not in scope and releases:
        emit_wait(c, {"ds": 0, "vm": 0})


@handles(
    "amdgpu.sched_barrier",
    "rocdl.sched.barrier",
    "rocdl.sched.group.barrier",
    "rocdl.s.setprio",
    "rocdl.iglp.opt",
    "rocdl.s.sleep",
    "rocdl.s.nop",
    "gpu.printf",
)
def _no_effect(c: Compiler, op: ir.Operation) -> None:
    """Scheduling hints; printf is not captured."""


# -------------------------------------------------------------------------------------------------------------- affine


class _Affine:
    """An affine expression as a function of dims and symbols."""

    def __init__(self, expression: ir.AffineExpr, dims: int) -> None:
        self.dims = dims
        self.expression = expression

    def evaluate(self, expression: ir.AffineExpr, values: list[np.ndarray]) -> np.ndarray:
        if isinstance(expression, ir.AffineConstantExpr):
            return _fixed(expression.value)
        if isinstance(expression, ir.AffineDimExpr):
            return values[expression.position]
        if isinstance(expression, ir.AffineSymbolExpr):
            return values[self.dims + expression.position]
        binary = ir.AffineBinaryExpr(expression)
        left, right = (self.evaluate(e, values) for e in (binary.lhs, binary.rhs))
        if isinstance(expression, ir.AffineAddExpr):
            return left + right
        if isinstance(expression, ir.AffineMulExpr):
            return left * right
        if isinstance(expression, ir.AffineModExpr):
            return np.remainder(left, right)
        if isinstance(expression, ir.AffineFloorDivExpr):
            return np.floor_divide(left, right)
        return -np.floor_divide(-left, right)


def _map_functions(c: Compiler, op: ir.Operation) -> list[Callable[[Cohort], np.ndarray]]:
    affine_map = ir.AffineMapAttr(op.attributes["map"]).value
    operands = [c.use(v) for v in op.operands]
    plans = [_Affine(e, affine_map.n_dims) for e in affine_map.results]
    return [lambda cohort, p=p: p.evaluate(p.expression, [cohort.env[s] for s in operands]) for p in plans]


@handles("affine.apply")
def _affine_apply(c: Compiler, op: ir.Operation) -> None:
    (function,) = _map_functions(c, op)
    _emit_value(c, op, function)


@handles("affine.min", "affine.max")
def _affine_extreme(c: Compiler, op: ir.Operation) -> None:
    functions = _map_functions(c, op)
    choose = np.minimum if op.name == "affine.min" else np.maximum

    def value(cohort: Cohort) -> np.ndarray:
        out = functions[0](cohort)
        for function in functions[1:]:
            out = choose(out, function(cohort))
        return out

    _emit_value(c, op, value)
