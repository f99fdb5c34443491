"""Order between waves: barriers passed, and which memory operations each barrier or wait covers.

Counters as the hardware has them, one pair a wave: *ds* counts LDS accesses, *vm* counts global and buffer accesses and
the asynchronous copies to LDS, an access of more than 16 bytes a lane once per 16. A wait for vm(N) covers all but the
last N. Two waves are ordered through a barrier only for what the earlier one had covered when it signalled.
"""

from __future__ import annotations

import numpy as np

# A record in shadow memory is wave+1 in bits 42.., two bits below, the operation in bits 24..39, a count in 0..23.
WAVE_SHIFT, KIND_SHIFT, OP_SHIFT = 42, 40, 24
COUNT_MASK = (1 << OP_SHIFT) - 1
OP_MASK = (1 << (KIND_SHIFT - OP_SHIFT)) - 1
PLAIN, ASYNC, ATOMIC, ATOMICS = 0, 1, 2, 3
"""Kinds of write records, in the two bits at KIND_SHIFT; ATOMICS: by several waves of one workgroup."""
MULTI, FOREIGN = 1 << (KIND_SHIFT + 1), 1 << KIND_SHIFT
"""Flags of read records, in the same bits: read by several waves since the last barrier; by several workgroups."""
MANY_WAVES = (1 << 21) - 1
MAX_WAVES = MANY_WAVES - 1


class Waits:
    """Counters of all waves of a launch; every array is int64 with one entry a wave.

    signalled, passed: barriers. issued[c], waited[c]: operations of counter c ("ds", "vm") issued, and known complete.
    """

    def __init__(self, waves: int) -> None:
        self.signalled = np.zeros(waves, dtype=np.int64)
        self.passed = np.zeros(waves, dtype=np.int64)
        self.issued = {c: np.zeros(waves, dtype=np.int64) for c in ("ds", "vm")}
        self.waited = {c: np.zeros(waves, dtype=np.int64) for c in ("ds", "vm")}
        self._covered = {c: np.zeros((waves, 4), dtype=np.int64) for c in ("ds", "vm")}

    def issue(self, counter: str, waves: np.ndarray, amount: int) -> None:
        """Count `amount` operations of each wave."""
        self.issued[counter][waves] += amount

    def wait(self, counter: str, waves: np.ndarray, outstanding: int) -> None:
        """Wait until at most `outstanding` operations of the counter are in flight."""
        done = self.issued[counter][waves] - outstanding
        self.waited[counter][waves] = np.maximum(self.waited[counter][waves], done)

    def signal(self, waves: np.ndarray, waits_for: tuple[str, ...]) -> None:
        """Arrive at a barrier, which first waits for all operations of the counters in `waits_for`."""
        number = self.signalled[waves]
        for counter, table in self._covered.items():
            if counter in waits_for:
                self.wait(counter, waves, 0)
            if number.size and int(number.max()) >= table.shape[1]:
                table = np.concatenate([table, np.zeros_like(table)], axis=1)
                self._covered[counter] = table
            table[waves, number] = self.waited[counter][waves]
        self.signalled[waves] += 1

    def ordered(self, records: np.ndarray, wave1: np.ndarray, passed: np.ndarray, counter: str) -> np.ndarray:
        """Which writes (records) are ordered before accesses of waves wave1-1 that have passed so many barriers.

        counter: "" when plain records hold the number of barriers signalled, else the counter they count.
        """
        kind = (records >> KIND_SHIFT) & 3
        count = records & COUNT_MASK
        by_barrier = passed > count
        if not counter and not (kind == ASYNC).any():
            return by_barrier
        writer = np.minimum((records >> WAVE_SHIFT) - 1, self.passed.size - 1)
        if not counter:
            return np.where(kind == ASYNC, self._done("vm", writer, wave1, passed, count), by_barrier)
        plain = self._done(counter, writer, wave1, passed, count) | (writer + 1 == wave1)
        copied = self._done("vm", writer, wave1, passed, count)
        return np.where(kind == ASYNC, copied, np.where(kind >= ATOMIC, by_barrier, plain))

    def _done(
        self, counter: str, writer: np.ndarray, wave1: np.ndarray, passed: np.ndarray, count: np.ndarray
    ) -> np.ndarray:
        own = (writer + 1 == wave1) & (self.waited[counter][writer] >= count)
        return own | ((passed > 0) & (self._covered[counter][writer, np.maximum(passed, 1) - 1] >= count))

    def waited_for(self, record: int) -> bool:
        """Whether the wave of an asynchronous copy has waited for it."""
        return bool(self.waited["vm"][(record >> WAVE_SHIFT) - 1] >= record & COUNT_MASK)
