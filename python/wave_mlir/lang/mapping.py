"""Index mappings: where in memory each point of a tile is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sympy

from .symbols import ExprLike, index_symbol, value_symbol

_ITERATOR = "$iter{}"
_DYNAMIC = "$dyn{}"
MOST = 32
"""Iterators and dynamic values there are names for."""


@dataclass(frozen=True)
class IndexMapping:
    """`inputs` and `outputs` map dims to expressions over `iterator(i)` and `dynamic_val(i)`.

    For a read, `inputs` has the memory's dims and `outputs` the tile's; for a write the other way round. On the tile's
    side each dim is one iterator. `dynamic_val_mappings` says for each dynamic value which of its elements belongs to
    a point: a mapping of its dims to expressions over iterators (one mapping, or a tuple of them).
    """

    num_iterators: int
    inputs: Mapping[sympy.Symbol, ExprLike]
    outputs: Mapping[sympy.Symbol, ExprLike]
    dynamic_val_mappings: Mapping[sympy.Symbol, ExprLike] | tuple[Mapping[sympy.Symbol, ExprLike], ...] = ()

    @staticmethod
    def iterator(i: int) -> sympy.Symbol:
        """Iterator number i."""
        return index_symbol(_ITERATOR.format(i))

    @staticmethod
    def dynamic_val(i: int) -> sympy.Symbol:
        """The dynamic value number i of the access."""
        return value_symbol(_DYNAMIC.format(i))

    @property
    def input_mapping(self) -> Mapping[sympy.Symbol, ExprLike]:
        """`inputs`."""
        return self.inputs

    @property
    def output_mapping(self) -> Mapping[sympy.Symbol, ExprLike]:
        """`outputs`."""
        return self.outputs

    @property
    def num_dynamic_vals(self) -> int:
        """How many dynamic values there are."""
        return len(self.dynamic)

    @property
    def dynamic(self) -> tuple[Mapping[sympy.Symbol, ExprLike], ...]:
        """`dynamic_val_mappings`, one for each dynamic value."""
        given = self.dynamic_val_mappings
        return (given,) if isinstance(given, Mapping) else tuple(given)

    @property
    def iterators(self) -> tuple[sympy.Symbol, ...]:
        """All iterators, in order."""
        return tuple(self.iterator(i) for i in range(self.num_iterators))

    def __hash__(self) -> int:
        return hash((self.num_iterators, tuple(self.inputs.items()), tuple(self.outputs.items())))
