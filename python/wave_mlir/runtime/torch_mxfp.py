"""Block-scaled 4-bit floats (OCP Microscaling Formats 1.0) in torch: e2m1 values two to a byte, the even one in the low
half, and one e8m0 scale for 32 of them along K. This module imports torch."""

from __future__ import annotations

import torch

SCALE_GROUP_SIZE = 32
"""Elements along K that share a scale."""

_E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
_E8M0_BIAS = 127
_E8M0_NAN = 255


def mxfp4_to_f32(x: torch.Tensor) -> torch.Tensor:
    """Packed e2m1 [..., K / 2] bytes as f32 [..., K]."""
    values = torch.tensor([*_E2M1, *(-v for v in _E2M1)], device=x.device)
    codes = torch.stack((x.to(torch.uint8) & 0xF, x.to(torch.uint8) >> 4), dim=-1).flatten(-2)
    return values[codes.long()]


def e8m0_to_f32(x: torch.Tensor) -> torch.Tensor:
    """Powers of two from their biased exponents; 255 is NaN."""
    exponents = x.to(torch.uint8).int()
    return torch.where(exponents == _E8M0_NAN, float("nan"), torch.exp2((exponents - _E8M0_BIAS).float()))


def torchScaledGemmMXFP4(
    x: torch.Tensor, w: torch.Tensor, x_scales: torch.Tensor, w_scales: torch.Tensor
) -> torch.Tensor:
    """x wᵀ in f32: x [M, K / 2], w [K / 2, N] packed; scales [M, K / 32] and [N, K / 32]."""
    left = mxfp4_to_f32(x) * e8m0_to_f32(x_scales).repeat_interleave(SCALE_GROUP_SIZE, dim=-1)
    right = mxfp4_to_f32(w.T) * e8m0_to_f32(w_scales).repeat_interleave(SCALE_GROUP_SIZE, dim=-1)
    return left @ right.T


def generate_gemm_afp4wfp4_inputs(
    shape: tuple[int, int, int], device: torch.device | str = "cpu"
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Random (x [M, K / 2], w [K / 2, N], x_scales [M, K / 32], w_scales [N, K / 32]) for a shape M, N, K; scales are
    within 1/8 … 8."""
    m, n, k = shape
    x = torch.randint(0, 256, (m, k // 2), dtype=torch.uint8, device=device)
    w = torch.randint(0, 256, (n, k // 2), dtype=torch.uint8, device=device).T
    low, high = _E8M0_BIAS - 3, _E8M0_BIAS + 4
    x_scales = torch.randint(low, high, (m, k // SCALE_GROUP_SIZE), dtype=torch.uint8, device=device)
    w_scales = torch.randint(low, high, (n, k // SCALE_GROUP_SIZE), dtype=torch.uint8, device=device)
    return x, w, x_scales, w_scales
