"""torch tensors on the device at hand: a GPU of ROCm if torch has one, else the CPU."""

from wave_mlir.runtime.torch_tensors import (
    device_arange,
    device_empty,
    device_full,
    device_ones,
    device_randint,
    device_randn,
    device_randperm,
    device_tensor,
    device_zeros,
    get_default_device,
    quantized_tensor,
    to_default_device,
)

__all__ = [
    "device_arange",
    "device_empty",
    "device_full",
    "device_ones",
    "device_randint",
    "device_randn",
    "device_randperm",
    "device_tensor",
    "device_zeros",
    "get_default_device",
    "quantized_tensor",
    "to_default_device",
]
