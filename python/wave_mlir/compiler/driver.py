"""The compile driver: a module in any form -> any later form or machine code.

compiled = driver.compile_module(text, symbols={"M": 1024})
compiled.hsaco, compiled.kernels, compiled.ir("lane")
"""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from mlir import ir

import wave_mlir.dialect  # noqa: F401  (contexts know the dialect)
from wave_mlir.passes import pipelines

from . import abi, forms, gpu_prepare
from .codegen import STAGES, Generation
from .diagnostics import CompileError, Diagnostic, PassError, give_warning, location_text, warnings_taken
from .pass_registry import run_passes
from .runnable import Runnable

__all__ = ["EMIT", "CompileError", "Compiled", "compile_file", "compile_module", "parse"]

EMIT = (*forms.FORMS, *STAGES)
"""Everything that can be asked for: the forms, then the stages of machine code."""


class Compiled(Runnable):
    """A compiled module. Forms passed on the way are kept as text; text of the last form and machine code are made when
    first asked for."""

    def __init__(self, module: ir.Module, texts: dict[str, str], timings: dict[str, float], debug: bool):
        self.module = module
        """The module in the last form reached; it must not be changed."""
        self.timings = timings
        """Seconds by step: passes in wall time, steps of code generation in CPU time."""
        self._texts = texts
        self._debug = debug

    @property
    def form(self) -> str:
        """The last form reached."""
        return _form_of(self.module)

    def ir(self, form: str) -> str:
        """MLIR text in `form`. Raises CompileError when the compilation did not pass through it."""
        if form not in self._texts and form == self.form:
            self._texts[form] = str(self.module)
        if form not in self._texts:
            known = dict.fromkeys((*self._texts, self.form))
            raise _error(self.module, f"no text in {form} form: there are {', '.join(known)}")
        return self._texts[form]

    @cached_property
    def _generation(self) -> Generation:
        if self.form != "gpu":
            raise _error(self.module, f"machine code is made from gpu form; the module is in {self.form} form")
        made = Generation(self.module, debug=self._debug)
        self.timings |= made.timings
        made.timings = self.timings
        return made

    @property
    def llvm_ir(self) -> str:
        """LLVM IR, before LLVM's own passes."""
        return self._generation.llvm_ir

    @property
    def isa(self) -> str:
        """Assembly text."""
        return self._generation.isa

    @property
    def obj(self) -> bytes:
        """Relocatable object."""
        return self._generation.obj

    @property
    def hsaco(self) -> bytes:
        """Code object."""
        return self._generation.hsaco

    @cached_property
    def kernels(self) -> tuple[abi.KernelABI, ...]:
        """The ABI of each kernel; the module is in gpu form."""
        try:
            return tuple(abi.kernels(self.module))
        except abi.AbiError as error:
            raise CompileError([Diagnostic("error", error.location or "<unknown>", error.message)]) from None

    def emit(self, what: str) -> str | bytes:
        """The text or bytes of a form or stage of EMIT."""
        if what not in STAGES:
            return self.ir(what)
        return {"llvm": lambda: self.llvm_ir, "isa": lambda: self.isa, "obj": lambda: self.obj}.get(
            what, lambda: self.hsaco
        )()


def parse(source: str | os.PathLike[str], *, is_file: bool = False) -> ir.Module:
    """A module from text, or from a file whose name locations then carry. Raises CompileError."""
    context = ir.Context()
    context.enable_multithreading(False)
    try:
        if not is_file:
            return ir.Module.parse(os.fspath(source), context)
        Path(source).open("rb").close()
        return ir.Module.parseFile(os.fspath(source), context)
    except OSError as error:
        raise CompileError([Diagnostic("error", os.fspath(source), str(error.strerror))]) from None
    except ir.MLIRError as error:  # pyright: ignore[reportAttributeAccessIssue]
        found = [Diagnostic.of_mlir(d) for d in error.error_diagnostics]
        raise CompileError(found or [Diagnostic("error", "<input>", str(error))]) from None


def compile_module(
    module: ir.Module | str,
    target: str | None = None,
    symbols: Mapping[str, int] | None = None,
    *,
    kernel: str | None = None,
    emit: Sequence[str] = (),
    until: str = "gpu",
    or_later: bool = False,
    keep: Sequence[str] = (),
    debug: bool = False,
    options: pipelines.PipelineOptions | None = None,
) -> Compiled:
    """Compile a module (changed in place) or its text.

    target: overrides the module's. symbols: values of static symbols, in tile form only. kernel: drop all others.
    emit: stages of machine code to make at once. until: the form to stop at; machine code needs "gpu".
    or_later: a module that is past that form stays as it is.
    keep: forms on the way whose text to keep (the first and the last are kept always). debug: line tables.
    options: those of the pipelines; their target is the module's. Raises CompileError with located diagnostics.
    """
    parsed = parse(module) if isinstance(module, str) else module
    with parsed.context, ir.Location.unknown():
        try:
            _choose_kernel(parsed, kernel)
            _set_target(parsed, target)
            _set_symbols(parsed, dict(symbols or {}))
        except PassError as error:
            raise _from_pass_error(error) from None
        with warnings_taken(parsed.context) as warned:
            compiled = _lower(parsed, until, or_later, set(keep), debug, options or pipelines.PipelineOptions())
        for found in warned:
            give_warning(found)
        for stage in emit:
            compiled.emit(stage)
    return compiled


def compile_file(path: str | os.PathLike[str], target: str | None = None, **options) -> Compiled:
    """`compile_module` of a file."""
    return compile_module(parse(path, is_file=True), target, **options)


def unknown_form(name: str, location: str = "<compiler>") -> CompileError:
    """The error for a form that there is not."""
    return CompileError([Diagnostic("error", location, f"unknown form '{name}'; forms are {', '.join(forms.FORMS)}")])


def _lower(
    module: ir.Module, until: str, or_later: bool, keep: set[str], debug: bool, options: pipelines.PipelineOptions
) -> Compiled:
    if until not in forms.FORMS:
        raise unknown_form(until, location_text(module.operation.location))
    first = _form_of(module)
    texts, timings = {first: str(module)}, {}
    steps = forms.FORMS[forms.FORMS.index(first) : forms.FORMS.index(until) + 1]
    if not steps and not or_later:
        raise _error(module, f"the module is in {first} form, which is past {until} form")
    options = dataclasses.replace(options, target=gpu_prepare.target_of(module).name)
    for source, destination in zip(steps, steps[1:], strict=False):
        start = time.perf_counter()
        run_passes(module, pipelines.between(source, destination, options), timing=timings)
        if _form_of(module) != destination:
            raise _error(module, f"the passes from {source} form did not lead to {destination} form")
        timings[f"{source}-to-{destination}"] = time.perf_counter() - start
        if destination in keep:
            texts[destination] = str(module)
    return Compiled(module, texts, timings, debug)


def _form_of(module: ir.Module) -> str:
    try:
        form = forms.form_of(module.operation)
    except PassError as error:
        raise _from_pass_error(error) from None
    if form is None:
        known = ", ".join(forms.FORMS)
        raise _error(module, f'the module does not say its form; give it wave.form = "tile" or another of {known}')
    return form


def _kernels(module: ir.Module) -> list[ir.Operation]:
    """Tile-level kernels and kernels of gpu modules."""
    tiles = [op.operation for op in module.body.operations if op.operation.name == "wave.kernel"]
    return tiles + abi.kernel_functions(module)


def _name(op: ir.Operation) -> str:
    return ir.StringAttr(op.attributes["sym_name"]).value


def _choose_kernel(module: ir.Module, wanted: str | None) -> None:
    if wanted is None:
        return
    found = _kernels(module)
    names = [_name(k) for k in found]
    if wanted not in names:
        raise PassError(module.operation, f"no kernel '{wanted}' in the module; it has: {', '.join(names) or 'none'}")
    for op, name in zip(found, names, strict=True):
        if name != wanted:
            op.erase()


def _set_target(module: ir.Module, wanted: str | None) -> None:
    attributes = module.operation.attributes
    table = gpu_prepare.target_of(module, wanted or "")
    if wanted is None or ("wave.target" in attributes and ir.StringAttr(attributes["wave.target"]).value == table.name):
        return
    if (form := _form_of(module)) not in ("tile", "gpu"):
        raise PassError(module.operation, f"the target of a module in {form} form is settled; start from tile form")
    attributes["wave.target"] = ir.StringAttr.get(table.name)


def _set_symbols(module: ir.Module, values: dict[str, int]) -> None:
    """Give static symbols of tile-level kernels new values; a symbol no kernel has is an error."""
    unknown = dict(values)
    known: list[str] = []
    for op in _kernels(module):
        if op.name != "wave.kernel":
            continue
        table = {e.name: e.attr for e in ir.DictAttr(op.attributes["symbols"])} if "symbols" in op.attributes else {}
        known += [n for n in table if n not in known]
        for name, value in values.items():
            if name in table:
                table[name] = ir.Attribute.parse(f"#wave.expr<{value}>")
                unknown.pop(name, None)
        op.attributes["symbols"] = ir.DictAttr.get(table)
    if unknown:
        name = next(iter(unknown))
        if (form := _form_of(module)) != "tile":
            message = f"symbol '{name}' cannot be set: the module is in {form} form; start from tile form"
            raise PassError(module.operation, message)
        raise PassError(module.operation, f"no kernel has a static symbol '{name}'; there are {', '.join(known)}")


def _error(module: ir.Module, message: str) -> CompileError:
    return CompileError([Diagnostic("error", location_text(module.operation.location), message)])


def _from_pass_error(error: PassError) -> CompileError:
    return CompileError([Diagnostic("error", location_text(error.location), error.message)])
