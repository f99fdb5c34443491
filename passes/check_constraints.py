"""wave-check-constraints."""

from __future__ import annotations

from dataclasses import dataclass

from wave_mlir.compiler.constraint_checks import check_kernel
from wave_mlir.compiler.form_verifiers.typed import verify_typed_kernel
from wave_mlir.compiler.pass_registry import ModuleOp, Pass, register_pass
from wave_mlir.compiler.tile_ir import kernels


@register_pass("wave-check-constraints", requires="tile", establishes="typed")
@dataclass(frozen=True)
class CheckConstraints(Pass):
    """Check the kernel's constraints against each other, the target and the program; the IR is not changed.

    Before and after differ in `wave.form` only: "tile" and "typed".

    Errors, each with what to write instead: not exactly one hardware constraint; a wave size or MMA kind that the
    target has not; two constraints of a kind on one dim; two dims along one grid dim; a tile that waves do not divide;
    waves of different number along a block dim; more threads than a workgroup can have; a dim that is neither
    distributed nor tiled nor static; a tiled dim outside of its loop; operand types that the MMA kind has not (8-bit
    floats of the other kind named); vector_shapes that are no multiple of the MMA's; a contracted or reduced dim
    divided among waves; accumulators that do not fit the registers; reorderings that are no bijection of a
    static grid (where it is known at run time only, a launch checks).

    Legal: MMA tiles larger than the wave's (they are clipped); grids of more than three dims (folded into z); operands
    whose dims are in another order ([K, N] for [N, K]): dims go by name.

    Requires tile form after wave-infer-types and wave-bind-symbols; establishes typed form.
    """

    def run(self, module: ModuleOp) -> None:
        """Raises PassError for the first constraint that is broken."""
        for kernel in kernels(module):
            verify_typed_kernel(kernel)
            check_kernel(kernel)
