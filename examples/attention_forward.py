"""Attention, forward: vanilla, causal, sliding window, grouped queries, additive bias, soft cap.

    O[b, m, :] = sum over k2 of softmax(scale * Q K^T + bias)[b, m, k2] * V[b / ratio, k2, :]

One workgroup computes BLOCK_M rows of one query head. The loop walks the keys in tiles of BLOCK_K2 and carries the
running maximum, the running sum and the output so far; the softmax is in base 2, so log2(e) is part of the scale. The
first MMA gives S transposed, [K2, M]: each lane holds keys of one query, and its exponentials are what the second MMA
takes as operand.

    python examples/attention_forward.py
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE, SHARED_ADDRESS_SPACE
from wave_mlir.wave.compile import WaveCompileOptions, wave_compile
from wave_mlir.wave.constraints import MMAType

# B query heads (of all sequences), B_KV heads of keys; M queries, K2 keys; K1, N: sizes of a head in Q, K and in V.
B, B_KV, M, N, K1, K2 = tkl.sym.B, tkl.sym.B_KV, tkl.sym.M, tkl.sym.N, tkl.sym.K1, tkl.sym.K2
BLOCK_B, BLOCK_M, BLOCK_N, BLOCK_K2 = tkl.sym.BLOCK_B, tkl.sym.BLOCK_M, tkl.sym.BLOCK_N, tkl.sym.BLOCK_K2
SPACE = tkl.sym.ADDRESS_SPACE
LOG2_E = math.log2(math.e)


@dataclass(frozen=True)
class Shape:
    # B query heads (of all sequences), B_KV heads of keys; M queries, K2 keys; K1, N: sizes of a head of Q and K, of V.

    heads: int
    queries: int
    keys: int
    qk_size: int
    v_size: int
    kv_heads: int | None = None

    @property
    def ratio(self) -> int:
        """Query heads that share a head of keys and values."""
        return self.heads // (self.kv_heads or self.heads)


@dataclass(frozen=True)
class Variant:
    """What is done to the logits. causal: key k2 for query m only if k2 - m <= keys - queries.

    window: only the last `window` of the keys that causal leaves. soft_cap: logits are cap * tanh(logits / cap).
    transposed_v: V is [B_KV, N, K2], else [B_KV, K2, N] and read through a mapping.
    """

    causal: bool = False
    window: int = 0
    bias: bool = False
    soft_cap: float = 0.0
    transposed_v: bool = False


def attention_kernel(
    shape: Shape,
    variant: Variant = Variant(),
    mma: tuple[MMAType, MMAType] = (MMAType.F32_16x16x16_F16, MMAType.F32_16x16x16_F16),
    dtype: tkl.DataType = tkl.f16,
    waves: int = 4,
    block_m: int = 64,
    block_k2: int = 32,
) -> tuple[tkw.WaveKernel, dict]:
    """The kernel (q, k, v, [bias,] out) and its substitutions. Q is [B, M, K1], K [B_KV, K2, K1], out [B, M, N] f32."""
    rows = 16 if "16x16" in mma[0].name else 32
    ratio = shape.ratio
    constraints = [
        tkw.WorkgroupConstraint(M, BLOCK_M, 0),
        tkw.WorkgroupConstraint(N, BLOCK_N, 1),
        tkw.WorkgroupConstraint(B, BLOCK_B, 2),
        tkw.TilingConstraint(K2, BLOCK_K2),
        tkw.WaveConstraint(M, BLOCK_M / waves),
        tkw.HardwareConstraint(
            threads_per_wave=64,
            mma_type=mma[0],
            vector_shapes={B: 0, M: rows, N: rows},
        ),
    ]
    # The tiles of keys and values have the query head as dim, and come from the head it shares with `ratio` others.
    i, j, k = (tkw.IndexMapping.iterator(n) for n in range(3))
    k_map = tkw.IndexMapping(3, inputs={B_KV: i // ratio, K2: j, K1: k}, outputs={B: i, K2: j, K1: k})
    v_map = tkw.IndexMapping(3, inputs={B_KV: i // ratio, K2: k, N: j}, outputs={B: i, N: j, K2: k})
    v_shape = (B_KV, N, K2) if variant.transposed_v else (B_KV, K2, N)
    offset = shape.keys - shape.queries

    def visible(logits):
        """Logits, and -inf where a query does not see a key. It comes after all scaling."""
        keys = tkw.self_index(K2, tkl.i64)
        seen = tkw.broadcast(keys < tkw.scalar(K2, tkl.i64), target_shape=[M, K2])
        if variant.causal:
            last = tkw.broadcast(tkw.self_index(M, tkl.i64), target_shape=[M, K2]) + offset
            seen = seen & (last >= keys)
            if variant.window:
                seen = seen & (keys > last - variant.window)
        hidden = tkl.Register[B, M, K2, tkl.f32](float("-inf"))
        return tkw.select(tkw.broadcast(seen, target_shape=[B, M, K2]), logits, hidden)

    def body(q, k, v, bias, out):
        maximum = tkl.Register[B, M, tkl.f32](float("-inf"))
        total = tkl.Register[B, M, tkl.f32](0.0)
        output = tkl.Register[B, N, M, tkl.f32](0.0)
        scale = 1 / math.sqrt(shape.qk_size)

        @tkw.iterate(K2, init_args=[maximum, total, output])
        def loop(
            old_max: tkl.Register[B, M, tkl.f32],
            old_sum: tkl.Register[B, M, tkl.f32],
            acc: tkl.Register[B, N, M, tkl.f32],
        ):
            zero = tkl.Register[B, K2, M, tkl.f32](0.0)
            q_tile = tkw.read(q)
            k_tile = tkw.read(k, mapping=k_map)
            s = tkw.permute(tkw.mma(k_tile, q_tile, zero), target_shape=[B, M, K2])
            s = s * tkl.Register[B, M, K2, tkl.f32](scale)
            if variant.soft_cap:
                s = tkw.tanh(s / variant.soft_cap) * variant.soft_cap
            if variant.bias:
                s = s + tkw.cast(tkw.read(bias), tkl.f32)
            s = visible(s * LOG2_E)
            new_max = tkw.max(s, old_max, dim=K2)
            # A query that has seen no key yet keeps -inf: subtract 0 instead, for -inf - -inf is no number.
            nothing = new_max <= tkl.Register[B, M, tkl.f32](float("-inf"))
            base = tkw.select(nothing, tkl.Register[B, M, tkl.f32](0.0), new_max)
            rescale = tkw.exp2(old_max - base)
            e = tkw.exp2(s - base)
            new_sum = tkw.sum(e, old_sum * rescale, dim=K2)
            v_tile = tkw.read(v, mapping=v_map)
            new_acc = tkw.mma(v_tile, tkw.cast(e, dtype), acc * rescale, mma_type=mma[1])
            return new_max, new_sum, new_acc

        _, total, acc = loop
        # A query that sees no key at all has output 0.
        divisor = tkw.select(total > 0.0, total, tkl.Register[B, M, tkl.f32](1.0))
        result = tkw.permute(acc * tkw.reciprocal(divisor), target_shape=[B, M, N])
        tkw.write(result, out)

    if variant.bias:

        @tkw.wave(constraints)
        def attention(
            q: tkl.Memory[B, M, K1, GLOBAL_ADDRESS_SPACE, dtype],
            k: tkl.Memory[B_KV, K2, K1, SPACE, dtype],
            v: tkl.Memory[*v_shape, SPACE, dtype],
            bias: tkl.Memory[B, M, K2, GLOBAL_ADDRESS_SPACE, dtype],
            out: tkl.Memory[B, M, N, GLOBAL_ADDRESS_SPACE, tkl.f32],
        ):
            body(q, k, v, bias, out)

    else:

        @tkw.wave(constraints)
        def attention(
            q: tkl.Memory[B, M, K1, GLOBAL_ADDRESS_SPACE, dtype],
            k: tkl.Memory[B_KV, K2, K1, SPACE, dtype],
            v: tkl.Memory[*v_shape, SPACE, dtype],
            out: tkl.Memory[B, M, N, GLOBAL_ADDRESS_SPACE, tkl.f32],
        ):
            body(q, k, v, None, out)

    subs = {
        B: shape.heads,
        B_KV: shape.kv_heads or shape.heads,
        M: shape.queries,
        N: shape.v_size,
        K1: shape.qk_size,
        K2: shape.keys,
        BLOCK_B: 1,
        BLOCK_M: block_m,
        BLOCK_N: -(-shape.v_size // rows) * rows,
        BLOCK_K2: block_k2,
        SPACE: SHARED_ADDRESS_SPACE,
    }
    return attention, subs


def inputs(shape: Shape, variant: Variant, dtype: type, seed: int = 0) -> list[np.ndarray]:
    """Q, K, V and, if the variant has one, the bias; normally distributed."""
    rng = np.random.default_rng(seed)
    kv = shape.kv_heads or shape.heads
    v = (kv, shape.v_size, shape.keys) if variant.transposed_v else (kv, shape.keys, shape.v_size)
    shapes = [(shape.heads, shape.queries, shape.qk_size), (kv, shape.keys, shape.qk_size), v]
    if variant.bias:
        shapes.append((shape.heads, shape.queries, shape.keys))
    return [rng.standard_normal(s).astype(dtype) for s in shapes]


def reference(shape: Shape, variant: Variant, q, k, v, bias=None) -> np.ndarray:
    """What it should be, in f64."""
    q, k, v = (np.asarray(x, np.float64) for x in (q, k, v))
    if variant.transposed_v:
        v = v.transpose(0, 2, 1)
    k, v = np.repeat(k, shape.ratio, 0), np.repeat(v, shape.ratio, 0)
    s = q @ k.transpose(0, 2, 1) / math.sqrt(shape.qk_size)
    if variant.soft_cap:
        s = np.tanh(s / variant.soft_cap) * variant.soft_cap
    if bias is not None:
        s = s + np.asarray(bias, np.float64)
    if variant.causal:
        last = np.arange(shape.queries)[:, None] + shape.keys - shape.queries
        keys = np.arange(shape.keys)
        seen = keys <= last
        if variant.window:
            seen &= keys > last - variant.window
        s = np.where(seen, s, -np.inf)
    top = s.max(-1, keepdims=True)
    p = np.exp(s - np.where(np.isfinite(top), top, 0))
    total = p.sum(-1, keepdims=True)
    return p / np.where(total > 0, total, 1) @ v


def main() -> None:
    """Run every variant in the simulator and compare."""
    shape = Shape(heads=4, kv_heads=2, queries=40, keys=70, qk_size=64, v_size=32)
    for variant in (
        Variant(),
        Variant(transposed_v=True),
        Variant(causal=True),
        Variant(causal=True, window=20),
        Variant(bias=True),
        Variant(soft_cap=3.0),
    ):
        kernel, subs = attention_kernel(shape, variant)
        given = inputs(shape, variant, np.float16)
        out = np.full((shape.heads, shape.queries, shape.v_size), np.nan, np.float32)
        wave_compile(WaveCompileOptions(subs=subs, target="gfx942"), kernel)(*given, out)
        error = np.abs(out - reference(shape, variant, *given)).max()
        print(f"{variant}: greatest error {error:.1e}")
        assert error < 3e-3


if __name__ == "__main__":
    main()
