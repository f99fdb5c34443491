"""Attention of few queries over many keys, in two kernels: over parts of the keys, and the parts' results together.

Products and weights are in base 2, as in `biased_attention`.
"""

# Annotations of kernels are types of the language, and kinds of MMAs come from the tables of the targets.
# pyright: reportInvalidTypeForm=false

from __future__ import annotations

from collections.abc import Sequence

import sympy

import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE, SHARED_ADDRESS_SPACE, WORKGROUP_2
from wave_mlir.wave.constraints import MMAType
from wave_mlir.wave.values import Value

from .attention import pair
from .attention_program import BLOCK_B, BLOCK_K2, BLOCK_M, BLOCK_N, K1, K2, SPACE, B, M, N
from .common import Subs, positive

__all__ = ["get_decode_attention_kernels"]

U, BLOCK_U = tkl.sym.U, tkl.sym.BLOCK_U  # parts of the keys

PART = 32
"""Keys of a part."""
WAVE = 64

Kernels = tuple[tkw.WaveKernel, tkw.WaveKernel, Subs, Subs, list[sympy.Symbol], list[sympy.Symbol], int]


def get_decode_attention_kernels(
    shape: tuple[int, ...], mfma_variant: MMAType | Sequence[MMAType], use_dynamic_dims: bool = False
) -> Kernels:
    """phase_0(q[B, M, K1], k[B, K2, K1], v[B, N, K2], output[U, B, N, M], output_max[U, B, M]) and
    phase_1(logits[U, B, N, M], logits_max[U, B, M], output[B, M, N]), q, k, v of f16, the others of f32.

    shape: (B, M, N, K1, K2). Gives both kernels, the symbols of each, the dynamic ones of each, and U, the number of
    parts: what the first kernel writes the second one reads. Of each part that is the output and the logarithm of the
    sum of weights, to base 2. Raises ValueError.
    """
    what = "get_decode_attention_kernels"
    if len(shape) != 5:
        raise ValueError(f"{what}: shape is {shape}; it has the sizes of B, M, N, K1 and K2")
    sizes = dict(zip((B, M, N, K1, K2), shape, strict=True))
    positive(what, {str(s): n for s, n in sizes.items()})
    parts = -(-sizes[K2] // PART)
    known: Subs = {K1: sizes[K1]} if use_dynamic_dims else {**sizes, U: parts}
    first: Subs = {BLOCK_B: 1, BLOCK_M: 64, BLOCK_N: 64, BLOCK_K2: PART, BLOCK_U: 1, SPACE: SHARED_ADDRESS_SPACE}
    second: Subs = {BLOCK_B: 1, BLOCK_M: WAVE, BLOCK_N: 1, BLOCK_U: 1}
    late = [B, M, N, K2, U] if use_dynamic_dims else []
    late_second = [B, M, N, U] if use_dynamic_dims else []
    second_known = {s: n for s, n in known.items() if s not in (K1, K2)}
    return (
        _over_parts(pair(what, mfma_variant)),
        _together(),
        first | known,
        second | second_known,
        late,
        late_second,
        parts,
    )


def _finite(value: Value, dims: tuple[sympy.Symbol, ...]) -> Value:
    """Zero in place of -inf: -inf - -inf is no number."""
    return tkw.select(value > float("-inf"), value, tkl.Register[*dims, tkl.f32](0.0))


def _over_parts(mma: tuple[MMAType, MMAType]) -> tkw.WaveKernel:
    rows = 16 if "16x16" in mma[0].name else 32
    trips = sympy.ceiling(sympy.ceiling(K2 / BLOCK_K2) / U)
    constraints = [
        tkw.WorkgroupConstraint(M, BLOCK_M, 0),
        tkw.WorkgroupConstraint(N, BLOCK_N, 1),
        tkw.WorkgroupConstraint(U, BLOCK_U, 2),
        tkw.WorkgroupConstraint(B, BLOCK_B, 3),
        tkw.TilingConstraint(K2, BLOCK_K2, iters=trips, start=WORKGROUP_2 * trips * BLOCK_K2),
        tkw.WaveConstraint(M, BLOCK_M / 2),
        tkw.HardwareConstraint(WAVE, mma_type=mma[0], vector_shapes={B: 0, U: 1, M: rows, N: rows}),
    ]
    i, j, k = (tkw.IndexMapping.iterator(n) for n in range(3))
    to_part = tkw.IndexMapping(3, inputs={B: i, N: j, M: k}, outputs={U: WORKGROUP_2, B: i, N: j, M: k})
    to_sum = tkw.IndexMapping(2, inputs={B: i, M: j}, outputs={U: WORKGROUP_2, B: i, M: j})

    @tkw.wave(constraints, compat=True)
    def phase_0(
        q: tkl.Memory[B, M, K1, GLOBAL_ADDRESS_SPACE, tkl.f16],
        k: tkl.Memory[B, K2, K1, SPACE, tkl.f16],
        v: tkl.Memory[B, N, K2, SPACE, tkl.f16],
        output: tkl.Memory[U, B, N, M, GLOBAL_ADDRESS_SPACE, tkl.f32],
        output_max: tkl.Memory[U, B, M, GLOBAL_ADDRESS_SPACE, tkl.f32],
    ):
        lowest = tkl.Register[B, M, tkl.f32](float("-inf"))
        nothing = tkl.Register[B, M, tkl.f32](0.0)

        @tkw.iterate(K2, init_args=[lowest, nothing, tkl.Register[B, N, M, tkl.f32](0.0)])
        def loop(old_max, old_sum, acc):
            logits = tkw.mma(tkw.read(k), tkw.read(q), tkl.Register[B, K2, M, tkl.f32](0.0))
            logits = tkw.permute(logits, target_shape=[B, M, K2])
            seen = tkw.self_index(K2, tkl.i32) < tkw.scalar(K2, tkl.i32)
            hidden = tkl.Register[B, M, K2, tkl.f32](float("-inf"))
            logits = tkw.select(tkw.broadcast(seen, target_shape=[B, M, K2]), logits, hidden)
            new_max = tkw.max(logits, old_max, dim=K2)
            base = _finite(new_max, (B, M))
            rescale, weights = tkw.exp2(old_max - base), tkw.exp2(logits - base)
            new_sum = tkw.sum(weights, old_sum * rescale, dim=K2)
            weights = tkw.cast(weights, tkl.f16)
            return new_max, new_sum, tkw.mma(tkw.read(v), weights, acc * rescale, mma_type=mma[1])

        greatest, total, acc = loop  # pyright: ignore[reportGeneralTypeIssues]
        divisor = tkw.select(total > 0.0, total, tkl.Register[B, M, tkl.f32](1.0))
        tkw.write(acc * tkw.reciprocal(divisor), output, mapping=to_part)
        tkw.write(greatest + tkw.log2(divisor), output_max, mapping=to_sum)

    return phase_0


def _together() -> tkw.WaveKernel:
    constraints = [
        tkw.WorkgroupConstraint(M, BLOCK_M, 0),
        tkw.WorkgroupConstraint(N, BLOCK_N, 1),
        tkw.WorkgroupConstraint(B, BLOCK_B, 2),
        tkw.TilingConstraint(U, BLOCK_U),
        tkw.HardwareConstraint(WAVE, vector_shapes={B: 0, U: 1, N: 1, M: WAVE}),
    ]

    @tkw.wave(constraints, compat=True)
    def phase_1(
        logits: tkl.Memory[U, B, N, M, GLOBAL_ADDRESS_SPACE, tkl.f32],
        logits_max: tkl.Memory[U, B, M, GLOBAL_ADDRESS_SPACE, tkl.f32],
        output: tkl.Memory[B, M, N, GLOBAL_ADDRESS_SPACE, tkl.f32],
    ):
        lowest = tkl.Register[B, M, tkl.f32](float("-inf"))
        nothing = tkl.Register[B, M, tkl.f32](0.0)

        @tkw.iterate(U, init_args=[lowest, nothing, tkl.Register[B, N, M, tkl.f32](0.0)])
        def loop(old_max, old_sum, acc):
            size = tkw.read(logits_max)
            new_max = tkw.max(size, old_max, dim=U)
            base = _finite(new_max, (B, M))
            rescale = tkw.exp2(old_max - base)
            weight = tkw.exp2(size - tkw.broadcast(base, target_shape=[U, B, M]))
            new_sum = tkw.sum(weight, old_sum * rescale, dim=U)
            part = tkw.read(logits) * tkw.broadcast(weight, target_shape=[U, B, N, M])
            return new_max, new_sum, tkw.sum(part, acc * tkw.broadcast(rescale, target_shape=[B, N, M]), dim=U)

        _, total, acc = loop  # pyright: ignore[reportGeneralTypeIssues]
        result = acc * tkw.broadcast(tkw.reciprocal(total), target_shape=[B, N, M])
        tkw.write(tkw.permute(result, target_shape=[B, M, N]), output)

    return phase_1
