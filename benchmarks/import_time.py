"""CPU time of importing wave_mlir.wave and tracing a GEMM, over importing sympy and the MLIR bindings.

    python benchmarks/import_time.py [ROUNDS]

Each round is a process that imports sympy and MLIR's bindings, then imports wave_mlir.wave and traces a GEMM, and tells
the CPU time of both; the round with the least ratio counts. Target: at most 0.2 s where the first takes about one.
torch is imported by neither. All compiled Python is kept in a folder of its own, and there before the first round.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator

CODE = """
import sys, time
start = time.process_time()
import sympy, mlir.ir, mlir.dialects.builtin
base = time.process_time()
import wave_mlir.lang as tkl, wave_mlir.wave as tkw
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
M, N, K = tkl.sym.M, tkl.sym.N, tkl.sym.K
@tkw.wave([tkw.WorkgroupConstraint(M, 64, 0), tkw.WorkgroupConstraint(N, 64, 1), tkw.TilingConstraint(K, 32),
           tkw.HardwareConstraint(64, mma_type=tkw.MMAType.F32_16x16x16_F16)])
def gemm(a: tkl.Memory[M, K, GLOBAL, tkl.f16], b: tkl.Memory[N, K, GLOBAL, tkl.f16],
         c: tkl.Memory[M, N, GLOBAL, tkl.f32]):
    @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
    def loop(acc):
        return tkw.mma(tkw.read(a), tkw.read(b), acc)
    tkw.write(loop, c)
gemm.trace({M: 512, N: 512, K: 256})
print(base - start, time.process_time() - base)
unwanted = {"torch", "llvmlite", "wave_mlir.sim.launch", "wave_mlir.isa", "wave_mlir.scheduling"} & set(sys.modules)
assert not unwanted, unwanted
"""


def measure(rounds: int = 5) -> Iterator[tuple[float, float]]:
    """(base, ours) of each round in seconds."""
    with tempfile.TemporaryDirectory() as bytecode:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("WAVE_")}
        environment |= {"PYTHONPYCACHEPREFIX": bytecode, "PYTHONDONTWRITEBYTECODE": ""}
        for number in range(rounds + 1):
            command = [sys.executable, "-c", CODE]
            done = subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE, text=True)
            base, ours = map(float, done.stdout.split())
            if number:  # the first one compiles
                yield base, ours


def main() -> None:
    """Print both times and their difference."""
    rounds = measure(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
    base, ours = min(rounds, key=lambda pair: pair[1] / pair[0])
    print(f"sympy and MLIR {base:.3f} s; wave_mlir.wave and a traced GEMM {ours:.3f} s more")


if __name__ == "__main__":
    main()
