"""Counts of a GEMM's machine code against numbers found otherwise, and the documents made from them."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest
from wave_mlir import isa
from wave_mlir.isa.issue import wait_counts
from wave_mlir.isa.timeline_result import TRACKS

# One wave multiplies a 16x16 block of A [16, K] by B [16, K]: K / 16 MFMAs, in a loop that LDS takes part in.
KERNEL = """
	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.text
	.globl	gemm
	.type	gemm,@function
gemm:
	s_load_dwordx4 s[4:7], s[0:1], 0x0
	s_load_dwordx2 s[8:9], s[0:1], 0x10
	s_load_dword s10, s[0:1], 0x18
	v_and_b32 v0, 0x3ff, v0
	v_and_b32 v1, 15, v0
	v_lshrrev_b32 v2, 4, v0
	v_mov_b32 v4, 0
	v_mov_b32 v5, 0
	v_mov_b32 v6, 0
	v_mov_b32 v7, 0
	s_waitcnt lgkmcnt(0)
	v_mul_lo_u32 v3, v1, s10
	v_lshl_add_u32 v3, v2, 2, v3
	v_lshlrev_b32 v3, 1, v3
	v_lshlrev_b32 v14, STRIDE, v0
.Lloop:
	global_load_dwordx2 v[8:9], v3, s[4:5]
	global_load_dwordx2 v[10:11], v3, s[6:7]
	s_waitcnt vmcnt(1)
	ds_write_b64 v14, v[8:9]
	s_waitcnt lgkmcnt(0)
	ds_read_b64 v[12:13], v14
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_mfma_f32_16x16x16_f16 v[4:7], v[12:13], v[10:11], v[4:7]
	v_add_u32 v3, 32, v3
	s_sub_u32 s10, s10, 16
	s_cmp_lg_u32 s10, 0
	s_cbranch_scc1 .Lloop
	s_nop 7
	s_nop 3
	v_lshlrev_b32 v3, 6, v2
	v_add_u32 v3, v3, v1
	v_lshlrev_b32 v3, 2, v3
	global_store_dword v3, v4, s[8:9]
	global_store_dword v3, v5, s[8:9] offset:64
	global_store_dword v3, v6, s[8:9] offset:128
	global_store_dword v3, v7, s[8:9] offset:192
	s_endpgm
	.amdhsa_kernel gemm
		.amdhsa_group_segment_fixed_size 16384
		.amdhsa_kernarg_size 28
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_next_free_vgpr 16
		.amdhsa_next_free_sgpr 16
		.amdhsa_accum_offset 16
	.end_amdhsa_kernel
	.amdgpu_metadata
---
amdhsa.kernels:
  - .name: gemm
    .symbol: gemm.kd
    .args:
      - {.offset: 0, .size: 8, .value_kind: global_buffer}
      - {.offset: 8, .size: 8, .value_kind: global_buffer}
      - {.offset: 16, .size: 8, .value_kind: global_buffer}
      - {.offset: 24, .size: 4, .value_kind: by_value}
    .group_segment_fixed_size: 16384
    .kernarg_segment_size: 28
    .max_flat_workgroup_size: 64
    .wavefront_size: 64
amdhsa.version: [1, 2]
...
	.end_amdgpu_metadata
"""
STEPS = 5
BODY, BEFORE, AFTER = 12, 15, 10  # instructions of the loop, before it, after it


@cache
def gemm_run(stride: int = 3) -> isa.IsaRun:
    """2 workgroups of one wave that compute the same block; lanes are 2^stride bytes apart in LDS."""
    random = np.random.default_rng(0)
    k = 16 * STEPS
    a, b = (random.integers(-3, 4, (16, k)).astype(np.float16) for _ in range(2))
    c = np.zeros((16, 16), np.float32)
    run = isa.run(KERNEL.replace("STRIDE", str(stride)), [a, b, c, k], 2, 64, trace=1)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32).T)
    return run


def test_counts() -> None:
    run, profile = gemm_run(), gemm_run().profile()
    total = 2 * (BEFORE + STEPS * BODY + AFTER)
    assert profile.total == run.executed == total == sum(profile.by_wave())
    for counts in (profile.by_opcode(), profile.by_class(), profile.by_line()):
        assert sum(counts.values()) == total
    flops = 2 * (2 * 16 * 16 * 16 * STEPS)  # two workgroups
    assert profile.matrix_count == profile.by_class()["mfma"] == flops // 8192
    assert profile.matrix_clocks == 16 * profile.matrix_count
    assert profile.by_opcode()["global_load_dwordx2"] == 2 * 2 * STEPS
    assert {k: v for k, v in profile.by_class().items() if k in ("store", "lds_read", "smem", "branch")} == {
        "store": 8, "lds_read": 2 * STEPS, "smem": 6, "branch": 2 * STEPS + 2,
    }  # fmt: skip


def test_accesses() -> None:
    profile = gemm_run().profile()
    loads = [a for a in profile.global_accesses() if a.kind == "load"]
    assert [(a.executions, a.bytes_per_execution) for a in loads] == [(2 * STEPS, 512)] * 2
    # A step reads 32 bytes of each of 16 rows of 160 bytes: half of the segment that they lie in at best.
    assert all(a.cost >= 16 * a.executions and a.best == 8 * a.executions and a.degree >= 2 for a in loads)
    stores = [a for a in profile.global_accesses() if a.kind == "store"]
    assert all(a.bytes_per_execution == 256 and a.degree == 1 for a in stores)


def test_bank_conflicts() -> None:
    """8 bytes a lane side by side fill the banks; 128 bytes apart all lanes of a phase ask for two of them."""
    assert gemm_run(3).profile().conflict_clocks == 0
    bad = gemm_run(7).profile()
    (read,) = [a for a in bad.lds_accesses() if a.kind == "lds_read"]
    assert read.degree == 16 and bad.conflict_clocks > 0
    assert gemm_run(7).timeline().clocks > gemm_run(3).timeline().clocks


def test_timeline_of_a_run() -> None:
    run = gemm_run()
    timeline = run.timeline()
    issued = [s for s in timeline.slices if s.track == "wave"]
    assert len(issued) == len(run.trace) == run.executed // 2
    assert timeline.busy_clocks("mfma") == 16 * STEPS
    for part in ("mfma", "valu", "lds", "memory"):
        assert 0 < getattr(timeline, f"{part}_utilisation") <= 1
    assert timeline.mfma_utilisation <= timeline.mfma_utilisation_of_loop <= 1
    assert timeline.clocks > STEPS * 500  # each step waits for its loads
    assert run.timeline(latency=10).clocks < timeline.clocks < run.timeline(latency=2000).clocks
    waits = timeline.stalls_by_reason()
    assert waits["vmcnt"] > STEPS * 400 and "lgkmcnt" in waits


def test_nothing_traced() -> None:
    run = isa.run(
        KERNEL.replace("STRIDE", "3"),
        [*(np.ones((16, 16), np.float16),) * 2, np.zeros((16, 16), np.float32), 16],
        1,
        64,
    )
    with pytest.raises(ValueError, match="trace=1"):
        run.timeline()
    assert "modelled" not in run.summary() and "instructions executed" in run.summary()


def test_texts() -> None:
    run = gemm_run(7)
    text = run.summary()
    for part in (
        "mfma 10",
        "conflict degree 16.00",
        "modelled on one compute unit of gfx942",
        "MFMA utilisation",
        "vmcnt",
    ):
        assert part in text
    assert json.loads(json.dumps(run.profile().to_dict()))["instructions"] == run.executed
    assert json.loads(json.dumps(run.timeline().to_dict()))["clocks"] == run.timeline().clocks


def test_perfetto_document() -> None:
    """Chrome's Trace Event Format: what viewers require of each event, named tracks, slices one after another."""
    document = json.loads(json.dumps(gemm_run().timeline().to_perfetto()))
    assert set(document) == {"traceEvents", "displayTimeUnit", "otherData"}
    assert "clock" in document["otherData"]["unit"] and "model" in document["otherData"]["kind"]
    named, tracks = set(), {}
    for event in document["traceEvents"]:
        assert {"ph", "name", "pid", "tid", "ts", "args"} <= set(event)
        assert all(isinstance(event[key], int) for key in ("pid", "tid")) and isinstance(event["name"], str)
        if event["ph"] == "M":
            assert event["name"] in ("process_name", "thread_name") and event["args"]["name"]
            if event["name"] == "thread_name":
                named.add((event["pid"], event["tid"]))
        else:
            assert event["ph"] == "X" and event["ts"] >= 0 and event["dur"] > 0 and event["cat"]
            tracks.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["ts"] + event["dur"]))
    assert set(tracks) == named and {pid for pid, _ in named} == set(range(len(TRACKS)))
    for slices in tracks.values():
        slices.sort()
        assert all(end <= start for (_, end), (start, _) in zip(slices, slices[1:], strict=False))


@pytest.mark.parametrize("vm, lgkm", [(0, 0), (63, 15), (17, 3), (5, 15)])
def test_wait_immediate(vm: int, lgkm: int) -> None:
    from wave_mlir.isa.immediates import waitcnt

    assert wait_counts(waitcnt(f"vmcnt({vm}) lgkmcnt({lgkm})")) == (vm, lgkm)
