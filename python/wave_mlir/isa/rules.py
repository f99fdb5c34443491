"""What the assembler refuses although every operand alone is right: forms, modifiers, literals, the constant bus.

The rules are those of LLVM's assembler for gfx942 and gfx950 ("Syntax of AMDGPU Instruction Modifiers", "Instruction
Formats" of the CDNA3 ISA). Text that LLVM refuses is refused here, so that a hand-written test cannot rest on an
instruction that does not exist.
"""

from __future__ import annotations

import re

from . import constants, memory_rules, order, registers
from .assembly import Line
from .encoding import Kind
from .native import Opcode
from .signature import IMMEDIATES, Signature, Type

_SHORT = frozenset({"vop1", "vop2", "vopc"})
_VECTOR = frozenset({"vop1", "vop2", "vop3", "vop3p", "vopc"})
_SCALAR = frozenset({"sop1", "sop2", "sopc", "sopk", "sopp"})
_CONSTANT_IN_TEXT = re.compile(r"v_(fma|mad)[am]k_")  # always with a literal, and only in the short form
_NO_E64 = re.compile(r"v_(readfirstlane|readlane|writelane|swap|accvgpr_mov)_b32|v_(fma|mad)[am]k_")
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
_ARRAYS = re.compile(r"v_cvt_scalef32_(sr_pk32|pk32|2xpk16)_")
_NUMBER, _PLAIN = r"-?[\d.][\w.]*", r"[^-|()]*"
_SIGNED = re.compile(
    rf"^(-?\|({_NUMBER}|{_PLAIN})\||-?abs\(({_NUMBER}|{_PLAIN})\)|sext\({_PLAIN}\)"
    rf"|neg\((\|{_PLAIN}\||abs\({_PLAIN}\)|{_NUMBER}|{_PLAIN})\)|-?(?!neg\(|abs\(|sext\()[^-|]*)$"
)


def encoding_of(line: Line, op: Opcode) -> str:
    """The form by the suffix or, without one, by the modifiers: e32, e64, sdwa, dpp, e64_dpp, or "" if neither says."""
    if line.encoding or op.format not in _SHORT:
        return line.encoding
    if op.name.startswith("v_permlane"):
        return ""  # what its modifiers say is in the one long form
    if _DPP_WORDS & line.modifiers.keys():
        return "dpp"
    return "sdwa" if _SDWA_WORDS & line.modifiers.keys() else ""


def check(line: Line, op: Opcode, types: Signature, given: memory_rules.Given) -> None:
    """ValueError when there is no such form of the instruction. given: its operands, results first."""
    encoding = encoding_of(line, op)
    _check_form(op, types, encoding, line)
    _check_words(op, types, encoding, line)
    order.check(line, op.format, encoding)
    if op.format in memory_rules.FORMATS:
        memory_rules.check(line, op, given[: len(types.dst)], given[len(types.dst) :])
        return
    operands = line.operands[len(types.dst) :]
    for text in line.operands[: len(types.dst)]:
        if text.startswith(("-", "|", "neg(", "abs(", "sext(")):
            raise ValueError(f"{text}: a result takes no sign or magnitude")
    if op.format in _SCALAR:
        _check_immediates(op, line)
    sources = [(t, text) for t, text in zip(types.src, operands, strict=False) if t.cls not in IMMEDIATES]
    if op.format in _SCALAR | _VECTOR | {"mfma"}:
        _check_signs(op, encoding, sources)
        _check_literals(op, encoding, sources)
        if line.address < 0 and not _WIDE_SDWA.match(op.name):  # a code object's literal may hold more than is read
            _check_halves(sources)
    if op.format == "mfma":
        _check_matrix(line, op, sources)
    if op.format in _VECTOR:
        _check_constant_bus(op, sources)
        short = (
            not encoding and op.format in _SHORT and any(literal(text, t) for t, text in sources if t.cls != "sbool")
        )
        if short and line.modifiers:
            raise ValueError(f"{op.name} with a literal takes no modifier, but has {', '.join(line.modifiers)}")
        _check_places(op, "e32" if short else encoding, line, types, sources)


def _check_immediates(op: Opcode, line: Line) -> None:
    """Which register, number or list of operands an immediate's neighbour and the immediate itself can be."""
    registers_at = {"s_cmpk": 0, "s_setreg_b32": 1, "s_setpc": 0, "s_swappc": 1, "s_movrels": 1}
    place = next((at for name, at in registers_at.items() if op.name.startswith(name)), None)
    if place is not None:
        register = registers.parse(line.operands[place])
        if register is None or register.kind != Kind.SGPR:
            raise ValueError(f"{line.operands[place]}: a scalar register is needed here")
    if op.name == "s_setreg_imm32_b32" and not constants.is_constant(line.operands[1]):
        raise ValueError(f"{line.operands[1]}: a number is needed here")
    last = line.operands[-1] if line.operands else ""
    if op.name.startswith("s_cmpk") and op.name.endswith("u32") and last.startswith("-"):
        raise ValueError(f"{last}: an unsigned number is needed here")


def _check_form(op: Opcode, types: Signature, encoding: str, line: Line) -> None:
    wide = any(t.dwords > 1 and t.cls != "sbool" for t in (*types.dst, *types.src))
    short = op.format in _SHORT
    missing = {
        "": False,
        "e32": op.format not in _SHORT | {"sop1", "sop2", "sopc"},
        "e64": op.format not in _VECTOR | {"mfma"} or bool(_NO_E64.match(op.name)),
        "sdwa": not short or (wide and not _WIDE_SDWA.match(op.name)) or bool(_NO_SDWA.match(op.name)),
        "dpp": op.format not in ("vop1", "vop2") or bool(_NO_DPP.match(op.name)),
        "e64_dpp": True,
    }
    if missing[encoding]:
        raise ValueError(f"{op.name} has no form {encoding}")
    controls = _EXCLUSIVE_DPP & line.modifiers.keys()
    if encoding == "dpp" and not controls:
        raise ValueError("DPP needs what says where lanes read: quad_perm:[...], row_shr:n and the like")
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
        return _allowed_in_matrix(word, op, types)
    return op.format in memory_rules.FORMATS and memory_rules.allowed(word, op)


def _allowed_in_matrix(word: str, op: Opcode, types: Signature) -> bool:
    if types.dst[0].bits == 64:
        return word == "neg"
    if op.name.endswith("f8f6f4"):
        return word in ("cbsz", "blgp") or (op.name.startswith("v_mfma_scale") and word in ("op_sel", "op_sel_hi"))
    return word in _MATRIX_WORDS and not (word == "blgp" and op.name.startswith("v_smfmac"))


def _allowed_in_vector(word: str, op: Opcode, types: Signature, encoding: str) -> bool:
    if word in _DPP_WORDS:
        return (encoding == "dpp" and word != "fi") or (
            word in ("bound_ctrl", "fi") and op.name.startswith("v_permlane")
        )
    if word in _SDWA_WORDS:
        names = {"src1_sel": len(types.src) > 1, "src0_sel": bool(types.src)}
        return encoding == "sdwa" and names.get(word, op.format != "vopc")
    if word == "bitop3":
        return "bitop3" in op.name
    long = encoding in ("e64", "") if op.format in _SHORT else True
    if word == "clamp":
        return (long or (encoding == "sdwa" and op.format != "vopc")) and _clamps(op, types)
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
        if text.startswith(("-", "|", "neg(", "abs(", "sext(")) and not _SIGNED.match(text):
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
    bare = re.sub(r"^neg\((.*)\)$", r"\1", text).lstrip("-|").rstrip("|")
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
    if any(re.match(r"-(?![\d.])|\||neg\(|abs\(", text) for _, text in sources):
        raise ValueError(f"{found[0][1]} and a sign or magnitude are no form of {op.name}")


def _check_halves(sources: list[tuple[Type, str]]) -> None:
    """Whole numbers of 16-bit operands fit in these."""
    for type, text in sources:
        value = int(text, 0) if constants.is_whole(text) else None
        if type.bits == 16 and not type.packed and value is not None and not -(1 << 15) <= value < 1 << 16:
            raise ValueError(f"the constant {text} does not fit in 16 bits")


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


def _check_matrix(line: Line, op: Opcode, sources: list[tuple[Type, str]]) -> None:
    others = sources[2:] if op.name.startswith("v_smfmac") else sources[3:]
    for _, text in others:  # indices of sparse A, scales
        if not re.match(r"v[\d\[]", text):
            raise ValueError(f"{text}: a vector register is needed here, no accumulation register")
    if op.name.endswith("f8f6f4"):
        _check_narrow(line, sources)
    for i, (type, text) in enumerate(sources):
        accumulator = i == 2 and type.cls in ("f", "i")
        if not _is_vector(text) and not (accumulator and constants.is_constant(text)):
            raise ValueError(f"{text}: vector registers are needed here")
        if accumulator and _is_vector(text) and text[0] != line.operands[0][0]:
            raise ValueError(f"{text} and {line.operands[0]}: both are of the same file, v or a")


def _check_narrow(line: Line, sources: list[tuple[Type, str]]) -> None:
    """Formats of 8, 6 and 4 bits take 8, 6 and 4 registers."""
    for word, (_, text) in zip(("cbsz", "blgp"), sources, strict=False):
        needed = {2: 6, 3: 6, 4: 4}.get(int(line.modifiers.get(word, "0"), 0), 8)
        register = registers.parse(text)
        if register is not None and register.dwords != needed:
            raise ValueError(f"{text} spans {register.dwords} registers, but the format of {word} takes {needed}")


def _check_places(op: Opcode, encoding: str, line: Line, types: Signature, sources: list[tuple[Type, str]]) -> None:
    """Sources that only vector registers can be, and results that only VCC can be."""
    if encoding in ("e32", "dpp") and not _CONSTANT_IN_TEXT.match(op.name):
        first = 0 if encoding == "dpp" else 1
        for type, text in sources[first:]:
            if type.cls != "sbool" and not _is_vector(text):
                raise ValueError(f"{text}: a vector register is needed here; {op.name}_e64 may take others")
    if op.name.startswith(("v_readlane", "v_readfirstlane")) and not _is_vector(sources[0][1]):
        raise ValueError(f"{sources[0][1]}: a vector register is needed here")
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
