"""Loops that wait for what other waves write: spin locks, flags of other workgroups.

A while loop with a volatile read or an atomic in it may go on until somebody else has written. Waves in such a loop
take turns with all others: after each trip the cohort waits until the rest has ended, waits at a barrier, or spins too.
A turn is *quiet* when the loop carries the same values again and no memory changed since the cohort's last turn; when
all that is left of a launch is quiet, it stays so for ever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mlir import ir

from .errors import SimError

if TYPE_CHECKING:
    from .cohort import Cohort
    from .machine import Machine
    from .program import OpInfo

_VOLATILE_BIT = 1 << 31
"""Of the last operand of buffer intrinsics: LLVM's flag of volatile accesses."""

_BUFFER_ACCESSES = ("rocdl.raw.ptr.buffer.load", "rocdl.raw.ptr.buffer.store")


def is_volatile(op: ir.Operation) -> bool:
    """Whether a load or store says that others may touch its memory at any time."""
    if op.name in ("llvm.load", "llvm.store"):
        return "volatile_" in op.attributes
    if op.name not in _BUFFER_ACCESSES:
        return False
    owner = op.operands[len(op.operands) - 1].owner
    if isinstance(owner, ir.Block) or "value" not in owner.attributes:
        return False
    return bool(ir.IntegerAttr(owner.attributes["value"]).value & _VOLATILE_BIT)


def is_spin_loop(op: ir.Operation) -> bool:
    """Whether a loop may wait for others: a while loop with a volatile read or an atomic."""
    return op.name == "scf.while" and _looks_outside(op)


def _looks_outside(op: ir.Operation) -> bool:
    for region in op.regions:
        for block in region.blocks:
            for view in block.operations:
                inner = view.operation
                if "atomic" in inner.name or is_volatile(inner) or _looks_outside(inner):
                    return True
    return False


class Turns:
    """The cohorts of a launch that spin, and whether anything happens while they do."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Cohort, OpInfo]] = []
        self.changes = 0  # stores and atomics that changed memory
        self._quiet = 0  # turns in a row that were quiet

    def note_change(self, before: np.ndarray, after: np.ndarray) -> None:
        """Memory is about to hold `after`, items of bytes, in place of `before`."""
        if not np.array_equal(before.view(np.uint8), after.view(np.uint8)):
            self.changes += 1

    def stir(self) -> None:
        """Something other than a quiet turn happens."""
        self._quiet = 0

    def end(self, cohort: Cohort, info: OpInfo, same: bool) -> bool:
        """A trip of a spinning cohort ends; whether it may go on at once. same: the loop carries equal values again.

        Its pc must be where the next trip starts. Raises SimError where nobody is left to end the wait.
        """
        machine = cohort.machine
        quiet = same and cohort.seen == self.changes
        cohort.seen = self.changes
        self._quiet = self._quiet + 1 if quiet else 0
        if machine.alone:
            if quiet:
                raise self._stuck(machine, [(cohort, info)])
            return True
        self.waiting.append((cohort, info))
        return False

    def next(self, machine: Machine) -> Cohort:
        """The cohort that has waited longest for its next turn. Nothing else can run."""
        if self._quiet >= len(self.waiting):
            raise self._stuck(machine, self.waiting)
        return self.waiting.pop(0)[0]

    def _stuck(self, machine: Machine, waiting: list[tuple[Cohort, OpInfo]]) -> SimError:
        cohort, info = waiting[0]
        names = [machine.wave_name(int(w)) for c, _ in waiting for w in c.waves]
        shown = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
        blocked = machine.blocked[:2]
        held = [f"{machine.wave_name(int(c.waves[0]))} waits at a barrier ({i.location})" for c, i in blocked]
        return SimError(
            "deadlock",
            f"{info.name} of {shown} waits for memory that nobody is left to write: "
            f"{'; '.join(held) or 'all other waves have ended or wait too'}. Write the flag in every case, after what "
            "it announces, and reset it before the launch",
            location=info.location,
            waves=tuple(names[:8]),
        )
