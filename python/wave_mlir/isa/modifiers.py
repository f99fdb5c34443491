"""Modifiers after the operands (`offset:16 sc0`, `row_shr:1`, `op_sel:[0,1]`) → fields of the instruction."""

from __future__ import annotations

import re
from collections.abc import Callable

from . import immediates
from .encoding import Flags

Fields = dict[str, int]

_FLAGS = {
    "clamp": Flags.CLAMP,
    "sc0": Flags.SC0,
    "glc": Flags.SC0,
    "sc1": Flags.SC1,
    "nt": Flags.NT,
    "slc": Flags.NT,
    "lds": Flags.LDS,
    "offen": Flags.OFFEN,
    "idxen": Flags.IDXEN,
    "gds": Flags.GDS,
}
_IGNORED = frozenset({"fi"})  # fetching from inactive lanes is what these targets do not choose
_NUMBERS = {"cbsz": ("cbsz", 7), "abid": ("abid", 15), "blgp": ("blgp", 7), "bitop3": ("offset", 255)}
_LISTS = {"neg_lo": "neglo", "neg_hi": "neghi", "neg": "neglo", "op_sel_hi": "opselhi"}
_SELECTIONS = ("BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD")
_UNUSED = ("UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE")
# first control number and values that the modifier takes (CDNA3 ISA, "DPP")
_DPP = {
    "row_shl": (0x100, range(1, 16)),
    "row_shr": (0x110, range(1, 16)),
    "row_ror": (0x120, range(1, 16)),
    "row_newbcast": (0x150, range(16)),
}
_DPP_FIXED = {
    ("wave_shl", "1"): 0x130,
    ("wave_rol", "1"): 0x134,
    ("wave_shr", "1"): 0x138,
    ("wave_ror", "1"): 0x13C,
    ("row_mirror", ""): 0x140,
    ("row_half_mirror", ""): 0x141,
    ("row_bcast", "15"): 0x142,
    ("row_bcast", "31"): 0x143,
}
_OMOD = {("mul", "2"): 1, ("mul", "4"): 2, ("div", "2"): 3}
_OFFSETS = {"mubuf": (0, 4095), "smem": (-(1 << 20), (1 << 21) - 1), "flat": (0, 4095)}
_LIST = re.compile(r"^\[\s*(\d+(?:\s*,\s*\d+)*)\s*\]$")


def _number(name: str, text: str, least: int, most: int) -> int:
    try:
        value = int(text, 0)
    except ValueError:
        raise ValueError(f"{name}:{text} is not a number") from None
    if not least <= value <= most:
        raise ValueError(f"{name}:{text} is not between {least} and {most}")
    return value


def _list(name: str, text: str, most: int) -> list[int]:
    match = _LIST.match(text)
    values = [int(v) for v in match[1].split(",")] if match else [most + 1]
    if max(values) > most:
        raise ValueError(f"{name}:{text} is not a list of numbers from 0 to {most}")
    return values


def _mask(values: list[int]) -> int:
    return sum(v << i for i, v in enumerate(values))


def _op_sel(fields: Fields, text: str, sources: int, format: str) -> None:
    values = _list("op_sel", text, 1)
    if format not in ("vop3p", "mfma") and len(values) == sources + 1 and len(values) < 4:
        values = values[:-1] + [0] * (3 - sources) + values[-1:]
    fields["opsel"] = _mask(values[:4])


def _offset(fields: Fields, text: str, _sources: int, format: str) -> None:
    if format == "ds":
        fields["offset"] = immediates.ds_offset(text)
        return
    least, most = _OFFSETS.get(format, (-4096, 4095))
    fields["offset"] = fields.get("offset", 0) + _number("offset", text, least, most)


def _quad(fields: Fields, text: str, _sources: int, _format: str) -> None:
    values = _list("quad_perm", text, 3)
    if len(values) != 4:
        raise ValueError(f"quad_perm:{text} needs four lanes")
    fields["dpp"] = sum(v << 2 * i for i, v in enumerate(values))


def _bound(fields: Fields, text: str, _sources: int, _format: str) -> None:
    # both spellings mean that lanes without a source read 0 (LLVM: convertDppBoundCtrl)
    _number("bound_ctrl", text, 0, 1)
    fields["flags"] |= Flags.BOUND_CTRL


_SPECIAL: dict[str, Callable[[Fields, str, int, str], None]] = {
    "op_sel": _op_sel,
    "offset": _offset,
    "quad_perm": _quad,
    "bound_ctrl": _bound,
}


def apply(fields: Fields, name: str, text: str, sources: int, format: str) -> None:
    """Put one modifier into `fields`. ValueError when there is no such modifier, or it takes no such value."""
    if name in _SPECIAL:
        _SPECIAL[name](fields, text, sources, format)
    elif name in _FLAGS and not text:
        fields["flags"] |= _FLAGS[name]
    elif name in ("offset0", "offset1"):
        fields["offset" if name == "offset0" else "offset1"] = _number(name, text, 0, 255)
    elif name in _NUMBERS:
        field, most = _NUMBERS[name]
        fields[field] = _number(name, text, 0, most)
    elif name in _LISTS:
        fields[_LISTS[name]] = _mask(_list(name, text, 1))
    elif name in ("row_mask", "bank_mask"):
        fields[name.replace("_", "")] = _number(name, text, 0, 15)
    elif name in _DPP and text:
        base, values = _DPP[name]
        fields["dpp"] = base + _number(name, text, values.start, values.stop - 1)
    elif (name, text) in _DPP_FIXED:
        fields["dpp"] = _DPP_FIXED[name, text]
    elif (name, text) in _OMOD:
        fields["omod"] = _OMOD[name, text]
    elif name == "dst_sel" and text in _SELECTIONS:
        fields["dstsel"] = _SELECTIONS.index(text)
    elif name in ("src0_sel", "src1_sel") and text in _SELECTIONS:
        fields[name] = _SELECTIONS.index(text)
    elif name == "dst_unused" and text in _UNUSED:
        fields["dstunused"] = _UNUSED.index(text)
    elif name not in _IGNORED:
        raise ValueError(f"the modifier {name}{':' + text if text else ''} is not known")
