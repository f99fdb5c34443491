"""What a run through a kernel moves to and from its LDS buffers."""

from __future__ import annotations

import math
from collections.abc import Iterator

from mlir import ir

from wave_mlir.dialect import MemoryType

from .direct_copies import COPY
from .kernel_info import KernelInfo
from .lane_access import element_bits, width_of
from .lds import Buffer
from .tile_ir import body_of, walk


def accesses(kernel: ir.OpView, buffers: list[Buffer]) -> Iterator[tuple[int, ir.Operation]]:
    """(number of the buffer, op) of all ops with an LDS buffer, in the order of the program."""
    number = {buffer.op.results[0]: n for n, buffer in enumerate(buffers)}
    for op in walk(body_of(kernel)):
        for memory in (v for v in op.operands if isinstance(v.type, MemoryType)):
            if memory in number:
                yield number[memory], op


def bytes_of(op: ir.Operation, info: KernelInfo) -> tuple[int, int]:
    """(read, written): bytes that all waves together move by a read, a write or a direct copy; nothing else counts."""
    memory = next(v for v in reversed(op.operands) if isinstance(v.type, MemoryType))
    bits = element_bits(MemoryType(memory.type).element_type)
    lanes = info.wave_size * math.prod(info.block_waves)
    if op.name == COPY:
        return 0, ir.IntegerAttr(op.attributes["elements"]).value * bits * lanes // 8
    if op.name not in ("wave.read", "wave.write"):
        return 0, 0
    size = width_of(op) * bits * lanes // 8
    return (size, 0) if op.name == "wave.read" else (0, size)


def summary(buffer: Buffer, read: int, written: int, degree: int | None, sharing: int = 0) -> str:
    """A line on a packed buffer. degree: of bank conflicts, if known; sharing: how many buffers have bytes of it."""
    reuse = f", read {read / written:.1f} times" if written else ""
    common = f", in common with {sharing} other{'s' if sharing > 1 else ''}" if sharing else ""
    conflicts = "conflicts not known" if degree is None else f"at most {degree} rows of a bank in a phase"
    place = f"{buffer.bytes} bytes of LDS at {buffer.offset or 0}{common}"
    return f"{place}; all waves write {written} and read {read} bytes{reuse}; {conflicts}"
