"""Immediates that are no numbers in the text: s_waitcnt, hwreg, sendmsg, swizzle → the instruction's 16-bit field.

Encodings: CDNA3 ISA (S_WAITCNT, S_GETREG_B32, S_SENDMSG, DS_SWIZZLE_B32) and LLVM's "Syntax of gfx90a instructions".
"""

from __future__ import annotations

import re

_WAIT = re.compile(r"(vmcnt|expcnt|lgkmcnt)(_sat)?\(\s*([^)]+?)\s*\)")
_COUNTERS = {"vmcnt": 63, "expcnt": 7, "lgkmcnt": 15}
_HWREG = re.compile(r"^hwreg\(\s*(\w+)\s*(?:,\s*(\w+)\s*,\s*(\w+)\s*)?\)$")
_HW_NAMES = {
    "HW_REG_MODE": 1,
    "HW_REG_STATUS": 2,
    "HW_REG_TRAPSTS": 3,
    "HW_REG_HW_ID": 4,
    "HW_REG_GPR_ALLOC": 5,
    "HW_REG_LDS_ALLOC": 6,
    "HW_REG_IB_STS": 7,
    "HW_REG_SH_MEM_BASES": 15,
    "HW_REG_TBA_LO": 16,
    "HW_REG_TBA_HI": 17,
    "HW_REG_TMA_LO": 18,
    "HW_REG_TMA_HI": 19,
    "HW_REG_XCC_ID": 20,
}
_MESSAGE = re.compile(r"^sendmsg\(\s*(\w+)\s*(?:,\s*(\w+)\s*)?(?:,\s*(\w+)\s*)?\)$")
_MESSAGES = {"MSG_INTERRUPT": 1, "MSG_GS": 2, "MSG_GS_DONE": 3, "MSG_SAVEWAVE": 4, "MSG_SYSMSG": 15}
_SWIZZLE = re.compile(r"^swizzle\((.*)\)$")
_INDEXING = re.compile(r"^gpr_idx\((.*)\)$")
_INDEX_BITS = {"SRC0": 1, "SRC1": 2, "SRC2": 4, "DST": 8}


def _number(text: str, what: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        raise ValueError(f"{text!r} is not {what}") from None


def waitcnt(text: str) -> int:
    """`vmcnt(0) lgkmcnt(1)` in every spelling, or a number; counters that are not named do not wait."""
    text = text.strip()
    found = list(_WAIT.finditer(text))
    if not found:
        return simm16(text) & 0xFFFF
    rest = _WAIT.sub("", text).replace("&", "").replace(",", "").strip()
    if rest:
        raise ValueError(f"{rest!r} is not a counter: vmcnt(n), expcnt(n), lgkmcnt(n)")
    values = dict(_COUNTERS)
    for match in found:
        value, most = _number(match[3], "a count"), _COUNTERS[match[1]]
        if match[2]:
            value = min(value, most)
        if not 0 <= value <= most:
            raise ValueError(f"{match[0]}: the counter counts to {most}")
        values[match[1]] = value
    vm = values["vmcnt"]
    return vm & 15 | (vm >> 4) << 14 | values["expcnt"] << 4 | values["lgkmcnt"] << 8


def hwreg(text: str) -> int:
    """`hwreg(HW_REG_MODE, 0, 4)`: number | first bit << 6 | (bits - 1) << 11."""
    match = _HWREG.match(text)
    if not match:
        return simm16(text) & 0xFFFF
    name = match[1]
    register = _HW_NAMES[name] if name in _HW_NAMES else _number(name, "a hardware register")
    first, bits = (_number(match[2], "a bit"), _number(match[3], "a width")) if match[2] else (0, 32)
    if not (0 <= register < 64 and 0 <= first < 32 and 1 <= bits <= 32):
        raise ValueError(f"{text}: the register is 0 to 63, the first bit 0 to 31, the width 1 to 32")
    return register | first << 6 | (bits - 1) << 11


def sendmsg(text: str) -> int:
    """`sendmsg(MSG_INTERRUPT)`."""
    match = _MESSAGE.match(text)
    if not match:
        return simm16(text) & 0xFFFF
    name, *rest = match.groups()
    message = _MESSAGES[name] if name in _MESSAGES else _number(name, "a message")
    if not 0 <= message <= 15:
        raise ValueError(f"{text}: messages are 0 to 15")
    operation, stream = [0 if part is None else _number(part, "an operation or stream") for part in rest]
    return message | operation << 4 | stream << 8


def simm16(text: str) -> int:
    """A 16-bit number, signed: 0xffff is -1."""
    value = _number(text, "a 16-bit number")
    if not -(1 << 15) <= value < 1 << 16:
        raise ValueError(f"{text} does not fit in 16 bits")
    return value - (1 << 16) if value >= 1 << 15 else value


def indexing(text: str) -> int:
    """The operands that s_set_gpr_idx_on and s_set_gpr_idx_mode index: gpr_idx(SRC0,DST), or a number of four bits."""
    match = _INDEXING.match(text)
    names = [p.strip() for p in match[1].split(",") if p.strip()] if match else []
    if set(names) - _INDEX_BITS.keys() or len(set(names)) < len(names):
        raise ValueError(f"{text}: the operands are {', '.join(_INDEX_BITS)}, each once")
    value = sum(_INDEX_BITS[name] for name in names) if match else simm16(text)
    if not 0 <= value <= 15:
        raise ValueError(f"{text} does not fit in four bits")
    return value


def ds_offset(text: str) -> int:
    """The offset of an LDS instruction: a number or swizzle(...)."""
    match = _SWIZZLE.match(text)
    if not match:
        value = _number(text, "an offset")
        if not 0 <= value < 1 << 16:
            raise ValueError(f"offset:{text} does not fit in 16 bits")
        return value
    mode, *rest = [p.strip() for p in match[1].split(",")]
    if mode == "BITMASK_PERM" and len(rest) == 1:
        return _bitmask(rest[0].strip('"'))
    values = [_number(r, "a lane or size") for r in rest]
    if mode == "QUAD_PERM" and len(values) == 4:
        return 0x8000 | sum((v & 3) << 2 * i for i, v in enumerate(values))
    if mode == "BROADCAST" and len(values) == 2:
        return (32 - values[0]) | values[1] << 5
    if mode == "SWAP" and len(values) == 1:
        return 0x1F | values[0] << 10
    if mode == "REVERSE" and len(values) == 1:
        return 0x1F | (values[0] - 1) << 10
    if mode == "ROTATE" and len(values) == 2:
        return 0xC000 | values[0] << 10 | values[1] << 5
    if mode == "FFT" and len(values) == 1:
        return 0xE000 | values[0]
    raise ValueError(f"{text} is not a swizzle of ds_swizzle_b32")


def _bitmask(pattern: str) -> int:
    if len(pattern) != 5 or set(pattern) - set("01pi"):
        raise ValueError(f'"{pattern}" is not a mask of swizzle: five of 0, 1, p, i are needed')
    keep = set_bits = invert = 0
    for i, char in enumerate(pattern):
        bit = 16 >> i
        keep |= bit if char in "pi" else 0
        set_bits |= bit if char == "1" else 0
        invert |= bit if char == "i" else 0
    return keep | set_bits << 5 | invert << 10
