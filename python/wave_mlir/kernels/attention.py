"""Attention kernels, by how tensors lie in memory: heads of all sequences in one dim, [B, H, S, D], [B, S, H, D]."""

# MMAType is an enumeration made from the tables of the targets.
# pyright: reportInvalidTypeForm=false

from __future__ import annotations

import math
from collections.abc import Sequence

import sympy

import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.wave.constraints import MMAType

from .attention_program import H_KV, K1, K2, B, H, M, Memories, N, Program, kernel_of
from .attention_shape import AttentionShape
from .common import Dtype, Subs, dtype_of, positive

__all__ = [
    "get_bhsd_attention_kernel",
    "get_bshd_attention_kernel",
    "get_gqa_bshd_attention_kernel",
    "get_vanilla_attention_kernel",
]

_BSHD = Memories((B, M, H, K1), (B, K2, H, K1), (B, K2, H, N), (B, M, H, N))
_BHSD = Memories((B, H, M, K1), (B, H, K2, K1), (B, H, K2, N), (B, H, M, N))
_GROUPED = Memories((B, M, H, K1), (B, K2, H_KV, K1), (B, K2, H_KV, N), (B, M, H, N))

F8_SHIFT = 7
"""Weights are at most 1 and times 2^7 within the range of f8e4m3fnuz, which ends at 240."""


def get_vanilla_attention_kernel(
    shape: AttentionShape,
    mfma_variants: Sequence[MMAType],
    dynamic_dims: bool,
    is_causal: bool = False,
    is_v_transposed: bool = False,
    sliding_window_size: int = -1,
    scale: float | None = None,
) -> tuple[tkw.WaveKernel, Subs, list[sympy.Symbol]]:
    """base_attention(q[B, M, K1], k[B, K2, K1], v[B, K2, N], c[B, M, N]) of f16 to f32; B: all heads of all sequences.

    shape: num_query_heads, query_seq_len, kv_seq_len, head_size, head_size_kv. mfma_variants: of Q Kᵀ and of the
    weights by V. dynamic_dims: M, N, B and K2 come with the arguments. is_causal: query m sees keys up to m, and with
    sliding_window_size = w only those from m - w. is_v_transposed: v is [B, N, K2]. scale: of the logits, by default
    1 / sqrt(head_size). Gives the kernel, its symbols and the dynamic ones. Raises ValueError.
    """
    what = "get_vanilla_attention_kernel"
    sizes = sizes_of(what, shape, {B: shape.num_query_heads})
    v = (B, N, K2) if is_v_transposed else (B, K2, N)
    memories = Memories((B, M, K1), (B, K2, K1), v, (B, M, N))
    window = _window(what, sliding_window_size, is_causal)
    by = _scale(shape) if scale is None else scale
    program = Program(memories, pair(what, mfma_variants), tkl.f16, tkl.f32, by, causal=is_causal, window=window)
    return made(program, sizes, (M, N, B, K2) if dynamic_dims else ())


def get_bshd_attention_kernel(
    shape: AttentionShape,
    mfma_variant: Sequence[MMAType],
    dynamic_dims: bool,
    is_causal: bool = False,
    is_custom_mask: bool = False,
    num_waves: int = 4,
) -> tuple[tkw.WaveKernel, Subs, list[sympy.Symbol]]:
    """base_attention(q[B, M, H, K1], k[B, K2, H, K1], v[B, K2, H, N], [custom_mask[B, M],] c[B, M, H, N]), f16 to f32.

    shape: as above, and batch_size (by default 1). is_custom_mask: the output is 0 for queries whose i8 in
    custom_mask is not. num_waves: of 32 queries each, in a workgroup. Otherwise as `get_vanilla_attention_kernel`.
    """
    what = "get_bshd_attention_kernel"
    return _with_heads(what, _BSHD, shape, mfma_variant, dynamic_dims, is_causal, is_custom_mask, num_waves)


def get_bhsd_attention_kernel(
    shape: AttentionShape,
    mfma_variant: Sequence[MMAType],
    dynamic_dims: bool,
    is_causal: bool = False,
    is_custom_mask: bool = False,
) -> tuple[tkw.WaveKernel, Subs, list[sympy.Symbol]]:
    """base_attention(q[B, H, M, K1], k[B, H, K2, K1], v[B, H, K2, N], c[B, H, M, N]) of f16 to f32.

    With is_custom_mask, which takes tensors as `get_bshd_attention_kernel` does, it is that kernel.
    """
    memories = _BSHD if is_custom_mask else _BHSD
    what = "get_bhsd_attention_kernel"
    return _with_heads(what, memories, shape, mfma_variant, dynamic_dims, is_causal, is_custom_mask, 4)


def _with_heads(
    what: str,
    memories: Memories,
    shape: AttentionShape,
    mma: Sequence[MMAType],
    dynamic: bool,
    causal: bool,
    masked: bool,
    waves: int,
) -> tuple[tkw.WaveKernel, Subs, list[sympy.Symbol]]:
    sizes = sizes_of(what, shape, {B: shape.batch_size or 1, H: shape.num_query_heads})
    positive(what, {"num_waves": waves})
    program = Program(
        memories, pair(what, mma), tkl.f16, tkl.f32, _scale(shape), causal=causal, masked=masked, waves=waves
    )
    return made(program, sizes, (M, N, B, K2) if dynamic else ())


def get_gqa_bshd_attention_kernel(
    shape: AttentionShape,
    mfma_variant: Sequence[MMAType],
    input_dtype: Dtype = tkl.f16,
    output_dtype: Dtype = tkl.f32,
    is_causal: bool = False,
    layer_scaling: float | None = None,
    sliding_window_size: int = -1,
    q_scale: float = 1.0,
    k_scale: float = 1.0,
    v_scale: float = 1.0,
    use_fp8: bool = False,
) -> tuple[tkw.WaveKernel, Subs, list[sympy.Symbol]]:
    """base_attention(q[B, M, H, K1], k[B, K2, H_KV, K1], v[B, K2, H_KV, N], c[B, M, H, N]).

    H / H_KV query heads share keys and values. shape: as above, num_kv_heads, and num_seqs (by default batch_size, or
    1). layer_scaling: of the logits, by default 1 / sqrt(head_size). use_fp8: Q, K, V and the weights are multiplied in
    f8e4m3fnuz; q_scale, k_scale and v_scale are what Q, K and V were divided by before. Raises ValueError.
    """
    what = "get_gqa_bshd_attention_kernel"
    heads, shared = shape.num_query_heads, shape.num_kv_heads
    sizes = sizes_of(what, shape, {B: shape.num_seqs or shape.batch_size or 1, H: heads, H_KV: shared})
    if heads % shared:
        raise ValueError(f"{what}: {heads} query heads cannot share {shared} heads of keys evenly")
    by = _scale(shape) if layer_scaling is None else layer_scaling
    program = Program(
        _GROUPED, pair(what, mfma_variant), dtype_of(input_dtype), dtype_of(output_dtype),
        by * q_scale * k_scale if use_fp8 else by,
        ratio=heads // shared, causal=is_causal, window=_window(what, sliding_window_size, is_causal),
        operand=tkl.f8e4m3fnuz if use_fp8 else None, shift=F8_SHIFT if use_fp8 else 0,
        out_scale=v_scale if use_fp8 else 1.0,
    )  # fmt: skip
    return made(program, sizes, ())


def sizes_of(what: str, shape: AttentionShape, heads: dict[sympy.Symbol, int]) -> dict[sympy.Symbol, int]:
    """Values of all dims. ValueError for one that is missing."""
    given = {
        "query_seq_len": shape.query_seq_len,
        "kv_seq_len": shape.kv_seq_len,
        "head_size": shape.head_size,
        "head_size_kv": shape.head_size_kv,
    }
    positive(f"{what}: shape", given | {f"number of {s}": n for s, n in heads.items()})
    return heads | dict(zip((M, K2, K1, N), given.values(), strict=True))  # type: ignore[arg-type]


def _scale(shape: AttentionShape) -> float:
    return 1.0 / math.sqrt(shape.head_size)


def pair(what: str, variants: MMAType | Sequence[MMAType]) -> tuple[MMAType, MMAType]:
    """Kinds of the two products; one for both is taken too. Raises ValueError."""
    if isinstance(variants, MMAType):  # pyright: ignore[reportArgumentType]
        return variants, variants
    if not isinstance(variants, (list, tuple)) or len(variants) != 2:
        raise ValueError(f"{what}: give two kinds of MMA, of Q by K and of the weights by V; {variants!r} was given")
    return variants[0], variants[1]


def _window(what: str, size: int, causal: bool) -> int:
    """Keys before its own that a query sees; 0 for all."""
    if size <= 0:
        return 0
    if not causal:
        raise ValueError(f"{what}: sliding_window_size is {size}; it needs is_causal=True")
    return size


def made(
    program: Program,
    sizes: dict[sympy.Symbol, int],
    dynamic: Sequence[sympy.Symbol],
    kernel: tkw.WaveKernel | None = None,
) -> tuple[tkw.WaveKernel, Subs, list[sympy.Symbol]]:
    """The kernel of a program, or the one given, its symbols and those of `dynamic`."""
    late = [s for s in dynamic if s in sizes]
    known = {s: n for s, n in sizes.items() if s not in late}
    return kernel or kernel_of(program), program.blocks(known.get(N)) | known, late
