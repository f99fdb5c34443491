"""Synchronisation of lane form to gpu form: barriers, fences, waits, priorities.

In a kernel with direct copies to LDS barriers are bare: a wait that says how many copies may be left in flight, then
`s_barrier` between fences of wavefront scope. Any wider fence would wait for all copies.
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import amdgpu, gpu, llvm, rocdl

from .gpu_function import GpuFunction
from .gpu_split_barrier import SPLIT

OUTSTANDING = "wave.outstanding"
"""Attribute of what waits for asynchronous copies: so many of the last ones may still be in flight; by default none."""
EVERYWHERE = "wave.everywhere"
"""Attribute of barriers that order accesses to global memory, too."""
_ACQUIRE, _RELEASE = 4, 5  # LLVM's orderings
_NO_LIMIT = {"vm": 63, "exp": 7, "lgkm": 15}


def waitcnt(vm: int = _NO_LIMIT["vm"], lgkm: int = _NO_LIMIT["lgkm"]) -> int:
    """The operand of s_waitcnt of gfx9 (those targets alone have direct copies): at most so many of each in flight."""
    vm = min(vm, _NO_LIMIT["vm"])
    return vm & 15 | _NO_LIMIT["exp"] << 4 | lgkm << 8 | vm >> 4 << 14


def lower_barrier(function: GpuFunction, op: ir.Operation) -> None:
    """wave.shared_memory_barrier → amdgpu.lds_barrier, a bare barrier where there are copies to wait for, gpu.barrier
    where it orders global memory."""
    with op.location, ir.InsertionPoint(op):
        _barrier(function, op, "wait_async" in op.attributes)
    op.erase()


def _barrier(function: GpuFunction, op: ir.Operation, waits: bool) -> None:
    if EVERYWHERE in op.attributes:
        gpu.BarrierOp()
        return
    if not function.copies:
        if waits:
            amdgpu.MemoryCounterWaitOp(load=0)
        amdgpu.LDSBarrierOp()
        return
    rocdl.SWaitcntOp(waitcnt(_outstanding(op), 0) if waits else waitcnt(lgkm=0))
    _fence(_RELEASE)
    rocdl.SBarrierOp()
    _fence(_ACQUIRE)


def _outstanding(op: ir.Operation) -> int:
    """How many of the last direct copies may stay in flight at a wait."""
    return ir.IntegerAttr(op.attributes[OUTSTANDING]).value if OUTSTANDING in op.attributes else 0


def _fence(ordering: int) -> None:
    llvm.FenceOp(ir.Attribute.parse(f"{ordering} : i64"), syncscope="wavefront")


def lower_workgroup_barrier(function: GpuFunction, op: ir.Operation) -> None:
    """wave.workgroup_barrier → s_barrier without a wait."""
    with op.location, ir.InsertionPoint(op):
        rocdl.SBarrierOp()
    op.erase()


def lower_barrier_signal(function: GpuFunction, op: ir.Operation) -> None:
    """wave.barrier_signal → the wait for direct copies that it asks for, if any, and the hardware's signal where it is
    marked; elsewhere the barrier's wait is a whole barrier, which is right wherever a split one is."""
    with op.location, ir.InsertionPoint(op):
        if "wait_async" in op.attributes:
            if function.copies:
                rocdl.SWaitcntOp(waitcnt(_outstanding(op)))
            else:
                amdgpu.MemoryCounterWaitOp(load=0)
        if SPLIT in op.attributes:
            _fence(_RELEASE)
            amdgpu.MemoryCounterWaitOp(ds=0)
            _half("signal")
    op.erase()


def lower_barrier_wait(function: GpuFunction, op: ir.Operation) -> None:
    """wave.barrier_wait → the hardware's wait where the pair is marked, else a barrier as of `lower_barrier`."""
    with op.location, ir.InsertionPoint(op):
        if SPLIT in op.attributes:
            _half("wait")
            _fence(_ACQUIRE)
        else:
            _barrier(function, op, "wait_async" in op.attributes)
    op.erase()


def _half(name: str) -> None:
    """One half of the workgroup's barrier, which has the number -1 (ISA of RDNA4, "S_BARRIER_SIGNAL")."""
    kind = ir.IntegerType.get_signless(32 if name == "signal" else 16)
    ir.Operation.create(f"rocdl.s.barrier.{name}", [], [], {"id": ir.IntegerAttr.get(kind, -1)})


def lower_scheduling_barrier(function: GpuFunction, op: ir.Operation) -> None:
    """wave.scheduling_barrier → amdgpu.sched_barrier, which lets nothing pass."""
    with op.location, ir.InsertionPoint(op):
        mask = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 0)
        ir.Operation.create("rocdl.sched.barrier", [], [], {"mask": mask})
    op.erase()


def lower_wave_fence(function: GpuFunction, op: ir.Operation) -> None:
    """wave.wave_fence → a wavefront-scope fence: no instruction, but LLVM keeps LDS accesses on their sides."""
    with op.location, ir.InsertionPoint(op):
        llvm.FenceOp(ir.Attribute.parse("4 : i64"), syncscope="wavefront")
    op.erase()


def lower_memory_counter_wait(function: GpuFunction, op: ir.Operation) -> None:
    """wave.memory_counter_wait → amdgpu.memory_counter_wait."""
    counts = {n: op.attributes[n].value for n in ("load", "store", "ds", "exp") if n in op.attributes}
    with op.location, ir.InsertionPoint(op):
        amdgpu.MemoryCounterWaitOp(**counts)
    op.erase()


def lower_set_wave_prio(function: GpuFunction, op: ir.Operation) -> None:
    """wave.set_wave_prio → rocdl.s.setprio."""
    with op.location, ir.InsertionPoint(op):
        rocdl.SetPrioOp(op.attributes["priority"].value)
    op.erase()
