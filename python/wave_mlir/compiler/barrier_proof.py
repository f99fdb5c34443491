"""Proves that barriers keep the accesses to LDS of different waves apart, by data flow, whoever placed them.

Forward through the program goes what may be *pending*: accesses a wave may have made since the last barrier, each with
the loops that have gone on since. Another wave may be anywhere between the same barriers, so an access must meet no
pending one, of which one writes, in any byte. Loops are run until nothing more becomes pending. It shares with the
placing of barriers the names of values, the conditions under which an op runs, and which buffer masked lanes read;
bytes are compared in tables of its own, of who touches what, or asked of `prove` lane by lane. `barrier_states` does
the same for small programs by trying every order of the waves.

Waves may be apart: barriers in conditionals over wave ids, marked with `wave.stagger`, divide them into groups, and the
proof counts the barriers of each. An access of one group is pending for another one until that has passed more barriers
than the first had signalled.

Where a conditional with `wave.specialized` gives two kinds of waves programs of their own, the proof goes through both
side by side, from barrier to barrier (`barrier_sides`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from mlir import ir

from .barrier_groups import Groups
from .barrier_overlap import Overlap, Who
from .barrier_sides import Sides, paired
from .diagnostics import PassError
from .gpu_barrier import EVERYWHERE, OUTSTANDING
from .kernel_info import KernelInfo
from .lds_hazards import UNORDERED
from .shared_values import SharedValues
from .tile_ir import body_of, walk

_BARRIER, _WAIT, _SIGNAL, _FENCE = (
    "wave.shared_memory_barrier", "wave.barrier_wait", "wave.barrier_signal", "wave.wave_fence",
)  # fmt: skip
Since = tuple[tuple[int, int], ...]
"""(loop, trips since: 0, 1 or 2 for more; -1 for any number) of the loops around an access, the outermost first."""


@dataclass(frozen=True)
class Pending:
    """An access that no barrier has finished.

    owed: for each group of waves how many barriers more it has to pass before it knows of the access. lanes: the
    compiler does not keep the order within the wave. copying: a direct copy that was not waited for. signalled: numbers
    of split barriers signalled since. group: of the wave that made the access.
    """

    op: ir.Operation
    memory: ir.Value
    kind: str
    since: Since
    owed: tuple[int, ...] = (1,)
    lanes: bool = True
    copying: bool = False
    signalled: tuple[int, ...] = ()
    group: int = 0

    @property
    def waves(self) -> bool:
        """Whether other waves may not know of it yet."""
        return any(n > 0 for n in self.owed)


State = dict[Pending, int]
"""What is pending, and how many direct copies the wave has started since (at least)."""
_MANY = 64


def prove_barriers(kernel: ir.OpView) -> None:
    """Check a kernel in lane or scheduled form. Raises PassError at the first access that may race, with the other."""
    _Proof(KernelInfo.of(kernel), kernel).run()


@dataclass
class _Proof:
    info: KernelInfo
    kernel: ir.OpView
    loops: dict[ir.Operation, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        found = [op for op in walk(body_of(self.kernel)) if op.name == "wave.iterate"]
        self.loops.update((op, number) for number, op in enumerate(found))
        self.values = SharedValues(self.info, self.loops)
        self.overlap = Overlap(self.info, self.values)
        every = [a for op in walk(body_of(self.kernel)) for a in _accesses(op)]
        self.written = {memory for memory, kind, _ in every if kind != "read" and _is_argument(memory)}
        self.groups = Groups(self.info, self.kernel)
        self.active = list(range(len(self.groups.passed)))  # the groups that execute the ops at hand

    def run(self) -> None:
        """Go through the whole kernel."""
        self._block(body_of(self.kernel), (), {})
        self.groups.check_together(self.kernel.operation)

    def _block(self, block: ir.Block, around: tuple[int, ...], state: State) -> State:
        for view in block.operations:
            state = self._op(view.operation, around, state)
        return state

    def _op(self, op: ir.Operation, around: tuple[int, ...], state: State) -> State:
        if op in self.groups.of_some:
            return _each(state, partial(_passed_by, self.groups.enter(op)))
        if op in self.groups.sides:
            sides = Sides(op, self.groups.sides[op], self.values)
            blocks = [region.blocks[0] for region in op.regions]
            return self._side_by_side(sides, blocks, state, (around, around))
        if op.name == "wave.iterate":
            return self._loop([op], state, partial(self._block, body_of(op), (*around, self.loops[op])))
        if len(op.regions):
            ahead = list(self.groups.passed)
            ways = [self._block(b, around, dict(state)) for region in op.regions for b in region.blocks]
            self.groups.check_as(ahead, op)
            return _join([*ways] if len(ways) > 1 else [*ways, state])
        return self._step(op, state, around)

    def _loop(self, ops: Sequence[ir.Operation], state: State, body: Callable[[State], State]) -> State:
        """Trip after trip until nothing new is pending at the start of one; of one loop, or of two side by side."""
        least, most = self.values.trips(ops[0])
        if most == 0:
            return state
        numbers = [self.loops[op] for op in ops]
        start, trips = dict(state), 0
        ahead = list(self.groups.passed)
        while True:
            end = body(dict(start))
            self.groups.check_as(ahead, ops[0])
            trips += 1
            following = end
            for number in numbers:
                following = _each(following, partial(_next_trip, number))
            again = _join([start, following])
            if again == start or trips == most:
                break
            start = again
        left = end
        for number in numbers:
            left = _each(left, partial(_left, number))
        return left if least > 0 else _join([left, state])

    # --- two programs ---

    def _side_by_side(
        self, sides: Sides, blocks: Sequence[ir.Block], state: State, arounds: Sequence[tuple[int, ...]]
    ) -> State:
        """Blocks of two kinds of waves, from barrier to barrier: between these nothing orders what they do."""
        for first, second in paired(sides, blocks):
            for side, stretch in enumerate((first, second)):
                for op in stretch.ops:
                    state = self._on(sides, side, partial(self._op, op, arounds[side]), state)
            if first.end is not None and second.end is not None:
                state = self._both(sides, (first.end, second.end), state, arounds)
        return state

    def _on(self, sides: Sides, side: int, step: Callable[[State], State], state: State) -> State:
        """What the waves of one side do."""
        every, self.active = self.active, sides.groups[side]
        state = step(state)
        self.active = every
        return state

    def _both(
        self, sides: Sides, ops: tuple[ir.Operation, ir.Operation], state: State, arounds: Sequence[tuple[int, ...]]
    ) -> State:
        """A barrier that both kinds of waves come to, or loops or conditionals with such in them."""
        sides.check_alike(*ops)
        if ops[0].name == "wave.iterate":
            inside = [(*around, self.loops[op]) for around, op in zip(arounds, ops, strict=True)]
            bodies = [body_of(op) for op in ops]
            return self._loop(ops, state, lambda s: self._side_by_side(sides, bodies, s, inside))
        if len(ops[0].regions):
            regions = zip(*(op.regions for op in ops), strict=True)
            pairs = [[r.blocks[0] for r in pair] for pair in regions if all(len(r.blocks) for r in pair)]
            ways = [self._side_by_side(sides, pair, dict(state), arounds) for pair in pairs]
            return _join([*ways] if len(ways) > 1 else [*ways, state])
        for side, op in enumerate(ops):
            state = self._on(sides, side, lambda s, op=op: self._waited(s, _outstanding(op)), state)
        return self._met(ops[0], state)

    def _step(self, op: ir.Operation, state: State, around: tuple[int, ...]) -> State:
        self.groups.check_kind(op)
        if op.name in (_BARRIER, _SIGNAL, _WAIT):
            return self._met(op, self._waited(state, _outstanding(op)))
        if op.name == _FENCE:
            return self._fenced_here(state)
        if op.name == "wave.memory_counter_wait" and "load" in op.attributes:
            return self._waited(state, ir.IntegerAttr(op.attributes["load"]).value)
        for memory, kind, copying in self._accesses(op):
            for earlier in state:
                if not (kind == earlier.kind and kind != "write"):
                    self._check(earlier, op, memory)
            since = tuple((loop, 0) for loop in around)
            if copying:
                state = {p: min(n + (p.group in self.active), _MANY) for p, n in state.items()}
            for group in self.active:
                owed = self.groups.owed(group, _is_argument(memory))
                made = Pending(op, memory, kind, since, owed, True, copying, (), group)
                state = _join([state, {made: 0}])
        return state

    @staticmethod
    def _met(op: ir.Operation, state: State) -> State:
        """Behind a barrier, or one half of a split one."""
        if op.name == _BARRIER:
            return _after_barrier(state, op)
        if op.name not in (_SIGNAL, _WAIT):
            return state  # a bare barrier orders nothing
        number = ir.IntegerAttr(op.attributes["id"]).value
        if op.name == _SIGNAL:
            return _each(state, lambda p: replace(p, signalled=tuple(sorted({*p.signalled, number}))))
        done = _after_barrier({p: n for p, n in state.items() if number in p.signalled}, op)
        return _join([done, _fenced({p: n for p, n in state.items() if number not in p.signalled})])

    def _fenced_here(self, state: State) -> State:
        """A fence of the compiler is for the waves that execute it."""
        own = {p: n for p, n in state.items() if p.group in self.active}
        return _join([_fenced(own), {p: n for p, n in state.items() if p not in own}])

    def _waited(self, state: State, outstanding: int | None) -> State:
        """A wave's own copies are complete, but for so many of the last; as they complete in order, which are is known.

        Barriers count from then on, and so do fences: one before the wait does not keep an access behind it.
        """
        if outstanding is None:
            return state
        found: State = {}
        for p, newer in state.items():
            done = p.copying and newer >= outstanding and p.group in self.active
            owed = self.groups.owed(p.group, _is_argument(p.memory)) if done else p.owed
            made = replace(p, copying=p.copying and not done, owed=owed, lanes=p.lanes or done)
            found[made] = min(newer, found.get(made, newer))
        return found

    def _accesses(self, op: ir.Operation) -> list[tuple[ir.Value, str, bool]]:
        """What an op accesses, of arguments those that are written."""
        return [a for a in _accesses(op) if not _is_argument(a[0]) or a[0] in self.written]

    def _check(self, earlier: Pending, op: ir.Operation, memory: ir.Value) -> None:
        warned = all(UNORDERED in one.attributes for one in (earlier.op, op))
        if _is_argument(memory) and (warned or _parts_of_one(earlier, op)):
            return
        who = self.overlap.of(earlier.op, earlier.memory, op, memory, earlier.since)
        if earlier.copying and who is not Who.NOBODY:
            text = (
                "the direct copy to LDS that this access meets may still be in flight; wait for it "
                "(wave.shared_memory_barrier wait_async), or run wave-place-barriers"
            )
        elif earlier.waves and who is Who.WAVES and _is_argument(memory):
            text = "no barrier orders this access to global memory after an earlier one; run wave-place-barriers"
        elif earlier.waves and who is Who.WAVES:
            text = "no barrier separates this access to LDS from an earlier one; run wave-place-barriers"
        elif earlier.lanes and who is Who.LANES and not _is_argument(memory):
            text = (
                "no fence keeps the order of this access to LDS and an earlier one of another lane; run "
                "wave-place-barriers"
            )
        else:
            return
        raise PassError(op, text).note(earlier.op, "the earlier access")


def _accesses(op: ir.Operation) -> list[tuple[ir.Value, str, bool]]:
    """(memory, kind, whether it goes on after the op) of what an op accesses."""
    if op.name in ("wave.read", "wave.buffer_load"):
        return [(op.operands[0], "read", False)]
    if op.name in ("wave.write", "wave.buffer_store"):
        return [(op.operands[1], "write", False)]
    if op.name == "wave.atomic":
        return [(op.operands[1], "atomic", False)]
    if op.name == "wave.gather_to_shared":
        return [(op.operands[0], "read", False), (op.operands[1], "write", True)]
    return []


def _is_argument(memory: ir.Value) -> bool:
    """Whether a memory is global."""
    return isinstance(memory.owner, ir.Block)


def _parts_of_one(earlier: Pending, op: ir.Operation) -> bool:
    """Whether two writes are copies of one op of tiles, in one trip: each element has one of them."""
    numbers = [o.attributes["wave.provenance"]["op"] for o in (earlier.op, op) if "wave.provenance" in o.attributes]
    return not any(trips for _, trips in earlier.since) and len(numbers) == 2 and numbers[0] == numbers[1]


def _join(states: Iterable[State]) -> State:
    """What may be pending on one of several ways."""
    joined: State = {}
    for state in states:
        for pending, newer in state.items():
            joined[pending] = min(newer, joined.get(pending, newer))
    return joined


def _each(state: State, change: Callable[[Pending], Pending]) -> State:
    return _join([{change(pending): newer} for pending, newer in state.items()])


def _fenced(state: State) -> State:
    """The compiler keeps all that is pending on its side; what no wave needs to know of is gone."""
    fenced = _each(state, lambda p: replace(p, lanes=False))
    return {p: n for p, n in fenced.items() if p.waves or p.copying}


def _passed_by(groups: list[int], p: Pending) -> Pending:
    """As it is when some groups passed a barrier that the others were at, or will be at."""
    if p.copying or _is_argument(p.memory):
        return p
    return replace(p, owed=tuple(max(0, n - (group in groups)) for group, n in enumerate(p.owed)))


def _after_barrier(state: State, barrier: ir.Operation) -> State:
    """Direct copies that were not waited for go on, and global memory where the barrier is for LDS alone."""
    everywhere = EVERYWHERE in barrier.attributes

    def after(p: Pending) -> Pending:
        goes_on = p.copying or (_is_argument(p.memory) and not everywhere)
        return p if goes_on else replace(p, owed=tuple(max(0, n - 1) for n in p.owed))

    return _fenced(_each(state, after))


def _outstanding(op: ir.Operation) -> int | None:
    """How many of the last copies a barrier does not wait for; None: it waits for no copy."""
    if "wait_async" not in op.attributes:
        return None
    return ir.IntegerAttr(op.attributes[OUTSTANDING]).value if OUTSTANDING in op.attributes else 0


def _next_trip(loop: int, pending: Pending) -> Pending:
    """As it is one trip of a loop later; the loops inside begin anew."""
    since, inside = [], False
    for number, trips in pending.since:
        if number == loop:
            since.append((number, min(2, trips + 1)))
            inside = True
        else:
            since.append((number, -1 if inside else trips))
    return replace(pending, since=tuple(since))


def _left(loop: int, pending: Pending) -> Pending:
    """As it is after a loop: accesses behind it are in no trip of it."""
    return replace(pending, since=tuple((n, -1 if n == loop else t) for n, t in pending.since))
