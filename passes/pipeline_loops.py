"""wave-pipeline-loops: prologue, steady loop and epilogue of scheduled loops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mlir import ir
from wave_mlir.compiler.diagnostics import emit_warning
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.loop_overrun import Last, obstacle
from wave_mlir.compiler.loop_pipeline import Numbers, Pipeline, shift
from wave_mlir.compiler.loop_slots import COPIES, FIRST, PIPELINE, SLOT, STEADY_ALONE, Schedule
from wave_mlir.compiler.pass_registry import ModuleOp, Pass, PassError, option, register_pass
from wave_mlir.compiler.tile_ir import ancestors, bound_names, bound_values, kernels, walk
from wave_mlir.compiler.uniform import UNIFORM
from wave_mlir.dialect import Expr, Facts


@register_pass("wave-pipeline-loops", requires="lane", establishes="lane")
@dataclass(frozen=True)
class PipelineLoops(Pass):
    """Rearrange the loops that have a schedule so that tiles overlap: prologue, steady loop, epilogue.

    The loop says `wave.pipeline = {stages, unroll}`, each op with an effect and each that matters `wave.slot = {stage,
    order}`; other ops follow their users. At time t the steady loop runs the op of stage s for tile t - s, by
    increasing order, which scheduling barriers hold. Values that a later time uses are carried by the loop. An LDS
    buffer with `wave.copies = n` becomes n buffers that tiles take turns with, and the loop is unrolled by a multiple
    of n, so that which one it is is known. Ops with `wave.first` right before the loop go between its prologue and its
    steady loop. Every dependence is verified first; a broken one is an error that names
    both ops.

    With `eliminate-epilogue` the steady loop runs on until the last tile is through, T floordiv U trips. Its loads of
    tiles that are not there read the last one, and what comes of them is dropped. A loop in which other tiles, or who
    reads memory, would see something of them keeps its epilogue, with a warning that names the op.

    With S stages, T tiles and unroll U the steady loop otherwise makes (T - S + 1) floordiv U trips. The tiles left go
    to a remainder loop, which is the loop as it was; it takes all where there are too few for one trip. If T is known
    at run time, the parts are in a conditional that all waves enter or none.

    Before:

        %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %zero : …) {
          %x = wave.buffer_load %a … symbols(iv.K = %k) {wave.slot = {stage = 0, order = 1}} : …
          %y = arith.addf %x, %s {wave.slot = {stage = 1, order = 0}} : …
          wave.yield %y : …
        } {wave.pipeline = {stages = 2, unroll = 1}}

    After:

        %p = wave.buffer_load %a …                    // tile 0
        %s = wave.iterate K iv(%k) trips(7) iter_args(%u = %p, %v = %zero : …) {
          %y = arith.addf %u, %v : …
          %x = wave.buffer_load %a … iv.K + 1 … : …
          wave.yield %x, %y : …
        } {wave.steady}
        %r = arith.addf %s#0, %s#1 : …                // tile 7

    While loops have no tiles to count and cannot be pipelined.
    """

    eliminate_epilogue: bool = option(False, help="let the steady loop run on instead of an epilogue, where legal")

    def run(self, module: ModuleOp) -> None:
        """Pipeline the annotated loops of every kernel of the module."""
        for kernel in kernels(module):
            info = KernelInfo.of(kernel)
            block = kernel.operation.regions[0].blocks[0]
            loops = [op for op in walk(block) if op.name == "wave.iterate" and PIPELINE in op.attributes]
            schedules = [Schedule.of(loop) for loop in loops]
            buffers = rotating(schedules)
            for schedule in schedules:
                pipeline_loop(info, schedule, {v: buffers[v] for v in schedule.copies}, self._last(info, schedule))

    def _last(self, info: KernelInfo, schedule: Schedule) -> Last | None:
        """The last tile of a loop that is to have no epilogue and needs none; a warning where it needs one."""
        if not self.eliminate_epilogue or schedule.stages == 1:
            return None
        loop = schedule.loop
        found = obstacle(schedule)
        if found is not None:
            notes = [(found.op.location, f"{found.reason}")]
            emit_warning(loop, "this loop keeps its epilogue, as this op would do what others can see", notes)
            return None
        trips = info.resolve(Expr(loop.attributes["trips"]), bound_names(loop))
        symbols = tuple((n, v) for n, v in bound_values(loop).items() if n in trips.symbols)
        return Last((trips - 1).simplify(info.facts_for(bound_names(loop))), symbols)


def rotating(schedules: list[Schedule]) -> dict[ir.Value, list[ir.Value]]:
    """The copies of each buffer that tiles take turns with; the first is the buffer itself."""
    users: dict[ir.Value, list[Schedule]] = {}
    for schedule in schedules:
        for buffer in schedule.copies:
            users.setdefault(buffer, []).append(schedule)
    return {buffer: _copies(buffer, found) for buffer, found in users.items()}


def _copies(buffer: ir.Value, schedules: list[Schedule]) -> list[ir.Value]:
    count = schedules[0].copies[buffer]
    allocate = buffer.owner.operation
    loops = [schedule.loop for schedule in schedules]
    for use in buffer.uses if count > 1 else ():
        if not any(around in loops for around in ancestors(use.owner.operation)):
            error = PassError(
                use.owner.operation,
                f"this op is in no loop that is pipelined with this buffer, and tiles take turns with {count} copies "
                "of it; take wave.copies off the buffer",
            )
            raise error.note(allocate, "the buffer")
    del allocate.attributes[COPIES]
    made = [buffer]
    for _ in range(count - 1):
        with allocate.location, ir.InsertionPoint.after(made[-1].owner):
            made.append(allocate.clone().operation.results[0])
    return made


def pipeline_loop(
    info: KernelInfo,
    schedule: Schedule,
    buffers: dict[ir.Value, list[ir.Value]],
    last: Last | None = None,
    make: Callable[[Schedule, dict[ir.Value, list[ir.Value]], Facts, Last | None], Pipeline] = Pipeline,
) -> None:
    """Rearrange one loop: `make` gives what builds its parts, for tiles up to `last` without an epilogue."""
    loop, unroll = schedule.loop, schedule.unroll
    start = schedule.stages - 1 if last is None else 0  # tiles that an epilogue runs
    facts = info.facts_for(bound_names(loop))
    all_trips = info.resolve(Expr(loop.attributes["trips"]), bound_names(loop))
    trips = Expr.max((all_trips - start) // unroll, Expr.constant(0)).simplify(facts)
    pipeline = make(schedule, buffers, facts, last)
    known = trips.constant_value
    if known == 0:
        _leave(loop)
        return
    taken = (trips * unroll + start).simplify(facts)
    end = (trips * unroll + schedule.stages - 1).simplify(facts)
    if known is not None:
        with loop.location, ir.InsertionPoint(loop):
            results = pipeline.build(trips, Numbers(end.constant_value))
    else:
        results = _guarded(pipeline, trips, end)
        taken = Expr.select(trips.ge(1), taken, Expr.constant(0)) if start else taken
        if last is not None and unroll == 1:
            taken = all_trips  # or none, where that is negative
    _remain(loop, results, all_trips, taken)


def _guarded(pipeline: Pipeline, trips: Expr, first: Expr) -> list[ir.Value]:
    """The parts, up to tile `first`, under a conditional that asks whether the steady loop makes a trip; with one stage
    they need none."""
    loop = pipeline.schedule.loop
    symbols = bound_values(loop)
    end = Numbers(None, first, tuple((n, v) for n, v in symbols.items() if n in first.symbols))
    inits = list(loop.opview.init_args)
    with loop.location, ir.InsertionPoint(loop):
        if pipeline.schedule.stages == 1:
            return pipeline.build(trips, end)
        used = {n: v for n, v in symbols.items() if n in trips.symbols}
        attributes: dict[str, ir.Attribute] = {"condition": trips.ge(1), UNIFORM: ir.UnitAttr.get()}
        attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([0, len(used), len(inits)])
        if used:
            attributes["symbol_names"] = ir.ArrayAttr.get([ir.StringAttr.get(n) for n in used])
        types = [v.type for v in inits]
        branch = ir.Operation.create("wave.conditional", types, [*used.values(), *inits], attributes, regions=2)
        with ir.InsertionPoint(branch.regions[0].blocks.append()):
            results = pipeline.build(trips, end)
            ir.Operation.create("wave.yield", [], results)
    return list(branch.results)


def _leave(loop: ir.Operation) -> None:
    """Take the annotations off a loop that stays as it is."""
    del loop.attributes[PIPELINE]
    for view in loop.block.operations:
        if view.operation == loop:
            break
        if FIRST in view.operation.attributes:
            del view.operation.attributes[FIRST]
    for op in list(walk(loop.regions[0].blocks[0])):
        if STEADY_ALONE in op.attributes:
            op.erase()
        elif SLOT in op.attributes:
            del op.attributes[SLOT]


def _remain(loop: ir.Operation, results: list[ir.Value], trips: Expr, taken: Expr) -> None:
    """Let the loop run the tiles that are left; without any it goes."""
    left = trips - taken
    if left.constant_value is None and taken.constant_value is None and trips == taken:
        left = Expr.constant(0)
    if left.constant_value == 0:
        for old, new in zip(loop.results, results, strict=True):
            old.replace_all_uses_with(new)
        loop.erase()
        return
    _leave(loop)
    loop.attributes["trips"] = left
    for number, value in enumerate(results):
        loop.operands[number] = value
    shift(loop, taken)
