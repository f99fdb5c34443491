"""wave-prepare-rocdl."""

import re
from dataclasses import dataclass
from typing import cast

from mlir import ir
from wave_mlir.compiler import abi, gpu_prepare, targets
from wave_mlir.compiler.codegen_errors import CodegenError
from wave_mlir.compiler.pass_registry import ModuleOp, Pass, PassError, option, register_pass

_FILE = re.compile(r"(.+):(\d+):(\d+)$")


@register_pass("wave-prepare-rocdl", requires="gpu")
@dataclass(frozen=True)
class PrepareRocdl(Pass):
    """Make gpu form acceptable to upstream's conversion to ROCDL.

    Options: `target`, the chip that the conversion is for.

    Memory arguments get a static shape and are cast back inside, as the bare-pointer calling convention wants it;
    `gpu.subgroup_id` is written out; what has no machine code on the target is refused.

        gpu.func @k(%a: memref<?xf16, #gpu.address_space<global>>) kernel …   // before
        gpu.func @k(%a: memref<1xf16, #gpu.address_space<global>>) kernel …   // after

    The form stays gpu, but neither the simulator nor code generation takes the result: it is a step of the pipeline
    `gpu-to-rocdl`.
    """

    target: str = option("gfx942", help="chip to prepare for")

    def run(self, module: ModuleOp) -> None:
        """Rewrite the kernels; raises PassError for limits and ops of the target."""
        try:
            gpu_prepare.prepare(cast(ir.Module, module), targets.get(self.target))
        except (CodegenError, abi.AbiError) as e:
            raise PassError(_location(e.location, module), e.message) from None
        except targets.TargetError as e:
            raise PassError(module, str(e)) from None


def _location(text: str | None, module: ModuleOp) -> ir.Location:
    """The location that an error gives as text, else the module's."""
    match = _FILE.match(text or "")
    return ir.Location.file(match[1], int(match[2]), int(match[3])) if match else module.operation.location
