"""Forms of a module: what holds between two groups of passes, and the verifiers that check it.

The order, and what each form promises, is in docs/design.md. A module carries its form in the attribute `wave.form`.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from importlib import import_module

from mlir import ir

from . import form_verifiers
from .diagnostics import PassError

FORMS = ("tile", "typed", "placed", "staged", "lane", "scheduled", "gpu", "rocdl")
"""All forms, in the order of lowering."""

ATTRIBUTE = "wave.form"

Verifier = Callable[[ir.Operation], None]
_verifiers: dict[str, list[Verifier]] = {form: [] for form in FORMS}
_loaded = False


def form_verifier(*forms: str) -> Callable[[Verifier], Verifier]:
    """Register a function that checks a module op for these forms; it raises `PassError` on the first thing wrong."""
    for form in forms:
        if form not in FORMS:
            raise ValueError(f"no form {form!r}; the forms are {', '.join(FORMS)}")

    def register(function: Verifier) -> Verifier:
        for form in forms:
            _verifiers[form].append(function)
        return function

    return register


def form_of(op: ir.Operation) -> str | None:
    """The form of the module that `op` is in (the nearest op with `wave.form`), or None where none is declared."""
    current: ir.Operation | None = op
    while current is not None:
        if ATTRIBUTE in current.attributes:
            attribute = current.attributes[ATTRIBUTE]
            if isinstance(attribute, ir.StringAttr) and attribute.value in FORMS:
                return attribute.value
            raise PassError(current, f"wave.form is {attribute}; it must be one of {', '.join(FORMS)} (a string)")
        parent = current.parent
        current = parent.operation if parent is not None else None
    return None


def set_form(module: ir.Operation, form: str) -> None:
    """Declare that `module` is in `form`."""
    module.attributes[ATTRIBUTE] = ir.StringAttr.get(form, context=module.context)


def is_before(a: str, b: str) -> bool:
    """Does form `a` come before form `b` in lowering?"""
    return FORMS.index(a) < FORMS.index(b)


def _load_verifiers() -> None:
    """Import every module of the package of verifiers, once."""
    global _loaded
    if not _loaded:
        for info in pkgutil.iter_modules(form_verifiers.__path__):
            import_module(f"{form_verifiers.__name__}.{info.name}")
        _loaded = True


def verify(module: ir.Module | ir.Operation | ir.OpView) -> None:
    """Check that a module is what its `wave.form` promises (a module without one promises nothing).

    Raises `PassError`, located at the first op that breaks the form.
    """
    op = module.operation
    form = form_of(op)
    if form is None:
        return
    _load_verifiers()
    for function in _verifiers[form]:
        function(op)
