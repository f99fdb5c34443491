"""Kernels of this compiler: what their ABI says about a launch, so that a call needs the arrays only."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Protocol

import ml_dtypes
import numpy as np

from ..compiler.abi import AbiError, KernelABI
from ..compiler.array_strides import element_strides, span
from .arguments import Tensor
from .errors import IsaError
from .launch import IsaRun, run
from .loader import Code, Loaded, load

_SCALARS: dict[str, type[np.generic]] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "i1": np.uint8,
    "i8": np.uint8,
    "i16": np.uint16,
    "i32": np.uint32,
    "i64": np.uint64,
    "index": np.uint64,
}


class HasKernels(Protocol):
    """A compiled module: its assembly text and the ABI of its kernels."""

    @property
    def isa(self) -> str: ...
    @property
    def kernels(self) -> tuple[KernelABI, ...]: ...


def run_compiled(
    compiled: HasKernels,
    args: Sequence[object],
    *,
    kernel: str | None = None,
    symbols: Mapping[str, int] | None = None,
    **options: object,
) -> IsaRun:
    """Run a kernel that this compiler made; see `run_abi`. kernel: its name, when the module has several."""
    known = [k.name for k in compiled.kernels]
    if kernel is None and len(known) != 1:
        raise IsaError("arguments", f"the module has the kernels {', '.join(known) or 'none'}; name one with kernel=")
    found = next((k for k in compiled.kernels if kernel in (None, k.name)), None)
    if found is None:
        raise IsaError("arguments", f"there is no kernel '{kernel}'; the module has: {', '.join(known)}")
    return run_abi(load(compiled.isa, found.name), found, args, symbols=symbols, **options)


def run_abi(
    code: Code | Loaded,
    abi: KernelABI,
    args: Sequence[object],
    *,
    symbols: Mapping[str, int] | None = None,
    **options: object,
) -> IsaRun:
    """Run machine code whose arguments an ABI describes.

    args: an array or tensor for each memory, then a number for each scalar. Dynamic symbols and strides come from the
    shapes, and what no shape says from `symbols`. What a memory's access says is checked: "read" ones may not be stored
    to, the bytes of "write" ones count as unwritten until they are stored. options: as of `run` (not grid and block).
    Raises IsaError.
    """
    memories, scalars = abi.memories, abi.scalars
    if len(args) != len(memories) + len(scalars):
        names = ", ".join(a.name for a in (*memories, *scalars)) or "none"
        takes = f"kernel '{abi.name}' takes {len(memories) + len(scalars)} arguments ({names})"
        raise IsaError("arguments", f"{takes}; {len(args)} were given")
    arrays = [_checked(a.name, v) for a, v in zip(memories, args, strict=False)]
    try:
        values = abi.bind(arrays, list(args[len(memories) :]), symbols)  # type: ignore[arg-type]
        grid = abi.grid_for({n: values[n] for n in abi.dynamic_symbols})
    except AbiError as error:
        raise IsaError("arguments", error.message) from None
    strides = {a.name: element_strides(v) or () for a, v in zip(memories, arrays, strict=True)}
    numbers = iter(args[len(memories) :])
    passed: list[object] = []
    for argument in abi.args:
        if argument.kind == "memory":
            array = arrays[len(passed)]
            passed.append(_span(array) if argument.strides else array)
        elif argument.kind == "symbol":
            passed.append(np.int32(values[argument.name]))
        elif argument.kind == "stride":
            passed.append(np.int64(strides[argument.memory][argument.dim]))
        else:
            passed.append(_scalar(argument.name, argument.dtype, next(numbers)))
    reads = {i for i, a in enumerate(memories) if a.access == "read"}
    writes = {i for i, a in enumerate(memories) if a.access == "write"}
    shared = {i for i in reads | writes if any(v is arrays[i] for j, v in enumerate(arrays) if j != i)}
    defaults: dict[str, object] = {"read_only": reads - shared, "undefined": writes - shared, "kernel": abi.name}
    return run(code, passed, grid, abi.block, **{**defaults, **options})  # type: ignore[arg-type]


def _checked(name: str, value: object) -> np.ndarray | Tensor:
    if isinstance(value, np.ndarray | Tensor):
        return value
    message = f"argument '{name}' is a memory; give a numpy array or a torch tensor, not {type(value).__name__}"
    raise IsaError("arguments", message)


def _span(value: np.ndarray | Tensor) -> np.ndarray:
    """The bytes from the first to the last element of a strided array."""
    count = span(tuple(int(n) for n in value.shape), element_strides(value) or ())  # checked with the kernel's ABI
    if not count:
        return np.zeros(0, np.uint8)
    if isinstance(value, np.ndarray):
        return np.lib.stride_tricks.as_strided(value, (count,), (value.itemsize,)).view(np.uint8)
    size = count * value.element_size()
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(value.data_ptr()))


def _scalar(name: str, dtype: str, value: object) -> np.generic:
    kind = _SCALARS[dtype]
    if isinstance(value, bool | int | float | np.generic) and np.ndim(value) == 0:
        if kind in (np.float16, np.float32, np.float64, ml_dtypes.bfloat16):
            with np.errstate(over="ignore"):
                return kind(float(value))
        bits = 1 if dtype == "i1" else 8 * np.dtype(kind).itemsize
        number = int(value)
        if number == value and -(1 << (bits - 1)) <= number < 1 << bits:
            return np.array([number & ((1 << bits) - 1)], np.uint64).astype(kind)[0]
    raise IsaError("arguments", f"argument '{name}': {value!r} is no {dtype}")
