"""A model of reuse in L2: which tiles the workgroups that are resident on one XCD at the same time read.

Workgroups go to the XCDs in turns, in the order of their numbers (x counts fastest); an XCD is taken to run them in
windows of as many as fit its compute units. What several of a window read counts once: they run at about the same time,
and the L2 keeps it for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wave_mlir.compiler.targets import Target


@dataclass(frozen=True)
class TileRead:
    """A read of a kernel. places: for each workgroup (a row, by number) where its tile starts. bytes: of a tile."""

    name: str
    bytes: int
    places: np.ndarray


@dataclass(frozen=True)
class L2Reuse:
    """Means over the windows of the whole grid, for one trip of the loops around each read.

    window: workgroups resident on an XCD. distinct: (read, tiles) of a window. requested, fetched: bytes that a window
    asks L2 for, and that L2 has to get from memory.
    """

    xcds: int
    window: int
    distinct: tuple[tuple[str, float], ...]
    requested: float
    fetched: float
    l2_bytes: int

    def lines(self) -> list[str]:
        """For people."""
        tiles = ", ".join(f"{count:.1f} of {name}" for name, count in self.distinct)
        times = self.requested / self.fetched if self.fetched else 1.0
        return [
            f"{self.window} workgroups resident on each of {self.xcds} XCDs; distinct tiles: {tiles}",
            f"a trip fetches {self.fetched:.0f} bytes an XCD for {self.requested:.0f} asked for ({times:.1f} times "
            f"reused), {self.fetched / self.l2_bytes:.1%} of its L2",
        ]

    def to_json(self) -> dict[str, object]:
        """Plain data."""
        return {
            "xcds": self.xcds,
            "window": self.window,
            "distinct_tiles": {name: round(count, 2) for name, count in self.distinct},
            "requested_bytes": round(self.requested),
            "fetched_bytes": round(self.fetched),
        }


def reuse(reads: Sequence[TileRead], target: Target, resident: int) -> L2Reuse | None:
    """The model for `resident` workgroups on each compute unit; None without reads or workgroups."""
    if not reads or not len(reads[0].places):
        return None
    window = max(1, resident * target.compute_units // target.xcds)
    windows = _windows(len(reads[0].places), target.xcds, window)
    distinct = [float(np.mean([len(np.unique(read.places[numbers], axis=0)) for numbers in windows])) for read in reads]
    size = float(np.mean([len(numbers) for numbers in windows]))
    return L2Reuse(
        xcds=target.xcds,
        window=round(size),
        distinct=tuple(zip((r.name for r in reads), distinct, strict=True)),
        requested=size * sum(r.bytes for r in reads),
        fetched=sum(count * r.bytes for count, r in zip(distinct, reads, strict=True)),
        l2_bytes=target.l2_bytes,
    )


def _windows(total: int, xcds: int, window: int) -> list[np.ndarray]:
    """Numbers of the workgroups that are resident together."""
    found = []
    for chip in range(min(xcds, total)):
        numbers = np.arange(chip, total, xcds)
        found += [numbers[at : at + window] for at in range(0, len(numbers), window)]
    return found
