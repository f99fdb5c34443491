"""A small ELF linker: one AMDGPU relocatable object -> one shared object (what `ld.lld -shared` makes of it).

It serves when there is no lld. It covers what kernels without external symbols need: any number of kernels, pc-relative
relocations, read-only and writable data. Everything else is refused with a message that asks for lld.

Layout of the result: headers, notes, dynamic symbol table, hash table, strings and read-only data in one read-only
segment; code in the second; data and the dynamic section in the third. Numbers are from the ELF specification and from
LLVM's "User Guide for AMDGPU Backend" (relocation records, note records).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from .codegen_errors import CodegenError

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_PROGRAM = struct.Struct("<IIQQQQQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELA = struct.Struct("<QQq")
_DYNAMIC = struct.Struct("<QQ")

_ET_DYN = 3
_EM_AMDGPU = 224
_SHT_SYMTAB, _SHT_STRTAB, _SHT_RELA, _SHT_HASH, _SHT_DYNAMIC, _SHT_NOTE, _SHT_NOBITS, _SHT_DYNSYM = (
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    11,
)
_WRITE, _ALLOC, _EXECUTE = 1, 2, 4
_PT_LOAD, _PT_DYNAMIC, _PT_NOTE, _PT_PHDR, _PT_GNU_STACK = 1, 2, 4, 6, 0x6474E551
_R, _W, _X = 4, 2, 1
_DT_NULL, _DT_HASH, _DT_STRTAB, _DT_SYMTAB, _DT_STRSZ, _DT_SYMENT = 0, 4, 5, 6, 10, 11
_SHN_ABS = 0xFFF1
_PAGE = 0x1000

# R_AMDGPU_*: (struct format of the field, right shift of the value); all are S + A - P.
_PC_RELATIVE = {4: ("<i", 0), 5: ("<q", 0), 10: ("<I", 0), 11: ("<I", 32)}


class _Symbol(NamedTuple):
    name: str
    info: int
    other: int
    section: int
    value: int
    size: int

    @property
    def is_global(self) -> bool:
        return self.info >> 4 != 0

    @property
    def is_exported(self) -> bool:
        """Global or weak, defined, and visible from outside (default or protected)."""
        return self.is_global and self.section != 0 and self.other & 3 in (0, 3)


@dataclass
class _Section:
    name: str
    type: int
    flags: int
    data: bytes
    align: int = 1
    link: int = 0
    info: int = 0
    entry: int = 0
    source: int = -1  # section number in the object
    offset: int = 0
    address: int = 0


@dataclass
class _Object:
    """A parsed relocatable object."""

    ident: bytes
    flags: int
    sections: list[_Section]
    symbols: list[_Symbol]
    relocations: list[tuple[int, int, int, int, int]] = field(
        default_factory=list
    )  # section, offset, symbol, type, addend


def link(obj: bytes) -> bytes:
    """The shared object of a relocatable one.

    Raises CodegenError when `obj` is no AMDGPU object, has an undefined symbol or a relocation this linker lacks.
    """
    source = _read(obj)
    for symbol in source.symbols:
        if symbol.is_global and symbol.section == 0:
            raise CodegenError(f"undefined symbol '{symbol.name}' in the object")
    exported = [s for s in source.symbols if s.is_exported]
    strings = _Strings()
    names = [strings.add(s.name) for s in exported]
    image = _Image(source, _symbol_tables(exported, strings))
    image.place()
    image.relocate()
    image.fill_symbols(exported, names)
    return image.write()


def _symbol_tables(exported: list[_Symbol], strings: _Strings) -> list[_Section]:
    size = _SYMBOL.size * (len(exported) + 1)
    return [
        _Section(".dynsym", _SHT_DYNSYM, _ALLOC, bytes(size), 8, entry=_SYMBOL.size, info=1),
        _Section(".hash", _SHT_HASH, _ALLOC, _hash_table([s.name for s in exported]), 4, entry=4),
        _Section(".dynstr", _SHT_STRTAB, _ALLOC, bytes(strings.data)),
    ]


class _Strings:
    """A string table."""

    def __init__(self) -> None:
        self.data = bytearray(1)

    def add(self, name: str) -> int:
        at = len(self.data)
        self.data += name.encode() + b"\0"
        return at


def _hash(name: str) -> int:
    """The System V ABI's hash of a symbol name."""
    h = 0
    for byte in name.encode():
        h = (h << 4) + byte
        high = h & 0xF0000000
        h = (h ^ high >> 24) & ~high
    return h & 0xFFFFFFFF


def _hash_table(names: list[str]) -> bytes:
    """A DT_HASH table: numbers of buckets and chains, the buckets, the chains. Symbol 0 is the null symbol."""
    count = max(1, len(names))
    buckets, chains = [0] * count, [0] * (len(names) + 1)
    for number, name in reversed(list(enumerate(names, 1))):
        bucket = _hash(name) % count
        chains[number], buckets[bucket] = buckets[bucket], number
    return struct.pack(f"<II{count}I{len(chains)}I", count, len(chains), *buckets, *chains)


def _read(obj: bytes) -> _Object:
    if len(obj) < _HEADER.size or obj[:6] != b"\x7fELF\x02\x01":
        raise CodegenError("not a 64-bit little-endian ELF object")
    ident, _, mach, _, _, _, table, flags, _, _, _, _, count, name_section = _HEADER.unpack_from(obj)
    if mach != _EM_AMDGPU:
        raise CodegenError(f"not an AMDGPU object (machine {mach})")
    raw = [_SECTION.unpack_from(obj, table + _SECTION.size * i) for i in range(count)]

    def text(section: int, at: int) -> str:
        start = raw[section][4] + at
        return obj[start : obj.index(b"\0", start)].decode()

    result = _Object(ident, flags, [], [])
    for number, (name, kind, flags_, _, offset, size, link_, info, align, entry) in enumerate(raw):
        data = bytes(size) if kind == _SHT_NOBITS else obj[offset : offset + size]
        kept = _Section(text(name_section, name), kind, flags_, data, max(1, align), link_, info, entry, number)
        result.sections.append(kept)
        if kind == _SHT_SYMTAB:
            for symbol in _SYMBOL.iter_unpack(data):
                result.symbols.append(_Symbol(text(link_, symbol[0]), *symbol[1:]))
        elif kind == _SHT_RELA:
            for at, what, addend in _RELA.iter_unpack(data):
                result.relocations.append((info, at, what >> 32, what & 0xFFFFFFFF, addend))
    return result


class _Image:
    """The shared object while it is laid out; addresses exceed file offsets by a page per segment before."""

    def __init__(self, source: _Object, tables: list[_Section]):
        self.source = source
        self.tables = tables
        kept = [s for s in source.sections if s.flags & _ALLOC and s.data and s.type != _SHT_RELA]
        notes = [s for s in kept if s.type == _SHT_NOTE]
        kinds = {0: [*notes, *tables], _EXECUTE: [], _WRITE: []}
        for section in kept:
            if section.type != _SHT_NOTE:
                kinds[section.flags & (_WRITE | _EXECUTE)].append(section)
        self.dynamic = _Section(
            ".dynamic", _SHT_DYNAMIC, _ALLOC | _WRITE, bytes(_DYNAMIC.size * 6), 8, entry=_DYNAMIC.size
        )
        kinds[_WRITE].append(self.dynamic)
        self.segments = [(_R, kinds[0]), (_R | _X, kinds[_EXECUTE]), (_R | _W, kinds[_WRITE])]
        self.notes = notes
        self.programs = 1 + len(self.segments) + 1 + 1 + len(notes)
        self.data = bytearray(_HEADER.size + _PROGRAM.size * self.programs)
        self.by_source = {s.source: s for s in kept}

    @property
    def sections(self) -> Iterator[_Section]:
        for _, members in self.segments:
            yield from members

    def place(self) -> None:
        for number, (_, members) in enumerate(self.segments):
            for section in members:
                self._append(section, number * _PAGE)
        values = {s.name: s for s in self.tables}
        entries = [
            (_DT_HASH, values[".hash"].address),
            (_DT_STRTAB, values[".dynstr"].address),
            (_DT_SYMTAB, values[".dynsym"].address),
            (_DT_STRSZ, len(values[".dynstr"].data)),
            (_DT_SYMENT, _SYMBOL.size),
            (_DT_NULL, 0),
        ]
        for i, entry in enumerate(entries):
            _DYNAMIC.pack_into(self.data, self.dynamic.offset + i * _DYNAMIC.size, *entry)

    def _append(self, section: _Section, bias: int) -> None:
        self.data += bytes(-len(self.data) % section.align)
        section.offset = len(self.data)
        section.address = section.offset + bias
        self.data += section.data

    def _address(self, symbol: _Symbol) -> int:
        if symbol.section == _SHN_ABS:
            return symbol.value
        if symbol.section not in self.by_source:
            raise CodegenError(f"symbol '{symbol.name}' lies in a section that is not loaded; link with lld")
        return self.by_source[symbol.section].address + symbol.value

    def relocate(self) -> None:
        for section, at, symbol, kind, addend in self.source.relocations:
            target = self.by_source.get(section)
            if target is None or kind == 0:
                continue
            if kind not in _PC_RELATIVE:
                raise CodegenError(f"relocation type {kind} is beyond the built-in linker; install an ELF lld")
            form, shift = _PC_RELATIVE[kind]
            value = self._address(self.source.symbols[symbol]) + addend - (target.address + at) >> shift
            if form == "<I":
                value &= 0xFFFFFFFF
            try:
                struct.pack_into(form, self.data, target.offset + at, value)
            except struct.error:
                raise CodegenError(f"relocation type {kind} at {target.name}+{at:#x} is out of range") from None

    def fill_symbols(self, exported: list[_Symbol], names: list[int]) -> None:
        numbers = {s.source: i for i, s in enumerate(self.sections, 1)}
        table = self.tables[0]
        for row, (symbol, name) in enumerate(zip(exported, names, strict=True), 1):
            section = numbers.get(symbol.section, _SHN_ABS)
            fields = (name, symbol.info, symbol.other, section, self._address(symbol), symbol.size)
            _SYMBOL.pack_into(self.data, table.offset + row * _SYMBOL.size, *fields)

    def write(self) -> bytes:
        self._write_programs()
        listed = list(self.sections)
        numbers = {s.name: i for i, s in enumerate(listed, 1)}
        links = {".dynsym": ".dynstr", ".hash": ".dynsym", ".dynamic": ".dynstr"}
        names, heads = _Strings(), [bytes(_SECTION.size)]
        for s in listed:
            link_ = numbers[links[s.name]] if s.name in links else 0
            head = (
                names.add(s.name),
                s.type,
                s.flags,
                s.address,
                s.offset,
                len(s.data),
                link_,
                s.info,
                s.align,
                s.entry,
            )
            heads.append(_SECTION.pack(*head))
        own = names.add(".shstrtab")
        heads.append(_SECTION.pack(own, _SHT_STRTAB, 0, 0, len(self.data), len(names.data), 0, 0, 1, 0))
        self.data += names.data
        self.data += bytes(-len(self.data) % 8)
        table = len(self.data)
        self.data += b"".join(heads)
        sizes = (_HEADER.size, _PROGRAM.size, self.programs, _SECTION.size, len(heads), len(heads) - 1)
        kind = (_ET_DYN, _EM_AMDGPU, 1, 0, _HEADER.size, table, self.source.flags)
        _HEADER.pack_into(self.data, 0, self.source.ident, *kind, *sizes)
        return bytes(self.data)

    def _write_programs(self) -> None:
        size = _PROGRAM.size * self.programs
        rows = [(_PT_PHDR, _R, _HEADER.size, _HEADER.size, size, 8)]
        for number, (access, members) in enumerate(self.segments):
            first, last = (members[0], members[-1]) if members else (self.dynamic, self.dynamic)
            start = 0 if number == 0 else first.offset
            end = last.offset + len(last.data) if members else start
            rows.append((_PT_LOAD, access, start, start + number * _PAGE, end - start, _PAGE))
        dynamic = self.dynamic
        rows.append((_PT_DYNAMIC, _R | _W, dynamic.offset, dynamic.address, len(dynamic.data), 8))
        rows.append((_PT_GNU_STACK, _R | _W, 0, 0, 0, 0))
        for note in self.notes:
            rows.append((_PT_NOTE, _R, note.offset, note.address, len(note.data), 4))
        for i, (kind, access, offset, address, length, align) in enumerate(rows):
            fields = (kind, access, offset, address, address, length, length, align)
            _PROGRAM.pack_into(self.data, _HEADER.size + i * _PROGRAM.size, *fields)
