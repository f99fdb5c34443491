"""Hazards between accesses of a kernel to memory that waves share, as intervals of program points that need a barrier.

Points are numbered in program order: point i is just before the i-th op of a flattened kernel (loop bodies and
conditionals in place, their region op before them). Only ops that matter have a number: accesses, barriers, fences and
waits, ops with regions, ends of blocks; between two of these any place is as good as another. A barrier at a point
serves an interval if it is executed between producer and consumer for sure: so a point counts only where the producer,
the consumer or a loop with at least one trip takes the program there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from mlir import ir

from .footprints import SAME_TRIP, Footprints, Later, Meeting, Place
from .kernel_info import KernelInfo
from .lane_access import same_tile
from .lds import allocations, buffer_of, families
from .shared_values import SharedValues
from .stagger import STAGGER, Stretches
from .uniform import Uniform

BARRIERS = ("wave.shared_memory_barrier", "wave.barrier_wait")
FENCES = ("wave.wave_fence",)
MEETINGS = (
    *BARRIERS,
    "wave.workgroup_barrier",
    "wave.barrier_signal",
)
"""Ops that every wave of the workgroup must come to."""
_POINTS = frozenset((*MEETINGS, *FENCES, "wave.memory_counter_wait", "wave.yield", "wave.return"))

UNORDERED = "wave.unordered"
"""On an access of global memory: no barrier can stand between it and another one; there was a warning."""
_MANY = 32

Region = tuple[int, int]
"""A region of the op with a number."""


@dataclass(frozen=True)
class Touch:
    """What an op does to one memory: "read", "write" or "atomic"; a direct copy is asynchronous."""

    memory: ir.Value
    kind: str
    asynchronous: bool = False


@dataclass
class Node:
    """One op in program order, with the regions it is in (outermost first) and what it does to shared memory."""

    op: ir.Operation
    number: int
    regions: tuple[Region, ...]
    parents: tuple[int, ...]  # the ops of these regions
    touches: tuple[Touch, ...] = ()
    end: int = 0  # of a region op: one past its last op


@dataclass(frozen=True)
class Interval:
    """A barrier is needed at one of `points`, which lead from the producer to the consumer (so the last is best).

    who: WAVES need a barrier; for lanes of one wave a fence will do. asynchronous: the producer is a direct copy, for
    which the barrier has to wait. everywhere: it is about global memory, which the barrier has to order as well. apart:
    the waves are a barrier apart all the way, so that it takes two.
    """

    producer: int
    consumer: int
    points: tuple[int, ...]
    who: Meeting = Meeting.WAVES
    asynchronous: bool = False
    everywhere: bool = False
    apart: bool = False


@dataclass(frozen=True)
class _Pair:
    producer: Node
    consumer: Node
    first: Touch
    second: Touch
    when: Later


def _bits(first: int, last: int) -> int:
    """The set of points first … last as bits of a number."""
    return (1 << (last + 1)) - (1 << first) if last >= first else 0


def _members(bits: int, start: int) -> list[int]:
    """The points of a set from `start` on, then those before it."""
    points = []
    while bits:
        low = bits & -bits
        points.append(low.bit_length() - 1)
        bits ^= low
    return [p for p in points if p >= start] + [p for p in points if p < start]


@dataclass
class Program:
    """A kernel's ops in program order."""

    info: KernelInfo
    nodes: list[Node] = field(default_factory=list)
    loops: dict[ir.Operation, int] = field(default_factory=dict)
    families: dict[ir.Value, ir.Value] = field(default_factory=dict)
    _serving: dict[frozenset[Region], int] = field(default_factory=dict)
    _optional: dict[frozenset[Region], int] = field(default_factory=dict)
    _uniform: dict[int, bool] = field(default_factory=dict)
    _same: Uniform = field(default_factory=Uniform)
    _places: dict[tuple[int, ir.Value], Place | None] = field(default_factory=dict)
    _suspects: dict[ir.Value, int] = field(default_factory=dict)
    _whole: dict[ir.Value, bool] = field(default_factory=dict)
    _tiles: dict[tuple[ir.Value, Later], bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.values = SharedValues(self.info, self.loops)
        self.footprints = Footprints(self.info, self.values)
        self.stretches = Stretches.of(self.info)

    @staticmethod
    def of(kernel: ir.OpView) -> Program:
        """Flatten a kernel."""
        info = KernelInfo.of(kernel)
        placed = [buffer_of(op, info) for op in allocations(kernel.operation) if "offset" in op.attributes]
        program = Program(info, families=families(placed))
        program._visit(kernel.operation.regions[0].blocks[0], ())
        for node in program.nodes:
            optional = frozenset(r for r in node.regions if not program._entered(r))
            program._optional[optional] = program._optional.get(optional, 0) | 1 << node.number
        return program

    def _visit(self, block: ir.Block, regions: tuple[Region, ...]) -> None:
        for view in block.operations:
            op = view.operation
            name = op.name
            found = (*touches(op), *global_touches(op)) if name in _TOUCHES else ()
            if not found and name not in _POINTS and not len(op.regions):
                continue
            node = Node(op, len(self.nodes), regions, tuple(number for number, _ in regions), found)
            self.nodes.append(node)
            if name == "wave.iterate":
                self.loops[op] = node.number
            for number, region in enumerate(op.regions):
                for inner in region.blocks:
                    self._visit(inner, (*regions, (node.number, number)))
            node.end = len(self.nodes)

    def _entered(self, region: Region) -> bool:
        """Whether a region is surely run when its op is: the body of a loop with at least one trip."""
        op = self.nodes[region[0]].op
        return op.name == "wave.iterate" and self.values.trips(op)[0] > 0

    def may_place(self, number: int) -> bool:
        """Whether a barrier may stand before this op: not inside a conditional whose body not all waves may enter, nor
        in a loop that waves surely leave at different times."""
        return all(self._all_enter(self.nodes[p]) for p in self.nodes[number].parents)

    def split(self, node: Node) -> Node | None:
        """The conditional or loop around a node that is decided by a lane's or wave's own number, if there is one."""
        return next((self.nodes[p] for p in node.parents if self._differs(self.nodes[p].op)), None)

    def _differs(self, op: ir.Operation) -> bool:
        if STAGGER in op.attributes:
            return False
        return self._same.differs(op) if op.name == "wave.conditional" else self._same.trips_differ(op)

    def _all_enter(self, around: Node) -> bool:
        if around.number not in self._uniform:
            conditional = around.op.name == "wave.conditional"
            enter = self._same.condition(around.op) if conditional else not self._differs(around.op)
            self._uniform[around.number] = enter
        return self._uniform[around.number]

    def _served(self, *regions: tuple[Region, ...]) -> int:
        """The points where a barrier is surely executed when the program comes to all these regions, as bits."""
        entered = frozenset(r for way in regions for r in way)
        if entered not in self._serving:
            bits = 0
            for optional, points in self._optional.items():
                if entered.issuperset(optional):
                    bits |= points
            self._serving[entered] = bits
        return self._serving[entered]

    def place_of(self, node: Node, memory: ir.Value) -> Place | None:
        """The bytes of a memory that an op touches."""
        key = (node.number, memory)
        if key not in self._places:
            self._places[key] = self.footprints.place(node.op, memory)
        return self._places[key]

    # --- intervals ---

    def intervals(self) -> list[Interval]:
        """The pairs of accesses that need a barrier or fence between, in program order and around each loop.

        Where the points of one pair contain those of another, the other's barrier serves both: only the least remain,
        and it is asked only of those whether their bytes meet.
        """
        found = _Found()
        for group in self._groups():
            for producer in reversed(group):  # so that the shortest intervals come first
                self._scan(producer, group, found)
        return [self._interval(points, *entry) for points, entry in found.least()]

    def _interval(self, points: int, pair: _Pair, who: Meeting) -> Interval:
        producer, consumer = pair.producer.number, pair.consumer.number
        places = tuple(_members(points, producer + 1))
        everywhere = who == Meeting.WAVES and is_global(pair.first.memory)
        apart = who == Meeting.WAVES and self._stay_apart(pair)
        return Interval(producer, consumer, places, who, pair.first.asynchronous, everywhere, apart)

    def _stay_apart(self, pair: _Pair) -> bool:
        """Whether the way from one access to the other is all in a stretch in which waves are a barrier apart."""
        around = [] if pair.when.loop is None else [self.nodes[pair.when.loop].op]
        ops = [pair.producer.op, pair.consumer.op, *around]
        numbers = {self.stretches.number.get(op) for op in ops}
        return len(numbers) == 1 and None not in numbers

    def _groups(self) -> list[list[tuple[Node, Touch]]]:
        """The accesses by memory: of one buffer and those it shares bytes with, or of an argument of the kernel that is
        written and accessed by more than the copies of one op in one trip."""
        users: dict[ir.Value, list[tuple[Node, Touch]]] = {}
        for node in self.nodes:
            for touch in node.touches:
                key = self.families.get(touch.memory, touch.memory)
                users.setdefault(key, []).append((node, touch))
        return [group for group in users.values() if _may_conflict(group)]

    def _scan(self, producer: tuple[Node, Touch], group: list[tuple[Node, Touch]], found: _Found) -> None:
        """The intervals from one access. What needs a barrier after it hides what comes later in the same regions."""
        a, first = producer
        for when, points_of in ((SAME_TRIP, self._after), *self._around(a)):
            if is_global(first.memory) and self._tiles_apart(first.memory, group, when):
                continue
            hidden: set[tuple[Region, ...]] = set()
            for b, second in group:
                if b.regions in hidden or (first.kind == second.kind and first.kind != "write"):
                    continue
                if when == SAME_TRIP and is_global(first.memory) and same_tile(a.op, b.op):
                    continue
                points = points_of(a, b)
                if points is not None and self._consider(points, _Pair(a, b, first, second, when), found):
                    hidden.add(b.regions)

    def _consider(self, points: int, pair: _Pair, found: _Found) -> bool:
        """Take an interval where bytes meet; whether those that contain it need nothing more."""
        needs = (pair.first.asynchronous, is_global(pair.first.memory))
        if found.implies(points, Meeting.WAVES, needs):
            return True
        if self._apart(pair.first.memory) and found.implies(points, Meeting.LANES, needs):
            return True
        who = self._meeting(pair)
        if who != Meeting.WAVES:
            memory = pair.first.memory
            self._suspects[memory] = self._suspects.get(memory, 0) + 1
        if who != Meeting.NONE and not found.implies(points, who, needs):
            found.add(points, pair, who, needs)
        return who == Meeting.WAVES

    def _tiles_apart(self, memory: ir.Value, group: list[tuple[Node, Touch]], when: Later) -> bool:
        """Whether all that is accessed in one trip is apart from all that is in a later one, along some dim."""
        if when == SAME_TRIP:
            return False
        key = (memory, when)
        if key not in self._tiles:
            places = [self.place_of(node, memory) for node, _ in group if when.loop in node.parents]
            self._tiles[key] = self.footprints.tiles_apart(places, when)
        return self._tiles[key]

    def _after(self, producer: Node, consumer: Node) -> int | None:
        if producer.number >= consumer.number or _excluding(producer, consumer):
            return None
        served = self._served(producer.regions, consumer.regions)
        return _bits(producer.number + 1, consumer.number) & served

    def _around(self, producer: Node) -> Iterator[tuple[Later, _PointsOf]]:
        """From the producer of one trip to the consumer of a later trip of a loop around both.

        That is to the loop's end (the last point is before its yield), then from its start; where there is a trip
        between the two, through the whole body.
        """
        for depth, number in enumerate(producer.parents):
            loop = self.nodes[number]
            if loop.op.name == "wave.iterate" and (most := self.values.trips(loop.op)[1]) != 1 and most != 0:
                end = _bits(producer.number + 1, loop.end - 1) & self._served(producer.regions)
                yield Later(number), self._later_trip(loop, end)
                if most is None or most > 2:
                    body = _bits(loop.number + 1, loop.end - 1) & self._served(producer.regions[: depth + 1])
                    yield Later(number, far=True), self._later_trip(loop, end | body)

    def _later_trip(self, loop: Node, after: int) -> _PointsOf:
        """after: points behind the producer, and of a whole trip between where there is one."""

        def points_of(_: Node, consumer: Node) -> int | None:
            if loop.number not in consumer.parents:
                return None
            return after | _bits(loop.number + 1, consumer.number) & self._served(consumer.regions)

        return points_of

    def _apart(self, memory: ir.Value) -> bool:
        """Whether each wave keeps to bytes of its own in all accesses of a buffer; asked once many pairs were apart."""
        if self._suspects.get(memory, 0) < (1 if is_global(memory) else _MANY):
            return False
        if memory not in self._whole:
            places = [self.place_of(n, memory) for n in self.nodes if any(t.memory == memory for t in n.touches)]
            if is_global(memory):
                self._whole[memory] = self.footprints.waves_apart(places)
            else:
                alone = memory not in self.families
                self._whole[memory] = alone and self.footprints.all_meet(places) != Meeting.WAVES
        return self._whole[memory]

    def _meeting(self, pair: _Pair) -> Meeting:
        first, second = pair.first.memory, pair.second.memory
        a, b = self.place_of(pair.producer, first), self.place_of(pair.consumer, second)
        return self.footprints.meet(a, b, pair.when)


_PointsOf = Callable[[Node, Node], int | None]
"""The points between a producer and a consumer, if there is a way from one to the other."""


_Needs = tuple[bool, bool]
"""Whether a barrier has to wait for direct copies, and to order global memory."""


@dataclass
class _Found:
    """Intervals by what they need; of two the shorter is enough, if it needs as much."""

    intervals: dict[tuple[Meeting, _Needs], dict[int, _Pair]] = field(default_factory=dict)

    def add(self, points: int, pair: _Pair, who: Meeting, needs: _Needs) -> None:
        """One more."""
        self.intervals.setdefault((who, needs), {})[points] = pair

    def implies(self, points: int, who: Meeting, needs: _Needs, itself: bool = True) -> bool:
        """Whether a barrier (or fence) that is needed anyway serves these points as well."""
        return any(
            other & points == other and (itself or other != points or (meeting, has) != (who, needs))
            for (meeting, has), taken in self.intervals.items()
            if meeting >= who and has[0] >= needs[0] and (has[1] >= needs[1] or who == Meeting.LANES)
            for other in taken
        )

    def least(self) -> list[tuple[int, tuple[_Pair, Meeting]]]:
        """Those that contain no other, the shortest first."""
        entries = [
            (points, (pair, who))
            for (who, needs), taken in self.intervals.items()
            for points, pair in taken.items()
            if not self.implies(points, who, needs, itself=False)
        ]
        return sorted(entries, key=lambda e: (e[0].bit_count(), e[0], -e[1][1]))


def _excluding(a: Node, b: Node) -> bool:
    """Whether two ops are in different branches of one conditional, so that one trip runs one of them."""
    branches = dict(a.regions)
    return any(branches.get(number, branch) != branch for number, branch in b.regions)


def touches(op: ir.Operation) -> tuple[Touch, ...]:
    """What an op does to LDS buffers."""
    make = _TOUCHES.get(op.name)
    return () if make is None else tuple(t for t in make(op) if _is_buffer(t.memory))


def global_touches(op: ir.Operation) -> tuple[Touch, ...]:
    """What an op does to the kernel's arguments."""
    return tuple(t for t in _TOUCHES[op.name](op) if is_global(t.memory)) if op.name in _TOUCHES else ()


def is_global(memory: ir.Value) -> bool:
    """Whether a memory is an argument of the kernel."""
    return isinstance(memory, ir.BlockArgument)


def _may_conflict(group: list[tuple[Node, Touch]]) -> bool:
    """Whether accesses of one memory can conflict at all."""
    kinds = {touch.kind for _, touch in group}
    if not kinds - {"read"} or kinds == {"atomic"} or (len(group) == 1 and not group[0][0].parents):
        return False
    first, touch = group[0]
    if not is_global(touch.memory) or len(kinds) > 1 or any(node.parents for node, _ in group):
        return True
    return not all(node is first or same_tile(node.op, first.op) for node, _ in group)


def accesses_of(op: ir.Operation) -> tuple[tuple[ir.Value, ...], tuple[ir.Value, ...]]:
    """(LDS buffers read, LDS buffers written) by an op."""
    found = touches(op)
    reads, writes = ([t.memory for t in found if (t.kind == "read") == read] for read in (True, False))
    return tuple(reads), tuple(writes)


_TOUCHES: dict[str, Callable[[ir.Operation], list[Touch]]] = {
    "wave.read": lambda op: [Touch(op.operands[0], "read")],
    "wave.write": lambda op: [Touch(op.operands[1], "write")],
    "wave.atomic": lambda op: [Touch(op.operands[1], "atomic")],
    "wave.gather_to_shared": lambda op: [
        Touch(op.operands[0], "read"),
        Touch(op.operands[1], "write", asynchronous=True),
    ],
    "wave.buffer_load": lambda op: [Touch(op.operands[0], "read")],
    "wave.buffer_store": lambda op: [Touch(op.operands[1], "write")],
}


def _is_buffer(memory: ir.Value) -> bool:
    owner = memory.owner
    return not isinstance(owner, ir.Block) and owner.operation.name == "wave.allocate"
