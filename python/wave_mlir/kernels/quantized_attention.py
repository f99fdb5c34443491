"""Attention of which the products are of 8-bit floats, with one scale for each of Q, K and V."""

# MMAType is an enumeration made from the tables of the targets.
# pyright: reportInvalidTypeForm=false

from __future__ import annotations

from collections.abc import Sequence

import sympy

import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.wave.constraints import MMAType

from .attention import F8_SHIFT, made, pair, sizes_of
from .attention_program import K1, K2, B, M, Memories, N, Program
from .attention_shape import AttentionShape
from .common import Dtype, Subs, dtype_of

__all__ = ["get_brevitas_pertensor_fp8_attention_kernel"]


def get_brevitas_pertensor_fp8_attention_kernel(
    shape: AttentionShape,
    mfma_variant: MMAType | Sequence[MMAType],
    logit_dtype: Dtype = tkl.f16,
    f8_dtype: Dtype = tkl.f8e4m3fnuz,
    dynamic_dims: bool = False,
    is_causal: bool = False,
    q_scale: float = 1.0,
    k_scale: float = 1.0,
    v_scale: float = 1.0,
) -> tuple[tkw.WaveKernel, Subs, list[sympy.Symbol]]:
    """base_attention(q[B, M, K1], k[B, K2, K1], v[B, K2, N], c[B, M, N]); B: all heads of all sequences.

    q, k and v are of logit_dtype and hold values of f8_dtype, in which they and the weights are multiplied; c is of
    f32. q_scale, k_scale and v_scale are what Q, K and V were divided by before. shape: num_query_heads, query_seq_len,
    kv_seq_len, head_size, head_size_kv; logits get the factor 1 / sqrt(head_size). dynamic_dims: M, N, B and K2 come
    with the arguments. is_causal: query m sees keys up to m. Gives the kernel, its symbols and the dynamic ones. Raises
    ValueError.
    """
    what = "get_brevitas_pertensor_fp8_attention_kernel"
    narrow = dtype_of(f8_dtype)
    if not narrow.is_float or narrow.bits != 8:
        raise ValueError(f"{what}: f8_dtype is {f8_dtype}; it is a float of 8 bits, such as tkl.f8e4m3fnuz")
    sizes = sizes_of(what, shape, {B: shape.num_query_heads})
    program = Program(
        Memories((B, M, K1), (B, K2, K1), (B, K2, N), (B, M, N)),
        pair(what, mfma_variant),
        dtype_of(logit_dtype),
        tkl.f32,
        shape.head_size**-0.5 * q_scale * k_scale,
        causal=is_causal,
        operand=narrow,
        shift=F8_SHIFT,
        out_scale=v_scale,
    )
    return made(program, sizes, (M, N, B, K2) if dynamic_dims else ())
