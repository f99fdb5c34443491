"""The static model: against figures worked out by hand, the machine-code runner's timeline, and llvm-mca."""

from __future__ import annotations

import gemm_model_cases
import llvm_mca
import pytest
from wave_mlir import report
from wave_mlir.compiler import targets
from wave_mlir.report.assembly import Block
from wave_mlir.report.instructions import Instruction, classify
from wave_mlir.report.loop_body import body
from wave_mlir.report.model import LoopModel, model
from wave_mlir.report.render_model import figures

MFMA = "v_mfma_f32_16x16x16_f16 v[{0}:{1}], v[4:5], v[6:7], v[{0}:{1}]"
LOAD = "buffer_load_dwordx4 v[200:203], v2, s[8:11], 0 offen"
READ = "ds_read_b128 v[208:211], v3"
WRITE = "ds_write_b128 v3, v[200:203]"


def mfma(number: int) -> str:
    """An MFMA with the accumulator of this number."""
    first = 16 + 4 * number
    return MFMA.format(first, first + 3)


def instructions(lines: list[str]) -> list[Instruction]:
    """Instructions of lines of assembly."""
    parts = [line.partition(" ") for line in lines]
    return [classify(mnemonic, operands) for mnemonic, _, operands in parts]


def of(lines: list[str], waves: int = 1, target: str = "gfx942", per_group: int = 1) -> LoopModel:
    """The model of the lines as a loop."""
    found = model(instructions(lines), targets.get(target), waves, per_group)
    assert found is not None
    return found


def test_bounds_by_hand() -> None:
    lines = [mfma(0), mfma(1), "v_exp_f32_e32 v0, v1", "v_add_u32_e32 v0, v1, v2", "v_mul_lo_u32 v0, v1, v2",
             "s_add_u32 s0, s0, s1", "s_nop 3", LOAD, READ, WRITE]  # fmt: skip
    found = of(lines, waves=2)
    # one wave: 2 MFMAs of 16; VALU 16 + 4 + 16; SALU 4; s_nop 16; 3 accesses of 4
    assert found.bounds["MFMA"] == 2 * 32
    assert found.bounds["VALU"] == 2 * (36 + 2 * 4)
    assert found.bounds["SALU"] == 2 * 4
    assert found.bounds["issue of one wave"] == 36 + 4 + 16 + 12 + 2 * 4
    assert found.bounds["LDS"] == 2 * 4 * (8 + 8)  # 4 SIMDs share it; 8 phases each
    assert found.bounds["VMEM issue"] == 2 * 4
    assert found.bounds["VMEM bytes"] == 2 * 4 * 1024 / 64
    assert (found.limit, found.utilisation) == ("LDS", 0.5)  # as much as VMEM bytes
    assert found.serial == pytest.approx(32 / (32 + 68 + 64))
    assert found.per_mfma == 5 and found.memory_bytes == 2 * 4 * 1024
    assert found.unshared == pytest.approx(found.memory_bytes / (5300 / (304 * 2.1)))


def test_addresses_that_are_known_count() -> None:
    table = targets.get("gfx942")
    known = model(instructions([mfma(0), READ, READ, WRITE]), table, 1, 1, {("read", 128): 16.0})
    assert known is not None and known.lds_known and known.bounds["LDS"] == 4 * (16 + 16 + 8)
    assert of([mfma(0), "ds_read2_b64 v[0:3], v4 offset1:1"]).bounds["LDS"] == 4 * 2 * 4
    assert of([mfma(0), "buffer_load_dwordx4 v4, s[0:3], 0 offen lds"], target="gfx950").bounds["LDS"] == 4 * 8


def test_flight() -> None:
    """The load of one trip is waited for in the next: 3 MFMAs, of which VALU and scalar work hides."""
    wait = "s_waitcnt vmcnt(0)"
    lines = [wait, LOAD, mfma(0), mfma(1), "v_add_u32_e32 v0, v1, v2", mfma(2)]
    flight = of(lines).global_flight
    assert flight is not None
    # overlapped a trip takes 48, the wait stands a turn before the load; in series all follow the load
    assert (flight.loads, flight.least, flight.least_in_series) == (1, 3 * 16 - 4, 4 + 3 * 16 + 4)
    assert of(lines).drains == 1
    counted = of([LOAD, "s_waitcnt vmcnt(1)", mfma(0), mfma(1)])
    assert counted.drains == 0 and counted.global_flight is not None
    assert counted.global_flight.least_in_series == 4 + 4 + 32 + 4, "covered by the next trip's wait"
    assert of([mfma(0), LOAD]).global_flight is None
    reads = of([READ, mfma(0), "s_waitcnt lgkmcnt(0)"]).lds_flight
    assert reads is not None and reads.least == 12, "the MFMA waits 4 clocks for the matrix unit"


def test_replay_of_matrix_work() -> None:
    independent = of([mfma(n) for n in range(8)])
    assert independent.replay.clocks == 8 * 16 and independent.replay.utilisation == 1
    late = targets.get("gfx942").latencies
    assert of([mfma(0)] * 4).replay.clocks == 4 * (16 + late.mma_extra), "each waits for the one before"
    assert of([mfma(n) for n in range(8)], waves=2).replay.clocks == 2 * 8 * 16
    hidden = of([mfma(n // 4) if n % 4 == 0 else f"v_add_u32_e32 v{n}, v1, v2" for n in range(32)])
    assert hidden.replay.clocks == 8 * 16 + 12, "three VALU instructions go under an MFMA; the branch back shows"
    assert of([mfma(0), "v_add_f32_e32 v0, v16, v17"]).replay.clocks >= 16 + 4 * late.mma_to_vector_extra


def test_replay_of_waits_and_barriers() -> None:
    alone = of([LOAD, "s_waitcnt vmcnt(0)", mfma(0)])
    late = targets.get("gfx942").latencies
    assert alone.replay.clocks >= late.l2 + 16 and alone.replay.stalls["vmcnt"] > 400
    others = of([LOAD, "s_waitcnt vmcnt(0)", mfma(0)], waves=8)
    assert others.replay.utilisation > 4 * alone.replay.utilisation, "other waves hide latency"
    assert of([READ, "s_waitcnt lgkmcnt(0)", mfma(0)]).replay.clocks >= late.lds
    work = [mfma(n) for n in range(8)]
    apart, together = of([*work, "s_barrier"], 2, per_group=1), of([*work, "s_barrier"], 2, per_group=2)
    assert together.replay.stalls["barrier"] > apart.replay.stalls.get("barrier", 0)
    assert apart.barriers == 1 and apart.replay.utilisation <= 1


def test_heaviest_way_round() -> None:
    """A loop whose conditional part has the matrix work; the other side is longer."""

    def block(label: str, lines: list[str], successors: list[int]) -> Block:
        return Block(label, instructions(lines), successors)

    blocks = [
        block("head", ["s_cbranch_scc1 a"], [1, 2]),
        block("", ["s_nop 0"] * 5 + ["s_branch c"], [3]),
        block("a", [mfma(0), mfma(1)], [3]),
        block("c", ["s_cbranch_scc1 head"], [0, 4]),
        block("", ["s_endpgm"], []),
    ]
    way = body(blocks, {0, 1, 2, 3}, lambda i: i.kind == "mfma")
    assert [i.kind for i in way] == ["branch", "mfma", "mfma", "branch"]
    assert [i.kind for i in body(blocks, {0, 1, 2, 3}, lambda i: 0)] == [i.kind for i in way], "the shorter way"


def test_loop_without_matrix_work() -> None:
    """What makes no sense is not said; the bounds and the replay are there."""
    found = of([LOAD, "s_waitcnt vmcnt(0)", "v_add_f32_e32 v0, v1, v2"])
    lines = "\n".join(figures(found))
    assert found.per_mfma is None and "MFMA utilisation" not in lines and "clocks replayed" in lines
    assert "1 wait, 0 barriers, 1 wait for vmcnt(0)" in lines and found.to_json()["instructions_per_mfma"] is None


def test_no_model_without_rates() -> None:
    assert model(instructions([mfma(0)]), targets.get("gfx1201"), 1, 1) is None
    assert model([], targets.get("gfx942"), 1, 1) is None


def test_pictures() -> None:
    found = of([READ, "s_waitcnt lgkmcnt(0)", *(mfma(n) for n in range(8)), "s_barrier"], waves=2)
    shown = report.timeline_text(found)
    rows = dict(line.strip().split("|")[:2] for line in shown.splitlines() if "|" in line)
    assert [r.strip() for r in rows] == ["wave 0", "wave 1", "mfma", "valu", "LDS", "memory"]
    assert "B" in rows["wave 0      "] and "M" in rows["wave 0      "] and "#" in rows["mfma        "]
    assert max(map(len, shown.splitlines())) < 200
    picture = report.timeline_svg(found, "a < b")
    assert picture.startswith("<svg ") and picture.endswith("</svg>\n") and "a &lt; b" in picture
    assert picture.count("v_mfma") >= 2 * 8


@pytest.mark.parametrize("case", gemm_model_cases.CASES, ids=str)
def test_against_the_runners_timeline(case: gemm_model_cases.Case) -> None:
    """Clocks that a trip adds to the runner's timeline of real execution, and the replay of the loop's text."""
    measured, modelled = gemm_model_cases.clocks_of_a_trip(case)
    assert modelled == pytest.approx(measured, rel=0.1)


MIXED = (
    [mfma(n) for n in range(8)],
    [mfma(n // 2) if n % 2 == 0 else f"v_add_f32_e32 v{100 + n}, v0, v1" for n in range(16)],
    [mfma(n // 5) if n % 5 == 0 else f"v_add_f32_e32 v{100 + n}, v0, v1" for n in range(40)],
    ["v_add_f32_e32 v0, v1, v2", "s_add_u32 s0, s0, s1", "v_mov_b32_e32 v3, v4"] * 4,
    [f"v_mfma_f32_32x32x8_f16 v[{n}:{n + 15}], v[4:5], v[6:7], v[{n}:{n + 15}]" for n in (16, 32)],
    ["v_mfma_f32_16x16x32_fp8_fp8 v[16:19], v[4:5], v[6:7], v[16:19]", mfma(2), mfma(3)],
    ["v_mfma_i32_32x32x16_i8 v[16:31], v[4:5], v[6:7], v[16:31]", *(mfma(n) for n in range(8, 14))],
)  # fmt: skip


@pytest.mark.mca
@pytest.mark.parametrize("lines", MIXED, ids=range(len(MIXED)))
@pytest.mark.parametrize("target", ("gfx942", "gfx950"))
def test_against_llvm_mca(lines: list[str], target: str) -> None:
    """Throughput: the same within a turn and the branch back, which llvm-mca does not have."""
    assert of(lines, target=target).replay.clocks == pytest.approx(llvm_mca.clocks(lines, target), abs=16)


@pytest.mark.mca
def test_dependences_against_llvm_mca() -> None:
    """LLVM's tables have the passes of a dependence; the wait states that its hazard recogniser adds come on top."""
    late = targets.get("gfx942").latencies
    chain = [mfma(0)] * 4
    extra = of(chain).replay.clocks - llvm_mca.clocks(chain, "gfx942")
    assert extra == pytest.approx(4 * late.mma_extra, abs=4)
    read = [mfma(0), "v_add_f32_e32 v0, v16, v17"]
    extra = of(read).replay.clocks - llvm_mca.clocks(read, "gfx942")
    assert extra == pytest.approx(4 * late.mma_to_vector_extra, abs=16)
