"""A loop's schedule as its annotations say it: where each op of the body stands, and whether that keeps its meaning.

The loop has `wave.pipeline = {stages, unroll}`; each op that matters has `wave.slot = {stage, order}`. At time t the
steady loop runs, by increasing order, the op of stage s for tile t - s. Ops without a slot are pure and stand right
before their first user.

A dependence of v on u over d trips (v of tile i + d needs u of tile i) holds if stage(v) + d > stage(u), or if these
are equal and order(v) > order(u).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import lcm

from mlir import ir

from .diagnostics import PassError
from .lane_access import in_lds, same_tile
from .tile_ir import body_of, walk

PIPELINE = "wave.pipeline"
"""On a loop: its stages, initiation interval, unroll and strategy; a dictionary."""
SLOT = "wave.slot"
"""On an op of a loop's body: its stage and order; a dictionary."""
COPIES = "wave.copies"
"""On an LDS buffer: how many of it tiles take turns with."""
FIRST = "wave.first"
"""On ops right before a loop: they go between its prologue and its steady loop."""
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
_PURE = ("wave.apply_expr", "wave.scalar", "wave.mask", "wave.shuffle", "wave.mma", "wave.scaled_mma")
_READS = ("wave.read", "wave.buffer_load")
_WRITES = ("wave.write", "wave.buffer_store")
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
    """One use of a memory by an op (LDS: by the buffer it is in)."""

    op: ir.Operation
    memory: ir.Value
    writes: bool
    shared: bool


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
    carried argument is in the next trip. copies: LDS buffers that tiles take turns with.
    """

    loop: ir.Operation
    stages: int
    unroll: int
    slots: dict[ir.Operation, Slot] = field(default_factory=dict)
    ops: list[ir.Operation] = field(default_factory=list)
    again: frozenset[ir.Operation] = frozenset()
    yielded: dict[ir.Value, ir.Value] = field(default_factory=dict)
    copies: dict[ir.Value, int] = field(default_factory=dict)
    _first_use: dict[ir.Operation, Slot] = field(default_factory=dict)  # of ops that are made anew

    @property
    def body(self) -> ir.Block:
        """The loop's block."""
        return body_of(self.loop)

    @property
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
        schedule = Schedule(loop, stages, unroll)
        schedule._read_values()
        schedule._read_slots()
        schedule._read_copies()
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
            attributes = memory.owner.attributes
            if COPIES not in attributes:
                continue
            count = ir.IntegerAttr(attributes[COPIES]).value
            if count < 1:
                raise PassError(memory.owner, f"the buffer has {count} copies; it has at least 1")
            if count > 1:
                _check_turns(memory, used)
            self.copies[memory] = count
        self.unroll = lcm(self.unroll, *self.copies.values())

    # --- verifying -----------------------------------------------------------------------------
    def _check(self) -> None:
        for dependence in self.dependences():
            a, b = (self.slots.get(op) for op in (dependence.earlier, dependence.later))
            if a is None or b is None:
                continue
            ahead = b.stage + dependence.distance - a.stage
            if ahead < 0 or (ahead == 0 and b.place <= a.place):
                raise _broken(dependence, a, b)

    def dependences(self) -> Iterator[Dependence]:
        """All dependences between ops of the body."""
        yield from self._of_values()
        yield from self._of_memory()

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
                if a.shared != b.shared or not (a.writes or b.writes) or (a.shared and a.memory != b.memory):
                    continue
                if a.op == b.op:
                    continue
                distance = self.copies.get(a.memory, 1)
                if i > j:
                    yield Dependence(a.op, b.op, distance, _reuse(a, distance))
                elif not (a.shared and same_tile(a.op, b.op)):
                    yield Dependence(a.op, b.op, 0, "accesses the same memory")
                elif a.shared:
                    yield Dependence(a.op, b.op, distance, _reuse(a, distance))


def _check_turns(memory: ir.Value, used: list[Access]) -> None:
    """What a tile reads of a buffer that tiles take turns with has to be what the same tile wrote."""
    first = next((n for n, a in enumerate(used) if not a.writes or a.op.name == "wave.atomic"), len(used))
    if first < len(used) and (first == 0 or any(a.writes for a in used[first:])):
        error = PassError(
            used[first].op,
            "this op reads a buffer that tiles take turns with, and not all that its tile writes there stands before "
            "it: it needs what another tile wrote; take wave.copies off the buffer",
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
        if len(values) == len(keys) and all(isinstance(v, ir.IntegerAttr) for v in values):
            return [ir.IntegerAttr(v).value for v in values]
    wanted = ", ".join(f"{key} = N : i64" for key in keys)
    raise PassError(op, f"{name} has to be a dictionary with {wanted}")


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
                            yield Access(op, access.memory, access.writes, access.shared)
        return
    if is_pure(op) or op.name in SYNCHRONISATION or op.name in ("wave.yield", "wave.allocate"):
        return
    if op.name in _READS:
        memory = op.operands[0]
        yield Access(op, memory, "is_volatile" in op.attributes, in_lds(memory))
    elif op.name in _WRITES or op.name == "wave.atomic":
        memory = op.operands[1]
        yield Access(op, memory, True, in_lds(memory))
    elif op.name == "wave.gather_to_shared":
        yield Access(op, op.opview.source, False, False)
        yield Access(op, op.opview.target, True, True)
    else:
        raise PassError(op, f"{op.name} cannot be in a loop that is pipelined; take wave.pipeline off the loop")


