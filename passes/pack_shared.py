"""wave-pack-shared: gives each LDS buffer its place."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.lds import aligned, buffers, check_fits
from wave_mlir.compiler.pass_registry import Pass, option, register_pass


@register_pass("wave-pack-shared", requires="lane", establishes="scheduled")
@dataclass(frozen=True)
class PackShared(Pass):
    """Give each `wave.allocate` its byte offset in LDS, one after the other, each aligned to 16 bytes.

    Fails when the sum exceeds the target's limit; the error lists the buffers with their sizes. Buffers do not share
    bytes, so no barrier is needed because of the packing.

    Before:

        %a = wave.allocate : !wave.memory<[64, 32], f16, shared>
        %b = wave.allocate : !wave.memory<[64, 32], f16, shared>

    After:

        %a = wave.allocate offset 0 : !wave.memory<[64, 32], f16, shared>
        %b = wave.allocate offset 4096 : !wave.memory<[64, 32], f16, shared>
    """

    limit: int = option(0, help="LDS bytes a workgroup may have; 0 is the target's limit")

    def run(self, module: ir.Module) -> None:
        """Pack the buffers of every kernel of the module."""
        for view in module.body.operations:
            if view.operation.name == "wave.kernel":
                self._pack(view)

    def _pack(self, view: ir.OpView) -> None:
        info, kernel = KernelInfo.of(view), view.operation
        limit = self.limit or info.target.lds_bytes
        i64 = ir.IntegerType.get_signless(64)
        end = 0
        found = buffers(kernel, info)
        for buffer in found:
            offset = aligned(end)
            buffer.op.attributes["offset"] = ir.IntegerAttr.get(i64, offset)
            end = offset + buffer.bytes
        check_fits(kernel, info, found, limit)
