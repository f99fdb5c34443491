"""What a compiled kernel shows of itself: every form, machine code, statistics, the plan."""

from __future__ import annotations

import numpy as np
import pytest
from mlir import ir
from runtime_kernels import compiled_gemm
from wave_mlir.compiler import forms
from wave_mlir.compiler.diagnostics import CompileError
from wave_mlir.wave.compile import CompiledKernel


@pytest.fixture(scope="module")
def made() -> CompiledKernel:
    return compiled_gemm()


@pytest.mark.parametrize("form", forms.FORMS)
def test_each_form_is_text_of_that_form(made: CompiledKernel, form: str) -> None:
    text = made.ir(form)
    with ir.Context():
        module = ir.Module.parse(text)
        assert forms.form_of(module.operation) == form
    assert made.ir(form) is text


def test_an_unknown_form(made: CompiledKernel) -> None:
    with pytest.raises(CompileError, match="unknown form 'tiles'; forms are tile, typed, placed"):
        made.ir("tiles")


def test_machine_code(made: CompiledKernel) -> None:
    assert made.asm == made.ir("gpu")
    assert "define amdgpu_kernel void @multiply(" in made.llvm_ir
    assert "v_mfma_f32_16x16x16" in made.isa and "gfx942" in made.isa
    assert made.hsaco[:4] == b"\x7fELF" and b"multiply.kd" in made.hsaco
    (kernel,) = made.report.kernels
    assert kernel.name == made.name == "multiply" and made.target == "gfx942"


def test_plan(made: CompiledKernel) -> None:
    a, b, c = np.zeros((64, 32), np.float16), np.zeros((64, 32), np.float16), np.zeros((64, 64), np.float32)
    plan = made.plan(a, b, c)
    assert (plan.grid, plan.block, len(plan.kernargs)) == ((2, 2, 1), (128, 2, 1), 24)
    assert plan.lds_bytes == made.abi.lds_bytes > 0
