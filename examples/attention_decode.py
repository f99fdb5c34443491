"""Attention, decode: one query token a sequence, keys in pages, split among workgroups ("flash decoding").

Each of S sequences has its own number of keys. The rows of its keys and values are scattered over a pool of N_KV rows:
`table` lists, for all sequences one after the other, the pages of PAGE rows each; `indptr[s]` is where the pages of
sequence s begin in it, and `length[s]` says how many keys it has.

Phase 0 divides the keys of a sequence among U workgroups; each writes the output of its part and its log2-sum-exp2.
Phase 1 merges the parts. The query heads that share a head of keys are the rows of one MMA tile.

    python examples/attention_decode.py
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import sympy
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import SHARED_ADDRESS_SPACE, WORKGROUP_2
from wave_mlir.wave.compile import WaveCompileOptions, wave_compile
from wave_mlir.wave.constraints import MMAType

# S sequences, B query heads, BH heads of keys, U splits; K2 keys of a sequence (known at run time), K1 and N sizes.
S, B, BH, U, K1, K2, N = (tkl.sym.S, tkl.sym.B, tkl.sym.BH, tkl.sym.U, tkl.sym.K1, tkl.sym.K2, tkl.sym.N)
# The pool's rows, entries of the page table, and sequences + 1.
N_KV, PAGES, S1, PAGE = tkl.sym.N_KV, tkl.sym.PAGES, tkl.sym.S1, tkl.sym.PAGE
BLOCK_B, BLOCK_N, BLOCK_K2, SPACE = tkl.sym.BLOCK_B, tkl.sym.BLOCK_N, tkl.sym.BLOCK_K2, tkl.sym.ADDRESS_SPACE
# Set in the kernel: where the sequence's pages begin; first key and number of keys of the workgroup's split.
PAGES_START, SPLIT_START, SPLIT_LENGTH = tkl.sym.PAGES_START, tkl.sym.SPLIT_START, tkl.sym.SPLIT_LENGTH
LOG2_E = math.log2(math.e)


@dataclass(frozen=True)
class Shape:
    """A head has qk_size elements in Q and K, v_size in V. rows: of the pool of keys; a multiple of `page`."""

    heads: int
    kv_heads: int
    qk_size: int
    v_size: int
    rows: int
    page: int = 1
    splits: int = 4


def phase_0_kernel(
    shape: Shape,
    sequences: int,
    pages: int,
    mma: tuple[MMAType, MMAType] = (MMAType.F32_16x16x16_F16, MMAType.F32_16x16x16_F16),
    dtype: tkl.DataType = tkl.f16,
    block_k2: int = 32,
) -> tuple[tkw.WaveKernel, dict]:
    """The kernel (q, k, v, table, indptr, length, parts, lse) and its substitutions.

    Q is [S, B, K1], K [N_KV, BH, K1], V [N_KV, BH, N]; parts [U, S, B, N] and lse [U, S, B] are f32.
    """
    rows = 16 if "16x16" in mma[0].name else 32
    constraints = [
        tkw.WorkgroupConstraint(N, BLOCK_N, 0),
        tkw.WorkgroupConstraint(B, BLOCK_B, 1),
        tkw.WorkgroupConstraint(BH, 1, 1, primary=False),  # the head of keys of the workgroup's query heads
        tkw.WorkgroupConstraint(U, 1, 2),
        tkw.WorkgroupConstraint(S, 1, 3),
        tkw.TilingConstraint(K2, BLOCK_K2, iters=sympy.ceiling(SPLIT_LENGTH / BLOCK_K2), start=SPLIT_START),
        tkw.HardwareConstraint(64, mma_type=mma[0], vector_shapes={S: 0, U: 0, BH: 0, B: rows, N: rows}),
    ]
    i, j, k, m = (tkw.IndexMapping.iterator(n) for n in range(4))
    d0 = tkw.IndexMapping.dynamic_val(0)
    page_of = tkw.IndexMapping(1, inputs={PAGES: PAGES_START + i // PAGE}, outputs={K2: i})
    row = d0 * PAGE + k % PAGE
    k_map = tkw.IndexMapping(
        4, inputs={N_KV: row, BH: j, K1: m}, outputs={S: i, BH: j, K2: k, K1: m}, dynamic_val_mappings={K2: k}
    )
    v_map = tkw.IndexMapping(
        4, inputs={N_KV: row, BH: j, N: m}, outputs={S: i, BH: j, N: m, K2: k}, dynamic_val_mappings={K2: k}
    )
    begin = tkw.IndexMapping(1, inputs={S1: i}, outputs={S: i})

    @tkw.wave(constraints)
    def phase_0(
        q: tkl.Memory[S, B, K1, GLOBAL, dtype],
        k: tkl.Memory[N_KV, BH, K1, SPACE, dtype],
        v: tkl.Memory[N_KV, BH, N, SPACE, dtype],
        table: tkl.Memory[PAGES, GLOBAL, tkl.i32],
        indptr: tkl.Memory[S1, GLOBAL, tkl.i32],
        length: tkl.Memory[S, GLOBAL, tkl.i32],
        parts: tkl.Memory[U, S, B, N, GLOBAL, tkl.f32],
        lse: tkl.Memory[U, S, B, GLOBAL, tkl.f32],
    ):
        tkw.set_symbol(PAGES_START, tkw.read(indptr, mapping=begin))
        keys = tkw.read(length)
        tkw.set_symbol(K2, keys)
        per_split = tkw.apply_expr(keys, lambda x: sympy.ceiling(x / U))
        start = tkw.apply_expr(per_split, lambda per: per * WORKGROUP_2)
        tkw.set_symbol(SPLIT_START, start)
        count = tkw.apply_expr([per_split, start], lambda per, s: sympy.Max(sympy.Min(per, K2 - s), 0))
        tkw.set_symbol(SPLIT_LENGTH, count)

        maximum = tkl.Register[S, B, tkl.f32](float("-inf"))
        total = tkl.Register[S, B, tkl.f32](0.0)
        output = tkl.Register[S, N, B, tkl.f32](0.0)

        @tkw.iterate(K2, init_args=[maximum, total, output])
        def loop(old_max, old_sum, acc):
            page = tkw.read(table, mapping=page_of)
            k_tile = tkw.read(k, mapping=k_map, mapping_dynamic_vals=(page,))
            s = tkw.mma(k_tile, tkw.read(q), tkl.Register[S, K2, B, tkl.f32](0.0))
            s = tkw.permute(s, target_shape=[S, B, K2]) * (LOG2_E / math.sqrt(shape.qk_size))
            mine = tkw.apply_expr(tkw.self_index(K2, tkl.i64), lambda x: x < SPLIT_START + SPLIT_LENGTH)
            s = tkw.select(tkw.broadcast(mine, [S, B, K2]), s, tkl.Register[S, B, K2, tkl.f32](float("-inf")))
            new_max = tkw.max(s, old_max, dim=K2)  # finite: there is no trip without a key
            rescale = tkw.exp2(old_max - new_max)
            e = tkw.exp2(s - new_max)
            new_sum = tkw.sum(e, old_sum * rescale, dim=K2)
            v_tile = tkw.read(v, mapping=v_map, mapping_dynamic_vals=(page,))
            return new_max, new_sum, tkw.mma(v_tile, tkw.cast(e, dtype), acc * rescale, mma_type=mma[1])

        maximum, total, output = loop

        # The results have no dim U; writing repeats them along it, for the one split of this workgroup.
        @tkw.conditional(SPLIT_LENGTH > 0)
        def some():
            tkw.write(tkw.permute(output / total, target_shape=[S, B, N]), parts)
            tkw.write(maximum + tkw.log2(total), lse)

        @tkw.conditional(sympy.Eq(SPLIT_LENGTH, 0))
        def none():
            tkw.write(tkl.Register[S, B, N, tkl.f32](0.0), parts)
            tkw.write(tkl.Register[S, B, tkl.f32](float("-inf")), lse)

    return phase_0, _substitutions(shape, sequences, pages, rows) | {BLOCK_K2: block_k2}


def phase_1_kernel(shape: Shape, sequences: int) -> tuple[tkw.WaveKernel, dict]:
    """The kernel (parts, lse, out) and its substitutions. Out is [S, B, N] f32: zeros for a sequence without keys."""
    constraints = [
        tkw.WorkgroupConstraint(N, BLOCK_N, 0),
        tkw.WorkgroupConstraint(B, 1, 1),
        tkw.WorkgroupConstraint(S, 1, 2),
        tkw.TilingConstraint(U, 1),
        tkw.HardwareConstraint(64, vector_shapes={S: 0, B: 0, U: 1, N: BLOCK_N}),
    ]

    @tkw.wave(constraints)
    def phase_1(
        parts: tkl.Memory[U, S, B, N, GLOBAL, tkl.f32],
        lse: tkl.Memory[U, S, B, GLOBAL, tkl.f32],
        out: tkl.Memory[S, B, N, GLOBAL, tkl.f32],
    ):
        lowest = tkl.Register[S, B, tkl.f32](float("-inf"))
        zero = tkl.Register[S, B, tkl.f32](0.0)

        @tkw.iterate(U, init_args=[lowest, zero, tkl.Register[S, B, N, tkl.f32](0.0)])
        def merge(old_max, old_sum, acc):
            part = tkw.permute(tkw.read(parts), target_shape=[S, B, N, U])
            weight = tkw.permute(tkw.read(lse), target_shape=[S, B, U])
            new_max = tkw.max(weight, old_max, dim=U)
            base = tkw.select(new_max > lowest, new_max, zero)  # -inf - -inf is no number
            rescale = tkw.exp2(old_max - base)
            e = tkw.exp2(weight - base)
            new_sum = tkw.sum(e, old_sum * rescale, dim=U)
            return new_max, new_sum, tkw.sum(part * e, acc * rescale, dim=U)

        _, total, acc = merge
        divisor = tkw.select(total > zero, total, tkl.Register[S, B, tkl.f32](1.0))
        tkw.write(acc / divisor, out)

    return phase_1, _substitutions(shape, sequences, 0, 1)


def _substitutions(shape: Shape, sequences: int, pages: int, rows: int) -> dict:
    return {
        S: sequences,
        S1: sequences + 1,
        B: shape.heads,
        BH: shape.kv_heads,
        U: shape.splits,
        K1: shape.qk_size,
        N: shape.v_size,
        N_KV: shape.rows,
        PAGES: pages,
        PAGE: shape.page,
        BLOCK_B: shape.heads // shape.kv_heads,
        BLOCK_N: -(-shape.v_size // rows) * rows,
        SPACE: SHARED_ADDRESS_SPACE,
    }


def tables(shape: Shape, lengths: list[int], seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A page table and where each sequence's pages begin in it, i32; pages in no order."""
    needed = [-(-n // shape.page) for n in lengths]
    pool = np.random.default_rng(seed).permutation(shape.rows // shape.page)
    if sum(needed) > len(pool):
        raise ValueError(f"{sum(needed)} pages are needed and the pool has {len(pool)}")
    indptr = np.cumsum([0, *needed]).astype(np.int32)
    return pool[: max(1, indptr[-1])].astype(np.int32), indptr


def reference(shape: Shape, q, k, v, table, indptr, lengths) -> np.ndarray:
    """What it should be, in f64."""
    q, k, v = (np.asarray(x, np.float64) for x in (q, k, v))
    out = np.zeros((len(lengths), shape.heads, shape.v_size))
    ratio = shape.heads // shape.kv_heads
    for s, n in enumerate(lengths):
        keys = np.arange(n)
        rows = table[indptr[s] + keys // shape.page] * shape.page + keys % shape.page
        for b in range(shape.heads):
            logits = k[rows, b // ratio] @ q[s, b] / math.sqrt(shape.qk_size)
            p = np.exp(logits - logits.max(initial=0))
            out[s, b] = p @ v[rows, b // ratio] / max(p.sum(), 1e-30)
    return out


def main() -> None:
    """Decode sequences of 0, 1, 7 and 64 keys in the simulator and compare."""
    lengths = [0, 1, 7, 64]
    for page in (1, 4):
        shape = Shape(heads=8, kv_heads=2, qk_size=64, v_size=64, rows=128, page=page)
        table, indptr = tables(shape, lengths)
        rng = np.random.default_rng(1)
        shapes = [(len(lengths), 8, 64), (128, 2, 64), (128, 2, 64)]
        q, k, v = (rng.standard_normal(s).astype(np.float16) for s in shapes)
        parts = np.full((shape.splits, len(lengths), 8, 64), np.nan, np.float32)
        lse = np.full(parts.shape[:3], np.nan, np.float32)
        out = np.full(parts.shape[1:], np.nan, np.float32)
        kernel, subs = phase_0_kernel(shape, len(lengths), len(table))
        arguments = (q, k, v, table, indptr, np.array(lengths, np.int32), parts, lse)
        wave_compile(WaveCompileOptions(subs=subs, target="gfx942"), kernel)(*arguments)
        kernel, subs = phase_1_kernel(shape, len(lengths))
        wave_compile(WaveCompileOptions(subs=subs, target="gfx942"), kernel)(parts, lse, out)
        error = np.abs(out - reference(shape, q, k, v, table, indptr, lengths)).max()
        print(f"pages of {page}: greatest error {error:.1e}")
        assert error < 2e-3


if __name__ == "__main__":
    main()
