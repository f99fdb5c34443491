"""What each instruction of a program asks of the compute unit: unit, clocks, registers, counters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..compiler.targets import Target
from ..compiler.targets.rates import TURN, matrix_clocks, vector_clocks
from ..report.instructions import classify
from .encoder import Program
from .encoding import Kind
from .native import opcodes

UNITS = ("valu", "mfma", "salu", "smem", "lds", "vmem", "branch", "none")
"""Where an instruction goes. "none": waits, barriers, s_nop and the like, which the wave's own buffer executes."""

_UNIT_OF_CLASS = {
    "mfma": "mfma", "valu": "valu", "accvgpr_move": "valu", "salu": "salu", "smem": "smem",
    "lds_read": "lds", "lds_write": "lds", "lds_other": "lds", "load": "vmem", "store": "vmem", "direct_to_lds": "vmem",
    "atomic": "vmem", "scratch": "vmem", "wait": "none", "barrier": "none", "branch": "branch", "nop": "none",
}  # fmt: skip
_CACHE_CONTROL = ("buffer_inv", "buffer_wbl2", "buffer_wbinvl1")
_BUFFER_EXECUTES = ("s_setprio", "s_sleep", "s_nop", "s_endpgm", "s_sethalt", "s_icache_inv")
NO_WAIT = (63, 15)
"""vmcnt and lgkmcnt of a wait that waits for nothing."""


@dataclass(frozen=True)
class Demand:
    """One static instruction.

    kind: its class (report.instructions.CLASSES). clocks: how long it keeps its unit busy (matrix and vector units; for
    s_nop and s_sleep, how long the wave does nothing; else a turn). reads, writes: vector registers, as first and last.
    waits: (vmcnt, lgkmcnt) it waits for. flat: counted by both counters. end: the wave ends. priority: of s_setprio.
    """

    mnemonic: str
    kind: str
    unit: str
    clocks: int
    reads: tuple[tuple[int, int], ...]
    writes: tuple[tuple[int, int], ...]
    waits: tuple[int, int] = NO_WAIT
    flat: bool = False
    end: bool = False
    priority: int | None = None


def demands(program: Program, target: Target) -> list[Demand]:
    """The demand of each instruction of the program."""
    table = opcodes()
    accumulates = {op.index for op in table.values() if "+" in op.signature.split("=")[0]}
    rows = zip(program.lines, program.instructions, strict=True)
    return [_demand(line.mnemonic, line.tail, row, int(row["op"]) in accumulates, target) for line, row in rows]


def wait_counts(encoded: int) -> tuple[int, int]:
    """(vmcnt, lgkmcnt) of the immediate of s_waitcnt (CDNA3 ISA, "S_WAITCNT")."""
    return encoded & 15 | (encoded >> 14 & 3) << 4, encoded >> 8 & 15


def _demand(mnemonic: str, operands: str, row: np.void, accumulates: bool, target: Target) -> Demand:
    kind = classify(mnemonic, operands).kind
    unit = _UNIT_OF_CLASS[kind]
    if mnemonic.startswith(_CACHE_CONTROL):
        unit = "vmem"
    elif mnemonic.startswith(_BUFFER_EXECUTES):
        unit = "none"
    writes = _vectors(row["dst"])
    reads = _vectors(row["src"]) + (writes if accumulates else ())
    immediate = int(row["offset"])
    return Demand(
        mnemonic, kind, unit, _clocks(mnemonic, unit, row, target), reads, writes,
        waits=wait_counts(immediate) if mnemonic == "s_waitcnt" else NO_WAIT,
        flat=mnemonic.startswith("flat_"),
        end=mnemonic.startswith("s_endpgm"),
        priority=immediate & 3 if mnemonic == "s_setprio" else None,
    )  # fmt: skip


def _clocks(mnemonic: str, unit: str, row: np.void, target: Target) -> int:
    if unit == "mfma":
        return matrix_clocks(target, mnemonic, (int(row["cbsz"]), int(row["blgp"])))
    if unit == "valu":
        return vector_clocks(mnemonic)
    if mnemonic == "s_nop":  # ISA: 1 to 16 wait states of a turn each
        return TURN * ((int(row["offset"]) & 15) + 1)
    if mnemonic == "s_sleep":  # ISA: about 64 clocks a unit
        return 64 * max(1, int(row["offset"]) & 127)
    return TURN


def _vectors(operands: np.ndarray) -> tuple[tuple[int, int], ...]:
    """First and last register of each vector operand."""
    named = operands[operands["kind"] == Kind.VGPR]
    return tuple((int(o["reg"]), int(o["reg"]) + max(1, int(o["dwords"])) - 1) for o in named)
