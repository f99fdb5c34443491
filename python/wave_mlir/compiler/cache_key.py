"""What a compilation depends on, as one key: the program, how it is compiled, and everything that compiles it."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from . import linking
from .codegen_errors import CodegenError

FORMAT = 1
"""Changes whenever the parts of an entry change their meaning."""

SWITCHES = ("WAVE_VERIFY_FORMS", linking.ENVIRONMENT)
"""Environment variables that change what a compilation does or accepts."""

_OWN_PARTS = ("compiler", "passes", "dialect", "_wave")
"""Parts of this package that make the output."""
_TOOLS = ("mlir", "llvmlite")
"""Packages that make the output: MLIR's libraries, LLVM."""


def key_of(program: str, options: Mapping[str, object]) -> str:
    """The key (64 hex digits) of a compilation.

    program: the module's text in tile form, with locations. options: everything else that the caller decides, as plain
    data. What compiles (`tools`) and `SWITCHES` are added.
    """
    switches = {name: os.environ.get(name, "") for name in SWITCHES}
    described = {"format": FORMAT, "options": options, "switches": switches, "tools": tools()}
    text = json.dumps(described, sort_keys=True)
    return hashlib.sha256(f"{len(text)}\n{text}{program}".encode()).hexdigest()


def tools() -> dict[str, str]:
    """What compiles, by name: a digest of this package's own sources, of MLIR, of LLVM and of the linker."""
    return {**_packages(), "python": sys.version.split()[0], "lld": _linker()}


@lru_cache(maxsize=1)
def _packages() -> dict[str, str]:
    """Digests of the packages, taken once a process: what has been imported does not change any more."""
    found = {"wave_mlir": _own_sources()}
    for name in _TOOLS:
        found[name] = _installed(name)
    return found


def _own_sources() -> str:
    """A digest of the contents of our sources, and of the extension's size and time (it is large)."""
    digest = hashlib.sha256()
    for path in _own_files():
        digest.update(path.name.encode())
        digest.update(path.read_bytes() if path.suffix == ".py" else _stamp(path).encode())
    return digest.hexdigest()


def _own_files() -> Iterator[Path]:
    for part in _OWN_PARTS:
        spec = importlib.util.find_spec(f"wave_mlir.{part}")
        if spec is None:
            continue
        if spec.submodule_search_locations:
            for folder in spec.submodule_search_locations:
                yield from sorted(Path(folder).rglob("*.py"))
                yield from sorted(Path(folder).rglob("*.so"))
        elif spec.origin:
            yield Path(spec.origin)


def _installed(name: str) -> str:
    """Names, sizes and times of a package's shared libraries, which are too large to read, and its version's file."""
    spec = importlib.util.find_spec(name)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    digest = hashlib.sha256()
    for folder in folders:
        inner = ("", "_mlir_libs", "binding")
        for path in sorted(p for part in inner for p in Path(folder, part).glob("*") if _makes_output(p)):
            digest.update(f"{path.name}:{_stamp(path)}\n".encode())
    return digest.hexdigest()


def _makes_output(path: Path) -> bool:
    return ".so" in path.suffixes or path.name in ("_version.py", "version.py")


def _linker() -> str:
    """The linker's name, size and time. One that cannot be found is an error when it is needed, not here."""
    try:
        command = linking.find_lld()
    except CodegenError:
        return "absent"
    return " ".join([Path(command[0]).name, _stamp(Path(command[0])), *command[1:]]) if command else "builtin"


def _stamp(path: Path) -> str:
    try:
        stat = path.stat()
    except OSError:
        return "absent"
    return f"{stat.st_size}:{stat.st_mtime_ns}"
