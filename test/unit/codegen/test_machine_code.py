"""Code objects executed instruction by instruction: exact results from integer-valued inputs."""

import numpy as np
import pytest
from mlir import ir
from wave_mlir.compiler import codegen, elf


@pytest.mark.parametrize("target", ["gfx942", "gfx950"])
@pytest.mark.parametrize("m", [1, 64, 100])
def test_gemm_f16_is_exact(context, gemm_text, machine_run, tmp_path, target, m):
    made = codegen.generate(ir.Module.parse(gemm_text), target=target, emit=("isa", "hsaco"))
    (kernel,) = made.kernels
    rng = np.random.default_rng(m)
    a = rng.integers(-8, 9, (m, 72)).astype(np.float16)
    b = rng.integers(-8, 9, (100, 72)).astype(np.float16)
    c = np.full((m, 100), np.nan, np.float32)
    symbols = kernel.bind([a, b, c])
    path = tmp_path / "gemm.hsaco"
    path.write_bytes(made.hsaco)
    path.with_suffix(".s").write_text(made.isa)
    machine_run(path, "gemm", [a, b, c, m], kernel.grid_for({"M": m}), kernel.block, target, seed=m)
    assert symbols["M"] == m
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32).T)


@pytest.mark.second_opinion
def test_gemm_f16_linked_by_the_builtin_writer(context, gemm_text, isa_run, tmp_path):
    made = codegen.generate(ir.Module.parse(gemm_text), emit=("obj",))
    rng = np.random.default_rng(7)
    a, b = (rng.integers(-8, 9, (rows, 72)).astype(np.float16) for rows in (65, 100))
    c = np.full((65, 100), np.nan, np.float32)
    path = tmp_path / "gemm.hsaco"
    path.write_bytes(elf.link(made.obj))
    isa_run(path, "gemm", [a, b, c, 65], (2, 2, 1), (128, 2, 1), "gfx942")
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32).T)
