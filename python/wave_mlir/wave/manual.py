"""Schedules by hand: a function that says in which stages and in what order the ops of a tagged loop are issued.

    @tkw.wave_schedule()
    def two_stages():
        loop = tkw.get_node_by_tag("k_loop")
        loads, reads = tkw.partition_by_address_space(tkw.get_node_by_tag_and_type("a", tkw.Read), GLOBAL_ADDRESS_SPACE)
        with tkw.pipeline(loop) as pipelined:
            pipelined.set_stage([(loads,), (tkw.get_node_by_tag_and_type("a", tkw.Write),)])
            pipelined.set_stage([(reads,), (tkw.get_node_by_tag("mma"),)])

    wave_compile(options, kernel, two_stages)

The function runs once, on names of sets of ops; what it says becomes `wave_mlir.compiler.directives`, which
wave-apply-schedule applies. Errors are CompileErrors at the user's line.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, fields
from types import FunctionType, TracebackType
from typing import TypeGuard, overload

from mlir import ir

from wave_mlir.compiler.directives import MOST, PLANS, TAGGED, Inserted, Interleaved, Item, LoopPlan, Nodes, dumped
from wave_mlir.lang.global_symbols import SPACES
from wave_mlir.lang.symbols import ExpressionError, to_expr
from wave_mlir.lang.types import AddressSpace

from . import misuse, source


# --- types of ops ---
class Read:
    """Loads, from global memory or LDS."""


class Write:
    """Stores, to global memory or LDS."""


class MMA:
    """Matrix multiplications."""


class ScaledMMA:
    """Matrix multiplications with scales."""


class GatherToLDS:
    """Copies from global memory to LDS without registers."""


_TYPES = (Read, Write, MMA, ScaledMMA, GatherToLDS)


# --- ops that a schedule adds ---
@dataclass(frozen=True)
class SchedulingBarrier:
    """Nothing moves across it."""

    operations: Sequence[object] = ()


@dataclass(frozen=True)
class SetWavePrio:
    """The wave's priority from here on, 0 to 3."""

    priority: int


@dataclass(frozen=True)
class WorkgroupBarrier:
    """All waves of the workgroup arrive; it waits for no memory access."""


@dataclass(frozen=True)
class SharedMemoryBarrier:
    """All waves arrive; LDS accesses before it are visible after it."""

    wait_async_ops: bool = False


@dataclass(frozen=True)
class MemoryCounterWait:
    """Waits until at most so many accesses of the wave are outstanding."""

    load: int | None = None
    store: int | None = None
    ds: int | None = None
    exp: int | None = None


@dataclass(frozen=True)
class MemoryCounterWaitBarrier(MemoryCounterWait):
    """`MemoryCounterWait`, then `WorkgroupBarrier`."""


_ADDED = (SchedulingBarrier, SetWavePrio, WorkgroupBarrier, SharedMemoryBarrier, MemoryCounterWait)


# --- the schedule ---
@dataclass(frozen=True)
class Part:
    """A part of a pipelined loop: its steady loop (KERNEL), PROLOGUE or EPILOGUE."""

    plan: LoopPlan
    name: str


@dataclass(frozen=True)
class Cluster:
    """Ops in the order they are to be issued in."""

    items: tuple[Item, ...]


@dataclass
class _Recorder:
    tags: Collection[str] = ()
    """Tags of the kernel."""
    plans: dict[str, LoopPlan] = field(default_factory=dict)

    def plan(self, loop: object, what: str) -> LoopPlan:
        """The plan of a loop, by its tag or its KERNEL."""
        if isinstance(loop, Part):
            if loop.name != "KERNEL":
                raise source.error(f"{what}: the {loop.name} follows from the steady loop; give the KERNEL")
            return loop.plan
        if not isinstance(loop, Nodes) or len(loop.steps) != 1:
            raise source.error(f"{what} takes a loop: get_node_by_tag of an iterate's tag, or KERNEL of a pipeline")
        tag = str(loop.steps[0][1])
        return self.plans.setdefault(tag, LoopPlan(tag, source.position()))


_recorder: ContextVar[_Recorder | None] = ContextVar("schedule", default=None)


def _current(what: str) -> _Recorder:
    recorder = _recorder.get()
    if recorder is None:
        raise source.error(f"{what} is for functions decorated by tkw.wave_schedule(), which wave_compile runs")
    return recorder


class WaveSchedule:
    """A schedule by hand, the third argument of `wave_compile`."""

    def __init__(self, function: Callable[[], object]) -> None:
        if not isinstance(function, FunctionType):
            raise source.error(f"wave_schedule decorates a function that schedules a kernel; {function!r} is none")
        self.position = source.function_position(function)
        self.function = function
        self.name = function.__name__
        given = inspect.signature(function).parameters.values()
        need = [p.name for p in given if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        if need:
            text = f"schedule '{self.name}' has parameters ({', '.join(need)}), which nobody gives; take them out"
            raise source.error(text, self.position)

    def plans(self, tags: Collection[str] = ()) -> list[LoopPlan]:
        """What the function says of each loop of a kernel with these tags. Raises CompileError at the line that is
        wrong."""
        recorder = _Recorder(tags)
        token = _recorder.set(recorder)
        try:
            with misuse.located(self.position, f"schedule '{self.name}'"):
                self.function()
        finally:
            _recorder.reset(token)
        if not recorder.plans:
            text = f"schedule '{self.name}' says nothing of any loop; use pipeline or reorder_graph"
            raise source.error(text, self.position)
        return list(recorder.plans.values())

    def attach(self, module: ir.Module) -> None:
        """Write the schedule onto the kernel of a module in tile form, and the tags into the locations of its ops."""
        with module.context:
            tags: dict[str, None] = {}
            module.operation.walk(functools.partial(_name_location, tags=tags))
            text = dumped(self.plans(tags))
            for view in module.body.operations:
                if view.operation.name == "wave.kernel":
                    view.operation.attributes[PLANS] = ir.StringAttr.get(text)


def _name_location(op: ir.Operation, tags: dict[str, None]) -> ir.WalkResult:
    """What becomes of an op has its location: with the tag as its name, the tag is with all of them. Notes the tag."""
    op = op.operation
    if "wave.tag" in op.attributes:
        tag = ir.StringAttr(op.attributes["wave.tag"]).value
        op.location = ir.Location.name(f"{TAGGED}{tag}", op.location)
        tags[tag] = None
    return ir.WalkResult.ADVANCE


@overload
def wave_schedule(function: Callable[[], object]) -> WaveSchedule: ...
@overload
def wave_schedule(function: None = None) -> Callable[[Callable[[], object]], WaveSchedule]: ...
def wave_schedule(
    function: Callable[[], object] | None = None,
) -> WaveSchedule | Callable[[Callable[[], object]], WaveSchedule]:
    """Decorates a function without parameters that schedules a kernel by hand, with or without parentheses."""
    return WaveSchedule if function is None else WaveSchedule(function)


# --- sets of ops ---
def get_node_by_tag(tag: str) -> Nodes:
    """All ops that what has the tag became; for a loop's tag the loop. False where the kernel lacks the tag."""
    if not isinstance(tag, str):
        raise source.error(f"get_node_by_tag: a tag is a text, not {tag!r}")
    known = tag in _current("get_node_by_tag").tags
    return Nodes((("tagged" if known else "tag", tag),), source.position())


def get_node_by_tag_and_type(tag: str, node_type: type | Sequence[type]) -> Nodes:
    """Those of a type: Read, Write, MMA, ScaledMMA or GatherToLDS."""
    return get_node_by_tag(tag).then(source.position(), "type", *_type_names(node_type, "get_node_by_tag_and_type"))


def get_node_by_tag_and_iteration(tag: str, iteration: int) -> Nodes:
    """Those for one tile of the trips of a loop that `unroll` is called for, from 0 on."""
    if isinstance(iteration, bool) or not isinstance(iteration, int) or iteration < 0:
        text = f"get_node_by_tag_and_iteration: the iteration is a whole number from 0 on, not {iteration!r}"
        raise source.error(text)
    return get_node_by_tag(tag).then(source.position(), "iteration", iteration)


def _type_names(node_type: type | Sequence[type], what: str) -> list[str]:
    given = list(node_type) if isinstance(node_type, (list, tuple)) else [node_type]
    if not all(t in _TYPES for t in given):
        names = ", ".join(t.__name__ for t in _TYPES)
        raise source.error(f"{what}: a type of ops is one of {names}, not {node_type!r}")
    return [t.__name__ for t in given]  # type: ignore[union-attr]


def _nodes(value: object, what: str) -> Nodes:
    if isinstance(value, Nodes):
        return value
    raise source.error(f"{what} takes ops of the kernel, as get_node_by_tag gives them; {value!r} is none")


def filter_nodes(nodes: Nodes, subgraph: object = None, node_type: type | Sequence[type] | None = None) -> Nodes:
    """Those in a part of the pipeline (KERNEL; the other parts follow from it), and of a type."""
    found = _nodes(nodes, "filter_nodes")
    if subgraph is not None:
        _current("filter_nodes").plan(subgraph, "filter_nodes")
    if node_type is not None:
        found = found.then(source.position(), "type", *_type_names(node_type, "filter_nodes"))
    return found


def partition_by_address_space(nodes: Nodes, address_space: object) -> tuple[Nodes, Nodes]:
    """Accesses of an address space, and the others."""
    given = _nodes(nodes, "partition_by_address_space")
    space = address_space.value if isinstance(address_space, AddressSpace) else None
    if isinstance(address_space, Hashable) and space is None:
        space = SPACES.get(address_space)  # type: ignore[call-overload]
    if space not in ("global", "shared"):
        raise source.error("partition_by_address_space: the space is GLOBAL_ADDRESS_SPACE or SHARED_ADDRESS_SPACE")
    at = source.position()
    return given.then(at, "space", space, True), given.then(at, "space", space, False)


def partition_by_dim(nodes: Nodes, dim: object, num_partitions: int) -> tuple[Nodes, ...]:
    """So many equal parts of the ops, by where they stand along the loop's dim: of MMAs, and of LDS reads for them."""
    given, at = _nodes(nodes, "partition_by_dim"), source.position()
    if not isinstance(num_partitions, int) or num_partitions < 1:
        raise source.error(f"partition_by_dim: num_partitions is a whole number from 1 on, not {num_partitions!r}")
    return tuple(given.then(at, "dim", str(dim), num_partitions, n) for n in range(num_partitions))


# --- stages and order ---
class PipelinedLoop:
    """`with pipeline(loop) as p:`; each `set_stage` is one stage more, from that of the newest trip on."""

    def __init__(self, plan: LoopPlan) -> None:
        self._plan = plan
        self.KERNEL = Part(plan, "KERNEL")
        self.PROLOGUE = Part(plan, "PROLOGUE")
        self.EPILOGUE = Part(plan, "EPILOGUE")

    def __enter__(self) -> PipelinedLoop:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None and not self._plan.stages:
            raise source.error("pipeline: no stage is set; call set_stage for each stage")

    def set_stage(self, nodes: object) -> None:
        """The ops of one stage: for each cycle of the loop, those that are issued in it; some alone are one cycle."""
        self._plan.stages.append([_items(cycle, "set_stage") for cycle in _listed(nodes)])


def pipeline(iterate: Nodes) -> PipelinedLoop:
    """Pipelines a loop: the trips of its stages overlap."""
    return PipelinedLoop(_current("pipeline").plan(iterate, "pipeline"))


def cluster(ops: object) -> Cluster:
    """Ops, of the kernel and added ones, in the order they are to be issued in."""
    return Cluster(tuple(_items(ops, "cluster")))


def reorder_graph(loop: object, clusters: object) -> None:
    """The whole order of the loop: one cluster after the other."""
    plan = _current("reorder_graph").plan(loop, "reorder_graph")
    plan.order = _items(clusters, "reorder_graph")


def interleave_operations(
    base_ops: object,
    interleaved_ops: object,
    intervals: int | Sequence[int] = 1,
    start_offsets: int | Sequence[int] = 0,
    start_after_groups: Sequence[Sequence[int]] | None = None,
) -> list[Interleaved]:
    """The base ops, and of each group one op after every so many of them, from an offset on; the rest at the end."""
    if start_after_groups not in (None, [], ()) and any(_listed(start_after_groups)):
        raise source.error("interleave_operations: start_after_groups is not in this version; give start_offsets")
    base = tuple(_nodes(n, "interleave_operations") for n in _listed(base_ops))
    groups = tuple(tuple(_nodes(n, "interleave_operations") for n in _listed(g)) for g in _listed(interleaved_ops))
    every, first = _numbers(intervals, len(groups)), _numbers(start_offsets, len(groups))
    if not _all_from(1, every, len(groups)) or not _all_from(0, first, len(groups)):
        raise source.error(
            "interleave_operations: each group has an interval from 1 on and an offset from 0 on; there are "
            f"{len(groups)} groups, intervals {every} and offsets {first}"
        )
    return [Interleaved(base, groups, tuple(every), tuple(first), source.position())]


def unroll(loop: object, factor: int) -> None:
    """The steady loop's body has so many trips."""
    if not isinstance(factor, int) or not 1 <= factor <= MOST:
        raise source.error(f"unroll: the factor is a whole number from 1 on, not {factor!r}")
    _current("unroll").plan(loop, "unroll").unroll = factor


def _listed(value: object) -> list[object]:
    """What there is of several; one alone is a list of one."""
    return list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]


def _numbers(value: object, count: int) -> list[object]:
    """A number for each of so many; one alone is for all."""
    return [value] * count if isinstance(value, int) else _listed(value)


def _all_from(least: int, values: list[object], count: int) -> TypeGuard[list[int]]:
    return len(values) == count and all(isinstance(v, int) and least <= v <= MOST for v in values)


def _items(values: object, what: str) -> list[Item]:
    found: list[Item] = []
    for value in _listed(values):
        if isinstance(value, Iterable) and not isinstance(value, str):
            found += _items(value, what)
        elif isinstance(value, Cluster):
            found += value.items
        elif isinstance(value, (Nodes, Interleaved)):
            found.append(value)
        else:
            found += _added_all(value, what)
    return found


def _added_all(value: object, what: str) -> list[Inserted]:
    """The ops that one stands for, in order."""
    if isinstance(value, MemoryCounterWaitBarrier):
        wait = MemoryCounterWait(value.load, value.store, value.ds, value.exp)
        return [_added(wait, what), _added(WorkgroupBarrier(), what)]
    return [_added(value, what)]


def _added(value: object, what: str) -> Inserted:
    """An op that the schedule adds, as data."""
    if not isinstance(value, _ADDED):
        names = ", ".join(f"{t.__name__}()" for t in _ADDED)
        raise source.error(f"{what}: {value!r} is neither ops of the kernel nor one of {names}")
    if isinstance(value, SetWavePrio) and value.priority not in range(4):
        raise source.error(f"SetWavePrio: a priority is 0, 1, 2 or 3, not {value.priority}")
    if isinstance(value, SchedulingBarrier) and value.operations not in (None, [], ()):
        text = "SchedulingBarrier: ops that may cross it are not in this version; write SchedulingBarrier([])"
        raise source.error(text)
    pairs = [(f.name, getattr(value, f.name)) for f in fields(value) if f.name != "operations"]
    wrong = [f"{n} = {v!r}" for n, v in pairs if v is not None and not (isinstance(v, int) and 0 <= v <= MOST)]
    if wrong:
        text = f"{type(value).__name__}: {', '.join(wrong)}; give a whole number from 0 to {MOST}"
        raise source.error(text)
    arguments = tuple((name, int(v)) for name, v in pairs if v is not None)
    return Inserted(type(value).__name__, arguments, source.position())


def _insert(where: str, target: object, op: object) -> None:
    added = _added_all(op, f"insert_{where}")
    recorder = _current(f"insert_{where}")
    tagged = isinstance(target, Nodes) and len(target.steps) == 1 and target.steps[0][1] in recorder.plans
    if (isinstance(target, Part) or tagged) and where == "before":
        recorder.plan(target, "insert_before").before += added
        return
    if isinstance(target, Part) or tagged:
        raise source.error(
            "insert_after: ops right after a steady loop are not in this version; barriers that its LDS buffers need "
            "are placed by the compiler, use insert_at_end for others"
        )
    nodes = _nodes(target, f"insert_{where}")
    if len(recorder.plans) != 1:
        raise source.error(f"insert_{where}: say first what loop is meant, with pipeline or reorder_graph of one loop")
    plan = next(iter(recorder.plans.values()))
    plan.beside += [(where, nodes, one) for one in (added if where == "before" else added[::-1])]


def insert_before(target: object, op: object) -> None:
    """Adds an op before the first of some, or before a loop: between prologue and steady loop."""
    _insert("before", target, op)


def insert_after(target: object, op: object) -> None:
    """Adds an op after the last of some."""
    _insert("after", target, op)


def insert_at_start(loop: object, op: object) -> None:
    """Adds an op at the start of the steady loop's trips."""
    _current("insert_at_start").plan(loop, "insert_at_start").starts.extend(_added_all(op, "insert_at_start"))


def insert_at_end(loop: object, op: object) -> None:
    """Adds an op at the end of the steady loop's trips."""
    _current("insert_at_end").plan(loop, "insert_at_end").ends.extend(_added_all(op, "insert_at_end"))


def stagger(loop: object) -> None:
    """Two halves of the waves run the steady loop one barrier apart: those with the higher numbers behind."""
    plan = _current("stagger").plan(loop, "stagger")
    plan.groups += [(where, "", source.position()) for where in ("before", "after")]


def insert_cond_barrier_before(condition: object, target: object) -> None:
    """A barrier before the steady loop that only the waves for which a condition holds execute: from there on they are
    one barrier behind the others, which execute one alone behind the loop (`insert_cond_barrier_after`).

    condition: a relation over THREAD_0, THREAD_1, THREAD_2, the same for all lanes of a wave. target: the loop.
    """
    _cond_barrier("before", condition, target)


def insert_cond_barrier_after(condition: object, target: object) -> None:
    """A barrier behind the steady loop of those waves that did not execute one before it."""
    _cond_barrier("after", condition, target)


def _cond_barrier(where: str, condition: object, target: object) -> None:
    what = f"insert_cond_barrier_{where}"
    plan = _current(what).plan(target, what)
    try:
        # exact: sympy makes THREAD_0 / 64 >= 1 of floor(THREAD_0 / 64) >= 1, which is the same.
        text = str(to_expr(condition, exact=True))  # type: ignore[arg-type]
    except ExpressionError as error:
        raise source.error(f"{what}: {error}") from None
    plan.groups.append((where, text, source.position()))
