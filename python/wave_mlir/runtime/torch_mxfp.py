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


def b_preshuffle(b: torch.Tensor) -> torch.Tensor:
    """Packed B [N, K / 2] bytes in the order that lanes read it: in each tile of 16 rows and 32 bytes, the left halves
    of all rows, then the right ones. The same shape; N is a multiple of 16, K / 2 of 32."""
    rows, columns = b.shape
    tiles = b.reshape(rows // 16, 16, columns // 32, 2, 16)  # tile row, row, tile column, half, byte
    return tiles.transpose(1, 2).transpose(2, 3).reshape(rows, columns)


def e8m0_shuffle(scale: torch.Tensor) -> torch.Tensor:
    """Scales [M, K / 32] in the order that lanes read them, in tiles of 32 rows and 8 columns: the four bytes of a lane
    are of rows r and r + 16, columns c and c + 4. Rows are filled up to 256 and columns to 8 for it, and cut again."""
    rows, columns = scale.shape
    filled = torch.nn.functional.pad(scale, (0, -columns % 8, 0, -rows % 256))
    tiles = filled.reshape(filled.shape[0] // 32, 2, 16, filled.shape[1] // 8, 2, 4)
    moved = torch.einsum("ahrbgc->abcrgh", tiles)  # a, b: the tile; h: row half; g: column half
    return moved.reshape(filled.shape)[:rows, :columns].contiguous()
