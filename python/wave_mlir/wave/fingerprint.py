"""A kernel's Python as a value: its code, and everything it reads besides its arguments, as it is now.

Two equal fingerprints of one kernel say that tracing it again gives the same program, so that it need not be traced.
What cannot be known to be a constant (an object of a class of the user's, a module of theirs) has no fingerprint: such
a kernel is traced each time.
"""

from __future__ import annotations

import builtins
import dataclasses
import enum
import functools
from collections.abc import Hashable, Iterator, Mapping
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType

import numpy as np
import sympy

_TRUSTED = ("wave_mlir", "wave_lang", "sympy", "math", "numpy", "torch", "functools", "operator", "itertools", "typing")
"""Packages whose functions, classes and modules do not change while a program runs."""
_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))


class NoFingerprint(Exception):
    """A value that may change without being seen to."""


def fingerprint(*values: object) -> Hashable:
    """The values as they are now, hashable. Raises NoFingerprint."""
    return _Fingerprints().of(values)


class _Fingerprints:
    def __init__(self) -> None:
        self.seen: dict[int, int] = {}  # functions on the way, which may call each other

    def of(self, value: object) -> Hashable:
        if isinstance(value, _PLAIN):
            return type(value).__name__, repr(value)
        if isinstance(value, (sympy.Basic, enum.Enum, np.dtype, CodeType)):
            return type(value).__name__, value
        if isinstance(value, np.generic):
            return type(value).__name__, repr(value.item())
        if isinstance(value, (tuple, list)):
            return type(value).__name__, tuple(self.of(v) for v in value)
        if isinstance(value, Mapping):
            return "mapping", tuple((self.of(k), self.of(v)) for k, v in value.items())
        if isinstance(value, (set, frozenset)):
            return "set", frozenset(self.of(v) for v in value)
        return self._structured(value)

    def _structured(self, value: object) -> Hashable:
        if isinstance(value, FunctionType):
            return self._function(value)
        if isinstance(value, functools.partial):
            return "partial", self.of(value.func), self.of(value.args), self.of(value.keywords)
        if isinstance(value, (ModuleType, type, BuiltinFunctionType)):
            return self._named(value)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = tuple((f.name, self.of(getattr(value, f.name))) for f in dataclasses.fields(value))
            return type(value).__qualname__, fields
        if _is_trusted(type(value).__module__) and not vars_of(value):
            return "object", type(value).__qualname__
        raise NoFingerprint(f"{type(value).__name__} may change without being seen to")

    def _named(self, value: ModuleType | type | BuiltinFunctionType) -> Hashable:
        home = value.__name__ if isinstance(value, ModuleType) else value.__module__ or ""
        if not (_is_trusted(home) or home == builtins.__name__):
            raise NoFingerprint(f"{value!r} may change without being seen to")
        return type(value).__name__, home, getattr(value, "__qualname__", "")

    def _function(self, function: FunctionType) -> Hashable:
        if id(function) in self.seen:
            return "again", self.seen[id(function)]
        if _is_trusted(function.__module__ or "") and function.__closure__ is None:
            return "function", function.__module__, function.__qualname__
        self.seen[id(function)] = len(self.seen)
        code = function.__code__
        return (
            "function",
            code.co_filename,
            code,
            self.of(function.__defaults__),
            self.of(function.__kwdefaults__),
            tuple(self._cell(c) for c in function.__closure__ or ()),
            tuple((name, self.of(value)) for name, value in _globals_read(function)),
        )

    def _cell(self, cell: object) -> Hashable:
        try:
            return self.of(cell.cell_contents)  # type: ignore[attr-defined]
        except ValueError:  # nothing is in it yet
            return ("empty",)


def _is_trusted(module: str) -> bool:
    return module.partition(".")[0] in _TRUSTED


def vars_of(value: object) -> Mapping[str, object]:
    """The attributes an object has of its own."""
    return getattr(value, "__dict__", {})


def _globals_read(function: FunctionType) -> Iterator[tuple[str, object]]:
    """Globals whose names occur in the code, in nested functions too (attributes of the same name among them)."""
    names: dict[str, None] = {}
    pending = [function.__code__]
    while pending:
        code = pending.pop()
        names.update(dict.fromkeys(code.co_names))
        pending += [c for c in code.co_consts if isinstance(c, CodeType)]
    for name in names:
        if name in function.__globals__:
            yield name, function.__globals__[name]
