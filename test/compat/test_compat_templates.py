"""Scripts that take kernels from the existing package's library run with `import wave_mlir.compat` before them."""

from __future__ import annotations

import importlib
import runpy
from pathlib import Path

import pytest
import wave_mlir.compat  # noqa: F401
from wave_mlir import kernels

pytest.importorskip("torch")

SCRIPT = Path(__file__).with_name("kernels") / "library.py"


def test_a_script(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(SCRIPT), run_name="__main__")
    assert capsys.readouterr().out.split() == ["gemm", "attention"]


MODULES = [
    "gqa_vanilla_attention",
    "moe",
    "reordered_gemm",
    "conv",
    "attention_common",
    "decode_attention",
    "evoformer",
]


@pytest.mark.parametrize("module", MODULES)
def test_modules(module: str) -> None:
    found = importlib.import_module(f"wave_lang.kernel.wave.templates.{module}")
    names = [n for n in found.__all__ if hasattr(kernels, n) and n != "get_gemm_kernel"]
    assert names and all(getattr(found, n) is getattr(kernels, n) for n in names)
