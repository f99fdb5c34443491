"""Lane-form computation and regions to gpu form."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, rocdl, scf, vector

from wave_mlir.dialect import Expr

from .diagnostics import PassError
from .gpu_access import as_index, index_operands
from .gpu_function import GpuFunction
from .kernel_info import MAX_SYMBOL
from .lane_access import ACCESSES, BUFFER_ACCESSES
from .loop_slots import STEADY
from .mma_shape import TRANSPOSED
from .stagger import SPECIALIZED, STAGGER
from .targets import MmaKind, TargetError
from .tile_ir import bound_names

_I32 = 32


def lower_mma(function: GpuFunction, op: ir.Operation) -> None:
    """wave.mma → the instructions of its kind, chained when the kind has several."""
    view = op.opview
    if "kind" not in op.attributes:
        raise PassError(op, "the MMA names no kind; run wave-expand, which chooses it")
    try:
        kind = function.info.target.mma(op.attributes["kind"].value)
    except TargetError as e:
        raise PassError(op, str(e)) from e
    with op.location, ir.InsertionPoint(op):
        acc = view.acc
        for part in range(kind.instruction.count):
            lhs = _part(view.lhs, part, kind.instruction.count)
            rhs = _part(view.rhs, part, kind.instruction.count)
            operands = (rhs, lhs) if TRANSPOSED in op.attributes else (lhs, rhs)
            acc = _instruction(op, kind, *operands, acc)
    op.results[0].replace_all_uses_with(acc)
    op.erase()


def _part(value: ir.Value, part: int, count: int) -> ir.Value:
    """The operand of instruction `part` of `count`: a slice, or a scalar where the hardware takes one element."""
    if not isinstance(value.type, ir.VectorType):
        return value
    size = value.type.shape[0] // count
    if size == 1:
        return vector.ExtractOp(value, [], [part]).result
    if count == 1:
        return value
    kind = ir.VectorType.get([size], value.type.element_type)
    return vector.ExtractStridedSliceOp(kind, value, [part * size], [size], [1]).result


def _instruction(op: ir.Operation, kind: MmaKind, lhs: ir.Value, rhs: ir.Value, acc: ir.Value) -> ir.Value:
    instruction = kind.instruction
    i32 = ir.IntegerType.get_signless(_I32)
    attributes = {n: ir.IntegerAttr.get(i32, getattr(instruction, n)) for n in ("m", "n", "k")}
    if instruction.op == "amdgpu.mfma":
        attributes |= {n: ir.IntegerAttr.get(i32, v) for n, v in (("blocks", 1), ("cbsz", 0), ("abid", 0))}
        attributes["blgp"] = ir.Attribute.parse("#amdgpu<mfma_perm_b none>")
    elif instruction.op != "amdgpu.wmma":
        raise PassError(op, f"{kind.name} is emitted as {instruction.op}, which needs scales; use wave.scaled_mma")
    for name, text in instruction.attributes:
        attributes[name] = ir.Attribute.parse(text)
    return ir.Operation.create(instruction.op, [acc.type], [lhs, rhs, acc], attributes).results[0]


def lower_scaled_mma(function: GpuFunction, op: ir.Operation) -> None:
    """wave.scaled_mma → amdgpu.scaled_mfma; the scale of a lane is the first byte of its register."""
    view = op.opview
    if "kind" not in op.attributes:
        raise PassError(op, "the MMA names no kind; run wave-expand, which chooses it")
    try:
        kind = function.info.target.mma(op.attributes["kind"].value)
    except TargetError as e:
        raise PassError(op, str(e)) from e
    i32 = ir.IntegerType.get_signless(_I32)
    attributes = {n: ir.IntegerAttr.get(i32, getattr(kind.instruction, n)) for n in ("m", "n", "k")}
    attributes |= {n: ir.IntegerAttr.get(i32, 0) for n in ("scalesIdxA", "scalesIdxB")}
    with op.location, ir.InsertionPoint(op):
        scales = [_scalar(view.lhs_scale), _scalar(view.rhs_scale)]
        value = ir.Operation.create("amdgpu.scaled_mfma", [view.acc.type],
                                    [view.lhs, view.rhs, view.acc, *scales], attributes).results[0]  # fmt: skip
    op.results[0].replace_all_uses_with(value)
    op.erase()


def _scalar(value: ir.Value) -> ir.Value:
    return vector.ExtractOp(value, [], [0]).result if isinstance(value.type, ir.VectorType) else value


# --- expressions as values -----------------------------------------------------------------------
def lower_expr_value(function: GpuFunction, op: ir.Operation) -> None:
    """wave.apply_expr and wave.scalar: one value, or a vector computed element by element."""
    value = _expr_value(function, op)
    op.results[0].replace_all_uses_with(value)
    op.erase()


def lower_mask_value(function: GpuFunction, op: ir.Operation) -> None:
    """wave.mask used as a value. Accesses look through a mask, to its predicate: they keep it, and it stays."""
    others = [use for use in op.results[0].uses if use.owner.operation.name not in ACCESSES + BUFFER_ACCESSES]
    if not others:
        return
    value = _expr_value(function, op)
    for use in others:
        use.owner.operation.operands[use.operand_number] = value


def _expr_value(function: GpuFunction, op: ir.Operation) -> ir.Value:
    kind = op.results[0].type
    element = kind.element_type if isinstance(kind, ir.VectorType) else kind
    count = kind.shape[0] if isinstance(kind, ir.VectorType) else 1
    expr = function.info.resolve(op.opview.expr, bound_names(op))
    emitter = function.emitter
    emit = emitter.emit_truth if element == ir.IntegerType.get_signless(1) else emitter.emit_number
    with op.location, ir.InsertionPoint(op):
        values = []
        for number in range(count):
            operands = {name: _element(value, number) for name, value in _raw_operands(op).items()}
            one = expr.subs({"el": number}).simplify(function.info.facts) if "el" in expr.symbols else expr
            values.append(_converted(emit(one, op, operands), element))
        return vector.FromElementsOp(kind, values).result if isinstance(kind, ir.VectorType) else values[0]


def _raw_operands(op: ir.Operation) -> dict[str, ir.Value]:
    if "symbol_names" not in op.attributes:
        return {}
    names = [a.value for a in ir.ArrayAttr(op.attributes["symbol_names"])]
    return dict(zip(names, op.opview.symbol_values, strict=True))


def _element(value: ir.Value, number: int) -> ir.Value:
    """Element `number` of a vector (of a one-element vector or a scalar: the one there is) as index."""
    if isinstance(value.type, ir.VectorType):
        value = vector.ExtractOp(value, [], [number if value.type.shape[0] > 1 else 0]).result
    return as_index(value)


def _converted(value: ir.Value, element: ir.Type) -> ir.Value:
    if value.type == element:
        return value
    if isinstance(element, ir.FloatType):
        i64 = ir.IntegerType.get_signless(64)
        return arith.SIToFPOp(element, arith.IndexCastOp(i64, value).result).result
    return arith.IndexCastOp(element, value).result


# --- regions -------------------------------------------------------------------------------------
def open_loop(function: GpuFunction, op: ir.Operation) -> tuple[ir.Operation, ir.Block]:
    """wave.iterate → scf.for with the body moved in; `iv.<axis>` is bound in a new scope of the emitter.

    The caller lowers the body, then calls `close_region`.
    """
    view = op.opview
    axis = op.attributes["axis"].value
    if "condition" in op.attributes:
        return open_while(function, op)
    if "trips" not in op.attributes:
        raise PassError(op, "the loop has no trip count; run wave-bind-symbols before wave-to-gpu")
    body = op.regions[0].blocks[0]
    with op.location, ir.InsertionPoint(op):
        trips = function.info.resolve(op.opview.trips, bound_names(op))
        bound = function.emitter.emit_number(trips, op, index_operands(op))
        kind = _counter_type(function, op, trips)
        if kind != bound.type:
            bound = arith.IndexCastOp(kind, bound).result
        zero, one = (arith.ConstantOp(kind, n).result for n in (0, 1))
        loop = scf.ForOp(zero, bound, one, list(view.init_args))
    inner = loop.body
    counter = loop.induction_variable
    if kind != ir.IndexType.get():
        with op.location, ir.InsertionPoint(inner):
            counter = arith.IndexCastUIOp(ir.IndexType.get(), counter).result
    arguments = list(body.arguments)
    targets = [*([counter] if "has_iv" in op.attributes else []), *list(inner.arguments)[1:]]
    for old, new in zip(arguments, targets, strict=True):
        old.replace_all_uses_with(new)
    for child in list(body.operations):
        inner.append(child)
    for old, new in zip(op.results, loop.results, strict=True):
        old.replace_all_uses_with(new)
    op.erase()
    function.emitter.enter(inner, loop.operation)
    function.emitter.bind(f"iv.{axis}", counter)
    return loop.operation, inner


def _counter_type(function: GpuFunction, op: ir.Operation, trips: Expr) -> ir.Type:
    """i32 for a steady loop whose trips it surely counts, which saves the carry of a 64-bit sum; else index."""
    most = trips.range(function.info.facts_for(bound_names(op)))[1]
    small = STEADY in op.attributes and most is not None and most <= MAX_SYMBOL
    return ir.IntegerType.get_signless(_I32) if small else ir.IndexType.get()


def open_while(function: GpuFunction, op: ir.Operation) -> tuple[ir.Operation, ir.Block]:
    """wave.iterate with a condition → scf.while, the axis its first carried value; the body is moved in.

    The caller lowers the body, then leaves the emitter's scope.
    """
    view = op.opview
    axis = op.attributes["axis"].value
    with op.location, ir.InsertionPoint(op):
        operands = index_operands(op)  # before the loop
        start = as_index(view.start)
        inits = [start, *view.init_args]
        types = [v.type for v in inits]
        loop = scf.WhileOp(types, inits)
    before, after = (region.blocks.append(*types, arg_locs=[op.location] * len(types)) for region in loop.regions)
    _while_condition(function, op, loop.operation, before, {**operands, axis: before.arguments[0]})
    for old, new in zip(op.regions[0].blocks[0].arguments, after.arguments, strict=True):
        old.replace_all_uses_with(new)
    for child in list(op.regions[0].blocks[0].operations):
        after.append(child)
    for old, new in zip(op.results, list(loop.results)[1:], strict=True):
        old.replace_all_uses_with(new)
    op.erase()
    function.emitter.enter(after, loop.operation)
    function.emitter.bind(f"iv.{axis}", after.arguments[0])
    return loop.operation, after


def _while_condition(
    function: GpuFunction, op: ir.Operation, loop: ir.Operation, before: ir.Block, operands: dict[str, ir.Value]
) -> None:
    with op.location, ir.InsertionPoint(before):
        unknown = arith.ConstantOp(ir.IntegerType.get_signless(1), 0).result
        end = scf.ConditionOp(unknown, list(before.arguments))
    expr = function.info.resolve(op.opview.condition, list(operands))
    function.emitter.enter(before, loop)
    with op.location:
        value = function.emitter.emit_truth(expr, end.operation, operands)
    function.emitter.leave()
    end.operation.operands[0] = value
    unknown.owner.erase()


def open_conditional(function: GpuFunction, op: ir.Operation) -> tuple[ir.Operation, list[ir.Block]]:
    """wave.conditional → scf.if with the bodies moved in; the caller lowers them."""
    view = op.opview
    types = [r.type for r in op.results]
    with op.location, ir.InsertionPoint(op):
        if "condition" in op.attributes:
            expr = function.info.resolve(view.condition, bound_names(op))
            condition = function.emitter.emit_truth(expr, op, index_operands(op))
        else:
            condition = _scalar(view.condition_value)
            if condition.type != ir.IntegerType.get_signless(1):
                zero = arith.ConstantOp(condition.type, 0).result
                condition = arith.CmpIOp(arith.CmpIPredicate.ne, condition, zero).result
        if STAGGER in op.attributes or SPECIALIZED in op.attributes:
            condition = _of_the_wave(condition)
        else_region = len(op.regions[1].blocks) > 0
        branch = scf.IfOp(condition, types, has_else=else_region or bool(types))
        if types and not else_region:
            with ir.InsertionPoint(branch.else_block):
                scf.YieldOp(list(view.else_values))
    blocks = [branch.then_block] + ([branch.else_block] if else_region else [])
    for block, region in zip(blocks, op.regions, strict=False):
        for child in list(region.blocks[0].operations):
            block.append(child)
    for old, new in zip(op.results, branch.results, strict=True):
        old.replace_all_uses_with(new)
    op.erase()
    return branch.operation, blocks


def _of_the_wave(condition: ir.Value) -> ir.Value:
    """A condition on which the lanes of a wave agree, as LLVM sees too: a branch that skips a barrier."""
    i32 = ir.IntegerType.get_signless(32)
    first = rocdl.ReadfirstlaneOp(i32, arith.ExtUIOp(i32, condition).result).result
    return arith.CmpIOp(arith.CmpIPredicate.ne, first, arith.ConstantOp(i32, 0).result).result


def lower_yield(op: ir.Operation) -> None:
    """wave.yield → scf.yield."""
    with op.location, ir.InsertionPoint(op):
        scf.YieldOp(list(op.operands))
    op.erase()
