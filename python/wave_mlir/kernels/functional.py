"""Attention as functions of torch tensors, by kernels of this package. Tensors on the CPU run in the simulator."""

# MMAType is an enumeration made from the tables of the targets.
# pyright: reportInvalidTypeForm=false, reportIndexIssue=false

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import torch

import wave_mlir.lang as tkl
from wave_mlir.wave.compile import CompiledKernel, WaveCompileOptions, wave_compile
from wave_mlir.wave.constraints import MMAType
from wave_mlir.wave.utils.general_utils import torch_dtype_to_wave
from wave_mlir.wave.utils.run_utils import set_default_run_config

from .attention import F8_SHIFT, made
from .attention_program import K1, K2, B, M, Memories, N, Program

__all__ = ["wave_sdpa", "wave_sdpa_fp8"]


@dataclass(frozen=True)
class _Attention:
    """One kernel: sizes of a head in Q and K, and in V; what it computes in."""

    sizes: tuple[int, int]
    dtype: torch.dtype
    scale: float
    causal: bool
    transposed: bool = False
    window: int = 0
    narrow: torch.dtype | None = None
    out_scale: float = 1.0


def wave_sdpa(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    is_causal: bool = False,
    is_v_transposed: bool = False,
    sliding_window_size: int = -1,
) -> torch.Tensor:
    """softmax(query keyᵀ / sqrt(D)) value, in f32: [*batch, S, DV] of f16 query [*batch, S, D] and key [*batch, T, D].

    value: [*batch, T, DV], or [*batch, DV, T] with is_v_transposed. is_causal: query s sees keys up to s, and with
    sliding_window_size = w > 0 only those from s - w. Raises ValueError for shapes that do not fit.
    """
    if sliding_window_size > 0 and not is_causal:
        raise ValueError(f"wave_sdpa: sliding_window_size is {sliding_window_size}; it needs is_causal=True")
    value_size = value.shape[-2] if is_v_transposed else value.shape[-1]
    sizes = query.shape[-1], value_size
    scale = 1 / math.sqrt(query.shape[-1])
    window = max(sliding_window_size, 0)
    return _run(
        "wave_sdpa", _Attention(sizes, query.dtype, scale, is_causal, is_v_transposed, window), query, key, value
    )


def wave_sdpa_fp8(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    q_scale: float,
    k_scale: float,
    v_scale: float,
    quant_dtype: torch.dtype = torch.float8_e4m3fnuz,
    is_causal: bool = False,
) -> torch.Tensor:
    """`wave_sdpa` of q_scale query, k_scale key and v_scale value, whose products are in 8 bits.

    query, key and value, of f16 or f32, are rounded to quant_dtype as they are: they were divided by their scales
    before. quant_dtype: one that the target multiplies (gfx942: float8_e4m3fnuz). Raises ValueError.
    """
    sizes = query.shape[-1], value.shape[-1]
    scale = float(q_scale) * float(k_scale) / math.sqrt(query.shape[-1])
    kernel = _Attention(sizes, query.dtype, scale, is_causal, narrow=quant_dtype, out_scale=float(v_scale))
    return _run("wave_sdpa_fp8", kernel, query, key, value)


def _run(what: str, kernel: _Attention, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    *batch, rows, _ = query.shape
    keys, size = key.shape[-2], kernel.sizes[1]
    wanted = [*batch, size, keys] if kernel.transposed else [*batch, keys, size]
    if list(key.shape) != [*batch, keys, query.shape[-1]] or list(value.shape) != wanted:
        raise ValueError(
            f"{what}: query is {list(query.shape)}, key {list(key.shape)} and value {list(value.shape)}; key and value "
            f"need the query's batch {batch}, key its last extent and value the key's {keys} keys"
        )
    given = [t.detach().reshape(-1, *t.shape[-2:]).contiguous() for t in (query, key, value)]
    result = torch.empty((given[0].shape[0], rows, size), dtype=torch.float32, device=query.device)
    _compiled(kernel)(*given, result)
    return result.view(*batch, rows, size)


@functools.lru_cache(maxsize=64)
def _compiled(kernel: _Attention) -> CompiledKernel:
    v = (B, N, K2) if kernel.transposed else (B, K2, N)
    narrow = None if kernel.narrow is None else torch_dtype_to_wave(kernel.narrow)
    mma = MMAType["F32_16x16x16_F16" if narrow is None else "F32_16x16x32_F8"]
    program = Program(
        Memories((B, M, K1), (B, K2, K1), v, (B, M, N)), (mma, mma), torch_dtype_to_wave(kernel.dtype), tkl.f32,
        kernel.scale, causal=kernel.causal, window=kernel.window, operand=narrow,
        shift=0 if narrow is None else F8_SHIFT, out_scale=kernel.out_scale,
    )  # fmt: skip
    k, n = kernel.sizes
    attention, subs, dynamic = made(program, {B: 0, M: 0, K2: 0, K1: k, N: n}, (B, M, K2))
    options = WaveCompileOptions(subs=subs, dynamic_symbols=dynamic)
    return wave_compile(set_default_run_config(options), attention)
