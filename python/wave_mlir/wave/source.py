"""The user's own line: where in their Python an operation was written."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import CodeType, FrameType, FunctionType

from mlir import ir

from wave_mlir.compiler.diagnostics import CompileError, Diagnostic

_PACKAGE = str(Path(__file__).resolve().parent.parent) + os.sep
_CALLING_BACK = ("numpy", "sympy")
"""Libraries that ask this package's objects what they are: their frames are not the user's."""


def user_frame() -> FrameType | None:
    """The innermost frame outside of this package, numpy and sympy."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_ours(frame):
        frame = frame.f_back
    return frame


def _is_ours(frame: FrameType) -> bool:
    module = str(frame.f_globals.get("__name__")).partition(".")[0]
    return module in _CALLING_BACK or frame.f_code.co_filename.startswith(_PACKAGE)


def _column(code: CodeType, instruction: int) -> int:
    """1-based column of the instruction at a byte offset of the code, 1 when the code does not say."""
    for number, (_, _, column, _) in enumerate(code.co_positions()):
        if number == instruction // 2:
            return (column or 0) + 1
    return 1


def _shown(path: str) -> str:
    """Relative to the working directory when the file is under it."""
    try:
        relative = os.path.relpath(path)
    except ValueError:  # another drive
        return path
    return path if relative.startswith("..") else relative


def position() -> tuple[str, int, int]:
    """File, line and column of the user's line that runs now."""
    frame = user_frame()
    return ("<unknown>", 0, 0) if frame is None else frame_position(frame)


def frame_position(frame: FrameType) -> tuple[str, int, int]:
    """File, line and column where a frame is."""
    code = frame.f_code
    return _shown(code.co_filename), frame.f_lineno, _column(code, frame.f_lasti)


def location() -> ir.Location:
    """The same as MLIR's location, in the current context."""
    file, line, column = position()
    return ir.Location.file(file, line, column)


def function_position(function: FunctionType) -> tuple[str, int, int]:
    """Where a function is defined."""
    code = function.__code__
    return _shown(code.co_filename), code.co_firstlineno, 1


def error(message: str, where: tuple[str, int, int] | None = None) -> CompileError:
    """The error at the user's line that runs now, or at `where`."""
    file, line, column = where or position()
    return CompileError([Diagnostic("error", f"{file}:{line}:{column}", message)])
