"""Binding arguments: what the kernel's ABI attributes and signature say about a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from mlir import ir

from ..compiler.abi import AbiError, KernelABI, read_abi
from ..compiler.array_strides import dense_strides, element_strides, span
from .dtypes import DType, element_type
from .errors import SimError, describe_location
from .memory import MemRef, Storage

_SAME_BITS = {"bool": "int8", "uint8": "int8", "uint16": "int16", "uint32": "int32", "uint64": "int64"}


@dataclass(frozen=True)
class Bound:
    """Arguments ready to run. values: for each argument of the signature the bytes of its array (1-D uint8, a view) or
    the scalar as a (1, 1) array. names: for messages. shapes: of the arrays given, by argument number."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    values: list[np.ndarray]
    names: list[str]
    shapes: dict[int, tuple[int, ...]] = field(default_factory=dict)

    def memref(self, number: int, storage: Storage, kind: ir.MemRefType) -> MemRef:
        """The memref of a memory argument. A 1-D memref of run-time size has all elements of the array."""
        dtype = element_type(kind)
        dynamic = ir.ShapedType.get_dynamic_size()
        shape = list(kind.shape)
        if len(shape) == 1 and shape[0] == dynamic:
            extents = [storage.size // dtype.size]
        else:
            given = self.shapes[number]
            if len(given) != len(shape):
                raise SimError(
                    "arguments", f"argument '{self.names[number]}' is {kind}; an array of {len(given)} dims was given"
                )
            extents = [g if s == dynamic else s for g, s in zip(given, shape, strict=True)]
        strides = dense_strides(extents)
        return MemRef(storage, np.zeros((1, 1), dtype=np.int64), tuple(extents), strides, dtype)


def _three(sizes: Sequence[int], what: str) -> tuple[int, int, int]:
    values = [int(s) for s in sizes]
    if not 1 <= len(values) <= 3 or min(values) < 0:
        raise SimError("arguments", f"{what} must be one to three sizes, not {list(sizes)}")
    x, y, z = (values + [1, 1])[:3]
    return x, y, z


def _array_bytes(value: object, dtype: DType, name: str) -> np.ndarray:
    """The bytes of an array argument, as a view. Raises SimError(arguments)."""
    if not isinstance(value, np.ndarray):
        raise SimError("arguments", f"argument '{name}' is a memory; give a numpy array, not {type(value).__name__}")
    given = _SAME_BITS.get(value.dtype.name, value.dtype.name)
    wanted = _SAME_BITS.get(dtype.np.name, dtype.np.name)
    if given != wanted:
        raise SimError("arguments", f"argument '{name}' holds {dtype.name}; an array of {value.dtype} was given")
    if not value.flags.c_contiguous:
        raise SimError(
            "arguments",
            f"the array of argument '{name}' is not C-contiguous; pass numpy.ascontiguousarray of it "
            "and copy the result back",
        )
    return value.reshape(-1).view(np.uint8)


def _strided_bytes(value: object, dtype: DType, name: str) -> np.ndarray:
    """The bytes from the first to the last element of a strided array."""
    if not isinstance(value, np.ndarray) or value.size == 0 or value.flags.c_contiguous:
        return _array_bytes(value, dtype, name)
    _array_bytes(np.empty(0, value.dtype), dtype, name)
    count = span(value.shape, element_strides(value) or ())  # checked with the kernel's ABI
    return np.lib.stride_tricks.as_strided(value, (count,), (value.itemsize,)).view(np.uint8)


def _scalar(value: object, kind: ir.Type, name: str) -> np.ndarray:
    dtype = element_type(kind)
    if isinstance(value, np.ndarray) or not isinstance(value, int | float | bool | np.generic):
        raise SimError(
            "arguments", f"argument '{name}' is a {dtype.name}; give a Python number, not {type(value).__name__}"
        )
    if dtype.is_float:
        return np.array([[float(value)]], dtype=np.float64).astype(dtype.np)
    number = int(value)
    if number != value or not -(1 << (dtype.bits - 1)) <= number < 1 << dtype.bits:
        raise SimError("arguments", f"argument '{name}': {value} is no {dtype.name}")
    return np.array([[number & ((1 << 64) - 1)]], dtype=np.uint64).astype(dtype.np)


def bind_arguments(
    func: ir.Operation,
    args: Sequence[object],
    grid: Sequence[int] | None,
    block: Sequence[int] | None,
    symbols: Mapping[str, int] | None,
) -> Bound:
    """Fit `args` to the kernel. Raises SimError(arguments)."""
    where = describe_location(func.location)
    try:
        if "wave.args" in func.attributes:
            return _bind_abi(read_abi(func), func, args, grid, block, symbols)
        return _bind_plain(func, args, grid, block, symbols)
    except AbiError as error:
        raise SimError("arguments", error.message, location=where) from None
    except SimError as error:
        raise error if error.location else SimError(error.kind, error.message, location=where) from None


def _signature(func: ir.Operation) -> list[ir.Type]:
    return list(ir.FunctionType(ir.TypeAttr(func.attributes["function_type"]).value).inputs)


def _bind_plain(
    func: ir.Operation,
    args: Sequence[object],
    grid: Sequence[int] | None,
    block: Sequence[int] | None,
    symbols: Mapping[str, int] | None,
) -> Bound:
    """A kernel without ABI attributes: the launch shape must be given, and every argument."""
    if symbols:
        raise SimError("arguments", "the kernel has no wave.args attribute, so no symbols")
    kinds = _signature(func)
    if len(args) != len(kinds):
        raise SimError("arguments", f"the kernel takes {len(kinds)} arguments; {len(args)} were given")
    if grid is None:
        raise SimError("arguments", "the kernel has no wave.grid attribute; give grid=")
    if block is None:
        if "known_block_size" not in func.attributes:
            raise SimError("arguments", "the kernel has no known_block_size attribute; give block=")
        block = list(ir.DenseI32ArrayAttr(func.attributes["known_block_size"]))
    values, shapes, names = [], {}, [f"#{i}" for i in range(len(kinds))]
    for number, (kind, value) in enumerate(zip(kinds, args, strict=True)):
        if isinstance(kind, ir.MemRefType):
            values.append(_array_bytes(value, element_type(kind), names[number]))
            shapes[number] = np.shape(value)  # type: ignore[arg-type]
        else:
            values.append(_scalar(value, kind, names[number]))
    return Bound(_three(grid, "grid"), _three(block, "block"), values, names, shapes)


def _bind_abi(
    abi: KernelABI,
    func: ir.Operation,
    args: Sequence[object],
    grid: Sequence[int] | None,
    block: Sequence[int] | None,
    symbols: Mapping[str, int] | None,
) -> Bound:
    """A kernel with ABI attributes: symbols and strides may be left to the arrays' shapes."""
    memories, scalars = len(abi.memories), len(abi.scalars)
    kinds = _signature(func)
    given = dict(symbols or {})
    if len(args) not in (memories + scalars, len(kinds)):
        raise SimError(
            "arguments",
            f"kernel '{abi.name}' takes {memories} arrays and {scalars} scalars (and its dynamic "
            f"symbols and strides if wanted: {len(kinds)} in all); {len(args)} arguments were given",
        )
    for argument, value in list(zip(abi.args, args, strict=False))[memories + scalars :]:
        if argument.kind == "symbol":
            given[argument.name] = _whole(value, argument.name)
    for argument, value in zip(abi.memories, args, strict=False):
        if not isinstance(value, np.ndarray):
            raise SimError(
                "arguments", f"argument '{argument.name}' is a memory; give a numpy array, not {type(value).__name__}"
            )
    arrays = [_Shape(a) for a in args[:memories]]
    numbers = abi.bind(arrays, list(args[memories : memories + scalars]), given)  # type: ignore[arg-type]
    extents = {name: n for name, n in numbers.items() if name in abi.dynamic_symbols}
    values, shapes, names = [], {}, [a.name for a in abi.args]
    by_name = {a.name: v for a, v in zip(abi.memories, args, strict=False) if isinstance(v, np.ndarray)}
    for number, (argument, kind) in enumerate(zip(abi.args, kinds, strict=True)):
        if argument.kind == "memory":
            array = args[number]
            take = _strided_bytes if argument.strides else _array_bytes
            values.append(take(array, element_type(kind), argument.name))
            shapes[number] = np.shape(array)  # type: ignore[arg-type]
        elif argument.kind == "symbol":
            values.append(_scalar(numbers[argument.name], kind, argument.name))
        elif argument.kind == "stride":
            strides = element_strides(by_name[argument.memory]) or ()
            values.append(_scalar(strides[argument.dim], kind, argument.name))
        else:
            values.append(_scalar(args[number], kind, argument.name))
    launch = _three(grid, "grid") if grid is not None else abi.grid_for(extents)
    return Bound(launch, _three(block, "block") if block is not None else abi.block, values, names, shapes)


class _Shape:
    """Shape and strides of an array: element types are checked here, where unsigned and packed ones are known."""

    def __init__(self, array: object) -> None:
        self.shape = np.shape(array)  # type: ignore[arg-type]
        if isinstance(array, np.ndarray):
            self.strides, self.itemsize = array.strides, array.itemsize


def _whole(value: object, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise SimError("arguments", f"symbol '{name}' must be an integer, not {value!r}")
    return int(value)
