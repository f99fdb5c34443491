"""Which vectors of an MMA's operands meet in each vector of its accumulator."""

from __future__ import annotations

from mlir import ir

from wave_mlir.dialect import Layout

from .diagnostics import PassError
from .lane_values import layout_of
from .targets import MmaKind

_Table = tuple[dict[tuple[int, ...], int], list[str], str]
"""Chunks by the coordinates of their first register, the dims of these, and what an error calls the operand."""


class MmaSteps:
    """Which chunks of lhs and rhs meet in each chunk of the accumulator, in the order of K.

    The chunks of one operand are told apart by the coordinates of their first register in lane 0 of wave 0.
    """

    def __init__(self, op: ir.Operation, kind: MmaKind) -> None:
        view = op.opview
        self.op = op
        layouts = {name: layout_of(getattr(view, name).type) for name in ("lhs", "rhs", "acc")}
        self.acc_dims = layouts["acc"].dims
        self.contracted = [d for d in layouts["lhs"].dims if d in layouts["rhs"].dims and d not in self.acc_dims]
        self.acc = _origins(layouts["acc"], kind.acc.elements)
        self.lhs = _by_origin(layouts["lhs"], kind.lhs.elements)
        self.rhs = _by_origin(layouts["rhs"], kind.rhs.elements)
        self.lhs_dims, self.rhs_dims = layouts["lhs"].dims, layouts["rhs"].dims
        steps = sorted({tuple(origin[self.lhs_dims.index(d)] for d in self.contracted) for origin in self.lhs})
        self.steps = [dict(zip(self.contracted, step, strict=True)) for step in steps]
        self.scales: list[_Table] = []
        if kind.is_scaled:
            for name in ("lhs", "rhs"):
                self._add_scale(name, layout_of(getattr(view, f"{name}_scale").type), kind)

    def _add_scale(self, name: str, layout: Layout, kind: MmaKind) -> None:
        """The table of an operand's scales, and where each step is along their own dim."""
        dims = self.lhs_dims if name == "lhs" else self.rhs_dims
        along = next(d for d in layout.dims if d not in dims)
        k = next(d for d in dims if d in self.contracted and d not in layout.dims)
        fragment = getattr(kind, f"{name}_scale")
        for step in self.steps:
            step[f"{along}.{name}"] = step[k] // kind.k * fragment.extent("k")
        named = [f"{d}.{name}" if d == along else d for d in layout.dims]
        self.scales.append((_by_origin(layout, 1), named, f"{name}'s scales"))

    def operands_of(self, number: int) -> list[tuple[int, ...]]:
        """The (lhs chunk, rhs chunk, then of a scaled MMA lhs scale, rhs scale) that add to accumulator chunk `number`.

        In the order of K.
        """
        place = dict(zip(self.acc_dims, self.acc[number], strict=True))
        tables: list[_Table] = [(self.lhs, self.lhs_dims, "lhs"), (self.rhs, self.rhs_dims, "rhs"), *self.scales]
        return [tuple(self._find(*table, place | step) for table in tables) for step in self.steps]

    def _find(self, table: dict[tuple[int, ...], int], dims: list[str], which: str, place: dict[str, int]) -> int:
        found = table.get(tuple(place[d] for d in dims))
        if found is None:
            raise PassError(self.op, f"the layout of the {which} does not cover what the accumulator needs; "
                                     "run wave-infer-layouts, which makes the three agree")  # fmt: skip
        return found


def _origins(layout: Layout, width: int) -> list[tuple[int, ...]]:
    """Coordinates of the first register of each chunk in lane 0 of wave 0."""
    origins = []
    digits = layout.digits.get("reg", [])
    for register in range(0, layout.registers, width):
        place = dict.fromkeys(layout.dims, 0)
        rest = register
        for extent, dim, stride in digits:
            rest, digit = divmod(rest, extent)
            if dim is not None:
                place[dim] += digit * stride
        origins.append(tuple(place[d] for d in layout.dims))
    return origins


def _by_origin(layout: Layout, width: int) -> dict[tuple[int, ...], int]:
    table: dict[tuple[int, ...], int] = {}
    for number, origin in enumerate(_origins(layout, width)):
        table.setdefault(origin, number)
    return table
