"""From tiles to the vectors of one lane: the work of wave-expand, an op at a time."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from mlir import ir
from mlir.dialects import arith, vector

from wave_mlir.dialect import Expr, Layout, MemoryType, TileType
from wave_mlir.dialect.wave import AtomicKind

from . import expand_elementwise as elementwise
from .bitcasts import is_repacking
from .diagnostics import PassError
from .expand_exchange import LaneConstants, expand_exchange
from .kernel_info import KernelInfo
from .lane_places import apart
from .lane_values import Lanes, LaneValue, concatenate, layout_of, rechunk
from .mma_shape import TRANSPOSED, oriented, shape_of
from .mma_steps import MmaSteps
from .partial_sums import PartialSums, Waves
from .reductions import CLUSTERS, WAVES, clusters_of, register_of, registers_along, rows_attr, waves_of
from .relayout_ways import WAY, exchange_of, moved_tiles, plan_of
from .scans import Scan, entry_of
from .selections import Selection
from .targets import MmaKind, TargetError
from .tile_ir import DIRECT, bound_names, bound_values

_COPIED_FLAGS = ("is_volatile", "nontemporal", DIRECT)


def is_tile(kind: ir.Type) -> bool:
    """Whether a type is a `!wave.tile`."""
    return isinstance(kind, TileType)


class Expander:
    """Expands one kernel. `values` has the vectors of each tile seen so far."""

    def __init__(self, info: KernelInfo) -> None:
        self.info = info
        self.lanes = Lanes(info)
        self.values: dict[ir.Value, LaneValue] = {}
        self.sums = PartialSums()
        self._accesses = -1
        self._lane_constants: LaneConstants | None = None

    # --- values ----------------------------------------------------------------------------------
    def get(self, value: ir.Value, width: int | None = None) -> LaneValue:
        """The vectors of a tile, in chunks of `width` (default: its own)."""
        found = self.values[value]
        return found if width is None else rechunk(found, width)

    def mma_kind(self, op: ir.Operation) -> MmaKind:
        """The kind of an MMA: its own, or the hardware constraint's, or the target's default."""
        name = op.attributes["kind"].value if "kind" in op.attributes else self.info.hardware.mma
        target = self.info.target
        try:
            if not name:
                return oriented(op, target.default_mma(str(TileType(op.operands[0].type).element_type)))
            return oriented(op, target.mma(name))
        except TargetError as e:
            raise PassError(op, str(e)) from e

    def note_widths(self, block: ir.Block) -> None:
        """Cut the layouts of MMA operands and results at the fragments of the instruction."""
        for view in block.operations:
            op = view.operation
            if op.name in ("wave.mma", "wave.scaled_mma"):
                kind = self.mma_kind(op)
                for name in ("lhs", "rhs", "acc"):
                    layout = layout_of(getattr(op.opview, name).type)
                    self.lanes.widths[layout] = getattr(kind, name).elements
            for region in op.regions:
                for inner in region.blocks:
                    self.note_widths(inner)

    # --- blocks ----------------------------------------------------------------------------------
    def expand_block(self, block: ir.Block) -> None:
        """Expand every op of a block; what is left of its tile ops is erased."""
        ops = [view.operation for view in block.operations]
        dead = []
        for op in ops:
            handler = _HANDLERS.get(op.name)
            if handler is None and op.name in elementwise.ELEMENTWISE:
                handler = Expander._elementwise
            with op.location, ir.InsertionPoint(op):
                if handler is not None and handler(self, op):
                    dead.append(op)
                elif any(is_tile(v.type) for v in (*op.operands, *op.results)):  # what makes a tile goes away
                    raise PassError(op, f"{op.name} of tiles has no expansion to lanes in this version")
        for op in reversed(dead):
            op.erase()

    # --- memory ----------------------------------------------------------------------------------
    def _predicate(self, op: ir.Operation, layout: Layout, chunk: int, once: bool) -> Expr:
        exists = self.lanes.exists(layout, chunk)
        if not once:
            return exists
        owner = self.lanes.owner(layout, chunk)
        if owner.constant_value == 1:
            return exists
        return owner if exists.constant_value == 1 else Expr.and_(exists, owner)

    def _mask(self, op: ir.Operation, layout: Layout, chunk: int, once: bool) -> ir.Value | None:
        """The mask of one chunk's access: the user's, and that the element exists (`once`: and has one owner)."""
        width = self.lanes.width(layout)
        kind = ir.VectorType.get([width], ir.IntegerType.get_signless(1))
        predicate = self._predicate(op, layout, chunk, once)
        mask = None
        if predicate.constant_value != 1:
            mask = ir.Operation.create("wave.mask", [kind], [], {"expr": predicate}).results[0]
        given = op.opview.mask
        if given is None:
            return mask
        own = self.get(given, width).chunks[chunk] if is_tile(given.type) else given
        return own if mask is None else arith.AndIOp(own, mask).result

    def _index(self, op: ir.Operation, layout: Layout, chunk: int) -> ir.ArrayAttr:
        at = self.lanes.coordinates(layout, chunk)
        facts = self.lanes.facts(self.lanes.width(layout))
        bound = bound_names(op)
        exprs = [self.info.resolve(Expr(e), bound).subs(at).simplify(facts) for e in op.attributes["index"]]
        return ir.ArrayAttr.get(exprs)

    def _access(self, op: ir.Operation, layout: Layout, chunk: int, once: bool) -> tuple[list, dict, list[int]]:
        """Operands after the memory, attributes and segment sizes (mask, dynamic, symbols) of one chunk's access."""
        if "index" not in op.attributes:
            raise PassError(op, "the access has no index; run wave-infer-layouts before wave-expand")
        mask = self._mask(op, layout, chunk, once)
        symbols = [self._symbol_operand(v, layout, chunk) for v in op.opview.symbol_values]
        attributes = {"index": self._index(op, layout, chunk)}
        for name in ("symbol_names", *_COPIED_FLAGS):
            if name in op.attributes:
                attributes[name] = op.attributes[name]
        attributes["wave.provenance"] = self._provenance(op, chunk)
        masks = [] if mask is None else [mask]
        return masks + symbols, attributes, [len(masks), 0, len(symbols)]

    def _provenance(self, op: ir.Operation, chunk: int) -> ir.Attribute:
        """Which tile op an access comes from (by number, in program order) and which copy of it is."""
        if chunk == 0:
            self._accesses += 1
        i64 = ir.IntegerType.get_signless(64)
        number, copy = (ir.IntegerAttr.get(i64, n) for n in (self._accesses, chunk))
        return ir.DictAttr.get({"op": number, "copy": copy})

    def _symbol_operand(self, value: ir.Value, layout: Layout, chunk: int) -> ir.Value:
        """A tile that stands for a symbol: its vector for the same elements (or its one element)."""
        if not is_tile(value.type):
            return value
        width = self.lanes.width(layout)
        held = self.get(value)
        if held.registers == 1:
            return held.chunks[0]
        own = TileType(value.type).dims
        if set(own) >= set(layout.dims):
            return rechunk(held, width).chunks[chunk]
        single = rechunk(held, 1).chunks
        numbers = [_register_without(layout, own, chunk * width + i) for i in range(width)]
        if len(set(numbers)) == 1:  # one element stands for all, so that an access stays as wide as it is
            return single[numbers[0]]
        return concatenate([single[number] for number in numbers])

    def _read(self, op: ir.Operation) -> bool:
        tile = op.results[0].type
        if not is_tile(tile):
            return False
        layout = layout_of(tile)
        kind = self.lanes.chunk_type(tile)
        chunks = []
        for chunk in range(self.lanes.chunk_count(layout)):
            operands, attributes, sizes = self._access(op, layout, chunk, once=False)
            attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([1, *sizes])
            read = ir.Operation.create("wave.read", [kind], [op.opview.memory, *operands], attributes)
            chunks.append(read.results[0])
        self.values[op.results[0]] = LaneValue(tuple(chunks), kind.shape[0])
        return True

    def _write(self, op: ir.Operation) -> bool:
        """write, atomic, scatter_add: one access a chunk; each element is stored by one of the lanes that hold it, or
        by all of them, each at its own place."""
        value = op.opview.value
        if not is_tile(value.type):
            return False
        layout = layout_of(value.type)
        held = self.get(value, self.lanes.width(layout))
        old: list[ir.Value] = []
        wanted = len(op.results) > 0 and next(iter(op.results[0].uses), None) is not None
        name = "wave.atomic" if op.name == "wave.scatter_add" else op.name
        once = op.name != "wave.write" or not apart(op)
        for chunk, part in enumerate(held.chunks):
            operands, attributes, sizes = self._access(op, layout, chunk, once)
            attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([1, 1, *sizes])
            if name == "wave.atomic":
                attributes["kind"] = op.attributes["kind"] if "kind" in op.attributes else _add_kind()
            results = [part.type] if wanted else []
            old += ir.Operation.create(name, results, [part, op.opview.memory, *operands], attributes).results
        if wanted:
            if any(self.lanes.owner(layout, chunk).constant_value != 1 for chunk in range(len(old))):
                old = self._from_owners(op, layout, old)
            self.values[op.results[0]] = LaneValue(tuple(old), held.width)
        return True

    def _from_owners(self, op: ir.Operation, layout: Layout, values: list[ir.Value]) -> list[ir.Value]:
        """Vectors that are right in the lane that owns an element, in all that hold it: they meet in LDS."""
        shape = [Expr.constant(layout.extents[dim]) for dim in layout.dims]
        memory = MemoryType.get(shape, values[0].type.element_type, "shared")
        with ir.InsertionPoint.at_block_begin(entry_of(op)):
            buffer = ir.Operation.create("wave.allocate", [memory]).results[0]

        def access(name: str, chunk: int, operands: list[ir.Value], kinds: list[ir.Type], once: bool) -> list[ir.Value]:
            mask = self._mask(op, layout, chunk, once)
            masks = [] if mask is None else [mask]
            at = self.lanes.coordinates(layout, chunk)
            sizes = ir.DenseI32ArrayAttr.get([1] * len(operands) + [len(masks), 0, 0])
            index = ir.ArrayAttr.get([at[f"at.{dim}"] for dim in layout.dims])
            attributes = {"index": index, "operandSegmentSizes": sizes}
            return list(ir.Operation.create(name, kinds, [*operands, *masks], attributes).results)

        for chunk, value in enumerate(values):
            access("wave.write", chunk, [value, buffer], [], once=True)
        return [access("wave.read", n, [buffer], [value.type], once=False)[0] for n, value in enumerate(values)]

    # --- computation -----------------------------------------------------------------------------
    def _register(self, op: ir.Operation) -> bool:
        tile = op.results[0].type
        if not is_tile(tile):
            return False
        layout, kind = layout_of(tile), self.lanes.chunk_type(tile)
        if op.operands:
            value = vector.BroadcastOp(kind, op.operands[0]).result
        else:
            splat = ir.DenseElementsAttr.get_splat(kind, op.attributes["value"])
            value = arith.ConstantOp(kind, splat).result
        self.values[op.results[0]] = LaneValue((value,) * self.lanes.chunk_count(layout), kind.shape[0])
        return True

    def _expression(self, op: ir.Operation) -> bool:
        """mask, apply_expr, scalar: the expression of each element, over its coordinates."""
        tile = op.results[0].type
        if not is_tile(tile):
            return self._scalar_expression(op)
        layout, kind = layout_of(tile), self.lanes.chunk_type(tile)
        facts = self.lanes.facts(kind.shape[0])
        expr = self.info.resolve(Expr(op.attributes["expr"]), bound_names(op))
        chunks = []
        for chunk in range(self.lanes.chunk_count(layout)):
            attributes = {"expr": expr.subs(self.lanes.coordinates(layout, chunk)).simplify(facts)}
            if "symbol_names" in op.attributes:
                attributes["symbol_names"] = op.attributes["symbol_names"]
            symbols = [self._symbol_operand(v, layout, chunk) for v in op.opview.symbol_values]
            chunks.append(ir.Operation.create(op.name, [kind], symbols, attributes).results[0])
        self.values[op.results[0]] = LaneValue(tuple(chunks), kind.shape[0])
        return True

    def _scalar_expression(self, op: ir.Operation) -> bool:
        """One value: what its symbols stand for has one element a lane."""
        first = len(op.operands) - len(op.opview.symbol_values)
        for number, value in enumerate(op.opview.symbol_values, first):
            if not is_tile(value.type):
                continue
            held = self.get(value)
            if held.registers != 1:
                names = ir.ArrayAttr(op.attributes["symbol_names"])
                raise PassError(
                    op,
                    f"symbol {names[number - first].value} stands for {held.registers} elements a lane, and the result "
                    "is one value; set it from a tile that has one element a lane (vector_shapes says how many)",
                )
            op.operands[number] = held.chunks[0]
        return False

    def _rename(self, op: ir.Operation) -> bool:
        """permute: the same registers under other dim names."""
        if not is_tile(op.results[0].type):
            return False
        self.values[op.results[0]] = self.get(op.operands[0])
        return True

    def _broadcast(self, op: ir.Operation) -> bool:
        """broadcast: each register of the result is the operand's register for the dims that the operand has."""
        tile = op.results[0].type
        if not is_tile(tile):
            return False
        layout = layout_of(tile)
        width = self.lanes.width(layout)
        source = op.operands[0]
        if not is_tile(source.type):
            whole = vector.BroadcastOp(self.lanes.chunk_type(tile), source).result
            self.values[op.results[0]] = LaneValue((whole,) * self.lanes.chunk_count(layout), width)
            return True
        own = TileType(source.type).dims
        single = self.get(source, 1).chunks
        numbers = [_register_without(layout, own, r) for r in range(layout.registers)]
        chunks = [_repeated([single[n] for n in numbers[at : at + width]]) for at in range(0, layout.registers, width)]
        self.values[op.results[0]] = LaneValue(tuple(chunks), width)
        return True

    def _reduce(self, op: ir.Operation) -> bool:
        """reduce: for each chunk of the result the vectors of the source that differ along the dim only."""
        view = op.opview
        tile = op.results[0].type
        if not is_tile(tile):
            return False
        dim = op.attributes["dim"].value
        source, layout = layout_of(view.sources[0].type), layout_of(tile)
        waves = waves_of(source, dim)
        if waves and "block" not in op.attributes:
            raise PassError(
                op, f"dim {dim} is divided among waves, and each would reduce its part only; add 'block' (block=True)"
            )
        single, width = self.get(view.sources[0], 1).chunks, self.lanes.width(layout)
        acc = None if view.acc is None else self.get(view.acc, width)
        chunks = []
        for chunk in range(self.lanes.chunk_count(layout)):
            parts = []
            for along in range(registers_along(source, dim)):
                wanted = [register_of(source, dim, chunk * width + i, along) for i in range(width)]
                parts.append(concatenate([single[n] for n in wanted]))
            operands = parts if acc is None else [*parts, acc.chunks[chunk]]
            chunks.append(self._reduction(op, operands, len(parts), clusters_of(source, dim), waves))
        self.values[op.results[0]] = LaneValue(tuple(chunks), width)
        return True

    def _reduction(
        self,
        op: ir.Operation,
        operands: list[ir.Value],
        sources: int,
        clusters: list[tuple[int, int]],
        waves: list[tuple[int, int, int]],
    ) -> ir.Value:
        sizes = [sources, len(operands) - sources, 0]
        attributes = {name: op.attributes[name] for name in ("kind", "dim", "block") if name in op.attributes}
        attributes |= {"operandSegmentSizes": ir.DenseI32ArrayAttr.get(sizes), CLUSTERS: rows_attr(clusters)}
        if waves:
            attributes[WAVES] = rows_attr(waves)
        return ir.Operation.create("wave.reduce", [operands[0].type], operands, attributes).results[0]

    def _cumsum(self, op: ir.Operation) -> bool:
        tile = op.results[0].type
        if not is_tile(tile):
            return False
        layout, dim = layout_of(tile), op.attributes["dim"].value
        sums = Scan(op, self.info, layout, dim).run(list(self.get(op.operands[0], 1).chunks))
        self.values[op.results[0]] = rechunk(LaneValue(tuple(sums), 1), self.lanes.width(layout))
        return True

    def _topk(self, op: ir.Operation) -> bool:
        """topk: positions are coordinates along the dim; the k results are the last digit of the registers."""
        view = op.opview
        if not is_tile(view.values.type):
            return False
        source, layout = layout_of(view.source.type), layout_of(view.values.type)
        dim, k = op.attributes["dim"].value, op.attributes["k"].value
        held = self.get(view.source, 1)
        positions = self._positions(op, source, dim)
        count = held.registers // registers_along(source, dim)
        values, places = [None] * (count * k), [None] * (count * k)
        best = Selection(op, self.info, source, dim).run(list(held.chunks), positions, k)
        for kept, rank in itertools.product(range(count), range(k)):
            values[kept + count * rank], places[kept + count * rank] = best[kept][rank].value, best[kept][rank].place
        width = self.lanes.width(layout)
        for result, found in ((view.values, values), (view.positions, places)):
            self.values[result] = rechunk(LaneValue(tuple(found), 1), width)
        return True

    def _positions(self, op: ir.Operation, layout: Layout, dim: str) -> list[ir.Value]:
        """The coordinate along `dim` of each register's element, in the whole dim."""
        kind = ir.VectorType.get([1], TileType(op.opview.positions.type).element_type)
        values = bound_values(op)
        base = self.info.dim_base(dim, list(values))
        used = {n: values[n] for n in base.symbols if n in values}
        found = []
        for register in range(layout.registers):
            at = layout.coord_expr(dim, register, self.lanes.sizes)
            attributes = {"expr": (base + at).simplify(self.info.facts)}
            if used:
                attributes["symbol_names"] = ir.ArrayAttr.get([ir.StringAttr.get(n) for n in used])
            operands = [self._element(v, layout, register) for v in used.values()]
            found.append(ir.Operation.create("wave.apply_expr", [kind], operands, attributes).results[0])
        return found

    def _element(self, value: ir.Value, layout: Layout, register: int) -> ir.Value:
        """A tile that stands for a symbol: its element that goes with one register of a layout."""
        if not is_tile(value.type):
            return value
        held = self.get(value, 1).chunks
        return held[0 if len(held) == 1 else _register_without(layout, TileType(value.type).dims, register)]

    def _relayout(self, op: ir.Operation) -> bool:
        """relayout, reshape: registers of a lane are renamed, or the lanes of a wave exchange theirs."""
        if not is_tile(op.results[0].type):
            return False
        tiles, target = moved_tiles(op), layout_of(op.results[0].type)
        if tiles is None or (op.name == "wave.reshape" and WAY not in op.attributes):
            raise PassError(op, "this reshape moves elements between lanes; run wave-lower-relayouts first")
        found = plan_of(*tiles, self.info)
        made = exchange_of(*tiles, found, self.info) if WAY in op.attributes else None
        if made is not None:
            value = self.get(op.operands[0])
            self.values[op.results[0]] = expand_exchange(value, made, self._constants(op), self.lanes.width(target))
            return True
        if found.kind not in ("identity", "registers"):
            raise PassError(op, "this relayout moves elements between lanes; run wave-lower-relayouts first")
        single = self.get(op.operands[0], 1).chunks
        chosen = [single[register or 0] for register in found.registers]  # where None, any value will do
        self.values[op.results[0]] = rechunk(LaneValue(tuple(chosen), 1), self.lanes.width(target))
        return True

    def _constants(self, op: ir.Operation) -> LaneConstants:
        """What depends on the lane alone, in the kernel of an op."""
        if self._lane_constants is None:
            kernel = op
            while kernel.name != "wave.kernel":
                kernel = kernel.parent.operation
            self._lane_constants = LaneConstants(kernel.regions[0].blocks[0], self.info.wave_size)
        return self._lane_constants

    def _elementwise(self, op: ir.Operation) -> bool:
        tile = op.results[0].type
        if not is_tile(tile):
            return self._scalar_elementwise(op)
        width = self.lanes.width(layout_of(tile))
        operands = [self.get(v, width) if is_tile(v.type) else v for v in op.operands]
        kind = self.lanes.chunk_type(tile)
        chunks = []
        for chunk in range(self.lanes.chunk_count(layout_of(tile))):
            parts = [v.chunks[chunk] if isinstance(v, LaneValue) else v for v in operands]
            chunks.append(self._built(op, parts, kind))
        self.values[op.results[0]] = LaneValue(tuple(chunks), width)
        return True

    def _scalar_elementwise(self, op: ir.Operation) -> bool:
        value = self._built(op, list(op.operands), op.results[0].type)
        op.results[0].replace_all_uses_with(value)
        return True

    def _built(self, op: ir.Operation, parts: list[ir.Value], kind: ir.Type) -> ir.Value:
        value = elementwise.build(op, parts, kind)
        if value is None:
            element = elementwise.element_of(parts[0].type)
            raise PassError(op, f"{op.name} does not apply to {element}; cast the operands first")
        return value

    def _extract(self, op: ir.Operation) -> bool:
        """extract: one of the lane's registers."""
        if not is_tile(op.results[0].type):
            return False
        layout = layout_of(op.operands[0].type)
        places = {}
        for dim, expr in zip(layout.dims, op.opview.position, strict=True):
            number, count = self.info.resolve(expr).constant_value, registers_along(layout, dim)
            if number is None or not 0 <= number < count:
                raise PassError(
                    op,
                    f"position {expr} along {dim}: a lane holds {count} elements along it; give a number from 0 to "
                    f"{count - 1} that is known at compile time",
                )
            places[dim] = number
        register, scale = 0, 1
        for extent, dim, _ in layout.digits.get("reg", []):
            places[dim], digit = divmod(places.get(dim, 0), extent)
            register += digit * scale
            scale *= extent
        self.values[op.results[0]] = LaneValue((self.get(op.operands[0], 1).chunks[register],), 1)
        return True

    def _bitcast(self, op: ir.Operation) -> bool:
        """bitcast: of each vector; to elements of another width, of as many as share the bits of a result's vector."""
        if not is_repacking(op) or not is_tile(op.results[0].type):
            return self._elementwise(op)
        old, new = (v.type.element_type.width for v in (op.operands[0], op.results[0]))
        width = self.lanes.width(layout_of(op.results[0].type))
        while width * new % old:
            width *= 2
        kind = ir.VectorType.get([width], TileType(op.results[0].type).element_type)
        parts = self.get(op.operands[0], width * new // old).chunks
        value = LaneValue(tuple(vector.BitCastOp(kind, part).result for part in parts), width)
        self.values[op.results[0]] = rechunk(value, self.lanes.width(layout_of(op.results[0].type)))
        return True

    def _shuffle(self, op: ir.Operation) -> bool:
        """shuffle: of all elements of a lane as one vector, so that small ones travel together."""
        if not is_tile(op.results[0].type):
            return False
        width = self.lanes.width(layout_of(op.results[0].type))
        whole = concatenate(list(self.get(op.operands[0], width).chunks))
        moved = ir.Operation.create("wave.shuffle", [whole.type], [whole], dict(op.attributes.items())).results[0]
        self.values[op.results[0]] = rechunk(LaneValue((moved,), whole.type.shape[0]), width)
        return True

    def _mma(self, op: ir.Operation) -> bool:
        view = op.opview
        if not is_tile(view.acc.type):
            return False
        kind = self.mma_kind(op)
        lhs, rhs = self.get(view.lhs, kind.lhs.elements), self.get(view.rhs, kind.rhs.elements)
        given = list(self.get(view.acc, kind.acc.elements).chunks)
        waves = self._waves_of_sum(op)
        acc, firsts = self.sums.started(given, waves)
        steps = MmaSteps(op, kind)
        attributes: dict[str, ir.Attribute] = {"kind": ir.StringAttr.get(kind.name)}
        if TRANSPOSED in op.attributes:
            attributes[TRANSPOSED] = ir.UnitAttr.get()
        scales = [self.get(v, 1).chunks for v in (view.lhs_scale, view.rhs_scale)] if kind.is_scaled else []
        for number in range(len(acc)):
            for a, b, *numbers in steps.operands_of(number):
                operands = [lhs.chunks[a], rhs.chunks[b], acc[number]]
                for place, (held, scale) in enumerate(zip(scales, numbers, strict=True)):
                    operands.insert(2 * place + 1, held[scale])
                mma = ir.Operation.create(op.name, [acc[number].type], operands, attributes)
                acc[number] = mma.results[0]
                firsts[number] = firsts[number] or mma
        if waves:
            acc = self.sums.totals(given, acc, firsts, waves)
        held = LaneValue(tuple(acc), kind.acc.elements)
        self.values[op.results[0]] = rechunk(held, self.lanes.width(layout_of(op.results[0].type)))
        return True

    def _waves_of_sum(self, op: ir.Operation) -> Waves:
        """The waves that divide the contracted dims of an MMA."""
        lhs, contracted = layout_of(op.opview.lhs.type), shape_of(op, self.info).contracted
        return tuple(w for dim in contracted for w in waves_of(lhs, dim))

    # --- regions ---------------------------------------------------------------------------------
    def _flat_types(self, kinds: list[ir.Type]) -> list[ir.Type]:
        flat = []
        for kind in kinds:
            if is_tile(kind):
                flat += [self.lanes.chunk_type(kind)] * self.lanes.chunk_count(layout_of(kind))
            else:
                flat.append(kind)
        return flat

    def _flat_values(self, values: list[ir.Value]) -> list[ir.Value]:
        flat = []
        for value in values:
            if is_tile(value.type):
                flat += self.get(value, self.lanes.width(layout_of(value.type))).chunks
            else:
                flat.append(value)
        return flat

    def _adopt(self, olds: list[ir.Value], news: list[ir.Value]) -> None:
        """Values of a region op (results or block arguments) stand for the tiles of the old one."""
        at = 0
        for old in olds:
            if not is_tile(old.type):
                old.replace_all_uses_with(news[at])
                at += 1
                continue
            layout = layout_of(old.type)
            count = self.lanes.chunk_count(layout)
            self.values[old] = LaneValue(tuple(news[at : at + count]), self.lanes.width(layout))
            at += count

    def _region_op(self, op: ir.Operation) -> bool:
        """iterate and conditional: the same op with each tile as its vectors (result, row-major over its dims)."""
        types = self._flat_types([r.type for r in op.results])
        operands, sizes = [], []
        for name in _SEGMENTS[op.name]:
            part = getattr(op.opview, name)
            part = [] if part is None else list(part) if not isinstance(part, ir.Value) else [part]
            part = self._flat_values(part)
            operands += part
            sizes.append(len(part))
        attributes = {name: attr for name, attr in op.attributes.items() if name != "operandSegmentSizes"}
        attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get(sizes)
        new = ir.Operation.create(op.name, types, operands, attributes, regions=len(op.regions))
        for old_region, new_region in zip(op.regions, new.regions, strict=True):
            for block in old_region.blocks:
                self._move_block(block, new_region)
        results = list(new.results)
        if op.name == "wave.iterate":
            results = self.sums.after_loop(new, sizes[0])
        self._adopt(list(op.results), results)
        return True

    def _move_block(self, block: ir.Block, region: ir.Region) -> None:
        kinds = self._flat_types([a.type for a in block.arguments])
        location = block.owner.operation.location
        inner = region.blocks.append(*kinds, arg_locs=[location] * len(kinds))
        self._adopt(list(block.arguments), list(inner.arguments))
        for child in list(block.operations):
            inner.append(child)
        self.expand_block(inner)

    def _yield(self, op: ir.Operation) -> bool:
        if not any(is_tile(v.type) for v in op.operands):
            return False
        ir.Operation.create("wave.yield", [], self._flat_values(list(op.operands)))
        return True


def _add_kind() -> ir.Attribute:
    return ir.AttrBuilder.get("Wave_AtomicKindAttr")(AtomicKind.Add, context=ir.Context.current)


def _repeated(parts: list[ir.Value]) -> ir.Value:
    """One vector of the parts; of one value in every place without taking it apart."""
    if all(part == parts[0] for part in parts) and len(parts) > 1:
        scalar = vector.ExtractOp(parts[0], [], [0]).result
        return vector.BroadcastOp(ir.VectorType.get([len(parts)], scalar.type), scalar).result
    return concatenate(parts)


def _register_without(layout: Layout, dims: Sequence[str], register: int) -> int:
    """The register of a tile with these of the layout's dims only that holds what `register` stands for along them."""
    number, scale = 0, 1
    for extent, dim, _ in layout.digits.get("reg", []):
        register, digit = divmod(register, extent)
        if dim is None or dim in dims:
            number += digit * scale
            scale *= extent
    return number


_SEGMENTS = {
    "wave.iterate": ("start", "init_args", "symbol_values"),
    "wave.conditional": ("condition_value", "symbol_values", "else_values"),
}

_HANDLERS: dict[str, Callable[[Expander, ir.Operation], bool]] = {
    "wave.read": Expander._read,
    "wave.write": Expander._write,
    "wave.atomic": Expander._write,
    "wave.scatter_add": Expander._write,
    "wave.extract": Expander._extract,
    "wave.register": Expander._register,
    "wave.mask": Expander._expression,
    "wave.apply_expr": Expander._expression,
    "wave.scalar": Expander._expression,
    "wave.permute": Expander._rename,
    "wave.broadcast": Expander._broadcast,
    "wave.reduce": Expander._reduce,
    "wave.cumsum": Expander._cumsum,
    "wave.topk": Expander._topk,
    "wave.relayout": Expander._relayout, "wave.reshape": Expander._relayout,
    "wave.bitcast": Expander._bitcast,
    "wave.shuffle": Expander._shuffle,
    "wave.mma": Expander._mma,
    "wave.scaled_mma": Expander._mma,
    "wave.iterate": Expander._region_op,
    "wave.conditional": Expander._region_op,
    "wave.yield": Expander._yield,
}
