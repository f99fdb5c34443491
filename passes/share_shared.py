"""wave-share-shared: LDS buffers that are needed at different times get common bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mlir import ir
from wave_mlir.compiler.diagnostics import emit_remark
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.lds import Buffer, buffers
from wave_mlir.compiler.lds_lifetimes import inner_lifetimes, outer_lifetimes
from wave_mlir.compiler.lds_places import Lifetime, end_of, least, places
from wave_mlir.compiler.pass_registry import Pass, option, register_pass
from wave_mlir.compiler.tile_ir import kernels

_WAVES = 2


@register_pass("wave-share-shared", requires="lane")
@dataclass(frozen=True)
class ShareShared(Pass):
    """Give `wave.allocate`s whose contents are never needed at one time places with common bytes, where that pays.

    It pays where another workgroup fits a compute unit, up to two waves a SIMD, or the kernel fits at all. Contents are
    needed from the first write to the last read. Buffers accessed in one outermost loop (or conditional) keep bytes of
    their own, as sharing would take a barrier a trip, unless LDS is too small: then also buffers of one trip share, if
    the trip writes all that it reads of them before it does. wave-place-barriers comes later and sees which bytes are
    common; wave-pack-shared keeps the places. A remark says how many bytes are needed at one time, which no places can
    do without. Where nothing is gained no buffer gets a place here.

    Before:

        %a = wave.allocate : !wave.memory<[64, 32], f16, shared>     // used in a loop
        %b = wave.allocate : !wave.memory<[64, 64], f16, shared>     // used after it

    After:

        %a = wave.allocate offset 0 : !wave.memory<[64, 32], f16, shared>
        %b = wave.allocate offset 0 : !wave.memory<[64, 64], f16, shared>
    """

    share: Literal["auto", "never", "always"] = option(
        "auto", help="which buffers get common bytes: as pays, none, or all whose contents are needed at other times"
    )
    limit: int = option(0, help="LDS bytes a workgroup may have; 0 is the target's limit")

    def run(self, module: ir.Module) -> None:
        """Give places to the buffers of every kernel of the module that share bytes."""
        if self.share != "never":
            for kernel in kernels(module):
                self._share(kernel)

    def _share(self, view: ir.OpView) -> None:
        info = KernelInfo.of(view)
        found = buffers(view.operation, info)
        if len(found) < 2 or any(b.offset is not None for b in found):
            return
        sizes = [b.bytes for b in found]
        apart = end_of(sizes, places(sizes, [(0, 0)] * len(found)))
        lifetimes = self._lifetimes(view, info, found, apart)
        if lifetimes is None:
            return
        offsets = places(sizes, lifetimes)
        end = end_of(sizes, offsets)
        if end == apart:
            return
        i64 = ir.IntegerType.get_signless(64)
        for buffer, offset in zip(found, offsets, strict=True):
            buffer.op.attributes["offset"] = ir.IntegerAttr.get(i64, offset)
        before, after = (_workgroups(info, n) for n in (apart, end))
        emit_remark(
            view.operation,
            f"LDS buffers share bytes: {end} bytes in all (at least {least(sizes, lifetimes)} are needed at a time), "
            f"{apart} apart; workgroups that fit the LDS of a compute unit: {after}, apart {before}",
        )

    def _lifetimes(self, view: ir.OpView, info: KernelInfo, found: list[Buffer], apart: int) -> list[Lifetime] | None:
        """When buffers are needed, where it pays to have those apart alone that are needed at one time."""
        sizes, limit = [b.bytes for b in found], self.limit or info.target.lds_bytes
        if self.share == "always":
            return inner_lifetimes(view, found)
        if apart <= limit and _workgroups(info, apart) >= _enough_workgroups(info):
            return None
        outer = outer_lifetimes(view, found)
        end = end_of(sizes, places(sizes, outer))
        if end > limit:
            return inner_lifetimes(view, found)
        return outer if apart > limit or _workgroups(info, end) > _workgroups(info, apart) else None


def _workgroups(info: KernelInfo, size: int) -> int:
    """Workgroups whose LDS fits a compute unit."""
    granule = info.target.lds.granule
    return info.target.lds_bytes // max(granule, -(-size // granule) * granule)


def _enough_workgroups(info: KernelInfo) -> int:
    """Workgroups that give each SIMD two waves, which hide each other's latencies; registers seldom let in more."""
    x, y, z = info.block_waves
    return max(1, _WAVES * info.target.simds_per_compute_unit // (x * y * z))
