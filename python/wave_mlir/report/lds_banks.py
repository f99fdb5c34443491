"""Who touches which LDS bank in which phase: accesses of known place, their conflicts, their buffers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from wave_mlir.compiler.targets import Target
from wave_mlir.dialect import bank_conflicts


@dataclass(frozen=True)
class Access:
    """One LDS access of a wave, or several that differ by whole rows of banks.

    op: read or write. bits: of a lane. addresses: byte of each lane in LDS. count: how many there are a run through the
    program. where: the first one's place in the source.
    """

    op: str
    buffer: int
    bits: int
    addresses: tuple[int, ...]
    where: str
    count: int = 1


@dataclass(frozen=True)
class Touch:
    """In a phase, lane `lane` asks bank `bank` for row `row` (a row has one word of each bank)."""

    lane: int
    bank: int
    row: int


@dataclass
class Buffer:
    """An LDS buffer. Bytes written and read are those of all waves in one run through the program.

    unknown: accesses whose place depends on values in registers.
    """

    name: str
    offset: int
    bytes: int
    written: int = 0
    read: int = 0
    unknown: int = 0


@dataclass
class LdsReport:
    """The LDS of one kernel."""

    kernel: str
    target: Target
    bytes: int
    buffers: list[Buffer] = field(default_factory=list)
    accesses: list[Access] = field(default_factory=list)

    def degree(self, buffer: int) -> int:
        """The worst number of rows that a bank is asked for in a phase, over the accesses of a buffer."""
        return max((max(degrees(a, self.target)) for a in self.accesses if a.buffer == buffer), default=1)

    def clocks(self) -> Mapping[tuple[str, int], float]:
        """Mean clocks of an access by (op, bits a lane)."""
        total: defaultdict[tuple[str, int], int] = defaultdict(int)
        count: defaultdict[tuple[str, int], int] = defaultdict(int)
        for access in self.accesses:
            total[access.op, access.bits] += access.count * sum(degrees(access, self.target))
            count[access.op, access.bits] += access.count
        return {key: total[key] / count[key] for key in total}

    def to_json(self) -> dict[str, object]:
        """Plain data."""
        buffers = [
            {"name": b.name, "offset": b.offset, "bytes": b.bytes, "written": b.written, "read": b.read,
             "degree": self.degree(n), "unknown_accesses": b.unknown}
            for n, b in enumerate(self.buffers)
        ]  # fmt: skip
        accesses = [
            {"op": a.op, "buffer": a.buffer, "bits": a.bits, "count": a.count, "where": a.where,
             "degrees": degrees(a, self.target)}
            for a in self.accesses
        ]  # fmt: skip
        return {"kernel": self.kernel, "bytes": self.bytes, "buffers": buffers, "accesses": accesses}


def touches(access: Access, target: Target) -> list[list[Touch]]:
    """What each phase of an access asks for."""
    lds = target.lds
    size, row_bytes = access.bits // 8, lds.banks * lds.bank_bytes
    found = []
    for lanes in target.lds_access(access.op, access.bits).phases:
        phase = []
        for lane in lanes:
            first = access.addresses[lane]
            words = range(first // lds.bank_bytes, -(-(first + size) // lds.bank_bytes))
            phase += [Touch(lane, w % lds.banks, w * lds.bank_bytes // row_bytes) for w in words]
        found.append(phase)
    return found


def degrees(access: Access, target: Target) -> list[int]:
    """The clocks of each phase: the most rows that any bank is asked for."""
    phases = [list(p) for p in target.lds_access(access.op, access.bits).phases]
    return bank_conflicts(list(access.addresses), access.bits // 8, target.lds_banks, phases)


def rows_asked(phase: list[Touch], banks: int) -> np.ndarray:
    """For each bank the number of rows that a phase asks it for."""
    counts = np.zeros(banks, np.int64)
    for bank, _ in {(t.bank, t.row) for t in phase}:
        counts[bank] += 1
    return counts
