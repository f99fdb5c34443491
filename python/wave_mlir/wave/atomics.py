"""Atomics, and scattered additions: they find their place as writes do."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import sympy
from mlir import ir

from wave_mlir.dialect import wave as ops
from wave_mlir.lang.mapping import IndexMapping
from wave_mlir.lang.symbols import ExprLike, index_symbol

from . import source
from .elementwise import broadcast_to
from .memory_ops import Dynamic, as_tuple, elements, target_of
from .trace import Trace, current, want_memory, want_value, with_tag
from .values import MemoryValue, Value


def _atomic(
    kind: str,
    lhs: Value,
    memory: MemoryValue,
    elements_per_thread: ExprLike | None,
    mapping: IndexMapping | None,
    mapping_dynamic_vals: Dynamic,
) -> Value:
    name = f"atomic_{kind}"
    mapping = stored_through(mapping, want_value(lhs, name), want_memory(memory, name))
    lhs, mapping = _over_positions(current(name), lhs, mapping, as_tuple(mapping_dynamic_vals))
    value, target, attribute, dynamic = target_of(name, lhs, memory, mapping, mapping_dynamic_vals)
    with source.location():
        old = ops.AtomicOp(
            value.ir.type,
            ops.AtomicKind[kind.capitalize()],
            value.ir,
            target.ir,
            dynamic,
            mapping=attribute,
            elements_per_thread=elements(current(), elements_per_thread),
            symbol_values=[],
        ).result
    return current().value(old, value.dims, value.dtype)


def _over_positions(
    trace: Trace, value: Value, mapping: IndexMapping | None, dynamic: tuple[Value, ...]
) -> tuple[Value, IndexMapping | None]:
    """A number to add at each of a tile of positions, with the dims of the positions.

    The language names the positions' own dims by those of memory: `dynamic_val_mappings={E: i}` for a tile [N] of
    positions along E. There is one addition for each position then.
    """
    if mapping is None or len(dynamic) != 1 or len(mapping.dynamic) != 1:
        return value, mapping
    positions, places = dynamic[0], mapping.dynamic[0]
    named = [trace.dim(d, "mapping") for d in places]
    if set(named) & set(positions.dims) or len(named) != len(positions.dims) or sorted(named) != sorted(value.dims):
        return value, mapping
    if isinstance(value.ir.owner, ir.Block) or value.ir.owner.name != "wave.register":
        return value, mapping
    renamed = {n: index_symbol(d) for n, d in zip(named, positions.dims, strict=True)}

    def over(side: object) -> dict[sympy.Symbol, ExprLike]:
        return {renamed[trace.dim(d, "mapping")]: e for d, e in dict(side).items()}  # type: ignore[call-overload]

    with source.location():
        made = ir.Operation.create(
            "wave.register", [trace.tile_type(positions.dims, value.dtype)], list(value.ir.owner.operands),
            dict(value.ir.owner.attributes.items()),
        ).result  # fmt: skip
    placed = dataclasses.replace(mapping, inputs=over(mapping.inputs), dynamic_val_mappings=(over(places),))
    return trace.value(made, positions.dims, value.dtype), placed


def stored_through(mapping: IndexMapping | None, value: Value, memory: MemoryValue) -> IndexMapping | None:
    """The mapping of an atomic as that of a write.

    The language writes it as that of a read, the memory's coordinates in `inputs`; that of a write is taken too.
    """
    if mapping is None:
        return None
    iterators = set(mapping.iterators)
    reads = all(e in iterators for e in mapping.outputs.values())
    writes = all(e in iterators for e in mapping.inputs.values())
    if reads and not (writes and {str(d) for d in mapping.inputs} == set(value.dims) != set(memory.dims)):
        return dataclasses.replace(mapping, inputs=mapping.outputs, outputs=mapping.inputs)
    return mapping


def _function(kind: str, text: str) -> Callable[..., Value]:
    def function(
        lhs: Value,
        rhs: MemoryValue,
        elements_per_thread: ExprLike | None = None,
        mapping: IndexMapping | None = None,
        mapping_dynamic_vals: Dynamic = (),
    ) -> Value:
        return _atomic(kind, lhs, rhs, elements_per_thread, mapping, mapping_dynamic_vals)

    function.__name__ = function.__qualname__ = f"atomic_{kind}"
    function.__doc__ = f"`{text}` at each element, indivisibly; what was there before."
    return with_tag(function)


atomic_add = _function("add", "rhs += lhs")
atomic_min = _function("min", "rhs = min(rhs, lhs)")


def scatter_add(
    register_src: Value,
    register_idx: Value,
    dim: sympy.Symbol | int,
    memory: MemoryValue,
    mapping: IndexMapping | None = None,
    elements_per_thread: ExprLike | None = None,
) -> None:
    """Add each element of `register_src` to memory at its place, with the coordinate along `dim` of `register_idx`.

    `dim`: a dim of the value, or its number.
    """
    trace = current("scatter_add")
    value, positions = want_value(register_src, "scatter_add"), want_value(register_idx, "scatter_add")
    target = want_memory(memory, "scatter_add")
    name = _numbered(value, dim) if isinstance(dim, int) else trace.dim(dim, "scatter_add")
    if name not in value.dims:
        raise source.error(f"scatter_add: the tile [{', '.join(value.dims)}] has no dim {name}")
    if not positions.dtype.is_integer or not set(positions.dims) <= set(value.dims):
        raise source.error(
            f"scatter_add: positions are integers, one for each element of [{', '.join(value.dims)}]; they are "
            f"{positions!r}"
        )
    given = _by_position(value, name, target) if mapping is None else stored_through(mapping, value, target)
    value, target, attribute, _ = target_of("scatter_add", value, target, given, ())
    with source.location():
        ops.ScatterAddOp(
            value.ir,
            broadcast_to(positions, value.dims).ir,
            name,
            target.ir,
            mapping=attribute,
            elements_per_thread=elements(trace, elements_per_thread),
            symbol_values=[],
        )


def _by_position(value: Value, dim: str, memory: MemoryValue) -> IndexMapping:
    """Each dim of the value at its own in memory; the one with positions at the dim of memory that is left."""
    iterators = {d: IndexMapping.iterator(n) for n, d in enumerate(value.dims)}
    names = [dim if d not in value.dims else d for d in memory.dims]
    if sorted(names) != sorted(value.dims):
        raise source.error(
            f"scatter_add: a tile [{', '.join(value.dims)}] with positions along {dim} does not fit memory "
            f"{memory.name} [{', '.join(memory.dims)}]; give a mapping"
        )
    coordinates = {extent: iterators[d] for extent, d in zip(memory.type.shape, names, strict=True)}
    return IndexMapping(len(iterators), {index_symbol(d): i for d, i in iterators.items()}, coordinates)  # type: ignore[arg-type]


def _numbered(value: Value, number: int) -> str:
    if not -len(value.dims) <= number < len(value.dims):
        raise source.error(f"scatter_add: dim {number} of a tile [{', '.join(value.dims)}]")
    return value.dims[number]
