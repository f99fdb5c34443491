"""wave-pack-shared: gives each LDS buffer its place."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from wave_mlir.compiler import lds_traffic
from wave_mlir.compiler.diagnostics import emit_remark
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.lds import aligned, buffers, check_fits, shared_bytes
from wave_mlir.compiler.pass_registry import Pass, option, register_pass

_CONFLICTS = "wave.lds_conflicts"
"""Attribute of an allocation: the worst conflict degree that wave-swizzle-shared left."""


@register_pass("wave-pack-shared", requires="lane", establishes="scheduled")
@dataclass(frozen=True)
class PackShared(Pass):
    """Give each `wave.allocate` its byte offset in LDS, one after the other, each aligned to 16 bytes.

    Those that have a place, as wave-share-shared gives it, keep it; the others follow them and share no bytes, so that
    no barrier is needed because of the packing. Fails when the end exceeds the target's limit; the error lists the
    buffers with their sizes.

    With `report` a remark at each buffer says its bytes and place, with how many others it shares bytes, what all waves
    write and read in one run through the program, and the bank conflicts that wave-swizzle-shared left.

    Before:

        %a = wave.allocate : !wave.memory<[64, 32], f16, shared>
        %b = wave.allocate : !wave.memory<[64, 32], f16, shared>

    After:

        %a = wave.allocate offset 0 : !wave.memory<[64, 32], f16, shared>
        %b = wave.allocate offset 4096 : !wave.memory<[64, 32], f16, shared>
    """

    limit: int = option(0, help="LDS bytes a workgroup may have; 0 is the target's limit")
    report: bool = option(False, help="a remark at each buffer: bytes, reuse, conflicts")

    def run(self, module: ir.Module) -> None:
        """Pack the buffers of every kernel of the module."""
        for view in module.body.operations:
            if view.operation.name == "wave.kernel":
                self._pack(view)

    def _pack(self, view: ir.OpView) -> None:
        info, kernel = KernelInfo.of(view), view.operation
        limit = self.limit or info.target.lds_bytes
        i64 = ir.IntegerType.get_signless(64)
        found = buffers(kernel, info)
        end = max((b.offset + b.bytes for b in found if b.offset is not None), default=0)
        for buffer in found:
            if buffer.offset is None:
                offset = aligned(end)
                buffer.op.attributes["offset"] = ir.IntegerAttr.get(i64, offset)
                end = offset + buffer.bytes
        check_fits(kernel, info, found, limit)
        if self.report:
            _report(view, info)


def _report(view: ir.OpView, info: KernelInfo) -> None:
    packed = buffers(view.operation, info)
    moved = [[0, 0] for _ in packed]
    for number, op in lds_traffic.accesses(view, packed):
        for i, size in enumerate(lds_traffic.bytes_of(op, info)):
            moved[number][i] += size
    for buffer, (read, written) in zip(packed, moved, strict=True):
        degree = None
        if _CONFLICTS in buffer.op.attributes:
            degree = ir.IntegerAttr(buffer.op.attributes[_CONFLICTS]).value
        sharing = sum(shared_bytes(buffer, other) for other in packed if other is not buffer)
        emit_remark(buffer.op, lds_traffic.summary(buffer, read, written, degree, sharing))
