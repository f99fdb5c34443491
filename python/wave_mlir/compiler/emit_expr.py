"""Expressions to arith ops, each emitted once, in the outermost scope that has all its symbols.

A scope is a block with an insertion point: the kernel's entry, and the body of each loop. An expression that does not
change in a loop is emitted before the loop, so that later code finds loop-invariant address parts already outside.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import reduce

from mlir import ir
from mlir.dialects import arith

from wave_mlir.dialect import Expr, Facts

from .diagnostics import PassError

_COMPARE = {"eq": arith.CmpIPredicate.eq, "ne": arith.CmpIPredicate.ne,
            "lt": arith.CmpIPredicate.slt, "le": arith.CmpIPredicate.sle}  # fmt: skip

Operands = dict[str, ir.Value] | None
Range = tuple[int | None, int | None]


@dataclass
class _Scope:
    """A block, the symbols bound in it, what was emitted in it, and where outer expressions go (None: at the end).

    hidden: the symbols that are bound outside of it too (a loop over a dim in one over the same dim). memo: values of
    expressions; chains: of the first operands of sums and the like; shared: of `ExprEmitter.shared`.
    """

    block: ir.Block
    anchor: ir.Operation | None = None
    symbols: dict[str, ir.Value] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()
    memo: dict[Expr, ir.Value] = field(default_factory=dict)
    chains: dict[tuple[str, tuple[Expr, ...]], ir.Value] = field(default_factory=dict)
    shared: dict[Hashable, ir.Value] = field(default_factory=dict)


class ExprEmitter:
    """Emits expressions as `index` arithmetic (i1 for predicates).

    `facts` gives the ranges of symbols: a division whose operands are not negative becomes an unsigned one.
    `facts_for` gives the facts where some symbols have another value, which a user's operands give.

    An expression is evaluated in lanes, and before loops and conditionals, that do not need it. So where a divisor may
    be 0, the division is by 1 for it: by 0 it would be undefined behaviour, whoever uses the result.
    """

    def __init__(self, facts: Facts, facts_for: Callable[[Sequence[str]], Facts] | None = None) -> None:
        self.facts = facts
        self.facts_for = facts_for or (lambda names: facts)
        self.index = ir.IndexType.get()
        self.i1 = ir.IntegerType.get_signless(1)
        self._scopes: list[_Scope] = []
        self._ranges: dict[tuple[Expr, tuple[str, ...]], Range] = {}

    def enter(self, block: ir.Block, before: ir.Operation | None = None) -> None:
        """Open a scope for `block`; what outer scopes get meanwhile goes before `before`, the op with the block."""
        if self._scopes:
            self._scopes[-1].anchor = before
        self._scopes.append(_Scope(block))

    def leave(self) -> None:
        """Close the innermost scope."""
        self._scopes.pop()
        if self._scopes:
            self._scopes[-1].anchor = None

    def bind(self, name: str, value: ir.Value) -> None:
        """From here on `name` means `value` (of type index) in the innermost scope."""
        if any(name in scope.symbols for scope in self._scopes[:-1]):
            self._scopes[-1].hidden |= {name}
        self._scopes[-1].symbols[name] = value

    def emit(self, expr: Expr, here: ir.Operation | None, operands: Operands = None) -> ir.Value:
        """The value of `expr`, available at `here` (the op that needs it; None: the end of the innermost block).

        `operands` are values of symbols known to this user only; what depends on them is emitted at `here`.
        Raises PassError at `here` (KeyError without one) when a symbol has no value.
        """
        self._scopes[-1].anchor = here
        local = {name: value for name, value in (operands or {}).items() if not self._is_bound(name, value)}
        try:
            return self._emit_local(expr, local) if local else self._emit(expr)
        except KeyError as missing:
            if here is None:
                raise
            name = missing.args[0]
            raise PassError(here, f"symbol {name} has no value here; {_remedy(name)}") from None

    def emit_number(self, expr: Expr, here: ir.Operation | None, operands: Operands = None) -> ir.Value:
        """`emit`, as index whatever the expression is: a predicate that holds is 1."""
        value = self.emit(expr, here, operands)
        with self._point(len(self._scopes) - 1):
            return self._number(value)

    def emit_truth(self, expr: Expr, here: ir.Operation | None, operands: Operands = None) -> ir.Value:
        """`emit`, as i1 whatever the expression is: a number that is not 0 holds."""
        value = self.emit(expr, here, operands)
        with self._point(len(self._scopes) - 1):
            return self._truth(value)

    def shared(
        self,
        key: Hashable,
        exprs: Sequence[Expr],
        here: ir.Operation | None,
        operands: Operands,
        build: Callable[[list[ir.Value]], ir.Value],
    ) -> ir.Value:
        """`build(values of exprs)`, made once for each `key`, in the outermost scope that has all their symbols.

        What depends on `operands` that only this user knows is made at `here`, each time.
        """
        self._scopes[-1].anchor = here
        local = {name: value for name, value in (operands or {}).items() if not self._is_bound(name, value)}
        if any(name in local for expr in exprs for name in expr.symbols):
            values = [self._emit_local(expr, local) for expr in exprs]
            with self._point(len(self._scopes) - 1):
                return build(values)
        level = max((self._level(expr) for expr in exprs), default=0)
        found = self._scopes[level].shared.get(key)
        if found is None:
            values = [self._emit(expr) for expr in exprs]
            with self._point(level):
                found = self._scopes[level].shared[key] = build(values)
        return found

    def _is_bound(self, name: str, value: ir.Value) -> bool:
        for scope in reversed(self._scopes):
            if name in scope.symbols:
                return scope.symbols[name] == value
        return False

    # --- finding the scope ---------------------------------------------------------------------
    def _level(self, expr: Expr) -> int:
        level = 0
        for name in expr.symbols:
            level = max(level, self._level_of(name))
        return level

    def _level_of(self, name: str) -> int:
        for level in range(len(self._scopes) - 1, -1, -1):
            if name in self._scopes[level].symbols:
                return level
        raise KeyError(name)

    def _point(self, level: int) -> ir.InsertionPoint:
        scope = self._scopes[level]
        return ir.InsertionPoint(scope.anchor) if scope.anchor is not None else ir.InsertionPoint(scope.block)

    def _emit(self, expr: Expr) -> ir.Value:
        for scope in reversed(self._scopes):
            if (found := scope.memo.get(expr)) is not None:
                return found
            if scope.hidden and not scope.hidden.isdisjoint(expr.symbols):
                break
        level = self._level(expr)
        scope = self._scopes[level]
        if expr.kind == "symbol":
            return scope.symbols[str_symbol(expr)]
        args = [self._emit(operand) for operand in expr.operands]
        with self._point(level):
            value = self._build(expr, args, (), scope)
        scope.memo[expr] = value
        return value

    def _emit_local(self, expr: Expr, operands: dict[str, ir.Value]) -> ir.Value:
        if not any(name in operands for name in expr.symbols):
            return self._emit(expr)
        if expr.kind == "symbol":
            return operands[str_symbol(expr)]
        args = [self._emit_local(operand, operands) for operand in expr.operands]
        with self._point(len(self._scopes) - 1):
            return self._build(expr, args, tuple(operands))

    # --- one node ------------------------------------------------------------------------------
    def _build(
        self, expr: Expr, args: Sequence[ir.Value], local: tuple[str, ...], scope: _Scope | None = None
    ) -> ir.Value:
        """`local`: symbols to which the user's operands give another value."""
        kind = expr.kind
        if kind == "constant":
            return arith.ConstantOp(self.index, expr.constant_value).result
        if kind in ("and", "or"):
            truths = [self._truth(a) for a in args]
            return self._chain(kind, arith.AndIOp if kind == "and" else arith.OrIOp, expr, truths, scope)
        if kind == "select":
            arms = args[1:] if args[1].type == args[2].type else [self._number(a) for a in args[1:]]
            return arith.SelectOp(self._truth(args[0]), *arms).result
        numbers = [self._number(a) for a in args]
        if kind in _COMPARE:
            return arith.CmpIOp(_COMPARE[kind], *numbers).result
        if kind in ("floordiv", "ceildiv", "mod"):
            return self._divide(expr, numbers, local)
        if kind in ("min", "max") and len(numbers) == 2 and self._is_short(expr, local):
            return self._extremum(kind, numbers)
        build = {"add": arith.AddIOp, "mul": arith.MulIOp, "min": arith.MinSIOp, "max": arith.MaxSIOp,
                 "xor": arith.XOrIOp}[kind]  # fmt: skip
        return self._chain(kind, build, expr, numbers, scope)

    def _chain(
        self, kind: str, build: Callable[..., ir.OpView], expr: Expr, args: Sequence[ir.Value], scope: _Scope | None
    ) -> ir.Value:
        """Apply `build` from left to right. Addresses differ in their last terms: a scope sums up the others once."""
        if scope is None or len(args) == 2:
            return reduce(lambda a, b: build(a, b).result, args)
        value, operands = args[0], tuple(expr.operands)
        for count, arg in enumerate(args[1:], 2):
            known = scope.chains.get((kind, operands[:count]))
            value = scope.chains[kind, operands[:count]] = build(value, arg).result if known is None else known
        return value

    def _is_short(self, expr: Expr, local: tuple[str, ...]) -> bool:
        """Whether the operands are proven to have 31 bits and no sign."""
        ranges = [self._range(operand, local) for operand in expr.operands]
        return all(low is not None and low >= 0 and most is not None and most < 1 << 31 for low, most in ranges)

    def _extremum(self, kind: str, args: Sequence[ir.Value]) -> ir.Value:
        """By 32 bits: there is a scalar instruction for that, and none for 64."""
        i32 = ir.IntegerType.get_signless(32)
        short = [arith.IndexCastOp(i32, a).result for a in args]
        made = (arith.MinUIOp if kind == "min" else arith.MaxUIOp)(*short)
        return arith.IndexCastUIOp(self.index, made.result).result

    def _number(self, value: ir.Value) -> ir.Value:
        """A predicate as a number: 1 where it holds."""
        return arith.IndexCastUIOp(self.index, value).result if value.type == self.i1 else value

    def _truth(self, value: ir.Value) -> ir.Value:
        if value.type == self.i1:
            return value
        zero = arith.ConstantOp(self.index, 0).result
        return arith.CmpIOp(arith.CmpIPredicate.ne, value, zero).result

    def _range(self, expr: Expr, local: tuple[str, ...]) -> Range:
        known = self._ranges.get((expr, local))
        if known is None:
            known = expr.range(self.facts_for(local) if local else self.facts)
            self._ranges[expr, local] = known
        return known

    def _divide(self, expr: Expr, args: Sequence[ir.Value], local: tuple[str, ...]) -> ir.Value:
        a, b = args
        (low, _), (least, most) = (self._range(operand, local) for operand in expr.operands)
        if not ((least is not None and least > 0) or (most is not None and most < 0)):
            zero, one = (arith.ConstantOp(self.index, n).result for n in (0, 1))
            b = arith.SelectOp(arith.CmpIOp(arith.CmpIPredicate.eq, b, zero).result, one, b).result
        unsigned = low is not None and low >= 0 and least is not None and least >= 0
        if expr.kind == "ceildiv":
            return (arith.CeilDivUIOp if unsigned else arith.CeilDivSIOp)(a, b).result
        if expr.kind == "floordiv":
            return (arith.DivUIOp if unsigned else arith.FloorDivSIOp)(a, b).result
        if unsigned:
            return arith.RemUIOp(a, b).result
        quotient = arith.FloorDivSIOp(a, b).result
        return arith.SubIOp(a, arith.MulIOp(quotient, b).result).result


def _remedy(name: str) -> str:
    kind, dot, dim = name.partition(".")
    if kind == "iv":
        return f"it is the trip of a loop over {dim}, and this op is in none"
    return "it is not for programs to use" if dot else f"bind it in 'symbols {{{name} = …}}', or list it as dynamic"


def str_symbol(expr: Expr) -> str:
    """The name of an expression that is one symbol."""
    return expr.symbols[0]
