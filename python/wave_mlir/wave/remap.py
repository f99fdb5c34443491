"""Remaps of workgroups for reuse in the L2 cache, as constraints."""

from __future__ import annotations

import sympy

from wave_mlir.compiler import remaps, targets
from wave_mlir.lang import global_symbols
from wave_mlir.lang.symbols import ExprLike

from .constraints import ReorderingConstraint


def reordered_workgroups(
    grid: tuple[ExprLike, ExprLike],
    *,
    group: int = 8,
    along: int = 0,
    target: str | None = None,
    xcds: int | None = None,
) -> list[ReorderingConstraint]:
    """Constraints by which workgroups that run at the same time share rows and columns, and so the L2 cache.

    grid: workgroups along grid dims 0 and 1, such as `(ceiling(M / BLOCK_M), ceiling(N / BLOCK_N))`. group: tiles along
    grid dim `along` that are gone through together, column by column; 1: none. target or xcds: the chip, or its number
    of XCDs (chips with an L2 of their own, which get workgroups in turns): each XCD gets a run of neighbours. Neither:
    as if there were one.
    A bijection of every grid, also of one that neither divides. Raises ValueError for numbers that make no sense,
    TargetError for an unknown target.
    """
    if group < 1 or along not in (0, 1):
        raise ValueError(f"reordered_workgroups: group is {group}, along is {along}; they are 1 or more, and 0 or 1")
    if target is not None and xcds is not None:
        raise ValueError("reordered_workgroups: give the target or the number of XCDs, not both")
    chips = targets.get(target).xcds if target is not None else 1 if xcds is None else xcds
    if chips < 1:
        raise ValueError(f"reordered_workgroups: there are {chips} XCDs; at least one")
    sizes = (sympy.sympify(grid[0]), sympy.sympify(grid[1]))
    ids = (global_symbols.WORKGROUP_0, global_symbols.WORKGROUP_1)
    x, y = remaps.remapped(ids, sizes, group, along, chips, sympy.Min)
    return [ReorderingConstraint(x, 0), ReorderingConstraint(y, 1)]
