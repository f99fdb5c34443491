"""Small helpers: parameters of schedules, integers, dtypes of torch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import sympy

from wave_mlir.lang import dtypes
from wave_mlir.lang import global_symbols as g
from wave_mlir.lang.dtypes import DataType
from wave_mlir.lang.symbols import ExprLike

if TYPE_CHECKING:
    from wave_mlir.runtime import torch_tensors

    TorchDtype = torch_tensors.TorchDtype

P = ParamSpec("P")
R = TypeVar("R")

# Clocks until a result is there, and how many such operations a compute unit starts at once.
_DELAYS = {
    g.READ_SHARED_DELAY: 64,
    g.WRITE_SHARED_DELAY: 32,
    g.READ_GLOBAL_DELAY: 500,
    g.WRITE_GLOBAL_DELAY: 500,
    g.GLOBAL_TO_SHARED_DELAY: 550,
    g.MMA_DELAY: 16,
    g.VALU_DELAY: 4,
    g.SHUFFLE_DELAY: 16,
}
_UNITS = {g.SHARED_MEMORY_UNITS: 1, g.GLOBAL_MEMORY_UNITS: 1, g.MMA_UNITS: 4, g.VALU_UNITS: 4, g.SHUFFLE_UNITS: 1}


def get_default_scheduling_params() -> dict[sympy.Symbol, int]:
    """Latencies and units of a compute unit, to be put in `subs`. Schedules that are not made do not read them."""
    return {**_DELAYS, **_UNITS}


def ceildiv(a: int, b: int) -> int:
    """a / b, rounded up."""
    return -(a // -b)


def clamp(x: float, min_val: float, max_val: float) -> float:
    """x, or the nearer end of the interval."""
    return max(min_val, min(max_val, x))


_BY_TORCH: dict[str, DataType] = {
    "bool": dtypes.bool, "int8": dtypes.i8, "int16": dtypes.i16, "int32": dtypes.i32, "int64": dtypes.i64,
    "float16": dtypes.f16, "bfloat16": dtypes.bf16, "float32": dtypes.f32, "float64": dtypes.f64,
    "float8_e4m3fn": dtypes.f8e4m3fn, "float8_e4m3fnuz": dtypes.f8e4m3fnuz, "float8_e5m2": dtypes.f8e5m2,
    "float8_e5m2fnuz": dtypes.f8e5m2fnuz, "float8_e8m0fnu": dtypes.f8e8m0fnu,
}  # fmt: skip


def torch_dtype_to_wave(torch_dtype: TorchDtype) -> DataType:
    """The element type of the language. ValueError for one it does not have."""
    name = str(torch_dtype).removeprefix("torch.")
    if name not in _BY_TORCH:
        raise ValueError(f"{torch_dtype} is no element type of the language; there are {', '.join(_BY_TORCH)}")
    return _BY_TORCH[name]


def wave_dtype_to_torch(wave_dtype: DataType) -> TorchDtype:
    """torch's dtype. ValueError where torch has none."""
    from wave_mlir.runtime import torch_tensors

    for name, found in _BY_TORCH.items():
        if found == wave_dtype:
            return torch_tensors.dtype_named(name)
    raise ValueError(f"torch has no dtype for {wave_dtype}")


class _ByTorchDtype(Mapping[object, DataType]):
    """Element types by torch's dtypes, which are looked up when they are asked for: torch is imported late."""

    def __getitem__(self, torch_dtype: object) -> DataType:
        name = str(torch_dtype)
        if not name.startswith("torch.") or name.removeprefix("torch.") not in _BY_TORCH:
            raise KeyError(torch_dtype)
        return _BY_TORCH[name.removeprefix("torch.")]

    def __iter__(self) -> Iterator[object]:
        from wave_mlir.runtime import torch_tensors

        return (torch_tensors.dtype_named(name) for name in _BY_TORCH)

    def __len__(self) -> int:
        return len(_BY_TORCH)


TORCH_DTYPE_TO_WAVE = _ByTorchDtype()


def torch_dtype_range(torch_dtype: TorchDtype) -> tuple[float, float]:
    """The least and the greatest finite value."""
    from wave_mlir.runtime import torch_tensors

    return torch_tensors.finite_range(torch_dtype)


def run_test(func: Callable[[], None]) -> Callable[[], None]:
    """Call a function without arguments at once, when it is decorated."""
    func()
    return func


def check_leaks(func: Callable[P, R]) -> Callable[P, R]:
    """The function: tensors live as long as Python's own references to them."""
    return func


def is_pow2(x: int) -> bool:
    """Is x a power of two?"""
    return x > 0 and x & (x - 1) == 0


def delinearize_index(index: ExprLike, shape: Sequence[ExprLike]) -> list[ExprLike]:
    """The coordinates, in a row-major array of `shape`, of its element number `index`."""
    coordinates: list[ExprLike] = []
    for extent in reversed(shape):
        coordinates.insert(0, index % extent)
        index = index // extent
    return coordinates
