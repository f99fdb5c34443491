"""Constants of the assembly → the raw bits that an instruction sees (CDNA3 ISA, "Scalar operands", "Literals").

How the hardware widens inline constants of packed 16-bit operands is LLVM's description (AMDGPUBaseInfo,
getInlineEncodingV216): integers are sign-extended to 32 bits, f16 values stand in the low half with zero above, and in
packed integer operands a float is the single-precision value.
"""

from __future__ import annotations

import re
import struct
from functools import cache

import ml_dtypes
import numpy as np

from .signature import Type

_FLOAT = re.compile(r"^[-+]?(\d+\.\d*(e[-+]?\d+)?|\.\d+(e[-+]?\d+)?|\d+e[-+]?\d+)$", re.I)
_INTEGER = re.compile(r"^[-+]?(0x[0-9a-f]+|0b[01]+|\d+)$", re.I)
_LITERAL = re.compile(r"^lit(?:64)?\((.*)\)$")

INLINE_INTEGERS = range(-16, 65)
INLINE_FLOATS = (0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 4.0, -4.0)
_INVERSE_TWO_PI = {16: 0x3118, 32: 0x3E22F983, 64: 0x3FC45F306DC9C882}
_INVERSE_TWO_PI_BF16 = 0x3E22


def is_constant(text: str) -> bool:
    """Is the operand a number?"""
    match = _LITERAL.match(text)
    inner = match[1] if match else text
    return bool(_FLOAT.match(inner) or _INTEGER.match(inner))


def is_whole(text: str) -> bool:
    """Is the operand a whole number?"""
    return bool(_INTEGER.match(text))


def whole(text: str) -> int | None:
    """The whole number of the text; None when it is no constant. ValueError for one with a fraction."""
    if not is_constant(text):
        return None
    if not _INTEGER.match(text):
        raise ValueError(f"{text} is not a whole number")
    return int(text, 0)


def is_inline(text: str, type: Type) -> bool:
    """Does the constant stand in the instruction word itself (else a 32-bit literal follows it)?

    Also as the bits of such a constant in the operand's width: 0xffffffff is -1, 0x3f800000 is 1.0.
    """
    if _LITERAL.match(text):
        return False
    width = type.bits if type.bits in (16, 64) else 32
    if not _INTEGER.match(text):
        value = float(text)
        return _float_bits(value, width, type.cls) in _inline_floats(width, type.cls) and value != 0
    value = int(text, 0)
    if not -(1 << (width - 1)) <= value < 1 << width:
        return False
    if value in INLINE_INTEGERS or value - (1 << width) in INLINE_INTEGERS:
        return True
    if width == 16 and type.cls not in ("f", "bf"):
        return type.packed and value in _inline_floats(32, "f")
    return value & ((1 << width) - 1) in _inline_floats(width, type.cls)


@cache
def _inline_floats(bits: int, cls: str) -> frozenset[int]:
    inverse = _INVERSE_TWO_PI_BF16 if bits == 16 and cls == "bf" else _INVERSE_TWO_PI[bits]
    return frozenset({*(_float_bits(v, bits, cls) for v in INLINE_FLOATS), inverse})


def _float_bits(value: float, bits: int, cls: str) -> int:
    if bits == 64:
        return struct.unpack("<Q", struct.pack("<d", value))[0]
    with np.errstate(over="ignore"):
        if bits == 32:
            return int(np.float32(value).view(np.uint32))
        if cls == "bf":
            return int(np.array(value, ml_dtypes.bfloat16).view(np.uint16))
        return int(np.float16(value).view(np.uint16))


def _is_infinite(value: int, bits: int, cls: str) -> bool:
    exponent = {16: 0x7F80 if cls == "bf" else 0x7C00, 32: 0x7F800000, 64: 0x7FF << 52}[bits]
    return value & exponent == exponent


def raw_bits(text: str, type: Type) -> int:
    """The bits of a constant for an operand of this type; of one element, for a type of several registers.

    ValueError when it does not fit.
    """
    match = _LITERAL.match(text)
    literal, inner = bool(match), match[1] if match else text
    bits = type.bits if type.bits in (16, 64) else 32
    if _FLOAT.match(inner):
        if type.packed and type.cls in ("b", "i", "u"):
            return _float_bits(float(inner), 32, "f")
        value = _float_bits(float(inner), bits, type.cls)
        if _is_infinite(value, bits, type.cls):
            raise ValueError(f"the constant {text} does not fit in {bits} bits")
        if bits == 64 and type.cls != "f" and not is_inline(inner, type):
            raise ValueError(f"{text}: only 0.5, 1.0, 2.0, 4.0 and 1 / 2 pi are floats of a 64-bit integer operand")
        if bits == 64 and not (is_inline(inner, type) or value & 0xFFFFFFFF == 0):
            value &= ~0xFFFFFFFF  # a literal is the high half
        return value
    value = int(inner, 0)
    inline = not literal and value in INLINE_INTEGERS
    if not -(1 << 63) <= value < 1 << 64:
        raise ValueError(f"the constant {text} does not fit in 64 bits")
    if bits == 64:
        if not (-(1 << 31) <= _signed64(value) < 1 << 32 or is_inline(inner, type)):
            raise ValueError(f"the constant {text} does not fit in the 32 bits of a literal")
        return _integer64(value, type, inline)
    if not -(1 << 31) <= value < 1 << 32:
        raise ValueError(f"the constant {text} does not fit in 32 bits")
    if type.packed:
        return value & 0xFFFFFFFF
    if bits == 16 and not -(1 << 15) <= value < 1 << 16:
        # LLVM also prints the 32 bits of the literal word; the instruction takes the low half
        return value & 0xFFFF
    return value & ((1 << bits) - 1)


def _signed64(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def _integer64(value: int, type: Type, inline: bool) -> int:
    mask = (1 << 64) - 1
    if inline or not -(1 << 31) <= value < 1 << 32:
        return value & mask
    if type.cls == "f":
        return (value & 0xFFFFFFFF) << 32
    low = value & 0xFFFFFFFF
    if type.cls == "i" or value < 0:
        return (low - ((low & 0x80000000) << 1)) & mask
    return low
