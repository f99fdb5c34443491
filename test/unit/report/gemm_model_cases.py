"""GEMM loops for which the static model is compared with the machine-code runner's timeline."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from wave_mlir import report
from wave_mlir.compiler import driver, targets
from wave_mlir.isa.compiled import run_compiled
from wave_mlir.report.model import model

TEXT = """
module attributes {{wave.form = "tile", wave.target = "{target}"}} {{
  wave.kernel @gemm(%a: !wave.memory<[M, K], f16, {space}>, %b: !wave.memory<[N, K], f16, {space}>,
                    %c: !wave.memory<[M, N], f32, global>)
      symbols {{M = {tile}, N = {tile}, BLOCK_M = {tile}, BLOCK_N = {tile}, BLOCK_K = 32, K = {k}}} dynamic []
      constraints [#wave.workgroup<M, BLOCK_M, x>, #wave.workgroup<N, BLOCK_N, y>, #wave.tiling<K, BLOCK_K>,
                   #wave.wave<M, BLOCK_M floordiv 2>, #wave.wave<N, BLOCK_N floordiv 2>,
                   #wave.hardware<threads_per_wave = 64, mma = {kind}>] {{
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
    %sum = wave.iterate K iter_args(%acc = %zero : !wave.tile<[M, N], f32>) {{
      %x = wave.read %a : !wave.memory<[M, K], f16, {space}> -> !wave.tile<[M, K], f16>
      %y = wave.read %b : !wave.memory<[N, K], f16, {space}> -> !wave.tile<[N, K], f16>
      %z = wave.mma %x, %y, %acc : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
      wave.yield %z : !wave.tile<[M, N], f32>
    }}
    wave.write %sum, %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>
    wave.return
  }}
}}
"""


@dataclass(frozen=True)
class Case:
    """A GEMM of one workgroup of 2 x 2 waves."""

    target: str
    kind: str
    tile: int
    space: str = "shared"

    def __str__(self) -> str:
        return f"{self.target}-{self.kind}-{self.tile}"


CASES = (
    Case("gfx942", "f32_16x16x16_f16", 64),
    Case("gfx942", "f32_32x32x8_f16", 128),
    Case("gfx950", "f32_16x16x32_f16", 64),
)


def clocks_of_a_trip(case: Case) -> tuple[float, float]:
    """(of the runner's timeline, of the static model), one workgroup alone on its compute unit."""
    trips = (8, 16)
    clocks = []
    for count in trips:
        compiled = driver.compile_module(
            TEXT.format(target=case.target, kind=case.kind, tile=case.tile, space=case.space, k=32 * count)
        )
        a, b = (np.ones((case.tile, 32 * count), np.float16) for _ in "ab")
        c = np.zeros((case.tile, case.tile), np.float32)
        clocks.append(run_compiled(compiled, (a, b, c), trace=1).timeline().clocks)
        (kernel,) = report.analyze(compiled.isa).kernels
    assert kernel.hot_loop is not None
    found = model(kernel.hot_loop.body, targets.get(case.target), 1, 1)
    assert found is not None
    return (clocks[1] - clocks[0]) / (trips[1] - trips[0]), found.replay.clocks
