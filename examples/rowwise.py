"""Kernels of one row a wave: softmax, rmsnorm, layernorm, and rotary position embedding.

python examples/rowwise.py
"""

from __future__ import annotations

import numpy as np
import sympy
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.wave.compile import WaveCompileOptions, wave_compile

M, N, BLOCK_M, BLOCK_N = tkl.sym.M, tkl.sym.N, tkl.sym.BLOCK_M, tkl.sym.BLOCK_N
LOG2_E = 1.4426950408889634
EPSILON = 1e-5


def _rows(waves: int = 1) -> list:
    """BLOCK_M rows a workgroup; a row is in one wave, or divided among `waves` of them along y."""
    constraints = [
        tkw.WorkgroupConstraint(M, BLOCK_M, 0),
        tkw.WorkgroupConstraint(N, BLOCK_N, 1),
        tkw.HardwareConstraint(64, vector_shapes={M: 1, N: BLOCK_N / waves}),
    ]
    return constraints if waves == 1 else [*constraints, tkw.WaveConstraint(N, BLOCK_N / waves)]


def softmax_kernel(dtype: tkl.DataType = tkl.f16, waves: int = 1) -> tkw.WaveKernel:
    """The kernel (x [M, N], y [M, N]). BLOCK_N must be at least N."""

    @tkw.wave(_rows(waves))
    def softmax(x: tkl.Memory[M, N, GLOBAL, dtype], y: tkl.Memory[M, N, GLOBAL, dtype]):
        logits = tkw.cast(tkw.read(x), tkl.f32) * LOG2_E
        e = tkw.exp2(logits - tkw.max(logits, dim=N, block=waves > 1))
        tkw.write(tkw.cast(e / tkw.sum(e, dim=N, block=waves > 1), dtype), y)

    return softmax


def rmsnorm_kernel(dtype: tkl.DataType = tkl.f16, waves: int = 1) -> tkw.WaveKernel:
    """The kernel (x [M, N], weight [N], y [M, N]): x / sqrt(mean(x^2) + eps) * weight."""

    @tkw.wave(_rows(waves))
    def rmsnorm(
        x: tkl.Memory[M, N, GLOBAL, dtype], weight: tkl.Memory[N, GLOBAL, dtype], y: tkl.Memory[M, N, GLOBAL, dtype]
    ):
        wide = tkw.cast(tkw.read(x), tkl.f32)
        count = tkw.scalar(N, tkl.f32)
        mean = tkw.sum(wide * wide, dim=N, block=waves > 1) / count
        result = wide * tkw.rsqrt(mean + EPSILON) * tkw.cast(tkw.read(weight), tkl.f32)
        tkw.write(tkw.cast(result, dtype), y)

    return rmsnorm


def layernorm_kernel(dtype: tkl.DataType = tkl.f16, waves: int = 1) -> tkw.WaveKernel:
    """The kernel (x [M, N], weight [N], bias [N], y [M, N]): (x - mean) / sqrt(variance + eps) * weight + bias."""

    @tkw.wave(_rows(waves))
    def layernorm(
        x: tkl.Memory[M, N, GLOBAL, dtype],
        weight: tkl.Memory[N, GLOBAL, dtype],
        bias: tkl.Memory[N, GLOBAL, dtype],
        y: tkl.Memory[M, N, GLOBAL, dtype],
    ):
        wide = tkw.cast(tkw.read(x), tkl.f32)
        count = tkw.scalar(N, tkl.f32)
        centred = wide - tkw.sum(wide, dim=N, block=waves > 1) / count
        variance = tkw.sum(centred * centred, dim=N, block=waves > 1) / count
        result = centred * tkw.rsqrt(variance + EPSILON) * tkw.cast(tkw.read(weight), tkl.f32)
        tkw.write(tkw.cast(result + tkw.cast(tkw.read(bias), tkl.f32), dtype), y)

    return layernorm


def rotary_kernel(base: float = 10000.0, dtype: tkl.DataType = tkl.f16) -> tkw.WaveKernel:
    """The kernel (x [M, N], y [M, N]): row m is turned by m * base^(-2 i / N) in the plane of columns i and i + N/2.

    The partner of a column is read through a mapping; positions and angles come from `self_index`. N is even.
    """
    i, j = tkw.IndexMapping.iterator(0), tkw.IndexMapping.iterator(1)
    half = N // 2
    partner = tkw.IndexMapping(2, inputs={M: i, N: sympy.Mod(j + half, N)}, outputs={M: i, N: j})

    @tkw.wave(_rows())
    def rotary(x: tkl.Memory[M, N, GLOBAL, dtype], y: tkl.Memory[M, N, GLOBAL, dtype]):
        own, other = tkw.cast(tkw.read(x), tkl.f32), tkw.cast(tkw.read(x, mapping=partner), tkl.f32)
        column = tkw.self_index(N, tkl.i32)
        plane = tkw.cast(tkw.apply_expr(column, lambda c: sympy.Mod(c, half)), tkl.i32)
        size = tkw.scalar(N, tkl.f32)
        frequency = tkw.exp2(tkw.cast(plane, tkl.f32) / size * float(-2 * np.log2(base)))
        position = tkw.cast(tkw.self_index(M, tkl.i32), tkl.f32)
        angle = tkw.broadcast(position, [M, N]) * tkw.broadcast(frequency, [M, N])
        first = tkw.broadcast(tkw.apply_expr(column, lambda c: c < half), [M, N])
        turned = tkw.select(first, -other, other)
        tkw.write(tkw.cast(own * tkw.cos(angle) + turned * tkw.sin(angle), dtype), y)

    return rotary


def substitutions(rows: int, columns: int, waves: int = 1, block_m: int = 4) -> dict:
    """Values of the symbols for an M x N array."""
    step = 64 * waves
    return {M: rows, N: columns, BLOCK_M: block_m, BLOCK_N: -(-columns // step) * step}


def softmax(x: np.ndarray) -> np.ndarray:
    """The reference, in f64; as are the others."""
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def rmsnorm(x: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """x / sqrt(mean(x^2) + eps) * weight."""
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + EPSILON) * weight


def layernorm(x: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """(x - mean) / sqrt(variance + eps) * weight + bias."""
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + EPSILON) * weight + bias


def rotary(x: np.ndarray, base: float = 10000.0) -> np.ndarray:
    """Columns i and i + N/2 turned by the row's angle."""
    half = x.shape[1] // 2
    angle = np.arange(x.shape[0])[:, None] * base ** (-2 * np.arange(half) / x.shape[1])
    a, b = x[:, :half], x[:, half:]
    return np.concatenate([a * np.cos(angle) - b * np.sin(angle), b * np.cos(angle) + a * np.sin(angle)], 1)


CASES = {
    "softmax": (softmax_kernel, softmax, 0),
    "rmsnorm": (rmsnorm_kernel, rmsnorm, 1),
    "layernorm": (layernorm_kernel, layernorm, 2),
}
"""Kernel, reference, number of arguments of N elements."""


def main() -> None:
    """Run all in the simulator and compare."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((13, 100)).astype(np.float16)
    for name, (make, reference, extra) in CASES.items():
        vectors = [rng.standard_normal(100).astype(np.float16) for _ in range(extra)]
        y = np.zeros_like(x)
        kernel = wave_compile(WaveCompileOptions(subs=substitutions(*x.shape), target="gfx942"), make())
        kernel(x, *vectors, y)
        error = np.abs(y - reference(x.astype(np.float64), *(v.astype(np.float64) for v in vectors))).max()
        print(f"{name}: greatest error {error:.1e}")
        assert error < 5e-3
    y = np.zeros_like(x)
    wave_compile(WaveCompileOptions(subs=substitutions(*x.shape), target="gfx942"), rotary_kernel())(x, y)
    error = np.abs(y - rotary(x.astype(np.float64))).max()
    print(f"rotary: greatest error {error:.1e}")
    assert error < 5e-3


if __name__ == "__main__":
    main()
