"""Which elements of a lane's vectors are provably equal: by where they come from, not by trying."""

from __future__ import annotations

from mlir import ir

from wave_mlir.dialect import Expr

from .tile_ir import bound_names

_DEPTH = 64  # ops that are looked through


class _Origins:
    """A number for where an element comes from: elements of equal numbers are equal."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[object, ...], int] = {}
        self._known: dict[tuple[ir.Value, int], int] = {}

    def of(self, value: ir.Value, number: int, depth: int = _DEPTH) -> int:
        """Of element `number` of a vector; of a scalar or one element: of that one."""
        kind = value.type
        if not isinstance(kind, ir.VectorType) or kind.shape[0] == 1:
            number = 0
        if (value, number) not in self._known:
            self._known[value, number] = self._found(value, number, depth)
        return self._known[value, number]

    def _number(self, *what: object) -> int:
        return self._numbers.setdefault(what, len(self._numbers))

    def _found(self, value: ir.Value, number: int, depth: int) -> int:
        if isinstance(value.owner, ir.Block) or depth == 0:
            return self._number(value, number)
        op = value.owner.operation
        if len(op.results) != 1:
            return self._number(value, number)
        if op.name == "arith.constant" and isinstance(value.type, ir.VectorType):
            attribute = op.attributes["value"]
            if ir.DenseElementsAttr(attribute).is_splat:
                return self._number("constant", str(attribute))
            return self._number(value, number)
        if (source := source_of(op, number)) is not None:
            return self.of(*source, depth - 1)
        elementwise = op.name.startswith("arith.") and len(op.operands) > 0
        expr = op.attributes["expr"] if op.name == "wave.apply_expr" else None
        if elementwise or (expr is not None and "el" not in Expr(expr).symbols):
            names = tuple(bound_names(op)) if expr is not None else ()
            attributes = tuple((n, str(a)) for n, a in op.attributes.items() if n != "operandSegmentSizes")
            return self._number(op.name, attributes, names, *(self.of(v, number, depth - 1) for v in op.operands))
        return self._number(value, number)


def source_of(op: ir.Operation, number: int) -> tuple[ir.Value, int] | None:
    """The element that element `number` of a result is, where an op only moves elements."""
    name = op.name
    if name == "vector.from_elements":
        return op.operands[number], 0
    if name == "vector.broadcast":
        return (op.operands[0], 0) if _is_single(op.operands[0]) else None
    if name == "vector.extract" and len(op.operands) == 1:
        (position,) = list(ir.DenseI64ArrayAttr(op.attributes["static_position"]))
        return op.operands[0], position
    if name == "vector.extract_strided_slice":
        first = ir.IntegerAttr(ir.ArrayAttr(op.attributes["offsets"])[0]).value
        return op.operands[0], first + number
    if name == "vector.shuffle":
        place = list(ir.DenseI64ArrayAttr(op.attributes["mask"]))[number]
        size = ir.VectorType(op.operands[0].type).shape[0]
        return op.operands[place >= size], place - size if place >= size else place
    return None


def _is_single(value: ir.Value) -> bool:
    return not isinstance(value.type, ir.VectorType) or value.type.shape[0] == 1


def classes(values: list[ir.Value], width: int) -> tuple[int, ...]:
    """A number for each of `width` elements: where it is the same, so are the elements of all values."""
    origins = _Origins()
    numbers: dict[tuple[int, ...], int] = {}
    return tuple(numbers.setdefault(tuple(origins.of(v, n) for v in values), len(numbers)) for n in range(width))
