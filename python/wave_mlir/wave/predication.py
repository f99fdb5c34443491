"""Conditionals that lanes decide, each for its own elements: the body runs everywhere, and stores where it holds.

A branch is of whole waves, or of single lanes with one element each. A condition over a tile of more, or on the lane's
number, becomes a mask of the writes and atomics in the body, and a select of its results. So only bodies whose other
operations may run anywhere are taken apart: no while loops, no barriers, no quotients of integers.
"""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from wave_mlir.compiler.tile_ir import ELEMENTWISE, bound_values, segments, with_symbols
from wave_mlir.dialect import TileType
from wave_mlir.dialect import wave as ops

from .elementwise import broadcast_to
from .trace import Trace
from .values import Value

_ANYWHERE = ELEMENTWISE | {
    "wave.read", "wave.register", "wave.scalar", "wave.compare", "wave.select", "wave.cast", "wave.bitcast",
    "wave.broadcast", "wave.permute", "wave.self_index", "wave.apply_expr", "wave.set_symbol", "wave.yield",
}  # fmt: skip
_STORES = ("wave.write", "wave.atomic")
_MASK_GROUP = 2
"""Position of the mask among the operand groups of both."""
_INTEGER_QUOTIENTS = ("wave.div", "wave.mod", "wave.rem")


def can_run_anywhere(block: ir.Block, condition: Value) -> bool:
    """Whether the ops of a body may run where the condition does not hold, stores apart."""
    return all(_allowed(view.operation, condition) for view in block.operations)


def _allowed(op: ir.Operation, condition: Value) -> bool:
    if op.name in _STORES:
        return set(condition.dims) <= set(TileType(op.operands[0].type).dims) and not segments(op)[_MASK_GROUP]
    if op.name == "wave.iterate":
        counted = "condition" not in op.attributes
        return counted and all(can_run_anywhere(b, condition) for region in op.regions for b in region)
    if op.name in _INTEGER_QUOTIENTS:
        return not isinstance(TileType(op.results[0].type).element_type, (ir.IntegerType, ir.IndexType))
    return op.name in _ANYWHERE


def take_apart(
    trace: Trace, conditional: ir.Operation, condition: Value, results: Sequence[Value], others: Sequence[Value]
) -> list[Value]:
    """The body's ops in the place of the conditional; `results` of the body where it holds, elsewhere `others`."""
    body = conditional.regions[0].blocks[0]
    for view in list(body.operations):
        op = view.operation
        if op.name == "wave.yield":
            op.erase()
            continue
        op.move_before(conditional)
        _mask_stores(trace, op, condition)
    conditional.erase()
    chosen = []
    for result, other in zip(results, others, strict=True):
        mask = broadcast_to(condition, result.dims)
        made = ops.SelectOp(mask.ir, result.ir, other.ir).result
        chosen.append(trace.value(made, result.dims, result.dtype))
    return chosen


def _mask_stores(trace: Trace, op: ir.Operation, condition: Value) -> None:
    for region in op.regions:
        for block in region:
            for view in list(block.operations):
                _mask_stores(trace, view.operation, condition)
    if op.name in _STORES:
        with ir.InsertionPoint(op), op.location:
            mask = broadcast_to(condition, TileType(op.operands[0].type).dims)
        with_symbols(op, bound_values(op), {}, {_MASK_GROUP: [mask.ir]})
