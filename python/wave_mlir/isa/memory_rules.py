"""What the assembler refuses in instructions that access memory: operands' files and widths, offsets, sc0.

As `rules`, of LLVM's assembler for gfx942 and gfx950.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from . import constants, registers
from .assembly import Line
from .encoding import Kind
from .native import Opcode
from .signature import Type

FORMATS = frozenset({"ds", "smem", "mubuf", "flat", "global", "scratch"})
Given = Sequence[tuple[Type, str | None]]
"""Operands with their types; None for one that the text leaves out."""

_CACHE = frozenset({"sc0", "sc1", "nt"})
_WORDS = {
    "ds": frozenset({"offset", "gds"}),
    "smem": frozenset({"offset", "glc"}),
    "mubuf": _CACHE | {"offset", "offen", "idxen", "lds"},
}
_NO_ADDRESS = ("buffer_wbl2", "buffer_inv", "ds_nop", "s_mem", "s_dcache")
_TWO_OFFSETS = re.compile(r"ds_(read|write|wrxchg)2")
_COPIES = re.compile(r"buffer_load_([us]byte|[us]short|dword(x[34])?)$")
_EXEC = frozenset({"exec", "exec_lo", "exec_hi"})
_FROM_BUFFER, _FROM_POINTER = range(1 << 20), range(-(1 << 20), 1 << 20)  # offsets of scalar memory


def allowed(word: str, op: Opcode) -> bool:
    """Is the modifier one of the instruction?"""
    if op.name.startswith(_NO_ADDRESS):
        return op.format == "mubuf" and word in _CACHE
    if _TWO_OFFSETS.match(op.name):
        return word in ("offset0", "offset1", "gds")
    return word in _WORDS.get(op.format, _CACHE | {"offset"})


def check(line: Line, op: Opcode, dst: Given, src: Given) -> None:
    """ValueError when the assembler takes no such operands."""
    for _, text in (*dst, *src):
        if text is not None and re.match(r"-(?![\d.])|\||neg\(|abs\(|sext\(", text):
            raise ValueError(f"{text}: operands of memory instructions take no sign or magnitude")
    if op.format == "smem":
        _check_scalar(line, dst, src)
        return
    if op.format == "mubuf" and len(src) >= 3:
        _check_buffer(line, op, dst, src)
    elif op.format == "ds":
        addresses = 0 if "addtid" in op.name else 1
        _check_data([*dst, *src[addresses:]])
        for _, text in src[:addresses]:
            _need(text, "v", 1)
    elif op.format != "mubuf":
        _check_data([*dst, *((t, text) for t, text in src if t.cls == "b")])
        _check_address(op, src)
    if "atomic" in op.name and any(t.optional for t, _ in dst):
        _check_returned(line, dst[0][1])


def check_offset(op: Opcode, offset: int) -> None:
    """ValueError when an offset of scalar memory does not fit: 21 bits signed, of buffers 20 bits unsigned."""
    if op.format == "smem" and offset not in (_FROM_BUFFER if "buffer" in op.name else _FROM_POINTER):
        limits = _FROM_BUFFER if "buffer" in op.name else _FROM_POINTER
        raise ValueError(f"the offset {offset} is not between {limits.start} and {limits.stop - 1}")


def _check_returned(line: Line, text: str | None) -> None:
    if "sc0" in line.modifiers and text is None:
        raise ValueError("sc0 says that the old value is returned, but there is no register for it")
    if "sc0" not in line.modifiers and text is not None:
        raise ValueError(f"{text} is a register for the old value, which an atomic returns with sc0 only")


def _need(text: str | None, files: str, dwords: int) -> None:
    """The operand is that many registers of one of the files: v, a, or s."""
    register = registers.parse(text) if text else None
    if register is not None and register.dwords == dwords and _file(register) in files:
        return
    names = {"v": "vector", "a": "vector", "s": "scalar"}
    needed = f"a {names[files[0]]} register is" if dwords == 1 else f"{dwords} {names[files[0]]} registers are"
    raise ValueError(f"{text}: {needed} needed here")


def _file(register: registers.Register) -> str:
    if register.kind == Kind.VGPR:
        return "a" if register.number >= registers.ACCUMULATORS else "v"
    return "s" if register.kind == Kind.SGPR else "-"


def _check_data(given: Given) -> None:
    """Data are in vector registers, all of an instruction's in one file."""
    files = set()
    for type, text in given:
        if text is not None:
            _need(text, "va", type.dwords)
            register = registers.parse(text)
            files.add(register and _file(register))
    if len(files) > 1:
        names = " and ".join(text for _, text in given if text)
        raise ValueError(f"{names}: all are of the same file, v or a")


def _check_address(op: Opcode, src: Given) -> None:
    """Two registers of a lane's address, or one of its offset from a scalar base."""
    texts = {t.cls: text for t, text in src}
    lane, base = texts["vaddr"], texts.get("saddr", "off")
    if op.format == "scratch":
        if lane != "off":
            _need(lane, "v", 1)
        if base != "off":
            _need(base, "s", 1)
        return
    _need(lane, "v", 2 if base == "off" else 1)
    if base != "off":
        _need(base, "s", 2)
        if base in _EXEC:
            raise ValueError(f"{base} cannot be an address")


def _check_buffer(line: Line, op: Opcode, dst: Given, src: Given) -> None:
    (_, lane), (_, descriptor), (_, offset) = src[-3:]
    _check_data([*dst, *src[:-3]])
    if "lds" in line.modifiers and (not dst or dst[0][1] is not None or not _COPIES.match(op.name)):
        message = f"a copy to LDS is a load of up to 32 bits (gfx950: 96 or 128) without a destination: {line.text}"
        raise ValueError(message)
    if "lds" not in line.modifiers and dst and dst[0][1] is None:
        raise ValueError("a load needs registers to load to, or lds")
    registers_of_lane = len({"offen", "idxen"} & line.modifiers.keys())
    if registers_of_lane:
        _need(lane, "v", registers_of_lane)
    elif lane != "off":
        raise ValueError(f"{lane}: the lane's address needs offen or idxen; without them write off")
    _need(descriptor, "s", 4)
    if offset is None or constants.is_constant(offset):
        if offset is None or not constants.is_inline(offset, Type("b", 32)):
            raise ValueError(f"{offset}: a scalar register or an inline constant is needed here")
    else:
        _need(offset, "s", 1)


def _check_scalar(line: Line, dst: Given, src: Given) -> None:
    """What is loaded or stored is neither M0 nor EXEC; an offset is a register, a number, or both as offset:number."""
    data = [*dst, *src[:-2]] if len(src) > 1 else dst
    for type, text in data:
        _need(text, "s", type.dwords)
        if text in _EXEC | {"m0"}:
            raise ValueError(f"{text}: scalar memory loads and stores other registers only")
    if len(src) < 2:
        return
    (type, base), (_, offset) = src[-2:]
    _need(base, "s", type.dwords)
    number = offset is None or constants.is_constant(offset)
    if number and "offset" in line.modifiers:
        raise ValueError(f"offset: stands with a register only; {offset} is the offset already")
    if not number and offset is not None and registers.parse(offset) is not None:
        _need(offset, "s", 1)
