"""Barriers, waits, priorities, logging."""

from __future__ import annotations

from collections.abc import Callable

from mlir import ir

from wave_mlir.dialect import wave as ops

from . import source
from .trace import current, want_value
from .values import Value


def _emit(what: str, build: Callable[[], object]) -> None:
    current(what)
    with source.location():
        build()


def shared_memory_barrier(wait_async_ops: bool = False) -> None:
    """All waves of the workgroup arrive; LDS accesses before it are visible after it."""
    _emit("shared_memory_barrier", lambda: ops.SharedMemoryBarrierOp(wait_async=wait_async_ops or None))


def shared_memory_barrier_signal(barId: int = 0, tensor_wait: bool = False, ds_wait: bool = True) -> None:
    """First half of a split barrier: the wave has done what others wait for, and goes on. Its LDS accesses are always
    done by then, whatever `ds_wait` says. barId: -1, as 0, is the barrier of the whole workgroup."""
    number = _barrier(barId)
    _emit("shared_memory_barrier_signal", lambda: ops.BarrierSignalOp(number, wait_async=tensor_wait or None))


def shared_memory_barrier_wait(barId: int = 0) -> None:
    """Second half of a split barrier: waits until all waves have signalled."""
    number = _barrier(barId)
    _emit("shared_memory_barrier_wait", lambda: ops.BarrierWaitOp(number))


def _barrier(number: int) -> int:
    """A barrier's number in the dialect, which counts from 0; hardware calls the first one -1."""
    return 0 if number == -1 else number


def workgroup_barrier() -> None:
    """All waves of the workgroup arrive; it waits for no memory access."""
    _emit("workgroup_barrier", ops.WorkgroupBarrierOp)


def memory_counter_wait(
    load: int | None = None, store: int | None = None, ds: int | None = None, exp: int | None = None
) -> None:
    """Waits until at most so many accesses of the wave are outstanding."""
    _emit("memory_counter_wait", lambda: ops.MemoryCounterWaitOp(load=load, store=store, ds=ds, exp=exp))


def memory_counter_wait_barrier(
    load: int | None = None, store: int | None = None, ds: int | None = None, exp: int | None = None
) -> None:
    """`memory_counter_wait`, then `workgroup_barrier`."""
    memory_counter_wait(load, store, ds, exp)
    workgroup_barrier()


def set_wave_prio(priority: int) -> None:
    """The wave's priority, from 0 to 3."""
    if not isinstance(priority, int) or not 0 <= priority <= 3:
        raise source.error(f"set_wave_prio: a priority is 0, 1, 2 or 3, not {priority}")
    _emit("set_wave_prio", lambda: ops.SetWavePrioOp(priority))


def scheduling_barrier() -> None:
    """The machine scheduler moves nothing across it."""
    _emit("scheduling_barrier", ops.SchedulingBarrierOp)


def tag(value: Value, name: str) -> Value:
    """The value; `name` is what schedules call the operation that made it."""
    made = want_value(value, "tag")
    if not isinstance(made.ir.owner, ir.Block):
        made.ir.owner.attributes["wave.tag"] = ir.StringAttr.get(name)
    return made
