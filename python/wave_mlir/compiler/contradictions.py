"""Constraints that contradict each other, or what is known, and those that this version does not honour."""

from __future__ import annotations

from wave_mlir.dialect import Expr, prove

from .constraints import Tiling
from .diagnostics import PassError
from .kernel_info import KernelInfo


def check_contradictions(info: KernelInfo) -> None:
    """Raises PassError at the kernel (constraints have no location of their own)."""
    for tiling in info.constraints.tiling:
        _check_divided_twice(info, tiling)
    for predicate in info.constraints.assume:
        _check_assumption(info, predicate)
    for dim, tile, number in info.constraints.device:
        raise PassError(
            info.kernel,
            f"a kernel runs on one device in this version, so #wave.device<{dim}, {tile}, {number}> would have no "
            f"effect; drop it and launch the kernel once for each device, on its part of dim {dim}",
        )


def _check_divided_twice(info: KernelInfo, tiling: Tiling) -> None:
    """A loop over a dim that workgroups divide starts at the workgroup's part: how far it goes must be said."""
    workgroup = info.workgroup_of(tiling.dim)
    if workgroup is None or tiling.tile is None or tiling.iters is not None:
        return
    parts = Expr.ceildiv(info.dim_extent(tiling.dim), info.resolve(workgroup.tile)).simplify(info.facts)
    if parts.constant_value in (0, 1):
        return
    dim, whole, step = tiling.dim, workgroup.tile, tiling.tile
    raise PassError(
        info.kernel,
        f"dim {dim} is divided among workgroups, each with {whole} of it, and walked by a loop that goes on to the end "
        f"of the dim: say how many trips each makes, #wave.tiling<{dim}, {step}, iters = …> with {whole} divided by "
        f"{step} (in Python: TilingConstraint({dim}, {step}, iters=…)), or drop one of the two constraints",
    )


def _check_assumption(info: KernelInfo, predicate: Expr) -> None:
    known = info.resolve(predicate)
    if prove(known, info.facts_without_assumptions) is False:
        values = {s: info.resolve(Expr.symbol(s)) for s in predicate.symbols}
        where = ", ".join(f"{s} = {v}" for s, v in values.items() if v.constant_value is not None)
        raise PassError(
            info.kernel,
            f"the assumption {predicate} does not hold, {'where ' + where if where else 'whatever the symbols are'}; "
            "drop it, or give symbols other values",
        )
