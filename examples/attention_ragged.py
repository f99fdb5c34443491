"""Attention over sequences of different lengths that lie one after the other: prefill and extend.

The tokens of all sequences are the rows of one tensor; sequence s has `length[s]` of them from row `start[s]` on. A
workgroup computes BLOCK_M tokens of one query head of one sequence; the grid is as long as the longest sequence, and
the workgroups beyond the end of theirs store nothing.

`prefill_kernel`: each token sees the tokens of its sequence up to itself.
`extend_kernel`: before the new tokens there is a cached prefix, whose rows `kv_indices` lists; each token sees all of
it, then the new tokens up to itself. Both loops walk the dim KEYS, which is set to the prefix's length and then to the
number of new tokens.

    python examples/attention_ragged.py
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import sympy
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import SHARED_ADDRESS_SPACE
from wave_mlir.wave.compile import WaveCompileOptions, wave_compile
from wave_mlir.wave.constraints import MMAType

# S sequences, H query heads, H_KV heads of keys, D and D_V elements of a head of Q, K and of V.
S, H, H_KV, D, D_V = tkl.sym.S, tkl.sym.H, tkl.sym.H_KV, tkl.sym.D, tkl.sym.D_V
# Queries and keys of the sequence, known at run time; rows of the tensors; entries of kv_indices.
QUERIES, KEYS, TOKENS, CACHE, ENTRIES = (
    tkl.sym.QUERIES,
    tkl.sym.KEYS,
    tkl.sym.TOKENS,
    tkl.sym.CACHE,
    tkl.sym.ENTRIES,
)
# Set in the kernel: the sequence's first row, its first entry of kv_indices.
START, ENTRY = tkl.sym.START, tkl.sym.ENTRY
LONGEST, BLOCK_M, BLOCK_N, BLOCK_K, SPACE = (
    tkl.sym.LONGEST,
    tkl.sym.BLOCK_M,
    tkl.sym.BLOCK_N,
    tkl.sym.BLOCK_K,
    tkl.sym.ADDRESS_SPACE,
)
LOG2_E = math.log2(math.e)


@dataclass(frozen=True)
class Shape:
    """lengths: new tokens of each sequence; prefixes: cached ones before them (extend only). cache: its rows."""

    lengths: tuple[int, ...]
    heads: int
    kv_heads: int
    size: int
    v_size: int
    prefixes: tuple[int, ...] = ()
    cache: int = 0

    @property
    def starts(self) -> np.ndarray:
        """First row of each sequence."""
        return np.cumsum([0, *self.lengths])[:-1].astype(np.int32)

    @property
    def entries(self) -> np.ndarray:
        """First entry of each sequence in kv_indices."""
        return np.cumsum([0, *self.prefixes])[:-1].astype(np.int32)


def _constraints(shape: Shape, mma: MMAType, waves: int) -> list:
    side = 16 if "16x16" in mma.name else 32
    return [
        tkw.WorkgroupConstraint(QUERIES, BLOCK_M, 0, iters=sympy.ceiling(LONGEST / BLOCK_M)),
        tkw.WorkgroupConstraint(D_V, BLOCK_N, 1),
        tkw.WorkgroupConstraint(H, 1, 2),
        tkw.WorkgroupConstraint(S, 1, 3),
        tkw.TilingConstraint(KEYS, BLOCK_K),
        tkw.WaveConstraint(QUERIES, BLOCK_M / waves),
        tkw.HardwareConstraint(64, mma_type=mma, vector_shapes={S: 0, H: 0, QUERIES: side, D_V: side}),
    ]


def _substitutions(shape: Shape, waves: int, mma: MMAType) -> dict:
    side = 16 if "16x16" in mma.name else 32
    return {
        S: len(shape.lengths),
        H: shape.heads,
        H_KV: shape.kv_heads,
        D: shape.size,
        D_V: shape.v_size,
        TOKENS: sum(shape.lengths),
        CACHE: shape.cache,
        ENTRIES: max(1, sum(shape.prefixes)),
        LONGEST: max(shape.lengths),
        BLOCK_M: side * waves,
        BLOCK_N: -(-shape.v_size // side) * side,
        BLOCK_K: 32,
        SPACE: SHARED_ADDRESS_SPACE,
    }


_I, _J, _K = (tkw.IndexMapping.iterator(n) for n in range(3))


def _token_maps(ratio: int) -> dict[str, tkw.IndexMapping]:
    """Rows of Q, K, V and of the output: those of the sequence. The head of keys is shared by `ratio` query heads."""
    head = _I // ratio
    return {
        "q": tkw.IndexMapping(3, {TOKENS: _J + START, H: _I, D: _K}, {H: _I, QUERIES: _J, D: _K}),
        "k": tkw.IndexMapping(3, {TOKENS: _J + START, H_KV: head, D: _K}, {H: _I, KEYS: _J, D: _K}),
        "v": tkw.IndexMapping(3, {TOKENS: _K + START, H_KV: head, D_V: _J}, {H: _I, D_V: _J, KEYS: _K}),
        "out": tkw.IndexMapping(3, {H: _I, QUERIES: _J, D_V: _K}, {TOKENS: _J + START, H: _I, D_V: _K}),
    }


def _step(
    shape: Shape, dtype: tkl.DataType, read_q: Callable, read_k: Callable, read_v: Callable, causal: bool, state
) -> tuple:
    """One trip over a tile of keys; `state` is the maximum, the sum and the output so far."""
    old_max, old_sum, acc = state
    s = tkw.mma(read_k(), read_q(), tkl.Register[H, KEYS, QUERIES, tkl.f32](0.0))
    s = tkw.permute(s, target_shape=[H, QUERIES, KEYS]) * (LOG2_E / math.sqrt(shape.size))
    keys = tkw.self_index(KEYS, tkl.i64)
    seen = tkw.broadcast(tkw.apply_expr(keys, lambda x: x < KEYS), target_shape=[QUERIES, KEYS])
    if causal:
        seen = seen & (tkw.broadcast(tkw.self_index(QUERIES, tkl.i64), target_shape=[QUERIES, KEYS]) >= keys)
    s = tkw.select(
        tkw.broadcast(seen, target_shape=[H, QUERIES, KEYS]), s, tkl.Register[H, QUERIES, KEYS, tkl.f32](float("-inf"))
    )
    new_max = tkw.max(s, old_max, dim=KEYS)
    base = tkw.select(new_max > float("-inf"), new_max, tkl.Register[H, QUERIES, tkl.f32](0.0))
    rescale = tkw.exp2(old_max - base)
    e = tkw.exp2(s - base)
    new_sum = tkw.sum(e, old_sum * rescale, dim=KEYS)
    return new_max, new_sum, tkw.mma(read_v(), tkw.cast(e, dtype), acc * rescale)


def _initial() -> list:
    return [
        tkl.Register[H, QUERIES, tkl.f32](float("-inf")),
        tkl.Register[H, QUERIES, tkl.f32](0.0),
        tkl.Register[H, D_V, QUERIES, tkl.f32](0.0),
    ]


def prefill_kernel(
    shape: Shape, mma: MMAType = MMAType.F32_16x16x16_F16, dtype: tkl.DataType = tkl.f16, waves: int = 2
) -> tuple[tkw.WaveKernel, dict]:
    """The kernel (q, k, v, start, length, out): Q [TOKENS, H, D], K, V [TOKENS, H_KV, …], out [TOKENS, H, D_V] f32."""
    maps = _token_maps(shape.heads // shape.kv_heads)

    @tkw.wave(_constraints(shape, mma, waves))
    def prefill(
        q: tkl.Memory[TOKENS, H, D, GLOBAL, dtype],
        k: tkl.Memory[TOKENS, H_KV, D, SPACE, dtype],
        v: tkl.Memory[TOKENS, H_KV, D_V, SPACE, dtype],
        start: tkl.Memory[S, GLOBAL, tkl.i32],
        length: tkl.Memory[S, GLOBAL, tkl.i32],
        out: tkl.Memory[TOKENS, H, D_V, GLOBAL, tkl.f32],
    ):
        tkw.set_symbol(START, tkw.read(start))
        tokens = tkw.read(length)
        tkw.set_symbol(QUERIES, tokens)
        tkw.set_symbol(KEYS, tokens)

        @tkw.iterate(KEYS, init_args=_initial())
        def loop(*state):
            reads = [lambda m=m, n=n: tkw.read(m, mapping=maps[n]) for m, n in ((q, "q"), (k, "k"), (v, "v"))]
            return _step(shape, dtype, *reads, True, state)

        _, total, acc = loop
        result = tkw.permute(acc / total, target_shape=[H, QUERIES, D_V])
        tkw.write(result, out, mapping=maps["out"])

    return prefill, _substitutions(shape, waves, mma)


def extend_kernel(
    shape: Shape, mma: MMAType = MMAType.F32_16x16x16_F16, dtype: tkl.DataType = tkl.f16, waves: int = 2
) -> tuple[tkw.WaveKernel, dict]:
    """The kernel (q, k, v, k_cache, v_cache, kv_indices, start, length, entry, prefix, out).

    Caches are [CACHE, H_KV, …]; kv_indices [ENTRIES] lists rows of them, those of sequence s from entry[s] on.
    """
    ratio = shape.heads // shape.kv_heads
    maps = _token_maps(ratio)
    head, row = _I // ratio, tkw.IndexMapping.dynamic_val(0)
    entry_map = tkw.IndexMapping(1, {ENTRIES: _I + ENTRY}, {KEYS: _I})
    k_map = tkw.IndexMapping(3, {CACHE: row, H_KV: head, D: _K}, {H: _I, KEYS: _J, D: _K}, {KEYS: _J})
    v_map = tkw.IndexMapping(3, {CACHE: row, H_KV: head, D_V: _J}, {H: _I, D_V: _J, KEYS: _K}, {KEYS: _K})

    @tkw.wave(_constraints(shape, mma, waves))
    def extend(
        q: tkl.Memory[TOKENS, H, D, GLOBAL, dtype],
        k: tkl.Memory[TOKENS, H_KV, D, SPACE, dtype],
        v: tkl.Memory[TOKENS, H_KV, D_V, SPACE, dtype],
        k_cache: tkl.Memory[CACHE, H_KV, D, SPACE, dtype],
        v_cache: tkl.Memory[CACHE, H_KV, D_V, SPACE, dtype],
        kv_indices: tkl.Memory[ENTRIES, GLOBAL, tkl.i32],
        start: tkl.Memory[S, GLOBAL, tkl.i32],
        length: tkl.Memory[S, GLOBAL, tkl.i32],
        entry: tkl.Memory[S, GLOBAL, tkl.i32],
        prefix: tkl.Memory[S, GLOBAL, tkl.i32],
        out: tkl.Memory[TOKENS, H, D_V, GLOBAL, tkl.f32],
    ):
        tkw.set_symbol(START, tkw.read(start))
        tkw.set_symbol(ENTRY, tkw.read(entry))
        tokens = tkw.read(length)
        tkw.set_symbol(QUERIES, tokens)
        tkw.set_symbol(KEYS, tkw.read(prefix))

        @tkw.iterate(KEYS, init_args=_initial())
        def cached(*state):
            rows = tkw.read(kv_indices, mapping=entry_map)
            return _step(
                shape,
                dtype,
                lambda: tkw.read(q, mapping=maps["q"]),
                lambda: tkw.read(k_cache, mapping=k_map, mapping_dynamic_vals=(rows,)),
                lambda: tkw.read(v_cache, mapping=v_map, mapping_dynamic_vals=(rows,)),
                False,
                state,
            )

        tkw.set_symbol(KEYS, tokens)

        @tkw.iterate(KEYS, init_args=list(cached))
        def new(*state):
            reads = [lambda m=m, n=n: tkw.read(m, mapping=maps[n]) for m, n in ((q, "q"), (k, "k"), (v, "v"))]
            return _step(shape, dtype, *reads, True, state)

        _, total, acc = new
        result = tkw.permute(acc / total, target_shape=[H, QUERIES, D_V])
        tkw.write(result, out, mapping=maps["out"])

    return extend, _substitutions(shape, waves, mma)


def inputs(shape: Shape, dtype: type, seed: int = 0) -> dict[str, np.ndarray]:
    """Q, K, V, caches and tables, by the kernels' argument names."""
    rng = np.random.default_rng(seed)
    tokens, kv, cache = sum(shape.lengths), shape.kv_heads, shape.cache
    sizes = {
        "q": (tokens, shape.heads, shape.size),
        "k": (tokens, kv, shape.size),
        "v": (tokens, kv, shape.v_size),
        "k_cache": (cache, kv, shape.size),
        "v_cache": (cache, kv, shape.v_size),
    }
    made = {name: rng.standard_normal(s).astype(dtype) for name, s in sizes.items()}
    made["kv_indices"] = rng.permutation(cache)[: max(1, sum(shape.prefixes))].astype(np.int32)
    made |= {"start": shape.starts, "length": np.array(shape.lengths, np.int32)}
    made |= {"entry": shape.entries, "prefix": np.array(shape.prefixes, np.int32)}
    made["out"] = np.full((tokens, shape.heads, shape.v_size), np.nan, np.float32)
    return made


def reference(shape: Shape, given: dict[str, np.ndarray]) -> np.ndarray:
    """What it should be, in f64."""
    q, k, v = (np.asarray(given[n], np.float64) for n in ("q", "k", "v"))
    out = np.zeros(given["out"].shape)
    ratio = shape.heads // shape.kv_heads
    for s, n in enumerate(shape.lengths):
        rows = slice(shape.starts[s], shape.starts[s] + n)
        cached = np.zeros(0, np.int64)
        if shape.prefixes:
            cached = given["kv_indices"][shape.entries[s] : shape.entries[s] + shape.prefixes[s]]
        for h in range(shape.heads):
            keys = np.concatenate([np.asarray(given["k_cache"], np.float64)[cached, h // ratio], k[rows, h // ratio]])
            values = np.concatenate([np.asarray(given["v_cache"], np.float64)[cached, h // ratio], v[rows, h // ratio]])
            logits = q[rows, h] @ keys.T / math.sqrt(shape.size)
            hidden = np.arange(len(keys)) - len(cached) > np.arange(n)[:, None]
            p = np.exp(np.where(hidden, -np.inf, logits))
            out[rows, h] = p @ values / p.sum(-1, keepdims=True)
    return out


PREFILL = ("q", "k", "v", "start", "length", "out")
EXTEND = ("q", "k", "v", "k_cache", "v_cache", "kv_indices", "start", "length", "entry", "prefix", "out")


def main() -> None:
    """Run both kernels in the simulator and compare."""
    lengths, prefixes = (1, 37, 64, 9), (7, 0, 64, 33)
    for make, names, shape in (
        (prefill_kernel, PREFILL, Shape(lengths, heads=4, kv_heads=2, size=32, v_size=64)),
        (extend_kernel, EXTEND, Shape(lengths, 4, 2, 32, 64, prefixes, cache=128)),
    ):
        kernel, subs = make(shape)
        given = inputs(shape, np.float16)
        wave_compile(WaveCompileOptions(subs=subs, target="gfx942"), kernel)(*(given[n] for n in names))
        error = np.abs(given["out"] - reference(shape, given)).max()
        print(f"{kernel.name}: greatest error {error:.1e}")
        assert error < 3e-3


if __name__ == "__main__":
    main()
