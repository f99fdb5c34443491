"""wave-peel-loops: runs the whole, aligned tiles of a run-time dim in a loop of their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce

from mlir import ir
from wave_mlir.compiler.buffer_split import LIMIT
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.lane_access import (
    DIVISIBLE,
    FULL,
    LIMITS,
    REST,
    accesses,
    element_bits,
    is_shared,
    memory_of,
    names_of,
    starts_anywhere,
    width_of,
)
from wave_mlir.compiler.pass_registry import Pass, register_pass
from wave_mlir.dialect import Expr, MemoryType


@register_pass("wave-peel-loops", requires="lane", establishes="lane")
@dataclass(frozen=True)
class PeelLoops(Pass):
    """Split an innermost loop whose accesses depend on sizes known at run time only in two, one after the other.

    The first runs the tiles that lie wholly inside of the dim, if the sizes that rows have allow wide accesses: there
    no access needs a mask along the dim, and rows are aligned. It says so: `wave.full` has the dim and its tile,
    `wave.divisible` the sizes and what divides them. The other, `wave.rest`, takes what is left: the last, partial
    tile, or all tiles where rows are not aligned.

    Before (K at run time, rows of f16 read 8 elements at a time):

        %r = wave.iterate K iv(%k) trips(K ceildiv 32) iter_args(%x = %zero : …) { … }

    After:

        %f = wave.iterate K iv(%k) trips(select(K mod 8 eq 0, K floordiv 32, 0)) iter_args(%x = %zero : …) { … }
             {wave.full = {K = 32}, wave.divisible = {K = 8}}
        %r = wave.iterate K iv(%n) trips(K ceildiv 32 - select(K mod 8 eq 0, K floordiv 32, 0)) iter_args(%x = %f) {
          %k = wave.apply_expr [iv.K + select(K mod 8 eq 0, K floordiv 32, 0)] symbols(iv.K = %n) : index
          …
        } {wave.rest}

    Loops over dims that the kernel sets, while loops, and loops around loops stay as they are.
    """

    def run(self, module: ir.Module) -> None:
        """Split the loops of every kernel of the module."""
        for view in module.body.operations:
            if view.operation.name == "wave.kernel":
                info = KernelInfo.of(view)
                for loop in list(_innermost(view.operation.regions[0].blocks[0])):
                    _split(info, loop)


def _innermost(block: ir.Block) -> Iterator[ir.Operation]:
    """Loops without loops in them, in program order."""
    for view in block.operations:
        op = view.operation
        inner = [found for region in op.regions for body in region.blocks for found in _innermost(body)]
        yield from inner
        if op.name == "wave.iterate" and not inner and not _has_loop(op):
            yield op


def _has_loop(op: ir.Operation) -> bool:
    children = (c.operation for region in op.regions for block in region.blocks for c in block.operations)
    return any(c.name == "wave.iterate" or _has_loop(c) for c in children)


def _split(info: KernelInfo, loop: ir.Operation) -> None:
    if "trips" not in loop.attributes:
        return
    own = names_of(loop)
    trips = info.resolve(Expr(loop.attributes["trips"]), own)
    if any(s not in info.dynamic or s in own for s in trips.symbols):
        return
    axis = loop.attributes["axis"].value
    tile = _run_time_tile(info, loop, axis, trips)
    moduli = {name: modulus for name, modulus in _moduli(info, loop).items() if name not in own}
    if tile is None and not moduli:
        return
    whole = trips if tile is None else Expr.symbol(axis) // tile
    limits = _limits(info, loop, moduli)
    wanted = [(Expr.symbol(name) % modulus).eq(0) for name, modulus in moduli.items()]
    wanted += [Expr.symbol(name).le(most) for name, most in limits.items()]
    first = Expr.select(reduce(Expr.and_, wanted), whole, Expr.constant(0)) if wanted else whole
    rest = _rest_of(loop, axis, trips, first)
    loop.attributes["trips"] = first
    if tile is not None:
        loop.attributes[FULL] = _numbers({axis: tile})
    if moduli:
        loop.attributes[DIVISIBLE], loop.attributes[LIMITS] = _numbers(moduli), _numbers(limits)
    rest.attributes[REST] = ir.UnitAttr.get()


def _run_time_tile(info: KernelInfo, loop: ir.Operation, axis: str, trips: Expr) -> int | None:
    """The tile of a loop over all of a dim of run-time size, which starts at 0."""
    tiling = info.tiling_of(axis)
    if axis not in info.dynamic or axis in names_of(loop) or tiling is None or info.workgroup_of(axis) is not None:
        return None
    if tiling.start is not None or trips != Expr.ceildiv(Expr.symbol(axis), info.tile_extent(axis)):
        return None
    return info.tile_extent(axis)


def _moduli(info: KernelInfo, loop: ir.Operation) -> dict[str, int]:
    """For run-time sizes of rows: what must divide them for the rows to be read as wide as the layouts want."""
    found: dict[str, int] = {}
    for op in accesses(loop.regions[0].blocks[0]):
        memory = MemoryType(memory_of(op).type)
        if op.name != "wave.read" or is_shared(op) or starts_anywhere(memory) or not len(memory.shape):
            continue
        size, factor = info.resolve(list(memory.shape)[-1], names_of(op)), 1
        if size.kind == "floordiv" and size.operands[1].constant_value:
            size, factor = size.operands[0], size.operands[1].constant_value
        width = width_of(op)
        if size.name in info.dynamic and size.name not in names_of(op) and width > 1:
            found[size.name] = max(found.get(size.name, 1), (width & -width) * factor)
    return dict(sorted(found.items()))


def _limits(info: KernelInfo, loop: ir.Operation, sizes: Iterable[str]) -> dict[str, int]:
    """How great sizes of rows may be so that a tile's bytes are within the 32-bit offset of a buffer access."""
    rows = max([1, *(info.tile_extent(dim) for dim in info.tile_dims)])
    reads = [op for op in accesses(loop.regions[0].blocks[0]) if op.name == "wave.read" and not is_shared(op)]
    size = max([1, *(element_bits(MemoryType(memory_of(op).type).element_type) // 8 for op in reads)])
    return dict.fromkeys(sizes, LIMIT // (2 * rows * size))


def _rest_of(loop: ir.Operation, axis: str, trips: Expr, first: Expr) -> ir.Operation:
    """A copy of the loop, behind it, that goes on where the loop ends when it makes `first` trips."""
    with loop.location, ir.InsertionPoint.after(loop):
        rest = loop.clone().operation
    rest.attributes["trips"] = trips - first
    for old, new in zip(loop.results, rest.results, strict=True):
        old.replace_all_uses_with(new)
    for number, value in enumerate(loop.results):
        rest.operands[number] = value
    body = rest.regions[0].blocks[0]
    counter = body.arguments[0]
    name = f"iv.{axis}"
    with loop.location, ir.InsertionPoint.at_block_begin(body):
        attributes = {
            "expr": Expr.symbol(name) + first,
            "symbol_names": ir.ArrayAttr.get([ir.StringAttr.get(name)]),
        }
        position = ir.Operation.create("wave.apply_expr", [ir.IndexType.get()], [counter], attributes)
    counter.replace_all_uses_except(position.results[0], position)
    return rest


def _numbers(values: dict[str, int]) -> ir.DictAttr:
    i64 = ir.IntegerType.get_signless(64)
    return ir.DictAttr.get({name: ir.IntegerAttr.get(i64, n) for name, n in values.items()})
