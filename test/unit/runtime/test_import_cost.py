"""Importing the language and tracing a GEMM costs little beyond sympy and the MLIR bindings."""

from __future__ import annotations

import runpy
from pathlib import Path

BENCHMARK = Path(__file__).parents[3] / "benchmarks" / "import_time.py"


def test_import_and_trace() -> None:
    """0.2 s of CPU is the target where the base takes about one; loosely, for busy machines. What must not be loaded
    (torch, LLVM, the simulator) is checked inside."""
    base, ours = runpy.run_path(str(BENCHMARK))["measure"](3)
    assert ours - base < 0.35 * base
