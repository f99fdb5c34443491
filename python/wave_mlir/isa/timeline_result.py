"""What the timeline model gives: slices of time on tracks, sums, text."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from .encoder import Program
from .profile import short

TRACKS = ("wave", "mfma", "lds", "memory")
"""Kinds of tracks: a wave's issues; a SIMD's matrix unit; the LDS pipeline; the path to memory."""


@dataclass(frozen=True)
class Slice:
    """`instruction` of `wave` keeps a track busy for `clocks` from `start`. `index`: which wave or SIMD."""

    track: str
    index: int
    start: float
    clocks: float
    instruction: int
    wave: int

    @property
    def end(self) -> float:
        """First clock after the slice."""
        return self.start + self.clocks


@dataclass(frozen=True)
class Stall:
    """`wave` cannot issue `instruction` from `start` on, for `clocks`, because of `reason`."""

    wave: int
    instruction: int
    start: int
    clocks: int
    reason: str


@dataclass
class Timeline:
    """A modelled run of one compute unit. `latency` (clocks) and `bytes_per_clock` are the parameters it was made with.

    clocks: from the first issue's turn to the end of the last instruction. conflicts: LDS clocks beyond the least.
    """

    program: Program
    target: str
    latency: int
    bytes_per_clock: float
    waves: int
    simds: int  # that have a wave
    clocks: int = 0
    conflicts: int = 0
    slices: list[Slice] = field(default_factory=list)
    stalls: list[Stall] = field(default_factory=list)
    _busy: defaultdict[tuple[str, int], float] = field(default_factory=lambda: defaultdict(float))

    def add(self, slice: Slice) -> None:
        """A slice of a track."""
        self.slices.append(slice)
        self._busy[slice.track, slice.index] += slice.clocks

    def busy(self, unit: str, index: int, clocks: int) -> None:
        """Clocks of a unit that has no track."""
        self._busy[unit, index] += clocks

    def stall(self, wave: int, instruction: int, start: int, end: int, reason: str) -> None:
        """A wave waits from `start` to `end`."""
        if end > start:
            self.stalls.append(Stall(wave, instruction, start, end - start, reason))

    def busy_clocks(self, unit: str, index: int | None = None) -> float:
        """Clocks that a unit ("mfma", "valu", "lds", "memory") was busy; of all SIMDs together without `index`."""
        return sum(c for (name, number), c in self._busy.items() if name == unit and index in (None, number))

    @property
    def mfma_utilisation(self) -> float:
        """Part of the time that the matrix units of the SIMDs with waves are busy, 0 to 1."""
        return self._part("mfma", self.simds, self.clocks)

    @property
    def mfma_utilisation_of_loop(self) -> float:
        """The same between the first and the last matrix instruction: without start and end of the kernel."""
        found = [s for s in self.slices if s.track == "mfma"]
        if not found:
            return 0.0
        return self._part("mfma", self.simds, max(s.end for s in found) - min(s.start for s in found))

    @property
    def valu_utilisation(self) -> float:
        """Part of the time that the vector units of the SIMDs with waves are busy, 0 to 1."""
        return self._part("valu", self.simds, self.clocks)

    @property
    def lds_utilisation(self) -> float:
        """Part of the time that the LDS pipeline is busy, 0 to 1."""
        return self._part("lds", 1, self.clocks)

    @property
    def memory_utilisation(self) -> float:
        """Part of the time that the path to memory is busy, 0 to 1."""
        return self._part("memory", 1, self.clocks)

    def _part(self, unit: str, count: int, clocks: float) -> float:
        return self.busy_clocks(unit) / (count * clocks) if clocks and count else 0.0

    def stalls_by_reason(self) -> dict[str, int]:
        """Clocks that waves could not issue, by reason, most first; all waves together."""
        found: Counter[str] = Counter()
        for stall in self.stalls:
            found[stall.reason] += stall.clocks
        return dict(found.most_common())

    def stalls_by_instruction(self, most: int = 5) -> list[tuple[int, str, int]]:
        """(instruction, reason, clocks) of the worst stalls."""
        found: Counter[tuple[int, str]] = Counter()
        for stall in self.stalls:
            found[stall.instruction, stall.reason] += stall.clocks
        return [(index, reason, clocks) for (index, reason), clocks in found.most_common(most)]

    def to_dict(self) -> dict[str, object]:
        """The sums as plain data, for JSON."""
        return {
            "model": {"target": self.target, "latency": self.latency, "bytes_per_clock": self.bytes_per_clock},
            "waves": self.waves,
            "clocks": self.clocks,
            "mfma_utilisation": self.mfma_utilisation,
            "mfma_utilisation_of_loop": self.mfma_utilisation_of_loop,
            "valu_utilisation": self.valu_utilisation,
            "lds_utilisation": self.lds_utilisation,
            "memory_utilisation": self.memory_utilisation,
            "lds_conflict_clocks": self.conflicts,
            "stalls": self.stalls_by_reason(),
            "worst_stalls": [
                {"instruction": self.text(i), "source": self.program.source(i), "reason": reason, "clocks": clocks}
                for i, reason, clocks in self.stalls_by_instruction()
            ],
        }

    def __str__(self) -> str:
        return self.summary()

    def summary(self) -> str:
        """A few lines of text; says that it is a model, and its parameters."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield (
            f"modelled on one compute unit of {self.target} (memory latency {self.latency} clocks, "
            f"{self.bytes_per_clock:g} bytes a clock): {self.clocks} clocks, {self.waves} waves"
        )
        if self.busy_clocks("mfma"):
            yield (
                f"MFMA utilisation: {self.mfma_utilisation:.1%}; "
                f"{self.mfma_utilisation_of_loop:.1%} between the first and the last MFMA"
            )
        yield (
            f"busy: vector units {self.valu_utilisation:.1%}, LDS {self.lds_utilisation:.1%} "
            f"({self.conflicts} clocks of conflicts), memory path {self.memory_utilisation:.1%}"
        )
        reasons = ", ".join(f"{reason} {clocks}" for reason, clocks in self.stalls_by_reason().items())
        yield f"clocks that waves waited, all together: {reasons or 'none'}"
        for index, reason, clocks in self.stalls_by_instruction():
            yield f"  {short(self.program.source(index))}: {self.text(index)}: {reason} {clocks}"

    def text(self, instruction: int) -> str:
        """The text of a static instruction."""
        return self.program.lines[instruction].text

    def to_perfetto(self) -> dict[str, object]:
        """Trace events for ui.perfetto.dev (isa/perfetto.py)."""
        from .perfetto import trace_events

        return trace_events(self)
