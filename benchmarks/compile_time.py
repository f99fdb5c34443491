"""CPU seconds of compiling a GEMM from text to hsaco: `python benchmarks/compile_time.py [--profile]`.

CPU time of this process and its children, the process warm (one compilation of another tile first), another shape each
time. Prints the median of some runs beside the goal, and the steps that take most. `--profile` prints where Python
spends its time.
"""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import statistics
from itertools import count

from wave_mlir.compiler import driver

GOALS = {(64, 64, 32): 0.2, (128, 128, 64): 0.4}
"""CPU seconds to hsaco, by BLOCK_M, BLOCK_N, BLOCK_K."""
RUNS = 5
TEXT = """
module attributes {{wave.form = "tile", wave.target = "gfx942"}} {{
  wave.kernel @gemm(%a: !wave.memory<[M, K], f16, shared>, %b: !wave.memory<[N, K], f16, shared>,
                    %c: !wave.memory<[M, N], f32, global>)
      symbols {{M = {m}, N = {n}, K = {k}, BM = {bm}, BN = {bn}, BK = {bk}}} dynamic []
      constraints [#wave.workgroup<M, BM, x>, #wave.workgroup<N, BN, y>, #wave.tiling<K, BK>,
                   #wave.wave<M, BM floordiv 2>, #wave.wave<N, BN floordiv 2>,
                   #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {{
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
    %sum = wave.iterate K iter_args(%acc = %zero : !wave.tile<[M, N], f32>) {{
      %x = wave.read %a : !wave.memory<[M, K], f16, shared> -> !wave.tile<[M, K], f16>
      %y = wave.read %b : !wave.memory<[N, K], f16, shared> -> !wave.tile<[N, K], f16>
      %z = wave.mma %x, %y, %acc : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
      wave.yield %z : !wave.tile<[M, N], f32>
    }}
    wave.write %sum, %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>
    wave.return
  }}
}}
"""


def _cpu() -> float:
    t = os.times()
    return t.user + t.system + t.children_user + t.children_system


def measure(tile: tuple[int, int, int], serial: int) -> tuple[float, dict[str, float]]:
    """CPU seconds of one compilation, and its steps as the driver gives them."""
    bm, bn, bk = tile
    text = TEXT.format(m=bm * (4 + serial), n=bn * (3 + serial), k=bk * (5 + serial), bm=bm, bn=bn, bk=bk)
    start = _cpu()
    compiled = driver.compile_module(text, emit=["hsaco"])
    return _cpu() - start, compiled.timings


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profile", action="store_true", help="profile Python instead")
    options = parser.parse_args()
    serial = count(1)
    measure((32, 32, 16), next(serial))
    for tile, goal in GOALS.items():
        name = "x".join(map(str, tile))
        if options.profile:
            with cProfile.Profile() as profile:
                measure(tile, next(serial))
            print(f"--- {name}")
            pstats.Stats(profile).sort_stats("cumulative").print_stats(35)
            continue
        runs = [measure(tile, next(serial)) for _ in range(RUNS)]
        middle = statistics.median(r[0] for r in runs)
        print(f"{name}: {middle:.3f} s of CPU (goal {goal} s)")
        steps = {step: statistics.median(r[1].get(step, 0.0) for r in runs) for step in runs[0][1]}
        for step, seconds in sorted(steps.items(), key=lambda item: -item[1])[:12]:
            print(f"    {step:32} {seconds:.3f}")


if __name__ == "__main__":
    main()
