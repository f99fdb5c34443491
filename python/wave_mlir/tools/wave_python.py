"""Kernels in Python files, for `wave compile|run|report FILE.py[:KERNEL]`.

The file is imported (what stands under `if __name__ == "__main__"` does not run). KERNEL is a name in it:

- a function decorated by `wave(...)`, compiled with the file's `WaveCompileOptions` if it has one,
- what `wave_compile` gave, with its options, or
- a function without arguments that gives a kernel, or a kernel, its substitutions and its dynamic symbols.

Without a name the file must have one kernel of the first two kinds. Values from the command line come on top.
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, cast

from wave_mlir.compiler import driver
from wave_mlir.compiler.diagnostics import CompileError, Diagnostic

if TYPE_CHECKING:
    from mlir import ir

    from wave_mlir.wave.kernel import WaveKernel

SPACES = ("global", "shared")
"""Values of a symbol that is an address space."""


@dataclass
class _Kernel:
    """A kernel with what its file says about compiling it."""

    kernel: WaveKernel
    subs: dict = field(default_factory=dict)
    dynamic: Sequence = ()
    target: str = ""
    name: str | None = None


def is_python(path: str) -> bool:
    """FILE.py or FILE.py:KERNEL?"""
    return split(path)[0].endswith(".py")


def split(path: str) -> tuple[str, str]:
    """The file, and the kernel named after a colon ("" when none is)."""
    file, colon, name = path.rpartition(":")
    return (file, name) if colon and file.endswith(".py") and name.isidentifier() else (path, "")


def read_module(
    path: str, target: str | None, symbols: Mapping[str, int | str], kernel: str | None
) -> tuple[ir.Module, dict[str, int], str | None]:
    """The module of a text or of a kernel in Python, the integer values of symbols, and which kernel to take of it."""
    if is_python(path):
        traced = trace(path, kernel, symbols, target)
        return traced, {n: v for n, v in symbols.items() if isinstance(v, int)}, None
    return driver.parse(path, is_file=True), integers(path, symbols), kernel


def integers(path: str, symbols: Mapping[str, int | str]) -> dict[str, int]:
    """The values, which are integers except for kernels in Python. Raises CompileError."""
    for name, value in symbols.items():
        if isinstance(value, str):
            raise _error(path, f"{name}={value}: address spaces are symbols in Python only; change the memory's type")
    return {n: v for n, v in symbols.items() if isinstance(v, int)}


def trace(path: str, kernel: str | None, symbols: Mapping[str, int | str], target: str | None) -> ir.Module:
    """The tile-form module of a kernel in a Python file. Raises CompileError."""
    file, named = split(path)
    chosen = _choose(file, _imported(file), kernel or named)
    from wave_mlir.wave.compile import get_default_arch

    subs = {str(k): v for k, v in chosen.subs.items()}
    dynamic = [str(s) for s in chosen.dynamic]
    subs |= {name: _value(value) for name, value in symbols.items() if name not in dynamic}
    arch = target or chosen.target or get_default_arch()
    module = _at(chosen.kernel, lambda: chosen.kernel.trace(subs, dynamic, arch, chosen.name))
    _check_known(path, module, symbols, subs)
    return module


def _at(kernel: WaveKernel, call: Callable[[], ir.Module]) -> ir.Module:
    """Call as if from the kernel's line: errors with no line of the user's (a symbol of an argument) are there."""
    code = kernel.function.__code__
    scope: dict = {"call": call}
    exec(compile("\n" * (code.co_firstlineno - 1) + "result = call()", code.co_filename, "exec"), scope)
    return scope["result"]


def _value(value: int | str) -> object:
    from wave_mlir.lang.types import AddressSpace

    return AddressSpace(value) if isinstance(value, str) else value


def _check_known(path: str, module: ir.Module, symbols: Mapping[str, int | str], subs: Mapping) -> None:
    """A value for a symbol that the kernel does not have is a mistake."""
    from mlir import ir

    op = module.body.operations[0].operation
    known = [e.name for e in ir.DictAttr(op.attributes["symbols"])]
    known += [ir.StringAttr(s).value for s in ir.ArrayAttr(op.attributes["dynamic"])]
    for name, value in symbols.items():
        if isinstance(value, int) and name not in known:
            raise _error(path, f"the kernel has no symbol '{name}'; it has: {', '.join(known) or 'none'}")


def _imported(file: str) -> ModuleType:
    """The module of a file, in a fresh namespace; its folder is looked in for its own imports."""
    path = Path(file)
    path.open("rb").close()  # what cannot be read is an OSError with its name
    spec = importlib.util.spec_from_file_location(f"wave_input_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise _error(file, "no module can be made of the file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except (CompileError, KeyboardInterrupt):
        raise
    except SyntaxError as error:
        raise _error(f"{file}:{error.lineno or 1}:{error.offset or 1}", f"syntax error: {error.msg}") from None
    except BaseException as error:
        raise _of_users(file, error) from None
    finally:
        sys.path.remove(str(path.resolve().parent))
    return module


def _of_users(file: str, error: BaseException) -> CompileError:
    """An exception of the user's code, at the innermost line of their file."""
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if Path(f.filename) == Path(file).absolute()]
    lines += [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == file]
    where = f"{file}:{lines[-1]}:1" if lines else file
    return _error(where, f"{type(error).__name__}: {error}")


def _choose(file: str, module: ModuleType, name: str) -> _Kernel:
    from wave_mlir.wave.compile import CompiledKernel
    from wave_mlir.wave.kernel import WaveKernel

    if name:
        if not hasattr(module, name):
            raise _error(file, f"there is no '{name}' in the file; it has the kernels: {_listed(_kernels(module))}")
        return _described(file, module, name, getattr(module, name))
    found = _kernels(module)
    compiled = [v._kernel for v in found.values() if isinstance(v, CompiledKernel)]
    single = {n: v for n, v in found.items() if not (isinstance(v, WaveKernel) and v in compiled)}
    if len(single) != 1:
        what = f"several kernels: {_listed(single)}" if single else "no kernel at its top level"
        raise _error(
            file,
            f"the file has {what}; name one, or a function without arguments that gives one: {file}:NAME",
        )
    ((only, value),) = single.items()
    return _described(file, module, only, value)


def _kernels(module: ModuleType) -> dict[str, object]:
    """Kernels and compiled kernels of a file, each under its first name."""
    from wave_mlir.wave.compile import CompiledKernel
    from wave_mlir.wave.kernel import WaveKernel

    found: dict[str, object] = {}
    for name, value in vars(module).items():
        if isinstance(value, (WaveKernel, CompiledKernel)) and not any(v is value for v in found.values()):
            found[name] = value
    return found


def _listed(kernels: Mapping[str, object]) -> str:
    return ", ".join(kernels) or "none"


def _described(file: str, module: ModuleType, name: str, value: object) -> _Kernel:
    from wave_mlir.wave.compile import CompiledKernel, WaveCompileOptions
    from wave_mlir.wave.kernel import WaveKernel

    if isinstance(value, CompiledKernel):
        options = value.options
        subs, dynamic = dict(options.subs), options.dynamic_symbols
        return _Kernel(value._kernel, subs, dynamic, value.target, options.func_name)
    if isinstance(value, WaveKernel):
        options = [v for v in vars(module).values() if isinstance(v, WaveCompileOptions)]
        if len(options) == 1:
            only = options[0]
            return _Kernel(value, dict(only.subs), only.dynamic_symbols, only.target, only.func_name)
        return _Kernel(value)
    if isinstance(value, tuple):
        kernel, subs, dynamic = (*value, None, None, None)[:3]
        if isinstance(kernel, WaveKernel):
            return _Kernel(kernel, dict(cast(Mapping, subs or {})), cast(Sequence, dynamic or ()))
    if inspect.isfunction(value) and not any(
        p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        for p in inspect.signature(value).parameters.values()
    ):
        return _described(file, module, f"{name}()", _called(file, value))
    raise _error(
        file, f"'{name}' is a {type(value).__name__}; name a kernel, or a function without arguments that gives one"
    )


def _called(file: str, function) -> object:
    try:
        return function()
    except (CompileError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise _of_users(file, error) from None


def _error(where: str, message: str) -> CompileError:
    return CompileError([Diagnostic("error", where, message)])
