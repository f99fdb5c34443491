"""CPU seconds of compiling a GEMM from text to hsaco: `python benchmarks/compile_time.py [--profile]`.

CPU time of this process and its children, the process warm (one compilation of another tile first), another shape each
time. Prints the median of some runs beside the goal, and the steps that take most. `--profile` prints where Python
spends its time.
"""

from __future__ import annotations

import argparse
import cProfile
import math
import os
import pstats
import statistics
from dataclasses import dataclass
from itertools import count

from wave_mlir.compiler import driver
from wave_mlir.passes.pipelines import PipelineOptions, Strategy


@dataclass(frozen=True)
class Case:
    """A GEMM: its tile, waves along M and N, strategy of the schedule, and the goal in CPU seconds to hsaco."""

    tile: tuple[int, int, int]
    waves: tuple[int, int] = (2, 2)
    schedule: Strategy = "none"
    goal: float = 0.0

    @property
    def name(self) -> str:
        """Short, for tables."""
        tile, waves = "x".join(map(str, self.tile)), math.prod(self.waves)
        return f"{tile} by {waves} waves, schedule={self.schedule}"


CASES = (
    Case((64, 64, 32), goal=0.2),
    Case((128, 128, 64), goal=0.4),
    Case((256, 256, 64), (2, 4), "prefetch", 0.8),
    Case((256, 256, 64), (2, 4), "modulo", 0.8),
)
RUNS = 5
TEXT = """
module attributes {{wave.form = "tile", wave.target = "gfx942"}} {{
  wave.kernel @gemm(%a: !wave.memory<[M, K], f16, shared>, %b: !wave.memory<[N, K], f16, shared>,
                    %c: !wave.memory<[M, N], f32, global>)
      symbols {{M = {m}, N = {n}, K = {k}, BM = {bm}, BN = {bn}, BK = {bk}}} dynamic []
      constraints [#wave.workgroup<M, BM, x>, #wave.workgroup<N, BN, y>, #wave.tiling<K, BK>,
                   #wave.wave<M, BM floordiv {rows}>, #wave.wave<N, BN floordiv {columns}>,
                   #wave.hardware<threads_per_wave = 64, mma = f32_16x16x{depth}_f16>] {{
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


def measure(case: Case, serial: int) -> tuple[float, dict[str, float]]:
    """CPU seconds of one compilation, and its steps as the driver gives them."""
    (bm, bn, bk), (rows, columns) = case.tile, case.waves
    sizes = {"m": bm * (4 + serial), "n": bn * (3 + serial), "k": bk * (5 + serial), "bm": bm, "bn": bn, "bk": bk}
    depth = "16" if case.schedule == "none" else "32_k8"
    text = TEXT.format(**sizes, rows=rows, columns=columns, depth=depth)
    start = _cpu()
    compiled = driver.compile_module(text, emit=["hsaco"], options=PipelineOptions(schedule=case.schedule))
    return _cpu() - start, compiled.timings


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profile", action="store_true", help="profile Python instead")
    options = parser.parse_args()
    serial = count(1)
    measure(Case((32, 32, 16)), next(serial))
    for case in CASES:
        if options.profile:
            with cProfile.Profile() as profile:
                measure(case, next(serial))
            print(f"--- {case.name}")
            pstats.Stats(profile).sort_stats("cumulative").print_stats(35)
            continue
        runs = [measure(case, next(serial)) for _ in range(RUNS)]
        middle, least = statistics.median(r[0] for r in runs), min(r[0] for r in runs)
        print(f"{case.name}: {middle:.3f} s of CPU, {least:.3f} s at least (goal {case.goal} s)")
        steps = {step: statistics.median(r[1].get(step, 0.0) for r in runs) for step in runs[0][1]}
        for step, seconds in sorted(steps.items(), key=lambda item: -item[1])[:12]:
            print(f"    {step:32} {seconds:.3f}")


if __name__ == "__main__":
    main()
