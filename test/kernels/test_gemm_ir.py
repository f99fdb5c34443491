"""Properties of the code generated for a GEMM: barriers, and the same bytes whatever the hash seed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from gemm_cases import GemmCase, gemm_text
from mlir import ir
from wave_mlir.compiler import driver

HERE = Path(__file__).resolve().parent
CASE = GemmCase("gfx942", "f16", 16, "shared", (64, 64, 32), (2, 2), 256, 256, 256)
LOOP = "wave.iterate"
ONE_WAVE = GemmCase("gfx942", "f16", 16, "shared", (64, 64, 32), (1, 1), 256, 256, 256)


def _parents(text: str, name: str) -> list[str]:
    """Names of the operations that hold the operations `name` in scheduled form."""
    module = driver.compile_module(text, until="scheduled").module
    found: list[str] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == name:
            parent = op.operation.parent
            found.append(parent.operation.name if parent is not None else "")
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return found


def _only_lhs_shared(case: GemmCase) -> str:
    text = gemm_text(case)
    rhs = f"!wave.memory<[N, K], {case.operand_type}, shared>"
    assert rhs in text
    return text.replace(rhs, rhs.replace("shared", "global"))


@pytest.mark.parametrize("text", [gemm_text(CASE), _only_lhs_shared(CASE)], ids=["both", "lhs"])
def test_two_barriers_a_trip(text: str) -> None:
    assert _parents(text, "wave.shared_memory_barrier") == [LOOP, LOOP]
    assert not _parents(text, "wave.wave_fence")


def test_one_wave_needs_no_barrier() -> None:
    text = gemm_text(ONE_WAVE)
    assert not _parents(text, "wave.shared_memory_barrier")
    assert _parents(text, "wave.wave_fence")
    isa = driver.compile_module(text).isa
    assert "s_barrier" not in isa


HASHES = """
import hashlib, test_gemm_ir as t
from wave_mlir.compiler import driver
for case in (t.CASE, t.ONE_WAVE):
    print(hashlib.sha256(driver.compile_module(t.gemm_text(case)).hsaco).hexdigest())
"""


def test_hash_seed_changes_nothing() -> None:
    outputs = []
    for seed in ("1", "4242"):
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(HERE)}
        command = [sys.executable, "-c", HASHES]
        outputs.append(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)
    assert len(outputs[0].split()) == 2
    assert outputs[0] == outputs[1]
