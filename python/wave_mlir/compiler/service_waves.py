"""Waves of a workgroup that only copy tiles to LDS, for the others, which compute.

A kernel gets as many waves more as it has, along the block dim z: those with wave.z = 1 serve. In lane form the program
is still one, which says of each access which waves make it (`wave.only`); barriers are for all. `specialize` takes it
apart into a branch for each kind of wave: the same program, with the same barriers, but for what the others do.
"""

from __future__ import annotations

from collections.abc import Iterable

from mlir import ir

from wave_mlir.dialect import Expr, HardwareConstraintAttr

from .direct_copies import COPY
from .kernel_info import KernelInfo
from .lane_access import ONLY, in_lds
from .loop_problem import CannotSchedule
from .loop_slots import SYNCHRONISATION, is_pure
from .slices import Slice
from .tile_ir import ancestors, body_of, walk

_READS = ("wave.read", "wave.buffer_load")
_WRITES = ("wave.write", "wave.buffer_store")
_ACCESSES = (*_READS, *_WRITES, "wave.atomic", COPY)
_NOT_FOR_COPIES = ("wave.mma", "wave.scaled_mma", "wave.atomic")


def of_computing() -> Expr:
    """The condition of the waves that compute (in the current context)."""
    return Expr.symbol("wave.z").eq(0)


def of_service() -> Expr:
    """The condition of the waves that serve (in the current context)."""
    return Expr.symbol("wave.z").eq(1)


def assign(info: KernelInfo) -> KernelInfo:
    """Give a kernel waves that serve, and each access its waves; the kernel's facts from then on.

    Raises CannotSchedule, which names the op in the way, before anything is changed.
    """
    kernel = info.kernel.operation
    _check_waves(info)
    every = list(walk(body_of(kernel)))
    _check_ops(every)
    copies = [op for op in every if _is_copy(op)]
    if not any(_in_loop(op) for op in copies):
        raise CannotSchedule(kernel, "no loop copies tiles from global memory to LDS, for which there would be waves")
    serves = Slice(copies)
    for op in every:
        if op in serves.ops and (op.name in _NOT_FOR_COPIES or (op.name in _READS and in_lds(op.operands[0]))):
            text = f"copies to LDS depend on '{op.name}', so the waves that copy would have to compute"
            raise CannotSchedule(op, text)
    computes = Slice(op for op in every if has_effect(op) and op not in copies)
    for op in every:
        if op.name in _ACCESSES and not (op in serves.ops and op in computes.ops):
            op.attributes[ONLY] = of_service() if op in serves.ops else of_computing()
    _set_waves(info, 2)
    return KernelInfo.of(info.kernel)


def undo(info: KernelInfo) -> KernelInfo:
    """Take away what `assign` gave; the kernel's facts from then on."""
    for op in walk(body_of(info.kernel)):
        if ONLY in op.attributes:
            del op.attributes[ONLY]
    _set_waves(info, 1)
    return KernelInfo.of(info.kernel)


def has_effect(op: ir.Operation) -> bool:
    """Whether an op does more than give results: it is there for somebody who computes, copies or waits."""
    if len(op.regions) or op.name in ("wave.yield", "wave.return", "wave.allocate", "wave.register"):
        return False
    return not is_pure(op) and (op.name not in _READS or "is_volatile" in op.attributes)


def is_service(op: ir.Operation) -> bool:
    """Whether an op with an effect is for the waves that serve: copies, and what all waves come to."""
    return op.name in SYNCHRONISATION or _serves(op)


def is_computing(op: ir.Operation) -> bool:
    """Whether an op with an effect is for the waves that compute."""
    return not _serves(op)


def _serves(op: ir.Operation) -> bool:
    return ONLY in op.attributes and Expr(op.attributes[ONLY]) == of_service()


def is_assigned(kernel: ir.OpView | ir.Operation) -> bool:
    """Whether a kernel has accesses of some waves alone."""
    return any(ONLY in op.attributes for op in walk(body_of(kernel)))


def loads_for_others(ops: Iterable[ir.Operation]) -> list[ir.Operation]:
    """Loads from global memory that waves make which do not compute: their results take registers of these waves."""
    return [op for op in ops if op.name in _READS and _serves(op)]


def _check_waves(info: KernelInfo) -> None:
    x, y, z = info.block_waves
    if z > 1:
        text = f"the waves that serve go along the block dim z, where this kernel has {z} waves of its own"
        raise CannotSchedule(info.kernel.operation, text)
    most = info.target.max_threads_per_workgroup
    if 2 * info.threads > most:
        text = (
            f"as many waves more as its {x * y} make {2 * info.threads} threads, and a workgroup has {most} at the most"
        )
        raise CannotSchedule(info.kernel.operation, text)


def _check_ops(every: list[ir.Operation]) -> None:
    for op in every:
        if op.name in SYNCHRONISATION:
            text = f"'{op.name}' is synchronisation of your own, and waves that serve need all of it placed for them"
            raise CannotSchedule(op, text)
        if op.name == "wave.iterate" and "condition" in op.attributes:
            raise CannotSchedule(op, "the trips of this loop end by a condition that each trip decides")


def _is_copy(op: ir.Operation) -> bool:
    """Whether an op brings to LDS what nobody had to compute: made from global memory and constants alone."""
    if op.name == COPY:
        return True
    if op.name != "wave.write" or not in_lds(op.operands[1]):
        return False
    needed = Slice([op]).ops
    computed = any(n.name in _NOT_FOR_COPIES or (n.name in _READS and in_lds(n.operands[0])) for n in needed)
    return not computed


def _in_loop(op: ir.Operation) -> bool:
    return any(around.name == "wave.iterate" for around in ancestors(op))


def _set_waves(info: KernelInfo, along_z: int) -> None:
    """The hardware constraint with so many waves along z."""
    x, y, _ = info.block_waves
    made = [
        _with_waves(c, (x, y, along_z), x * y * (along_z - 1)) if isinstance(c, HardwareConstraintAttr) else c
        for c in info.kernel.operation.attributes["constraints"]
    ]
    info.kernel.operation.attributes["constraints"] = ir.ArrayAttr.get(made)


def _with_waves(old: HardwareConstraintAttr, waves: tuple[int, int, int], service: int) -> HardwareConstraintAttr:
    return HardwareConstraintAttr.get(
        old.threads_per_wave,
        old.mma,
        dict(old.vector_shapes or {}) or None,
        waves_per_block=waves,
        max_bits_per_load=old.max_bits_per_load,
        service_waves=service,
    )
