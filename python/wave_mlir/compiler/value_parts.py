"""Parts of values: what `extract_slice` takes of each lane's registers, and where its results count.

The result of `extract_slice` keeps the layout of its operand, and the elements keep their coordinates; its *domain* is
smaller. The elements are chosen by their number among those a lane holds along a dim, which is a function of the
coordinate, so that a part is a predicate over `at.D`. Predicates follow the values that are computed from a part:
writes and atomics store inside only, and what combines elements gets its identity outside.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from mlir import ir

from wave_mlir.dialect import Expr, Layout, TileType

from .access_index import mask_access
from .bitcasts import is_repacking, widths
from .diagnostics import PassError
from .kernel_info import KernelInfo
from .mma_shape import scales, shape_of
from .reductions import register_of, registers_along
from .tile_ir import body_of, segments, tile_dims, walk

Part = tuple[Expr, ...]
"""Conditions over `at.D` (and `wave.*`) that all hold of the elements that a value has; empty: it has all."""

_ACCESSES = frozenset({"wave.write", "wave.atomic", "wave.scatter_add"})


class ValueParts:
    """The part of each tile of a kernel in placed form. `find` first, then `of` any value; `finish` at the end."""

    def __init__(self, info: KernelInfo) -> None:
        self.info = info
        self._parts: dict[ir.Value, Part] = {}
        self._slices: list[ir.Operation] = []

    @property
    def any(self) -> bool:
        """Whether the kernel takes parts of values at all."""
        return bool(self._slices)

    def of(self, value: ir.Value) -> Part:
        """The part of its tile that a value is."""
        return self._parts.get(value, ())

    def along(self, value: ir.Value, dims: Sequence[str]) -> Part:
        """Conditions of a value's part that are about one of these dims."""
        names = {f"at.{d}" for d in dims}
        return tuple(e for e in self.of(value) if not names.isdisjoint(e.symbols))

    def find(self) -> None:
        """Find the parts of all values. Raises PassError for a slice that lanes do not hold, and for what is empty."""
        entry = body_of(self.info.kernel)
        self._slices = [op for op in walk(entry) if op.name == "wave.extract_slice"]
        if self._slices:
            self._block(entry)

    def finish(self) -> None:
        """Mask the accesses, and take the slices away: their operands stand for them, inside their parts."""
        for op in list(walk(body_of(self.info.kernel))) if self.any else ():
            if op.name in _ACCESSES and self.of(op.operands[0]):
                mask_access(op, list(self.of(op.operands[0])))
        for op in self._slices:
            op.results[0].replace_all_uses_with(op.operands[0])
        for op in reversed(self._slices):
            op.erase()

    # --- data flow ---

    def _block(self, block: ir.Block) -> None:
        for view in block.operations:
            op = view.operation
            if op.name == "wave.iterate":
                self._iterate(op)
            elif op.name == "wave.conditional":
                self._conditional(op)
            else:
                self._op(op)

    def _op(self, op: ir.Operation) -> None:
        if op.name == "wave.extract":
            self._extract(op)
            return
        part = self._result(op)
        for result in op.results:
            own = {f"at.{d}" for d in tile_dims(result.type)}
            kept = tuple(e for e in part if all(s in own for s in e.symbols if s.startswith("at.")))
            if kept:
                self._parts[result] = kept
                self._check_not_empty(op, result)

    def _result(self, op: ir.Operation) -> Part:
        name = op.name
        part = _union(self.of(v) for v in op.operands)
        if name == "wave.extract_slice":
            return _union((part, self._slice(op)))
        if name in ("wave.reduce", "wave.topk"):
            return self._without(part, (op.attributes["dim"].value,))
        if name in ("wave.mma", "wave.scaled_mma"):
            if name == "wave.scaled_mma" and any(self.of(v) for v in scales(op)):
                raise PassError(op, "a scale here is a part of a tile (extract_slice); take the part of the elements")
            return self._without(part, shape_of(op, self.info).contracted)
        if part and name == "wave.shuffle":
            for dim in tile_dims(op.operands[0].type):
                self._held(op, Layout(TileType(op.operands[0].type).layout), dim)  # the same ones in all lanes
        if part and is_repacking(op):
            return _of_bitcast(op, part)
        if part and name == "wave.reshape":
            return _of_reshape(op, part)
        return part

    def _without(self, part: Part, dims: Sequence[str]) -> Part:
        names = {f"at.{d}" for d in dims}
        return tuple(e for e in part if names.isdisjoint(e.symbols))

    def _iterate(self, op: ir.Operation) -> None:
        body = body_of(op)
        carried = list(body.arguments)[len(body.arguments) - len(op.results) :]
        for value, init in zip(carried, segments(op)[1], strict=True):
            self._parts[value] = self.of(init)
        while True:
            self._block(body)
            yielded = body.operations[len(body.operations) - 1].operands
            last = list(yielded)[len(yielded) - len(carried) :]
            found = [_union((self.of(a), self.of(v))) for a, v in zip(carried, last, strict=True)]
            if found == [self.of(a) for a in carried]:
                break
            self._parts.update(zip(carried, found, strict=True))
        self._parts.update(zip(op.results, found, strict=True))

    def _conditional(self, op: ir.Operation) -> None:
        sources = [[value] for value in segments(op)[2]] or [[] for _ in op.results]
        for region in op.regions:
            for block in region.blocks:
                self._block(block)
                for values, value in zip(sources, block.operations[len(block.operations) - 1].operands, strict=True):
                    values.append(value)
        for result, values in zip(op.results, sources, strict=True):
            self._parts[result] = _union(self.of(v) for v in values)

    # --- what a lane holds ---

    def _slice(self, op: ir.Operation) -> Part:
        """The conditions of a slice, one for each dim along which it does not take all that a lane has."""
        layout = Layout(TileType(op.operands[0].type).layout)
        conditions = []
        for number, dim in enumerate(TileType(op.operands[0].type).dims):
            offset, size, stride = (self._constant(op, name, number) for name in ("offsets", "sizes", "strides"))
            held = self._held(op, layout, dim)
            last = offset + (size - 1) * stride
            if offset < 0 or size < 1 or stride < 1 or last >= len(held):
                raise PassError(
                    op,
                    f"this slice takes elements {offset} to {last} in steps of {stride} along {dim}, and a lane holds "
                    f"{len(held)}: 0 to {len(held) - 1}; choose others, or say with elements_per_thread or "
                    "vector_shapes how many a lane holds",
                )
            chosen = [held[offset + i * stride] for i in range(size)]
            if len(chosen) < registers_along(layout, dim):
                conditions.append(_among(self._number(op, layout, dim), chosen))
        return tuple(conditions)

    def _constant(self, op: ir.Operation, name: str, number: int) -> int:
        expr = Expr(op.attributes[name][number])
        value = self.info.resolve(expr).constant_value
        if value is None:
            raise PassError(op, f"{expr}, of the {name} of this slice, is known at run time only; bind its symbols")
        return value

    def _held(self, op: ir.Operation, layout: Layout, dim: str) -> list[int]:
        """Numbers of the registers along a dim that are in the part that the operand is."""
        numbers = list(range(registers_along(layout, dim)))
        conditions = self.along(op.operands[0], [dim])
        return [n for n in numbers if all(self._holds(op, c, layout, dim, n) for c in conditions)]

    def _holds(self, op: ir.Operation, condition: Expr, layout: Layout, dim: str, number: int) -> bool:
        at = {f"at.{dim}": self._at(layout, dim, number)}
        value = condition.subs(at).prove(self.info.facts)
        if value is None:
            raise PassError(
                op,
                "this is a part of a part whose elements have moved to other lanes; take both parts before they move, "
                "or the other one first",
            )
        return value

    def _at(self, layout: Layout, dim: str, number: int) -> Expr:
        """The coordinate along a dim of a lane's element of this number along it, over `lane` and `wave.*`."""
        sizes = {"lane": self.info.wave_size} | {f"wave.{axis}": self.info.waves(axis) for axis in "xyz"}
        return layout.coord_expr(dim, register_of(layout, dim, 0, number), sizes)

    def _number(self, op: ir.Operation, layout: Layout, dim: str) -> Expr:
        """The number of an element among those a lane holds along a dim, as a function of its coordinate."""
        at = Expr.symbol(f"at.{dim}")
        local = [at]
        axis = self.info.wave_axis(dim)
        if axis is not None:
            start = Expr.symbol(f"wave.{'xyz'[axis]}") % self.info.waves_of(dim) * self.info.wave_extent(dim)
            local.append(at - start)
        numbers = range(registers_along(layout, dim))
        for place in local:
            found, scale = Expr.constant(0), 1
            for extent, d, stride in layout.digits.get("reg", []):
                if d == dim:
                    found = found + place // stride % extent * scale
                    scale *= extent
            found = found.simplify(self.info.facts)
            given = (found.subs({f"at.{dim}": self._at(layout, dim, n)}).eq(n) for n in numbers)
            if all(e.prove(self.info.facts) is True for e in given):
                return found
        raise PassError(
            op,
            f"which of a lane's elements along {dim} one is does not follow from its coordinate in this layout; take "
            "the slice of a value whose lanes hold neighbours or equally spaced elements",
        )

    def _extract(self, op: ir.Operation) -> None:
        """The element at a place of a part, by its place in the whole."""
        source = op.operands[0]
        if not self.of(source):
            return
        layout = Layout(TileType(source.type).layout)
        places = []
        for dim, given in zip(TileType(source.type).dims, op.attributes["position"], strict=True):
            held = self._held(op, layout, dim)
            number = self.info.resolve(Expr(given)).constant_value
            if number is None or not 0 <= number < len(held):
                raise PassError(
                    op,
                    f"position {Expr(given)} along {dim} of a slice that has {len(held)} of a lane's elements along "
                    f"it; give a number from 0 to {len(held) - 1} that is known at compile time",
                )
            places.append(Expr.constant(held[number]))
        op.attributes["position"] = ir.ArrayAttr.get(places)

    def _check_not_empty(self, op: ir.Operation, value: ir.Value) -> None:
        """No coordinate along a dim fulfils all conditions: parts that have no element in common were joined."""
        for dim in tile_dims(value.type):
            name = f"at.{dim}"
            conditions = [e for e in self.of(value) if e.symbols == [name]]
            places = range(self.info.tile_extent(dim)) if len(conditions) > 1 else range(0)
            if len(places) and not any(all(e.eval({name: n}) for e in conditions) for n in places):
                raise PassError(
                    op,
                    f"the parts of tiles that meet here have no element in common along {dim}: elements of a slice "
                    "keep their places in the tile; read one of them by a mapping that has them where the others are",
                )


def _union(parts: Iterable[Part]) -> Part:
    """Conditions of all of these, each once."""
    return tuple(dict.fromkeys(itertools.chain.from_iterable(parts)))


def _among(number: Expr, chosen: Sequence[int]) -> Expr:
    """That a number is one of these, in increasing order."""
    first, last = chosen[0], chosen[-1]
    step = chosen[1] - first if len(chosen) > 1 else 1
    if list(chosen) != list(range(first, last + 1, step)):
        return Expr.or_(*(number.eq(n) for n in chosen))
    if first == last:
        return number.eq(first)
    conditions = [number.lt(last + 1)]
    if first:
        conditions.append(number.ge(first))
    if step > 1:
        conditions.append(((number - first) % step).eq(0))
    return Expr.and_(*conditions) if len(conditions) > 1 else conditions[0]


def _of_bitcast(op: ir.Operation, part: Part) -> Part:
    """An element of other width is in the part when all elements that it shares bits with are."""
    old, new = op.operands[0].type.dims[-1], op.results[0].type.dims[-1]
    bits, wanted = widths(op)
    group = max(wanted // bits, 1)
    per = max(bits // wanted, 1)
    at = Expr.symbol(f"at.{new}") // per * group
    found = []
    for condition in part:
        found += [condition.subs({f"at.{old}": at + n}) for n in range(group)] if old != new else [condition]
    return tuple(dict.fromkeys(found))


def _of_reshape(op: ir.Operation, part: Part) -> Part:
    """The same elements by their coordinates in the result: both number them in row-major order."""
    extents = [Layout(TileType(v.type).layout).extents for v in (op.operands[0], op.results[0])]
    position = Expr.constant(0)
    for dim in op.results[0].type.dims:
        position = position * extents[1][dim] + Expr.symbol(f"at.{dim}")
    places = {}
    for dim in reversed(op.operands[0].type.dims):
        places[f"at.{dim}"] = position % extents[0][dim]
        position = position // extents[0][dim]
    return tuple(e.subs(places) for e in part)
