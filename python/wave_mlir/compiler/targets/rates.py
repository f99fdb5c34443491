"""Clocks that vector and matrix instructions of the CDNA targets take on one SIMD, by mnemonic.

Sources: *LLVM*: scheduling models of gfx942 and gfx950 in LLVM 22, whose unit is a quad-cycle (4 clocks); *ISA*:
passes of AMD's "Instruction Set Architecture" of CDNA3 and CDNA4 (1 pass = 4 clocks); *data sheet*: published peaks.
Kinds that a target's table lists are taken from there; the rules below are for all other instructions.
"""

from __future__ import annotations

import re

from .base import Target, TargetError

TURN = 4
"""Clocks between two instructions of one wave, and a full-rate vector instruction: 64 lanes on 16 (ISA, LLVM)."""

TRANSCENDENTAL = 16
"""Clocks of a transcendental instruction: quarter rate (LLVM)."""

WIDE_MULTIPLY = 16
"""Clocks of a 32-bit integer multiplication with a 32 or 64-bit result: quarter rate (published measurements)."""

_WIDE_MULTIPLY = re.compile(r"v_(mul_lo_u32|mul_hi_[ui]32|mad_[ui]64_[ui]32)$")
_TRANSCENDENTAL = re.compile(r"v_(exp|log|rcp|rcp_iflag|rsq|sqrt|sin|cos)(_legacy)?_f(16|32|64)$")
_MATRIX = re.compile(r"v_(?:mfma(?:_scale)?|smfmac)_[fi]\d+_(\d+)x\d+x(\d+)(?:_(\d+)b)?_?([a-z]\w*)$")
_EIGHT_BIT = (0, 1)  # formats of f8f6f4 operands (ISA: CBSZ, BLGP): f8, bf8; 2, 3: 6 bits; 4: 4 bits


def vector_clocks(mnemonic: str) -> int:
    """Clocks that a vector instruction (no matrix one) keeps its SIMD's vector unit busy."""
    if _WIDE_MULTIPLY.match(mnemonic):
        return WIDE_MULTIPLY
    return TRANSCENDENTAL if _TRANSCENDENTAL.match(mnemonic) else TURN


def matrix_clocks(target: Target, mnemonic: str, formats: tuple[int, int] = (0, 0)) -> int:
    """Clocks that an MFMA or SMFMAC keeps its SIMD's matrix unit busy.

    `formats`: CBSZ and BLGP of an f8f6f4 instruction. Raises TargetError when the mnemonic is none of a matrix product.
    """
    match = _MATRIX.match(mnemonic)
    if not match:
        raise TargetError(f"{mnemonic} is no matrix instruction of {target.name}")
    wide, k, blocks, types = int(match[1]), int(match[2]), int(match[3] or 1), match[4]
    if types.startswith("f8f6f4"):
        # Data sheet: f6 and f4 run at twice the rate of f8; the slower operand decides.
        return wide * (2 if any(f in _EIGHT_BIT for f in formats) else 1)
    for kind in target.kinds:
        if kind.instruction.mnemonic == mnemonic and kind.instruction.count == 1:
            return kind.clocks
    return TURN * _passes(wide, k, blocks, types)


def _passes(wide: int, k: int, blocks: int, types: str) -> int:
    """Passes by the number of rows (ISA, LLVM): twice as many for f32, f64 and several small blocks."""
    if wide == 4:
        return 4 if types == "f64" else 2
    several = blocks > 1 or (k <= 4 and not types.startswith(("f32", "f64", "xf32")))
    return wide // 4 * (2 if several or types in ("f32", "f64") else 1)
