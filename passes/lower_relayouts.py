"""wave-lower-relayouts: chooses how the elements of a relayout move; makes round trips of those that go through LDS."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from mlir import ir
from wave_mlir.compiler.diagnostics import emit_remark
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.pass_registry import Pass, option, register_pass
from wave_mlir.compiler.relayout_ways import WAY, moved_tiles, plan_of, ways_of
from wave_mlir.dialect import Expr, Layout, MemoryType, TileType


@register_pass("wave-lower-relayouts", requires="staged", establishes="staged")
@dataclass(frozen=True)
class LowerRelayouts(Pass):
    """Choose for each `wave.relayout` the cheapest way: registers renamed, lanes that exchange, or LDS.

    A remark says which way a relayout goes, what that costs a wave in clocks and what on, and what the others would.
    The costs are those of the target's table: vector moves (DPP, swaps of rows), LDS's crossbar, LDS accesses and their
    latencies, barriers. Elements of 8 and 16 bits are counted by the word of 32 bits in which they travel.

    A relayout inside a lane (registers in another order, or the same layout spelled otherwise) and one that lanes
    exchange for stay for wave-expand (`wave.way`). Through LDS the tile is written to a buffer of its own in the layout
    it has and read back in the layout that is wanted; barriers come later, from wave-place-barriers. A relayout to the
    same type goes away. `wave.reshape` is treated alike, as its elements keep their row-major order.

    Before:

        %y = wave.relayout %x : !wave.tile<[M, N], f16, #acc> -> !wave.tile<[M, N], f16, #lhs>

    After, where LDS is cheaper:

        %l = wave.allocate : !wave.memory<[64, 64], f16, shared>
        wave.write %x, %l index [at.M, at.N] : …
        %y = wave.read %l index [at.M, at.N] : !wave.memory<[64, 64], f16, shared> -> !wave.tile<[M, N], f16, #lhs>
    """

    way: Literal["cheapest", "lanes", "lds"] = option(
        "cheapest", help="how elements get to other lanes of a wave: as is cheapest, or always so where it can be"
    )

    def run(self, module: ir.Module) -> None:
        """Lower the relayouts of every kernel of the module."""
        for view in module.body.operations:
            if view.operation.name == "wave.kernel":
                info = KernelInfo.of(view)
                entry = view.operation.regions[0].blocks[0]
                for op in list(_relayouts(entry)):
                    _lower(op, entry, info, self.way)


def _relayouts(block: ir.Block) -> list[ir.Operation]:
    found = []
    for view in block.operations:
        op = view.operation
        if op.name in ("wave.relayout", "wave.reshape"):
            found.append(op)
        for region in op.regions:
            for inner in region.blocks:
                found += _relayouts(inner)
    return found


def _lower(op: ir.Operation, entry: ir.Block, info: KernelInfo, way: str) -> None:
    source, target = TileType(op.operands[0].type), TileType(op.results[0].type)
    if source == target:
        op.results[0].replace_all_uses_with(op.operands[0])
        op.erase()
        return
    tiles = moved_tiles(op)
    if tiles is not None:
        found = plan_of(*tiles, info)
        if found.kind == "identity" and op.name == "wave.relayout":  # two spellings of one layout are two types
            return
        ways = ways_of(*tiles, found, info).preferring(way)
        emit_remark(op, str(ways))
        if ways.chosen.name != "lds":
            op.attributes[WAY] = ir.StringAttr.get(ways.chosen.name)
            return
    if op.name == "wave.reshape":
        count = math.prod(Layout(source.layout).extents.values())
        _through_lds(op, entry, [Expr.constant(count)], [_position(source)], [_position(target)])
        return
    extents = Layout(source.layout).extents
    index = [Expr.symbol(f"at.{d}") for d in source.dims]
    _through_lds(op, entry, [Expr.constant(extents[d]) for d in source.dims], index, index)


def _position(tile: TileType) -> Expr:
    """The number of an element of a tile in row-major order."""
    extents = Layout(tile.layout).extents
    position = Expr.constant(0)
    for dim in tile.dims:
        position = position * extents[dim] + Expr.symbol(f"at.{dim}")
    return position


def _through_lds(op: ir.Operation, entry: ir.Block, shape: list[Expr], stored: list[Expr], loaded: list[Expr]) -> None:
    """Store the operand to a buffer at one index and load the result at another."""
    with op.location:
        memory = MemoryType.get(shape, TileType(op.operands[0].type).element_type, "shared")
        with ir.InsertionPoint.at_block_begin(entry):
            buffer = ir.Operation.create("wave.allocate", [memory]).results[0]
        with ir.InsertionPoint(op):
            attributes = {"index": ir.ArrayAttr.get(stored)}
            attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([1, 1, 0, 0, 0])
            ir.Operation.create("wave.write", [], [op.operands[0], buffer], attributes)
            attributes = {"index": ir.ArrayAttr.get(loaded)}
            attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([1, 0, 0, 0])
            read = ir.Operation.create("wave.read", [op.results[0].type], [buffer], attributes)
    op.results[0].replace_all_uses_with(read.results[0])
    op.erase()
