"""wave-to-gpu: lowers scheduled form to gpu form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import gpu
from wave_mlir.compiler import gpu_access, gpu_barrier, gpu_buffer, gpu_compute, gpu_copy, gpu_lanes
from wave_mlir.compiler.diagnostics import PassError
from wave_mlir.compiler.gpu_function import GpuFunction, create_function
from wave_mlir.compiler.gpu_masked_stores import join_masked_stores
from wave_mlir.compiler.gpu_split_barrier import mark_split_pairs
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.lds import lds_bytes_of
from wave_mlir.compiler.pass_registry import Pass, register_pass
from wave_mlir.compiler.tile_ir import walk
from wave_mlir.dialect import TileType

_LOWERINGS: dict[str, Callable[[GpuFunction, ir.Operation], None]] = {
    "wave.read": gpu_access.lower_read,
    "wave.write": gpu_access.lower_write,
    "wave.atomic": gpu_access.lower_atomic,
    "wave.buffer_load": gpu_buffer.lower_load,
    "wave.buffer_store": gpu_buffer.lower_store,
    "wave.gather_to_shared": gpu_copy.lower_copy,
    "wave.allocate": gpu_access.bind_allocation,
    "wave.mma": gpu_compute.lower_mma,
    "wave.scaled_mma": gpu_compute.lower_scaled_mma,
    "wave.apply_expr": gpu_compute.lower_expr_value,
    "wave.scalar": gpu_compute.lower_expr_value,
    "wave.shuffle": gpu_lanes.lower_shuffle,
    "wave.shared_memory_barrier": gpu_barrier.lower_barrier,
    "wave.workgroup_barrier": gpu_barrier.lower_workgroup_barrier,
    "wave.barrier_signal": gpu_barrier.lower_barrier_signal,
    "wave.barrier_wait": gpu_barrier.lower_barrier_wait,
    "wave.scheduling_barrier": gpu_barrier.lower_scheduling_barrier,
    "wave.wave_fence": gpu_barrier.lower_wave_fence,
    "wave.memory_counter_wait": gpu_barrier.lower_memory_counter_wait,
    "wave.set_wave_prio": gpu_barrier.lower_set_wave_prio,
}


@register_pass("wave-to-gpu", requires="scheduled", establishes="gpu")
@dataclass(frozen=True)
class ToGpu(Pass):
    """Lower kernels to `gpu.func`s with vector, memref, arith, scf and amdgpu ops.

    Each `wave.kernel` becomes a `gpu.func` in one `gpu.module`, with the arguments of the kernel ABI and its attributes
    (docs/design.md). Index expressions become arith ops, each emitted once in the outermost loop that it depends on.
    A masked load reads at offset 0 and selects 0, a masked store stands under `scf.if`. Masked stores that follow one
    another share a branch: those with one condition, and where conditions say that elements are inside (the edge of a
    tile) all of them, behind a branch that asks whether all hold; only lanes for which not all do ask for each.

    Before:

        %v = wave.read %a index [wg.x * 64 + lane, 0] mask %m : !wave.memory<[M, K], f16, global> -> vector<4xf16>

    After:

        %o = arith.select %c, %linear, %c0 : index
        %l = vector.load %a[%o] {alignment = 8} : memref<?xf16, #gpu.address_space<global>>, vector<4xf16>
        %v = arith.select %c, %l, %zero : vector<4xf16>

    It chooses no access widths and places no barriers.
    """

    def run(self, module: ir.Module) -> None:
        """Lower every kernel of the module."""
        kernels = [op for op in module.body.operations if op.operation.name == "wave.kernel"]
        if not kernels:
            return
        name = ir.StringAttr(kernels[0].operation.attributes["sym_name"]).value
        with module.operation.location, ir.InsertionPoint(kernels[0]):
            holder = gpu.GPUModuleOp(f"{name}_kernels")
        into = holder.regions[0].blocks[0] if len(holder.regions[0].blocks) else holder.regions[0].blocks.append()
        for kernel in kernels:
            _lower_kernel(kernel, into)
        module.operation.attributes["gpu.container_module"] = ir.UnitAttr.get()


def _lower_kernel(view: ir.OpView, into: ir.Block) -> None:
    info = KernelInfo.of(view)
    kernel = view.operation
    function = create_function(kernel, info, lds_bytes_of(kernel, info), into)
    ops = list(walk(kernel.regions[0].blocks[0]))
    function.copies = any(op.name == gpu_copy.COPY for op in ops)
    function.counted = any(gpu_barrier.OUTSTANDING in op.attributes for op in ops)
    if info.target.has_split_barrier:
        mark_split_pairs(kernel.regions[0].blocks[0])
    block = function.block
    for op in list(kernel.regions[0].blocks[0].operations):
        block.append(op)
    _lower_block(function, block)
    join_masked_stores(block)
    kernel.erase()


def _lower_block(function: GpuFunction, block: ir.Block) -> None:
    masks = []
    for view in list(block.operations):
        op = view.operation
        if not op.name.startswith("wave."):
            _reject_tiles(op)
        elif op.name == "wave.mask":
            gpu_compute.lower_mask_value(function, op)
            masks.append(op)
        elif op.name == "wave.iterate":
            loop, body = gpu_compute.open_loop(function, op)
            _lower_block(function, body)
            function.emitter.leave()
        elif op.name == "wave.conditional":
            branch, bodies = gpu_compute.open_conditional(function, op)
            for body in bodies:
                function.emitter.enter(body, branch)
                _lower_block(function, body)
                function.emitter.leave()
        elif op.name == "wave.yield":
            gpu_compute.lower_yield(op)
        elif op.name == "wave.return":
            with op.location, ir.InsertionPoint(op):
                gpu.ReturnOp([])
            op.erase()
        else:
            _lowering_of(op)(function, op)
    for op in masks:  # the accesses looked through them
        op.erase()


def _lowering_of(op: ir.Operation) -> Callable[[GpuFunction, ir.Operation], None]:
    lowering = _LOWERINGS.get(op.name)
    if lowering is None:
        raise PassError(op, f"{op.name} cannot be lowered to gpu form from here; it is an op of an earlier form")
    return lowering


def _reject_tiles(op: ir.Operation) -> None:
    for result in op.results:
        if isinstance(result.type, TileType):
            raise PassError(op, f"{op.name} still has a tile; run wave-expand before wave-to-gpu")
