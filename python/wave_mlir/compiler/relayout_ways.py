"""The ways of a relayout: registers renamed, lanes exchanging, a round trip through LDS; what each costs a wave.

Clocks: an operation of the vector unit as in the target's table, an access to LDS its phases, which the waves of all
SIMDs of a compute unit take in turn. Each LDS operation that waits for another one adds a latency.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from mlir import ir

from wave_mlir.dialect import Layout, Plan, TileType, plan

from .exchange_graph import Node
from .exchanges import Exchange, exchange
from .kernel_info import KernelInfo
from .targets import Target

WORD = 32
WAY = "wave.way"
"""On a relayout or reshape that stays for wave-expand: "registers" or "lanes", where elements move so."""

_POSITION = "P"  # the dim of a tile in row-major order

Name = Literal["registers", "lanes", "lds"]
_TITLES = {"registers": "by renaming registers", "lanes": "from lane to lane", "lds": "by way of LDS"}


@dataclass(frozen=True)
class Way:
    """A way with its clocks for a wave, None where it cannot be gone, and what they are spent on (or why not)."""

    name: Name
    clocks: int | None
    what: str

    def __str__(self) -> str:
        cost = "impossible" if self.clocks is None else f"{self.clocks} clocks"
        return f"{_TITLES[self.name]}: {cost} ({self.what})"


@dataclass(frozen=True)
class Ways:
    """All ways of one relayout, the chosen one first."""

    chosen: Way
    others: tuple[Way, ...]

    def preferring(self, name: str) -> Ways:
        """The ways with the one of this name chosen, where it can be gone and nothing is free."""
        wanted = next((w for w in self.others if w.name == name and w.clocks is not None), None)
        if wanted is None or self.chosen.clocks == 0:
            return self
        return Ways(wanted, (self.chosen, *(w for w in self.others if w is not wanted)))

    def __str__(self) -> str:
        return f"this relayout goes {self.chosen}; {'; '.join(map(str, self.others))}"


def stand_in_bits(element: ir.Type) -> int | None:
    """Bits that an element has when lanes exchange it; None for one that they do not (of fewer than 8 bits)."""
    if isinstance(element, ir.IndexType):
        return 64
    width = int(getattr(element, "width", 0))
    if width == 1:
        return 8
    return width if width in (8, 16, 32, 64) else None


def moved_tiles(op: ir.Operation) -> tuple[TileType, TileType] | None:
    """What a relayout or reshape leads from and to, as layouts of one tile; None where registers hold no elements.

    A reshape keeps the row-major order of elements, so both its tiles are one tile of one dim.
    """
    source, target = TileType(op.operands[0].type), TileType(op.results[0].type)
    if op.name != "wave.reshape":
        return source, target
    before, after = _in_one_dim(source), _in_one_dim(target)
    return None if before is None or after is None else (before, after)


def _in_one_dim(tile: TileType) -> TileType | None:
    """A tile's elements in row-major order; None where its digits reach beyond it."""
    layout = Layout(tile.layout)
    strides, count = {}, 1
    for dim in reversed(layout.dims):
        strides[dim], count = count, count * layout.extents[dim]
    reach = dict.fromkeys(layout.dims, 1)
    digits: dict[str, list[tuple[int, str | None, int]]] = {}
    for source, found in layout.digits.items():
        digits[source] = [(n, d and _POSITION, s * strides[d] if d else 0) for n, d, s in found]
        for extent, dim, stride in found:
            if dim is not None:
                reach[dim] += (extent - 1) * stride
    if layout.clip or reach != dict(layout.extents):
        return None
    waves = {f"wave_{axis}": digits.get(f"wave.{axis}", []) for axis in "xyz"}
    whole = Layout.get({_POSITION: count}, reg=digits.get("reg", []), lane=digits.get("lane", []), **waves)
    return TileType.get([_POSITION], tile.element_type, whole)


def plan_of(source: TileType, target: TileType, info: KernelInfo) -> Plan:
    """How the elements get from one layout to the other."""
    sizes = {"lane": info.wave_size} | {f"wave.{axis}": info.waves(axis) for axis in "xyz"}
    return plan(Layout(source.layout), Layout(target.layout), sizes)


def exchange_of(source: TileType, target: TileType, found: Plan, info: KernelInfo) -> Exchange | None:
    """The cheapest exchange between lanes for a plan; None where elements come from other waves, or are too small."""
    bits = stand_in_bits(source.element_type)
    if found.kind != "lanes" or bits is None:
        return None
    rows = info.target.exchanges.swapped_rows if bits <= WORD else ()
    packed = max(1, WORD // bits)

    def cost(made: Exchange) -> int:
        return _exchange_clocks(made, info.target, bits)

    layouts = Layout(source.layout), Layout(target.layout)
    return exchange(*layouts, found, packed, info.wave_size, rows, cost)


def ways_of(source: TileType, target: TileType, found: Plan, info: KernelInfo) -> Ways:
    """The ways of a relayout, the cheapest first; of equally cheap ones that without LDS."""
    by_lds = _lds_way(source, target, found, info)
    if found.kind in ("identity", "registers"):
        return Ways(Way("registers", 0, "nothing moves"), (by_lds,))
    registers = Way("registers", None, "elements change lanes")
    made = exchange_of(source, target, found, info)
    if made is None:
        other = "elements of fewer than 8 bits" if found.kind == "lanes" else "elements come from other waves"
        return Ways(by_lds, (registers, Way("lanes", None, other)))
    bits = stand_in_bits(source.element_type) or WORD
    by_lanes = Way("lanes", _exchange_clocks(made, info.target, bits), _spent(made, info.target, bits))
    ways = sorted((by_lanes, by_lds), key=lambda w: math.inf if w.clocks is None else w.clocks)
    return Ways(ways[0], (ways[1], registers))


# --- from lane to lane ----------------------------------------------------------------------------


def _crosses(node: Node, target: Target) -> bool:
    """Whether an operation goes through LDS's crossbar."""
    if node.kind == "lanes":
        return True
    exchanges = target.exchanges
    return node.kind == "xor" and node.detail[0] not in (*exchanges.dpp_xors, *exchanges.swapped_rows)


def _clocks(node: Node, target: Target, bits: int) -> int:
    """Clocks of one operation on words of these bits."""
    exchanges, registers = target.exchanges, max(1, bits // WORD)
    if _crosses(node, target):
        return registers * max(exchanges.vector, _shared(target, len(target.lds_access("read", WORD).phases)))
    if node.kind == "swap":
        return exchanges.swap
    if node.kind == "xor" and node.detail[0] in exchanges.swapped_rows and node.detail[0] not in exchanges.dpp_xors:
        return registers * (exchanges.swap + 2 * exchanges.vector)  # a copy, the swap, a select
    if node.kind == "pick":
        return exchanges.vector * max(1, len(node.operands) - 1)
    return registers * exchanges.vector


def _shared(target: Target, clocks: int) -> int:
    return clocks * target.simds_per_compute_unit


def _exchange_clocks(made: Exchange, target: Target, bits: int) -> int:
    operations = made.graph.operations(made.results)
    crossing = {node: _crosses(node, target) for node in operations}
    steps = made.graph.depth(made.results, crossing)
    return sum(_clocks(n, target, bits) for n in operations) + steps * target.latencies.lds // 2


def _spent(made: Exchange, target: Target, bits: int) -> str:
    """The operations of an exchange, by kind."""
    operations = made.graph.operations(made.results)
    across = [n for n in operations if _crosses(n, target)]
    swaps = [n for n in operations if n.kind == "swap"]
    moves = [n for n in operations if n.kind == "xor" and n not in across]
    rest = len(operations) - len(across) - len(swaps) - len(moves)
    parts = [
        (len(across), "through the crossbar of LDS"),
        (len(moves), "between lanes by vector moves"),
        (len(swaps), "by swapping rows"),
        (rest, "selects and permutations of bytes"),
    ]
    what = ", ".join(f"{count} {text}" for count, text in parts if count)
    return f"{what}; {made.graph.packed} elements a word" if bits < WORD else what


# --- by way of LDS --------------------------------------------------------------------------------


def _lds_way(source: TileType, target: TileType, found: Plan, info: KernelInfo) -> Way:
    bits = max(8, stand_in_bits(source.element_type) or 8)
    size = math.prod(Layout(source.layout).extents.values()) * bits // 8
    if size > info.target.lds_bytes:
        return Way("lds", None, f"the tile has {size} bytes, and LDS {info.target.lds_bytes}")
    writes, write_bits = _accesses(source, bits)
    reads, read_bits = _accesses(target, bits)
    clocks = sum(
        count * max(info.target.exchanges.vector, _shared(info.target, len(info.target.lds_access(op, width).phases)))
        for op, count, width in (("write", writes, write_bits), ("read", reads, read_bits))
    )
    clocks += info.target.latencies.lds // 2 + info.target.latencies.lds
    barriers = 2 if _crosses_waves(Layout(source.layout), found, info) else 0
    clocks += barriers * info.target.exchanges.barrier
    parts = [f"{_number(writes, 'store')} of {write_bits} bits", f"{_number(reads, 'load')} of {read_bits} bits"]
    parts += [_number(barriers, "barrier")] if barriers else []
    return Way("lds", clocks, ", ".join(parts))


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _accesses(tile: TileType, bits: int) -> tuple[int, int]:
    """How many accesses of a lane move its part of a tile, which is stored row by row, and their width in bits."""
    layout = Layout(tile.layout)
    widest, width = layout.widest_access(layout.dims[-1]), 1
    while 2 * width * bits <= 128 and widest % (2 * width) == 0:
        width *= 2
    return layout.registers // width, width * bits


def _crosses_waves(source: Layout, found: Plan, info: KernelInfo) -> bool:
    """Whether a wave reads what another one has written: it has the element, or is the one that stores it."""
    return found.kind == "lds" or any(_replicas(source, axis, info.waves(axis)) for axis in "xyz")


def _replicas(layout: Layout, axis: str, waves: int) -> bool:
    digits: Sequence[tuple[int, str | None, int]] = layout.digits.get(f"wave.{axis}", [])
    return math.prod(extent for extent, dim, _ in digits if dim is not None) < waves
