"""Results to compare kernels with, computed by torch where the existing package asks IREE for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from wave_mlir.wave import source

__all__ = ["generate_iree_ref"]


def generate_iree_ref(
    kernel_type: str,
    kernel_inputs: Sequence[torch.Tensor],
    kernel_outputs: Sequence[torch.Tensor],
    options: object = None,
    **parameters: int,
) -> None:
    """Write to the first output what a kernel of a kind computes, added up in 32 bits.

    kernel_type: `mmt` (a[M, K] and b[N, K]) and `bmmt` (with batches); `chain_mmt` of q[B, M, K1], k[B, K2, K1] and
    v[B, N, K2], the transposed [B, N, M] of q k^T v^T, with the inner product in f16; the same with `_f8` behind, of
    operands rounded to f8e4m3fnuz; `conv_2d_nchw_fchw` and `conv_2d_nhwc_hwcf` (stride=…). options is not needed.
    """
    found = _KINDS.get(kernel_type)
    if found is None:
        raise source.error(f"generate_iree_ref: there is no '{kernel_type}'; the kinds are {', '.join(_KINDS)}")
    kernel_outputs[0].copy_(found(*kernel_inputs, **parameters))


def _wide(tensor: torch.Tensor, through: torch.dtype | None = None) -> torch.Tensor:
    rounded = tensor if through is None else tensor.to(through)
    return rounded.to(torch.float32 if tensor.is_floating_point() else torch.float64)


def _product(through: torch.dtype | None) -> Callable[..., torch.Tensor]:
    return lambda a, b: _wide(a, through) @ _wide(b, through).transpose(-1, -2)


def _chain(operands: torch.dtype | None, between: torch.dtype) -> Callable[..., torch.Tensor]:
    def chained(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        inner = _product(operands)(q, k).to(between)
        return (_wide(inner) @ _wide(v, operands).transpose(-1, -2)).transpose(-1, -2)

    return chained


def _convolution(x: torch.Tensor, weights: torch.Tensor, stride: int = 1) -> torch.Tensor:
    return torch.nn.functional.conv2d(_wide(x), _wide(weights), stride=stride)


def _channels_last(x: torch.Tensor, weights: torch.Tensor, stride: int = 1) -> torch.Tensor:
    return _convolution(x.permute(0, 3, 1, 2), weights.permute(3, 2, 0, 1), stride).permute(0, 2, 3, 1)


_F8 = torch.float8_e4m3fnuz
_KINDS: dict[str, Callable[..., torch.Tensor]] = {
    "mmt": _product(None),
    "mmt_f8": _product(_F8),
    "bmmt": _product(None),
    "chain_mmt": _chain(None, torch.float16),
    "chain_mmt_f8": _chain(_F8, _F8),
    "conv_2d_nchw_fchw": _convolution,
    "conv_2d_nhwc_hwcf": _channels_last,
}
