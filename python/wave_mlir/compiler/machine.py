"""Code generation, third step: LLVM IR text -> AMDGPU assembly and object file, in process.

llvmlite carries LLVM 22 with the AMDGPU target.  LLVM ends the process on some errors in its input; what is known of
these is refused before (sizes of blocks and LDS, library calls), and input that is not known to be safe is first
compiled in a child process, so that a death there becomes an error here. So is code under an order of instructions that
some code makes LLVM die of: then another order is taken.
"""

from __future__ import annotations

import faulthandler
import os
import re
import tempfile
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from . import targets
from .codegen_errors import CodegenError

if TYPE_CHECKING:
    from llvmlite.binding import ModuleRef

OPTIMIZATION_LEVEL = 3
"""Of the code generator."""

PIPELINE_LEVEL = 1
"""Of the passes before it: with loops left as they are, higher levels give the same code and take 1.5 times as long."""


@cache
def _llvm():
    from llvmlite import binding

    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    return binding


FEATURES = "-unaligned-access-mode"
"""Accesses that the passes cut at their alignment stay so: LLVM may join them to aligned ones only."""


@cache
def _target_machine(triple: str, cpu: str):
    found = _llvm().Target.from_triple(triple)
    return found.create_target_machine(cpu=cpu, features=FEATURES, opt=OPTIMIZATION_LEVEL, reloc="pic")


class MachineModule:
    """A parsed, verified and optimised LLVM module of one target."""

    def __init__(self, text: str, target: targets.Target, risky: bool = False):
        """risky: code generation may end the process, and is done in a child first.

        Raises CodegenError with LLVM's message when the text is no valid IR.
        """
        llvm = _llvm()
        self._assembly: str | None = None
        self._object: bytes | None = None
        self._risky = risky
        self._target = target
        try:
            self._module = llvm.parse_assembly(text)
            self._module.verify()
        except RuntimeError as error:
            raise CodegenError(f"LLVM IR is invalid: {' '.join(str(error).split())}") from None
        self._machine = _target_machine(target.triple, target.name)
        self._machine.set_asm_verbosity(True)  # comments with code size and block names
        options = llvm.create_pipeline_tuning_options(speed_level=PIPELINE_LEVEL)
        # How loops are unrolled and what is vectorised are decisions of the passes, made with layouts in view.
        options.loop_unrolling = options.loop_vectorization = options.slp_vectorization = False
        builder = llvm.create_pass_builder(self._machine, options)
        builder.getModulePassManager().run(self._module, builder)

    @property
    def llvm_ir(self) -> str:
        """The optimised IR."""
        return str(self._module)

    def assembly(self) -> str:
        """Assembly text, made once. Raises CodegenError if LLVM dies of a risky module."""
        if self._assembly is None:
            self._assembly = self._make(lambda module: self._machine.emit_assembly(module).encode()).decode()
        return self._assembly

    def object(self) -> bytes:
        """A relocatable ELF object, made once. Raises CodegenError if LLVM dies of a risky module."""
        if self._object is None:
            self._object = self._make(self._machine.emit_object)
        return self._object

    def _make(self, emit: Callable[[ModuleRef], bytes]) -> bytes:
        """Code generation changes a module, so it works on a copy. Text and object differ in the last step only: where
        one of them could be made, the other can."""
        if self._risky and self._assembly is None and self._object is None:
            return _in_child(lambda: emit(self._module.clone()), self._target)
        return emit(self._module.clone())


def try_in_child(text: str, target: targets.Target) -> None:
    """Compile in a child process and raise CodegenError with LLVM's last words if that dies."""
    _in_child(lambda: MachineModule(text, target).object(), target)


def _in_child(make: Callable[[], bytes], target: targets.Target) -> bytes:
    """What `make` gives in a child process. Raises CodegenError with LLVM's last words if it dies."""
    with tempfile.TemporaryFile() as words, tempfile.TemporaryFile() as made:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                faulthandler.disable()
                os.dup2(words.fileno(), 2)
                with open(made.fileno(), "wb", closefd=False) as out:
                    out.write(make())
                status = 0
            except CodegenError as error:
                os.write(2, f"CodegenError: {error}\n".encode())
            finally:
                os._exit(status)
        _, status = os.waitpid(child, 0)
        output = made if status == 0 else words
        output.seek(0)
        text = output.read()
    if status != 0:
        raise CodegenError(f"LLVM cannot compile this for {target.name}: {_last_words(text.decode())}")
    return text


def _last_words(output: str) -> str:
    """The line of LLVM's output that says what is wrong."""
    for line in output.splitlines():
        if match := re.search(r"(?:LLVM ERROR|error|CodegenError|Assertion):?\s*(.*)", line):
            return match[1].strip()
    return "it ended the process without a message"
