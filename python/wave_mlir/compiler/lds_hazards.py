"""Hazards between LDS accesses of a kernel, as intervals of program points that need a barrier.

Points are numbered in program order: point i is just before the i-th op of a flattened kernel (loop bodies and
conditionals in place, their region op before them). A barrier at a point serves an interval if it is executed between
producer and consumer for sure: so a point counts only if the regions it is in contain the producer or the consumer.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mlir import ir

from .uniform import Uniform

_READS = ("wave.read",)
_WRITES = ("wave.write",)
BARRIERS = ("wave.shared_memory_barrier", "wave.barrier_wait")
FENCES = ("wave.wave_fence",)
MEETINGS = (
    *BARRIERS,
    "wave.workgroup_barrier",
    "wave.barrier_signal",
)
"""Ops that every wave of the workgroup must come to."""


@dataclass
class Node:
    """One op in program order, with the region ops it is in (outermost first) and what it does to LDS."""

    op: ir.Operation
    number: int
    parents: tuple[int, ...]
    reads: tuple[ir.Value, ...] = ()
    writes: tuple[ir.Value, ...] = ()
    end: int = 0  # of a region op: one past its last op
    synchronises: bool = False


@dataclass(frozen=True)
class Interval:
    """A barrier is needed at one of `points`, which lead from the producer to the consumer (so the last is best)."""

    producer: int
    consumer: int
    points: tuple[int, ...]


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

    nodes: list[Node] = field(default_factory=list)
    _serving: dict[frozenset[int], int] = field(default_factory=dict)
    _uniform: dict[int, bool] = field(default_factory=dict)

    @staticmethod
    def of(kernel: ir.Operation, synchronising: tuple[str, ...]) -> Program:
        """Flatten a kernel; ops named in `synchronising` count as barriers that are there already."""
        program = Program()
        program._visit(kernel.regions[0].blocks[0], (), synchronising)
        return program

    def _visit(self, block: ir.Block, parents: tuple[int, ...], synchronising: tuple[str, ...]) -> None:
        for view in block.operations:
            op = view.operation
            node = Node(op, len(self.nodes), parents, *accesses_of(op), synchronises=op.name in synchronising)
            self.nodes.append(node)
            for region in op.regions:
                for inner in region.blocks:
                    self._visit(inner, (*parents, node.number), synchronising)
            node.end = len(self.nodes)

    def loops(self, node: Node) -> list[Node]:
        """The loops around a node, outermost first."""
        return [self.nodes[n] for n in node.parents if self.nodes[n].op.name == "wave.iterate"]

    def may_place(self, number: int) -> bool:
        """Whether a barrier may stand before this op: not inside a conditional whose body not all waves may enter."""
        around = [self.nodes[p] for p in self.nodes[number].parents]
        return all(self._all_enter(node) for node in around if node.op.name == "wave.conditional")

    def split(self, node: Node) -> Node | None:
        """The conditional around a node whose condition is made from a lane's or wave's own number, if there is one."""
        around = [self.nodes[p] for p in node.parents if self.nodes[p].op.name == "wave.conditional"]
        return next((n for n in around if Uniform().differs(n.op)), None)

    def _all_enter(self, conditional: Node) -> bool:
        if conditional.number not in self._uniform:
            self._uniform[conditional.number] = Uniform().condition(conditional.op)
        return self._uniform[conditional.number]

    def _served(self, producer: Node, consumer: Node) -> int:
        """The points where a barrier is surely executed when producer and consumer are, as bits."""
        parents = frozenset((*producer.parents, *consumer.parents))
        if parents not in self._serving:
            bits = 0
            for node in self.nodes:
                if parents.issuperset(node.parents):
                    bits |= 1 << node.number
            self._serving[parents] = bits
        return self._serving[parents]

    def intervals(self) -> list[Interval]:
        """The pairs of accesses that need a barrier between, in program order and around each loop.

        Where the points of one pair contain those of another, the other's barrier serves both: only the least remain.
        """
        users: dict[ir.Value, list[Node]] = {}
        for node in self.nodes:
            for buffer in (*node.reads, *(w for w in node.writes if w not in node.reads)):
                users.setdefault(buffer, []).append(node)
        found: dict[int, tuple[int, int]] = {}
        for buffer, nodes in users.items():
            for i, a in enumerate(nodes):
                for j, b in enumerate(nodes):
                    if (buffer in a.writes or buffer in b.writes) and not (i < j and same_tile(a.op, b.op)):
                        points = self._after(a, b) if i < j else self._around(a, b)
                        if points is not None:
                            found.setdefault(points, (a.number, b.number))
        least: list[int] = []
        for points in sorted(found, key=lambda p: (p.bit_count(), p)):
            if not any(other & points == other for other in least):
                least.append(points)
        return [self._interval(points, *found[points]) for points in least]

    @staticmethod
    def _interval(points: int, producer: int, consumer: int) -> Interval:
        return Interval(producer, consumer, tuple(_members(points, producer + 1)))

    def _after(self, producer: Node, consumer: Node) -> int:
        return _bits(producer.number + 1, consumer.number) & self._served(producer, consumer)

    def _around(self, producer: Node, consumer: Node) -> int | None:
        """From the producer of one trip to the consumer of a later trip of the innermost loop around both, if any.

        That is to the loop's end (the last point is before its yield), then from its start.
        """
        common = [loop for loop in self.loops(producer) if loop.number in consumer.parents]
        if not common:
            return None
        loop = common[-1]
        trip = _bits(producer.number + 1, loop.end - 1) | _bits(loop.number + 1, consumer.number)
        return trip & self._served(producer, consumer)


def accesses_of(op: ir.Operation) -> tuple[tuple[ir.Value, ...], tuple[ir.Value, ...]]:
    """(LDS buffers read, LDS buffers written) by an op."""
    reads, writes = [], []
    if op.name in _READS:
        reads = [op.opview.memory]
    elif op.name in _WRITES or op.name == "wave.atomic":
        writes = [op.opview.memory]
    elif op.name == "wave.gather_to_shared":
        writes = [op.opview.target]
    return tuple(m for m in reads if _is_buffer(m)), tuple(m for m in writes if _is_buffer(m))


def same_tile(a: ir.Operation, b: ir.Operation) -> bool:
    """Whether two accesses are copies of one tile op: these never touch the same element in one trip."""
    if "wave.provenance" not in a.attributes or "wave.provenance" not in b.attributes:
        return False
    return a.attributes["wave.provenance"]["op"] == b.attributes["wave.provenance"]["op"]


def _is_buffer(memory: ir.Value) -> bool:
    owner = memory.owner
    return not isinstance(owner, ir.Block) and owner.operation.name == "wave.allocate"


def stab(intervals: list[Interval], given: set[int], allowed: set[int]) -> list[int] | None:
    """The fewest points of `allowed` that, with those `given`, hit every interval; None when some cannot be hit.

    Points of an interval that wraps around a loop form two stretches, so the greedy choice at the end of the shortest
    interval is tried from each point of one interval and the best result kept.
    """
    left = [tuple(p for p in i.points if p in allowed) for i in intervals if not given & set(i.points)]
    if any(not points for points in left):
        return None
    return _fewest(left, _greedy(left))


def _greedy(left: list[tuple[int, ...]]) -> list[int]:
    """A solution, not always the least: the point that hits most; of equals the one nearest before a consumer."""
    chosen: list[int] = []
    while left:
        counts: dict[int, int] = {}
        nearness: dict[int, int] = {}
        for points in left:
            for position, p in enumerate(points):
                counts[p] = counts.get(p, 0) + 1
                nearness[p] = max(nearness.get(p, -len(points)), position - len(points))
        best = max(counts, key=lambda p: (counts[p], nearness[p], p))
        chosen.append(best)
        left = [points for points in left if best not in points]
    return sorted(chosen)


_BUDGET = 20_000


def _fewest(left: list[tuple[int, ...]], start: list[int]) -> list[int]:
    """Branch and bound below the size of `start`: some point of the shortest interval must be chosen.

    Points that hit the same intervals count once (the last of them), so the search stays small.
    """
    sets = [frozenset(points) for points in left]
    hits: dict[frozenset[int], int] = {}
    for p in sorted({p for points in left for p in points}):
        hits[frozenset(i for i, points in enumerate(sets) if p in points)] = p
    useful = [p for hit, p in hits.items() if not any(hit < other for other in hits)]
    covers = {p: frozenset(i for i, points in enumerate(sets) if p in points) for p in useful}
    best = list(start)
    budget = _BUDGET

    def search(missing: frozenset[int], chosen: list[int]) -> None:
        nonlocal best, budget
        if not missing:
            if len(chosen) < len(best):
                best = sorted(chosen)
            return
        if len(chosen) + 1 >= len(best) or budget <= 0:
            return
        budget -= 1
        narrow = min(missing, key=lambda i: sum(i in c for c in covers.values()))
        for p in sorted((p for p in useful if narrow in covers[p]), key=lambda p: (-len(covers[p] & missing), -p)):
            search(missing - covers[p], [*chosen, p])

    search(frozenset(range(len(sets))), [])
    return best
