"""Code generation, second step: gpu form -> LLVM and ROCDL dialects -> LLVM IR text.

`passes(target)` are the passes, upstream's between two of ours. The last one is `finish`: it gives functions their
attributes, turns calls of device-library functions that LLVM can expand itself into LLVM ops, and refuses whatever has
no lowering, at its location.
"""

from __future__ import annotations

import math
import re

from mlir import ir
from mlir.dialects import llvm
from mlir.dialects.builtin import ModuleOp

from . import alias_scopes, far_lds, register_pressure, targets
from .diagnostics import PassError
from .gpu_prepare import target_of

_SMALL_FLOATS = "f8E4M3FN,f8E4M3FNUZ,f8E5M2,f8E5M2FNUZ"

# Device-library functions upstream calls -> ops that LLVM's AMDGPU backend expands inline.
_INTRINSICS = ("ceil", "floor", "exp", "exp2", "log", "log2", "log10", "sin", "cos")
_LIBRARY = {name: f"llvm.intr.{name}" for name in _INTRINSICS} | {"fmod": "llvm.frem"}
_INLINE_TYPES = ("f32", "f16")
_INLINE_F64 = frozenset({"ceil", "floor", "fmod"})
_LIBRARY_CALL = re.compile(r"__ocml_(\w+?)_(f16|f32|f64)$")
_BLOCK = "gpu.known_block_size"
_ACCESS_MARKS = {"read": "llvm.readonly", "write": "llvm.writeonly"}
_LOCAL_DIALECTS = ("llvm.", "rocdl.")


def passes(target: str, *, debug: bool = False) -> list[str]:
    """The passes from gpu form to the LLVM and ROCDL dialects, for `builtin.module`.

    debug: give functions what line tables need.
    """
    lowering = [
        "expand-strided-metadata",
        "lower-affine",
        f"arith-emulate-unsupported-floats{{source-types={_SMALL_FLOATS} target-type=f32}}",
        f"convert-arith-to-amdgpu{{chipset={target}}}",
        "math-expand-ops{ops=clampf}",
        "math-extend-to-supported-types{extra-types=f16 target-type=f32}",
        "convert-scf-to-cf",
        f"convert-amdgpu-to-rocdl{{chipset={target}}}",
        f"convert-gpu-to-rocdl{{chipset={target} runtime=HIP use-bare-ptr-memref-call-conv=true}}",
        "convert-vector-to-llvm",
        "convert-arith-to-llvm",
        "convert-index-to-llvm",
        "convert-ub-to-llvm",
        "reconcile-unrealized-casts",
        "canonicalize",
        "cse",
    ]
    scopes = ["ensure-debug-info-scope-on-llvm-func{emission-kind=LineTablesOnly}"] if debug else []
    prepare, finish = f"wave-prepare-rocdl{{target={target}}}", "wave-finish-rocdl"
    casts = f"wave-expand-casts{{target={target}}}"
    return ["wave-expand-math", casts, prepare, f"gpu.module({','.join(lowering)})", *scopes, finish]


def finish(module: ModuleOp) -> None:
    """Function attributes, library calls and the check that everything is lowered. Raises PassError."""
    target = target_of(module)
    for gpu_module in _gpu_modules(module):
        body = gpu_module.regions[0].blocks[0]
        _replace_library_calls(body)
        _align_workgroup_memory(body)
        for op in body.operations:
            if op.operation.name == "llvm.func" and "rocdl.kernel" in op.operation.attributes:
                _set_attributes(op.operation, target)
                alias_scopes.separate_copies(op.operation)
                far_lds.keep_in_reach(op.operation)
        _refuse_leftovers(gpu_module)


def _gpu_modules(module: ModuleOp) -> list[ir.Operation]:
    return [op.operation for op in module.body.operations if op.operation.name == "gpu.module"]


def _name(op: ir.Operation) -> str:
    return ir.StringAttr(op.attributes["sym_name"]).value


def _replace_library_calls(body: ir.Block) -> None:
    """Calls of `__ocml_*` -> LLVM ops that the AMDGPU backend expands inline; other library calls are refused."""
    libraries = {}
    for op in list(body.operations):
        is_declaration = op.operation.name == "llvm.func" and not op.operation.regions[0].blocks
        if is_declaration and _name(op.operation).startswith(("__ocml_", "__ockl_")):
            libraries[_name(op.operation)] = op.operation
    if not libraries:
        return
    calls: list[ir.Operation] = []

    def visit(op) -> ir.WalkResult:
        if op.operation.name == "llvm.call" and "callee" in op.attributes:
            calls.append(op.operation)
        return ir.WalkResult.ADVANCE

    for function in body.operations:
        function.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    for call in calls:
        callee = ir.FlatSymbolRefAttr(call.attributes["callee"]).value
        if callee in libraries:
            _replace_call(call, callee)
    for declaration in libraries.values():
        declaration.erase()


def _align_workgroup_memory(body: ir.Block) -> None:
    """Workgroup memory is an array of bytes; its buffers are accessed in up to 16 bytes at a time."""
    i64 = ir.IntegerType.get_signless(64)
    for op in body.operations:
        if op.operation.name == "llvm.mlir.global":
            op.operation.attributes["alignment"] = ir.IntegerAttr.get(i64, 16)


def _replace_call(call: ir.Operation, callee: str) -> None:
    match = _LIBRARY_CALL.match(callee)
    name = _LIBRARY.get(match[1]) if match else None
    if name is None or match is None or not (match[2] in _INLINE_TYPES or match[1] in _INLINE_F64):
        raise PassError(call, f"needs the library function '{callee}', and no device library is linked")
    with ir.InsertionPoint(call), call.location:
        new = ir.Operation.create(name, results=[r.type for r in call.results], operands=list(call.operands))
    for old_result, new_result in zip(call.results, new.results, strict=True):
        old_result.replace_all_uses_with(new_result)
    call.erase()


def _refuse_leftovers(gpu_module: ir.Operation) -> None:
    """Every op must be of the LLVM or ROCDL dialect now. Casts between types have a poor location: prefer others."""
    left: list[ir.Operation] = []

    def visit(op) -> ir.WalkResult:
        if not op.operation.name.startswith(_LOCAL_DIALECTS):
            left.append(op.operation)
        return ir.WalkResult.ADVANCE

    for function in gpu_module.regions[0].blocks[0].operations:
        function.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    if left:
        worst = next((op for op in left if op.name != "builtin.unrealized_conversion_cast"), left[0])
        types = ", ".join(str(v.type) for v in [*worst.operands, *worst.results])
        raise PassError(worst, f"'{worst.name}' on {types} has no lowering to machine code on this target")


def _set_attributes(function: ir.Operation, target: targets.Target) -> None:
    """What LLVM has to know: exact block size, MFMA in VGPR form, how to order, which memories are only read.

    A read-only memory is `readonly`, not `noalias`: a caller may pass one array as input and output.
    """
    attributes = function.attributes
    threads = math.prod(ir.DenseI32ArrayAttr(attributes[_BLOCK]))
    pairs = [
        ("amdgpu-flat-work-group-size", f"{threads},{threads}"),
        ("amdgpu-agpr-alloc", "0"),
        ("uniform-work-group-size", "true"),
        *register_pressure.llvm_attributes(function, target),
    ]
    attributes["passthrough"] = ir.ArrayAttr.get(
        [ir.ArrayAttr.get([ir.StringAttr.get(k), ir.StringAttr.get(v)]) for k, v in pairs]
    )
    if "rocdl.flat_work_group_size" in attributes:
        del attributes["rocdl.flat_work_group_size"]  # it would be translated to the attribute above
    arguments = [_argument_attributes(ir.DictAttr(a)) for a in ir.ArrayAttr(attributes["wave.args"])]
    attributes["arg_attrs"] = ir.ArrayAttr.get(arguments)


def _argument_attributes(argument: ir.DictAttr) -> ir.DictAttr:
    names = ["llvm.noundef"]
    if "access" in argument:
        mark = _ACCESS_MARKS.get(ir.StringAttr(argument["access"]).value)
        names += [mark] if mark else []
    return ir.DictAttr.get({n: ir.UnitAttr.get() for n in names})


def to_llvm_ir(module: ModuleOp, target: targets.Target) -> str:
    """LLVM IR text of all gpu.modules of a lowered module, which is taken apart by this. Raises PassError."""
    with module.context, module.operation.location:
        device = ir.Module.create()
        device.operation.attributes["llvm.target_triple"] = ir.StringAttr.get(target.triple)
        names: dict[str, ir.Location] = {}
        for gpu_module in _gpu_modules(module):
            if "llvm.data_layout" in gpu_module.attributes:
                device.operation.attributes["llvm.data_layout"] = gpu_module.attributes["llvm.data_layout"]
            for op in list(gpu_module.regions[0].blocks[0].operations):
                _check_unique(op.operation, names)
                device.body.append(op)
        text = llvm.translate_module_to_llvmir(device.operation)  # pyright: ignore[reportAttributeAccessIssue]
    if text is None:
        raise PassError(module.operation, "translation to LLVM IR failed")
    return text


def _check_unique(op: ir.Operation, names: dict[str, ir.Location]) -> None:
    if op.name != "llvm.func":
        return  # workgroup memory is named after its function
    name = _name(op)
    if name in names:
        raise PassError(op, f"two gpu.modules define '{name}'; rename one, kernels share one code object")
    names[name] = op.location
