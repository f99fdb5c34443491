"""What the assembler refuses although every operand alone is right: forms, modifiers, literals, the constant bus.

The rules are those of LLVM's assembler for gfx942 and gfx950 ("Syntax of AMDGPU Instruction Modifiers", "Instruction
Formats" of the CDNA3 ISA). Text that LLVM refuses is refused here, so that a hand-written test cannot rest on an
instruction that does not exist.
"""

from __future__ import annotations

import re

from . import constants, registers
from .assembly import Line
from .encoding import Kind
from .native import Opcode
from .signature import IMMEDIATES, Signature, Type

_SHORT = frozenset({"vop1", "vop2", "vopc"})
_VECTOR = frozenset({"vop1", "vop2", "vop3", "vop3p", "vopc"})
_SCALAR = frozenset({"sop1", "sop2", "sopc", "sopk", "sopp"})
_CONSTANT_IN_TEXT = re.compile(r"v_(fma|mad)[am]k_")  # always with a literal, and only in the short form
_NO_E64 = re.compile(r"v_(readfirstlane|swap|accvgpr_mov)_b32|v_(fma|mad)[am]k_")
_NO_DPP = re.compile(r"v_clrexcp|v_readfirstlane|v_swap_b32|v_accvgpr|v_(fma|mad)[am]k_|v_permlane")
_NO_SDWA = re.compile(_NO_DPP.pattern + r"|v_nop|v_fmac_f|v_mac_f16|v_dot\dc_")
_WIDE_SDWA = re.compile(r"v_cvt_pk_f32_[fb][pf]8")

_DPP_WORDS = frozenset(
    {"row_mask", "bank_mask", "bound_ctrl", "fi", "quad_perm", "row_shl", "row_shr", "row_ror", "row_newbcast"}
    | {"wave_shl", "wave_rol", "wave_shr", "wave_ror", "row_mirror", "row_half_mirror", "row_bcast"}
)
_EXCLUSIVE_DPP = _DPP_WORDS - {"row_mask", "bank_mask", "bound_ctrl", "fi"}
_SDWA_WORDS = frozenset({"dst_sel", "dst_unused", "src0_sel", "src1_sel"})
_PACKED_WORDS = frozenset({"op_sel_hi", "neg_lo", "neg_hi"})
_MATRIX_WORDS = frozenset({"cbsz", "abid", "blgp"})
_ARITHMETIC = frozenset({"clamp", "mul", "div", "op_sel", "bitop3", "neg"})
_VALU_WORDS = _DPP_WORDS | _SDWA_WORDS | _PACKED_WORDS | _ARITHMETIC
_MEMORY_WORDS = {
    "ds": frozenset({"offset", "offset0", "offset1", "gds"}),
    "smem": frozenset({"offset", "glc"}),
    "mubuf": frozenset({"offset", "offen", "idxen", "sc0", "sc1", "nt", "glc", "slc", "lds", "tfe"}),
}
_FLAT_WORDS = frozenset({"offset", "sc0", "sc1", "nt", "glc", "slc"})

_CLAMPED_INTEGERS = re.compile(
    r"v_((add|sub|subrev)_(co_u32|u32|u16|i32|i16)|(addc|subb|subbrev)_co_u32|mul_[iu]32_[iu]24|dot\dc_"
    r"|mad_([iu]64|[iu]32|[iu]16|legacy_[iu]16)|m?q?sad_|align(bit|byte)_|(min3|max3|med3)_[iu]16"
    r"|cvt_([iu](16|32)_f|rpi_|flr_|norm_|pknorm_|pkrtz_|pk_u8_|pkaccum_)|pack_b32_f16|frexp_exp_)"
)
_SCALED_INTEGERS = re.compile(r"v_(cvt_([iu](16|32)_f|norm_|pkrtz_)|frexp_exp_(i16|i32_f64))")
_UNMODIFIED = re.compile(r"v_cvt_(sr|scalef32)_")
_SELECTS = re.compile(r"v_(alignb|cvt_sr_|cvt_scalef32_|cvt_pk_[fb][pf]8_|mad_[iu]32_[iu]16|pk_fmac)")
_SELECTS_NOT = re.compile(r"v_\w+_legacy_|v_cvt_pk_b?f16_f32|v_cvt_scalef32_(sr_)?(2x)?pk32")
_MIXED = re.compile(r"v_(mad|fma)_mix")
_COPIES = re.compile(r"buffer_load_([us]byte|[us]short|dword(x[34])?)$")
_ARRAYS = re.compile(r"v_cvt_scalef32_(sr_pk32|pk32|2xpk16)_")
_SIGNED = re.compile(r"^(-?\|[^-|]*\||-?\|-[\d.]+\||-?[^-|]*|-?(neg|abs|sext|lit|lit64)\(.*\))$")


def encoding_of(line: Line, op: Opcode) -> str:
    """The form by the suffix or, without one, by the modifiers: e32, e64, sdwa, dpp, e64_dpp, or "" if neither says."""
    if line.encoding or op.format not in _SHORT:
        return line.encoding
    if _DPP_WORDS & line.modifiers.keys():
        return "dpp"
    return "sdwa" if _SDWA_WORDS & line.modifiers.keys() else ""


def check(line: Line, op: Opcode, types: Signature) -> None:
    """ValueError when there is no such form of the instruction."""
    encoding = encoding_of(line, op)
    _check_form(op, types, encoding, line)
    _check_words(op, types, encoding, line)
    operands = line.operands[len(types.dst) :]
    for text in line.operands[: len(types.dst)]:
        if text.startswith(("-", "|", "neg(", "abs(", "sext(")):
            raise ValueError(f"{text}: a result takes no sign or magnitude")
    if op.name.startswith("s_cmpk") and registers.parse(line.operands[0]) is None:
        raise ValueError(f"{line.operands[0]}: a register is needed here")
    sources = [(t, text) for t, text in zip(types.src, operands, strict=False) if t.cls not in IMMEDIATES]
    if op.format in _SCALAR | _VECTOR | {"mfma"}:
        _check_signs(op, encoding, sources)
        _check_literals(op, encoding, sources)
    else:
        _check_memory(line, op, types, sources)
    if op.format == "mfma":
        _check_matrix(line, sources)
    if op.format in _VECTOR:
        _check_constant_bus(op, sources)
        _check_places(op, encoding, line, types, sources)


def _check_form(op: Opcode, types: Signature, encoding: str, line: Line) -> None:
    wide = any(t.dwords > 1 and t.cls != "sbool" for t in (*types.dst, *types.src))
    short = op.format in _SHORT
    missing = {
        "": False,
        "e32": op.format not in _SHORT | {"sop1", "sop2", "sopc"} or bool(_CONSTANT_IN_TEXT.match(op.name)),
        "e64": op.format not in _VECTOR or bool(_NO_E64.match(op.name)),
        "sdwa": not short or (wide and not _WIDE_SDWA.match(op.name)) or bool(_NO_SDWA.match(op.name)),
        "dpp": op.format not in ("vop1", "vop2") or bool(_NO_DPP.match(op.name)),
        "e64_dpp": True,
    }
    if missing[encoding]:
        raise ValueError(f"{op.name} has no form {encoding}")
    controls = _EXCLUSIVE_DPP & line.modifiers.keys()
    if encoding == "dpp" and wide and controls - {"row_newbcast"}:
        raise ValueError("DPP of operands of 64 bits takes row_newbcast only")


def _check_words(op: Opcode, types: Signature, encoding: str, line: Line) -> None:
    """Each modifier belongs to the instruction."""
    for word in line.modifiers:
        if line.tail.count(word) > 1 and len(re.findall(rf"(?:^|\s){word}(?=[:\s]|$)", line.tail)) > 1:
            raise ValueError(f"the modifier {word} stands twice")
        if not _allowed(word, op, types, encoding):
            form = f"{op.name}_{encoding}" if encoding else op.name
            raise ValueError(f"{form} does not take the modifier {word}")
    if op.name.startswith("v_dot2") and "1" in line.modifiers.get("op_sel", ""):
        raise ValueError(f"{op.name} reads both halves: op_sel chooses nothing")
    if len(_EXCLUSIVE_DPP & line.modifiers.keys()) > 1 or {"mul", "div"} <= line.modifiers.keys():
        raise ValueError("one of these modifiers is enough: " + ", ".join(line.modifiers))
    if "gds" in line.modifiers:
        raise ValueError("there is no global data share on these targets: remove gds")


def _allowed(word: str, op: Opcode, types: Signature, encoding: str) -> bool:
    if op.format in _VECTOR:
        return word in _VALU_WORDS and _allowed_in_vector(word, op, types, encoding)
    if op.format == "mfma":
        scaled = op.name.startswith("v_mfma_scale") and word in ("op_sel", "op_sel_hi")
        return scaled or (word == "neg" if types.dst[0].bits == 64 else word in _MATRIX_WORDS)
    if op.format in _MEMORY_WORDS:
        return word in _MEMORY_WORDS[op.format]
    return word in _FLAT_WORDS and op.format in ("flat", "global", "scratch")


def _allowed_in_vector(word: str, op: Opcode, types: Signature, encoding: str) -> bool:
    if word in _DPP_WORDS:
        return encoding == "dpp" or (word in ("bound_ctrl", "fi") and op.name.startswith("v_permlane"))
    if word in _SDWA_WORDS:
        names = {"src1_sel": len(types.src) > 1, "src0_sel": bool(types.src)}
        return encoding == "sdwa" and names.get(word, op.format != "vopc")
    if word == "bitop3":
        return "bitop3" in op.name
    long = encoding in ("e64", "") if op.format in _SHORT else True
    if word == "clamp":
        return (long or encoding == "sdwa") and (_clamps(op, types) or (encoding == "sdwa" and op.format == "vopc"))
    if word in ("mul", "div"):
        return (long or encoding == "sdwa") and _multiplies(op, types)
    if word == "op_sel":
        return long and _selects(op, types)
    if word in _PACKED_WORDS and op.format == "vop3p":
        dot, mixed = op.name.startswith("v_dot"), bool(_MIXED.match(op.name))
        return not op.name.startswith("v_accvgpr") and not (dot if word == "op_sel_hi" else mixed)
    return word in _PACKED_WORDS and long and op.name == "v_pk_fmac_f16"


def _is_float(type: Type) -> bool:
    return type.cls in ("f", "bf")


def _clamps(op: Opcode, types: Signature) -> bool:
    if op.format == "vop3p":
        return not op.name.startswith("v_accvgpr")
    if op.format == "vopc":
        return _is_float(types.src[0]) and "_class_" not in op.name
    if _UNMODIFIED.match(op.name) or _CONSTANT_IN_TEXT.match(op.name):
        return False
    return bool(types.dst) and (_is_float(types.dst[0]) or bool(_CLAMPED_INTEGERS.match(op.name)))


def _multiplies(op: Opcode, types: Signature) -> bool:
    if op.format == "vop3p" or _UNMODIFIED.match(op.name) or _CONSTANT_IN_TEXT.match(op.name):
        return False
    floats = bool(types.dst) and op.format != "vopc" and _is_float(types.dst[0])
    return floats or bool(_SCALED_INTEGERS.match(op.name))


def _selects(op: Opcode, types: Signature) -> bool:
    if op.format == "vop3p":
        return not re.match(r"v_(accvgpr|dot[48])", op.name)
    if _SELECTS_NOT.match(op.name) and not re.match(r"v_cvt_scalef32_(sr_)?pk_", op.name):
        return False
    halves = any(t.bits == 16 for t in (*types.dst, *types.src))
    return bool(_SELECTS.match(op.name)) or (op.format == "vop3" and halves)


def _check_signs(op: Opcode, encoding: str, sources: list[tuple[Type, str]]) -> None:
    for type, text in sources:
        if text.startswith(("-", "|")) and not _SIGNED.match(text):
            raise ValueError(f"{text}: signs and magnitudes are written once: -v1, |v1|, -|v1|, sext(v1)")
        sign = re.match(r"-(?![\d.])|\||neg\(|abs\(|-(?=[\d.]+\|)", text)
        if text.startswith("sext("):
            if encoding != "sdwa" or _is_float(type) or op.name == "v_cndmask_b32":
                raise ValueError(f"{text}: only integers of SDWA are extended with sext()")
        elif sign and constants.is_constant(text.strip("-|")) and op.format in _SHORT and _is_float(type):
            continue  # folded
        elif sign and not _takes_signs(op, encoding, type):
            raise ValueError(f"{text}: this operand of {op.name} takes no sign or magnitude")
        elif "|" in text and op.name.startswith("v_div_scale"):
            raise ValueError(f"{text}: {op.name} takes no magnitude")


def _takes_signs(op: Opcode, encoding: str, type: Type) -> bool:
    if op.format not in _VECTOR or encoding == "e32" or type.dwords > 2 or _ARRAYS.match(op.name):
        return False
    if op.format == "vop3p":
        return bool(_MIXED.match(op.name))
    return _is_float(type) or (op.name == "v_cndmask_b32" and type.cls != "sbool")


def literal(text: str, type: Type) -> bool:
    """Does a word of its own hold the constant (or symbol)?"""
    bare = text.lstrip("-|").rstrip("|")
    if constants.is_constant(bare):
        return not constants.is_inline(text if constants.is_constant(text) else bare, type)
    try:
        return registers.parse(bare) is None and not text.startswith(("neg(", "abs(", "sext("))
    except ValueError:
        return False


def _check_literals(op: Opcode, encoding: str, sources: list[tuple[Type, str]]) -> None:
    found = [(i, text) for i, (type, text) in enumerate(sources) if type.cls != "sbool" and literal(text, type)]
    if _CONSTANT_IN_TEXT.match(op.name):
        if len({text for _, text in found}) > 1:
            raise ValueError("an instruction holds one literal")
        return
    if not found or op.format in ("sopk", "sopp"):
        return
    if op.format in _SCALAR:
        if len({text for _, text in found}) > 1:
            raise ValueError(f"an instruction holds one literal, not {' and '.join(text for _, text in found)}")
        return
    if op.format not in _SHORT or encoding not in ("e32", ""):
        raise ValueError(f"{found[0][1]} does not fit in the instruction: this form of {op.name} takes no literal")
    if found[0][0] != 0:
        raise ValueError(f"{found[0][1]}: only the first source can be a literal")


def _scalar_source(text: str, type: Type) -> str:
    """What the operand takes from the constant bus: a register's name, a literal, or "" for nothing."""
    bare = re.sub(r"^(?:-|\||neg\(|abs\(|sext\()+|[|)]+$", "", text)
    try:
        register = registers.parse(bare)
    except ValueError:
        return ""
    if register is None:
        return bare if literal(text, type) else ""
    return "" if register.kind == Kind.VGPR else f"{register.kind}:{register.number}:{register.dwords}"


def _check_constant_bus(op: Opcode, sources: list[tuple[Type, str]]) -> None:
    if op.name.startswith(("v_readlane", "v_writelane")):
        return  # the lane comes another way
    read = {_scalar_source(text, type) for type, text in sources} - {""}
    if op.name.startswith("v_div_fmas"):
        read.add(f"{Kind.SGPR}:{registers.VCC}:2")
    if len(read) > 1:
        names = ", ".join(text for type, text in sources if _scalar_source(text, type))
        raise ValueError(f"{names}: vector instructions read one scalar register or literal at most")


def _is_vector(text: str) -> bool:
    return bool(re.match(r"^(?:-|\||neg\(|abs\(|sext\()*(v|a|acc)[\d\[]", text))


def _check_matrix(line: Line, sources: list[tuple[Type, str]]) -> None:
    for i, (type, text) in enumerate(sources):
        accumulator = i == 2 and type.cls in ("f", "i")
        if not _is_vector(text) and not (accumulator and constants.is_constant(text)):
            raise ValueError(f"{text}: vector registers are needed here")
        if accumulator and _is_vector(text) and text[0] != line.operands[0][0]:
            raise ValueError(f"{text} and {line.operands[0]}: both are of the same file, v or a")


def _check_memory(line: Line, op: Opcode, types: Signature, sources: list[tuple[Type, str]]) -> None:
    """Signs, the file of data registers, and sc0 of atomics that return."""
    for text in line.operands:
        if re.match(r"-(?!\d)|\||neg\(|abs\(|sext\(", text):
            raise ValueError(f"{text}: operands of memory instructions take no sign or magnitude")
    if op.format == "smem" or op.format not in _MEMORY_WORDS.keys() | {"flat", "global", "scratch"}:
        return
    if op.format != "mubuf":
        given = line.operands[-len(types.src) :] if types.src else ()
        for type, text in zip(types.src, given, strict=False):
            if type.cls == "b" and not _is_vector(text):
                raise ValueError(f"{text}: vector registers are needed here")
    if "lds" in line.modifiers and (len(line.operands) > len(types.src) or not _COPIES.match(op.name)):
        raise ValueError(
            f"a copy to LDS is a load of up to 32 bits (gfx950: 96 or 128) without a destination: {line.text}"
        )
    optional = any(t.optional for t in types.dst)
    if "atomic" in op.name and optional and "sc0" in line.modifiers and len(line.operands) == len(types.src):
        raise ValueError("sc0 says that the old value is returned, but there is no register for it")


def _check_places(op: Opcode, encoding: str, line: Line, types: Signature, sources: list[tuple[Type, str]]) -> None:
    """Sources that only vector registers can be, and results that only VCC can be."""
    if encoding in ("e32", "dpp") and not _CONSTANT_IN_TEXT.match(op.name):
        first = 0 if encoding == "dpp" else 1
        for type, text in sources[first:]:
            if type.cls != "sbool" and not _is_vector(text):
                raise ValueError(f"{text}: a vector register is needed here; {op.name}_e64 may take others")
    if op.name.startswith("v_writelane") and _is_vector(sources[0][1]):
        raise ValueError(f"{sources[0][1]}: a scalar register or a constant is needed here")
    if op.name.startswith("v_accvgpr"):
        wanted = {"write": "a", "mov": "aa", "read": " a"}[op.name.split("_")[2]]
        for file, text in zip(wanted, line.operands, strict=False):
            if file == "a" and not text.startswith("a"):
                raise ValueError(f"{text}: an accumulation register is needed here")
    masks = [t for t in zip(types.dst + types.src, line.operands, strict=False) if t[0].cls == "sbool"]
    if encoding in ("e32", "dpp") or (encoding == "sdwa" and op.format != "vopc"):
        for _, text in masks:
            if text != "vcc":
                raise ValueError(f"{text}: {op.name}_{encoding} takes vcc here")
    for type, text in sources:
        if type.dwords > 2 and type.cls != "sbool" and not _is_vector(text):
            raise ValueError(f"{text}: vector registers are needed here")
