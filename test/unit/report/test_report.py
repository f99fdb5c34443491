"""ISA statistics: classes and widths, loops, metadata; on small assembly and on what code generation makes."""

import json
from pathlib import Path

import pytest
import wave_mlir.dialect  # noqa: F401
from mlir import ir
from wave_mlir import report
from wave_mlir.compiler import codegen
from wave_mlir.report import assembly, codeobject
from wave_mlir.report.instructions import classify

NESTED = """
	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.text
	.type	k,@function
k:                                      ; @k
; %bb.0:
	s_load_dwordx2 s[0:1], s[2:3], 0x0
	s_mov_b32 s4, 0
.LBB0_1:                                ; =>outer
	v_add_u32_e32 v0, 1, v0
	ds_write_b64 v1, v[2:3]
	s_waitcnt lgkmcnt(0)
	s_barrier
.LBB0_2:                                ;   inner
	ds_read_b128 v[4:7], v1 offset:16
	ds_read2_b32 v[8:9], v1 offset0:0 offset1:1
	buffer_load_dwordx4 v[12:15], v2, s[8:11], 0 offen
	buffer_load_dword v2, s[8:11], 0 offen lds
	s_waitcnt vmcnt(1) lgkmcnt(0)
	v_mfma_f32_16x16x16_f16 v[20:23], v[4:5], v[6:7], v[20:23]
	v_accvgpr_read_b32 v3, a17
	s_add_i32 s4, s4, 1
	s_cmp_lt_u32 s4, 8
	s_cbranch_scc1 .LBB0_2
; %bb.3:
	s_cbranch_vccnz .LBB0_1
; %bb.4:
	global_store_dwordx2 v0, v[20:21], s[0:1]
	s_endpgm
	s_nop 0
	s_nop 0
.Lfunc_end0:
	.size	k, .Lfunc_end0-k
	.section	.rodata
	s_nop 7
"""


@pytest.mark.parametrize(
    "mnemonic,operands,kind,bits",
    [
        ("v_mfma_f32_32x32x8_f16", "a[0:15], v[0:1], v[2:3], a[0:15]", "mfma", 0),
        ("v_wmma_f32_16x16x16_f16", "v[0:7], v[8:11], v[12:15], v[0:7]", "mfma", 0),
        ("v_accvgpr_write_b32", "a0, v0", "accvgpr_move", 0),
        ("v_pk_fma_f16", "v0, v1, v2, v3", "valu", 0),
        ("s_load_dwordx4", "s[0:3], s[4:5], 0x0", "smem", 0),
        ("s_waitcnt", "vmcnt(0)", "wait", 0),
        ("s_wait_loadcnt", "0x0", "wait", 0),
        ("s_barrier", "", "barrier", 0),
        ("s_barrier_wait", "-1", "barrier", 0),
        ("s_barrier_signal", "-1", "salu", 0),
        ("s_cbranch_scc1", ".LBB0_2", "branch", 0),
        ("s_endpgm", "", "branch", 0),
        ("s_add_i32", "s0, s0, 1", "salu", 0),
        ("ds_read_b128", "v[0:3], v4", "lds_read", 128),
        ("ds_load_b64", "v[0:1], v4", "lds_read", 64),
        ("ds_read2st64_b32", "v[0:1], v4", "lds_read", 64),
        ("ds_load_2addr_b64", "v[0:3], v4", "lds_read", 128),
        ("ds_read_b64_tr_b16", "v[0:1], v4", "lds_read", 64),
        ("ds_read_u16_d16_hi", "v0, v4", "lds_read", 16),
        ("ds_write_b8", "v0, v1", "lds_write", 8),
        ("ds_write2_b64", "v0, v[1:2], v[3:4]", "lds_write", 128),
        ("ds_bpermute_b32", "v0, v1, v2", "lds_other", 32),
        ("global_load_dwordx3", "v[0:2], v[3:4], off", "load", 96),
        ("global_load_b128", "v[0:3], v[4:5], off", "load", 128),
        ("global_load_short_d16_hi", "v0, v[1:2], off", "load", 16),
        ("flat_load_ubyte", "v0, v[1:2]", "load", 8),
        ("buffer_store_dwordx4", "v[0:3], v4, s[0:3], 0 offen", "store", 128),
        ("buffer_load_dwordx4", "v4, s[0:3], 0 offen lds", "direct_to_lds", 128),
        ("global_load_lds_dword", "v[0:1], off", "direct_to_lds", 32),
        ("global_atomic_add_f32", "v[0:1], v2, off", "atomic", 32),
        ("scratch_load_dword", "v0, off, s0", "scratch", 32),
        ("buffer_inv", "sc1", "salu", 0),
        ("s_nop", "3", "nop", 0),
    ],
)
def test_classes(mnemonic, operands, kind, bits):
    found = classify(mnemonic, operands)
    assert (found.kind, found.bits) == (kind, bits)


def test_blocks_and_loops():
    (function,) = assembly.parse(NESTED).functions
    labels = [b.label for b in function.blocks]
    assert labels == ["", ".LBB0_1", ".LBB0_2", "", ""]
    assert [b.successors for b in function.blocks] == [[1], [2], [2, 3], [1, 4], []]
    assert assembly.loops(function.blocks) == [{2}]


def test_counts_of_the_hot_loop():
    (kernel,) = report.analyze(NESTED).kernels
    assert kernel.name == "k" and kernel.target == "gfx942"
    assert kernel.hot_loop is not None and kernel.hot_loop.blocks == (".LBB0_2",)
    counts = kernel.hot_loop.counts
    assert counts.instructions == 10
    assert counts.mfma == {"v_mfma_f32_16x16x16_f16": 1}
    assert counts.by_width == {"lds_read": {64: 1, 128: 1}, "load": {128: 1}, "direct_to_lds": {32: 1}}
    assert counts.waits == ["vmcnt(1) lgkmcnt(0)"]
    assert (counts["barrier"], counts["accvgpr_move"], counts["salu"], counts["branch"]) == (0, 1, 2, 1)
    assert kernel.total["barrier"] == 1 and kernel.total.by_width["store"] == {64: 1}
    assert kernel.total.instructions == 19, "padding and other sections are no code"
    assert (kernel.vgpr, kernel.agpr, kernel.sgpr) == (24, 18, 12), "without metadata, from the operands"
    assert kernel.code_bytes is None and kernel.occupancy is None


def test_loop_with_most_mfma_wins_over_a_longer_one():
    longer = "\n".join(["	v_add_u32_e32 v0, 1, v0"] * 40)
    text = NESTED.replace(
        "	global_store_dwordx2", f".LBB0_9:\n{longer}\n	s_cbranch_scc1 .LBB0_9\n	global_store_dwordx2"
    )
    (kernel,) = report.analyze(text).kernels
    assert kernel.hot_loop is not None and kernel.hot_loop.blocks == (".LBB0_2",)


def test_no_loop():
    (kernel,) = report.analyze(".type f,@function\nf:\n	v_mov_b32_e32 v0, 0\n	s_endpgm\n").kernels
    assert kernel.hot_loop is None and "hot loop    none" in report.render_text(report.Report("", [kernel]))


def test_no_kernel():
    with pytest.raises(report.AssemblyError, match="no AMDGPU function"):
        report.analyze("nothing of the kind")


@pytest.fixture(scope="module")
def gemm():
    text = (Path(__file__).parents[1] / "codegen" / "kernels" / "gemm_f16.mlir").read_text()
    with ir.Context() as context:
        context.allow_unregistered_dialects = True
        return codegen.generate(ir.Module.parse(text), emit=("isa", "hsaco"))


def test_real_assembly(gemm):
    made = report.analyze(gemm.isa)
    (kernel,) = made.kernels
    assert (kernel.target, kernel.agpr, kernel.vgpr_spills, kernel.sgpr_spills, kernel.scratch_bytes) == (
        "gfx942",
        0,
        0,
        0,
        0,
    )
    assert kernel.lds_bytes == 8192 and kernel.threads == 256 and 0 < kernel.vgpr <= 64
    assert kernel.occupancy == 8, "by LDS 8 workgroups of 4 waves, by registers 8 waves a SIMD"
    assert kernel.code_bytes and kernel.code_bytes >= 4 * kernel.total.instructions
    loop = kernel.hot_loop
    assert loop is not None and loop.counts.mfma == {"v_mfma_f32_16x16x16_f16": 8} and loop.counts["barrier"] == 2
    assert loop.counts.by_width["lds_write"] == {128: 2}
    assert sum(n * bits for bits, n in loop.counts.by_width["lds_read"].items()) == 8 * 64
    assert kernel.total.instructions == sum(c.instructions for _, c in kernel.blocks)


def test_text_and_json(gemm):
    made = report.analyze(gemm.isa)
    text = report.render_text(made)
    for part in (
        "gemm (gfx942)",
        "spills      0 VGPR",
        "LDS writes: 2 of 128 bits",
        "barriers: 2; AGPR moves: 0; waits: ",
    ):
        assert part in text
    data = json.loads(json.dumps(made.to_json()))
    assert data["kernels"][0]["hot_loop"]["by_class"]["mfma"] == 8
    assert data["kernels"][0]["blocks"][0]["label"] == "entry"
    assert sorted(data["kernels"][0]) == sorted(made.kernels[0].to_json())


def test_code_object_gives_the_same(gemm, tmp_path):
    path = tmp_path / "gemm.hsaco"
    path.write_bytes(gemm.hsaco)
    if not codeobject.find_objdump("", __import__("os").environ["PATH"]):
        with pytest.raises(report.AssemblyError, match="no llvm-objdump"):
            report.analyze_file(path)
        return
    ours, text = report.analyze_file(path).kernels[0], report.analyze(gemm.isa).kernels[0]
    for name in ("target", "vgpr", "agpr", "sgpr", "lds_bytes", "threads", "occupancy", "code_bytes", "total"):
        assert getattr(ours, name) == getattr(text, name), name
    assert ours.hot_loop and text.hot_loop and ours.hot_loop.counts == text.hot_loop.counts


def test_file_errors(tmp_path):
    with pytest.raises(FileNotFoundError, match="missing.s"):
        report.analyze_file(tmp_path / "missing.s")
    broken = tmp_path / "broken.hsaco"
    broken.write_bytes(b"\x7fELF" + bytes(30))
    with pytest.raises(report.AssemblyError, match=r"^(damaged ELF file|no llvm-objdump)"):
        report.analyze_file(broken)
