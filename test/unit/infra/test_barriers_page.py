"""docs/barriers.md is up to date, and says that no kernel has a barrier more than it needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def _run(*arguments: str) -> None:
    tool = [sys.executable, ROOT / "tools/barrier_docs.py", *arguments]
    run = subprocess.run(tool, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_some_rows() -> None:
    _run("gemm.mlir", "gemm_any_size", "gemm, any size")


@pytest.mark.slow
def test_page() -> None:
    _run()
