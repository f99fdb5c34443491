"""wave-specialize-waves: a branch for the waves that only copy, and one for those that compute."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from wave_mlir.compiler.pass_options import at_least
from wave_mlir.compiler.pass_registry import Pass, option, register_pass
from wave_mlir.compiler.specialize import specialize
from wave_mlir.compiler.tile_ir import kernels


@register_pass("wave-specialize-waves", requires="lane", establishes="lane")
@dataclass(frozen=True)
class SpecializeWaves(Pass):
    """Take a kernel whose accesses say which waves make them (`wave.only`) apart: a branch for each kind of wave.

    Each branch is the same program without what the other waves alone need: loops have the same trips and the same
    barriers. `wave.specialized` on the conditional says so, and the form's verifier proves that the n-th barrier of one
    branch is the n-th of the other, and that accesses to LDS on both sides of it are apart.

    Before:

        wave.iterate K … {
          %a = wave.buffer_load … {wave.only = #wave.expr<wave.z eq 1>}
          wave.write %a, %lds … {wave.only = #wave.expr<wave.z eq 1>}
          wave.shared_memory_barrier
          %x = wave.read %lds … {wave.only = #wave.expr<wave.z eq 0>}
          %z = wave.mma %x, …

    After:

        wave.conditional [wave.z eq 0] {
          wave.iterate K … {
            wave.shared_memory_barrier
            %x = wave.read %lds …
            %z = wave.mma %x, …
          …
        } else {
          wave.iterate K … {
            %a = wave.buffer_load …
            wave.write %a, %lds …
            wave.shared_memory_barrier
        } {wave.specialized}

    wave-schedule{strategy=specialized} decides which accesses are whose; other kernels stay as they are. Barriers are
    placed, and waits for direct copies counted, before it.
    """

    priority: int = option(1, help="priority of the waves that compute, 0 to 3; the others have 0")

    def __post_init__(self) -> None:
        """Raises ValueError for a priority that there is not."""
        at_least(self, "priority", 0)

    def run(self, module: ir.Module) -> None:
        """Take every kernel of the module apart that has accesses of some waves."""
        for kernel in kernels(module):
            specialize(kernel, self.priority)
