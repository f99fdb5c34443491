"""Hardware facts, one table per target.

`get("gfx942")` gives a `Target`; `Target.mma("f32_16x16x16_f16")` gives an `MmaKind` with its layouts. Code outside
this package asks a target for facts and never compares names.
"""

from __future__ import annotations

from difflib import get_close_matches

from . import gfx90a, gfx942, gfx950, gfx1201
from .aliases import MMA_ALIASES, resolve_alias
from .base import ASSUMED, Buffers, Lds, LdsAccess, OffsetRange, Registers, Target, TargetError, WaitCounter
from .mma import DTYPE_BITS, F8_FLAVORS, SCALE_BLOCK, Digit, Fragment, Instruction, MmaKind, flavor_of

__all__ = [
    "ASSUMED",
    "DTYPE_BITS",
    "F8_FLAVORS",
    "MMA_ALIASES",
    "SCALE_BLOCK",
    "Buffers",
    "Digit",
    "Fragment",
    "Instruction",
    "Lds",
    "LdsAccess",
    "MmaKind",
    "OffsetRange",
    "Registers",
    "Target",
    "TargetError",
    "WaitCounter",
    "all_targets",
    "flavor_of",
    "get",
    "names",
    "resolve_alias",
]

_TARGETS = (gfx90a.TARGET, gfx942.TARGET, gfx950.TARGET, gfx1201.TARGET)


def all_targets() -> tuple[Target, ...]:
    """Every target there is a table for."""
    return _TARGETS


def names() -> tuple[str, ...]:
    """Names of the targets."""
    return tuple(t.name for t in _TARGETS)


def get(name: str) -> Target:
    """The target called `name`. Raises TargetError, which lists the known ones, when there is none."""
    for target in _TARGETS:
        if target.name == name:
            return target
    close = get_close_matches(name.lower(), names(), n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    raise TargetError(f"unknown target '{name}'; known: {', '.join(names())}{hint}")
