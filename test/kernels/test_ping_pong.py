"""Ping-pong with 8 waves: GEMMs and attention exact in the simulator and as machine code, for any number of trips; what
makes it wrong is noticed; the loop has no instruction too many."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import gemm_cases
import pytest
from gemm_cases import GemmCase
from mlir import ir
from schedule_checks import attention, check_attention, check_gemm, check_simulated, check_trips
from wave_mlir import report, sim
from wave_mlir.compiler import driver
from wave_mlir.compiler.barrier_proof import prove_barriers
from wave_mlir.compiler.diagnostics import PassError
from wave_mlir.compiler.driver import Compiled
from wave_mlir.compiler.pass_registry import CompileError, run_passes
from wave_mlir.compiler.tile_ir import walk
from wave_mlir.passes.pipelines import PipelineOptions
from wave_mlir.wave.scheduling import SchedulingType

CASES = [
    GemmCase("gfx942", "f16", 16, "shared", (64, 128, 32), (2, 4), 64, 128, 256),  # two copies of the buffers
    GemmCase("gfx942", "f16", 16, "shared", (128, 256, 64), (2, 4), 128, 256, 320),  # one copy
    GemmCase("gfx942", "bf16", 32, "shared", (128, 128, 32), (4, 2), 100, 128, 250),
    GemmCase("gfx942", "i8", 16, "shared", (64, 128, 64), (2, 4), 64, 100, 520),
    GemmCase("gfx950", "f16", 16, "shared", (64, 128, 64), (1, 8), 64, 128, 448),
    GemmCase("gfx950", "f16", 16, "direct", (64, 128, 64), (2, 4), 64, 128, 448),
]


@functools.cache
def compiled(case: GemmCase, dynamic: tuple[str, ...] = (), copies: int = 0, priority: int = -1) -> Compiled:
    direct = case.space == "direct"
    text = gemm_cases.gemm_text(replace(case, space="shared") if direct else case, dynamic)
    options = PipelineOptions(
        schedule="ping-pong", buffer_copies=copies, global_to_shared=direct, priority=priority, verify=True
    )
    return driver.compile_module(text, options=options, keep=["scheduled"])


SLOW = (1, 2, 3, 4)


@pytest.mark.parametrize(
    "case", [pytest.param(c, marks=[pytest.mark.slow] * (n in SLOW)) for n, c in enumerate(CASES)], ids=str
)
def test_gemms(case: GemmCase, isa: Callable[..., object]) -> None:
    made = compiled(case)
    assert made.ir("scheduled").count("wave.stagger") == 2
    check_simulated(case, made)
    check_gemm(case, lambda *arrays: isa(made, *arrays, seed=5))


def test_trips_at_run_time(isa: Callable[..., object]) -> None:
    """One kernel for every number of trips, the last of them partial in some."""
    case = CASES[0]
    made = compiled(case, ("K",))
    for k in (0, 64, 100, 224):
        check_simulated(replace(case, k=k), made, K=k)
    check_gemm(replace(case, k=224), lambda *arrays: isa(made, *arrays, symbols={"K": 224}, seed=3))


@pytest.mark.slow
@pytest.mark.parametrize("copies", [1, 2, 3])
@pytest.mark.parametrize("case", [CASES[0], CASES[5]], ids=str)
def test_trips(case: GemmCase, copies: int) -> None:
    """Copies x trips x {static, run-time}."""
    check_trips(case, lambda one, dynamic: compiled(one, dynamic, copies))


@pytest.mark.parametrize("machine", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["simulator", "machine"])
def test_attention(machine: bool) -> None:
    """The same bits as without a schedule; products, and the softmax between, in clusters of their own."""
    shape = attention.Shape(heads=1, queries=128, keys=288, qk_size=32, v_size=32)
    made = check_attention(SchedulingType.PING_PONG, shape, waves=8, block_m=128, machine=machine)
    assert made.ir("scheduled").count("wave.stagger") == 2


# --- what makes it wrong ---------------------------------------------------------------------------------


def steady_barriers(kernel: ir.OpView) -> list[ir.Operation]:
    loop = next(op for op in walk(kernel.operation.regions[0].blocks[0]) if "wave.steady" in op.attributes)
    return [op for op in walk(loop.regions[0].blocks[0]) if op.name == "wave.shared_memory_barrier"]


@pytest.mark.parametrize("number", range(4))
def test_barriers_are_needed(number: int) -> None:
    """Without one of the steady loop's barriers the pass and the proof refuse it, and the simulator finds the race."""
    case = replace(CASES[0], k=384)
    text = compiled(case).ir("scheduled")
    module = driver.parse(text)
    with module.context:
        (kernel,) = module.body.operations
        steady_barriers(kernel)[number].erase()
        with pytest.raises(PassError, match="no barrier separates"):
            prove_barriers(kernel)
    with pytest.raises(sim.SimError, match="race"):
        check_simulated(case, driver.compile_module(str(module)))
    with module.context:
        module.operation.attributes["wave.form"] = ir.StringAttr.get("lane")
        with pytest.raises(CompileError, match="it takes two barriers between, and there is one"):
            run_passes(module, "wave-place-barriers")


def test_priorities() -> None:
    raised = "wave.set_wave_prio 2"
    assert raised in compiled(CASES[0], priority=2).ir("scheduled")
    assert "wave.set_wave_prio" not in compiled(CASES[0], priority=0).ir("scheduled")
    options = PipelineOptions(schedule="list", priority=3)
    case = replace(CASES[0], waves=(2, 2))
    made = driver.compile_module(gemm_cases.gemm_text(case), options=options, keep=["scheduled"])
    assert made.ir("scheduled").count("wave.set_wave_prio 3") == made.ir("scheduled").count("wave.set_wave_prio 0") > 0
    check_simulated(case, made)


def test_text(tmp_path: Path) -> None:
    """What is written is read back as the same; without one of its barriers it is refused."""
    text, path = gemm_cases.gemm_text(CASES[0]), tmp_path / "schedule"
    options = PipelineOptions(schedule="ping-pong", schedule_dump=str(path))
    first = driver.compile_module(text, options=options, until="scheduled", keep=["scheduled"])
    given = PipelineOptions(schedule_file=str(path))
    assert driver.compile_module(text, options=given, until="scheduled").ir("scheduled") == first.ir("scheduled")
    path.write_text("".join(line for line in path.open() if "added.barrier.1" not in line))
    with pytest.raises(CompileError, match="it takes two barriers between, and there is one"):
        driver.compile_module(text, options=given, until="scheduled")


@pytest.mark.slow
@pytest.mark.parametrize(("k", "most", "barriers"), [(32, 1.46, 2), (64, 1.51, 8)])
def test_quality(k: int, most: float, barriers: int) -> None:
    """256x256 with two copies of a tile and with one: instructions an MFMA, nothing spilled, moved or computed between,
    and loads under way for half a trip of both groups."""
    made = compiled(GemmCase("gfx942", "f16", 16, "shared", (256, 256, k), (2, 4), 256, 256, 4096))
    found = report.analyze(made.isa).kernels[0]
    hot, model = found.hot_loop, found.model
    assert hot is not None and model is not None and model.global_flight is not None
    mfma = sum(hot.counts.mfma.values())
    assert (found.vgpr_spills, found.scratch_bytes, hot.counts["accvgpr_move"], hot.counts["valu"]) == (0, 0, 0, 0)
    assert hot.counts["barrier"] == barriers * mfma // (2 * k)  # a step has 2 * k MFMAs
    assert hot.counts.instructions / mfma <= most
    assert model.global_flight.least_in_series >= model.bounds["MFMA"] / model.waves / 2
