"""Random straight-line programs from the registry's signatures, as a kernel that runs many of them one after the other.

Each program starts from registers that it loads (v4 to v19, s16 to s31, VCC, EXEC, SCC from s31) and stores them at its
end. Text that the assembler does not take is not used, so what is drawn need not be legal.
"""

from __future__ import annotations

import functools
import random
import re
import subprocess
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
from wave_mlir import isa
from wave_mlir.isa import signature
from wave_mlir.isa.native import Opcode, opcodes
from wave_mlir.isa.signature import Type

VECTORS, FIRST_V = 16, 4
SCALARS, FIRST_S = 16, 16
_VECTOR_BYTES = VECTORS * 256
STRIDE = _VECTOR_BYTES + 256
"""Bytes of a program's registers: [4][64][4] vector dwords, then scalars, VCC and EXEC (stored: and SCC)."""
WORDS = STRIDE // 4
CHECKED = _VECTOR_BYTES // 4 + 21

FORMATS = frozenset({"sop1", "sop2", "sopc", "sopk", "vop1", "vop2", "vop3", "vop3p", "vopc"})
LEFT_OUT = {
    r"s_(setpc|swappc|getpc|call|getreg|setreg|movrel|set_gpr)": "control, or a state that programs do not start with",
    r"v_(nop|clrexcp|accvgpr)": "no result in the registers compared",
    r"v_cvt_scalef32_|v_dot\dc_|v_frexp_mant_f16|v_mac_f16": "the second opinion cannot compile them",
    r"s_bitreplicate": "the second opinion cannot compile it",
    r"s_wqm": "the second opinion loses bits in shifts by more than a word",
    r"v_(exp|log|rcp|rsq|sqrt|sin|cos)_|v_rcp_iflag|v_(exp|log)_legacy": "the last bits of approximations",
}
DISAGREED = {
    r"v_cmpx_": "ours writes the mask and EXEC, as the pseudo-code of CDNA says; the second opinion EXEC alone",
    r"v_cvt_pknorm_|v_cvt_pk_[iu]16_": "ours saturates, as LLVM relies on; the second opinion cuts bits off",
    r"\w+_sdwa .*[-|]v|.*UNUSED_SEXT": "the second opinion leaves out signs of bytes and words, and the extension",
    r"s_bitset[01]_b64": "the second opinion clears the high register",
    r"v_cube|v_div_(fixup|fmas)": "the sign of a NaN, which no document says",
    r"v_cvt_(flr|rpi)_": "a NaN is 0 as in other conversions; the second opinion has the least number",
    r"\w*_[iu]24": "the second opinion multiplies more than 24 bits",
    r"\w*_co_u32_dpp": "lanes that DPP turns off have no carry; the second opinion computes one",
    r"v_(add|sub)_i16|v_(min3|max3|med3|mad|fma)_(legacy_)?[iuf]16": "instructions that came with op_sel keep the "
    "other half (so LLVM says); the second opinion clears it. v_mad_f16 rounds twice, not once",
    r"v_frexp_exp": "of 0 it is 0, and of denormals what LLVM's frexp relies on",
    r".* clamp": "NaN is clamped to 0 with DX10_CLAMP, and -0 to 0; the second opinion keeps them",
    r"v_pk_(min|max)_f16": "a number wins against a quiet NaN (pseudo-code); the second opinion gives the NaN",
    r"v_mad_(i64|u64)_": "the second opinion leaves the carry as it was",
    r"v_mad_[iu]32_[iu]16 .*op_sel": "op_sel has no meaning for the operand of 32 bits",
    r"v_(min|max|min3|max3|med3)_f": "-0 is less than 0; the second opinion takes either",
    r"\w*_co_u32_sdwa": "the second opinion leaves the carry as it was",
    r"v_cvt_f32_(fp8|bf8)|v_mul_legacy_f32|v_pk_(add|mul|fma)_f32": "which NaN, and its sign, no document says",
    r"v_(pk_)?(fma|fmac|add|sub|subrev|mul)_.*(-|neg_)": "a NaN that is negated changes its sign; the second opinion's "
    "has none",
    r"v_(fma|fmac|pk_fma|pk_fmac|dot2)_": "which NaN of several a fused sum gives, no document says",
    r"v_(pk_)?(minimum3|maximum3)": "the greatest of IEEE 754-2019 is NaN when an operand is",
    r"\w+_dpp .*[-|]v": "the second opinion leaves out signs of what DPP moves",
    r"s_absdiff_i32": "the difference wraps before its sign is looked at, so the pseudo-code",
    r"v_(add|sub|subrev)_co_u32_e": "lanes that are off have no carry; the second opinion computes one",
    r"v_cmp_class_f16": "an inline float as the mask: no compiler makes one, and it is a number of 32 or of 16 bits",
    r"v_cvt_pk_bf16_f32": "a NaN stays one; the second opinion rounds it to a zero",
    r"v_cvt_f32_bf16": "ours makes signalling NaNs quiet; the second opinion, and the pseudo-code, move the bits",
    r"v_mqsad_u32_u8": "the second opinion writes nothing",
    r"v_cvt_[iu](16|32)_f": "a NaN is 0, and 16 bits saturate",
    r"v_cvt_sr_": "stochastic rounding carries into the exponent",
    r"v_cvt_norm_": "saturates; the second opinion cuts bits off",
    r"v_fract_": "less than 1 always",
    r"v_rndne_f": "small negative numbers become -0",
    r"v_frexp_mant_f": "of 0 it is 0, and of denormals what LLVM's frexp relies on",
    r"v_mqsad_pk_u16_u8": "bytes of the reference, not of the picture, that are 0 are left out",
    r"v_permlane16_swap|v_permlane32_swap": "with lanes off, no document says what is read",
    r"v_bitop3_b16": "the other half is kept, as by instructions that came with op_sel",
    r"v_cvt_pk_u8_|v_cvt_pkaccum_u8_": "a NaN is 0, and one byte is written",
    r"v_div_scale_": "of operands that no division has",
    r"v_cvt_pk_(f32_)?(fp8|bf8)": "which NaN no document says",
    r"v_trig_preop_": "the last bits of approximations",
    r"v_cvt_off_f32_i4": "the second opinion has 0 for negative numbers",
    r"\w+_sdwa .*sext": "the second opinion extends other bits",
    r"v_ldexp_f(16|32|64)": "0 times a power of two is 0",
    r"s_cmov_b64": "the second opinion clears the high register where nothing is moved",
}
"""Forms in which the two runners were seen to differ, left out whole, and why; undecided where no document says."""
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


def _assembler(target: str) -> list[str]:
    return ["llvm-mc-22", "-triple=amdgcn-amd-amdhsa", f"-mcpu={target}"]


def legal(lines: Sequence[str], target: str) -> list[str]:
    """Those of the lines that the assembler takes, but what the runners are known to differ in."""
    done = subprocess.run(
        [*_assembler(target), "-filetype=null"], input="\n".join(lines) + "\n", text=True, capture_output=True
    )
    wrong = {int(n) - 1 for n in re.findall(r"(?m)^<stdin>:(\d+):\d+: error", done.stderr)}
    disagreed = re.compile("|".join(DISAGREED))
    return [line for i, line in enumerate(lines) if i not in wrong and not disagreed.match(line)]


_KERNEL_PROLOGUE = 5  # instructions


def kernel(bodies: Sequence[Sequence[str]], target: str) -> str:
    """The assembly of a kernel `programs` (in, out) that runs each body from its registers."""
    lines = [
        "s_load_dwordx4 s[4:7], s[0:1], 0x0",
        "v_lshlrev_b32_e32 v2, 2, v0",
        "v_add_u32_e32 v2, 0x1000, v2",
        "v_lshlrev_b32_e32 v0, 4, v0",
        "s_waitcnt lgkmcnt(0)",
    ]
    for body in bodies:
        lines += [*_prologue(), *body, *_epilogue()]
    code = "\n".join(f"\t{line}" for line in (*lines, "s_endpgm"))
    return _FRAME.format(target=target, code=code)


def _prologue() -> list[str]:
    return [
        f"s_load_dwordx16 s[{FIRST_S}:{FIRST_S + 15}], s[4:5], {_VECTOR_BYTES:#x}",
        f"s_load_dwordx4 s[8:11], s[4:5], {_VECTOR_BYTES + 64:#x}",
        *(
            f"global_load_dwordx4 v[{FIRST_V + 4 * i}:{FIRST_V + 4 * i + 3}], v0, s[4:5] offset:{1024 * i}"
            for i in range(4)
        ),
        "s_waitcnt vmcnt(0) lgkmcnt(0)",
        "s_mov_b64 vcc, s[8:9]",
        "s_bitcmp1_b32 s31, 0",
        "s_mov_b64 exec, s[10:11]",
    ]


def _epilogue() -> list[str]:
    kept = [f"s{FIRST_S + i}" for i in range(SCALARS)] + ["vcc_lo", "vcc_hi", "s8", "s9", "s12"]
    return [
        "s_cselect_b32 s12, 1, 0",
        "s_mov_b64 s[8:9], exec",
        "s_mov_b64 exec, -1",
        "v_mov_b32_e32 v1, 0",
        *(f"v_writelane_b32 v1, {register}, {lane}" for lane, register in enumerate(kept)),
        *(
            f"global_store_dwordx4 v0, v[{FIRST_V + 4 * i}:{FIRST_V + 4 * i + 3}], s[6:7] offset:{1024 * i}"
            for i in range(4)
        ),
        "global_store_dword v2, v1, s[6:7]",
        f"s_add_u32 s4, s4, {STRIDE:#x}",
        "s_addc_u32 s5, s5, 0",
        f"s_add_u32 s6, s6, {STRIDE:#x}",
        "s_addc_u32 s7, s7, 0",
    ]


_FRAME = """\
	.amdgcn_target "amdgcn-amd-amdhsa--{target}"
	.text
	.p2align 8
	.globl programs
	.type programs,@function
programs:
{code}
.Lend:
	.size programs, .Lend-programs
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel programs
		.amdhsa_kernarg_size 16
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_next_free_vgpr 64
		.amdhsa_next_free_sgpr 64
		.amdhsa_accum_offset 64
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
	.end_amdhsa_kernel
	.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: programs
    .symbol: programs.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 64
    .vgpr_count: 64
    .max_flat_workgroup_size: 64
    .args:
      - {{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}}
      - {{.size: 8, .offset: 8, .value_kind: global_buffer, .address_space: global}}
...
	.end_amdgpu_metadata
"""

_SPECIAL = {
    np.uint16: [0, 0x8000, 1, 0x3FF, 0x400, 0x7BFF, 0x7C00, 0xFC00, 0x7E01, 0x3C00, 0xBC00, 0x3800, 0x7F80, 0xFFFF],
    np.uint32: [0, 1 << 31, 1, 0x7FFFFF, 0x800000, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00001, 0x3F800000]
    + [0xBF800000, 0x3F000000, 0x4F000000, 0xCF000000, 0x7FFFFFFF, 0xFFFFFFFF],
    np.uint64: [0, 1 << 63, 1, (1 << 52) - 1, 0x7FEFFFFFFFFFFFFF, 0x7FF << 52, 0xFFF << 52, 0x7FF8000000000001]
    + [0x3FF << 52, 0xBFF << 52, 0x41E << 52, (1 << 63) - 1, (1 << 64) - 1],
}


def registers(count: int, seed: int) -> np.ndarray:
    """u32[count, WORDS]: what the programs start with: bits, numbers of a type with its special values, small ones."""
    rng = np.random.default_rng(seed)
    out = rng.integers(0, 1 << 32, (count, WORDS), np.uint32)
    for row in out:
        kind = rng.integers(0, 6)
        if kind in (1, 2, 3):
            dtype = (np.uint16, np.uint32, np.uint64)[kind - 1]
            values = row.view(dtype)
            special = rng.random(len(values)) < 0.4
            values[special] = rng.choice(np.array(_SPECIAL[dtype], dtype), special.sum())
        elif kind == 4:
            row[:] = rng.standard_normal(WORDS).astype(np.float32).view(np.uint32)
        elif kind == 5:
            row[:] = rng.integers(-40, 40, WORDS).astype(np.int32).view(np.uint32)
        exec_mask = (1 << 64) - 1 if rng.random() < 0.5 else int(rng.integers(1, 1 << 63))
        row[_VECTOR_BYTES // 4 + 18 : _VECTOR_BYTES // 4 + 20] = [exec_mask & 0xFFFFFFFF, exec_mask >> 32]
    return out


def refused_of(lines: Sequence[str], target: str, refused: Collection[int]) -> list[str]:
    """Those of the lines, which are the programs of a kernel, that are at the byte offsets `refused` of its code."""
    loaded = isa.load(kernel([[line] for line in lines], target))
    address = loaded.program.instructions["address"]
    offsets = (address - address[loaded.start]).tolist()
    size = len(_prologue()) + 1 + len(_epilogue())
    first = _KERNEL_PROLOGUE + len(_prologue())
    return [line for i, line in enumerate(lines) if offsets[first + i * size] in refused]


def code_object(text: str, target: str, folder: Path) -> Path:
    """The kernel, assembled and linked."""
    source, made = folder / "programs.o", folder / "programs.hsaco"
    subprocess.run([*_assembler(target), "-filetype=obj", "-o", str(source)], input=text, text=True, check=True)
    subprocess.run(["ld.lld-22", "-shared", str(source), "-o", str(made)], check=True)
    return made
