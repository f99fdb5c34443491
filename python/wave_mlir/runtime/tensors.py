"""Tensors of any library: the few things that a launch asks of one.

A `TensorLibrary` answers for all tensors of a type. numpy's and torch's are known, and what looks like torch's tensors
(shape, dtype, stride(), data_ptr(), device) or has DLPack is taken as it is; `register` adds or replaces one. No
library is imported unless a tensor of it is passed.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Protocol

import ml_dtypes
import numpy as np

from wave_mlir.compiler.abi import ARRAY_DTYPES
from wave_mlir.compiler.array_strides import element_strides

Tensor = Any
"""A tensor of some library."""

CPU = ("cpu", 0)
GPU = "cuda"
"""What torch calls the GPUs of ROCm; other names for them are translated to it."""
_GPU_NAMES = {"cuda": GPU, "hip": GPU, "rocm": GPU}
_DLPACK_DEVICES = {1: "cpu", 3: "cpu", 10: GPU, 11: "cpu"}  # kDLCPU, kDLCUDAHost, kDLROCM, kDLROCMHost

# dtypes that numpy lacks -> (dtype of the same width to view them as, numpy dtype of ml_dtypes).
_VIEWED = {
    "bfloat16": ("int16", ml_dtypes.bfloat16),
    "float8_e4m3fn": ("uint8", ml_dtypes.float8_e4m3fn),
    "float8_e4m3fnuz": ("uint8", ml_dtypes.float8_e4m3fnuz),
    "float8_e5m2": ("uint8", ml_dtypes.float8_e5m2),
    "float8_e5m2fnuz": ("uint8", ml_dtypes.float8_e5m2fnuz),
    "float8_e8m0fnu": ("uint8", ml_dtypes.float8_e8m0fnu),
}


@dataclass(frozen=True)
class Description:
    """dtype: as numpy, ml_dtypes and torch call it. strides: in elements. device: kind ("cpu", "cuda") and number."""

    shape: tuple[int, ...]
    dtype: str
    strides: tuple[int, ...]
    device: tuple[str, int]

    def stride(self) -> tuple[int, ...]:
        """`strides`, by the name that torch has for them."""
        return self.strides


class TensorLibrary(Protocol):
    """What a launch asks of the tensors of one library."""

    def signature(self, tensor: Tensor) -> Hashable:
        """Everything that `describe` depends on, quickly: calls with equal signatures are checked once."""
        ...

    def describe(self, tensor: Tensor) -> Description:
        """Shape, dtype, strides and device. ValueError when elements are no whole number of elements apart."""
        ...

    def pointer(self, tensor: Tensor) -> int:
        """Address of the first element, on the tensor's device."""
        ...

    def as_numpy(self, tensor: Tensor) -> np.ndarray:
        """The array over the same memory, of a tensor on the CPU. TypeError when there is none."""
        ...

    def stream(self, device: tuple[str, int]) -> int:
        """Handle of the stream that work on a GPU goes to; 0 is the default stream."""
        ...

    def written(self, tensor: Tensor) -> None:
        """The kernel has written the tensor, or will on its stream."""
        ...


class NumpyLibrary:
    """numpy arrays."""

    def signature(self, tensor: Tensor) -> Hashable:
        return tensor.shape, tensor.strides, tensor.dtype, tensor.flags.writeable

    def describe(self, tensor: Tensor) -> Description:
        return Description(tensor.shape, str(tensor.dtype), element_strides(tensor) or (), CPU)

    def pointer(self, tensor: Tensor) -> int:
        return tensor.__array_interface__["data"][0]

    def as_numpy(self, tensor: Tensor) -> np.ndarray:
        return tensor

    def stream(self, device: tuple[str, int]) -> int:
        return 0

    def written(self, tensor: Tensor) -> None:
        """Arrays do not count their versions."""


class TorchLike:
    """Tensors with torch's names for shape, dtype, strides, address and device. `stream` is the default stream."""

    def signature(self, tensor: Tensor) -> Hashable:
        return tensor.shape, tensor.stride(), tensor.dtype, tensor.device

    def describe(self, tensor: Tensor) -> Description:
        device = tensor.device
        kind = getattr(device, "type", str(device))
        number = getattr(device, "index", None) or 0
        shape = tuple(int(n) for n in tensor.shape)
        strides = tuple(int(n) for n in tensor.stride())
        return Description(shape, _dtype_name(tensor.dtype), strides, (_GPU_NAMES.get(kind, kind), number))

    def pointer(self, tensor: Tensor) -> int:
        return tensor.data_ptr()

    def as_numpy(self, tensor: Tensor) -> np.ndarray:
        return np.from_dlpack(tensor)

    def stream(self, device: tuple[str, int]) -> int:
        return 0

    def written(self, tensor: Tensor) -> None:
        """Nothing is known about versions."""


class TorchLibrary(TorchLike):
    """torch tensors: on its current stream, and with their version counted for autograd."""

    def as_numpy(self, tensor: Tensor) -> np.ndarray:
        import torch

        tensor = tensor.detach()
        name = _dtype_name(tensor.dtype)
        if name not in _VIEWED:
            return tensor.numpy()
        same_width, wanted = _VIEWED[name]
        return tensor.view(getattr(torch, same_width)).numpy().view(wanted)

    def stream(self, device: tuple[str, int]) -> int:
        return sys.modules["torch"].cuda.current_stream(device[1]).cuda_stream

    def written(self, tensor: Tensor) -> None:
        if not tensor.is_inference():
            sys.modules["torch"].autograd.graph.increment_version(tensor)


class DlpackLibrary:
    """Anything else with DLPack (and, on a GPU, with the array interface of CUDA that CuPy has for ROCm too)."""

    def signature(self, tensor: Tensor) -> Hashable:
        return self.describe(tensor)

    def describe(self, tensor: Tensor) -> Description:
        kind, number = tensor.__dlpack_device__()
        device = (_DLPACK_DEVICES.get(int(kind), f"dlpack device {int(kind)}"), int(number))
        if device[0] == "cpu":
            found = NumpyLibrary().describe(np.from_dlpack(tensor))
            return Description(found.shape, found.dtype, found.strides, device)
        interface = tensor.__cuda_array_interface__
        dtype = np.dtype(interface["typestr"])
        strides = interface.get("strides")
        shape = tuple(interface["shape"])
        steps = row_major(shape) if strides is None else tuple(s // dtype.itemsize for s in strides)
        return Description(shape, dtype.name, steps, device)

    def pointer(self, tensor: Tensor) -> int:
        if self.describe(tensor).device[0] == "cpu":
            return NumpyLibrary().pointer(np.from_dlpack(tensor))
        return int(tensor.__cuda_array_interface__["data"][0])

    def as_numpy(self, tensor: Tensor) -> np.ndarray:
        return np.from_dlpack(tensor)

    def stream(self, device: tuple[str, int]) -> int:
        return 0

    def written(self, tensor: Tensor) -> None:
        """Nothing is known about versions."""


def _dtype_name(dtype: object) -> str:
    return str(dtype).removeprefix("torch.")


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of a dense tensor, in elements."""
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


_libraries: dict[type, TensorLibrary | None] = {np.ndarray: NumpyLibrary()}


def register(kind: type, library: TensorLibrary) -> None:
    """Tensors of a type (not of its subclasses) are of this library from now on."""
    _libraries[kind] = library


def library_of(value: object) -> TensorLibrary | None:
    """The library that answers for a tensor, None for what is no tensor."""
    kind = type(value)
    if kind not in _libraries:
        _libraries[kind] = _found(value)
    return _libraries[kind]


def _found(value: object) -> TensorLibrary | None:
    if isinstance(value, np.ndarray):
        return _libraries[np.ndarray]
    if not hasattr(value, "shape"):
        return None
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return TorchLibrary()
    if all(hasattr(value, name) for name in ("dtype", "stride", "data_ptr", "device")):
        return TorchLike()
    return DlpackLibrary() if hasattr(value, "__dlpack__") else None


def is_tensor(value: object) -> bool:
    """Is it an array of any library?"""
    return library_of(value) is not None


def zeros_beside(tensor: Tensor, shape: tuple[int, ...], dtype: str) -> Tensor:
    """A new array of zeros on the device of a torch tensor; of numpy beside anything else. dtype: MLIR's name."""
    name = ARRAY_DTYPES[dtype][0]
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(tensor, torch.Tensor):
        return torch.zeros(shape, dtype=getattr(torch, name), device=tensor.device)
    return np.zeros(shape, _VIEWED[name][1] if name in _VIEWED else name)


def row_major_copy(tensor: Tensor) -> Tensor:
    """A tensor of torch or numpy whose elements lie in row-major order: itself if they do; other things as they are."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(tensor, torch.Tensor):
        return tensor.contiguous()
    return np.ascontiguousarray(tensor) if isinstance(tensor, np.ndarray) and tensor.ndim else tensor


def copy_into(tensor: Tensor, values: Tensor) -> None:
    """Write all elements of `values` to a tensor of the same library and shape."""
    if isinstance(tensor, np.ndarray):
        tensor[...] = values
    else:
        tensor.copy_(values)
