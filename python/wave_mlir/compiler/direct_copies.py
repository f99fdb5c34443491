"""Copies from global memory to LDS that do not pass through registers: which accesses can be one, and what it is then.

Such a copy is one instruction of a wave. Each lane has a source of its own; what it reads goes to LDS at the place of
the wave's first lane plus lane * width. So a read of global memory and a write of its result to LDS can become one only
where the write's places are proven to be such, no lane is kept from writing, and the source has a buffer address. A
lane whose read is masked, or out of the memory's range, copies zeros.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce

from mlir import ir
from mlir.dialects import vector

from wave_mlir.dialect import Expr, MemoryType

from .buffer_split import RANGE_MASKED, SCALAR_OFFSET, BufferSplitter, Place
from .kernel_info import KernelInfo
from .lane_access import (
    element_bits,
    index_of,
    is_shared,
    linear_of,
    make_mask,
    mask_expr,
    memory_of,
    names_of,
    symbol_values_of,
    width_of,
)
from .lds_hazards import MEETINGS
from .targets import Target
from .tile_ir import ancestors
from .uniform import Uniform

COPY = "wave.gather_to_shared"
BASE = "wave.base"
"""Attribute of a copy in lane form: the uniform part of its source, in elements, as `base` of a buffer access."""
OFFSET = "wave.offset"
"""Attribute of a copy in lane form: the lane's part of its source, in elements, as `offset` of a buffer access."""
_CHANGES = frozenset({"wave.atomic", "wave.scatter_add", "wave.buffer_store", *MEETINGS})
"""Ops that may change global memory, or after which others may have changed it."""


def direct_widths(target: Target, most: int) -> list[int]:
    """Bits a lane can copy at once, up to `most`, widest first: powers of two, whose copies leave no gaps in LDS."""
    return sorted((b for b in target.direct_to_lds_bits if b <= most and b & (b - 1) == 0), reverse=True)


@dataclass
class DirectCopies:
    """Makes the copies of one kernel in lane form."""

    info: KernelInfo
    _splitter: BufferSplitter = field(init=False)
    _linear: dict[tuple[Expr, int], bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._splitter = BufferSplitter(self.info)

    def obstacle(self, read: ir.Operation, write: ir.Operation) -> str | None:
        """Why a read of global memory and the write of its result to LDS cannot be one copy; None where they can."""
        bits = width_of(read) * element_bits(MemoryType(memory_of(read).type).element_type)
        if bits not in direct_widths(self.info.target, bits):
            return f"a lane copies {bits} bits"
        if write.opview.mask is not None:
            return "some lanes do not write"
        if "is_volatile" in read.attributes or "is_volatile" in write.attributes:
            return "it is volatile"
        mask = read.opview.mask
        if mask is not None and mask_expr(mask) is None:
            return "its mask is a value"
        if not _adjacent(read, write):
            return "other operations stand between the load and the store"
        if not all_lanes(read):
            return "not all lanes of a wave need come to it"
        if not self._is_linear(write):
            return "the lanes of a wave do not follow one another in LDS"
        if self._splitter.place(read) is None:
            return "its source has no buffer address"
        return None

    def _is_linear(self, write: ir.Operation) -> bool:
        """Whether lane i of each wave writes i * width elements behind the wave's first lane."""
        width = width_of(write)
        linear = linear_of(write, self.info, self.info.facts)
        if (linear, width) not in self._linear:
            own = set(names_of(write))
            self._linear[linear, width] = not own & set(linear.symbols) and self._steps_by(linear, width)
        return self._linear[linear, width]

    def _steps_by(self, linear: Expr, width: int) -> bool:
        facts = self.info.facts
        if "lane" not in (linear - Expr.symbol("lane") * width).simplify(facts).symbols:
            return True
        first = linear.subs({"lane": 0})
        return all(
            (linear.subs({"lane": i}) - first - i * width).simplify(facts).constant_value == 0
            for i in range(1, self.info.wave_size)
        )

    def make(self, read: ir.Operation, write: ir.Operation) -> ir.Operation:
        """The copy, in the place of the write. There is no obstacle."""
        place = self._splitter.place(read)
        assert place is not None  # that would be an obstacle
        with write.location, ir.InsertionPoint(write):
            mask = _mask(read, place)
            target_index = [e.subs({"lane": 0}).simplify(self.info.facts) for e in index_of(write, self.info)]
            attributes: dict[str, ir.Attribute] = {
                "source_index": ir.ArrayAttr.get(index_of(read, self.info)),
                "target_index": ir.ArrayAttr.get(target_index),
                "elements": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), width_of(read)),
                BASE: place.base + place.scalar,
                OFFSET: place.offset,
            }
            if place.scalar.constant_value != 0:
                attributes[SCALAR_OFFSET] = place.scalar
            if place.range_masked:
                attributes[RANGE_MASKED] = ir.UnitAttr.get()
            for name in ("nontemporal", "wave.provenance"):
                if name in read.attributes:
                    attributes[name] = read.attributes[name]
            symbols = [(n, _one(v)) for n, v in zip(names_of(read), symbol_values_of(read), strict=True)]
            if symbols:
                attributes["symbol_names"] = ir.ArrayAttr.get([ir.StringAttr.get(n) for n, _ in symbols])
            masks = [] if mask is None else [mask]
            attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([1, 1, len(masks), len(symbols)])
            operands = [memory_of(read), memory_of(write), *masks, *(v for _, v in symbols)]
            return ir.Operation.create(COPY, [], operands, attributes)


def _one(value: ir.Value) -> ir.Value:
    """A vector of one element as that element."""
    if not isinstance(value.type, ir.VectorType):
        return value
    return vector.ExtractOp(value, [], [0]).result


def _mask(read: ir.Operation, place: Place) -> ir.Value | None:
    """The mask of the lane, of what the memory's end does not mask anyway."""
    mask = read.opview.mask
    if mask is None or (place.range_masked and not place.conditions):
        return None
    predicate = reduce(Expr.and_, place.conditions) if place.range_masked else mask_expr(mask)
    assert predicate is not None  # it would be an obstacle
    return lane_mask(predicate.subs({"el": 0}), mask.owner.operation)


def lane_mask(predicate: Expr, like: ir.Operation) -> ir.Value:
    """A mask of one bit a lane, at the insertion point, with the symbols of another mask."""
    made = make_mask(predicate, 1, like).owner.operation
    attributes = dict(made.attributes.items())
    with ir.InsertionPoint(made):
        values = [_one(v) for v in made.operands]
        bit = ir.Operation.create("wave.mask", [ir.IntegerType.get_signless(1)], values, attributes)
    made.erase()
    return bit.results[0]


def _adjacent(read: ir.Operation, write: ir.Operation) -> bool:
    """Whether nothing between the two can change what is read."""
    if read.block != write.block:
        return False
    return all(_is_harmless(op) for op in _between(read, write))


def _between(first: ir.Operation, last: ir.Operation) -> list[ir.Operation]:
    found: list[ir.Operation] = []
    inside = False
    for view in first.block.operations:
        op = view.operation
        if op == last:
            return found
        if inside:
            found.append(op)
        inside = inside or op == first
    return found


def _is_harmless(op: ir.Operation) -> bool:
    """Whether a load may be made after this op as well."""
    if op.name == "wave.write":
        return is_shared(op)
    return op.name not in _CHANGES and not len(op.regions)


def all_lanes(op: ir.Operation) -> bool:
    """Whether the conditionals around an op are entered by all lanes alike."""
    same = Uniform()
    return all(same.condition(p) for p in ancestors(op) if p.name == "wave.conditional")
