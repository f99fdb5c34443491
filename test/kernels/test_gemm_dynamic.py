"""GEMMs with M, N, K, each alone and all together, as run-time arguments: one kernel for many sizes, exact."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import gemm_cases
import numpy as np
import pytest
from gemm_cases import SIZES, GemmCase
from wave_mlir import sim
from wave_mlir.compiler import driver
from wave_mlir.compiler.driver import Compiled

DYNAMIC = (("M",), ("N",), ("K",), ("M", "N", "K"))
CONFIGURATIONS = [
    GemmCase(target, dtype, width, space, tile, waves, 100, 100, 100)
    for target in gemm_cases.TARGETS
    for dtype, width, tile, waves in (
        ("f16", 16, (64, 64, 32), (2, 2)),
        ("bf16", 32, (64, 64, 32), (1, 4)),
        ("i8", 16, (8, 64, 32), (1, 1)),
    )
    for space in gemm_cases.SPACES
]
Dynamic = tuple[str, ...]
CASES = [
    pytest.param(case, dynamic, id=f"{case.target}-{case.dtype}-{case.space}-{''.join(dynamic)}")
    for case in CONFIGURATIONS
    for dynamic in DYNAMIC
]


def _sizes(dynamic: Dynamic) -> list[dict[str, int]]:
    """Values for the dynamic symbols: every size once at each place, no two symbols with the same but for 1 and 300."""
    shift = {name: 2 * i for i, name in enumerate(dynamic)}
    turns = [{name: SIZES[(turn + shift[name]) % len(SIZES)] for name in dynamic} for turn in range(len(SIZES))]
    return [*turns, dict.fromkeys(dynamic, 1), dict.fromkeys(dynamic, 300)] if len(dynamic) > 1 else turns


@functools.lru_cache(maxsize=len(CASES))
def _compiled(case: GemmCase, dynamic: Dynamic) -> Compiled:
    return driver.compile_module(gemm_cases.gemm_text(case, dynamic))


def _with_sizes(case: GemmCase, sizes: dict[str, int]) -> GemmCase:
    return replace(case, **{name.lower(): value for name, value in sizes.items()})


def test_sizes_are_all_there() -> None:
    for dynamic in DYNAMIC:
        for name in dynamic:
            assert {sizes[name] for sizes in _sizes(dynamic)} == set(SIZES)


@pytest.mark.thin(11)
@pytest.mark.parametrize(("case", "dynamic"), CASES)
def test_simulated(case: GemmCase, dynamic: Dynamic) -> None:
    module = _compiled(case, dynamic).module
    for sizes in _sizes(dynamic):
        a, b, c = gemm_cases.inputs(_with_sizes(case, sizes))
        sim.run(module, [a, b, c], symbols=sizes)
        np.testing.assert_array_equal(c, gemm_cases.expected(a, b, c.dtype), err_msg=str(sizes))


@pytest.mark.thin(3)
@pytest.mark.parametrize(("case", "dynamic"), CASES)
def test_machine_code(case: GemmCase, dynamic: Dynamic, isa: Callable[..., object]) -> None:
    for seed, sizes in enumerate(_sizes(dynamic)[:4]):
        a, b, c = gemm_cases.inputs(_with_sizes(case, sizes))
        isa(_compiled(case, dynamic), a, b, c, symbols=sizes, seed=seed)
        np.testing.assert_array_equal(c, gemm_cases.expected(a, b, c.dtype), err_msg=str(sizes))


@pytest.mark.second_opinion
@pytest.mark.parametrize(("case", "dynamic"), CASES)
def test_second_opinion(case: GemmCase, dynamic: Dynamic, isa_run: Callable[..., object], tmp_path: Path) -> None:
    compiled = _compiled(case, dynamic)
    (kernel,) = compiled.kernels
    assert kernel.dynamic_symbols == dynamic
    path = tmp_path / "gemm.hsaco"
    path.write_bytes(compiled.hsaco)
    for seed, sizes in enumerate(_sizes(dynamic)[1:4]):
        a, b, c = gemm_cases.inputs(_with_sizes(case, sizes))
        arguments = [a, b, c, *(np.int32(sizes[name]) for name in dynamic)]
        isa_run(path, kernel.name, arguments, kernel.grid_for(sizes), kernel.block, case.target, seed)
        np.testing.assert_array_equal(c, gemm_cases.expected(a, b, c.dtype), err_msg=str(sizes))
