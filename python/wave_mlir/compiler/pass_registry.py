"""Passes in Python, registered in MLIR's own registry, and running them in this process.

A pass is one file of `wave_mlir.passes`: `wave-expand` is `expand.py`. Its options are the fields of a frozen
dataclass. The registry knows a pass by its file's name and imports it when a pipeline first names it.
"""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, is_dataclass
from importlib import import_module
from types import TracebackType
from typing import ClassVar, TypeVar

from mlir import ir
from mlir.dialects.builtin import ModuleOp
from mlir.passmanager import PassManager

from wave_mlir import passes as _passes
from wave_mlir.dialect import _wave

from . import forms
from .diagnostics import ERROR, CompileError, Diagnostic, ExpressionError, PassError
from .pass_options import OptionError, option, options_of, options_text, parse_options, print_options, skip_group

__all__ = [
    "CompileError", "ModuleOp", "Pass", "PassError", "PassInfo", "load_pass", "option", "pass_names", "register_all",
    "register_pass", "run_passes", "split_pipeline",
]  # fmt: skip

PREFIX = "wave-"
ANY_OP = ""
"""Anchor of a pass that runs on any op."""


@dataclass(frozen=True)
class PassInfo:
    """What a pass declares: its flag, the forms it accepts (none: any), the form it leaves and the op it runs on."""

    name: str
    requires: tuple[str, ...]
    establishes: str | None
    anchor: str


class Pass:
    """Base of all passes: a frozen dataclass of options with `run(module)`.

    `run` gets the `builtin.module` op (or the op that `anchor` names), with its context entered, and changes it in
    place. It raises `PassError` for a user's error. One instance may run on many modules: keep no state in it.
    """

    info: ClassVar[PassInfo]

    def run(self, module: ModuleOp) -> None:
        """Transform the module in place."""
        raise NotImplementedError(type(self).__name__)

    def __str__(self) -> str:
        """The pass as a pipeline's text names it."""
        return self.info.name + options_text(self)


P = TypeVar("P", bound=type[Pass])
_classes: dict[str, type[Pass]] = {}
_registered = False


def register_pass(
    name: str,
    *,
    requires: str | Sequence[str] = (),
    establishes: str | None = None,
    anchor: str = "builtin.module",
) -> Callable[[P], P]:
    """Class decorator: make a frozen dataclass of options the MLIR pass `name`.

    requires: form or forms the module must be in; none accepts any. establishes: form it is in afterwards (set by the
    infrastructure); None leaves the form. anchor: the op the pass runs on, `ANY_OP` for any.
    """
    accepted = (requires,) if isinstance(requires, str) else tuple(requires)
    for form in (*accepted, *([establishes] if establishes else [])):
        if form not in forms.FORMS:
            raise ValueError(f"{name}: no form {form!r}; the forms are {', '.join(forms.FORMS)}")

    def register(cls: P) -> P:
        if not is_dataclass(cls):
            raise TypeError(f"{cls.__name__}: put @register_pass above @dataclass(frozen=True)")
        cls.info = PassInfo(name, accepted, establishes, anchor)
        options_of(cls)  # rejects fields that cannot be options now
        _classes[name] = cls
        _register_in_mlir(name, summary_of(cls), anchor)
        return cls

    return register


def summary_of(cls: type[Pass]) -> str:
    """The first sentence of the docstring."""
    return (cls.__doc__ or "").strip().split("\n\n")[0].replace("\n", " ").strip()


def _register_in_mlir(name: str, summary: str, anchor: str) -> None:
    if not _wave.register_pass(name, summary, anchor):
        raise ValueError(f"MLIR already has a pass called {name!r}")


# --- the registry of files ---


def pass_names() -> list[str]:
    """Flags of all passes, sorted, by the files of `wave_mlir.passes`; nothing is imported."""
    names = set()
    for folder in _passes.__path__:
        for entry in os.listdir(folder):
            stem, extension = os.path.splitext(entry)
            if extension == ".py" and not stem.startswith("_") and stem != "pipelines":
                names.add(PREFIX + stem.replace("_", "-"))
    return sorted(names)


def load_pass(name: str) -> type[Pass]:
    """The class of the pass `name`, imported on first use. Raises KeyError when there is none."""
    cls = _classes.get(name)
    if cls is None:
        if name not in pass_names():
            raise KeyError(name)
        import_module(f"{_passes.__name__}.{name.removeprefix(PREFIX).replace('-', '_')}")
        cls = _classes[name]
    return cls


def register_all(*, with_help: bool = False) -> None:
    """Make MLIR know every pass by name, for `PassManager.parse`; `run_passes` and `wave-opt` call it.

    with_help: import them all, so that --help has summaries and options; only of use on the first call.
    """
    global _registered
    if _registered:
        return
    _registered = True
    _wave.describe_passes(with_help)
    for name in pass_names():
        if with_help:
            load_pass(name)
        elif name not in _classes:
            _register_in_mlir(name, "", "builtin.module")


# --- what the extension calls ---


def _load(name: str) -> None:
    try:
        load_pass(name)
    except Exception:
        return  # _construct comes next, and says so



def _construct(name: str, text: str) -> tuple[Pass | None, list[tuple[str, str]]]:
    try:
        cls = load_pass(name)
        instance = parse_options(cls, text, name)
        if cls.info.anchor != "builtin.module" and ir.Context.current is not None:
            # mlir's PassManager.run keeps the GIL: the pass could not run in its worker threads.
            ir.Context.current.enable_multithreading(False)
    except OptionError as e:
        return None, [("", str(e))]
    except Exception as e:
        _show_traceback(e)
        return None, [("", f"internal error: pass {name} cannot be made: {type(e).__name__}: {e}")]
    return instance, print_options(instance)


def _describe(name: str) -> list[tuple[str, str]]:
    return [(s.name, s.description) for s in options_of(load_pass(name)).values()]


# Set by a pass that was interrupted: MLIR's caller raises it again. (The extension sets Python's own flag too, for
# callers that are not ours; where a shell has Control-C ignored, that one does nothing.)
_interrupts: list[bool] = []


def _run(instance: Pass, op: ir.Operation) -> bool | None:
    """Success of the pass, None: it was interrupted (KeyboardInterrupt comes up again when MLIR has returned)."""
    try:
        with op.context:
            _run_checked(instance, op)
        return True
    except PassError as e:
        _wave.emit_diagnostic(e.location, ERROR, e.message, e.notes)
    except KeyboardInterrupt:
        _interrupts.append(True)
        return None
    except ExpressionError as e:
        _show_traceback(e)
        _wave.emit_diagnostic(_op_being_worked_at(op, e.__traceback__), ERROR, str(e), [])
    except ZeroDivisionError as e:
        if not str(e).endswith(": division by zero"):  # that of an expression for some element, lane or register
            _report_internal_error(instance, op, e)
            return False
        _show_traceback(e)
        text = "an expression of this op divides by 0 at some of its points; say with select(…) what it is there"
        _wave.emit_diagnostic(_op_being_worked_at(op, e.__traceback__), ERROR, text, [])
    except BaseException as e:
        _report_internal_error(instance, op, e)
    return False


def _run_checked(instance: Pass, op: ir.Operation) -> None:
    info = instance.info
    if info.requires:
        _check_form(info, op)
    instance.run(op.opview)  # type: ignore[arg-type]
    if info.establishes is not None:
        forms.set_form(op, info.establishes)
    if _verify_forms:
        forms.verify(op)


def _check_form(info: PassInfo, op: ir.Operation) -> None:
    form = forms.form_of(op)
    if form in info.requires:
        return
    wanted = " or ".join(info.requires)
    if form is None:
        raise PassError(op, f"{info.name} needs a module in form {wanted}, and this one does not say its form: "
                            f'give it wave.form = "{info.requires[0]}" if it is in that form')
    if forms.is_before(form, info.requires[0]):
        advice = f"run the pipeline '{form}-to-{info.requires[0]}' first"
    else:
        advice = "it is past that form already: start from an earlier form"
    raise PassError(op, f"{info.name} needs a module in form {wanted}, this one is in form {form}: {advice}")


def _report_internal_error(instance: Pass, op: ir.Operation, error: BaseException) -> None:
    _show_traceback(error)
    notes: list[tuple[ir.Location, str]] = []
    text = f"{type(error).__name__}: {error}"
    if type(error).__name__ == "MLIRError":  # made at run time by mlir's __init__: not in its stubs
        infos: list[ir.DiagnosticInfo] = list(getattr(error, "error_diagnostics", ()))
        text = infos[0].message if infos else text
        notes = [(d.location, d.message) for i in infos for d in (i, *i.notes)]
    if "WAVE_TRACEBACK" not in os.environ:
        text += " (WAVE_TRACEBACK=1 shows the Python traceback)"
    where = _op_being_worked_at(op, error.__traceback__)
    _wave.emit_diagnostic(where, ERROR, f"internal error in pass {instance.info.name}: {text}", notes)


def _show_traceback(error: BaseException) -> None:
    if os.environ.get("WAVE_TRACEBACK", "0") != "0":
        traceback.print_exception(error, file=sys.stderr)


def _op_being_worked_at(root: ir.Operation, trace: TracebackType | None) -> ir.Location:
    """Location of the innermost local variable `op` of the frames that is still in the module, else the root's."""
    frames = []
    while trace is not None:
        frames.append(trace.tb_frame)
        trace = trace.tb_next
    for frame in reversed(frames):
        candidate = frame.f_locals.get("op")
        if isinstance(candidate, ir.OpView | ir.Operation):
            try:
                if _wave.contains_op(root, candidate.operation):
                    return candidate.operation.location
            except (RuntimeError, TypeError):  # it was erased
                continue
    return root.location


_verify_forms = os.environ.get("WAVE_VERIFY_FORMS", "0") != "0"


def set_verify_forms(on: bool) -> bool:
    """Verify the form of the module after each pass written in Python; returns what was set before."""
    global _verify_forms
    before, _verify_forms = _verify_forms, on
    return before


# --- running passes in process ---


def split_pipeline(text: str) -> list[str]:
    """The outermost passes of `builtin.module(a,b{x=1},gpu.module(c,d))`; the `builtin.module` may be left out."""
    text = text.strip()
    if text.startswith("builtin.module(") and text.endswith(")"):
        text = text[len("builtin.module(") : -1]
    parts, depth, start, i = [], 0, 0, 0
    while i < len(text):
        if text[i] == "{":
            i = skip_group(text, i)
            continue
        depth += (text[i] == "(") - (text[i] == ")")
        if text[i] == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
        i += 1
    return [*parts, text[start:].strip()]


def run_passes(
    module: ir.Module | ModuleOp | ir.Operation,
    pipeline: str | Sequence[str],
    *,
    verify_forms: bool = False,
    verify_ir: bool = True,
    timing: dict[str, float] | None = None,
) -> None:
    """Run passes on a module, in place.

    pipeline: `builtin.module(…)`, a comma separated list, or a sequence, of passes and named pipelines.
    verify_forms: check the module's form after each pass of ours. verify_ir: MLIR's verifier after each pass.
    timing: gets seconds by outermost pass.

    Raises CompileError with the located diagnostics; the module is then in the state the failing pass left it in.
    """
    register_all()
    parts = _expand_named(split_pipeline(pipeline) if isinstance(pipeline, str) else pipeline)
    with _verifying(verify_forms):
        if timing is None:
            _run_one(module.operation, ",".join(parts), verify_ir)
            return
        for part in parts:
            started = time.perf_counter()
            _run_one(module.operation, part, verify_ir)
            timing[part] = timing.get(part, 0.0) + time.perf_counter() - started


def _expand_named(parts: Sequence[str]) -> list[str]:
    """The same with named pipelines replaced by their passes."""
    pipelines = import_module(f"{_passes.__name__}.pipelines")
    names = set(pipelines.pipeline_names())
    try:
        return [p for part in parts for p in (pipelines.expand(part) if part.split("{")[0] in names else [part])]
    except OptionError as e:
        raise CompileError([Diagnostic("error", "<pipeline>", str(e))]) from None


def _run_one(op: ir.Operation, passes: str, verify_ir: bool) -> None:
    with op.context:
        try:
            manager = PassManager.parse(f"builtin.module({passes})")
        except ValueError as e:
            raise CompileError([Diagnostic("error", "<pipeline>", str(e).strip())]) from None
        manager.enable_verifier(verify_ir)
        _interrupts.clear()
        succeeded, errors = _wave.run_pipeline(manager, op)
    if not succeeded:
        if _interrupts:
            raise KeyboardInterrupt
        raise CompileError([Diagnostic.of(e) for e in errors])


@contextmanager
def _verifying(on: bool) -> Iterator[None]:
    before = set_verify_forms(_verify_forms or on)
    try:
        yield
    finally:
        set_verify_forms(before)


_wave.set_pass_hooks(_load, _construct, _describe, _run)
