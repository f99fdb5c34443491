"""Tries every order in which the waves of a workgroup can run a small program, and finds two accesses that may race.

A program is one list of events a wave: the ops of a kernel as that wave executes them, with the bytes it touches. The
waves step independently, but wait at barriers. A race is a state in which two waves can both go on with accesses that
have a byte in common, one writing. This knows nothing of intervals, of data flow or of proofs: it evaluates indices at
numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

import numpy as np
from mlir import ir

from wave_mlir.dialect import Expr, MemoryType

from .diagnostics import PassError
from .gpu_barrier import OUTSTANDING
from .kernel_info import KernelInfo
from .lane_access import ONLY, element_bits
from .tile_ir import body_of, bound_values, walk


class TooLarge(Exception):
    """A program with more events, ways or unknown values than this tries."""


@dataclass(frozen=True)
class Event:
    """What one wave does next.

    kind: "read", "write", "atomic"; "copy", a write that goes on until it is waited for; "barrier", "signal", "wait",
    "counter" (a wait for copies). touched: bytes as bits of a number. waits: for copies too, but for the last `left`.
    number: of a split barrier. op: its number in the program.
    """

    kind: str
    touched: int = 0
    waits: bool = False
    left: int = 0
    number: int = 0
    op: int = -1


Trace = Sequence[Event]
_WRITES = ("write", "copy")


def race(traces: Sequence[Trace]) -> tuple[Event, Event] | None:
    """Two events, of two waves or of one and its own copy, that may race; None where none do.

    Raises ValueError where waves wait for ever, as they come to different numbers of barriers.
    """
    counts = {tuple(e.number for e in trace if e.kind in ("barrier", "signal")) for trace in traces}
    if len(counts) > 1:
        raise ValueError("the waves come to different barriers")
    for trace in traces:
        found = _own_copies(trace)
        if found is not None:
            return found
    for a, b in combinations(traces, 2):
        found = _of_two(a, b)
        if found is not None:
            return found
    return None


def _conflict(a: Event, b: Event) -> bool:
    writes = a.kind in _WRITES or b.kind in _WRITES or (a.kind == "atomic") != (b.kind == "atomic")
    return writes and bool(a.touched & b.touched)


def _pending(trace: Trace) -> list[tuple[Event, ...]]:
    """For each position of a wave the copies in flight there."""
    found: list[tuple[Event, ...]] = [()]
    for event in trace:
        if event.kind == "copy":
            found.append((*found[-1], event))
        else:
            found.append(found[-1][max(0, len(found[-1]) - event.left) :] if event.waits else found[-1])
    return found


def _own_copies(trace: Trace) -> tuple[Event, Event] | None:
    for event, pending in zip(trace, _pending(trace), strict=False):
        for copy in pending:
            if event.touched & copy.touched:
                return copy, event
    return None


def _of_two(a: Trace, b: Trace) -> tuple[Event, Event] | None:
    """Every state that two waves can come to."""
    in_flight = _pending(a), _pending(b)
    signals = _signals(a), _signals(b)
    seen = {(0, 0)}
    work = [(0, 0)]
    while work:
        i, j = work.pop()
        for x in _active(a, i, in_flight[0]):
            for y in _active(b, j, in_flight[1]):
                if _conflict(x, y):
                    return x, y
        for state in _next(a, b, i, j, signals):
            if state not in seen:
                seen.add(state)
                work.append(state)
    return None


def _active(trace: Trace, at: int, in_flight: list[tuple[Event, ...]]) -> tuple[Event, ...]:
    """What a wave at a position may be touching: what comes next, and copies in flight."""
    following = (trace[at],) if at < len(trace) and trace[at].touched else ()
    return (*in_flight[at], *following)


def _signals(trace: Trace) -> list[Mapping[int, int]]:
    """For each position how often each split barrier was signalled."""
    found: list[Mapping[int, int]] = [{}]
    for event in trace:
        last = found[-1]
        found.append({**last, event.number: last.get(event.number, 0) + 1} if event.kind == "signal" else last)
    return found


def _next(
    a: Trace, b: Trace, i: int, j: int, signals: tuple[list[Mapping[int, int]], list[Mapping[int, int]]]
) -> Iterator[tuple[int, int]]:
    here, there = (trace[at] if at < len(trace) else None for trace, at in ((a, i), (b, j)))
    if here is not None and there is not None and here.kind == there.kind == "barrier":
        yield i + 1, j + 1
    if here is not None and here.kind != "barrier" and _passes(here, signals[0][i], signals[1][j]):
        yield i + 1, j
    if there is not None and there.kind != "barrier" and _passes(there, signals[1][j], signals[0][i]):
        yield i, j + 1


def _passes(event: Event, own: Mapping[int, int], others: Mapping[int, int]) -> bool:
    """Whether a wave can go on: at the wait of a split barrier, when the other has signalled as often."""
    return event.kind != "wait" or others.get(event.number, 0) >= own.get(event.number, 0)


# --- kernels -------------------------------------------------------------------------------------
_KINDS = {
    "wave.read": "read", "wave.write": "write", "wave.atomic": "atomic", "wave.gather_to_shared": "copy",
    "wave.shared_memory_barrier": "barrier", "wave.barrier_signal": "signal", "wave.barrier_wait": "wait",
    "wave.memory_counter_wait": "counter",
}  # fmt: skip


def check_orders(kernel: ir.OpView, *, most_events: int = 48) -> bool:
    """Try all orders of the waves of a small kernel, a loop at most three times; False where it is not small.

    Raises PassError at an access to LDS that may race, with the other one.
    """
    ops = list(walk(body_of(kernel)))
    try:
        for traces in traces_of(kernel, most_events=most_events, most_trips=3):
            found = race(traces)
            if found is not None:
                raise PassError(
                    ops[found[1].op],
                    "waves can run in an order in which this access to LDS meets another one; run wave-place-barriers",
                ).note(ops[found[0].op], "the other access")
    except (TooLarge, ValueError):  # ValueError: other barriers for other waves, which wave-place-barriers looks at
        return False
    return True


def traces_of(kernel: ir.OpView, *, most_events: int = 64, most_trips: int = 4) -> Iterator[list[list[Event]]]:
    """What each wave does in a kernel of lane or scheduled form, for each choice of branches.

    A loop runs as often as it says, at most `most_trips` times. Raises TooLarge where it is no small program: more
    than `most_events` events a wave, more than 16 choices, or an index or trip count by values known at run time only.
    """
    tracer = _Tracer(KernelInfo.of(kernel), kernel, most_events, most_trips)
    conditionals = [op for op in walk(body_of(kernel)) if op.name == "wave.conditional"]
    if len(conditionals) > 4:
        raise TooLarge("many conditionals")
    for choice in product((True, False), repeat=len(conditionals)):
        yield tracer.run(dict(zip(conditionals, choice, strict=True)))


@dataclass
class _Tracer:
    info: KernelInfo
    kernel: ir.OpView
    most_events: int
    most_trips: int
    numbers: dict[ir.Operation, int] = field(default_factory=dict)
    starts: dict[ir.Value, int] = field(default_factory=dict)  # of buffers, in bytes, where they have no place yet

    def __post_init__(self) -> None:
        end = 0
        for number, op in enumerate(walk(body_of(self.kernel))):
            self.numbers[op] = number
            if op.name == "wave.allocate":
                memory = op.results[0]
                placed = "offset" in op.attributes
                self.starts[memory] = ir.IntegerAttr(op.attributes["offset"]).value if placed else end
                extents = [self.info.resolve(e).constant_value or 0 for e in MemoryType(memory.type).shape]
                strides = [s.constant_value or 1 for s in self.info.strides_of(memory)]
                end += 8 * (1 + sum((e - 1) * s for e, s in zip(extents, strides, strict=True)))

    def run(self, choice: Mapping[ir.Operation, bool]) -> list[list[Event]]:
        """The events of all waves."""
        found = []
        for wave in np.ndindex(*self.info.block_waves):
            self.choice, self.events = choice, []
            self.ids = {f"wave.{axis}": int(n) for axis, n in zip("xyz", wave, strict=True)}
            self._block(body_of(self.kernel), {})
            found.append(self.events)
        return found

    def _block(self, block: ir.Block, values: dict[ir.Value, int]) -> None:
        for view in block.operations:
            op = view.operation
            if op.name == "wave.iterate":
                self._loop(op, values)
            elif op.name == "wave.conditional":
                self._conditional(op, values)
            elif op.name in _KINDS and self._makes(op):
                self._event(op, values)
                if len(self.events) > self.most_events:
                    raise TooLarge("many events")

    def _loop(self, op: ir.Operation, values: dict[ir.Value, int]) -> None:
        body = op.regions[0].blocks[0]
        if "trips" not in op.attributes:
            raise TooLarge("a while loop")
        trips = min(self._number(op, Expr(op.attributes["trips"]), values), self.most_trips)
        first = len(body.arguments) - len(op.results)
        carried = [self._value(v, values) for v in op.opview.init_args]
        for trip in range(trips):
            inside = dict(values)
            if first:
                inside[body.arguments[0]] = trip
            inside.update((a, v) for a, v in zip(list(body.arguments)[first:], carried, strict=True) if v is not None)
            self._block(body, inside)
            last = body.operations[len(body.operations) - 1]
            carried = [self._value(v, inside) for v in last.operands]

    def _conditional(self, op: ir.Operation, values: dict[ir.Value, int]) -> None:
        entered = self.choice[op]
        condition = Expr(op.attributes["condition"]) if "condition" in op.attributes else None
        if condition is not None and "lane" in condition.symbols:
            raise TooLarge("a conditional of lanes")
        if condition is not None and any(s.startswith("wave.") for s in condition.symbols):
            entered = self._number(op, condition, values) != 0
        regions = list(op.regions)
        if entered:
            self._block(regions[0].blocks[0], values)
        elif len(regions) > 1 and len(regions[1].blocks):
            self._block(regions[1].blocks[0], values)

    # --- values ---

    def _value(self, value: ir.Value, values: Mapping[ir.Value, int]) -> int | None:
        """A number where the value is one that is known."""
        if value in values:
            return values[value]
        if isinstance(value, ir.BlockArgument):
            return None
        op = value.owner.operation
        if op.name == "arith.constant" and isinstance(value.type, ir.IndexType | ir.IntegerType):
            return ir.IntegerAttr(op.attributes["value"]).value
        if op.name in ("wave.apply_expr", "wave.scalar"):
            try:
                return self._number(op, Expr(op.attributes["expr"]), values)
            except TooLarge:
                return None
        return None

    def _number(self, op: ir.Operation, expr: Expr, values: Mapping[ir.Value, int]) -> int:
        known = self._symbols(op, expr, values)
        return self.info.resolve(expr, list(bound_values(op))).eval({**known, **self.ids})

    def _symbols(self, op: ir.Operation, expr: Expr, values: Mapping[ir.Value, int]) -> dict[str, int]:
        """Numbers for the symbols of an expression of an op, but for lane and wave; all of the first workgroup."""
        bound = bound_values(op)
        known: dict[str, int] = {}
        for name in self.info.resolve(expr, list(bound)).symbols:
            value = self._value(bound[name], values) if name in bound else 0 if name.startswith("wg.") else None
            if value is None and name != "lane" and name not in self.ids:
                raise TooLarge(f"the value of {name}")
            if value is not None:
                known[name] = value
        return known

    # --- events ---

    def _makes(self, op: ir.Operation) -> bool:
        """Whether the wave is one of those that an access is for."""
        return ONLY not in op.attributes or Expr(op.attributes[ONLY]).eval(self.ids) != 0

    def _event(self, op: ir.Operation, values: Mapping[ir.Value, int]) -> None:
        kind, number = _KINDS[op.name], self.numbers[op]
        if kind == "counter":
            load = ir.IntegerAttr(op.attributes["load"]).value if "load" in op.attributes else None
            self.events.append(Event(kind, waits=load is not None, left=load or 0, op=number))
        elif kind in ("barrier", "signal", "wait"):
            identity = 0 if kind == "barrier" else ir.IntegerAttr(op.attributes["id"]).value
            left = ir.IntegerAttr(op.attributes[OUTSTANDING]).value if OUTSTANDING in op.attributes else 0
            self.events.append(Event(kind, waits="wait_async" in op.attributes, left=left, number=identity, op=number))
        else:
            memory = op.operands[0 if kind == "read" else 1]
            if memory in self.starts:
                self.events.append(Event(kind, self._touched(op, kind, memory, values), op=number))

    def _touched(self, op: ir.Operation, kind: str, memory: ir.Value, values: Mapping[ir.Value, int]) -> int:
        bits = element_bits(MemoryType(memory.type).element_type)
        lanes = np.arange(self.info.wave_size)
        first = np.zeros(self.info.wave_size, dtype=np.int64)
        index = op.attributes["target_index" if kind == "copy" else "index"]
        for coordinate, stride in zip(index, self.info.strides_of(memory), strict=True):
            first = first + self._lanes(op, Expr(coordinate) * stride, values, lanes)
        kinds = None if kind == "copy" else (op.results[0] if len(op.results) else op.operands[0]).type
        count = kinds.shape[0] if isinstance(kinds, ir.VectorType) else 1
        active = np.ones(self.info.wave_size, dtype=bool)
        if kind == "copy":
            count = ir.IntegerAttr(op.attributes["elements"]).value
            first = first[0] + lanes * count
        elif op.opview.mask is not None:
            active = self._mask(op.opview.mask, values, lanes)
        touched = 0
        if kind == "read" and not active.all():  # the others read at the buffer's start
            first, active = np.where(active, first, 0), np.ones_like(active)
        for element in first[active].tolist():
            start = self.starts[memory] * 8 + element * bits
            touched |= (1 << (start + count * bits + 7) // 8) - (1 << start // 8)
        return touched

    def _lanes(self, op: ir.Operation, expr: Expr, values: Mapping[ir.Value, int], lanes: np.ndarray) -> np.ndarray:
        resolved = self.info.resolve(expr, list(bound_values(op)))
        known: dict[str, int | np.ndarray] = {**self._symbols(op, expr, values), **self.ids, "lane": lanes}
        made = resolved.eval_numpy({s: known[s] for s in resolved.symbols})
        return np.broadcast_to(made, lanes.shape)

    def _mask(self, mask: ir.Value, values: Mapping[ir.Value, int], lanes: np.ndarray) -> np.ndarray:
        owner = None if isinstance(mask.owner, ir.Block) else mask.owner.operation
        if owner is not None and owner.name == "arith.andi":
            return self._mask(owner.operands[0], values, lanes) & self._mask(owner.operands[1], values, lanes)
        if owner is None or owner.name != "wave.mask":
            raise TooLarge("a mask by values")
        return self._lanes(owner, Expr(owner.attributes["expr"]), values, lanes) != 0
