"""Annotations of a kernel's arguments: memories, registers, scalars that bind symbols."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sympy

from . import tracing
from .dtypes import DataType
from .symbols import ExprLike

if TYPE_CHECKING:
    from typing import Any

    Memory: Any
    Register: Any
    SymbolBind: Any


class AddressSpace(enum.Enum):
    """Where a memory lies. SHARED of a kernel argument: in global memory, read through LDS."""

    GLOBAL_MEMORY = "global"
    SHARED_MEMORY = "shared"
    REGISTER = "register"


class KernelBufferUsage(enum.Enum):
    """What a kernel does with an argument, as kernels for the existing package say it: found by the compiler here."""

    NONE = 0
    INPUT = 1
    OUTPUT = 2
    TEMPORARY = 3


@dataclass(frozen=True)
class MemoryLayout:
    """How a memory lies: `shape`, the physical extents (rows may be longer than what is used), `strides` in elements.

    A stride, or an extent, of None is given at run time. Where a physical extent is not known to be at least that of
    the dim, it is the one that bounds accesses: the dim may be a sequence's and the tensor hold all sequences.
    """

    shape: Sequence[ExprLike | None] | None = None
    strides: Sequence[ExprLike | None] | None = None

    def __hash__(self) -> int:
        return hash(tuple(None if part is None else tuple(part) for part in (self.shape, self.strides)))


@dataclass(frozen=True)
class MemoryType:
    """`Memory[M, K, space, dtype]`: a tensor in memory. The space is a symbol until `subs` binds it."""

    shape: tuple[ExprLike, ...]
    space: sympy.Symbol | AddressSpace
    dtype: DataType
    layout: MemoryLayout | None = None

    def __repr__(self) -> str:
        return f"Memory[{', '.join(map(str, (*self.shape, self.space, self.dtype)))}]"


@dataclass(frozen=True)
class RegisterType:
    """`Register[M, N, dtype]`: a tile in registers. Called inside a kernel, a tile filled with a value."""

    shape: tuple[ExprLike, ...]
    dtype: DataType

    def __call__(self, value: object) -> object:
        return tracing.require("Register").register(self, value)

    def __repr__(self) -> str:
        return f"Register[{', '.join(map(str, (*self.shape, self.dtype)))}]"


@dataclass(frozen=True)
class SymbolBindType:
    """`SymbolBind[dtype]`: a scalar argument whose name is a symbol of the kernel."""

    dtype: DataType

    def __repr__(self) -> str:
        return f"SymbolBind[{self.dtype}]"


def _split_dtype(what: str, items: object) -> tuple[tuple, DataType]:
    given = items if isinstance(items, tuple) else (items,)
    parts = tuple(p for item in given for p in (item if isinstance(item, tuple) else (item,)))
    found = [p for p in parts if isinstance(p, DataType)]
    if len(found) != 1:
        raise TypeError(f"{what}{list(parts)}: exactly one element type is needed, such as tkl.f16")
    return tuple(p for p in parts if not isinstance(p, DataType)), found[0]


class _Memory:
    """`Memory[dims…, address_space, dtype(, MemoryLayout)]`; dims may be a tuple, a KernelBufferUsage says nothing."""

    def __class_getitem__(cls, items: object) -> MemoryType:
        parts, dtype = _split_dtype("Memory", items)
        layouts = [p for p in parts if isinstance(p, MemoryLayout)]
        parts = tuple(p for p in parts if not isinstance(p, (MemoryLayout, KernelBufferUsage)))
        if not parts or not isinstance(parts[-1], (sympy.Symbol, AddressSpace)):
            raise TypeError(f"Memory{list(parts)}: the last item before the element type is the address space")
        return MemoryType(parts[:-1], parts[-1], dtype, layouts[0] if layouts else None)


class _Register:
    """`Register[dims…, dtype]`."""

    def __class_getitem__(cls, items: object) -> RegisterType:
        parts, dtype = _split_dtype("Register", items)
        return RegisterType(parts, dtype)


class _SymbolBind:
    """`SymbolBind[dtype]`."""

    def __class_getitem__(cls, items: object) -> SymbolBindType:
        _, dtype = _split_dtype("SymbolBind", items)
        if not dtype.is_integer:
            raise TypeError(f"SymbolBind[{dtype}]: a symbol is an integer; take tkl.i32 or tkl.i64")
        return SymbolBindType(dtype)


if not TYPE_CHECKING:
    Memory, Register, SymbolBind = _Memory, _Register, _SymbolBind
