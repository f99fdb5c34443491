"""Symbols and dims in the reference evaluator: what a symbol means here, and which part of a dim a tile covers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from mlir import ir

from wave_mlir.dialect import Expr, TilingConstraintAttr, WorkgroupConstraintAttr

from ..errors import SimError
from .tiles import Tile, aligned, union

AXES = "xyz"


class Scope:
    """The meaning of symbols at one place of one workgroup.

    static: expressions of the kernel's symbols. given: values of dynamic ones and of workgroup ids. set: what
    `set_symbol` defined, as tiles. position: trip counters of the enclosing loops by dim.
    """

    def __init__(
        self,
        static: Mapping[str, Expr],
        given: Mapping[str, int],
        workgroup: Mapping[str, WorkgroupConstraintAttr],
        tiling: Mapping[str, TilingConstraintAttr],
    ) -> None:
        self.static = static
        self.given = dict(given)
        self.workgroup = workgroup
        self.tiling = tiling
        self.set: dict[str, Tile] = {}
        self.position: dict[str, int] = {}

    # -- expressions
    def symbol(self, name: str, here: ir.Location, pending: tuple[str, ...] = ()) -> Tile:
        """The value of a symbol. Raises SimError when it has none."""
        if name in self.set:
            return self.set[name]
        if name in self.given:
            return Tile.scalar(self.given[name])
        if name.startswith("iv.") and name[3:] in self.position:
            return Tile.scalar(self.position[name[3:]])
        if name not in self.static:
            raise SimError("arguments", f"symbol '{name}' has no value; give it in symbols=", location=str(here))
        if name in pending:
            raise SimError("arguments", f"symbol '{name}' is defined by itself", location=str(here))
        return self.expr(self.static[name], here, {}, (*pending, name))

    def expr(self, expr: Expr, here: ir.Location, known: Mapping[str, Tile], pending: tuple[str, ...] = ()) -> Tile:
        """An expression for each element; `known` comes before the symbols in scope."""
        names = list(expr.symbols)
        tiles = [known[n] if n in known else self.symbol(n, here, pending) for n in names]
        dims, arrays = aligned(tiles, union(tiles))
        if not names:
            return Tile.scalar(expr.eval({}))
        shape = np.broadcast_shapes(*(a.shape for a in arrays))
        full = {n: np.broadcast_to(a, shape).astype(np.int64) for n, a in zip(names, arrays, strict=True)}
        if not shape:
            return Tile.scalar(expr.eval({n: int(a) for n, a in full.items()}))
        if 0 in shape:
            return Tile(dims, np.zeros(shape, np.int64))
        return Tile(dims, np.asarray(expr.eval_numpy(full)).reshape(shape))

    def number(self, expr: Expr | str, here: ir.Location) -> int:
        """An expression or symbol that decides extents or control flow, which must be the same for all elements."""
        tile = self.symbol(expr, here) if isinstance(expr, str) else self.expr(expr, here, {})
        return uniform(tile, f"'{expr}'", here)

    # -- dims
    def domain(self, dim: str, here: ir.Location) -> tuple[int, int]:
        """First coordinate and extent of the part of `dim` that a tile covers here, inside the dim's real extent."""
        start, extent = 0, None
        if dim in self.workgroup:
            cut = self.workgroup[dim]
            extent = self.number(cut.tile, here)
            place = self.given[f"wg.{axis_name(cut.axis)}"] if cut.fn is None else self.number(cut.fn, here)
            start += place * extent
        limit = None if extent is None else start + extent
        if dim in self.tiling and dim in self.position:
            walk = self.tiling[dim]
            extent = 1 if walk.tile is None else self.number(walk.tile, here)
            first = 0 if walk.start is None else self.number(walk.start, here)
            start += first + self.position[dim] * extent
        if dim in self.workgroup and self.workgroup[dim].secondary and extent == 1:
            return start, 1  # the positions are those of the dim that owns the grid dim
        end = self.size(dim, here)
        if extent is not None:
            end = min(end, start + extent)
        if limit is not None:
            end = min(end, limit)
        return start, max(0, end - start)

    def size(self, dim: str, here: ir.Location) -> int:
        """The real extent of a dim, whose symbol a while loop over it may shadow."""
        if dim in self.position and dim in self.set:
            outer = self.given.get(dim)
            return outer if outer is not None else uniform(self.expr(self.static[dim], here, {}), dim, here)
        return self.number(dim, here)

    def coordinates(self, dim: str, here: ir.Location) -> Tile:
        """The global coordinates along `dim`."""
        start, extent = self.domain(dim, here)
        return Tile((dim,), np.arange(start, start + extent, dtype=np.int64))


def uniform(tile: Tile, what: str, here: ir.Location) -> int:
    """The one value that all elements have. Raises SimError when they differ."""
    if tile.data.size == 0 or not (tile.data == tile.data.flat[0]).all():
        text = f"{what} decides extents or control flow and must be the same for all elements of the tile"
        raise SimError("arguments", text, location=str(here))
    return int(tile.data.flat[0])


def axis_name(axis: int) -> str:
    """The name of a grid dim in `wg.…`."""
    return AXES[axis] if axis < len(AXES) else str(axis)
