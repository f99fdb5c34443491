"""Conditions of while loops on carried values, which they name `GET_ITER_ARG(i)`.

The loop of IR decides on its axis only. So the axis is given the value OVER where the condition does not hold, before
the loop and at the end of its body, and the loop runs while the axis is another one.
"""

from __future__ import annotations

from collections.abc import Sequence

import sympy

from wave_mlir.dialect import Expr
from wave_mlir.lang.global_symbols import GET_ITER_ARG
from wave_mlir.lang.symbols import ExprLike

from . import source
from .trace import Trace
from .values import Value

OVER = 2**31 - 1
"""The axis of a loop that is over: no loop counts so far."""

_PREFIX = GET_ITER_ARG(0).name.removesuffix("0")


def on_carried(condition: ExprLike | None) -> dict[int, sympy.Symbol]:
    """The carried values that a condition names, by number."""
    if not isinstance(condition, sympy.Basic):
        return {}
    named = [s for s in condition.free_symbols if isinstance(s, sympy.Symbol) and s.name.startswith(_PREFIX)]
    return {int(s.name.removeprefix(_PREFIX)): s for s in sorted(named, key=lambda s: s.name)}


class CarriedCondition:
    """The condition of one loop over `axis`."""

    def __init__(self, trace: Trace, axis: sympy.Symbol, condition: sympy.Basic, carried: int) -> None:
        self.trace = trace
        self.axis = axis
        self.condition = condition
        self.symbols = on_carried(condition)
        for number in self.symbols:
            if number >= carried:
                raise source.error(
                    f"iterate: the condition names GET_ITER_ARG({number}), and the loop carries {carried} values; they "
                    "are numbered from 0"
                )

    def test(self) -> Expr:
        """What the loop decides on."""
        return self.trace.expr(self.axis).ne(Expr.constant(OVER))

    def first(self, start: Value, carried: Sequence[Value]) -> Value:
        """The axis before the first trip."""
        return self._guarded([start], carried)

    def close(self, carried: Sequence[Value]) -> None:
        """Set the axis for the next trip, at the end of the body."""
        from .compute_ops import set_symbol  # loops are among what these operations are built on

        set_symbol(self.axis, self._guarded([], carried))

    def _guarded(self, position: list[Value], carried: Sequence[Value]) -> Value:
        from .compute_ops import apply_expr

        values = [carried[n] for n in self.symbols]
        for number, value in zip(self.symbols, values, strict=True):
            if not value.dtype.is_integer:
                raise source.error(
                    f"iterate: the condition names GET_ITER_ARG({number}), which is of {value.dtype}; carry an integer"
                )

        def expression(*given: sympy.Symbol) -> sympy.Basic:
            at = given[0] if position else self.axis
            named = dict(zip(self.symbols.values(), given[len(position) :], strict=True))
            holds = self.condition.subs({**named, self.axis: at}, simultaneous=True)
            return sympy.Piecewise((at, holds), (OVER, True))

        return apply_expr([*position, *values], expression)
