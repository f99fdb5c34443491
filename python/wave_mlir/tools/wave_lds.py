"""What `wave report --lds` shows, read from a kernel's scheduled form (LDS) and placed form (layouts)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from mlir import ir

from wave_mlir.compiler import lds, lds_traffic
from wave_mlir.compiler.diagnostics import location_text
from wave_mlir.compiler.direct_copies import COPY
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.lane_access import element_bits, linear_of, memory_of, width_of
from wave_mlir.compiler.tile_ir import body_of, walk
from wave_mlir.dialect import MemoryType, TileType
from wave_mlir.dialect.layout import block_sizes, coordinates
from wave_mlir.report.lds_banks import Access, Buffer, LdsReport
from wave_mlir.report.tile_picture import MOST, TilePicture

_WAVES = ("wave.x", "wave.y", "wave.z")


def reports(module: ir.Module) -> dict[str, LdsReport]:
    """The LDS of each kernel of a module in scheduled form."""
    kernels = (op for op in module.body.operations if op.operation.name == "wave.kernel")
    return {_name(kernel): _report(kernel) for kernel in kernels}


def _name(kernel: ir.OpView) -> str:
    return ir.StringAttr(kernel.operation.attributes["sym_name"]).value


def _report(kernel: ir.OpView) -> LdsReport:
    info = KernelInfo.of(kernel)
    found = LdsReport(_name(kernel), info.target, lds.lds_bytes_of(kernel.operation, info))
    buffers = lds.buffers(kernel.operation, info)
    for buffer in buffers:
        name = str(MemoryType(buffer.op.results[0].type)).removeprefix("!wave.memory")
        found.buffers.append(Buffer(name, buffer.offset or 0, buffer.bytes))
    merged: dict[tuple[object, ...], Access] = {}
    for number, op in lds_traffic.accesses(kernel, buffers):
        _add(op, number, info, found.buffers[number], merged)
    found.accesses = list(merged.values())
    return found


def _add(
    op: ir.Operation, number: int, info: KernelInfo, buffer: Buffer, merged: dict[tuple[object, ...], Access]
) -> None:
    read, written = lds_traffic.bytes_of(op, info)
    buffer.read, buffer.written = buffer.read + read, buffer.written + written
    if op.name == COPY:  # its lanes follow one another
        return
    place = _access(op, number, info, buffer.offset) if read or written else None
    if place is None:
        buffer.unknown += 1
        return
    span = info.target.lds.banks * info.target.lds.bank_bytes
    shift = min(place.addresses) // span * span
    key = (place.op, number, place.bits, tuple(a - shift for a in place.addresses))
    merged[key] = replace(merged[key], count=merged[key].count + 1) if key in merged else place


def _access(op: ir.Operation, number: int, info: KernelInfo, offset: int) -> Access | None:
    """A read or write; None where its place depends on values in registers."""
    bits = element_bits(MemoryType(memory_of(op).type).element_type)
    addresses = _addresses(op, info, offset, bits)
    if addresses is None:
        return None
    kind, where = op.name.removeprefix("wave."), location_text(op.location)
    return Access(kind, number, width_of(op) * bits, tuple(addresses.tolist()), where)


def _addresses(op: ir.Operation, info: KernelInfo, offset: int, element: int) -> np.ndarray | None:
    """Byte of each lane of the first wave, in the first trip of loops; None where it depends on values in registers."""
    place = linear_of(op, info, info.facts)
    lanes = np.arange(info.wave_size, dtype=np.int64)
    known = {"lane": lanes} | {axis: 0 for axis in _WAVES}
    known |= {s: 0 for s in place.symbols if s.startswith(("wg.", "iv."))}
    if any(s not in known for s in place.symbols):
        return None
    used = {s: known[s] for s in place.symbols}
    elements = place.eval_numpy(used) if used else np.int64(place.constant_value or 0)
    return offset + np.broadcast_to(elements, lanes.shape) * element // 8


def pictures(module: ir.Module) -> dict[str, list[TilePicture]]:
    """Pictures of the different layouts of each kernel of a module in placed form, in order of their first value."""
    found = {}
    for kernel in module.body.operations:
        if kernel.operation.name == "wave.kernel":
            info = KernelInfo.of(kernel)
            first: dict[str, TilePicture] = {}
            for op in walk(body_of(kernel)):
                for result in op.results:
                    if isinstance(result.type, TileType) and TileType(result.type).layout is not None:
                        kind = TileType(result.type)
                        if kind.dims and str(kind.layout) not in first:
                            first[str(kind.layout)] = _picture(op, kind, info)
            found[_name(kernel)] = list(first.values())
    return found


def _picture(op: ir.Operation, kind: TileType, info: KernelInfo) -> TilePicture:
    """The last two dims of a tile, at 0 along others; a tile of one dim is one row."""
    layout = kind.layout
    assert layout is not None  # the caller's condition
    dims = list(layout.dims)
    column, row = dims[-1], dims[-2] if len(dims) > 1 else ""
    extents = (layout.extents[row] if row else 1, layout.extents[column])
    places, exists = coordinates(layout, block_sizes(info.wave_size, info.block_waves))
    inside = exists[0].copy()
    for other in dims[:-2]:
        inside &= places[other][0] == 0
    shape = (min(MOST, extents[0]), min(MOST, extents[1]))
    lanes, registers = np.full(shape, -1), np.full(shape, -1)
    rows = places[row][0] if row else np.zeros_like(places[column][0])
    columns = places[column][0]
    inside &= (rows < shape[0]) & (columns < shape[1])
    for lane, register in np.argwhere(inside)[::-1]:  # of replicas the first is shown
        at = rows[lane, register], columns[lane, register]
        lanes[at], registers[at] = lane, register
    where = f"{op.name} at {location_text(op.location)}"
    return TilePicture(where, (row or "1", column), extents, lanes, registers)
