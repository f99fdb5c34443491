"""Memory: flat byte arrays accessed through byte-addressed windows, and the run-time value of a memref.

A *storage* is one global buffer, the LDS of all workgroups, or one private array of all lanes. Its bytes are one numpy
array; an access of n bytes at byte addresses `a` is `window(n)[a]`, one fancy-indexing call whatever the alignment.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .dtypes import DType
from .shadow import Shadow
from .spinning import Turns

GLOBAL, LDS, PRIVATE = "global", "LDS", "private"

_RAW = {1: "u1", 2: "u2", 4: "u4", 8: "u8", 16: "c16"}


class Storage:
    """Bytes of one memory object.

    name: as in messages. space: GLOBAL, LDS or PRIVATE. data: 1-D uint8, all instances one after another.
    size: bytes of one instance. stride: distance between two instances (0: there is only one).
    shadow: race state, or None when nothing can race. turns: whom to tell of changes, or None. base: virtual address of
    the first byte, for pointers.
    """

    __slots__ = ("_windows", "base", "data", "name", "shadow", "size", "space", "stride", "turns")

    def __init__(self, name: str, space: str, data: np.ndarray, size: int, stride: int, base: int) -> None:
        self.name = name
        self.space = space
        self.data = data
        self.size = size
        self.stride = stride
        self.base = base
        self.shadow: Shadow | None = None
        self.turns: Turns | None = None
        self._windows: dict[int, np.ndarray] = {}

    def window(self, size: int) -> np.ndarray:
        """All runs of `size` bytes: element a is the run that starts at byte a, as one opaque item."""
        found = self._windows.get(size)
        if found is None:
            count = max(self.data.size - size + 1, 0)
            raw = _RAW.get(size, f"V{size}")
            found = np.ndarray((count,), dtype=raw, buffer=self.data, strides=(1,)) if count else np.empty(0, raw)
            self._windows[size] = found
        return found

    def load(self, addresses: np.ndarray, dtype: DType, count: int) -> np.ndarray:
        """`count` consecutive elements at each byte address: shape (*addresses.shape, count)."""
        raw = self.window(dtype.size * count)[addresses]
        return raw[..., None].view(dtype.np)

    def store(self, addresses: np.ndarray, values: np.ndarray, dtype: DType) -> None:
        """Write values[..., count] at the byte addresses; of equal addresses the last one in order wins."""
        size = dtype.size * values.shape[-1]
        window = self.window(size)
        flat = np.ascontiguousarray(values, dtype=dtype.np)
        items = flat.view(window.dtype)[..., 0]
        if self.turns is not None:
            self.turns.note_change(np.ascontiguousarray(window[addresses]), np.ascontiguousarray(items))
        window[addresses] = items


@dataclass(frozen=True, slots=True, eq=False)
class MemRef:
    """Run-time value of a memref.

    base: byte offset of element 0 in an instance, int64 broadcastable to (waves, lanes).
    shape, strides: per dim, in elements; int or int64 arrays like base. An extent None is unknown (not checked by dim).
    valid: None, or of a buffer resource the bytes that are in range from `origin` on; out of range loads give 0.
    origin: byte offset of the resource's base.
    """

    storage: Storage
    base: np.ndarray
    shape: tuple[int | np.ndarray | None, ...]
    strides: tuple[int | np.ndarray, ...]
    dtype: DType
    valid: np.ndarray | None = None
    origin: np.ndarray | None = None
    checked: bool = field(default=True)


@dataclass(frozen=True, slots=True, eq=False)
class Resource:
    """Run-time value of a buffer resource pointer: 64-bit base address and the number of valid bytes."""

    address: np.ndarray
    valid: np.ndarray
