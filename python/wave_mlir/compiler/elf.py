"""A small ELF linker: one AMDGPU relocatable object -> one shared object, the bytes that `ld.lld -shared` loads.

A program of its own takes longer to start than this takes to link. It covers what kernels without external symbols
need: any number of kernels, code and read-only data, pc-relative relocations. `covers` says whether an object is so
simple; everything else is for an ELF lld.

Layout of the result, lld's: headers, notes, dynamic symbols, hash tables, strings and read-only data in one read-only
segment; code in the second; the dynamic section in the third, whose page is made read-only after relocation. What is
loaded, and the program headers, are byte for byte what lld writes (the tests compare them). Numbers are from the ELF
specification and from LLVM's "User Guide for AMDGPU Backend" (relocation records, note records).
"""

from __future__ import annotations

import struct

from .codegen_errors import CodegenError
from .elf_object import (
    ALLOC,
    EM_AMDGPU,
    EXECUTE,
    HEADER,
    SECTION,
    SHT_NOBITS,
    SHT_NOTE,
    SHT_RELA,
    SHT_SYMTAB,
    SYMBOL,
    WRITE,
    Object,
    Section,
    Symbol,
    read,
)
from .elf_tables import Strings, gnu_order, gnu_table, system_v_table

_PROGRAM = struct.Struct("<IIQQQQQQ")
_DYNAMIC = struct.Struct("<QQ")

_ET_DYN = 3
_SHT_STRTAB, _SHT_HASH, _SHT_DYNAMIC, _SHT_DYNSYM, _SHT_GNU_HASH = 3, 5, 6, 11, 0x6FFFFFF6
_PT_LOAD, _PT_DYNAMIC, _PT_NOTE, _PT_PHDR, _PT_GNU_STACK, _PT_GNU_RELRO = 1, 2, 4, 6, 0x6474E551, 0x6474E552
_R, _W, _X = 4, 2, 1
_DT_NULL, _DT_HASH, _DT_STRTAB, _DT_SYMTAB, _DT_STRSZ, _DT_SYMENT, _DT_GNU_HASH = 0, 4, 5, 6, 10, 11, 0x6FFFFEF5
_HIDDEN = 2
_SHN_ABS = 0xFFF1
_PAGE = 0x1000

# R_AMDGPU_*: (struct format of the field, right shift of the value); all are S + A - P.
_PC_RELATIVE = {4: ("<i", 0), 5: ("<q", 0), 10: ("<I", 0), 11: ("<I", 32)}
_LOADED = (".note", ".text", ".rodata")


def covers(obj: bytes) -> bool:
    """Whether `link` makes of this object what lld makes of it: only notes, code and read-only data are loaded."""
    source = read(obj)
    loaded = [s for s in source.sections if s.flags & ALLOC and s.type != SHT_RELA and s.data]
    undefined = any(s.is_global and s.section == 0 for s in source.symbols)
    return (
        not undefined
        and all(s.name in _LOADED for s in loaded)
        and len({s.name for s in loaded}) == len(loaded)
        and all(r.kind in (0, *_PC_RELATIVE) for r in source.relocations)
    )


def link(obj: bytes) -> bytes:
    """The shared object of a relocatable one.

    Raises CodegenError when `obj` is no AMDGPU object, or needs more than this linker has: undefined symbols, sections
    other than notes, code and read-only data, other relocations.
    """
    source = read(obj)
    for symbol in source.symbols:
        if symbol.is_global and symbol.section == 0:
            raise CodegenError(f"undefined symbol '{symbol.name}' in the object")
    image = _Image(source)
    image.place()
    image.relocate()
    image.fill_symbols()
    return image.write()


class _Image:
    """The shared object while it is laid out; addresses exceed file offsets by a page per segment begun in one."""

    def __init__(self, source: Object):
        self.source = source
        kept = [s for s in source.sections if s.flags & ALLOC and s.type != SHT_RELA and s.data]
        for section in kept:
            if section.name not in _LOADED:
                raise CodegenError(f"section {section.name} is beyond the built-in linker; install an ELF lld")
        self.notes = [s for s in kept if s.type == SHT_NOTE]
        code = [s for s in kept if s.flags & EXECUTE]
        constants = [s for s in kept if not s.flags & EXECUTE and s.type != SHT_NOTE]
        exported = [s for s in source.symbols if s.is_exported]
        self.exported = [exported[i] for i in gnu_order([s.name for s in exported])]
        self.strings = Strings()
        self.tables = self._tables()
        self.dynamic = Section(".dynamic", _SHT_DYNAMIC, ALLOC | WRITE, bytes(_DYNAMIC.size * 7), 8, ".dynstr")
        self.dynamic.entry = _DYNAMIC.size
        self.padding = Section(".relro_padding", SHT_NOBITS, ALLOC | WRITE, b"")
        segments = [(_R, [*self.notes, *self.tables, *constants]), (_R | _X, code)]
        self.segments = [*(s for s in segments if s[1]), (_R | _W, [self.dynamic, self.padding])]
        self.sections = [s for _, members in self.segments for s in members]
        self.programs = 1 + len(self.segments) + 3 + bool(self.notes)
        self.data = bytearray(HEADER.size + _PROGRAM.size * self.programs)
        self.by_source = {s.source: s for s in kept}

    def _tables(self) -> list[Section]:
        names = [s.name for s in self.exported]
        # lld keeps names in the order of the object, whatever the order of the symbols
        for symbol in self.source.symbols:
            if symbol.is_exported:
                self.strings.add(symbol.name)
        rows = bytes(SYMBOL.size * (len(names) + 1))
        return [
            Section(".dynsym", _SHT_DYNSYM, ALLOC, rows, 8, ".dynstr", 1, SYMBOL.size),
            Section(".gnu.hash", _SHT_GNU_HASH, ALLOC, gnu_table(names), 8, ".dynsym"),
            Section(".hash", _SHT_HASH, ALLOC, system_v_table(names), 4, ".dynsym", entry=4),
            Section(".dynstr", _SHT_STRTAB, ALLOC, bytes(self.strings.data)),
        ]

    def place(self) -> None:
        """Give every loaded section its offset and address, and fill the dynamic section."""
        bias = 0
        for number, (_, members) in enumerate(self.segments):
            if number and (len(self.data) + bias) % _PAGE:  # a page of its own, unless the one before is full
                bias += _PAGE
            for section in members:
                self.data += bytes(-len(self.data) % section.align)
                section.offset = len(self.data)
                section.address = section.offset + bias
                self.data += section.data
        self.padding.size = -self.padding.address % _PAGE
        symbols, gnu, hashes, strings = self.tables
        entries = [
            (_DT_SYMTAB, symbols.address),
            (_DT_SYMENT, SYMBOL.size),
            (_DT_STRTAB, strings.address),
            (_DT_STRSZ, len(strings.data)),
            (_DT_GNU_HASH, gnu.address),
            (_DT_HASH, hashes.address),
            (_DT_NULL, 0),
        ]
        for i, entry in enumerate(entries):
            _DYNAMIC.pack_into(self.data, self.dynamic.offset + i * _DYNAMIC.size, *entry)

    def _address(self, symbol: Symbol) -> int:
        if symbol.section in (0, _SHN_ABS):
            return symbol.value
        if symbol.section not in self.by_source:
            raise CodegenError(f"symbol '{symbol.name}' lies in a section that is not loaded; link with lld")
        return self.by_source[symbol.section].address + symbol.value

    def relocate(self) -> None:
        """Apply the relocations of loaded sections."""
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

    def _row(self, symbol: Symbol, name: int) -> bytes:
        """A symbol as an entry of a symbol table; its section is numbered anew."""
        numbers = {s.source: i for i, s in enumerate(self.sections, 1) if s.source >= 0}
        section = symbol.section if symbol.section in (0, _SHN_ABS) else numbers[symbol.section]
        return SYMBOL.pack(name, symbol.info, symbol.other, section, self._address(symbol), symbol.size)

    def fill_symbols(self) -> None:
        """Write the dynamic symbol table."""
        rows = [bytes(SYMBOL.size), *(self._row(s, self.strings.add(s.name)) for s in self.exported)]
        table = self.tables[0]
        self.data[table.offset : table.offset + len(table.data)] = b"".join(rows)

    def write(self) -> bytes:
        """Program headers, the symbol table for tools, section headers, the ELF header."""
        self._write_programs()
        listed = [*self.sections, *self._append_tool_tables()]
        names, heads = Strings(), [bytes(SECTION.size)]
        for s in [*listed, own := Section(".shstrtab", _SHT_STRTAB, 0, b"")]:
            names.add(s.name)
        own.offset, own.data = len(self.data), bytes(names.data)
        self.data += own.data
        listed.append(own)
        numbers = {s.name: i for i, s in enumerate(listed, 1)}
        for s in listed:
            link = numbers.get(s.link, 0)
            size = s.size or len(s.data)
            row = (names.add(s.name), s.type, s.flags, s.address, s.offset, size, link, s.info, s.align, s.entry)
            heads.append(SECTION.pack(*row))
        self.data += bytes(-len(self.data) % 8)
        table = len(self.data)
        self.data += b"".join(heads)
        sizes = (HEADER.size, _PROGRAM.size, self.programs, SECTION.size, len(heads), len(heads) - 1)
        kind = (_ET_DYN, EM_AMDGPU, 1, 0, HEADER.size, table, self.source.flags)
        HEADER.pack_into(self.data, 0, self.source.ident, *kind, *sizes)
        return bytes(self.data)

    def _append_tool_tables(self) -> list[Section]:
        """.symtab and .strtab: local symbols (with _DYNAMIC as lld has it), then global ones."""
        known = [
            s for s in self.source.symbols if s.name and (s.section in (0, _SHN_ABS) or s.section in self.by_source)
        ]
        strings = Strings()
        rows = [bytes(SYMBOL.size), *(self._row(s, strings.add(s.name)) for s in known if not s.is_global)]
        place = self.sections.index(self.dynamic) + 1
        rows.append(SYMBOL.pack(strings.add("_DYNAMIC"), 0, _HIDDEN, place, self.dynamic.address, 0))
        locals_ = len(rows)
        rows += [self._row(s, strings.add(s.name)) for s in known if s.is_global]
        symbols = Section(".symtab", SHT_SYMTAB, 0, b"".join(rows), 8, ".strtab", locals_, SYMBOL.size)
        tables = [symbols, Section(".strtab", _SHT_STRTAB, 0, bytes(strings.data))]
        for section in tables:
            self.data += bytes(-len(self.data) % section.align)
            section.offset = len(self.data)
            self.data += section.data
        return tables

    def _write_programs(self) -> None:
        size = _PROGRAM.size * self.programs
        rows = [(_PT_PHDR, _R, HEADER.size, HEADER.size, size, size, 8)]
        for number, (access, members) in enumerate(self.segments):
            first, last = members[0], members[-1]
            start = 0 if number == 0 else first.offset
            end = last.offset + len(last.data)
            address = 0 if number == 0 else first.address
            in_memory = last.address + (last.size or len(last.data)) - address
            rows.append((_PT_LOAD, access, start, address, end - start, in_memory, _PAGE))
        dynamic = self.dynamic
        length = len(dynamic.data)
        rows.append((_PT_DYNAMIC, _R | _W, dynamic.offset, dynamic.address, length, length, 8))
        rows.append((_PT_GNU_RELRO, _R, dynamic.offset, dynamic.address, length, length + self.padding.size, 1))
        rows.append((_PT_GNU_STACK, _R | _W, 0, 0, 0, 0, 0))
        for note in self.notes:
            rows.append((_PT_NOTE, _R, note.offset, note.address, len(note.data), len(note.data), note.align))
        for i, (kind, access, offset, address, length, in_memory, align) in enumerate(rows):
            fields = (kind, access, offset, address, address, length, in_memory, align)
            _PROGRAM.pack_into(self.data, HEADER.size + i * _PROGRAM.size, *fields)
