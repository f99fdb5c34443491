"""wave-bounds: masks the accesses that may leave their memory."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from wave_mlir.compiler.access_index import memory_extent
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.lane_access import (
    LaneFacts,
    Within,
    accesses,
    both,
    index_of,
    make_mask,
    mask_expr,
    names_of,
    symbol_values_of,
    width_of,
    with_parts,
)
from wave_mlir.compiler.pass_registry import Pass, register_pass
from wave_mlir.dialect import Expr, Facts, MemoryType, prove


@register_pass("wave-bounds", requires="lane", establishes="lane")
@dataclass(frozen=True)
class Bounds(Pass):
    """Mask each access that is not proven to stay inside its memory.

    An element is inside when each coordinate is at least 0 and below the extent. What is proven for every workgroup,
    wave, lane, trip and element costs nothing; the rest becomes a `wave.mask`, joined to the mask that is there.

    Before (M = 100):

        %v = wave.read %a index [wg.x * 64 + lane mod 16, 0] : !wave.memory<[M, K], f16, global> -> vector<4xf16>

    After:

        %m = wave.mask [wg.x * 64 + lane mod 16 lt 100] : vector<4xi1>
        %v = wave.read %a mask %m index [wg.x * 64 + lane mod 16, 0] : …

    An extent whose symbol the access uses with a value of its own (a set symbol of the same name) is not known there.
    It does not look at domains of dims that are no dims of the memory (wave-infer-layouts puts them into a mask).
    """

    def run(self, module: ir.Module) -> None:
        """Mask the accesses of every kernel of the module."""
        for view in module.body.operations:
            op = view.operation
            if op.name == "wave.kernel":
                masker = _Masker(KernelInfo.of(view))
                for access in accesses(op.regions[0].blocks[0]):
                    masker.mask(access)


class _Masker:
    def __init__(self, info: KernelInfo) -> None:
        self.info = info
        self.facts = LaneFacts(info)
        self._open: dict[tuple[Expr, Expr, int, Within], tuple[Expr, ...]] = {}

    def mask(self, op: ir.Operation) -> None:
        width, within = width_of(op), Within.of(op)
        conditions: list[Expr] = []
        bound = names_of(op)
        shape = [memory_extent(self.info, e, bound) for e in MemoryType(op.opview.memory.type).shape]
        for coordinate, extent in zip(index_of(op, self.info), shape, strict=True):
            if extent is not None:
                conditions += self._conditions(coordinate, extent, width, within)
        if not conditions:
            return
        predicate = conditions[0]
        for condition in conditions[1:]:
            predicate = Expr.and_(predicate, condition)
        with op.location, ir.InsertionPoint(op):
            mask = self._joined(op, predicate, width)
            new = with_parts(op, [Expr(e) for e in op.attributes["index"]], mask)
        for old, result in zip(op.results, new.results, strict=True):
            old.replace_all_uses_with(result)
        op.erase()

    def _joined(self, op: ir.Operation, predicate: Expr, width: int) -> ir.Value:
        given = op.opview.mask
        own = None if given is None else mask_expr(given)
        if own is not None and _agree(own, given.owner.operation, predicate, op):
            return make_mask(Expr.and_(own, predicate), width, given.owner.operation, op)
        return both(given, make_mask(predicate, width, op))

    def _conditions(self, coordinate: Expr, extent: Expr, width: int, within: Within) -> tuple[Expr, ...]:
        """Which of 0 <= coordinate and coordinate < extent are not proven."""
        key = (coordinate, extent, width, within)
        if key not in self._open:
            facts = self.facts.of(width, within)
            asked = [coordinate.ge(0)]
            if not _in_whole_tile(coordinate, extent, within, facts):
                asked.append(coordinate.lt(extent))
            self._open[key] = tuple(c.simplify(facts) for c in asked if not _holds(c, facts))
        return self._open[key]


def _agree(own: Expr, mask: ir.Operation, predicate: Expr, op: ir.Operation) -> bool:
    """Whether the symbols of the mask's predicate and of the access's mean the same where the two are joined."""
    values, others = (dict(zip(names_of(o), symbol_values_of(o), strict=True)) for o in (mask, op))
    same = {n for n in values if n in others and values[n] == others[n]}
    return all(n in same or n not in others for n in own.symbols) and all(
        n in same or n not in values for n in predicate.symbols
    )


def _in_whole_tile(coordinate: Expr, extent: Expr, within: Within, facts: Facts) -> bool:
    """Whether a coordinate is one of a tile that lies wholly inside of the dim, by the promise of a loop around."""
    for axis, tile in within.full:
        counter, size, part = Expr.symbol(f"iv.{axis}"), extent, 1
        if extent.kind == "floordiv" and extent.operands[1].constant_value:
            size, part = extent.operands[0], extent.operands[1].constant_value
        if size.name != axis or tile % part:
            continue
        inside = (coordinate - counter * (tile // part)).simplify(facts)
        if counter.name not in inside.symbols and _holds(inside.lt(tile // part), facts):
            return True
    return False


def _holds(condition: Expr, facts: Facts) -> bool:
    simple = condition.simplify(facts)
    if simple.constant_value is not None:
        return simple.constant_value != 0
    return prove(simple, facts) is True
