"""Symbols, and sympy expressions as the expressions of the dialect.

Users write sizes, tiles and indices as sympy expressions over symbols. They are converted once, when the kernel is
traced; nothing behind the front end knows sympy.
"""

from __future__ import annotations

import sympy
from sympy.core.relational import Relational
from sympy.logic.boolalg import And, Boolean, BooleanFalse, BooleanTrue, Not, Or

from wave_mlir.dialect import Expr

IndexSymbol = sympy.Symbol
IndexExpr = sympy.Expr

ExprLike = sympy.Basic | int
"""What stands where an expression is taken: sympy's, or a Python integer."""


class ExpressionError(ValueError):
    """An expression that has no meaning as an integer; the message says which part and what to write."""


def index_symbol(name: str) -> sympy.Symbol:
    """The symbol of that name: a non-negative integer."""
    return sympy.Symbol(name, integer=True, nonnegative=True)


class xor(sympy.Function):
    """`xor(a, b)` of two expressions that are not negative: their bits that differ."""

    nargs = 2
    is_integer = True
    is_nonnegative = True

    @classmethod
    def eval(cls, a: sympy.Basic, b: sympy.Basic) -> sympy.Basic | None:
        """Of two numbers, the number."""
        if isinstance(a, sympy.Integer) and isinstance(b, sympy.Integer):
            return sympy.Integer(int(a) ^ int(b))
        return None


def index_expr(value: ExprLike | str) -> sympy.Basic:
    """The expression that sympy reads in a value."""
    return sympy.sympify(value)


def value_symbol(name: str) -> sympy.Symbol:
    """The symbol of that name: an integer that a kernel computes or reads, which may be negative."""
    return sympy.Symbol(name, integer=True)


class SymbolAccessor:
    """`sym.M` is the symbol M."""

    def __getattr__(self, name: str) -> sympy.Symbol:
        if name.startswith("__"):
            raise AttributeError(name)
        return index_symbol(name)


sym = SymbolAccessor()

THREAD_X = "__thread_x"
"""Stands for the number of the work-item along x, which is an expression of wave and lane."""

_RESERVED = {"$WG0": "wg.x", "$WG1": "wg.y", "$WG2": "wg.z", "$T0": THREAD_X, "$T1": "wave.y", "$T2": "wave.z"}
_NUMBERED = {"$iter": "i", "$dyn": "d", "$arg": "d"}


def dialect_name(symbol: sympy.Symbol) -> str:
    """The symbol's name in the dialect. Raises ExpressionError for one that means nothing in an expression."""
    name = symbol.name
    if not name.startswith("$"):
        return name
    if name in _RESERVED:
        return _RESERVED[name]
    for prefix, short in _NUMBERED.items():
        if name.startswith(prefix):
            return short + name.removeprefix(prefix)
    raise ExpressionError(f"{name.removeprefix('$')} has no value in an index expression")


_RELATIONS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}


def to_expr(value: ExprLike | bool, exact: bool = False) -> Expr:
    """The expression of the dialect with the same value, in the current MLIR context.

    A quotient is taken under floor, ceiling and Mod; elsewhere it is an error, unless `exact` says that it divides
    without remainder (tile sizes such as BLOCK_M / 2, which the compiler checks). Raises ExpressionError.
    """
    if isinstance(value, (bool, BooleanTrue, BooleanFalse)):
        return Expr.constant(int(value == True))  # noqa: E712  (sympy's true compares equal to True)
    if isinstance(value, int):
        return Expr.constant(value)
    if not isinstance(value, sympy.Basic):
        value = _other(value)
    return _convert(value, exact)


def _other(value: object) -> sympy.Basic:
    try:
        return sympy.sympify(value, strict=True)
    except sympy.SympifyError:
        raise ExpressionError(f"{value!r} is no integer or symbolic expression") from None


def _convert(e: sympy.Basic, exact: bool) -> Expr:
    if isinstance(e, sympy.Symbol):
        return Expr.symbol(dialect_name(e))
    if isinstance(e, sympy.Integer):
        return Expr.constant(int(e))
    if isinstance(e, (sympy.Add, sympy.Mul, sympy.Pow, sympy.Rational)):
        return _arithmetic(e, exact)
    if isinstance(e, (sympy.floor, sympy.ceiling)):
        return _rounded(e, exact)
    if isinstance(e, sympy.Mod):
        return _modulo(e, exact)
    if isinstance(e, (sympy.Min, sympy.Max)):
        parts = [_convert(a, exact) for a in _ordered(e.args)]
        return Expr.min(*parts) if isinstance(e, sympy.Min) else Expr.max(*parts)
    return _logic(e, exact)


def _ordered(args: tuple) -> list[sympy.Basic]:
    """Arguments of a commutative node in an order that no hash seed changes."""
    return sorted(args, key=sympy.default_sort_key)


def _arithmetic(e: sympy.Basic, exact: bool) -> Expr:
    numerator, denominator = e.as_numer_denom() if _has_quotient(e) else (e, sympy.S.One)
    if denominator != 1:
        if not exact:
            raise ExpressionError(
                f"{e} is a quotient that need not be an integer; write {numerator} // ({denominator}) or "
                f"sympy.ceiling({e})"
            )
        return _convert(numerator, exact) // _convert(denominator, exact)
    if isinstance(e, sympy.Add):
        return Expr.sum(*(_convert(a, exact) for a in _ordered(e.args)))
    if isinstance(e, sympy.Mul):
        return Expr.product(*(_convert(a, exact) for a in _ordered(e.args)))
    return _power(e)


def _has_quotient(e: sympy.Basic) -> bool:
    """Does the sum, product or power divide (outside of functions)?"""
    if isinstance(e, sympy.Rational):
        return not isinstance(e, sympy.Integer)
    if isinstance(e, sympy.Pow):
        return bool(e.exp.is_negative)
    return isinstance(e, (sympy.Add, sympy.Mul)) and any(_has_quotient(a) for a in e.args)


def _power(e: sympy.Basic) -> Expr:
    base, exponent = e.args
    if not isinstance(exponent, sympy.Integer) or not 0 <= int(exponent) <= 16:
        raise ExpressionError(f"{e}: an exponent must be an integer from 0 to 16")
    return Expr.product(*[_convert(base, False)] * int(exponent))


def _rounded(e: sympy.Basic, exact: bool) -> Expr:
    numerator, denominator = e.args[0].as_numer_denom()
    top, bottom = _convert(numerator, exact), _convert(denominator, exact)
    return top // bottom if isinstance(e, sympy.floor) else Expr.ceildiv(top, bottom)


def _modulo(e: sympy.Basic, exact: bool) -> Expr:
    left, right = e.args
    return _convert(left, exact) % _convert(right, exact)


def _logic(e: sympy.Basic, exact: bool) -> Expr:
    if isinstance(e, Relational):
        method = _RELATIONS.get(e.rel_op)
        if method:
            return getattr(_convert(e.lhs, exact), method)(_convert(e.rhs, exact))
    if isinstance(e, (And, Or)):
        parts = [_convert(a, exact) for a in _ordered(e.args)]
        return Expr.and_(*parts) if isinstance(e, And) else Expr.or_(*parts)
    if isinstance(e, Not):
        return Expr.not_(_convert(e.args[0], exact))
    if isinstance(e, (BooleanTrue, BooleanFalse)):
        return Expr.constant(int(bool(e)))
    if isinstance(e, sympy.Piecewise):
        return _piecewise(e, exact)
    if isinstance(e, xor):
        return _convert(e.args[0], exact) ^ _convert(e.args[1], exact)
    if isinstance(e, sympy.Abs):
        inner = _convert(e.args[0], exact)
        return Expr.max(inner, -inner)
    raise ExpressionError(f"{e}: {type(e).__name__} has no meaning in an index expression")


def _piecewise(e: sympy.Basic, exact: bool) -> Expr:
    *first, (last, condition) = e.args
    if condition is not sympy.true and condition is not True:
        raise ExpressionError(f"{e}: the last case of a Piecewise must be for all other values (True)")
    result = _convert(last, exact)
    for value, condition in reversed(first):
        result = Expr.select(_convert(condition, exact), _convert(value, exact), result)
    return result


def is_condition(value: object) -> bool:
    """Is it a relation or a combination of them?"""
    return isinstance(value, Boolean) and not isinstance(value, sympy.Symbol)
