"""Layouts: where each element of a workgroup's tile lives (register, lane, wave), and in LDS.

`Layout` and `LdsLayout` are the typed classes of the attributes `#wave.layout` and `#wave.lds_layout`; their methods
are the algebra (docs/layouts.md). Here are the constructors that passes use and the tables as numpy arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import gcd, prod
from typing import Protocol

import numpy as np
from mlir import ir

from .._wave import Layout, LdsLayout, bank_conflicts

__all__ = [
    "Layout",
    "LdsLayout",
    "access_conflicts",
    "bank_conflicts",
    "block_sizes",
    "consecutive_phases",
    "cooperative_layout",
    "coordinates",
    "elementwise_layout",
    "fragment_layout",
    "linear_layout",
    "mma_layout",
    "owners",
    "tiled_layout",
]

Digit = tuple[int, str | None, int]
WAVE_AXES = ("wave.x", "wave.y", "wave.z")


class FragmentDigit(Protocol):
    """One digit of an MMA operand, as the target tables have it (source "reg" or "lane")."""

    @property
    def source(self) -> str: ...
    @property
    def extent(self) -> int: ...
    @property
    def dim(self) -> str | None: ...
    @property
    def stride(self) -> int: ...


def block_sizes(wave_size: int, waves: Sequence[int] = (1, 1, 1)) -> dict[str, int]:
    """The `sizes` argument of methods for a block of `waves` (x, y, z) waves of `wave_size` lanes."""
    return {"lane": wave_size, **dict(zip(WAVE_AXES, waves, strict=True))}


def coordinates(layout: Layout, sizes: Mapping[str, int] | None = None) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The coordinates of every place and whether an element exists there.

    All arrays have the shape (waves, lanes, registers), wave = x + X * (y + Y * z). `sizes` has the number of lanes and
    of waves per axis; the layout's own numbers where it is silent. Where no element exists the coordinates are those
    that the digits give.
    """
    n = {s: layout.size(s) for s in ("lane", *WAVE_AXES)} | dict(sizes or {})
    exists = layout.table(dict(sizes or {})) >= 0
    out = {}
    for dim in layout.dims:

        def part(source: str, count: int, dim: str = dim) -> np.ndarray:
            return np.array([layout.part(source, i, dim) for i in range(count)], dtype=np.int64)

        x, y, z = (part(axis, n[axis]) for axis in WAVE_AXES)
        wave = (z[:, None, None] + y[None, :, None] + x[None, None, :]).reshape(-1)
        lane, reg = part("lane", n["lane"]), part("reg", layout.registers)
        out[dim] = wave[:, None, None] + lane[None, :, None] + reg[None, None, :]
    return out, exists


def owners(layout: Layout, at: Mapping[str, int], sizes: Mapping[str, int] | None = None) -> list[tuple[int, int, int]]:
    """All places (wave, lane, register) that hold the element at the coordinates `at`, in that order.

    Raises ValueError when `at` is outside the tile.
    """
    number = 0
    for dim, extent in layout.extents.items():
        if not 0 <= at[dim] < extent:
            raise ValueError(f"{dim} = {at[dim]} is outside the tile of {extent}")
        number = number * extent + at[dim]
    return [(int(w), int(lane), int(r)) for w, lane, r in np.argwhere(layout.table(dict(sizes or {})) == number)]


# --- constructors -----------------------------------------------------------------------------------------------


def fragment_layout(
    digits: Iterable[FragmentDigit], dims: Mapping[str, str], context: ir.Context | None = None
) -> Layout:
    """The hardware tile of one MMA operand for one wave.

    `digits` come from a target's MMA kind; `dims` maps their dims ("row", "k", …) to those of the tile, in the tile's
    order. The extents are what the digits reach.
    """
    sources: dict[str, list[Digit]] = {"reg": [], "lane": []}
    extents = dict.fromkeys(dims.values(), 1)
    for d in digits:
        name = None if d.dim is None else dims[d.dim]
        sources[d.source].append((d.extent, name, d.stride if name else 0))
        if name:
            extents[name] += (d.extent - 1) * d.stride
    return Layout.get(extents, reg=sources["reg"], lane=sources["lane"], context=context)


def tiled_layout(
    inner: Layout,
    extents: Mapping[str, int],
    waves: Mapping[str, tuple[str, int, int]] | None = None,
    order: Sequence[str] | None = None,
) -> Layout:
    """A tile of `extents` covered by copies of the one-wave layout `inner`.

    `waves[dim]` = (axis, count, tile): `count` waves along `axis` ("wave.x", …) each take `tile` elements of the dim.
    Inside a wave's tile the copies of `inner` are register digits, in the order of `order` (dims, fastest first; by
    default the last dim is fastest). A wave's tile that `inner` does not divide is clipped. Dims that `inner` lacks
    have one element per copy. Raises ValueError where the waves' tiles do not cover an extent.
    """
    waves = waves or {}
    reg, lane = (list(inner.digits.get(source, [])) for source in ("reg", "lane"))
    axes: dict[str, list[Digit]] = {axis: [] for axis in WAVE_AXES}
    clip: dict[str, int] = {}
    for dim in order if order is not None else reversed(list(extents)):
        hardware = inner.extents.get(dim, 1)
        axis, count, tile = waves.get(dim, ("wave.x", 1, extents[dim]))
        copies = -(-tile // hardware)
        if copies > 1:
            reg.append((copies, dim, hardware))
        if count > 1:
            axes[axis].append((count, dim, tile))
            if copies * hardware > tile:
                clip[dim] = tile
    return Layout.get(
        extents, reg=reg, lane=lane, wave_x=axes["wave.x"], wave_y=axes["wave.y"], wave_z=axes["wave.z"],
        clip=clip, context=inner.context,
    ).canonical()  # fmt: skip


def mma_layout(
    digits: Iterable[FragmentDigit],
    dims: Mapping[str, str],
    extents: Mapping[str, int],
    waves: Mapping[str, tuple[str, int, int]] | None = None,
    order: Sequence[str] | None = None,
    context: ir.Context | None = None,
) -> Layout:
    """The layout of one MMA operand of a workgroup tile: `tiled_layout` of its `fragment_layout`.

    >>> mma_layout(kind.lhs.digits, {"row": "M", "k": "K"}, {"M": 64, "K": 32}, {"M": ("wave.x", 2, 32)})
    #wave.layout<[M = 64, K = 32], reg = [4 : K * 1, 2 : K * 16, 2 : M * 16], lane = [16 : M * 1, 4 : K * 4],
                 wave.x = [2 : M * 32]>
    """
    return tiled_layout(fragment_layout(digits, dims, context), extents, waves, order)


def _column_lanes(chunks: int, wave_size: int) -> list[int]:
    """Numbers of lanes worth trying along a row of `chunks` accesses, widest first."""
    candidates = {n for n in range(1, min(chunks, wave_size) + 1) if chunks % n == 0}
    power = 1
    while power < min(chunks, wave_size):
        power *= 2
    if power <= wave_size:
        candidates.add(power)
    return sorted(candidates, reverse=True)


def _deal(counts: Sequence[tuple[str, int, int]], capacity: Mapping[str, int]) -> dict[str, list[Digit]]:
    """Deals `counts` (dim, number, stride), fastest first, to the sources of `capacity` in turn.

    What they do not take goes to registers.
    """
    out: dict[str, list[Digit]] = {"reg": [], "lane": [], **{axis: [] for axis in WAVE_AXES}}
    left = dict(capacity)
    for dim, number, stride in counts:
        for source, room in left.items():
            if number > 1 and room > 1:
                take = min(number, room)
                out[source].append((take, dim, stride))
                left[source] = room // take
                stride *= take
                number = -(-number // take)
        if number > 1:
            out["reg"].append((number, dim, stride))
    return out


def cooperative_layout(
    extents: Mapping[str, int],
    contiguous: str,
    vector: int,
    wave_size: int,
    waves: Sequence[int] = (1, 1, 1),
    context: ir.Context | None = None,
) -> Layout:
    """A tile loaded by all lanes of a workgroup, `vector` elements along `contiguous` at a time.

    Neighbouring lanes take neighbouring accesses of a row of the tile, then the next rows (the other dims, the last one
    fastest), then waves do, then the registers. Chunks that do not fill or divide the threads leave some of them beyond
    the tile, or replicating. The number of lanes along a row is chosen so that a lane needs the fewest accesses; of
    equal ones that in which the fewest places hold nothing or a replica, then the one with the longest run in memory.

    Raises ValueError when an argument is not positive or `contiguous` is not a dim of the tile.
    """
    if contiguous not in extents:
        raise ValueError(f"the tile has no dim {contiguous}")
    if min(vector, wave_size, *waves, *extents.values()) <= 0:
        raise ValueError("extents, vector width, wave size and numbers of waves must be positive")
    chunks = -(-extents[contiguous] // vector)
    others = [(dim, n, 1) for dim, n in reversed(list(extents.items())) if dim != contiguous]
    capacity = block_sizes(wave_size, waves)
    elements = prod(extents.values())
    best: tuple[tuple[int, int, int], dict[str, list[Digit]]] | None = None
    for columns in _column_lanes(chunks, wave_size):
        first = {"lane": columns, **{k: v for k, v in capacity.items() if k != "lane"}}
        if chunks > columns and columns < wave_size:
            first = {"lane": columns}  # rows go on to other lanes; the rest of this row to registers
        digits = _deal([(contiguous, chunks, vector)], first)
        used = {source: prod(d[0] for d in digits[source]) for source in capacity}
        rows = _deal(others, {source: n // used[source] for source, n in capacity.items()})
        digits = {source: digits[source] + rows[source] for source in digits}
        accesses = prod(d[0] for d in digits["reg"])
        places = prod(d[0] for source in digits for d in digits[source])
        cost = (accesses, places * vector - elements, -columns)
        if best is None or cost < best[0]:
            best = (cost, digits)
    assert best is not None  # chunks >= 1 has the divisor 1
    digits = best[1]
    return Layout.get(
        extents, reg=[(vector, contiguous, 1), *digits["reg"]], lane=digits["lane"], wave_x=digits["wave.x"],
        wave_y=digits["wave.y"], wave_z=digits["wave.z"], context=context,
    ).canonical()  # fmt: skip


def linear_layout(
    extents: Mapping[str, int],
    vector: int,
    wave_size: int,
    waves: Sequence[int] = (1, 1, 1),
    together: int = 1,
    context: ir.Context | None = None,
) -> Layout | None:
    """A tile in row-major order of its dims (last fastest), dealt to lanes in that order, `vector` elements at a time.

    Neighbouring lanes hold neighbouring vectors wherever in the tile that is, as a copy straight to LDS needs it: those
    of a wave follow one another. Then come up to `together` registers (a common divisor), waves, and more registers, so
    that a wave has `together` blocks behind one another. None where the numbers do not divide: a last dim that is no
    multiple of the vector, a tile that is no multiple of what all threads hold, rows that do not go into a wave.
    """
    *others, last = extents
    if extents[last] % vector:
        return None
    threads = wave_size * prod(waves)
    copies, rest = divmod(prod(extents.values()), vector * threads)
    if rest or not copies:
        return None
    first = gcd(copies, together)
    sources = [("lane", wave_size), ("reg", first), *zip(WAVE_AXES, waves, strict=True), ("reg", copies // first)]
    digits: dict[str, list[Digit]] = {"reg": [(vector, last, 1)], "lane": [], **{axis: [] for axis in WAVE_AXES}}
    dims = [(last, extents[last] // vector, vector), *((dim, extents[dim], 1) for dim in reversed(others))]
    dim, left, stride = dims.pop(0)
    for source, number in sources:
        while number > 1:
            while left == 1 and dims:
                dim, left, stride = dims.pop(0)
            take = min(number, left)
            if number % take or left % take:
                return None
            digits[source].append((take, dim, stride))
            number, left, stride = number // take, left // take, stride * take
    return Layout.get(
        extents, reg=digits["reg"], lane=digits["lane"], wave_x=digits["wave.x"], wave_y=digits["wave.y"],
        wave_z=digits["wave.z"], context=context,
    ).canonical()  # fmt: skip


def elementwise_layout(
    extents: Mapping[str, int],
    vector_shapes: Mapping[str, int],
    wave_size: int,
    waves: Mapping[str, tuple[str, int, int]] | None = None,
    contiguous: str | None = None,
    context: ir.Context | None = None,
) -> Layout:
    """The layout of a tile in a kernel without MMA.

    One wave-wide operation covers `vector_shapes[dim]` elements of each dim (0 or missing: a batch dim, one); each lane
    takes consecutive elements along `contiguous` (the last dim by default), lanes run along it, then along the dims
    before it. Copies of that tile fill the wave's tile as in `tiled_layout`.

    Raises ValueError when the operation's elements are more than one per lane and do not divide among the lanes.
    """
    contiguous = contiguous if contiguous is not None else list(extents)[-1]
    tile = {dim: waves[dim][2] if waves and dim in waves else n for dim, n in extents.items()}
    shape = {dim: max(1, min(vector_shapes.get(dim, 1) or 1, tile[dim])) for dim in extents}
    total = prod(shape.values())
    vector = max(1, total // wave_size)
    if total > wave_size and (total % wave_size or shape[contiguous] % vector):
        raise ValueError(
            f"an operation of {' x '.join(map(str, shape.values()))} elements does not divide among {wave_size} lanes "
            f"with consecutive elements along {contiguous}; choose vector_shapes whose product is a multiple of them"
        )
    counts = [(contiguous, shape[contiguous] // vector, vector)]
    counts += [(dim, n, 1) for dim, n in reversed(list(shape.items())) if dim != contiguous]
    digits = _deal(counts, {"lane": wave_size})
    first = [(vector, contiguous, 1)] if vector > 1 else []
    inner = Layout.get(shape, reg=[*first, *digits["reg"]], lane=digits["lane"], context=context)
    order = [contiguous, *(dim for dim in reversed(list(extents)) if dim != contiguous)]
    return tiled_layout(inner, extents, waves, order)


# --- LDS --------------------------------------------------------------------------------------------------------


def consecutive_phases(lanes: int, width: int, bytes_per_phase: int = 128) -> list[list[int]]:
    """Access phases of consecutive lanes: as many a phase as `bytes_per_phase` serve at `width` bytes each."""
    group = max(1, bytes_per_phase // width)
    return [list(range(first, min(first + group, lanes))) for first in range(0, lanes, group)]


def access_conflicts(
    layout: Layout,
    lds: LdsLayout,
    element_bytes: int,
    elements: int,
    phases: Sequence[Sequence[int]],
    banks: int = 32,
    sizes: Mapping[str, int] | None = None,
) -> list[int]:
    """The worst bank conflict degree of each access of `elements` registers, over phases and waves (1: none).

    `layout`'s dims are those of the buffer, in order. Accesses take registers [0, elements), [elements, 2 * elements)
    and so on; `phases` lists the lanes served together, as the target's table has them.
    """
    where, exists = coordinates(layout, sizes)
    waves, lanes, registers = exists.shape
    degrees = []
    for reg in range(0, registers, elements):
        worst = 0
        for wave in range(waves):
            addresses = [-1] * lanes
            for lane in range(lanes):
                if exists[wave, lane, reg]:
                    at = [int(where[dim][wave, lane, reg]) for dim in layout.dims]
                    addresses[lane] = lds.offset(at) * element_bytes
            found = bank_conflicts(addresses, elements * element_bytes, banks, [list(p) for p in phases])
            worst = max(worst, *found)
        degrees.append(worst)
    return degrees
