"""Reads, writes, atomics, allocation."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence

import sympy
from mlir import ir

from wave_mlir.compiler.tile_ir import DIRECT
from wave_mlir.dialect import Expr, MappingAttr, builders
from wave_mlir.dialect import wave as ops
from wave_mlir.lang.dtypes import DataType, i64
from wave_mlir.lang.mapping import IndexMapping
from wave_mlir.lang.symbols import ExprLike, dialect_name, index_symbol
from wave_mlir.lang.types import AddressSpace, MemoryType

from . import source
from .elementwise import broadcast_to, cast, select
from .iterator_mapping import Positions, mapping_of
from .respread import respread
from .source import location
from .trace import Trace, current, tagged, want_memory, want_value
from .values import MemoryValue, Value
from .wave_parts import divided, identity

Values = Value | Sequence[Value]
Dynamic = Values


class MemoryAccessFlags(enum.Flag):
    """How an access goes."""

    NONE = 0
    VOLATILE = 1
    NONTEMPORAL = 2


def _flags(flags: MemoryAccessFlags) -> dict[str, bool]:
    return {
        "volatile": MemoryAccessFlags.VOLATILE in flags,
        "nontemporal": MemoryAccessFlags.NONTEMPORAL in flags,
    }


def elements(trace: Trace, count: ExprLike | None) -> int | None:
    """`elements_per_thread` as a number."""
    if count is None:
        return None
    value = trace.expr(count, exact=True).simplify()
    if value.constant_value is None and isinstance(count, sympy.Symbol):
        static = trace.bindings.integer(count.name)
    elif value.constant_value is None:
        static = _static(trace, value)
    else:
        static = value.constant_value
    if static is None or static < 1:
        raise source.error(f"elements_per_thread = {count} is no positive number at compile time; bind it in subs")
    return static


def _static(trace: Trace, value) -> int | None:
    values = {name: trace.bindings.integer(name) for name in value.symbols}
    known = {n: v for n, v in values.items() if v is not None}
    return value.eval(known) if len(known) == len(values) else None


def as_tuple(values: Dynamic) -> tuple[Value, ...]:
    given = (values,) if isinstance(values, Value) else tuple(values)
    checked = [want_value(v, "mapping_dynamic_vals") for v in given]
    return tuple(broadcast_to(v, ()) if v.is_scalar else v for v in checked)


def _mapping(
    trace: Trace,
    mapping: IndexMapping,
    memory: MemoryValue,
    tile_side: Mapping[sympy.Symbol, ExprLike],
    memory_side: Mapping[sympy.Symbol, ExprLike],
    dynamic: Sequence[Value],
) -> tuple[MappingAttr, tuple[str, ...], list[ir.Value]]:
    """The mapping's attribute, the tile's dims, and the dynamic values."""
    iterators = {}
    tile_side, memory_side = _of_parts(trace, memory, tile_side, memory_side)
    for dim, expression in tile_side.items():
        if not isinstance(expression, sympy.Symbol) or expression not in mapping.iterators:
            raise source.error(f"mapping: on the tile's side dim {dim} must be one iterator; it is {expression}")
        iterators[trace.dim(dim, "mapping")] = dialect_name(expression)
    if len(set(iterators.values())) != len(iterators):
        raise source.error(
            f"mapping: two dims of the tile have the same iterator; give each of {list(iterators)} its own"
        )
    named = {trace.dim(d, "mapping"): e for d, e in memory_side.items()}
    for dim, expression in named.items():
        if dim not in memory.dims and iterators.get(dim) != _name_of(expression):
            raise source.error(f"mapping: memory {memory.name} has dims {', '.join(memory.dims)}, and no dim {dim}")
    _drop_set_dims(trace, iterators, named, mapping)
    missing = [d for d in memory.dims if d not in named]
    if missing:
        raise source.error(f"mapping: no coordinate for dim {', '.join(missing)} of memory {memory.name}")
    if len(mapping.dynamic) != len(dynamic):
        raise source.error(
            f"mapping: {len(mapping.dynamic)} dynamic_val_mappings and {len(dynamic)} mapping_dynamic_vals; "
            "give one mapping for each value"
        )
    coordinates = [trace.expr(named[d]) for d in memory.dims]
    places = [_own_dims(trace, m, value, iterators) for m, value in zip(mapping.dynamic, dynamic, strict=True)]
    values = [respread(trace, v, p, iterators) for v, p in zip(dynamic, places, strict=True)]
    iterators, coordinates = divided(trace, iterators, coordinates, mapping.num_iterators + len(iterators))
    maps = [{d: Expr.symbol(iterators[d]) for d in v.dims} for v in values]
    return MappingAttr.get(iterators, coordinates, maps), tuple(iterators), [v.ir for v in values]


def _of_parts(
    trace: Trace,
    memory: MemoryValue,
    tile_side: Mapping[sympy.Symbol, ExprLike],
    memory_side: Mapping[sympy.Symbol, ExprLike],
) -> tuple[Mapping[sympy.Symbol, ExprLike], Mapping[sympy.Symbol, ExprLike]]:
    """Both sides with K named as the dim of memory that is a part of it, K / 2, where memory has that and no K."""
    parts: dict[ExprLike, ExprLike] = {}
    named = {trace.dim(d, "mapping") for d in memory_side}
    for extent, dim in zip(memory.type.shape, memory.dims, strict=True):
        if isinstance(extent, sympy.Symbol) or not isinstance(extent, sympy.Expr) or dim in named:
            continue
        whole = [s for s in extent.free_symbols if s in memory_side and trace.dim(s, "mapping") not in memory.dims]
        if len(whole) == 1:
            parts[whole[0]] = extent
    if not parts:
        return tile_side, memory_side
    return {parts.get(d, d): e for d, e in tile_side.items()}, {parts.get(d, d): e for d, e in memory_side.items()}


def _drop_set_dims(
    trace: Trace, iterators: dict[str, str], memory_side: Mapping[str, ExprLike], mapping: IndexMapping
) -> None:
    """Leave out dims of the tile that mean nothing: the kernel sets the dim's symbol, which itself is the coordinate.

    Each point takes its own value of the symbol: the tile has the dims of what was set instead.
    """
    used = {s for e in memory_side.values() if isinstance(e, sympy.Basic) for s in e.free_symbols}
    used |= {s for m in mapping.dynamic for e in m.values() if isinstance(e, sympy.Basic) for s in e.free_symbols}
    for dim, name in list(iterators.items()):
        if dim in trace.set_symbols and index_symbol(dim) in used and name not in {_name_of(s) for s in used}:
            del iterators[dim]
            for own in trace.set_symbols[dim]:
                iterators.setdefault(own, f"i{mapping.num_iterators + len(iterators)}")


def _name_of(expression: ExprLike) -> str | None:
    return dialect_name(expression) if isinstance(expression, sympy.Symbol) else None


def _own_dims(
    trace: Trace, places: Mapping[sympy.Symbol, ExprLike], value: Value, iterators: Mapping[str, str]
) -> dict[str, Expr]:
    """Where in a dynamic value the point's element is. Dims that the value lacks may be named, with their iterators."""
    named = {trace.dim(d, "mapping"): e for d, e in places.items()}
    if value.dims and len(named) == len(value.dims) and not set(named) & set(value.dims):
        named = dict(zip(value.dims, named.values(), strict=True))  # by dims of the points, one for each of its own
    return {d: trace.expr(e) for d, e in named.items() if d in value.dims or iterators.get(d) != _name_of(e)}


def _identity(trace: Trace, memory: MemoryValue) -> MappingAttr | None:
    """The mapping of an access without one, where the memory's extents are not those of its dims (MemoryLayout)."""
    shape = [e.name for e in memory.ir.type.shape]
    if memory.type.layout is None or shape == list(memory.dims):
        return None
    names = {d: f"i{n}" for n, d in enumerate(memory.dims)}
    return MappingAttr.get(names, [Expr.symbol(n) for n in names.values()], [])


def _is_positional(
    what: str, mapping: IndexMapping | None, source_side: Positions | None, target_side: Positions | None
) -> bool:
    """Whether an access says its places by `source=` and `target=`; half of that is an error."""
    if source_side is None and target_side is None:
        return False
    if source_side is None or target_side is None:
        raise source.error(f"{what}: source= and target= go together; give both")
    if mapping is not None:
        raise source.error(f"{what}: give mapping=, or source= and target=, not both")
    return True


def _forget_iterators(trace: Trace, mapping: IndexMapping) -> None:
    """Iterators and dynamic values are names inside the mapping, not symbols of the kernel."""
    inner = [*mapping.iterators, *(IndexMapping.dynamic_val(i) for i in range(len(mapping.dynamic)))]
    for symbol in inner:
        trace.used.pop(dialect_name(symbol), None)


def read(
    memory: MemoryValue,
    elements_per_thread: ExprLike | None = None,
    mapping: IndexMapping | None = None,
    mapping_dynamic_vals: Dynamic = (),
    flags: MemoryAccessFlags = MemoryAccessFlags.NONE,
    source: Positions | None = None,
    target: Positions | None = None,
    bounds: Mapping[sympy.Symbol, ExprLike] | None = None,
    tag: str | None = None,
) -> Value:
    """The tile of `memory` that belongs to the workgroup; with `mapping` the points it says.

    `source`: a coordinate for each memory dim, over the iterators of `IteratorBindings` or a tile of positions;
    `target`: the iterators of the result's dims. Elements outside of the memory read as 0, and those at or beyond the
    coordinate that `bounds` has for a dim of the result. `tag`: a name for a manual schedule.
    """
    trace = current("read")
    source_memory = want_memory(memory, "read")
    if _is_positional("read", mapping, source, target):
        mapping, mapping_dynamic_vals = mapping_of(trace, "read", source_memory, target, source)  # type: ignore[arg-type]
    dynamic = as_tuple(mapping_dynamic_vals)
    attribute, dims, values = None, source_memory.dims, []
    if mapping is not None:
        attribute, dims, values = _mapping(trace, mapping, source_memory, mapping.outputs, mapping.inputs, dynamic)
        _forget_iterators(trace, mapping)
    elif any(d in trace.wave_parts for d in dims):
        own, coordinates = identity(trace, dims)
        attribute, dims = MappingAttr.get(own, coordinates, []), tuple(own)
    else:
        attribute = _identity(trace, source_memory)
    with location():
        result = builders.read(
            source_memory.ir,
            trace.tile_type(dims, source_memory.dtype),
            mapping=attribute,
            dynamic=values,
            elements_per_thread=elements(trace, elements_per_thread),
            **_flags(flags),
        )
    tagged(result.owner, tag)
    value = trace.value(result, dims, source_memory.dtype)
    return value if not bounds else _bounded(trace, value, bounds)


def _bounded(trace: Trace, value: Value, bounds: Mapping[sympy.Symbol, ExprLike]) -> Value:
    """The tile with 0 where its coordinate along a dim reaches a bound."""
    from .compute_ops import apply_expr, self_index  # these are built on accesses' checks

    for dim, bound in bounds.items():
        inside = apply_expr(self_index(dim, i64), lambda x, bound=bound: x < bound)
        zero = trace.filled(0, value.dims, value.dtype)
        value = select(broadcast_to(inside, value.dims), value, zero)
    return value


def target_of(
    what: str, register: Value, memory: MemoryValue, mapping: IndexMapping | None, mapping_dynamic_vals: Dynamic
) -> tuple[Value, MemoryValue, MappingAttr | None, list[ir.Value]]:
    """The checked operands of something that stores."""
    trace = current(what)
    value, target = want_value(register, what), want_memory(memory, what)
    dynamic = as_tuple(mapping_dynamic_vals)
    if value.dtype.mlir != target.dtype.mlir and trace.compat and what == "write":
        value = cast(value, target.dtype)
    if value.dtype.mlir != target.dtype.mlir:
        raise source.error(
            f"{what}: a tile of {value.dtype} into memory {target.name} of {target.dtype}; "
            f"convert it: tkw.cast(x, tkl.{target.dtype})"
        )
    if mapping is None and any(d in trace.wave_parts for d in target.dims):
        own, coordinates = identity(trace, target.dims)
        return broadcast_to(value, tuple(own)), target, MappingAttr.get(own, coordinates, []), []
    if mapping is None:
        if not set(value.dims) <= set(target.dims):
            raise source.error(
                f"{what}: a tile [{', '.join(value.dims)}] does not fit memory {target.name} "
                f"[{', '.join(target.dims)}]; reduce or permute it, or give a mapping"
            )
        return broadcast_to(value, target.dims), target, _identity(trace, target), []
    attribute, dims, values = _mapping(trace, mapping, target, mapping.inputs, mapping.outputs, dynamic)
    _forget_iterators(trace, mapping)
    if not set(value.dims) <= set(dims):
        raise source.error(
            f"{what}: the mapping is of a tile [{', '.join(dims)}], and the value is [{', '.join(value.dims)}]"
        )
    return broadcast_to(value, dims), target, attribute, values


def write(
    register: Value,
    memory: MemoryValue,
    elements_per_thread: ExprLike | None = None,
    mapping: IndexMapping | None = None,
    mapping_dynamic_vals: Dynamic = (),
    flags: MemoryAccessFlags = MemoryAccessFlags.NONE,
    source: Positions | None = None,
    target: Positions | None = None,
    tag: str | None = None,
) -> None:
    """Store the tile to its place in `memory`, or where `mapping` says; elements outside of the memory are dropped.

    `source`: the iterators of the tile's dims; `target`: a coordinate for each memory dim, as `source` of a read.
    `tag`: a name for a manual schedule.
    """
    if _is_positional("write", mapping, source, target):
        trace, goal = current("write"), want_memory(memory, "write")
        mapping, mapping_dynamic_vals = mapping_of(trace, "write", goal, source, target)  # type: ignore[arg-type]
    value, target, attribute, dynamic = target_of("write", register, memory, mapping, mapping_dynamic_vals)
    with location():
        made = builders.write(
            value.ir,
            target.ir,
            mapping=attribute,
            dynamic=dynamic,
            elements_per_thread=elements(current(), elements_per_thread),
            **_flags(flags),
        )
    tagged(made, tag)


def gather_to_shared(
    memory: MemoryValue,
    buffer: MemoryValue,
    mapping: IndexMapping | None = None,
    mapping_dynamic_vals: Dynamic = (),
    flags: MemoryAccessFlags = MemoryAccessFlags.NONE,
    tag: str | None = None,
) -> None:
    """Copy the workgroup's tile of `memory` to a buffer in LDS, through no register where the target can.

    It means `write(read(memory, mapping=…), buffer)`: elements outside of `memory` are 0 in LDS, barriers are placed
    where something reads them, and these wait for the copy. `WaveCompileOptions(use_global_to_shared=True)` makes all
    copies of tiles so. Raises at the user's line when `buffer` is not in LDS.
    """
    target = want_memory(buffer, "gather_to_shared")
    if target.ir.type.space != "shared":
        raise source.error(f"gather_to_shared: {target.name} is not in LDS; give a buffer of tkw.allocate")
    value = read(memory, mapping=mapping, mapping_dynamic_vals=mapping_dynamic_vals, flags=flags, tag=tag)
    value, target, attribute, dynamic = target_of("gather_to_shared", value, target, None, ())
    with location():
        made = builders.write(value.ir, target.ir, mapping=attribute, dynamic=dynamic)
        made.operation.attributes[DIRECT] = ir.UnitAttr.get()
    tagged(made, tag)


def bounds_check(memory: MemoryValue, mapping: IndexMapping | None = None, mapping_dynamic_vals: Dynamic = ()) -> None:
    """Nothing to do: every access that may leave its memory is masked, and the simulator checks all of them."""
    want_memory(memory, "bounds_check")
    as_tuple(mapping_dynamic_vals)


def allocate(
    shape: Sequence[ExprLike],
    distributed_shape: Sequence[ExprLike],
    dtype: DataType,
    address_space: sympy.Symbol | AddressSpace = AddressSpace.SHARED_MEMORY,
) -> MemoryValue:
    """A buffer of the workgroup in LDS; `distributed_shape` is what is really allocated of `shape`."""
    trace = current("allocate")
    kind = MemoryType(tuple(shape), address_space, dtype)
    made, dims, space = trace.memory_type(kind, "of allocate")
    distributed = [trace.expr(e, exact=True) for e in distributed_shape]
    with source.location():
        memory = ops.AllocateOp(made, distributed=distributed).memory
    return MemoryValue(memory, "<allocated>", kind, dims, space)
