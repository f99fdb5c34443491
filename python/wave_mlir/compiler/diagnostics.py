"""Errors and warnings of the compiler, as located MLIR diagnostics.

A pass raises `PassError`; whoever runs passes in this process (`pass_registry.run_passes`) gets `CompileError`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Self

from mlir import ir

from wave_mlir.dialect import _wave

ERROR, WARNING, NOTE, REMARK = range(4)
_SEVERITY = ("error", "warning", "note", "remark")

Located = ir.Operation | ir.OpView | ir.Location | ir.Value
"""What a diagnostic can point at."""


def location_of(where: Located) -> ir.Location:
    """The location of an op, of the op or block argument behind a value, or the location itself."""
    if isinstance(where, ir.Location):
        return where
    if isinstance(where, ir.Value):
        return where.location
    return where.operation.location


class PassError(Exception):
    """A user's error, found by a pass: where it is, what is wrong and what to do.

    The infrastructure turns it into a located diagnostic with its notes and fails the pass:

        raise PassError(op, "tile of 60 rows is not divisible by 8 waves; choose …").note(c, "declared here")
    """

    def __init__(self, where: Located, message: str) -> None:
        super().__init__(message)
        self.location = location_of(where)
        self.message = message
        self.notes: list[tuple[ir.Location, str]] = []

    def note(self, where: Located, text: str) -> Self:
        """Attach a note and return the error."""
        self.notes.append((location_of(where), text))
        return self


@dataclass(frozen=True)
class Diagnostic:
    """One diagnostic: severity (error, warning, note, remark), location as MLIR prints it, text and notes."""

    severity: str
    location: str
    message: str
    notes: tuple[Diagnostic, ...] = ()

    @staticmethod
    def of(raw: tuple[int, ir.Location, str, list]) -> Diagnostic:
        """From the extension's tuple (severity, location, message, notes)."""
        severity, location, message, notes = raw
        return Diagnostic(_SEVERITY[severity], location_text(location), message, tuple(map(Diagnostic.of, notes)))

    @staticmethod
    def of_mlir(info: ir.DiagnosticInfo) -> Diagnostic:
        """From the diagnostics that an `ir.MLIRError` carries."""
        notes = tuple(map(Diagnostic.of_mlir, info.notes))
        return Diagnostic(info.severity.name.lower(), location_text(info.location), info.message, notes)

    def __str__(self) -> str:
        head = f"{self.location}: {self.severity}: {self.message}"
        return "\n".join([head, *(str(n) for n in self.notes)])


def location_text(location: ir.Location) -> str:
    """`file:line:column` where the location has one (through names, fusions and call sites), else MLIR's text."""
    seen = location
    for _ in range(64):
        if seen.is_a_file():
            return f"{seen.filename}:{seen.start_line}:{seen.start_col}"
        if seen.is_a_name():
            seen = seen.child_loc
        elif seen.is_a_callsite():
            seen = seen.callee
        elif seen.is_a_fused() and seen.locations:
            seen = seen.locations[0]
        else:
            break
    return "<unknown>" if str(location) == "loc(unknown)" else str(location).removeprefix("loc(").removesuffix(")")


class ExpressionError(ArithmeticError):
    """An expression has no value for the values of its symbols: a user's error at the op that is being worked at."""


class CompileError(Exception):
    """A compilation failed. `diagnostics` says where and why; `str()` is their text, one a line."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("\n".join(map(str, self.diagnostics)))


class CompileWarning(UserWarning):
    """Something that the user should know of a compilation that succeeded; given by Python's `warnings`."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        self.diagnostic = diagnostic
        super().__init__(str(diagnostic))


@contextmanager
def warnings_taken(context: ir.Context) -> Iterator[list[Diagnostic]]:
    """Warnings that passes emit in a context, in order and without repetitions, instead of MLIR's printing them."""
    found: dict[Diagnostic, None] = {}

    def take(info: ir.Diagnostic) -> bool:
        if info.severity != ir.DiagnosticSeverity.WARNING:
            return False
        notes = tuple(Diagnostic("note", location_text(n.location), n.message) for n in info.notes)
        found[Diagnostic("warning", location_text(info.location), info.message, notes)] = None
        return True

    taken: list[Diagnostic] = []
    handler = context.attach_diagnostic_handler(take)
    try:
        yield taken
    finally:
        handler.detach()  # pyright: ignore[reportAttributeAccessIssue]
        taken += found


def give_warning(diagnostic: Diagnostic) -> None:
    """A CompileWarning, at the line that the diagnostic points at: the user's."""
    parts = diagnostic.location.rsplit(":", 2)
    if len(parts) == 3 and parts[1].isdigit():
        warnings.warn_explicit(CompileWarning(diagnostic), CompileWarning, parts[0], int(parts[1]))
    else:
        warnings.warn(CompileWarning(diagnostic), stacklevel=2)


def emit_error(where: Located, message: str, notes: Sequence[tuple[ir.Location, str]] = ()) -> None:
    """Emit an error diagnostic now, and go on (a pass that wants to report several; it must still raise at its end)."""
    _wave.emit_diagnostic(location_of(where), ERROR, message, list(notes))


def emit_warning(where: Located, message: str, notes: Sequence[tuple[ir.Location, str]] = ()) -> None:
    """Emit a warning diagnostic."""
    _wave.emit_diagnostic(location_of(where), WARNING, message, list(notes))


def emit_remark(where: Located, message: str) -> None:
    """Emit a remark: something a user who asks for remarks wants to know."""
    _wave.emit_diagnostic(location_of(where), REMARK, message, [])
