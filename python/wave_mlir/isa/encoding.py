"""The decoded instruction as the runner takes it: numpy mirror of machine/include/machine/Instruction.h."""

from __future__ import annotations

import enum

import numpy as np

SOURCES = 5

OPERAND = np.dtype(
    [
        ("kind", "u1"),
        ("dwords", "u1"),
        ("bits", "u1"),
        ("sel", "u1"),
        ("reg", "u2"),
        ("pad", "u2"),
        ("value", "u8"),
    ]
)

INSTRUCTION = np.dtype(
    [
        ("op", "u2"),
        ("file", "u2"),
        ("line", "u4"),
        ("flags", "u4"),
        ("target", "i4"),
        ("offset", "i4"),
        ("offset1", "i4"),
        ("omod", "u1"),
        ("opsel", "u1"),
        ("opselhi", "u1"),
        ("neglo", "u1"),
        ("neghi", "u1"),
        ("dstsel", "u1"),
        ("dstunused", "u1"),
        ("rowmask", "u1"),
        ("bankmask", "u1"),
        ("cbsz", "u1"),
        ("abid", "u1"),
        ("blgp", "u1"),
        ("dpp", "u2"),
        ("pad", "u2"),
        ("address", "u8"),
        ("dst", OPERAND, (2,)),
        ("src", OPERAND, (SOURCES,)),
    ]
)

TRACE = np.dtype([("instruction", "u4"), ("wave", "u2"), ("phases", "u2"), ("bytes", "u4"), ("segments", "u4")])


class Kind(enum.IntEnum):
    """What an operand names."""

    NONE = 0
    SGPR = 1
    VGPR = 2
    CONSTANT = 3
    SPECIAL = 4


class Special(enum.IntEnum):
    """`reg` of a special operand."""

    SCC = 0
    VCCZ = 1
    EXECZ = 2
    SHARED_BASE = 3
    SHARED_LIMIT = 4
    PRIVATE_BASE = 5
    PRIVATE_LIMIT = 6


class OperandBits(enum.IntFlag):
    """Modifiers of a source."""

    NEG = 1
    ABS = 2
    SEXT = 4


class Flags(enum.IntFlag):
    """`flags` of an instruction."""

    CLAMP = 1 << 0
    SC0 = 1 << 1
    SC1 = 1 << 2
    NT = 1 << 3
    LDS = 1 << 4
    OFFEN = 1 << 5
    IDXEN = 1 << 6
    SDWA = 1 << 7
    DPP = 1 << 8
    BOUND_CTRL = 1 << 9
    GDS = 1 << 10
    SADDR = 1 << 12


FORMATS = (
    "sop1",
    "sop2",
    "sopc",
    "sopk",
    "sopp",
    "smem",
    "vop1",
    "vop2",
    "vop3",
    "vop3p",
    "vopc",
    "mfma",
    "ds",
    "flat",
    "global",
    "scratch",
    "mubuf",
)
"""Names of the formats, by number."""
