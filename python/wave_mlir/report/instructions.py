"""What one AMDGPU instruction is: its class, and how many bits a lane moves.

Works on mnemonics of all the targets: `ds_read_b128` and `ds_load_b128`, `s_waitcnt` and `s_wait_loadcnt`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

CLASSES = (
    "mfma",
    "valu",
    "accvgpr_move",
    "salu",
    "smem",
    "lds_read",
    "lds_write",
    "lds_other",
    "load",
    "store",
    "direct_to_lds",
    "atomic",
    "scratch",
    "wait",
    "barrier",
    "branch",
    "nop",
)
"""Classes of instructions. `load`, `store`, `atomic` are of global memory (global, buffer and flat instructions)."""

_MATRIX = ("v_mfma", "v_smfmac", "v_wmma", "v_swmmac")
_WORDS = {"dwordx4": 128, "dwordx3": 96, "dwordx2": 64, "dword": 32, "ushort": 16, "sshort": 16, "short": 16}
_WORDS |= {"ubyte": 8, "sbyte": 8, "byte": 8}
_SIZED = re.compile(r"[buif](\d+)$")


@dataclass(frozen=True)
class Instruction:
    """One instruction: mnemonic, operand text, class (one of CLASSES) and bits a lane moves (0: none)."""

    mnemonic: str
    operands: str
    kind: str
    bits: int = 0


def classify(mnemonic: str, operands: str) -> Instruction:
    """The instruction of a mnemonic and its operands."""
    kind, bits = _classify(mnemonic)
    if kind in ("load", "store") and re.search(r"\blds\b", operands):
        kind = "direct_to_lds"
    return Instruction(mnemonic, operands, kind, bits)


@cache
def _classify(mnemonic: str) -> tuple[str, int]:
    if mnemonic.startswith("v_"):
        return _vector_class(mnemonic), 0
    if mnemonic.startswith("s_"):
        return _scalar_class(mnemonic), 0
    if mnemonic.startswith("ds_"):
        return _lds_class(mnemonic), _bits(mnemonic)
    if mnemonic.startswith("scratch_"):
        return "scratch", _bits(mnemonic)
    if mnemonic.startswith(("global_", "buffer_", "flat_")):
        return _memory_class(mnemonic), _bits(mnemonic)
    return "salu", 0


def _vector_class(mnemonic: str) -> str:
    if mnemonic.startswith(_MATRIX):
        return "mfma"
    if mnemonic.startswith("v_accvgpr"):
        return "accvgpr_move"
    return "nop" if mnemonic == "v_nop" else "valu"


def _scalar_class(mnemonic: str) -> str:
    if mnemonic.startswith(("s_load", "s_buffer_load", "s_store", "s_dcache", "s_memtime")):
        return "smem"
    if mnemonic.startswith(("s_waitcnt", "s_wait_")) and mnemonic != "s_wait_alu":
        return "wait"
    if mnemonic in ("s_barrier", "s_barrier_wait"):
        return "barrier"
    if mnemonic.startswith(("s_branch", "s_cbranch", "s_setpc", "s_swappc", "s_call", "s_endpgm")):
        return "branch"
    return "nop" if mnemonic in ("s_nop", "s_code_end", "s_delay_alu", "s_wait_alu", "s_sleep") else "salu"


def _lds_class(mnemonic: str) -> str:
    if mnemonic.startswith(("ds_read", "ds_load")):
        return "lds_read"
    if mnemonic.startswith(("ds_write", "ds_store")):
        return "lds_write"
    return "lds_other"


def _memory_class(mnemonic: str) -> str:
    if "_load_lds" in mnemonic:
        return "direct_to_lds"
    for word, kind in (("_load", "load"), ("_store", "store"), ("_atomic", "atomic")):
        if word in mnemonic:
            return kind
    return "salu"  # cache control: buffer_inv, buffer_wbl2, global_wb ...


def _bits(mnemonic: str) -> int:
    """Bits a lane moves: from the first part of the name that says a size, twice for the two-address forms."""
    parts = mnemonic.split("_")
    double = 2 if re.match(r"ds_(read|load|write|store)_?2", mnemonic) else 1
    for part in parts[1:]:
        if part in _WORDS:
            return _WORDS[part] * double
        if match := _SIZED.match(part):
            return int(match[1]) * double
    return 0
