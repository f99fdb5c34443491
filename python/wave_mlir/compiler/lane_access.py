"""Accesses of lane form, seen alike: their memory, index, mask, and the other ops with the same parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from mlir import ir
from mlir.dialects import arith, vector

from wave_mlir.dialect import Expr, Facts, MemoryType

from .kernel_info import KernelInfo

ACCESSES = ("wave.read", "wave.write", "wave.atomic")
BUFFER_ACCESSES = ("wave.buffer_load", "wave.buffer_store", "wave.gather_to_shared")


def accesses(block: ir.Block) -> Iterator[ir.Operation]:
    """Reads and writes of a block and the blocks in it, in program order (safe against replacing the one given)."""
    for view in list(block.operations):
        op = view.operation
        if op.name in ACCESSES:
            yield op
            continue
        for region in op.regions:
            for inner in region.blocks:
                yield from accesses(inner)


def names_of(op: ir.Operation) -> list[str]:
    """The symbols whose values are operands of the op."""
    if "symbol_names" not in op.attributes:
        return []
    return [a.value for a in ir.ArrayAttr(op.attributes["symbol_names"])]


FULL = "wave.full"
"""On a loop: every tile it runs lies wholly inside of these dims; a dictionary of dims and their tiles."""
DIVISIBLE = "wave.divisible"
"""On a loop: it runs only where these sizes are divisible; a dictionary of symbols and divisors."""
LIMITS = "wave.limits"
"""On a loop: it runs only where these sizes are at most so great; a dictionary of symbols and numbers."""
ALIGNMENT = "wave.alignment"
"""On an access: the address is divisible by so many bytes."""
ONLY = "wave.only"
"""On an access: the condition, over wave ids, of the waves that make it."""
COORDINATES = "wave.coordinates"
"""On a buffer access in a loop, of a memory that is written: the position along each dim."""
REST = "wave.rest"
"""On a loop: it runs what another one left, which is little, or slow anyway."""


@dataclass(frozen=True)
class Within:
    """What the loops around an op promise.

    full: dims of which every tile is whole, with the tile. divisible: sizes and their divisors. limits: the greatest
    values of sizes. rest: the loop runs what another one left.
    """

    full: tuple[tuple[str, int], ...] = ()
    divisible: tuple[tuple[str, int], ...] = ()
    limits: tuple[tuple[str, int], ...] = ()
    rest: bool = False

    def extend(self, facts: Facts) -> Facts:
        """The facts, and what is promised of sizes and trip counters."""
        limits = dict(self.limits)
        ranges: dict[str, tuple[int | None, int | None]] = {name: (0, most) for name, most in limits.items()}
        ranges |= {f"iv.{axis}": (0, limits[axis] // tile) for axis, tile in self.full if axis in limits}
        return facts.extended(ranges, dict(self.divisible), []) if ranges or self.divisible else facts

    @staticmethod
    def of(op: ir.Operation) -> Within:
        """The promises of all loops around an op."""
        full: dict[str, int] = {}
        divisible: dict[str, int] = {}
        limits: dict[str, int] = {}
        rest = False
        parent = op.parent
        while parent is not None and parent.operation.name != "wave.kernel":
            attributes = parent.operation.attributes
            for name, found in ((FULL, full), (DIVISIBLE, divisible), (LIMITS, limits)):
                if name in attributes:
                    found.update((n.name, ir.IntegerAttr(n.attr).value) for n in ir.DictAttr(attributes[name]))
            rest = rest or REST in attributes
            parent = parent.operation.parent
        return Within(tuple(full.items()), tuple(divisible.items()), tuple(limits.items()), rest)


@dataclass
class LaneFacts:
    """The kernel's facts, with `el` in a vector's range; cached."""

    info: KernelInfo
    _facts: dict[tuple[int, Within], Facts] = field(default_factory=dict)

    def of(self, width: int, within: Within = Within()) -> Facts:
        """Facts where 0 <= el < width, inside of loops with these promises."""
        key = width, within
        if key not in self._facts:
            self._facts[key] = within.extend(self.info.facts.extended({"el": (0, width - 1)}, {}, []))
        return self._facts[key]


# Operands by position: the accessors of ODS compute the segments anew each time.
def memory_of(op: ir.Operation) -> ir.Value:
    """The memory that is accessed; the source of a copy."""
    return op.operands[0 if op.name in ("wave.read", "wave.buffer_load", "wave.gather_to_shared") else 1]


def stored_of(op: ir.Operation) -> ir.Value:
    """The value of a `wave.write`."""
    return op.operands[0]


def symbol_values_of(op: ir.Operation) -> list[ir.Value]:
    """The values of the symbols `names_of` gives: the last operands."""
    count = len(names_of(op))
    return list(op.operands)[-count:] if count else []


def value_type(op: ir.Operation) -> ir.Type:
    """What a read gives or a write takes."""
    return op.results[0].type if op.name == "wave.read" else stored_of(op).type


def width_of(op: ir.Operation) -> int:
    """Elements of an access."""
    kind = value_type(op)
    return kind.shape[0] if isinstance(kind, ir.VectorType) else 1


def element_bits(element: ir.Type) -> int:
    """Bits of an element in memory; one of i1 has a byte."""
    if isinstance(element, ir.IndexType):
        return 64
    return 8 if element.width == 1 else element.width


def in_lds(memory: ir.Value) -> bool:
    """Whether a memory is in LDS."""
    return MemoryType(memory.type).space == "shared"


def is_shared(op: ir.Operation) -> bool:
    """Whether an access is to LDS."""
    return in_lds(memory_of(op))


def same_tile(a: ir.Operation, b: ir.Operation) -> bool:
    """Whether two accesses are copies of one tile op: these never touch the same element in one trip."""
    if "wave.provenance" not in a.attributes or "wave.provenance" not in b.attributes:
        return False
    return a.attributes["wave.provenance"]["op"] == b.attributes["wave.provenance"]["op"]


def starts_anywhere(memory: MemoryType) -> bool:
    """Whether a memory may start at any element: one with a run-time stride, which is for views. Others are aligned."""
    return any(s is None for s in memory.strides or ())


def index_of(op: ir.Operation, info: KernelInfo) -> list[Expr]:
    """The coordinates of an access, static symbols resolved."""
    bound = names_of(op)
    return [info.resolve(Expr(e), bound) for e in op.attributes["index"]]


def linear_of(op: ir.Operation, info: KernelInfo, facts: Facts) -> Expr:
    """The element offset of an access in its memory."""
    total = Expr.constant(0)
    for coordinate, stride in zip(index_of(op, info), info.strides_of(memory_of(op)), strict=True):
        total = total + coordinate * stride
    return total.simplify(facts)


def mask_expr(mask: ir.Value) -> Expr | None:
    """The predicate of a mask that is a `wave.mask`, else None."""
    owner = mask.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "wave.mask":
        return None
    return Expr(owner.operation.attributes["expr"])


def varying(op: ir.Operation) -> frozenset[str]:
    """The symbols of an op whose value is a vector with an element for each of the access's."""
    values = zip(names_of(op), op.opview.symbol_values, strict=True)
    return frozenset(n for n, v in values if isinstance(v.type, ir.VectorType) and v.type.shape[0] > 1)


def elements_of(value: ir.Value, at: int, size: int) -> ir.Value:
    """Elements at … at + size - 1 of a vector; a scalar or one element stands for all."""
    if not isinstance(value.type, ir.VectorType) or value.type.shape[0] in (1, size):
        return value
    kind = ir.VectorType.get([size], value.type.element_type)
    return vector.ExtractStridedSliceOp(kind, value, [at], [size], [1]).result


def make_mask(predicate: Expr, width: int, *like: ir.Operation, at: int = 0, same: bool = False) -> ir.Value:
    """A `wave.mask` at the insertion point; its symbols have the values that the ops `like` give them, from element
    `at`. same: these are the same for all elements, and the first is taken."""
    kind = ir.VectorType.get([width], ir.IntegerType.get_signless(1))
    used = set(predicate.symbols)
    given = {n: v for op in like for n, v in zip(names_of(op), symbol_values_of(op), strict=True) if n in used}
    pairs = [(n, elements_of(v, at, 1 if same else width)) for n, v in given.items()]
    attributes: dict[str, ir.Attribute] = {"expr": predicate}
    if pairs:
        attributes["symbol_names"] = ir.ArrayAttr.get([ir.StringAttr.get(n) for n, _ in pairs])
    return ir.Operation.create("wave.mask", [kind], [v for _, v in pairs], attributes).results[0]


def with_parts(
    op: ir.Operation,
    index: list[Expr],
    mask: ir.Value | None,
    value: ir.Value | None = None,
    kind: ir.Type | None = None,
    run: tuple[int, int] | None = None,
) -> ir.Operation:
    """A copy of an access, at the insertion point, with another index, mask and value (write) or result type (read).

    run: the (first element, number of elements) it is for; by default all.
    """
    masks = [] if mask is None else [mask]
    symbols = symbol_values_of(op)
    if run is not None:
        symbols = [elements_of(v, *run) for v in symbols]
    attributes = {name: attr for name, attr in op.attributes.items() if name not in ("index", "operandSegmentSizes")}
    attributes["index"] = ir.ArrayAttr.get(index)
    memory = memory_of(op)
    if op.name == "wave.read":
        attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([1, len(masks), 0, len(symbols)])
        types = [op.results[0].type if kind is None else kind]
        return ir.Operation.create("wave.read", types, [memory, *masks, *symbols], attributes)
    attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([1, 1, len(masks), 0, len(symbols)])
    stored = stored_of(op) if value is None else value
    results = [stored.type for _ in op.results]
    return ir.Operation.create(op.name, results, [stored, memory, *masks, *symbols], attributes)


def both(a: ir.Value | None, b: ir.Value) -> ir.Value:
    """A mask that holds where both hold."""
    return b if a is None else arith.AndIOp(a, b).result
