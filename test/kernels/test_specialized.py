"""Waves that only copy to LDS: GEMMs and attention exact in the simulator and as machine code, for any number of trips;
what makes it wrong is noticed; the waves that compute issue nothing but what computing takes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace

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
from wave_mlir.compiler.tile_ir import walk
from wave_mlir.passes.pipelines import PipelineOptions
from wave_mlir.wave.scheduling import SchedulingType

CASES = [
    GemmCase("gfx942", "f16", 16, "shared", (64, 64, 32), (2, 2), 64, 64, 224),
    GemmCase("gfx942", "f16", 16, "shared", (128, 128, 64), (2, 2), 128, 256, 320),
    GemmCase("gfx942", "bf16", 32, "shared", (128, 128, 32), (4, 1), 100, 128, 250),
    GemmCase("gfx942", "i8", 16, "shared", (64, 128, 64), (2, 2), 64, 100, 520),
    GemmCase("gfx950", "f16", 16, "shared", (64, 128, 64), (1, 4), 64, 128, 448),
    GemmCase("gfx950", "f16", 16, "direct", (64, 64, 64), (2, 2), 64, 64, 256),
    GemmCase("gfx942", "f16", 16, "shared", (128, 128, 32), (2, 4), 128, 128, 256),  # 16 waves
]


@functools.cache
def compiled(case: GemmCase, dynamic: tuple[str, ...] = (), copies: int = 0, schedule: str = "specialized") -> Compiled:
    direct = case.space == "direct"
    text = gemm_cases.gemm_text(replace(case, space="shared") if direct else case, dynamic)
    options = PipelineOptions(schedule=schedule, buffer_copies=copies, global_to_shared=direct, verify=True)
    return driver.compile_module(text, options=options, keep=["scheduled"])


SLOW = (1, 2, 3, 4, 6)


@pytest.mark.parametrize(
    "case", [pytest.param(c, marks=[pytest.mark.slow] * (n in SLOW)) for n, c in enumerate(CASES)], ids=str
)
def test_gemms(case: GemmCase, isa: Callable[..., object]) -> None:
    made = compiled(case)
    assert made.ir("scheduled").count("wave.specialized") == 1
    check_simulated(case, made)
    check_gemm(case, lambda *arrays: isa(made, *arrays, seed=5))


def test_trips_at_run_time(isa: Callable[..., object]) -> None:
    """One kernel for every number of trips, the last of them partial in some."""
    case = CASES[0]
    made = compiled(case, ("K",))
    for k in (0, 32, 100):
        check_simulated(replace(case, k=k), made, K=k)
    check_gemm(replace(case, k=100), lambda *arrays: isa(made, *arrays, symbols={"K": 100}, seed=3))


@pytest.mark.slow
@pytest.mark.parametrize("copies", [1, 2, 3, 4])
@pytest.mark.parametrize("case", [CASES[0], CASES[5]], ids=str)
def test_trips(case: GemmCase, copies: int) -> None:
    """Copies x trips x {static, run-time}."""
    check_trips(case, lambda one, dynamic: compiled(one, dynamic, copies))


@pytest.mark.parametrize("machine", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["simulator", "machine"])
def test_attention(machine: bool) -> None:
    """The same bits as without a schedule: some waves copy K and V, the others have the products and the softmax."""
    shape = attention.Shape(heads=1, queries=64, keys=96, qk_size=32, v_size=32)
    made = check_attention(SchedulingType.SPECIALIZED, shape, waves=4, block_m=64, machine=machine)
    assert made.ir("scheduled").count("wave.specialized") == 1


# --- what makes it wrong ---------------------------------------------------------------------------------


def steady_barriers(kernel: ir.OpView) -> list[list[ir.Operation]]:
    """The barriers of the steady loop, of each branch."""
    branch = next(op for op in walk(kernel.operation.regions[0].blocks[0]) if "wave.specialized" in op.attributes)
    loops = [next(op for op in walk(r.blocks[0]) if "wave.steady" in op.attributes) for r in branch.regions]
    return [[op for op in walk(loop.regions[0].blocks[0]) if op.name == "wave.shared_memory_barrier"] for loop in loops]


@pytest.mark.parametrize("number", range(2))
def test_barriers_are_needed(number: int) -> None:
    """Without one of the steady loop's barriers the proof refuses it, and the simulator finds the race."""
    case = replace(CASES[0], k=512)
    module = driver.parse(compiled(case).ir("scheduled"))
    with module.context:
        (kernel,) = module.body.operations
        for barriers in steady_barriers(kernel):
            barriers[number].erase()
        with pytest.raises(PassError, match="no barrier separates"):
            prove_barriers(kernel)
    with pytest.raises(sim.SimError, match="race"):
        check_simulated(case, driver.compile_module(str(module)))


@pytest.mark.parametrize("side", range(2))
def test_barriers_are_alike(side: int) -> None:
    """Waves of one kind with a barrier less are refused, and would wait for ever."""
    case = replace(CASES[0], k=512)
    module = driver.parse(compiled(case).ir("scheduled"))
    with module.context:
        (kernel,) = module.body.operations
        steady_barriers(kernel)[side][0].erase()
        with pytest.raises(PassError, match="the other waves have no barrier, or loop with one, for this one"):
            prove_barriers(kernel)
    with pytest.raises(sim.SimError):
        check_simulated(case, driver.compile_module(str(module)))


def test_trips_are_alike() -> None:
    """Loops with barriers have to make the same trips for both kinds of waves."""
    module = driver.parse(compiled(CASES[0]).ir("scheduled"))
    with module.context:
        (kernel,) = module.body.operations
        loop = steady_barriers(kernel)[1][0].parent.operation
        loop.attributes["trips"] = ir.Attribute.parse("#wave.expr<2>")
        with pytest.raises(PassError, match="this is not known to be run as often as what the other waves have"):
            prove_barriers(kernel)


@pytest.mark.slow
def test_quality() -> None:
    """128x128x64 by 4 waves that compute and 4 that copy: the former issue MMAs, LDS reads, waits and a barrier."""
    case = GemmCase("gfx942", "f16", 16, "shared", (128, 128, 64), (2, 2), 256, 256, 4096)
    found = report.analyze(compiled(case).isa).kernels[0]
    hot = found.hot_loop
    assert hot is not None
    mfma = sum(hot.counts.mfma.values())
    assert (found.vgpr_spills, found.scratch_bytes, hot.counts["accvgpr_move"], hot.counts["valu"]) == (0, 0, 0, 0)
    assert hot.counts["barrier"] == mfma // 64
    assert hot.counts["load"] == hot.counts["lds_write"] == 0
    assert hot.counts.instructions / mfma <= 1.36
