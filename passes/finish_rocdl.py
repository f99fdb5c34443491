"""wave-finish-rocdl."""

from dataclasses import dataclass

from wave_mlir.compiler import rocdl
from wave_mlir.compiler.pass_registry import ModuleOp, Pass, register_pass


@register_pass("wave-finish-rocdl", requires="gpu", establishes="rocdl")
@dataclass(frozen=True)
class FinishRocdl(Pass):
    """Give lowered kernels the attributes LLVM needs, and check that everything is lowered.

    Calls of device-library functions that LLVM expands itself become LLVM ops; workgroup memory is aligned to 16 bytes.
    A kernel with a loop that carries three quarters of a lane's registers asks LLVM to order for few registers.
    Before:

        llvm.func @k(%a: !llvm.ptr<1>) attributes {gpu.known_block_size = array<i32: 128, 2, 1>, rocdl.kernel, …}
          … llvm.call @__ocml_exp2_f32(%x) …

    After:

        llvm.func @k(%a: !llvm.ptr<1> {llvm.noundef, llvm.readonly}) attributes {passthrough = [
            ["amdgpu-flat-work-group-size", "256,256"], ["amdgpu-agpr-alloc", "0"], …], …}
          … llvm.intr.exp2(%x) …

    An op that upstream's passes left, or a call of a library function without a replacement, is an error at that op.
    """

    def run(self, module: ModuleOp) -> None:
        """Finish all functions in place. Raises PassError."""
        rocdl.finish(module)
