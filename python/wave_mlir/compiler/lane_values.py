"""Tiles as vectors of one lane: what wave-expand keeps for each tile value.

A lane holds `layout.registers` elements of a tile. They are kept as a list of vectors ("chunks") of equal length,
register 0 first. MMA operands and results are cut into the fragments of the instruction, other values at the greatest
power of two in their layout's first digit.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mlir import ir
from mlir.dialects import vector

from wave_mlir.dialect import Expr, Facts, Layout, TileType

from .kernel_info import KernelInfo

_MAX_WIDTH = 16  # elements of a chunk where no MMA asks for more: the widest access of the narrowest dtype


@dataclass(frozen=True)
class LaneValue:
    """A tile in one lane: `chunks` of `width` elements each, in the order of its layout's registers."""

    chunks: tuple[ir.Value, ...]
    width: int

    @property
    def registers(self) -> int:
        """Elements in all."""
        return len(self.chunks) * self.width


def layout_of(tile: ir.Type) -> Layout:
    """The layout of a placed tile type."""
    return Layout(TileType(tile).layout)


@dataclass
class _Placement:
    """Expressions of a layout over `reg`, made once."""

    coordinates: dict[str, Expr]
    exists: Expr
    owner: Expr


@dataclass
class Lanes:
    """Widths, coordinates and predicates of layouts in one kernel, cached."""

    info: KernelInfo
    widths: dict[Layout, int] = field(default_factory=dict)
    _placements: dict[Layout, _Placement] = field(default_factory=dict)
    _facts: dict[int, Facts] = field(default_factory=dict)

    @property
    def sizes(self) -> dict[str, int]:
        """Lanes of a wave and waves along each block dim, as layouts count them."""
        return {"lane": self.info.wave_size} | {f"wave.{axis}": self.info.waves(axis) for axis in "xyz"}

    def width(self, layout: Layout) -> int:
        """Elements of one chunk of a value with this layout."""
        known = self.widths.get(layout)
        if known is None:
            digits = layout.digits.get("reg", [])
            first = digits[0][0] if digits else 1
            known = self.widths[layout] = min(first & -first, _MAX_WIDTH)
        return known

    def facts(self, width: int) -> Facts:
        """The kernel's facts and 0 <= el < width."""
        if width not in self._facts:
            self._facts[width] = self.info.facts.extended({"el": (0, width - 1)}, {}, [])
        return self._facts[width]

    def chunk_count(self, layout: Layout) -> int:
        """Chunks of a value with this layout."""
        return layout.registers // self.width(layout)

    def _placement(self, layout: Layout) -> _Placement:
        known = self._placements.get(layout)
        if known is None:
            sizes = self.sizes
            coordinates = {dim: layout.coord_expr(dim, None, sizes) for dim in layout.dims}
            known = _Placement(coordinates, layout.exists_expr(None, sizes), layout.owner_expr(None, sizes))
            self._placements[layout] = known
        return known

    def _at(self, expr: Expr, layout: Layout, chunk: int) -> Expr:
        width = self.width(layout)
        register = Expr.symbol("el") + chunk * width if width > 1 else Expr.constant(chunk)
        return expr.subs({"reg": register}).simplify(self.facts(width))

    def coordinates(self, layout: Layout, chunk: int) -> dict[str, Expr]:
        """`at.D` of each dim for element `el` of a chunk, over `lane`, `wave.*` and `el`."""
        placement = self._placement(layout)
        return {f"at.{dim}": self._at(e, layout, chunk) for dim, e in placement.coordinates.items()}

    def exists(self, layout: Layout, chunk: int) -> Expr:
        """Whether element `el` of a chunk exists in the tile; the constant 1 where it always does."""
        return self._at(self._placement(layout).exists, layout, chunk)

    def owner(self, layout: Layout, chunk: int) -> Expr:
        """Holds for exactly one of the lanes and registers that hold the same element."""
        return self._at(self._placement(layout).owner, layout, chunk)

    def chunk_type(self, tile: ir.Type) -> ir.VectorType:
        """The vector type of one chunk of a tile type."""
        return ir.VectorType.get([self.width(layout_of(tile))], TileType(tile).element_type)


def rechunk(value: LaneValue, width: int) -> LaneValue:
    """The same registers in chunks of another width (emitted at the current insertion point)."""
    if width == value.width:
        return value
    element = value.chunks[0].type.element_type
    if width < value.width and value.width % width == 0:
        kind = ir.VectorType.get([width], element)
        parts = [
            vector.ExtractStridedSliceOp(kind, chunk, [at], [width], [1]).result
            for chunk in value.chunks
            for at in range(0, value.width, width)
        ]
        return LaneValue(tuple(parts), width)
    if width % value.width == 0:
        count = width // value.width
        groups = [value.chunks[i : i + count] for i in range(0, len(value.chunks), count)]
        return LaneValue(tuple(concatenate(list(group)) for group in groups), width)
    return rechunk(rechunk(value, 1), width)


def concatenate(parts: list[ir.Value]) -> ir.Value:
    """One vector of the elements of several, in order."""
    if len(parts) == 1:
        return parts[0]
    element = parts[0].type.element_type
    if all(part.type.shape == [1] for part in parts):
        scalars = [vector.ExtractOp(part, [], [0]).result for part in parts]
        return vector.FromElementsOp(ir.VectorType.get([len(parts)], element), scalars).result
    while len(parts) > 1 and all(p.type.shape == parts[0].type.shape for p in parts) and len(parts) % 2 == 0:
        size = parts[0].type.shape[0]
        parts = [
            vector.ShuffleOp(parts[i], parts[i + 1], list(range(2 * size))).result for i in range(0, len(parts), 2)
        ]
    value = parts[0]
    for part in parts[1:]:
        value = _append(value, part)
    return value


def _append(a: ir.Value, b: ir.Value) -> ir.Value:
    mask = list(range(a.type.shape[0] + b.type.shape[0]))
    return vector.ShuffleOp(a, b, mask).result
