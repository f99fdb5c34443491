"""When LDS buffers hold what is still needed.

A lifetime is a range of points of the program, from the first that writes a buffer to the last that reads it. By outer
ops a point is an op of the kernel's body, with all in it: a loop is one. By accesses, points are those of `Program`,
and a lifetime lies within a trip of a loop only where the trip writes every byte that it reads, before it does.
"""

from __future__ import annotations

import numpy as np
from mlir import ir

from wave_mlir.dialect import MemoryType

from .direct_copies import COPY
from .footprints import HARDWARE
from .lane_access import element_bits
from .lds import Buffer
from .lds_hazards import Node, Program
from .lds_places import Lifetime
from .lds_traffic import accesses


def outer_lifetimes(kernel: ir.OpView, found: list[Buffer]) -> list[Lifetime]:
    """The lifetime of each buffer among the ops of the kernel's body."""
    number = {view.operation: n for n, view in enumerate(kernel.operation.regions[0].blocks[0].operations)}
    points: list[list[int]] = [[] for _ in found]
    for buffer, op in accesses(kernel, found):
        while op not in number:
            op = op.parent.operation
        points[buffer].append(number[op])
    return [(min(p), max(p)) if p else None for p in points]


def inner_lifetimes(kernel: ir.OpView, found: list[Buffer]) -> list[Lifetime]:
    """The lifetime of each buffer among the accesses of the kernel."""
    program = Program.of(kernel)
    return [_inner(program, buffer) for buffer in found]


def _inner(program: Program, buffer: Buffer) -> Lifetime:
    memory = buffer.op.results[0]
    nodes = [n for n in program.nodes if any(t.memory == memory for t in n.touches)]
    if not nodes:
        return None
    first, last = nodes[0].number, nodes[-1].number
    for around in dict.fromkeys(p for n in nodes for p in n.parents):
        outer = program.nodes[around]
        if not _within_trips(program, buffer, outer, nodes):
            first, last = min(first, outer.number), max(last, outer.end - 1)
    return first, last


def _within_trips(program: Program, buffer: Buffer, loop: Node, nodes: list[Node]) -> bool:
    """Whether a buffer belongs to single trips of a loop: nothing is in it at their beginning that is read later.

    All waves have to be in the loop at the same time, too, so that barriers can stand in it.
    """
    if loop.op.name != "wave.iterate" or any(loop.number not in n.parents for n in nodes):
        return False
    if not all(program.may_place(n.number) for n in nodes):
        return False
    written = np.zeros(buffer.bytes, dtype=bool)
    for node in nodes:
        kind = next(t.kind for t in node.touches if t.memory == buffer.op.results[0])
        at = _bytes(program, buffer, node)
        if kind == "write":
            if at is not None and node.regions == (*loop.regions, (loop.number, 0)) and not _is_masked(node.op):
                written |= at
        elif at is None or (at & ~written).any():
            return False
    return True


def _is_masked(op: ir.Operation) -> bool:
    return op.name != COPY and op.opview.mask is not None  # a copy fills with zeros what it does not load


def _bytes(program: Program, buffer: Buffer, node: Node) -> np.ndarray | None:
    """Which bytes of a buffer all waves together touch; None where that is not the same in every trip."""
    place = program.place_of(node, buffer.op.results[0])
    if place is None or element_bits(MemoryType(buffer.op.results[0].type).element_type) % 8:
        return None
    if not HARDWARE.issuperset(place.start.symbols):
        return None
    waves = np.array(list(np.ndindex(*program.info.block_waves)), dtype=np.int64)
    values = {"lane": np.arange(program.info.wave_size, dtype=np.int64)[None, :]}
    values |= {f"wave.{axis}": waves[:, n : n + 1] for n, axis in enumerate("xyz")}
    shape = (len(waves), program.info.wave_size)
    start = np.broadcast_to(place.start.eval_numpy({s: values[s] for s in place.start.symbols}), shape)
    touched = np.zeros(buffer.bytes, dtype=bool)
    at = start.reshape(-1, 1) - (buffer.offset or 0) + np.arange(place.size)
    touched[at[(at >= 0) & (at < buffer.bytes)]] = True
    return touched
