"""Random programs of matrix instructions, on small integers, which every order of summing gives exactly.

A lies in v4 to v11 and B in v12 to v19 of a program's row, C and D in v[32:63] or a[0:31]. What D holds is moved, or
where it is larger folded, into v4 to v19 at the end.
"""

from __future__ import annotations

import functools
import random

import numpy as np
from matrix_layout import codes, numpy_type, parse
from program_kernel import FIRST_V
from wave_mlir.isa import signature
from wave_mlir.isa.native import Opcode, opcodes

_A, _B, _C, _INDEX = FIRST_V, FIRST_V + 8, 32, 24
_FORMATS = ("fp8", "bf8", "fp6", "bf6", "fp4")  # by CBSZ and BLGP
_DWORDS = {"fp8": 8, "bf8": 8, "fp6": 6, "bf6": 6, "fp4": 4}


@functools.cache
def candidates(target: str) -> tuple[Opcode, ...]:
    """The matrix instructions of a target."""
    return tuple(o for o in opcodes().values() if o.format == "mfma" and target in o.targets)


def _span(bank: str, first: int, count: int) -> str:
    return f"{bank}{first}" if count == 1 else f"{bank}[{first}:{first + count - 1}]"


class MatrixWriter:
    """Draws matrix instructions, and what runs each."""

    def __init__(self, seed: int, target: str) -> None:
        self.random, self.target = random.Random(seed), target
        self.formats: dict[str, tuple[str, str]] = {}

    def instruction(self) -> str:
        """The text of one instruction; not all that is drawn exists."""
        draw = self.random
        op = draw.choice(candidates(self.target))
        types = signature.parse(op.signature)
        mixed = "f8f6f4" in op.name
        a, b = (draw.randrange(5), draw.randrange(5)) if mixed else (0, 0)
        count = types.dst[0].dwords
        bank = draw.choice("va")
        d = _span(bank, _C if bank == "v" else 0, count)
        operands = [d]
        for first, type, format in ((_A, types.src[0], a), (_B, types.src[1], b)):
            dwords = _DWORDS[_FORMATS[format]] if mixed else type.dwords
            operands.append(_span("v", first, dwords))
        modifiers = ""
        if "smfmac" in op.name:
            operands.append(f"v{_INDEX}")
            modifiers = f" cbsz:{draw.randrange(2)} abid:{draw.randrange(4)}" if draw.random() < 0.5 else ""
        else:
            constants = ["0", "1.0", "-2.0", "4.0"] if types.dst[0].cls == "f" else ["0", "-5", "33"]
            operands.append(d if draw.random() < 0.7 else draw.choice(constants))
        if "_scale_" in op.name:
            operands += [f"v{_INDEX}", f"v{_INDEX + 1}"]
            modifiers = f" op_sel:[{draw.randrange(2)},{draw.randrange(2)},0]"
            modifiers += f" op_sel_hi:[{draw.randrange(2)},{draw.randrange(2)},0]"
        if mixed:
            modifiers += f" cbsz:{a} blgp:{b}"
        elif "smfmac" not in op.name and draw.random() < 0.15:
            modifiers = f" cbsz:{draw.randrange(4)} abid:{draw.randrange(8)} blgp:{draw.randrange(8)}"
        return f"{op.name} {', '.join(operands)}{modifiers}"

    def program(self, line: str) -> list[str]:
        """The instruction, with what sets C and the indices up and moves D away."""
        types = signature.parse(opcodes()[line.split()[0]].signature)
        count, bank = types.dst[0].dwords, line.split()[1][0]
        body = ["s_mov_b64 s[36:37], exec", "s_mov_b64 exec, -1"]
        body += [f"v_lshrrev_b32_e32 v{_INDEX}, {self.random.randrange(16)}, v{_A}"]
        if "_scale_" in line:  # four exponents near 127
            body += [f"v_lshrrev_b32_e32 v{_INDEX + 1}, 5, v{_B}"]
            for register in (_INDEX, _INDEX + 1):
                body += [f"v_and_b32_e32 v{register}, 0x03030303, v{register}"]
                body += [f"v_or_b32_e32 v{register}, 0x7c7c7c7c, v{register}"]
        for i in range(count):
            body += [f"v_bfe_i32 v{_C + i}, v{FIRST_V + i % 16}, {i % 7}, 4"]
        body += _numbers(types.dst[0], count)
        if bank == "a":
            body += [f"v_accvgpr_write_b32 a{i}, v{_C + i}" for i in range(count)]
        body += ["s_nop 7", line, "s_nop 15", "s_nop 15"]
        if bank == "a":
            body += [f"v_accvgpr_read_b32 v{_C + i}, a{i}" for i in range(count)]
        for i in range(count):
            take = f"v_mov_b32_e32 v{FIRST_V + i}, v{_C + i}" if i < 16 else None
            body += [take or f"v_xor_b32_e32 v{FIRST_V + i - 16}, v{FIRST_V + i - 16}, v{_C + i}"]
        return [*body, "s_mov_b64 exec, s[36:37]"]

    def fill(self, row: np.ndarray, line: str, seed: int) -> None:
        """Put small integers in the elements' types into A and B of a row."""
        rng, name = np.random.default_rng(seed), line.split()[0]
        chosen = [int(w.split(":")[1]) for w in line.split() if w.startswith(("cbsz:", "blgp:"))]
        op = parse(name, *(_FORMATS[c] for c in chosen)) if "f8f6f4" in name else parse(name)
        registers = row[: 4 * 256].reshape(4, 64, 4)
        for first, element in ((0, op.a), (8, op.b)):
            bits = numpy_type(element, self.target).itemsize * 8
            if element in ("fp6", "bf6", "fp4", "i8"):  # every code is a small number
                continue
            values = codes(rng.integers(-3, 4, (64, 8 * 32 // bits)), numpy_type(element, self.target))
            words = np.ascontiguousarray(values.astype(f"u{bits // 8}")).view(np.uint32).reshape(64, 8)
            for i in range(8):
                registers[(first + i) // 4, :, (first + i) % 4] = words[:, i]


def _numbers(type: signature.Type, count: int) -> list[str]:
    """The integers in v[32:…], as numbers of the accumulator's type."""
    if type.cls != "f":
        return []
    if type.bits == 64:
        pairs = range(0, count, 2)
        return [f"v_cvt_f64_i32_e32 v[{_C + i}:{_C + i + 1}], v{_C + i}" for i in pairs]
    return [f"v_cvt_f32_i32_e32 v{_C + i}, v{_C + i}" for i in range(count)]
