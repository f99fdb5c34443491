"""Masked stores by 64-bit addresses: exact at the edges, in fewer instructions than with a branch for each."""

from __future__ import annotations

import numpy as np
import pytest
from wave_mlir import sim
from wave_mlir.compiler import driver
from wave_mlir.passes import to_gpu
from wave_mlir.passes.pipelines import PipelineOptions

GEMM = """
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @gemm(%a: !wave.memory<[M, K], f16, shared>, %b: !wave.memory<[N, K], f16, shared>,
                    %c: !wave.memory<[M, N], f32, global>)
      symbols {K = 32, BLOCK_M = 64, BLOCK_N = 64, BLOCK_K = 32} dynamic [M, N]
      constraints [#wave.workgroup<M, BLOCK_M, x>, #wave.workgroup<N, BLOCK_N, y>, #wave.tiling<K, BLOCK_K>,
                   #wave.wave<M, BLOCK_M floordiv 2>, #wave.wave<N, BLOCK_N floordiv 2>,
                   #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
    %sum = wave.iterate K iter_args(%acc = %zero : !wave.tile<[M, N], f32>) {
      %x = wave.read %a : !wave.memory<[M, K], f16, shared> -> !wave.tile<[M, K], f16>
      %y = wave.read %b : !wave.memory<[N, K], f16, shared> -> !wave.tile<[N, K], f16>
      %z = wave.mma %x, %y, %acc : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
      wave.yield %z : !wave.tile<[M, N], f32>
    }
    wave.write %sum, %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>
    wave.return
  }
}
"""


def _executed(made: driver.Compiled, m: int, n: int) -> int:
    """Instructions that the machine code takes; both runners' results are exact, and nothing beyond them is written."""
    rng = np.random.default_rng(m)
    a, b = (rng.integers(-3, 4, (rows, 32)).astype(np.float16) for rows in (m, n))
    want = a.astype(np.float32) @ b.astype(np.float32).T
    c = np.full((m, n), 7, np.float32)
    sim.run(made.module, [a, b, c], symbols={"M": m, "N": n})
    np.testing.assert_array_equal(c, want)
    c = np.full((m, n), 7, np.float32)
    found = made.run_isa(a, b, c, symbols={"M": m, "N": n}, seed=1)
    np.testing.assert_array_equal(c, want)
    return found.executed


@pytest.fixture(scope="module")
def joined() -> driver.Compiled:
    return driver.compile_module(GEMM, options=PipelineOptions(buffer_ops=False))


@pytest.fixture(scope="module")
def apart() -> driver.Compiled:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(to_gpu, "join_masked_stores", lambda _: None)
        return driver.compile_module(GEMM, options=PipelineOptions(buffer_ops=False))


@pytest.mark.parametrize(("m", "n", "share"), [(128, 128, 0.75), (100, 90, 1.0), (1, 1, 1.02), (67, 61, 1.0)])
def test_fewer_instructions(joined: driver.Compiled, apart: driver.Compiled, m: int, n: int, share: float) -> None:
    """Whole tiles take one branch and at most three quarters of the instructions; edges no more, a lone element 2 %."""
    assert _executed(joined, m, n) <= share * _executed(apart, m, n)
