"""wave-infer-types."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mlir import ir
from wave_mlir.compiler.access_index import dims_of_memory
from wave_mlir.compiler.constraints import Constraints
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.mma_shape import default_kind
from wave_mlir.compiler.pass_registry import ModuleOp, Pass, PassError, register_pass
from wave_mlir.compiler.shapes import ShapeInference
from wave_mlir.compiler.tile_ir import body_of, bound_names, expressions, kernels, tile_dims, walk
from wave_mlir.dialect import Expr, MemoryType

_ELEMENT_BITS = (1, 8, 16, 32, 64)
_DYNAMIC_VALUE = re.compile(r"d\d+$")


@register_pass("wave-infer-types", requires="tile")
@dataclass(frozen=True)
class InferTypes(Pass):
    """Find the dims of every tile and the kind of every MMA, and check that every symbol has a value.

    Before and after:

        %zero = wave.register 0.0 : !wave.tile<*, f32>
        %z = wave.mma %x, %y, %zero : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<*, f32>

        %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
        %z = wave.mma %x, %y, %zero kind f32_16x16x16_f16 : …, !wave.tile<[M, N], f32>

    Dims flow forward and backward: from memories and mappings, through elementwise ops, casts, reductions and loops.
    An MMA whose accumulator is unknown contracts all common dims of its operands. A kind that is not given is the
    hardware constraint's, else the target's default for the operands' type. An error names a symbol that the kernel
    neither binds nor lists as dynamic nor sets, and where it is used.

    Requires tile form; the module stays in tile form. It does not check constraints (wave-check-constraints).
    """

    def run(self, module: ModuleOp) -> None:
        """Raises PassError for shapes that clash or stay unknown and for unbound symbols."""
        for kernel in kernels(module):
            KernelInfo.of(kernel).check_expressions()
            ops = list(walk(body_of(kernel)))
            for value in (*body_of(kernel).arguments, *(r for op in ops for r in op.results)):
                _check_elements(value)
            ShapeInference(kernel).run()
            _check_symbols(kernel, ops)
            info = KernelInfo.of(kernel)
            for op in ops:
                _check_access(info, op)
                if op.name in ("wave.mma", "wave.scaled_mma") and "kind" not in op.attributes:
                    op.attributes["kind"] = ir.StringAttr.get(default_kind(info, op))


def _check_elements(value: ir.Value) -> None:
    """Elements of a memory can be addressed: they are whole bytes, and a machine type."""
    if not isinstance(value.type, MemoryType):
        return
    element = MemoryType(value.type).element_type
    if isinstance(element, ir.IndexType) or getattr(element, "width", 0) in _ELEMENT_BITS:
        return
    raise PassError(
        value,
        f"a memory cannot have elements of {element}: they have 8, 16, 32 or 64 bits (an i1 takes a byte); keep "
        f"smaller ones packed in i8, and take wave.bitcast to tiles of {element} after the read",
    )


def _check_access(info: KernelInfo, op: ir.Operation) -> None:
    """The dims of the tile are those of memory, where no mapping says otherwise."""
    if op.name not in ("wave.read", "wave.write", "wave.atomic") or "mapping" in op.attributes:
        return
    value, memory = (op.results[0], op.operands[0]) if op.name == "wave.read" else (op.operands[0], op.operands[1])
    dims_of_memory(info, op, value.type, memory.type)


# --- symbols ---


def _check_symbols(kernel: ir.OpView, ops: list[ir.Operation]) -> None:
    attributes = kernel.operation.attributes
    known = {named.name for named in attributes["symbols"]} | {a.value for a in attributes["dynamic"]}
    for named in attributes["symbols"]:
        _require(kernel, named.attr.symbols, known, f"the definition of {named.name}")
    # Where in the kernel a set symbol is visible is checked when it becomes an operand.
    inner = known | {op.attributes["symbol"].value for op in ops if op.name == "wave.set_symbol"}
    inner |= {op.attributes["axis"].value for op in ops if op.name == "wave.iterate" and "condition" in op.attributes}
    _check_constraints(kernel, known, inner)
    for argument, name in zip(body_of(kernel).arguments, attributes["arg_names"], strict=True):
        if isinstance(argument.type, MemoryType):
            where = f"the type of argument {name.value}"
            for extent in (*argument.type.shape, *(s for s in argument.type.strides or () if isinstance(s, Expr))):
                _require(kernel, extent.symbols, known, where)
    for op in ops:
        _check_op(op, inner)


def _check_constraints(kernel: ir.OpView, known: set[str], inner: set[str]) -> None:
    """`known`: symbols with a value at the launch; `inner`: with those that the kernel sets, which loops may use.

    A dim that the kernel sets may be cut in tiles if the grid does not depend on its size.
    """
    constraints = Constraints.of(kernel)
    for kind in ("workgroup", "tiling", "wave"):
        visible = known if kind == "workgroup" else inner
        for constraint in getattr(constraints, kind):
            sized = kind != "workgroup" or (constraint.iters is None and not constraints.grid)
            _require(kernel, [constraint.dim], visible if sized else inner, f"a {kind} constraint")
            for field in ("tile", "fn", "iters", "start"):
                expr = getattr(constraint, field, None)
                if expr is not None:
                    _require(kernel, expr.symbols, visible, f"the {kind} constraint of {constraint.dim}")
    for expr in constraints.assume:
        _require(kernel, expr.symbols, known, "an assumption")
    for equation, _ in constraints.reordering:
        _require(kernel, equation.symbols, known, "a reordering constraint")


def _check_op(op: ir.Operation, known: set[str]) -> None:
    own = known.union(bound_names(op))
    for name, expr in expressions(op):
        _require(op, expr.symbols, own, f"its {name}")
    if "mapping" in op.attributes:
        mapping = op.attributes["mapping"]
        local = own.union(mapping.iterators.values(), (f"d{i}" for i in range(len(mapping.dynamic))))
        for expr in mapping.memory:
            _require(op, expr.symbols, local, "its mapping")
    for value in op.results:
        _require(op, tile_dims(value.type), own, f"the type {value.type}")


def _require(where: ir.OpView | ir.Operation, names: list[str], known: set[str], use: str) -> None:
    for name in names:
        if name in known or "." in name or name in ("lane", "el"):
            continue
        what = "dynamic value" if _DYNAMIC_VALUE.match(name) else "symbol"
        raise PassError(
            where,
            f"{what} {name} in {use} has no value; bind it in the kernel's 'symbols {{{name} = …}}' or list it in "
            f"'dynamic [{name}]'",
        )
