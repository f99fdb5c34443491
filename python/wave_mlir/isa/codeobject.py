"""Code objects (.hsaco): ELF sections, symbols and relocations, kernel descriptors, and the code by llvm-objdump."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

from ..report import AssemblyError
from ..report.codeobject import disassemble, metadata_entries, target_of
from .assembly import Function, Listing, parse_instruction
from .data import Image, Section
from .errors import IsaError
from .expressions import Symbols
from .metadata import Kernel, entries, from_descriptor, with_metadata

_BASE = 0x7E00_0000_0000  # device address at which the file's address 0 is loaded
_SYMBOL_TABLES = (2, 11)  # SHT_SYMTAB, SHT_DYNSYM
_RELA, _NOBITS = 4, 8
_WRITE, _ALLOC, _EXECUTE = 1, 2, 4
_ABS64, _RELATIVE64 = 3, 13  # R_AMDGPU_*, "Relocation Records" in LLVM's guide
_FUNCTION_TYPE = 2
_HEADER = re.compile(r"^([0-9a-f]+) <([^>]+)>:$")
_CODE = re.compile(r"^\s+(\S.*?)\s*//\s*([0-9A-Fa-f]+):")
_SOURCE = re.compile(r"^; (.+):(\d+)$")


@dataclass(frozen=True)
class CodeObject:
    """What a file holds: its functions, the descriptors of its kernels by name, and its data."""

    listing: Listing
    kernels: dict[str, Kernel]
    image: Image


@dataclass(frozen=True)
class _ElfSection:
    name: str
    kind: int
    flags: int
    address: int
    data: bytes
    size: int
    link: int


class _Elf:
    """Sections and symbols of a 64-bit little-endian ELF file."""

    def __init__(self, data: bytes) -> None:
        table, count, names = (
            struct.unpack_from("<Q", data, 40)[0],
            struct.unpack_from("<H", data, 60)[0],
            struct.unpack_from("<H", data, 62)[0],
        )
        rows = [struct.unpack_from("<IIQQQQIIQQ", data, table + 64 * i) for i in range(count)]
        strings = rows[names][4]
        self.sections = []
        for name, kind, flags, address, offset, size, link, *_ in rows:
            content = b"" if kind == _NOBITS else data[offset : offset + size]
            self.sections.append(_ElfSection(_text(data, strings + name), kind, flags, address, content, size, link))
        self.symbols: dict[str, tuple[int, int, int]] = {}  # (value, size, type)
        self.tables: dict[int, list[int]] = {}  # values by section number
        for number, section in enumerate(self.sections):
            if section.kind in _SYMBOL_TABLES:
                self._read_symbols(number, section)

    def _read_symbols(self, number: int, section: _ElfSection) -> None:
        strings = self.sections[section.link].data
        values = self.tables.setdefault(number, [])
        for name, info, _, index, value, size in struct.iter_unpack("<IBBHQQ", section.data):
            values.append(value)
            if name and index:
                self.symbols[_text(strings, name)] = (value, size, info & 15)

    def loaded(self) -> list[_ElfSection]:
        """Sections that are data in memory."""
        return [s for s in self.sections if s.flags & _ALLOC and not s.flags & _EXECUTE and s.size]

    def at(self, address: int, size: int) -> bytes:
        """The bytes at an address."""
        for section in self.loaded():
            if section.address <= address and address + size <= section.address + len(section.data):
                return section.data[address - section.address : address - section.address + size]
        raise ValueError(f"nothing is at address {address:#x}")


def _text(data: bytes, start: int) -> str:
    return data[start : data.index(b"\0", start)].decode(errors="replace")


def read(data: bytes, name: str) -> CodeObject:
    """The code object of some bytes. IsaError "input" when it is damaged, or no llvm-objdump is there."""
    try:
        elf = _Elf(data)
        found = entries({"amdhsa.kernels": metadata_entries(data)}, name)
        kernels = {}
        for kernel, entry in found.items():
            place = elf.symbols[str(entry.get(".symbol", f"{kernel}.kd"))]
            kernels[kernel] = with_metadata(from_descriptor(kernel, elf.at(place[0], 64)), entry)
        image = _image(elf)
    except (struct.error, IndexError, ValueError, KeyError) as error:
        raise IsaError("input", f"damaged code object: {error}", source=name) from None
    listing = Listing(name, target_of(data))
    try:
        text = disassemble(data, "-l")
    except AssemblyError as error:
        raise IsaError("input", str(error), source=name) from None
    _read_code(listing, elf, text)
    listing.kernels.update({kernel: {} for kernel in kernels})
    return CodeObject(listing, kernels, image)


def _image(elf: _Elf) -> Image:
    sections = []
    for section in elf.loaded():
        content = bytearray(section.data.ljust(section.size, b"\0"))
        writable = bool(section.flags & _WRITE)
        sections.append(Section(section.name, _BASE + section.address, content, writable))
    for table in elf.sections:
        if table.kind != _RELA:
            continue
        for offset, info, addend in struct.iter_unpack("<QQq", table.data):
            _relocate(elf, sections, table.link, offset, info, addend)
    values = {n: _BASE + value for n, (value, _, _) in elf.symbols.items()}
    return Image(sections, Symbols(values), _BASE)


def _relocate(elf: _Elf, sections: list[Section], table: int, offset: int, info: int, addend: int) -> None:
    kind, number = info & 0xFFFFFFFF, info >> 32
    if kind not in (_ABS64, _RELATIVE64):
        raise ValueError(f"relocation of type {kind}")
    value = _BASE + addend + (elf.tables[table][number] if kind == _ABS64 else 0)
    for section in sections:
        at = _BASE + offset - section.address
        if 0 <= at <= len(section.data) - 8:
            section.data[at : at + 8] = struct.pack("<Q", value & (2**64 - 1))


def _read_code(listing: Listing, elf: _Elf, text: str) -> None:
    """Functions of a disassembly; what stands behind a function's end is padding."""
    files: dict[str, int] = {}
    end, location = 0, (0, 0)
    for line in text.splitlines():
        if match := _HEADER.match(line):
            value, size, kind = elf.symbols.get(match[2], (0, 0, 0))
            active = kind == _FUNCTION_TYPE
            end = value + size if active and size else (1 << 62 if active else 0)
            if active:
                listing.functions.append(Function(match[2]))
            location = (0, 0)
        elif match := _SOURCE.match(line):
            location = (files.setdefault(match[1], len(files) + 1), int(match[2]))
        elif (match := _CODE.match(line)) and listing.functions and int(match[2], 16) < end:
            address = int(match[2], 16)
            listing.functions[-1].lines.append(parse_instruction(match[1], 0, *location, address))
    listing.functions = [f for f in listing.functions if f.lines]
    listing.files.update({number: path for path, number in files.items()})
