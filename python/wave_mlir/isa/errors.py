"""What can go wrong when machine code runs."""

from __future__ import annotations

from dataclasses import dataclass

KINDS: dict[str, str] = {
    "bounds": "an access outside of every buffer, of LDS or of scratch",
    "alignment": "an access that the hardware's alignment rules forbid",
    "unwritten": "a load of a byte that nothing has written",
    "wait": "a register is used, or LDS is read, before the operation that fills it has been waited for",
    "race": "two waves touch a byte of LDS, one of them writing, with no barrier between",
    "barrier": "a barrier that some waves of the workgroup never reach",
    "deadlock": "workgroups wait for what nobody writes: none stores anything for long",
    "control": "execution leaves the program",
    "limit": "more instructions executed than the caller allowed",
    "unsupported": "an instruction, mode or operand that the runner does not model",
    "program": "an instruction whose operands are wrong (a register out of range, a wrong descriptor)",
    "arguments": "what the caller passed does not fit the kernel",
    "input": "the text or file is not a kernel that can be run",
}
"""Kinds of findings, with what each finds."""


@dataclass(frozen=True)
class Finding:
    """Something that is wrong with a kernel or a launch.

    kind: one of KINDS. instruction: its text. source: "file:line" of `.loc`, or of the assembly text itself.
    workgroup (x, y, z), wave in it, lane and device address: where they are known. other: the other instruction that
    takes part (the load not waited for, the other side of a race), with its source and wave.
    """

    kind: str
    message: str
    instruction: str = ""
    source: str = ""
    workgroup: tuple[int, int, int] | None = None
    wave: int | None = None
    lane: int | None = None
    address: int | None = None
    other: str = ""

    def __str__(self) -> str:
        where = f"{self.source}: " if self.source else ""
        text = f"{where}{self.kind}: {self.message}"
        if self.instruction:
            text += f"\n  in: {self.instruction}"
        if self.other:
            text += f"\n  with: {self.other}"
        at = [] if self.workgroup is None else [f"workgroup {self.workgroup}"]
        at += [] if self.wave is None else [f"wave {self.wave}"]
        at += [] if self.lane is None else [f"lane {self.lane}"]
        at += [] if self.address is None else [f"address {self.address:#x}"]
        return text + (f"\n  at: {', '.join(at)}" if at else "")


class IsaError(Exception):
    """Machine code cannot be run, or did something wrong; `finding` has the parts of the message."""

    def __init__(self, kind: str, message: str, *, instruction: str = "", source: str = "") -> None:
        self.finding = Finding(kind, message, instruction, source)
        super().__init__(str(self.finding))

    @classmethod
    def of(cls, finding: Finding) -> IsaError:
        """The error that a finding of a run is."""
        error = cls(finding.kind, finding.message, instruction=finding.instruction, source=finding.source)
        error.finding = finding
        error.args = (str(finding),)
        return error

    @property
    def kind(self) -> str:
        """One of KINDS."""
        return self.finding.kind
