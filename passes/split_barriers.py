"""wave-split-barriers: waves do what needs no barrier between telling the others and waiting for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mlir import ir
from wave_mlir.compiler.gpu_barrier import EVERYWHERE
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.lds_hazards import FENCES, MEETINGS, touches
from wave_mlir.compiler.loop_costs import ORDERED, is_free
from wave_mlir.compiler.pass_registry import Pass, register_pass
from wave_mlir.compiler.tile_ir import body_of, walk


@register_pass("wave-split-barriers", requires="lane", establishes="lane")
@dataclass(frozen=True)
class SplitBarriers(Pass):
    """Split barriers of the workgroup into `wave.barrier_signal` and `wave.barrier_wait`, on targets that have both.

    The signal goes up to right behind the last access to LDS before the barrier, past arithmetic, matrix products and
    accesses to global memory, which then run while the other waves come. A barrier with nothing of that before it stays
    whole, as does one that orders global memory or waits for direct copies, and nothing moves past what keeps an order.

    Before:

        wave.write %x, %l …
        %z = wave.mma %a, %b, %c …
        wave.shared_memory_barrier

    After:

        wave.write %x, %l …
        wave.barrier_signal 0
        %z = wave.mma %a, %b, %c …
        wave.barrier_wait 0
    """

    def run(self, module: ir.Module) -> None:
        """Split the barriers of every kernel of the module whose target can."""
        for view in module.body.operations:
            if view.operation.name == "wave.kernel" and KernelInfo.of(view).target.has_split_barrier:
                ops = list(walk(body_of(view)))
                used = [ir.IntegerAttr(op.attributes["id"]).value for op in ops if "id" in op.attributes]
                number = max(used, default=-1) + 1
                for barrier in [op for op in ops if op.name == "wave.shared_memory_barrier"]:
                    number += _split(barrier, number)


def _split(barrier: ir.Operation, number: int) -> bool:
    """Split a barrier if that lets anything run meanwhile; its signal and wait have the number."""
    if EVERYWHERE in barrier.attributes or "wait_async" in barrier.attributes:
        return False
    passed = list(_before(barrier))
    while passed and is_free(passed[-1]):
        passed.pop()
    if not passed:
        return False
    identity = {"id": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)}
    with barrier.location:
        with ir.InsertionPoint(passed[-1]):
            ir.Operation.create("wave.barrier_signal", [], [], identity)
        with ir.InsertionPoint(barrier):
            ir.Operation.create("wave.barrier_wait", [], [], identity)
    barrier.erase()
    return True


def _before(barrier: ir.Operation) -> Iterator[ir.Operation]:
    """The ops before a barrier that need not be done when the others go on, from the last to the first."""
    ops = [view.operation for view in barrier.block.operations]
    for op in reversed(ops[: ops.index(barrier)]):
        if op.name in (*MEETINGS, *FENCES, *ORDERED) or len(op.regions) or touches(op):
            return
        yield op
