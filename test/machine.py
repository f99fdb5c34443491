"""gpu-form text to machine code by upstream MLIR and LLVM alone, independent of the project's own code generation."""

from __future__ import annotations

import functools
import shutil
import subprocess
from pathlib import Path

from mlir import ir
from mlir.dialects import llvm
from mlir.passmanager import PassManager

TRIPLE = "amdgcn-amd-amdhsa"


def _pipeline(chip: str) -> str:
    return (
        f"builtin.module(gpu.module(canonicalize,cse,convert-amdgpu-to-rocdl{{chipset={chip}}},"
        f"convert-gpu-to-rocdl{{chipset={chip} runtime=HIP use-bare-ptr-memref-call-conv=true}},"
        "convert-vector-to-llvm,convert-index-to-llvm,reconcile-unrealized-casts,canonicalize,cse))"
    )


def llvm_ir(text: str, chip: str) -> str:
    """LLVM IR of the only gpu.module in `text`."""
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        PassManager.parse(_pipeline(chip)).run(module.operation)
        inner = next(op for op in module.body.operations if op.operation.name == "gpu.module")
        out = ir.Module.create()
        out.operation.attributes["llvm.data_layout"] = inner.operation.attributes["llvm.data_layout"]
        out.operation.attributes["llvm.target_triple"] = ir.StringAttr.get(TRIPLE)
        for op in list(inner.regions[0].blocks[0].operations):
            out.body.append(op)
        return llvm.translate_module_to_llvmir(out.operation)


@functools.cache
def _binding():
    import llvmlite.binding as binding

    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    return binding


def _compile(ir_text: str, chip: str):
    """(target machine, optimised module) of LLVM IR."""
    binding = _binding()
    module = binding.parse_assembly(ir_text)
    module.verify()
    target = binding.Target.from_triple(TRIPLE).create_target_machine(cpu=chip, opt=2, reloc="pic")
    builder = binding.create_pass_builder(target, binding.create_pipeline_tuning_options(speed_level=2))
    builder.getModulePassManager().run(module, builder)
    return target, module


def assembly(ir_text: str, chip: str) -> str:
    """Assembly of LLVM IR, with the statistics that LLVM adds as comments."""
    target, module = _compile(ir_text, chip)
    target.set_asm_verbosity(True)
    return target.emit_assembly(module)


def assembly_and_object(ir_text: str, chip: str) -> tuple[str, bytes]:
    """(assembly, object) of LLVM IR. Each from a module of its own: emitting one changes the module."""
    target, module = _compile(ir_text, chip)
    text = target.emit_assembly(module)
    target, module = _compile(ir_text, chip)
    return text, target.emit_object(module)


def machine_code(text: str, chip: str) -> tuple[str, bytes]:
    """(assembly, object) of gpu-form text."""
    target, module = _compile(llvm_ir(text, chip), chip)
    return target.emit_assembly(module), target.emit_object(module)


def link(code: bytes, path: Path) -> Path:
    """Write the code object of `code` to `path`."""
    source = path.with_suffix(".o")
    source.write_bytes(code)
    subprocess.run([*_lld(), "-shared", str(source), "-o", str(path)], check=True)
    return path


def _lld() -> list[str]:
    for name in ("ld.lld-22", "ld.lld"):
        if found := shutil.which(name):
            return [found]
    import iree.compiler

    (folder,) = (Path(p) for p in list(iree.compiler.__path__)[:1])
    return [str(folder / "_mlir_libs" / "iree-lld"), "-flavor", "gnu"]
