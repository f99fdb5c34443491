"""Copies to LDS that transpose: rows of global memory become columns of the buffer, by registers of one lane.

A lane loads several rows of a few elements each, renames its registers, and stores columns. How many rows and how wide
is a choice between wide loads and wide stores; the clocks of both decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from wave_mlir.dialect import Layout, cooperative_layout

from .gather_cost import LOAD_CLOCKS
from .kernel_info import KernelInfo


@dataclass(frozen=True)
class Transposing:
    """The layout of the load and, with registers renamed, of the store; `clocks` of both for a wave."""

    load: Layout
    store: Layout
    rows: int
    columns: int
    clocks: int


def run_of(layout: Layout) -> tuple[str | None, int]:
    """The dim along which the first registers of a lane run, and how many do."""
    digits = layout.digits.get("reg", [])
    if digits and digits[0][1] is not None and digits[0][2] == 1:
        return digits[0][1], digits[0][0]
    return None, 1


def transposing(
    info: KernelInfo, extents: dict[str, int], across: str, along: str, bits: int, most: int
) -> Transposing | None:
    """The best way to load a tile whose dim `across` is contiguous in memory, and to store it with `along` contiguous.

    bits: of an element; most: bits of one load. None where no block of rows and columns divides the tile among all
    lanes.
    """
    found: list[Transposing] = []
    share = prod(extents.values()) // info.threads
    for columns in _powers(extents[across], most // bits):
        for rows in _powers(extents[along], 128 // bits):
            if rows < 2 or columns < 2 or columns * rows > share:
                continue
            blocks = {d: n // rows if d == along else n for d, n in extents.items()}
            order = [d for d in blocks if d != across] + [across]
            inner = cooperative_layout({d: blocks[d] for d in order}, across, columns, info.wave_size, info.block_waves)
            load, store = _scaled(inner, extents, (columns, across), (rows, along))
            count = load.registers
            write = len(info.target.lds_access("write", rows * bits).phases)
            clocks = count // columns * LOAD_CLOCKS + count // rows * write
            found.append(Transposing(load, store, rows, columns, clocks))
    return min(found, key=lambda t: (t.clocks, -t.rows), default=None)


def _powers(extent: int, most: int) -> list[int]:
    """The powers of two up to `most` that divide an extent."""
    return [1 << i for i in range(max(1, most).bit_length()) if extent % (1 << i) == 0]


def _scaled(
    inner: Layout, extents: dict[str, int], first: tuple[int, str], second: tuple[int, str]
) -> tuple[Layout, Layout]:
    """The layouts of blocks of `first` by `second` (number, dim) that are placed as `inner` places runs of `first`."""
    (columns, across), (rows, along) = first, second

    def scale(digits: list[tuple[int, str | None, int]]) -> list[tuple[int, str | None, int]]:
        return [(n, d, s * rows if d == along else s) for n, d, s in digits]

    digits = {source: scale(list(inner.digits.get(source, []))) for source in ("reg", "lane", *_WAVES)}
    rest = digits["reg"]
    extent, dim, stride = rest[0]  # the run along `across`, perhaps merged with what continues it
    rest = [(extent // columns, dim, stride * columns), *rest[1:]]
    waves = {axis.replace(".", "_"): digits[axis] for axis in _WAVES}

    def made(*own: tuple[int, str | None, int]) -> Layout:
        return Layout.get(extents, reg=[*own, *rest], lane=digits["lane"], **waves).canonical()

    return made((columns, across, 1), (rows, along, 1)), made((rows, along, 1), (columns, across, 1))


_WAVES = ("wave.x", "wave.y", "wave.z")
