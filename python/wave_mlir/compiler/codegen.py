"""From gpu form to machine code: `generate`, and `Generation` for callers that want single stages.

gpu form -> (gpu_prepare, rocdl) -> LLVM IR -> (machine) -> assembly, object -> (linking) -> code object
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar, cast

from mlir import ir
from mlir.dialects.builtin import ModuleOp

from . import abi, gpu_prepare, linking, machine, register_costs, register_pressure, rocdl
from .codegen_errors import CodegenError
from .diagnostics import CompileError, Diagnostic, PassError, location_text
from .pass_registry import run_passes
from .runnable import Runnable

__all__ = ["STAGES", "CodeObject", "CompileError", "Generation", "generate"]

T = TypeVar("T")
STAGES = ("llvm", "isa", "obj", "hsaco")


@dataclass(frozen=True)
class CodeObject(Runnable):
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

    def __init__(self, module: ir.Module | ModuleOp, *, target: str | None = None, debug: bool = False):
        """Lower a copy of `module` to LLVM IR.

        target: overrides the module's `wave.target`.  debug: put line tables, with relative paths, into the code.
        Raises CompileError.
        """
        self.timings: dict[str, float] = {}
        self._module = module
        self._warned = False
        with _located_errors():
            self.target = gpu_prepare.target_of(module, target or "")
        with module.context, ir.Location.unknown():
            copy = cast(ModuleOp, module.operation.clone())
            self._trusted = gpu_prepare.is_trusted(copy)
            with _located_errors():
                self.kernels = tuple(replace(k, target=self.target.name) for k in _kernels(copy))
                self._timed("to rocdl", lambda: self._lower(copy, debug))
                text = self._timed("to llvm", lambda: rocdl.to_llvm_ir(copy, self.target))
        self.llvm_ir = _relative_paths(text) if debug else text

    def _lower(self, module: ModuleOp, debug: bool) -> None:
        """To ROCDL. Verified once, at the end: the passes between are upstream's, and this takes a fifth off."""
        run_passes(module, rocdl.passes(self.target.name, debug=debug), verify_ir=False)
        module.operation.verify()

    @cached_property
    def _optimized(self) -> machine.MachineModule:
        if not self._trusted:
            self._timed("trial", lambda: machine.try_in_child(self.llvm_ir, self.target))
        orders = register_pressure.orders(self.llvm_ir)
        if len(orders) > 1:
            return self._timed("orders", lambda: self._best_order(orders))
        return self._timed("optimize", lambda: machine.MachineModule(self.llvm_ir, self.target))

    def _best_order(self, orders: Sequence[str]) -> machine.MachineModule:
        """The first order of instructions that keeps its registers, or of all the one that loses fewest.

        LLVM dies of some code in some orders: these count as lost. Raises CodegenError if it does in all.
        """
        found: list[tuple[tuple[int, int], machine.MachineModule]] = []
        for text in orders:
            module = machine.MachineModule(text, self.target, risky=True)
            try:
                if register_costs.is_little(register_costs.most_lost(module.object())):
                    return module  # without the time that its text takes
                found.append((register_costs.lost(module.assembly()), module))
            except CodegenError:
                if not found and text == orders[-1]:
                    raise
                continue
            if register_costs.is_little(found[-1][0]):
                break
        return min(found, key=lambda pair: pair[0])[1]

    @cached_property
    def isa(self) -> str:
        """Assembly text. Raises CompileError."""
        with _located_errors():
            text = self._timed("assembly", self._optimized.assembly)
        self._warn(register_costs.spills(text), register_costs.agpr_moves(text))
        return text

    def _warn(self, spills: Mapping[str, int], moves: Mapping[str, int]) -> None:
        """Warnings about registers that LLVM could not keep, once."""
        if not self._warned:
            self._warned = any(spills.values()) or any(moves.values())
            with self._module.context:
                register_costs.warn(self._module, self.target, spills, moves)

    @cached_property
    def obj(self) -> bytes:
        """Relocatable object. Raises CompileError."""
        with _located_errors():
            made = self._timed("object", self._optimized.object)
        self._warn(register_costs.spills_of_object(made), {})
        return made

    @cached_property
    def hsaco(self) -> bytes:
        """Code object. Raises CompileError."""
        obj = self.obj
        with _located_errors():
            return self._timed("link", lambda: linking.link(obj))

    def _timed(self, name: str, step: Callable[[], T]) -> T:
        start = time.process_time()
        try:
            return step()
        finally:
            self.timings[name] = self.timings.get(name, 0.0) + time.process_time() - start


def generate(
    module: ir.Module | ModuleOp,
    *,
    target: str | None = None,
    debug: bool = False,
    emit: Sequence[str] = ("isa", "obj", "hsaco"),
) -> CodeObject:
    """Machine code of a gpu-form module, which is left as it is.

    target: overrides the module's `wave.target`.  debug: line tables with relative paths.  emit: which of `STAGES` to
    make (the LLVM IR is always there).  Assembly and object each cost one run of LLVM's code generator.
    Raises CompileError, with the location where there is one.
    """
    for stage in emit:
        if stage not in STAGES:
            raise _error("<codegen>", f"unknown stage '{stage}' to emit; stages are {', '.join(STAGES)}")
    made = Generation(module, target=target, debug=debug)
    return CodeObject(
        llvm_ir=made.llvm_ir,
        isa=made.isa if "isa" in emit else "",
        obj=made.obj if "obj" in emit else b"",
        hsaco=made.hsaco if "hsaco" in emit else b"",
        kernels=made.kernels,
        timings=made.timings,
    )


def _error(location: str, message: str) -> CompileError:
    return CompileError([Diagnostic("error", location, message)])


@contextmanager
def _located_errors() -> Iterator[None]:
    """Errors of the single steps as CompileError."""
    try:
        yield
    except PassError as error:
        notes = tuple(Diagnostic("note", location_text(where), text) for where, text in error.notes)
        raise CompileError([Diagnostic("error", location_text(error.location), error.message, notes)]) from None
    except CodegenError as error:
        raise _error("<codegen>", str(error)) from None


def _kernels(module: ModuleOp) -> list[abi.KernelABI]:
    found = []
    for function in abi.kernel_functions(module):
        try:
            found.append(abi.read_abi(function))
        except abi.AbiError as error:
            raise PassError(function, error.message) from None
    return found


_FILE = re.compile(r'!DIFile\(filename: "([^"]*)", directory: "[^"]*"\)')


def _relative_paths(llvm_ir: str) -> str:
    """Debug info without the folder the source lies in."""
    return _FILE.sub(lambda m: f'!DIFile(filename: "{os.path.basename(m[1])}", directory: "")', llvm_ir)
