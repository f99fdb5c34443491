"""Takes a program that says which waves make each access apart: a branch for those that compute, one for the others.

Each branch is the program without what only the other waves need. Barriers are in both, in loops of the same trips, so
that every wave comes to the same barriers; scheduling order within a loop stays.
"""

from __future__ import annotations

from collections.abc import Callable

from mlir import ir
from mlir.dialects import arith

from wave_mlir.dialect import wave as dialect

from .gpu_barrier import OUTSTANDING
from .lane_access import ONLY
from .service_waves import has_effect, is_assigned, is_computing, is_service, of_computing
from .slices import Slice, ends
from .stagger import SPECIALIZED
from .tile_ir import body_of, walk


def specialize(kernel: ir.OpView, priority: int) -> bool:
    """Take a kernel of lane form apart; whether it had anything to take apart.

    priority: of the waves that compute, 0 for that of the others.
    """
    if not is_assigned(kernel):
        return False
    branch = _moved_into_branch(kernel.operation)
    other = branch.clone().operation
    others = other.regions[0].blocks[0]
    computing = branch.regions[0].blocks[0]
    serving = branch.regions[1].blocks.append()
    for op in [view.operation for view in others.operations]:
        serving.append(op)
    other.erase()
    _keep(computing, is_computing)
    _keep(serving, is_service)
    for block in (computing, serving):
        for op in walk(block):
            if ONLY in op.attributes:
                del op.attributes[ONLY]
    _drop_waits(computing)
    if priority:
        with branch.location, ir.InsertionPoint.at_block_begin(computing):
            dialect.SetWavePrioOp(priority)
    return True


def _moved_into_branch(kernel: ir.Operation) -> ir.Operation:
    """A conditional around all of a kernel from its first access, loop or barrier on, for waves that compute."""
    ops = [view.operation for view in body_of(kernel).operations]
    first = next(n for n, op in enumerate(ops) if len(op.regions) or has_effect(op) or ONLY in op.attributes)
    attributes: dict[str, ir.Attribute] = {"condition": of_computing(), SPECIALIZED: ir.UnitAttr.get()}
    attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([0, 0, 0])
    with kernel.location, ir.InsertionPoint(ops[first]):
        branch = ir.Operation.create("wave.conditional", [], [], attributes, regions=2)
        block = branch.regions[0].blocks.append()
        for op in ops[first:-1]:
            block.append(op)
        with ir.InsertionPoint(block):
            ir.Operation.create("wave.yield", [], [])
    return branch


def _keep(block: ir.Block, belongs: Callable[[ir.Operation], bool]) -> None:
    """Erase what no effect that belongs here needs."""
    every = list(walk(block))
    kept = Slice(op for op in every if has_effect(op) and belongs(op))
    # Changing operands changes an op's hash, so what goes is listed before.
    gone = [op for op in every if op not in kept.ops and op.name != "wave.yield"]
    gone = [op for op in gone if op.block == block or op.parent.operation in kept.ops]
    forgotten = [op for op in every if op.name in ("wave.iterate", "wave.conditional") and op in kept.ops]
    needed = [[(op, n) in (kept.carried | kept.results) for n in range(len(op.results))] for op in forgotten]
    for op, wanted in zip(forgotten, needed, strict=True):
        _forget_results(op, wanted)
    for op in reversed(gone):
        op.erase()
    last = None
    for op in list(walk(block)):
        if op.name == last == "wave.scheduling_barrier":
            op.erase()
        else:
            last = op.name


def _forget_results(op: ir.Operation, wanted: list[bool]) -> None:
    """Let a loop or conditional give zeros for results that nobody needs, so that what makes them can go."""
    groups = [op.attributes["operandSegmentSizes"][n] for n in range(3)]
    first = groups[0] if op.name == "wave.iterate" else groups[0] + groups[1]
    given = groups[1] if op.name == "wave.iterate" else groups[2]
    for number, result in enumerate(op.results):
        if wanted[number]:
            continue
        if given:
            with op.location, ir.InsertionPoint(op):
                op.operands[first + number] = _zero(result.type)
        for end in ends(op):
            if op.name == "wave.iterate":
                body = op.regions[0].blocks[0]
                value = body.arguments[len(body.arguments) - len(op.results) + number]
            else:
                with op.location, ir.InsertionPoint(end):
                    value = _zero(result.type)
            end.operands[len(end.operands) - len(op.results) + number] = value


def _zero(kind: ir.Type) -> ir.Value:
    """A value for what nobody reads."""
    scalar = kind.element_type if isinstance(kind, ir.VectorType) else kind
    number = ir.FloatAttr.get(scalar, 0.0) if isinstance(scalar, ir.FloatType) else ir.IntegerAttr.get(scalar, 0)
    value = ir.DenseElementsAttr.get_splat(kind, number) if isinstance(kind, ir.VectorType) else number
    return arith.ConstantOp(kind, value).result


def _drop_waits(block: ir.Block) -> None:
    """Barriers of waves that copy nothing wait for no copies of theirs."""
    for op in walk(block):
        for name in ("wait_async", OUTSTANDING):
            if name in op.attributes:
                del op.attributes[name]
