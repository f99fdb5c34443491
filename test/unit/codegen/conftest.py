"""Fixtures shared by the code generation tests."""

import sys
from pathlib import Path

import pytest
from mlir import ir

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def context():
    with ir.Context() as ctx, ir.Location.unknown():
        ctx.allow_unregistered_dialects = True
        yield ctx


@pytest.fixture(scope="session")
def gemm_text():
    return (Path(__file__).parent / "kernels" / "gemm_f16.mlir").read_text()
