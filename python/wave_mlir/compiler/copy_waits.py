"""How many direct copies to LDS may still be in flight behind each op that waits for some: a dataflow analysis.

A wave's copies complete in the order of their issue, so a wait is a number: of how many of the last copies the wave
need not know. At a wait these are the copies issued after the last one that is needed: whose buffer may be accessed
before the next wait, on some path. On each path the number is counted; the least holds. Other loads and stores count
in the same counter, but LLVM may move them; they are left out, which waits for too much rather than too little.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mlir import ir

from .direct_copies import COPY
from .lane_access import in_lds

State = dict[int, int]
"""Copies that may be in flight (their numbers) and the least number of copies issued after them."""
_ACCESSES = ("wave.read", "wave.write", "wave.atomic")


COUNTER_WAIT = "wave.memory_counter_wait"
"""Waits until so many of the wave's loads, copies among them, are in flight at most."""


def waits(op: ir.Operation) -> bool:
    """Whether an op waits for direct copies and meets the other waves."""
    return "wait_async" in op.attributes


@dataclass
class _Graph:
    """The ops that matter, in program order, with those that may come next."""

    ops: list[ir.Operation] = field(default_factory=list)
    after: list[list[int]] = field(default_factory=list)

    def add(self, op: ir.Operation, ends: list[int]) -> int:
        number = len(self.ops)
        self.ops.append(op)
        self.after.append([])
        for end in ends:
            self.after[end].append(number)
        return number

    def block(self, block: ir.Block, ends: list[int]) -> list[int]:
        """Add a block entered from `ends`; the ops it is left from."""
        for view in block.operations:
            op = view.operation
            if len(op.regions):
                ends = self._region_op(op, ends)
            elif op.name == COPY or op.name in (*_ACCESSES, COUNTER_WAIT) or waits(op):
                ends = [self.add(op, ends)]
        return ends

    def _region_op(self, op: ir.Operation, ends: list[int]) -> list[int]:
        entry = self.add(op, ends)
        blocks = [block for region in op.regions for block in region.blocks]
        left = [end for block in blocks for end in self.block(block, [entry])]
        if op.name == "wave.iterate":
            first = [n for n in self.after[entry] if n > entry]
            for end in left:
                self.after[end] += [n for n in first if n not in self.after[end]]
            left.append(entry)
        elif len(blocks) < 2:
            left.append(entry)  # no else region
        return list(dict.fromkeys(left))


def left_in_flight(kernel: ir.Operation) -> list[tuple[ir.Operation, int]]:
    """The ops of a `wave.kernel` in lane form that wait for copies, and how many of the last copies each may leave in
    flight; those that must wait for all are not listed."""
    graph = _Graph()
    graph.block(kernel.regions[0].blocks[0], [])
    if not any(op.name == COPY for op in graph.ops):
        return []
    needed = _needed(graph)
    states = _states(graph, needed)
    found = []
    for number, op in enumerate(graph.ops):
        if waits(op):
            left = _left(graph, op, states[number], needed[number])
            if left:
                found.append((op, left))
    return found


def completed(kernel: ir.Operation) -> dict[ir.Operation, list[ir.Operation]]:
    """For each wait by count of a `wave.kernel` in lane form the direct copies that are complete behind it, whatever
    way the program takes: as many copies at least are issued after them."""
    graph = _Graph()
    graph.block(kernel.regions[0].blocks[0], [])
    counted = [(n, op) for n, op in enumerate(graph.ops) if op.name == COUNTER_WAIT and "load" in op.attributes]
    if not counted or not any(op.name == COPY for op in graph.ops):
        return {}
    states = _states(graph, _needed(graph))
    found: dict[ir.Operation, list[ir.Operation]] = {}
    for number, op in counted:
        left = ir.IntegerAttr(op.attributes["load"]).value
        found[op] = [graph.ops[n] for n, later in states[number].items() if later >= left]
    return found


def _buffer(op: ir.Operation) -> ir.Value | None:
    """The LDS buffer that an op accesses."""
    if op.name == COPY:
        return op.opview.target
    if op.name in _ACCESSES and in_lds(op.opview.memory):
        return op.opview.memory
    return None


def _needed(graph: _Graph) -> list[list[ir.Value]]:
    """For each op the buffers that may be accessed after it, before the next wait."""
    found: list[list[ir.Value]] = [[] for _ in graph.ops]
    changed = True
    while changed:
        changed = False
        for number in range(len(graph.ops) - 1, -1, -1):
            for following in graph.after[number]:
                op = graph.ops[following]
                if waits(op):
                    continue
                own = _buffer(op)
                for buffer in [*([own] if own is not None else []), *found[following]]:
                    if buffer not in found[number]:
                        found[number].append(buffer)
                        changed = True
    return found


def _states(graph: _Graph, needed: list[list[ir.Value]]) -> list[State]:
    """The copies in flight before each op. The greatest solution: numbers only shrink."""
    states: list[State | None] = [None] * len(graph.ops)
    if graph.ops:
        states[0] = {}
    work = [0]
    while work:
        number = work.pop()
        before = states[number]
        assert before is not None  # it is on the list because it has one
        after = _step(graph, number, before, needed[number])
        for following in graph.after[number]:
            joined = _join(states[following], after)
            if joined != states[following]:
                states[following] = joined
                work.append(following)
    return [s or {} for s in states]


def _join(a: State | None, b: State) -> State:
    if a is None:
        return dict(b)
    return {n: min(a.get(n, b.get(n, 0)), b.get(n, a.get(n, 0))) for n in sorted(a.keys() | b.keys())}


_MANY = 64


def _step(graph: _Graph, number: int, state: State, needed: list[ir.Value]) -> State:
    op = graph.ops[number]
    if op.name == COPY:
        return {n: min(later + 1, _MANY) for n, later in state.items()} | {number: 0}
    if op.name == COUNTER_WAIT and "load" in op.attributes:  # a wave knows of its own copies alone
        left = ir.IntegerAttr(op.attributes["load"]).value
    elif waits(op):
        left = _left(graph, op, state, needed)
    else:
        return state
    return {n: later for n, later in state.items() if later < left}


def _left(graph: _Graph, op: ir.Operation, state: State, needed: list[ir.Value]) -> int:
    """How many copies may stay in flight at a wait: those after the last one that is needed."""
    last = [later for n, later in state.items() if graph.ops[n].opview.target in needed]
    return min(last, default=0)
