"""Plans of conversion between two layouts of one tile: what a relayout becomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from mlir import ir

from .._wave import Expr, Layout, lane_table_expr, layout_plan

__all__ = ["Move", "Plan", "apply_plan", "plan"]

Mechanism = Literal["own", "dpp", "swizzle", "bpermute"]

# Lane exchanges with a fixed pattern (AMD CDNA3 ISA, DPP and ds_swizzle): xor by 1, 2, 3 is a quad permutation, by 7 a
# half-row mirror, by 15 a row mirror, by 8 a row rotation; any xor below 32 is a ds_swizzle.
_DPP_XORS = (1, 2, 3, 7, 8, 15)


@dataclass(frozen=True)
class Move:
    """Lanes read register `register` of other lanes.

    `lanes[l]` is the source of lane l, -1 where this move does not serve it.
    """

    register: int
    lanes: tuple[int, ...]

    @property
    def is_own(self) -> bool:
        """Every lane that is served reads its own register."""
        return all(source in (-1, lane) for lane, source in enumerate(self.lanes))

    @property
    def serves_all(self) -> bool:
        """No lane is left to another move."""
        return -1 not in self.lanes

    @property
    def xor(self) -> int | None:
        """The mask m such that each served lane l reads lane l ^ m, or None."""
        masks = {source ^ lane for lane, source in enumerate(self.lanes) if source >= 0}
        return masks.pop() if len(masks) == 1 else None

    @property
    def mechanism(self) -> Mechanism:
        """The cheapest way that every target has: own register, DPP, swizzle inside 32 lanes, or bpermute."""
        if self.is_own:
            return "own"
        if self.xor is None or self.xor >= 32:
            return "bpermute"
        return "dpp" if self.xor in _DPP_XORS else "swizzle"

    def lane_expr(self, context: ir.Context | None = None) -> Expr | None:
        """The source lane as an expression of `lane`, right for served lanes; None when it is not linear over bits."""
        return lane_table_expr(list(self.lanes), context)


@dataclass(frozen=True)
class Plan:
    """How data of one layout gets into another of the same tile.

    kind      what it takes
    --------- -----------------------------------------------------------------------------------------------
    identity  nothing: every element stays in its register
    registers each destination register is one source register of the same lane
    lanes     lanes of a wave exchange: a destination register combines its moves by a select over lanes
    lds       some element comes from another wave: a round trip through LDS (no moves)

    `moves[r]` are those of destination register r, none where no lane has an element in it (its contents are then
    unspecified). The same moves are right in every wave.
    """

    kind: Literal["identity", "registers", "lanes", "lds"]
    elements: int
    moves: tuple[tuple[Move, ...], ...]

    def lds_bytes(self, element_bits: int) -> int:
        """Bytes of LDS a round trip of the tile needs, without padding; 0 for the other kinds."""
        return -(-self.elements * element_bits // 8) if self.kind == "lds" else 0

    @property
    def registers(self) -> tuple[int | None, ...]:
        """For identity and registers: the source register of each destination register, None where unspecified."""
        return tuple(moves[0].register if moves else None for moves in self.moves)

    @property
    def exchanges(self) -> int:
        """Cross-lane operations of one register each."""
        return sum(not move.is_own for moves in self.moves for move in moves)


def plan(src: Layout, dst: Layout, sizes: Mapping[str, int] | None = None) -> Plan:
    """The cheapest conversion from layout `src` to `dst`.

    `sizes` has the number of lanes and of waves per axis (`block_sizes`); by default what the layouts count.
    Raises ValueError when the two are not layouts of one tile: the same dims in the same order, with the same extents.
    """
    kind, elements, registers = layout_plan(src, dst, dict(sizes) if sizes is not None else None)
    return Plan(
        kind, elements, tuple(tuple(Move(reg, tuple(lanes)) for reg, lanes in moves) for moves in registers)
    )


def apply_plan(
    plan: Plan, src: Layout, dst: Layout, data: np.ndarray, sizes: Mapping[str, int] | None = None
) -> np.ndarray:
    """What the plan makes of `data` of shape (waves, lanes, registers of src); places it leaves unspecified are 0.

    `lds` writes and reads a buffer of the tile's elements, which also is the meaning of every other kind.
    """
    given = dict(sizes or {})
    out = np.zeros((*data.shape[:2], dst.registers), data.dtype)
    if plan.kind == "lds":
        sizes_of_data = given or {s: max(src.size(s), dst.size(s)) for s in ("lane", "wave.x", "wave.y", "wave.z")}
        written, read = src.table(sizes_of_data), dst.table(sizes_of_data)
        buffer = np.zeros(plan.elements, data.dtype)
        buffer[written[written >= 0]] = data[written >= 0]
        out[read >= 0] = buffer[read[read >= 0]]
        return out
    for reg, moves in enumerate(plan.moves):
        for move in moves:
            lanes = np.array(move.lanes)
            served = lanes >= 0
            out[:, served, reg] = data[:, lanes[served], move.register]
    return out
