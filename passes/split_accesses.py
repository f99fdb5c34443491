"""wave-split-accesses: cuts accesses into runs that are contiguous, aligned and masked alike."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import vector
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.lane_access import (
    ALIGNMENT,
    LaneFacts,
    Within,
    accesses,
    element_bits,
    index_of,
    is_shared,
    linear_of,
    make_mask,
    mask_expr,
    memory_of,
    names_of,
    starts_anywhere,
    stored_of,
    symbol_values_of,
    value_type,
    varying,
    width_of,
    with_parts,
)
from wave_mlir.compiler.lane_values import concatenate
from wave_mlir.compiler.pass_registry import Pass, option, register_pass
from wave_mlir.compiler.same_elements import classes
from wave_mlir.dialect import Expr, Facts, MemoryType


@register_pass("wave-split-accesses", requires="lane", establishes="lane")
@dataclass(frozen=True)
class SplitAccesses(Pass):
    """Cut each access into the widest runs whose elements are provably consecutive, aligned and masked alike.

    A run has a power of two of elements and at most `max-bits`. Its alignment is proven: a global access of a dword or
    more needs 4 bytes, a smaller one its size; LDS accesses of 64 bits need 8, of 128 bits 16. A memory starts at such
    an address, unless it has strides given at run time: these are for views, which start at any element. Within a run
    the mask is the same for every element, and so are values that the index takes from registers (a page's number): by
    where they come from. What cannot be proven becomes accesses of one element. Afterwards no index depends on `el`.

    Before (rows of 17 f16):

        %v = wave.read %a index [lane, el] : !wave.memory<[M, 17], f16, global> -> vector<4xf16>

    After:

        %0 = wave.read %a index [lane, 0] : !wave.memory<[M, 17], f16, global> -> vector<1xf16>
        … three more, and a vector of the four
    """

    max_bits: int = option(128, help="bits of one access at most")

    def run(self, module: ir.Module) -> None:
        """Split the accesses of every kernel of the module."""
        for view in module.body.operations:
            op = view.operation
            if op.name == "wave.kernel":
                splitter = _Splitter(KernelInfo.of(view), self.max_bits)
                for access in accesses(op.regions[0].blocks[0]):
                    splitter.split(access)
                _erase_unused_masks(op.regions[0].blocks[0])


def _erase_unused_masks(block: ir.Block) -> None:
    for view in reversed(list(block.operations)):
        op = view.operation
        for region in op.regions:
            for inner in region.blocks:
                _erase_unused_masks(inner)
        if op.name == "wave.mask" and next(iter(op.results[0].uses), None) is None:
            op.erase()


@dataclass(frozen=True)
class _Shape:
    """What decides where an access can be cut; equal shapes are cut alike."""

    linear: Expr
    mask: Expr | None
    width: int
    bits: int
    shared: bool
    masked: bool
    varying: frozenset[str]  # symbols with a value of their own for each element
    classes: tuple[int, ...]  # a number for each element: where it is the same, so are the values of these symbols
    anywhere: bool  # the memory may start at any element, so that no address is known to be aligned
    single: bool  # an access of one element at a time: atomics
    within: Within


class _Splitter:
    def __init__(self, info: KernelInfo, max_bits: int) -> None:
        self.info = info
        hardware = info.hardware.max_bits_per_load
        self.max_bits = min(max_bits, hardware) if hardware else max_bits
        self.facts = LaneFacts(info)
        self._runs: dict[_Shape, list[tuple[int, int]]] = {}
        self._elements: dict[tuple[Expr, int, int, Within], Expr] = {}

    def split(self, op: ir.Operation) -> None:
        width = width_of(op)
        within = Within.of(op)
        facts = self.facts.of(width, within)
        mask = op.opview.mask
        predicate = None if mask is None else mask_expr(mask)
        if predicate is not None:
            predicate = self.info.resolve(predicate, names_of(mask.owner.operation))
            if op.name == "wave.write" and predicate.constant_value == 0:
                op.erase()
                return
        memory = MemoryType(memory_of(op).type)
        varying_symbols = _varying_of(op)
        shape = _Shape(linear_of(op, self.info, facts), predicate, width, element_bits(memory.element_type),
                       is_shared(op), mask is not None, varying_symbols, _classes_of(op, varying_symbols),
                       starts_anywhere(memory), op.name == "wave.atomic", within)  # fmt: skip
        if shape not in self._runs:
            self._runs[shape] = self._cut(shape, facts)
        runs = self._runs[shape]
        index = index_of(op, self.info)
        exprs = index if predicate is None else [*index, predicate]
        if len(runs) == 1 and not any("el" in e.symbols for e in exprs) and not (shape.varying and width > 1):
            self._note_alignment(op, shape, 0)
            return
        with op.location, ir.InsertionPoint(op):
            self._rebuild(op, index, predicate, runs, shape)
        op.erase()

    # --- where to cut ----------------------------------------------------------------------------
    def _cut(self, shape: _Shape, facts: Facts) -> list[tuple[int, int]]:
        if shape.width == 1:
            return [(0, 1)]
        if shape.single:
            return [(n, 1) for n in range(shape.width)]
        runs, at = [], 0
        offsets = _consecutive_from(shape, facts)
        while at < shape.width:
            size = self._run_at(shape, offsets, at, facts)
            runs.append((at, size))
            at += size
        return runs

    def _run_at(self, shape: _Shape, starts: list[int], at: int, facts: Facts) -> int:
        """The longest run that can begin at element `at`. `starts[i]`: the first element of i's consecutive stretch."""
        size = 1
        while 2 * size * shape.bits <= self.max_bits and at + 2 * size <= shape.width:
            size *= 2
        while size > 1:
            consecutive = starts[at + size - 1] <= at
            if consecutive and self._aligned(shape, at, size, facts) and self._alike(shape, at, size, facts):
                return size
            size //= 2
        return 1

    def _aligned(self, shape: _Shape, at: int, size: int, facts: Facts) -> bool:
        bits = size * shape.bits
        if bits % 8:
            return False
        needed = _needed_alignment(bits // 8, shape.shared)
        if needed * 8 <= shape.bits:
            return True
        if shape.anywhere:
            return False
        start = shape.linear.subs({"el": at}).simplify(facts)
        if start.constant_value is not None:
            return start.constant_value * shape.bits % (needed * 8) == 0
        return start.divisor(facts) * shape.bits % (needed * 8) == 0

    def _alike(self, shape: _Shape, at: int, size: int, facts: Facts) -> bool:
        if not shape.masked:
            return True
        if shape.mask is None:
            return False
        if shape.varying & set(shape.mask.symbols) and len(set(shape.classes[at : at + size])) > 1:
            return False
        return same_in_run(shape.mask, at, size, facts)

    # --- new ops ---------------------------------------------------------------------------------
    def _rebuild(
        self, op: ir.Operation, index: list[Expr], predicate: Expr | None, runs: list[tuple[int, int]], shape: _Shape
    ) -> None:
        facts = self.facts.of(shape.width, shape.within)
        parts = []
        loaded: dict[tuple, ir.Value] = {}
        for at, size in runs:
            here = [self._at(e, at, shape) for e in index]
            key = self._load_key(op, here, predicate, at, size, shape, facts)
            if key in loaded:
                parts.append(loaded[key])
                continue
            if op.name == "wave.write" and predicate is not None and self._at(predicate, at, shape).constant_value == 0:
                continue  # elements that no lane stores
            mask = self._mask_of(op, predicate, at, size, facts)
            # the values of symbols are the same for all elements of a run
            if op.name != "wave.read":
                new = with_parts(op, here, mask, value=_slice(stored_of(op), at, size), run=(at, 1))
                self._note_alignment(new, shape, at)
                parts += new.results
                continue
            element = value_type(op)
            element = element.element_type if isinstance(element, ir.VectorType) else element
            kind = ir.VectorType.get([size], element)
            new = with_parts(op, here, mask, kind=kind, run=(at, 1))
            self._note_alignment(new, shape, at)
            parts.append(new.results[0])
            if key is not None:
                loaded[key] = new.results[0]
        if parts:
            value = concatenate(parts)
            if not isinstance(op.results[0].type, ir.VectorType):
                value = vector.ExtractOp(value, [], [0]).result
            op.results[0].replace_all_uses_with(value)

    def _load_key(
        self,
        op: ir.Operation,
        here: list[Expr],
        predicate: Expr | None,
        at: int,
        size: int,
        shape: _Shape,
        facts: Facts,
    ) -> tuple | None:
        """What decides the value of a run of a read: elements that are the same one are loaded once."""
        if op.name != "wave.read" or "is_volatile" in op.attributes or (shape.masked and predicate is None):
            return None
        mask = None if predicate is None else predicate.subs({"el": at}).simplify(facts)
        return tuple(here), mask, size, shape.classes[at] if shape.varying else 0

    def _note_alignment(self, op: ir.Operation, shape: _Shape, at: int) -> None:
        """What is proven of the address with the promise of a loop is said on the op: later passes do not ask loops."""
        if not shape.within.divisible or shape.anywhere:
            return
        facts = self.facts.of(shape.width, shape.within)
        divisor = shape.linear.subs({"el": at}).simplify(facts).divisor(facts) * shape.bits // 8
        if divisor & -divisor:
            op.attributes[ALIGNMENT] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), min(divisor & -divisor, 16))

    def _at(self, expr: Expr, at: int, shape: _Shape) -> Expr:
        """A coordinate at element `at` of an access; many accesses share a row or a column."""
        key = expr, at, shape.width, shape.within
        known = self._elements.get(key)
        if known is None:
            facts = self.facts.of(shape.width, shape.within)
            known = self._elements[key] = expr.subs({"el": at}).simplify(facts)
        return known

    def _mask_of(self, op: ir.Operation, predicate: Expr | None, at: int, size: int, facts: Facts) -> ir.Value | None:
        mask = op.opview.mask
        if mask is None:
            return None
        if predicate is None:
            return _slice(mask, at, size)
        here = predicate.subs({"el": at}).simplify(facts)
        if here.constant_value is not None and here.constant_value != 0:
            return None
        return make_mask(here, size, mask.owner.operation, at=at, same=True)


def _classes_of(op: ir.Operation, varying_symbols: frozenset[str]) -> tuple[int, ...]:
    """The classes of elements with equal values of these symbols."""
    if not varying_symbols:
        return ()
    mask = op.opview.mask
    owners = [op] if mask is None or mask_expr(mask) is None else [op, mask.owner.operation]
    pairs = [(n, v) for o in owners for n, v in zip(names_of(o), symbol_values_of(o), strict=True)]
    return classes([v for n, v in pairs if n in varying_symbols], width_of(op))


def _varying_of(op: ir.Operation) -> frozenset[str]:
    """Symbols of an access or of its mask that have a value of their own for each element."""
    mask = op.opview.mask
    own = varying(op)
    return own if mask is None or mask_expr(mask) is None else own | varying(mask.owner.operation)


def _slice(value: ir.Value, at: int, size: int) -> ir.Value:
    if not isinstance(value.type, ir.VectorType):
        return vector.BroadcastOp(ir.VectorType.get([size], value.type), value).result
    if value.type.shape[0] == size:
        return value
    kind = ir.VectorType.get([size], value.type.element_type)
    return vector.ExtractStridedSliceOp(kind, value, [at], [size], [1]).result


def _consecutive_from(shape: _Shape, facts: Facts) -> list[int]:
    """For each element the first one of the stretch of consecutive addresses that it belongs to."""
    own = bool(shape.varying & set(shape.linear.symbols))  # each element is where its own value says
    first = shape.linear.subs({"el": 0}).simplify(facts)
    if shape.linear == first + Expr.symbol("el") and not own:
        return [0] * shape.width
    starts, before = [0], first
    for number in range(1, shape.width):
        here = shape.linear.subs({"el": number}).simplify(facts)
        step = (here - before).simplify(facts).constant_value
        alike = not own or shape.classes[number] == shape.classes[number - 1]
        starts.append(starts[-1] if step == 1 and alike else number)
        before = here
    return starts


def _needed_alignment(size: int, shared: bool) -> int:
    """Bytes that the start of an access of `size` bytes must be a multiple of (see the pass)."""
    if shared:
        return 16 if size > 8 else size
    return min(size, 4)


def same_in_run(predicate: Expr, at: int, size: int, facts: Facts) -> bool:
    """Whether a predicate provably has one value for elements at … at + size - 1."""
    if "el" not in predicate.symbols:
        return True
    if predicate.kind in ("and", "or"):
        return all(same_in_run(operand, at, size, facts) for operand in predicate.operands)
    first = predicate.subs({"el": at}).simplify(facts)
    if predicate.kind in ("lt", "le") and _steps_over_bound(predicate, at, size, facts):
        return True
    return all(predicate.subs({"el": at + n}).simplify(facts) == first for n in range(1, size))


def _steps_over_bound(predicate: Expr, at: int, size: int, facts: Facts) -> bool:
    """a + el < b (el consecutive) cannot change inside a run when `size` divides both a + at and b."""
    left, right = predicate.operands
    offset = 0 if predicate.kind == "lt" else 1  # a <= b is a < b + 1
    difference = (left - right - offset).simplify(facts)
    start = difference.subs({"el": 0}).simplify(facts)
    if difference == start + Expr.symbol("el"):
        begin = (start + at).simplify(facts)
    else:
        return False
    # d + el < 0 for el in [0, size): if size divides d, the sign is that of d for all of them.
    if begin.constant_value is not None:
        return begin.constant_value % size == 0 or not -size < begin.constant_value < 0
    return begin.divisor(facts) % size == 0
