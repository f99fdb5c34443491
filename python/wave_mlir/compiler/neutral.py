"""What a tile's registers hold outside of the domain along a dim, as far as that can be proven.

A place is outside when its coordinate is beyond the dim's extent, beyond the workgroup's tile, or clipped. Reads give 0
where memory ends, so a sum or an MMA needs no select behind them; `x + 1` does.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

from mlir import ir

from wave_mlir.dialect import Layout, TileType

from .access_index import coordinate, memory_extent
from .kernel_info import KernelInfo
from .layout_spec import of_layout
from .tile_ir import bound_names, segments, tile_dims

Number = int | float

# Results for constant operands; what is not here is not known.
_FOLD: dict[str, Callable[..., Number]] = {
    "wave.add": operator.add,
    "wave.sub": operator.sub,
    "wave.mul": operator.mul,
    "wave.neg": operator.neg,
    "wave.abs": abs,
    "wave.minimum": min,
    "wave.maximum": max,
}
_KEEPS_ZERO = frozenset(
    f"wave.{name}" for name in ("sqrt", "cbrt", "sin", "tan", "sinh", "tanh", "tanh_approx", "softsign", "round",
                                "roundeven", "floor", "ceil", "trunc")
)  # fmt: skip
_PASSES = frozenset({"wave.relayout", "wave.permute", "wave.shuffle"})


class Outside:
    """Answers `value(tile, dim)`: the constant a tile holds at all places outside the domain along `dim`, or None."""

    def __init__(self, info: KernelInfo) -> None:
        self.info = info
        self._known: dict[tuple[ir.Value, str], Number | None] = {}

    def value(self, tile: ir.Value, dim: str) -> Number | None:
        """None where nothing is proven. Loop-carried values are not looked into."""
        key = (tile, dim)
        if key not in self._known:
            self._known[key] = None  # for cycles
            self._known[key] = self._value(tile, dim)
        return self._known[key]

    def _value(self, tile: ir.Value, dim: str) -> Number | None:
        if isinstance(tile, ir.BlockArgument):
            return None
        op = tile.owner.operation
        name = op.name
        if name == "wave.read":
            return 0 if self._reads_zero(op, dim) else None
        if name == "wave.register":
            return _literal(op)
        if name in _PASSES:
            return self.value(op.operands[0], dim)
        if name == "wave.broadcast":
            source = op.operands[0]
            is_along = isinstance(source.type, TileType) and dim in source.type.dims
            return self.value(source, dim) if is_along else _constant(source)
        if name == "wave.bitcast":
            return self._bitcast(op, dim)
        if name == "wave.cast":
            return self._cast(op, dim)
        if name == "wave.select":
            return self._select(op, dim)
        if name == "wave.reduce":
            return self._reduce(op, dim)
        if name in _FOLD or name in _KEEPS_ZERO:
            values = [self.value(v, dim) for v in op.operands]
            if any(v is None for v in values):
                return None
            if name in _KEEPS_ZERO:
                return 0 if values[0] == 0 else None
            return _exact(_FOLD[name](*values))
        return None

    def _cast(self, op: ir.Operation, dim: str) -> Number | None:
        value = self.value(op.operands[0], dim)
        return 0 if value == 0 else None

    def _bitcast(self, op: ir.Operation, dim: str) -> Number | None:
        """0 stays 0: it is no bits in every type (but the scales of f8E8M0FNU, for which any finite value will do)."""
        old, new = tile_dims(op.operands[0].type), tile_dims(op.results[0].type)
        if not old:
            return None
        along = old[-1] if dim == new[-1] else dim
        return 0 if self.value(op.operands[0], along) == 0 else None

    def _select(self, op: ir.Operation, dim: str) -> Number | None:
        """A select that this compiler guarded a domain with, or one whose two sides agree."""
        if GUARD in op.attributes and dim in [a.value for a in op.attributes[GUARD]]:
            return self.value(op.operands[2], dim)
        values = [self.value(v, dim) for v in op.operands[1:]]
        return values[0] if values[0] is not None and values[0] == values[1] else None

    def _reduce(self, op: ir.Operation, dim: str) -> Number | None:
        """Along a dim that is kept: the sum of zeros, the greatest or least of equal numbers."""
        sources, accs, *_ = segments(op)
        values = {self.value(v, dim) for v in (*sources, *accs)}
        value = values.pop() if len(values) == 1 else None
        return value if value == 0 or "sum" not in str(op.attributes["kind"]) else None

    def _reads_zero(self, op: ir.Operation, dim: str) -> bool:
        """Whether every place outside is outside of the memory too, or masked."""
        layout = op.results[0].type.layout
        if overshoots(layout, dim):
            return False
        if self._masked(op, dim):
            return True
        names = bound_names(op)
        facts = self.info.facts_for(names)
        where = coordinate(self.info, dim, names).simplify(facts)
        size = self.info.dim_extent(dim, names)
        memory = op.operands[0].type
        return any(
            i == where and memory_extent(self.info, extent, names) == size
            for i, extent in zip(op.attributes["index"], memory.shape, strict=True)
        )

    def _masked(self, op: ir.Operation, dim: str) -> bool:
        """Whether the read's mask is of this dim's domain: wave-infer-layouts made it."""
        mask = segments(op)[1]
        if not mask or isinstance(mask[0], ir.BlockArgument):
            return False
        makers = [mask[0].owner.operation]
        if makers[0].name == "wave.and":
            makers = [v.owner.operation for v in makers[0].operands if not isinstance(v, ir.BlockArgument)]
        return any(m.name == "wave.mask" and self._is_domain(m, dim) for m in makers)

    def _is_domain(self, mask: ir.Operation, dim: str) -> bool:
        names = bound_names(mask)
        facts = self.info.facts_for(names)
        inside = coordinate(self.info, dim, names).lt(self.info.dim_extent(dim, names)).simplify(facts)
        predicate = mask.attributes["expr"]
        parts = predicate.operands if predicate.kind == "and" else [predicate]
        return inside in parts


GUARD = "wave.guards"
"""On a select: the dims outside of whose domain it gives its last operand."""


def overshoots(layout: Layout, dim: str) -> bool:
    """Whether a layout has places beyond the tile (or a wave's part) along a dim."""
    return of_layout(layout).overshoots(dim)


def _literal(op: ir.Operation) -> Number | None:
    if "value" not in op.attributes:
        return None
    attribute = op.attributes["value"]
    return attribute.value if isinstance(attribute, ir.FloatAttr | ir.IntegerAttr) else None


def _constant(value: ir.Value) -> Number | None:
    if isinstance(value, ir.BlockArgument):
        return None
    op = value.owner.operation
    return _literal(op) if op.name == "wave.register" else None


def _exact(number: Number) -> Number | None:
    """Small integers only: folding in another precision than the program's must not matter."""
    return number if number == number and abs(number) <= 128 and number == int(number) else None


