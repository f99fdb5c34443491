"""Where the elements of an LDS buffer live: rows as they are, padded, or with their 16-byte chunks exchanged.

A choice is judged by the clocks that all accesses of the buffer take: for each access and wave, the sum over the phases
of the target's table of the most rows any bank is asked for. Every candidate is a bijection on what is used of the
buffer, and is applied to all accesses alike.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import inf, prod

import numpy as np
from mlir import ir

from wave_mlir.dialect import Expr, MemoryType, bank_conflicts

from .direct_copies import COPY
from .direct_swizzle import span_of, values_agree
from .kernel_info import KernelInfo
from .lane_access import element_bits, index_of, width_of

CHUNK_BYTES = 16
"""What moves as one: the widest access of a lane."""

_MOST_PADDING = 4  # chunks after a row; more only shift the rows as fewer do, up to the chunks of all banks


@dataclass(frozen=True)
class RowLayout:
    """Chunk c of row r is at chunk `c xor (r floordiv rows mod phases)`; rows are `pad` elements longer than they are.

    phases 1: no exchange. fold: so many rows count as one row here, so that short rows share all banks. mixed: the
    phase is xor the number of the group of rows with all phases, for accesses that step over such groups. `chunk` and
    `pad` count elements.
    """

    chunk: int
    phases: int = 1
    rows: int = 1
    pad: int = 0
    fold: int = 1
    mixed: bool = False

    def phase(self, folded: Expr) -> Expr:
        """What the chunks of a row (of `fold` rows as one) are exchanged by."""
        number = folded // self.rows
        if not self.mixed:
            return number % self.phases
        return (number % self.phases) ^ (number // self.phases % self.phases)

    def place(self, row: Expr, column: Expr, columns: int) -> tuple[Expr, Expr]:
        """The row and column at which an element is found; rows have `columns` elements."""
        if self.phases == 1:
            return row, column
        if self.fold > 1:
            column = row % self.fold * columns + column
        folded = row // self.fold
        moved = ((column // self.chunk) ^ self.phase(folded)) * self.chunk + column % self.chunk
        if self.fold == 1:
            return row, moved
        return folded * self.fold + moved // columns, moved % columns

    def __str__(self) -> str:
        if self.phases > 1:
            rows = f" of {self.fold} each" if self.fold > 1 else ""
            return f"chunks of {self.chunk}, {self.phases} {'mixed ' * self.mixed}phases of {self.rows} rows{rows}"
        return f"{self.pad} elements of padding" if self.pad else "as it is"


@dataclass(frozen=True)
class Pattern:
    """The byte offsets of one access: those of all lanes by wave, the row's first and the column's part."""

    op: str  # "read" or "write"
    row: Expr  # number of the row, all dims but the last folded
    column: Expr
    width: int  # elements


@dataclass
class Buffer:
    """A buffer with static rows and what accesses it."""

    allocate: ir.Operation
    accesses: list[ir.Operation]
    extents: tuple[int, ...]
    element_bytes: int
    patterns: dict[Pattern, int] = field(default_factory=dict)  # how many accesses have it
    copies: list[ir.Operation] = field(default_factory=list)  # direct ones, whose lanes follow one another
    span: int = 0  # elements: chunks may be exchanged inside of stretches of that many alone, where there are copies

    @property
    def columns(self) -> int:
        """Elements of a row."""
        return self.extents[-1]


def row_of(index: Sequence[Expr], extents: Sequence[int]) -> Expr:
    """The number of the row an index is in."""
    row = Expr.constant(0)
    for coordinate, extent in zip(index[:-1], extents[:-1], strict=True):
        row = row * extent + coordinate
    return row


def buffer_of(info: KernelInfo, allocate: ir.Operation) -> Buffer | None:
    """The buffer of an allocation; None where its elements cannot be moved: not every access is known to move whole.

    An access must lie in one chunk: a power of two of elements, starting at a multiple of itself.
    """
    memory = MemoryType(allocate.results[0].type)
    bits = element_bits(memory.element_type)
    extents = [info.resolve(e).constant_value for e in memory.shape]
    if memory.strides is not None or len(extents) < 2 or bits < 8 or any(e is None for e in extents):
        return None
    found = Buffer(allocate, [], tuple(int(e or 0) for e in extents), bits // 8)
    chunk = CHUNK_BYTES // found.element_bytes
    for use in allocate.results[0].uses:
        op = use.owner.operation
        if op.name == COPY:
            found.copies.append(op)
            continue
        if op.name not in ("wave.read", "wave.write") or found.columns % chunk:
            return None
        found.accesses.append(op)
        index, width = [e.simplify(info.facts) for e in index_of(op, info)], width_of(op)
        if any("el" in e.symbols for e in index) or chunk % width or index[-1].divisor(info.facts) % width:
            return None
        row = row_of(index, found.extents).simplify(info.facts)
        pattern = Pattern(op.name.removeprefix("wave."), row, index[-1], width)
        found.patterns[pattern] = found.patterns.get(pattern, 0) + 1
    if found.copies:
        found.span = min(span_of(info, op, found.extents) for op in found.copies)
    return found


def candidates(info: KernelInfo, buffer: Buffer, spare_bytes: int) -> list[RowLayout]:
    """Layouts worth a try, likely ones first. `spare_bytes`: LDS that padding may take."""
    chunk = CHUNK_BYTES // buffer.element_bytes
    found = [RowLayout(chunk)]
    for phases in (8, 4, 16, 2):
        if buffer.columns % (phases * chunk) == 0:
            found += [RowLayout(chunk, phases, rows) for rows in (1, 2, 4, 8)]
    for phases, fold in _folds(info, buffer, chunk):
        found += [RowLayout(chunk, phases, rows, fold=fold) for rows in (1, 2, 4)]
    found += [replace(layout, mixed=True) for layout in found if layout.phases > 2 and layout.rows == 1]
    if buffer.copies:
        exchanges = functools.cache(lambda stretch: _may_exchange(info, buffer, stretch))
        return [layout for layout in found if layout.phases == 1 or exchanges(layout.phases * layout.chunk)]
    rows = int(np.prod(buffer.extents[:-1]))
    pads = [chunk * count for count in range(1, _MOST_PADDING + 1)]
    return found + [RowLayout(chunk, pad=p) for p in pads if rows * p * buffer.element_bytes <= spare_bytes]


def _folds(info: KernelInfo, buffer: Buffer, chunk: int) -> list[tuple[int, int]]:
    """(phases, rows that count as one) for rows that are shorter than all banks."""
    found = []
    for banks in (32, info.target.lds_banks):
        fold, rest = divmod(banks * 4, buffer.columns * buffer.element_bytes)
        if rest or fold < 2 or buffer.extents[-2] % fold:
            continue
        found += [(p, fold) for p in (8, 16) if fold * buffer.columns % (p * chunk) == 0 and (p, fold) not in found]
    return found


def _may_exchange(info: KernelInfo, buffer: Buffer, stretch: int) -> bool:
    """Whether the lanes of each copy can exchange their chunks among those of `stretch` elements."""
    return buffer.span > 0 and buffer.span % stretch == 0 and all(values_agree(info, c, stretch) for c in buffer.copies)


def clocks(info: KernelInfo, buffer: Buffer, layout: RowLayout, most: float = inf) -> tuple[int, int]:
    """(clocks of all accesses of known place in one run through the program by each wave, worst conflict degree).

    most: accesses after which there are more clocks are not counted.
    """
    total, worst = 0, 1
    seen: dict[tuple[str, int, bytes], list[int]] = {}
    for pattern, count in buffer.patterns.items():
        found = degrees(info, buffer, layout, pattern, seen)
        total += count * sum(found)
        worst = max([worst, *found])
        if total > most:
            break
    return total, worst


def degrees(
    info: KernelInfo,
    buffer: Buffer,
    layout: RowLayout,
    pattern: Pattern,
    seen: dict[tuple[str, int, bytes], list[int]] | None = None,
) -> list[int]:
    """The conflict degree of each phase of an access, of all waves; none where it depends on values in registers.

    seen: those of accesses so far, by operation, bytes and lanes' distances: where all lanes move alike, banks turn
    and conflicts stay.
    """
    row, column = layout.place(pattern.row, pattern.column, buffer.columns)
    place = (row * (buffer.columns + layout.pad) + column).simplify(info.facts)
    waves = {f"wave.{axis}": count for axis, count in zip("xyz", info.block_waves, strict=True)}
    if any(not s.startswith(("wg.", "iv.")) and s != "lane" and s not in waves for s in place.symbols):
        return []
    size = pattern.width * buffer.element_bytes
    access = info.target.lds_access(pattern.op, 8 * size)
    phases, banks = [list(p) for p in access.phases], info.target.lds_banks
    shape = (prod(info.block_waves), info.wave_size)
    values: dict[str, np.ndarray | int] = {s: 0 for s in place.symbols if s.startswith(("wg.", "iv."))}
    if "lane" in place.symbols:
        values["lane"] = np.broadcast_to(np.arange(info.wave_size, dtype=np.int64), shape)
    for axis, numbers in zip(waves, np.indices(info.block_waves).reshape(3, -1, 1), strict=True):
        if axis in place.symbols:
            values[axis] = np.broadcast_to(numbers.astype(np.int64), shape)
    addresses = np.broadcast_to(place.eval_numpy(values), shape) * buffer.element_bytes
    seen = {} if seen is None else seen
    found: list[int] = []
    for lanes in addresses - addresses.min(axis=1, keepdims=True) // 4 * 4:
        key = pattern.op, size, lanes.tobytes()
        if key not in seen:
            seen[key] = bank_conflicts(lanes.tolist(), size, banks, phases)
        found += seen[key]
    return found


def choose(info: KernelInfo, buffer: Buffer, spare_bytes: int) -> tuple[RowLayout, int, int]:
    """(the layout with the fewest clocks, the first of equals; its clocks; its worst degree)."""
    best: tuple[RowLayout, int, int] | None = None
    least = sum(count * _floor(info, p, buffer) for p, count in buffer.patterns.items())
    for layout in candidates(info, buffer, spare_bytes):
        total, worst = clocks(info, buffer, layout, inf if best is None else best[1])
        if best is None or total < best[1]:
            best = (layout, total, worst)
        if total <= least:
            break
    assert best is not None  # there is at least the buffer as it is
    return best


def _floor(info: KernelInfo, pattern: Pattern, buffer: Buffer) -> int:
    """Clocks of an access without conflicts, of all waves."""
    access = info.target.lds_access(pattern.op, 8 * pattern.width * buffer.element_bytes)
    return len(access.phases) * int(np.prod(info.block_waves))
