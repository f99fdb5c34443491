"""Speed of the machine-code runner, all checks on, in CPU time: `python benchmarks/isa.py [--repeat N]`.

256³ f16 GEMMs of this compiler with two tile sizes. "run" is what `isa.run` takes after the assembly was read once:
wave-instructions a second, and the whole call; "read" is the assembly to what can be launched.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from wave_mlir import isa
from wave_mlir.compiler import driver
from wave_mlir.isa.compiled import run_abi

GEMM = Path(__file__).resolve().parent.parent / "examples" / "gemm.mlir"
TILES = ((64, 64, 32), (128, 128, 64))
SIZE = 256


def measure(tile: tuple[int, int, int], repeat: int) -> str:
    """One row of the table: the best of `repeat` runs."""
    symbols = dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), tile, strict=True))
    compiled = driver.compile_file(GEMM, symbols=symbols | {"M": SIZE, "N": SIZE, "K": SIZE})
    (abi,) = compiled.kernels
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-4, 5, (SIZE, SIZE)).astype(np.float16) for _ in range(2))
    start = time.process_time()
    loaded = isa.load(compiled.isa, abi.name)
    read = time.process_time() - start
    times, executed = [], 0
    for seed in range(repeat):
        c = np.zeros((SIZE, SIZE), np.float32)
        start = time.process_time()
        executed = run_abi(loaded, abi, [a, b, c], seed=seed).executed
        times.append(time.process_time() - start)
        np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32).T)
    best = min(times)
    name = "x".join(map(str, tile))
    return f"{name:>12} {read:9.3f} {best:9.3f} {executed:13,} {executed / best / 1e6:9.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3, help="runs of which the best counts")
    repeat = parser.parse_args().repeat
    print(f"{'tile':>12} {'read, s':>9} {'run, s':>9} {'instructions':>13} {'M/s':>9}")
    for tile in TILES:
        print(measure(tile, repeat), flush=True)


if __name__ == "__main__":
    main()
