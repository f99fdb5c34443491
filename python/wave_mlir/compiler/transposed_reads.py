"""LDS reads that the hardware transposes: 16 lanes read rows of 16 elements, 64 bits a lane, and get a column each.

For elements of b bits n = 64 / b; lane j of the 16 reads n elements of row j floordiv (16 / n), and gets element j of
n rows. So a read qualifies whose lanes, 16 at a time, are at neighbouring elements of one row, and whose registers, n
at a time, go down rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mlir import ir

from wave_mlir.dialect import Expr, Facts, Layout

from .kernel_info import KernelInfo
from .lane_access import element_bits, index_of, linear_of, width_of, with_parts
from .targets import Target

LANES = 16
BITS = 64
TRANSPOSED_READ = "wave.transposed_read"
"""Attribute of a read of LDS: each lane reads its n elements at its index and gets a column of those of 16 lanes."""
_HIGH, _LOW = "at.high", "at.low"  # lane form has no others with `at`
_WIDTHS = (8, 16)


def rows_at_once(target: Target, bits: int) -> int | None:
    """Rows of one transposed read of elements of `bits` bits; None where the target has none."""
    return BITS // bits if bits in target.transposed_lds_bits and bits in _WIDTHS else None


def suits(target: Target, layout: Layout, across: str, along: str, bits: int) -> bool:
    """Whether a tile with this layout can be read so from a buffer in which `across` is contiguous."""
    rows = rows_at_once(target, bits)
    registers, lanes = layout.digits.get("reg", []), layout.digits.get("lane", [])
    if rows is None or not registers or not lanes:
        return False
    (run, dim, step), (count, other, stride) = registers[0], lanes[0]
    return (dim, step, other, stride) == (along, 1, across, 1) and run % rows == 0 and count % LANES == 0


@dataclass
class TransposedReads:
    """Rewrites the reads of one kernel."""

    info: KernelInfo
    _facts: Facts = field(init=False)
    _known: dict[tuple[Expr, int, int], bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        high = self.info.wave_size // LANES - 1
        self._facts = self.info.facts.extended({_HIGH: (0, high), _LOW: (0, LANES - 1)}, {}, [])

    def parts(self, op: ir.Operation) -> list[ir.Value] | None:
        """The transposed reads that make up a read of LDS, at the insertion point; None where it does not qualify."""
        kind = op.results[0].type
        if not isinstance(kind, ir.VectorType) or isinstance(kind.element_type, ir.IndexType):
            return None
        width, rows = width_of(op), rows_at_once(self.info.target, element_bits(kind.element_type))
        if rows is None or width % rows or op.opview.mask is not None or len(op.opview.symbol_values):
            return None
        linear = linear_of(op, self.info, self.info.facts.extended({"el": (0, width - 1)}, {}, []))
        key = linear, width, rows
        if key not in self._known:
            self._known[key] = all(self._is_block(linear, first, rows) for first in range(0, width, rows))
        if not self._known[key]:
            return None
        part = ir.VectorType.get([rows], kind.element_type)
        made = []
        for first in range(0, width, rows):
            *index, last = [self._own(e, first, rows) for e in index_of(op, self.info)]
            read = with_parts(op, [*index, last + Expr.symbol("el")], None, kind=part)
            read.attributes[TRANSPOSED_READ] = ir.UnitAttr.get()
            made.append(read.results[0])
        return made

    def _at(self, expr: Expr, element: Expr | int, low: Expr | int) -> Expr:
        lane = Expr.symbol(_HIGH) * LANES + low
        return expr.subs({"el": element, "lane": lane}).simplify(self._facts)

    def _is_block(self, linear: Expr, first: int, rows: int) -> bool:
        """Whether elements first … first + rows - 1 of 16 lanes are rows of neighbours, which start at 8 bytes."""
        base, low = self._at(linear, first, 0), Expr.symbol(_LOW)
        step = (self._at(linear, first + 1, 0) - base).simplify(self._facts).constant_value
        if step is None or step % rows or base.constant_value != 0 and base.divisor(self._facts) % rows:
            return False
        return all(
            (self._at(linear, first + r, low) - base - r * step - low).simplify(self._facts).constant_value == 0
            for r in range(rows)
        )

    def _own(self, coordinate: Expr, first: int, rows: int) -> Expr:
        """A coordinate of what a lane reads itself: that of the lane and element whose place it is."""
        per_row, low = LANES // rows, Expr.symbol("lane") % LANES
        place = self._at(coordinate, Expr.symbol(_LOW) // per_row + first, Expr.symbol(_LOW) % per_row * rows)
        return place.subs({_HIGH: Expr.symbol("lane") // LANES, _LOW: low}).simplify(self.info.facts)
