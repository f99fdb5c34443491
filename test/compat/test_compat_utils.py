"""Helpers under wave_mlir.wave.utils, against what they should be by other means."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
import wave_mlir.lang as tkl
from wave_mlir.runtime import gpu
from wave_mlir.wave.compile_options import _REPLACED, WaveCompileOptions
from wave_mlir.wave.constraints import MMAType
from wave_mlir.wave.utils import general_utils, mma_utils, mxfp_utils, run_utils, torch_utils
from wave_mlir.wave.utils.reference_kernel_utils import scaled_dot_product_attention_bhsd


def test_dtypes_both_ways() -> None:
    for dtype in (torch.float16, torch.bfloat16, torch.int8, torch.float8_e4m3fnuz, torch.bool):
        assert general_utils.wave_dtype_to_torch(general_utils.torch_dtype_to_wave(dtype)) is dtype
    assert general_utils.torch_dtype_range(torch.float16) == (-65504.0, 65504.0)
    assert general_utils.torch_dtype_range(torch.int8) == (-128, 127)
    with pytest.raises(ValueError, match="complex64 is no element type of the language"):
        general_utils.torch_dtype_to_wave(torch.complex64)
    with pytest.raises(ValueError, match="torch has no dtype for i4"):
        general_utils.wave_dtype_to_torch(tkl.i4)


def test_integers() -> None:
    for a in range(-20, 21):
        for b in range(1, 7):
            assert general_utils.ceildiv(a, b) == math.ceil(a / b)
    assert [general_utils.clamp(x, 0, 2) for x in (-1, 1, 3)] == [0, 1, 2]


def test_scheduling_parameters_can_be_substituted() -> None:
    params = general_utils.get_default_scheduling_params()
    assert len(params) == 13 and all(isinstance(v, int) and v > 0 for v in params.values())
    assert all(s.name.startswith("$") for s in params)


def test_the_device_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    options = WaveCompileOptions(target="gfx950")
    assert run_utils.set_default_run_config(options) is options and options.target == "gfx950"
    monkeypatch.setattr(run_utils, "gpu_arch", lambda: "gfx90a")
    assert run_utils.set_default_run_config(options).target == "gfx90a"
    monkeypatch.setenv("WAVE_DEFAULT_ARCH", "gfx1201")
    assert (run_utils.get_default_arch(), run_utils.get_arch_family()) == ("gfx1201", "RDNA")
    assert run_utils.get_arch_family("gfx942") == "CDNA"
    assert gpu.gpu_arch() == "" and torch_utils.get_default_device() == "cpu"


def test_tensors() -> None:
    assert torch.equal(torch_utils.device_arange(2, 5), torch.arange(2, 5))
    assert torch_utils.device_zeros(2, 3, dtype=torch.int8).dtype is torch.int8
    assert torch_utils.device_randint(3, (4, 5)).shape == (4, 5)
    assert sorted(torch_utils.device_randperm(7).tolist()) == list(range(7))
    assert torch_utils.device_full((2,), 7.0).tolist() == [7.0, 7.0]
    torch.manual_seed(3)
    first = torch_utils.device_randn(4)
    torch.manual_seed(3)
    assert torch.equal(first, torch.randn(4))
    quantized = torch_utils.quantized_tensor((100,), torch.int8, 1e6)
    assert set(quantized.tolist()) <= {-128, 127}


@pytest.mark.parametrize(
    ("name", "operand", "result"),
    [
        ("F32_16x16x16_F16", 4, 4), ("F32_32x32x8_F16", 4, 16), ("F32_16x16x32_K8_F16", 8, 4),
        ("F32_32x32x16_F8", 8, 16), ("I32_16x16x32_I8", 8, 4), ("RDNA4_WAVE32_F32_16x16x16_F16", 8, 8),
    ],
)  # fmt: skip
def test_elements_of_mma_operands(name: str, operand: int, result: int) -> None:
    assert mma_utils.get_mfma_load_elems_per_thread(MMAType[name]) == operand
    assert mma_utils.get_mfma_store_elems_per_thread(MMAType[name]) == result


def test_packed_floats() -> None:
    """Every code, by the format's definition: sign, two bits of exponent with bias 1, one of mantissa."""

    def decoded(code: int) -> float:
        exponent, mantissa = code >> 1 & 3, code & 1
        size = mantissa / 2 if exponent == 0 else (1 + mantissa / 2) * 2.0 ** (exponent - 1)
        return -size if code & 8 else size

    every = torch.arange(256, dtype=torch.uint8)[None]
    want = [decoded(c) for byte in range(256) for c in (byte & 15, byte >> 4)]
    assert mxfp_utils.mxfp4_to_f32(every)[0].tolist() == want
    scales = mxfp_utils.e8m0_to_f32(torch.tensor([0, 127, 130, 254, 255], dtype=torch.uint8))
    assert scales[:4].tolist() == [2.0**-127, 1.0, 8.0, 2.0**127] and scales[4].isnan()


def test_scaled_product() -> None:
    x, w, xs, ws = mxfp_utils.generate_gemm_afp4wfp4_inputs((3, 5, 64))
    assert x.shape == (3, 32) and w.shape == (32, 5) and xs.shape == (3, 2) and ws.shape == (5, 2)
    left, right = mxfp_utils.mxfp4_to_f32(x), mxfp_utils.mxfp4_to_f32(w.T)
    want = torch.zeros(3, 5)
    for k in range(64):
        step = 2.0 ** (xs[:, k // 32].float() - 127)[:, None] * 2.0 ** (ws[:, k // 32].float() - 127)[None]
        want += left[:, k, None] * right[None, :, k] * step
    torch.testing.assert_close(mxfp_utils.torchScaledGemmMXFP4(x, w, xs, ws), want)


@pytest.mark.parametrize("causal", [False, True])
def test_reference_attention(causal: bool) -> None:
    q, k, v = torch.randn(2, 3, 7, 16), torch.randn(2, 3, 7, 16), torch.randn(2, 3, 7, 16)
    want = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
    torch.testing.assert_close(scaled_dot_product_attention_bhsd(q, k, v, is_causal=causal), want)
    mask = torch.tensor([[0] * 7, [1] * 7])
    masked = scaled_dot_product_attention_bhsd(q, k, v, custom_mask=mask)
    torch.testing.assert_close(masked, torch.stack([scaled_dot_product_attention_bhsd(q, k, v)[0], 0 * v[1]]))
    window = scaled_dot_product_attention_bhsd(q, k, v, is_causal=True, sliding_window=0)
    torch.testing.assert_close(window, v)


def test_the_page_lists_every_option() -> None:
    """docs/compat.md has a row for each option without an effect, with what the warning says."""
    page = (Path(__file__).parents[2] / "docs" / "compat.md").read_text()
    for name, text in _REPLACED.items():
        assert f"| `{name}` | {text} |" in page
