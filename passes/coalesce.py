"""wave-coalesce: lets all lanes of the workgroup copy tiles to LDS with wide accesses."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from wave_mlir.compiler.diagnostics import emit_remark
from wave_mlir.compiler.direct_copies import direct_widths
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.lane_access import element_bits
from wave_mlir.compiler.pass_registry import Pass, PassError, option, register_pass
from wave_mlir.compiler.relaying import Relaying, can_relay, erase_unused
from wave_mlir.compiler.scatters import scatter_of
from wave_mlir.compiler.tile_ir import DIRECT, walk
from wave_mlir.compiler.transposing import Transposing, transposing
from wave_mlir.dialect import Expr, Layout, MemoryType, TileType, cooperative_layout, linear_layout


@register_pass("wave-coalesce", requires="staged", establishes="staged")
@dataclass(frozen=True)
class Coalesce(Pass):
    """Give each copy from global memory to LDS the layout in which all lanes load it linearly and widely.

    A copy is a read of global memory whose only use is a write to LDS. Consecutive lanes take consecutive vectors along
    the memory's contiguous dim, each as wide as the hardware loads, independent of what the MMA needs later.

    Before:

        %g = wave.read %a index [wg.x * 64 + at.M, …] : … -> !wave.tile<[M, K], f16, #lhs>
        wave.write %g, %la index [at.M, at.K] : …

    After (256 threads; 64 x 32 elements of 16 bits):

        #coop = #wave.layout<[M = 64, K = 32], reg = [8 : K * 1], lane = [4 : K * 8, 16 : M * 1], …>
        %g = wave.read %a index [wg.x * 64 + at.M, …] : … -> !wave.tile<[M, K], f16, #coop>
        wave.write %g, %la index [at.M, at.K] : …

    A tile that is written to rows of global memory at positions from a table (a scatter), or of which a lane has less
    than 32 bits that are contiguous in memory, is brought into such a layout, too, where the exchange (`wave.relayout`)
    and wide stores take less than narrow stores; a remark says the costs.

    A copy to a buffer in which another dim is contiguous than in memory transposes: a lane loads a block of several
    rows, renames its registers and stores columns; of the sizes of the block the one that takes the fewest clocks.

    With `direct`, or where a write has `wave.direct`, a copy that wave-gather-to-shared can make without registers gets
    the layout that needs: as wide as such a copy can be, and the lanes of a wave behind one another in LDS.
    """

    max_bits: int = option(0, help="bits of one load at most; 0 is what the kernel and the target allow")
    direct: bool = option(False, help="lay tiles out for copies without registers, where the target has them")

    def run(self, module: ir.Module) -> None:
        """Coalesce the copies of every kernel of the module. Raises PassError for a negative `max-bits`."""
        if self.max_bits < 0:
            raise PassError(module.operation, f"max-bits is {self.max_bits}; give the bits of one load, or 0")
        for view in module.body.operations:
            if view.operation.name == "wave.kernel":
                info = KernelInfo.of(view)
                relaying = Relaying()
                for copy in list(_copies(view.operation.regions[0].blocks[0])):
                    self._coalesce(info, relaying, *copy)
                for write in list(walk(view.operation.regions[0].blocks[0])):
                    _widen_scatter(info, relaying, write)
                if relaying.moved:
                    erase_unused(view.operation.regions[0].blocks[0])

    def _coalesce(self, info: KernelInfo, relaying: Relaying, read: ir.Operation, write: ir.Operation) -> None:
        tile = TileType(read.results[0].type)
        layout = self._direct_layout(info, read, write, tile)
        if layout is not None and DIRECT in write.attributes:
            read, write = _masked_as_zeros(read, write)
        way = None if layout is not None else self._transposing(info, read, write, tile)
        layout = layout or (way.load if way is not None else self._layout(info, read, tile))
        if layout is None:
            return
        for access in (read, write):
            _move_mask(relaying, access, layout)
            _move_positions(relaying, access, layout)
        kind = TileType.get(tile.dims, tile.element_type, layout)
        read.results[0].set_type(kind)
        if way is not None:
            _rename_registers(relaying, read, write, way)

    def _transposing(
        self, info: KernelInfo, read: ir.Operation, write: ir.Operation, tile: TileType
    ) -> Transposing | None:
        """The way of a copy to a buffer in which another dim is contiguous than in memory; None of others."""
        extents = dict(Layout(tile.layout).extents)
        across, last = _contiguous_dim(read, extents), Expr(list(write.attributes["index"])[-1])
        along = last.symbols[0].removeprefix("at.") if last.kind == "symbol" else None
        if across is None or along not in extents or along == across:
            return None
        most = self.max_bits or info.hardware.max_bits_per_load or info.target.max_load_bits["global"]
        return transposing(info, extents, across, along, element_bits(tile.element_type), most)

    def _direct_layout(
        self, info: KernelInfo, read: ir.Operation, write: ir.Operation, tile: TileType
    ) -> Layout | None:
        """The layout of a copy without registers; None where there is none."""
        extents = dict(Layout(tile.layout).extents)
        index = [Expr(e) for e in write.attributes["index"]]
        dims = [e.symbols[0].removeprefix("at.") for e in index if e.kind == "symbol"]
        wanted = self.direct or DIRECT in write.attributes
        if not wanted or sorted(dims) != sorted(extents) or len(dims) != len(index):
            return None
        if _contiguous_dim(read, extents) != dims[-1]:
            return None
        most = self.max_bits or info.hardware.max_bits_per_load or info.target.max_load_bits["global"]
        for bits in direct_widths(info.target, most):
            width = bits // tile.element_type.width
            if width * tile.element_type.width != bits:
                continue
            together = 1 + info.target.offsets["buffer"].high // (info.wave_size * bits // 8)
            ordered = {d: extents[d] for d in dims}
            layout = linear_layout(ordered, width, info.wave_size, info.block_waves, together)
            if layout is not None:
                return layout
        return None

    def _layout(self, info: KernelInfo, read: ir.Operation, tile: TileType) -> Layout | None:
        extents = dict(Layout(tile.layout).extents)
        contiguous = _contiguous_dim(read, extents)
        if contiguous is None:
            return None
        bits = self.max_bits or info.hardware.max_bits_per_load or info.target.max_load_bits["global"]
        width = _vector_width(extents[contiguous], bits, tile.element_type.width)
        order = [d for d in extents if d != contiguous] + [contiguous]
        waves = info.block_waves
        layout = cooperative_layout({d: extents[d] for d in order}, contiguous, width, info.wave_size, waves)
        return layout


def _widen_scatter(info: KernelInfo, relaying: Relaying, write: ir.Operation) -> None:
    """Let lanes exchange what they store to scattered rows, if wider stores pay; a remark says the costs."""
    scatter = scatter_of(info, write)
    if scatter is None or not _is_movable(write):
        return
    emit_remark(write, str(scatter))
    if scatter.pays:
        _store_as(relaying, write, write.operands[0], scatter.layout)


def _rename_registers(relaying: Relaying, read: ir.Operation, write: ir.Operation, way: Transposing) -> None:
    """Store the columns of what a lane has loaded in rows."""
    _store_as(relaying, write, read.results[0], way.store)


def _store_as(relaying: Relaying, write: ir.Operation, value: ir.Value, layout: Layout) -> None:
    """Store a value from the elements that lanes have in another layout: mask and positions follow."""
    _move_mask(relaying, write, layout)
    _move_positions(relaying, write, layout)
    tile = TileType(value.type)
    kind = TileType.get(tile.dims, tile.element_type, layout)
    with ir.InsertionPoint(write):
        moved = ir.Operation.create("wave.relayout", [kind], [value], loc=write.location)
    write.operands[0] = moved.results[0]


def _copies(block: ir.Block) -> list[tuple[ir.Operation, ir.Operation]]:
    """(read, write) of each copy from global memory to LDS, in program order."""
    found = []
    for view in block.operations:
        op = view.operation
        for region in op.regions:
            for inner in region.blocks:
                found += _copies(inner)
        if op.name != "wave.read" or MemoryType(op.opview.memory.type).space != "global":
            continue
        uses = list(op.results[0].uses)
        if len(uses) != 1:
            continue
        user = uses[0].owner.operation
        if user.name != "wave.write" or MemoryType(user.opview.memory.type).space != "shared":
            continue
        if _is_movable(op) and _is_movable(user):
            found.append((op, user))
    return found


def _is_movable(access: ir.Operation) -> bool:
    """Whether an access can have another layout: its mask and its positions can be had in it."""
    mask = access.opview.mask
    values = list(access.opview.symbol_values)
    if mask is not None:
        if isinstance(mask.owner, ir.Block) or mask.owner.operation.name != "wave.mask":
            return False
        values += mask.owner.operation.operands
    tile = TileType(access.results[0].type if access.name == "wave.read" else access.operands[0].type)
    return all(can_relay(v, list(tile.dims)) for v in values)


def _masked_as_zeros(read: ir.Operation, write: ir.Operation) -> tuple[ir.Operation, ir.Operation]:
    """The copy that stores zeros where the given one stores nothing: the mask of the write becomes the read's."""
    mask = write.opview.mask
    if mask is None or read.opview.mask is not None:
        return read, write
    masks = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1, 0, len(read.operands) - 1])}
    with ir.InsertionPoint(read), read.location:
        made = mask.owner.operation.clone()
        operands = [read.operands[0], made.results[0], *list(read.operands)[1:]]
        attributes = dict(read.attributes.items()) | masks
        masked = ir.Operation.create("wave.read", [read.results[0].type], operands, attributes)
    read.results[0].replace_all_uses_with(masked.results[0])
    read.erase()
    whole = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1, 0, 0, len(write.operands) - 3])}
    with ir.InsertionPoint(write), write.location:
        operands = [*list(write.operands)[:2], *list(write.operands)[3:]]
        stored = ir.Operation.create("wave.write", [], operands, dict(write.attributes.items()) | whole)
    write.erase()
    return masked, stored


def _move_mask(relaying: Relaying, access: ir.Operation, layout: Layout) -> None:
    """Give an access its mask in another layout: the predicate is evaluated for each element anew."""
    mask = access.opview.mask
    if mask is None:
        return
    with ir.InsertionPoint(access):
        moved = mask.owner.operation.clone()
    tile = TileType(mask.type)
    moved.results[0].set_type(TileType.get(tile.dims, tile.element_type, layout))
    for number, value in enumerate(list(moved.operands)):
        moved.operands[number] = relaying.value(value, layout, moved)
    number = next(i for i, operand in enumerate(access.operands) if operand == mask)
    access.operands[number] = moved.results[0]


def _move_positions(relaying: Relaying, access: ir.Operation, layout: Layout) -> None:
    """Give an access the tiles that its index uses in another layout."""
    first = len(access.operands) - len(access.opview.symbol_values)
    for number in range(first, len(access.operands)):
        access.operands[number] = relaying.value(access.operands[number], layout, access)


def _contiguous_dim(read: ir.Operation, extents: dict[str, int]) -> str | None:
    """The tile dim that steps by one along the memory's last dim."""
    last = Expr(list(read.attributes["index"])[-1])
    for dim in extents:
        step = last.coefficient(f"at.{dim}")
        if step is not None and step.constant_value == 1:
            return dim
    return None


def _vector_width(extent: int, bits: int, element_bits: int) -> int:
    """The greatest power of two of elements that fits in `bits` and divides the extent."""
    width = 1
    while 2 * width * element_bits <= bits and extent % (2 * width) == 0:
        width *= 2
    return width
