"""Race state of a memory: who touched each byte last, and whether a barrier lies between.

Waves of a workgroup are ordered by barriers only. Each wave counts the barriers it has signalled and those it has
passed. An access A of wave a is ordered before an access B of wave b exactly when b has passed a barrier that a
signalled after A: with s = the number a had signalled at A and p = the number b has passed at B, when p > s. Waves of
different workgroups are never ordered. Where a barrier does not itself wait for memory (s_barrier, or lds_barrier for
global memory) the write must also have been waited for before the barrier; then the record holds the number of the
operation, and a table says up to which operation each barrier covers (see waits.py).

Bytes are grouped in granules, the largest power of two that every access so far is a multiple of: exact, since an
access that needs smaller ones splits them first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .waits import (
    ASYNC,
    ATOMIC,
    ATOMICS,
    COUNT_MASK,
    FOREIGN,
    KIND_SHIFT,
    MANY_WAVES,
    MULTI,
    OP_MASK,
    OP_SHIFT,
    PLAIN,
    WAVE_SHIFT,
    Waits,
)

LARGEST_GRANULE = 16


@dataclass(frozen=True)
class Conflict:
    """The first fault of an access. index: into its flattened addresses; byte: address; what: "race", "async" or
    "uninitialised"; record: the other access; other_writes: whether that one was a write."""

    what: str
    index: int
    byte: int
    record: int
    other_writes: bool


@dataclass(frozen=True)
class Access:
    """One executed access. addresses: flat byte addresses; size: bytes each. wave1, passed, signalled, group: per
    address, wave number + 1, barriers passed and signalled, workgroup. op: number of the operation.
    count: what the record holds: barriers signalled, or the number of the operation of `counter`
    ("ds" or "vm") where that is set."""

    addresses: np.ndarray
    size: int
    wave1: np.ndarray
    passed: np.ndarray
    signalled: np.ndarray
    group: np.ndarray
    op: int
    waits: Waits
    count: np.ndarray
    counter: str = ""
    kind: int = PLAIN


class Shadow:
    """Race state of one storage. reads: whether reads must be recorded (the memory is both read and written).
    tracks_init: whether reading a byte never written is a fault. groups: workgroup of each wave, -1 at index 0."""

    def __init__(
        self, size: int, groups: np.ndarray, *, reads: bool, tracks_init: bool, shared_by_groups: bool
    ) -> None:
        self.granule = LARGEST_GRANULE
        self.shift = LARGEST_GRANULE.bit_length() - 1
        count = -(-size // LARGEST_GRANULE)
        self.writes = np.zeros(count, dtype=np.int64)
        self.reads = np.zeros(count, dtype=np.int64) if reads else None
        self.tracks_init = tracks_init
        self.shared_by_groups = shared_by_groups
        self.group_of = groups

    def _split(self, factor: int) -> None:
        self.granule //= factor
        self.shift = self.granule.bit_length() - 1
        self.writes = np.repeat(self.writes, factor)
        if self.reads is not None:
            self.reads = np.repeat(self.reads, factor)

    def _granules(self, access: Access) -> tuple[np.ndarray, int]:
        """Granule numbers, flat with the granules of one address adjacent, and how many an address has."""
        mixed = access.size | (int(np.bitwise_or.reduce(access.addresses)) if access.addresses.size else 0)
        while mixed & (self.granule - 1):
            self._split(2)
        first = access.addresses >> self.shift
        each = access.size >> self.shift
        if each == 1:
            return first, 1
        return (first[:, None] + np.arange(each)).reshape(-1), each

    def _spread(self, values: np.ndarray, each: int) -> np.ndarray:
        return values if each == 1 else np.repeat(values, each)

    def check_init(self, access: Access) -> Conflict | None:
        """Only the check for uninitialised bytes (when races are not checked)."""
        cells, each = self._granules(access)
        found = self.writes[cells]
        return self._conflict("uninitialised", access, found == 0, found, cells, each, True)

    def mark(self, access: Access) -> None:
        """Only record that bytes are written (when races are not checked)."""
        cells, each = self._granules(access)
        self.writes[cells] = self._spread(access.wave1, each) << WAVE_SHIFT

    def read(self, access: Access, init: bool) -> Conflict | None:
        """Check and record a read. init: report bytes never written."""
        cells, each = self._granules(access)
        found = self.writes[cells]
        wave1 = self._spread(access.wave1, each)
        if init and self.tracks_init:
            conflict = self._conflict("uninitialised", access, found == 0, found, cells, each, True)
            if conflict:
                return conflict
        conflict = self._check_writes(access, found, wave1, cells, each)
        if conflict is None and self.reads is not None:
            self._record_read(access, cells, wave1, each)
        return conflict

    def write(self, access: Access) -> Conflict | None:
        """Check and record a write, an atomic update or an asynchronous copy."""
        cells, each = self._granules(access)
        found = self.writes[cells]
        wave1 = self._spread(access.wave1, each)
        conflict = self._check_writes(access, found, wave1, cells, each)
        if conflict is None and self.reads is not None:
            conflict = self._check_reads(access, cells, wave1, each)
        if conflict is not None:
            return conflict
        count = self._spread(access.count, each)
        record = (wave1 << WAVE_SHIFT) | ((access.kind << KIND_SHIFT) | ((access.op & OP_MASK) << OP_SHIFT)) | count
        if access.kind == ATOMIC:
            record = self._join_atomics(access, found, record, each)
        self.writes[cells] = record
        left = self.writes[cells]
        clash = (left ^ record) >> WAVE_SHIFT != 0
        if not clash.any():
            return None
        if access.kind == ATOMIC:
            self.writes[cells[clash]] |= ATOMICS << KIND_SHIFT
            foreign = clash & (self._groups(left) != self._spread(access.group, each))
            self.writes[cells[foreign]] |= MANY_WAVES << WAVE_SHIFT
            return None
        return self._conflict("race", access, clash, left, cells, each, True)

    def _conflict(
        self,
        what: str,
        access: Access,
        bad: np.ndarray,
        records: np.ndarray,
        cells: np.ndarray,
        each: int,
        other_writes: bool,
    ) -> Conflict | None:
        if not bad.any():
            return None
        at = int(np.argmax(bad))
        byte = max(int(cells[at]) << self.shift, int(access.addresses[at // each]))
        return Conflict(what, at // each, byte, int(records[at]), other_writes)

    def _check_writes(
        self, access: Access, found: np.ndarray, wave1: np.ndarray, cells: np.ndarray, each: int
    ) -> Conflict | None:
        """An earlier write that is not ordered before this access."""
        kind = (found >> KIND_SHIFT) & 3
        suspect = (found != 0) & ((found >> WAVE_SHIFT != wave1) | (kind == ASYNC) | (kind == ATOMICS))
        if access.kind == ATOMIC:
            suspect &= kind < ATOMIC
        if not suspect.any():
            return None
        at = np.flatnonzero(suspect)
        records = found[at]
        where = at // each
        ordered = access.waits.ordered(records, access.wave1[where], access.passed[where], access.counter)
        if self.shared_by_groups:
            ordered &= self._groups(records) == access.group[where]
        if ordered.all():
            return None
        bad = np.zeros(found.shape, dtype=bool)
        bad[at[~ordered]] = True
        first = int(found[int(np.argmax(bad))])
        pending = (first >> KIND_SHIFT) & 3 == ASYNC and not access.waits.waited_for(first)
        return self._conflict("async" if pending else "race", access, bad, found, cells, each, True)

    def _check_reads(self, access: Access, cells: np.ndarray, wave1: np.ndarray, each: int) -> Conflict | None:
        """An earlier read by another wave that is not ordered before this write."""
        assert self.reads is not None
        found = self.reads[cells]
        if not found.any():
            return None
        passed = self._spread(access.passed, each)
        other = ((found & MULTI) != 0) | (found >> WAVE_SHIFT != wave1)
        bad = (found != 0) & other & ((found & COUNT_MASK) >= passed)
        if self.shared_by_groups:
            group = self._spread(access.group, each)
            bad |= (found & FOREIGN) != 0
            bad |= (found != 0) & (self.group_of[found >> WAVE_SHIFT] != group)
        return self._conflict("race", access, bad, found, cells, each, False)

    def _record_read(self, access: Access, cells: np.ndarray, wave1: np.ndarray, each: int) -> None:
        assert self.reads is not None
        old = self.reads[cells]
        head = (wave1 << WAVE_SHIFT) | ((access.op & OP_MASK) << OP_SHIFT)
        record = head | self._spread(access.signalled, each)
        old_wave = old >> WAVE_SHIFT
        live = (old != 0) & ((old & COUNT_MASK) >= self._spread(access.passed, each))
        record |= np.where(live & ((old_wave != wave1) | ((old & MULTI) != 0)), MULTI, 0)
        if self.shared_by_groups:
            group = self._spread(access.group, each)
            foreign = ((old & FOREIGN) != 0) | ((old != 0) & (self.group_of[old_wave] != group))
            record |= np.where(foreign, FOREIGN, 0)
        self.reads[cells] = record
        left = self.reads[cells]
        clash = (left ^ record) >> WAVE_SHIFT != 0
        if clash.any():
            self.reads[cells[clash]] |= MULTI
            if self.shared_by_groups:
                group = self._spread(access.group, each)
                foreign = clash & (self.group_of[left >> WAVE_SHIFT] != group)
                self.reads[cells[foreign]] |= FOREIGN

    def _groups(self, records: np.ndarray) -> np.ndarray:
        """Workgroup of the wave in each record; -2 where several workgroups are meant."""
        return self.group_of[np.minimum(records >> WAVE_SHIFT, self.group_of.size - 1)]

    def _join_atomics(self, access: Access, found: np.ndarray, record: np.ndarray, each: int) -> np.ndarray:
        """Records where other waves' atomics stand already: by several waves of a workgroup, or of several."""
        kind = (found >> KIND_SHIFT) & 3
        other = (kind >= ATOMIC) & ((found >> WAVE_SHIFT != record >> WAVE_SHIFT) | (kind == ATOMICS))
        record = np.where(other, record | (ATOMICS << KIND_SHIFT), record)
        foreign = other & (self._groups(found) != self._spread(access.group, each))
        return np.where(foreign, record | (MANY_WAVES << WAVE_SHIFT), record)
