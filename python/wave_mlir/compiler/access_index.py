"""Indices of accesses: from dims, mappings and constraints to one expression per memory dim."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from wave_mlir.dialect import Expr, MemoryType, TileType

from .diagnostics import PassError
from .kernel_info import KernelInfo
from .symbol_scope import dynamic_values
from .tile_ir import bound_names, bound_values, expressions, segments, symbols_of, with_symbols

_MASK_GROUP = {"wave.read": 1, "wave.write": 2, "wave.atomic": 2, "wave.scatter_add": 3}
_DYNAMIC_GROUP = {"wave.read": 2, "wave.write": 3, "wave.atomic": 3}


def coordinate(info: KernelInfo, dim: str, bound: Sequence[str]) -> Expr:
    """The coordinate along a dim of an element of a tile: where the tile starts, plus `at.DIM`."""
    return info.dim_base(dim, bound) + Expr.symbol(f"at.{dim}")


def domain(info: KernelInfo, dims: Sequence[str], bound: Sequence[str]) -> list[Expr]:
    """Conditions for a point of a tile to be inside the extents of these dims; those proven true are left out.

    A dim that rides on another's grid dim one element at a time has that one's positions, as the query heads that share
    a head of keys: where in memory they are is a mapping's to say, and what lies outside of memory is masked as such.
    """
    conditions = []
    facts = info.facts_for(bound)
    for dim in dims:
        workgroup = info.workgroup_of(dim)
        if workgroup is not None and workgroup.secondary and info.tile_extent(dim) == 1:
            continue
        inside = coordinate(info, dim, bound).lt(info.dim_extent(dim, bound))
        if inside.prove(facts) is not True:
            conditions.append(inside.simplify(facts))
    return conditions


def place_access(info: KernelInfo, op: ir.Operation) -> None:
    """Give a read, write, atomic or scatter_add its index, and a mask where the memory's extents do not imply it."""
    if "index" in op.attributes:
        return
    is_read = op.name == "wave.read"
    value: ir.Value = op.results[0] if is_read else op.operands[0]
    memory: ir.Value = op.operands[{"wave.read": 0, "wave.scatter_add": 2}.get(op.name, 1)]
    values = bound_values(op)
    names = list(values)
    for i, dynamic in enumerate(dynamic_values(op)):
        values[f"d{i}"] = dynamic
    coordinates = {d: coordinate(info, d, names) for d in value.type.dims}
    local = {d: Expr.symbol(f"at.{d}") for d in value.type.dims}
    if op.name == "wave.scatter_add":
        coordinates[op.attributes["dim"].value] = local[op.attributes["dim"].value] = Expr.symbol("d0")
        values["d0"] = op.operands[1]
    places = [local if is_local else coordinates for is_local in _tiles_only(info, memory)]
    if "mapping" in op.attributes:
        index = _mapped(info, op, places, names)
    else:
        dims = dims_of_memory(info, op, value.type, memory.type)
        _check_room(info, op, memory, dims)
        index = [place[d] for place, d in zip(places, dims, strict=True)]
    facts = info.facts_for(names)
    index = [e.simplify(facts) for e in index]
    conditions = _not_implied(info, op, value.type, memory.type, index, coordinates, names)
    groups: dict[int, list[ir.Value]] = {}
    if conditions:
        groups[_MASK_GROUP[op.name]] = [_mask(op, value.type, conditions, values)]
    if op.name in _DYNAMIC_GROUP:
        groups[_DYNAMIC_GROUP[op.name]] = []
    used = set(symbols_of(index))
    kept = {n: v for n, v in values.items() if n in used}
    with_symbols(op, kept, {"index": ir.ArrayAttr.get(index), "mapping": None}, groups)


# --- buffers that hold a part of their memory ---


def _allocation(memory: ir.Value) -> ir.Operation | None:
    """The `wave.allocate` of a buffer with a distributed shape."""
    if isinstance(memory, ir.BlockArgument) or memory.owner.operation.name != "wave.allocate":
        return None
    allocate = memory.owner.operation
    return allocate if "distributed" in allocate.attributes else None


def _held(info: KernelInfo, allocate: ir.Operation) -> list[int]:
    """What is really allocated along each dim."""
    try:
        return [info.static_value(e, "the shape of a buffer") for e in allocate.attributes["distributed"]]
    except PassError as e:
        raise PassError(allocate, e.message) from None


def _tiles_only(info: KernelInfo, memory: ir.Value) -> list[bool]:
    """For each dim of a memory whether it holds one tile at a time: a position in it is then one in the tile."""
    shape = list(memory.type.shape)
    allocate = _allocation(memory)
    if allocate is None:
        return [False] * len(shape)
    whole = [info.resolve(extent).constant_value for extent in shape]
    return [n != held for n, held in zip(whole, _held(info, allocate), strict=True)]


def _check_room(info: KernelInfo, op: ir.Operation, memory: ir.Value, dims: Sequence[str]) -> None:
    """A buffer must hold the tile; one that holds a single row of it is meant: all waves meet there."""
    allocate = _allocation(memory)
    if allocate is None:
        return
    local = _tiles_only(info, memory)
    for dim, held, is_local in zip(dims, _held(info, allocate), local, strict=True):
        if is_local and 1 < held < info.tile_extent(dim):
            raise PassError(
                op,
                f"the tile has {info.tile_extent(dim)} elements along {dim} and the buffer {held}; allocate at least "
                "as many in its distributed shape",
            ).note(allocate.location, "the buffer is allocated here")


def settle_allocations(info: KernelInfo, ops: Sequence[ir.Operation]) -> None:
    """The type of a buffer says what is really allocated, once its accesses have their index."""
    for op in ops:
        if op.name == "wave.allocate" and "distributed" in op.attributes:
            memory = MemoryType(op.results[0].type)
            shape = [Expr.constant(n) for n in _held(info, op)]
            op.results[0].set_type(MemoryType.get(shape, memory.element_type, memory.space, memory.strides))
            del op.attributes["distributed"]


def _mapped(info: KernelInfo, op: ir.Operation, places: Sequence[dict[str, Expr]], names: list[str]) -> list[Expr]:
    """The coordinate along each memory dim; `places` has, for each of these, the coordinates of the tile's point."""
    mapping = op.attributes["mapping"]
    for number, position in enumerate(mapping.dynamic):
        for dim, expr in position.items():
            if expr.name is None or expr.name != mapping.iterators.get(dim):
                raise PassError(
                    op,
                    f"dynamic value d{number} is taken at {dim} = {expr}; a lane has only its own elements, so the "
                    f"position along {dim} must be the iterator of {dim}",
                )
    named = mapping.iterators.items()
    reserved = {*mapping.iterators.values(), *(f"d{i}" for i in range(len(mapping.dynamic))), *names}
    return [
        info.on_hardware(info.resolve(e, reserved)).subs({name: place[dim] for dim, name in named})
        for e, place in zip(mapping.memory, places, strict=True)
    ]


def dims_of_memory(info: KernelInfo, op: ir.Operation, tile: TileType, memory: MemoryType) -> list[str]:
    """The tile's dim for each memory dim: by name; by its value where the extent is no symbol (K floordiv 32)."""
    named = {extent.name for extent in memory.shape}
    resolved = {d: info.dim_extent(d) for d in tile.dims if d not in named}
    dims = []
    for extent in memory.shape:
        dim = extent.name if extent.name in tile.dims else None
        if extent.name is None:
            defined = [d for d in resolved if info.definitions.get(d) == extent]
            size = info.resolve(extent)
            found = defined or [d for d, e in resolved.items() if e == size and d not in dims]
            dim = found[0] if len(found) == 1 else None
        if dim is None:
            raise PassError(
                op,
                f"memory dim {extent} of {memory} is no dim of the tile [{', '.join(tile.dims)}]; give a mapping "
                f"that says where in memory each point of the tile is",
            )
        dims.append(dim)
    for dim in tile.dims:
        if dim not in dims:
            raise PassError(
                op,
                f"dim {dim} of the tile is no dim of {memory}; broadcast after the read, reduce before the write, or "
                f"give a mapping",
            )
    return dims


def _not_implied(
    info: KernelInfo,
    op: ir.Operation,
    tile: TileType,
    memory: MemoryType,
    index: list[Expr],
    coordinates: dict[str, Expr],
    names: list[str],
) -> list[Expr]:
    """Conditions for the tile's point to be in its dims' extents that "inside the memory" does not imply."""
    extents = [memory_extent(info, extent, names) for extent in memory.shape]
    inside = {(i, extent) for i, extent in zip(index, extents, strict=True) if extent is not None}
    along = op.attributes["dim"].value if op.name == "wave.scatter_add" else None
    facts = info.facts_for(names)
    dims = [
        d for d in tile.dims
        if d == along or (coordinates[d].simplify(facts), info.dim_extent(d, names)) not in inside
    ]  # fmt: skip
    return domain(info, dims, names)


def memory_extent(info: KernelInfo, extent: Expr, bound: Sequence[str]) -> Expr | None:
    """A memory's extent, for an op where the symbols `bound` have values of their own; None when it uses one of these.

    The memory's symbol means the argument's size; a `set_symbol` of that name hides it.
    """
    size = info.resolve(extent)
    return None if any(s in bound for s in size.symbols) else size


def _mask(op: ir.Operation, tile: TileType, conditions: list[Expr], values: dict[str, ir.Value]) -> ir.Value:
    """A mask op for the conditions, combined with the mask the access has already."""
    predicate = conditions[0] if len(conditions) == 1 else Expr.and_(*conditions)
    type = TileType.get(list(tile.dims), ir.IntegerType.get_signless(1), tile.layout)
    mask = make_mask(op, predicate, values, type)
    old = segments(op)[_MASK_GROUP[op.name]]
    if not old:
        return mask
    with ir.InsertionPoint(op), op.location:
        return ir.Operation.create("wave.and", [type], [old[0], mask], loc=op.location).results[0]


def mask_access(op: ir.Operation, conditions: list[Expr]) -> None:
    """Make a write, atomic or scatter_add in placed form store where these conditions over `at.*` hold too."""
    mask = _mask(op, op.operands[0].type, conditions, {})
    with_symbols(op, bound_values(op), None, {_MASK_GROUP[op.name]: [mask]})


def make_mask(op: ir.Operation, predicate: Expr, values: dict[str, ir.Value], type: ir.Type) -> ir.Value:
    """A `wave.mask` of the predicate before `op`; `values` has at least the bound symbols it uses."""
    used = {s: values[s] for s in predicate.symbols if s in values}
    attributes: dict[str, ir.Attribute] = {"expr": predicate}
    if used:
        attributes["symbol_names"] = ir.ArrayAttr.get([ir.StringAttr.get(n) for n in used])
    with ir.InsertionPoint(op), op.location:
        created = ir.Operation.create("wave.mask", [type], list(used.values()), attributes, loc=op.location)
    return created.results[0]


def resolve_expressions(info: KernelInfo, op: ir.Operation) -> None:
    """Replace static symbols in an op's expressions by their values, and the program's workgroup ids by those of the
    hardware; `self_index` becomes `apply_expr`."""
    if op.name == "wave.self_index":
        _self_index(info, op)
        return
    if op.name == "wave.kernel" or not any(True for _ in expressions(op)):
        return
    names = bound_names(op)
    if op.name == "wave.iterate" and "condition" in op.attributes:
        names = [*names, op.attributes["axis"].value]  # in the condition it is the carried value
    facts = info.facts_for(names)

    def resolve(expr: Expr) -> Expr:
        return info.on_hardware(info.resolve(expr, names)).simplify(facts)

    for name, attribute in list(op.attributes.items()):
        if isinstance(attribute, Expr):
            op.attributes[name] = resolve(attribute)
        elif isinstance(attribute, ir.ArrayAttr) and len(attribute) and isinstance(attribute[0], Expr):
            op.attributes[name] = ir.ArrayAttr.get([resolve(e) for e in attribute])


def _self_index(info: KernelInfo, op: ir.Operation) -> None:
    values = bound_values(op)
    expr = coordinate(info, op.attributes["dim"].value, list(values)).simplify(info.facts_for(values))
    used = {s: values[s] for s in expr.symbols if s in values}
    attributes: dict[str, ir.Attribute] = {"expr": expr}
    if used:
        attributes["symbol_names"] = ir.ArrayAttr.get([ir.StringAttr.get(n) for n in used])
    with ir.InsertionPoint(op), op.location:
        new = ir.Operation.create(
            "wave.apply_expr", [op.results[0].type], list(used.values()), attributes, loc=op.location
        )
    op.results[0].replace_all_uses_with(new.results[0])
    op.erase()
