"""The constraints of a kernel as plain records, sorted by kind.

Only this file knows how the constraint attributes look in Python. Expressions are as the user wrote them: symbols
are not substituted (see `kernel_info`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from mlir import ir

from wave_mlir.dialect import (
    AssumeConstraintAttr,
    DeviceConstraintAttr,
    Expr,
    GridConstraintAttr,
    HardwareConstraintAttr,
    ReorderingConstraintAttr,
    TilingConstraintAttr,
    WaveConstraintAttr,
    WorkgroupConstraintAttr,
)


@dataclass(frozen=True)
class Workgroup:
    """`dim` is cut in tiles, one a workgroup along grid dim `axis` (0 = x; from 3 up folded into z)."""

    dim: str
    tile: Expr
    axis: int
    fn: Expr | None
    iters: Expr | None
    secondary: bool


@dataclass(frozen=True)
class Tiling:
    """`dim` is walked by a loop in steps of `tile` (None: by while loops only)."""

    dim: str
    tile: Expr | None
    iters: Expr | None
    start: Expr | None


@dataclass(frozen=True)
class Wave:
    """A wave has `tile` of the workgroup's tile along `dim`; `axis` is the block dim when the user names one."""

    dim: str
    tile: Expr
    axis: int | None


@dataclass(frozen=True)
class Hardware:
    """Wave size, default MMA kind ("": none) and the extents that one op of one wave covers."""

    threads_per_wave: int
    mma: str
    vector_shapes: dict[str, Expr]
    waves_per_block: tuple[int, ...]
    max_bits_per_load: int
    service_waves: int


@dataclass
class Constraints:
    """All constraints of a kernel, in the order of the program within each kind."""

    workgroup: list[Workgroup] = field(default_factory=list)
    tiling: list[Tiling] = field(default_factory=list)
    wave: list[Wave] = field(default_factory=list)
    hardware: list[Hardware] = field(default_factory=list)
    reordering: list[tuple[Expr, int]] = field(default_factory=list)
    grid: list[list[Expr]] = field(default_factory=list)
    device: list[tuple[str, Expr, int]] = field(default_factory=list)
    assume: list[Expr] = field(default_factory=list)

    @staticmethod
    def of(kernel: ir.OpView) -> Constraints:
        """Read the `constraints` of a `wave.kernel`."""
        result = Constraints()
        for attribute in kernel.operation.attributes["constraints"]:
            _ADD[type(attribute)](result, attribute)
        return result

    def expressions(self) -> Iterator[Expr]:
        """Every expression of every constraint."""
        for cut in (*self.workgroup, *self.tiling, *self.wave):
            yield from (e for e in vars(cut).values() if isinstance(e, Expr))
        for hardware in self.hardware:
            yield from hardware.vector_shapes.values()
        yield from (equation for equation, _ in self.reordering)
        yield from (size for sizes in self.grid for size in sizes)
        yield from (tile for _, tile, _ in self.device)
        yield from self.assume


def _hardware(a: HardwareConstraintAttr) -> Hardware:
    return Hardware(
        a.threads_per_wave,
        a.mma or "",
        dict(a.vector_shapes or {}),
        tuple(a.waves_per_block or ()),
        a.max_bits_per_load,
        a.service_waves,
    )


_ADD = {
    WorkgroupConstraintAttr: lambda c, a: c.workgroup.append(
        Workgroup(a.dim, a.tile, a.axis, a.fn, a.iters, a.secondary)
    ),
    TilingConstraintAttr: lambda c, a: c.tiling.append(Tiling(a.dim, a.tile, a.iters, a.start)),
    WaveConstraintAttr: lambda c, a: c.wave.append(Wave(a.dim, a.tile, a.axis)),
    HardwareConstraintAttr: lambda c, a: c.hardware.append(_hardware(a)),
    ReorderingConstraintAttr: lambda c, a: c.reordering.append((a.equation, a.axis)),
    GridConstraintAttr: lambda c, a: c.grid.append(list(a.sizes)),
    DeviceConstraintAttr: lambda c, a: c.device.append((a.dim, a.tile, a.device_dim)),
    AssumeConstraintAttr: lambda c, a: c.assume.append(a.predicate),
}
