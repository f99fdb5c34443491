"""Tiles whose stores are narrow: straight, or in wide stores after lanes have exchanged their parts.

These are tiles stored to rows at positions from a table, and tiles of small elements of which a lane has no neighbours,
as when they are transposed. Straight: each lane stores the runs of its own layout that are contiguous in memory.
Exchanged: a relayout (the cheapest way of it) gives each lane whole vectors of a row first. A store of global memory is
taken for as many clocks as a load.
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
from .tile_ir import ancestors, bound_values

_NARROW = 32
"""Bits: plain stores below a register's width are looked at; others fill registers and memory segments well enough."""


@dataclass(frozen=True)
class Scatter:
    """Clocks of both ways for a wave; the widths of their stores; the layout after an exchange, and its way."""

    straight: int
    straight_bits: int
    exchanged: int
    exchanged_bits: int
    layout: Layout
    way: Way
    what: str

    @property
    def pays(self) -> bool:
        """Whether the exchange makes it shorter."""
        return self.way.clocks is not None and self.exchanged < self.straight

    def __str__(self) -> str:
        choice = "in wide stores after an exchange" if self.pays else "straight to global memory"
        return (
            f"this {self.what} goes {choice}: {self.straight} clocks straight (stores of {self.straight_bits} bits), "
            f"{self.exchanged} after an exchange (stores of {self.exchanged_bits} bits; {self.way})"
        )


def scatter_of(info: KernelInfo, write: ir.Operation) -> Scatter | None:
    """The cost of a write of a tile to global memory that is narrow, or to rows at positions from other tiles; None for
    other writes."""
    if write.name != "wave.write" or not isinstance(write.operands[0].type, TileType):
        return None
    memory, tile = MemoryType(write.opview.memory.type), TileType(write.operands[0].type)
    if memory.space != "global" or element_bits(tile.element_type) < 8:
        return None
    last = Expr(list(write.attributes["index"])[-1])
    steps = {d: last.coefficient(f"at.{d}") for d in tile.dims}
    contiguous = next((d for d, step in steps.items() if step is not None and step.constant_value == 1), None)
    scattered = {n for n, v in bound_values(write).items() if _differs(v)}
    if contiguous is None or scattered & set(last.symbols):
        return None
    layout, bits = Layout(tile.layout), element_bits(tile.element_type)
    run = _width(layout.widest_access(contiguous), bits)
    if not scattered and run * bits >= _NARROW:
        return None
    found = _cost(info, memory, tile, contiguous, run, "scatter" if scattered else "write")
    if found.way.name == "lds" and _may_be_apart(write):
        return None
    return found if scattered or found.pays else None


def _cost(info: KernelInfo, memory: MemoryType, tile: TileType, contiguous: str, run: int, what: str) -> Scatter:
    layout, bits = Layout(tile.layout), element_bits(tile.element_type)
    extents = dict(layout.extents)
    straight = layout.registers // run * LOAD_CLOCKS
    vector = _width(_whole(info, memory, extents[contiguous]), bits)
    found = []
    for wide in _wide(info, layout, contiguous, vector):
        target = TileType.get(tile.dims, tile.element_type, wide)
        way = ways_of(tile, target, plan_of(tile, target, info), info).chosen
        clocks = (way.clocks or 0) + -(-wide.registers // vector) * LOAD_CLOCKS
        found.append(Scatter(straight, run * bits, clocks, vector * bits, wide, way, what))
    return min(found, key=lambda s: (s.way.clocks is None, s.exchanged))


def _wide(info: KernelInfo, layout: Layout, contiguous: str, vector: int) -> list[Layout]:
    """Layouts in which consecutive lanes have consecutive vectors along a dim: of the whole tile for all waves, and,
    where each wave has a block of the tile, of the blocks, so that waves exchange nothing with each other."""
    extents = dict(layout.extents)
    found = [_placed(extents, _along(extents, contiguous, vector, info, info.block_waves), {})]
    waves = {axis: list(own) for axis, own in layout.digits.items() if axis.startswith("wave") and own}
    block = _block(extents, [digit for own in waves.values() for digit in own])
    if waves and block is not None and block[contiguous] % vector == 0:
        inner = _along(block, contiguous, vector, info, (1, 1, 1))
        if inner.registers * info.wave_size == prod(block.values()):  # else lanes reach into the next wave's block
            found.append(_placed(extents, inner, waves))
    return found


def _along(
    block: dict[str, int], contiguous: str, vector: int, info: KernelInfo, waves: tuple[int, int, int]
) -> Layout:
    """Consecutive lanes have consecutive vectors along a dim."""
    order = {d: n for d, n in block.items() if d != contiguous} | {contiguous: block[contiguous]}
    return cooperative_layout(order, contiguous, vector, info.wave_size, waves)


def _placed(extents: dict[str, int], inner: Layout, waves: dict[str, list[tuple[int, str | None, int]]]) -> Layout:
    """A layout with the tile's extents, its dims in their order; `waves` count blocks."""
    own = {source: list(given) for source, given in inner.digits.items()} | waves
    return Layout.get(extents, **{source.replace(".", "_"): given for source, given in own.items()})


def _block(extents: dict[str, int], digits: list[tuple[int, str | None, int]]) -> dict[str, int] | None:
    """The part of a tile that one wave has when the digits of waves count whole blocks of it, else None."""
    block = dict(extents)
    for number, dim, _ in digits:
        if dim is None:
            return None
        block[dim] //= number
    for dim, extent in block.items():
        for number, _, stride in sorted((d for d in digits if d[1] == dim), key=lambda d: d[2]):
            if stride != extent:
                return None
            extent *= number
    return block


def _may_be_apart(op: ir.Operation) -> bool:
    """Whether waves of a workgroup may not all come here: what values decide may differ between them, and an exchange
    through LDS needs all."""
    return any(a.name == "wave.conditional" or "condition" in a.attributes for a in ancestors(op))


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
