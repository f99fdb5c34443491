"""Bitcasts between elements of different width: what they do to dims, layouts and a lane's vectors.

The last dim counts other elements: 4 of i8 for one of i32. A lane keeps its bits, so where it has an element of 32 bits
it has the 4 of 8 bits, as the fastest digit of its registers.
"""

from __future__ import annotations

from collections.abc import Iterable

from mlir import ir
from mlir.dialects import vector

from wave_mlir.dialect import TileType

from .diagnostics import PassError
from .kernel_info import KernelInfo
from .layout_spec import Digit, Spec, make


def bits_of(element: ir.Type) -> int:
    """Bits of an element type; an index has 64."""
    return 64 if isinstance(element, ir.IndexType) else element.width


def widths(op: ir.Operation) -> tuple[int, int]:
    """Bits of an element before and after a `wave.bitcast` of tiles."""
    old, new = (bits_of(TileType(v.type).element_type) for v in (op.operands[0], op.results[0]))
    return old, new


def ratio_of(op: ir.Operation) -> int:
    """How many of the narrower elements are in one of the wider."""
    old, new = widths(op)
    return max(old, new) // min(old, new)


def last_dims(op: ir.Operation) -> tuple[str, str]:
    """The last dim before and after: the one whose number of elements changes."""
    return list(op.operands[0].type.dims)[-1], list(op.results[0].type.dims)[-1]


def check_dims(info: KernelInfo, op: ir.Operation) -> None:
    """Raises PassError where the tiles of a bitcast to another width do not have the same bits."""
    before, after = (list(v.type.dims) for v in (op.operands[0], op.results[0]))
    old, new = widths(op)
    if not before or before[:-1] != after[:-1]:
        raise PassError(
            op,
            f"this bitcast changes the width of elements and is from [{', '.join(before)}] to [{', '.join(after)}]; "
            "only the last dim may be another one",
        )
    if max(old, new) % min(old, new) or info.tile_extent(before[-1]) * old != info.tile_extent(after[-1]) * new:
        raise PassError(
            op,
            f"the tile has {info.tile_extent(before[-1])} elements of {old} bits along {before[-1]}, and "
            f"{info.tile_extent(after[-1])} of {new} bits along {after[-1]}, which are not the same bits; the sizes of "
            f"the two dims must have the ratio of {new} to {old}",
        )


def narrowed(spec: Spec, old: str, new: str, ratio: int) -> Spec:
    """The layout of a tile whose elements are each cut in `ratio` ones; dim `new` counts these instead of `old`."""

    def scaled(digits: Iterable[Digit]) -> list[Digit]:
        return [(n, new, s * ratio) if d == old else (n, d, s) for n, d, s in digits]

    return make(
        {new if d == old else d: n * ratio if d == old else n for d, n in spec.extents},
        [(ratio, new, 1), *scaled(spec.reg)],
        scaled(spec.lane),
        [scaled(w) for w in spec.waves],
        {new if d == old else d: n * ratio if d == old else n for d, n in spec.clip},
    )


def widened(spec: Spec, old: str, new: str, ratio: int) -> Spec | None:
    """The layout in which `ratio` elements along `old` are one along `new`; None where a lane has not all of one."""
    if not spec.reg or spec.reg[0][1:] != (old, 1) or spec.reg[0][0] % ratio:
        return None
    reg = [(spec.reg[0][0] // ratio, new, 1)]
    rest = [spec.reg[1:], spec.lane, *spec.waves]
    sizes = [n for d, n in (*spec.extents, *spec.clip) if d == old]
    if any(n % ratio for n in sizes) or any(s % ratio for digits in rest for _, d, s in digits if d == old):
        return None

    def scaled(digits: Iterable[Digit]) -> list[Digit]:
        return [(n, new, s // ratio) if d == old else (n, d, s) for n, d, s in digits]

    return make(
        {new if d == old else d: n // ratio if d == old else n for d, n in spec.extents},
        [*reg, *scaled(spec.reg[1:])],
        scaled(spec.lane),
        [scaled(w) for w in spec.waves],
        {new if d == old else d: n // ratio if d == old else n for d, n in spec.clip},
    )


def lane_bitcast(value: ir.Value, kind: ir.VectorType) -> ir.Value:
    """A lane's vector as one of other elements, with the same bits."""
    return value if value.type == kind else vector.BitCastOp(kind, value).result
