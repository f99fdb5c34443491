"""Arguments of a call, checked against the kernel's ABI. Each error names the argument and says what to pass."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from wave_mlir.compiler.abi import ARRAY_DTYPES, AbiError, KernelABI, KernelArg
from wave_mlir.compiler.array_strides import RUN_TIME

from . import tensors
from .tensors import Description

Number = int | float

_ALIGNMENT = 4
"""Bytes that divide where a memory starts, unless it has run-time strides."""


class Checker:
    """Checks calls of one kernel. parameters: (name, memory, scalar or symbol) in signature order."""

    def __init__(self, abi: KernelABI, parameters: Sequence[tuple[str, str]]) -> None:
        self.abi = abi
        self.parameters = tuple(parameters)
        named = {name for name, kind in parameters if kind == "symbol"}
        self.further = tuple(n for n in abi.dynamic_symbols if n not in named)
        """Dynamic symbols that may follow the signature, in the order of the ABI."""

    def fail(self, text: str) -> AbiError:
        """The error about this kernel."""
        return AbiError(f"kernel '{self.abi.name}': {text}")

    # --- numbers ---

    def count(self, given: int) -> None:
        """A call with this many arguments."""
        least, most = len(self.parameters), len(self.parameters) + len(self.further)
        if least <= given <= most:
            return
        names = [n for n, _ in self.parameters]
        text = f"kernel '{self.abi.name}' takes {least} arguments ({', '.join(names)}); {given} were given"
        missing = names[given:]
        if missing:
            text += f": {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing (outputs are passed too)"
        elif self.further:
            text += f"; only values of {', '.join(self.further)} may follow"
        raise AbiError(text)

    def number(self, name: str, value: object) -> Number:
        """A Python number."""
        if isinstance(value, (bool, int, float)):
            return value
        if isinstance(value, np.generic) or (tensors.is_tensor(value) and not getattr(value, "shape", (1,))):
            return value.item()  # type: ignore[attr-defined]
        kind = type(value).__name__
        hint = "; pass x.item()" if tensors.is_tensor(value) else ""
        raise self.fail(f"argument '{name}' is a number; {kind} was given{hint}")

    def integer(self, name: str, value: object) -> int:
        """A Python integer, for a symbol."""
        number = self.number(name, value)
        if number != number or number in (float("inf"), float("-inf")) or int(number) != number:
            raise self.fail(f"symbol '{name}' is an integer; {number} was given")
        return int(number)

    # --- tensors ---

    def address(self, arg: KernelArg, pointer: int) -> int:
        """Where a memory starts, which the compiler relies on (docs/design.md, "gpu form")."""
        if pointer % _ALIGNMENT and RUN_TIME not in arg.strides:
            raise self.fail(
                f"the array of argument '{arg.name}' starts at an address that {_ALIGNMENT} does not divide (it is a "
                "view from some element on); pass a copy (and copy the result back), or declare a stride as given at "
                "run time: MemoryLayout(strides=(None, …))"
            )
        return pointer

    def library(self, name: str, value: object) -> tensors.TensorLibrary:
        """The library of a tensor argument."""
        found = tensors.library_of(value)
        if found is None:
            kind = type(value).__name__
            raise self.fail(
                f"argument '{name}' is a memory; give a tensor (of numpy, torch, or with DLPack), not {kind}"
            )
        return found

    def symbols(self, given: Sequence[Description], scalars: Sequence[Number], named: Mapping[str, int]) -> dict:
        """Values of all symbols; shapes, dtypes, strides and devices are checked."""
        memories = self.abi.memories
        for arg, tensor in zip(memories, given, strict=True):
            self._rank_and_dtype(arg, tensor)
        self._transposed(given, named)
        values = self.abi.bind(list(given), list(scalars), named)
        self._device(given)
        return values

    def _rank_and_dtype(self, arg: KernelArg, tensor: Description) -> None:
        if len(tensor.shape) != len(arg.shape):
            raise self.fail(
                f"argument '{arg.name}' has {len(arg.shape)} dims [{', '.join(arg.shape)}]; an array of "
                f"{len(tensor.shape)} dims was given, {list(tensor.shape)}; reshape it to the kernel's dims"
            )
        names = ARRAY_DTYPES.get(arg.dtype)
        if names and tensor.dtype not in names:
            raise self.fail(
                f"argument '{arg.name}' holds {arg.dtype}; an array of {tensor.dtype} was given; convert it to "
                f"{names[0]}, or change the element type in the kernel's annotation"
            )

    def _transposed(self, given: Sequence[Description], named: Mapping[str, int]) -> None:
        """Two dims the wrong way round, with everything else as it should be: the commonest wrong shape."""
        values = dict(self.abi.symbols) | dict(named)
        for arg, tensor in zip(self.abi.memories, given, strict=True):
            if len(arg.shape) < 2 or any(s not in values for s in arg.shape_symbols()):
                continue
            wanted = arg.extents(values)
            if tensor.shape != wanted and tensor.shape == (*wanted[:-2], wanted[-1], wanted[-2]):
                dims = ", ".join(arg.shape)
                raise self.fail(
                    f"argument '{arg.name}' is [{dims}] = {list(wanted)}; {list(tensor.shape)} was given, with the "
                    "last two dims exchanged; pass its transpose, made contiguous"
                )

    def _device(self, given: Sequence[Description]) -> None:
        names: dict[tuple[str, int], list[str]] = {}
        for arg, tensor in zip(self.abi.memories, given, strict=True):
            names.setdefault(tensor.device, []).append(arg.name)
        if len(names) > 1:
            listed = "; ".join(f"{', '.join(args)} on {device_text(d)}" for d, args in names.items())
            raise self.fail(f"tensors are on several devices ({listed}); move them to one")
        for device in names:
            if device[0] not in ("cpu", tensors.GPU):
                raise self.fail(
                    f"tensors are on {device_text(device)}; kernels run on AMD GPUs ('{tensors.GPU}' in torch) and, in "
                    "the simulator, on the CPU"
                )


def device_text(device: tuple[str, int]) -> str:
    """`cpu`, `cuda:1`."""
    return device[0] if device[0] == "cpu" else f"{device[0]}:{device[1]}"


# --- the kernel argument segment ---

_FORMATS = {"i1": "B", "i8": "B", "i16": "H", "i32": "I", "i64": "Q", "index": "Q", "f16": "e", "bf16": "H"}
_FORMATS |= {"f32": "f", "f64": "d"}


@dataclass(frozen=True)
class Segment:
    """The kernel argument segment: pack(pointers…, scalars…, symbols…, strides…), each naturally aligned."""

    pack: Callable[..., bytes]
    convert: tuple[Callable[[Number], Number], ...]
    """What makes of each scalar what `pack` takes."""

    @staticmethod
    def of(abi: KernelABI) -> Segment:
        """The segment of a kernel."""
        text, at = "<", 0
        for arg, offset in zip(abi.args, abi.offsets(), strict=True):
            code = {"memory": "Q", "symbol": "i", "stride": "q"}.get(arg.kind) or _FORMATS[arg.dtype]
            text += "x" * (offset - at) + code
            at = offset + arg.kernarg_bytes
        return Segment(struct.Struct(text).pack, tuple(_converter(abi, a) for a in abi.scalars))


def _converter(abi: KernelABI, arg: KernelArg) -> Callable[[Number], Number]:
    dtype = arg.dtype

    def fail(value: Number) -> AbiError:
        return AbiError(f"kernel '{abi.name}': argument '{arg.name}': {value} is no {dtype}")

    def to_float(value: Number) -> Number:
        number = float(value)
        try:
            struct.pack(f"<{_FORMATS[dtype]}", number)
        except (OverflowError, struct.error):
            raise fail(value) from None
        return number

    def to_bf16(value: Number) -> Number:
        return int(np.array(value, ml_dtypes.bfloat16).view(np.uint16))

    bits = 1 if dtype == "i1" else 8 * arg.kernarg_bytes

    def to_integer(value: Number) -> Number:
        if value != value or value in (float("inf"), float("-inf")):
            raise fail(value)
        number = int(value)
        if number != value or not -(1 << (bits - 1)) <= number < 1 << bits:
            raise fail(value)
        return number & ((1 << bits) - 1)

    if dtype == "bf16":
        return to_bf16
    return to_float if dtype.startswith("f") else to_integer
