"""Values that an access takes at an expression of its iterators, computed again for the access's own points.

`dynamic_val_mappings={M: i, G: j // 4}` says that point (i, j) takes element (i, j // 4) of a tile [M, G]. A lane has
its own elements only, so the tile is made a second time with the dims of the points: its reads read at the expression,
the operations between follow. The second reads stand right behind the first ones, before anything is written.
"""

from __future__ import annotations

from collections.abc import Mapping

from mlir import ir

from wave_mlir.compiler.tile_ir import ELEMENTWISE
from wave_mlir.dialect import Expr, MappingAttr, MemoryType, TileType

from . import source
from .trace import Trace
from .values import Value

_FOLLOWS = ELEMENTWISE | {"wave.compare", "wave.select", "wave.cast", "wave.broadcast", "wave.permute"}
_FILLED = ("wave.register", "wave.scalar")


def respread(trace: Trace, value: Value, places: Mapping[str, Expr], iterators: Mapping[str, str]) -> Value:
    """The elements of `value` at `places` (an expression of iterators for each of its dims), one for each point.

    iterators: the name of the iterator of each dim of the points. The result has the dims that `places` uses. An error
    where the value comes from something that cannot be computed again.
    """
    missing = [d for d in value.dims if d not in places]
    if missing:
        raise source.error(
            f"dynamic_val_mappings: no position along dim {', '.join(missing)} of a value [{', '.join(value.dims)}]"
        )
    other = [d for d in places if d not in value.dims]
    if other:
        raise source.error(
            f"dynamic_val_mappings: a position along dim {', '.join(other)}, which the value "
            f"[{', '.join(value.dims)}] has not"
        )
    if all(d in iterators and places[d].name == iterators[d] for d in value.dims):
        return value
    names = {i: d for d, i in iterators.items()}
    used = {names[s] for d in value.dims for s in places[d].symbols if s in names}
    dims = tuple(d for d in iterators if d in used)
    maker = _Maker(iterators, dims)
    return trace.value(maker.make(value.ir, dict(places)), dims, value.dtype)


class _Maker:
    """Makes ops again. `dims`: those of the new tiles."""

    def __init__(self, iterators: Mapping[str, str], dims: tuple[str, ...]) -> None:
        self.iterators = {d: iterators[d] for d in dims}
        self.dims = dims
        self._here = ir.InsertionPoint.current.block

    def make(self, value: ir.Value, places: dict[str, Expr]) -> ir.Value:
        """The value at the places of its dims."""
        if not isinstance(value.type, TileType):
            return value
        if isinstance(value.owner, ir.Block):
            raise self._cannot("a value that a loop carries")
        op = value.owner.operation
        if op.name == "wave.read":
            return self._read(op, places)
        if op.name in _FILLED or (op.name in _FOLLOWS and all(isinstance(v.type, TileType) for v in op.operands)):
            operands = [self.make(v, {d: places[d] for d in self._dims_of(v)}) for v in op.operands]
            return self._again(op, operands, dict(op.attributes.items()), self._type(value)).results[0]
        raise self._cannot(f"the result of {op.name.removeprefix('wave.')}")

    def _dims_of(self, value: ir.Value) -> list[str]:
        return list(value.type.dims) if isinstance(value.type, TileType) else []

    def _type(self, value: ir.Value) -> ir.Type:
        return TileType.get(list(self.dims), TileType(value.type).element_type)

    def _read(self, op: ir.Operation, places: dict[str, Expr]) -> ir.Value:
        view = op.opview
        memory = MemoryType(view.memory.type)
        dims = self._dims_of(op.results[0])
        dynamic = list(view.dynamic_values)
        if "mapping" in op.attributes:
            given = op.attributes["mapping"]
            inner = {i: places[d] for d, i in given.iterators.items()}
            coordinates = [e.subs(inner) for e in given.memory]
            at = [{d: e.subs(inner) for d, e in m.items()} for m in given.dynamic]
            dynamic = [self.make(v, m) for v, m in zip(dynamic, at, strict=True)]
        else:
            coordinates = [places[d] for d in dims]
            if len(dims) != len(memory.shape):
                raise self._cannot("a read that repeats its memory")
        own = [{d: Expr.symbol(i) for d, i in self.iterators.items()} for _ in dynamic]
        mapping = MappingAttr.get(self.iterators, coordinates, own)
        kept = ("is_volatile", "nontemporal")
        attributes = {"mapping": mapping, **{n: op.attributes[n] for n in kept if n in op.attributes}}
        attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([1, 0, len(dynamic), 0])
        return self._again(op, [view.memory, *dynamic], attributes, self._type(op.results[0])).results[0]

    def _again(self, op: ir.Operation, operands: list[ir.Value], attributes: dict, kind: ir.Type) -> ir.Operation:
        """The op once more: behind itself, or where the access is when that is in another region."""
        place = ir.InsertionPoint.after(op) if op.block == self._here else ir.InsertionPoint.current
        with place, op.location:
            return ir.Operation.create(op.name, [kind], operands, attributes)

    def _cannot(self, what: str) -> Exception:
        return source.error(
            f"dynamic_val_mappings takes {what} at an expression of iterators; take it at the iterators of its own "
            "dims, or write it to memory and read it where it is needed"
        )
