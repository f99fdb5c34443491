"""The examples of products run as scripts; each compares its results itself."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = [*sorted(p.name for p in EXAMPLES.glob("gemm_*.py")), "convolution.py"]


@pytest.mark.parametrize("name", NAMES)
def test_runs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    assert capsys.readouterr().out.strip()
