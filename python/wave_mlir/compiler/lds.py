"""LDS of a kernel: its buffers, their sizes and places."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from wave_mlir.dialect import MemoryType

from .diagnostics import PassError
from .kernel_info import KernelInfo
from .lane_access import element_bits
from .tile_ir import body_of, walk

ALIGNMENT = 16  # bytes: what the widest LDS access needs


@dataclass(frozen=True)
class Buffer:
    """One `wave.allocate` in shared space; sizes and offset in bytes (offset None: not packed yet)."""

    op: ir.Operation
    bytes: int
    offset: int | None


def allocations(kernel: ir.Operation) -> list[ir.Operation]:
    """Every `wave.allocate` of a kernel in program order."""
    return [op for op in walk(body_of(kernel)) if op.name == "wave.allocate"]


def buffer_of(op: ir.Operation, info: KernelInfo) -> Buffer:
    """Size and place of one allocation. Raises PassError when its extents are not known at compile time."""
    memory = MemoryType(op.results[0].type)
    extents = [info.resolve(e).constant_value for e in memory.shape]
    strides = [None if s is None else info.resolve(s).constant_value for s in memory.element_strides]
    if any(value is None for value in extents + strides):
        raise PassError(op, f"the size of {memory} is not known at compile time; LDS needs static extents: give the "
                            "tile sizes as static symbols")  # fmt: skip
    last = sum((e - 1) * s for e, s in zip(extents, strides, strict=True) if e is not None and s is not None)
    size = (last + 1) * element_bits(memory.element_type)
    offset = op.attributes["offset"].value if "offset" in op.attributes else None
    return Buffer(op, -(-size // 8), offset)


def read_by_masked_lanes(op: ir.Operation, memory: ir.Value, info: KernelInfo) -> Buffer | None:
    """The LDS buffer that a masked read reads, None for other accesses.

    Lanes without the mask read too, and drop what they got: where, is up to the lowering, but it is in the buffer.
    """
    if op.name != "wave.read" or op.opview.mask is None or isinstance(memory.owner, ir.Block):
        return None
    return buffer_of(memory.owner.operation, info)


def buffers(kernel: ir.Operation, info: KernelInfo) -> list[Buffer]:
    """The LDS buffers of a kernel in program order."""
    return [buffer_of(op, info) for op in allocations(kernel)]


def lds_bytes_of(kernel: ir.Operation, info: KernelInfo) -> int:
    """Bytes of LDS that a packed kernel uses: the end of its last buffer."""
    return max((b.offset + b.bytes for b in buffers(kernel, info) if b.offset is not None), default=0)


def aligned(offset: int) -> int:
    """The first place for a buffer at or after an offset."""
    return -(-offset // ALIGNMENT) * ALIGNMENT


def shared_bytes(a: Buffer, b: Buffer) -> bool:
    """Whether two buffers with places have a byte in common."""
    if a.offset is None or b.offset is None:
        return False
    return a.offset < b.offset + b.bytes and b.offset < a.offset + a.bytes


def families(found: list[Buffer]) -> dict[ir.Value, ir.Value]:
    """For each buffer that has bytes in common with others one that stands for all of them, also of those in turn."""
    head = list(range(len(found)))
    for n, buffer in enumerate(found):
        for m in range(n):
            if shared_bytes(buffer, found[m]) and head[m] != head[n]:
                old, new = max(head[m], head[n]), min(head[m], head[n])
                head = [new if h == old else h for h in head]
    return {b.op.results[0]: found[h].op.results[0] for b, h in zip(found, head, strict=True) if head.count(h) > 1}


def check_fits(kernel: ir.Operation, info: KernelInfo, found: list[Buffer], limit: int) -> None:
    """Raise PassError, listing the buffers, when these need more than `limit` bytes; those without a place follow."""
    end = max((b.offset + b.bytes for b in found if b.offset is not None), default=0)
    for buffer in found:
        end = aligned(end) + buffer.bytes if buffer.offset is None else end
    if end <= limit:
        return
    name = ir.StringAttr(kernel.attributes["sym_name"]).value
    error = PassError(
        kernel,
        f"kernel '{name}' needs {end} bytes of LDS and {info.target.name} has {limit} a workgroup; "
        "use smaller tiles or keep an operand out of shared space",
    )
    for buffer in found:
        error.note(buffer.op, f"{buffer.bytes} bytes: {buffer.op.results[0].type}")
    raise error
