"""Reading assembly text: labels, operands, modifiers, constants, errors."""

from __future__ import annotations

import pytest
from wave_mlir.isa import IsaError, assembly, constants, encoder, immediates, modifiers, registers, signature
from wave_mlir.isa.encoding import Flags, Kind


def _line(text: str) -> assembly.Line:
    return assembly.parse_instruction(text, 1)


def test_operands_and_modifiers() -> None:
    line = _line("v_add_f32_dpp v0, -|v1|, v2 quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0x3 bound_ctrl:1")
    assert (line.mnemonic, line.encoding) == ("v_add_f32", "dpp")
    assert line.operands == ("v0", "-|v1|", "v2")
    assert line.modifiers == {"quad_perm": "[3,2,1,0]", "row_mask": "0xf", "bank_mask": "0x3", "bound_ctrl": "1"}


@pytest.mark.parametrize(
    "text, operands, names",
    [
        ("buffer_wbl2 sc1", (), ["sc1"]),
        ("s_endpgm", (), []),
        ("global_load_dword v1, v[2:3], off offset:-16 sc0 nt", ("v1", "v[2:3]", "off"), ["offset", "sc0", "nt"]),
        ("v_mov_b32_sdwa v0, sext(v1) dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_2",
         ("v0", "sext(v1)"), ["dst_sel", "dst_unused", "src0_sel"]),
        ("s_mov_b32 s0, src_scc", ("s0", "src_scc"), []),
        ("ds_swizzle_b32 v0, v1 offset:swizzle(QUAD_PERM,0,1,2,3)", ("v0", "v1"), ["offset"]),
    ],
)  # fmt: skip
def test_pieces(text: str, operands: tuple[str, ...], names: list[str]) -> None:
    line = _line(text)
    assert line.operands == operands
    assert list(line.modifiers) == names


def test_listing() -> None:
    text = """
\t.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
\t.file 1 "src" "k.py"
\t.type k,@function
k:                                      ; @k
\t.loc 1 7 3                     ; k.py:7:3
\ts_nop 0 // comment
.LBB0_1: s_nop 1
\t.section .rodata,"a",@progbits
table:
\t.long 1, 2
\t.amdhsa_kernel k
\t\t.amdhsa_kernarg_size 8
\t.end_amdhsa_kernel
\t.text
\ts_endpgm
\t.amdgpu_metadata
---
amdhsa.kernels: []
...
\t.end_amdgpu_metadata
"""
    listing = assembly.parse(text, "k.s")
    (function,) = listing.functions
    assert listing.target == "gfx950"
    assert [i.text for i in function.lines] == ["s_nop 0", "s_nop 1", "s_endpgm"]
    assert function.labels == {"k": 0, ".LBB0_1": 1}
    assert [(i.file, i.line) for i in function.lines] == [(1, 7)] * 3
    assert listing.files == {1: "src/k.py"}
    assert listing.kernels == {"k": {".amdhsa_kernarg_size": "8"}}
    assert [(s, t) for s, _, t in listing.data] == [
        (".rodata", "table:"),
        (".rodata", ".long 1, 2"),
    ]


@pytest.mark.parametrize(
    "line, kind, message",
    [
        (".rept 4", "unsupported", r"\.rept is for an assembler to expand; give what it makes"),
        (".macro add", "unsupported", r"\.macro is for an assembler"),
        (".if 0", "unsupported", r"\.if is for an assembler"),
        (".ifdef X", "unsupported", r"\.ifdef is for an assembler"),
        ('.include "more.s"', "unsupported", r"\.include is for an assembler"),
        (".set N, 4", "unsupported", "N is set to 3 before"),
        (".long 0xbf810000", "unsupported", r"'\.long 0xbf810000' among the instructions"),
        (".fill 4, 4, 0xbf810000", "unsupported", "among the instructions"),
        ("loop:", "input", "the label loop is defined a second time"),
    ],
)
def test_what_only_an_assembler_can_do_is_refused(line: str, kind: str, message: str) -> None:
    text = f"k:\n.set N, 3\nloop:\n s_nop 0\n {line}\n s_endpgm\n"
    with pytest.raises(IsaError, match=message) as caught:
        assembly.parse(text)
    assert (caught.value.kind, caught.value.finding.source) == (kind, "kernel.s:5")


def test_padding_behind_a_function_and_equal_sets() -> None:
    end = ".p2alignl 6, 3212836864\n.fill 256, 4, 3212836864\n"
    text = f"k:\n.set N, 3\n.set N, 3\n s_endpgm\n.long 5\n.zero 8\n.type f,@function\nf:\n s_nop 0\n{end}"
    assert [[line.text for line in f.lines] for f in assembly.parse(text).functions] == [["s_endpgm"], ["s_nop 0"]]


def test_block_comments() -> None:
    text = """k: /* a kernel */
 v_mov_b32 v0, 1 /* v_mov_b32 v0, 2
 v_mov_b32 v0, 3
 */ s_nop 1 /* */ /* s_nop 2 */
 s_nop 3 ; not the start of one: /*
 s_nop /* inside */ 4 // nor this: /*
 s_endpgm
"""
    (function,) = assembly.parse(text).functions
    assert [line.text for line in function.lines] == ["v_mov_b32 v0, 1", "s_nop 1", "s_nop 3", "s_nop 4", "s_endpgm"]
    assert [line.number for line in function.lines] == [2, 4, 5, 6, 7]


def test_no_instructions() -> None:
    with pytest.raises(IsaError, match=r"empty\.s: input: no AMDGPU instruction"):
        assembly.parse("; nothing\n", "empty.s")


@pytest.mark.parametrize(
    "text, type, bits",
    [
        ("1.0", "f32", 0x3F800000),
        ("1.0", "f16", 0x3C00),
        ("1.0", "f64", 0x3FF0000000000000),
        ("1.0", "b64", 0x3FF0000000000000),
        ("1.0", "u32", 0x3F800000),
        ("1.0", "f16x2", 0x3C00),  # the low half only
        ("1.0", "i16x2", 0x3F800000),  # single precision
        ("-1", "i16x2", 0xFFFFFFFF),
        ("-4", "f16x2", 0xFFFFFFFC),
        ("-1", "u16", 0xFFFF),
        ("-1", "u32", 0xFFFFFFFF),
        ("-1", "u64", 0xFFFFFFFFFFFFFFFF),
        ("64", "f64", 64),
        ("0x3ff00000", "f64", 0x3FF0000000000000),  # a literal is the high half
        ("0x80000000", "i64", 0xFFFFFFFF80000000),
        ("0x80000000", "b64", 0x80000000),
        ("0xffff0000", "u64", 0xFFFF0000),
        ("lit(0x40)", "f64", 0x4000000000),
        ("0.15915494", "f32", 0x3E22F983),
        ("0.15915494", "f16", 0x3118),
        ("0.15915494309189532", "f64", 0x3FC45F306DC9C882),
        ("2.5", "f32", 0x40200000),
        ("2.5", "f64", 0x4004000000000000),
        ("0xfc00", "f16", 0xFC00),
        ("1.0", "f32x4", 0x3F800000),
        ("-0.5", "bf16", 0xBF00),
    ],
)
def test_constants(text: str, type: str, bits: int) -> None:
    (parsed,) = signature.parse(f"= {type}").src
    assert constants.is_constant(text)
    assert constants.raw_bits(text, parsed) == bits


@pytest.mark.parametrize("text", ["0x100000000", "-2147483649"])
def test_constant_too_large(text: str) -> None:
    with pytest.raises(ValueError, match="32 bits"):
        constants.raw_bits(text, signature.parse("= u32").src[0])


@pytest.mark.parametrize(
    "text, kind, number, dwords",
    [
        ("v7", Kind.VGPR, 7, 1),
        ("v[2:5]", Kind.VGPR, 2, 4),
        ("a[0:15]", Kind.VGPR, 256, 16),
        ("s[4:5]", Kind.SGPR, 4, 2),
        ("vcc", Kind.SGPR, 106, 2),
        ("exec_hi", Kind.SGPR, 127, 1),
        ("m0", Kind.SGPR, 124, 1),
        ("ttmp9", Kind.SGPR, 117, 1),
        ("src_shared_base", Kind.SPECIAL, 3, 0),
    ],
)
def test_registers(text: str, kind: Kind, number: int, dwords: int) -> None:
    assert registers.parse(text) == registers.Register(kind, number, dwords)


@pytest.mark.parametrize(
    "text, message",
    [
        ("v256", "out of range"),
        ("s[101:102]", "out of range"),
        ("s[1:2]", "multiple of 2"),
        ("s[2:5]", "multiple of 4"),
        ("v[1:2]", "even"),
        ("v[3:2]", "out of range"),
    ],
)
def test_wrong_registers(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        registers.parse(text)


@pytest.mark.parametrize(
    "text, bits",
    [  # as LLVM's assembler encodes them for gfx942
        ("vmcnt(0) expcnt(0) lgkmcnt(0)", 0x0000),
        ("vmcnt(0)", 0x0F70),
        ("lgkmcnt(0)", 0xC07F),
        ("vmcnt(63) & lgkmcnt(3)", 0xC37F),
        ("vmcnt(17), lgkmcnt(1)", 0x4171),
        ("0xc07f", 0xC07F),
        ("0", 0),
        ("vmcnt_sat(100)", 0xCF7F),
    ],
)
def test_waitcnt(text: str, bits: int) -> None:
    assert immediates.waitcnt(text) == bits


@pytest.mark.parametrize(
    "text, bits",
    [
        ("swizzle(QUAD_PERM,0,1,2,3)", 0x80E4),
        ('swizzle(BITMASK_PERM,"00p11")', 0x64),
        ('swizzle(BITMASK_PERM,"01pip")', 0x0907),
        ("swizzle(BROADCAST,8,3)", 0x78),
        ("swizzle(SWAP,16)", 0x401F),
        ("swizzle(REVERSE,8)", 0x1C1F),
        ("swizzle(ROTATE,1,4)", 0xC480),
        ("swizzle(FFT,31)", 0xE01F),
        ("65535", 65535),
    ],
)
def test_swizzle(text: str, bits: int) -> None:
    assert immediates.ds_offset(text) == bits


def test_hwreg_and_sendmsg() -> None:
    assert immediates.hwreg("hwreg(HW_REG_MODE, 0, 4)") == 1 | 3 << 11
    assert immediates.hwreg("hwreg(HW_REG_XCC_ID)") == 20 | 31 << 11
    assert immediates.sendmsg("sendmsg(MSG_INTERRUPT)") == 1


@pytest.mark.parametrize(
    "name, value, field, expected",
    [
        ("row_shl", "3", "dpp", 0x103),
        ("row_ror", "15", "dpp", 0x12F),
        ("wave_shr", "1", "dpp", 0x138),
        ("row_bcast", "31", "dpp", 0x143),
        ("row_half_mirror", "", "dpp", 0x141),
        ("row_newbcast", "5", "dpp", 0x155),
        ("quad_perm", "[1,0,3,2]", "dpp", 0xB1),
        ("mul", "4", "omod", 2),
        ("div", "2", "omod", 3),
        ("neg_lo", "[1,0,1]", "neglo", 5),
        ("op_sel", "[0,1,1]", "opsel", 0b1010),  # two sources and the destination
        ("op_sel", "[0,0,1,1]", "opsel", 0b1100),
        ("op_sel", "[1,0]", "opsel", 1),
        ("bound_ctrl", "0", "flags", Flags.BOUND_CTRL),
        ("glc", "", "flags", Flags.SC0),
        ("offset1", "255", "offset1", 255),
        ("blgp", "4", "blgp", 4),
    ],
)
def test_modifiers(name: str, value: str, field: str, expected: int) -> None:
    fields = {"flags": 0}
    modifiers.apply(fields, name, value, 2, "vop3")
    assert fields[field] == expected


@pytest.mark.parametrize(
    "name, value",
    [("row_shl", "16"), ("row_shl", "0"), ("mul", "3"), ("nonsense", ""), ("op_sel", "[2]"), ("blgp", "x")],
)
def test_wrong_modifiers(name: str, value: str) -> None:
    with pytest.raises(ValueError, match=name):
        modifiers.apply({"flags": 0}, name, value, 2, "vop3")


def _encode(lines: str, target: str = "gfx942") -> encoder.Program:
    return encoder.encode(assembly.parse(f"k:\n{lines}\n s_endpgm\n", "k.s").functions, target, name="k.s")


def test_unknown_instructions_are_listed_together() -> None:
    with pytest.raises(IsaError) as caught:
        _encode(" v_frobnicate_b32 v0, v1\n s_barrier\n v_frobnicate_b32 v1, v2\n s_twist s0")
    text = str(caught.value)
    assert caught.value.kind == "unsupported"
    assert "k.s:2: v_frobnicate_b32 v0, v1" in text and "k.s:5: s_twist s0" in text
    assert "2 instructions" in text


def test_operand_count() -> None:
    with pytest.raises(IsaError, match=r"k\.s:2: program: 1 operands, but the instruction takes 0\n  in: s_barrier v0"):
        _encode(" s_barrier v0")
