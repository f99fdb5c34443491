"""wave-expand-math."""

from dataclasses import dataclass

from wave_mlir.compiler.elementary import FAST_MATH
from wave_mlir.compiler.elementary.expand import Expansion
from wave_mlir.compiler.pass_registry import ModuleOp, Pass, option, register_pass


@register_pass("wave-expand-math", requires="gpu")
@dataclass(frozen=True)
class ExpandMath(Pass):
    """Write out elementary functions that have no instruction, or none that is exact enough.

    Options: `fast` treats all functions as if they carried `fastmath<afn>`, and lets quotients of at most 32 bits be
    products with a reciprocal, and products and sums be fused. So does the module's attribute `wave.fast_math`.

    Before:

        %y = math.cosh %x : f32

    After: arithmetic, comparisons and bit operations of `arith`, `math.fma`, and a branch where an argument may be
    large

        %0 = math.absf %x : f32
        %1 = math.fma %0, %log2e, %quarter : f32
        …
        %y = math.fma %e, %two, %q : f32

    Written out are sin, cos, tan, sinh, cosh, tanh, expm1, log1p, powf, cbrt, atan and atan2 of every float type, the
    exponentials and logarithms of f64, and those of f16 that LLVM is more than a unit in the last place off with.
    Floats of less than 32 bits are computed in f32 and rounded once. Error bounds are in docs/elementary-functions.md.
    A function with `fastmath<afn>` becomes the bare instruction (exp, exp2, log, log2, log10, sqrt, rsqrt, sin, cos of
    at most 32 bits) or, tanh, a short formula; on others the flag has no effect. `arith.remf` of bf16 is computed in
    f32.

    Other functions stay; wave-prepare-rocdl refuses those that nothing can compile. An element type without an
    expansion is an error.
    """

    fast: bool = option(False, help="approximate forms for all functions that have one")

    def run(self, module: ModuleOp) -> None:
        """Rewrite all kernels in place. Raises PassError."""
        Expansion(self.fast or FAST_MATH in module.operation.attributes).run(module)
