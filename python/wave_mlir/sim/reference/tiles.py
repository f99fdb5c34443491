"""Values of the reference evaluator: arrays with named dims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Tile:
    """A value. dims: names of the array's axes. A missing dim means the same for every coordinate along it."""

    dims: tuple[str, ...]
    data: np.ndarray

    @staticmethod
    def scalar(value: object, dtype: np.dtype | type = np.int64) -> Tile:
        """One element without dims."""
        return Tile((), np.array(value, dtype))


def union(tiles: Sequence[Tile]) -> tuple[str, ...]:
    """All dims of the tiles, in order of appearance."""
    return tuple(dict.fromkeys(d for t in tiles for d in t.dims))


def aligned(tiles: Sequence[Tile], dims: tuple[str, ...] | None = None) -> tuple[tuple[str, ...], list[np.ndarray]]:
    """The arrays with axes `dims` (by default all there are), of extent 1 where a tile lacks the dim.

    Extents differ where a run-time length changed between two definitions: what all tiles have is kept.
    """
    dims = union(tiles) if dims is None else dims
    extents: dict[str, int] = {}
    for tile in tiles:
        for dim, extent in zip(tile.dims, tile.data.shape, strict=True):
            extents[dim] = min(extent, extents.get(dim, extent))
    return dims, [_spread(t, dims, extents) for t in tiles]


def _spread(tile: Tile, dims: tuple[str, ...], extents: dict[str, int]) -> np.ndarray:
    data = tile.data[tuple(slice(0, extents[d]) for d in tile.dims)]
    kept = [d for d in dims if d in tile.dims]
    data = data.transpose([tile.dims.index(d) for d in kept])
    return data.reshape([extents[d] if d in tile.dims else 1 for d in dims])
