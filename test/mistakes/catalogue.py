"""The catalogue of user mistakes: each is a small program, the message it must give, and the line it must name.

Functions decorated so are run by test_mistakes_catalogue.py and shown in docs/errors.md by tools/error_docs.py.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE, SHARED_ADDRESS_SPACE, WORKGROUP_0  # noqa: F401
from wave_mlir.wave.compile import CompiledKernel, WaveCompileOptions, wave_compile
from wave_mlir.wave.constraints import MMAType
from wave_mlir.wave.kernel import WaveKernel

MARK = "# <- here"
"""Comment on the line that the message must name."""

M, N, K, B = tkl.sym.M, tkl.sym.N, tkl.sym.K, tkl.sym.B
BM, BN, BK = tkl.sym.BLOCK_M, tkl.sym.BLOCK_N, tkl.sym.BLOCK_K
GLOBAL, SHARED = GLOBAL_ADDRESS_SPACE, SHARED_ADDRESS_SPACE
F16 = MMAType.F32_16x16x16_F16

GEMM = [
    tkw.WorkgroupConstraint(M, BM, 0),
    tkw.WorkgroupConstraint(N, BN, 1),
    tkw.TilingConstraint(K, BK),
    tkw.WaveConstraint(M, BM / 2),
    tkw.WaveConstraint(N, BN / 2),
    tkw.HardwareConstraint(threads_per_wave=64, mma_type=F16),
]
SIZES = {M: 128, N: 128, K: 64, BM: 64, BN: 64, BK: 32}
ROWS = [
    tkw.WorkgroupConstraint(M, 1, 0),
    tkw.WorkgroupConstraint(N, 64, 1),
    tkw.HardwareConstraint(threads_per_wave=64, vector_shapes={M: 1, N: 64}),
]
A = tkl.Memory[M, K, SHARED, tkl.f16]
BT = tkl.Memory[N, K, SHARED, tkl.f16]
C = tkl.Memory[M, N, GLOBAL, tkl.f32]
X = tkl.Memory[M, N, GLOBAL, tkl.f32]


@dataclass(frozen=True)
class Mistake:
    """One entry: what a user did wrong, and what the compiler must say."""

    run: Callable[[], object]
    message: str
    topic: str

    @property
    def name(self) -> str:
        """Identifier."""
        return self.run.__name__

    @property
    def title(self) -> str:
        """One sentence."""
        return inspect.getdoc(self.run) or ""

    @property
    def line(self) -> int | None:
        """Number of the marked line in its file, None when the mistake is in a call of a compiled kernel."""
        lines, first = inspect.getsourcelines(self.run)
        marked = [first + i for i, text in enumerate(lines) if MARK in text]
        return marked[0] if marked else None


CATALOGUE: list[Mistake] = []


def mistake(message: str) -> Callable[[Callable[[], object]], Callable[[], object]]:
    """Register a program that makes a mistake, with the message that it must give."""

    def register(run: Callable[[], object]) -> Callable[[], object]:
        module = inspect.getmodule(run)
        CATALOGUE.append(Mistake(run, message, (inspect.getdoc(module) or "").splitlines()[0]))
        return run

    return register


def compile_(kernel: WaveKernel, subs: Mapping | None = None, dynamic: Sequence = (), target: str = "gfx942", **more):
    """Compile to machine code. subs: defaults to the sizes of the GEMM."""
    options = WaveCompileOptions(subs=SIZES if subs is None else subs, target=target, dynamic_symbols=dynamic, **more)
    made: CompiledKernel = wave_compile(options, kernel)
    return made


def a_copy() -> CompiledKernel:
    """A kernel that doubles a matrix of 4 x 64 numbers."""

    @tkw.wave(ROWS)
    def double(x: X, y: X):
        tkw.write(tkw.read(x) * 2.0, y)

    return compile_(double, {M: 4, N: 64})
