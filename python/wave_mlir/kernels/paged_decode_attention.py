"""Attention of one new token a sequence over keys that a table lists: over parts of the keys, then parts together."""

# Annotations of kernels are types of the language, and kinds of MMAs come from the tables of the targets.
# pyright: reportInvalidTypeForm=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import sympy

import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE, SHARED_ADDRESS_SPACE, WORKGROUP_2
from wave_mlir.wave.constraints import GenericDot, MMAType

from . import softmax_steps as softmax
from .attention import pair
from .common import Dtype, Subs, dtype_of, positive

__all__ = [
    "get_paged_decode_attention_kernels",
    "get_paged_decode_intermediate_arrays_shapes",
    "paged_decode_attention_shape",
]

# Sequences, heads of Q, heads of K, parts, keys of a sequence, elements of a head of K and of V.
S, B, BH, U, K2, K1, N = tkl.sym.S, tkl.sym.B, tkl.sym.BH, tkl.sym.U, tkl.sym.K2, tkl.sym.K1, tkl.sym.N
# Sequences + 1, entries of the table, rows of the caches.
S1, ENTRIES, N_KV = tkl.sym.S1, tkl.sym.ENTRIES, tkl.sym.N_KV
BLOCK_B, BLOCK_N, BLOCK_K2, SPACE = tkl.sym.BLOCK_B, tkl.sym.BLOCK_N, tkl.sym.BLOCK_K2, tkl.sym.ADDRESS_SPACE
# Set in the kernel: the sequence's first entry of the table; first key and number of keys of the part.
ENTRY, PART_START, PART_LENGTH = tkl.sym.ENTRY, tkl.sym.PART_START, tkl.sym.PART_LENGTH

MOST_HEADS = 64
"""Heads of Q that a workgroup has at most: their weighted values stay in registers."""
MOST_COLUMNS = 128
"""Elements of a head of V that a workgroup has at most, for the same reason."""
WAVE = 64

Mma = MMAType | GenericDot
Kernels = tuple[tkw.WaveKernel, tkw.WaveKernel, Subs, Subs, list[sympy.Symbol], list[sympy.Symbol]]


class paged_decode_attention_shape(NamedTuple):
    """Heads of queries, and of keys and values; sizes of a head of K and of V; keys of a page of the cache's allocator
    (the table lists single keys, so it changes nothing); sequences."""

    num_query_heads: int
    num_kv_heads: int
    head_size: int
    head_size_kv: int
    block_size: int
    num_seqs: int


def get_paged_decode_intermediate_arrays_shapes(
    shape: paged_decode_attention_shape, num_kv_splits: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shapes of what the first kernel writes, both of f32: outputs and logarithms of sums of the parts."""
    sums = (num_kv_splits, shape.num_seqs, shape.num_query_heads)
    return (*sums, shape.head_size_kv), sums


def get_paged_decode_attention_kernels(
    shape: paged_decode_attention_shape,
    mfma_variant: Mma | Sequence[Mma],
    num_kv_splits: int,
    input_dtype: Dtype = tkl.f16,
    output_dtype: Dtype = tkl.f16,
    layer_scaling: float | None = None,
    logit_cap: float = 0.0,
) -> Kernels:
    """phase_0(q[S, B, K1], k[N_KV, BH, K1], v[N_KV, BH, N], request_indices[S + 1], kv_indices[ENTRIES],
    output[U, S, B, N], output_max[U, S, B]) and phase_1(logits, logits_max, request_indices, output[S, B, N]).

    q, k, v are of input_dtype, tables of i32, what lies between the kernels of f32, the result of output_dtype. The
    keys of sequence s are the rows kv_indices[request_indices[s]:request_indices[s + 1]]; where there are none its
    result is 0. num_kv_splits: U, workgroups that share a sequence. layer_scaling: factor of the products, by default
    one over the root of K1; logit_cap > 0: bound of the logits. A GenericDot is computed by MMAs of 16 rows. Gives
    both kernels, the symbols of each, and the dynamic ones of each. Raises ValueError.
    """
    what = "get_paged_decode_attention_kernels"
    positive(what, {**shape._asdict(), "num_kv_splits": num_kv_splits})
    if shape.num_query_heads % shape.num_kv_heads:
        heads = f"{shape.num_query_heads} heads of queries, {shape.num_kv_heads} of keys"
        raise ValueError(f"{what}: {heads}; each head of keys has an equal number of queries'")
    variants = [MMAType.F32_16x16x16_F16 if isinstance(v, GenericDot) else v for v in _listed(mfma_variant)]
    mma, kind = pair(what, variants), dtype_of(input_dtype)
    scale = softmax.scale_of(what, layer_scaling, shape.head_size)
    ratio = shape.num_query_heads // shape.num_kv_heads
    heads = max(n for n in range(1, min(ratio, MOST_HEADS) + 1) if ratio % n == 0)
    rows = softmax.rows_of(mma[0])
    columns = min(MOST_COLUMNS, -(-shape.head_size_kv // rows) * rows)
    sizes: Subs = {B: shape.num_query_heads, N: shape.head_size_kv, U: num_kv_splits, S: S1 - 1}
    first = {BH: shape.num_kv_heads, K1: shape.head_size, BLOCK_B: heads, BLOCK_N: columns, BLOCK_K2: 32}
    return (
        _over_parts(mma, kind, scale, logit_cap, ratio // heads),
        _together(dtype_of(output_dtype)),
        {SPACE: SHARED_ADDRESS_SPACE, **sizes, **first},
        {**sizes, BLOCK_N: WAVE},
        [N_KV, ENTRIES, S1],
        [S1],
    )


def _listed(variants: Mma | Sequence[Mma]) -> list[Mma]:
    return list(variants) if isinstance(variants, (list, tuple)) else [variants, variants]  # type: ignore[list-item]


_BEGIN = tkw.IndexMapping(1, {S1: tkw.IndexMapping.iterator(0)}, {S: tkw.IndexMapping.iterator(0)})
_END = tkw.IndexMapping(1, {S1: tkw.IndexMapping.iterator(0) + 1}, {S: tkw.IndexMapping.iterator(0)})


def _over_parts(
    mma: tuple[MMAType, MMAType], dtype: tkl.DataType, scale: float, cap: float, groups: int
) -> tkw.WaveKernel:
    """groups: workgroups that the queries' heads of a head of keys are divided among."""
    rows = softmax.rows_of(mma[0])
    constraints = [
        tkw.WorkgroupConstraint(N, BLOCK_N, 0),
        tkw.WorkgroupConstraint(B, BLOCK_B, 1),
        tkw.WorkgroupConstraint(BH, 1, 1, apply_fn=lambda wg: wg // groups, primary=False),
        tkw.WorkgroupConstraint(U, 1, 2),
        tkw.WorkgroupConstraint(S, 1, 3),
        tkw.TilingConstraint(K2, BLOCK_K2, iters=sympy.ceiling(PART_LENGTH / BLOCK_K2), start=PART_START),
        tkw.HardwareConstraint(WAVE, mma_type=mma[0], vector_shapes={S: 0, U: 0, BH: 0, B: rows, N: rows}),
    ]
    i, j, k, m = (tkw.IndexMapping.iterator(n) for n in range(4))
    row = tkw.IndexMapping.dynamic_val(0)
    entries = tkw.IndexMapping(1, {ENTRIES: ENTRY + i}, {K2: i})
    keys = tkw.IndexMapping(4, {N_KV: row, BH: j, K1: m}, {S: i, BH: j, K2: k, K1: m}, {K2: k})
    values = tkw.IndexMapping(4, {N_KV: row, BH: j, N: m}, {S: i, BH: j, N: m, K2: k}, {K2: k})

    @tkw.wave(constraints, compat=True)
    def phase_0(
        q: tkl.Memory[S, B, K1, GLOBAL_ADDRESS_SPACE, dtype],
        k: tkl.Memory[N_KV, BH, K1, SPACE, dtype],
        v: tkl.Memory[N_KV, BH, N, SPACE, dtype],
        request_indices: tkl.Memory[S1, GLOBAL_ADDRESS_SPACE, tkl.i32],
        kv_indices: tkl.Memory[ENTRIES, GLOBAL_ADDRESS_SPACE, tkl.i32],
        output: tkl.Memory[U, S, B, N, GLOBAL_ADDRESS_SPACE, tkl.f32],
        output_max: tkl.Memory[U, S, B, GLOBAL_ADDRESS_SPACE, tkl.f32],
    ):
        first = tkw.read(request_indices, mapping=_BEGIN)
        length = tkw.read(request_indices, mapping=_END) - first
        tkw.set_symbol(ENTRY, first)
        tkw.set_symbol(K2, length)
        part = tkw.apply_expr(length, lambda x: sympy.ceiling(x / U))
        start = tkw.apply_expr(part, lambda x: x * WORKGROUP_2)
        tkw.set_symbol(PART_START, start)
        count = tkw.apply_expr([part, start], lambda x, at: sympy.Max(sympy.Min(x, K2 - at), 0))
        tkw.set_symbol(PART_LENGTH, count)

        @tkw.iterate(K2, init_args=softmax.start((S, B), (S, N, B)))
        def loop(*state):
            at = tkw.read(kv_indices, mapping=entries)
            tile = tkw.read(k, mapping=keys, mapping_dynamic_vals=(at,))
            products = tkw.mma(tile, tkw.read(q), tkl.Register[S, K2, B, tkl.f32](0.0))
            logits = softmax.scaled(tkw.permute(products, target_shape=[S, B, K2]), scale, cap)
            seen = tkw.apply_expr(tkw.self_index(K2, tkl.i32), lambda x: x < PART_START + PART_LENGTH)
            logits = softmax.hidden(logits, seen, (S, B, K2))
            tile = tkw.read(v, mapping=values, mapping_dynamic_vals=(at,))
            return softmax.step(
                state, logits, (S, B), K2, lambda w, acc: tkw.mma(tile, tkw.cast(w, dtype), acc, mma_type=mma[1])
            )

        greatest, total, acc = loop  # pyright: ignore[reportGeneralTypeIssues]
        sums = softmax.divisor(total, (S, B))
        tkw.write(tkw.permute(acc / sums, target_shape=[S, B, N]), output)
        tkw.write(greatest + tkw.log2(sums), output_max)

    return phase_0


def _together(dtype: tkl.DataType) -> tkw.WaveKernel:
    constraints = [
        tkw.WorkgroupConstraint(N, BLOCK_N, 0),
        tkw.WorkgroupConstraint(B, 1, 1),
        tkw.WorkgroupConstraint(S, 1, 2),
        tkw.TilingConstraint(U, 1),
        tkw.HardwareConstraint(WAVE, vector_shapes={S: 0, B: 0, U: 1, N: WAVE}),
    ]

    @tkw.wave(constraints, compat=True)
    def phase_1(
        logits: tkl.Memory[U, S, B, N, GLOBAL_ADDRESS_SPACE, tkl.f32],
        logits_max: tkl.Memory[U, S, B, GLOBAL_ADDRESS_SPACE, tkl.f32],
        request_indices: tkl.Memory[S1, GLOBAL_ADDRESS_SPACE, tkl.i32],
        output: tkl.Memory[S, B, N, GLOBAL_ADDRESS_SPACE, dtype],
    ):
        @tkw.iterate(U, init_args=softmax.start((S, B), (S, B, N)))
        def loop(*state):
            size = tkw.permute(tkw.read(logits_max), target_shape=[S, B, U])
            part = tkw.permute(tkw.read(logits), target_shape=[S, B, N, U])
            return softmax.step(state, size, (S, B), U, lambda w, acc: tkw.sum(part * w, acc, dim=U))

        _, total, acc = loop  # pyright: ignore[reportGeneralTypeIssues]
        tkw.write(tkw.cast(acc / softmax.divisor(total, (S, B)), dtype), output)

    return phase_1
