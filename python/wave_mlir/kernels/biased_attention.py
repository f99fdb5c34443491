"""Attention with terms added to the logits: ALiBi's slopes, a table by distance, masks and biases of pairs.

Products, terms and weights are in base 2: weights are 2^(Q Kᵀ + terms), so a caller scales Q and the terms by log2(e).
"""

# Annotations of kernels are types of the language, and kinds of MMAs come from the tables of the targets.
# pyright: reportInvalidTypeForm=false

from __future__ import annotations

from collections.abc import Sequence

import sympy

import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE
from wave_mlir.wave.constraints import MMAType
from wave_mlir.wave.values import Value

from .attention import made, pair, sizes_of
from .attention_program import (
    BASE_2,
    BLOCK_B,
    BLOCK_BN,
    BLOCK_H,
    BLOCK_K2,
    BLOCK_M,
    BLOCK_N,
    BN,
    K1,
    K2,
    B,
    H,
    M,
    Memories,
    N,
    Program,
    body,
    constraints_of,
    kinds,
)
from .attention_shape import AttentionShape
from .common import Dtype, Subs, dtype_of, positive

__all__ = ["get_alibi_attention_kernel", "get_evoformer_kernel", "get_t5_rpe_attention_kernel"]

_MEMORIES = Memories((B, M, K1), (B, K2, K1), (B, N, K2), (B, M, N))


def _program(what: str, mma: MMAType | Sequence[MMAType]) -> Program:
    return Program(_MEMORIES, pair(what, mma), tkl.f16, tkl.f32, BASE_2)


def _distance() -> Value:
    """Key minus query, [M, K2] of i32."""
    key = tkw.broadcast(tkw.self_index(K2, tkl.i32), target_shape=[M, K2])
    return key - tkw.broadcast(tkw.self_index(M, tkl.i32), target_shape=[M, K2])


def get_alibi_attention_kernel(
    shape: AttentionShape, mfma_variant: MMAType | Sequence[MMAType], dynamic_dims: bool
) -> tuple[tkw.WaveKernel, Subs, list[sympy.Symbol]]:
    """alibi_attention(q[B, M, K1], k[B, K2, K1], v[B, N, K2], m[B], c[B, M, N]): terms m[b] · min(k2 - m, 0).

    Of f16, slopes m and output of f32. shape, mfma_variant, dynamic_dims and what it gives: as of
    `get_vanilla_attention_kernel`, but that one kind of MMA may stand for both. Raises ValueError.
    """
    what = "get_alibi_attention_kernel"
    program = _program(what, mfma_variant)
    q_kind, k_kind, v_kind, out_kind = kinds(program)

    @tkw.wave(constraints_of(program), compat=True)
    def alibi_attention(q: q_kind, k: k_kind, v: v_kind, m: tkl.Memory[B, GLOBAL_ADDRESS_SPACE, tkl.f32], c: out_kind):
        def biased(logits: Value) -> Value:
            behind = tkw.cast(tkw.minimum(_distance(), 0), tkl.f32)
            slope = tkw.broadcast(tkw.read(m), target_shape=[B, M, K2])
            return logits + slope * tkw.broadcast(behind, target_shape=[B, M, K2])

        body(program, q, k, v, c, bias=biased)

    sizes = sizes_of(what, shape, {B: shape.num_query_heads})
    return made(program, sizes, (M, N, B, K2) if dynamic_dims else (), alibi_attention)


def get_t5_rpe_attention_kernel(
    shape: AttentionShape,
    mfma_variant: MMAType | Sequence[MMAType],
    dynamic_dims: bool,
    max_rpe_context_length: int,
) -> tuple[tkw.WaveKernel, Subs, list[sympy.Symbol]]:
    """base_attention(q[B, M, K1], k[B, K2, K1], v[B, N, K2], rpe[L + 1], c[B, M, N]): terms rpe[m - k2], L the context.

    Where m - k2 is not in 0 … L - 1 the term is rpe[L]. rpe is of f32; otherwise as `get_alibi_attention_kernel`.
    """
    what, length = "get_t5_rpe_attention_kernel", max_rpe_context_length
    positive(what, {"max_rpe_context_length": length})
    program = _program(what, mfma_variant)
    q_kind, k_kind, v_kind, out_kind = kinds(program)
    table = tkl.MemoryLayout(shape=[length + 1])
    i, j = tkw.IndexMapping.iterator(0), tkw.IndexMapping.iterator(1)
    lookup = tkw.IndexMapping(
        2,
        inputs={K2: tkw.IndexMapping.dynamic_val(0)},
        outputs={M: i, K2: j},
        dynamic_val_mappings={M: i, K2: j},
    )

    @tkw.wave(constraints_of(program), compat=True)
    def base_attention(
        q: q_kind, k: k_kind, v: v_kind, rpe: tkl.Memory[K2, GLOBAL_ADDRESS_SPACE, tkl.f32, table], c: out_kind
    ):
        def biased(logits: Value) -> Value:
            behind = _distance() * -1
            place = tkw.select((behind >= 0) & (behind < length), behind, tkl.Register[M, K2, tkl.i32](length))
            term = tkw.read(rpe, mapping=lookup, mapping_dynamic_vals=(place,))
            return logits + tkw.broadcast(term, target_shape=[B, M, K2])

        body(program, q, k, v, c, bias=biased)

    sizes = sizes_of(what, shape, {B: shape.num_query_heads})
    return made(program, sizes, (M, N, B, K2) if dynamic_dims else (), base_attention)


def get_evoformer_kernel(
    batch: tuple[int, int],
    n: tuple[int, int],
    kv_seq_len: tuple[int, int],
    heads: tuple[int, int],
    head_dim: tuple[int, int],
    q_seq_len: tuple[int, int],
    v_dim: tuple[int, int],
    mfma_variant: MMAType | Sequence[MMAType],
    datatype: Dtype,
) -> tuple[tkw.WaveKernel, Subs]:
    """evoformer_fwd(q, k, v, mask, bias, c), all of `datatype`: terms mask[b, bn, k2] + bias[b, h, m, k2].

    q[B, BN, M, H, K1], k[B, BN, K2, H, K1], v[B, BN, N, H, K2], mask[B, BN, K2], bias[B, H, M, K2], c[B, BN, M, H, N].
    Each parameter is (size, tile of a workgroup): of B, BN, K2, H, K1 (which is not divided), M and N. Raises
    ValueError.
    """
    what = "get_evoformer_kernel"
    given = {B: batch, BN: n, K2: kv_seq_len, H: heads, K1: head_dim, M: q_seq_len, N: v_dim}
    positive(what, {f"{s}, size": size for s, (size, _) in given.items()})
    positive(what, {f"{s}, tile": tile for s, (_, tile) in given.items()})
    memories = Memories((B, BN, M, H, K1), (B, BN, K2, H, K1), (B, BN, N, H, K2), (B, BN, M, H, N))
    dtype, mma = dtype_of(datatype), pair(what, mfma_variant)
    program = Program(memories, mma, dtype, dtype, BASE_2)
    waves = max(1, min(4, q_seq_len[1] // program.rows))
    program = Program(memories, mma, dtype, dtype, BASE_2, waves=waves)
    q_kind, k_kind, v_kind, out_kind = kinds(program)

    @tkw.wave(constraints_of(program), compat=True)
    def evoformer_fwd(
        q: q_kind,
        k: k_kind,
        v: v_kind,
        mask: tkl.Memory[B, BN, K2, GLOBAL_ADDRESS_SPACE, dtype],
        bias: tkl.Memory[B, H, M, K2, GLOBAL_ADDRESS_SPACE, dtype],
        c: out_kind,
    ):
        def biased(logits: Value) -> Value:
            for term in (tkw.read(mask), tkw.read(bias)):
                logits = logits + tkw.broadcast(tkw.cast(term, tkl.f32), target_shape=[B, BN, H, M, K2])
            return logits

        body(program, q, k, v, c, bias=biased)

    blocks = {BLOCK_B: B, BLOCK_BN: BN, BLOCK_K2: K2, BLOCK_H: H, BLOCK_M: M, BLOCK_N: N}
    subs = program.blocks(None) | {block: given[dim][1] for block, dim in blocks.items()}
    return evoformer_fwd, subs | {s: size for s, (size, _) in given.items()}
