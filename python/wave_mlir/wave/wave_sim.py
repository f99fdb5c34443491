"""`wave_sim`: a kernel that runs on the CPU as it stands, with sizes from its tensors and no options.

    @wave_sim(constraints)
    def double(a: tkl.Memory[M, SPACE, tkl.f32], b: tkl.Memory[M, SPACE, tkl.f32]):
        x = tkw.read(a)
        tkw.write(x + x, b)

    double(a, b)

For trying out what a kernel computes. Every call compiles for the shapes and dtypes of its arguments (what was compiled
before is kept) and runs in the simulator. Symbols that nothing binds get values here: dims those of the tensors, tiles
those of `TILE` and `STEP`, address spaces global memory, and every other symbol (elements a thread) 1.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType
from typing import ClassVar

import sympy

from wave_mlir.compiler.abi import ARRAY_DTYPES
from wave_mlir.lang.dtypes import ALL, DataType
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE, SPACES
from wave_mlir.lang.types import MemoryType
from wave_mlir.runtime import tensors

from . import source
from .compile import wave_compile
from .compile_options import WaveCompileOptions
from .constraints import Constraint, TilingConstraint, WaveConstraint, WorkgroupConstraint
from .kernel import WaveKernel

__all__ = ["SimulatedKernel", "wave_sim"]

TILE = 32
"""Elements of a workgroup's (and a wave's) tile along a dim whose tile size is a symbol without a value."""
STEP = 16
"""Elements of a loop's tile along such a dim: what a trip of it takes."""


class SimulatedKernel:
    """A kernel to be called with tensors on the CPU, in signature order; outputs are written in place."""

    target: ClassVar[str] = "gfx942"

    def __init__(self, function: FunctionType, constraints: Sequence[Constraint], scope: dict[str, object]) -> None:
        self._kernel = WaveKernel(function, constraints, scope, compat=True)
        self._typed: dict[tuple[str | None, ...], WaveKernel] = {}
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__

    def __call__(self, *args: object) -> None:
        """Compile for these arguments and run. Raises CompileError and AbiError as a compiled kernel does."""
        parameters = self._kernel.parameters
        if len(args) != len(parameters):
            raise source.error(f"kernel {self.__name__} has {len(parameters)} arguments; {len(args)} were given")
        options = WaveCompileOptions(subs=self._subs(args), target=self.target)
        wave_compile(options, self._of_dtypes(args))(*args)

    def _subs(self, args: Sequence[object]) -> dict[sympy.Symbol, object]:
        found: dict[sympy.Symbol, object] = {}
        for parameter, value in zip(self._kernel.parameters, args, strict=True):
            library = tensors.library_of(value)
            if isinstance(parameter.kind, MemoryType) and library is not None:
                self._bind_dims(found, parameter.name, parameter.kind, library.describe(value).shape)
        for symbol in _tiles(self._kernel.constraints, (WorkgroupConstraint, WaveConstraint)):
            found.setdefault(symbol, TILE)
        for symbol in _tiles(self._kernel.constraints, (TilingConstraint,)):
            found.setdefault(symbol, STEP)
        for symbol in _free_variables(self._kernel.function):
            if symbol not in SPACES and not symbol.name.startswith("$"):
                found.setdefault(symbol, 1)
        return found

    def _bind_dims(
        self, found: dict[sympy.Symbol, object], name: str, kind: MemoryType, shape: tuple[int, ...]
    ) -> None:
        if len(shape) != len(kind.shape):
            raise source.error(
                f"kernel {self.__name__}: argument {name} has {len(kind.shape)} dims; "
                f"a tensor of {len(shape)} was given"
            )
        for dim, extent in zip(kind.shape, shape, strict=True):
            if isinstance(dim, sympy.Symbol) and found.setdefault(dim, extent) != extent:
                raise source.error(
                    f"kernel {self.__name__}: {dim} is {found[dim]} in one argument and {extent} in argument {name}"
                )
        if isinstance(kind.space, sympy.Symbol) and kind.space not in SPACES:
            found[kind.space] = GLOBAL_ADDRESS_SPACE

    def _of_dtypes(self, args: Sequence[object]) -> WaveKernel:
        """The kernel with memories of the dtypes of the tensors: what is tried out here may be more precise."""
        dtypes = tuple(_dtype(value) for value in args)
        if dtypes not in self._typed:
            self._typed[dtypes] = self._retyped(dtypes)
        return self._typed[dtypes]

    def _retyped(self, dtypes: tuple[str | None, ...]) -> WaveKernel:
        made = WaveKernel.__new__(WaveKernel)
        made.__dict__.update(self._kernel.__dict__)
        made.compiled = {}
        made.parameters = tuple(
            dataclasses.replace(p, kind=dataclasses.replace(p.kind, dtype=_BY_ARRAY[name]))
            if isinstance(p.kind, MemoryType) and name in _BY_ARRAY and name not in ARRAY_DTYPES[p.kind.dtype.mlir]
            else p
            for p, name in zip(self._kernel.parameters, dtypes, strict=True)
        )
        return made


def wave_sim(constraints: Sequence[Constraint]) -> Callable[[FunctionType], SimulatedKernel]:
    """The decorator that makes a function a kernel to be called with tensors: `@wave_sim(constraints)`."""
    scope = dict(sys._getframe(1).f_locals)

    def decorate(function: FunctionType) -> SimulatedKernel:
        return SimulatedKernel(function, constraints, scope)

    return decorate


_BY_ARRAY: dict[str, DataType] = {
    names[0]: dtype for dtype in ALL for names in [ARRAY_DTYPES.get(dtype.mlir, ())] if names
}


def _dtype(value: object) -> str | None:
    library = tensors.library_of(value)
    return library.describe(value).dtype if library is not None else None


def _tiles(constraints: Sequence[Constraint], kinds: tuple[type, ...]) -> Iterator[sympy.Symbol]:
    for constraint in constraints:
        if isinstance(constraint, kinds) and isinstance(size := getattr(constraint, "tile_size", None), sympy.Symbol):
            yield size


def _free_variables(function: FunctionType) -> Iterator[sympy.Symbol]:
    """Symbols that a kernel's function and those inside of it name, from around it."""
    pending = [function.__code__]
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    scope = {**function.__globals__, **{name: cell.cell_contents for name, cell in cells.items()}}
    while pending:
        code = pending.pop()
        pending += [c for c in code.co_consts if isinstance(c, type(code))]
        for name in (*code.co_freevars, *code.co_names):
            if isinstance(scope.get(name), sympy.Symbol):
                yield scope[name]
