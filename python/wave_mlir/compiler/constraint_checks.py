"""Checks of a kernel's constraints: with each other, with the target, with what the kernel does."""

from __future__ import annotations

from collections.abc import Iterable

from mlir import ir

from wave_mlir.dialect import MemoryType, TileType

from . import gpu_remap, remaps
from .contradictions import check_contradictions
from .diagnostics import PassError
from .kernel_info import AXES, KernelInfo
from .mma_checks import check_mma
from .mma_shape import kind_of, shape_of
from .tile_ir import ancestors, body_of, tile_dims, walk


def check_kernel(kernel: ir.OpView) -> None:
    """Raises PassError at the kernel (constraints have no location of their own) or at the op that breaks one."""
    info = KernelInfo.of(kernel)
    _check_hardware(info)
    _check_extents(info)
    _check_duplicates(info)
    check_contradictions(info)
    for wave in info.constraints.wave:
        info.wave_axis(wave.dim)
    _check_waves(info)
    ops = list(walk(body_of(kernel)))
    for op in ops:
        _check_dims(info, op)
        if op.name in ("wave.mma", "wave.scaled_mma"):
            check_mma(info, op)
        elif op.name == "wave.reduce":
            _check_reduction(info, op)
    _check_accumulators(info, ops)
    _check_grid(info)


def _check_hardware(info: KernelInfo) -> None:
    hardware, target = info.hardware, info.target
    if hardware.threads_per_wave != target.wave_size:
        raise PassError(
            info.kernel,
            f"threads_per_wave = {hardware.threads_per_wave}, but waves of {target.name} have {target.wave_size} "
            f"lanes; write threads_per_wave = {target.wave_size}",
        )
    if hardware.mma:
        try:
            target.mma(hardware.mma)
        except ValueError as e:
            raise PassError(info.kernel, str(e)) from None


def _check_extents(info: KernelInfo) -> None:
    """No memory has a dim of less than no elements."""
    for argument, name in zip(body_of(info.kernel).arguments, info.kernel.attributes["arg_names"], strict=True):
        for extent in MemoryType(argument.type).shape if isinstance(argument.type, MemoryType) else ():
            size = info.resolve(extent).constant_value
            if size is not None and size < 0:
                raise PassError(info.kernel, f"{name.value} has {size} elements along {extent}; it cannot be negative")


def _check_duplicates(info: KernelInfo) -> None:
    constraints = info.constraints
    for kind in ("workgroup", "tiling", "wave"):
        dims = [c.dim for c in getattr(constraints, kind)]
        for i, dim in enumerate(dims):
            if dim in dims[:i]:
                raise PassError(info.kernel, f"dim {dim} has two {kind} constraints; keep one")
    owners: dict[int, str] = {}
    for workgroup in constraints.workgroup:
        if workgroup.secondary:
            continue
        if workgroup.axis in owners:
            name = AXES[workgroup.axis] if workgroup.axis < 3 else workgroup.axis
            raise PassError(
                info.kernel,
                f"dims {owners[workgroup.axis]} and {workgroup.dim} are both distributed along grid dim {name}; give "
                f"one of them another grid dim, or mark the one that rides along as 'secondary' "
                f"(in Python: primary=False)",
            )
        owners[workgroup.axis] = workgroup.dim
    for workgroup in constraints.workgroup:
        if workgroup.secondary and workgroup.axis not in owners:
            raise PassError(
                info.kernel,
                f"dim {workgroup.dim} is secondary on a grid dim that no other constraint owns; drop 'secondary'",
            )
    axes = [axis for _, axis in constraints.reordering]
    for i, axis in enumerate(axes):
        if axis in axes[:i]:
            raise PassError(info.kernel, f"grid dim {axis} has two reordering constraints; keep one")
    if len(constraints.grid) > 1:
        raise PassError(info.kernel, "the kernel has two grid constraints; keep one")


def _check_waves(info: KernelInfo) -> None:
    given = info.hardware.waves_per_block
    for dim in [w.dim for w in info.constraints.wave]:
        axis = info.wave_axis(dim)
        if axis is None:
            continue
        count = info.waves_of(dim)
        if given and given[axis] != count:
            raise PassError(
                info.kernel,
                f"waves_per_block has {given[axis]} waves along {AXES[axis]}, but the tiles of dim {dim} make {count}; "
                f"make them agree or leave waves_per_block out",
            )
        if info.waves(axis) != count:
            raise PassError(
                info.kernel,
                f"{info.waves(axis)} waves along {AXES[axis]} and {count} for dim {dim}; dims that the same waves "
                f"divide need equally many: choose #wave.wave<{dim}, …> accordingly",
            )
    if info.threads > info.target.max_threads_per_workgroup:
        x, y, z = info.block_waves
        raise PassError(
            info.kernel,
            f"a workgroup of {x} x {y} x {z} waves has {info.threads} threads; {info.target.name} allows "
            f"{info.target.max_threads_per_workgroup}: use larger wave tiles",
        )


def _check_dims(info: KernelInfo, op: ir.Operation) -> None:
    """Every dim of a tile has a size that is known, at the place where it is used."""
    tiles = [v for v in op.results if isinstance(v.type, TileType)]
    if op.name in ("wave.write", "wave.atomic", "wave.scatter_add"):
        tiles.append(op.operands[0])
    for value in tiles:
        for dim in value.type.dims:
            try:
                info.tile_extent(dim)
            except PassError as e:
                raise PassError(op, e.message) from None
            _check_in_loop(info, op, dim)
    if op.name in ("wave.write", "wave.atomic"):
        _check_written(info, op)


def _check_in_loop(info: KernelInfo, op: ir.Operation, dim: str) -> None:
    walked = (info.derived(dim) or (dim, 1, 1))[0]
    tiling = info.tiling_of(walked)
    if tiling is None or tiling.tile is None or op.name == "wave.register":
        return
    loops = [a for a in ancestors(op) if a.name == "wave.iterate"]
    if any(loop.attributes["axis"].value == walked for loop in loops):
        return
    if info.trips(walked).constant_value == 1:
        return
    if op.name in ("wave.read", "wave.write", "wave.atomic", "wave.self_index", "wave.mma"):
        raise PassError(
            op,
            f"dim {walked} is walked by a loop in tiles of {info.tile_extent(walked)} but used outside of one; put "
            f"this op into wave.iterate {walked}, or drop the tiling constraint of {walked}",
        )


def _check_written(info: KernelInfo, op: ir.Operation) -> None:
    for dim in tile_dims(op.operands[0].type):
        if info.wave_of(dim) is not None and info.workgroup_of(dim) is None and info.tiling_of(dim) is None:
            raise PassError(
                op,
                f"dim {dim} is divided among waves but not among workgroups; add #wave.workgroup<{dim}, tile, axis> "
                f"(in Python: WorkgroupConstraint({dim}, tile, axis))",
            )


def _check_reduction(info: KernelInfo, op: ir.Operation) -> None:
    dim = op.attributes["dim"].value
    if info.wave_axis(dim) is not None and "block" not in op.attributes:
        raise PassError(
            op, f"dim {dim} is divided among {info.waves_of(dim)} waves; add 'block' to combine their results"
        )


def _check_accumulators(info: KernelInfo, ops: Iterable[ir.Operation]) -> None:
    """The accumulators that live at once, those of one loop, fit the registers."""
    limit = info.target.registers.max_mma_accumulators
    for op in ops:
        if op.name not in ("wave.mma", "wave.scaled_mma"):
            continue
        loop = next((a for a in ancestors(op) if a.name == "wave.iterate"), None)
        carried = [r for r in loop.results if isinstance(r.type, TileType)] if loop is not None else []
        mine = op.results[0].type
        together = [r.type for r in carried if r.type == mine] or [mine]
        registers = len(together) * _registers(info, op)
        if registers > limit:
            dims = ", ".join(f"{d}: {info.wave_extent(d)}" for d in mine.dims)
            raise PassError(
                op,
                f"the accumulators of this MMA need {registers} registers a lane ({len(together)} x wave tile {dims}); "
                f"{info.target.name} has {limit}: use smaller tiles or more waves",
            )


def _registers(info: KernelInfo, op: ir.Operation) -> int:
    """Registers of a lane for the accumulator of an MMA; instructions that stick out of the wave's tile count whole."""
    shape, kind = shape_of(op, info), kind_of(info, op)
    copies = -(-info.wave_extent(shape.row) // kind.m) * -(-info.wave_extent(shape.col) // kind.n)
    for dim in (*shape.rows, *shape.cols, *shape.batch):
        copies *= info.wave_extent(dim)
    return copies * kind.acc.registers


def _check_grid(info: KernelInfo) -> None:
    """Reorderings together are a bijection of the grid: where it is known, else a launch checks it."""
    if not info.constraints.reordering:
        return
    for expr in info.remapped_ids:
        if unknown := [s for s in expr.symbols if not s.startswith("wg.") and s not in info.dynamic]:
            what = ", ".join(unknown)
            raise PassError(info.kernel, f"a reordering uses {what}; it may use wg.x, wg.y, wg.z and symbols")
    if gpu_remap.checked_at_launch(info):
        return
    hardware, program = ([e.constant_value or 0 for e in sizes] for sizes in (info.grid, info.program_grid))
    try:
        remaps.check(gpu_remap.texts(info), tuple(program), (hardware[0], hardware[1], hardware[2]), ())
    except remaps.RemapError as error:
        raise PassError(info.kernel, f"{error}; reorderings must be a bijection of the grid {program}") from None
