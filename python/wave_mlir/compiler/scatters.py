"""Tiles stored to rows at positions from a table: straight, or in wide stores after lanes have exchanged their parts.

Straight: each lane stores the runs of its own layout that are contiguous in memory. Exchanged: a relayout (the cheapest
way of it) gives each lane whole vectors of a row first. A store of global memory is taken for as many clocks as a load.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd, prod

from mlir import ir

from wave_mlir.dialect import Expr, Layout, MemoryType, TileType, cooperative_layout

from .gather_cost import LOAD_CLOCKS
from .kernel_info import KernelInfo
from .lane_access import element_bits
from .relayout_ways import Way, plan_of, ways_of
from .tile_ir import bound_values


@dataclass(frozen=True)
class Scatter:
    """Clocks of both ways for a wave; the widths of their stores; the layout after an exchange, and its way."""

    straight: int
    straight_bits: int
    exchanged: int
    exchanged_bits: int
    layout: Layout
    way: Way

    @property
    def pays(self) -> bool:
        """Whether the exchange makes it shorter."""
        return self.way.clocks is not None and self.exchanged < self.straight

    def __str__(self) -> str:
        choice = "in wide stores after an exchange" if self.pays else "straight to global memory"
        return (
            f"this scatter goes {choice}: {self.straight} clocks straight (stores of {self.straight_bits} bits), "
            f"{self.exchanged} after an exchange (stores of {self.exchanged_bits} bits; {self.way})"
        )


def scatter_of(info: KernelInfo, write: ir.Operation) -> Scatter | None:
    """The cost of a write of a tile to rows of global memory at positions from other tiles; None for other writes."""
    if write.name != "wave.write" or not isinstance(write.operands[0].type, TileType):
        return None
    memory, tile = MemoryType(write.opview.memory.type), TileType(write.operands[0].type)
    if memory.space != "global" or element_bits(tile.element_type) < 8:
        return None
    last = Expr(list(write.attributes["index"])[-1])
    steps = {d: last.coefficient(f"at.{d}") for d in tile.dims}
    contiguous = next((d for d, step in steps.items() if step is not None and step.constant_value == 1), None)
    scattered = {n for n, v in bound_values(write).items() if _differs(v)}
    if contiguous is None or not scattered or scattered & set(last.symbols):
        return None
    return _cost(info, memory, tile, contiguous)


def _cost(info: KernelInfo, memory: MemoryType, tile: TileType, contiguous: str) -> Scatter:
    layout, bits = Layout(tile.layout), element_bits(tile.element_type)
    extents = dict(layout.extents)
    run = _width(layout.widest_access(contiguous), bits)
    straight = layout.registers // run * LOAD_CLOCKS
    vector = _width(_whole(info, memory, extents[contiguous]), bits)
    order = [d for d in extents if d != contiguous] + [contiguous]
    wide = cooperative_layout({d: extents[d] for d in order}, contiguous, vector, info.wave_size, info.block_waves)
    target = TileType.get(tile.dims, tile.element_type, wide)
    way = ways_of(tile, target, plan_of(tile, target, info), info).chosen
    stores = -(-prod(extents.values()) // (vector * info.threads))
    clocks = (way.clocks or 0) + stores * LOAD_CLOCKS
    return Scatter(straight, run * bits, clocks, vector * bits, wide, way)


def _whole(info: KernelInfo, memory: MemoryType, extent: int) -> int:
    """A number that divides the tile's extent, the rows' length and their distances for sure."""
    exprs = (memory.shape[-1], *(s for s in memory.element_strides[:-1] if s is not None))
    return gcd(extent, *(info.resolve(e).divisor(info.facts) for e in exprs))


def _width(divides: int, bits: int) -> int:
    """The greatest power of two of elements, up to 128 bits, that divides a number."""
    width = 1
    while 2 * width * bits <= 128 and divides % (2 * width) == 0:
        width *= 2
    return width


def _differs(value: ir.Value) -> bool:
    """Whether a value is a tile of more than one element."""
    return isinstance(value.type, TileType) and prod(Layout(TileType(value.type).layout).extents.values()) > 1
