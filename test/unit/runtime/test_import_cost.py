"""Importing the language and tracing a GEMM costs little beyond sympy and the MLIR bindings."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[3] / "benchmarks" / "import_time.py"


def test_import_and_trace() -> None:
    """0.2 s of CPU is the target where the base takes about one. On a busy machine it may take some rounds until one is
    not disturbed. What must not be loaded (torch, LLVM, the simulator, solvers) is checked inside."""
    seen = []
    for base, ours in runpy.run_path(str(BENCHMARK))["measure"](12):
        seen.append(round(ours / base, 3))
        if seen[-1] < 0.3:
            return
    pytest.fail(f"importing and tracing over importing sympy and MLIR, each round: {seen}")
