"""wave-fold-conditions: drops the comparisons, selects and masks that make no difference."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.lane_access import ACCESSES, with_parts
from wave_mlir.compiler.lane_conditions import Conditions, is_condition, operations
from wave_mlir.compiler.loop_slots import is_pure
from wave_mlir.compiler.pass_registry import Pass, register_pass
from wave_mlir.compiler.tile_ir import kernels
from wave_mlir.dialect import Expr


@register_pass("wave-fold-conditions", requires="lane", establishes="lane")
@dataclass(frozen=True)
class FoldConditions(Pass):
    """Replace each condition that always holds, or never, by that.

    A condition is a comparison of integers or a `wave.mask`. Integers are followed through arithmetic that cannot
    overflow and through vectors taken apart and put together; what is proven holds for every workgroup, wave, lane and
    element, for every trip that the loops around make, and for all sizes that constraints and loops (wave-peel-loops)
    let through. Selects by such a condition become one of their operands, masks that always hold go away, and so does
    what nothing uses any more.

    Before (keys of attention that are there, in a loop of whole tiles):

        %k = wave.apply_expr [iv.K2 * 64 + lane floordiv 32 * 4 + el] symbols(iv.K2 = %iv) : vector<4xi32>
        %e = arith.constant dense<256> : vector<4xi32>
        %c = arith.cmpi slt, %k, %e : vector<4xi32>
        %s = arith.select %c, %logits, %hidden : vector<4xi1>, vector<4xf32>

    After, where the loop makes 4 trips, `%logits` stands for `%s`.

    Comparisons of floats, and of values that come from memory, stay.
    """

    def run(self, module: ir.Module) -> None:
        """Fold in every kernel of the module."""
        for kernel in kernels(module):
            body = kernel.operation.regions[0].blocks[0]
            conditions = Conditions(KernelInfo.of(kernel))
            dropped: list[ir.Operation] = []
            changed = [_fold(op, conditions, dropped) for op in operations(body)]
            for op in dropped:  # not before: what is known goes by the value, and a new op may get an old one's place
                op.erase()
            if any(changed):
                _erase_unused(body)


def _fold(op: ir.Operation, conditions: Conditions, dropped: list[ir.Operation]) -> bool:
    """Fold one op; whether that changed anything. Adds to `dropped` the accesses that others replace."""
    if op.name == "arith.select" and is_condition(op.operands[0]):
        known = conditions.whole(op.operands[0])
        if known is not None:
            op.results[0].replace_all_uses_with(op.operands[1 if known else 2])
        return known is not None
    if op.name in ACCESSES:
        return _unmask(op, conditions, dropped)
    if op.name == "arith.constant" or len(op.results) != 1 or not is_condition(op.results[0]) or not is_pure(op):
        return False
    known = conditions.whole(op.results[0])
    if known is not None:
        op.results[0].replace_all_uses_with(_constant(op, known))
        return True
    return _shorten(op, conditions)


def _constant(op: ir.Operation, value: bool) -> ir.Value:
    kind = op.results[0].type
    attribute: ir.Attribute = ir.IntegerAttr.get(ir.IntegerType.get_signless(1), int(value))
    if isinstance(kind, ir.VectorType):
        attribute = ir.DenseElementsAttr.get_splat(kind, attribute)
    with op.location, ir.InsertionPoint(op):
        return arith.ConstantOp(kind, attribute).result


def _shorten(op: ir.Operation, conditions: Conditions) -> bool:
    """`x and true`, `x or false` are x."""
    if op.name not in ("arith.andi", "arith.ori"):
        return False
    neutral = op.name == "arith.andi"
    for one, other in (list(op.operands), list(op.operands)[::-1]):
        if conditions.whole(one) is neutral:
            op.results[0].replace_all_uses_with(other)
            return True
    return False


def _unmask(op: ir.Operation, conditions: Conditions, dropped: list[ir.Operation]) -> bool:
    """Drop the mask of an access that always holds."""
    mask = op.opview.mask
    if mask is None or conditions.whole(mask) is not True:
        return False
    with op.location, ir.InsertionPoint(op):
        new = with_parts(op, [Expr(e) for e in op.attributes["index"]], None)
    for old, result in zip(op.results, new.results, strict=True):
        old.replace_all_uses_with(result)
    dropped.append(op)
    return True


def _erase_unused(block: ir.Block) -> None:
    """Erase what only computes values that nothing uses, in a block and those in it."""
    for view in reversed(list(block.operations)):
        op = view.operation
        for region in op.regions:
            for inner in region.blocks:
                _erase_unused(inner)
        if is_pure(op) and op.results and all(next(iter(r.uses), None) is None for r in op.results):
            op.erase()
