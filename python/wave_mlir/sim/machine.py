"""The machine: all waves of a launch, their cohorts, barriers and checks.

Cohorts run until they end, wait at a barrier, or reach a place where cohorts that parted may join. Only when nothing
else can run are the joined ones let go, innermost first. Nothing here depends on cohorts keeping step.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .cohort import CannotJoin, Cohort
from .errors import SimError
from .program import FINISHED, Program, internal_error
from .spinning import Turns
from .waits import MAX_WAVES, OP_MASK, OP_SHIFT, WAVE_SHIFT, Waits

if TYPE_CHECKING:
    from .memory import Storage
    from .program import OpInfo
    from .progress import Progress
    from .shadow import Conflict

RANDOM_PARTS = 4


@dataclass(frozen=True)
class Geometry:
    """Launch shape: workgroups and threads along x, y, z, and the wave size."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    lanes: int

    @property
    def groups(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def threads(self) -> int:
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def waves_per_group(self) -> int:
        return -(-self.threads // self.lanes)


class Machine:
    """State of one run. group, wave_in_group: per wave. checks: kinds that are on."""

    def __init__(self, program: Program, geometry: Geometry, checks: frozenset[str], order: str, seed: int) -> None:
        self.program = program
        self.geometry = geometry
        self.lanes = geometry.lanes
        self.checks = checks
        self.order = order
        self.random = random.Random(seed)
        count = geometry.groups * geometry.waves_per_group
        if count > MAX_WAVES:
            raise SimError("arguments", f"the launch has {count} waves; at most {MAX_WAVES} can be simulated at once")
        self.waves = count
        per = geometry.waves_per_group
        self.group = np.repeat(np.arange(geometry.groups, dtype=np.int64), per)
        self.wave_in_group = np.tile(np.arange(per, dtype=np.int64), geometry.groups)
        self.groups_by_wave1 = np.concatenate([[-1], self.group, [-2]])
        self.waits = Waits(count)
        self.arrived = np.zeros(geometry.groups, dtype=np.int64)
        self.phase = np.zeros(geometry.groups, dtype=np.int64)
        self.ended = np.zeros(count, dtype=bool)
        self.runnable: list[Cohort] = []
        self.parked: list[Cohort] = []
        self.blocked: list[tuple[Cohort, OpInfo]] = []
        self.turns = Turns() if program.use.spins else None
        self.current: Cohort | None = None
        self.executed = 0
        self.at = 0  # the step being executed
        self.storages: list[Storage] = []
        self.lds_end = 0  # first free LDS address of a workgroup
        self.exchange: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self.findings: list[SimError] = []
        self.counts: dict[str, int] = {}
        self.counted: dict[str, str] = {}
        """For each memory space where barriers do not wait for everything: the counter its plain records hold."""
        self.counts_operations = False
        self.agreeing_writes = False
        """Stores to global memory that change nothing, or of the same value by several, do not race."""
        self.launch_mask = self._launch_mask()

    def _launch_mask(self) -> np.ndarray | None:
        """Lanes that exist, (waves, lanes), or None when all do."""
        geometry = self.geometry
        if geometry.threads % self.lanes == 0:
            return None
        thread = self.wave_in_group[:, None] * self.lanes + np.arange(self.lanes)
        return thread < geometry.threads

    # -- cohorts
    @property
    def alone(self) -> bool:
        """Whether the running cohort is the only one."""
        return not (self.runnable or self.parked or self.blocked or self._spinning)

    @property
    def _spinning(self) -> bool:
        return self.turns is not None and bool(self.turns.waiting)

    def add(self, cohort: Cohort) -> None:
        """Let a cohort run later."""
        self.runnable.append(cohort)

    def park(self, cohort: Cohort) -> None:
        """Let a cohort wait for others it may join."""
        self.parked.append(cohort)

    def start(self, env: list) -> None:
        """Put all waves at the first step."""
        waves = np.arange(self.waves)
        if self.order == "reverse":
            waves = waves[::-1].copy()
        parts = [waves]
        if self.order == "random":
            waves = np.array(self.random.sample(range(self.waves), self.waves), dtype=np.int64)
            parts = [p for p in np.array_split(waves, RANDOM_PARTS) if p.size]
        for part in parts:
            mask = None if self.launch_mask is None else self.launch_mask[part]
            self.add(Cohort(self, part, 0, list(env), mask, []))

    def _pick(self, cohorts: list[Cohort]) -> Cohort:
        if self.order == "random":
            return cohorts.pop(self.random.randrange(len(cohorts)))
        return cohorts.pop(-1 if self.order == "reverse" else 0)

    def run(self, progress: Progress | None, limit: int | None) -> None:
        """Run to the end. Raises SimError."""
        while self.runnable or self.parked or self._spinning:
            self.current = self._next()
            self._run_guarded(self.current, progress, limit)
            self.current = None
        if self.blocked:
            self._deadlock()

    def _next(self) -> Cohort:
        """The cohort to run: those that wait for others' writes come when nobody else can run."""
        if self.turns is not None:
            if not self.runnable and not self.parked:
                return self.turns.next(self)
            self.turns.stir()
        if not self.runnable:
            self._release_parked()
        return self._pick(self.runnable)

    def _run_guarded(self, cohort: Cohort, progress: Progress | None, limit: int | None) -> None:
        """Run a cohort; an exception that is no SimError is a fault of the simulator and gets a location."""
        try:
            self._run_cohort(cohort, progress, limit)
        except SimError:
            raise
        except Exception as error:
            raise internal_error(self.program.step_infos[self.at], error) from error

    def _run_cohort(self, cohort: Cohort, progress: Progress | None, limit: int | None) -> None:
        steps = self.program.steps
        pc = cohort.pc
        since = 0
        while True:
            self.at = pc
            after = steps[pc](cohort)
            since += 1
            if after is None:
                pc += 1
                continue
            self.executed += since * cohort.size
            since = 0
            if after < 0:
                if after == FINISHED:
                    self.ended[cohort.waves] = True
                return
            pc = after
            if progress is not None:
                progress.tick(self)
            if limit is not None and self.executed > limit:
                raise SimError("limit", f"more than {limit} operations (of one wave each) were executed")

    def _release_parked(self) -> None:
        """Join parked cohorts that can be and let the innermost place go on."""
        depth = max(len(c.stack) for c in self.parked)
        innermost = [c for c in self.parked if len(c.stack) == depth]
        pc = min(c.pc for c in innermost)
        chosen = [c for c in innermost if c.pc == pc]
        self.parked = [c for c in self.parked if not any(c is d for d in chosen)]
        self.runnable.extend(self.merge(chosen))

    def merge(self, cohorts: list[Cohort]) -> list[Cohort]:
        """Join what can be joined among cohorts; random order keeps them apart."""
        if self.order == "random" and len(cohorts) <= RANDOM_PARTS:
            return cohorts
        out: list[Cohort] = []
        for cohort in cohorts:
            for place, other in enumerate(out):
                if other.signature() != cohort.signature():
                    continue
                try:
                    out[place] = other.joined(cohort, self.program.visible.get(cohort.pc))
                    break
                except CannotJoin:
                    continue
            else:
                out.append(cohort)
        return out

    # -- barriers
    def signal(self, cohort: Cohort, info: OpInfo, waits_for: tuple[str, ...]) -> None:
        """Arrive at a barrier."""
        self._check_whole(cohort, info)
        self.waits.signal(cohort.waves, waits_for)
        np.add.at(self.arrived, self.group[cohort.waves], 1)
        full = self.arrived >= self.geometry.waves_per_group
        if full.any():
            self.arrived[full] = 0
            self.phase[full] += 1

    def _check_whole(self, cohort: Cohort, info: OpInfo) -> None:
        if cohort.mask is None:
            return
        expected = True if self.launch_mask is None else self.launch_mask[cohort.waves]
        partial = cohort.mask != expected
        if partial.any():
            wave, lane = (int(v[0]) for v in np.nonzero(np.broadcast_to(partial, (cohort.size, self.lanes))))
            raise SimError(
                "barrier",
                f"{info.name} is executed by some lanes of a wave only (lane {lane} of "
                f"{self.wave_name(int(cohort.waves[wave]))} does not reach it): a condition or trip count that decides "
                "whether a barrier is executed must be the same for all lanes; move the barrier out, or make it "
                "uniform",
                location=info.location,
                waves=(self.wave_name(int(cohort.waves[wave])),),
                lane=lane,
            )

    def await_phase(self, cohort: Cohort, info: OpInfo) -> bool:
        """Whether the cohort may pass the barrier it signalled; else it is blocked, in part or whole.

        The cohort's pc must be the step after the barrier.
        """
        target = self.waits.passed[cohort.waves] + 1
        if (target > self.waits.signalled[cohort.waves]).any():
            raise SimError(
                "barrier",
                f"{info.name} waits for a barrier that the wave has not signalled; put the signal before the wait",
                location=info.location,
            )
        ready = self.phase[self.group[cohort.waves]] >= target
        if ready.all() and not self.blocked:
            self._pass(cohort)
            return True
        self.blocked.append((cohort, info))
        self._release_blocked()
        return False

    def _pass(self, cohort: Cohort) -> None:
        self.waits.passed[cohort.waves] += 1
        cohort.refresh()

    def _release_blocked(self) -> None:
        """Let waves go whose workgroup is complete."""
        still: list[tuple[Cohort, OpInfo]] = []
        released: list[Cohort] = []
        for cohort, info in self.blocked:
            ready = self.phase[self.group[cohort.waves]] > self.waits.passed[cohort.waves]
            if not ready.any():
                still.append((cohort, info))
                continue
            if not ready.all():
                still.append((cohort.keep(ready), info))
            self._pass(cohort)
            released.append(cohort)
        self.blocked = still
        self.parked.extend(released)

    def _deadlock(self) -> None:
        cohort, info = self.blocked[0]
        group = int(self.group[cohort.waves[0]])
        waiting = [(int(w), i) for c, i in self.blocked for w in c.waves if self.group[w] == group]
        ended = [int(w) for w in np.flatnonzero((self.group == group) & self.ended)]
        passed = self.waits.signalled
        text = "; ".join(
            f"wave {int(self.wave_in_group[w])} waits at {i.location} (its barrier number {passed[w]})"
            for w, i in waiting[:8]
        )
        gone = ", ".join(f"wave {int(self.wave_in_group[w])} (after {passed[w]})" for w in ended[:8])
        raise SimError(
            "deadlock",
            f"waves of {self.group_name(group)} wait for ever at {info.name}: {text}; ended: "
            f"{gone or 'none'}. Every wave of a workgroup must execute equally many barriers",
            location=info.location,
            waves=tuple(self.wave_name(w) for w, _ in waiting[:8]),
        )

    # -- messages
    def group_name(self, group: int) -> str:
        """`workgroup (x, y, z)`."""
        x, y, _ = self.geometry.grid
        return f"workgroup ({group % x}, {group // x % y}, {group // (x * y)})"

    def wave_name(self, wave: int) -> str:
        """`wave n of workgroup (x, y, z)`."""
        if not 0 <= wave < self.waves:
            return "several waves"
        return f"wave {int(self.wave_in_group[wave])} of {self.group_name(int(self.group[wave]))}"

    def report(self, error: SimError) -> None:
        """A fault was found: raise it."""
        raise error

    def conflict(self, info: OpInfo, storage: Storage, found: Conflict, wave: int, lane: int | None) -> None:
        """Report what shadow memory found."""
        other = (found.record >> WAVE_SHIFT) - 1
        number = (found.record >> OP_SHIFT) & OP_MASK
        infos = self.program.infos
        other_info = infos[number - 1] if 0 < number <= len(infos) else None
        there = f"{other_info.name} at {other_info.location}" if other_info else "an earlier operation"
        byte, instance = found.byte, ""
        if storage.stride:
            byte %= storage.stride
        where = f"byte {byte} of {storage.name}{instance}"
        me, them = self.wave_name(wave), self.wave_name(other)
        if found.what == "uninitialised":
            text = f"{info.name} of {me} reads {where}, which nothing has written; write it first, or mask the read"
            error = SimError("uninitialised", text, location=info.location, waves=(me,), lane=lane, address=byte)
        elif found.what == "async":
            text = (
                f"{info.name} of {me} touches {where} while the asynchronous copy into it ({there}, issued by {them}) "
                "may be in flight; every wave that copies must wait for its copies (amdgpu.memory_counter_wait load, "
                "or rocdl.s.waitcnt vmcnt), and then meet at a barrier"
            )
            error = SimError("async", text, location=info.location, waves=(me, them), lane=lane, address=byte)
        else:
            verb = "written" if found.other_writes else "read"
            same = other >= 0 and other < self.waves and self.group[other] == self.group[wave]
            cure = (
                "put a barrier between the two"
                if same
                else "workgroups of one launch are not ordered: give each its own bytes, or use atomics"
            )
            text = f"{info.name} of {me} races on {where}, {verb} by {them} ({there}); {cure}"
            error = SimError("race", text, location=info.location, waves=(me, them), lane=lane, address=byte)
        self.report(error)
