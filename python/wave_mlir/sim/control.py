"""Control flow: scf.if, scf.for, scf.while, scf.index_switch, scf.execute_region and the places where cohorts join.

Where waves of a cohort decide differently, the cohort is cut; where lanes of a wave do, both ways run under masks. A
region without barriers, waits or asynchronous copies runs under masks in both cases: that keeps cohorts whole.
"""

from __future__ import annotations

import numpy as np
from mlir import ir

from .cohort import CannotJoin, Cohort, IfFrame, LoopFrame, select
from .errors import SimError
from .program import SUSPEND, Compiler, OpInfo, handles
from .spinning import is_spin_loop

_NEEDS_WHOLE_WAVES = {
    "gpu.barrier",
    "amdgpu.lds_barrier",
    "amdgpu.memory_counter_wait",
    "amdgpu.gather_to_lds",
    "rocdl.s.barrier",
    "rocdl.barrier",
    "rocdl.s.barrier.signal",
    "rocdl.s.barrier.wait",
    "rocdl.s.waitcnt",
    "rocdl.s.wait.loadcnt",
    "rocdl.s.wait.storecnt",
    "rocdl.s.wait.dscnt",
    "rocdl.s.wait.asynccnt",
    "rocdl.raw.ptr.buffer.load.lds",
    "rocdl.load.to.lds",
    "rocdl.global.load.lds",
    "gpu.all_reduce",
}


def _runs_under_masks(op: ir.Operation) -> bool:
    """Whether no wave-wide synchronisation is anywhere inside, nor a loop that waits for other waves."""
    for region in op.regions:
        for block in region.blocks:
            for view in block.operations:
                inner = view.operation
                if inner.name in _NEEDS_WHOLE_WAVES or is_spin_loop(inner) or not _runs_under_masks(inner):
                    return False
    return True


def full_mask(cohort: Cohort) -> np.ndarray:
    """The cohort's mask as an array (waves, lanes)."""
    if cohort.mask is None:
        return np.ones((cohort.size, cohort.machine.lanes), dtype=bool)
    return np.broadcast_to(cohort.mask, (cohort.size, cohort.mask.shape[1]))


class Decision:
    """Which lanes of a cohort answer a condition with yes.

    yes, no: some active lane does. lanes: the active lanes that say yes, None when all or none do. waves_yes, waves_no:
    per wave, some active lane says yes / no; None when `lanes` is.
    """

    __slots__ = ("active", "lanes", "no", "waves_no", "waves_yes", "yes")

    def __init__(self, cohort: Cohort, condition: np.ndarray) -> None:
        self.lanes = self.waves_yes = self.waves_no = self.active = None
        if condition.size == 1:
            self.yes = bool(condition.item())
            self.no = not self.yes
            return
        if condition.all():
            self.yes, self.no = True, False
            return
        active = full_mask(cohort)
        yes = active & condition
        no = active & ~condition
        self.waves_yes, self.waves_no = yes.any(axis=1), no.any(axis=1)
        self.yes, self.no = bool(self.waves_yes.any()), bool(self.waves_no.any())
        if not self.yes and not self.no:  # no lane is active: nothing to decide, take the short way
            self.no = True
        self.lanes, self.active = yes, active


def _assign(cohort: Cohort, slots: list[int], values: list) -> None:
    for slot, value in zip(slots, values, strict=True):
        cohort.env[slot] = value


def _blend(info: OpInfo, mask: np.ndarray, chosen: list, other: list) -> list:
    try:
        return [select(mask, a, b) for a, b in zip(chosen, other, strict=True)]
    except CannotJoin:
        raise SimError(
            "unsupported", f"{info.name}: memrefs into different buffers chosen lane by lane", location=info.location
        ) from None


# ------------------------------------------------------------------------------------------------------------- scf.if


class _If:
    """One scf.if: the steps around its two regions."""

    def __init__(self, info: OpInfo, condition: int, results: list[int], masked: bool) -> None:
        self.info = info
        self.condition = condition
        self.results = results
        self.masked = masked
        self.then_start = self.else_start = self.end = 0
        self.then_values: list[int] = []
        self.else_values: list[int] = []

    def begin(self, cohort: Cohort) -> int | None:
        decision = Decision(cohort, cohort.env[self.condition])
        frame = IfFrame(cohort.mask)
        if decision.yes and decision.no and not self.masked:
            self._cut(cohort, decision)
            decision = Decision(cohort, cohort.env[self.condition])
            frame = IfFrame(cohort.mask)
        cohort.stack.append(frame)
        if not decision.no:
            return None
        if not decision.yes:
            return self.else_start
        assert decision.lanes is not None and decision.active is not None
        frame.then_mask = decision.lanes
        frame.else_mask = decision.active & ~decision.lanes
        cohort.mask = decision.lanes
        return None

    def _cut(self, cohort: Cohort, decision: Decision) -> None:
        """Leave in the cohort waves that all decide alike; send the other groups on their own way."""
        assert decision.waves_yes is not None and decision.waves_no is not None
        only_yes = np.logical_not(decision.waves_no)
        only_no = np.logical_and(np.logical_not(decision.waves_yes), decision.waves_no)
        mixed = np.logical_and(decision.waves_yes, decision.waves_no)
        kinds = [np.asarray(k) for k in (only_yes, mixed, only_no) if k.any()]
        if len(kinds) == 1:
            return
        for kind in kinds[1:]:
            rest = cohort.part(kind)
            rest.pc = self.then_start - 1
            cohort.machine.add(rest)
        cohort.keep(kinds[0])

    def after_then(self, cohort: Cohort) -> int | None:
        frame = cohort.stack[-1]
        values = [cohort.env[slot] for slot in self.then_values]
        if frame.else_mask is not None:
            frame.then_values = values
            cohort.mask = frame.else_mask
            frame.else_mask = None
            return None
        cohort.stack.pop()
        cohort.mask = frame.saved
        _assign(cohort, self.results, values)
        return self.end

    def after_else(self, cohort: Cohort) -> None:
        frame = cohort.stack.pop()
        values = [cohort.env[slot] for slot in self.else_values]
        if frame.then_mask is not None and frame.then_values is not None:
            values = _blend(self.info, frame.then_mask, frame.then_values, values)
        cohort.mask = frame.saved
        _assign(cohort, self.results, values)


def _compile_if(
    c: Compiler, condition: int, results: list[int], masked: bool, then_part: object, else_part: object
) -> None:
    """Emit an if; then_part and else_part compile a branch and return the slots it yields."""
    assert c.info is not None
    plan = _If(c.info, condition, results, masked)
    c.emit(plan.begin)
    plan.then_start = c.here
    plan.then_values = then_part()  # type: ignore[operator]
    c.emit(plan.after_then)
    plan.else_start = c.here
    plan.else_values = else_part()  # type: ignore[operator]
    c.emit(plan.after_else)
    plan.end = _join(c)


def _join(c: Compiler) -> int:
    """Emit a place where cohorts that parted wait for each other; its number."""
    number = c.here
    c.program.visible[number + 1] = c.visible_slots()

    def step(cohort: Cohort) -> int | None:
        machine = cohort.machine
        if machine.alone:
            return None
        cohort.pc = number + 1
        machine.park(cohort)
        return SUSPEND

    c.emit(step)
    return number


@handles("scf.if")
def _if(c: Compiler, op: ir.Operation) -> None:
    regions = list(op.regions)
    results = [c.define(v) for v in op.results]
    condition = c.use(op.operands[0])

    def branch(number: int) -> list[int]:
        blocks = list(regions[number].blocks)
        return c.block(blocks[0]) if blocks else []

    _compile_if(c, condition, results, _runs_under_masks(op), lambda: branch(0), lambda: branch(1))
    _union_roots(c, op)


def _union_roots(c: Compiler, op: ir.Operation) -> None:
    """A memref that comes out of control flow may point into anything: say so."""
    for value in op.results:
        if isinstance(value.type, ir.MemRefType):
            c.forget_roots(value)
            _stays_in_lds(c, value)


@handles("scf.index_switch")
def _index_switch(c: Compiler, op: ir.Operation) -> None:
    cases = list(ir.DenseI64ArrayAttr(op.attributes["cases"]))
    regions = list(op.regions)  # default first
    results = [c.define(v) for v in op.results]
    argument = c.use(op.operands[0])
    masked = _runs_under_masks(op)

    def chain(number: int, into: list[int]) -> None:
        test = c.new_slot()

        def compare(cohort: Cohort) -> None:
            cohort.env[test] = cohort.env[argument] == cases[number]

        c.emit(compare)
        _compile_if(c, test, into, masked, lambda: c.block(regions[number + 1].blocks[0]), lambda: rest(number + 1))

    def rest(number: int) -> list[int]:
        if number == len(cases):
            return c.block(regions[0].blocks[0])
        into = [c.new_slot() for _ in results]
        chain(number, into)
        return into

    if not cases:
        slots = c.block(regions[0].blocks[0])
        c.emit(lambda cohort: _assign(cohort, results, [cohort.env[s] for s in slots]))
        return
    chain(0, results)
    _union_roots(c, op)


@handles("scf.execute_region")
def _execute_region(c: Compiler, op: ir.Operation) -> None:
    blocks = list(op.regions[0].blocks)
    if len(blocks) != 1:
        raise c.unsupported("several blocks inside; use structured control flow")
    results = [c.define(v) for v in op.results]
    slots = c.block(blocks[0])
    c.emit(lambda cohort: _assign(cohort, results, [cohort.env[s] for s in slots]))


# --------------------------------------------------------------------------------------------------------------- loops


class _Loop:
    """Common part of scf.for and scf.while: who stays, who leaves."""

    def __init__(self, info: OpInfo, results: list[int], masked: bool) -> None:
        self.info = info
        self.results = results
        self.masked = masked
        self.body_start = self.end = 0

    def leave(self, cohort: Cohort) -> int:
        """All of the cohort is done; its results are in place already."""
        cohort.mask = cohort.stack.pop().saved
        return self.end

    def stay(self, cohort: Cohort, decision: Decision, exit_values: list[int]) -> bool:
        """Send home the waves that are done; False when all are. exit_values: slots of what they take with them."""
        if not decision.yes:
            return False
        if not decision.no:
            return True
        assert decision.lanes is not None and decision.waves_yes is not None
        lanes, done = decision.lanes, np.logical_not(decision.waves_yes)
        if not self.masked and done.any():
            gone = cohort.keep(np.logical_not(done))
            self.finish(gone, exit_values)
            gone.pc = self.leave(gone)
            cohort.machine.add(gone)
            lanes = lanes[~done]
        if not np.array_equal(lanes, full_mask(cohort)):
            cohort.stack[-1].partial = True
            cohort.mask = lanes
        return True

    def finish(self, cohort: Cohort, exit_values: list[int]) -> None:
        """Give waves that leave their results."""
        _assign(cohort, self.results, [cohort.env[s] for s in exit_values])


class _For(_Loop):
    """One scf.for. carried: slots of the block arguments after the induction variable."""

    def __init__(
        self, info: OpInfo, results: list[int], masked: bool, bounds: list[int], inits: list[int], unsigned: bool
    ) -> None:
        super().__init__(info, results, masked)
        self.bounds = bounds
        self.inits = inits
        self.unsigned = unsigned
        self.iv = 0
        self.carried: list[int] = []
        self.yielded: list[int] = []

    def begin(self, cohort: Cohort) -> int | None:
        env = cohort.env
        lower, upper, step = (env[s] for s in self.bounds)
        if (step <= 0).any():
            raise SimError("arguments", "scf.for: the step must be positive", location=self.info.location)
        cohort.stack.append(LoopFrame(cohort.mask, False, (lower, upper, step)))
        _assign(cohort, self.carried, [env[s] for s in self.inits])
        return None if self._test(cohort) else self.leave(cohort)

    def _test(self, cohort: Cohort) -> bool:
        iv, upper, _ = cohort.stack[-1].bounds
        if self.unsigned:
            iv, upper = iv.view(f"u{iv.itemsize}"), upper.view(f"u{iv.itemsize}")
        if not self.stay(cohort, Decision(cohort, iv < upper), self.carried):
            self.finish(cohort, self.carried)
            return False
        cohort.env[self.iv] = cohort.stack[-1].bounds[0]
        return True

    def latch(self, cohort: Cohort) -> int:
        frame, env = cohort.stack[-1], cohort.env
        values = [env[s] for s in self.yielded]
        if frame.partial:
            assert cohort.mask is not None
            values = _blend(self.info, cohort.mask, values, [env[s] for s in self.carried])
        _assign(cohort, self.carried, values)
        iv, upper, step = frame.bounds
        frame.bounds = (iv + step, upper, step)
        return self.body_start if self._test(cohort) else self.leave(cohort)


@handles("scf.for")
def _for(c: Compiler, op: ir.Operation) -> None:
    assert c.info is not None
    operands = [c.use(v) for v in op.operands]
    results = [c.define(v) for v in op.results]
    plan = _For(c.info, results, _runs_under_masks(op), operands[:3], operands[3:], c.flag(op, "unsignedCmp"))
    block = op.regions[0].blocks[0]
    plan.iv = c.define(block.arguments[0])
    for argument in list(block.arguments)[1:]:
        plan.carried.append(c.define(argument))
        _stays_in_lds(c, argument)
    c.emit(plan.begin)
    plan.body_start = c.here
    plan.yielded = c.block(block)
    c.emit(plan.latch)
    plan.end = _join(c)
    _union_roots(c, op)


def _stays_in_lds(c: Compiler, value: ir.Value) -> None:
    """A memref whose type says LDS points into no argument; a global one out of control flow may point into any."""
    if isinstance(value.type, ir.MemRefType) and "workgroup" in str(value.type):
        c.set_roots(value, set())


class _While(_Loop):
    """One scf.while. before, after: slots of the two regions' arguments; passed: what scf.condition forwards."""

    def __init__(self, info: OpInfo, results: list[int], masked: bool, inits: list[int]) -> None:
        super().__init__(info, results, masked)
        self.inits = inits
        self.before: list[int] = []
        self.after: list[int] = []
        self.condition = 0
        self.passed: list[int] = []
        self.yielded: list[int] = []
        self.spins = False

    def begin(self, cohort: Cohort) -> None:
        cohort.stack.append(LoopFrame(cohort.mask))
        _assign(cohort, self.before, [cohort.env[s] for s in self.inits])

    def test(self, cohort: Cohort) -> int | None:
        frame = cohort.stack[-1]
        decision = Decision(cohort, cohort.env[self.condition])
        if frame.results is not None or (decision.yes and decision.no):
            active = full_mask(cohort)
            leaving = active & ~decision.lanes if decision.lanes is not None else active & (not decision.yes)
            values = [cohort.env[s] for s in self.passed]
            frame.results = values if frame.results is None else _blend(self.info, leaving, values, frame.results)
        if not self.stay(cohort, decision, self.passed):
            self.finish(cohort, self.passed)
            return self.leave(cohort)
        _assign(cohort, self.after, [cohort.env[s] for s in self.passed])
        return None

    def finish(self, cohort: Cohort, exit_values: list[int]) -> None:
        gathered = cohort.stack[-1].results
        values = [cohort.env[s] for s in exit_values] if gathered is None else gathered
        _assign(cohort, self.results, values)

    def again(self, cohort: Cohort) -> int:
        values = [cohort.env[s] for s in self.yielded]
        turns = cohort.machine.turns
        if not self.spins or turns is None:
            _assign(cohort, self.before, values)
            return self.body_start
        same = all(_equal(cohort.env[s], v) for s, v in zip(self.before, values, strict=True))
        _assign(cohort, self.before, values)
        cohort.pc = self.body_start
        return self.body_start if turns.end(cohort, self.info, same) else SUSPEND


def _equal(a: object, b: object) -> bool:
    return a is b or (isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and bool(np.array_equal(a, b)))


@handles("scf.while")
def _while(c: Compiler, op: ir.Operation) -> None:
    assert c.info is not None
    inits = [c.use(v) for v in op.operands]
    results = [c.define(v) for v in op.results]
    spins = is_spin_loop(op)
    plan = _While(c.info, results, not spins and _runs_under_masks(op), inits)
    plan.spins = spins
    c.program.use.spins |= spins
    before, after = (region.blocks[0] for region in op.regions)
    plan.before = [c.define(v) for v in before.arguments]
    c.emit(plan.begin)
    plan.body_start = c.here
    condition, *plan.passed = c.block(before)
    plan.condition = condition
    plan.after = [c.define(v) for v in after.arguments]
    c.emit(plan.test)
    plan.yielded = c.block(after)
    c.emit(plan.again)
    plan.end = _join(c)
    _union_roots(c, op)
