"""Calling a compiled kernel: the arguments are checked, planned and run where the tensors are.

What a call needs besides addresses and scalars depends on shapes, strides, dtypes and devices alone; it is worked out
once for each such combination and kept.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from mlir import ir

from wave_mlir.compiler.abi import AbiError, KernelABI, KernelArg

from . import hip, tensors
from .arguments import Checker, Number, Segment
from .gpu import gpu_arch

__all__ = ["Arguments", "LaunchPlan", "Launcher", "Runnable", "gpu_arch"]

_KEPT = 1024
"""Combinations of shapes that a kernel keeps."""


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """A launch: workgroups and threads along x, y, z; the kernel arguments' bytes; LDS bytes of a workgroup."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    kernargs: bytes
    lds_bytes: int


class Runnable(Protocol):
    """What a launch needs of a compiled module: gpu form for the simulator, the code object for a GPU."""

    @property
    def module(self) -> ir.Module: ...
    @property
    def hsaco(self) -> bytes: ...


def untraced(launcher: Launcher) -> Callable[[Sequence[object], Runnable], None]:
    """The launcher, or, in a process that uses torch.compile, a function that it calls as it is and does not look into.
    torch is not imported for that."""
    if "torch._dynamo" not in sys.modules:
        return launcher
    return _through_torch(launcher)


def _through_torch(launcher: Launcher) -> Callable[[Sequence[object], Runnable], None]:
    made = launcher.for_dynamo
    if made is None:
        reason = "a compiled kernel; register it as an operator with wave_mlir.runtime.torch_op to have it in a graph"
        made = launcher.for_dynamo = sys.modules["torch"].compiler.disable(launcher.__call__, reason=reason)
    return made


@dataclass(frozen=True)
class Arguments:
    """Arguments of a call by kind, checked. symbols: values of all symbols."""

    memories: list[object]
    scalars: list[Number]
    symbols: dict[str, int]


@dataclass(frozen=True, slots=True)
class _Prepared:
    """What calls with equal signatures share. tail: values of dynamic symbols, then run-time strides."""

    grid: tuple[int, int, int]
    device: tuple[str, int]
    symbols: dict[str, int]
    tail: tuple[int, ...]


class Launcher:
    """Binds calls of one kernel. parameters: (name, memory, scalar or symbol) in signature order. agreeing_writes: the
    simulator lets workgroups store the same value at one place."""

    def __init__(self, abi: KernelABI, parameters: Sequence[tuple[str, str]], agreeing_writes: bool = False) -> None:
        self.abi = abi
        self.agreeing_writes = agreeing_writes
        self.check = Checker(abi, parameters)
        self._segment = Segment.of(abi)
        self._kinds = tuple(kind for _, kind in self.check.parameters)
        self._writes = tuple(a.access != "read" for a in abi.memories)
        self._known: dict[Hashable, _Prepared] = {}
        self._loaded: dict[int, hip.Function] = {}
        self.for_dynamo: Callable[[Sequence[object], Runnable], None] | None = None

    # --- binding ---

    def _bound(self, args: Sequence[object]) -> tuple[_Prepared, list[tuple[tensors.TensorLibrary, object]], list]:
        """(what is known of such calls, (library, tensor) of the memories, scalars as the segment takes them)."""
        check, library_of = self.check, tensors.library_of
        if len(args) != len(self._kinds):
            check.count(len(args))
        signature: list[Hashable] = []
        memories, scalars = [], []
        convert = iter(self._segment.convert)
        for (name, kind), value in zip(check.parameters, args, strict=False):
            if kind == "memory":
                library = library_of(value) or check.library(name, value)
                memories.append((library, value))
                signature.append(library.signature(value))
            elif kind == "scalar":
                scalars.append(next(convert)(check.number(name, value)))
            else:
                signature.append(check.integer(name, value))
        for name, value in zip(check.further, args[len(self._kinds) :], strict=False):
            signature.append((name, check.integer(name, value)))
        key = tuple(signature)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._prepare(args, memories, scalars)
            if len(self._known) > _KEPT:
                self._known.pop(next(iter(self._known)))
        return known, memories, scalars

    def _prepare(self, args: Sequence[object], memories: list, scalars: list) -> _Prepared:
        check, abi = self.check, self.abi
        given = [self._described(a, *m) for a, m in zip(abi.memories, memories, strict=True)]
        named = {n: check.integer(n, v) for (n, k), v in zip(check.parameters, args, strict=False) if k == "symbol"}
        rest = zip(check.further, args[len(self._kinds) :], strict=False)
        named |= {n: check.integer(n, v) for n, v in rest}
        values = check.symbols(given, scalars, named)
        self._writable(memories)
        numbers = [values[n] for n in abi.dynamic_symbols]
        by_name = {a.name: d for a, d in zip(abi.memories, given, strict=True)}
        strides = [by_name[a.memory].strides[a.dim] for a in abi.args if a.kind == "stride"]
        grid = abi.grid_for({n: values[n] for n in abi.dynamic_symbols})
        device = given[0].device if given else tensors.CPU
        return _Prepared(grid, device, values, (*numbers, *strides))

    def _described(self, arg: KernelArg, library: tensors.TensorLibrary, tensor: object) -> tensors.Description:
        try:
            return library.describe(tensor)
        except ValueError as error:
            raise self.check.fail(f"the array of argument '{arg.name}': {error}; pass a copy") from None

    def _writable(self, memories: list) -> None:
        for arg, (_, tensor), writes in zip(self.abi.memories, memories, self._writes, strict=True):
            if writes and isinstance(tensor, np.ndarray) and not tensor.flags.writeable:
                raise self.check.fail(f"argument '{arg.name}' is written, but the array is read-only; pass a copy")

    def bind(self, args: Sequence[object]) -> Arguments:
        """Arguments in signature order; values of dynamic symbols that no shape gives may follow. Raises AbiError."""
        known, memories, _ = self._bound(args)
        scalars = [
            self.check.number(name, value)
            for (name, kind), value in zip(self.check.parameters, args, strict=False)
            if kind == "scalar"
        ]
        return Arguments([m for _, m in memories], scalars, known.symbols)

    def plan(self, args: Sequence[object]) -> LaunchPlan:
        """The launch of a call."""
        known, memories, scalars = self._bound(args)
        pointers = self._pointers(memories)
        kernargs = self._segment.pack(*pointers, *scalars, *known.tail)
        return LaunchPlan(known.grid, self.abi.block, kernargs, self.abi.lds_bytes)

    def _pointers(self, memories: list) -> list[int]:
        """Where the memories start. An array without elements is nowhere."""
        pointers = [library.pointer(tensor) for library, tensor in memories]
        for number, pointer in enumerate(pointers):
            if pointer & 3 and 0 not in memories[number][1].shape:
                self.check.address(self.abi.memories[number], pointer)
        return pointers

    # --- running ---

    def __call__(self, args: Sequence[object], compiled: Runnable) -> None:
        known, memories, scalars = self._bound(args)
        if known.device[0] == "cpu":
            self._simulate(known, memories, self.bind(args).scalars, compiled)
        else:
            self._launch(known, memories, scalars, compiled)
        for (library, tensor), writes in zip(memories, self._writes, strict=True):
            if writes:
                library.written(tensor)

    def _simulate(self, known: _Prepared, memories: list, scalars: list[Number], compiled: Runnable) -> None:
        from wave_mlir import sim

        self._pointers(memories)
        arrays = []
        for arg, (library, tensor) in zip(self.abi.memories, memories, strict=True):
            try:
                arrays.append(library.as_numpy(tensor))
            except (TypeError, BufferError, RuntimeError) as error:
                kind = type(tensor).__name__
                raise self.check.fail(f"argument '{arg.name}': {kind} gives no array: {error}") from None
        dynamic = {n: known.symbols[n] for n in self.abi.dynamic_symbols}
        agreeing = self.agreeing_writes
        sim.run(compiled.module, [*arrays, *scalars], symbols=dynamic, kernel=self.abi.name, agreeing_writes=agreeing)

    def _launch(self, known: _Prepared, memories: list, scalars: list, compiled: Runnable) -> None:
        pointers = self._pointers(memories)
        if 0 in known.grid:
            return
        self._fits_hardware(known.grid)
        device = known.device[1]
        runtime = hip.runtime()
        function = self._loaded.get(device)
        if function is None:
            function = self._loaded[device] = runtime.load(compiled.hsaco, self.abi.name, device, self.abi.target)
        kernargs = self._segment.pack(*pointers, *scalars, *known.tail)
        stream = memories[0][0].stream(known.device)
        runtime.launch(function, known.grid, self.abi.block, kernargs, stream)

    def _fits_hardware(self, grid: tuple[int, int, int]) -> None:
        """The packet that starts a kernel has the threads along each axis in 32 bits."""
        for axis, groups, threads in zip("xyz", grid, self.abi.block, strict=True):
            if groups * threads >= 1 << 32:
                raise AbiError(
                    f"kernel '{self.abi.name}': {groups} workgroups of {threads} threads along {axis} are 2^32 threads "
                    "or more; take larger tiles or another grid dim"
                )
