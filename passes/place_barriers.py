"""wave-place-barriers: puts barriers between LDS accesses that depend on each other."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from wave_mlir.compiler.diagnostics import PassError
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.lds_hazards import BARRIERS, FENCES, MEETINGS, Interval, Program, stab
from wave_mlir.compiler.pass_registry import Pass, register_pass


@register_pass("wave-place-barriers", requires="lane")
@dataclass(frozen=True)
class PlaceBarriers(Pass):
    """Place the fewest barriers that separate LDS accesses of different waves, one of which writes.

    For each LDS buffer, read after write, write after read and write after write are separated: in program order, and
    around each loop from one trip to the next. The user's own barriers count. No barrier is placed in a conditional,
    unless all lanes of the workgroup provably agree on its condition.
    In a kernel with one wave there is no hazard between waves; a `wave.wave_fence`, which is no instruction, keeps
    the order of the accesses there.

    Before:

        wave.write %x, %lds index […] : …
        %y = wave.read %lds index […] : …

    After:

        wave.write %x, %lds index […] : …
        wave.shared_memory_barrier
        %y = wave.read %lds index […] : …

    Accesses to one buffer are taken to overlap. Direct copies to LDS get a barrier that waits for them.

    A barrier that the user put in a conditional whose condition is made from the lane's or wave's own number is an
    error: waves that do not enter it would leave the others waiting.
    """

    def run(self, module: ir.Module) -> None:
        """Place the barriers of every kernel of the module."""
        for view in module.body.operations:
            if view.operation.name == "wave.kernel":
                _place(view)


def _place(kernel: ir.OpView) -> None:
    x, y, z = KernelInfo.of(kernel).block_waves
    several = x * y * z > 1
    program = Program.of(kernel.operation, BARRIERS if several else (*BARRIERS, *FENCES))
    if several:
        _check_given(program)
    intervals = program.intervals()
    given = {n.number for n in program.nodes if n.synchronises}
    allowed = {n.number for n in program.nodes if not several or program.may_place(n.number)}
    # A barrier that is an op itself serves the intervals that include its own place.
    points = stab(intervals, given, allowed)
    if points is None:
        raise _unreachable(program, intervals, given, allowed)
    asynchronous = _asynchronous(program)
    for point in points:
        before = program.nodes[point].op
        with before.location, ir.InsertionPoint(before):
            if several:
                attributes = {"wait_async": ir.UnitAttr.get()} if asynchronous else {}
                ir.Operation.create("wave.shared_memory_barrier", [], [], attributes)
            else:
                if asynchronous:
                    i64 = ir.IntegerType.get_signless(64)
                    attributes = {"load": ir.IntegerAttr.get(i64, 0)}
                    ir.Operation.create("wave.memory_counter_wait", [], [], attributes)
                ir.Operation.create("wave.wave_fence", [], [])


def _check_given(program: Program) -> None:
    """The user's own barriers are where all waves come."""
    for node in program.nodes:
        if node.op.name in MEETINGS and (conditional := program.split(node)) is not None:
            error = PassError(
                node.op,
                "this barrier is in a conditional that waves may enter differently, and a wave that stays out would "
                "leave the others waiting; move it out, or decide by a value that all lanes of the workgroup share",
            )
            raise error.note(conditional.op, "its condition depends on the lane or wave")


def _asynchronous(program: Program) -> bool:
    return any(n.op.name == "wave.gather_to_shared" for n in program.nodes)


def _unreachable(program: Program, intervals: list[Interval], given: set[int], allowed: set[int]) -> PassError:
    for interval in intervals:
        if not given & set(interval.points) and not allowed & set(interval.points):
            producer, consumer = program.nodes[interval.producer].op, program.nodes[interval.consumer].op
            error = PassError(
                consumer,
                "this access needs a barrier after another one, and both are in a conditional that not every wave may "
                "enter; move one of them out of it",
            )
            return error.note(producer, "the other access")
    raise AssertionError("stab found no solution although each interval has a point")
