"""Code generation, third step: LLVM IR text -> AMDGPU assembly and object file, in process.

llvmlite carries LLVM 22 with the AMDGPU target.  LLVM ends the process on some errors in its input; what is known of
these is refused before (sizes of blocks and LDS, library calls), and input that is not known to be safe is first
compiled in a child process, so that a death there becomes an error here.
"""

from __future__ import annotations

import faulthandler
import os
import re
import tempfile
from functools import cache

from . import targets
from .codegen_errors import CodegenError

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

    def __init__(self, text: str, target: targets.Target):
        """Raises CodegenError with LLVM's message when the text is no valid IR."""
        llvm = _llvm()
        self._assembly: str | None = None
        self._object: bytes | None = None
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
        """Assembly text, made once. Code generation changes a module, so it works on a copy."""
        if self._assembly is None:
            self._assembly = self._machine.emit_assembly(self._module.clone())
        return self._assembly

    def object(self) -> bytes:
        """A relocatable ELF object, made once."""
        if self._object is None:
            self._object = self._machine.emit_object(self._module.clone())
        return self._object


def try_in_child(text: str, target: targets.Target) -> None:
    """Compile in a child process and raise CodegenError with LLVM's last words if that dies."""
    with tempfile.TemporaryFile() as words:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                faulthandler.disable()
                os.dup2(words.fileno(), 2)
                MachineModule(text, target).object()
                status = 0
            finally:
                os._exit(status)
        _, status = os.waitpid(child, 0)
        if status == 0:
            return
        words.seek(0)
        raise CodegenError(f"LLVM cannot compile this for {target.name}: {_last_words(words.read().decode())}")


def _last_words(output: str) -> str:
    """The line of LLVM's output that says what is wrong."""
    for line in output.splitlines():
        if match := re.search(r"(?:LLVM ERROR|error|CodegenError):\s*(.*)", line):
            return match[1].strip()
    return "it ended the process without a message"
