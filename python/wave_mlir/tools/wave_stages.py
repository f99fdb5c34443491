"""The schedules of a kernel's loops, for `wave report --timeline`."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from mlir import ir
from mlir.dialects.builtin import ModuleOp

from wave_mlir.compiler.diagnostics import location_text, warnings_taken
from wave_mlir.compiler.loop_schedule import PIPELINE, SLOT
from wave_mlir.compiler.pass_registry import run_passes
from wave_mlir.compiler.tile_ir import body_of, walk
from wave_mlir.dialect import MemoryType
from wave_mlir.passes import pipelines
from wave_mlir.report.stages import LoopStages, StageSlot

_KINDS = {
    "wave.mma": "mfma", "wave.scaled_mma": "mfma", "wave.buffer_load": "load", "wave.buffer_store": "store",
    "wave.gather_to_shared": "direct_to_lds", "wave.atomic": "atomic", "wave.shared_memory_barrier": "barrier",
}  # fmt: skip


def stages_of(module: ir.Module, options: pipelines.PipelineOptions) -> dict[str, list[LoopStages]]:
    """The scheduled loops of each kernel of a module in lane form, which is left as it is."""
    passes = pipelines.between("lane", "scheduled", replace(options, schedule_dump=""))
    last = next((n for n, p in enumerate(passes) if p.startswith(("wave-schedule", "wave-apply-schedule"))), None)
    if last is None:
        return {}
    copy = cast(ModuleOp, module.operation.clone())
    with warnings_taken(copy.context):  # they are given when the kernel is compiled on
        run_passes(copy, passes[: last + 1])
    found = {}
    for kernel in copy.body.operations:
        if kernel.operation.name == "wave.kernel":
            loops = [op for op in walk(body_of(kernel)) if PIPELINE in op.attributes]
            name = ir.StringAttr(kernel.operation.attributes["sym_name"]).value
            found[name] = [_loop(op) for op in loops]
    return found


def _loop(op: ir.Operation) -> LoopStages:
    pipeline = ir.DictAttr(op.attributes[PIPELINE])
    slots = sorted(
        (_number(slot, "order"), StageSlot(_number(slot, "stage"), _kind(inner)))
        for inner in walk(body_of(op))
        if SLOT in inner.attributes and (slot := ir.DictAttr(inner.attributes[SLOT])) is not None
    )
    return LoopStages(
        where=location_text(op.location),
        strategy=ir.StringAttr(pipeline["strategy"]).value,
        stages=_number(pipeline, "stages"),
        interval=_number(pipeline, "interval"),
        unroll=_number(pipeline, "unroll"),
        slots=tuple(slot for _, slot in slots),
    )


def _number(attributes: ir.DictAttr, name: str) -> int:
    return ir.IntegerAttr(attributes[name]).value


def _kind(op: ir.Operation) -> str:
    if op.name in ("wave.read", "wave.write"):
        memory = next(v for v in reversed(op.operands) if isinstance(v.type, MemoryType))
        shared = not isinstance(memory, ir.BlockArgument)
        if op.name == "wave.read":
            return "lds_read" if shared else "load"
        return "lds_write" if shared else "store"
    return _KINDS.get(op.name, "valu")
