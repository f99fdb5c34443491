"""Layers and attention as functions of torch tensors, against torch; exact on integers."""

from __future__ import annotations

import pytest
import torch
import wave_mlir.compat  # noqa: F401
from wave_lang.kernel.wave import nn as wave_nn  # type: ignore[import-not-found]
from wave_lang.kernel.wave.nn.functional import wave_sdpa, wave_sdpa_fp8  # type: ignore[import-not-found]

F16, BF16, F8 = torch.float16, torch.bfloat16, torch.float8_e4m3fnuz


@pytest.fixture(autouse=True)
def _gfx942(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAVE_DEFAULT_ARCH", "gfx942")


def integers(*shape: int, most: int = 3, dtype: torch.dtype = F16) -> torch.Tensor:
    return torch.randint(-most, most + 1, shape, generator=torch.Generator().manual_seed(sum(shape))).to(dtype)


@pytest.mark.parametrize("dtype", [F16, BF16])
@pytest.mark.parametrize("bias, batch", [(True, (3, 5)), (False, (70,)), (True, ()), (False, (0, 4))])
def test_linear(bias: bool, batch: tuple[int, ...], dtype: torch.dtype) -> None:
    layer = wave_nn.WaveLinear(40, 24, bias=bias, dtype=dtype)
    bound = 40**-0.5
    assert all(p.abs().max() <= bound and p.std() > 0 for p in layer.parameters())
    with torch.no_grad():
        layer.weight.copy_(integers(24, 40, dtype=dtype))
        if bias:
            layer.bias.copy_(integers(24, dtype=dtype))
    x = integers(*batch, 40, dtype=dtype)
    wanted = x.float() @ layer.weight.float().T + (layer.bias.float() if bias else 0)
    assert torch.equal(layer(x), wanted.to(dtype))
    assert f"bias={bias}" in repr(layer)


def test_linear_takes_views() -> None:
    layer = wave_nn.WaveLinear(32, 16, bias=False)
    with torch.no_grad():
        layer.weight.copy_(integers(16, 32))
    x = integers(32, 8).T
    assert torch.equal(layer(x), (x.float() @ layer.weight.float().T).to(F16))


def test_quantized_linear() -> None:
    """Inputs 0.5 apart and weights 2 apart are integers of the narrow type; what is beyond its range is cut off."""
    params = {
        "weight_scale": torch.tensor(2.0), "weight_scale_shape": [1],
        "input_scale": torch.tensor(0.5), "input_scale_shape": [1], "qdtype": F8,
    }  # fmt: skip
    layer = wave_nn.WaveQuantLinear(32, 16, quant_params=params)
    x, w = integers(2, 6, 32) / 2, 2 * integers(16, 32)
    x[0, 0, 0] = 4096
    with torch.no_grad():
        layer.weight.copy_(w)
        layer.bias.copy_(integers(16))
    cut = x.float().clamp(max=120)
    assert torch.equal(layer(x), (cut @ w.float().T + layer.bias.float()).to(F16))


def test_what_layers_refuse() -> None:
    with pytest.raises(ValueError, match="WaveLinear: dtype is torch.float32; it multiplies torch.float16 and"):
        wave_nn.WaveLinear(4, 4, dtype=torch.float32)
    params = {"weight_scale": torch.ones(4), "input_scale": torch.ones(1), "qdtype": F8}
    with pytest.raises(ValueError, match="there are 1 scales of inputs and 4 of weights; give one for the whole"):
        wave_nn.WaveQuantLinear(4, 4, params)


def wanted_of(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool = False, window: int = 0) -> torch.Tensor:
    logits = q.float() @ k.float().transpose(-1, -2) / q.shape[-1] ** 0.5
    if causal:
        behind = torch.arange(q.shape[-2])[:, None] - torch.arange(k.shape[-2])
        hidden = (behind < 0) | ((behind > window) if window else False)
        logits = logits.masked_fill(hidden, float("-inf"))
    return logits.softmax(-1) @ v.float()


@pytest.mark.parametrize(
    "batch, options",
    [
        ((), {}),
        ((2, 3), {"is_causal": True}),
        ((2,), {"is_causal": True, "sliding_window_size": 5}),
        ((3,), {"is_v_transposed": True}),
    ],
)
def test_attention(batch: tuple[int, ...], options: dict) -> None:
    q, k, v = (torch.randn(*batch, n, s, generator=torch.Generator().manual_seed(n + s)).to(F16) for n, s in
               ((33, 32), (41, 32), (41, 16)))  # fmt: skip
    wanted = wanted_of(q, k, v, options.get("is_causal", False), options.get("sliding_window_size", 0))
    given = v.transpose(-1, -2) if "is_v_transposed" in options else v
    torch.testing.assert_close(wave_sdpa(q, k, given, **options), wanted, atol=2e-3, rtol=2e-3)


@pytest.mark.parametrize("causal, dtype", [(False, F16), (True, torch.float32)])
def test_attention_in_8_bits(causal: bool, dtype: torch.dtype) -> None:
    """Integers are exact in the narrow type, so that only the weights are rounded: to 3 bits."""
    q, k, v = (integers(2, 24, 32, most=most).to(dtype) for most in (2, 3, 4))
    result = wave_sdpa_fp8(q, k, v, 0.25, 0.5, 2.0, is_causal=causal)
    torch.testing.assert_close(result, wanted_of(q * 0.25, k * 0.5, v * 2.0, causal), atol=0.15, rtol=0.08)


def test_what_attention_refuses() -> None:
    q = torch.zeros(2, 8, 16, dtype=F16)
    with pytest.raises(ValueError, match=r"wave_sdpa: query is \[2, 8, 16\], key \[3, 8, 16\]"):
        wave_sdpa(q, torch.zeros(3, 8, 16, dtype=F16), q)
    with pytest.raises(ValueError, match="sliding_window_size is 4; it needs is_causal=True"):
        wave_sdpa(q, q, q, sliding_window_size=4)
