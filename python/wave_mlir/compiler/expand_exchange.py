"""Exchanges between lanes as ops of lane form: words of 32 bits (or one wider element) as vectors of one element."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mlir import ir
from mlir.dialects import arith, vector

from wave_mlir.dialect import Expr, Move
from wave_mlir.dialect import wave as ops

from .exchange_graph import Node
from .exchanges import Exchange
from .lane_values import LaneValue, concatenate, rechunk
from .relayout_ways import WORD, stand_in_bits

SWAPS = {16: "rocdl.permlane16.swap", 32: "rocdl.permlane32.swap"}
"""Rows of lanes, and the op that swaps them between two registers."""


@dataclass
class LaneConstants:
    """What depends on nothing but the lane, made once, at the beginning of a kernel."""

    entry: ir.Block
    lanes: int
    _known: dict[tuple[str, tuple[int, ...]], ir.Value] = field(default_factory=dict)

    def truth(self, where: Sequence[int]) -> ir.Value:
        """vector<1xi1>: whether the lane's bit is set."""
        key = "truth", tuple(where)
        if key not in self._known:
            with ir.InsertionPoint.at_block_begin(self.entry):
                self._known[key] = self._truth(where)
        return self._known[key]

    def _truth(self, where: Sequence[int]) -> ir.Value:
        kind = ir.VectorType.get([1], ir.IntegerType.get_signless(1))
        for bit in range(self.lanes.bit_length() - 1):
            if all(w == lane >> bit & 1 for lane, w in enumerate(where)):
                expr = (Expr.symbol("lane") // (1 << bit) % 2).eq(1)
                return ir.Operation.create("wave.mask", [kind], [], {"expr": expr}).results[0]
        return arith.TruncIOp(kind, self._bit_of(where)).result

    def _bit_of(self, where: Sequence[int]) -> ir.Value:
        """vector<1xi64>: a number whose lowest bit is that of the lane."""
        wide = ir.VectorType.get([1], ir.IntegerType.get_signless(64))
        lane = ir.Operation.create("wave.apply_expr", [wide], [], {"expr": Expr.symbol("lane")}).results[0]
        bits = sum(bool(w) << i for i, w in enumerate(where))
        return arith.ShRUIOp(_splat(wide, bits - (bits >> 63 << 64)), lane).result

    def table(self, lanes: Sequence[int]) -> ir.Value:
        """i32: a number for each lane."""
        key = "table", tuple(lanes)
        if key not in self._known:
            with ir.InsertionPoint.at_block_begin(self.entry):
                self._known[key] = self._table(lanes)
        return self._known[key]

    def _table(self, lanes: Sequence[int]) -> ir.Value:
        i32 = ir.IntegerType.get_signless(32)
        narrow = ir.VectorType.get([1], i32)
        expr = Move(0, tuple(lanes)).lane_expr()
        if expr is not None:
            value = ir.Operation.create("wave.apply_expr", [narrow], [], {"expr": expr}).results[0]
            return vector.ExtractOp(value, [], [0]).result
        wide = ir.VectorType.get([1], ir.IntegerType.get_signless(64))
        total = _splat(wide, 0)
        for bit in range(max(lanes).bit_length()):  # no pattern: bit by bit
            own = arith.AndIOp(self._bit_of([n >> bit & 1 for n in lanes]), _splat(wide, 1)).result
            total = arith.OrIOp(total, arith.ShLIOp(own, _splat(wide, bit)).result).result
        return vector.ExtractOp(arith.TruncIOp(narrow, total).result, [], [0]).result

    def blend_mask(self, where: Sequence[int], elements: Sequence[int]) -> ir.Value:
        """vector<1xi32>: all bits of the elements whose bit is that of the lane."""
        key = "blend", (*where, *elements)
        if key not in self._known:
            condition = self.truth(where)
            width = WORD // len(elements)
            ones = sum(((1 << width) - 1) << i * width for i, e in enumerate(elements) if e)
            kind = ir.VectorType.get([1], ir.IntegerType.get_signless(WORD))
            with ir.InsertionPoint.after(condition.owner):
                those, others = _splat(kind, _signed(ones)), _splat(kind, _signed(~ones & 0xFFFFFFFF))
                self._known[key] = arith.SelectOp(condition, those, others).result
        return self._known[key]


def _signed(number: int) -> int:
    return number - (number >> WORD - 1 << WORD)


def _splat(kind: ir.VectorType, value: int) -> ir.Value:
    attribute = ir.DenseElementsAttr.get_splat(kind, ir.IntegerAttr.get(kind.element_type, value))
    return arith.ConstantOp(kind, attribute).result


def expand_exchange(value: LaneValue, made: Exchange, constants: LaneConstants, width: int) -> LaneValue:
    """The registers of a tile after an exchange, in chunks of `width` (emitted at the current insertion point)."""
    element = ir.VectorType(value.chunks[0].type).element_type
    words = _Words(made, constants, element)
    sources = words.packed(value)
    found: dict[int, ir.Value] = {}
    for number in made.graph.used(made.results):
        node = made.graph.nodes[number]
        found[number] = words.emit(node, [found[o] for o in node.operands], sources)
    singles = [v for r in made.results for v in words.unpacked(found[r])][: made.registers]
    return rechunk(LaneValue(tuple(singles), 1), width)


class _Words:
    """Emits the operations of one exchange of elements of one type."""

    def __init__(self, made: Exchange, constants: LaneConstants, element: ir.Type) -> None:
        self.count, self.constants, self.element = made.graph.packed, constants, element
        self.bits = stand_in_bits(element) or WORD
        same = self.bits == getattr(element, "width", 0)
        self.stand_in = element if same else ir.IntegerType.get_signless(self.bits)
        word = self.stand_in if self.bits > WORD else ir.IntegerType.get_signless(WORD)
        self.elements = ir.VectorType.get([self.count], self.stand_in)
        self.kind = ir.VectorType.get([1], word)
        self._swaps: dict[tuple[ir.Value, ir.Value, int], tuple[ir.Value, ir.Value]] = {}

    def packed(self, value: LaneValue) -> list[ir.Value]:
        """The words of a lane's registers, in order; the last one filled up."""
        if value.registers % self.count == 0:
            chunks = list(rechunk(value, self.count).chunks)
        else:
            singles = list(rechunk(value, 1).chunks)
            singles += singles[-1:] * (-len(singles) % self.count)
            chunks = [concatenate(singles[i : i + self.count]) for i in range(0, len(singles), self.count)]
        return [self._word(self._stood_in(chunk)) for chunk in chunks]

    def _stood_in(self, chunk: ir.Value) -> ir.Value:
        if isinstance(self.element, ir.IndexType):
            return arith.IndexCastOp(self.elements, chunk).result
        return chunk if self.stand_in == self.element else arith.ExtUIOp(self.elements, chunk).result

    def _word(self, elements: ir.Value) -> ir.Value:
        return elements if elements.type == self.kind else vector.BitCastOp(self.kind, elements).result

    def _elements(self, word: ir.Value) -> ir.Value:
        return word if word.type == self.elements else vector.BitCastOp(self.elements, word).result

    def unpacked(self, word: ir.Value) -> list[ir.Value]:
        """The elements of a word as vectors of one."""
        whole = self._elements(word)
        kind = ir.VectorType.get([self.count], self.element)
        if isinstance(self.element, ir.IndexType):
            whole = arith.IndexCastOp(kind, whole).result
        elif self.stand_in != self.element:
            whole = arith.TruncIOp(kind, whole).result
        return list(rechunk(LaneValue((whole,), self.count), 1).chunks)

    def emit(self, node: Node, operands: list[ir.Value], sources: list[ir.Value]) -> ir.Value:
        """The word that a node gives."""
        if node.kind == "word":
            return sources[node.detail[0]]
        if node.kind == "pick":
            return self._pick(node, operands)
        if node.kind == "xor":
            return ops.ShuffleOp(ops.ShuffleMode.Xor, operands[0], node.detail[0], self.constants.lanes).result
        if node.kind == "lanes":
            return self._from_lanes(operands[0], node.detail)
        if node.kind == "select":
            return arith.SelectOp(self.constants.truth(node.detail), operands[1], operands[0]).result
        if node.kind == "blend":
            return self._blend(node, operands)
        return self._swap(operands[0], operands[1], node.detail)

    def _pick(self, node: Node, operands: list[ir.Value]) -> ir.Value:
        slots = list(zip(node.detail[::2], node.detail[1::2], strict=True))
        if len(operands) <= 2:
            places = [word * self.count + at for word, at in slots]
            a, b = self._elements(operands[0]), self._elements(operands[-1])
            return self._word(vector.ShuffleOp(a, b, places).result)
        parts = [vector.ExtractOp(self._elements(operands[word]), [], [at]).result for word, at in slots]
        return self._word(vector.FromElementsOp(self.elements, parts).result)

    def _from_lanes(self, word: ir.Value, table: Sequence[int]) -> ir.Value:
        i32 = ir.IntegerType.get_signless(32)
        index, width = self.constants.table(table), arith.ConstantOp(i32, self.constants.lanes).result
        scalar = vector.ExtractOp(word, [], [0]).result
        mode = ir.Attribute.parse("#gpu<shuffle_mode idx>")
        kinds = [scalar.type, ir.IntegerType.get_signless(1)]
        moved = ir.Operation.create("gpu.shuffle", kinds, [scalar, index, width], {"mode": mode}).results[0]
        return vector.FromElementsOp(self.kind, [moved]).result

    def _blend(self, node: Node, operands: list[ir.Value]) -> ir.Value:
        lanes = self.constants.lanes
        mask = self.constants.blend_mask(node.detail[:lanes], node.detail[lanes:])
        inverse = arith.XOrIOp(mask, _splat(self.kind, -1)).result
        kept, taken = arith.AndIOp(operands[0], mask).result, arith.AndIOp(operands[1], inverse).result
        return arith.OrIOp(kept, taken).result

    def _swap(self, a: ir.Value, b: ir.Value, detail: Sequence[int]) -> ir.Value:
        rows, which = detail
        key = a, b, rows
        if key not in self._swaps:
            self._swaps[key] = swapped_rows(*(vector.ExtractOp(v, [], [0]).result for v in (a, b)), rows)
        return vector.FromElementsOp(self.kind, [self._swaps[key][which]]).result


def swapped_rows(a: ir.Value, b: ir.Value, rows: int) -> tuple[ir.Value, ir.Value]:
    """The i32 values a and b with the odd rows of a (of so many lanes, 16 or 32) and the even rows of b exchanged."""
    i32, off = ir.IntegerType.get_signless(WORD), ir.BoolAttr.get(False)
    both = ir.Type.parse("!llvm.struct<(i32, i32)>")
    swap = ir.Operation.create(SWAPS[rows], [both], [a, b], {"fi": off, "boundControl": off}).results[0]

    def half(number: int) -> ir.Value:
        place = {"position": ir.DenseI64ArrayAttr.get([number])}
        return ir.Operation.create("llvm.extractvalue", [i32], [swap], place).results[0]

    return half(0), half(1)
