"""Values of tiles in another layout: what made them is made once more, where that is cheap, or a relayout is inserted.

The index of a gather has tiles of positions, in the layout of the access restricted to their own dims. An access that
gets another layout needs them in that. Index arithmetic, masks and the read of a table are repeated, each right before
the op it repeats, so that it sees the same memory; anything else is moved by `wave.relayout`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mlir import ir

from wave_mlir.dialect import Layout, TileType

from .tile_ir import ELEMENTWISE

_REPEATED = frozenset({"wave.read", "wave.mask", "wave.apply_expr", "wave.scalar", "wave.cast", "wave.register",
                       "wave.broadcast", "wave.select"}) | ELEMENTWISE  # fmt: skip


def restricted(layout: Layout, dims: list[str]) -> Layout:
    """The layout of a tile that has only these of a layout's dims."""
    for dim in list(layout.dims):
        if dim not in dims:
            layout = layout.drop(dim)
    return layout


def can_relay(value: ir.Value, dims: list[str]) -> bool:
    """Whether a value can be had in any layout of a tile with these dims: it is none, or of a part of them."""
    if not isinstance(value.type, TileType):
        return True
    extents = Layout(TileType(value.type).layout).extents
    return all(d in dims or extents[d] == 1 for d in extents)


@dataclass
class Relaying:
    """Makes values in other layouts, each once."""

    _known: dict[tuple[ir.Value, Layout], ir.Value] = field(default_factory=dict)

    @property
    def moved(self) -> bool:
        """Whether anything was made; what it replaces may be unused now."""
        return bool(self._known)

    def value(self, value: ir.Value, layout: Layout, user: ir.Operation) -> ir.Value:
        """A value in `layout`, restricted to its dims; available at `user`. `can_relay` holds."""
        if not isinstance(value.type, TileType):
            return value
        tile = TileType(value.type)
        if any(d not in layout.dims for d in tile.dims):
            return value  # one element
        wanted = restricted(layout, list(tile.dims))
        if Layout(tile.layout) == wanted:
            return value
        key = value, wanted
        if key not in self._known:
            self._known[key] = self._make(value, tile, wanted, user)
        return self._known[key]

    def _make(self, value: ir.Value, tile: TileType, wanted: Layout, user: ir.Operation) -> ir.Value:
        kind = TileType.get(tile.dims, tile.element_type, wanted)
        owner = None if isinstance(value.owner, ir.Block) else value.owner.operation
        if owner is not None and owner.name == "wave.relayout":
            return self.value(owner.operands[0], wanted, user)
        if owner is None or not _is_repeated(owner, list(tile.dims)):
            with ir.InsertionPoint(user):
                return ir.Operation.create("wave.relayout", [kind], [value], loc=user.location).results[0]
        operands = [self.value(v, wanted, owner) for v in owner.operands]
        with ir.InsertionPoint(owner):
            made = owner.clone()
        for number, operand in enumerate(operands):
            made.operands[number] = operand
        made.results[0].set_type(kind)
        return made.results[0]


def _is_repeated(op: ir.Operation, dims: list[str]) -> bool:
    if op.name not in _REPEATED or len(op.results) != 1 or "is_volatile" in op.attributes:
        return False
    return all(can_relay(v, dims) for v in op.operands)


def erase_unused(block: ir.Block) -> None:
    """Erase, in a block and those in it, what may be repeated and is not used."""
    for view in reversed(list(block.operations)):
        op = view.operation
        for region in op.regions:
            for inner in region.blocks:
                erase_unused(inner)
        if op.name not in (*_REPEATED, "wave.relayout") or "is_volatile" in op.attributes:
            continue
        if all(next(iter(r.uses), None) is None for r in op.results):
            op.erase()
