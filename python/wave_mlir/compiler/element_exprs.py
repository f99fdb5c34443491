"""What integers of lane form are, element by element: expressions over the lane's, waves' and workgroup's ids, sizes
and values that nothing is known of, with the facts on these."""

from __future__ import annotations

from collections.abc import Callable

from mlir import ir

from wave_mlir.dialect import Expr, Facts, prove

from .kernel_info import KernelInfo
from .lane_access import FULL, Within, symbol_values_of
from .same_elements import source_of
from .tile_ir import bound_names

INDEX_BITS = 64
"""Index arithmetic is of this many bits, and does not overflow."""

_EXACT_BITS = 63
"""Sums and products of values, which may overflow, are taken as they are where they have fewer bits."""

_BINARY: dict[str, Callable[[Expr, Expr], Expr]] = {
    "arith.addi": Expr.__add__,
    "arith.subi": Expr.__sub__,
    "arith.muli": Expr.__mul__,
    "arith.minsi": Expr.min,
    "arith.maxsi": Expr.max,
}
_CASTS = ("arith.index_cast", "arith.extsi", "arith.trunci")
_COMPARE: dict[int, Callable[[Expr, Expr], Expr]] = {
    0: Expr.eq,
    1: Expr.ne,
    2: Expr.lt,
    3: Expr.le,
    4: Expr.gt,
    5: Expr.ge,
}
"""Predicates of arith.cmpi on signed numbers."""

_DEPTH = 64
"""Ops that are looked through."""


def integer_bits(kind: ir.Type) -> int | None:
    """Bits of the integers of a scalar or vector type; None for other types."""
    element = kind.element_type if isinstance(kind, ir.VectorType) else kind
    if isinstance(element, ir.IndexType):
        return INDEX_BITS
    return element.width if isinstance(element, ir.IntegerType) else None


def width_of_value(value: ir.Value) -> int:
    """Elements of a vector; 1 of a scalar."""
    return value.type.shape[0] if isinstance(value.type, ir.VectorType) else 1


class ElementExprs:
    """The expressions of one kernel's integers. A value that no expression gives is a symbol of its own; so is each
    loop's counter, of which `facts` knows the trips."""

    def __init__(self, info: KernelInfo) -> None:
        self.info = info
        self._known: dict[tuple[ir.Value, int], Expr] = {}
        self._unknown: dict[tuple[ir.Value, int], Expr] = {}
        self._ranges: dict[str, tuple[int | None, int | None]] = {}
        self._assumptions: dict[str, list[Expr]] = {}
        self._facts: dict[tuple[frozenset[str], Within], Facts] = {}

    def of(self, value: ir.Value, number: int, depth: int = _DEPTH) -> Expr:
        """Element `number` of a vector of integers; a scalar, or a vector of one element, stands for all."""
        if width_of_value(value) == 1:
            number = 0
        key = (value, number)
        if key not in self._known:
            found = self._found(value, number, depth) if depth else None
            self._known[key] = self._symbol(value, number) if found is None else found
        return self._known[key]

    def comparison(self, op: ir.Operation, number: int) -> Expr | None:
        """What element `number` of an `arith.cmpi` says; None for a predicate of unsigned numbers."""
        build = _COMPARE.get(ir.IntegerAttr(op.attributes["predicate"]).value)
        return None if build is None else build(self.of(op.operands[0], number), self.of(op.operands[1], number))

    def expression(self, op: ir.Operation, number: int, depth: int = _DEPTH) -> Expr:
        """Element `number` of what a `wave.apply_expr`, `wave.scalar` or `wave.mask` computes."""
        names = bound_names(op)
        values: dict[str, Expr] = {"el": Expr.constant(number)}
        for name, value in zip(names, symbol_values_of(op), strict=True):
            values[name] = self.of(value, number, depth - 1)
        return self.info.resolve(Expr(op.attributes["expr"]), names).subs(values)

    def is_known(self, expr: Expr) -> bool:
        """Whether an expression has no symbol of which nothing is known."""
        return not any(s.startswith(_PREFIX) and s not in self._ranges for s in expr.symbols)

    def facts(self, expr: Expr, within: Within) -> Facts:
        """What holds of the symbols of an expression, inside of loops with these promises."""
        own = frozenset(s for s in expr.symbols if s in self._ranges)
        key = (own, within)
        if key not in self._facts:
            assumed = [a for s in sorted(own) for a in self._assumptions.get(s, [])]
            used = sorted({s for a in assumed for s in a.symbols if s in self._ranges} | own)
            ranges = {s: self._ranges[s] for s in used}
            self._facts[key] = within.extend(self.info.facts).extended(ranges, {}, assumed)
        return self._facts[key]

    # --- values ---

    def _found(self, value: ir.Value, number: int, depth: int) -> Expr | None:
        bits = integer_bits(value.type)
        if bits is None or bits == 1 or isinstance(value.owner, ir.Block):
            return None
        op = value.owner.operation
        if len(op.results) != 1:
            return None
        if op.name == "arith.constant":
            return _constant(op, number)
        if (source := source_of(op, number)) is not None:
            return self.of(*source, depth - 1)
        if op.name in ("wave.apply_expr", "wave.scalar"):
            found = self.expression(op, number, depth)
        elif op.name in _BINARY:
            found = _BINARY[op.name](*(self.of(v, number, depth - 1) for v in op.operands))
            if not self._fits(found, min(bits, _EXACT_BITS), Within.of(op)):
                return None
        elif op.name in _CASTS and integer_bits(op.operands[0].type) != 1:
            found = self.of(op.operands[0], number, depth - 1)
        else:
            return None
        return found if self._fits(found, bits, Within.of(op)) else None

    def _fits(self, expr: Expr, bits: int, within: Within) -> bool:
        """Whether integers of these bits hold the number as it is."""
        if bits >= INDEX_BITS:
            return True
        if not self.is_known(expr):
            return False
        facts = self.facts(expr, within)
        low, high = expr.range(facts)
        top = 2 ** (bits - 1)
        if low is not None and high is not None and -top <= low and high < top:
            return True
        simple = expr.simplify(facts)
        return _holds(simple.ge(-top), facts) and _holds(simple.lt(top), facts)

    # --- symbols ---

    def _symbol(self, value: ir.Value, number: int) -> Expr:
        key = (value, number)
        if key not in self._unknown:
            name = f"{_PREFIX}{len(self._unknown)}"
            self._unknown[key] = Expr.symbol(name)
            self._know(name, value)
        return self._unknown[key]

    def _know(self, name: str, value: ir.Value) -> None:
        """What is known of a loop's counter: its trips, and that its tiles are whole."""
        if not isinstance(value, ir.BlockArgument):
            return
        loop = value.owner.owner.operation
        if loop.name != "wave.iterate" or "trips" not in loop.attributes or "has_iv" not in loop.attributes:
            return
        if value.arg_number != 0:
            return
        names = bound_names(loop)
        values = {n: self.of(v, 0) for n, v in zip(names, symbol_values_of(loop), strict=True)}
        trips = self.info.resolve(Expr(loop.attributes["trips"]), names).subs(values)
        most = trips.range(self.facts(trips, Within.of(loop)))[1]
        self._ranges[name] = (0, None if most is None else max(most - 1, 0))
        counter = Expr.symbol(name)
        self._assumptions[name] = [counter.lt(trips)] if trips.constant_value is None else []
        for entry in ir.DictAttr(loop.attributes[FULL]) if FULL in loop.attributes else ():
            tile = ir.IntegerAttr(entry.attr).value
            self._assumptions[name].append((counter * tile + tile).le(Expr.symbol(entry.name)))


_PREFIX = "value_of_lane_"
"""Of the names of symbols that stand for values."""


def _constant(op: ir.Operation, number: int) -> Expr | None:
    attribute = op.attributes["value"]
    if isinstance(attribute, ir.IntegerAttr):
        return Expr.constant(attribute.value)
    if not isinstance(attribute, ir.DenseElementsAttr):
        return None
    found = attribute.get_splat_value() if attribute.is_splat else None
    return Expr.constant(found.value) if isinstance(found, ir.IntegerAttr) else None


def _holds(condition: Expr, facts: Facts) -> bool:
    return decided(condition, facts) is True


def decided(condition: Expr, facts: Facts) -> bool | None:
    """Whether a condition always holds (True), never (False), or neither is proven (None)."""
    simple = condition.simplify(facts)
    if simple.constant_value is not None:
        return simple.constant_value != 0
    return prove(simple, facts)
