"""The decorator `wave`, and a kernel function as a module in tile form."""

from __future__ import annotations

import copy
import inspect
import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import TYPE_CHECKING

import sympy
from mlir import ir

from wave_mlir.compiler import targets
from wave_mlir.compiler.diagnostics import CompileError, Diagnostic
from wave_mlir.dialect import Expr, builders
from wave_mlir.lang import tracing
from wave_mlir.lang.dtypes import DataType
from wave_mlir.lang.symbols import to_expr
from wave_mlir.lang.types import MemoryType, SymbolBindType

from . import misuse, source
from .bindings import Bindings
from .constraint_attrs import ConstraintWriter
from .constraints import Assumption, Constraint, TilingConstraint
from .debug_log import DebugLog, with_names
from .elementwise import broadcast_to
from .trace import Trace
from .values import MemoryValue, Value

if TYPE_CHECKING:
    from .compile import CompiledKernel

Annotation = MemoryType | DataType | SymbolBindType


@dataclass(frozen=True)
class Parameter:
    """An argument of a kernel: its name and what it is annotated with."""

    name: str
    kind: Annotation


class WaveKernel:
    """A kernel function with its constraints, to be given to `wave_compile`."""

    def __init__(
        self,
        function: FunctionType,
        constraints: Sequence[Constraint],
        scope: Mapping[str, object],
        compat: bool = False,
    ) -> None:
        self.function = function
        self.compat = compat
        """Written for the existing Wave package: what that takes in silence is taken (docs/compat.md)."""
        if not isinstance(constraints, Sequence):
            where = source.function_position(function)
            raise source.error(f"wave: a list of constraints is needed; {constraints!r} was given", where)
        self.constraints = tuple(constraints)
        self.name = function.__name__
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self.position = source.function_position(function)
        self.parameters = _parameters(function, scope, self.position)
        self.compiled: dict[Hashable, CompiledKernel] = {}
        """What `wave_compile` made of it in this process, by what it depended on."""

    def __call__(self, *_: object) -> None:
        raise source.error(
            f"kernel {self.name} is not compiled; call what wave_compile(WaveCompileOptions(subs=…), {self.name}) gives"
        )

    def __repr__(self) -> str:
        return f"<wave kernel {self.name}>"

    def without_assumptions(self) -> WaveKernel:
        """The same kernel, for any sizes."""
        made = copy.copy(self)
        made.constraints = tuple(c for c in self.constraints if not isinstance(c, Assumption))
        made.compiled = {}
        return made

    def trace(
        self,
        subs: Mapping,
        dynamic_symbols: Sequence[sympy.Symbol | str] = (),
        target: str = "gfx942",
        name: str | None = None,
    ) -> ir.Module:
        """The module in tile form, in a context of its own; `name` instead of the function's own.

        Raises CompileError at the user's line.
        """
        return self.trace_with_logs(subs, dynamic_symbols, target, name)[0]

    def trace_with_logs(
        self,
        subs: Mapping,
        dynamic_symbols: Sequence[sympy.Symbol | str] = (),
        target: str = "gfx942",
        name: str | None = None,
    ) -> tuple[ir.Module, list[DebugLog]]:
        """`trace`, and what the kernel logs: each log is one more memory argument behind the kernel's own."""
        context = ir.Context()
        context.enable_multithreading(False)
        with context, ir.Location.file(*self.position), misuse.located(self.position, f"kernel {self.name}"):
            return _build(self, Bindings(subs, dynamic_symbols), _target(target, self.position), name or self.name)


def wave(constraints: Sequence[Constraint], compat: bool = False) -> Callable[[FunctionType], WaveKernel]:
    """The decorator that makes a function a kernel: `@wave(constraints)`. compat: see `WaveKernel.compat`."""
    scope = dict(sys._getframe(1).f_locals)  # annotations that are text may name what is local to the factory

    def decorate(function: FunctionType) -> WaveKernel:
        return WaveKernel(function, constraints, scope, compat)

    return decorate


def _target(name: str, where: tuple[str, int, int]) -> targets.Target:
    try:
        return targets.get(name)
    except targets.TargetError as error:
        raise source.error(str(error), where) from None


def _parameters(
    function: FunctionType, scope: Mapping[str, object], where: tuple[str, int, int]
) -> tuple[Parameter, ...]:
    try:
        signature = inspect.signature(function, eval_str=True, locals=scope)
    except NameError as error:
        raise source.error(
            f"kernel {function.__name__}: an annotation names what is not defined: {error}", where
        ) from None
    found = []
    for name, parameter in signature.parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise source.error(
                f"kernel {function.__name__}: {parameter} stands for any number of arguments; name each one", where
            )
        if not isinstance(parameter.annotation, Annotation):
            raise source.error(
                f"kernel {function.__name__}: argument {name} needs an annotation: tkl.Memory[…], an element type for "
                "a scalar, or tkl.SymbolBind[…]",
                where,
            )
        found.append(Parameter(name, parameter.annotation))
    return tuple(found)


def _build(
    kernel: WaveKernel, bindings: Bindings, target: targets.Target, name: str
) -> tuple[ir.Module, list[DebugLog]]:
    for parameter in kernel.parameters:
        if isinstance(parameter.kind, SymbolBindType):
            bindings.add_dynamic(parameter.name)
    trace = Trace(bindings, target, compat=kernel.compat)
    token = tracing.active.set(trace)
    try:
        return _module(kernel, trace, name), trace.debug_logs
    finally:
        tracing.active.reset(token)


def _module(kernel: WaveKernel, trace: Trace, name: str) -> ir.Module:
    module = builders.module("tile", trace.target.name)
    writer = ConstraintWriter(trace, kernel.constraints, kernel.position)
    trace.default_mma = writer.hardware().mma_type
    trace.units = writer.unit_dims()
    trace.wave_parts = writer.wave_parts()
    kinds = {p.name: trace.kind_of(p.kind, p.name) for p in kernel.parameters if isinstance(p.kind, MemoryType)}
    trace.sized = {s.name for kind in kinds.values() if kind.layout is None for s in _free_symbols(kind.shape)}
    memories = {name: (kind, *trace.memory_type(kind, name)) for name, kind in kinds.items()}
    types = {}
    for parameter in kernel.parameters:
        if isinstance(parameter.kind, MemoryType):
            types[parameter.name] = memories[parameter.name][1]
        elif isinstance(parameter.kind, DataType):
            types[parameter.name] = parameter.kind.ir_type()
    with ir.InsertionPoint(module.body), builders.kernel(name, types) as made:
        arguments = [_argument(trace, p, made.args, memories) for p in kernel.parameters]
        trace.kernel = made
        result = kernel.function(*arguments)
        if result is not None:
            raise source.error(f"kernel {kernel.name} returns a value; write results with tkw.write", kernel.position)
    _take_whole_tables(trace, made.args)
    attributes = made.op.operation.attributes
    attributes["constraints"] = ir.ArrayAttr.get(writer.attributes())
    attributes["symbols"] = ir.DictAttr.get(_symbols(trace, kernel))
    attributes["arg_names"] = with_names(attributes, trace.debug_logs)
    attributes["dynamic"] = ir.ArrayAttr.get([ir.StringAttr.get(n) for n in trace.bindings.dynamic])
    _verify(module)
    return module


def _take_whole_tables(trace: Trace, arguments: Mapping[str, ir.Value]) -> None:
    """A table that is longer than its dim, by its layout, is bounded by its own extent where it is only read: a
    mapping may look up any of its elements."""
    for name, whole in trace.whole_tables.items():
        if all(use.owner.name == "wave.read" for use in arguments[name].uses):
            arguments[name].set_type(whole)


def _argument(trace: Trace, parameter: Parameter, args: Mapping[str, ir.Value], memories: Mapping):
    kind = parameter.kind
    if isinstance(kind, MemoryType):
        own, _, dims, space = memories[parameter.name]
        return MemoryValue(args[parameter.name], parameter.name, own, dims, space)
    if isinstance(kind, DataType):
        return Value(args[parameter.name], (), kind)
    with source.location():
        made = builders.scalar(Expr.symbol(parameter.name), kind.dtype.ir_type())
    return broadcast_to(Value(made, (), kind.dtype), ())


def _symbols(trace: Trace, kernel: WaveKernel) -> dict[str, Expr]:
    """Static symbols that the kernel uses, with those their values use. An unbound one is an error at its first use."""
    found: dict[str, Expr] = {}
    pending = list(trace.used)
    extents = {s.name for p in kernel.parameters if isinstance(p.kind, MemoryType) for s in _free_symbols(p.kind.shape)}
    while pending:
        name = pending.pop(0)
        if name in found or "." in name or name in ("lane", *trace.bindings.dynamic):
            continue
        if name in trace.set_symbols and name not in trace.bindings.values and name not in trace.launch_values:
            if name in extents:  # its value at the launch is the tensor's extent, until the kernel sets it
                trace.bindings.add_dynamic(name)
            continue
        if name in trace.derived:
            value = trace.derived[name]
        elif name in trace.launch_values:
            value = trace.launch_values[name]
            if name in trace.set_symbols and not value.symbols:  # a number would bound what the kernel sets
                continue
        elif name in trace.bindings.values:
            value = to_expr(trace.bindings.values[name], exact=True)
        elif name in _loop_axes(kernel):
            continue
        else:
            raise source.error(
                f"symbol {name} has no value: bind it in subs={{{name}: …}} or list it in dynamic_symbols",
                trace.used.get(name, kernel.position),
            )
        found[name] = value
        pending += value.symbols
    return found


def _free_symbols(shape: Sequence) -> list[sympy.Symbol]:
    return [s for e in shape if isinstance(e, sympy.Basic) for s in e.free_symbols]


def _loop_axes(kernel: WaveKernel) -> set[str]:
    """Dims that only a while loop walks: their tiling constraint has no tile."""
    return {c.dim.name for c in kernel.constraints if isinstance(c, TilingConstraint) and c.tile_size is None}


def _verify(module: ir.Module) -> None:
    try:
        module.operation.verify()
    except ir.MLIRError as error:  # pyright: ignore[reportAttributeAccessIssue]
        found = [Diagnostic.of_mlir(d) for d in error.error_diagnostics]
        raise CompileError(found or [Diagnostic("error", "<kernel>", str(error))]) from None
