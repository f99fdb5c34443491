"""Layers of torch whose products are kernels of this package: `WaveLinear`, and `WaveQuantLinear` in 8 bits.

They are for inference: results carry no gradient. Tensors on the CPU run in the simulator.
"""

# Annotations of kernels are types of the language.
# pyright: reportInvalidTypeForm=false

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypedDict

import torch
from torch import nn

import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE, SHARED_ADDRESS_SPACE
from wave_mlir.wave.compile import CompiledKernel, WaveCompileOptions, wave_compile
from wave_mlir.wave.utils.general_utils import torch_dtype_range, torch_dtype_to_wave
from wave_mlir.wave.utils.run_utils import set_default_run_config
from wave_mlir.wave.utils.torch_utils import get_default_device
from wave_mlir.wave.values import MemoryValue, Value

__all__ = ["QuantParams", "WaveLinear", "WaveQuantLinear"]

M, N, K = tkl.sym.M, tkl.sym.N, tkl.sym.K
_DTYPES = (torch.float16, torch.bfloat16)


class QuantParams(TypedDict):
    """What values are divided by before they are rounded to `qdtype`, of weights and of inputs, with their shapes."""

    weight_scale: torch.Tensor
    weight_scale_shape: list[int]
    input_scale: torch.Tensor
    input_scale_shape: list[int]
    qdtype: torch.dtype


@dataclass(frozen=True)
class _Product:
    """y[M, N] = x[M, K] w[N, K]ᵀ (+ bias[N]), of `dtype`. narrow: the type to multiply in, where it is another; scales:
    what x and w are divided by before."""

    features: tuple[int, int]
    bias: bool
    dtype: torch.dtype
    narrow: torch.dtype | None = None
    scales: tuple[float, float] = (1.0, 1.0)


@functools.lru_cache(maxsize=64)
def _compiled(product: _Product) -> CompiledKernel:
    k, n = product.features
    options = set_default_run_config(WaveCompileOptions(subs={N: n, K: k}, dynamic_symbols=[M]))
    return wave_compile(options, _kernel(product))


def _kernel(product: _Product) -> tkw.WaveKernel:
    dtype = torch_dtype_to_wave(product.dtype)
    constraints = [
        tkw.WorkgroupConstraint(M, 64, 0),
        tkw.WorkgroupConstraint(N, 64, 1),
        tkw.TilingConstraint(K, 64),
        tkw.WaveConstraint(M, 32),
        tkw.WaveConstraint(N, 32),
        tkw.HardwareConstraint(threads_per_wave=64),
    ]

    def total(x: MemoryValue, w: MemoryValue) -> Value:
        @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
        def summed(acc: tkl.Register[M, N, tkl.f32]):
            a, b = (_narrow(tkw.read(m), product, s) for m, s in zip((x, w), product.scales, strict=True))
            return tkw.mma(a, b, acc)

        return summed * math.prod(product.scales)  # pyright: ignore[reportOperatorIssue, reportReturnType]

    @tkw.wave(constraints)
    def linear(
        x: tkl.Memory[M, K, SHARED_ADDRESS_SPACE, dtype],
        w: tkl.Memory[N, K, SHARED_ADDRESS_SPACE, dtype],
        y: tkl.Memory[M, N, GLOBAL_ADDRESS_SPACE, dtype],
    ):
        tkw.write(tkw.cast(total(x, w), dtype), y)

    @tkw.wave(constraints)
    def linear_with_bias(
        x: tkl.Memory[M, K, SHARED_ADDRESS_SPACE, dtype],
        w: tkl.Memory[N, K, SHARED_ADDRESS_SPACE, dtype],
        bias: tkl.Memory[N, GLOBAL_ADDRESS_SPACE, dtype],
        y: tkl.Memory[M, N, GLOBAL_ADDRESS_SPACE, dtype],
    ):
        row = tkw.broadcast(tkw.cast(tkw.read(bias), tkl.f32), [M, N])
        tkw.write(tkw.cast(total(x, w) + row, dtype), y)

    return linear_with_bias if product.bias else linear


def _narrow(value: Value, product: _Product, scale: float) -> Value:
    """An operand in the type to multiply in: divided by its scale, no less and no more than what the type has."""
    if product.narrow is None:
        return value
    least, most = torch_dtype_range(product.narrow)
    wide = tkw.cast(value, tkl.f32) * (1.0 / scale)
    return tkw.cast(tkw.minimum(tkw.maximum(wide, float(least)), float(most)), torch_dtype_to_wave(product.narrow))


class WaveLinear(nn.Module):
    """`torch.nn.Linear` of f16 or bf16, with sums in f32. weight: [out_features, in_features]; bias: [out_features]."""

    bias: nn.Parameter | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        """device, by default the GPU if there is one; dtype: float16 (the default) or bfloat16, else a ValueError."""
        super().__init__()
        dtype = dtype or torch.float16
        if dtype not in _DTYPES:
            raise ValueError(
                f"{type(self).__name__}: dtype is {dtype}; it multiplies {' and '.join(map(str, _DTYPES))}"
            )
        device = device or get_default_device()
        self.in_features, self.out_features = in_features, out_features
        self.weight = nn.Parameter(torch.empty((out_features, in_features), device=device, dtype=dtype))
        self.register_parameter(
            "bias", nn.Parameter(torch.empty(out_features, device=device, dtype=dtype)) if bias else None
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weights and bias uniform within 1 / sqrt(in_features), as of `torch.nn.Linear`."""
        bound = 1 / math.sqrt(self.in_features) if self.in_features else 0.0
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -bound, bound)

    def _product(self) -> _Product:
        return _Product((self.in_features, self.out_features), self.bias is not None, self.weight.dtype)

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """[…, out_features] of an input [… , in_features] of the weights' dtype."""
        rows = input.reshape(-1, self.in_features).contiguous()
        result = torch.empty((rows.shape[0], self.out_features), dtype=self.weight.dtype, device=self.weight.device)
        given = [rows, self.weight, *([] if self.bias is None else [self.bias]), result]
        if rows.shape[0]:
            _compiled(self._product())(*(t.detach() for t in given))
        return result.view(*input.shape[:-1], self.out_features)

    def extra_repr(self) -> str:
        """What `print` of the layer says."""
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class WaveQuantLinear(WaveLinear):
    """`WaveLinear` that divides inputs and weights by their scales, rounds them to 8 bits and multiplies these."""

    def __init__(
        self,
        in_features: int,
        out_features: int,
        quant_params: QuantParams | Mapping,
        bias: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        """quant_params: one scale for all weights and one for all inputs, else a ValueError; qdtype: a float of 8 bits
        that the target multiplies (gfx942: float8_e4m3fnuz)."""
        super().__init__(in_features, out_features, bias, device, dtype)
        self.weight_scale: torch.Tensor = quant_params["weight_scale"].detach().clone()
        self.input_scale: torch.Tensor = quant_params["input_scale"].detach().clone()
        self.qdtype: torch.dtype = quant_params["qdtype"]
        if self.weight_scale.numel() != 1 or self.input_scale.numel() != 1:
            raise ValueError(
                f"{type(self).__name__}: there are {self.input_scale.numel()} scales of inputs and "
                f"{self.weight_scale.numel()} of weights; give one for the whole tensor"
            )

    def _product(self) -> _Product:
        plain = super()._product()
        scales = float(self.input_scale), float(self.weight_scale)
        return _Product(plain.features, plain.bias, plain.dtype, self.qdtype, scales)
