"""wave-expand-casts."""

from dataclasses import dataclass

from wave_mlir.compiler import casts, gpu_prepare
from wave_mlir.compiler.pass_registry import ModuleOp, Pass, option, register_pass


@register_pass("wave-expand-casts", requires="gpu")
@dataclass(frozen=True)
class ExpandCasts(Pass):
    """Write out casts that the code generator has not, or rounds twice, or leaves open.

    Options: `target` is the chip to compile for, by default the module's.

    - Floats to integers saturate, and NaN becomes 0, as in the simulator; `arith` leaves both open. To 32 bits this is
      what the instruction does.
    - Integers of 32 and 64 bits to bf16, and f64 to 8-bit floats, are rounded once.
    - 8-bit floats of a flavor without instructions on the target (OCP's on gfx942, FNUZ on gfx950, all on gfx90a) are
      converted in integer arithmetic.

    Before:

        %y = arith.fptosi %x : f32 to i8

    After:

        %0 = arith.fptosi %x : f32 to i32
        %1 = arith.maxsi %0, %least : i32
        %2 = arith.minsi %1, %greatest : i32
        %y = arith.trunci %2 : i32 to i8

    Other casts stay. It does not make arithmetic on 8-bit floats of a foreign flavor possible: cast to f32 for that.
    """

    target: str = option("", help="chip to compile for; empty: the module's wave.target")

    def run(self, module: ModuleOp) -> None:
        """Rewrite all kernels in place. Raises PassError."""
        casts.expand(module, gpu_prepare.target_of(module, self.target))
