"""Attention with 8-bit floats: Q, K, V in fp8 with one scale each, probabilities in fp8 for the second MMA.

    S = (Q K^T) * q_scale * k_scale / sqrt(size)     masked after all scaling
    P = min(2^(S - max + offset), F8_MAX)            offset = log2(F8_MAX): the whole range of fp8 is used
    O = P V / sum(P) * v_scale                       the offset is in the sum too, and cancels

The 8-bit kinds of an accumulator's layout ("K4") let the second MMA take P as the first one left it. gfx942 has the
FNUZ types (240 at most), gfx950 those of OCP (448 at most).

    python examples/attention_fp8.py
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import ml_dtypes
import numpy as np
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import SHARED_ADDRESS_SPACE as SHARED
from wave_mlir.wave.compile import WaveCompileOptions, wave_compile
from wave_mlir.wave.constraints import MMAType

B, M, N, K1, K2 = tkl.sym.B, tkl.sym.M, tkl.sym.N, tkl.sym.K1, tkl.sym.K2
BLOCK_M, BLOCK_N, BLOCK_K2 = tkl.sym.BLOCK_M, tkl.sym.BLOCK_N, tkl.sym.BLOCK_K2
LOG2_E = math.log2(math.e)

F8 = {
    "gfx942": (tkl.f8e4m3fnuz, ml_dtypes.float8_e4m3fnuz, 240.0),
    "gfx950": (tkl.f8e4m3fn, ml_dtypes.float8_e4m3fn, 448.0),
}
"""Per target: the type in the language, in numpy, its greatest number."""


@dataclass(frozen=True)
class Shape:
    """Heads, queries, keys, elements of a head of Q and K, of V; the scales of Q, K and V."""

    heads: int
    queries: int
    keys: int
    qk_size: int
    v_size: int
    scales: tuple[float, float, float] = (0.5, 0.25, 2.0)
    causal: bool = False


def fp8_kernel(
    shape: Shape,
    target: str = "gfx942",
    mma: tuple[MMAType, MMAType] = (MMAType.F32_16x16x32_F8, MMAType.F32_16x16x32_K4_F8),
    waves: int = 2,
) -> tuple[tkw.WaveKernel, dict]:
    """The kernel (q, k, v, out): Q [B, M, K1], K [B, K2, K1], V [B, N, K2] fp8, out [B, M, N] f32."""
    side = 16 if "16x16" in mma[0].name else 32
    dtype, _, most = F8[target]
    q_scale, k_scale, v_scale = shape.scales
    constraints = [
        tkw.WorkgroupConstraint(M, BLOCK_M, 0),
        tkw.WorkgroupConstraint(N, BLOCK_N, 1),
        tkw.WorkgroupConstraint(B, 1, 2),
        tkw.TilingConstraint(K2, BLOCK_K2),
        tkw.WaveConstraint(M, BLOCK_M / waves),
        tkw.HardwareConstraint(64, mma_type=mma[0], vector_shapes={B: 0, M: side, N: side}),
    ]

    @tkw.wave(constraints)
    def attention(
        q: tkl.Memory[B, M, K1, GLOBAL, dtype],
        k: tkl.Memory[B, K2, K1, SHARED, dtype],
        v: tkl.Memory[B, N, K2, SHARED, dtype],
        out: tkl.Memory[B, M, N, GLOBAL, tkl.f32],
    ):
        lowest = tkl.Register[B, M, tkl.f32](float("-inf"))
        zero = tkl.Register[B, M, tkl.f32](0.0)

        @tkw.iterate(K2, init_args=[lowest, zero, tkl.Register[B, N, M, tkl.f32](0.0)])
        def loop(old_max, old_sum, acc):
            s = tkw.mma(tkw.read(k), tkw.read(q), tkl.Register[B, K2, M, tkl.f32](0.0))
            s = tkw.permute(s, target_shape=[B, M, K2]) * (q_scale * k_scale / math.sqrt(shape.qk_size) * LOG2_E)
            keys = tkw.self_index(K2, tkl.i32)
            seen = tkw.broadcast(keys < tkw.scalar(K2, tkl.i32), target_shape=[M, K2])
            if shape.causal:
                seen = seen & (tkw.broadcast(tkw.self_index(M, tkl.i32), target_shape=[M, K2]) >= keys)
            hidden = tkl.Register[B, M, K2, tkl.f32](float("-inf"))
            s = tkw.select(tkw.broadcast(seen, target_shape=[B, M, K2]), s, hidden)
            new_max = tkw.max(s, old_max, dim=K2)
            rescale = tkw.exp2(old_max - new_max)
            p = tkw.minimum(tkw.exp2(s - new_max + math.log2(most)), tkl.Register[B, M, K2, tkl.f32](most))
            new_sum = tkw.sum(p, old_sum * rescale, dim=K2)
            return new_max, new_sum, tkw.mma(tkw.read(v), tkw.cast(p, dtype), acc * rescale, mma_type=mma[1])

        _, total, acc = loop
        tkw.write(tkw.permute(acc / total * v_scale, target_shape=[B, M, N]), out)

    sizes = {B: shape.heads, M: shape.queries, N: shape.v_size, K1: shape.qk_size, K2: shape.keys}
    block_n = -(-shape.v_size // side) * side
    return attention, sizes | {BLOCK_M: side * waves, BLOCK_N: block_n, BLOCK_K2: 64}


def inputs(shape: Shape, target: str, seed: int = 0) -> list[np.ndarray]:
    """Q, K, V in the target's fp8."""
    rng = np.random.default_rng(seed)
    _, dtype, _ = F8[target]
    keys = (shape.heads, shape.keys, shape.qk_size)
    sizes = [(shape.heads, shape.queries, shape.qk_size), keys, (shape.heads, shape.v_size, shape.keys)]
    return [rng.standard_normal(s).astype(np.float32).astype(dtype) for s in sizes]


def reference(shape: Shape, target: str, q, k, v) -> np.ndarray:
    """What it should be, with P rounded to fp8 as the kernel does it (the running maximum does not change P / sum)."""
    _, dtype, most = F8[target]
    q, k, v = (np.asarray(x, np.float64) for x in (q, k, v))
    q_scale, k_scale, v_scale = shape.scales
    s = q @ k.transpose(0, 2, 1) * (q_scale * k_scale / math.sqrt(shape.qk_size))
    if shape.causal:
        s = np.where(np.arange(shape.keys) <= np.arange(shape.queries)[:, None], s, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True)) * most
    rounded = p.astype(np.float32).astype(dtype).astype(np.float64)
    return rounded @ v.transpose(0, 2, 1) / p.sum(-1, keepdims=True) * v_scale


def main() -> None:
    """Run for both targets in the simulator and compare."""
    for target in F8:
        shape = Shape(heads=2, queries=40, keys=64, qk_size=64, v_size=64, causal=True)
        kernel, subs = fp8_kernel(shape, target)
        q, k, v = inputs(shape, target)
        out = np.full((shape.heads, shape.queries, shape.v_size), np.nan, np.float32)
        wave_compile(WaveCompileOptions(subs=subs, target=target), kernel)(q, k, v, out)
        error = np.abs(out - reference(shape, target, q, k, v)).max()
        print(f"{target}: greatest error {error:.1e}")
        assert error < 0.03


if __name__ == "__main__":
    main()
