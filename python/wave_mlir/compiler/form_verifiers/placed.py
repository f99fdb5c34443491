"""What placed form promises."""

from __future__ import annotations

from mlir import ir

from wave_mlir.compiler.diagnostics import PassError
from wave_mlir.compiler.form_verifiers.typed import check_bound, check_tiles
from wave_mlir.compiler.forms import form_verifier
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.layout_spec import mma_specs, of_layout
from wave_mlir.compiler.mma_shape import interleaved_columns, kind_of, operands, shape_of
from wave_mlir.compiler.tile_ir import body_of, kernels, walk
from wave_mlir.dialect import TileType


@form_verifier("placed")
def verify_placed(module: ir.Operation) -> None:
    """Every tile has a layout of the workgroup's tile, every access an index over what may stand in one."""
    for kernel in kernels(module):
        info = KernelInfo.of(kernel)
        known = info.definitions.keys() | set(info.dynamic)
        for op in walk(body_of(kernel)):
            check_tiles(op, placed=True)
            check_bound(op, known)
            _check_extents(info, op)
            _check_at(op)
            if op.name == "wave.mma":
                _check_mma(info, op)


def _check_extents(info: KernelInfo, op: ir.Operation) -> None:
    for value in op.results:
        if not isinstance(value.type, TileType):
            continue
        for dim, extent in value.type.layout.extents.items():
            if dim in info.definitions or info.workgroup_of(dim) or info.tiling_of(dim):
                wanted = info.tile_extent(dim)
                if extent != wanted:
                    raise PassError(op, f"the layout has {extent} elements of {dim}, the workgroup's tile has {wanted}")


def _check_at(op: ir.Operation) -> None:
    """Coordinates in an index are those of the value's own dims."""
    if "index" not in op.attributes:
        return
    value = op.results[0] if op.name == "wave.read" else op.operands[0]
    for expr in op.attributes["index"]:
        for name in expr.symbols:
            if name in ("lane", "el") or name.startswith("wave."):
                raise PassError(op, f"the index uses {name}, which comes with lane form; positions are at.DIM here")
            if name.startswith("at.") and name[3:] not in value.type.dims:
                raise PassError(op, f"the index uses {name}, but the value has no dim {name[3:]}")


def _check_mma(info: KernelInfo, op: ir.Operation) -> None:
    """Operands lie where the instruction wants them."""
    specs = mma_specs(info, shape_of(op, info), kind_of(info, op), columns=interleaved_columns(op))
    for value, spec, what in zip(operands(op), (specs.lhs, specs.rhs, specs.acc), ("lhs", "rhs", "acc"), strict=True):
        if of_layout(value.type.layout) != spec:
            needed = spec.attribute(value.type.dims)
            raise PassError(op, f"{what} has layout {value.type.layout}, its kind needs {needed}; insert wave.relayout")
