"""GEMMs whose loops are scheduled and pipelined: exact for every strategy, number of trips, kind and way to LDS."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace

import gemm_cases
import numpy as np
import pytest
from gemm_cases import GemmCase
from mlir import ir
from wave_mlir import sim
from wave_mlir.compiler import driver
from wave_mlir.compiler.driver import Compiled
from wave_mlir.compiler.pass_registry import run_passes
from wave_mlir.dialect import MemoryType
from wave_mlir.passes.pipelines import PipelineOptions

STRATEGIES = ("list", "modulo", "prefetch", "four-stage", "attention")
CASES = [
    GemmCase("gfx942", "f16", 16, "shared", (64, 64, 32), (2, 2), 64, 64, 224),
    GemmCase("gfx942", "bf16", 32, "shared", (32, 64, 64), (1, 2), 32, 64, 448),
    GemmCase("gfx942", "f8", 16, "shared", (64, 64, 64), (2, 2), 100, 64, 520),
    GemmCase("gfx942", "i8", 32, "global", (64, 64, 64), (1, 1), 64, 64, 448),
    GemmCase("gfx950", "f16", 16, "shared", (64, 32, 64), (2, 1), 64, 32, 448),
    GemmCase("gfx950", "f16", 16, "direct", (64, 32, 64), (2, 1), 64, 32, 448),
]


def _text(case: GemmCase, dynamic: tuple[str, ...] = ()) -> str:
    return gemm_cases.gemm_text(replace(case, space="shared") if case.space == "direct" else case, dynamic)


@functools.cache
def _compiled(case: GemmCase, strategy: str, dynamic: tuple[str, ...] = ()) -> Compiled:
    options = PipelineOptions(schedule=strategy, global_to_shared=case.space == "direct")
    return driver.compile_module(_text(case, dynamic), options=options, keep=["scheduled"])


def _check(case: GemmCase, run: Callable[..., object]) -> None:
    a, b, c = gemm_cases.inputs(case)
    run(a, b, c)
    np.testing.assert_array_equal(c, gemm_cases.expected(a, b, c.dtype), err_msg=str(case))


@pytest.mark.thin(5)
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_simulated(case: GemmCase, strategy: str) -> None:
    compiled = _compiled(case, strategy)
    assert "wave.steady" in compiled.ir("scheduled")
    _check(case, lambda *arrays: sim.run(compiled.module, list(arrays)))


@pytest.mark.thin(5)
@pytest.mark.parametrize("strategy", ["modulo", "prefetch"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_machine_code(case: GemmCase, strategy: str, isa: Callable[..., object]) -> None:
    _check(case, lambda *arrays: isa(_compiled(case, strategy), *arrays, seed=len(strategy)))


@pytest.mark.thin(3)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_trips_at_run_time(strategy: str, isa: Callable[..., object]) -> None:
    """One kernel for every number of trips, the last of them partial in some."""
    compiled = _compiled(replace(CASES[0], m=64, n=64), strategy, ("K",))
    assert "wave.steady" in compiled.ir("scheduled")
    for k in (32, 64, 100, 160, 192, 224):
        symbols = {"K": k}
        _check(replace(CASES[0], k=k), lambda *arrays, s=symbols: sim.run(compiled.module, list(arrays), symbols=s))
    _check(replace(CASES[0], k=224), lambda *arrays: isa(compiled, *arrays, symbols={"K": 224}, seed=3))


# --- stages x trips x unroll, by hand -------------------------------------------------------------------
STAGES = {1: (0, 0, 0, 0), 2: (0, 1, 1, 1), 3: (0, 1, 2, 2), 4: (0, 1, 2, 3), 5: (0, 2, 3, 4)}
"""Stages of loads, LDS writes, LDS reads and MMAs."""
SMALL = GemmCase("gfx942", "f16", 16, "shared", (32, 32, 32), (2, 1), 32, 32, 32)
WIDE = GemmCase("gfx942", "f16", 32, "shared", (64, 32, 32), (2, 1), 64, 32, 32)


def _kind(op: ir.Operation) -> int | None:
    if op.name in ("wave.buffer_load", "wave.gather_to_shared"):
        return 0
    if op.name == "wave.read":
        return 2 if MemoryType(op.operands[0].type).space == "shared" else 0
    return {"wave.write": 1, "wave.mma": 3}.get(op.name)


def _annotate(loop: ir.Operation, stages: int, unroll: int) -> None:
    """A schedule by kinds of ops, in the order of the program."""
    i64 = ir.IntegerType.get_signless(64)

    def number(value: int) -> ir.Attribute:
        return ir.IntegerAttr.get(i64, value)

    of = STAGES[stages]
    for order, view in enumerate(loop.regions[0].blocks[0].operations):
        op = view.operation
        kind = _kind(op)
        if kind is None:
            continue
        direct = op.name == "wave.gather_to_shared"
        op.attributes["wave.slot"] = ir.DictAttr.get({"stage": number(of[kind]), "order": number(order)})
        if direct or kind == 1:
            buffer = (op.opview.target if direct else op.operands[1]).owner
            before = buffer.attributes["wave.copies"].value if "wave.copies" in buffer.attributes else 1
            buffer.attributes["wave.copies"] = number(max(before, of[2] - of[0 if direct else 1] + 1))
    loop.attributes["wave.pipeline"] = ir.DictAttr.get({"stages": number(stages), "unroll": number(unroll)})


def _pipelined(case: GemmCase, dynamic: tuple[str, ...], stages: int, unroll: int, eliminate: bool = False) -> Compiled:
    options = PipelineOptions(global_to_shared=case.space == "direct")
    module = driver.compile_module(_text(case, dynamic), until="lane", options=options).module
    with module.context, ir.Location.unknown():
        for kernel in module.body.operations:
            for view in kernel.operation.regions[0].blocks[0].operations:
                if view.operation.name == "wave.iterate":
                    _annotate(view.operation, stages, unroll)
        run_passes(module, "wave-pipeline-loops{eliminate-epilogue=true}" if eliminate else "wave-pipeline-loops")
    return driver.compile_module(module)


def _check_trips(case: GemmCase, stages: int, unroll: int, trips: tuple[int, ...], eliminate: bool = False) -> None:
    step = case.tile[2]
    at_run_time = _pipelined(case, ("K",), stages, unroll, eliminate)
    for count in trips:
        one = replace(case, k=count * step)
        _check(one, lambda *a, k=one.k: sim.run(at_run_time.module, list(a), symbols={"K": k}))
        if count:
            known = _pipelined(one, (), stages, unroll, eliminate)
            _check(one, lambda *a, m=known: sim.run(m.module, list(a)))


@pytest.mark.parametrize(("stages", "unroll", "trips"), [(3, 2, (0, 1, 5, 7)), (4, 1, (3, 4)), (5, 3, (2, 9))])
def test_stages(stages: int, unroll: int, trips: tuple[int, ...]) -> None:
    _check_trips(SMALL, stages, unroll, trips)


@pytest.mark.slow
@pytest.mark.parametrize("unroll", [1, 2, 3])
@pytest.mark.parametrize("stages", STAGES)
@pytest.mark.parametrize(
    "case", [SMALL, WIDE, replace(SMALL, target="gfx950", space="direct", tile=(32, 32, 64))], ids=str
)
def test_all_stages(case: GemmCase, stages: int, unroll: int) -> None:
    _check_trips(case, stages, unroll, tuple(range(10)))


@pytest.mark.slow
@pytest.mark.parametrize("unroll", [1, 2, 3])
@pytest.mark.parametrize("stages", STAGES)
def test_machine_code_of_stages(stages: int, unroll: int, isa: Callable[..., object]) -> None:
    compiled = _pipelined(SMALL, ("K",), stages, unroll)
    for trips in (0, stages - 1, stages + unroll, 9):
        case = replace(SMALL, k=32 * trips)
        _check(case, lambda *a, k=case.k, s=trips: isa(compiled, *a, symbols={"K": k}, seed=s))
