"""Random programs of loads, stores, atomics, permutes and copies: LDS, global memory, buffers, scalar memory.

A program's memory (MEMORY_BYTES of its row) is copied to LDS where the program uses that, and back at the end. Lanes
store to places of their own, so the order of lanes within an instruction does not matter; they load, and change with
atomics, wherever the data say.
"""

from __future__ import annotations

import functools
import random
import re

from program_kernel import FIRST_S, FIRST_V, MEMORY, MEMORY_BYTES, VECTORS
from wave_mlir.isa.native import Opcode, opcodes

SETUP_BASE = [f"s_add_u32 s40, s6, {MEMORY:#x}", "s_addc_u32 s41, s7, 0"]
"""s[40:41]: the program's memory in the output."""
WAIT = "s_waitcnt vmcnt(0) lgkmcnt(0)"
_OWN, _ANY = "v0", "v20"  # byte offsets: 16 a lane; a multiple of 16 below 1024 by the data
_DWORDS = {"b32": 1, "b64": 2, "b96": 3, "b128": 4, "b256": 8, "b512": 16}
_LEFT_OUT = (
    r"ds_(nop|gws|append|consume|read_addtid|write_addtid)|buffer_(wbl2|inv)|s_(memtime|memrealtime|dcache|scratch)"
)
FAMILIES = {"lds": ("ds",), "global": ("global",), "buffer": ("mubuf",), "scalar": ("smem",)}


@functools.cache
def candidates(family: str, target: str) -> tuple[Opcode, ...]:
    """The instructions of a family; copies from memory to LDS are among those of LDS."""
    found = []
    for op in opcodes().values():
        copies = op.name.startswith("global_load_lds_")
        formats = ("ds",) if family == "lds" else FAMILIES[family]
        wanted = copies if family == "lds" and op.format != "ds" else op.format in formats and not copies
        if wanted and target in op.targets and not re.match(_LEFT_OUT, op.name):
            found.append(op)
    return tuple(found)


class MemoryWriter:
    """Draws programs of one family."""

    def __init__(self, seed: int, target: str, family: str) -> None:
        self.random, self.target, self.family = random.Random(seed), target, family

    def instruction(self) -> str:
        """The text of one instruction; not all that is drawn exists."""
        op = self.random.choice(candidates(self.family, self.target))
        return getattr(self, f"_{'global' if '_load_lds_' in op.name else self.family}")(op)

    def program(self, lines: list[str]) -> list[str]:
        """The instructions, each waited for, with what sets their addresses up."""
        body = [
            "s_mov_b64 s[36:37], exec",
            "s_mov_b64 exec, -1",
            *SETUP_BASE,
            *self._setup(lines),
            "s_mov_b64 exec, s[36:37]",
        ]
        for line in lines:
            body += [line, WAIT]
        return [*body, "s_mov_b64 exec, -1", *(_LDS_BACK if self.family == "lds" else []), "s_mov_b64 exec, s[36:37]"]

    def _setup(self, program: list[str]) -> list[str]:
        lines = [
            f"v_and_b32_e32 {_ANY}, 0x3f0, v{FIRST_V + self.random.randrange(VECTORS)}",
            "v_mov_b32_e32 v22, s40", "v_mov_b32_e32 v23, s41",
            "v_add_co_u32_e32 v44, vcc, v22, v0", "v_addc_co_u32_e32 v45, vcc, 0, v23, vcc",
            f"v_add_co_u32_e32 v22, vcc, v22, {_ANY}", "v_addc_co_u32_e32 v23, vcc, 0, v23, vcc",
            f"s_mov_b32 s42, {16 * self.random.randrange(16)}",
            "s_mov_b32 m0, 0x400",
        ]  # fmt: skip
        if self.family == "lds":
            return [*lines, *_LDS_FILL]
        if self.family in ("buffer", "scalar"):
            records = self.random.choice([1000, 2044, 3000, MEMORY_BYTES])
            if any(", s[32:35], " in line and ", s[32:35], 0 " not in line for line in program):
                records = MEMORY_BYTES  # whether a scalar offset counts in the range, published texts disagree
            descriptor = ["s_mov_b32 s32, s40", "s_and_b32 s33, s41, 0xffff", f"s_movk_i32 s34, {records:#x}"]
            return [
                *lines,
                *descriptor,
                "s_mov_b32 s35, 0x27000",
                f"v_lshrrev_b32_e32 v46, 4, {_ANY}",
                "v_mov_b32_e32 v47, 16",
            ]
        return lines

    def _data(self, dwords: int, bank: str = "v") -> str:
        first, count = (FIRST_V, VECTORS) if bank == "v" else (FIRST_S, 16)
        step = 1 if dwords == 1 else 2 if bank == "v" or dwords == 2 else 4
        start = first + self.random.randrange(0, count - dwords + 1, step)
        return f"{bank}{start}" if dwords == 1 else f"{bank}[{start}:{start + dwords - 1}]"

    def _operands(self, op: Opcode) -> tuple[list[int], list[str]]:
        """Dwords of the destinations, and the types of the sources."""
        dst, src = (part.split() for part in op.signature.split("="))
        return [_DWORDS[t.strip("+?")] for t in dst], src

    def _lds(self, op: Opcode) -> str:
        draw, (dst, src) = self.random, self._operands(op)
        width = 4 * max([*dst, *(_DWORDS[t] for t in src[1:]), 1])
        operands = [self._data(d) for d in dst]
        if "permute" in op.name:
            return f"{op.name} {', '.join([*operands, self._data(1), self._data(1)])} offset:{4 * draw.randrange(64)}"
        if op.name == "ds_swizzle_b32":
            offset = draw.choice([0x8000 | draw.randrange(256), draw.randrange(1 << 15)])
            return f"{op.name} {operands[0]}, {self._data(1)} offset:{offset}"
        stores = "write" in op.name or "wrxchg" in op.name
        operands += [_OWN if stores else draw.choice([_OWN, _ANY]), *(self._data(_DWORDS[t]) for t in src[1:])]
        text = f"{op.name} {', '.join(operands)}"
        if "2" in op.name.split("_")[1]:
            return text + self._two_offsets(op)
        unit = {1: 1, 2: 2}.get(_bytes(op.name), min(width, 16))
        return f"{text} offset:{unit * draw.randrange(2048 // unit)}"

    def _two_offsets(self, op: Opcode) -> str:
        """Two places that no two lanes share: no multiple of 16 bytes apart, or more than all lanes span."""
        draw, element = self.random, 8 if op.name.endswith("64") else 4
        if "st64" in op.name:
            first, second = draw.sample(range(0, 12, 4) if element == 4 else range(0, 6, 2), 2)
        else:
            first, second = draw.randrange(128), draw.randrange(128)
            second += (first - second) % (16 // element) == 0
        return f" offset0:{first} offset1:{second}"

    def _returning(self, op: Opcode, dst: list[int]) -> tuple[list[str], str]:
        if "atomic" not in op.name:
            return [self._data(d) for d in dst], ""
        return ([self._data(d) for d in dst], " sc0") if self.random.random() < 0.6 else ([], "")

    def _global(self, op: Opcode) -> str:
        draw, (dst, src) = self.random, self._operands(op)
        operands, suffix = self._returning(op, dst)
        own = "store" in op.name
        offset = (_bytes(op.name) if _bytes(op.name) < 4 else 4) * draw.randrange(256)
        if "atomic" in op.name or "_lds_" in op.name:
            offset = 8 * draw.randrange(128)
        if op.format == "flat" or draw.random() < 0.4:
            operands += ["v[44:45]" if own else draw.choice(["v[44:45]", "v[22:23]"])]
            base = [] if op.format == "flat" else ["off"]
        else:
            operands += [_OWN if own else draw.choice([_OWN, _ANY])]
            base = ["s[40:41]"]
        operands += [self._data(_DWORDS[t]) for t in src if t in _DWORDS]
        return f"{op.name} {', '.join([*operands, *base])} offset:{offset}{suffix}"

    def _buffer(self, op: Opcode) -> str:
        draw, (dst, src) = self.random, self._operands(op)
        operands, suffix = [self._data(d) for d in dst], ""
        if not dst:
            operands = [self._data(_DWORDS[src[0]])]
            suffix = " sc0" if "atomic" in op.name and draw.random() < 0.6 else ""
        address = _OWN if "store" in op.name else draw.choice([_OWN, _ANY])
        unit = 8 if "atomic" in op.name else _bytes(op.name) if _bytes(op.name) < 4 else 4
        offset = unit * draw.randrange(1024 // unit)
        base = draw.choice(["0", "s42", "16"])
        return f"{op.name} {operands[0]}, {address}, s[32:35], {base} offen offset:{offset}{suffix}"

    def _scalar(self, op: Opcode) -> str:
        draw, (dst, src) = self.random, self._operands(op)
        base = "s[32:35]" if "buffer" in op.name else "s[40:41]"
        operands = [self._data(d, "s") for d in dst] + [self._data(_DWORDS[src[0]], "s")] * (len(src) > 2)
        offset = draw.choice(["s42", hex(16 * draw.randrange(128))])
        return (
            f"{op.name} {', '.join([*operands, base, offset])}{' glc' * ('atomic' in op.name and draw.random() < 0.6)}"
        )


def _bytes(name: str) -> int:
    """Bytes of a narrow access, else 4."""
    if re.search(r"byte|_[ui]8|_b8", name) and "tr" not in name:
        return 1
    return 2 if re.search(r"short|_[ui]16|_b16", name) and "tr" not in name else 4


_LDS_FILL = [
    *(f"global_load_dwordx4 v[{24 + 4 * i}:{27 + 4 * i}], v0, s[40:41] offset:{1024 * i}" for i in range(4)),
    WAIT,
    *(f"ds_write_b128 v0, v[{24 + 4 * i}:{27 + 4 * i}] offset:{1024 * i}" for i in range(4)),
    WAIT,
]
_LDS_BACK = [
    *(f"ds_read_b128 v[{24 + 4 * i}:{27 + 4 * i}], v0 offset:{1024 * i}" for i in range(4)),
    WAIT,
    *(f"global_store_dwordx4 v0, v[{24 + 4 * i}:{27 + 4 * i}], s[40:41] offset:{1024 * i}" for i in range(4)),
    WAIT,
]
