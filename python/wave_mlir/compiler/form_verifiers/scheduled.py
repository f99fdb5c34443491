"""What scheduled form promises of LDS: places of buffers, and barriers between accesses that depend on each other."""

from __future__ import annotations

from mlir import ir

from wave_mlir.compiler.barrier_proof import prove_barriers
from wave_mlir.compiler.barrier_states import check_orders
from wave_mlir.compiler.diagnostics import PassError
from wave_mlir.compiler.forms import form_verifier
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.lds import ALIGNMENT, buffers
from wave_mlir.compiler.lds_contents import prove_contents
from wave_mlir.compiler.tile_ir import kernels


@form_verifier("scheduled")
def verify_places(module: ir.Operation) -> None:
    """Every LDS buffer has an aligned place; what has it in common with others is needed at other times than theirs."""
    for kernel in kernels(module):
        found = buffers(kernel.operation, KernelInfo.of(kernel))
        for buffer in found:
            if buffer.offset is None:
                raise PassError(buffer.op, "this buffer has no offset; wave-pack-shared gives it one")
            if buffer.offset % ALIGNMENT:
                raise PassError(buffer.op, f"offset {buffer.offset} is no multiple of {ALIGNMENT} bytes")
        prove_contents(kernel, found)


@form_verifier("scheduled")
def verify_barriers(module: ir.Operation) -> None:
    """No two accesses of a byte, one a write, can meet without a barrier or, in one wave, a fence."""
    for kernel in kernels(module):
        prove_barriers(kernel)
        check_orders(kernel)
