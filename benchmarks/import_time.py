"""CPU time of importing wave_mlir.wave and tracing a GEMM, over importing sympy and the MLIR bindings.

    python benchmarks/import_time.py [ROUNDS]

Each round starts two processes, one that imports sympy and MLIR's bindings only, and one that imports wave_mlir.wave
besides and traces a GEMM; the least of all rounds counts. Target: at most 0.2 s more. torch is not imported by either.
"""

from __future__ import annotations

import resource
import subprocess
import sys

BASE = "import sympy, mlir.ir, mlir.dialects.builtin\n"
OURS = """
import sys
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
unwanted = {"torch", "llvmlite", "wave_mlir.sim.launch", "wave_mlir.isa"} & set(sys.modules)
assert not unwanted, unwanted
"""


def seconds(code: str) -> float:
    """CPU time of a process that runs the code with imports from file, not from source."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(rounds: int = 5) -> tuple[float, float]:
    """(base, base and ours), the least of the rounds."""
    pairs = [(seconds(BASE), seconds(BASE + OURS)) for _ in range(rounds)]
    return min(p[0] for p in pairs), min(p[1] for p in pairs)


def main() -> None:
    """Print both times and their difference."""
    base, ours = measure(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
    print(f"sympy and MLIR {base:.3f} s; with wave_mlir.wave and a traced GEMM {ours:.3f} s: {ours - base:+.3f} s")


if __name__ == "__main__":
    main()
