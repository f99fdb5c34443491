"""Where the elements of a value are: lane and register of each, for the first wave."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MOST = 32
"""Rows and columns that are shown."""

_TEXT_ROWS, _TEXT_COLUMNS = 16, 32


@dataclass(frozen=True)
class TilePicture:
    """lanes, registers: [rows, columns] of a tile, -1 where the first wave does not hold the element.

    dims: names of rows and columns; extents: the tile's, of which at most `MOST` of each are in the arrays.
    """

    title: str
    dims: tuple[str, str]
    extents: tuple[int, int]
    lanes: np.ndarray
    registers: np.ndarray

    def lines(self) -> list[str]:
        """As text: the lane that holds each element."""
        rows, columns = (min(a, b) for a, b in zip(self.lanes.shape, (_TEXT_ROWS, _TEXT_COLUMNS), strict=True))
        part = "" if (rows, columns) == self.extents else f", of which {rows} x {columns} are shown"
        shape = f"{self.extents[0]} x {self.extents[1]}"
        head = f"{self.title}: lanes of the first wave, [{self.dims[0]}, {self.dims[1]}] = {shape}{part}"
        cells = ([" . " if lane < 0 else f"{lane:3}" for lane in row[:columns]] for row in self.lanes[:rows])
        return [head, *("  " + " ".join(row) for row in cells)]
