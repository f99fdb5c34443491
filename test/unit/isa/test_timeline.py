"""The timeline model on hand-made traces whose clocks are known, and its properties on all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from wave_mlir.compiler import targets
from wave_mlir.compiler.targets import rates
from wave_mlir.isa import assembly, encoder
from wave_mlir.isa.encoding import TRACE
from wave_mlir.isa.timeline import model
from wave_mlir.isa.timeline_result import Timeline

Entry = tuple[int, int, int, int, int]  # instruction, wave, phases, bytes, segments
TURN = rates.TURN
MFMA = 16  # clocks of a 16x16x16


def program_of(*lines: str, target: str = "gfx942") -> encoder.Program:
    listing = assembly.parse("kernel:\n" + "".join(f"\t{line}\n" for line in lines))
    return encoder.encode(listing.functions, target)


def replay(
    lines: Sequence[str], entries: Sequence[Entry], target: str = "gfx942", latency: int = 500, **options: float
) -> Timeline:
    return model(
        program_of(*lines, target=target), np.array(entries, TRACE), target, latency=latency, **options
    )  # fmt: skip


def straight(lines: Sequence[str], waves: Sequence[int] = (0,), target: str = "gfx942", **options: float) -> Timeline:
    """Each wave executes all lines; memory accesses move 1024 bytes in 16 segments, LDS takes 8 phases of 8."""

    def entry(index: int, wave: int) -> Entry:
        line = lines[index]
        if line.startswith("ds_"):
            return (index, wave, 8, 1024, 8)
        if line.startswith(("global_", "buffer_")):
            return (index, wave, 0, 1024, 16)
        return (index, wave, 0, 0, 0)

    entries = [entry(i, w) for w in waves for i in range(len(lines))]
    return replay(lines, entries, target, **options)


def independent(count: int) -> list[str]:
    return [f"v_mfma_f32_16x16x16_f16 v[{4 * i}:{4 * i + 3}], v[60:61], v[62:63], 0" for i in range(count)]


def test_independent_matrix_instructions_are_back_to_back() -> None:
    for count in (1, 2, 7):
        timeline = straight(independent(count))
        assert timeline.clocks == count * MFMA
        assert timeline.mfma_utilisation == timeline.mfma_utilisation_of_loop == 1


def test_dependent_matrix_instructions_wait_for_the_result() -> None:
    chain = ["v_mfma_f32_16x16x16_f16 v[0:3], v[60:61], v[62:63], v[0:3]"] * 5
    timeline = straight(chain)
    extra = targets.get("gfx942").latencies.mma_extra
    assert timeline.clocks == 4 * (MFMA + extra) + MFMA
    assert timeline.stalls_by_reason() == {"result": 4 * (MFMA + extra - TURN)}


def test_two_chains_fill_the_unit() -> None:
    """Two chains of 32 clocks a link: the unit is never idle."""
    a, b = (f"v_mfma_f32_16x16x16_f16 v[{r}:{r + 3}], v[60:61], v[62:63], v[{r}:{r + 3}]" for r in (0, 4))
    assert straight([a, b] * 4).clocks == 8 * MFMA


def test_vector_reads_matrix_result() -> None:
    lines = [*independent(1), "v_mov_b32 v40, v0"]
    wait = TURN * targets.get("gfx942").latencies.mma_to_vector_extra
    assert straight(lines).clocks == MFMA + wait + TURN
    assert straight([*independent(1), "v_mov_b32 v40, v8"]).clocks == MFMA


def test_other_wave_issues_vector_instructions_under_a_matrix_instruction() -> None:
    """Waves 0 and 4 share a SIMD: 12 of 16 clocks of a matrix instruction are free for vector instructions."""
    lines = [*independent(8), *["v_add_u32 v50, v51, v52"] * 24, "s_endpgm"]
    first = [(i, 0, 0, 0, 0) for i in range(8)]
    others = [(len(lines) - 1, w, 0, 0, 0) for w in (1, 2, 3)]
    second = [(8 + i, 4, 0, 0, 0) for i in range(24)]
    timeline = replay(lines, [*first, *others, *second])
    assert timeline.clocks == 8 * MFMA
    assert timeline.busy_clocks("mfma", 0) == 8 * MFMA and timeline.busy_clocks("valu", 0) == 24 * TURN
    alone = replay(lines, [*first, *((8 + i, 0, 0, 0, 0) for i in range(24))])
    assert alone.clocks == 7 * MFMA + TURN + 24 * TURN  # in one wave's order the vector instructions come after


def test_waves_of_one_simd_share_its_vector_unit() -> None:
    adds = ["v_add_u32 v50, v51, v52"] * 10
    assert straight(adds, (0,)).clocks == 10 * TURN
    assert straight(adds, (0, 1, 2, 3)).clocks == 10 * TURN + 3  # a SIMD each, each in its turn
    assert straight(adds, range(8)).clocks == 20 * TURN + 3


@pytest.mark.parametrize(
    "line, clocks",
    [
        ("v_exp_f32 v1, v2", 16),
        ("v_rcp_iflag_f32 v1, v2", 16),
        ("v_sqrt_f64 v[2:3], v[4:5]", 16),
        ("v_pk_fma_f32 v[2:3], v[4:5], v[6:7], v[8:9]", 4),
        ("v_mul_lo_u32 v1, v2, v3", 16),
    ],
)
def test_vector_rates(line: str, clocks: int) -> None:
    assert straight([line] * 6).clocks == 6 * clocks


def test_lds_conflicts_double_the_time() -> None:
    lines = ["ds_read_b128 v[0:3], v60"] * 12
    free = replay(lines, [(i, w, 8, 1024, 8) for w in range(4) for i in range(12)])
    conflicts = replay(lines, [(i, w, 16, 1024, 8) for w in range(4) for i in range(12)])
    assert free.clocks == 48 * 8 and conflicts.clocks == 48 * 16
    assert free.conflicts == 0 and conflicts.conflicts == 48 * 8
    assert conflicts.lds_utilisation == 1


def test_wait_for_memory() -> None:
    lines = ["global_load_dwordx4 v[0:3], v[60:61], off", "s_waitcnt vmcnt(0)", "s_endpgm"]
    for latency in (0, 100, 1000):
        service = 1024 // 64
        assert straight(lines, latency=latency).clocks == service + latency + 2 * TURN
    (stall,) = straight(lines, latency=100).stalls
    assert (stall.reason, stall.start, stall.clocks) == ("vmcnt", TURN, 16 + 100 - TURN)
    assert straight(lines, latency=100, bytes_per_clock=32).clocks == 32 + 100 + 2 * TURN


def test_wait_for_the_older_load_only() -> None:
    load = "global_load_dwordx4 v[0:3], v[60:61], off"
    lines = [load, load, "s_waitcnt vmcnt({})", "s_endpgm"]
    for count, loads in ((0, 2), (1, 1), (2, 0)):
        clocks = straight([line.format(count) for line in lines], latency=200).clocks
        assert clocks == (16 * loads + 200 + 2 * TURN if loads else 2 * 16)  # at least until both are sent


def test_lds_and_scalar_loads_count_on_lgkmcnt() -> None:
    lines = ["ds_read_b128 v[0:3], v60", "s_waitcnt vmcnt(0)", "s_waitcnt lgkmcnt(0)", "s_endpgm"]
    latency = targets.get("gfx942").latencies.lds
    assert straight(lines).clocks == 8 + latency + 2 * TURN
    scalar = straight(["s_load_dwordx2 s[0:1], s[4:5], 0x0", "s_waitcnt lgkmcnt(0)"])
    assert scalar.stalls_by_reason() == {"lgkmcnt": 200 - TURN}


def test_uncoalesced_access_costs_its_segments() -> None:
    lines = ["global_load_dword v0, v[60:61], off", "s_waitcnt vmcnt(0)"]
    together, apart = (replay(lines, [(0, 0, 0, 256, n), (1, 0, 0, 0, 0)], latency=0) for n in (4, 64))
    assert (together.busy_clocks("memory"), apart.busy_clocks("memory")) == (4, 64)


def test_barrier_holds_the_first_wave() -> None:
    lines = [*["v_exp_f32 v1, v2"] * 5, "s_barrier", "s_endpgm"]
    slow = [(i, 1, 0, 0, 0) for i in range(7)]
    quick = [(5, 0, 0, 0, 0), (6, 0, 0, 0, 0)]
    timeline = replay(lines, [*quick, *slow])
    assert set(timeline.stalls_by_reason()) == {"barrier", "valu busy"}
    last = {s.wave: s.start for s in timeline.slices if s.instruction == 6}
    arrives = max(s.start for s in timeline.slices if s.instruction == 5)
    assert min(last.values()) > arrives


def test_wave_that_has_ended_does_not_hold_a_barrier() -> None:
    lines = ["s_barrier", "s_endpgm"]
    timeline = replay(lines, [(0, 0, 0, 0, 0), (1, 0, 0, 0, 0), (1, 1, 0, 0, 0)])
    assert len(timeline.slices) == 3 and timeline.clocks < 20


def test_taken_branch_costs_more() -> None:
    lines = [".Lagain:", "s_nop 0", "s_cbranch_scc1 .Lagain", "s_endpgm"]
    loops = replay(lines, [(0, 0, 0, 0, 0), (1, 0, 0, 0, 0)] * 3 + [(2, 0, 0, 0, 0)])
    assert loops.clocks == 2 * (TURN + 16) + 3 * TURN


def test_nops_and_priority() -> None:
    assert straight(["s_nop 7", "s_endpgm"]).clocks == 9 * TURN
    lines = ["s_setprio 3", *["v_exp_f32 v1, v2"] * 3, "s_endpgm"]
    other = [(i, 0, 0, 0, 0) for i in (1, 2, 3)]
    idle = [(4, w, 0, 0, 0) for w in (1, 2, 3)]
    first = [(i, 4, 0, 0, 0) for i in (0, 1, 2, 3)]
    timeline = replay(lines, [*other, *idle, *first])
    last = {w: max(s.start for s in timeline.slices if s.track == "wave" and s.wave == w) for w in (0, 4)}
    assert last[4] < last[0]


def test_traced_workgroups_run_together() -> None:
    """Two workgroups of a wave: the second goes to the next SIMD."""
    lines = [*independent(4), "s_endpgm"]
    entries = [(i, 0, 0, 0, 0) for i in range(5)] * 2
    timeline = replay(lines, entries)
    assert timeline.waves == 2 and timeline.clocks <= 4 * MFMA + TURN
    assert timeline.busy_clocks("mfma", 0) == timeline.busy_clocks("mfma", 1) == 4 * MFMA


def test_parameters_are_checked() -> None:
    with pytest.raises(ValueError, match="latency"):
        straight(["s_endpgm"], latency=-1)
    with pytest.raises(ValueError, match="bytes_per_clock"):
        straight(["s_endpgm"], bytes_per_clock=0)
    assert replay(["s_endpgm"], []).clocks == 0
    assert "modelled" in straight(["s_endpgm"], latency=77).summary()


@pytest.mark.parametrize("target", ["gfx942", "gfx950"])
def test_rules_for_matrix_clocks_agree_with_the_tables(target: str) -> None:
    table = targets.get(target)
    for kind in table.kinds:
        mnemonic, formats = kind.instruction.mnemonic, (0, 0)
        if "f8f6f4" in mnemonic:
            codes = {"f8E4M3FN": 0, "f8E5M2": 1, "f6E2M3FN": 2, "f6E3M2FN": 3, "f4E2M1FN": 4}
            formats = (codes[kind.lhs_dtype], codes[kind.rhs_dtype])
        clocks = rates.matrix_clocks(table, mnemonic, formats)
        assert clocks * kind.instruction.count == kind.clocks, kind.name
        if "f64" not in mnemonic and "f8f6f4" not in mnemonic:
            m = rates._MATRIX.match(mnemonic)
            assert m and TURN * rates._passes(int(m[1]), int(m[2]), int(m[3] or 1), m[4]) == clocks, kind.name


@pytest.mark.parametrize(
    "mnemonic, clocks",
    [
        ("v_mfma_f32_4x4x4_16b_f16", 8),
        ("v_mfma_f32_16x16x4_4b_f16", 32),
        ("v_mfma_f32_32x32x4_2b_bf16", 64),
        ("v_mfma_i32_32x32x4_2b_i8", 64),
        ("v_mfma_f32_32x32x1_2b_f32", 64),
        ("v_mfma_f32_16x16x1_4b_f32", 32),
        ("v_mfma_f64_4x4x4_4b_f64", 16),
        ("v_smfmac_f32_16x16x32_f16", 16),
        ("v_smfmac_i32_32x32x32_i8", 32),
    ],
)
def test_matrix_clocks_of_what_no_table_lists(mnemonic: str, clocks: int) -> None:
    """Passes of LLVM's scheduling model of gfx942, times 4."""
    assert rates.matrix_clocks(targets.get("gfx942"), mnemonic) == clocks


def test_no_matrix_instruction() -> None:
    with pytest.raises(targets.TargetError, match="v_add_f32 is no matrix instruction"):
        rates.matrix_clocks(targets.get("gfx942"), "v_add_f32")
