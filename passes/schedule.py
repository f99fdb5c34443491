"""wave-schedule: decides in which order and for which trip the ops of a loop are issued."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mlir import ir
from wave_mlir import scheduling
from wave_mlir.compiler.diagnostics import emit_warning
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.lane_access import REST
from wave_mlir.compiler.loop_problem import CannotSchedule, LoopProblem
from wave_mlir.compiler.loop_schedule import (
    ONE_TRIP,
    SPECIALIZED,
    STAGGERED,
    annotate,
    check_by_hand,
    check_room,
    copies_for,
    loops,
    real,
    solve,
    spare_lds,
)
from wave_mlir.compiler.loop_schedule import notes as listing
from wave_mlir.compiler.pass_options import at_least
from wave_mlir.compiler.pass_registry import Pass, PassError, option, register_pass
from wave_mlir.compiler.service_waves import assign, undo
from wave_mlir.compiler.tile_ir import body_of, kernels
from wave_mlir.passes.pipelines import Strategy


def _warn(where: ir.Operation, error: CannotSchedule, what: str, then: str) -> None:
    notes = [] if error.op == where else [(error.op.location, "this op is in the way")]
    emit_warning(where, f"{what}: {error}; {then}", notes)


@register_pass("wave-schedule", requires="lane", establishes="lane")
@dataclass(frozen=True)
class Schedule(Pass):
    """Annotate the innermost loops with a schedule: interval, stages, a place for each op, copies of LDS buffers.

    The ops of a loop's body, their latencies and what they use of the machine make a problem (docs/scheduling.md); a
    strategy solves it and the solution is verified by other means. `list` keeps trips apart and orders the ops of one;
    `modulo` overlaps trips so that the busiest unit is always busy; `prefetch` puts the loads and LDS accesses of a
    loop of MMAs between these, each a little before it is needed, and leaves other loops to `modulo`; `four-stage` puts
    loads, LDS writes, LDS reads and computation each a trip after the one before; `attention` computes the first
    product of one trip together with the rest of the trip before. LDS buffers get two copies where LDS has room.

    Before:

        %sum = wave.iterate K iv(%k) trips(64) iter_args(%acc = %zero : vector<4xf32>) {
          %a = wave.buffer_load …
          wave.write %a, %lds index […] : …
          %x = wave.read %lds index […] : …
          %z = wave.mma %x, %y, %acc …

    After:

        %lds = wave.allocate {wave.copies = 2 : i64} : …
        %sum = wave.iterate K … attributes {wave.pipeline =
            {interval = 1024 : i64, stages = 3 : i64, strategy = "modulo", unroll = 2 : i64}} {
          %a = wave.buffer_load … {wave.slot = {order = 0 : i64, stage = 0 : i64}}
          wave.write %a, %lds … {wave.slot = {order = 7 : i64, stage = 0 : i64}}
          %x = wave.read %lds … {wave.slot = {order = 3 : i64, stage = 1 : i64}}
          %z = wave.mma … {wave.slot = {order = 1 : i64, stage = 2 : i64}}
        }

    `file` has schedules by hand, in the text form of docs/scheduling.md, for the loops it names (KERNEL.DIM, a second
    loop over the same dim KERNEL.DIM.1); they are verified like others, but for time, and a broken dependence is an
    error at its op. `dump` writes all schedules in that form; where an op comes from is a comment beside its line.

    `ping-pong` is for 8 waves: it divides them into two groups, of which one loads while the other computes
    (`stagger` in wave.pipeline is the condition of those behind). The barriers between clusters are put into the loop;
    accesses to LDS that have too few between are an error of wave-place-barriers. A higher `priority` around each run
    of at least four MMAs can be had with any strategy.

    `specialized` gives the workgroup as many waves more, along z, that only copy tiles to LDS, and says at each access
    whose it is (`wave.only`); wave-specialize-waves takes the two programs apart. Loops are scheduled as by `prefetch`,
    but that loads for LDS take no registers. A kernel without copies to LDS in a loop, with synchronisation of its own,
    or whose waves need too many registers, stays as it is, with a warning.

    It moves nothing. A loop that cannot be scheduled stays as it is, with a warning that names the op in the way.
    Loops that run what another one left (`wave.rest`) are not worth it, nor are loops of one trip but by `list`.
    """

    strategy: Strategy = option("none", help="how to schedule loops")
    copies: int = option(0, help="copies of each LDS buffer of a loop; 0 = two where LDS has room")
    priority: int = option(-1, help="priority of waves in clusters of MMAs, 1 to 3; 0: none; -1: 1 for ping-pong")
    file: str = option("", help="text file of schedules by hand: its loops get these instead")
    dump: str = option("", help="text file to write the schedules of all loops to")

    def __post_init__(self) -> None:
        """Raises ValueError for a number of copies that there is not."""
        at_least(self, "copies", 0)

    def run(self, module: ir.Module) -> None:
        """Annotate the loops of every kernel of the module."""
        if self.strategy == "none" and not self.file:
            return
        run = _Run(self, self._given(module))
        for kernel in kernels(module):
            run.kernel(KernelInfo.of(kernel))
        run.finish(module)

    def _given(self, module: ir.Module) -> dict[str, scheduling.Schedule]:
        """The schedules of the file."""
        try:
            text = Path(self.file).read_text(encoding="utf-8") if self.file else ""
            return {s.name: s for s in scheduling.load(text, self.file)}
        except OSError as error:
            raise PassError(module.operation, f"cannot read the schedules of {self.file}: {error.strerror}") from None
        except UnicodeDecodeError:
            text = f"cannot read the schedules of {self.file}: it is no text in UTF-8; give what dump has written"
            raise PassError(module.operation, text) from None
        except scheduling.SchedulingError as error:
            raise PassError(module.operation, str(error)) from None


class _Run:
    """The pass at work on one module."""

    def __init__(self, options: Schedule, given: dict[str, scheduling.Schedule]) -> None:
        self.options = options
        self.given = given
        self.names: dict[str, int] = {}
        self.made: list[scheduling.Schedule] = []
        self.notes: dict[str, dict[str, str]] = {}
        given = options.priority
        self.priority = int(options.strategy == STAGGERED) if given < 0 else given

    def kernel(self, info: KernelInfo) -> None:
        """Annotate the loops of one kernel."""
        found = [loop for loop in loops(body_of(info.kernel)) if REST not in loop.attributes]
        if self.options.strategy != SPECIALIZED:
            for loop in found:
                self.schedule(info, loop)
            return
        try:
            info = assign(info)
        except CannotSchedule as error:
            _warn(info.kernel.operation, error, "no waves of this kernel only copy to LDS", "all compute")
            return
        before = len(self.made)
        for loop in found:
            self.schedule(info, loop)
        if len(self.made) == before:
            undo(info)

    def schedule(self, info: KernelInfo, op: ir.Operation) -> None:
        """Annotate one loop."""
        try:
            loop = LoopProblem(info, op, spare_lds(info))
        except CannotSchedule as error:
            _warn(op, error, "this loop is not scheduled", "it runs as it is written")
            return
        loop.name = self._unique(loop.name)
        schedule = self._by_hand(loop) if loop.name in self.given else self._solved(loop)
        if schedule is not None:
            annotate(loop, schedule, self.priority or 1)
            self.made.append(real(loop, schedule))
            self.notes[loop.name] = listing(loop)

    def _unique(self, name: str) -> str:
        """A name for each loop: a second one over the same dim gets a number."""
        count = self.names.get(name, 0)
        self.names[name] = count + 1
        return f"{name}.{count}" if count else name

    def _by_hand(self, loop: LoopProblem) -> scheduling.Schedule:
        schedule = self.given.pop(loop.name)
        check_by_hand(loop, schedule)
        return schedule

    def _solved(self, loop: LoopProblem) -> scheduling.Schedule | None:
        strategy = self.options.strategy
        if strategy == "none" or (strategy not in ONE_TRIP and loop.trips in (0, 1)):
            return None  # there is nothing that a trip could overlap with
        copies = copies_for(loop, strategy, self.options.copies)
        check_room(loop, copies)
        try:
            return solve(loop, strategy, copies, self.priority)
        except scheduling.NoSchedule as error:
            notes = [(loop.ops[n].location, "one of these ops") for n in error.operations if n in loop.ops]
            emit_warning(loop.loop, f"this loop is not scheduled: {error}; it runs as it is written", notes[:4])
            return None

    def finish(self, module: ir.Module) -> None:
        """Write the text, and say which given schedules had no loop."""
        if self.given:
            have = ", ".join(self.names) or "none"
            missing = ", ".join(self.given)
            text = f"{self.options.file} has schedules of loops that are not there: {missing}; the loops are {have}"
            raise PassError(module.operation, text)
        if self.options.dump:
            try:
                Path(self.options.dump).write_text(scheduling.dump(*self.made, notes=self.notes), encoding="utf-8")
            except OSError as error:
                text = f"cannot write the schedules to {self.options.dump}: {error.strerror}"
                raise PassError(module.operation, text) from None
