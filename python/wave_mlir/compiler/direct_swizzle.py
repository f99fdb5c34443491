"""Chunks of LDS rows exchanged by direct copies: on the global side, since lanes write behind one another.

Chunk c of row r is to be at chunk c xor p, p the phase of the row. The lane that writes there reads what belongs there:
the source of the lane with its low digits xor p * (lanes of a chunk). That is one lane of the same wave, as long as
stretches of phases * chunk elements start at multiples of themselves within what a wave writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import Protocol

from mlir import ir

from wave_mlir.dialect import Expr, Facts, MemoryType

from .direct_copies import BASE, OFFSET, lane_mask
from .kernel_info import KernelInfo
from .lane_access import mask_expr
from .tile_ir import bound_names
from .uniform import Uniform

_HIGH, _LOW = "at.high", "at.low"  # lane form has no others with `at`


class Exchange(Protocol):
    """What is needed of a row layout; see `lds_swizzle.RowLayout`."""

    @property
    def chunk(self) -> int: ...
    @property
    def phases(self) -> int: ...
    @property
    def fold(self) -> int: ...
    def phase(self, folded: Expr) -> Expr: ...


def _start(info: KernelInfo, copy: ir.Operation, extents: Sequence[int]) -> Expr:
    """The element of the buffer, in row-major order, that the wave's first lane writes."""
    bound = bound_names(copy)
    start = Expr.constant(0)
    for coordinate, extent in zip(copy.opview.target_index, extents, strict=True):
        start = start * extent + info.resolve(coordinate, bound)
    return start.simplify(info.facts)


def span_of(info: KernelInfo, copy: ir.Operation, extents: Sequence[int]) -> int:
    """Elements of the stretches that a wave's copy is made of, each at a multiple of itself; 0 where it has no start.

    A divisor of what a wave writes and of where it starts.
    """
    start = _start(info, copy, extents)
    whole = copy.attributes["elements"].value * info.wave_size
    return whole if start.constant_value == 0 else gcd(whole, start.divisor(info.facts))


def values_agree(info: KernelInfo, copy: ir.Operation, stretch: int) -> bool:
    """Whether lanes that would exchange chunks have the same values of symbols (those of a page table, say).

    stretch: elements among which chunks are exchanged.
    """
    group = stretch // copy.attributes["elements"].value
    agreement = _Agreement(info, group)
    mask = copy.opview.mask
    masks = [] if mask is None else list(mask.owner.operation.operands)
    return all(agreement.of(v) for v in [*copy.opview.symbol_values, *masks])


class _Agreement:
    """Proves that values are the same in all lanes of each group: lanes whose numbers differ in the low part alone."""

    def __init__(self, info: KernelInfo, group: int) -> None:
        self.info, self.group = info, group
        self.facts = info.facts.extended({_HIGH: (0, info.wave_size // group - 1), _LOW: (0, group - 1)}, {}, [])
        self._known: dict[ir.Value, bool] = {}
        self._same = Uniform()

    def of(self, value: ir.Value) -> bool:
        if value not in self._known:
            self._known[value] = self._prove(value)
        return self._known[value]

    def _prove(self, value: ir.Value) -> bool:
        if isinstance(value.owner, ir.Block):
            return self._same.value(value)
        op = value.owner.operation
        if op.name.startswith(("arith.", "vector.")):
            return all(self.of(v) for v in op.operands)
        if op.name not in ("wave.read", "wave.buffer_load", "wave.mask", "wave.apply_expr", "wave.scalar"):
            return self._same.value(value)
        exprs = [Expr(op.attributes[n]) for n in ("expr", "base", "offset") if n in op.attributes]
        exprs += [Expr(e) for e in op.attributes["index"]] if "index" in op.attributes else []
        values = [v for v in op.operands if not isinstance(v.type, MemoryType)]
        return all(self._expr(e, bound_names(op)) for e in exprs) and all(self.of(v) for v in values)

    def _expr(self, expr: Expr, bound: Sequence[str]) -> bool:
        digits = Expr.symbol(_HIGH) * self.group + Expr.symbol(_LOW)
        return _LOW not in self.info.resolve(expr, bound).subs({"lane": digits}).simplify(self.facts).symbols


def exchange(info: KernelInfo, copy: ir.Operation, layout: Exchange, extents: Sequence[int]) -> None:
    """Let the lanes of a copy read what belongs, under the layout, where they write."""
    width = copy.attributes["elements"].value
    lanes = layout.chunk // width  # of a chunk
    group = lanes * layout.phases
    facts = info.facts.extended({_HIGH: (0, info.wave_size // group - 1), _LOW: (0, group - 1)}, {}, [])
    high = Expr.symbol(_HIGH)
    row = (_start(info, copy, extents) + high * (group * width)) // (extents[-1] * layout.fold)
    phase = layout.phase(row).simplify(facts)
    lane, size = Expr.symbol("lane"), Expr.constant(group)
    swap = _Swap(facts, high * group + Expr.symbol(_LOW), {
        _HIGH: lane // size, _LOW: (lane % size) ^ (phase * lanes).subs({_HIGH: lane // size}),
    }, info.facts)  # fmt: skip
    for name in (BASE, OFFSET):
        copy.attributes[name] = swap.expr(Expr(copy.attributes[name]))
    index = [swap.expr(Expr(e)) for e in copy.attributes["source_index"]]
    copy.attributes["source_index"] = ir.ArrayAttr.get(index)
    mask = copy.opview.mask
    if mask is not None:
        predicate = mask_expr(mask)
        assert predicate is not None  # wave-gather-to-shared has made it
        with copy.location, ir.InsertionPoint(copy):
            copy.operands[2] = lane_mask(swap.expr(predicate), mask.owner.operation)
        if next(iter(mask.uses), None) is None:
            mask.owner.operation.erase()


class _Swap:
    """Puts another lane's number for the lane's: first in digits, whose quotients fold, then these."""

    def __init__(self, facts: Facts, digits: Expr, values: dict[str, Expr], outer: Facts) -> None:
        self.facts, self.digits, self.values, self.outer = facts, digits, values, outer

    def expr(self, expr: Expr) -> Expr:
        if "lane" not in expr.symbols:
            return expr
        folded = expr.subs({"lane": self.digits}).simplify(self.facts)
        return folded.subs(self.values).simplify(self.outer)
