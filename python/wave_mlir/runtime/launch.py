"""Calling a compiled kernel: the arguments are checked, planned and run where the tensors are."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from mlir import ir

from wave_mlir import sim
from wave_mlir.compiler.abi import AbiError, KernelABI
from wave_mlir.compiler.array_strides import RUN_TIME, element_strides

from . import tensors


def gpu_arch() -> str:
    """The architecture of the GPU at hand, "" when there is none."""
    return ""


_ALIGNMENT = 4
"""Bytes that divide where a memory starts, unless it has run-time strides (docs/design.md, "gpu form")."""


@dataclass(frozen=True)
class LaunchPlan:
    """A launch: workgroups and threads along x, y, z; the kernel arguments' bytes; LDS bytes of a workgroup."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    kernargs: bytes
    lds_bytes: int


class Runnable(Protocol):
    """What a launch needs of a compiled module."""

    module: ir.Module


@dataclass(frozen=True)
class Arguments:
    """Arguments of a call by kind, checked. symbols: values of all symbols."""

    memories: list[object]
    scalars: list[int | float]
    given: dict[str, int]
    symbols: dict[str, int]


class Launcher:
    """Binds calls of one kernel. parameters: (name, memory, scalar or symbol) in signature order."""

    def __init__(self, abi: KernelABI, parameters: Sequence[tuple[str, str]]) -> None:
        self.abi = abi
        self.parameters = list(parameters)

    def bind(self, args: Sequence[object]) -> Arguments:
        """Arguments in signature order; values of dynamic symbols that no shape gives may follow. Raises AbiError."""
        rest = self._further(args)
        memories, scalars, given = [], [], dict(rest)
        for (name, kind), value in zip(self.parameters, args, strict=False):
            if kind == "memory":
                memories.append(self._tensor(name, value))
            elif kind == "scalar":
                scalars.append(self._number(name, value))
            else:
                given[name] = self._integer(name, value)
        return Arguments(memories, scalars, given, self.abi.bind(memories, scalars, given))

    def _further(self, args: Sequence[object]) -> dict[str, int]:
        """Values after the signature: of dynamic symbols, in the order of the ABI."""
        named = {name for name, kind in self.parameters if kind == "symbol"}
        names = [n for n in self.abi.dynamic_symbols if n not in named]
        extra = list(args[len(self.parameters) :])
        if len(args) < len(self.parameters) or len(extra) > len(names):
            listed = ", ".join(n for n, _ in self.parameters)
            raise AbiError(
                f"kernel '{self.abi.name}' takes {len(self.parameters)} arguments ({listed}); {len(args)} were given"
            )
        return {n: self._integer(n, v) for n, v in zip(names, extra, strict=False)}

    def _tensor(self, name: str, value: object) -> object:
        if not tensors.is_tensor(value):
            raise AbiError(
                f"kernel '{self.abi.name}': argument '{name}' is a memory; give a tensor, not {type(value).__name__}"
            )
        if not self._starts_well(name, value):
            raise AbiError(
                f"kernel '{self.abi.name}': the array of argument '{name}' starts at an address that {_ALIGNMENT} does "
                "not divide (it is a view from some element on); pass a copy (and copy the result back), or declare a "
                "stride as given at run time: MemoryLayout(strides=(None, …))"
            )
        return value

    def _starts_well(self, name: str, tensor: object) -> bool:
        if RUN_TIME in next(a.strides for a in self.abi.memories if a.name == name):
            return True
        return 0 in tensor.shape or _pointer(tensor) % _ALIGNMENT == 0  # type: ignore[attr-defined]

    def _number(self, name: str, value: object) -> int | float:
        if isinstance(value, (bool, int, float)):
            return value
        if isinstance(value, np.generic) or (tensors.is_tensor(value) and not getattr(value, "shape", (1,))):
            return value.item()  # type: ignore[attr-defined]
        raise AbiError(f"kernel '{self.abi.name}': argument '{name}' is a number; {type(value).__name__} was given")

    def _integer(self, name: str, value: object) -> int:
        number = self._number(name, value)
        if int(number) != number:
            raise AbiError(f"kernel '{self.abi.name}': symbol '{name}' is an integer; {number} was given")
        return int(number)

    def plan(self, args: Sequence[object]) -> LaunchPlan:
        """The launch of a call."""
        bound = self.bind(args)
        return LaunchPlan(
            self.abi.grid_for({n: bound.symbols[n] for n in self.abi.dynamic_symbols}),
            self.abi.block,
            self._kernargs(bound),
            self.abi.lds_bytes,
        )

    def _kernargs(self, bound: Arguments) -> bytes:
        """The kernel argument segment."""
        memories, scalars = iter(bound.memories), iter(bound.scalars)
        by_name = {a.name: m for a, m in zip(self.abi.memories, bound.memories, strict=True)}
        out = bytearray()
        for arg, offset in zip(self.abi.args, self.abi.offsets(), strict=True):
            out += bytes(offset - len(out))
            if arg.kind == "memory":
                out += struct.pack("<Q", _pointer(next(memories)))
            elif arg.kind == "scalar":
                value = next(scalars)
                try:
                    out += _scalar_bytes(arg.dtype, value)
                except (struct.error, OverflowError):
                    message = f"kernel '{self.abi.name}': argument '{arg.name}': {value} is no {arg.dtype}"
                    raise AbiError(message) from None
            elif arg.kind == "symbol":
                out += struct.pack("<i", bound.symbols[arg.name])
            else:
                out += struct.pack("<q", (element_strides(by_name[arg.memory]) or ())[arg.dim])
        return bytes(out)

    def __call__(self, args: Sequence[object], compiled: Runnable) -> None:
        bound = self.bind(args)
        kinds = {tensors.device_of(m) for m in bound.memories}
        if kinds - {"cpu"}:
            raise AbiError(f"kernel '{self.abi.name}': tensors on {', '.join(sorted(kinds))}; move them to the CPU")
        arrays = [tensors.as_numpy(m, a.name) for a, m in zip(self.abi.memories, bound.memories, strict=True)]
        dynamic = {n: bound.symbols[n] for n in self.abi.dynamic_symbols}
        sim.run(compiled.module, [*arrays, *bound.scalars], symbols=dynamic, kernel=self.abi.name)


def _pointer(tensor: object) -> int:
    if isinstance(tensor, np.ndarray):
        return tensor.ctypes.data
    return int(tensor.data_ptr())  # type: ignore[attr-defined]


_FORMATS = {"i1": "<B", "i8": "<b", "i16": "<h", "i32": "<i", "i64": "<q", "index": "<q", "f16": "<e"}
_FORMATS |= {"f32": "<f", "f64": "<d"}


def _scalar_bytes(dtype: str, value: int | float) -> bytes:
    if dtype == "bf16":
        import ml_dtypes

        return np.array(value, ml_dtypes.bfloat16).tobytes()
    return struct.pack(_FORMATS[dtype], value)
