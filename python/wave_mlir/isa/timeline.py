"""A modelled timeline: the traced workgroups' instructions replayed on one compute unit of four SIMDs.

A model, not a measurement: its rules are in docs/machine-code.md. Which instructions run, in which order of each wave,
how many clocks LDS banks take and which memory segments are touched come from the run; when each issues is modelled.
All times are in clocks of the compute unit.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

import numpy as np

from ..compiler.targets import Target, get
from ..compiler.targets.rates import TURN
from .encoder import Program
from .issue import NO_WAIT, Demand, demands
from .timeline_result import Slice, Timeline

SCALAR_LATENCY = 200
"""Clocks from the issue of a scalar load to its data: assumed, an order of magnitude."""

BYTES_PER_CLOCK = 64.0
"""Bytes a clock between a compute unit and memory: assumed, the width of the vector L1 (CDNA3 white paper)."""

SEGMENT = 64
TAKEN_BRANCH = 16
"""Clocks until a wave goes on after a branch that is taken: assumed, four turns to fetch."""

LDS_BYTES_PER_CLOCK = 128
"""For LDS operations that no bank was counted for (permutes): ISA, 32 lanes of 4 bytes."""


@dataclass(frozen=True)
class Parameters:
    """What the model cannot know. Latencies: clocks from the end of service to the data, or to a store's reply."""

    latency: int
    lds_latency: int
    scalar_latency: int = SCALAR_LATENCY
    bytes_per_clock: float = BYTES_PER_CLOCK

    def __post_init__(self) -> None:
        if min(self.latency, self.lds_latency, self.scalar_latency) < 0:
            raise ValueError("a latency cannot be negative")
        if self.bytes_per_clock <= 0:
            raise ValueError(f"bytes_per_clock is {self.bytes_per_clock}; it must be positive")


def model(
    program: Program,
    trace: np.ndarray,
    target: str | Target,
    *,
    latency: int | None = None,
    bytes_per_clock: float = BYTES_PER_CLOCK,
) -> Timeline:
    """Replay a trace (array of TRACE) of a run of `program`.

    All traced workgroups are on the compute unit together, as far as the trace has several. `latency`: clocks of a
    global memory access, by default the target's order of magnitude for L2. `bytes_per_clock`: between the compute unit
    and memory. Raises ValueError for a latency or width that makes no sense, TargetError for an unknown target.
    """
    table = get(target) if isinstance(target, str) else target
    chosen = table.latencies.l2 if latency is None else latency
    parameters = Parameters(chosen, table.latencies.lds, bytes_per_clock=bytes_per_clock)
    return _Replay(program, trace, table, parameters).run()


@dataclass
class _Wave:
    id: int  # number among all waves of the timeline
    group: int
    simd: int
    entries: list[int]  # indices in the trace
    at: int = 0
    free: int = 0  # earliest issue of the next instruction
    blocked: bool = False  # at a barrier
    priority: int = 0
    last: int = -1
    ready: dict[int, tuple[int, int]] = field(
        default_factory=dict
    )  # register -> (for a matrix, for other instructions)
    vm: list[int] = field(default_factory=list)  # completion times of open operations, in order
    lgkm: list[int] = field(default_factory=list)


def split_waves(trace: np.ndarray, ends: np.ndarray) -> list[tuple[int, int, list[int]]]:
    """(workgroup, wave, indices in the trace) of each traced wave; `ends[i]`: static instruction i ends its wave."""
    group_of: dict[int, int] = {}
    streams: dict[tuple[int, int], list[int]] = {}
    for index, (wave, instruction) in enumerate(
        zip(trace["wave"].tolist(), trace["instruction"].tolist(), strict=True)
    ):
        group = group_of.setdefault(wave, 0)
        streams.setdefault((group, wave), []).append(index)
        if ends[instruction]:
            group_of[wave] = group + 1
    return [(group, wave, stream) for (group, wave), stream in sorted(streams.items())]


class _Replay:
    def __init__(self, program: Program, trace: np.ndarray, target: Target, parameters: Parameters) -> None:
        self.target, self.parameters = target, parameters
        self.demands = demands(program, target)
        self.instruction = trace["instruction"].tolist()
        self.phases, self.bytes = trace["phases"].tolist(), trace["bytes"].tolist()
        self.segments = trace["segments"].tolist()
        ends = np.array([d.end for d in self.demands], bool)
        self.simds = target.simds_per_compute_unit
        self.waves = [
            _Wave(number, group, number % self.simds, entries)
            for number, (group, _, entries) in enumerate(split_waves(trace, ends))
        ]
        self.unit_free: dict[tuple[int, str], int] = {}  # by SIMD
        self.lds_free = self.memory_free = 0.0
        count = len(self.waves)
        self.out = Timeline(
            program, target.name, parameters.latency, parameters.bytes_per_clock, count, min(count, self.simds)
        )

    def run(self) -> Timeline:
        """Always the wave that can issue first goes next: what it does delays only what issues later."""
        heap = [(*self._earliest(w)[:1], 0, w.id) for w in self.waves]
        heapq.heapify(heap)
        while heap:
            time, _, number = heapq.heappop(heap)
            wave = self.waves[number]
            now, reason = self._earliest(wave)
            if now > time:  # another wave has taken the unit since
                heapq.heappush(heap, (now, -wave.priority, number))
                continue
            released = self._issue(wave, now, reason)
            for other in released:
                if other.at < len(other.entries):
                    heapq.heappush(heap, (self._earliest(other)[0], -other.priority, other.id))
        self._finish()
        return self.out

    def _earliest(self, wave: _Wave) -> tuple[int, str]:
        """When the wave's next instruction can issue, and what it waits for until then."""
        demand = self.demands[self.instruction[wave.entries[wave.at]]]
        time, reason = wave.free, "issue"
        for at, why in self._obstacles(wave, demand):
            if at > time:
                time, reason = at, why
        return self._turn(time, wave.simd), reason

    def _turn(self, time: int, simd: int) -> int:
        """The SIMD's next turn: each has one of every four clocks."""
        return time + (simd - time) % TURN

    def _obstacles(self, wave: _Wave, demand: Demand) -> list[tuple[int, str]]:
        found = []
        if wave.ready:
            matrix = demand.unit == "mfma"
            for first, last in demand.reads:
                for register in range(first, last + 1):
                    if (times := wave.ready.get(register)) is not None:
                        found.append((times[0] if matrix else times[1], "result"))
        if demand.waits != NO_WAIT:
            found.append((_when(wave.vm, demand.waits[0]), "vmcnt"))
            found.append((_when(wave.lgkm, demand.waits[1]), "lgkmcnt"))
        if demand.unit == "mfma":
            found.append((self.unit_free.get((wave.simd, "mfma"), 0), "mfma busy"))
            found.append((self.unit_free.get((wave.simd, "valu"), 0), "valu busy"))
        elif demand.unit != "none":
            found.append((self.unit_free.get((wave.simd, demand.unit), 0), f"{demand.unit} busy"))
        return found

    def _issue(self, wave: _Wave, now: int, reason: str) -> list[_Wave]:
        """Issue the wave's next instruction at `now`; the waves that can go on."""
        entry = wave.entries[wave.at]
        instruction = self.instruction[entry]
        demand = self.demands[instruction]
        if reason != "issue":
            self.out.stall(wave.id, instruction, wave.free, now, reason)
        self.out.add(Slice("wave", wave.id, now, TURN, instruction, wave.id))
        wave.at += 1
        wave.free = now + TURN
        self._occupy(wave, demand, entry, now)
        if demand.waits != NO_WAIT:
            wave.vm = [t for t in wave.vm if t > now]
            wave.lgkm = [t for t in wave.lgkm if t > now]
        if demand.priority is not None:
            wave.priority = demand.priority
        if demand.kind == "barrier":
            wave.blocked, wave.last = True, instruction
            return self._release(wave, now)
        # A wave that ends may be the last that others at a barrier wait for.
        return self._release(wave, now) if demand.end else [wave]

    def _occupy(self, wave: _Wave, demand: Demand, entry: int, now: int) -> None:
        unit, simd = demand.unit, wave.simd
        if unit == "mfma":
            self.unit_free[simd, "valu"] = now + TURN
            self.unit_free[simd, "mfma"] = now + demand.clocks
            self.out.add(Slice("mfma", simd, now, demand.clocks, self.instruction[entry], wave.id))
            extra = self.target.latencies
            vector = demand.clocks + TURN * extra.mma_to_vector_extra
            self._write(wave, demand, now + demand.clocks + extra.mma_extra, now + vector)
        elif unit == "valu":
            self.unit_free[simd, "valu"] = now + demand.clocks
            self.out.busy("valu", simd, demand.clocks)
            self._write(wave, demand, now + demand.clocks, now + demand.clocks)
        elif unit == "none":
            wave.free = now + demand.clocks
        else:
            self.unit_free[simd, unit] = now + TURN
            if unit == "branch" and self._is_taken(wave, entry):
                wave.free = now + TAKEN_BRANCH
            elif unit == "smem":
                wave.lgkm.append(now + self.parameters.scalar_latency)
            elif unit == "lds":
                self._lds(wave, demand, entry, now)
            elif unit == "vmem":
                self._memory(wave, demand, entry, now)

    def _write(self, wave: _Wave, demand: Demand, for_matrix: int, for_others: int) -> None:
        slow = for_matrix > wave.free or for_others > wave.free
        for first, last in demand.writes:
            for register in range(first, last + 1):
                if slow:
                    wave.ready[register] = (for_matrix, for_others)
                else:
                    wave.ready.pop(register, None)

    def _is_taken(self, wave: _Wave, entry: int) -> bool:
        if wave.at >= len(wave.entries):
            return False
        return self.instruction[wave.entries[wave.at]] != self.instruction[entry] + 1

    def _lds(self, wave: _Wave, demand: Demand, entry: int, now: int) -> None:
        clocks = self.phases[entry] or max(1, -(-self.bytes[entry] // LDS_BYTES_PER_CLOCK))
        start = max(float(now), self.lds_free)
        self.lds_free = start + clocks
        least = self.segments[entry] or clocks
        self.out.add(Slice("lds", 0, start, clocks, self.instruction[entry], wave.id))
        self.out.conflicts += max(0, clocks - least)
        _complete(wave.lgkm, start + clocks + self.parameters.lds_latency)

    def _memory(self, wave: _Wave, demand: Demand, entry: int, now: int) -> None:
        moved = max(self.bytes[entry], self.segments[entry] * SEGMENT)
        clocks = max(float(TURN), moved / self.parameters.bytes_per_clock)
        start = max(float(now), self.memory_free)
        self.memory_free = start + clocks
        self.out.add(Slice("memory", 0, start, clocks, self.instruction[entry], wave.id))
        done = start + clocks + self.parameters.latency
        _complete(wave.vm, done)
        if demand.flat:
            _complete(wave.lgkm, done)

    def _release(self, wave: _Wave, now: int) -> list[_Wave]:
        """The waves at the barrier, when all of the workgroup that have not ended are there."""
        group = [w for w in self.waves if w.group == wave.group]
        there = [w for w in group if w.blocked]
        if any(not w.blocked and w.at < len(w.entries) for w in group):
            return []
        for other in there:
            other.blocked = False
            if other is not wave:
                released = self._turn(now, other.simd)
                self.out.stall(other.id, other.last, other.free, released, "barrier")
                other.free = max(other.free, now)
        return there

    def _finish(self) -> None:
        ends = [w.free for w in self.waves] + [int(np.ceil(s.end)) for s in self.out.slices]
        ends += self.unit_free.values()
        self.out.clocks = max(ends, default=0)


def _when(open_operations: list[int], count: int) -> int:
    """When at most `count` of the operations are open."""
    if len(open_operations) <= count:
        return 0
    return sorted(open_operations)[len(open_operations) - count - 1]


def _complete(open_operations: list[int], time: float) -> None:
    """One more operation, complete at `time` but not before those before it."""
    whole = int(np.ceil(time))
    open_operations.append(max(whole, open_operations[-1]) if open_operations else whole)
