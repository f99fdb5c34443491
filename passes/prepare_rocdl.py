"""wave-prepare-rocdl."""

from dataclasses import dataclass

from wave_mlir.compiler import gpu_prepare
from wave_mlir.compiler.pass_registry import ModuleOp, Pass, option, register_pass


@register_pass("wave-prepare-rocdl", requires="gpu")
@dataclass(frozen=True)
class PrepareRocdl(Pass):
    """Make gpu form acceptable to upstream's conversion to ROCDL.

    Options: `target` is the chip to compile for, by default the module's.

    Memories become pointers to a static shape, as the bare-pointer convention wants it, cast back to their number of
    elements; `gpu.subgroup_id` is written out. Before:

        gpu.func @k(%a: memref<?xf16, #gpu.address_space<global>>, %M: i32) kernel …

    After:

        gpu.func @k(%a: memref<1xf16, #gpu.address_space<global>>, %M: i32) kernel … {
          %n = … elements that the shape of %a in wave.args has …
          %0 = memref.reinterpret_cast %a to offset: [0], sizes: [%n], strides: [1] : … to memref<?xf16, …>

    Blocks and LDS beyond the target's limits and functions without an instruction are errors. It does not lower
    anything: the passes after it do.
    """

    target: str = option("", help="chip to compile for; empty: the module's wave.target")

    def run(self, module: ModuleOp) -> None:
        """Rewrite all kernels in place. Raises PassError."""
        gpu_prepare.prepare(module, gpu_prepare.target_of(module, self.target))
