"""Random instructions of scalar and vector arithmetic from the registry's signatures.

Text that the assembler does not take is not used, so what is drawn need not be legal.
"""

from __future__ import annotations

import functools
import random
import re
import subprocess
from collections.abc import Sequence

from program_kernel import FIRST_S, FIRST_V, SCALARS, VECTORS, assembler
from wave_mlir.isa import signature
from wave_mlir.isa.native import Opcode, opcodes
from wave_mlir.isa.signature import Type

FORMATS = frozenset({"sop1", "sop2", "sopc", "sopk", "vop1", "vop2", "vop3", "vop3p", "vopc"})
LEFT_OUT = {
    r"s_(setpc|swappc|getpc|call|getreg|setreg|movrel|set_gpr)": "control, or a state that programs do not start with",
    r"v_(nop|clrexcp|accvgpr)": "no result in the registers compared",
    r"v_cvt_scalef32_|v_dot\dc_|v_frexp_mant_f16|v_mac_f16": "the second opinion cannot compile them",
    r"s_bitreplicate": "the second opinion cannot compile it",
    r"s_wqm": "the second opinion loses bits in shifts by more than a word",
    r"v_(exp|log|rcp|rsq|sqrt|sin|cos)_|v_rcp_iflag|v_(exp|log)_legacy": "the last bits of approximations",
}
_INLINE_INTS = [*range(-16, 65)]
_INLINE_FLOATS = ["0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0", "0.15915494"]
_SELECTIONS = ["BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"]
_UNUSED = ["UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"]
_DPP = [
    *(f"row_{d}:{n}" for d in ("shl", "shr", "ror") for n in range(1, 16)),
    *(f"row_newbcast:{n}" for n in range(16)),
    *("wave_shl:1", "wave_rol:1", "wave_shr:1", "wave_ror:1", "row_mirror", "row_half_mirror"),
    *("row_bcast:15", "row_bcast:31"),
]


@functools.cache
def candidates(target: str) -> tuple[Opcode, ...]:
    """The instructions that programs are made of."""
    left_out = re.compile("|".join(LEFT_OUT))
    found = [o for o in opcodes().values() if o.format in FORMATS and target in o.targets]
    return tuple(o for o in found if not left_out.match(o.name) and _fits(signature.parse(o.signature)))


def _fits(types: signature.Signature) -> bool:
    return all(t.dwords <= 4 for t in (*types.dst, *types.src))


class Writer:
    """Draws instructions."""

    def __init__(self, seed: int, target: str) -> None:
        self.random, self.target = random.Random(seed), target

    def instruction(self, op: Opcode | None = None) -> str:
        """The text of one instruction; not all that is drawn exists."""
        draw = self.random
        op = op or draw.choice(candidates(self.target))
        types = signature.parse(op.signature)
        if op.format.startswith("sop"):
            operands = [self._scalar(t, i < len(types.dst)) for i, t in enumerate((*types.dst, *types.src))]
            if "_bfe_" in op.name:  # no document says what a width above 31 does
                operands[-1] = hex(draw.randrange(32) << 16 | draw.randrange(32))
            return f"{op.name} " + ", ".join(operands)
        form = self._form(op)
        operands = [self._vector(op, t, form, True) for t in types.dst]
        operands += [self._vector(op, t, form, False) for t in types.src]
        return f"{op.name}{form} " + ", ".join(operands) + self._modifiers(op, form, len(types.src))

    def _form(self, op: Opcode) -> str:
        if op.format in ("vop3", "vop3p"):
            return ""
        forms = ["_e32", "_e64", "_e64", "_sdwa", "_dpp"]
        return self.random.choice(forms)

    def _register(self, bank: str, first: int, count: int, dwords: int) -> str:
        step = {1: 1, 2: 2, 3: 2}.get(dwords, 4 if bank == "s" else 2)
        start = first + self.random.randrange(0, count - dwords + 1, step)
        return f"{bank}{start}" if dwords == 1 else f"{bank}[{start}:{start + dwords - 1}]"

    def _scalar(self, type: Type, is_dst: bool) -> str:
        draw = self.random
        if type.cls == "simm16":
            return str(draw.choice([0, 1, 0x7FFF, 0x8000, 0xFFFF, draw.randrange(1 << 16)]))
        if not is_dst:
            kind = draw.random()
            if kind < 0.25:
                return str(draw.choice(_INLINE_INTS))
            if kind < 0.35 and type.dwords == 1:
                return hex(draw.getrandbits(32))
            if kind < 0.42:
                return "vcc" if type.dwords == 2 else "vcc_lo"
        return self._register("s", FIRST_S, SCALARS, type.dwords)

    def _vector(self, op: Opcode, type: Type, form: str, is_dst: bool) -> str:
        draw = self.random
        if type.cls == "sbool":
            short = form in ("_e32", "_dpp") or (form == "_sdwa" and op.format != "vopc")
            return "vcc" if short or draw.random() < 0.3 else self._register("s", FIRST_S, SCALARS, 2)
        if is_dst:
            scalar = op.name.startswith(("v_readlane", "v_readfirstlane"))
            return self._register(*(("s", FIRST_S, SCALARS) if scalar else ("v", FIRST_V, VECTORS)), type.dwords)
        text, kind = self._register("v", FIRST_V, VECTORS, type.dwords), draw.random()
        if form != "_dpp" and kind < 0.15:
            text = self._register("s", FIRST_S, SCALARS, type.dwords)
        elif form in ("_e32", "_e64", "") and kind < 0.3:
            text = str(draw.choice([draw.choice(_INLINE_INTS), draw.choice(_INLINE_FLOATS)]))
            return text if type.cls not in ("f", "bf") or "-" in text or draw.random() < 0.7 else f"-|{text}|"
        elif form == "_e32" and kind < 0.36 and type.dwords == 1:
            return hex(draw.getrandbits(32))
        if form != "_e32" and type.cls == "f" and op.format != "vop3p":
            return draw.choice([text, text, f"-{text}", f"|{text}|", f"-|{text}|"])
        if form == "_sdwa" and type.cls in ("i", "u", "b") and draw.random() < 0.2:
            return f"sext({text})"
        return text

    def _modifiers(self, op: Opcode, form: str, sources: int) -> str:
        draw, words = self.random, []
        if form == "_dpp":
            controls = [draw.choice(_DPP), f"quad_perm:[{','.join(str(draw.randrange(4)) for _ in range(4))}]"]
            words = [draw.choice(controls), f"row_mask:{self._mask()}", f"bank_mask:{self._mask()}"]
            words += ["bound_ctrl:0"] * draw.randrange(2)
        elif form == "_sdwa":
            if op.format != "vopc":
                words = [f"dst_sel:{draw.choice(_SELECTIONS)}", f"dst_unused:{draw.choice(_UNUSED)}"]
            words += [f"src{i}_sel:{draw.choice(_SELECTIONS)}" for i in range(min(2, sources))]
        if form in ("_e64", "", "_sdwa") and op.format != "vop3p":
            is_float = signature.parse(op.signature).dst[0].cls == "f"
            words += ["clamp"] * (is_float and draw.random() < 0.15)
            words += [draw.choice(["mul:2", "mul:4", "div:2"])] * (is_float and draw.random() < 0.1)
        if form == "" and "16" in op.name + op.signature and op.format == "vop3" and draw.random() < 0.4:
            words.append(f"op_sel:[{self._bits(sources + 1)}]")
        if "bitop3" in op.name:
            words.append(f"bitop3:{draw.randrange(256):#x}")
        if op.format == "vop3p":
            signs = ("neg_lo", "neg_hi") if signature.parse(op.signature).src[0].cls == "f" else ()
            for name in ("op_sel", "op_sel_hi", *signs):
                words += [f"{name}:[{self._bits(sources)}]"] * (draw.random() < 0.35)
            words += ["clamp"] * (bool(signs) and draw.random() < 0.15)
        return "".join(f" {w}" for w in words)

    def _mask(self) -> str:
        return hex(15 if self.random.random() < 0.6 else self.random.randrange(16))

    def _bits(self, count: int) -> str:
        return ",".join(str(self.random.randrange(2)) for _ in range(count))


def legal(lines: Sequence[str], target: str) -> list[str]:
    """Those of the lines that the assembler takes."""
    done = subprocess.run(
        [*assembler(target), "-filetype=null"], input="\n".join(lines) + "\n", text=True, capture_output=True
    )
    wrong = {int(n) - 1 for n in re.findall(r"(?m)^<stdin>:(\d+):\d+: error", done.stderr)}
    return [line for i, line in enumerate(lines) if i not in wrong]
