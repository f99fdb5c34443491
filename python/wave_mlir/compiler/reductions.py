"""Reductions of lane vectors: over registers, over the lanes of a wave, over waves through LDS."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from mlir import ir
from mlir.dialects import arith, vector

from wave_mlir.dialect import Expr, Layout, MemoryType
from wave_mlir.dialect import wave as ops

from .diagnostics import PassError
from .kernel_info import KernelInfo
from .lane_values import concatenate

CLUSTERS = "wave.clusters"
"""Attribute of a reduction of lane form: an array of [extent, stride] in lanes."""
WAVES = "wave.waves"
"""Attribute of a reduction of lane form: an array of [axis, extent, stride] in waves along a block dim."""

Combine = Callable[[ir.Value, ir.Value], ir.Value]

_COMBINE: dict[tuple[str, bool], Callable[..., ir.OpView]] = {
    ("sum", True): arith.AddFOp,
    ("sum", False): arith.AddIOp,
    ("max", True): arith.MaximumFOp,
    ("max", False): arith.MaxSIOp,
    ("min", True): arith.MinimumFOp,
    ("min", False): arith.MinSIOp,
}


def combiner(kind: str, element: ir.Type) -> Combine:
    """The op that combines two values: kind is sum, max or min."""
    op = _COMBINE[kind, isinstance(element, ir.FloatType)]
    return lambda a, b: op(a, b).result


def clusters_of(layout: Layout, dim: str) -> list[tuple[int, int]]:
    """[extent, stride] of the lane digits along a dim."""
    return [(extent, stride) for extent, d, stride in _placed(layout.digits.get("lane", [])) if d == dim]


def waves_of(layout: Layout, dim: str) -> list[tuple[int, int, int]]:
    """[axis, extent, stride] of the wave digits along a dim."""
    found = []
    for axis, name in enumerate("xyz"):
        digits = _placed(layout.digits.get(f"wave.{name}", []))
        found += [(axis, extent, stride) for extent, d, stride in digits if d == dim]
    return found


def _placed(digits: Sequence[tuple[int, str | None, int]]) -> Iterator[tuple[int, str | None, int]]:
    """(extent, dim, what the digit counts in its source) of each digit."""
    at = 1
    for extent, dim, _ in digits:
        yield extent, dim, at
        at *= extent


def register_of(layout: Layout, dim: str, kept: int, along: int) -> int:
    """The register that is number `kept` among those of a tile without `dim`, and number `along` along it."""
    register, scale = 0, 1
    for extent, d, _ in layout.digits.get("reg", []):
        if d == dim:
            along, digit = divmod(along, extent)
        else:
            kept, digit = divmod(kept, extent)
        register += digit * scale
        scale *= extent
    return register


def registers_along(layout: Layout, dim: str) -> int:
    """Registers of a lane along a dim."""
    count = 1
    for extent, d, _ in layout.digits.get("reg", []):
        if d == dim:
            count *= extent
    return count


def rows(attribute: ir.Attribute | None) -> list[list[int]]:
    """The numbers of an attribute CLUSTERS or WAVES."""
    if attribute is None:
        return []
    return [list(ir.DenseI64ArrayAttr(a)) for a in ir.ArrayAttr(attribute)]


def rows_attr(found: Sequence[Sequence[int]]) -> ir.ArrayAttr:
    """The attribute of such numbers."""
    return ir.ArrayAttr.get([ir.DenseI64ArrayAttr.get(list(row)) for row in found])


def exchanged(value: ir.Value, offset: int, width: int) -> ir.Value:
    """The value of lane `lane xor offset`."""
    return ops.ShuffleOp(ops.ShuffleMode.Xor, value, offset, width).result


class ReductionLowering:
    """Lowers the reductions of one kernel."""

    def __init__(self, info: KernelInfo, entry: ir.Block) -> None:
        self.info = info
        self.entry = entry

    def run(self) -> None:
        """Lower them all."""
        for group in _together(list(_reductions(self.entry))):
            with group[-1].location, ir.InsertionPoint(group[-1]):
                values = self._lower(group)
            for op, value in zip(group, values, strict=True):
                op.results[0].replace_all_uses_with(value)
                op.erase()

    def _lower(self, group: list[ir.Operation]) -> list[ir.Value]:
        """The results of reductions that go the same way: lanes exchange the values of all of them as one vector."""
        op = group[0]
        combine = combiner(_kind_of(op), op.opview.sources[0].type.element_type)
        parts = [_tree(list(o.opview.sources), combine) for o in group]
        value = concatenate(parts)
        for extent, stride in rows(op.attributes.get(CLUSTERS, None)):
            value = self._lanes(op, value, extent, stride, combine)
        for axis, extent, stride in rows(op.attributes.get(WAVES, None)):
            value = self._waves(value, axis, extent, stride, combine)
        at, values = 0, []
        for other, part in zip(group, parts, strict=True):
            size = part.type.shape[0]
            own = value
            if len(group) > 1:
                own = vector.ExtractStridedSliceOp(part.type, value, [at], [size], [1]).result
            acc = other.opview.acc
            values.append(own if acc is None else combine(acc, own))
            at += size
        return values

    def _lanes(self, op: ir.Operation, value: ir.Value, extent: int, stride: int, combine: Combine) -> ir.Value:
        if extent & (extent - 1) or stride & (stride - 1):
            raise PassError(
                op,
                f"a reduction over {extent} lanes {stride} apart: lanes exchange in steps of powers of two; choose "
                "vector_shapes so that the lanes along the dim are a power of two",
            )
        step = 1
        while step < extent:
            value = combine(value, exchanged(value, stride * step, self.info.wave_size))
            step *= 2
        return value

    def _waves(self, value: ir.Value, axis: int, extent: int, stride: int, combine: Combine) -> ir.Value:
        """Each wave writes its value to LDS and reads those of all waves that differ in the digit."""
        width, element = value.type.shape[0], value.type.element_type
        counts = [self.info.waves(a) for a in "xyz"]
        columns = self.info.wave_size * width
        memory = MemoryType.get(
            [Expr.constant(counts[0] * counts[1] * counts[2]), Expr.constant(columns)], element, "shared"
        )
        with ir.InsertionPoint.at_block_begin(self.entry):
            buffer = ir.Operation.create("wave.allocate", [memory]).results[0]
        own = Expr.symbol(f"wave.{'xyz'[axis]}")
        column = Expr.symbol("lane") * width
        if width > 1:
            column = column + Expr.symbol("el")
        self._access("wave.write", [value, buffer], [], [self._row(axis, own, counts), column])
        digit = own // stride % extent * stride
        parts = []
        for other in range(extent):
            row = self._row(axis, own - digit + other * stride, counts)
            parts.append(self._access("wave.read", [buffer], [value.type], [row, column]))
        return _tree(parts, combine)

    def _row(self, axis: int, at: Expr, counts: Sequence[int]) -> Expr:
        """The wave's number in the workgroup, with `at` along the axis."""
        x, y, z = (at if a == axis else Expr.symbol(f"wave.{n}") for a, n in enumerate("xyz"))
        return (x + counts[0] * (y + counts[1] * z)).simplify(self.info.facts)

    def _access(self, name: str, operands: list[ir.Value], results: list[ir.Type], index: list[Expr]):
        sizes = ir.DenseI32ArrayAttr.get([1] * len(operands) + [0, 0, 0])
        op = ir.Operation.create(
            name, results, operands, {"index": ir.ArrayAttr.get(index), "operandSegmentSizes": sizes}
        )
        return op.results[0] if results else None


def _kind_of(op: ir.Operation) -> str:
    return str(op.attributes["kind"]).split()[-1].rstrip(">").split("<")[-1]


def _together(found: list[ir.Operation]) -> list[list[ir.Operation]]:
    """Reductions in groups that lanes can exchange values for together: neighbours of one kind, over the same lanes.

    Only of elements below 32 bits, of which several fit what an exchange moves; none may need another's result.
    """
    groups: list[list[ir.Operation]] = []
    for op in found:
        if groups and _may_join(groups[-1], op):
            groups[-1].append(op)
        else:
            groups.append([op])
    return groups


def _may_join(group: list[ir.Operation], op: ir.Operation) -> bool:
    first = group[0]
    element = op.opview.sources[0].type.element_type
    if op.block != first.block or element != first.opview.sources[0].type.element_type:
        return False
    if isinstance(element, ir.IndexType) or element.width >= 32:
        return False
    clusters = rows(op.attributes.get(CLUSTERS, None))
    if not clusters or clusters != rows(first.attributes.get(CLUSTERS, None)) or _kind_of(op) != _kind_of(first):
        return False
    if rows(op.attributes.get(WAVES, None)) or rows(first.attributes.get(WAVES, None)):
        return False
    return not _uses_between(first, op, [o.results[0] for o in group])


def _uses_between(first: ir.Operation, last: ir.Operation, values: list[ir.Value]) -> bool:
    """Whether an op after `first`, up to and with `last`, uses one of these values (or has a region, which might)."""
    inside = False
    for view in first.block.operations:
        op = view.operation
        if inside and (len(op.regions) or any(v in values for v in op.operands)):
            return True
        if op == last:
            return False
        inside = inside or op == first
    return True


def _tree(values: list[ir.Value], combine: Combine) -> ir.Value:
    """All values combined, neighbours first: depth log2, and an order that does not depend on how many there are."""
    while len(values) > 1:
        pairs = [combine(a, b) for a, b in zip(values[::2], values[1::2], strict=False)]
        values = pairs + values[len(values) - len(values) % 2 :]
    return values[0]


def _reductions(block: ir.Block) -> Iterator[ir.Operation]:
    for view in list(block.operations):
        op = view.operation
        if op.name == "wave.reduce":
            yield op
        for region in op.regions:
            for inner in region.blocks:
                yield from _reductions(inner)
