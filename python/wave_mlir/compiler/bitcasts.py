"""Bitcasts between elements of different width: what they do to dims, layouts and a lane's vectors.

The last dim counts other elements: 4 of i8 for one of i32. A lane keeps its bits, so where it has an element of 32 bits
it has the 4 of 8 bits, as the fastest digit of its registers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from mlir import ir

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


def is_repacking(op: ir.Operation) -> bool:
    """Whether the op is a bitcast to elements of another width."""
    if op.name != "wave.bitcast":
        return False
    old, new = widths(op)
    return old != new


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
    if info.tile_extent(before[-1]) * old != info.tile_extent(after[-1]) * new:
        raise PassError(
            op,
            f"the tile has {info.tile_extent(before[-1])} elements of {old} bits along {before[-1]}, and "
            f"{info.tile_extent(after[-1])} of {new} bits along {after[-1]}, which are not the same bits; the sizes of "
            f"the two dims must have the ratio of {new} to {old}",
        )


def repacked(op: ir.Operation, spec: Spec, backward: bool = False) -> Spec | None:
    """The layout of a bitcast's result that goes with `spec` of its operand (`backward`: the other way round).

    None where lanes do not hold whole groups of the elements that share bits.
    """
    old, new = op.operands[0].type, op.results[0].type
    if backward:
        old, new = new, old
    return resized(spec, old.dims[-1], new.dims[-1], bits_of(old.element_type), bits_of(new.element_type))


def resized(spec: Spec, old: str, new: str, times: int, divisor: int) -> Spec | None:
    """The layout of the same bits where `divisor` elements along `old` are `times` elements along `new`.

    None where a lane does not hold such groups of consecutive elements.
    """
    common = math.gcd(times, divisor)
    times, divisor = times // common, divisor // common
    whole = [n for d, n in (*spec.extents, *spec.clip) if d == old]
    reg = list(spec.reg)
    if not reg or reg[0][1:] != (old, 1):
        reg.insert(0, (1, old, 1))
    rest = (reg[1:], spec.lane, *spec.waves)
    strides = [s for digits in rest for _, d, s in digits if d == old]
    if any(n % divisor for n in (*whole, reg[0][0], *strides)):
        return None

    def scaled(digits: Iterable[Digit]) -> list[Digit]:
        return [(n, new, s * times // divisor) if d == old else (n, d, s) for n, d, s in digits]

    def sizes(pairs: Iterable[tuple[str, int]]) -> dict[str, int]:
        return {new if d == old else d: n * times // divisor if d == old else n for d, n in pairs}

    first = (reg[0][0] * times // divisor, new, 1)
    others, lane, *waves = (scaled(digits) for digits in rest)
    return make(sizes(spec.extents), [first, *others], lane, waves, sizes(spec.clip))
