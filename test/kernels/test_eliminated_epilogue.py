"""Pipelined loops without an epilogue: exact for every number of trips, in the simulator and as machine code; loads do
not leave their memory and cost no vector instruction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import gemm_cases
import numpy as np
import pytest
from gemm_cases import GemmCase
from test_manual_schedule import gemm, made, two_stages
from test_scheduled_gemm import CASES, SMALL, STAGES, WIDE, _check, _check_trips, _text
from wave_mlir import report, sim
from wave_mlir.compiler import driver
from wave_mlir.compiler.driver import Compiled
from wave_mlir.passes.pipelines import PipelineOptions
from wave_mlir.wave.compile import WaveCompileOptions, wave_compile

DIRECT = replace(SMALL, target="gfx950", space="direct", tile=(32, 32, 64))


MORE = [(2, "modulo"), (5, "four-stage")]


def compiled(case: GemmCase, strategy: str, dynamic: tuple[str, ...] = ()) -> Compiled:
    options = PipelineOptions(
        schedule=strategy, eliminate_epilogue=True, global_to_shared=case.space == "direct", verify=True
    )
    return driver.compile_module(_text(case, dynamic), options=options, keep=["scheduled"])


@pytest.mark.parametrize(("stages", "unroll", "trips"), [(3, 2, (0, 1, 5)), (5, 1, (1, 3, 7))])
def test_stages(stages: int, unroll: int, trips: tuple[int, ...]) -> None:
    _check_trips(SMALL, stages, unroll, trips, eliminate=True)


@pytest.mark.slow
@pytest.mark.parametrize("unroll", [1, 2, 3])
@pytest.mark.parametrize("stages", STAGES)
@pytest.mark.parametrize("case", [SMALL, WIDE, DIRECT], ids=str)
def test_all_stages(case: GemmCase, stages: int, unroll: int) -> None:
    _check_trips(case, stages, unroll, tuple(range(10)), eliminate=True)


@pytest.mark.parametrize(
    ("number", "strategy"),
    [(0, "prefetch"), (5, "modulo"), *(pytest.param(n, s, marks=pytest.mark.slow) for n, s in MORE)],
)
def test_strategies(number: int, strategy: str, isa: Callable[..., object]) -> None:
    """Trips known at run time, the last one partial in some."""
    case = replace(CASES[number], m=CASES[number].tile[0])
    kernel = compiled(case, strategy, ("K",))
    step = case.tile[2]
    for k in (0, step, 3 * step, 3 * step + step // 2):
        _check(replace(case, k=k), lambda *arrays, s=k: sim.run(kernel.module, list(arrays), symbols={"K": s}))
    _check(replace(case, k=3 * step), lambda *arrays: isa(kernel, *arrays, symbols={"K": 3 * step}, seed=4))


@pytest.mark.slow
def test_code() -> None:
    """One loop holds all products; its loads cost scalar instructions, and the code is shorter."""
    case = GemmCase("gfx942", "f16", 16, "shared", (128, 128, 32), (2, 2), 4096, 4096, 4096)
    with_epilogue = driver.compile_module(gemm_cases.gemm_text(case), options=PipelineOptions(schedule="prefetch"))
    without = compiled(case, "prefetch")
    text = without.ir("scheduled")
    loop = text[text.index("wave.steady") :]
    inside = loop[: loop.index("wave.yield")]
    assert text.count("wave.mma ") == inside.count("wave.mma ") and "min(" in inside
    figures = [report.analyze(m.isa).kernels[0] for m in (with_epilogue, without)]
    hot = figures[1].hot_loop
    assert hot is not None and hot.counts["valu"] == 0 and figures[1].vgpr_spills == 0
    assert without.isa.count("\n") < 0.75 * with_epilogue.isa.count("\n")


def test_option() -> None:
    """The option of wave_compile; with a schedule by hand too; without a schedule it is a warning."""
    kernel = made(two_stages, eliminate_epilogue=True)
    text = kernel.ir("scheduled")
    assert "min(" in text and "wave.mma" not in text[text.index("wave.yield", text.index("wave.steady")) :]
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-3, 4, (64, 320)).astype(np.float16) for _ in range(2))
    c = np.full((64, 64), np.nan, np.float32)
    kernel(a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32).T)
    with pytest.warns(UserWarning, match="eliminate_epilogue has no effect: schedule is SchedulingType.NONE"):
        wave_compile(WaveCompileOptions(subs=kernel.options.subs, eliminate_epilogue=True, cache=False), gemm)
