"""Text that the assembler refuses is refused, with a message that says why; its neighbours are taken.

The table was made with LLVM's assembler; where it is installed the test asks it again.
"""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
from wave_mlir.isa import assembly, encoder
from wave_mlir.isa.errors import IsaError

ASSEMBLER = next((t for t in ("llvm-mc-22", "llvm-mc") if shutil.which(t)), None)
REFUSED = {
    "v_add_f32_e64 v0, v1, v2 row_shl:1 row_mask:0xf bank_mask:0xf": "does not take the modifier",
    "v_add_f32_e64_dpp v0, v1, v2 row_shl:1 row_mask:0xf bank_mask:0xf": "has no form e64_dpp",
    "v_cmp_lt_f32_dpp vcc, v1, v2 row_shl:1 row_mask:0xf bank_mask:0xf": "has no form dpp",
    "v_readfirstlane_b32_e64 s0, v1": "has no form e64",
    "v_fmac_f32_sdwa v0, v1, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_0 src1_sel:DWORD": "has no form sdwa",
    "v_add_f64_e32 v[0:1], v[2:3], v[4:5]": "has no form e32",
    "v_ceil_f64_dpp v[0:1], v[2:3] row_shl:1 row_mask:0xf bank_mask:0xf": "row_newbcast only",
    "v_mov_b32_dpp v0, v1 row_shl:1 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf": "one of these",
    "v_and_b32_e64 v0, v1, v2 clamp": "does not take the modifier clamp",
    "v_and_b32_e64 v0, v1, v2 mul:2": "does not take the modifier mul",
    "v_add_f32_e32 v0, v1, v2 clamp": "does not take the modifier clamp",
    "v_add_f32_e64 v0, v1, v2 mul:2 div:2": "one of these",
    "v_lshlrev_b64 v[0:1], v2, v[4:5] clamp": "does not take the modifier clamp",
    "v_pk_fma_f16 v0, v1, v2, v3 mul:2": "does not take the modifier mul",
    "v_cmp_lt_i32_e64 vcc, v1, v2 clamp": "does not take the modifier clamp",
    "v_fma_f32 v0, v1, v2, v3 op_sel:[1,0,0,0]": "does not take the modifier op_sel",
    "v_add_f16_e64 v0, v1, v2 op_sel:[1,0,0]": "does not take the modifier op_sel",
    "v_fma_f16 v0, v1, v2, v3 neg_lo:[1,0,0]": "does not take the modifier neg_lo",
    "v_pk_add_f16 v0, v1, v2 op_sel:[0,1] op_sel:[1,0]": "op_sel stands twice",
    "v_dot2_f32_f16 v0, v1, v2, v3 op_sel:[1,0,0]": "op_sel chooses nothing",
    "v_or3_b32 v0, v1, v2, v3 bitop3:0x12": "does not take the modifier bitop3",
    "v_add_f32_e32 v0, v1, v2 offset:4": "does not take the modifier offset",
    "v_and_b32_e64 v0, -v1, v2": "takes no sign",
    "v_and_b32_e64 v0, |v1|, v2": "takes no sign",
    "v_add_f32_e32 v0, -v1, v2": "takes no sign",
    "v_pk_add_f16 v0, -v1, v2": "takes no sign",
    "v_add_f32_e64 v0, --v1, v2": "written once",
    "v_add_f32_e64 -v0, v1, v2": "a result takes no sign",
    "v_add_u32_e64 v0, sext(v1), v2": "only integers of SDWA",
    "v_div_scale_f32 v0, vcc, |v1|, v2, v3": "takes no magnitude",
    "s_add_u32 s0, -s1, s2": "takes no sign",
    "s_add_u32 s0, 0x12345, 0x54321": "one literal",
    "s_cmp_eq_u32 0x12345, 0x54321": "one literal",
    "v_add_f32_e64 v0, 0x12345, v1": "takes no literal",
    "v_fma_f32 v0, v1, v2, 0x12345": "takes no literal",
    "v_pk_add_f16 v0, v1, 0x12345": "takes no literal",
    "v_add_f32_e32 v0, v1, 0x12345": "only the first source",
    "v_add_f32_e32 v0, v1, s2": "a vector register is needed",
    "v_add_f32_e32 v0, v1, 1.0": "a vector register is needed",
    "v_mov_b32_dpp v0, s1 row_shl:1 row_mask:0xf bank_mask:0xf": "a vector register is needed",
    "v_cmp_lt_f32_e32 s[0:1], v1, v2": "takes vcc here",
    "v_cndmask_b32_e32 v0, s1, v2, vcc": "one scalar register",
    "v_cndmask_b32_e32 v0, 0x12345, v2, vcc": "one scalar register",
    "v_fma_f32 v0, s1, s2, v3": "one scalar register",
    "v_fma_f32 v0, s1, vcc_lo, v3": "one scalar register",
    "v_add_f32_e64 v0, s1, s2": "one scalar register",
    "v_fmamk_f32 v0, s1, 0x12345, v2": "one scalar register",
    "v_div_fmas_f32 v0, s1, v2, v3": "one scalar register",
    "v_pk_fma_f16 v0, s1, s2, v3": "one scalar register",
    "ds_read_b32 v0, v1 offset:4 gds": "no global data share",
    "ds_add_u32 v0, v1 gds": "no global data share",
    "ds_read_b32 v0, v1 sc0": "does not take the modifier sc0",
    "global_load_dword v0, v1, s[2:3] offen": "does not take the modifier offen",
    "global_load_dword v0, v1, s[2:3] clamp": "does not take the modifier clamp",
    "global_atomic_add v0, v1, s[2:3] sc0": "no register for it",
    "ds_write_b32 v0, s1": "a vector register is needed",
    "ds_write_b32 v0, -v1": "no sign or magnitude",
    "buffer_store_dword v0, v1, s[4:7], 0 offen lds": "a copy to LDS",
    "v_mfma_f32_16x16x16_f16 v[0:3], s[4:5], v[6:7], v[8:11]": "vector registers are needed",
    "v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], a[8:11]": "both are of the same file",
    "v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[8:11] clamp": "does not take the modifier clamp",
    "v_accvgpr_write_b32 v0, v1": "an accumulation register is needed",
    "v_writelane_b32 v0, v1, s2": "a scalar register or a constant",
    "s_cmpk_eq_u32 5, 6": "a scalar register is needed",
    # the order of modifiers
    "v_add_f32_dpp v0, v1, v2 row_mask:0xf row_shl:1": "row_shl stands before row_mask",
    "v_add_f32_dpp v0, v1, v2 row_shl:1 bound_ctrl:0 bank_mask:0xf": "bank_mask stands before bound_ctrl",
    "v_add_f32_sdwa v0, v1, v2 dst_sel:DWORD clamp": "clamp stands before dst_sel",
    "v_add_f32_e64 v0, v1, v2 mul:2 clamp": "clamp stands before mul",
    "v_fma_f16 v0, v1, v2, v3 clamp op_sel:[1,0,0,0]": "op_sel stands before clamp",
    "v_pk_fma_f16 v0, v1, v2, v3 op_sel_hi:[1,0,0] op_sel:[1,0,0]": "op_sel stands before op_sel_hi",
    "v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[8:11] blgp:1 cbsz:1": "cbsz stands before blgp",
    "buffer_load_dword v1, v[2:3], s[4:7], 0 offen idxen": "idxen stands before offen",
    "buffer_load_dword v1, v2, s[4:7], 0 offen sc0 offset:4": "offset stands before sc0",
    "global_load_dword v1, v2, s[4:5] sc0 offset:4": "offset stands before sc0",
    "ds_read2_b32 v[2:3], v1 offset1:2 offset0:1": "offset0 stands before offset1",
    "s_load_dword s0, s[2:3], s4 glc offset:4": "offset stands before glc",
    # forms
    "v_add_f32_dpp v0, v1, v2 row_mask:0xf bank_mask:0xf": "says where lanes read",
    "v_add_f32_dpp v0, v1, v2 row_shl:1 fi:0": "does not take the modifier fi",
    "v_cmp_lt_f32_sdwa vcc, v1, v2 clamp src0_sel:WORD_0": "does not take the modifier clamp",
    "v_readlane_b32_e64 s0, v1, s2": "has no form e64",
    "v_readlane_b32 s0, s1, s2": "a vector register is needed",
    "v_max_f16_e64 v0, v1, neg(||v2||)": "written once",
    "v_max_f16_e64 v0, v1, abs(neg(v2))": "written once",
    "v_cmp_f_u32 s[0:1], 0x12345, v1": "takes vcc here",
    "v_add_f32 v0, 0x12345, v1 clamp": "a literal takes no modifier",
    "v_add_f32 v0, 0x12345, -v1": "a sign or magnitude",
    # constants
    "v_mov_b64_e64 v[0:1], -17": "takes no literal",
    "v_mov_b64_e32 v[0:1], 1.5": "floats of a 64-bit integer",
    "s_mov_b64 s[0:1], 0x100000000": "32 bits of a literal",
    "s_mov_b64 s[0:1], f": "a symbol has 32 bits",
    "v_add_f64 v[0:1], 0x3ff8000000000000, v[2:3]": "32 bits of a literal",
    "v_cmp_eq_f64_e64 vcc, v[2:3], 0.15915494": "takes no literal",
    "v_cmp_eq_u16_e32 vcc, 0xfffff, v1": "does not fit in 16 bits",
    "s_mov_b32 s0, 1e60": "does not fit in 32 bits",
    # scalar immediates
    "s_setreg_b32 hwreg(HW_REG_MODE), 1": "a scalar register is needed",
    "s_setreg_imm32_b32 hwreg(HW_REG_MODE), m0": "a number is needed",
    "s_setpc_b64 0": "a scalar register is needed",
    "s_cmpk_gt_u32 s0, -1": "an unsigned number",
    "s_nop gpr_idx()": "not a 16-bit number",
    "s_set_gpr_idx_on s0, gpr_idx(SRC0,SRC0)": "each once",
    "s_set_gpr_idx_mode 16": "four bits",
    "s_sendmsg sendmsg(16)": "messages are 0 to 15",
    # matrix instructions
    "v_smfmac_f32_16x16x32_f16 v[0:3], v[4:5], v[8:11], a12": "no accumulation register",
    "v_smfmac_f32_16x16x32_f16 v[0:3], v[4:5], v[8:11], v12 blgp:1": "does not take the modifier blgp",
    # addresses and data
    "buffer_load_dword v1, v2, s[4:7], 0 offen tfe": "does not take the modifier tfe",
    "buffer_load_dword v1, v2, s[4:7], 0 offen glc": "does not take the modifier glc",
    "buffer_load_dword v1, v[2:3], s[4:7], 0 offen": "a vector register is needed",
    "buffer_load_dword v1, v2, s[4:7], 0 idxen offen": "2 vector registers are needed",
    "buffer_load_dword v1, v2, s[4:7], 0": "needs offen or idxen",
    "buffer_load_dword v2, s[4:7], 0 offen": "registers to load to, or lds",
    "buffer_load_dword v1, off, vcc, 0": "spans 2 registers",
    "buffer_load_dword v1, off, s[4:7], 65": "an inline constant",
    "buffer_load_dword v1, off, s[4:7], v2": "a scalar register is needed",
    "buffer_store_dword s1, off, s[4:7], 0": "a vector register is needed",
    "buffer_load_dword v1, a2, s[4:7], 0 offen": "a vector register is needed",
    "global_load_dword v1, v2, off": "2 vector registers are needed",
    "global_load_dword v1, v[2:3], s[4:5]": "a vector register is needed",
    "global_load_dword v1, off, s[4:5]": "a vector register is needed",
    "global_load_dword v1, v2, s4": "2 scalar registers are needed",
    "global_load_dword v1, v2, exec": "cannot be an address",
    "global_atomic_add v1, v2, v3, s[4:5]": "an atomic returns with sc0 only",
    "global_atomic_add v1, v2, a3, s[4:5] sc0": "of the same file",
    "flat_load_dword v1, v2": "2 vector registers are needed",
    "scratch_load_dword v1, off, s[4:5]": "takes 1 at most",
    "ds_read_b32 v1, a2": "a vector register is needed",
    "ds_write2_b32 v1, a2, v3": "of the same file",
    "ds_read_b32 v2, v1 offset0:1": "does not take the modifier offset0",
    "ds_read2_b32 v[2:3], v1 offset:1": "does not take the modifier offset",
    "s_load_dword m0, s[2:3], 0": "other registers only",
    "s_load_dwordx2 exec, s[2:3], 0": "other registers only",
    "s_load_dword s0, s[2:3], 0x100000": "is not between",
    "s_load_dword s0, s[2:3], 0x123456789": "is not between",
    "s_load_dword s0, s[2:3], 1.0": "not a whole number",
    "s_load_dword s0, s[2:3], 4 offset:4": "with a register only",
    "s_load_dword s0, 1, 4": "2 scalar registers are needed",
    "s_buffer_load_dword s0, s[4:7], -4": "is not between",
    "s_dcache_wb glc": "does not take the modifier glc",
}
TAKEN = [
    "v_add_f32_dpp v0, -v1, |v2| row_shl:1 row_mask:0xf bank_mask:0xf bound_ctrl:0",
    "v_add_f32_e64 v0, -v1, |s2| clamp mul:2",
    "v_add_u32_e64 v0, v1, v2 clamp",
    "v_cvt_f32_fp8_sdwa v0, v1 src0_sel:BYTE_2",
    "v_cvt_pk_f32_fp8_sdwa v[0:1], v2 src0_sel:WORD_1",
    "v_cvt_i32_f32_e64 v0, -|v1| clamp",
    "v_fma_f16 v0, v1, v2, v3 op_sel:[1,0,0,1] clamp",
    "v_pk_fma_f16 v0, v1, v2, s3 op_sel:[1,0,0] op_sel_hi:[0,1,1] neg_lo:[1,0,0] clamp",
    "v_fma_f32 v0, s1, s1, v3",
    "v_fma_f32 v0, s1, 1.0, v3",
    "v_fmaak_f32 v0, v1, v2, 0x12345",
    "v_fmamk_f32 v0, v1, 0x12345, v2",
    "v_add_f32_e32 v0, 0x12345, v1",
    "v_cndmask_b32_e64 v0, v1, -v2, vcc",
    "v_cndmask_b32_e32 v0, 1.0, v2, vcc",
    "v_readlane_b32 s0, v1, s2",
    "v_writelane_b32 v0, s1, m0",
    "v_add_u32_sdwa v0, sext(v1), s2 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:DWORD",
    "v_cmp_lt_f32_sdwa s[0:1], -v1, |v2| src0_sel:WORD_1 src1_sel:DWORD",
    "v_div_scale_f32 v0, vcc, -v1, v2, v3",
    "s_add_u32 s0, 0x12345, 0x12345",
    "global_atomic_add v0, v[2:3], v1, off sc0",
    "buffer_load_dword v1, s[4:7], 0 offen lds",
    "v_mfma_f64_16x16x4_f64 v[0:7], v[8:9], v[10:11], 1.0 neg:[1,0,0]",
    "v_mfma_f32_16x16x16_f16 a[0:3], v[4:5], a[6:7], a[0:3] cbsz:1 abid:2 blgp:3",
    "v_mov_b32 v0, v1 row_shl:1 row_mask:0xf bank_mask:0xf",
    "v_add_f32_dpp v0, v1, v2 row_shl:1 bound_ctrl:0",
    "v_add_f32_sdwa v0, v1, 1.0 clamp mul:2 dst_sel:DWORD",
    "v_max_f16_e64 v0, v1, neg(abs(v2))",
    "v_max_f16_e64 v0, v1, |-1.0|",
    "v_add_f32_e64 v0, 0x3f800000, 0xffffffff",
    "v_pk_add_f16 v0, v1, 0x3c00",
    "v_mov_b64_e32 v[0:1], 0x3ff0000000000000",
    "v_mov_b64_e32 v[0:1], -17",
    "s_mov_b64 s[0:1], 0xffffffff80000000",
    "s_mov_b64 s[0:1], 1.0",
    "v_cmp_eq_f64_e64 vcc, v[2:3], 0.15915494309189532",
    "v_mfma_f32_16x16x16_f16_e64 v[0:3], v[4:5], v[6:7], v[8:11] abid:1 blgp:1",
    "buffer_load_dword v1, v[2:3], s[4:7], m0 idxen offen offset:4 sc1 nt sc0",
    "buffer_load_dword off, s[4:7], 0x3f800000 lds",
    "buffer_atomic_add v1, v2, s[4:7], 0 offen sc0 nt",
    "buffer_inv sc1 sc0 nt",
    "global_load_dword v1, v2, vcc",
    "global_load_lds_dword v[2:3], off offset:4 sc0",
    "ds_add_rtn_u32 a1, v2, a3",
    "ds_bpermute_b32 v1, v2, v3 offset:65535",
    "ds_read_addtid_b32 v1 offset:4",
    "scratch_store_dword off, v2, exec_lo offset:-4096",
    "s_load_dword s0, s[2:3]",
    "s_load_dword s0, exec, s4 offset:-4 glc",
    "s_buffer_load_dword s0, s[4:7], s2 offset:0xfffff",
    "s_cmpk_gt_u32 s0, 65535",
    "s_set_gpr_idx_on 1, gpr_idx(SRC0,DST)",
    "v_cvt_pk_f32_bf8_e32 v[6:7], 0x1a2cfe37",
    "v_fmaak_f32_e32 v19, v16, v7, 0x12345",
]


def encode(line: str) -> encoder.Program:
    return encoder.encode(assembly.parse(f"f:\n{line}\ns_endpgm\n", "f").functions, "gfx942")


@pytest.mark.parametrize("line", REFUSED)
def test_refused(line: str) -> None:
    with pytest.raises(IsaError, match=REFUSED[line].replace("(", r"\(")) as caught:
        encode(line)
    assert caught.value.kind == "program"


@pytest.mark.parametrize("line", TAKEN)
def test_taken(line: str) -> None:
    encode(line)


def test_form_without_a_suffix() -> None:
    """The modifiers say that it is DPP, and that it has two words."""
    with_suffix, without = (encode(f"v_mov_b32{s} v0, v1 row_shl:1 row_mask:0xf bank_mask:0xf") for s in ("_dpp", ""))
    assert (with_suffix.instructions == without.instructions).all()


if ASSEMBLER:  # where there is none, there is nothing to ask

    def test_the_assembler_agrees() -> None:
        lines = [*REFUSED, *TAKEN]
        command = [str(ASSEMBLER), "-triple=amdgcn", "-mcpu=gfx942", "-filetype=null"]
        done = subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, text=True, check=False)
        wrong = {int(n) - 1 for n in re.findall(r"(?m)^<stdin>:(\d+):\d+: error", done.stderr)}
        assert [lines[i] for i in sorted(wrong)] == list(REFUSED)
