"""A schedule by hand as data: which ops are meant, in which stages, in what order. No IR is known here.

    plan = LoopPlan("k_loop", at=("gemm.py", 20, 5), stages=[[[loads], [writes]], [[reads], [mmas]]])
    plans = loaded(dumped([plan]))

The ops themselves are found when the loop is there as ops of lanes; until then a set of them is `Nodes`: what has to
be true of an op to be in it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

Position = tuple[str, int, int]
"""File, line and column of what the user wrote."""
Step = tuple[str | int | bool, ...]


PLANS = "wave.manual"
"""On a kernel: the text of its schedule by hand."""
MOST = 1 << 31
"""Of numbers in a schedule; what is useful is far below."""
TAGGED = "wave.tag:"
"""How the names of locations begin that say an op's tag."""


@dataclass(frozen=True)
class Nodes:
    """The ops that pass all steps, one after the other:

    ("tagged", NAME: a tag that the kernel has), ("tag", NAME: one that it lacks), ("type", "Read" | "Write" | …),
    ("space", "global" | "shared", BOOL: those there, or the others), ("dim", NAME, PARTS, NUMBER: the ops of one of so
    many equal parts along the dim).
    """

    steps: tuple[Step, ...]
    at: Position

    def __bool__(self) -> bool:
        """Whether the kernel has the tag, so that schedules of several kernels can ask."""
        return self.steps[0][0] == "tagged"

    def then(self, at: Position, *step: str | int | bool) -> Nodes:
        """Those of the ops that pass one more step."""
        return Nodes((*self.steps, step), at)

    @property
    def name(self) -> str:
        """How errors call it."""
        return f"'{self.steps[0][1]}'"


@dataclass(frozen=True)
class Inserted:
    """An op that the schedule adds, by the name of its class, with its arguments."""

    kind: str
    arguments: tuple[tuple[str, int], ...]
    at: Position


@dataclass(frozen=True)
class Interleaved:
    """The ops of `base`, and after every intervals[i] of them, from the offsets[i]-th on, one of groups[i]."""

    base: tuple[Nodes, ...]
    groups: tuple[tuple[Nodes, ...], ...]
    intervals: tuple[int, ...]
    offsets: tuple[int, ...]
    at: Position


KINDS = ("SchedulingBarrier", "SetWavePrio", "WorkgroupBarrier", "SharedMemoryBarrier", "MemoryCounterWait")
"""Ops that a schedule may add."""
_STEPS: dict[str, tuple[type, ...]] = {
    "tagged": (str,),
    "tag": (str,),
    "space": (str, bool),
    "dim": (str, int, int),
    "iteration": (int,),
}
"""What follows the name of a step; types may be any number of names."""

Item = Nodes | Inserted | Interleaved


@dataclass
class LoopPlan:
    """What a schedule says of the loop with a tag.

    stages[s][c]: the ops of stage s (of the trip s behind the newest) that stand in cycle c; empty: one stage. order:
    the whole order of the steady loop; None: by cycles. before: ops added between prologue and steady loop. starts,
    ends: ops added at the start and end of its trips. beside: ops added ("before" or "after") the first or last of
    some. unroll: how many trips the steady loop's body has. groups: barriers of some waves "before" and "after" the
    steady loop, by the condition of these waves, an expression; "": for before the second half of the waves, for after
    the first.
    """

    loop: str
    at: Position
    stages: list[list[list[Item]]] = field(default_factory=list)
    order: list[Item] | None = None
    before: list[Inserted] = field(default_factory=list)
    starts: list[Item] = field(default_factory=list)
    ends: list[Item] = field(default_factory=list)
    beside: list[tuple[str, Nodes, Inserted]] = field(default_factory=list)
    unroll: int = 1
    groups: list[tuple[str, str, Position]] = field(default_factory=list)

    def tags(self) -> set[str]:
        """The tags of all ops that it gives a place."""
        items = [i for stage in self.stages for cycle in stage for i in cycle]
        items += [*(self.order or ()), *self.starts, *self.ends]
        sets = [i for i in items if isinstance(i, Nodes)]
        for item in items:
            if isinstance(item, Interleaved):
                sets += [*item.base, *(nodes for group in item.groups for nodes in group)]
        return {str(nodes.steps[0][1]) for nodes in sets}


def dumped(plans: Sequence[LoopPlan]) -> str:
    """Plans as a text that `loaded` reads."""
    return json.dumps([_plan_to(p) for p in plans])


def loaded(text: str) -> list[LoopPlan]:
    """The plans of a text. Raises ValueError for one that `dumped` does not write."""
    try:
        return [_plan_of(p) for p in json.loads(text)]
    except KeyError as error:
        raise ValueError(f"not the text of a schedule by hand: there is no {error}") from None
    except (TypeError, IndexError, AttributeError, RecursionError) as error:
        raise ValueError(f"not the text of a schedule by hand: {error}") from None


def _plan_to(plan: LoopPlan) -> dict[str, object]:
    return {
        "loop": plan.loop,
        "at": plan.at,
        "stages": [[_items_to(cycle) for cycle in stage] for stage in plan.stages],
        "order": None if plan.order is None else _items_to(plan.order),
        "before": _items_to(plan.before),
        "starts": _items_to(plan.starts),
        "ends": _items_to(plan.ends),
        "beside": [[where, *_items_to([nodes, op])] for where, nodes, op in plan.beside],
        "unroll": plan.unroll,
        "groups": plan.groups,
    }


def _plan_of(data: dict) -> LoopPlan:
    stages = [[_items_of(cycle) for cycle in stage] for stage in data["stages"]]
    order = None if data["order"] is None else _items_of(data["order"])
    beside = [(_side(where), _nodes_of(nodes), _inserted_of(op)) for where, nodes, op in data["beside"]]
    before = [_inserted_of(op) for op in data["before"]]
    ends = _items_of(data["starts"]), _items_of(data["ends"])
    unroll = _number(data["unroll"], "unroll", 1)
    groups = [(_side(where), _text(text, "condition"), _position(at)) for where, text, at in data.get("groups", [])]
    at = _position(data["at"])
    return LoopPlan(_text(data["loop"], "loop"), at, stages, order, before, *ends, beside, unroll, groups)


def _items_to(items: Sequence[Item]) -> list[dict[str, object]]:
    return [_item_to(i) for i in items]


def _item_to(item: Item) -> dict[str, object]:
    if isinstance(item, Nodes):
        return {"nodes": item.steps, "at": item.at}
    if isinstance(item, Inserted):
        return {"insert": item.kind, "arguments": item.arguments, "at": item.at}
    groups = [_items_to(g) for g in item.groups]
    rest = {"groups": groups, "intervals": item.intervals, "offsets": item.offsets, "at": item.at}
    return {"interleave": _items_to(item.base), **rest}


def _items_of(data: list[dict]) -> list[Item]:
    return [_item_of(d) for d in data]


def _item_of(data: dict) -> Item:
    if "nodes" in data:
        return _nodes_of(data)
    if "insert" in data:
        return _inserted_of(data)
    base = tuple(map(_nodes_of, data["interleave"]))
    groups = tuple(tuple(map(_nodes_of, g)) for g in data["groups"])
    intervals = tuple(_number(n, "interval", 1) for n in data["intervals"])
    offsets = tuple(_number(n, "offset", 0) for n in data["offsets"])
    if not len(groups) == len(intervals) == len(offsets):
        raise ValueError(f"{len(groups)} groups have {len(intervals)} intervals and {len(offsets)} offsets")
    return Interleaved(base, groups, intervals, offsets, _position(data["at"]))


def _nodes_of(data: dict) -> Nodes:
    steps = tuple(_step_of(step) for step in data["nodes"])
    if not steps:
        raise ValueError("a set of ops without steps")
    return Nodes(steps, _position(data["at"]))


def _step_of(data: Sequence) -> Step:
    name, *rest = data
    wanted = (str,) * len(rest) if name == "type" else _STEPS.get(_text(name, "step"))
    if wanted is None or len(wanted) != len(rest) or not all(map(isinstance, rest, wanted)):
        raise ValueError(f"{data} is no step to a set of ops")
    if name == "dim" and not 0 <= rest[2] < rest[1]:
        raise ValueError(f"{data} is part {rest[2]} of {rest[1]}")
    return name, *rest


def _inserted_of(data: dict) -> Inserted:
    arguments = tuple((_text(k, "argument"), _number(v, k, 0)) for k, v in data["arguments"])
    if data["insert"] not in KINDS:
        raise ValueError(f"{data['insert']} is none of the ops to add: {', '.join(KINDS)}")
    if data["insert"] == "SetWavePrio" and [name for name, _ in arguments] != ["priority"]:
        raise ValueError("SetWavePrio has one argument, priority")
    return Inserted(data["insert"], arguments, _position(data["at"]))


def _position(data: Sequence) -> Position:
    file, line, column = data
    return _text(file, "file"), _number(line, "line", 0), _number(column, "column", 0)


def _side(where: object) -> str:
    if where not in ("before", "after"):
        raise ValueError(f"{where!r} is neither before nor after")
    return str(where)


def _text(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{what} {value!r} is no text")
    return value


def _number(value: object, what: str, least: int) -> int:
    if not isinstance(value, int) or not least <= value <= MOST:
        raise ValueError(f"{what} {value!r} is no whole number from {least} to {MOST}")
    return value
