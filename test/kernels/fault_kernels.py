"""Kernels that faults are planted in: how they are compiled, launched, and what one launch gave."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from gemm_cases import GemmCase, gemm_text, inputs
from running import compiled
from test_attention import BB, BK2, BM, BN, K1, K2, SPACE, B, M, N, attention
from wave_mlir.compiler import driver
from wave_mlir.compiler.abi import KernelABI
from wave_mlir.isa import IsaRun, load
from wave_mlir.isa.compiled import run_abi
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import SHARED_ADDRESS_SPACE
from wave_mlir.wave.constraints import MMAType


@dataclass(frozen=True)
class Subject:
    """A kernel's assembly, its ABI, and the arrays it is launched on (the last is the result)."""

    text: str
    abi: KernelABI
    arrays: tuple[np.ndarray, ...]

    def run(self, text: str | None = None, **options) -> tuple[IsaRun, np.ndarray]:
        """Launch the kernel, or `text` in its stead, on copies. Returns the run and the bytes of the result."""
        arrays = [a.copy() for a in self.arrays]
        done = run_abi(load(text or self.text, self.abi.name), self.abi, arrays, **options)
        return done, arrays[-1].view(np.uint8)


def _gemm(case: GemmCase) -> Subject:
    made = driver.compile_module(gemm_text(case))
    (abi,) = made.kernels
    return Subject(made.isa, abi, inputs(case, 1))


def _of_lang(made: object, arrays: Sequence[np.ndarray]) -> Subject:
    return Subject(made._compiled.isa, made.abi, tuple(arrays))  # type: ignore[attr-defined]


def _softmax() -> Subject:
    @tkw.wave(
        [
            tkw.WorkgroupConstraint(M, 1, 0),
            tkw.WorkgroupConstraint(N, N, 1),
            tkw.WaveConstraint(N, N / 4),
            tkw.HardwareConstraint(64, vector_shapes={M: 1, N: 64}),
        ]
    )
    def kernel(a: tkl.Memory[M, N, GLOBAL, tkl.f32], c: tkl.Memory[M, N, GLOBAL, tkl.f32]):
        x = tkw.read(a)
        e = tkw.exp2((x - tkw.max(x, dim=N, block=True)) * 1.4426950408889634)
        tkw.write(e / tkw.sum(e, dim=N, block=True), c)

    a = np.random.default_rng(1).standard_normal((4, 512)).astype(np.float32)
    for row in range(4):
        a[row, 128 * row + 5] = 6  # each wave has the greatest value of a row, so that none may be left out
    return _of_lang(compiled(kernel, {M: 4, N: 512}), [a, np.zeros_like(a)])


def _attention() -> Subject:
    b, m, n, k1, k2 = 1, 33, 32, 32, 70
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal(s).astype(np.float16) for s in ((b, m, k1), (b, k2, k1), (b, n, k2)))
    subs = {B: b, M: m, N: n, K1: k1, K2: k2, BB: 1, BM: 64, BN: n, BK2: 32, SPACE: SHARED_ADDRESS_SPACE}
    made = compiled(attention(MMAType.F32_16x16x16_F16), subs)
    return _of_lang(made, [q, k, v, np.zeros((b, m, n), np.float32)])


_MAKERS: dict[str, Callable[[], Subject]] = {
    "gemm-f16": lambda: _gemm(GemmCase("gfx942", "f16", 16, "shared", (64, 64, 32), (2, 2), 64, 64, 96)),
    "gemm-f8-8-waves": lambda: _gemm(GemmCase("gfx950", "f8", 16, "shared", (64, 64, 64), (2, 4), 64, 64, 192)),
    "gemm-ragged": lambda: _gemm(GemmCase("gfx942", "bf16", 32, "shared", (64, 64, 32), (2, 1), 49, 61, 75)),
    "softmax": _softmax,
    "attention": _attention,
}
NAMES = tuple(_MAKERS)


@functools.cache
def subject(name: str) -> Subject:
    """The kernel of that name, compiled once."""
    return _MAKERS[name]()
