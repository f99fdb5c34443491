"""Operands against signatures: what is encoded, and that each mistake is one located message."""

from __future__ import annotations

import random

import pytest
from wave_mlir.isa import IsaError, assembly, encoder, loader
from wave_mlir.isa.encoding import Flags, Kind, OperandBits
from wave_mlir.isa.expressions import Symbols
from wave_mlir.isa.native import opcodes
from wave_mlir.isa.signature import parse


def _encode(lines: str, target: str = "gfx950", symbols: Symbols | None = None) -> encoder.Program:
    functions = assembly.parse(f"k:\n{lines}\n s_endpgm\n", "k.s").functions
    return encoder.encode(functions, target, name="k.s", symbols=symbols)


def test_every_signature_is_of_the_grammar() -> None:
    for op in opcodes().values():
        shape = parse(op.signature)
        assert len(shape.dst) <= 2 and len(shape.src) <= 5, op
        assert op.targets, op


@pytest.mark.parametrize(
    "line, kinds, values",
    [
        ("v_add_f32_e32 v0, 1.0, v1", (Kind.CONSTANT, Kind.VGPR), (0x3F800000, 0)),
        ("v_add_f16_e32 v0, 1.0, v1", (Kind.CONSTANT, Kind.VGPR), (0x3C00, 0)),
        ("v_add_f64 v[0:1], v[2:3], 1.0", (Kind.VGPR, Kind.CONSTANT), (0, 0x3FF0000000000000)),
        ("v_add_u32_e32 v0, 0x12345678, v1", (Kind.CONSTANT, Kind.VGPR), (0x12345678, 0)),
        ("s_mov_b64 s[0:1], -1", (Kind.CONSTANT,), (0xFFFFFFFFFFFFFFFF,)),
        ("s_and_b64 s[0:1], exec, vcc", (Kind.SGPR, Kind.SGPR), (0, 0)),
        ("global_load_dword v0, v[2:3], off", (Kind.VGPR, Kind.NONE), (0, 0)),
        ("global_load_dword v0, v2, s[4:5]", (Kind.VGPR, Kind.SGPR), (0, 0)),
        ("buffer_load_dword v0, off, s[4:7], 0", (Kind.NONE, Kind.SGPR, Kind.CONSTANT), (0, 0, 0)),
        ("s_load_dwordx2 s[0:1], s[2:3], 0x10", (Kind.SGPR, Kind.NONE), (0, 0)),
    ],
)
def test_operands(line: str, kinds: tuple[Kind, ...], values: tuple[int, ...]) -> None:
    sources = _encode(line).instructions[0]["src"]
    assert tuple(sources["kind"][: len(kinds)]) == kinds
    assert tuple(int(v) for v in sources["value"][: len(values)]) == values
    assert (sources["kind"][len(kinds) :] == Kind.NONE).all()


def test_fields() -> None:
    program = _encode(
        """ v_fma_f32 v0, -v1, |v2|, -|v3| clamp mul:2
 v_add_u32_sdwa v0, sext(v1), v2 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:DWORD
 v_mov_b32_dpp v0, v1 row_shr:1 row_mask:0xa bank_mask:0x5 bound_ctrl:1
 v_pk_fma_f16 v0, v1, v2, v3 op_sel:[0,1,0] op_sel_hi:[1,0,1] neg_lo:[0,0,1]
 ds_read2_b32 v[0:1], v2 offset0:3 offset1:200
 s_load_dword s0, s[2:3], s4 offset:0x20
 s_waitcnt vmcnt(0) & lgkmcnt(0)
.L: s_cbranch_scc1 .L
 global_atomic_add_f32 v0, v[2:3], v4, off offset:-8 sc0
 global_atomic_add_f32 v[2:3], v4, off"""
    )
    fma, sdwa, dpp, packed, lds, smem, wait, branch, returned, plain = program.instructions[:10]
    assert list(fma["src"]["bits"][:3]) == [OperandBits.NEG, OperandBits.ABS, OperandBits.NEG | OperandBits.ABS]
    assert (fma["omod"], fma["flags"]) == (1, Flags.CLAMP)
    assert (sdwa["dstsel"], sdwa["dstunused"], list(sdwa["src"]["sel"][:2])) == (1, 2, [5, 6])
    assert sdwa["src"]["bits"][0] == OperandBits.SEXT and sdwa["flags"] == Flags.SDWA
    assert (dpp["dpp"], dpp["rowmask"], dpp["bankmask"]) == (0x111, 10, 5)
    assert dpp["flags"] == Flags.DPP | Flags.BOUND_CTRL
    assert (packed["opsel"], packed["opselhi"], packed["neglo"]) == (2, 5, 4)
    assert (lds["offset"], lds["offset1"]) == (3, 200)
    assert smem["src"]["kind"][1] == Kind.SGPR and smem["offset"] == 0x20
    assert wait["offset"] == 0x70 and branch["target"] == 7
    assert returned["dst"]["kind"][0] == Kind.VGPR and returned["offset"] == -8 and returned["flags"] & Flags.SC0
    assert plain["dst"]["kind"][0] == Kind.NONE


def test_symbols() -> None:
    """A pair of pc-relative halves gives the address relative to the end of s_getpc (rel32@lo+4, rel32@hi+12)."""
    program = _encode(
        """ s_getpc_b64 s[0:1]
 s_add_u32 s0, s0, table@rel32@lo+4
 s_addc_u32 s1, s1, table@rel32@hi+12
 s_mov_b32 s2, tile@abs32@lo
 s_add_u32 s0, s0, (.Lend-.Lpc)&4294967295
.Lpc:
 s_nop 0
.Lend:""",
        symbols=Symbols({"table": 0x123456789A0, "tile": 512}),
    )
    words = program.instructions["src"]["value"]
    after = int(program.instructions["address"][1])
    assert int(words[1][1]) | int(words[2][1]) << 32 == (0x123456789A0 - after) % 2**64
    assert words[3][0] == 512 and words[4][1] == 4


@pytest.mark.parametrize(
    "line, message",
    [
        ("v_add_f32_e32 v0, v1", "2 operands, but the instruction takes 3"),
        ("v_add_f32_e32 s0, v1, v2", "s0: a vector register is needed here"),
        ("v_add_f32_e32 v0, v1, a2", "a2: vector arithmetic cannot use accumulation registers"),
        ("v_add_f32_e32 1.0, v1, v2", "'1.0' is not a register"),
        ("v_add_f32_e32 v0, v1, v300", "v300 is out of range: the registers are v0 to v255"),
        ("v_add_f32_e32 v0, v1, v[2:3]", r"v\[2:3\] spans 2 registers, but the operand has 1"),
        ("v_add_f64 v[0:1], v[2:3], v4", "v4 spans 1 registers, but the operand has 2"),
        ("s_add_u32 s0, s1, v2", "v2: a scalar register is needed here"),
        ("s_mov_b64 s[1:2], 0", "multiple of 2"),
        ("s_mov_b32 src_shared_base, 0", "src_shared_base cannot be written"),
        ("s_branch .Lnowhere", r"there is no label \.Lnowhere"),
        ("s_branch 100", "where no instruction starts"),
        ("s_mov_b32 s0, table@rel32@lo+4", "the symbol table is not defined in this file"),
        ("s_mov_b32 s0, nonsense", "nonsense is neither a register nor a symbol"),
        ("s_waitcnt vmcnt(64)", r"vmcnt\(64\): the counter counts to 63"),
        ("s_waitcnt vmcnt(0) foo(1)", "'foo.*is not a counter"),
        ("v_add_f32_e64 v0, v1, v2 mul:3", "the modifier mul:3 is not known"),
        ("v_add_f32_e64 v0, v1, v2 sideways:1", "does not take the modifier sideways"),
        ("ds_read_b32 v0, v1 offset:65536", "offset:65536 does not fit in 16 bits"),
        ("buffer_load_dword v0, off, s[4:7], 0 offset:4096", "offset:4096 is not between 0 and 4095"),
        ("global_load_dword v0, v[2:5], off", r"v\[2:5\] spans 4 registers, but an address takes 2 at most"),
        ("s_mov_b32 s0, 0x123456789", "does not fit in 32 bits"),
    ],
)
def test_mistakes(line: str, message: str) -> None:
    with pytest.raises(IsaError, match=message) as caught:
        _encode(f" s_nop 0\n {line}")
    found = caught.value.finding
    assert (found.kind, found.source, found.instruction) == ("program", "k.s:3", line)


def test_instructions_of_the_other_target() -> None:
    only = next(op for op in opcodes().values() if op.targets == ("gfx950",))
    with pytest.raises(IsaError, match=rf"{only.name} \(not an instruction of gfx942\)"):
        _encode(f" {only.name}", "gfx942")


TEXT = """
	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.type k,@function
k:
	s_load_dwordx4 s[8:11], s[0:1], 0x0
	v_and_b32_e32 v1, 0x3ff, v0
	v_lshl_add_u64 v[22:23], s[10:11], 0, v[2:3]
	s_waitcnt lgkmcnt(0)
.LBB0_1:
	global_load_dwordx4 v[32:35], v[22:23], off offset:-16 sc0
	v_pk_fma_f16 v0, v1, v2, v3 op_sel:[0,1,0] neg_lo:[0,0,1]
	v_mfma_f32_16x16x16_f16 a[0:3], v[28:29], v[36:37], a[0:3] cbsz:1
	v_mov_b32_dpp v0, -|v1| quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf
	s_cbranch_scc1 .LBB0_1
	s_add_u32 s0, s0, table@rel32@lo+4
	s_endpgm
	.section .rodata,"a",@progbits
table:
	.long 1, 2, k
	.asciz "text\\n"
	.p2align 6, 0x0
	.amdhsa_kernel k
		.amdhsa_group_segment_fixed_size 8192
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
	.end_amdhsa_kernel
	.amdgpu_metadata
---
amdhsa.kernels:
  - .args:
      - .offset: 0
        .size: 8
        .value_kind: global_buffer
    .name: k
    .symbol: k.kd
...
	.end_amdgpu_metadata
"""


def _damaged(rng: random.Random) -> str:
    lines = TEXT.split("\n")
    for _ in range(rng.choice((1, 1, 2))):
        i = rng.randrange(len(lines))
        line, at = lines[i], rng.randrange(len(lines[i]) + 1)
        choices = (
            line[:at] + line[at + 1 :],
            line[:at] + rng.choice("0123456789vsa[]:,()-|@.#\"x'!&{ ") + line[at:],
            line[:at],
            line.replace(rng.choice("0123456789"), rng.choice("0123456789")),
            rng.choice(lines),
        )
        lines[i] = rng.choice(choices)
    return "\n".join(lines)


@pytest.mark.parametrize("seed", range(20))
def test_damaged_text_is_an_error_of_the_input(seed: int) -> None:
    """Text with random changes loads, or is refused with an IsaError: nothing else comes out."""
    rng = random.Random(seed)
    for _ in range(50):
        text = _damaged(rng)
        try:
            loader.load(text)
        except IsaError as error:
            assert error.kind in ("unsupported", "program", "input"), text
