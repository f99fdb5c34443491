"""wave-place-barriers: puts barriers between LDS accesses that depend on each other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

from mlir import ir
from wave_mlir.compiler.copy_waits import COUNTER_WAIT, completed
from wave_mlir.compiler.diagnostics import PassError, emit_warning
from wave_mlir.compiler.footprints import Meeting
from wave_mlir.compiler.gpu_barrier import EVERYWHERE
from wave_mlir.compiler.lds_hazards import BARRIERS, FENCES, MEETINGS, UNORDERED, Interval, Node, Program
from wave_mlir.compiler.pass_registry import Pass, register_pass
from wave_mlir.compiler.stabbing import stab


@register_pass("wave-place-barriers", requires="lane")
@dataclass(frozen=True)
class PlaceBarriers(Pass):
    """Place the fewest barriers that separate LDS accesses of different waves, one of which writes.

    Read after write, write after read and write after write are separated: in program order, and around each loop from
    one trip to the next. Two accesses whose bytes are proven to be disjoint for different waves need no barrier: each
    wave with rows of its own, halves of a buffer that take turns, masks. Bytes are compared within a buffer, and among
    all buffers that have their offset already. The user's own barriers count; one of a split pair counts where
    its signal comes after the producer. No barrier is placed in a conditional, unless all lanes of the workgroup
    provably agree on its condition.

    What lanes of one wave exchange needs no barrier: a `wave.wave_fence`, which is no instruction, keeps the order.

    Before:

        wave.write %x, %lds index […] : …
        %y = wave.read %lds index […] : …

    After:

        wave.write %x, %lds index […] : …
        wave.shared_memory_barrier
        %y = wave.read %lds index […] : …

    An argument of the kernel that is written and accessed again is treated alike; a barrier between such accesses
    orders global memory too (`wave.everywhere`). Arguments are taken to be different memories. Where no barrier can
    stand between, as not every wave may come there, that is a warning.

    Only a barrier behind a direct copy to LDS waits for it (`wait_async`); one of the user's learns to. Where a wave
    reads its own copies alone, `wave.memory_counter_wait load 0` does. A wait of the user's, by count, serves where as
    many copies are issued after the one that is needed, on every way; what it lacks of fence or barrier is placed.

    Between two groups of waves that are a barrier apart (`wave.stagger`, docs/scheduling.md) it takes two barriers,
    which have to be there: an access with fewer is an error, as one more would change what the groups do meanwhile.

    A barrier that the user put in a conditional whose condition, or a loop whose number of trips, is made from the
    lane's or wave's own number is an error: waves that do not enter it would leave the others waiting.
    """

    def run(self, module: ir.Module) -> None:
        """Place the barriers of every kernel of the module."""
        for view in module.body.operations:
            if view.operation.name == "wave.kernel":
                program = Program.of(view)
                _check_given(program)
                _Placer(program).run()


@dataclass
class _Placer:
    """Places barriers, then what fences these leave to place."""

    program: Program
    placed: dict[int, bool] = field(default_factory=dict)  # point of a barrier: whether it waits for direct copies
    everywhere: set[int] = field(default_factory=set)  # of these those that order global memory
    learned: set[int] = field(default_factory=set)  # barriers that were there and wait for direct copies now

    def run(self) -> None:
        intervals = self.program.intervals()
        given = [n for n in self.program.nodes if n.op.name in BARRIERS]
        waves = self._that_can_be_served([i for i in intervals if i.who == Meeting.WAVES])
        waves = [self._outside_stretch(i) for i in waves]
        for interval in waves:
            if interval.apart:
                _check_apart(self.program, interval, sum(self._serves(n, interval) for n in given))
        left = [i for i in waves if not any(self._serves(n, i) for n in given)]
        allowed = {p for i in left for p in i.points if self.program.may_place(p)}
        points = stab([i.points for i in left], set(), allowed)
        if points is None:
            raise _unreachable(self.program, left, allowed)
        self.placed = dict.fromkeys(points, False)
        for interval in waves:
            if interval.asynchronous:
                self._wait(interval, given)
            if interval.everywhere:
                self._order_global(interval, given)
        lanes = [i for i in intervals if i.who == Meeting.LANES]
        waits = self._fewest([i for i in lanes if i.asynchronous and not self._waited_for(i)], set())
        fences = {n.number for n in self.program.nodes if n.op.name in (*BARRIERS, *FENCES)}
        ordered = [self._behind_wait(i, waits) for i in lanes]
        plain = self._fewest(ordered, fences | self.placed.keys() | set(waits))
        self._insert(waits, plain)

    def _that_can_be_served(self, intervals: list[Interval]) -> list[Interval]:
        """All but those about global memory where no barrier can stand, which are warned of."""
        found = []
        for interval in intervals:
            if interval.everywhere and not any(self.program.may_place(p) for p in interval.points):
                producer, consumer = (self.program.nodes[n].op for n in (interval.producer, interval.consumer))
                emit_warning(
                    consumer,
                    "another wave may access the same global memory as this one, one of them writing, and no barrier "
                    "can stand between: not every wave may come there",
                    [(producer.location, "the other access")],
                )
                for op in (producer, consumer):
                    op.attributes[UNORDERED] = ir.UnitAttr.get()
            else:
                found.append(interval)
        return found

    def _outside_stretch(self, interval: Interval) -> Interval:
        """Between an access from before waves come apart and one behind, the barrier stands before: one more in their
        loop would be for every trip, and would change what the groups do meanwhile. What waits for copies, or orders
        global memory, stands outside too, unless both accesses are of one stretch."""
        number = self.program.stretches.number
        producer, consumer = (number.get(self.program.nodes[n].op) for n in (interval.producer, interval.consumer))
        special = interval.asynchronous or interval.everywhere
        if interval.apart or (consumer in (None, producer) and not special):
            return interval
        inside = [stretch for stretch in (producer, consumer) if stretch is not None]
        outside = tuple(p for p in interval.points if number.get(self.program.nodes[p].op) not in inside)
        return replace(interval, points=outside)

    def _fewest(self, intervals: list[Interval], given: set[int]) -> list[int]:
        """Points for fences, which may stand anywhere."""
        anywhere = {p for i in intervals for p in i.points}
        return stab([i.points for i in intervals], given, anywhere) or []

    def _behind_wait(self, interval: Interval, placed: Iterable[int]) -> Interval:
        """What orders the accesses of a wave to its own copy stands behind the wait: of the user's, the first one that
        is for the copy. With one that is placed comes a fence."""
        given = [n.number for n in self.program.nodes if self._finishes(n, interval)]
        if not interval.asynchronous or not given or not set(interval.points).isdisjoint(placed):
            return interval
        first = min(interval.points.index(n) for n in given)
        return replace(interval, points=interval.points[first + 1 :])

    def _finishes(self, node: Node, interval: Interval) -> bool:
        """Whether an op between a direct copy and its user is a wait, by count, that is for the copy."""
        if node.number not in interval.points or node.op.name != COUNTER_WAIT:
            return False
        producer = self.program.nodes[interval.producer].op
        return _waits_for_all(node.op) or producer in self._counted.get(node.op, ())

    @cached_property
    def _counted(self) -> dict[ir.Operation, list[ir.Operation]]:
        return completed(self.program.info.kernel.operation)

    def _serves(self, barrier: Node, interval: Interval) -> bool:
        """Whether a barrier that is there separates producer and consumer."""
        if barrier.number not in interval.points:
            return False
        if barrier.op.name != "wave.barrier_wait":
            return True
        signal = self._signal(barrier)
        return signal is not None and signal.number in interval.points

    def _signal(self, wait: Node) -> Node | None:
        """The signal that a wait is for: the last one before it of its number."""
        number = wait.op.attributes["id"]
        before = self.program.nodes[: wait.number]
        found = (n for n in reversed(before) if n.op.name == "wave.barrier_signal" and n.op.attributes["id"] == number)
        return next(found, None)

    # --- what barriers have to do ---

    def _order_global(self, interval: Interval, given: Iterable[Node]) -> None:
        """Let the last barrier between two accesses of global memory order these, unless one does already."""
        serving = [n for n in given if self._serves(n, interval)]
        if self.everywhere.intersection(interval.points) or any(EVERYWHERE in n.op.attributes for n in serving):
            return
        last = max((p for p in (*self.placed, *(n.number for n in serving)) if p in interval.points),
                   key=interval.points.index)  # fmt: skip
        if last in self.placed:
            self.everywhere.add(last)
        else:
            self.program.nodes[last].op.attributes[EVERYWHERE] = ir.UnitAttr.get()

    def _wait(self, interval: Interval, given: Iterable[Node]) -> None:
        """Let the last barrier between a direct copy and its user wait for it, unless a wait that was there does.

        (Not one that another copy needs: later, fewer copies have to be complete.)
        """
        if self._waited_for(interval, given=True):
            return
        serving = [n for n in given if self._serves(n, interval)]
        places = sorted((p for p in (*self.placed, *(n.number for n in serving)) if p in interval.points),
                        key=interval.points.index)  # fmt: skip
        last = places[-2 if interval.apart else -1]
        if last in self.placed:
            self.placed[last] = True
            return
        barrier = next(n for n in serving if n.number == last)
        signal = self._signal(barrier) if barrier.op.name == "wave.barrier_wait" else None
        waiting = signal or barrier
        if "wait_async" not in waiting.op.attributes:
            self.learned.add(waiting.number)
            waiting.op.attributes["wait_async"] = ir.UnitAttr.get()

    def _waited_for(self, interval: Interval, given: bool = False) -> bool:
        """Whether a direct copy is complete where its user comes: a wait has one barrier behind it, or two.

        given: by waits that were in the program.
        """
        nodes = [n for n in self.program.nodes if n.number in interval.points]
        waiting = [n for n in nodes if n.op.name in BARRIERS and "wait_async" in n.op.attributes]
        waits = [n.number for n in (*waiting, *(n for n in nodes if self._finishes(n, interval)))]
        waits += [p for p, waits_too in self.placed.items() if waits_too and p in interval.points]
        if given:
            waits = [n for n in waits if n not in self.learned and n not in self.placed]
        if interval.who == Meeting.LANES:
            return bool(waits)
        barriers = [n.number for n in nodes if n.op.name in BARRIERS] + [p for p in self.placed if p in interval.points]
        at = [interval.points.index(b) for b in barriers]
        return any(sum(i >= interval.points.index(w) for i in at) > interval.apart for w in waits)

    # --- the ops ---

    def _insert(self, waits: list[int], fences: list[int]) -> None:
        for point, waiting in self.placed.items():
            attributes = {"wait_async": ir.UnitAttr.get()} if waiting else {}
            if point in self.everywhere:
                attributes[EVERYWHERE] = ir.UnitAttr.get()
            self._create(point, "wave.shared_memory_barrier", attributes)
        for point in waits:
            zero = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0)
            self._create(point, COUNTER_WAIT, {"load": zero})
        for point in (*waits, *fences):
            self._create(point, "wave.wave_fence", {})

    def _create(self, point: int, name: str, attributes: dict[str, ir.Attribute]) -> None:
        before = self.program.nodes[point].op
        with before.location, ir.InsertionPoint(before):
            ir.Operation.create(name, [], [], attributes)


def _waits_for_all(op: ir.Operation) -> bool:
    if op.name != COUNTER_WAIT or "load" not in op.attributes:
        return False
    return ir.IntegerAttr(op.attributes["load"]).value == 0


_WAYS = {
    "wave.conditional": "conditional that waves may enter differently",
    "wave.iterate": "loop that waves may leave at different times",
}


def _check_given(program: Program) -> None:
    """The user's own barriers are where all waves come."""
    x, y, z = program.info.block_waves
    for node in program.nodes if x * y * z > 1 else ():
        if node.op.name in MEETINGS and (conditional := program.split(node)) is not None:
            error = PassError(
                node.op,
                f"this barrier is in a {_WAYS[conditional.op.name]}, and a wave that stays out would "
                "leave the others waiting; move it out, or decide by a value that all lanes of the workgroup share",
            )
            what = "condition" if conditional.op.name == "wave.conditional" else "number of trips"
            raise error.note(conditional.op, f"its {what} depends on the lane or wave")


def _check_apart(program: Program, interval: Interval, barriers: int) -> None:
    """Two accesses of waves that are a barrier apart have two between."""
    if barriers > 1 and not interval.everywhere:
        return
    producer, consumer = program.nodes[interval.producer].op, program.nodes[interval.consumer].op
    there = "there is one" if barriers else "there is none"
    text = (
        "two groups of waves run this loop a barrier apart, and the group ahead may come here while the other one is "
        f"still at the access that this one meets: it takes two barriers between, and {there}; move one of the "
        "accesses behind one more barrier, give the buffer copies, or do not stagger the waves"
    )
    if interval.everywhere:
        text = (
            "two groups of waves run this loop a barrier apart, and its barriers do not order accesses to the global "
            "memory that is written here and accessed again; do not stagger the waves"
        )
    raise PassError(consumer, text).note(producer, "the other access")


def _unreachable(program: Program, intervals: list[Interval], allowed: set[int]) -> PassError:
    for interval in intervals:
        if not allowed & set(interval.points):
            producer, consumer = program.nodes[interval.producer].op, program.nodes[interval.consumer].op
            error = PassError(
                consumer,
                "this access needs a barrier after another one, and both are in a conditional that not every wave may "
                "enter, or in a loop that waves leave at different times; move one of them out of it",
            )
            return error.note(producer, "the other access")
    raise AssertionError("stab found no solution although each interval has a point")
