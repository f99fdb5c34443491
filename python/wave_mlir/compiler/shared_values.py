"""What expressions of different ops have in common: symbols bound to values, as symbols of the values.

An op calls a value by a name of its own (`symbols(iv.K = %k)`). Here each value has one name in the whole kernel, the
expression it was computed by takes its place, and it is known which loops it changes in and whether all waves share it.
A loop-carried value that only counts round (0, 1, 2, 0 …) becomes an expression of the trip counter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from mlir import ir

from wave_mlir.dialect import Expr, Facts

from .kernel_info import KernelInfo
from .lane_access import ONLY, names_of, symbol_values_of
from .tile_ir import bound_values
from .uniform import Uniform

_EXPRESSIONS = ("wave.apply_expr", "wave.scalar", "wave.mask")
_FAR = "iv.far"  # trips beyond the next but one
_LONGEST_ROUND = 64


@dataclass(frozen=True)
class _Symbol:
    """One value: the loops it may change in, whether waves share it, the loop whose trips it counts (if it does)."""

    name: str
    loops: frozenset[int]
    shared: bool
    counts: int | None = None


@dataclass
class SharedValues:
    """Names of one kernel's values. `loops`: the number of each `wave.iterate` in the program."""

    info: KernelInfo
    loops: Mapping[ir.Operation, int]
    _exprs: dict[ir.Value, Expr] = field(default_factory=dict)
    _symbols: dict[str, _Symbol] = field(default_factory=dict)
    _ranges: dict[str, tuple[int | None, int | None]] = field(default_factory=dict)
    _facts: Facts | None = None
    _uniform: Uniform = field(default_factory=Uniform)
    _trips: dict[int, tuple[int, int | None]] = field(default_factory=dict)
    _numbers: count = field(default_factory=count)

    @staticmethod
    def names(op: ir.Operation) -> Sequence[str]:
        """The symbols of an op that are bound to values."""
        return names_of(op)

    @property
    def facts(self) -> Facts:
        """The kernel's facts, and what is known of the values named so far."""
        if self._facts is None:
            self._facts = self.info.facts.extended({**self._ranges, _FAR: (0, None)}, {}, [])
        return self._facts

    def canonical(self, op: ir.Operation, expr: Expr) -> Expr:
        """An expression of an op over symbols that mean the same in every op."""
        names = names_of(op)
        if not names:
            return expr
        used = set(expr.symbols)
        pairs = zip(names, symbol_values_of(op), strict=True)
        return expr.subs({name: self.of_value(value) for name, value in pairs if name in used})

    def later(self, expr: Expr, loop: int | None, far: bool) -> Expr:
        """The expression as another wave has it, in a later trip of a loop (None: the same trip of all)."""
        moved: dict[str, Expr] = {}
        for name in expr.symbols:
            symbol = self._symbols.get(name)
            if symbol is None or (symbol.shared and (loop is None or loop not in symbol.loops)):
                continue
            if symbol.shared and loop is not None and symbol.counts == loop:
                moved[name] = Expr.symbol(name) + (Expr.symbol(_FAR) + 2 if far else 1)
            else:
                moved[name] = self._renamed(name)
        return expr.subs(moved) if moved else expr

    def changes(self, expr: Expr) -> bool:
        """Whether an expression has values that change from trip to trip of some loop."""
        return any(self._symbols[name].loops for name in expr.symbols if name in self._symbols)

    def predicates(self, op: ir.Operation) -> list[Expr]:
        """Conditions without which a lane does not access: parts of its mask, conditionals around it."""
        found: list[Expr] = []
        mask = op.opview.mask if op.name != "wave.gather_to_shared" else None
        if mask is not None:
            self._conjuncts(mask, found)
        return found + self.conditionals(op)

    def conditionals(self, op: ir.Operation) -> list[Expr]:
        """Conditions without which an op is not executed: of the conditionals around it, and of the waves it is for."""
        found = [self.info.resolve(Expr(op.attributes[ONLY]))] if ONLY in op.attributes else []
        inner, parent = op, op.parent
        while parent is not None and parent.operation.name != "wave.kernel":
            around = parent.operation
            if around.name == "wave.conditional" and "condition" in around.attributes:
                condition = self.info.resolve(Expr(around.attributes["condition"]), names_of(around))
                condition = self.canonical(around, condition)
                then = inner.block == around.regions[0].blocks[0]
                self._parts(condition if then else Expr.not_(condition), found)
            inner, parent = around, around.parent
        return found

    def _conjuncts(self, mask: ir.Value, found: list[Expr]) -> None:
        if isinstance(mask.owner, ir.Block):
            return
        owner = mask.owner.operation
        if owner.name == "arith.andi":
            for operand in owner.operands:
                self._conjuncts(operand, found)
        elif owner.name == "wave.mask":
            expr = self.info.resolve(Expr(owner.attributes["expr"]), names_of(owner))
            self._parts(self.canonical(owner, expr), found)

    def _parts(self, predicate: Expr, found: list[Expr]) -> None:
        if predicate.kind == "and":
            for operand in predicate.operands:
                self._parts(operand, found)
        else:
            found.append(predicate)

    # --- loops ---

    def trips(self, loop: ir.Operation) -> tuple[int, int | None]:
        """(least, greatest) number of trips of a loop; None: not known."""
        number = self.loops[loop]
        if number not in self._trips:
            self._trips[number] = self._count(loop)
        return self._trips[number]

    def _count(self, loop: ir.Operation) -> tuple[int, int | None]:
        if "trips" not in loop.attributes:
            return 0, None
        expr = self.canonical(loop, self.info.resolve(Expr(loop.attributes["trips"]), names_of(loop)))
        low, high = expr.range(self.info.facts if not self._ranges else self.facts)
        return max(0, low or 0), high

    # --- values ---

    def of_value(self, value: ir.Value) -> Expr:
        """The expression that stands for a value."""
        if value not in self._exprs:
            computed = self._computed(value)
            self._exprs[value] = self._named(value) if computed is None else computed
        return self._exprs[value]

    def _computed(self, value: ir.Value) -> Expr | None:
        if isinstance(value, ir.BlockArgument):
            return self._round(value)
        op = value.owner.operation
        if op.name == "arith.constant" and isinstance(value.type, ir.IndexType | ir.IntegerType):
            return Expr.constant(ir.IntegerAttr(op.attributes["value"]).value)
        if op.name in _EXPRESSIONS and _single(value.type):
            expr = self.info.resolve(Expr(op.attributes["expr"]), names_of(op))
            return None if "el" in expr.symbols else self.canonical(op, expr)
        return None

    def _named(self, value: ir.Value) -> Expr:
        number = next(self._numbers)
        around = self._loops_around(value)
        counts = self._counted(value)
        if counts is not None:
            name = f"iv.value{number}"
            _, high = self.trips(counts)
            self._ranges[name] = (0, None if high is None else max(0, high - 1))
            self._symbols[name] = _Symbol(name, around, True, self.loops[counts])
        else:
            name = f"value__{number}"
            self._symbols[name] = _Symbol(name, around, self._uniform.value(value))
        self._facts = None
        return Expr.symbol(name)

    def _renamed(self, name: str) -> Expr:
        other = f"iv.other_{name.removeprefix('iv.')}" if name.startswith("iv.") else f"other__{name}"
        if name in self._ranges and other not in self._ranges:
            self._ranges[other] = self._ranges[name]
            self._facts = None
        return Expr.symbol(other)

    def _loops_around(self, value: ir.Value) -> frozenset[int]:
        """The loops in whose trips a value is made anew."""
        found = set()
        owner = value.owner
        current = owner.owner if isinstance(owner, ir.Block) else owner.operation.parent
        while current is not None and current.operation.name != "wave.kernel":
            if current.operation in self.loops:
                found.add(self.loops[current.operation])
            current = current.operation.parent
        return frozenset(found)

    @staticmethod
    def _counted(value: ir.Value) -> ir.Operation | None:
        """The loop whose trip counter a value is."""
        if not isinstance(value, ir.BlockArgument):
            return None
        loop = value.owner.owner.operation
        is_counter = loop.name == "wave.iterate" and "trips" in loop.attributes and "has_iv" in loop.attributes
        return loop if is_counter and value.arg_number == 0 else None

    def _round(self, value: ir.BlockArgument) -> Expr | None:
        """A carried value that goes round a few numbers, as an expression of the trip counter."""
        loop = value.owner.owner.operation
        if loop.name != "wave.iterate" or "trips" not in loop.attributes or "has_iv" not in loop.attributes:
            return None
        body = loop.regions[0].blocks[0]
        position = value.arg_number - (len(body.arguments) - len(loop.results))
        if position < 0 or not _single(value.type):
            return None
        start = self.of_value(list(loop.opview.init_args)[position]).constant_value
        following = body.operations[len(body.operations) - 1].operands[position].owner
        if start is None or isinstance(following, ir.Block) or following.operation.name not in _EXPRESSIONS:
            return None
        bound = bound_values(following.operation)
        step = self.info.resolve(Expr(following.operation.attributes["expr"]), list(bound))
        if list(bound.values()) != [value] or step.symbols != list(bound):
            return None
        numbers = [start]
        while (number := step.eval({step.symbols[0]: numbers[-1]})) != start:
            numbers.append(number)
            if len(numbers) > _LONGEST_ROUND:
                return None
        return _select(self.of_value(body.arguments[0]) % len(numbers), numbers)


def _single(kind: ir.Type) -> bool:
    return not isinstance(kind, ir.VectorType) or list(kind.shape) == [1]


def _select(position: Expr, numbers: Sequence[int]) -> Expr:
    """numbers[position]."""
    step = numbers[1] - numbers[0] if len(numbers) > 1 else 0
    if all(n == numbers[0] + step * i for i, n in enumerate(numbers)):
        return position * step + numbers[0]
    result = Expr.constant(numbers[-1])
    for i, number in enumerate(numbers[:-1]):
        result = Expr.select(position.eq(i), number, result)
    return result
