"""Inference of unknown tile shapes: dims flow between the values that an op ties together, in both directions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mlir import ir

from wave_mlir.dialect import MemoryType, TileType

from .diagnostics import PassError
from .tile_ir import ELEMENTWISE, body_of, segments, walk

# Ops all of whose tile operands and results have the same dims.
_SAME = ELEMENTWISE | {"wave.compare", "wave.select", "wave.cast", "wave.cumsum", "wave.shuffle", "wave.extract_slice"}


class ShapeInference:
    """Finds the dims of every `!wave.tile<*, T>` of a kernel."""

    def __init__(self, kernel: ir.OpView) -> None:
        self.ops = list(walk(body_of(kernel)))
        self.changed = False

    def run(self) -> None:
        """Set the types of all values. Raises PassError for dims that clash and for values that nothing decides."""
        if not any(_is_unknown(v) for op in self.ops for v in _defined(op)):
            return
        self.changed = True
        while self.changed:
            self.changed = False
            for op in self.ops:
                self._visit(op)
            for op in reversed(self.ops):
                self._visit(op)
        for op in self.ops:
            for value in _defined(op):
                if _is_unknown(value):
                    raise PassError(
                        op,
                        f"nothing decides the dims of this value of type {value.type}; write them, for example "
                        f"!wave.tile<[M, N], {value.type.element_type}>",
                    )

    def _visit(self, op: ir.Operation) -> None:
        if op.name in _SAME:
            self._tie(op, [*op.operands, *op.results])
        elif rule := _RULES.get(op.name):
            rule(self, op)

    def _tie(self, op: ir.Operation, values: Sequence[ir.Value]) -> None:
        """The tiles among these values have the same dims."""
        known = next((v.type.dims for v in values if _is_known(v)), None)
        if known is not None:
            for value in values:
                self._set(op, value, known)

    def _set(self, op: ir.Operation, value: ir.Value, dims: Sequence[str]) -> None:
        if not isinstance(value.type, TileType):
            return
        if not value.type.known:
            value.set_type(TileType.get(list(dims), value.type.element_type))
            self.changed = True
        elif list(value.type.dims) != list(dims):
            raise PassError(
                op,
                f"a value here has dims [{', '.join(value.type.dims)}] where [{', '.join(dims)}] are needed; insert "
                f"wave.broadcast for dims it lacks, wave.permute for another order",
            )

    # --- rules ---

    def _access(self, op: ir.Operation) -> None:
        value = op.results[0] if op.name == "wave.read" else op.operands[0]
        mask = segments(op)[1 if op.name == "wave.read" else 2]
        if _is_unknown(value):
            mapping = op.attributes.get("mapping", None)
            memory = op.operands[0 if op.name == "wave.read" else 1].type
            self._set(op, value, list(mapping.iterators) if mapping is not None else _memory_dims(op, memory))
        self._tie(op, [value, *mask])

    def _mma(self, op: ir.Operation) -> None:
        scaled = op.name == "wave.scaled_mma"
        lhs, rhs, acc = (op.operands[i] for i in ((0, 2, 4) if scaled else (0, 1, 2)))
        self._tie(op, [acc, op.results[0]])
        if _is_unknown(acc) and _is_known(lhs) and _is_known(rhs):
            rows = [d for d in lhs.type.dims if d not in rhs.type.dims]
            columns = [d for d in rhs.type.dims if d not in lhs.type.dims]
            self._set(op, acc, rows + columns)
            self._set(op, op.results[0], rows + columns)

    def _reduce(self, op: ir.Operation) -> None:
        source = op.operands[0]
        if _is_known(source):
            dim = op.attributes["dim"].value
            self._set(op, op.results[0], [d for d in source.type.dims if d != dim])
        self._tie(op, [op.results[0], *segments(op)[1]])

    def _apply(self, op: ir.Operation) -> None:
        self._tie(op, [op.results[0], *(v for v in op.operands if isinstance(v.type, TileType))])

    def _self_index(self, op: ir.Operation) -> None:
        if _is_unknown(op.results[0]):
            self._set(op, op.results[0], [op.attributes["dim"].value])

    def _no_dims(self, op: ir.Operation) -> None:
        if _is_unknown(op.results[0]):
            self._set(op, op.results[0], [])

    def _iterate(self, op: ir.Operation) -> None:
        body = body_of(op)
        carried = list(body.arguments)[len(body.arguments) - len(op.results) :]
        yielded = list(body.operations[-1].operands)[-len(op.results) :] if len(op.results) else []
        for group in zip(segments(op)[1], carried, yielded, op.results, strict=True):
            self._tie(op, group)

    def _conditional(self, op: ir.Operation) -> None:
        groups = [[r] for r in op.results]
        sources = [list(region.blocks[0].operations[-1].operands) for region in op.regions if len(region.blocks)]
        otherwise = segments(op)[2]
        for values in [*sources, *([otherwise] if otherwise else [])]:
            for group, value in zip(groups, values, strict=True):
                group.append(value)
        for group in groups:
            self._tie(op, group)


_RULES: dict[str, Callable[[ShapeInference, ir.Operation], None]] = {
    "wave.read": ShapeInference._access,
    "wave.write": ShapeInference._access,
    "wave.mma": ShapeInference._mma,
    "wave.scaled_mma": ShapeInference._mma,
    "wave.reduce": ShapeInference._reduce,
    "wave.apply_expr": ShapeInference._apply,
    "wave.self_index": ShapeInference._self_index,
    "wave.scalar": ShapeInference._no_dims,
    "wave.extract": ShapeInference._no_dims,
    "wave.iterate": ShapeInference._iterate,
    "wave.conditional": ShapeInference._conditional,
}


def _memory_dims(op: ir.Operation, memory: MemoryType) -> list[str]:
    dims = [extent.name for extent in memory.shape]
    if None in dims:
        raise PassError(
            op,
            f"the dims of this tile cannot be taken from {memory}, whose shape is not made of symbols only; write the "
            f"tile's dims or give a mapping",
        )
    return dims  # type: ignore[return-value]


def _defined(op: ir.Operation) -> list[ir.Value]:
    return [*op.results, *(a for region in op.regions for block in region for a in block.arguments)]


def _is_unknown(value: ir.Value) -> bool:
    return isinstance(value.type, TileType) and not value.type.known


def _is_known(value: ir.Value) -> bool:
    return isinstance(value.type, TileType) and value.type.known
