"""Operations called with what they cannot take: whatever goes wrong inside of them is an error at the user's line."""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from wave_mlir.compiler.diagnostics import CompileError

from . import source

_OWN = __name__.partition(".")[0]
_LIBRARIES = ("sympy", "mlir", "numpy", "inspect", "contextlib")
"""What operations use: an exception from there, with an operation as caller, is the operation's."""


@contextmanager
def located(where: tuple[str, int, int], what: str) -> Iterator[None]:
    """Turn exceptions of the language's operations into CompileErrors at the user's line, else at `where` (`what`).

    Exceptions that the user's own code raises pass. WAVE_TRACEBACK=1 keeps the Python traceback of the others.
    """
    try:
        yield
    except CompileError:
        raise
    except Exception as error:
        found = _call([frame for frame, _ in traceback.walk_tb(error.__traceback__)])
        if found is None:
            raise
        place, name = found
        cause = error if os.environ.get("WAVE_TRACEBACK", "0") != "0" else None
        raise source.error(f"{name or what}: {_reason(error)}", place or where) from cause


def _call(frames: list[FrameType]) -> tuple[tuple[str, int, int] | None, str] | None:
    """Line of the call and name of the operation in which an exception rose; None when it rose in the user's code.

    The frames begin with `located` itself, so one of them is of this package.
    """
    packages = [str(frame.f_globals.get("__name__", "")).partition(".")[0] for frame in frames]
    ours = [i for i, package in enumerate(packages) if package == _OWN]
    if packages[ours[-1] + 1 :] and packages[ours[-1] + 1] not in _LIBRARIES:
        return None
    users = [i for i in range(ours[-1]) if packages[i] not in (_OWN, *_LIBRARIES) and packages[i + 1] == _OWN]
    if not users:
        return None, ""
    caller = frames[users[-1]]
    operation = frames[users[-1] + 1]
    made = operation.f_locals.get("operation") if operation.f_code.co_name == "_with_tag" else None
    name = getattr(made, "__name__", "") or operation.f_code.co_qualname.partition(".")[0].strip("_")
    return source.frame_position(caller), name


def _reason(error: Exception) -> str:
    """What the dialect says of an attribute, or the exception's own text."""
    verifier = re.search(r"error: (?:unknown|[^\n]*:\d+:\d+): (.*)", str(error))
    if verifier:
        return verifier[1]
    text = str(error).splitlines()[0] if str(error) else ""
    hint = "" if "WAVE_TRACEBACK" in os.environ else " (WAVE_TRACEBACK=1 shows the Python traceback)"
    return f"it cannot take one of its arguments ({type(error).__name__}: {text}); see its documentation{hint}"
