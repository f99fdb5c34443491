"""wave-gather-to-shared: copies from global memory to LDS without registers."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from wave_mlir.compiler.diagnostics import emit_remark
from wave_mlir.compiler.direct_copies import DirectCopies
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.lane_access import accesses, is_shared
from wave_mlir.compiler.pass_registry import Pass, option, register_pass
from wave_mlir.compiler.tile_ir import DIRECT
from wave_mlir.dialect import MemoryType


@register_pass("wave-gather-to-shared", requires="lane", establishes="lane")
@dataclass(frozen=True)
class GatherToShared(Pass):
    """Turn a load from global memory whose only use is a store to LDS into one copy that passes through no register.

    Where the target has such copies of the load's width, the lanes of a wave store behind one another (wave-coalesce
    with `direct` lays tiles out so), and the load can be a buffer access. A masked lane copies zeros. The copies are
    asynchronous: wave-place-barriers says at which barriers they are waited for. A remark says of the first of a
    tile's copies that cannot be made why.

    Before (gfx950):

        %v = wave.read %a mask %m index [wg.x * 64 + wave.x * 16 + lane floordiv 4, lane mod 4 * 8] : … -> vector<8xf16>
        wave.write %v, %l index [wave.x * 16 + lane floordiv 4, lane mod 4 * 8] : …

    After (the target is that of the wave's first lane):

        wave.gather_to_shared %a [wg.x * 64 + wave.x * 16 + lane floordiv 4, lane mod 4 * 8] to %l [wave.x * 16, 0]
            elements 8 mask %b {wave.base = …, wave.offset = …} : …

    It runs before wave-swizzle-shared, which then exchanges chunks on the global side, where the lanes are free.
    """

    all: bool = option(True, help="make all copies so; otherwise those whose write has wave.direct")

    def run(self, module: ir.Module) -> None:
        """Make the copies of every kernel of the module."""
        for view in module.body.operations:
            op = view.operation
            if op.name == "wave.kernel":
                _convert(KernelInfo.of(view), op, self.all)


def _convert(info: KernelInfo, kernel: ir.Operation, every: bool) -> None:
    found = _loads_and_stores(kernel, every)
    if not info.target.direct_to_lds_bits:
        if found:
            emit_remark(found[0][1], f"{info.target.name} has no copies to LDS without registers")
        return
    copies = DirectCopies(info)
    told: list[ir.Value] = []
    for read, write in found:
        obstacle = copies.obstacle(read, write)
        if obstacle is None:
            copies.make(read, write)
            write.erase()
            _erase(read)
        elif write.opview.memory not in told:
            told.append(write.opview.memory)
            emit_remark(write, f"this copy to LDS passes through registers: {obstacle}")


def _loads_and_stores(kernel: ir.Operation, every: bool) -> list[tuple[ir.Operation, ir.Operation]]:
    """(read, write) of each copy; `every`: not only of marked ones."""
    found = []
    for read in accesses(kernel.regions[0].blocks[0]):
        write = _stored_to_lds(read) if read.name == "wave.read" else None
        if write is not None and (every or DIRECT in write.attributes):
            found.append((read, write))
    return found


def _stored_to_lds(read: ir.Operation) -> ir.Operation | None:
    """The write to LDS that is the only use of a read of global memory."""
    if MemoryType(read.opview.memory.type).space != "global":
        return None
    uses = list(read.results[0].uses)
    if len(uses) != 1:
        return None
    user = uses[0].owner.operation
    return user if user.name == "wave.write" and is_shared(user) and uses[0].operand_number == 0 else None


def _erase(read: ir.Operation) -> None:
    mask = read.opview.mask
    read.erase()
    if mask is not None and next(iter(mask.uses), None) is None:
        mask.owner.operation.erase()
