"""From the tile form of a GEMM to machine code through the compile driver."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest
from wave_mlir import report
from wave_mlir.compiler import driver

GEMM = """
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @gemm(%a: !wave.memory<[M, K], f16, shared>, %b: !wave.memory<[N, K], f16, shared>,
                    %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 512, N = 512, K = 256, BLOCK_M = 64, BLOCK_N = 64, BLOCK_K = 32} dynamic []
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


def test_every_form_is_reachable():
    names = ("typed", "placed", "staged", "lane", "scheduled")
    compiled = driver.compile_module(GEMM, keep=names)
    for form in ("tile", *names, "gpu"):
        assert f'wave.form = "{form}"' in compiled.ir(form), form


def test_quality_of_the_loop():
    loop = report.analyze(driver.compile_module(GEMM).isa).kernels[0].hot_loop
    assert loop is not None, "LLVM must leave the loop as the passes made it"
    assert loop.counts["mfma"] == 8 and loop.counts["barrier"] == 2 and loop.counts["accvgpr_move"] == 0
    assert set(loop.counts.by_width["load"]) == {128} and set(loop.counts.by_width["lds_write"]) == {128}


@pytest.mark.parametrize("m,n,k", [(64, 64, 64), (100, 17, 72), (1, 65, 33)])
def test_machine_code_is_exact(machine_run, tmp_path, m, n, k):
    compiled = driver.compile_module(GEMM, symbols={"M": m, "N": n, "K": k})
    (kernel,) = compiled.kernels
    rng = np.random.default_rng(m)
    a, b = (rng.integers(-8, 9, shape).astype(np.float16) for shape in ((m, k), (n, k)))
    c = np.full((m, n), np.nan, np.float32)
    kernel.bind([a, b, c])
    path = tmp_path / "gemm.hsaco"
    path.write_bytes(compiled.hsaco)
    path.with_suffix(".s").write_text(compiled.isa)
    machine_run(path, "gemm", [a, b, c], kernel.grid_for(), kernel.block, "gfx942", 1)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32).T)


def test_hash_seed_does_not_matter():
    script = (
        "import sys\nfrom wave_mlir.compiler import driver\n"
        "c = driver.compile_module(sys.stdin.read(), keep=('typed', 'placed', 'staged', 'lane', 'scheduled'))\n"
        "sys.stdout.buffer.write(''.join(c.ir(f) for f in ('typed', 'placed', 'staged', 'lane', 'scheduled', 'gpu'))"
        ".encode() + c.hsaco)"
    )
    results = [
        subprocess.run(
            [sys.executable, "-c", script],
            input=GEMM.encode(),
            check=True,
            capture_output=True,
            env=os.environ | {"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "77")
    ]
    assert results[0] == results[1] and results[0].endswith(driver.compile_module(GEMM).hsaco)


def test_code_generation_is_quick():
    """CPU time of gpu form to object, warm: the aim is 0.1 s; the limit allows for a busy machine."""
    best = min(_generation_seconds(m) for m in (100, 101, 102))
    assert best < 0.25


def _generation_seconds(m: int) -> float:
    compiled = driver.compile_module(GEMM, symbols={"M": m})
    start = time.process_time()
    compiled.emit("obj")
    return time.process_time() - start
