"""Accumulators of large tiles stay in registers: no spills, and next to no moves between the halves of the file; what
LLVM could not keep is a warning.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import replace

import pytest
from gemm_cases import GemmCase, gemm_text
from wave_mlir import report
from wave_mlir.compiler import abi, driver, machine, register_costs, register_pressure, targets
from wave_mlir.compiler.diagnostics import CompileError, CompileWarning, Diagnostic
from wave_mlir.passes.pipelines import PipelineOptions

# 256 accumulator registers a lane; with LLVM's own order the first had 300 moves in the loop, the last spilled.
CASES = (
    GemmCase("gfx942", "f16", 16, "shared", (256, 256, 64), (2, 2), 256, 256, 256),
    GemmCase("gfx942", "bf8", 16, "shared", (256, 256, 64), (1, 4), 256, 256, 256),
    GemmCase("gfx950", "bf16", 16, "shared", (256, 256, 64), (4, 1), 256, 256, 256),
)
# 96 of the 128 registers that a lane has in workgroups of 16 waves: 10 scratch accesses in the loop with LLVM's order.
SIXTEEN_WAVES = GemmCase("gfx950", "bf8", 16, "global", (384, 256, 64), (4, 4), 768, 768, 256)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_accumulators_stay(case: GemmCase) -> None:
    assert case.acc_registers == 256
    compiled = driver.compile_module(gemm_text(case))
    with pytest.warns(CompileWarning) as caught:
        isa = compiled.isa
    (kernel,) = report.analyze(isa).kernels
    assert kernel.hot_loop is not None
    counts = kernel.hot_loop.counts
    assert (kernel.vgpr_spills, kernel.sgpr_spills, kernel.total["scratch"]) == (0, 0, 0)
    assert counts["accvgpr_move"] <= 40, "operand fragments may wait in AGPRs, accumulators may not"
    assert register_costs.agpr_moves(isa) == {"gemm": counts["accvgpr_move"]}, "counted another way"
    spills, moves = register_costs.most_lost(compiled.obj)
    assert spills == 0 and counts["accvgpr_move"] <= moves <= counts["accvgpr_move"] + 8
    (warning,) = (w.message for w in caught if isinstance(w.message, CompileWarning))
    check_notes(case, warning.diagnostic)


def check_notes(case: GemmCase, found: Diagnostic) -> None:
    """What the warning says that values cost, against sizes of the tile."""
    assert "use more waves or a smaller tile" in found.message and found.location == "-:3:3"
    notes = [n.message for n in found.notes]
    assert notes[0] == "256 registers a lane are accumulators that the loop carries"
    bits = {"f16": 16, "bf16": 16, "bf8": 8}[case.dtype]
    (bm, bn, bk), waves = case.tile, case.waves
    fragments = (bm // waves[0] + bn // waves[1]) * bk * bits // (64 * 32)
    loads = (bm + bn) * bk * bits // (64 * 4 * 32)
    assert f"up to {fragments} registers hold what is read from LDS in a trip (operand fragments)" in notes
    assert f"up to {loads} registers hold what is loaded from memory in a trip" in notes


def test_registers_of_many_waves() -> None:
    assert SIXTEEN_WAVES.acc_registers == 96
    compiled = driver.compile_module(gemm_text(SIXTEEN_WAVES))
    with pytest.warns(CompileWarning, match="spills 6 registers a lane to memory; use more waves or a smaller tile"):
        (kernel,) = report.analyze(compiled.isa).kernels
    assert kernel.hot_loop is not None and kernel.hot_loop.counts["scratch"] == 0


@pytest.mark.slow
def test_another_order_where_the_first_loses_registers() -> None:
    """A pipelined loop of 256 accumulators: 398 moves in the first order, 154 in the other."""
    case = GemmCase("gfx950", "f16", 16, "shared", (256, 256, 64), (2, 2), 512, 512, 512)
    compiled = driver.compile_module(gemm_text(case), options=PipelineOptions(target=case.target, schedule="prefetch"))
    with pytest.warns(CompileWarning):
        chosen = register_costs.lost(compiled.isa)
    first = register_costs.lost(machine.MachineModule(compiled.llvm_ir, targets.get(case.target)).assembly())
    assert not register_costs.is_little(first) and chosen < first
    assert first <= register_costs.most_lost(machine.MachineModule(compiled.llvm_ir, targets.get(case.target)).object())
    assert register_pressure.orders("no order") == ["no order"]


@pytest.mark.parametrize("deadly", [("iterative-minreg",), ("iterative-minreg", "iterative-ilp"), ("",)], ids=len)
def test_orders_that_llvm_dies_of(deadly: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Another order is taken, and if it dies of all of them the error is the compiler's own."""
    compiled = driver.compile_module(gemm_text(CASES[0]))
    made = machine.MachineModule._make

    def dying(self: machine.MachineModule, emit: Callable[[object], bytes]) -> bytes:
        def emit_or_die(module: object) -> bytes:
            if any(order in str(module) for order in deadly):
                os.abort()
            return emit(module)

        return made(self, emit_or_die)

    monkeypatch.setattr(machine.MachineModule, "_make", dying)
    if deadly == ("",):
        with pytest.raises(CompileError, match="LLVM cannot compile this for gfx942: it ended the process"):
            _ = compiled.isa
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        (kernel,) = report.analyze(compiled.isa).kernels
        assert compiled.hsaco
    assert kernel.hot_loop is not None and kernel.hot_loop.counts["mfma"] > 0


def test_advice_on_operands_read_ahead() -> None:
    """A loop that carries operands of the next trip: 128 accumulators, and another schedule is the way out."""
    case = GemmCase("gfx942", "f16", 16, "shared", (256, 256, 64), (2, 4), 512, 512, 512)
    options = PipelineOptions(target=case.target, schedule="prefetch")
    module = driver.compile_module(gemm_text(case), options=options).module
    with module.context:
        (costs,) = (register_costs.Costs.of(f) for f in abi.kernel_functions(module))
        assert (costs.accumulators, costs.matrix > 0) == (128, True) and costs.carried > 0
        tight = replace(costs, carried=70)
        assert "another schedule" in tight.advice(targets.get(case.target))
        assert "fewer accumulators" in replace(costs, carried=0).advice(targets.get(case.target))


def test_no_warning_without_reason() -> None:
    compiled = driver.compile_module(
        gemm_text(GemmCase("gfx942", "f16", 16, "shared", (64, 64, 32), (2, 2), 64, 64, 64))
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert register_costs.spills(compiled.isa) == register_costs.spills_of_object(compiled.obj) == {"gemm": 0}


def test_counts_of_metadata() -> None:
    """Two kernels, with names and numbers of all lengths that LLVM writes."""
    long = "k" * 40
    text = "amdhsa.kernels:\n  - .args: []\n    .name:           a\n    .vgpr_spill_count: 3\n"
    text += f"  - .args: []\n    .name:           {long}\n    .vgpr_spill_count: 300\n"
    assert register_costs.spills(text) == {"a": 3, long: 300}
    packed = b"\xa5.name\xa1a\xb1.vgpr_spill_count\x03" + b"\xa5.name\xd9\x28" + long.encode()
    assert register_costs.spills_of_object(packed + b"\xb1.vgpr_spill_count\xcd\x01\x2c") == {"a": 3, long: 300}
    assert register_costs.spills_of_object(packed + b"\xb1.vgpr_spill_count\xcc\xc8")[long] == 200
