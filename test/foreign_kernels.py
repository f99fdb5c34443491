"""Kernels that other compilers made: where tools/foreign_kernels.py puts them, and whether it has.

The environment variable WAVE_FOREIGN_KERNELS names the folder, build/foreign otherwise. Tests that use them carry the
marker `foreign`; without kernels they are deselected.
"""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "WAVE_FOREIGN_KERNELS"
_DEFAULT = Path(__file__).resolve().parent.parent / "build" / "foreign"


def folder() -> Path:
    """Where the kernels are, or would be (an empty variable counts as unset)."""
    return Path(os.environ.get(VARIABLE) or _DEFAULT)


def descriptions() -> list[Path]:
    """The JSON of each kernel, sorted by name; test/foreign/case.py says what is in it."""
    return sorted(folder().glob("*.json"))


def available() -> bool:
    """Whether any kernel has been made."""
    return bool(descriptions())
