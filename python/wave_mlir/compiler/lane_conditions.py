"""Which conditions of lane form always hold, or never: for every workgroup, wave, lane and trip."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from mlir import ir

from wave_mlir.dialect import Expr

from .element_exprs import ElementExprs, decided, integer_bits, width_of_value
from .kernel_info import KernelInfo
from .lane_access import Within
from .same_elements import source_of

_EXPRESSIONS = ("wave.mask", "wave.apply_expr", "wave.scalar")
_LOGIC = ("arith.andi", "arith.ori", "arith.xori")


def is_condition(value: ir.Value) -> bool:
    """Whether a value is of i1, or a vector of these."""
    return integer_bits(value.type) == 1


class Conditions:
    """Answers `of(value, element)` and `whole(value)` for the values of i1 of one kernel. None: neither is proven."""

    def __init__(self, info: KernelInfo) -> None:
        self._exprs = ElementExprs(info)
        self._known: dict[tuple[ir.Value, int], bool | None] = {}
        self._decided: dict[tuple[Expr, Within], bool | None] = {}

    def whole(self, value: ir.Value) -> bool | None:
        """What all elements of a value are."""
        width = width_of_value(value)
        first = self.of(value, 0)
        if first is None:
            return None
        return first if all(self.of(value, n) is first for n in reversed(range(1, width))) else None

    def of(self, value: ir.Value, number: int) -> bool | None:
        """What element `number` of a vector is; a scalar, or a vector of one element, stands for all."""
        if width_of_value(value) == 1:
            number = 0
        key = (value, number)
        if key not in self._known:
            self._known[key] = self._found(value, number)
        return self._known[key]

    def _found(self, value: ir.Value, number: int) -> bool | None:
        if isinstance(value.owner, ir.Block) or not is_condition(value):
            return None
        op = value.owner.operation
        if len(op.results) != 1:
            return None
        if op.name == "arith.constant":
            return _constant(op, number)
        if (source := source_of(op, number)) is not None:
            return self.of(*source)
        if op.name in _LOGIC:
            return _LOGIC_OF[op.name](*(self.of(v, number) for v in op.operands))
        compares = op.name == "arith.cmpi" and not is_condition(op.operands[0])
        if not compares and op.name not in _EXPRESSIONS:
            return None
        if not self._ends_agree(value, number):
            return None
        return self._decide(self._exprs.comparison(op, number) if compares else self._exprs.expression(op, number), op)

    def _ends_agree(self, value: ir.Value, number: int) -> bool:
        """Whether it is worth while to look at an element: a vector is of use as a whole, and its ends come first."""
        last = width_of_value(value) - 1
        if number == 0:
            return True
        first = self.of(value, 0)
        return first is not None and (number == last or self.of(value, last) is first)

    def _decide(self, condition: Expr | None, op: ir.Operation) -> bool | None:
        if condition is None or not self._exprs.is_known(condition):
            return None
        key = (condition, Within.of(op))
        if key not in self._decided:
            self._decided[key] = decided(condition, self._exprs.facts(*key))
        return self._decided[key]


def _and(a: bool | None, b: bool | None) -> bool | None:
    if a is False or b is False:
        return False
    return True if a and b else None


def _or(a: bool | None, b: bool | None) -> bool | None:
    if a or b:
        return True
    return False if a is False and b is False else None


def _xor(a: bool | None, b: bool | None) -> bool | None:
    return None if a is None or b is None else a != b


_LOGIC_OF: dict[str, Callable[[bool | None, bool | None], bool | None]] = dict(
    zip(_LOGIC, (_and, _or, _xor), strict=True)
)


def _constant(op: ir.Operation, number: int) -> bool | None:
    attribute = op.attributes["value"]
    if isinstance(attribute, ir.BoolAttr | ir.IntegerAttr):
        return bool(attribute.value)
    if not isinstance(attribute, ir.DenseElementsAttr):
        return None
    if attribute.is_splat:
        return bool(attribute.get_splat_value().value)
    return bool(list(attribute)[number]) if isinstance(attribute, ir.DenseIntElementsAttr) else None


def operations(block: ir.Block) -> Iterator[ir.Operation]:
    """The ops of a block and the blocks in it, in program order (safe against erasing the one given)."""
    for view in list(block.operations):
        yield view.operation
        for region in view.operation.regions:
            for inner in region.blocks:
                yield from operations(inner)
