"""Exact counts of a run: instructions by opcode, class, source line and wave; what memory accesses and LDS banks did.

Everything here is counted by the runner over all workgroups; nothing is modelled (isa/timeline.py models).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ..compiler.targets import get
from ..compiler.targets.rates import matrix_clocks
from ..report.instructions import CLASSES, classify
from .encoder import Program

SEGMENT = 64
"""Bytes of the memory segments that the runner counts."""

_LDS = ("lds_read", "lds_write", "lds_other")
_GLOBAL = ("load", "store", "atomic", "direct_to_lds")


@dataclass(frozen=True)
class Access:
    """A static memory instruction that was executed, with sums over its executions.

    Global memory: `cost` is the 64-byte segments touched and `best` how many hold as many bytes as were moved. LDS:
    `cost` is the clocks by the banks asked for, `best` the clocks without a conflict.
    """

    index: int
    text: str
    source: str
    kind: str
    executions: int
    bytes: int
    cost: int
    best: int

    @property
    def bytes_per_execution(self) -> float:
        """Bytes that one execution moves for all lanes."""
        return self.bytes / self.executions

    @property
    def degree(self) -> float:
        """cost / best: 1 is ideal. 1 too when nothing was moved."""
        return self.cost / self.best if self.best else 1.0


@dataclass(frozen=True)
class Profile:
    """Counts of one run of `program` on `target`: sums by static instruction, and instructions by wave number."""

    program: Program
    target: str
    executions: np.ndarray
    phases: np.ndarray
    bytes: np.ndarray
    segments: np.ndarray
    waves: np.ndarray

    @property
    def total(self) -> int:
        """Instructions executed, counted once a wave."""
        return int(self.executions.sum())

    def kinds(self) -> list[str]:
        """Class of each static instruction (report.instructions.CLASSES)."""
        return [classify(line.mnemonic, line.tail).kind for line in self.program.lines]

    def by_opcode(self) -> dict[str, int]:
        """Executions by mnemonic, most first."""
        return self._sum(lambda index: self.program.lines[index].mnemonic)

    def by_class(self) -> dict[str, int]:
        """Executions by class, in the order of CLASSES."""
        kinds = self.kinds()
        found = self._sum(lambda index: kinds[index])
        return {kind: found[kind] for kind in CLASSES if kind in found}

    def by_line(self) -> dict[str, int]:
        """Executions by `file:line`, most first: lines of the kernel's source where .loc names them."""
        return self._sum(self.program.source)

    def by_wave(self) -> list[int]:
        """Instructions by number of the wave in its workgroup, all workgroups together."""
        return [int(n) for n in self.waves]

    def global_accesses(self) -> list[Access]:
        """Executed instructions that access global memory, in program order."""
        return self._accesses(_GLOBAL)

    def lds_accesses(self) -> list[Access]:
        """Executed instructions that access LDS, in program order."""
        return self._accesses(_LDS)

    @property
    def conflict_clocks(self) -> int:
        """Clocks that LDS accesses took beyond what they would without bank conflicts."""
        return sum(a.cost - a.best for a in self.lds_accesses())

    @property
    def matrix_count(self) -> int:
        """Matrix instructions executed."""
        return self.by_class().get("mfma", 0)

    @property
    def matrix_clocks(self) -> int:
        """Clocks of all matrix instructions on one SIMD's matrix unit, by the target's table."""
        target, total = get(self.target), 0
        for index in np.flatnonzero(self.executions):
            line, row = self.program.lines[index], self.program.instructions[index]
            if classify(line.mnemonic, line.tail).kind == "mfma":
                formats = (int(row["cbsz"]), int(row["blgp"]))
                total += int(self.executions[index]) * matrix_clocks(target, line.mnemonic, formats)
        return total

    def to_dict(self) -> dict[str, object]:
        """The counts as plain data, for JSON."""
        return {
            "instructions": self.total,
            "by_class": self.by_class(),
            "by_opcode": self.by_opcode(),
            "by_line": self.by_line(),
            "by_wave": self.by_wave(),
            "mfma": {"count": self.matrix_count, "clocks": self.matrix_clocks},
            "global": [_access_dict(a, "segments", "best_segments") for a in self.global_accesses()],
            "lds": [_access_dict(a, "clocks", "best_clocks") for a in self.lds_accesses()],
            "lds_conflict_clocks": self.conflict_clocks,
        }

    def __str__(self) -> str:
        return self.summary()

    def summary(self, most: int = 8) -> str:
        """A few lines of text; of long lists the `most` largest."""
        lines = [f"instructions executed: {self.total} ({_joined(self.by_class())})"]
        lines.append(f"most: {_joined(_first(self.by_opcode(), most))}")
        lines.append(f"by line: {_joined(_shortened(_first(self.by_line(), most)))}")
        if self.matrix_count:
            lines.append(f"MFMA: {self.matrix_count}, {self.matrix_clocks} clocks on one matrix unit")
        lines += self._global_text(most) + self._lds_text(most)
        return "\n".join(lines)

    def _global_text(self, most: int) -> list[str]:
        found = self.global_accesses()
        if not found:
            return []
        moved, segments = sum(a.bytes for a in found), sum(a.cost for a in found)
        used = f", {moved / (segments * SEGMENT):.0%} of the bytes of the segments touched" if segments else ""
        lines = [f"global memory: {moved} bytes in {sum(a.executions for a in found)} accesses{used}"]
        for a in sorted(found, key=lambda a: -a.bytes)[:most]:
            size = f"{a.executions} x {a.bytes_per_execution:.0f} bytes, {a.degree:.2f} of the least segments"
            lines.append(f"  {short(a.source)}: {a.text}: {size}")
        return lines

    def _lds_text(self, most: int) -> list[str]:
        found = self.lds_accesses()
        if not found:
            return []
        clocks, best = sum(a.cost for a in found), sum(a.best for a in found)
        lines = [
            f"LDS: {sum(a.executions for a in found)} accesses, {clocks} clocks, {clocks - best} of them conflicts"
        ]
        conflicts = sorted((a for a in found if a.cost > a.best), key=lambda a: a.best - a.cost)
        lines += [f"  {short(a.source)}: {a.text}: conflict degree {a.degree:.2f}" for a in conflicts[:most]]
        return lines

    def _sum(self, key: Callable[[int], str]) -> dict[str, int]:
        found: Counter[str] = Counter()
        for index in np.flatnonzero(self.executions):
            found[key(int(index))] += int(self.executions[index])
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))

    def _accesses(self, kinds: tuple[str, ...]) -> list[Access]:
        return [
            self._access(int(index), kind)
            for index, kind in enumerate(self.kinds())
            if kind in kinds and self.executions[index]
        ]

    def _access(self, index: int, kind: str) -> Access:
        moved, segments = int(self.bytes[index]), int(self.segments[index])
        lds = kind in _LDS
        cost = int(self.phases[index]) if lds else segments
        best = segments if lds else -(-moved // SEGMENT)
        line = self.program.lines[index]
        return Access(
            index, line.text, self.program.source(index), kind, int(self.executions[index]), moved, cost, best
        )


def short(source: str) -> str:
    """`file:line` without folders, for text."""
    return os.path.basename(source)


def _shortened(counts: Mapping[str, int]) -> dict[str, int]:
    return {short(source): count for source, count in counts.items()}


def _access_dict(access: Access, cost: str, best: str) -> dict[str, object]:
    return {
        "instruction": access.text,
        "source": access.source,
        "executions": access.executions,
        "bytes": access.bytes,
        "bytes_per_execution": access.bytes_per_execution,
        cost: access.cost,
        best: access.best,
        "degree": access.degree,
    }


def _first(counts: Mapping[str, int], most: int) -> dict[str, int]:
    return dict(list(counts.items())[:most])


def _joined(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())
