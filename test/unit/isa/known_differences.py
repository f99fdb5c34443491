"""Where the second opinion is known to differ from this runner, as narrowly as can be said, and who is right.

An instruction whose text matches is either left out, or run between *guards*: instructions that take the values that
the two differ in out of its sources before it, or out of its results after it. Guards are arithmetic in which the two
agree, so everything else about the instruction is compared. "Pseudo-code" is AMD's, of the CDNA3 and CDNA4 ISA.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wave_mlir.isa import assembly, signature
from wave_mlir.isa.native import opcodes
from wave_mlir.isa.signature import Type

_TEMPORARY = "s[14:15]"  # a pair that programs do not use


@dataclass(frozen=True)
class Known:
    """Texts (a regular expression from the mnemonic on), guards before and after by name, and the reason.

    Without guards the instruction is left out.
    """

    texts: str
    reason: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


_HALVES = r"v_(add|sub)_i16|v_(min3|max3|med3|mad|fma)_(legacy_)?[iuf]16|v_bitop3_b16|v_div_fixup_(legacy_)?f16"
KNOWN = (
    # Left out: the second opinion does something else altogether.
    Known(r"v_cmpx_", "its EXEC is not the comparison, and it does not write the mask (pseudo-code: both)"),
    Known(r"s_bitset[01]_b64", "it clears the other register"),
    Known(r"s_cmov_b64", "it clears the high register where nothing is moved"),
    Known(r"v_mqsad_u32_u8", "it writes nothing"),
    Known(r"v_mqsad_pk_u16_u8", "it does not leave out bytes of the reference that are 0 (pseudo-code: v_msad_u8)"),
    Known(r"v_cvt_off_f32_i4", "it has no table: all results are 0"),
    Known(r"\w+_sdwa .*(sext|UNUSED_SEXT|[-|]v|[-|]s)", "it leaves out extension and signs of SDWA"),
    Known(r"v_pk_\w+ .* clamp", "it leaves out clamp of VOP3P"),
    Known(r"v_cvt_sr_bf16_f32", "its result is no neighbour of the value"),
    Known(r"v_cvt_pkaccum_u8_", "it writes all bytes; the pseudo-code one"),
    Known(r"v_mad_f16|v_mac_f16|v_mad_legacy_f16", "it rounds once; a multiply and an add round twice"),
    Known(r"v_cmp_class_f16\w* \S+ [^,]*, (-?\d\.|0\.15)", "an inline float as the mask of classes"),
    Known(r"v_trig_preop_f64", "its 2/pi has fewer bits"),
    Known(r"v_\w+_[iu]24\w* [^:]*, (-|0x|\d\.)", "it multiplies more than 24 bits of a constant"),
    Known(r"v_cvt_pk_[iu]16_[iu]32 [^:]*, (-|0x|\d+\.)", "it cuts bits off a constant that does not fit"),
    Known(r"s_absdiff_i32 .*(0x|vcc)", "of a constant: see below"),
    Known(r"v_frexp_\w+ \S+, (-?\d|0x|-\|\d)", "of a constant that is a denormal: see below"),
    Known(r"v_cvt_(pk)?norm_[iu]16_f", "how they are rounded no document says"),
    Known(r"v_\w*16\w* .*, -?[\d.]+(,[^:]*)? op_sel:", "the high half of a constant, which no document gives"),
    Known(r"v_div_scale_\w+ .*[-|]", "it leaves out signs"),
    Known(r"v_cvt_f32_bf16\w* \S+ -?\d\.", "it takes an inline float for one of f16"),
    Known(r"v_fmac_f64", "it takes the low half of the sum for an integer"),
    Known(r"v_pk_fmac_f16_e64", "how modifiers of VOP3 act on halves no document says"),
    Known(r"ds_wrxchg2", "it returns what it has written"),
    Known(r"ds_read_\w+_d16_hi", "it fills the low half"),
    Known(r"global_atomic_(\w+_x2|\w+_f64|inc|dec) .*sc0", "it does not return the old value"),
    Known(r"global_atomic_cmpswap_x2", "it compares other bits"),
    Known(r"s_(buffer_)?load_\w+ .*, s42", "it leaves out an offset in a register"),
    Known(r"ds_add_rtn_f64", "it returns 0"),
    Known(r"\w+_dpp .*[-|]v", "it leaves out signs of what DPP moves"),
    Known(r"v_frexp_\w+_dpp .*bound_ctrl", "of the 0 that bound_ctrl reads: see below"),
    Known(r"v_mad_[iu]32_[iu]16 .*op_sel:\[[01],[01],(1|0,1)", "it takes halves of the 32 bits of the sum, too"),
    # Values guarded, before.
    Known(r"v_\w+_[iu]24", "it multiplies more than 24 bits", ("23 bits",)),
    Known(r"v_cvt_pk_[iu]16_[iu]32", "it cuts bits off; LLVM's clamps rely on saturation", ("15 bits",)),
    Known(r"s_absdiff_i32", "it takes the difference of more than 32 bits (pseudo-code: it wraps)", ("30 bits",)),
    Known(
        r"v_frexp_",
        "of denormals and 0 it has the exponent's field (as the pseudo-code); C's frexp, for which LLVM uses "
        "the instruction, has the value's exponent",
        ("normal",),
    ),
    Known(r"v_ldexp_", "0 and infinity times 2 to the power of a great number is a NaN to it", ("4 bits",)),
    Known(r"v_cvt_(pk_)?[iu](8|16|32)_f", "a NaN is its greatest number; the ISA says 0", ("number",)),
    Known(r"v_cvt_i32_f(32|64)", "it does not saturate (ISA: out of range saturates)", ("bounded",)),
    Known(r"v_cvt_(flr|rpi)_", "it does not saturate, and a NaN is its least number", ("bounded",)),
    Known(r"v_cvt_[iu]16_f16", "it does not saturate", ("fraction",)),
    Known(r"v_(pk_)?(minimum3|maximum3)_", "it does not give the NaN (pseudo-code: v_minimum_f32)", ("number",)),
    Known(
        r"v_(pk_)?(min|max|min3|max3|med3)_(num_)?(legacy_)?f", "NaN that are negated, or in packed halves", ("number",)
    ),
    Known(r"v_cvt_(pk|sr)_(fp8|bf8|bf16)_f32", "which NaN it gives", ("number",)),
    Known(
        r"v_cvt_sr_(fp8|bf8)_f32",
        "sums that carry into the exponent, and are rounded again (as in the pseudo-code; "
        "AMD's emulation in HIP carries and cuts off)",
        ("exact", "31 bits"),
    ),
    Known(
        r"v_div_fixup_f(32|64)",
        "a quotient that underflows is the least number; LLVM's division needs 0",
        ("moderate",),
    ),
    Known(r"v_div_scale_|v_div_fmas_", "of operands that need scaling (here LLVM's division is right)", ("moderate",)),
    Known(r"\w+_pk_add_(rtn_)?b?f16", "which of two NaN, no document says", ("no NaN halves",)),
    # After.
    Known(r"ds_read_\w+_d16 ", "it clears the other half (pseudo-code: preserved)", (), ("low half",)),
    Known(
        _HALVES + r"(?! .*op_sel:\[[01,]*1\])",
        "it clears the other half; LLVM says those new in GFX9 keep it",
        (),
        ("low half",),
    ),
    Known(r"v_mad_[iu]64_|\w*_co_u32_sdwa", "it does not write the carry", (), ("mask",)),
    Known(r"\w*_co_u32_e", "it has a carry in lanes that are off", (), ("lanes",)),
    Known(r"\w*_co_u32_dpp", "it has a carry in lanes that DPP turns off", (), ("mask",)),
    Known(
        r"v_fract_f(16|32)",
        "tiny negative numbers give 1 (as the pseudo-code); LLVM uses the instruction for "
        "min(x - floor(x), the number before 1)",
        (),
        ("below 1",),
    ),
    Known(r"v_fract_f64", "the same", ("moderate",)),
    Known(
        r"v_rndne_",
        "it adds one half first (as the pseudo-code), so that odd numbers without fractions and 0.4999 are "
        "rounded up and small negative ones give 0; LLVM's roundeven needs the nearest, and -0",
        ("bounded",),
        ("positive zero",),
    ),
    Known(
        r"v_(pk_)?(min|max|min3|max3|med3|minimum3|maximum3)_(num_)?(legacy_)?f",
        "it takes either zero",
        (),
        ("positive zero",),
    ),
    Known(
        r".* clamp", "it keeps NaN and -0, which DX10_CLAMP and the clamp make 0 (ISA)", (), ("number", "positive zero")
    ),
    Known(
        r"v_(pk_)?(add|sub|subrev|mul|fma|fmac|mul_legacy|dot2|dot2c)_\w*f",
        "which NaN, and its sign, no document says",
        (),
        ("number",),
    ),
    Known(r"v_cvt_(pk_)?f32_(fp8|bf8)|v_div_fixup|v_cube|v_fma_mix|v_mad_mix", "the same", (), ("number",)),
    Known(r"v_(add|sub|subrev|mul)_f\d\d_(sdwa|dpp)", "the same, in parts of registers", ("number",)),
)


def _is_vector(text: str) -> bool:
    return text.startswith("v") and text != "vcc"


def _parts(text: str) -> list[str]:
    """Names of the registers of `v5`, `v[6:7]`, `s[8:9]`; none of a constant or a special register."""
    match = re.match(r"^([vs])(?:(\d+)|\[(\d+):(\d+)\])$", text)
    if not match:
        return []
    bank, single, low, high = match.groups()
    return [f"{bank}{n}" for n in range(int(single or low), int(single or high) + 1)]


def _masked(text: str, keep: int, add: int = 0, high: bool = False) -> list[str]:
    """Bits of each register (or the last one) kept, and set."""
    out = []
    for name in _parts(text)[-1:] if high else _parts(text):
        if name.startswith("s"):
            out += [f"s_and_b32 {name}, {name}, {keep:#x}"] + [f"s_or_b32 {name}, {name}, {add:#x}"] * bool(add)
        else:
            out += [f"v_and_b32_e32 {name}, {keep:#x}, {name}"] + [f"v_or_b32_e32 {name}, {add:#x}, {name}"] * bool(add)
    return out


def _number(type: Type, text: str) -> list[str]:
    """A NaN becomes 0; scalar registers lose infinities and great numbers too."""
    if not _parts(text):
        return []
    if not _is_vector(text):
        return _masked(text, 0xBFFFBFFF if type.bits == 16 else 0xBFFFFFFF, high=type.bits == 64)
    if type.bits == 64:
        compare = [f"v_cmp_o_f64_e64 {_TEMPORARY}, {text}, {text}"]
        return [*compare, *(f"v_cndmask_b32_e64 {v}, 0, {v}, {_TEMPORARY}" for v in _parts(text))]
    out = []
    for name in _parts(text):
        tests = [f"v_cmp_o_f32_e64 {_TEMPORARY}, {name}, {name}"]
        if type.bits == 16:
            words = [f"{name}, {name} src0_sel:WORD_{i} src1_sel:WORD_{i}" for i in range(2)]
            tests = [f"v_cmp_o_f16_sdwa {_TEMPORARY}, {word}" for word in words]
        for test in tests:
            out += [test, f"v_cndmask_b32_e64 {name}, 0, {name}, {_TEMPORARY}"]
    return out


def _moderate(type: Type, text: str) -> list[str]:
    """Normal numbers near 1: two binades of f16, eight of f32 and f64."""
    if type.bits == 64:
        return _masked(text, 0x807FFFFF, 0x3F800000, high=True)
    return _masked(text, *((0x87FF87FF, 0x38003800) if type.bits == 16 else (0x83FFFFFF, 0x3C000000)))


def _fraction(type: Type, text: str) -> list[str]:
    """Normal numbers from 1/8 to 1/2."""
    return _masked(text, *((0x87FF87FF, 0x30003000) if type.bits == 16 else (0x80FFFFFF, 0x3E000000)))


def _normal(type: Type, text: str) -> list[str]:
    """No denormals, no 0: the lowest bit of the exponent is set."""
    low = {16: 0x04000400, 32: 0x00800000, 64: 0x00100000}[type.bits]
    return _masked(text, 0xFFFFFFFF, low, high=type.bits == 64)


def _bounded(type: Type, text: str) -> list[str]:
    """Magnitudes below 2^17, of f16 below 2^9; none from 2^-7 to 1."""
    return _masked(text, {16: 0xDFFFDFFF, 32: 0xC7FFFFFF, 64: 0xC0FFFFFF}[type.bits], high=type.bits == 64)


def _positive_zero(type: Type, text: str) -> list[str]:
    """-0 becomes 0."""
    if type.bits == 64:
        return [f"v_add_f64 {text}, {text}, 0"]
    return [f"v_add_f32_e32 {v}, 0, {v}" if type.bits == 32 else f"v_pk_add_f16 {v}, {v}, 0" for v in _parts(text)]


def _cleared(type: Type, text: str) -> list[str]:
    """0: of a mask of lanes."""
    return [f"s_mov_b64 {text}, 0"] if type.cls == "sbool" else []


def _below_1(type: Type, text: str) -> list[str]:
    """1 becomes the number before it."""
    if type.bits == 16:
        return [f"v_min_f16_e32 {text}, 0x3bff, {text}"]
    return [f"v_min_f32_e32 {text}, 0x3f7fffff, {text}"]


_GUARDS: dict[str, Callable[[Type, str], list[str]]] = {
    "number": lambda t, x: _number(t, x) if t.cls in ("f", "bf") else [],
    "moderate": lambda t, x: _moderate(t, x) if t.cls == "f" else [],
    "fraction": lambda t, x: _fraction(t, x) if t.cls == "f" else [],
    "normal": lambda t, x: _normal(t, x) if t.cls == "f" else [],
    "bounded": lambda t, x: _bounded(t, x) if t.cls == "f" else [],
    "exact": lambda t, x: _masked(x, 0x82E00000, 0x3D000000) if t.cls == "f" else [],
    "below 1": _below_1,
    "positive zero": lambda t, x: _positive_zero(t, x) if t.cls == "f" else [],
    "mask": _cleared,
    "lanes": lambda t, x: [f"s_and_b64 {x}, {x}, exec"] if t.cls == "sbool" else [],
    "low half": lambda t, x: _masked(x, 0xFFFF),
    "15 bits": lambda t, x: _masked(x, 0x7FFF) if t.bits == 32 else [],
    "23 bits": lambda t, x: _masked(x, 0x7FFFFF),
    "no NaN halves": lambda t, x: _masked(x, 0xBF7FBF7F) if t.cls == "b" and _is_vector(x) else [],
    "30 bits": lambda t, x: [f"s_lshr_b32 {name}, {name}, 2" for name in _parts(x)],
    "31 bits": lambda t, x: _masked(x, 0x7FFFFFFF) if t.cls != "f" else [],
    "4 bits": lambda t, x: _masked(x, 15) if t.cls != "f" else [],
}


def _bare(text: str) -> str:
    return re.sub(r"^(?:-|\||sext\(|neg\(|abs\()+|[|)]+$", "", text)


def guarded(line: str) -> list[str] | None:
    """The instruction among its guards; None when it is left out."""
    found = [k for k in KNOWN if re.match(k.texts, line)]
    if any(not (k.before or k.after) for k in found):
        return None
    (parsed,) = assembly.parse(f"program:\n{line}\n", "program").functions[0].lines
    types = signature.parse(opcodes()[parsed.mnemonic].signature)
    operands = [_bare(text) for text in parsed.operands]
    given = len(types.dst) if len(operands) >= len(types.dst) + len(types.src) else 0  # an atomic need not return
    results = list(zip(types.dst[:given], operands, strict=False))
    sources = list(zip(types.src, operands[given:], strict=False))
    before = [g for k in found for name in k.before for t, x in sources for g in _GUARDS[name](t, x)]
    after = [g for k in found for name in k.after for t, x in results for g in _GUARDS[name](t, x)]
    return [*_once(before), line, *_once(after)]


def _once(lines: Sequence[str]) -> list[str]:
    """Each pair of a test and what it guards once: lines that repeat right away are dropped."""
    out: list[str] = []
    for line in lines:
        if line not in out or _TEMPORARY in line:
            out.append(line)
    return out
