"""Expressions: integer arithmetic over symbols, what is known of symbols, proofs (docs/expressions.md)."""

from .._wave import Expr, Facts

__all__ = ["Expr", "Facts", "prove"]


def prove(condition: Expr, facts: Facts | None = None, budget: int = 1 << 16) -> bool | None:
    """True or False when the condition holds for all, for none of the symbols' values that fit the facts; else None.

    `budget` limits the points over which finite symbols are enumerated.
    """
    return condition.prove(facts, budget)
