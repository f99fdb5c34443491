"""Tensors of any library as numpy arrays over the same memory."""

from __future__ import annotations

import ml_dtypes
import numpy as np

# torch dtypes that numpy lacks -> (dtype of the same width to view them as, numpy dtype of ml_dtypes).
_VIEWED = {
    "bfloat16": ("int16", ml_dtypes.bfloat16),
    "float8_e4m3fn": ("uint8", ml_dtypes.float8_e4m3fn),
    "float8_e4m3fnuz": ("uint8", ml_dtypes.float8_e4m3fnuz),
    "float8_e5m2": ("uint8", ml_dtypes.float8_e5m2),
    "float8_e5m2fnuz": ("uint8", ml_dtypes.float8_e5m2fnuz),
    "float8_e8m0fnu": ("uint8", ml_dtypes.float8_e8m0fnu),
}


def is_tensor(value: object) -> bool:
    """Is it an array of any library?"""
    return hasattr(value, "shape") and (isinstance(value, np.ndarray) or hasattr(value, "__dlpack__"))


def device_of(value: object) -> str:
    """ "cpu" or the kind of GPU (torch calls ROCm's "cuda")."""
    device = getattr(value, "device", "cpu")
    return getattr(device, "type", str(device))


def as_numpy(value: object, name: str) -> np.ndarray:
    """The array over the same memory. TypeError when there is none."""
    if isinstance(value, np.ndarray):
        return value
    dtype = str(getattr(value, "dtype", "")).removeprefix("torch.")
    if dtype in _VIEWED and type(value).__module__.startswith("torch"):
        import torch

        same_width, wanted = _VIEWED[dtype]
        return value.detach().view(getattr(torch, same_width)).numpy().view(wanted)  # type: ignore[attr-defined]
    if hasattr(value, "detach"):
        value = value.detach()  # type: ignore[attr-defined]
    try:
        return np.from_dlpack(value)  # type: ignore[arg-type]
    except (TypeError, BufferError, RuntimeError) as error:
        raise TypeError(f"argument '{name}': {type(value).__name__} gives no array: {error}") from None
