"""Chooses the layout of every tile of a kernel.

Values that an op wants alike are one *class* with one layout. A class gets the first layout that somebody asks for, in
this order: results of MMAs; operands of MMAs; what follows from a class already placed through reductions, broadcasts
and loop inits; accesses to memory, in the order of the program; a default. Where an op wants another layout of a value
than its class has, the pass inserts a relayout.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mlir import ir

from wave_mlir.dialect import TileType

from .bitcasts import bits_of, check_dims, is_repacking, repacked
from .diagnostics import PassError
from .dot_layout import dot_spec
from .kernel_info import KernelInfo
from .lane_places import by_lane
from .layout_spec import MmaSpecs, Spec, access_spec, in_order, make, mma_specs
from .mma_shape import interleaved_columns, kind_of, operands, scales, shape_of
from .symbol_scope import dynamic_values
from .tile_ir import ELEMENTWISE, body_of, bound_values, segments, tile_dims

SAME = ELEMENTWISE | {"wave.compare", "wave.select", "wave.cast", "wave.cumsum", "wave.shuffle", "wave.permute",
                      "wave.extract_slice"}  # fmt: skip
"""Ops whose tile operands and results have one layout."""

FREE = frozenset({"wave.register", "wave.scalar", "wave.mask", "wave.self_index"})
"""Ops that give their result in any layout at no cost."""


@dataclass(frozen=True)
class Requirement:
    """Operand `number` of `op` must have the layout of class `like`, without the dims the operand has not."""

    op: ir.Operation
    number: int
    like: ir.Value | Spec
    change: Callable[[Spec], Spec] | None = None  # from the layout of `like` to what is required


class LayoutSolver:
    """Layouts of the values of one kernel. `solve` first; then `spec` of any tile, and what ops want of operands."""

    def __init__(self, info: KernelInfo, ops: Sequence[ir.Operation]) -> None:
        self.info = info
        self.ops = ops
        self.mma: dict[ir.Value, MmaSpecs] = {}  # by result: the hash of an op changes with its types
        self.requirements: list[Requirement] = []
        self._number: dict[ir.Value, int] = {}
        self._parent: list[int] = []
        self._values: list[ir.Value] = []
        self._specs: dict[int, Spec] = {}
        # (from, to, function): once `from` has a layout, `to` may take the function of it
        self._links: dict[int, list[tuple[int, Callable[[Spec], Spec | None]]]] = {}
        self._raw_links: list[tuple[ir.Value, ir.Value, Callable[[Spec], Spec | None]]] = []
        self._seeds: list[list[tuple[ir.Value, Callable[[], Spec]]]] = [[], [], []]

    # --- results ---

    def spec(self, value: ir.Value) -> Spec:
        """The layout of a tile's class."""
        return self._specs[self._find(self._id(value))]

    # --- classes ---

    def _id(self, value: ir.Value) -> int:
        number = self._number.get(value)
        if number is None:
            number = self._number[value] = len(self._parent)
            self._parent.append(number)
            self._values.append(value)
        return number

    def _find(self, number: int) -> int:
        while self._parent[number] != number:
            self._parent[number] = self._parent[self._parent[number]]
            number = self._parent[number]
        return number

    def _tie(self, values: Sequence[ir.Value]) -> None:
        tiles = [v for v in values if isinstance(v.type, TileType)]
        for value in tiles[1:]:
            a, b = self._find(self._id(tiles[0])), self._find(self._id(value))
            self._parent[max(a, b)] = min(a, b)
        if len(tiles) == 1:
            self._id(tiles[0])

    def _link(self, source: ir.Value, target: ir.Value, function: Callable[[Spec], Spec | None]) -> None:
        if isinstance(source.type, TileType) and isinstance(target.type, TileType):
            self._raw_links.append((source, target, function))

    def _seed(self, priority: int, value: ir.Value, spec: Callable[[], Spec]) -> None:
        self._seeds[priority].append((value, spec))

    def _require(self, op: ir.Operation, operand: ir.Value, like: ir.Value | Spec) -> None:
        """`operand` must have the layout `like` says."""
        number = next(i for i, v in enumerate(op.operands) if v == operand)
        self.requirements.append(Requirement(op, number, like))

    # --- solving ---

    def solve(self) -> None:
        """Choose a layout for every tile."""
        for op in self.ops:
            self._visit(op)
            for result in op.results:
                if isinstance(result.type, TileType):
                    self._id(result)
        for source, target, function in self._raw_links:
            a, b = self._find(self._id(source)), self._find(self._id(target))
            self._links.setdefault(a, []).append((b, function))
        for priority in (0, 1):
            for value, spec in self._seeds[priority]:
                self._place(value, spec, propagate=False)
        for root in sorted(self._specs):
            self._propagate(root)
        for value, spec in self._seeds[2]:
            self._place(value, spec)
        for value in list(self._values):
            self._place(value, lambda value=value: self._default(value))

    def _place(self, value: ir.Value, spec: Callable[[], Spec], propagate: bool = True) -> None:
        root = self._find(self._id(value))
        if root not in self._specs:
            self._specs[root] = spec()
            if propagate:
                self._propagate(root)

    def _propagate(self, root: int) -> None:
        work = [root]
        while work:
            current = work.pop(0)
            for target, function in self._links.get(current, ()):
                if target in self._specs:
                    continue
                spec = function(self._specs[current])
                if spec is not None and spec.dims == tuple(sorted(tile_dims(self._values[target].type))):
                    self._specs[target] = spec
                    work.append(target)

    def _default(self, value: ir.Value) -> Spec:
        return access_spec(self.info, value.type.dims, None, bits_of(value.type.element_type))

    # --- what each op wants ---

    def _visit(self, op: ir.Operation) -> None:
        name = op.name
        if name in SAME:
            self._tie([*op.operands, *op.results])
            products = dot_spec(self.info, op)
            if products is not None:
                self._seed(0, op.results[0], lambda: products)
        elif rule := _RULES.get(name):
            rule(self, op)
        for value in bound_values(op).values():
            self._symbol(op, value)

    def _symbol(self, op: ir.Operation, value: ir.Value) -> None:
        """A symbol that is a tile has the layout of the op's value along common dims, and one element along others."""
        dims = tile_dims(value.type)
        if not dims:
            return
        main = main_value(op)
        many = [d for d in dims if (main is None or d not in tile_dims(main.type)) and self.info.tile_extent(d) != 1]
        if many:
            raise PassError(
                op,
                f"a symbol's value here is a tile [{', '.join(dims)}] with {self.info.tile_extent(many[0])} elements "
                "along "
                f"{many[0]}, a dim this op's value has not; extract one element, or broadcast the op's value",
            )
        if main is None or not isinstance(main.type, TileType):
            spec = make(dict.fromkeys(dims, 1), [], [])
            self._seed(2, value, lambda: spec)
            self._require(op, value, spec)
        else:
            self._follows(op, value, main)

    def _follows(self, op: ir.Operation, value: ir.Value, main: ir.Value) -> None:
        dims = tile_dims(value.type)
        if set(dims) == set(tile_dims(main.type)):
            self._tie([value, main])
        else:
            self._link(main, value, lambda spec: spec.fit(dims))
            self._link(value, main, lambda spec: self._widened(spec, tile_dims(main.type)))
        self._require(op, value, main)

    def _widened(self, spec: Spec, dims: Sequence[str]) -> Spec | None:
        """The layout with further dims, if they have one element each."""
        new = [d for d in dims if d not in spec.dims]
        return spec.fit([*spec.dims, *new]) if all(self.info.tile_extent(d) == 1 for d in new) else None

    def _access(self, op: ir.Operation) -> None:
        value = op.results[0] if op.name == "wave.read" else op.operands[0]
        memory = op.operands[0 if op.name == "wave.read" else 1]
        groups = segments(op)
        if op.name == "wave.scatter_add":
            memory = op.operands[2]
            self._tie([value, op.operands[1]])
            self._tie([value, *groups[3]])
        else:
            self._tie([value, *groups[1 if op.name == "wave.read" else 2]])
        if op.name == "wave.atomic":
            self._tie([value, *op.results])
        own = [*dynamic_values(op), *bound_values(op).values()]
        if op.name == "wave.write" and not any(tile_dims(v.type) for v in own):
            last = contiguous_dim(op, value, memory)
            if last is not None:
                self.requirements.append(Requirement(op, 0, value, lambda spec: in_order(spec, last)))
        for dynamic in dynamic_values(op):
            self._follows(op, dynamic, value)
        elements = op.attributes["elements_per_thread"].value if "elements_per_thread" in op.attributes else None
        bits = bits_of(value.type.element_type)
        self._seed(2, value, lambda: access_spec(
            self.info, value.type.dims, contiguous_dim(op, value, memory), bits, elements, by_lane(op)))  # fmt: skip

    def _mma(self, op: ir.Operation) -> None:
        shape, kind = shape_of(op, self.info), kind_of(self.info, op)
        scale_dims = None
        if op.name == "wave.scaled_mma":
            lhs_scale, rhs_scale = scales(op)
            own = {*shape.rows, *shape.cols, *shape.batch, shape.row, shape.col}
            scale_dims = tuple(next(d for d in v.type.dims if d not in own) for v in (lhs_scale, rhs_scale))
        columns = interleaved_columns(op)
        specs = mma_specs(self.info, shape, kind, scale_dims, columns)  # type: ignore[arg-type]
        self.mma[op.results[0]] = specs
        _, _, acc = operands(op)
        self._tie([acc, op.results[0]])
        self._seed(0, acc, lambda: specs.acc)
        wanted = [specs.lhs, specs.rhs, specs.acc]
        if scale_dims is not None:
            wanted = [specs.lhs, specs.lhs_scale, specs.rhs, specs.rhs_scale, specs.acc]
        for number, spec in enumerate(wanted):
            if spec is None:
                raise PassError(op, f"kind {kind.name} takes no scales; give a scaled kind or use wave.mma")
            self.requirements.append(Requirement(op, number, spec))
            if spec is not specs.acc:
                self._seed(1, op.operands[number], lambda spec=spec: spec)

    def _reduce(self, op: ir.Operation) -> None:
        source, result = op.operands[0], op.results[0]
        dim = op.attributes["dim"].value
        self._tie([result, *segments(op)[1]])
        self._link(source, result, lambda spec: spec.drop([dim]))
        if self.info.tile_extent(dim) == 1:
            self._link(result, source, lambda spec: spec.fit(tile_dims(source.type)))

    def _topk(self, op: ir.Operation) -> None:
        self._tie(op.results)
        self._link(op.operands[0], op.results[0], lambda spec: self.topk_spec(op, spec))

    def topk_spec(self, op: ir.Operation, source: Spec) -> Spec:
        """The layout of a topk's results: every lane has all k of them."""
        new = next(d for d in op.results[0].type.dims if d not in op.operands[0].type.dims)
        return source.drop([op.attributes["dim"].value]).with_registers(new, op.attributes["k"].value)

    def _broadcast(self, op: ir.Operation) -> None:
        source, result = op.operands[0], op.results[0]
        if isinstance(source.type, TileType):
            self._follows(op, source, result)
        if isinstance(source, ir.OpResult) and source.owner.operation.name == "wave.extract":
            # an element of a lane's own, for all that the lane has: it has what it had where that comes from
            self._link(source.owner.operation.operands[0], result, lambda spec: spec)

    def _free(self, op: ir.Operation) -> None:
        self._tie(op.results)

    def _apply(self, op: ir.Operation) -> None:
        self._tie(op.results)

    def _extract(self, op: ir.Operation) -> None:
        self._seed(2, op.results[0], lambda: make({}, [], []))

    def _bitcast(self, op: ir.Operation) -> None:
        source, result = op.operands[0], op.results[0]
        if not is_repacking(op):
            self._tie([source, result])
            return
        check_dims(self.info, op)
        self._link(result, source, lambda spec: repacked(op, spec, backward=True))
        self._link(source, result, lambda spec: repacked(op, spec))

    def _reshape(self, op: ir.Operation) -> None:
        """Operand and result are independent: elements go through memory."""
        counts = [math.prod(self.info.tile_extent(d) for d in v.type.dims) for v in (op.operands[0], op.results[0])]
        if counts[0] != counts[1]:
            before, after = (", ".join(v.type.dims) for v in (op.operands[0], op.results[0]))
            raise PassError(
                op,
                f"this reshape is of a tile [{before}] of {counts[0]} elements to one [{after}] of {counts[1]}; choose "
                "tile sizes with equal products",
            )

    def _iterate(self, op: ir.Operation) -> None:
        body = body_of(op)
        carried = list(body.arguments)[len(body.arguments) - len(op.results) :]
        yielded = list(body.operations[len(body.operations) - 1].operands)
        yielded = yielded[len(yielded) - len(carried) :]
        start, inits, *_ = segments(op)
        for i, (init, argument, last, result) in enumerate(zip(inits, carried, yielded, op.results, strict=True)):
            if not isinstance(argument.type, TileType):
                continue
            self._tie([argument, last, result])
            self._link(argument, init, lambda spec: spec)
            self._link(init, argument, lambda spec: spec)
            self.requirements.append(Requirement(op, len(start) + i, argument))

    def _conditional(self, op: ir.Operation) -> None:
        results = list(op.results)
        for region in op.regions:
            for block in region:
                for value, result in zip(block.operations[len(block.operations) - 1].operands, results, strict=True):
                    self._tie([result, value])
        otherwise = segments(op)[2]
        for value, result in zip(otherwise, results, strict=bool(otherwise)):
            if isinstance(value.type, TileType):
                self._link(result, value, lambda spec: spec)
                self._link(value, result, lambda spec: spec)
                self._require(op, value, result)


_RULES: dict[str, Callable[[LayoutSolver, ir.Operation], None]] = {
    "wave.read": LayoutSolver._access, "wave.write": LayoutSolver._access, "wave.atomic": LayoutSolver._access,
    "wave.scatter_add": LayoutSolver._access, "wave.mma": LayoutSolver._mma, "wave.scaled_mma": LayoutSolver._mma,
    "wave.reduce": LayoutSolver._reduce, "wave.topk": LayoutSolver._topk, "wave.broadcast": LayoutSolver._broadcast,
    "wave.register": LayoutSolver._free, "wave.scalar": LayoutSolver._free, "wave.mask": LayoutSolver._free,
    "wave.self_index": LayoutSolver._free, "wave.apply_expr": LayoutSolver._apply,
    "wave.extract": LayoutSolver._extract,
    "wave.reshape": LayoutSolver._reshape, "wave.bitcast": LayoutSolver._bitcast,
    "wave.iterate": LayoutSolver._iterate, "wave.conditional": LayoutSolver._conditional,
}  # fmt: skip


def main_value(op: ir.Operation) -> ir.Value | None:
    """The tile whose elements an op's expressions are evaluated for."""
    if op.name in ("wave.iterate", "wave.conditional"):
        return None
    if op.name in ("wave.write", "wave.scatter_add", "wave.reduce", "wave.cumsum", "wave.topk", "wave.extract"):
        return op.operands[0]
    return op.results[0] if len(op.results) else None


def contiguous_dim(op: ir.Operation, value: ir.Value, memory: ir.Value) -> str | None:
    """The tile's dim along which memory is contiguous: the one its last coordinate is made of."""
    dims = value.type.dims
    if "mapping" in op.attributes:
        mapping = op.attributes["mapping"]
        last = mapping.memory[-1].symbols if len(mapping.memory) else []
        found = [d for d, i in mapping.iterators.items() if i in last]
        return found[-1] if found else None
    last = memory.type.shape[-1] if len(memory.type.shape) else None
    return last.name if last is not None and last.name in dims else None
