"""torch tensors for kernels: on the device at hand, and references in torch. This module imports torch."""

from __future__ import annotations

import math

import torch

TorchDtype = torch.dtype


def get_default_device() -> str:
    """ "cuda" when torch has a GPU, else "cpu": there kernels run in the simulator."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def to_default_device(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor on the default device."""
    return tensor.to(get_default_device())


def device_zeros(*size: int, **options) -> torch.Tensor:
    """`torch.zeros` on the default device."""
    return to_default_device(torch.zeros(*size, **options))


def device_ones(*size: int, **options) -> torch.Tensor:
    """`torch.ones` on the default device."""
    return to_default_device(torch.ones(*size, **options))


def device_empty(*size: int, **options) -> torch.Tensor:
    """`torch.empty` on the default device."""
    return to_default_device(torch.empty(*size, **options))


def device_full(*arguments, **options) -> torch.Tensor:
    """`torch.full` on the default device."""
    return to_default_device(torch.full(*arguments, **options))


def device_arange(*arguments, **options) -> torch.Tensor:
    """`torch.arange` on the default device."""
    return to_default_device(torch.arange(*arguments, **options))


def device_tensor(*arguments, **options) -> torch.Tensor:
    """`torch.tensor` on the default device."""
    return to_default_device(torch.tensor(*arguments, **options))


def device_randn(*size: int, **options) -> torch.Tensor:
    """`torch.randn`, drawn on the CPU so that a seed gives the same numbers everywhere."""
    return to_default_device(torch.randn(*size, **options))


def device_randint(*arguments, **options) -> torch.Tensor:
    """`torch.randint`, drawn on the CPU."""
    return to_default_device(torch.randint(*arguments, **options))


def device_randperm(*arguments, **options) -> torch.Tensor:
    """`torch.randperm`, drawn on the CPU."""
    return to_default_device(torch.randperm(*arguments, **options))


def quantized_tensor(shape: tuple[int, ...], dtype: torch.dtype, scale: float) -> torch.Tensor:
    """Random normal numbers times `scale`, within -scale … scale and what the dtype holds, rounded up to integers."""
    low, high = finite_range(dtype)
    numbers = (torch.randn(shape) * scale).clamp(max(low, -scale), min(high, scale))
    return to_default_device(numbers.ceil().to(dtype))


def dtype_named(name: str) -> torch.dtype:
    """torch's dtype of that name."""
    return getattr(torch, name)


def finite_range(dtype: torch.dtype) -> tuple[float, float]:
    """The least and the greatest finite value of a dtype."""
    info = torch.finfo(dtype) if dtype.is_floating_point else torch.iinfo(dtype)
    return info.min, info.max


def scaled_dot_product_attention_bhsd(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    is_causal: bool = False,
    sliding_window: int = -1,
    custom_mask: torch.Tensor | None = None,
) -> torch.Tensor:
    """softmax(query keyᵀ / sqrt(D)) value over [batch, heads, sequence, D].

    is_causal: a query sees keys up to its own position. sliding_window: and only so many before it (-1: all).
    custom_mask: [batch, query length], where not 0 a query sees no key. The result of one that sees none is 0.
    """
    scores = query.float() @ key.float().transpose(-1, -2) / math.sqrt(query.shape[-1])
    rows = torch.arange(scores.shape[-2], device=scores.device)[:, None]
    columns = torch.arange(scores.shape[-1], device=scores.device)[None, :]
    seen = torch.ones_like(rows <= columns)
    if is_causal:
        seen = seen & (columns <= rows)
    if sliding_window >= 0:
        seen = seen & (rows - columns <= sliding_window)
    if custom_mask is not None:
        seen = seen & (custom_mask == 0)[:, None, :, None]
    weights = scores.masked_fill(~seen, float("-inf")).softmax(-1).nan_to_num(0.0)
    return (weights @ value.float()).to(value.dtype)
