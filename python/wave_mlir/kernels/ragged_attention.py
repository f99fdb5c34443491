"""Attention over sequences of different lengths whose tokens lie one after the other: prefill, and extend behind a
cached prefix. A workgroup has some tokens of one head of one sequence; those behind the end of theirs store nothing.
"""

# Annotations of kernels are types of the language, and kinds of MMAs come from the tables of the targets.
# pyright: reportInvalidTypeForm=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import sympy

import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE, SHARED_ADDRESS_SPACE
from wave_mlir.wave.constraints import MMAType
from wave_mlir.wave.values import MemoryValue, Value

from . import softmax_steps as softmax
from .attention import pair
from .attention_shape import AttentionShape
from .common import Dtype, Subs, dtype_of, positive

__all__ = ["get_extend_attention_kernel", "get_extend_attention_rpe_kernel", "get_prefill_attention_kernel"]

# Sequences, heads of Q, heads of K, elements of a head of K and of V.
S, H, H_KV, D_Q, D_KV = tkl.sym.S, tkl.sym.H, tkl.sym.H_KV, tkl.sym.D_Q, tkl.sym.D_KV
# Queries and keys of the sequence; rows of Q, K and V, and of the caches; entries of the tables.
N_Q, N_KV, TOKENS, CACHE = tkl.sym.N_Q, tkl.sym.N_KV, tkl.sym.TOKENS, tkl.sym.CACHE
S1, ENTRIES, MASK, RPE = tkl.sym.S1, tkl.sym.ENTRIES, tkl.sym.MASK, tkl.sym.RPE
MAX_EXTEND_SEQ_LEN = tkl.sym.MAX_EXTEND_SEQ_LEN
# Set in the kernel: the sequence's first row, its first entry of kv_indices, its cached keys; its first element of the
# mask, and the elements of a row there.
START, ENTRY, PREFIX, MASK_START, MASK_ROW = (
    tkl.sym.START,
    tkl.sym.ENTRY,
    tkl.sym.PREFIX,
    tkl.sym.MASK_START,
    tkl.sym.MASK_ROW,
)
BLOCK_N_Q, BLOCK_D_KV, BLOCK_N_KV, SPACE = (
    tkl.sym.BLOCK_N_Q,
    tkl.sym.BLOCK_D_KV,
    tkl.sym.BLOCK_N_KV,
    tkl.sym.ADDRESS_SPACE,
)

MOST_COLUMNS = 128
"""Elements of a head of V that a workgroup has at most: the weighted values stay in registers."""
WAVE = 64
TILE = (H, N_Q, N_KV)

_I, _J, _K = (tkw.IndexMapping.iterator(n) for n in range(3))
_AT = tkw.IndexMapping.dynamic_val(0)
_BEGIN = tkw.IndexMapping(1, {S1: _I}, {S: _I})
_END = tkw.IndexMapping(1, {S1: _I + 1}, {S: _I})


@dataclass(frozen=True)
class _Program:
    """What a kernel computes. waves: that share the queries of a workgroup. causal: new tokens do not see later ones.
    masked: a mask says what is seen. distances: biases are by distance, up to this one; None: there are none."""

    mma: tuple[MMAType, MMAType]
    dtype: tkl.DataType
    out: tkl.DataType
    ratio: int
    scale: float
    waves: int = 4
    cap: float = 0.0
    causal: bool = False
    masked: bool = False
    distances: int | None = None


@dataclass(frozen=True)
class _Tables:
    """What logits are changed by."""

    mask: MemoryValue | None = None
    rpe: MemoryValue | None = None


def get_prefill_attention_kernel(
    shape: AttentionShape,
    mfma_variant: MMAType | Sequence[MMAType],
    q_shape: Sequence[int],
    k_shape: Sequence[int],
    v_shape: Sequence[int],
    o_shape: Sequence[int],
    input_dtype: Dtype = tkl.f16,
    output_dtype: Dtype = tkl.f32,
    size_dtype: Dtype = tkl.i32,
) -> tuple[tkw.WaveKernel, Subs]:
    """prefill_attention(q[TOKENS, H, D_Q], k[TOKENS, H_KV, D_Q], v[TOKENS, H_KV, D_KV], offsets[S],
    sequence_lengths[S], c[TOKENS, H, D_KV]): every token sees all tokens of its sequence.

    Products and weights are in base 2: the caller multiplies Q by log2(e) over the root of D_Q. Sequence s has
    sequence_lengths[s] rows from offsets[s] on; both tables are of size_dtype. shape: heads, sizes of
    heads, num_seqs and max_seq_len, the longest sequence. Gives the kernel and its symbols. Raises ValueError.
    """
    what = "get_prefill_attention_kernel"
    program = _program(what, shape, mfma_variant, input_dtype, output_dtype, 1.0 / softmax.LOG2_E)
    positive(what, {"num_seqs": shape.num_seqs, "max_seq_len": shape.max_seq_len})
    _rows(what, q_shape, k_shape, v_shape, o_shape)
    size = dtype_of(size_dtype)

    @tkw.wave(_constraints(program, shape.max_seq_len or 1), compat=True)
    def prefill_attention(
        q: tkl.Memory[TOKENS, H, D_Q, GLOBAL_ADDRESS_SPACE, program.dtype],
        k: tkl.Memory[TOKENS, H_KV, D_Q, SPACE, program.dtype],
        v: tkl.Memory[TOKENS, H_KV, D_KV, SPACE, program.dtype],
        offsets: tkl.Memory[S, GLOBAL_ADDRESS_SPACE, size],
        sequence_lengths: tkl.Memory[S, GLOBAL_ADDRESS_SPACE, size],
        c: tkl.Memory[TOKENS, H, D_KV, GLOBAL_ADDRESS_SPACE, program.out],
    ):
        tkw.set_symbol(START, tkw.read(offsets))
        tokens = tkw.read(sequence_lengths)
        tkw.set_symbol(N_Q, tokens)
        tkw.set_symbol(N_KV, tokens)
        _store(program, _over_tokens(program, _Tables(), (q, k, v), softmax.start((H, N_Q), (H, D_KV, N_Q))), c)

    sizes: Subs = {S: shape.num_seqs, TOKENS: q_shape[0]}
    return prefill_attention, sizes | _symbols(shape, program)


def get_extend_attention_kernel(
    shape: AttentionShape,
    mfma_variant: MMAType | Sequence[MMAType],
    q_shape: Sequence[int],
    k_shape: Sequence[int],
    v_shape: Sequence[int],
    k_cache_shape: Sequence[int],
    v_cache_shape: Sequence[int],
    o_shape: Sequence[int],
    input_dtype: Dtype = tkl.f16,
    output_dtype: Dtype = tkl.f32,
    size_dtype: Dtype = tkl.i32,
    is_causal: bool = False,
    logit_cap: float = 0.0,
    layer_scaling: float | None = None,
    num_waves: int = 4,
    use_custom_mask: bool = False,
) -> tuple[tkw.WaveKernel, Subs, list[sympy.Symbol]]:
    """extend_attention(q[TOKENS, H, D_Q], k[TOKENS, H_KV, D_Q], v[TOKENS, H_KV, D_KV], k_cache[CACHE, H_KV, D_Q],
    v_cache[CACHE, H_KV, D_KV], qo_indptr[S + 1], kv_indptr[S + 1], kv_indices[ENTRIES], MAX_EXTEND_SEQ_LEN,
    c[TOKENS, H, D_KV]): new tokens see the cached keys of their sequence, and its new ones.

    The new tokens of sequence s are the rows qo_indptr[s] to qo_indptr[s + 1]; its cached keys the rows of the caches
    that kv_indices lists from kv_indptr[s] to kv_indptr[s + 1]. MAX_EXTEND_SEQ_LEN: most new tokens of a sequence.
    is_causal: new tokens do not see later ones. use_custom_mask: custom_mask[MASK] of i8 and mask_offsets[S + 1] come
    before MAX_EXTEND_SEQ_LEN; from mask_offsets[s] on there is a row for each new token, with an element for each
    cached and each new key, 0 where it is not seen. logit_cap > 0 bounds logits, layer_scaling is the factor of the
    products, by default one over the root of D_Q. Gives the kernel, its symbols and the dynamic ones; a token that
    sees no key has the output 0. Raises ValueError.
    """
    what = "get_extend_attention_kernel"
    if is_causal and use_custom_mask:
        raise ValueError(f"{what}: is_causal and use_custom_mask exclude each other; let the mask say it")
    program = _program(what, shape, mfma_variant, input_dtype, output_dtype, layer_scaling)
    program = replace(program, waves=num_waves, cap=logit_cap, causal=is_causal, masked=use_custom_mask)
    return _extend(what, shape, program, (q_shape, k_shape, v_shape, o_shape), size_dtype)


def get_extend_attention_rpe_kernel(
    shape: AttentionShape,
    mfma_variant: MMAType | Sequence[MMAType],
    q_shape: Sequence[int],
    k_shape: Sequence[int],
    v_shape: Sequence[int],
    k_cache_shape: Sequence[int],
    v_cache_shape: Sequence[int],
    o_shape: Sequence[int],
    input_dtype: Dtype = tkl.f16,
    output_dtype: Dtype = tkl.f32,
    size_dtype: Dtype = tkl.i32,
    is_causal: bool = False,
    layer_scaling: float | None = None,
    num_waves: int = 4,
    max_rpe_context_length: int = 0,
) -> tuple[tkw.WaveKernel, Subs, list[sympy.Symbol]]:
    """As `get_extend_attention_kernel`, with biases by distance: rpe[max_rpe_context_length + 1] of f32 comes before
    MAX_EXTEND_SEQ_LEN.

    A token's logit of a key that is d tokens before it in the sequence, cached ones counted, gets rpe[d]; beyond
    max_rpe_context_length, and for later keys, rpe[max_rpe_context_length].
    """
    what = "get_extend_attention_rpe_kernel"
    positive(what, {"max_rpe_context_length": max_rpe_context_length})
    program = _program(what, shape, mfma_variant, input_dtype, output_dtype, layer_scaling)
    program = replace(program, waves=num_waves, causal=is_causal, distances=max_rpe_context_length)
    return _extend(what, shape, program, (q_shape, k_shape, v_shape, o_shape), size_dtype)


# --- the kernels ---


def _extend(
    what: str, shape: AttentionShape, program: _Program, shapes: Sequence[Sequence[int]], size_dtype: Dtype
) -> tuple[tkw.WaveKernel, Subs, list[sympy.Symbol]]:
    positive(what, {"num_waves": program.waves})
    _rows(what, *shapes)
    if dtype_of(size_dtype) != tkl.i32:
        raise ValueError(f"{what}: size_dtype is {size_dtype}; tables are of i32")
    kernel = _extend_kernel(program)
    symbols: Subs = {S: S1 - 1, **_symbols(shape, program)}
    dynamic = [TOKENS, CACHE, ENTRIES, S1]
    if program.masked:
        dynamic.append(MASK)
    if program.distances is not None:
        symbols[RPE] = program.distances + 1
    return kernel, symbols, dynamic


def _extend_kernel(program: _Program) -> tkw.WaveKernel:
    dtype, table = program.dtype, tkl.Memory[S1, GLOBAL_ADDRESS_SPACE, tkl.i32]
    queries = tkl.Memory[TOKENS, H, D_Q, GLOBAL_ADDRESS_SPACE, dtype]
    keys, values = tkl.Memory[TOKENS, H_KV, D_Q, SPACE, dtype], tkl.Memory[TOKENS, H_KV, D_KV, SPACE, dtype]
    cached_keys, cached_values = tkl.Memory[CACHE, H_KV, D_Q, SPACE, dtype], tkl.Memory[CACHE, H_KV, D_KV, SPACE, dtype]
    indices, result = (
        tkl.Memory[ENTRIES, GLOBAL_ADDRESS_SPACE, tkl.i32],
        tkl.Memory[TOKENS, H, D_KV, GLOBAL_ADDRESS_SPACE, program.out],
    )

    def attend(memories, caches, qo_indptr, kv_indptr, kv_indices, tables, mask_offsets, c):
        first, entry = tkw.read(qo_indptr, mapping=_BEGIN), tkw.read(kv_indptr, mapping=_BEGIN)
        tokens, prefix = tkw.read(qo_indptr, mapping=_END) - first, tkw.read(kv_indptr, mapping=_END) - entry
        tkw.set_symbol(START, first)
        tkw.set_symbol(ENTRY, entry)
        tkw.set_symbol(PREFIX, prefix)
        if mask_offsets is not None:
            tkw.set_symbol(MASK_START, tkw.read(mask_offsets, mapping=_BEGIN))
            tkw.set_symbol(MASK_ROW, tokens + prefix)
        tkw.set_symbol(N_Q, tokens)
        tkw.set_symbol(N_KV, prefix)
        state = softmax.start((H, N_Q), (H, D_KV, N_Q))
        state = _over_cache(program, tables, memories[0], caches, kv_indices, state)
        tkw.set_symbol(N_KV, tokens)
        _store(program, _over_tokens(program, tables, memories, state), c)

    constraints = _constraints(program, MAX_EXTEND_SEQ_LEN)
    if program.masked:

        @tkw.wave(constraints, compat=True)
        def extend_attention_custom_mask(
            q: queries,
            k: keys,
            v: values,
            k_cache: cached_keys,
            v_cache: cached_values,
            qo_indptr: table,
            kv_indptr: table,
            kv_indices: indices,
            custom_mask: tkl.Memory[MASK, GLOBAL_ADDRESS_SPACE, tkl.i8],
            mask_offsets: table,
            MAX_EXTEND_SEQ_LEN: tkl.SymbolBind[tkl.i32],
            c: result,
        ):
            tables = _Tables(mask=custom_mask)
            attend((q, k, v), (k_cache, v_cache), qo_indptr, kv_indptr, kv_indices, tables, mask_offsets, c)

        return extend_attention_custom_mask

    if program.distances is not None:

        @tkw.wave(constraints, compat=True)
        def extend_attention_rpe(
            q: queries,
            k: keys,
            v: values,
            k_cache: cached_keys,
            v_cache: cached_values,
            qo_indptr: table,
            kv_indptr: table,
            kv_indices: indices,
            rpe: tkl.Memory[RPE, GLOBAL_ADDRESS_SPACE, tkl.f32],
            MAX_EXTEND_SEQ_LEN: tkl.SymbolBind[tkl.i32],
            c: result,
        ):
            tables = _Tables(rpe=rpe)
            attend((q, k, v), (k_cache, v_cache), qo_indptr, kv_indptr, kv_indices, tables, None, c)

        return extend_attention_rpe

    @tkw.wave(constraints, compat=True)
    def extend_attention(
        q: queries,
        k: keys,
        v: values,
        k_cache: cached_keys,
        v_cache: cached_values,
        qo_indptr: table,
        kv_indptr: table,
        kv_indices: indices,
        MAX_EXTEND_SEQ_LEN: tkl.SymbolBind[tkl.i32],
        c: result,
    ):
        attend((q, k, v), (k_cache, v_cache), qo_indptr, kv_indptr, kv_indices, _Tables(), None, c)

    return extend_attention


# --- their parts ---


def _over_tokens(
    program: _Program, tables: _Tables, memories: Sequence[MemoryValue], state: Sequence[Value]
) -> list[Value]:
    """Over the keys of the sequence's own tokens."""
    q, k, v = memories
    head = _I // program.ratio
    key_map = tkw.IndexMapping(3, {TOKENS: _J + START, H_KV: head, D_Q: _K}, {H: _I, N_KV: _J, D_Q: _K})
    value_map = tkw.IndexMapping(3, {TOKENS: _K + START, H_KV: head, D_KV: _J}, {H: _I, D_KV: _J, N_KV: _K})

    @tkw.iterate(N_KV, init_args=list(state))
    def new(*state):
        keys, values = tkw.read(k, mapping=key_map), lambda: tkw.read(v, mapping=value_map)
        return _step(program, tables, state, q, keys, values, PREFIX if tables != _Tables() else 0, program.causal)

    return list(new)  # pyright: ignore[reportArgumentType]


def _over_cache(
    program: _Program,
    tables: _Tables,
    q: MemoryValue,
    caches: Sequence[MemoryValue],
    kv_indices: MemoryValue,
    state: Sequence[Value],
) -> list[Value]:
    """Over the cached keys."""
    k_cache, v_cache = caches
    head = _I // program.ratio
    entries = tkw.IndexMapping(1, {ENTRIES: _I + ENTRY}, {N_KV: _I})
    key_map = tkw.IndexMapping(3, {CACHE: _AT, H_KV: head, D_Q: _K}, {H: _I, N_KV: _J, D_Q: _K}, {N_KV: _J})
    value_map = tkw.IndexMapping(3, {CACHE: _AT, H_KV: head, D_KV: _J}, {H: _I, D_KV: _J, N_KV: _K}, {N_KV: _K})

    @tkw.iterate(N_KV, init_args=list(state))
    def cached(*state):
        at = (tkw.read(kv_indices, mapping=entries),)
        keys = tkw.read(k_cache, mapping=key_map, mapping_dynamic_vals=at)
        values = lambda: tkw.read(v_cache, mapping=value_map, mapping_dynamic_vals=at)  # noqa: E731
        return _step(program, tables, state, q, keys, values, 0, False)

    return list(cached)  # pyright: ignore[reportArgumentType]


def _step(
    program: _Program,
    tables: _Tables,
    state: Sequence[Value],
    q: MemoryValue,
    keys: Value,
    values: Callable[[], Value],
    before: sympy.Basic | int,
    causal: bool,
) -> softmax.State:
    """One tile of keys; `before`: keys of the sequence before the first one that the loop walks."""
    query_map = tkw.IndexMapping(3, {TOKENS: _J + START, H: _I, D_Q: _K}, {H: _I, N_Q: _J, D_Q: _K})
    products = tkw.mma(keys, tkw.read(q, mapping=query_map), tkl.Register[H, N_KV, N_Q, tkl.f32](0.0))
    logits = softmax.scaled(tkw.permute(products, target_shape=list(TILE)), program.scale, program.cap)
    key = tkw.self_index(N_KV, tkl.i32)
    seen = tkw.broadcast(tkw.apply_expr(key, lambda x: x < N_KV), target_shape=[N_Q, N_KV])
    query = tkw.broadcast(tkw.self_index(N_Q, tkl.i32), target_shape=[N_Q, N_KV])
    if causal:
        seen = seen & (query >= key)
    if tables.mask is not None:
        there = MASK_START + _I * MASK_ROW + _J + before
        mask = tkw.read(tables.mask, mapping=tkw.IndexMapping(2, {MASK: there}, {N_Q: _I, N_KV: _J}))
        seen = seen & (mask != 0)
    if tables.rpe is not None and program.distances is not None:
        most, ahead = program.distances, PREFIX - before
        key = tkw.broadcast(key, target_shape=[N_Q, N_KV])
        distance = tkw.apply_expr([query, key], lambda q, k: q - k + ahead)
        at = tkw.apply_expr(distance, lambda d: sympy.Piecewise((d, (d >= 0) & (d < most)), (most, True)))
        lookup = tkw.IndexMapping(2, {RPE: _AT}, {N_Q: _I, N_KV: _J}, {N_Q: _I, N_KV: _J})
        bias = tkw.read(tables.rpe, mapping=lookup, mapping_dynamic_vals=(tkw.cast(at, tkl.i32),))
        logits = logits + tkw.broadcast(bias * softmax.LOG2_E, target_shape=list(TILE))
    logits = softmax.hidden(logits, seen, TILE)

    def product(weights: Value, acc: Value) -> Value:
        return tkw.mma(values(), tkw.cast(weights, program.dtype), acc, mma_type=program.mma[1])

    return softmax.step(state, logits, (H, N_Q), N_KV, product)


def _store(program: _Program, state: Sequence[Value], c: MemoryValue) -> None:
    _, total, acc = state
    result = tkw.permute(acc / softmax.divisor(total, (H, N_Q)), target_shape=[H, N_Q, D_KV])
    to_rows = tkw.IndexMapping(3, {H: _I, N_Q: _J, D_KV: _K}, {TOKENS: _J + START, H: _I, D_KV: _K})
    tkw.write(tkw.cast(result, program.out), c, mapping=to_rows)


def _constraints(program: _Program, longest: sympy.Basic | int) -> list[tkw.Constraint]:
    rows = softmax.rows_of(program.mma[0])
    return [
        tkw.WorkgroupConstraint(N_Q, BLOCK_N_Q, 0, iters=sympy.ceiling(longest / BLOCK_N_Q)),
        tkw.WorkgroupConstraint(D_KV, BLOCK_D_KV, 1),
        tkw.WorkgroupConstraint(H, 1, 2),
        tkw.WorkgroupConstraint(S, 1, 3),
        tkw.TilingConstraint(N_KV, BLOCK_N_KV),
        tkw.WaveConstraint(N_Q, BLOCK_N_Q / program.waves),
        tkw.HardwareConstraint(WAVE, mma_type=program.mma[0], vector_shapes={S: 0, H: 0, N_Q: rows, D_KV: rows}),
    ]


def _symbols(shape: AttentionShape, program: _Program) -> Subs:
    rows = softmax.rows_of(program.mma[0])
    return {
        H: shape.num_query_heads,
        H_KV: shape.num_kv_heads,
        D_Q: shape.head_size,
        D_KV: shape.head_size_kv,
        BLOCK_N_Q: rows * program.waves,
        BLOCK_D_KV: min(MOST_COLUMNS, -(-shape.head_size_kv // rows) * rows),
        BLOCK_N_KV: 32,
        SPACE: SHARED_ADDRESS_SPACE,
    }


def _program(
    what: str,
    shape: AttentionShape,
    mma: MMAType | Sequence[MMAType],
    dtype: Dtype,
    out: Dtype,
    scaling: float | None,
) -> _Program:
    """What is asked for. Raises ValueError."""
    sizes = ("num_query_heads", "num_kv_heads", "head_size", "head_size_kv")
    positive(what, {name: getattr(shape, name) for name in sizes})
    if shape.num_query_heads % shape.num_kv_heads:
        heads = f"{shape.num_query_heads} heads of queries, {shape.num_kv_heads} of keys"
        raise ValueError(f"{what}: {heads}; each head of keys has an equal number of queries'")
    ratio, scale = shape.num_query_heads // shape.num_kv_heads, softmax.scale_of(what, scaling, shape.head_size)
    return _Program(pair(what, mma), dtype_of(dtype), dtype_of(out), ratio, scale)


def _rows(
    what: str, q: Sequence[int | None], k: Sequence[int | None], v: Sequence[int | None], o: Sequence[int | None]
) -> None:
    """The tensors of the new tokens have as many rows. Raises ValueError; a size of None is known at the call."""
    known = {s[0] for s in (q, k, v, o) if s[0] is not None}
    if len(known) > 1:
        rows = ", ".join(str(s[0]) for s in (q, k, v, o))
        raise ValueError(f"{what}: q, k, v and the output have {rows} rows; they have one for each token")
