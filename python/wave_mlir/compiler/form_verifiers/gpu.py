"""What gpu form promises."""

from __future__ import annotations

from mlir import ir

from wave_mlir.compiler import abi
from wave_mlir.compiler.diagnostics import PassError
from wave_mlir.compiler.forms import form_verifier


@form_verifier("gpu")
def verify_gpu(module: ir.Operation) -> None:
    """No op of wave is left, and each kernel's ABI attributes agree with its signature."""
    _check_ops(module)
    for function in abi.kernel_functions(module.opview):
        try:
            abi.read_abi(function)
        except abi.AbiError as error:
            raise PassError(function, str(error)) from error


def _check_ops(parent: ir.Operation) -> None:
    for region in parent.regions:
        for block in region.blocks:
            for view in block.operations:
                if view.operation.name.startswith("wave."):
                    raise PassError(view.operation, f"{view.operation.name} is left in gpu form; wave-to-gpu lowers it")
                _check_ops(view.operation)
