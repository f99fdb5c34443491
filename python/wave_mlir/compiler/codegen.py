"""From gpu form to machine code: `generate`, and `Generation` for callers that want single stages.

gpu form -> (gpu_prepare, rocdl) -> LLVM IR -> (machine) -> assembly, object -> (linking) -> code object
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar, cast

from mlir import ir

from . import abi, gpu_prepare, linking, machine, rocdl, targets
from .codegen_errors import CodegenError

__all__ = ["STAGES", "CodeObject", "CodegenError", "Generation", "generate"]

T = TypeVar("T")
STAGES = ("llvm", "isa", "obj", "hsaco")


@dataclass(frozen=True)
class CodeObject:
    """What `generate` made. Stages that were not asked for are empty.

    llvm_ir: LLVM IR before LLVM's own passes.  isa: assembly text.  obj: relocatable ELF.  hsaco: the code object.
    kernels: the ABI of each kernel.  timings: seconds of CPU by step (children excluded).
    """

    llvm_ir: str
    isa: str
    obj: bytes
    hsaco: bytes
    kernels: tuple[abi.KernelABI, ...]
    timings: dict[str, float] = field(default_factory=dict, compare=False)


class Generation:
    """Machine code of one gpu-form module; each stage is made when first asked for and then kept."""

    def __init__(self, module: ir.Module, *, target: str | None = None, debug: bool = False):
        """Lower a copy of `module` to LLVM IR.

        target: overrides the module's `wave.target`.  debug: put line tables, with relative paths, into the code.
        Raises CodegenError, abi.AbiError or targets.TargetError.
        """
        self.timings: dict[str, float] = {}
        self.target = targets.get(target or _target_of(module))
        with module.context, ir.Location.unknown():
            copy = cast(ir.Module, module.operation.clone())  # a ModuleOp, which serves as well
            prepared = self._timed("prepare", lambda: gpu_prepare.prepare(copy, self.target))
            self.kernels = tuple(prepared.kernels)
            self._timed("to rocdl", lambda: rocdl.lower(copy, self.target, debug=debug))
            self._timed("attributes", lambda: rocdl.finish(copy, self.kernels))
            text = self._timed("to llvm", lambda: rocdl.to_llvm_ir(copy, self.target))
        self.llvm_ir = _relative_paths(text) if debug else text
        self._trusted = prepared.trusted

    @cached_property
    def _optimized(self) -> machine.MachineModule:
        if not self._trusted:
            machine.try_in_child(self.llvm_ir, self.target)
        return self._timed("optimize", lambda: machine.MachineModule(self.llvm_ir, self.target))

    @cached_property
    def isa(self) -> str:
        """Assembly text. Raises CodegenError."""
        return self._timed("assembly", self._optimized.assembly)

    @cached_property
    def obj(self) -> bytes:
        """Relocatable object. Raises CodegenError."""
        return self._timed("object", self._optimized.object)

    @cached_property
    def hsaco(self) -> bytes:
        """Code object. Raises CodegenError."""
        obj = self.obj
        return self._timed("link", lambda: linking.link(obj))

    def _timed(self, name: str, step: Callable[[], T]) -> T:
        start = time.process_time()
        try:
            return step()
        finally:
            self.timings[name] = self.timings.get(name, 0.0) + time.process_time() - start


def generate(
    module: ir.Module,
    *,
    target: str | None = None,
    debug: bool = False,
    emit: Sequence[str] = ("isa", "obj", "hsaco"),
) -> CodeObject:
    """Machine code of a gpu-form module, which is left as it is.

    target: overrides the module's `wave.target`.  debug: line tables with relative paths.  emit: which of `STAGES` to
    make (the LLVM IR is always there).  Assembly and object each cost one run of LLVM's code generator.
    Raises CodegenError, abi.AbiError or targets.TargetError, with the location where there is one.
    """
    for stage in emit:
        if stage not in STAGES:
            raise CodegenError("", f"unknown stage '{stage}' to emit; stages are {', '.join(STAGES)}")
    made = Generation(module, target=target, debug=debug)
    return CodeObject(
        llvm_ir=made.llvm_ir,
        isa=made.isa if "isa" in emit else "",
        obj=made.obj if "obj" in emit else b"",
        hsaco=made.hsaco if "hsaco" in emit else b"",
        kernels=made.kernels,
        timings=made.timings,
    )


def _target_of(module: ir.Module) -> str:
    attributes = module.operation.attributes
    if "wave.form" in attributes and (form := ir.StringAttr(attributes["wave.form"]).value) != "gpu":
        raise CodegenError(module.operation.location, f"the module is in {form} form; lower it to gpu form first")
    if "wave.target" not in attributes:
        names = ", ".join(targets.names())
        raise CodegenError(
            module.operation.location, f"no target: set wave.target on the module, or give one of {names}"
        )
    return ir.StringAttr(attributes["wave.target"]).value


def _relative_paths(llvm_ir: str) -> str:
    """Debug info without the folder the source lies in."""
    return _FILE.sub(lambda m: f'!DIFile(filename: "{os.path.basename(m[1])}", directory: "")', llvm_ir)


_FILE = re.compile(r'!DIFile\(filename: "([^"]*)", directory: "[^"]*"\)')
