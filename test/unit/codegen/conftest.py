"""Fixtures shared by the code generation tests."""

from pathlib import Path

import pytest
import wave_mlir.dialect  # noqa: F401  (contexts know the dialect)
from mlir import ir


@pytest.fixture
def context():
    with ir.Context() as ctx, ir.Location.unknown():
        ctx.allow_unregistered_dialects = True
        yield ctx


@pytest.fixture(scope="session")
def gemm_text():
    return (Path(__file__).parent / "kernels" / "gemm_f16.mlir").read_text()
