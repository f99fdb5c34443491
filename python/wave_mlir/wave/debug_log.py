"""`debug_log`: tiles that a call of the kernel leaves behind for the user to look at.

Each log is one more memory argument of the kernel, behind the user's own; a call makes the arrays, and gives them to
`debug_logs`, printers and handlers when the kernel has run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass

import sympy
from mlir import ir

from wave_mlir.dialect import Expr, builders
from wave_mlir.lang.mapping import IndexMapping
from wave_mlir.lang.symbols import ExprLike, index_symbol
from wave_mlir.lang.types import AddressSpace, MemoryType

from . import source
from .memory_ops import write
from .trace import Trace, current, want_value
from .values import MemoryValue, Value

Printer = Callable[[str, object], object]
Handler = Callable[[MutableMapping[str, dict[str, object]]], object]
Iterations = Sequence[tuple[sympy.Symbol, sympy.Symbol, int]]


@dataclass(frozen=True)
class DebugLog:
    """One log. argument: the name of its memory; label: the user's; dims: those of the memory, the loops' first."""

    argument: str
    label: str
    dims: tuple[ExprLike, ...]
    loops: tuple[sympy.Symbol, ...]
    printer: Printer | None
    handler: Handler | None


def debug_log(
    register_: Value,
    label: str | None = None,
    extra_iteration_dimensions: Iterations | None = None,
    mapping: IndexMapping | None = None,
    mapping_dynamic_vals: Value | Sequence[Value] = (),
    printer: Printer | None = None,
    handler: Handler | None = None,
) -> None:
    """Keep the tile of all workgroups: a call of the kernel puts it in the dict given as `debug_logs=`.

    The entry of `label` has `value` (an array of the tile's dims; elements that nobody writes are 0), `symbolic_shape`
    and `iteration_dimensions`. `extra_iteration_dimensions`: (symbol, axis, size) adds a dim of `size` for the trips of
    the loop over `axis`. `mapping`: as of a write. After a call `printer` gets label and value, `handler` all logs.
    """
    trace = current("debug_log")
    value = want_value(register_, "debug_log")
    number = len(trace.debug_logs)
    name = label or f"debug_log_output_{number}"
    if any(log.label == name for log in trace.debug_logs):
        raise source.error(f"debug_log: there is another log '{name}'; give each its own label")
    loops = list(extra_iteration_dimensions or ())
    dims: list[ExprLike] = [_symbol(trace, d) for d in value.dims] if mapping is None else list(mapping.outputs)
    memory = _memory(trace, loops, dims, value)
    trace.debug_logs.append(
        DebugLog(memory.name, name, memory.type.shape, tuple(s for s, _, _ in loops), printer, handler)
    )
    write(value, memory, mapping=_at_trip(trace, loops, dims, mapping), mapping_dynamic_vals=mapping_dynamic_vals)


def _symbol(trace: Trace, dim: str) -> ExprLike:
    """The dim as a symbol. A size that the kernel sets is not known when a call makes the array."""
    if dim in trace.set_symbols and dim not in trace.launch_values and dim not in trace.bindings.values:
        raise source.error(f"debug_log: dim {dim} has no size at the launch, the kernel sets it; give a mapping")
    return index_symbol(dim)


def _memory(trace: Trace, loops: Iterations, dims: Sequence[ExprLike], value: Value) -> MemoryValue:
    """One more argument of the kernel, named by its number: labels are any text, and may be other arguments' names."""
    if trace.kernel is None:
        raise source.error("debug_log was called outside of a kernel")
    name = f"debug_log.{len(trace.debug_logs)}"  # no name in Python has a dot
    names = trace.dims([*(s for s, _, _ in loops), *dims], "debug_log")
    extents = [Expr.constant(int(size)) for _, _, size in loops]
    extents += [trace.derived.get(n, Expr.symbol(n)) for n in names[len(loops) :]]
    for (symbol, _, size), dim in zip(loops, names, strict=False):
        trace.bindings.values.setdefault(dim, int(size))
        if trace.bindings.values[dim] != size:
            raise source.error(f"debug_log: {symbol} = {size}, and subs has {trace.bindings.values[dim]} for it")
    kind = MemoryType((*(s for s, _, _ in loops), *dims), AddressSpace.GLOBAL_MEMORY, value.dtype)
    made = builders.MemoryType.get(extents, value.dtype.ir_type(), "global", None)
    with source.location() as location:
        argument = trace.kernel.op.body.blocks[0].add_argument(made, location)
    return MemoryValue(argument, name, kind, names, "global")


def _at_trip(
    trace: Trace, loops: Iterations, dims: Sequence[ExprLike], mapping: IndexMapping | None
) -> IndexMapping | None:
    """The mapping of the write: the trip counters of loops, then the tile's own place."""
    if not loops:
        return mapping
    trips: dict[ExprLike, ExprLike] = {}
    for symbol, axis, _ in loops:
        counter = f"__trip_{trace.dim(axis, 'debug_log')}"
        trace.aliases[counter] = Expr.symbol(f"iv.{trace.dim(axis, 'debug_log')}")
        trips[symbol] = index_symbol(counter)
    if mapping is None:
        own = {dim: IndexMapping.iterator(n) for n, dim in enumerate(dims)}
        return IndexMapping(len(own), own, {**trips, **own})  # type: ignore[arg-type]
    outputs = {**trips, **mapping.outputs}
    return IndexMapping(mapping.num_iterators, mapping.inputs, outputs, mapping.dynamic_val_mappings)  # type: ignore[arg-type]


def with_names(attributes: Mapping, logs: Sequence[DebugLog]) -> ir.ArrayAttr:
    """The names of a kernel's arguments with those of its logs."""
    return ir.ArrayAttr.get([*attributes["arg_names"], *(ir.StringAttr.get(log.argument) for log in logs)])
