"""Code generation, last step: object file -> code object (.hsaco).

The writer in `elf.py` links what it covers (all that this compiler emits): the bytes that are loaded are the same as
lld's, and it takes less than a millisecond where starting lld takes tens of them. Other objects go to an ELF lld.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from . import elf
from .codegen_errors import CodegenError

ENVIRONMENT = "WAVE_LLD"
"""Environment variable that names the lld for every object; `builtin` means the ELF writer of this package, always."""

_NAMES = ("ld.lld", "ld.lld-22")


def find_lld() -> tuple[str, ...]:
    """Command prefix of the ELF lld to use, or () when there is none or `builtin` is wanted.

    Looked for in this order: $WAVE_LLD, `ld.lld` on PATH, `iree-lld` of the package iree-base-compiler.
    """
    return _find_lld(os.environ.get(ENVIRONMENT, ""), os.environ.get("PATH", ""))


@lru_cache(maxsize=8)
def _find_lld(wanted: str, path: str) -> tuple[str, ...]:
    if wanted == "builtin":
        return ()
    if wanted:
        found = shutil.which(wanted, path=path)
        if not found:
            raise CodegenError(f"{ENVIRONMENT}={wanted} is no program; name an ELF lld, or 'builtin'")
        return (found, "-flavor", "gnu")
    for name in _NAMES:
        if found := shutil.which(name, path=path):
            return (found,)
    spec = importlib.util.find_spec("iree")
    for root in spec.submodule_search_locations or () if spec else ():
        program = Path(root) / "compiler" / "_mlir_libs" / "iree-lld"
        if program.is_file():
            return (str(program), "-flavor", "gnu")
    return ()


def link(obj: bytes, lld: Sequence[str] | None = None) -> bytes:
    """The shared object (code object) of one relocatable object. Raises CodegenError with the linker's message.

    lld: command prefix; an empty one means the built-in writer, None what $WAVE_LLD says, or without it the built-in
    writer where it covers the object, else `find_lld()`.
    """
    if lld is None and not os.environ.get(ENVIRONMENT) and elf.covers(obj):
        return elf.link(obj)
    command = find_lld() if lld is None else tuple(lld)
    return _run(command, obj) if command else elf.link(obj)


def _run(command: Sequence[str], obj: bytes) -> bytes:
    with tempfile.TemporaryDirectory(prefix="wave-link-") as folder:
        source, result = Path(folder, "kernels.o"), Path(folder, "kernels.hsaco")
        source.write_bytes(obj)
        arguments = ["-shared", "--no-undefined", "kernels.o", "-o", "kernels.hsaco"]
        try:
            done = subprocess.run([*command, *arguments], cwd=folder, capture_output=True, text=True, check=False)
        except OSError as error:
            raise CodegenError(f"cannot run the linker {command[0]}: {error.strerror}") from None
        if done.returncode:
            raise CodegenError(f"linking with {command[0]} failed: {done.stderr.strip() or done.returncode}")
        return result.read_bytes()
