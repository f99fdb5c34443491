"""Builders of the WMMA kinds (wave of 32 lanes) of RDNA4."""

from __future__ import annotations

from .mma import Digit, Fragment, Instruction, MmaKind, kind_name

_SHORT = {"f8E4M3FN": "fp8", "f8E5M2": "bf8", "f16": "f16", "bf16": "bf16", "i8": "iu8"}


def _operand(dtype: str, dim: str) -> Fragment:
    return Fragment(dtype, (Digit("reg", 8, "k", 1), Digit("lane", 16, dim, 1), Digit("lane", 2, "k", 8)))


def wmma(acc: str, lhs: str, rhs: str, clocks: int) -> MmaKind:
    """One 16x16x16 kind of a wave32: a lane holds eight consecutive k of a row, and eight rows of a column."""
    shape = (16, 16, 16)
    short = _SHORT[lhs] if not lhs.startswith("f8") else f"{_SHORT[lhs]}_{_SHORT[rhs]}"
    return MmaKind(
        name=kind_name(acc, shape, "", lhs, rhs),
        m=16, n=16, k=16,
        lhs=_operand(lhs, "row"),
        rhs=_operand(rhs, "col"),
        acc=Fragment(acc, (Digit("reg", 8, "row", 1), Digit("lane", 16, "col", 1), Digit("lane", 2, "row", 8))),
        clocks=clocks,
        instruction=Instruction("amdgpu.wmma", *shape, f"v_wmma_{acc}_16x16x16_{short}"),
        operand_type=lhs,
    )  # fmt: skip
