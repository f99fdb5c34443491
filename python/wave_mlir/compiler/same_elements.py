"""Which elements of a lane's vectors are provably equal: by where they come from, not by trying."""

from __future__ import annotations

from mlir import ir

from wave_mlir.dialect import Expr

from .tile_ir import bound_names

Origin = tuple[object, ...]
"""Equal origins are equal values."""

_DEPTH = 12  # ops that are looked through


def origin(value: ir.Value, number: int, depth: int = _DEPTH) -> Origin:
    """Where element `number` of a vector comes from; of a scalar or one element: that one."""
    kind = value.type
    if not isinstance(kind, ir.VectorType) or kind.shape[0] == 1:
        number = 0
    if isinstance(value.owner, ir.Block) or depth == 0:
        return value, number
    op = value.owner.operation
    if len(op.results) != 1:
        return value, number
    found = _through_vector(op, number, depth)
    if found is not None:
        return found
    elementwise = op.name.startswith("arith.") and len(op.operands) > 0
    expr = op.attributes["expr"] if op.name == "wave.apply_expr" else None
    if elementwise or (expr is not None and "el" not in Expr(expr).symbols):
        names = tuple(bound_names(op)) if expr is not None else ()
        attributes = tuple((n, str(a)) for n, a in op.attributes.items() if n != "operandSegmentSizes")
        return op.name, attributes, names, *(origin(v, number, depth - 1) for v in op.operands)
    return value, number


def _through_vector(op: ir.Operation, number: int, depth: int) -> Origin | None:
    name = op.name
    if name == "vector.from_elements":
        return origin(op.operands[number], 0, depth - 1)
    if name == "vector.broadcast":
        return origin(op.operands[0], 0, depth - 1) if _is_single(op.operands[0]) else None
    if name == "vector.extract" and len(op.operands) == 1:
        (position,) = list(ir.DenseI64ArrayAttr(op.attributes["static_position"]))
        return origin(op.operands[0], position, depth - 1)
    if name == "vector.extract_strided_slice":
        first = ir.IntegerAttr(ir.ArrayAttr(op.attributes["offsets"])[0]).value
        return origin(op.operands[0], first + number, depth - 1)
    if name == "vector.shuffle":
        place = list(ir.DenseI64ArrayAttr(op.attributes["mask"]))[number]
        size = ir.VectorType(op.operands[0].type).shape[0]
        return origin(op.operands[place >= size], place - size if place >= size else place, depth - 1)
    if name == "arith.constant" and isinstance(op.results[0].type, ir.VectorType):
        attribute = op.attributes["value"]
        return ("constant", str(attribute)) if ir.DenseElementsAttr(attribute).is_splat else None
    return None


def _is_single(value: ir.Value) -> bool:
    return not isinstance(value.type, ir.VectorType) or value.type.shape[0] == 1


def classes(values: list[ir.Value], width: int) -> tuple[int, ...]:
    """A number for each of `width` elements: where it is the same, so are the elements of all values."""
    numbers: dict[tuple[Origin, ...], int] = {}
    return tuple(numbers.setdefault(tuple(origin(v, n) for v in values), len(numbers)) for n in range(width))
