"""Attention of one new token a sequence, several heads of queries a head of keys: over parts of the keys, then parts
together."""

# Annotations of kernels are types of the language, and kinds of MMAs come from the tables of the targets.
# pyright: reportInvalidTypeForm=false

from __future__ import annotations

from collections.abc import Sequence

import sympy

import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE, SHARED_ADDRESS_SPACE, WORKGROUP_2
from wave_mlir.wave.constraints import MMAType

from . import softmax_steps as softmax
from .attention import pair
from .attention_shape import AttentionShape
from .common import Subs, positive

__all__ = ["get_gqa_decode_attention_kernels"]

# Sequences, heads of Q, heads of K, parts, keys of a sequence, elements of a head of K and of V.
B, H_Q, H_KV, U, N_KV = tkl.sym.B, tkl.sym.H_Q, tkl.sym.H_KV, tkl.sym.U, tkl.sym.N_KV
D_Q, D_KV = tkl.sym.D_Q, tkl.sym.D_KV
BLOCK_H_Q, BLOCK_D_KV, BLOCK_N_KV, SPACE = (
    tkl.sym.BLOCK_H_Q,
    tkl.sym.BLOCK_D_KV,
    tkl.sym.BLOCK_N_KV,
    tkl.sym.ADDRESS_SPACE,
)

MOST_HEADS = 64
"""Heads of Q that a workgroup has at most: their weighted values stay in registers."""
MOST_COLUMNS = 128
"""Elements of a head of V that a workgroup has at most, for the same reason."""
WAVE = 64


def get_gqa_decode_attention_kernels(
    shape: AttentionShape,
    mfma_variant: MMAType | Sequence[MMAType],
    num_kv_splits: int,
    k_shape: Sequence[int],
    v_shape: Sequence[int],
    layer_scaling: float | None = None,
) -> tuple[tkw.WaveKernel, tkw.WaveKernel, Subs, Subs]:
    """phase_0(q[B, H_Q, D_Q], k[B, N_KV, H_KV, D_Q], v[B, N_KV, H_KV, D_KV], output[U, B, D_KV, H_Q],
    output_max[U, B, H_Q]) and phase_1(logits, logits_max, output[B, H_Q, D_KV]).

    q, k, v and the result are of f16, what lies between the kernels of f32. shape: heads, sizes of heads, num_seqs and
    kv_seq_len; k_shape and v_shape say the same. num_kv_splits: U, workgroups that share a sequence. layer_scaling:
    factor of the products, by default one over the root of D_Q. Gives both kernels and the symbols of each. Raises
    ValueError.
    """
    what = "get_gqa_decode_attention_kernels"
    names = ("num_query_heads", "num_kv_heads", "head_size", "head_size_kv", "num_seqs", "kv_seq_len")
    positive(what, {**{n: getattr(shape, n) for n in names}, "num_kv_splits": num_kv_splits})
    if shape.num_query_heads % shape.num_kv_heads:
        heads = f"{shape.num_query_heads} heads of queries, {shape.num_kv_heads} of keys"
        raise ValueError(f"{what}: {heads}; each head of keys has an equal number of queries'")
    for name, given, size in (("k_shape", k_shape, shape.head_size), ("v_shape", v_shape, shape.head_size_kv)):
        want = (shape.num_seqs, shape.kv_seq_len, shape.num_kv_heads, size)
        if tuple(given) != want:
            raise ValueError(f"{what}: {name} is {tuple(given)}, and the shape says {want}")
    mma, ratio = pair(what, mfma_variant), shape.num_query_heads // shape.num_kv_heads
    heads = max(n for n in range(1, min(ratio, MOST_HEADS) + 1) if ratio % n == 0)
    rows = softmax.rows_of(mma[0])
    sizes: Subs = {B: shape.num_seqs, H_Q: shape.num_query_heads, D_KV: shape.head_size_kv, U: num_kv_splits}
    first: Subs = {
        H_KV: shape.num_kv_heads,
        D_Q: shape.head_size,
        N_KV: shape.kv_seq_len,
        BLOCK_H_Q: heads,
        BLOCK_D_KV: min(MOST_COLUMNS, -(-shape.head_size_kv // rows) * rows),
        BLOCK_N_KV: 32,
        SPACE: SHARED_ADDRESS_SPACE,
    }
    part = -(-(shape.kv_seq_len or 1) // num_kv_splits)
    scale = softmax.scale_of(what, layer_scaling, shape.head_size)
    second: Subs = {**sizes, BLOCK_H_Q: WAVE}
    return _over_parts(mma, scale, part, ratio // heads), _together(), {**sizes, **first}, second


def _over_parts(mma: tuple[MMAType, MMAType], scale: float, part: int, groups: int) -> tkw.WaveKernel:
    """part: keys of a part. groups: workgroups that the queries' heads of a head of keys are divided among."""
    rows = softmax.rows_of(mma[0])
    start = WORKGROUP_2 * part
    length = sympy.Max(sympy.Min(part, N_KV - start), 0)
    constraints = [
        tkw.WorkgroupConstraint(D_KV, BLOCK_D_KV, 0),
        tkw.WorkgroupConstraint(H_Q, BLOCK_H_Q, 1),
        tkw.WorkgroupConstraint(H_KV, 1, 1, apply_fn=lambda wg: wg // groups, primary=False),
        tkw.WorkgroupConstraint(U, 1, 2),
        tkw.WorkgroupConstraint(B, 1, 3),
        tkw.TilingConstraint(N_KV, BLOCK_N_KV, iters=sympy.ceiling(length / BLOCK_N_KV), start=start),
        tkw.HardwareConstraint(WAVE, mma_type=mma[0], vector_shapes={B: 0, U: 0, H_KV: 0, H_Q: rows, D_KV: rows}),
    ]
    i, j, k, m = (tkw.IndexMapping.iterator(n) for n in range(4))
    keys = tkw.IndexMapping(4, {B: i, N_KV: k, H_KV: j, D_Q: m}, {B: i, H_KV: j, N_KV: k, D_Q: m})
    values = tkw.IndexMapping(4, {B: i, N_KV: k, H_KV: j, D_KV: m}, {B: i, H_KV: j, D_KV: m, N_KV: k})

    @tkw.wave(constraints, compat=True)
    def phase_0(
        q: tkl.Memory[B, H_Q, D_Q, GLOBAL_ADDRESS_SPACE, tkl.f16],
        k: tkl.Memory[B, N_KV, H_KV, D_Q, SPACE, tkl.f16],
        v: tkl.Memory[B, N_KV, H_KV, D_KV, SPACE, tkl.f16],
        output: tkl.Memory[U, B, D_KV, H_Q, GLOBAL_ADDRESS_SPACE, tkl.f32],
        output_max: tkl.Memory[U, B, H_Q, GLOBAL_ADDRESS_SPACE, tkl.f32],
    ):
        @tkw.iterate(N_KV, init_args=softmax.start((B, H_Q), (B, D_KV, H_Q)))
        def loop(*state):
            tile = tkw.read(k, mapping=keys)
            products = tkw.mma(tile, tkw.read(q), tkl.Register[B, N_KV, H_Q, tkl.f32](0.0))
            logits = softmax.scaled(tkw.permute(products, target_shape=[B, H_Q, N_KV]), scale, 0.0)
            seen = tkw.apply_expr(tkw.self_index(N_KV, tkl.i32), lambda x: x < sympy.Min(start + part, N_KV))
            logits = softmax.hidden(logits, seen, (B, H_Q, N_KV))
            tile = tkw.read(v, mapping=values)
            return softmax.step(
                state, logits, (B, H_Q), N_KV, lambda w, acc: tkw.mma(tile, tkw.cast(w, tkl.f16), acc, mma_type=mma[1])
            )

        greatest, total, acc = loop  # pyright: ignore[reportGeneralTypeIssues]
        sums = softmax.divisor(total, (B, H_Q))
        tkw.write(acc / sums, output)
        tkw.write(greatest + tkw.log2(sums), output_max)

    return phase_0


def _together() -> tkw.WaveKernel:
    constraints = [
        tkw.WorkgroupConstraint(H_Q, BLOCK_H_Q, 0),
        tkw.WorkgroupConstraint(D_KV, 1, 1),
        tkw.WorkgroupConstraint(B, 1, 2),
        tkw.TilingConstraint(U, 1),
        tkw.HardwareConstraint(WAVE, vector_shapes={B: 0, D_KV: 0, U: 1, H_Q: WAVE}),
    ]

    @tkw.wave(constraints, compat=True)
    def phase_1(
        logits: tkl.Memory[U, B, D_KV, H_Q, GLOBAL_ADDRESS_SPACE, tkl.f32],
        logits_max: tkl.Memory[U, B, H_Q, GLOBAL_ADDRESS_SPACE, tkl.f32],
        output: tkl.Memory[B, H_Q, D_KV, GLOBAL_ADDRESS_SPACE, tkl.f16],
    ):
        @tkw.iterate(U, init_args=softmax.start((B, H_Q), (B, D_KV, H_Q)))
        def loop(*state):
            size = tkw.permute(tkw.read(logits_max), target_shape=[B, H_Q, U])
            part = tkw.permute(tkw.read(logits), target_shape=[B, D_KV, H_Q, U])
            return softmax.step(state, size, (B, H_Q), U, lambda w, acc: tkw.sum(part * w, acc, dim=U))

        _, total, acc = loop  # pyright: ignore[reportGeneralTypeIssues]
        result = acc / softmax.divisor(total, (B, H_Q))
        tkw.write(tkw.cast(tkw.permute(result, target_shape=[B, H_Q, D_KV]), tkl.f16), output)

    return phase_1
