"""Pipelined loops without an epilogue: the steady loop runs on until the last tile is through its last stage.

With S stages and T tiles it runs T times, and ops of stage s < S - 1 then run for tiles from T on, which are not there.
What such ops compute is dropped: the results of the loop are those of tile T - 1, which the steady loop carries. Loads
from global memory re-read the last tile. What is left is what others could see; `obstacle` looks for that.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from wave_mlir.dialect import Expr

from .lane_access import names_of, symbol_values_of
from .loop_memory import is_steady, variant_values
from .loop_slots import Access, Schedule, accesses
from .tile_ir import walk

LOADS = ("wave.read", "wave.buffer_load", "wave.gather_to_shared")
"""Ops that may read from global memory."""


@dataclass(frozen=True)
class Last:
    """The number of the last tile, over the symbols of the loop, with their values."""

    expr: Expr
    symbols: tuple[tuple[str, ir.Value], ...] = ()


@dataclass(frozen=True)
class Obstacle:
    """Why a loop keeps its epilogue, and the op that is in the way."""

    op: ir.Operation
    reason: str


def obstacle(schedule: Schedule) -> Obstacle | None:
    """What of a schedule would be seen of tiles that are not there; None where nothing is."""
    variant = variant_values(schedule.loop)
    for op in schedule.ops:
        if schedule.slots[op].stage < schedule.stages - 1:
            for access in accesses(op):
                reason = _of_access(schedule, access, variant)
                if reason:
                    return Obstacle(access.inner, reason)
    return None


def _of_access(schedule: Schedule, access: Access, variant: set[ir.Value]) -> str:
    """What is in the way at one access; nothing where it is harmless."""
    op = access.inner
    if access.inner != access.op:
        return "it is in a body of its own, and would run for tiles behind the last one"
    if "is_volatile" in op.attributes:
        return "it is volatile, and would also load for tiles behind the last one"
    if op.name == "wave.atomic" or (access.writes and not access.shared):
        return "it would also write for tiles behind the last one"
    if access.shared:
        return _of_buffer(schedule, access, variant)
    if any(_counts(schedule, value) for value in symbol_values_of(op) if value != schedule.counter):
        return "its place is made from the number of the trip by other ops, and would be behind the memory's end"
    return ""


def _of_buffer(schedule: Schedule, access: Access, variant: set[ir.Value]) -> str:
    """An LDS buffer has what no one finds any more: each tile writes there before it reads, in this loop and others."""
    if not access.writes:
        used = {s for e in access.inner.attributes["index"] for s in Expr(e).symbols}
        values = zip(names_of(access.inner), symbol_values_of(access.inner), strict=True)
        moves = any(name in used and _counts(schedule, value) for name, value in values)
        return "its place in LDS depends on the number of the trip" if moves else ""
    if not is_steady(access.inner, variant):
        return "its place in LDS, or its mask, depends on the number of the trip"
    bodies = [schedule.body]
    for use in access.memory.uses:
        body = _loop_body(use.owner.operation)
        if body is None:
            return "it would write the buffer for tiles behind the last one, and the buffer is used outside of loops"
        if body not in bodies:
            bodies.append(body)
    for body in bodies:
        found = [a for v in body.operations for a in accesses(v.operation) if a.memory == access.memory]
        first = next((n for n, a in enumerate(found) if a.reads), len(found))
        if first == 0 or any(a.writes for a in found[first:]):
            return "it would write the buffer for tiles behind the last one, and a tile reads there what another wrote"
    return ""


def _loop_body(op: ir.Operation) -> ir.Block | None:
    """The body of the loop that an op is directly in."""
    parent = op.parent
    inside = parent is not None and parent.operation.name == "wave.iterate"
    return op.block if inside else None


def _counts(schedule: Schedule, value: ir.Value) -> bool:
    """Whether a value is made from the number of the trip, or carried from trip to trip, without a load between."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return owner == schedule.body
    op = owner.operation
    if op.block != schedule.body or op.name in LOADS:
        return False
    inner = [v for region in op.regions for block in region.blocks for one in walk(block) for v in one.operands]
    return any(_counts(schedule, v) for v in (*op.operands, *inner))
