"""What can go wrong when machine code runs."""

from __future__ import annotations

KINDS: dict[str, str] = {
    "bounds": "an access outside of every buffer, of LDS or of scratch",
    "alignment": "an access that the hardware's alignment rules forbid",
    "unwritten": "a load of a byte that nothing has written",
    "wait": "a register is used, or LDS is read, before the operation that fills it has been waited for",
    "race": "two waves touch a byte of LDS, one of them writing, with no barrier between",
    "barrier": "a barrier that some waves of the workgroup never reach",
    "control": "execution leaves the program",
    "limit": "more instructions executed than the caller allowed",
    "unsupported": "an instruction, mode or operand that the runner does not model",
    "program": "an instruction whose operands are wrong (a register out of range, a wrong descriptor)",
}
"""Kinds of findings, with what each finds."""
