"""Dependences through memory between the accesses of a loop's body, and the barriers that go with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mlir import ir

from wave_mlir.dialect import Expr
from wave_mlir.scheduling import (
    ORDER,
    READ_AFTER_WRITE,
    WRITE_AFTER_READ,
    WRITE_AFTER_WRITE,
    Dependence,
    Operation,
)

from .lane_access import names_of, same_tile, symbol_values_of
from .lds_hazards import accesses_of
from .loop_costs import is_free

_GLOBAL_READS = ("wave.read", "wave.buffer_load")
_GLOBAL_WRITES = ("wave.write", "wave.buffer_store", "wave.atomic")


@dataclass(frozen=True)
class Access:
    """An op of the body that reads or writes a buffer; `number` is its place in program order."""

    number: int
    name: str
    op: ir.Operation
    writes: bool
    reads: bool

    @property
    def volatile(self) -> bool:
        """Whether it keeps its place among all accesses of its memory, as one that writes does."""
        return "is_volatile" in self.op.attributes


def lds_accesses(body: list[tuple[str, ir.Operation]]) -> dict[ir.Value, list[Access]]:
    """The accesses of each LDS buffer, in program order."""
    found: dict[ir.Value, list[Access]] = {}
    for number, (name, op) in enumerate(body):
        reads, writes = accesses_of(op)
        for buffer in (*reads, *(w for w in writes if w not in reads)):
            access = Access(number, name, op, buffer in writes, buffer in reads or op.name == "wave.atomic")
            found.setdefault(buffer, []).append(access)
    return found


def kind_of(first: Access, second: Access) -> str | None:
    """How the second access depends on the first; None if it does not."""
    return data_kind_of(first, second) or (ORDER if first.volatile or second.volatile else None)


def data_kind_of(first: Access, second: Access) -> str | None:
    """How the second access depends on the first by what is in memory: where waves share that, by a barrier."""
    if first.writes and second.reads:
        return READ_AFTER_WRITE
    if first.reads and second.writes:
        return WRITE_AFTER_READ
    return WRITE_AFTER_WRITE if first.writes and second.writes else None


def _distance(first: Access, second: Access) -> int:
    """From which trip on the second needs the first: copies of one tile op meet in later trips only."""
    return int(first.number >= second.number or same_tile(first.op, second.op))


def buffer_dependences(
    accesses: list[Access], buffer: str, operations: Mapping[str, Operation], several: bool
) -> list[Dependence]:
    """What the accesses of one buffer need of each other, within a trip and from trip to trip."""
    found = []
    for a in accesses:
        for b in accesses:
            kind, distance = kind_of(a, b), _distance(a, b)
            if kind is None or a is b:
                continue
            latency = operations[a.name].latency if kind == READ_AFTER_WRITE and several else 0
            found.append(Dependence(a.name, b.name, distance, latency, kind, "LDS", buffer))
    return found


def global_dependences(body: list[tuple[str, ir.Operation]]) -> list[Dependence]:
    """Accesses of global memory stay in order where one writes: arguments of a kernel may overlap."""
    found = []
    accesses = []
    for number, (name, op) in enumerate(body):
        writes = op.name in _GLOBAL_WRITES and not any(accesses_of(op))
        reads = op.name in _GLOBAL_READS and not any(accesses_of(op)) or (writes and op.name == "wave.atomic")
        if op.name == "wave.gather_to_shared":
            reads, writes = True, not any(accesses_of(op))
        if reads or writes:
            accesses.append(Access(number, name, op, writes, reads))
    for a in accesses:
        for b in accesses:
            kind = kind_of(a, b)
            if kind is not None and a is not b:
                found.append(Dependence(a.name, b.name, _distance(a, b), 0, kind, "global memory may overlap"))
    return found


def may_copy(buffer: ir.Value, loop: ir.Operation, accesses: list[Access], variant: set[ir.Value]) -> bool:
    """Whether each trip may have a copy of the buffer of its own.

    So it is when the buffer is used in this loop's body only, written before it is read, and written in the same places
    in every trip: then what a trip reads was written by the same trip.
    """
    body = loop.regions[0].blocks[0]
    if has_offset(buffer) or any(use.owner.operation.block != body for use in buffer.uses):
        return False
    first = min((a.number for a in accesses if a.reads), default=0)
    return all(a.number < first and not a.reads and is_steady(a.op, variant) for a in accesses if a.writes)


def has_offset(buffer: ir.Value) -> bool:
    """Whether a buffer says its place in LDS, so that it may have bytes in common with others that do."""
    return "offset" in buffer.owner.operation.attributes


def variant_values(loop: ir.Operation) -> set[ir.Value]:
    """The values of a loop's body that may differ from trip to trip."""
    block = loop.regions[0].blocks[0]
    found: set[ir.Value] = set(block.arguments)
    for view in block.operations:
        op = view.operation
        reads = not is_free(op) and op.name.startswith("wave.")
        if reads or any(v in found for v in op.operands):
            found.update(op.results)
    return found


def is_steady(op: ir.Operation, variant: set[ir.Value]) -> bool:
    """Whether a write goes to the same places in every trip: index and mask do not change.

    variant: the values that differ from trip to trip (`variant_values`).
    """
    mask = op.opview.mask
    if mask is not None and mask in variant:
        return False
    attribute = "target_index" if op.name == "wave.gather_to_shared" else "index"
    used = {s for e in op.attributes[attribute] for s in Expr(e).symbols}
    changing = {n for n, v in zip(names_of(op), symbol_values_of(op), strict=True) if v in variant}
    return not used & changing


@dataclass(frozen=True)
class Point:
    """A barrier: before the access of this number in program order."""

    name: str
    before: int


def barrier_points(accesses: Mapping[ir.Value, list[Access]]) -> list[int]:
    """Where barriers stand within one trip in program order: the fewest, each as late as possible."""
    events = sorted(((a.number, buffer, a) for buffer, listed in accesses.items() for a in listed), key=lambda e: e[0])
    since: dict[ir.Value, list[Access]] = {}
    points: list[int] = []
    for number, buffer, access in events:
        pending = since.setdefault(buffer, [])
        if any(data_kind_of(p, access) and not same_tile(p.op, access.op) for p in pending):
            points.append(number)
            since = {buffer: []}
        since.setdefault(buffer, []).append(access)
    return points


class Barriers:
    """Barriers as operations of a problem: each dependence through LDS between waves goes by one of them."""

    def __init__(self, accesses: Mapping[ir.Value, list[Access]], names: Mapping[ir.Value, str]) -> None:
        self._accesses = accesses
        self._names = names
        self.points = [Point(f"barrier.{i}", number) for i, number in enumerate(barrier_points(accesses))]
        self.empty: Point | None = None
        self._found: dict[tuple[str, str, int], Dependence] = {}

    def dependences(self, copies: Mapping[str, int], operations: Mapping[str, Operation]) -> list[Dependence]:
        """The dependences to and from the barriers; `self.empty` is made where one more is needed."""
        for buffer, listed in self._accesses.items():
            count = copies.get(self._names[buffer], 1)
            for a in listed:
                for b in listed:
                    if data_kind_of(a, b) is not None and a is not b:
                        self._pair(a, b, count, operations)
        return list(self._found.values())

    def _pair(self, a: Access, b: Access, copies: int, operations: Mapping[str, Operation]) -> None:
        latency = operations[a.name].latency
        if a.number < b.number:
            if not same_tile(a.op, b.op):
                point = next(p for p in reversed(self.points) if a.number < p.before <= b.number)
                self._add(a.name, point.name, 0, latency)
                self._add(point.name, b.name, 0, 4)
            return
        between = [p for p in self.points if b.number < p.before <= a.number]
        if copies > 1 and between:
            self._add(a.name, between[-1].name, 1, latency)
            self._add(between[-1].name, b.name, copies - 1, 4)
            return
        later = next((p for p in self.points if a.number < p.before), None)
        sooner = next((p for p in reversed(self.points) if p.before <= b.number), None)
        if later is not None:
            self._add(a.name, later.name, 0, latency)
            self._add(later.name, b.name, copies, 4)
        elif sooner is not None:
            self._add(a.name, sooner.name, copies, latency)
            self._add(sooner.name, b.name, 0, 4)
        else:
            self.empty = self.empty or Point("barrier.empty", 0)
            self._add(a.name, self.empty.name, copies, latency)
            self._add(self.empty.name, b.name, 0, 4)

    def _add(self, source: str, target: str, distance: int, latency: int) -> None:
        key = source, target, distance
        if key not in self._found:
            self._found[key] = Dependence(source, target, distance, latency, ORDER, "a barrier between waves")
