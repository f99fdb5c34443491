"""What lane and scheduled form promise of each op."""

from __future__ import annotations

from mlir import ir

from wave_mlir.compiler.diagnostics import PassError
from wave_mlir.compiler.form_verifiers.typed import check_bound, defined
from wave_mlir.compiler.forms import form_verifier
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.lane_access import ACCESSES, varying
from wave_mlir.compiler.tile_ir import body_of, kernels, walk
from wave_mlir.dialect import TileType


@form_verifier("lane", "scheduled")
def verify_lane(module: ir.Operation) -> None:
    """No tiles are left, and expressions are over the lane, waves, workgroup, bound symbols and element."""
    for kernel in kernels(module):
        info = KernelInfo.of(kernel)
        known = info.definitions.keys() | set(info.dynamic)
        _check_no_tiles(kernel.operation)
        for op in walk(body_of(kernel)):
            _check_no_tiles(op)
            if op.name.startswith("wave."):  # others have no expressions, and they are the most
                check_bound(op, known, coordinates=False)


@form_verifier("scheduled")
def verify_split(module: ir.Operation) -> None:
    """No access depends on the element of its vector, nor on a symbol with a value for each element."""
    for kernel in kernels(module):
        for op in walk(body_of(kernel)):
            if op.name in ACCESSES:
                for name in sorted(varying(op)):
                    raise PassError(op, f"symbol {name} has a value for each element; wave-split-accesses parts them")
                for expr in op.attributes.get("index", ()):
                    if "el" in expr.symbols:
                        raise PassError(op, f"the index has el in {expr}; wave-split-accesses removes it")


def _check_no_tiles(op: ir.Operation) -> None:
    """The values that the op defines; the operands are those of others."""
    for value in defined(op):
        if isinstance(value.type, TileType):
            raise PassError(op, f"a value of type {value.type} is left; wave-expand makes vectors of it")
