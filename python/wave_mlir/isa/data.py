"""Data of a program in device memory: sections of an assembly file, the global offset table, LDS symbols.

Assembly data is laid out here as an assembler and loader would, at addresses of the runner's own.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from .assembly import Function, Listing, split_top
from .errors import IsaError
from .expressions import Symbols, evaluate

CODE_BASE = 0x7F00_0000_0000
"""Device address of the first function of an assembly file."""

DATA_BASE, DATA_STEP = 0x7E00_0000_0000, 1 << 32
"""Device address of the first data section, and the distance between two."""

_GOT_BASE = 0x7D00_0000_0000
_INTEGERS = {
    **dict.fromkeys((".byte", ".1byte"), 1),
    **dict.fromkeys((".short", ".2byte", ".hword", ".half"), 2),
    **dict.fromkeys((".long", ".4byte", ".int", ".word"), 4),
    **dict.fromkeys((".quad", ".8byte"), 8),
}
_LEFT_OUT = (".AMDGPU", ".note", ".debug", ".comment", ".llvm", ".amdgpu", ".symtab")
_ESCAPES = {"n": 10, "t": 9, "r": 13, "b": 8, "f": 12, '"': 34, "\\": 92}
_NAME = re.compile(r"([\w.$]+)@gotpcrel32")


@dataclass
class Section:
    """One range of device memory that belongs to the program: bytes at `address`."""

    name: str
    address: int
    data: bytearray = field(default_factory=bytearray)
    writable: bool = False
    pending: list[tuple[int, int, str, int]] = field(default_factory=list)  # (offset, bytes, expression, line)


@dataclass
class Image:
    """The data of a program: sections, values of symbols and of the global offset table, and the device
    address of the code."""

    sections: list[Section]
    symbols: Symbols
    code: int = CODE_BASE

    def arrays(self) -> list[tuple[Section, np.ndarray]]:
        """The sections that are not empty, with their bytes as arrays."""
        return [(s, np.frombuffer(s.data, np.uint8)) for s in self.sections if s.data]


def lay_out(listing: Listing, functions: Sequence[Function], lds: int = 0) -> Image:
    """The data sections of an assembly file. lds: bytes of LDS that the kernel's descriptor says.

    LDS symbols of size 0 (dynamic LDS) stand behind these bytes. Raises IsaError "input" for a directive that is not
    known.
    """
    builder = _Builder(listing)
    for section, number, text in listing.data:
        if not section.startswith(_LEFT_OUT):
            builder.feed(section, number, text)
    values = dict(builder.values)
    values |= _lds_symbols(listing, lds)
    got = _offset_table(functions)
    return Image(list(builder.sections.values()), Symbols(values, got, listing.sets))


def fill(image: Image, addresses: dict[str, int], source: str) -> None:
    """Resolve the symbols in data once the addresses of functions are known, and make the offset table."""
    values = dict(image.symbols.values) | addresses
    scope = Symbols(values, image.symbols.got, image.symbols.sets)
    for section in image.sections:
        for offset, size, text, number in section.pending:
            try:
                value = evaluate(text.split("@")[0], scope)
            except ValueError as error:
                raise IsaError("input", str(error), source=f"{source}:{number}") from None
            if text.endswith(("@rel32", "@rel64")):
                value -= section.address + offset
            section.data[offset : offset + size] = (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")
        section.pending.clear()
    if image.symbols.got:
        table = bytearray()
        for name in image.symbols.got:
            if name not in values:
                raise IsaError("input", f"the symbol {name} is not defined in this file", source=source)
            table += struct.pack("<Q", values[name])
        image.sections.append(Section(".got", _GOT_BASE, table))


def _offset_table(functions: Iterable[Function]) -> dict[str, int]:
    got: dict[str, int] = {}
    for function in functions:
        for line in function.lines:
            for name in _NAME.findall(line.tail):
                got.setdefault(name, _GOT_BASE + 8 * len(got))
    return got


def _lds_symbols(listing: Listing, static: int) -> dict[str, int]:
    found, at = {}, 0
    for name, (size, align) in listing.lds.items():
        if size:
            at = (at + align - 1) // align * align
            found[name] = at
            at += size
    for name, (size, align) in listing.lds.items():
        if not size:
            found[name] = (max(static, at) + align - 1) // align * align
    return found


class _Builder:
    def __init__(self, listing: Listing) -> None:
        self.listing = listing
        self.sections: dict[str, Section] = {}
        self.values: dict[str, int] = {}

    def _section(self, name: str) -> Section:
        if name not in self.sections:
            writable = name.startswith((".data", ".bss"))
            self.sections[name] = Section(name, DATA_BASE + DATA_STEP * len(self.sections), writable=writable)
        return self.sections[name]

    def feed(self, name: str, number: int, text: str) -> None:
        section = self._section(name)
        if text.endswith(":"):
            self.values[text[:-1]] = section.address + len(section.data)
            return
        directive, _, rest = text.replace("\t", " ").partition(" ")
        arguments = [a for a in split_top(rest.strip(), ",") if a]
        try:
            self._directive(section, directive, arguments, number)
        except (ValueError, IndexError, OverflowError) as error:
            source = f"{self.listing.name}:{number}"
            raise IsaError("input", f"the data cannot be read: {error}", instruction=text, source=source) from None

    def _directive(self, section: Section, directive: str, arguments: list[str], number: int) -> None:
        data = section.data
        if directive in _INTEGERS:
            size = _INTEGERS[directive]
            for text in arguments:
                self._integer(section, size, text, number)
        elif directive in (".zero", ".skip", ".space"):
            value = int(arguments[1], 0) & 0xFF if len(arguments) > 1 else 0
            data += bytes([value]) * int(arguments[0], 0)
        elif directive == ".fill":
            size = int(arguments[1], 0) if len(arguments) > 1 else 1
            value = int(arguments[2], 0) if len(arguments) > 2 else 0
            data += (value & ((1 << 8 * size) - 1)).to_bytes(size, "little") * int(arguments[0], 0)
        elif directive in (".ascii", ".asciz", ".string"):
            for text in arguments:
                data += _unescape(text) + (b"" if directive == ".ascii" else b"\0")
        elif directive in (".p2align", ".p2alignl", ".p2alignw", ".balign"):
            amount = int(arguments[0], 0)
            align = amount if directive == ".balign" else 1 << amount
            data += bytes(-len(data) % max(align, 1))
        elif directive in (".comm", ".lcomm"):
            bss = self._section(".bss")
            align = int(arguments[2], 0) if len(arguments) > 2 else 16
            bss.data += bytes(-len(bss.data) % align)
            self.values[arguments[0]] = bss.address + len(bss.data)
            bss.data += bytes(int(arguments[1], 0))
        elif directive in (".float", ".single", ".double"):
            for text in arguments:
                data += struct.pack("<d" if directive == ".double" else "<f", float(text))

    def _integer(self, section: Section, size: int, text: str, number: int) -> None:
        try:
            value = int(text, 0)
        except ValueError:
            section.pending.append((len(section.data), size, text, number))
            value = 0
        section.data += (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")


def _unescape(text: str) -> bytes:
    inner = text.strip()
    if len(inner) < 2 or inner[0] != '"' or inner[-1] != '"':
        raise ValueError(f"{text} is not a string")
    out, i, inner = bytearray(), 0, inner[1:-1]
    while i < len(inner):
        if inner[i] != "\\":
            out += inner[i].encode()
            i += 1
        elif match := re.match(r"[0-7]{1,3}", inner[i + 1 :]):
            out.append(int(match[0], 8) & 0xFF)
            i += 1 + len(match[0])
        else:
            out.append(_ESCAPES.get(inner[i + 1], ord(inner[i + 1])))
            i += 2
    return bytes(out)
