"""What is checked of every strategy that lets groups of waves do different things."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import gemm_cases
import numpy as np
from gemm_cases import GemmCase
from wave_mlir import sim
from wave_mlir.compiler.driver import Compiled
from wave_mlir.wave.compile import CompiledKernel, WaveCompileOptions, wave_compile
from wave_mlir.wave.scheduling import SchedulingType

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
import attention_forward as attention


def check_gemm(case: GemmCase, run: Callable[..., object]) -> None:
    """A run (of the arrays a, b, c) is exact."""
    a, b, c = gemm_cases.inputs(case)
    run(a, b, c)
    np.testing.assert_array_equal(c, gemm_cases.expected(a, b, c.dtype), err_msg=str(case))


def check_simulated(case: GemmCase, made: Compiled, **symbols: int) -> None:
    """The simulator, all checks on, is exact."""
    check_gemm(case, lambda *arrays: sim.run(made.module, list(arrays), symbols=symbols))


def check_trips(case: GemmCase, compiled: Callable[[GemmCase, tuple[str, ...]], Compiled]) -> None:
    """No to nine trips of the loop over K, known at compile time and at run time only."""
    made = compiled(case, ("K",))
    for trips in range(10):
        one = replace(case, k=trips * case.tile[2])
        check_simulated(one, made, K=one.k)
        if trips:
            check_simulated(one, compiled(one, ()))


def check_attention(
    schedule: SchedulingType, shape: attention.Shape, waves: int, block_m: int, machine: bool
) -> CompiledKernel:
    """The same bits as without a schedule, and right; in the simulator, or as machine code. Gives the kernel."""
    variant = attention.Variant(causal=True)
    given = attention.inputs(shape, variant, np.float16)
    found = []
    for strategy in (SchedulingType.NONE, schedule):
        kernel, subs = attention.attention_kernel(shape, variant, waves=waves, block_m=block_m)
        made = wave_compile(WaveCompileOptions(subs=subs, target="gfx942", schedule=strategy, cache=False), kernel)
        found.append(np.full((shape.heads, shape.queries, shape.v_size), np.nan, np.float32))
        (made.run_isa if machine else made)(*given, found[-1])
    np.testing.assert_array_equal(found[1], found[0])
    assert np.abs(found[0] - attention.reference(shape, variant, *given)).max() < 3e-3
    return made
