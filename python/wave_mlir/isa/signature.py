"""Signatures of the registry (grammar: machine/include/machine/Registry.h), parsed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

_TYPE = re.compile(r"^(\+?)(bf|[buif])(\d+)(?:x(\d+))?(-?)(\??)$")
_WORD = re.compile(r"^(\+?)([a-z]+\d*)(-?)(\??)$")

IMMEDIATES = frozenset({"simm16", "label", "hwreg", "waitcnt", "sendmsg"})
"""Types whose value goes to the instruction, not to an operand."""


@dataclass(frozen=True)
class Type:
    """One operand of a signature.

    cls: "b", "u", "i", "f", "bf" (bits, unsigned, signed, float, bfloat), or a word: "sbool", "vaddr", "saddr", "soff",
    or one of IMMEDIATES. bits of an element, count of elements; read: a destination whose old value is read;
    fewer: the text may name fewer registers; optional: may be left out.
    """

    cls: str
    bits: int = 32
    count: int = 1
    read: bool = False
    fewer: bool = False
    optional: bool = False

    @property
    def dwords(self) -> int:
        """32-bit registers."""
        return max(1, (self.bits * self.count + 31) // 32)

    @property
    def packed(self) -> bool:
        """Two 16-bit values in one register."""
        return self.bits == 16 and self.count == 2


@dataclass(frozen=True)
class Signature:
    """Operands in the order of the text."""

    dst: tuple[Type, ...]
    src: tuple[Type, ...]


def _type(word: str) -> Type:
    if match := _TYPE.match(word):
        plus, cls, bits, count, fewer, optional = match.groups()
        return Type(cls, int(bits), int(count or 1), bool(plus), bool(fewer), bool(optional))
    match = _WORD.match(word)
    if not match:
        raise ValueError(f"{word!r} is not a type of a signature")
    plus, cls, fewer, optional = match.groups()
    bits = 64 if cls == "sbool" else 32
    return Type(cls, bits, 1, bool(plus), bool(fewer), bool(optional))


@cache
def parse(text: str) -> Signature:
    """The signature that the registry's text says. ValueError when it is not one."""
    left, equals, right = text.partition("=")
    if not equals:
        raise ValueError(f"signature {text!r} has no '='")
    return Signature(tuple(_type(w) for w in left.split()), tuple(_type(w) for w in right.split()))
