"""Random expressions as plain data, with their meaning in Python integers: what the tests compare to."""

from __future__ import annotations

from hypothesis import strategies as st
from wave_mlir.dialect import Expr

Tree = int | str | tuple  # a constant, a symbol, or (operator, operand, ...)

BINARY = (*"+-*", "floordiv", "ceildiv", "mod", "xor", "min", "max", "eq", "ne", "lt", "le", "gt", "ge", "and", "or")


class NoValue(Exception):
    """The tree divides by zero."""


def _divide(op: str, a: int, b: int) -> int:
    if b == 0:
        raise NoValue
    return a // b if op == "floordiv" else a % b if op == "mod" else -(-a // b)


def value(tree: Tree, env: dict[str, int]) -> int:
    """The tree's value; only the chosen arm of a select is evaluated."""
    if isinstance(tree, int):
        return tree
    if isinstance(tree, str):
        return env[tree]
    op = tree[0]
    if op == "select":
        return value(tree[2] if value(tree[1], env) else tree[3], env)
    a, b = value(tree[1], env), value(tree[2], env)
    if op in ("floordiv", "ceildiv", "mod"):
        return _divide(op, a, b)
    return {
        "+": lambda: a + b,
        "-": lambda: a - b,
        "*": lambda: a * b,
        "xor": lambda: a ^ b,
        "min": lambda: min(a, b),
        "max": lambda: max(a, b),
        "eq": lambda: int(a == b),
        "ne": lambda: int(a != b),
        "lt": lambda: int(a < b),
        "le": lambda: int(a <= b),
        "gt": lambda: int(a > b),
        "ge": lambda: int(a >= b),
        "and": lambda: int(bool(a) and bool(b)),
        "or": lambda: int(bool(a) or bool(b)),
    }[op]()


def build(tree: Tree) -> Expr:
    """The tree as an expression; ZeroDivisionError for a division by the constant 0."""
    if isinstance(tree, int):
        return Expr.constant(tree)
    if isinstance(tree, str):
        return Expr.symbol(tree)
    op, a, b = tree[0], build(tree[1]), build(tree[2])
    if op == "select":
        return Expr.select(a, b, build(tree[3]))
    if op in ("eq", "ne", "lt", "le", "gt", "ge"):
        return getattr(a, op)(b)
    return {
        "+": lambda: a + b,
        "-": lambda: a - b,
        "*": lambda: a * b,
        "floordiv": lambda: a // b,
        "ceildiv": lambda: Expr.ceildiv(a, b),
        "mod": lambda: a % b,
        "xor": lambda: a ^ b,
        "min": lambda: Expr.min(a, b),
        "max": lambda: Expr.max(a, b),
        "and": lambda: Expr.and_(a, b),
        "or": lambda: Expr.or_(a, b),
    }[op]()


def text(tree: Tree) -> str:
    """The tree in expression syntax, fully parenthesised."""
    if isinstance(tree, int | str):
        return str(tree)
    if tree[0] in ("min", "max", "select"):
        return f"{tree[0]}({', '.join(text(t) for t in tree[1:])})"
    return f"({text(tree[1])} {tree[0]} {text(tree[2])})"


def trees(symbols: tuple[str, ...], leaves: int = 8, constants: tuple[int, ...] = ()) -> st.SearchStrategy[Tree]:
    """Trees over the symbols; constants favour the strides and extents that addresses have."""
    typical = st.sampled_from(constants or (0, 1, 2, 3, 4, 5, 7, 8, 12, 16, -1, -2, -3, -4, -8, 63, 64))
    leaf = st.one_of(st.sampled_from(symbols), st.sampled_from(symbols), typical)
    arithmetic = st.sampled_from(("+", "+", "-", "*", "floordiv", "mod", "ceildiv"))

    def extend(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
        return st.one_of(
            st.tuples(arithmetic, inner, inner),
            st.tuples(st.sampled_from(("floordiv", "mod", "*", "ceildiv")), inner, typical),
            st.tuples(st.sampled_from(BINARY), inner, inner),
            st.tuples(st.just("select"), inner, inner, inner),
        )

    return st.recursive(leaf, extend, max_leaves=leaves)
