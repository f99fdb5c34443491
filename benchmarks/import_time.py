"""CPU time of importing wave_mlir.wave and tracing a GEMM, over importing sympy and the MLIR bindings.

    python benchmarks/import_time.py [ROUNDS]

Each round starts two processes one after the other, one that imports sympy and MLIR's bindings only, and one that
imports wave_mlir.wave besides and traces a GEMM; the least of all rounds counts. Target: at most 0.2 s more. torch is
not imported by either. All compiled Python is kept in a folder of its own, and there before the first round.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator

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
unwanted = {"torch", "llvmlite", "wave_mlir.sim.launch", "wave_mlir.isa", "wave_mlir.scheduling"} & set(sys.modules)
assert not unwanted, unwanted
"""


def seconds(code: str, bytecode: str) -> float:
    """CPU time of a process that runs the code. bytecode: folder of compiled Python."""
    environment = os.environ | {"PYTHONPYCACHEPREFIX": bytecode, "PYTHONDONTWRITEBYTECODE": ""}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(rounds: int = 5) -> Iterator[tuple[float, float]]:
    """(base, base and ours) after each round: the least so far."""
    base = ours = float("inf")
    with tempfile.TemporaryDirectory() as bytecode:
        seconds(BASE + OURS, bytecode)
        for _ in range(rounds):
            base, ours = min(base, seconds(BASE, bytecode)), min(ours, seconds(BASE + OURS, bytecode))
            yield base, ours


def main() -> None:
    """Print both times and their difference."""
    *_, (base, ours) = measure(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
    print(f"sympy and MLIR {base:.3f} s; with wave_mlir.wave and a traced GEMM {ours:.3f} s: {ours - base:+.3f} s")


if __name__ == "__main__":
    main()
