"""What each instruction of a loop asks of a compute unit, read off its text: unit, clocks, registers, counters."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wave_mlir.compiler.targets import Target, TargetError
from wave_mlir.compiler.targets.rates import TURN, matrix_clocks, vector_clocks

from .instructions import Instruction

UNITS = ("mfma", "valu", "salu", "lds", "vmem", "branch", "none")
"""Where an instruction goes; "none": waits, barriers and s_nop, which the wave's own buffer executes."""

_UNIT = {
    "mfma": "mfma", "valu": "valu", "accvgpr_move": "valu", "salu": "salu", "smem": "salu",
    "lds_read": "lds", "lds_write": "lds", "lds_other": "lds", "load": "vmem", "store": "vmem",
    "direct_to_lds": "vmem", "atomic": "vmem", "scratch": "vmem", "branch": "branch",
}  # fmt: skip
_OWN_BUFFER = ("s_setprio", "s_sleep", "s_sched", "s_sethalt")
_SCHEDULED = ("load", "store", "direct_to_lds", "atomic", "scratch")
_RANGE = re.compile(r"\b([va])(?:(\d+)\b|\[(\d+):(\d+)\])")
_COUNT = re.compile(r"(vmcnt|lgkmcnt)\((\d+)\)")

Registers = tuple[tuple[str, int], ...]
"""(bank, number) of each vector register: bank "v" or "a"."""

LdsClocks = Mapping[tuple[str, int], float]
"""Mean clocks of an LDS access by ("read" or "write", bits a lane), where the addresses are known."""


@dataclass(frozen=True)
class Demand:
    """One instruction of the loop.

    clocks: how long it keeps its unit busy (LDS: the compute unit's, without other waves). issue: clocks until the
    wave can issue the next. data: bytes all lanes move. counter: "vm", "lgkm" or "" that counts it. waits: (vmcnt,
    lgkmcnt) it waits for, None where it does not.
    """

    instruction: Instruction
    unit: str
    clocks: float
    issue: int
    data: int = 0
    reads: Registers = ()
    writes: Registers = ()
    counter: str = ""
    waits: tuple[int | None, int | None] = (None, None)

    @property
    def kind(self) -> str:
        """The instruction's class."""
        return self.instruction.kind


def demands(body: Sequence[Instruction], target: Target, lds: LdsClocks | None = None) -> list[Demand]:
    """The demand of each instruction. Raises TargetError for a matrix instruction that the target does not have."""
    return [_demand(i, target, lds or {}) for i in body]


def _demand(instruction: Instruction, target: Target, lds: LdsClocks) -> Demand:
    kind = instruction.kind
    unit = _UNIT.get(kind, "none")
    if instruction.mnemonic.startswith(_OWN_BUFFER):
        unit = "none"
    clocks, issue = _clocks(instruction, unit, target, lds)
    writes, reads = _registers(instruction)
    counter = "vm" if kind in _SCHEDULED else "lgkm" if unit == "lds" or kind == "smem" else ""
    data = instruction.bits // 8 * target.wave_size
    waits = _waits(instruction) if kind == "wait" else (None, None)
    return Demand(instruction, unit, clocks, issue, data, reads, writes, counter, waits)


def _clocks(i: Instruction, unit: str, target: Target, lds: LdsClocks) -> tuple[float, int]:
    """(clocks of the unit, clocks of the wave)."""
    if unit == "mfma":
        return matrix_clocks(target, i.mnemonic, _formats(i.operands)), TURN
    if unit == "valu":
        clocks = vector_clocks(re.sub(r"_(e32|e64|dpp|sdwa)$", "", i.mnemonic))
        return clocks, clocks
    if unit == "lds":
        return _lds_clocks(i, target, lds), TURN
    if i.mnemonic == "s_nop":
        states = int(i.operands.split()[0], 0) + 1 if i.operands else 1
        return 0, TURN * states
    return TURN, TURN


def _formats(operands: str) -> tuple[int, int]:
    """CBSZ and BLGP."""
    found = dict(re.findall(r"\b(cbsz|blgp):(\d+)", operands))
    return int(found.get("cbsz", 0)), int(found.get("blgp", 0))


def _lds_clocks(i: Instruction, target: Target, known: LdsClocks) -> float:
    """Clocks of one access: as known, else one for each phase of the target's table (no bank conflict)."""
    op = "write" if i.kind == "lds_write" else "read"
    two = 2 if re.match(r"ds_(read|load|write|store)_?2", i.mnemonic) else 1  # two accesses of half the width
    bits = i.bits // two
    if (op, bits) in known:
        return two * known[op, bits]
    try:
        return two * len(target.lds_access(op, bits).phases)
    except TargetError:
        return max(1.0, bits // 8 * target.wave_size / target.lds.read_bytes_per_clock)


def _waits(i: Instruction) -> tuple[int | None, int | None]:
    found = {name: int(count) for name, count in _COUNT.findall(i.operands)}
    return found.get("vmcnt"), found.get("lgkmcnt")


def _registers(i: Instruction) -> tuple[Registers, Registers]:
    """Vector registers written and read. What memory writes is left out: a counter wait stands before its use."""
    operands = i.operands.split(",")
    first = _named(operands[0]) if i.mnemonic.startswith("v_") else ()
    if i.kind in ("load", "lds_read", "lds_other"):
        return (), _named(",".join(operands[1:]))
    rest = operands[1:] if i.mnemonic.startswith("v_") else operands
    return first, _named(",".join(rest))


def _named(text: str) -> Registers:
    found: list[tuple[str, int]] = []
    for bank, single, low, high in _RANGE.findall(text):
        numbers = [int(single)] if single else range(int(low), int(high) + 1)
        found += [(bank, n) for n in numbers]
    return tuple(found)
