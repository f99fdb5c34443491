"""What staged form promises."""

from __future__ import annotations

from mlir import ir

from wave_mlir.compiler.diagnostics import PassError
from wave_mlir.compiler.form_verifiers.typed import check_bound
from wave_mlir.compiler.forms import form_verifier
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.tile_ir import body_of, kernels, walk
from wave_mlir.dialect import MemoryType, TileType


@form_verifier("staged")
def verify_staged(module: ir.Operation) -> None:
    """No kernel argument is in shared space, every tile has a layout, every access of tiles an index."""
    for kernel in kernels(module):
        info = KernelInfo.of(kernel)
        known = info.definitions.keys() | set(info.dynamic)
        for argument in body_of(kernel).arguments:
            if isinstance(argument.type, MemoryType) and MemoryType(argument.type).space == "shared":
                raise PassError(kernel, f"argument {argument.arg_number} is in shared space; wave-promote moves it")
        for op in walk(body_of(kernel)):
            check_bound(op, known)
            for value in (*op.operands, *op.results):
                if isinstance(value.type, TileType) and value.type.layout is None:
                    raise PassError(op, f"a value of type {value.type} has no layout; wave-infer-layouts gives one")
            if op.name in ("wave.read", "wave.write") and "index" not in op.attributes:
                raise PassError(op, "this access has no index; wave-infer-layouts gives one")
