"""Reading an AMDGPU relocatable object: sections, symbols and relocations, as the ELF specification lays them out."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import NamedTuple

from .codegen_errors import CodegenError

HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
_RELA = struct.Struct("<QQq")

EM_AMDGPU = 224
SHT_SYMTAB, SHT_RELA, SHT_NOTE, SHT_NOBITS = 2, 4, 7, 8
WRITE, ALLOC, EXECUTE = 1, 2, 4


class Symbol(NamedTuple):
    """A symbol of the object; `section` is the number of its section, 0 when undefined, 0xFFF1 when absolute."""

    name: str
    info: int
    other: int
    section: int
    value: int
    size: int

    @property
    def is_global(self) -> bool:
        """Global or weak."""
        return self.info >> 4 != 0

    @property
    def is_exported(self) -> bool:
        """Global or weak, defined, and visible from outside (default or protected)."""
        return self.is_global and self.section != 0 and self.other & 3 in (0, 3)


@dataclass
class Section:
    """A section: of the object, or of the shared object that is being laid out (then with offset and address)."""

    name: str
    type: int
    flags: int
    data: bytes
    align: int = 1
    link: str = ""  # name of the section it refers to
    info: int = 0
    entry: int = 0
    source: int = -1  # its number in the object
    size: int = 0  # in memory; 0 means the length of the data
    offset: int = 0
    address: int = 0


class Relocation(NamedTuple):
    """Patch section `section` at byte `at`."""

    section: int
    at: int
    symbol: int
    kind: int
    addend: int


@dataclass
class Object:
    """A parsed relocatable object."""

    ident: bytes
    flags: int
    sections: list[Section] = field(default_factory=list)
    symbols: list[Symbol] = field(default_factory=list)
    relocations: list[Relocation] = field(default_factory=list)


def read(obj: bytes) -> Object:
    """Parse a relocatable object. Raises CodegenError when it is no 64-bit AMDGPU object."""
    if len(obj) < HEADER.size or obj[:6] != b"\x7fELF\x02\x01":
        raise CodegenError("not a 64-bit little-endian ELF object")
    ident, _, mach, _, _, _, table, flags, _, _, _, _, count, name_section = HEADER.unpack_from(obj)
    if mach != EM_AMDGPU:
        raise CodegenError(f"not an AMDGPU object (machine {mach})")
    raw = [SECTION.unpack_from(obj, table + SECTION.size * i) for i in range(count)]

    def text(section: int, at: int) -> str:
        start = raw[section][4] + at
        return obj[start : obj.index(b"\0", start)].decode()

    result = Object(ident, flags)
    for number, (name, kind, flags_, _, offset, size, link, info, align, entry) in enumerate(raw):
        data = bytes(size) if kind == SHT_NOBITS else obj[offset : offset + size]
        kept = Section(
            text(name_section, name), kind, flags_, data, max(1, align), info=info, entry=entry, source=number
        )
        result.sections.append(kept)
        if kind == SHT_SYMTAB:
            result.symbols += [Symbol(text(link, row[0]), *row[1:]) for row in SYMBOL.iter_unpack(data)]
        elif kind == SHT_RELA:
            for at, what, addend in _RELA.iter_unpack(data):
                result.relocations.append(Relocation(info, at, what >> 32, what & 0xFFFFFFFF, addend))
    return result
