"""A loop's schedule as its annotations say it: where each op of the body stands, and whether that keeps its meaning.

The loop has `wave.pipeline = {stages, unroll}`; each op that matters has `wave.slot = {stage, order}`. At time t the
steady loop runs, by increasing order, the op of stage s for tile t - s. Ops without a slot are pure and stand right
before their first user.

A dependence of v on u over d trips (v of tile i + d needs u of tile i) holds if stage(v) + d > stage(u), or if these
are equal and order(v) > order(u).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import lcm

from mlir import ir

from wave_mlir.dialect import Expr
from wave_mlir.scheduling import MOST_STAGES, MOST_UNROLL

from .diagnostics import PassError
from .expand_exchange import SWAPS
from .lane_access import in_lds, same_tile
from .loop_memory import has_offset, is_steady, variant_values
from .tile_ir import body_of, walk

PIPELINE = "wave.pipeline"
"""On a loop: strategy, stages, interval (clocks) and unroll of its schedule; a dictionary."""
SLOT = "wave.slot"
"""On an op of a loop's body: its stage and order; a dictionary."""
COPIES = "wave.copies"
"""On an LDS buffer: how many of it tiles take turns with."""
FIRST = "wave.first"
"""On ops right before a loop: they go between its prologue and its steady loop."""
STEADY_ALONE = "wave.steady_alone"
"""On an op with a place: it is left out of prologue and epilogue, and of the loop that runs what is left."""
STEADY = "wave.steady"
"""On a loop: its ops stand in the order of a schedule, for so many tiles a trip."""

SYNCHRONISATION = frozenset(
    f"wave.{name}"
    for name in (
        "shared_memory_barrier", "workgroup_barrier", "barrier_signal", "barrier_wait", "scheduling_barrier",
        "scheduling_group_barrier", "set_wave_prio", "memory_counter_wait", "wave_fence",
    )
)  # fmt: skip
_PURE_DIALECTS = ("arith", "vector", "math")
_PURE = ("wave.apply_expr", "wave.scalar", "wave.mask", "wave.shuffle", "wave.mma", "wave.scaled_mma", "gpu.shuffle",
         "llvm.extractvalue", *SWAPS.values())  # fmt: skip
_READS = ("wave.read", "wave.buffer_load")
_WRITES = ("wave.write", "wave.buffer_store")
_SPLIT = ("wave.barrier_signal", "wave.barrier_wait")
_REGIONS = ("wave.conditional", "wave.iterate")


@dataclass(frozen=True, order=True)
class Slot:
    """Where an op stands. `before` numbers the ops that stand before the one that has the order."""

    stage: int
    order: int
    before: int

    @property
    def place(self) -> tuple[int, int]:
        """The place in the steady loop."""
        return self.order, self.before


@dataclass(frozen=True)
class Access:
    """One use of a memory by an op of the body: by itself, or by an op `inner` in its regions.

    writes: it writes, or is volatile and keeps its place like one that does. shared: the memory is an LDS buffer of the
    kernel.
    """

    op: ir.Operation
    inner: ir.Operation
    memory: ir.Value
    writes: bool
    shared: bool

    @property
    def reads(self) -> bool:
        """Whether it finds what was in memory."""
        return self.inner.name in (*_READS, "wave.atomic")

    def meets(self, other: Access) -> bool:
        """Whether both may be of the same bytes: of one buffer, of two with a place in LDS, of arguments."""
        if not (self.shared and other.shared):
            return self.shared == other.shared
        return self.memory == other.memory or (has_offset(self.memory) and has_offset(other.memory))


@dataclass(frozen=True)
class Dependence:
    """`later` of tile i + distance needs `earlier` of tile i; `what` says why."""

    earlier: ir.Operation
    later: ir.Operation
    distance: int
    what: str


@dataclass
class Schedule:
    """The schedule of one annotated loop.

    ops: those with a place, in the order of the steady loop. again: ops made anew for each user. yielded: what each
    carried argument is in the next trip. copies: LDS buffers that tiles take turns with. stagger: the condition of the
    waves that run the steady loop a barrier behind the others.
    """

    loop: ir.Operation
    stages: int
    unroll: int
    slots: dict[ir.Operation, Slot] = field(default_factory=dict)
    ops: list[ir.Operation] = field(default_factory=list)
    again: frozenset[ir.Operation] = frozenset()
    yielded: dict[ir.Value, ir.Value] = field(default_factory=dict)
    copies: dict[ir.Value, int] = field(default_factory=dict)
    stagger: Expr | None = None
    _first_use: dict[ir.Operation, Slot] = field(default_factory=dict)  # of ops that are made anew

    @cached_property
    def body(self) -> ir.Block:
        """The loop's block."""
        return body_of(self.loop)

    @cached_property
    def counter(self) -> ir.Value | None:
        """The trip counter."""
        return self.body.arguments[0] if "has_iv" in self.loop.attributes else None

    @staticmethod
    def of(loop: ir.Operation) -> Schedule:
        """Read and verify the annotations of a loop. Raises PassError at the op that is wrong."""
        stages, unroll = _numbers(loop, PIPELINE, ("stages", "unroll"))
        if "trips" not in loop.attributes:
            raise PassError(loop, "a loop that ends by a condition cannot be pipelined; take wave.pipeline off it")
        if stages < 1 or unroll < 1:
            raise PassError(loop, f"the schedule has {stages} stages and unroll {unroll}; both are at least 1")
        if stages > MOST_STAGES or unroll > MOST_UNROLL:
            text = f"the most are {MOST_STAGES} stages and unroll {MOST_UNROLL}"
            raise PassError(loop, f"the schedule has {stages} stages and unroll {unroll}; {text}")
        schedule = Schedule(loop, stages, unroll)
        if "stagger" in loop.attributes[PIPELINE]:
            schedule.stagger = _condition(loop)
        schedule._read_values()
        schedule._read_slots()
        schedule._read_copies()
        schedule._check_first()
        schedule._check()
        return schedule

    # --- reading -------------------------------------------------------------------------------
    def _read_values(self) -> None:
        carried = list(self.body.arguments)[1 if self.counter is not None else 0 :]
        end = self.body.operations[len(self.body.operations) - 1]
        self.yielded = dict(zip(carried, end.operands, strict=True))

    def _read_slots(self) -> None:
        body = [view.operation for view in self.body.operations][:-1]
        orders: dict[int, ir.Operation] = {}
        for op in body:
            if SLOT not in op.attributes:
                continue
            stage, order = _numbers(op, SLOT, ("stage", "order"))
            if not 0 <= stage < self.stages:
                raise PassError(op, f"the op is in stage {stage} of a schedule with {self.stages} stages")
            if order in orders:
                error = PassError(op, f"two ops have order {order} in the schedule; each has its own")
                raise error.note(orders[order], "the other op")
            orders[order] = op
            self.slots[op] = Slot(stage, order, len(body))
        self._place_others(body)
        self.ops = sorted((op for op in body if op in self.slots), key=lambda op: self.slots[op].place)

    def _place_others(self, body: list[ir.Operation]) -> None:
        """Ops without a slot: right before their first user, or made anew for each where that costs nothing."""
        again: list[ir.Operation] = []
        given = set(self.yielded.values())
        for number, op in reversed(list(enumerate(body))):
            if op in self.slots:
                continue
            if not is_pure(op):
                raise PassError(op, f"{op.name} has no place in the schedule; give it a wave.slot")
            places = [self.slots.get(user, self._first_use.get(user)) for user in _users(op, self.body)]
            users = [slot for slot in places if slot is not None]
            is_given = any(result in given for result in op.results)
            if _is_cheap(op) and not is_given:
                again.append(op)
                if users:
                    self._first_use[op] = min(users)
            elif users:
                first = min(users)
                self.slots[op] = Slot(first.stage, first.order, number)
            elif is_given:
                self.slots[op] = self._after_operands(op, number)
        self.again = frozenset(again)

    def _after_operands(self, op: ir.Operation, number: int) -> Slot:
        """The place of an op that only the next trip uses: behind the last of what it is made from."""
        slots = [self.slots[o] for o in _producers(op, self.body) if o in self.slots]
        if not slots:
            return Slot(self.stages - 1, max((s.order for s in self.slots.values()), default=0), number)
        last = max(slots)
        return Slot(last.stage, last.order, last.before + 1 + number)

    def _read_copies(self) -> None:
        found: dict[ir.Value, list[Access]] = {}
        for view in self.body.operations:
            for access in accesses(view.operation):
                if access.shared:
                    found.setdefault(access.memory, []).append(access)
        for memory, used in found.items():
            if COPIES not in memory.owner.attributes:
                continue
            count = copies_of(memory.owner.operation)
            if count > 1:
                self._check_turns(memory, used)
            self.copies[memory] = count
        unroll = lcm(self.unroll, *self.copies.values())
        if unroll > MOST_UNROLL:
            raise PassError(
                self.loop,
                f"unroll {self.unroll} and the copies of the loop's buffers make {unroll} tiles a trip, and "
                f"{MOST_UNROLL} is the most; take numbers with common factors",
            )
        self.unroll = unroll

    # --- verifying -----------------------------------------------------------------------------
    def _check(self) -> None:
        for dependence in self.dependences():
            a, b = (self.slots.get(op) for op in (dependence.earlier, dependence.later))
            if a is None or b is None:
                continue
            ahead = b.stage + dependence.distance - a.stage
            if ahead < 0 or (ahead == 0 and b.place <= a.place):
                raise _broken(dependence, a, b)

    def _check_first(self) -> None:
        """What moves behind the prologue may be nothing that others depend on."""
        for view in self.loop.block.operations:
            op = view.operation
            if op == self.loop:
                return
            if FIRST in op.attributes and op.name not in SYNCHRONISATION:
                raise PassError(
                    op,
                    f"{op.name} cannot move to where the steady loop begins: wave.first is for barriers, waits and "
                    "priorities; take it off",
                )

    def dependences(self) -> Iterator[Dependence]:
        """All dependences between ops of the body."""
        yield from self._of_values()
        yield from self._of_memory()
        yield from self._of_barriers()

    def _of_values(self) -> Iterator[Dependence]:
        for op in self.slots:
            for value in used_values(op):
                yield from self._reaching(value, op, 0)

    def _reaching(self, value: ir.Value, op: ir.Operation, distance: int) -> Iterator[Dependence]:
        """The ops whose results a use of a value sees, through ops made anew and carried arguments."""
        if value in self.yielded:
            if distance <= self.stages:  # further back nothing can be wrong, and arguments may give each other
                yield from self._reaching(self.yielded[value], op, distance + 1)
            return
        owner = value.owner
        if isinstance(owner, ir.Block) or owner.operation.block != self.body:
            return
        if owner.operation in self.again:
            for operand in used_values(owner.operation):
                yield from self._reaching(operand, op, distance)
        else:
            yield Dependence(owner.operation, op, distance, "uses its result")

    def _of_memory(self) -> Iterator[Dependence]:
        found = [a for view in self.body.operations for a in accesses(view.operation)]
        for i, a in enumerate(found):
            for j, b in enumerate(found):
                if a.op == b.op or not (a.writes or b.writes) or not a.meets(b):
                    continue
                distance = self.copies.get(a.memory, 1)
                if i > j or same_tile(a.op, b.op):  # copies of one tile op meet in other tiles only
                    yield Dependence(a.op, b.op, distance, _reuse(a, distance))
                else:
                    yield Dependence(a.op, b.op, 0, "accesses the same memory")

    def _of_barriers(self) -> Iterator[Dependence]:
        """Signals and waits of one split barrier take turns."""
        found = [(op, name) for op in self.slots for name in sorted(_split_barriers(op))]
        rank = {view.operation: number for number, view in enumerate(self.body.operations)}
        for a, name in found:
            for b, other in found:
                if name == other and a != b:
                    yield Dependence(a, b, int(rank[a] > rank[b]), f"is of the same split barrier, {name}")

    def _check_turns(self, memory: ir.Value, used: list[Access]) -> None:
        """What a tile reads of a buffer that tiles take turns with has to be what the same tile wrote."""
        first = next((n for n, a in enumerate(used) if a.reads), len(used))
        if first < len(used) and (first == 0 or any(a.inner.name not in _READS for a in used[first:])):
            error = PassError(
                used[first].inner,
                "this op reads a buffer that tiles take turns with, and not all that its tile writes there stands "
                "before it: it needs what another tile wrote; take wave.copies off the buffer",
            )
            raise error.note(memory.owner, "the buffer")
        variant = variant_values(self.loop)
        for access in used:
            if access.writes and not access.reads and (access.inner != access.op or not is_steady(access.op, variant)):
                error = PassError(
                    access.inner,
                    "this op writes a buffer that tiles take turns with, in other places from tile to tile: a tile "
                    "would find what is left there of another one; take wave.copies off the buffer",
                )
                raise error.note(memory.owner, "the buffer")


def _reuse(access: Access, distance: int) -> str:
    if not access.shared:
        return "accesses the same memory a tile earlier"
    copies = f"{distance} cop{'y' if distance == 1 else 'ies'}"
    return f"uses the same LDS {distance} tile{'' if distance == 1 else 's'} earlier (the buffer has {copies})"


def _broken(dependence: Dependence, a: Slot, b: Slot) -> PassError:
    when = "in the same tile"
    if dependence.distance:
        when = f"{dependence.distance} tile{'' if dependence.distance == 1 else 's'} earlier"
    error = PassError(
        dependence.later,
        f"the schedule runs this op (stage {b.stage}, order {b.order}) before one {when} that it depends on (stage "
        f"{a.stage}, order {a.order}); give it a later stage, or a later order",
    )
    return error.note(dependence.earlier, f"this is the other op: the first {dependence.what}")


def _numbers(op: ir.Operation, name: str, keys: tuple[str, ...]) -> list[int]:
    """Entries of a dictionary attribute that are numbers."""
    attribute = op.attributes[name]
    if isinstance(attribute, ir.DictAttr):
        values = [attribute[key] for key in keys if key in attribute]
        numbers = [number for value in values if (number := _number(value)) is not None]
        if len(numbers) == len(keys):
            return numbers
    wanted = ", ".join(f"{key} = N : i64" for key in keys)
    raise PassError(op, f"{name} has to be a dictionary with {wanted}")


def _number(attribute: ir.Attribute) -> int | None:
    """The number of an attribute; None for one that is no number of 64 bits at most."""
    if not isinstance(attribute, ir.IntegerAttr):
        return None
    type_ = attribute.type
    if isinstance(type_, ir.IntegerType) and not 1 < ir.IntegerType(type_).width <= 64:
        return None
    return ir.IntegerAttr(attribute).value


def copies_of(allocate: ir.Operation) -> int:
    """How many copies of an LDS buffer tiles take turns with, from 1 on. Raises PassError where they make no sense."""
    if COPIES not in allocate.attributes:
        return 1
    count = _number(allocate.attributes[COPIES])
    if count is None:
        raise PassError(allocate, f"wave.copies is {allocate.attributes[COPIES]}; write a number, N : i64")
    if count < 1:
        raise PassError(allocate, f"the buffer has {count} copies; it has at least 1")
    if count > 1 and "offset" in allocate.attributes:
        text = f"the buffer has {count} copies and an offset, which only one of them can have; take one of both off"
        raise PassError(allocate, text)
    return count


def _condition(loop: ir.Operation) -> Expr:
    given = loop.attributes[PIPELINE]["stagger"]
    if not isinstance(given, Expr):
        raise PassError(loop, "stagger in wave.pipeline is the condition of some waves: #wave.expr<…> over wave.x, …")
    return given


def is_pure(op: ir.Operation) -> bool:
    """Whether an op of lane form does nothing but compute its results."""
    return op.name.partition(".")[0] in _PURE_DIALECTS or op.name in _PURE


def _is_cheap(op: ir.Operation) -> bool:
    """Ops that cost nothing, or that their users look through: each user gets its own."""
    if op.name in ("wave.mask", "arith.constant", "vector.extract_strided_slice"):
        return True
    return op.name in ("wave.apply_expr", "wave.scalar") and not isinstance(op.results[0].type, ir.VectorType)


def used_values(op: ir.Operation) -> Iterator[ir.Value]:
    """The operands of an op and of those in its regions."""
    yield from op.operands
    for region in op.regions:
        for block in region.blocks:
            for inner in walk(block):
                yield from inner.operands


def in_body(op: ir.Operation, body: ir.Block) -> ir.Operation | None:
    """The op of the body that an op is, or is in; None for its terminator."""
    current = op
    while current.block != body:
        current = current.parent.operation
    return None if current.name == "wave.yield" else current


def _users(op: ir.Operation, body: ir.Block) -> Iterator[ir.Operation]:
    for result in op.results:
        for use in result.uses:
            user = in_body(use.owner.operation, body)
            if user is not None:
                yield user


def _producers(op: ir.Operation, body: ir.Block) -> Iterator[ir.Operation]:
    for value in used_values(op):
        if not isinstance(value.owner, ir.Block) and value.owner.operation.block == body:
            yield value.owner.operation


def accesses(op: ir.Operation) -> Iterator[Access]:
    """The accesses of an op and of those in its regions. Raises PassError at one that is not known."""
    if op.name in _REGIONS:
        for region in op.regions:
            for block in region.blocks:
                for inner in walk(block):
                    if inner.name not in _REGIONS and inner.name != "wave.yield":
                        for access in accesses(inner):
                            yield replace(access, op=op)
        return
    if is_pure(op) or op.name in SYNCHRONISATION or op.name in ("wave.yield", "wave.allocate"):
        return
    if op.name in _READS:
        memory = op.operands[0]
        yield Access(op, op, memory, "is_volatile" in op.attributes, _is_buffer(memory))
    elif op.name in _WRITES or op.name == "wave.atomic":
        memory = op.operands[1]
        yield Access(op, op, memory, True, _is_buffer(memory))
    elif op.name == "wave.gather_to_shared":
        yield Access(op, op, op.opview.source, False, False)
        yield Access(op, op, op.opview.target, True, _is_buffer(op.opview.target))
    else:
        raise PassError(op, f"{op.name} cannot be in a loop that is pipelined; take wave.pipeline off the loop")


def _is_buffer(memory: ir.Value) -> bool:
    """Whether a memory is an LDS buffer of the kernel; an argument may be anywhere, in LDS as in global memory."""
    return in_lds(memory) and not isinstance(memory.owner, ir.Block)


def _split_barriers(op: ir.Operation) -> set[int]:
    """The numbers of the split barriers that an op, or one in its regions, signals or waits for."""
    inner = (one for region in op.regions for block in region.blocks for one in walk(block))
    return {ir.IntegerAttr(one.attributes["id"]).value for one in (op, *inner) if one.name in _SPLIT}
