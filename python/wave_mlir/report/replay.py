"""A loop's instructions replayed on one SIMD by the waves that are resident there, until its trips take equally long.

A model: docs/report.md has its rules. Every SIMD of the compute unit is taken to run the same code at the same time,
so that an access to LDS or memory by a wave here stands for one on each SIMD.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from wave_mlir.compiler.targets import Target
from wave_mlir.compiler.targets.rates import TURN

from .demand import Demand

SCALAR_LATENCY = 200
"""Clocks of a scalar load: assumed, an order of magnitude."""

TAKEN_BRANCH = 16
"""Clocks until a wave goes on after the branch back: assumed, four turns to fetch."""

_WARM = 3
_LONGEST = 12
"""Trips to replay at least and at most; mostly they are alike after two or three."""


@dataclass(frozen=True)
class Slot:
    """Instruction number `index` of the loop keeps `unit` busy for `clocks` from `start`, for wave `wave`."""

    unit: str
    wave: int
    start: float
    clocks: float
    index: int


@dataclass
class Replay:
    """A steady trip.

    clocks: of one trip of all waves. utilisation: part of it that the matrix unit is busy, 0 to 1. stalls: clocks that
    waves waited in a trip, by reason, all waves together, most first. slots: what issued and which units were busy in
    the trip shown, from clock 0; "issue" is the unit of a wave's own issues.
    """

    clocks: float
    utilisation: float
    stalls: dict[str, float]
    slots: list[Slot] = field(default_factory=list, repr=False)
    waves_per_group: int = 1


def is_serving(wave: int, waves_per_group: int) -> bool:
    """Whether a wave is one of the second half of its group, where that has a program of its own."""
    return wave % waves_per_group >= (waves_per_group + 1) // 2


@dataclass
class _Wave:
    id: int
    loop: Sequence[Demand]
    at: int = 0  # instructions issued, over all trips
    free: float = 0.0
    blocked: bool = False
    ready: dict[tuple[str, int], tuple[float, float]] = field(default_factory=dict)  # for a matrix, for others
    open: dict[str, list[float]] = field(default_factory=lambda: {"vm": [], "lgkm": []})


def replay(
    loop: Sequence[Demand], target: Target, waves: int, waves_per_group: int, service: Sequence[Demand] = ()
) -> Replay:
    """Replay `waves` waves of a SIMD; those of one workgroup there, `waves_per_group`, meet at barriers.

    service: what the second half of a group's waves run instead, with as many barriers.
    """
    return _Machine(loop, target, waves, max(1, waves_per_group), service).run()


class _Machine:
    def __init__(
        self, loop: Sequence[Demand], target: Target, waves: int, waves_per_group: int, service: Sequence[Demand]
    ):
        self.target, self.per_group = target, waves_per_group
        self.waves = [_Wave(n, service if service and is_serving(n, waves_per_group) else loop) for n in range(waves)]
        self.meet = any(d.kind == "barrier" for d in loop)
        self.unit_free: dict[str, float] = {}
        self.slots: list[Slot] = []
        self.stalls: list[tuple[float, float, str]] = []  # when, how long, why
        self.starts: list[list[float]] = [[] for _ in self.waves]  # of trips

    def run(self) -> Replay:
        """The wave that can issue first always goes next; of several, the one that is furthest behind."""
        heap = [(0.0, 0, wave.id) for wave in self.waves]
        while heap:
            time, _, number = heapq.heappop(heap)
            wave = self.waves[number]
            now, reason = self._earliest(wave)
            if now > time:  # another wave took the unit meanwhile
                heapq.heappush(heap, (now, wave.at, number))
                continue
            index = wave.at % len(wave.loop)
            if index == 0:
                self.starts[number].append(now)
                if self._is_steady(number):
                    break
            if now > wave.free:
                self.stalls.append((now, now - wave.free, reason))
            self._issue(wave, index, now)
            for other in self._going_on(wave, index, now):
                heapq.heappush(heap, (self._earliest(other)[0], other.at, other.id))
        return self._result()

    def _is_steady(self, number: int) -> bool:
        """Whether all waves have begun a trip after two that took equally long (or the most trips are done)."""
        trips = len(self.starts[number])
        if trips < _WARM + 2 or any(len(s) < trips for s in self.starts):
            return False
        return trips > _LONGEST or all(s[-1] - s[-2] == s[-2] - s[-3] for s in self.starts)

    def _earliest(self, wave: _Wave) -> tuple[float, str]:
        demand = wave.loop[wave.at % len(wave.loop)]
        time, reason = wave.free, "issue"
        for at, why in self._obstacles(wave, demand):
            if at > time:
                time, reason = at, why
        return time, reason

    def _obstacles(self, wave: _Wave, demand: Demand) -> list[tuple[float, str]]:
        found: list[tuple[float, str]] = []
        if wave.ready:
            which = 0 if demand.unit == "mfma" else 1
            found += [(wave.ready[r][which], "result") for r in demand.reads if r in wave.ready]
        for counter, count in zip(("vm", "lgkm"), demand.waits, strict=True):
            if count is not None and len(wave.open[counter]) > count:
                found.append((wave.open[counter][len(wave.open[counter]) - count - 1], f"{counter}cnt"))
        if demand.unit != "none":
            found.append((self.unit_free.get(demand.unit, 0.0), f"{demand.unit} busy"))
        if demand.unit == "mfma":
            found.append((self.unit_free.get("valu", 0.0), "valu busy"))
        return found

    def _issue(self, wave: _Wave, index: int, now: float) -> None:
        demand = wave.loop[index]
        wave.at += 1
        wave.free = now + demand.issue
        self.slots.append(Slot("issue", wave.id, now, demand.issue, index))
        for counter, count in zip(("vm", "lgkm"), demand.waits, strict=True):
            if count is not None:
                wave.open[counter] = [t for t in wave.open[counter] if t > now]
        if demand.unit == "mfma":
            self._matrix(wave, demand, index, now)
        elif demand.unit == "valu":
            self._busy("valu", wave, index, now, demand.clocks)
            for register in demand.writes:
                wave.ready.pop(register, None)
        elif demand.unit != "none":
            self.unit_free[demand.unit] = now + TURN
            self._memory(wave, demand, index, now)
        if index == len(wave.loop) - 1:
            wave.free = now + TAKEN_BRANCH

    def _busy(self, unit: str, wave: _Wave, index: int, start: float, clocks: float) -> float:
        self.unit_free[unit] = start + clocks
        self.slots.append(Slot(unit, wave.id, start, clocks, index))
        return start + clocks

    def _matrix(self, wave: _Wave, demand: Demand, index: int, now: float) -> None:
        end = self._busy("mfma", wave, index, now, demand.clocks)
        self.unit_free["valu"] = now + TURN
        late = self.target.latencies
        times = (end + late.mma_extra, end + TURN * late.mma_to_vector_extra)
        for register in demand.writes:
            wave.ready[register] = times

    def _memory(self, wave: _Wave, demand: Demand, index: int, now: float) -> None:
        """One access on each SIMD of the compute unit: LDS and the path to memory serve them one after the other."""
        late, simds = self.target.latencies, self.target.simds_per_compute_unit
        if demand.unit == "lds":
            done = self._serve("LDS", wave, index, now, simds * demand.clocks) + late.lds
        elif demand.unit == "vmem":
            clocks = simds * max(TURN, demand.data / self.target.vector_memory_bytes_per_clock)
            done = self._serve("memory", wave, index, now, clocks) + late.l2
        elif demand.kind == "smem":
            done = now + SCALAR_LATENCY
        else:
            return
        queue = wave.open[demand.counter]
        queue.append(max(done, queue[-1]) if queue else done)

    def _serve(self, unit: str, wave: _Wave, index: int, now: float, clocks: float) -> float:
        """End of service: of all SIMDs' accesses where barriers make waves wait for the last, else of this one's."""
        start = max(now, self.unit_free.get(unit, 0.0))
        end = self._busy(unit, wave, index, start, clocks)
        return end if self.meet else start + clocks / self.target.simds_per_compute_unit

    def _going_on(self, wave: _Wave, index: int, now: float) -> list[_Wave]:
        """The waves that may go on: at a barrier all of the group here, when the last has come."""
        if wave.loop[index].kind != "barrier":
            return [wave]
        first = wave.id // self.per_group * self.per_group
        group = self.waves[first : first + self.per_group]
        wave.blocked = True
        if not all(w.blocked for w in group):
            return []
        for other in group:
            other.blocked = False
            if now + TURN > other.free:
                self.stalls.append((now, now + TURN - other.free, "barrier"))
            other.free = max(other.free, now + TURN)
        return group

    def _result(self) -> Replay:
        begin, end = self.starts[0][-2:]
        trips = len(self.starts[0]) - _WARM  # waves may take turns: over several trips all are equally fast
        clocks = sum(s[-1] - s[-1 - trips] for s in self.starts) / (trips * len(self.waves))
        matrix = sum(d.clocks for wave in self.waves for d in wave.loop if d.unit == "mfma")
        clocks = max(clocks, matrix)  # where trips differ the mean is of a part of their pattern
        stalls: Counter[str] = Counter()
        for when, how_long, why in self.stalls:
            if begin <= when < end:
                stalls[why] += how_long  # type: ignore[assignment]
        shown = [
            Slot(s.unit, s.wave, s.start - begin, s.clocks, s.index)
            for s in self.slots
            if s.start < end and s.start + s.clocks > begin
        ]
        return Replay(clocks, matrix / clocks if clocks else 0.0, dict(stalls.most_common()), shown, self.per_group)
