"""From assembly text or a code object to what can be launched."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np

from . import assembly, codeobject, data, encoder, metadata
from .assembly import Function, Listing
from .data import Image
from .encoder import Program
from .encoding import Kind
from .errors import IsaError
from .metadata import PRELOAD_PROLOGUE, Kernel
from .native import TARGETS
from .registers import ACCUMULATORS

_ELF = b"\x7fELF"


@runtime_checkable
class HasAssembly(Protocol):
    """What has assembly text: `compiler.codegen.CodeObject`, `compiler.driver.Compiled`."""

    @property
    def isa(self) -> str: ...


Code = str | os.PathLike[str] | bytes | HasAssembly


@dataclass(frozen=True)
class Loaded:
    """A kernel ready to be launched: the encoded program with the functions it may call, its descriptor, its data, the
    target, and the index of the instruction at which waves start."""

    program: Program
    kernel: Kernel
    image: Image
    target: str
    start: int


def load(code: Code | Loaded, kernel: str | None = None, target: str | None = None) -> Loaded:
    """Read and encode a kernel.

    code: assembly text (with a line break), the path of an assembly file or code object, a code object's bytes, or
    something with the text in `.isa`. kernel: its name, when there are several. target: overrides the text's.
    Raises IsaError: "input" for what is no kernel, "unsupported" for instructions the runner does not have, "program"
    for wrong operands. A file that cannot be read raises OSError.
    """
    if isinstance(code, Loaded):
        return code
    if isinstance(code, bytes):
        return _load_bytes(code, "kernel.hsaco", kernel, target)
    if isinstance(code, str) and ("\n" in code or not code.strip()):
        return _load_text(code, "kernel.s", kernel, target)
    if isinstance(code, str | os.PathLike):
        path = Path(code)
        content = path.read_bytes()
        if content[:4] == _ELF:
            return _load_bytes(content, path.name, kernel, target)
        return _load_text(content.decode(errors="replace"), os.fspath(path), kernel, target)
    if isinstance(code, HasAssembly):
        return _load_text(code.isa, "kernel.s", kernel, target)
    raise IsaError("arguments", f"code is a {type(code).__name__}; give assembly text, a path, or a compiled kernel")


@lru_cache(maxsize=8)
def _load_text(text: str, name: str, kernel: str | None, target: str | None) -> Loaded:
    listing = assembly.parse(text, name)
    chosen = choose(list(listing.kernels), kernel, name)
    described = metadata.from_listing(listing, chosen)
    functions = _functions(listing, chosen)
    image = data.lay_out(listing, functions, described.lds)
    return finish(listing, functions, described, image, target)


@lru_cache(maxsize=8)
def _load_bytes(content: bytes, name: str, kernel: str | None, target: str | None) -> Loaded:
    found = codeobject.read(content, name)
    chosen = choose(list(found.kernels), kernel, name)
    functions = _functions(found.listing, chosen)
    return finish(found.listing, functions, found.kernels[chosen], found.image, target)


def choose(names: Sequence[str], wanted: str | None, source: str) -> str:
    """The kernel that is meant. IsaError "input" when it is not there, or several are and none is named."""
    known = ", ".join(names) or "none"
    if wanted is not None and wanted not in names:
        raise IsaError("input", f"there is no kernel '{wanted}'; the file has: {known}", source=source)
    if wanted is None and len(names) != 1:
        message = f"the file has several kernels; name one with kernel=: {known}" if names else "no kernel in the file"
        raise IsaError("input", message, source=source)
    return wanted or names[0]


def _functions(listing: Listing, kernel: str) -> list[Function]:
    """The kernel, and all functions that are no kernels, in the order of the file: addresses ascend."""
    if listing.function(kernel) is None:
        raise IsaError("input", f"the kernel '{kernel}' has no code in the file", source=listing.name)
    return [f for f in listing.functions if f.name == kernel or f.name not in listing.kernels]


def finish(listing: Listing, functions: Sequence[Function], kernel: Kernel, image: Image, target: str | None) -> Loaded:
    """Encode the functions, and give the data their addresses."""
    chip = target or listing.target
    if chip not in TARGETS:
        known = " and ".join(TARGETS)
        said = f"the code is for {chip}" if chip else "the text does not name its target (.amdgcn_target)"
        raise IsaError("unsupported", f"{said}; the runner has {known}", source=listing.name)
    if kernel.dynamic_stack:
        message = f"kernel '{kernel.name}' needs a stack whose size is not known (a recursion or an indirect call)"
        raise IsaError("unsupported", message, source=listing.name)
    program = encoder.encode(
        functions, chip, symbols=image.symbols, files=listing.files, name=listing.name, base=image.code
    )
    addresses = {name: int(program.instructions["address"][i]) for name, i in program.functions.items()}
    data.fill(image, addresses, listing.name)
    _check_registers(program, kernel)
    return Loaded(program, kernel, image, chip, _start(program, kernel))


def _check_registers(program: Program, kernel: Kernel) -> None:
    """Registers that the kernel's own code names must be allocated; its callees' may need others' descriptors."""
    if kernel.allocated is None:
        return
    first = program.functions[kernel.name]
    end = min((i for i in program.functions.values() if i > first), default=len(program.lines))
    code = program.instructions[first:end]
    operands = np.concatenate([code["dst"], code["src"]], axis=1)
    low = operands["reg"].astype(np.int64)
    high = np.where(operands["kind"] == Kind.VGPR, low + np.maximum(operands["dwords"], 1) - 1, -1)
    for letter, start, count in (("v", 0, kernel.allocated[0]), ("a", ACCUMULATORS, kernel.allocated[1])):
        mine = (low >= start) & (low < start + ACCUMULATORS) & (high >= start + count)
        where = np.argwhere(mine)
        if len(where):
            at, operand = where[0]
            message = (
                f"{letter}{high[at, operand] - start} is used, but the kernel's descriptor allocates {count} registers"
                f" {letter} (.amdhsa_next_free_vgpr, .amdhsa_accum_offset)"
            )
            line = first + int(at)
            raise IsaError("program", message, instruction=program.lines[line].text, source=program.source(line))


def _start(program: Program, kernel: Kernel) -> int:
    """Hardware that preloads arguments enters behind the prologue that loads them without it."""
    first = program.functions[kernel.name]
    if not kernel.preload[0]:
        return first
    address = int(program.instructions["address"][first]) + PRELOAD_PROLOGUE
    found = np.flatnonzero(program.instructions["address"] == address)
    if not len(found):
        message = f"arguments are preloaded, but no instruction of '{kernel.name}' starts at byte {PRELOAD_PROLOGUE}"
        raise IsaError("input", message, source=program.source(first))
    return int(found[0])
