"""The program of attention kernels: one tile of queries of one head against all keys, tile by tile.

    O[b, h, m, :] = sum over k2 of softmax(scale · Q Kᵀ)[b, h, m, k2] · V[b, h / ratio, k2, :]

The loop carries the greatest logit so far, the sum of exponentials and the output, both relative to that logit. Powers
are of 2, so log2(e) is part of the scale. The first product gives the logits transposed, [K2, M]: a lane holds keys of
one query, and its exponentials are what the second product takes.
"""

# Annotations of kernels are types of the language, and MMAType is an enumeration made from the tables of the targets.
# pyright: reportInvalidTypeForm=false

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import sympy

import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE, SHARED_ADDRESS_SPACE, WORKGROUP_0
from wave_mlir.lang.types import MemoryType
from wave_mlir.wave.constraints import MMAType
from wave_mlir.wave.values import MemoryValue, Value

from .common import Subs

# B sequences (or heads of all sequences), BN parts of each, of H query heads and H_KV heads of keys; M queries, K2
# keys; K1, N: sizes of a head in Q and K, and in V.
B, H, H_KV, M, N, K1, K2 = tkl.sym.B, tkl.sym.H, tkl.sym.H_KV, tkl.sym.M, tkl.sym.N, tkl.sym.K1, tkl.sym.K2
BN, BLOCK_B, BLOCK_BN, BLOCK_H = tkl.sym.BN, tkl.sym.BLOCK_B, tkl.sym.BLOCK_BN, tkl.sym.BLOCK_H
BLOCK_M, BLOCK_N, BLOCK_K2 = tkl.sym.BLOCK_M, tkl.sym.BLOCK_N, tkl.sym.BLOCK_K2
SPACE = tkl.sym.ADDRESS_SPACE

ROWS = 32
"""Queries of a wave."""
KEYS = 64
"""Keys of a trip."""
WIDEST = 128
"""Elements of a head of V that a workgroup has at most: one lane's share of its outputs is in registers."""

BASE_2 = math.log(2)
"""The scale with which weights are powers of 2 of the products themselves."""

_BLOCKS = {B: BLOCK_B, BN: BLOCK_BN, H: BLOCK_H}

Dims = tuple[sympy.Symbol, ...]


@dataclass(frozen=True)
class Memories:
    """Dims in memory of Q, K, V and the output."""

    q: Dims
    k: Dims
    v: Dims
    out: Dims

    @property
    def lead(self) -> Dims:
        """Dims of tiles before their last two: B, and BN and H where Q has them."""
        return tuple(d for d in _BLOCKS if d in self.q)


@dataclass(frozen=True)
class Program:
    """What a kernel does. ratio: query heads for each head of keys and values. scale: of the logits.

    causal: query m sees keys up to m; window: and of these the last window + 1 (0: all). masked: a further argument
    [B, M] of i8 says which queries are left out: their output is 0. operand: element type that Q, K, V and the weights
    are multiplied in; weights get 2^shift times their value there, for the sake of narrow types. out_scale: of the
    output.
    """

    memories: Memories
    mma: tuple[MMAType, MMAType]
    dtype: tkl.DataType
    result: tkl.DataType
    scale: float
    ratio: int = 1
    causal: bool = False
    window: int = 0
    masked: bool = False
    waves: int = 4
    operand: tkl.DataType | None = None
    shift: int = 0
    out_scale: float = 1.0

    @property
    def rows(self) -> int:
        """Rows and columns of an MMA."""
        return 16 if "16x16" in self.mma[0].name else 32

    def blocks(self, v_size: int | None) -> Subs:
        """Values of tile sizes. v_size: N, where it is known."""
        columns = min(WIDEST, -(-v_size // self.rows) * self.rows) if v_size else 2 * ROWS
        sizes: Subs = {BLOCK_M: ROWS * self.waves, BLOCK_N: columns, BLOCK_K2: KEYS, SPACE: SHARED_ADDRESS_SPACE}
        return sizes | {_BLOCKS[d]: 1 for d in self.memories.lead}


def kernel_of(program: Program) -> tkw.WaveKernel:
    """The kernel base_attention(q, k, v, [mask,] out)."""
    q_kind, k_kind, v_kind, out_kind = kinds(program)
    constraints = constraints_of(program)

    @tkw.wave(constraints, compat=True)
    def base_attention(q: q_kind, k: k_kind, v: v_kind, c: out_kind):
        body(program, q, k, v, c)

    @tkw.wave(constraints, compat=True)
    def base_attention_custom_mask(
        q: q_kind, k: k_kind, v: v_kind, custom_mask: tkl.Memory[B, M, GLOBAL_ADDRESS_SPACE, tkl.i8], c: out_kind
    ):
        body(program, q, k, v, c, mask=custom_mask)

    return base_attention_custom_mask if program.masked else base_attention


def kinds(program: Program) -> tuple[MemoryType, MemoryType, MemoryType, MemoryType]:
    """Types of the arguments Q, K, V and the output."""
    dims, dtype = program.memories, program.dtype
    k_kind, v_kind = tkl.Memory[*dims.k, SPACE, dtype], tkl.Memory[*dims.v, SPACE, dtype]
    q_kind = tkl.Memory[*dims.q, GLOBAL_ADDRESS_SPACE, dtype]
    return q_kind, k_kind, v_kind, tkl.Memory[*dims.out, GLOBAL_ADDRESS_SPACE, program.result]


def constraints_of(program: Program) -> list[tkw.Constraint]:
    """A workgroup has BLOCK_M queries, divided among its waves."""
    lead = program.memories.lead
    found: list[tkw.Constraint] = [
        tkw.WorkgroupConstraint(M, BLOCK_M, 0),
        tkw.WorkgroupConstraint(N, BLOCK_N, 1),
        *(tkw.WorkgroupConstraint(d, _BLOCKS[d], 2 + n) for n, d in enumerate(lead)),
        _keys(program),
        tkw.WaveConstraint(M, BLOCK_M / program.waves),
    ]
    shapes = dict.fromkeys(lead, 0) | {M: program.rows, N: program.rows}
    return [*found, tkw.HardwareConstraint(64, mma_type=program.mma[0], vector_shapes=shapes)]


def _keys(program: Program) -> tkw.TilingConstraint:
    """The loop over the keys: only over tiles in which a query of the workgroup may see one."""
    if not program.causal:
        return tkw.TilingConstraint(K2, BLOCK_K2)
    end = sympy.Min(K2, (WORKGROUP_0 + 1) * BLOCK_M)
    first = sympy.Max(0, sympy.floor((WORKGROUP_0 * BLOCK_M - program.window) / BLOCK_K2)) if program.window else 0
    trips = sympy.Max(0, sympy.ceiling(end / BLOCK_K2) - first)
    return tkw.TilingConstraint(K2, BLOCK_K2, iters=trips, start=first * BLOCK_K2)


def _read_map(memory: Dims, tile: Dims, ratio: int) -> tkw.IndexMapping | None:
    """From a tile's dims to memory's, in which `ratio` query heads have one head."""
    if memory == tile:
        return None
    at = {d: tkw.IndexMapping.iterator(n) for n, d in enumerate(tile)}
    return tkw.IndexMapping(len(tile), inputs={d: at[H] // ratio if d == H_KV else at[d] for d in memory}, outputs=at)


def body(
    program: Program,
    q: MemoryValue,
    k: MemoryValue,
    v: MemoryValue,
    out: MemoryValue,
    *,
    mask: MemoryValue | None = None,
    bias: Callable[[Value], Value] | None = None,
) -> None:
    """The program, in a kernel that is being traced. mask: see `Program.masked`. bias: from logits [*lead, M, K2], as
    powers of 2, to others."""
    dims, lead, ratio = program.memories, program.memories.lead, program.ratio
    operand = program.operand or program.dtype
    q_map = _read_map(dims.q, (*lead, M, K1), ratio)
    k_map = _read_map(dims.k, (*lead, K2, K1), ratio)
    v_map = _read_map(dims.v, (*lead, N, K2), ratio)
    lowest = tkl.Register[*lead, M, tkl.f32](float("-inf"))
    nothing = tkl.Register[*lead, M, tkl.f32](0.0)
    zeros = tkl.Register[*lead, N, M, tkl.f32](0.0)

    @tkw.iterate(K2, init_args=[lowest, nothing, zeros])
    def loop(old_max, old_sum, acc):
        q_tile = tkw.cast(tkw.read(q, mapping=q_map), operand)
        k_tile = tkw.cast(tkw.read(k, mapping=k_map), operand)
        logits = tkw.mma(k_tile, q_tile, tkl.Register[*lead, K2, M, tkl.f32](0.0))
        logits = tkw.permute(logits, target_shape=[*lead, M, K2])
        if program.scale != BASE_2:
            logits = logits * (program.scale * math.log2(math.e))
        logits = _visible(program, bias(logits) if bias else logits)
        new_max = tkw.max(logits, old_max, dim=K2)
        # A query that has seen no key yet has -inf: subtract 0 instead, for -inf - -inf is no number.
        base = tkw.select(new_max > float("-inf"), new_max, tkl.Register[*lead, M, tkl.f32](0.0))
        rescale = tkw.exp2(old_max - base)
        weights = tkw.exp2(logits - (base - float(program.shift) if program.shift else base))
        new_sum = tkw.sum(weights, old_sum * rescale, dim=K2)
        v_tile = tkw.cast(tkw.read(v, mapping=v_map), operand)
        return new_max, new_sum, tkw.mma(v_tile, tkw.cast(weights, operand), acc * rescale, mma_type=program.mma[1])

    _, total, acc = loop  # pyright: ignore[reportGeneralTypeIssues]
    # What no key is seen for is 0.
    divisor = tkw.select(total > 0.0, total, tkl.Register[*lead, M, tkl.f32](1.0))
    factor = tkw.reciprocal(divisor) * program.out_scale
    if mask is not None:
        kept = tkw.broadcast(tkw.read(mask) == 0, target_shape=[*lead, M])
        factor = tkw.select(kept, factor, tkl.Register[*lead, M, tkl.f32](0.0))
    result = tkw.cast(tkw.permute(acc * factor, target_shape=[*lead, M, N]), program.result)
    at = {d: tkw.IndexMapping.iterator(n) for n, d in enumerate((*lead, M, N))}
    same = dims.out == (*lead, M, N)
    mapping = None if same else tkw.IndexMapping(len(at), inputs=at, outputs={d: at[d] for d in dims.out})
    tkw.write(result, out, mapping=mapping)


def _visible(program: Program, logits: Value) -> Value:
    """Logits, and -inf where a query does not see a key."""
    lead = program.memories.lead
    keys = tkw.self_index(K2, tkl.i32)
    seen = tkw.broadcast(keys < tkw.scalar(K2, tkl.i32), target_shape=[M, K2])
    if program.causal:
        last = tkw.broadcast(tkw.self_index(M, tkl.i32), target_shape=[M, K2])
        seen = seen & (last >= keys)
        if program.window:
            seen = seen & (keys >= last - program.window)
    hidden = tkl.Register[*lead, M, K2, tkl.f32](float("-inf"))
    return tkw.select(tkw.broadcast(seen, target_shape=[*lead, M, K2]), logits, hidden)
