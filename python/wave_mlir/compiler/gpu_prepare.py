"""Code generation, first step: make gpu form acceptable to upstream's conversion passes.

Upstream's bare-pointer calling convention wants memrefs of static shape, so a `memref<?xT>` argument becomes a
`memref<1xT>` that is cast back inside, to the number of elements the ABI attributes give (buffer descriptors need it).
`gpu.subgroup_id` is written out, and what has no machine code is refused here, where there is a location.
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, gpu
from mlir.dialects.builtin import ModuleOp

from . import abi, array_strides, exprtext, lds_atomics, targets
from .diagnostics import PassError

# Elementary functions the machine has an instruction or LLVM an exact expansion for, by element type; all of f32 serve
# bf16 too, which is computed in f32. wave-expand-math has written out the others before, as far as it can.
_ANY = frozenset({"absf", "ceil", "floor", "round", "roundeven", "trunc", "copysign", "fma", "sqrt", "rsqrt", "clampf"})
_F32 = _ANY | {"exp", "exp2", "log", "log2", "log10", "sin", "cos", "isfinite", "isinf", "isnan", "isnormal"}
_MATH = {"f32": _F32, "f16": _F32, "bf16": _F32, "f64": _ANY | {"isfinite", "isinf", "isnan", "isnormal"}}
_INTEGER_MATH = frozenset({"absi", "ctlz", "cttz", "ctpop"})


# Ops of the machine's own dialects that are known to compile for every target. Others may make LLVM end the process.
_TRUSTED = frozenset(
    f"rocdl.{name}"
    for name in (
        "sched.barrier", "sched.group.barrier", "ds_bpermute", "s.setprio", "make.buffer.rsrc",
        "raw.ptr.buffer.load", "raw.ptr.buffer.store", "raw.ptr.buffer.load.lds",
        "s.waitcnt", "s.barrier", "readfirstlane",
    )
) | frozenset({"llvm.fence", "llvm.inttoptr", "llvm.getelementptr", "llvm.load", "llvm.store"})  # fmt: skip


def target_of(module: ir.Module | ModuleOp, wanted: str = "") -> targets.Target:
    """The table of target `wanted`, or of the module's `wave.target`. Raises PassError when there is none."""
    attributes = module.operation.attributes
    if not wanted and "wave.target" not in attributes:
        names = ", ".join(targets.names())
        raise PassError(module.operation, f"no target: set wave.target on the module, or give one of {names}")
    try:
        return targets.get(wanted or ir.StringAttr(attributes["wave.target"]).value)
    except targets.TargetError as error:
        raise PassError(module.operation, str(error)) from None


def is_trusted(module: ModuleOp) -> bool:
    """Whether the module holds only ops that are known not to make LLVM end the process."""
    names: set[str] = set()

    def visit(op) -> ir.WalkResult:
        names.add(op.operation.name)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return not any(n.startswith(("rocdl.", "llvm.")) and n not in _TRUSTED for n in names)


def prepare(module: ModuleOp, target: targets.Target) -> None:
    """Rewrite `module` (gpu form) in place. Raises PassError."""
    functions = abi.kernel_functions(module)
    if not functions:
        raise PassError(module.operation, "no gpu.func with 'kernel' to generate code for")
    for function in functions:
        try:
            kernel = abi.read_abi(function)
        except abi.AbiError as error:
            raise PassError(function, error.message) from None
        _check_limits(function, kernel, target)
        _rewrite_body(function, kernel, target)
        _retype_memories(function, kernel)


def _check_limits(function: ir.Operation, kernel: abi.KernelABI, target: targets.Target) -> None:
    if kernel.threads > target.max_threads_per_workgroup:
        block = " x ".join(map(str, kernel.block))
        raise PassError(
            function,
            f"kernel '{kernel.name}': a block of {block} = {kernel.threads} threads; "
            f"{target.name} allows {target.max_threads_per_workgroup}",
        )
    if kernel.lds_bytes > target.lds_bytes:
        raise PassError(
            function,
            f"kernel '{kernel.name}' needs {kernel.lds_bytes} bytes of LDS; {target.name} has {target.lds_bytes} "
            "for a workgroup; use smaller tiles or fewer buffers",
        )


def _rewrite_body(function: ir.Operation, kernel: abi.KernelABI, target: targets.Target) -> None:
    """One walk: refuse what has no machine code, rewrite what upstream does not."""
    subgroup_ids: list[ir.Operation] = []
    atomics: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        name = op.name
        if name.startswith("math."):
            _check_math(op, target)
        elif name == "gpu.subgroup_id":
            subgroup_ids.append(op)
        elif name == "memref.atomic_rmw" and lds_atomics.needs_loop(op):
            atomics.append(op)
        elif name in ("gpu.printf", "func.call"):
            raise PassError(op, f"'{name}' cannot be compiled: no device library is linked")
        return ir.WalkResult.ADVANCE

    _walk(function, visit)
    for op in subgroup_ids:
        _expand_subgroup_id(op, kernel, target)
    for op in atomics:
        lds_atomics.expand(op)


def _walk(root: ir.Operation, visit) -> None:
    """`Operation.walk` that keeps the type of an exception raised by `visit`."""
    failure: list[PassError] = []

    def guarded(op) -> ir.WalkResult:
        try:
            return visit(op.operation)
        except PassError as error:
            failure.append(error)
            return ir.WalkResult.INTERRUPT

    root.walk(guarded, ir.WalkOrder.PRE_ORDER)
    if failure:
        raise failure[0]


def _check_math(op: ir.Operation, target: targets.Target) -> None:
    function = op.name.removeprefix("math.")
    kind = op.operands[0].type
    element = str(kind.element_type) if isinstance(kind, ir.ShapedType) else str(kind)
    if function in _INTEGER_MATH or function in _MATH.get(element, ()):
        return
    raise PassError(
        op,
        f"'{op.name}' on {element} has no instruction on {target.name} and no device library is linked; "
        "write it with functions that have one (on f32: exp, exp2, log, log2, sin, cos, sqrt, ...)",
    )


def _expand_subgroup_id(op: ir.Operation, kernel: abi.KernelABI, target: targets.Target) -> None:
    """Number of the wave in its workgroup: the linear thread id divided by the wave size."""
    x, y, _ = kernel.block
    with ir.InsertionPoint(op), op.location:
        ids = {d: gpu.thread_id(getattr(gpu.Dimension, d)) for d in "xyz"}
        rows = arith.addi(ids["y"], arith.muli(ids["z"], _index(y)))
        linear = arith.addi(ids["x"], arith.muli(rows, _index(x)))
        number = arith.divui(linear, _index(target.wave_size))
    op.results[0].replace_all_uses_with(number)
    op.erase()


def _index(value: int) -> ir.Value:
    return arith.constant(ir.IndexType.get(), value)


def _retype_memories(function: ir.Operation, kernel: abi.KernelABI) -> None:
    """`memref<?xT, space>` arguments -> `memref<1xT, space>` and a cast back in the body."""
    block = function.regions[0].blocks[0]
    signature = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    inputs = list(signature.inputs)
    symbols: dict[str, ir.Value] = {}
    with ir.InsertionPoint.at_block_begin(block), function.location:
        for position, arg in enumerate(kernel.args):
            if arg.kind == "memory":
                dynamic = ir.MemRefType(inputs[position])
                if dynamic.has_static_shape:
                    continue
                if dynamic.rank != 1:
                    raise PassError(function, f"memory '{arg.name}' must be a one-dimensional memref, not {dynamic}")
                inputs[position] = ir.MemRefType.get([1], dynamic.element_type, None, dynamic.memory_space)
                value = block.arguments[position]
                value.set_type(inputs[position])
                _cast_back(value, dynamic, _element_count(kernel, arg, block, symbols))
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, list(signature.results)))


def _cast_back(value: ir.Value, dynamic: ir.MemRefType, count: ir.Value) -> None:
    kept = ir.Operation.create(
        "memref.reinterpret_cast",
        results=[dynamic],
        operands=[value, count],
        attributes={
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0, 1, 0]),
            "static_offsets": ir.DenseI64ArrayAttr.get([0]),
            "static_sizes": ir.DenseI64ArrayAttr.get([ir.ShapedType.get_dynamic_size()]),
            "static_strides": ir.DenseI64ArrayAttr.get([1]),
        },
    )
    value.replace_all_uses_except(kept.results[0], kept)


def _element_count(
    kernel: abi.KernelABI, arg: abi.KernelArg, block: ir.Block, symbols: dict[str, ir.Value]
) -> ir.Value:
    """Elements the memory spans, as an index value: see `abi.KernelArg.element_count`."""
    given = {
        a.dim: block.arguments[i] for i, a in enumerate(kernel.args) if a.kind == "stride" and a.memory == arg.name
    }
    emitter = _Emitter(kernel, block, symbols)
    extents = [emitter.emit(exprtext.parse(e)) for e in arg.shape]
    if not arg.strides:
        total = _index(1)
        for extent in extents:
            total = arith.muli(total, extent)
        return total
    total, dense, one = _index(1), _index(1), _index(1)
    for dim in reversed(range(len(extents))):
        stride = dense
        if dim in given:
            stride = given[dim]
            if not isinstance(stride.type, ir.IndexType):
                stride = arith.index_cast(ir.IndexType.get(), stride)
        elif arg.strides[dim] != array_strides.RUN_TIME:
            stride = emitter.emit(exprtext.parse(arg.strides[dim]))
        total = arith.addi(total, arith.muli(arith.subi(extents[dim], one), stride))
        dense = arith.muli(stride, extents[dim])
    return total


class _Emitter:
    """Emits an expression over symbols as arith ops on `index`."""

    def __init__(self, kernel: abi.KernelABI, block: ir.Block, symbols: dict[str, ir.Value]):
        self.kernel = kernel
        self.block = block
        self.symbols = symbols

    def emit(self, node: exprtext.Node) -> ir.Value:
        if isinstance(node, int):
            return _index(node)
        if isinstance(node, str):
            return self._symbol(node)
        operator, *operands = node
        values = [self.emit(o) for o in operands]
        if operator in ("min", "max"):
            pick = arith.minsi if operator == "min" else arith.maxsi
            result = values[0]
            for value in values[1:]:
                result = pick(result, value)
            return result
        return _EMIT[operator](*values)

    def _symbol(self, name: str) -> ir.Value:
        if name in self.kernel.symbols:
            return _index(self.kernel.symbols[name])
        if name not in self.symbols:
            for position, arg in enumerate(self.kernel.args):
                if arg.kind == "symbol" and arg.name == name:
                    self.symbols[name] = arith.index_cast(ir.IndexType.get(), self.block.arguments[position])
                    return self.symbols[name]
            raise PassError(
                self.block.owner,
                f"kernel '{self.kernel.name}': a shape names '{name}', which is no symbol of it",
            )
        return self.symbols[name]


def _compare(predicate: arith.CmpIPredicate):
    def emit(a: ir.Value, b: ir.Value) -> ir.Value:
        return arith.index_castui(ir.IndexType.get(), arith.cmpi(predicate, a, b))

    return emit


def _truth(value: ir.Value) -> ir.Value:
    return arith.cmpi(arith.CmpIPredicate.ne, value, _index(0))


def _floor_mod(a: ir.Value, b: ir.Value) -> ir.Value:
    return arith.subi(a, arith.muli(arith.floordivsi(a, b), b))


def _both(op):
    return lambda a, b: arith.index_castui(ir.IndexType.get(), op(_truth(a), _truth(b)))


_EMIT = {
    "+": arith.addi,
    "-": arith.subi,
    "*": arith.muli,
    "floordiv": arith.floordivsi,
    "ceildiv": arith.ceildivsi,
    "mod": _floor_mod,
    "xor": arith.xori,
    "and": _both(arith.andi),
    "or": _both(arith.ori),
    "eq": _compare(arith.CmpIPredicate.eq),
    "ne": _compare(arith.CmpIPredicate.ne),
    "lt": _compare(arith.CmpIPredicate.slt),
    "le": _compare(arith.CmpIPredicate.sle),
    "gt": _compare(arith.CmpIPredicate.sgt),
    "ge": _compare(arith.CmpIPredicate.sge),
    "select": lambda c, a, b: arith.select(_truth(c), a, b),
}
