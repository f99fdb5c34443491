"""Evaluation of the operations of one workgroup."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from mlir import ir

from wave_mlir.dialect import Expr, MemoryType, TileType

from ..dtypes import DType, element_type
from ..errors import SimError
from . import elementwise as ew
from .scope import Scope, uniform
from .tiles import Tile, aligned, union


@dataclass(frozen=True)
class Memory:
    """A tensor: its elements as a flat array, its shape and strides in elements."""

    data: np.ndarray
    shape: tuple[int, ...]
    strides: tuple[int, ...]


Value = Tile | Memory
_NOTHING = frozenset(
    [
        "shared_memory_barrier",
        "workgroup_barrier",
        "barrier_signal",
        "barrier_wait",
        "wave_fence",
        "memory_counter_wait",
        "set_wave_prio",
        "scheduling_barrier",
        "scheduling_group_barrier",
        "debug_log",
    ]
)


def dtype_of(kind: ir.Type) -> DType:
    """Element type of a tile or scalar type."""
    return element_type(kind.element_type if isinstance(kind, TileType) else kind)


class Evaluator:
    """Runs blocks of one workgroup. values: what SSA values are, arguments included."""

    def __init__(self, scope: Scope, values: Mapping[ir.Value, Value]) -> None:
        self.scope = scope
        self.values = dict(values)

    def block(self, block: ir.Block) -> list[Value]:
        """Evaluate a region's block; symbols set in it are restored. The operands of its terminator."""
        outer = dict(self.scope.set)
        try:
            return self.body(block)
        finally:
            self.scope.set = outer

    def body(self, block: ir.Block) -> list[Value]:
        """Evaluate a block and leave the symbols that it set."""
        for op in block.operations:
            name = op.operation.name.removeprefix("wave.")
            if name in ("yield", "return"):
                return [self.values[v] for v in op.operation.operands]
            if name in _NOTHING:
                continue
            results = self._results(name, op)
            for value, result in zip(op.operation.results, results, strict=True):
                self.values[value] = result
        return []

    def _results(self, name: str, op: ir.OpView) -> list[Value]:
        operands = op.operation.operands
        if op.operation.name.startswith("wave."):
            if name in ew.FLOAT_BINARY or name in ew.INT_BINARY:
                return [self._binary(name, op)]
            if name in ew.FLOAT_UNARY or name in ew.INT_UNARY:
                dtype = dtype_of(op.operation.results[0].type)
                table = ew.FLOAT_UNARY if dtype.is_float else ew.INT_UNARY
                tile = self.tile(operands[0])
                return [Tile(tile.dims, ew.narrow(table[name](ew.wide(tile.data, dtype)), dtype))]
            handler: Callable | None = getattr(self, f"_{name}", None) if name in OPS else None
            if handler is not None:
                found = handler(op)
                return found if isinstance(found, list) else [found]
        elif op.operation.name == "arith.constant":
            dtype = dtype_of(op.operation.results[0].type)
            return [Tile.scalar(_number(op.operation.attributes["value"]), dtype.np)]
        raise SimError("unsupported", op.operation.name, location=str(op.operation.location))

    # -- help
    def tile(self, value: ir.Value) -> Tile:
        """The tile that a value is."""
        found = self.values[value]
        assert isinstance(found, Tile)
        return found

    def known(self, op: ir.OpView) -> dict[str, Tile]:
        """The values that the op names in `symbols(…)`."""
        names = [] if op.symbol_names is None else [ir.StringAttr(n).value for n in op.symbol_names]  # type: ignore[attr-defined]
        return {n: self.tile(v) for n, v in zip(names, op.symbol_values, strict=True)}  # type: ignore[attr-defined]

    def shaped(self, tile: Tile, kind: ir.Type, here: ir.Location) -> Tile:
        """The tile with the dims of its type, repeated along those it lacks."""
        dims = kind.dims if isinstance(kind, TileType) else None
        if dims is None or tile.dims == tuple(dims):
            return tile
        _, (data,) = aligned([tile], tuple(dims))
        extents = [
            n if d in tile.dims else self.scope.domain(d, here)[1] for d, n in zip(dims, data.shape, strict=True)
        ]
        return Tile(tuple(dims), np.broadcast_to(data, extents))

    # -- values
    def _register(self, op: ir.OpView) -> Tile:
        kind = op.operation.results[0].type
        dtype = dtype_of(kind)
        scalar = op.scalar  # type: ignore[attr-defined]
        tile = self.tile(scalar) if scalar is not None else Tile((), np.array(_number(op.value)).astype(dtype.np))  # type: ignore[attr-defined]
        return self.shaped(tile, kind, op.operation.location)

    def _scalar(self, op: ir.OpView) -> Tile:
        dtype = dtype_of(op.operation.results[0].type)
        tile = self.scope.expr(Expr(op.expr), op.operation.location, self.known(op))  # type: ignore[attr-defined]
        return self.shaped(Tile(tile.dims, ew.narrow(tile.data, dtype)), op.operation.results[0].type, op.location)

    _apply_expr = _scalar

    def _self_index(self, op: ir.OpView) -> Tile:
        kind = op.operation.results[0].type
        tile = self.scope.coordinates(ir.StringAttr(op.dim).value, op.location)  # type: ignore[attr-defined]
        return self.shaped(Tile(tile.dims, ew.narrow(tile.data, dtype_of(kind))), kind, op.location)

    def _binary(self, name: str, op: ir.OpView) -> Tile:
        dtype = dtype_of(op.operation.results[0].type)
        dims, (a, b) = aligned([self.tile(v) for v in op.operation.operands])
        table = ew.FLOAT_BINARY if dtype.is_float else ew.INT_BINARY
        return Tile(dims, ew.narrow(table[name](ew.wide(a, dtype), ew.wide(b, dtype)), dtype))

    def _compare(self, op: ir.OpView) -> Tile:
        dtype = dtype_of(op.operation.operands[0].type)
        dims, (a, b) = aligned([self.tile(v) for v in op.operation.operands])
        word = str(op.operation.attributes["predicate"]).strip(">").replace("<", " ").split()[-1].split(".")[-1]
        return Tile(dims, ew.COMPARE[word](ew.wide(a, dtype), ew.wide(b, dtype)))

    def _select(self, op: ir.OpView) -> Tile:
        dims, (condition, a, b) = aligned([self.tile(v) for v in op.operation.operands])
        return Tile(dims, np.where(condition, a, b))

    def _cast(self, op: ir.OpView) -> Tile:
        tile = self.tile(op.operation.operands[0])
        source, target = (dtype_of(v.type) for v in (op.operation.operands[0], op.operation.results[0]))
        return Tile(tile.dims, ew.cast(tile.data, source, target, "saturate" in op.operation.attributes))

    def _permute(self, op: ir.OpView) -> Tile:
        return self.shaped(self.tile(op.operation.operands[0]), op.operation.results[0].type, op.location)

    _broadcast = _permute

    def _reshape(self, op: ir.OpView) -> Tile:
        tile, kind = self.tile(op.operation.operands[0]), op.operation.results[0].type
        dims = tuple(TileType(kind).dims or ())
        extents = [self.scope.domain(d, op.location)[1] for d in dims]
        if int(np.prod(extents)) != tile.data.size:
            text = f"reshape of {tile.data.size} elements {tile.data.shape} to {tuple(extents)}"
            raise SimError("arguments", text, location=str(op.location))
        return Tile(dims, tile.data.reshape(extents))

    def _extract(self, op: ir.OpView) -> Tile:
        tile, known = self.tile(op.operation.operands[0]), self.known(op)
        at = [uniform(self.scope.expr(Expr(e), op.location, known), str(e), op.location) for e in op.position]  # type: ignore[attr-defined]
        if any(not 0 <= i < n for i, n in zip(at, tile.data.shape, strict=True)):
            raise SimError("bounds", f"extract at {at} from a tile of {tile.data.shape}", location=str(op.location))
        return Tile((), tile.data[tuple(at)])

    # -- along dims
    def _reduce(self, op: ir.OpView) -> Tile:
        dtype, dim = dtype_of(op.operation.results[0].type), ir.StringAttr(op.dim).value  # type: ignore[attr-defined]
        kind = str(op.operation.attributes["kind"]).strip(">").replace("<", " ").split()[-1].split(".")[-1]
        total: Tile | None = None
        function = {"sum": np.sum, "max": np.max, "min": np.min}[kind]
        pair = {"sum": np.add, "max": np.maximum, "min": np.minimum}[kind]
        for source in op.sources:  # type: ignore[attr-defined]
            tile = self.shaped(self.tile(source), source.type, op.location)
            axis = tile.dims.index(dim)
            dims = tile.dims[:axis] + tile.dims[axis + 1 :]
            found = Tile(dims, function(ew.wide(tile.data, dtype), axis=axis, initial=ew.identity(kind, dtype)))
            total = found if total is None else Tile(dims, pair(total.data, found.data))
        assert total is not None
        if op.acc is not None:  # type: ignore[attr-defined]
            dims, (a, b) = aligned([total, self.tile(op.acc)])  # type: ignore[attr-defined]
            total = Tile(dims, pair(a, ew.wide(b, dtype)))
        return self.shaped(Tile(total.dims, ew.narrow(total.data, dtype)), op.operation.results[0].type, op.location)

    def _cumsum(self, op: ir.OpView) -> Tile:
        dtype, dim = dtype_of(op.operation.results[0].type), ir.StringAttr(op.dim).value  # type: ignore[attr-defined]
        tile = self.tile(op.source)  # type: ignore[attr-defined]
        sums = np.cumsum(ew.wide(tile.data, dtype), axis=tile.dims.index(dim))
        return Tile(tile.dims, ew.narrow(sums, dtype))

    def _mma(self, op: ir.OpView) -> Tile:
        values = (op.lhs, op.rhs, op.acc)  # type: ignore[attr-defined]
        lhs, rhs, acc = (self.shaped(self.tile(v), v.type, op.location) for v in values)
        kinds = [dtype_of(v.type) for v in values]
        out = acc.dims or tuple(d for d in union([lhs, rhs]) if not (d in lhs.dims and d in rhs.dims))
        letters = {d: chr(ord("a") + i) for i, d in enumerate(union([lhs, rhs, acc]))}
        extents = {d: n for t in (lhs, rhs) for d, n in zip(t.dims, t.data.shape, strict=True)}
        for tile in (lhs, rhs):
            extents |= {d: min(n, extents[d]) for d, n in zip(tile.dims, tile.data.shape, strict=True)}
        cut = [t.data[tuple(slice(0, extents[d]) for d in t.dims)] for t in (lhs, rhs)]
        spec = [("".join(letters[d] for d in dims)) for dims in (lhs.dims, rhs.dims, out)]
        factors = [ew.wide(a, k) for a, k in zip(cut, kinds, strict=False)]
        product = Tile(out, np.einsum(f"{spec[0]},{spec[1]}->{spec[2]}", *factors, optimize=True))
        dims, (a, b) = aligned([product, acc], out)
        return Tile(dims, ew.narrow(a + ew.wide(b, kinds[2]), kinds[2]))

    # -- memory
    def _allocate(self, op: ir.OpView) -> Memory:
        kind = MemoryType(op.operation.results[0].type)
        shape = tuple(self.scope.number(e, op.location) for e in kind.shape)
        dtype = element_type(kind.element_type)
        data = np.full(int(np.prod(shape)), np.nan if dtype.is_float else -1).astype(dtype.np)
        return Memory(data, shape, tuple(int(np.prod(shape[i + 1 :])) for i in range(len(shape))))

    def _place(self, op: ir.OpView, dims: tuple[str, ...]) -> tuple[Memory, np.ndarray, np.ndarray]:
        """The memory of an access, and for each point of `dims` the linear offset and whether it is inside."""
        here = op.location
        memory = self.values[op.memory]  # type: ignore[attr-defined]
        assert isinstance(memory, Memory)
        points = {d: self.scope.coordinates(d, here) for d in dims}
        inside: list[Tile] = []
        if op.mapping is None:  # type: ignore[attr-defined]
            shape = MemoryType(op.memory.type).shape  # type: ignore[attr-defined]
            named = [e.name if e.name in dims else d for e, d in zip(shape, dims, strict=True)]
            coordinates = [points[d] for d in named]
        else:
            mapping = op.mapping  # type: ignore[attr-defined]
            known = self.known(op) | {i: points[d] for d, i in mapping.iterators.items()}
            for number, (value, at) in enumerate(zip(op.dynamic_values, mapping.dynamic, strict=True)):  # type: ignore[attr-defined]
                known[f"d{number}"], good = self._dynamic(self.tile(value), at, known, here)
                inside.append(good)
            coordinates = [self.scope.expr(e, here, known) for e in mapping.memory]
        if op.mask is not None:  # type: ignore[attr-defined]
            inside.append(self.tile(op.mask))  # type: ignore[attr-defined]
        _, arrays = aligned([*points.values(), *coordinates, *inside], dims)
        count, first = len(coordinates), len(points)
        extents = tuple(points[d].data.size for d in dims)
        good, offset = np.ones(extents, bool), np.zeros(extents, np.int64)
        for axis, at in enumerate(arrays[first : first + count]):
            good &= (at >= 0) & (at < memory.shape[axis])
            offset += at * memory.strides[axis]
        for mask in arrays[first + count :]:
            good &= mask.astype(bool)
        return memory, offset, good

    def _dynamic(
        self, tile: Tile, at: Mapping[str, Expr], known: dict[str, Tile], here: ir.Location
    ) -> tuple[Tile, Tile]:
        """The element of a dynamic value for each iteration point, and whether there is one."""
        if not tile.dims:
            return tile, Tile.scalar(True, bool)
        indices = []
        for dim in tile.dims:
            index = self.scope.expr(at[dim], here, known)
            indices.append(Tile(index.dims, index.data - self.scope.domain(dim, here)[0]))
        dims, arrays = aligned(indices)
        good = np.ones(np.broadcast_shapes(*(a.shape for a in arrays)), bool)
        for index, extent in zip(arrays, tile.data.shape, strict=True):
            good &= (index >= 0) & (index < extent)
        if tile.data.size == 0:
            return Tile(dims, np.zeros(good.shape, np.int64)), Tile(dims, good)
        safe = tuple(np.clip(i, 0, n - 1) for i, n in zip(arrays, tile.data.shape, strict=True))
        return Tile(dims, np.broadcast_to(tile.data[safe], good.shape)), Tile(dims, good)

    def _dims(self, op: ir.OpView, kind: ir.Type) -> tuple[str, ...]:
        """Dims of an access: of the tile's type, or of the mapping, or of the memory."""
        if isinstance(kind, TileType) and kind.dims is not None:
            return tuple(kind.dims)
        if op.mapping is not None:  # type: ignore[attr-defined]
            return tuple(op.mapping.iterators)  # type: ignore[attr-defined]
        return tuple(e.name or str(e) for e in MemoryType(op.memory.type).shape)  # type: ignore[attr-defined]

    def _read(self, op: ir.OpView) -> Tile:
        dims = self._dims(op, op.operation.results[0].type)
        memory, offset, good = self._place(op, dims)
        if memory.data.size == 0:
            return Tile(dims, np.zeros(good.shape, memory.data.dtype))
        found = memory.data[np.where(good, offset, 0)]
        return Tile(dims, np.where(good, found, np.zeros((), memory.data.dtype)))

    def _write(self, op: ir.OpView) -> list[Value]:
        memory, offset, values = self._stored(op)
        memory.data[offset] = values
        return []

    def _stored(self, op: ir.OpView) -> tuple[Memory, np.ndarray, np.ndarray]:
        """The memory, and offsets and values of the elements that are inside."""
        tile = self.shaped(self.tile(op.value), op.value.type, op.location)  # type: ignore[attr-defined]
        dims = tile.dims or self._dims(op, op.value.type)  # type: ignore[attr-defined]
        memory, offset, good = self._place(op, dims)
        points = Tile(dims, offset)
        _, (data, at, kept) = aligned([tile, points, Tile(dims, good)], dims)
        data = np.broadcast_to(data, at.shape)
        return memory, at[kept], data[kept]

    def _atomic(self, op: ir.OpView) -> list[Value]:
        if op.operation.results:
            text = "atomic with a result: it depends on the order of the updates"
            raise SimError("unsupported", text, location=str(op.location))
        memory, offset, values = self._stored(op)
        kind = str(op.operation.attributes["kind"]).strip(">").replace("<", " ").split()[-1].split(".")[-1]
        functions = {"add": np.add, "min": np.minimum, "max": np.maximum,
                     "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}  # fmt: skip
        if kind not in functions:
            text = f"atomic {kind}: its result depends on the order of the updates"
            raise SimError("unsupported", text, location=str(op.location))
        functions[kind].at(memory.data, offset, values)
        return []

    # -- control
    def _set_symbol(self, op: ir.OpView) -> list[Value]:
        tile = self.tile(op.value)  # type: ignore[attr-defined]
        self.scope.set[ir.StringAttr(op.symbol).value] = Tile(tile.dims, tile.data.astype(np.int64))  # type: ignore[attr-defined]
        return []

    def _conditional(self, op: ir.OpView) -> list[Value]:
        if op.condition is not None:  # type: ignore[attr-defined]
            tile = self.scope.expr(Expr(op.condition), op.location, self.known(op))  # type: ignore[attr-defined]
        else:
            tile = self.tile(op.condition_value)  # type: ignore[attr-defined]
        regions = op.operation.regions
        if uniform(tile, "the condition", op.location):
            return self.block(regions[0].blocks[0])
        if len(regions[1].blocks):
            return self.block(regions[1].blocks[0])
        return [self.values[v] for v in op.else_values]  # type: ignore[attr-defined]

    def _iterate(self, op: ir.OpView) -> list[Value]:
        axis, here = ir.StringAttr(op.axis).value, op.location  # type: ignore[attr-defined]
        carried = [self.values[v] for v in op.init_args]  # type: ignore[attr-defined]
        outer, before = dict(self.scope.set), self.scope.position.get(axis)
        try:
            run = self._count if op.start is None else self._while  # type: ignore[attr-defined]
            return run(op, axis, carried, here)
        finally:
            self.scope.set = outer
            self.scope.position.pop(axis, None)
            if before is not None:
                self.scope.position[axis] = before

    def _trip(self, op: ir.OpView, carried: list[Value]) -> list[Value]:
        block = op.operation.regions[0].blocks[0]
        self.values |= dict(zip(block.arguments, carried, strict=True))
        return self.body(block)

    def _count(self, op: ir.OpView, axis: str, carried: list[Value], here: ir.Location) -> list[Value]:
        walk = self.scope.tiling.get(axis)
        if walk is None or (walk.tile is None and walk.iters is None):
            text = f"iterate {axis}: a tiling constraint must say the tile or the number of trips"
            raise SimError("arguments", text, location=str(here))
        if walk.iters is not None:
            trips = self.scope.number(walk.iters, here)
        else:
            trips = -(-self.scope.size(axis, here) // self.scope.number(walk.tile, here))  # type: ignore[arg-type]
        step = 1 if op.step is None else self.scope.number(Expr(op.step), here)  # type: ignore[attr-defined]
        outer = dict(self.scope.set)
        for trip in range(0, trips, step):
            self.scope.position[axis] = trip
            carried = self._trip(op, carried)
            self.scope.set = dict(outer)
        return carried

    def _while(self, op: ir.OpView, axis: str, carried: list[Value], here: ir.Location) -> list[Value]:
        outer = dict(self.scope.set)
        position = Tile.scalar(uniform(self.tile(op.start), "the start", here))  # type: ignore[attr-defined]
        while True:
            self.scope.set = {**outer, axis: position}
            self.scope.position[axis] = int(position.data)
            condition = self.scope.expr(Expr(op.condition), here, self.known(op))  # type: ignore[attr-defined]
            if not uniform(condition, "the condition", here):
                return carried
            carried = self._trip(op, carried)
            following = self.scope.set[axis]
            if following is position:
                if op.step is None:  # type: ignore[attr-defined]
                    text = f"iterate {axis}: no set_symbol of {axis} gives its next value"
                    raise SimError("limit", text, location=str(here))
                following = Tile.scalar(int(position.data) + self.scope.number(Expr(op.step), here))  # type: ignore[attr-defined]
            position = Tile.scalar(uniform(following, f"'{axis}'", here))


OPS = frozenset(
    [
        "register",
        "scalar",
        "apply_expr",
        "self_index",
        "compare",
        "select",
        "cast",
        "permute",
        "broadcast",
        "reshape",
        "extract",
        "reduce",
        "cumsum",
        "mma",
        "allocate",
        "read",
        "write",
        "atomic",
        "set_symbol",
        "conditional",
        "iterate",
    ]
)


def _number(attribute: ir.Attribute) -> float | int:
    if isinstance(attribute, ir.IntegerAttr | ir.FloatAttr | ir.BoolAttr):
        return attribute.value
    raise SimError("unsupported", f"the constant {attribute}")
