"""Proves that barriers keep the accesses to LDS of different waves apart, by data flow, whoever placed them.

Forward through the program goes what may be *pending*: accesses a wave may have made since the last barrier, each with
the loops that have gone on since. Another wave may be anywhere between the same barriers, so an access must meet no
pending one, of which one writes, in any byte. Loops are run until nothing more becomes pending. It shares no code with
the placing of barriers but the names of values: bytes are compared in tables of who touches what, or asked of `prove`
lane by lane. `barrier_states` does the same for small programs by trying every order of the waves.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from mlir import ir

from .barrier_overlap import Overlap, Who
from .diagnostics import PassError
from .kernel_info import KernelInfo
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

    waves: other waves may not know of it yet. lanes: nor does the compiler keep the order within the wave. copying: a
    direct copy that was not waited for. signalled: numbers of split barriers signalled since.
    """

    op: ir.Operation
    memory: ir.Value
    kind: str
    since: Since
    waves: bool = True
    lanes: bool = True
    copying: bool = False
    signalled: tuple[int, ...] = ()


State = dict[Pending, None]
"""A set in order of insertion."""


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

    def run(self) -> None:
        """Go through the whole kernel."""
        self._block(body_of(self.kernel), {}, ())

    def _block(self, block: ir.Block, state: State, around: tuple[int, ...]) -> State:
        for view in block.operations:
            op = view.operation
            if op.name == "wave.iterate":
                state = self._loop(op, state, around)
            elif len(op.regions):
                ways = [self._block(b, dict(state), around) for region in op.regions for b in region.blocks]
                state = _join([*ways] if len(ways) > 1 else [*ways, state])
            else:
                state = self._step(op, state, around)
        return state

    def _loop(self, op: ir.Operation, state: State, around: tuple[int, ...]) -> State:
        """Trip after trip until nothing new is pending at the start of one."""
        least, most = self.values.trips(op)
        if most == 0:
            return state
        number = self.loops[op]
        start, trips = dict(state), 0
        while True:
            end = self._block(op.regions[0].blocks[0], dict(start), (*around, number))
            trips += 1
            again = _join([start, {_next_trip(p, number, around): None for p in end}])
            if len(again) == len(start) or trips == most:
                break
            start = again
        left = {_left(p, number): None for p in end}
        return left if least > 0 else _join([left, state])

    def _step(self, op: ir.Operation, state: State, around: tuple[int, ...]) -> State:
        if op.name == _BARRIER:
            return _after_barrier(state, "wait_async" in op.attributes)
        if op.name == _SIGNAL:
            number = ir.IntegerAttr(op.attributes["id"]).value
            waited = _waited(state) if "wait_async" in op.attributes else state
            return {replace(p, signalled=tuple(sorted({*p.signalled, number}))): None for p in waited}
        if op.name == _WAIT:
            number = ir.IntegerAttr(op.attributes["id"]).value
            done = _after_barrier({p: None for p in state if number in p.signalled}, waits=False)
            return _join([done, {replace(p, lanes=False): None for p in state if number not in p.signalled}])
        if op.name == _FENCE:
            return _without_done({replace(p, lanes=False): None for p in state})
        if op.name == "wave.memory_counter_wait" and op.attributes.get("load") is not None:
            return _waited(state) if ir.IntegerAttr(op.attributes["load"]).value == 0 else state
        for memory, kind, copying in _accesses(op):
            for earlier in state:
                if not (kind == earlier.kind and kind != "write"):
                    self._check(earlier, op, memory)
            since = tuple((loop, 0) for loop in around)
            state = {**state, Pending(op, memory, kind, since, copying=copying): None}
        return state

    def _check(self, earlier: Pending, op: ir.Operation, memory: ir.Value) -> None:
        who = self.overlap.of(earlier.op, earlier.memory, op, memory, earlier.since)
        if earlier.copying and who is not Who.NOBODY:
            text = (
                "the direct copy to LDS that this access meets may still be in flight; wait for it "
                "(wave.shared_memory_barrier wait_async), or run wave-place-barriers"
            )
        elif earlier.waves and who is Who.WAVES:
            text = "no barrier separates this access to LDS from an earlier one; run wave-place-barriers"
        elif earlier.lanes and who is Who.LANES:
            text = (
                "no fence keeps the order of this access to LDS and an earlier one of another lane; run "
                "wave-place-barriers"
            )
        else:
            return
        raise PassError(op, text).note(earlier.op, "the earlier access")


def _accesses(op: ir.Operation) -> Iterable[tuple[ir.Value, str, bool]]:
    """(LDS buffer, kind, whether it goes on after the op) of what an op accesses."""
    if op.name == "wave.read":
        found = [(op.operands[0], "read", False)]
    elif op.name in ("wave.write", "wave.atomic"):
        found = [(op.operands[1], op.name.removeprefix("wave."), False)]
    elif op.name == "wave.gather_to_shared":
        found = [(op.opview.target, "write", True)]
    else:
        return []
    return [(m, kind, on) for m, kind, on in found if not isinstance(m.owner, ir.Block)]


def _join(states: Iterable[State]) -> State:
    """What may be pending on one of several ways."""
    return {pending: None for state in states for pending in state}


def _without_done(state: State) -> State:
    return {p: None for p in state if p.waves or p.lanes or p.copying}


def _after_barrier(state: State, waits: bool) -> State:
    """Only direct copies that were not waited for go on, and other waves do not know when they end."""
    return {} if waits else {replace(p, lanes=False): None for p in state if p.copying}


def _waited(state: State) -> State:
    return {replace(p, copying=False): None for p in state}


def _next_trip(pending: Pending, loop: int, around: tuple[int, ...]) -> Pending:
    """As it is one trip of a loop later; the loops inside begin anew."""
    since, inside = [], False
    for number, trips in pending.since:
        if number == loop:
            since.append((number, min(2, trips + 1)))
            inside = True
        else:
            since.append((number, -1 if inside else trips))
    return replace(pending, since=tuple(since))


def _left(pending: Pending, loop: int) -> Pending:
    """As it is after a loop: accesses behind it are in no trip of it."""
    return replace(pending, since=tuple((n, -1 if n == loop else t) for n, t in pending.since))
