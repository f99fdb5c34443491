"""The error of a simulated run, and the kinds of checks."""

from __future__ import annotations

import re

CHECKS: dict[str, str] = {
    "race": "two waves touch a byte of LDS or global memory, one of them writing, with no barrier between",
    "bounds": "an access outside its buffer, view or LDS allocation",
    "alignment": "an access that the hardware's alignment rules forbid",
    "uninitialised": "a read of LDS bytes that nothing has written",
    "async": "LDS filled by an asynchronous copy is used before the copy is waited for",
    "overflow": "index arithmetic leaves its type's range, or an operation breaks its nsw/nuw flag",
    "division": "integer division by zero in an active lane",
}
"""Checks that `run(checks=…)` can switch off, with what each finds."""

_FILE_LINE = re.compile(r'"([^"]*)":(\d+)(?::(\d+))?')


def describe_location(location: object) -> str:
    """`file:line:column` of an MLIR location; the innermost file location when it is fused or a call site."""
    text = str(location)
    found = _FILE_LINE.search(text)
    if found is None:
        return "unknown location" if "unknown" in text else text
    file, line, column = found.groups()
    return f"{file}:{line}:{column}" if column else f"{file}:{line}"


class SimError(Exception):
    """What went wrong in a simulated run.

    kind: a key of `CHECKS` or one of barrier, deadlock, unsupported, arguments, limit, internal.
    location: `file:line:column` of the operation at fault, "" where there is none.
    waves: descriptions of the waves involved, the one that found the fault first.
    lane: lane of the first fault, or None. address: its byte offset in the buffer, or None.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        location: str = "",
        waves: tuple[str, ...] = (),
        lane: int | None = None,
        address: int | None = None,
    ) -> None:
        self.kind = kind
        self.message = message
        self.location = location
        self.waves = waves
        self.lane = lane
        self.address = address
        super().__init__(f"{location}: {kind}: {message}" if location else f"{kind}: {message}")
