"""Arguments of a launch → buffers at device addresses, and the kernel argument segment."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np

from .errors import IsaError
from .metadata import Argument, Kernel
from .native import BufferDesc

_FIRST_BUFFER, _BUFFER_STEP = 0x1000_0000_0000, 1 << 37
_LARGEST_SHIFT = 1 << 30  # how far a seed moves a buffer from the start of its slot
_ALIGN = 256
_MOST_BUFFERS = 800
_KERNARG_ADDRESS, _PACKET_ADDRESS, _QUEUE_ADDRESS = 0x7C00_0000_0000, 0x7B00_0000_0000, 0x7A00_0000_0000
_OWN = 0xFFFFFFFF  # BufferDesc.argument of what is the machine's
_SHARED_APERTURE, _PRIVATE_APERTURE = 1 << 48, 2 << 48  # as machine/include/machine/Lanes.h has them
_LOCAL_ALIGN = 16  # of LDS that an argument points to, where the metadata does not say it: the widest access
_FLOATS = {2: "<e", 4: "<f", 8: "<d"}

Scalar = int | float | bool | np.generic | bytes


@runtime_checkable
class Tensor(Protocol):
    """A torch tensor, as far as it matters here."""

    def data_ptr(self) -> int: ...
    def is_contiguous(self) -> bool: ...
    def element_size(self) -> int: ...
    def numel(self) -> int: ...
    def stride(self) -> Sequence[int]: ...
    @property
    def shape(self) -> Sequence[int]: ...


@dataclass
class Memory:
    """The buffers of a launch. `keep` holds the arrays that they point into."""

    buffers: list[BufferDesc] = field(default_factory=list)
    keep: list[np.ndarray] = field(default_factory=list)

    def add(
        self,
        address: int,
        data: np.ndarray,
        *,
        written: np.ndarray | None = None,
        writable: bool = True,
        argument: int = _OWN,
    ) -> int:
        """A buffer of the bytes `data` (u8, kept alive) at `address`, which is returned."""
        self.keep += [data] if written is None else [data, written]
        mask = None if written is None else written.ctypes.data
        self.buffers.append(BufferDesc(address, data.nbytes, data.ctypes.data, mask, writable, argument))
        return address


def packed(
    kernel: Kernel,
    args: Sequence[object],
    memory: Memory,
    *,
    seed: int,
    undefined: Collection[int],
    read_only: Collection[int],
    lds: int = 0,
) -> tuple[bytearray, int]:
    """The kernel argument segment with the explicit arguments, whose buffers are added to `memory`, and bytes of LDS.

    undefined, read_only: numbers of arguments. lds: bytes of LDS in use; what pointers to LDS whose size is given at
    launch point to (OpenCL's `local` arguments) comes behind. Raises IsaError "arguments".
    """
    layout = kernel.explicit if kernel.args is not None else _guess_layout(args)
    if len(args) != len(layout):
        listed = ", ".join(a.name or a.kind for a in layout)
        message = f"kernel '{kernel.name}' takes {len(layout)} arguments ({listed}); {len(args)} were given"
        raise IsaError("arguments", message)
    for what, numbers in (("undefined", undefined), ("read_only", read_only)):
        if not isinstance(numbers, Collection) or not all(isinstance(n, int | np.integer) for n in numbers):
            raise IsaError("arguments", f"{what} must be a list of the numbers of arguments, from 0, not {numbers!r}")
        for number in numbers:
            if not 0 <= number < len(args):
                raise IsaError("arguments", f"{what} names argument {number}; there are {len(args)}, from 0")
    end = max((a.offset + a.size for a in layout), default=0)
    segment = bytearray(-(-max(end, kernel.kernarg) // 16) * 16)
    binder = _Binder(memory, np.random.default_rng(seed))
    for number, (argument, value) in enumerate(zip(layout, args, strict=True)):
        if argument.pointer:
            fixed = argument.read_only or number in read_only
            raw = struct.pack("<Q", binder.buffer(number, value, number in undefined, fixed))
        elif argument.kind == "dynamic_shared_pointer":
            raw, lds = _local(number, argument, value, lds)
        else:
            raw = _scalar(number, argument, value)
        segment[argument.offset : argument.offset + argument.size] = raw[: argument.size]
    return segment, lds


def _local(number: int, argument: Argument, value: object, lds: int) -> tuple[bytes, int]:
    """A pointer to LDS behind the first `lds` bytes, aligned, and the bytes in use then; `value`: how many it needs."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        message = f"argument {number} points to LDS of a size given at launch; give the size in bytes, not {value!r}"
        raise IsaError("arguments", message)
    align = argument.align or _LOCAL_ALIGN
    start = -(-lds // align) * align
    return struct.pack("<Q", start), start + int(value)


def _guess_layout(args: Sequence[object]) -> tuple[Argument, ...]:
    """For code without metadata: pointers and numpy scalars, each naturally aligned."""
    out, at = [], 0
    for number, value in enumerate(args):
        pointer = value is None or isinstance(value, np.ndarray) or _is_tensor(value)
        if not pointer and not isinstance(value, np.generic):
            message = f"the code has no metadata, so argument {number} must say its size: give numpy.int32(…)"
            raise IsaError("arguments", message)
        size = 8 if pointer else value.itemsize  # type: ignore[union-attr]
        at = -(-at // size) * size
        out.append(Argument(at, size, "global_buffer" if pointer else "by_value"))
        at += size
    return tuple(out)


def _is_tensor(value: object) -> bool:
    return isinstance(value, Tensor) and not isinstance(value, np.ndarray | np.generic)


class _Binder:
    """Gives each array one buffer, also when it is passed twice."""

    def __init__(self, memory: Memory, rng: np.random.Generator) -> None:
        self.memory, self.rng = memory, rng
        self.seen: dict[tuple[int, int], tuple[int, int]] = {}  # (host address, bytes) -> (number, device address)

    def buffer(self, number: int, value: object, undefined: bool, fixed: bool) -> int:
        if value is None:
            return 0
        data, writable = _bytes_of(number, value)
        key = (data.ctypes.data, data.nbytes)
        if data.nbytes and key in self.seen:
            return self.seen[key][1]
        for (start, size), (other, _) in self.seen.items():
            if start < key[0] + key[1] and key[0] < start + size:
                message = f"arguments {other} and {number} overlap in part; give separate arrays, or the same one twice"
                raise IsaError("arguments", message)
        slot = len(self.memory.buffers)
        if slot >= _MOST_BUFFERS:
            raise IsaError("arguments", f"more than {_MOST_BUFFERS} arrays")
        shift = int(self.rng.integers(0, _LARGEST_SHIFT // _ALIGN)) * _ALIGN
        address = _FIRST_BUFFER + slot * _BUFFER_STEP + shift
        written = np.zeros(data.nbytes, np.uint8) if undefined else None
        self.memory.add(address, data, written=written, writable=writable and not fixed, argument=number)
        self.seen[key] = (number, address)
        return address


def _bytes_of(number: int, value: object) -> tuple[np.ndarray, bool]:
    """The bytes of an array or tensor as a view, and whether they may be written."""
    if isinstance(value, np.ndarray):
        if not value.flags.c_contiguous:
            raise IsaError("arguments", _not_contiguous(number, "numpy.ascontiguousarray of it"))
        if value.dtype.hasobject:
            raise IsaError("arguments", f"argument {number} is an array of Python objects, which is no device memory")
        if not value.dtype.isnative:
            message = f"the array of argument {number} has another byte order; pass .astype(a.dtype.newbyteorder('='))"
            raise IsaError("arguments", f"{message} of it and copy the result back")
        if isinstance(value, np.ma.MaskedArray):
            raise IsaError("arguments", f"argument {number} is a masked array; pass its .data")
        return np.asarray(value).reshape(-1).view(np.uint8), bool(value.flags.writeable)
    if _is_tensor(value) and isinstance(value, Tensor):
        device = str(getattr(value, "device", "cpu"))
        if device != "cpu":
            raise IsaError("arguments", f"argument {number} is a tensor on {device}; give it with .cpu()")
        if not value.is_contiguous():
            raise IsaError("arguments", _not_contiguous(number, ".contiguous() of it"))
        if _is_lazy(value):
            message = f"argument {number} is a tensor whose conjugate or negative is not worked out yet"
            raise IsaError("arguments", f"{message}; pass .resolve_conj().resolve_neg() of it and copy the result back")
        size = value.numel() * value.element_size()
        if not size:
            return np.zeros(0, np.uint8), True
        return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(value.data_ptr())), True
    message = f"argument {number} is a pointer; give a numpy array or a torch tensor, not {type(value).__name__}"
    raise IsaError("arguments", message)


def _is_lazy(tensor: object) -> bool:
    """Whether torch holds a tensor's values as the conjugate or negative of what is in memory."""
    flags = (getattr(tensor, name, None) for name in ("is_conj", "is_neg"))
    return any(bool(flag()) for flag in flags if callable(flag))


def _not_contiguous(number: int, remedy: str) -> str:
    return f"the array of argument {number} is not C-contiguous; pass {remedy} and copy the result back"


def _scalar(number: int, argument: Argument, value: object) -> bytes:
    size = argument.size
    what = f"argument {number} ({argument.name})" if argument.name else f"argument {number}"
    if isinstance(value, bytes | bytearray | np.generic):
        raw = value if isinstance(value, bytes | bytearray) else value.tobytes()
        if len(raw) != size:
            raise IsaError("arguments", f"{what} has {size} bytes; a value of {len(raw)} bytes was given")
        return bytes(raw)
    if isinstance(value, float):
        if size not in _FLOATS:
            raise IsaError("arguments", f"{what} has {size} bytes, which is no float; give an integer or bytes")
        try:
            return struct.pack(_FLOATS[size], value)
        except OverflowError:
            raise IsaError("arguments", f"{what}: {value} is too large for a float of {size} bytes") from None
    if isinstance(value, int):
        if size > 8 or not -(1 << (8 * size - 1)) <= value < 1 << 8 * size:
            raise IsaError("arguments", f"{what}: {value} does not fit in {size} bytes")
        return (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")
    raise IsaError("arguments", f"{what} is a value of {size} bytes; give a number, not {type(value).__name__}")


def fill_hidden(
    segment: bytearray, kernel: Kernel, grid: tuple[int, int, int], block: tuple[int, int, int], dynamic_lds: int
) -> None:
    """The arguments that the runtime fills ("Code Object V5 Metadata", hidden kernel arguments). Others stay 0."""
    values = {
        "hidden_grid_dims": max((i + 1 for i in range(3) if grid[i] * block[i] > 1), default=1),
        "hidden_dynamic_lds_size": dynamic_lds,
        "hidden_shared_base": _SHARED_APERTURE >> 32,
        "hidden_private_base": _PRIVATE_APERTURE >> 32,
        "hidden_queue_ptr": _QUEUE_ADDRESS,
    }
    for i, axis in enumerate("xyz"):
        values[f"hidden_block_count_{axis}"] = grid[i]
        values[f"hidden_group_size_{axis}"] = block[i]
    for argument in kernel.args or ():
        if argument.kind in values:
            raw = values[argument.kind].to_bytes(8, "little")[: argument.size]
            segment[argument.offset : argument.offset + argument.size] = raw


def user_registers(
    kernel: Kernel,
    memory: Memory,
    segment: bytearray,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    lds: int,
) -> list[int]:
    """The values of the user SGPRs; what they point to is added to `memory`. IsaError for one that is not modelled."""
    kernarg = memory.add(_KERNARG_ADDRESS, np.frombuffer(segment, np.uint8), writable=False) if segment else 0
    registers: list[int] = []
    for name in kernel.user:
        if name == "kernarg_segment_ptr":
            value = kernarg or _KERNARG_ADDRESS
        elif name == "dispatch_ptr":
            packet = _packet(kernel, grid, block, lds)
            value = memory.add(_PACKET_ADDRESS, np.frombuffer(packet, np.uint8), writable=False)
        elif name == "queue_ptr":
            value = memory.add(_QUEUE_ADDRESS, np.zeros(256, np.uint8), written=np.zeros(256, np.uint8))
        elif name == "dispatch_id":
            value = 0
        elif name == "private_segment_size":
            registers.append(kernel.scratch)
            continue
        else:
            raise IsaError("unsupported", f"kernel '{kernel.name}' asks for {name}, which these targets do not set up")
        registers += [value & 0xFFFFFFFF, value >> 32]
    length, offset = kernel.preload
    words = segment[4 * offset : 4 * (offset + length)].ljust(4 * length, b"\0")
    registers += struct.unpack(f"<{length}I", words)
    return registers + [0] * (kernel.user_count - len(registers))


def _packet(kernel: Kernel, grid: tuple[int, int, int], block: tuple[int, int, int], lds: int) -> bytes:
    """hsa_kernel_dispatch_packet_t (HSA Platform System Architecture Specification, "Kernel dispatch packet")."""
    dims = max((i + 1 for i in range(3) if grid[i] * block[i] > 1), default=1)
    sizes = [g * b for g, b in zip(grid, block, strict=True)]
    return struct.pack(
        "<HHHHHHIIIIIQQQQ", 2, dims, *block, 0, *sizes, kernel.scratch, lds, 0, _KERNARG_ADDRESS, 0, 0
    )  # fmt: skip
