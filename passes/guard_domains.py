"""wave-guard-domains."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir
from wave_mlir.compiler.access_index import domain, make_mask
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.layout_spec import of_layout
from wave_mlir.compiler.mma_shape import scales, shape_of
from wave_mlir.compiler.neutral import GUARD, Number, Outside
from wave_mlir.compiler.pass_registry import ModuleOp, Pass, register_pass
from wave_mlir.compiler.tile_ir import body_of, bound_values, kernels, walk, with_symbols
from wave_mlir.compiler.value_parts import ValueParts
from wave_mlir.dialect import Expr, TileType


@register_pass("wave-guard-domains", requires="placed")
@dataclass(frozen=True)
class GuardDomains(Pass):
    """Keep what lies outside a dim's domain out of reductions, scans and MMAs.

    Before and after (K = 100 in tiles of 32, %x not read but computed):

        %z = wave.mma %x, %y, %acc symbols(iv.K = %k) : …

        %m = wave.mask [iv.K * 32 + at.K lt 100] symbols(iv.K = %k) : !wave.tile<[M, K], i1, #lhs>
        %0 = wave.register 0.0 : !wave.tile<[M, K], f16, #lhs>
        %s = wave.select %m, %x, %0 {wave.guards = ["K"]} : …
        %z = wave.mma %s, %y, %acc : …

    Registers hold anything where a tile reaches beyond the real extent of a dim, where an MMA tile is larger than the
    workgroup's, or where the layout clips. Before a reduction or scan along such a dim, and before both operands of an
    MMA that contracts it, the value becomes the operation's identity there, in its own type: 0 for sums and MMAs,
    -inf (the least integer) for max, +inf (the greatest) for min. Nothing is inserted where no place is outside, or
    where the value is proven to be the identity there: reads give 0 outside of memory. Both operands of an MMA count:
    0 on one side does not help when the other is an infinity or NaN that was left there, since 0 * NaN is NaN. Rows and
    columns outside need no select: they only reach results outside, which writes drop.

    The result of `wave.extract_slice` is its operand in a smaller domain, a condition over `at.*`: its elements keep
    their coordinates. What is computed from it has that domain; combining operations are guarded as above, writes and
    atomics get a mask, and the op goes away.

    Requires placed form and keeps it. The symbols of these ops, which say where their domain ends, are dropped,
    but those of topk, whose results are positions.
    """

    def run(self, module: ModuleOp) -> None:
        """Guard the reductions and MMAs of every kernel."""
        for kernel in kernels(module):
            info = KernelInfo.of(kernel)
            parts = ValueParts(info)
            parts.find()
            guard = _Guard(info, parts)
            for op in list(walk(body_of(kernel))):
                guard.visit(op)
            parts.finish()


class _Guard:
    def __init__(self, info: KernelInfo, parts: ValueParts) -> None:
        self.info = info
        self.parts = parts
        self.outside = Outside(info)
        self._done: dict[tuple, ir.Value] = {}

    def visit(self, op: ir.Operation) -> None:
        """Guard the operands of an op that combines elements."""
        name = op.name
        if name in ("wave.mma", "wave.scaled_mma"):
            dims = shape_of(op, self.info).contracted
            numbers = (0, 2) if name == "wave.scaled_mma" else (0, 1)
            part = [e for number in numbers for e in self.parts.along(op.operands[number], dims)]
            for number in numbers:
                self._guard(op, number, dims, 0, part)
            if name == "wave.scaled_mma":
                self._scales(op)
        elif name == "wave.reduce":
            kind = str(op.attributes["kind"])
            which = next(k for k in ("sum", "max", "min") if k in kind)
            self._guard(op, 0, (op.attributes["dim"].value,), which)
        elif name == "wave.cumsum":
            self._guard(op, 0, (op.attributes["dim"].value,), 0)
        elif name == "wave.topk":
            self._guard(op, 0, (op.attributes["dim"].value,), "max")
        else:
            return
        if bound_values(op) and name != "wave.topk":  # which says where its elements are
            with_symbols(op, {})

    def _scales(self, op: ir.Operation) -> None:
        """Outside of K a scale must not be NaN (0xFF): 0 elements times any finite scale are 0."""
        for number, value in zip((1, 3), scales(op), strict=True):
            own = {*op.operands[0].type.dims, *op.operands[2].type.dims}
            dims = tuple(d for d in value.type.dims if d not in own)
            self._guard(op, number, dims, 0)

    def _guard(
        self,
        op: ir.Operation,
        number: int,
        dims: tuple[str, ...],
        identity: Number | str,
        part: Sequence[Expr] | None = None,
    ) -> None:
        """`part`: conditions on the elements that count, where they are not those of the operand alone."""
        value = op.operands[number]
        values = bound_values(op)
        type = value.type
        spec = of_layout(type.layout)
        neutral = _identity(identity, type.element_type)
        conditions = list(dict.fromkeys(self.parts.along(value, dims) if part is None else part))
        guarded: list[str] = []
        for dim in dims:
            needed = domain(self.info, [dim], list(values))
            if spec.overshoots(dim):
                needed += self._inside_tile(spec, dim)
            if needed and self.outside.value(value, dim) != neutral:
                conditions += needed
                guarded.append(dim)
        if not conditions:
            return
        key = (value, str(neutral), tuple(conditions), op.block)
        if key not in self._done:
            self._done[key] = self._select(op, value, values, conditions, guarded, neutral)
        op.operands[number] = self._done[key]

    def _inside_tile(self, spec, dim: str) -> list[Expr]:
        """Conditions for a place to have an element: inside the tile, and inside the wave's part of it."""
        at = Expr.symbol(f"at.{dim}")
        clip = dict(spec.clip).get(dim)
        conditions = [at.lt(self.info.tile_extent(dim))]
        axis = self.info.wave_axis(dim)
        if clip is not None and axis is not None:
            start = Expr.symbol(f"wave.{'xyz'[axis]}") % self.info.waves_of(dim) * self.info.wave_extent(dim)
            conditions.append((at - start).lt(clip))
        return conditions

    def _select(
        self,
        op: ir.Operation,
        value: ir.Value,
        values: dict[str, ir.Value],
        conditions: list[Expr],
        guarded: list[str],
        neutral: Number,
    ) -> ir.Value:
        type: TileType = value.type
        predicate = conditions[0] if len(conditions) == 1 else Expr.and_(*conditions)
        mask_type = TileType.get(list(type.dims), ir.IntegerType.get_signless(1), type.layout)
        mask = make_mask(op, predicate, values, mask_type)
        with ir.InsertionPoint(op), op.location:
            other = ir.Operation.create(
                "wave.register", [type], [], {"value": _literal(neutral, type.element_type)}, loc=op.location
            )
            dims = ir.ArrayAttr.get([ir.StringAttr.get(d) for d in guarded])
            guards = {GUARD: dims} if guarded else {}
            select = ir.Operation.create(
                "wave.select", [type], [mask, value, other.results[0]], guards, loc=op.location
            )
        return select.results[0]


def _identity(which: Number | str, element: ir.Type) -> Number:
    if which in (0, "sum"):
        return 0
    least = which == "max"
    if isinstance(element, ir.IntegerType):
        bits = element.width
        return -(1 << (bits - 1)) if least else (1 << (bits - 1)) - 1
    if isinstance(element, ir.IndexType):
        return -(1 << 63) if least else (1 << 63) - 1
    greatest = _FINITE_MAX.get(str(element), math.inf)
    return -greatest if least else greatest


# The greatest value of the float types without infinities.
_FINITE_MAX = {
    "f8E4M3FN": 448.0, "f8E4M3FNUZ": 240.0, "f8E5M2FNUZ": 57344.0, "f6E2M3FN": 7.5, "f6E3M2FN": 28.0, "f4E2M1FN": 6.0,
}  # fmt: skip


def _literal(number: Number, element: ir.Type) -> ir.Attribute:
    """A literal as `wave.register` holds it."""
    if isinstance(element, ir.FloatType):
        return ir.FloatAttr.get(element, float(number))
    return ir.IntegerAttr.get(element, int(number))
