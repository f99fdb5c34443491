"""Constraints: how the dims of a kernel are divided among workgroups, waves, loops and lanes."""

from __future__ import annotations

import enum
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import sympy

from wave_mlir.compiler.targets import MMA_ALIASES
from wave_mlir.lang.symbols import ExprLike


class MMAOperand(enum.Enum):
    """The operands of an MMA."""

    M = 0
    N = 1
    K = 2


_SCALED = {name: name for name in MMA_ALIASES if "F8F6F4" in name}
_PLAIN = {name: name for name in MMA_ALIASES if name not in _SCALED}

_OF_OTHER_TARGETS = ("GFX1250_F32_16x16x32_F16",)
"""Kinds of the language that no target of this package has: known by name, an error where one is used."""

MMAType = enum.Enum("MMAType", {**_PLAIN, **{n: n for n in _OF_OTHER_TARGETS}})
MMAType.__doc__ = """MMA kinds: `F32_16x16x16_F16` is result type, shape M x N x K, operand type."""
ScaledMMAType = enum.Enum("ScaledMMAType", {**_SCALED, "GFX1250_F32_16x16x128_F8F6F4": "GFX1250_F32_16x16x128_F8F6F4"})
ScaledMMAType.__doc__ = """MMA kinds with a scale for each 32 elements along K."""


@dataclass(frozen=True)
class GenericDot:
    """A dot product without MMA instructions: multiplications, and a sum over registers and lanes.

    Lanes divide the results along `along_dim` (M or N); `k_mult` lanes share a result and add their sums. At a time a
    lane has `k_vec_size` consecutive elements along K and `out_vec_size` results along the other dim.
    """

    out_vec_size: int = 1
    k_vec_size: int = 4
    k_mult: int = 1
    along_dim: MMAOperand = MMAOperand.N


MmaLike = enum.Enum | GenericDot


@dataclass(frozen=True)
class WorkgroupConstraint:
    """`dim` is cut in tiles of `tile_size`, one a workgroup along grid dim `workgroup_dim` (0, 1, 2; more are folded).

    apply_fn: from the workgroup's number to that of its tile. primary=False: rides on a grid dim another constraint
    owns. iters: the grid's extent, by default ceildiv(dim, tile_size). per_device_dim: what one device has of the dim.
    """

    dim: sympy.Symbol
    tile_size: ExprLike
    workgroup_dim: int
    apply_fn: Callable[[sympy.Symbol], ExprLike] | None = None
    primary: bool = True
    iters: ExprLike | None = None
    per_device_dim: ExprLike | None = None


@dataclass(frozen=True)
class TilingConstraint:
    """`dim` is walked by `iterate(dim)` in steps of `tile_size`; `iters` trips from tile `start`."""

    dim: sympy.Symbol
    tile_size: ExprLike | None = None
    induction_var: sympy.Symbol | None = None
    iters: ExprLike | None = None
    start: ExprLike = 0


@dataclass(frozen=True)
class WaveConstraint:
    """The workgroup's tile of `dim` is divided among waves: `tile_size` each."""

    dim: sympy.Symbol
    tile_size: ExprLike
    wave_id: ExprLike | None = None
    wg_constraint: WorkgroupConstraint | None = None


@dataclass(frozen=True)
class HardwareConstraint:
    """Wave size, default MMA kind, and for dims without an MMA how much one wave-wide operation covers.

    vector_shapes: dim -> extent; 0: one element a workgroup. waves_per_block: waves along x, y, z.
    max_bits_per_load: the widest access of a lane. n_service_waves: waves that only load; there are none here, a number
    gets a warning. workgroups_per_cluster: workgroups that share memory, along x, y, z; targets here have clusters of
    one.
    """

    threads_per_wave: int
    waves_per_block: Sequence[int] | None = None
    workgroups_per_cluster: Sequence[int] | None = None
    mma_type: MmaLike | None = None
    vector_shapes: Mapping[sympy.Symbol, ExprLike] | None = None
    max_bits_per_load: int = 128
    n_service_waves: int = 0

    def __post_init__(self) -> None:
        if self.n_service_waves:
            warnings.warn(
                f"n_service_waves={self.n_service_waves} has no effect here: all waves load and compute; "
                "WaveCompileOptions(schedule=SchedulingType.SPECIALIZED) adds as many waves that only copy to LDS, "
                "SchedulingType.PREFETCH loads ahead of the computation, and use_global_to_shared=True loads without "
                "registers",
                stacklevel=3,
            )

    def __hash__(self) -> int:
        return hash((self.threads_per_wave, self.mma_type, self.max_bits_per_load, self.n_service_waves))


@dataclass(frozen=True)
class ReorderingConstraint:
    """The program's workgroup number along `workgroup_dim` is `reordered_equation` of the hardware's."""

    reordered_equation: ExprLike
    workgroup_dim: int


@dataclass(frozen=True)
class GridConstraint:
    """The grid has these extents, whatever the tiles say: one along x, or up to three.

    Workgroup constraints then say only how large tiles are: all begin at 0, and the kernel says by mappings
    which tile it works on (a persistent kernel: by the workgroup's number, and on).
    """

    grid_size: ExprLike | Sequence[ExprLike]

    @property
    def sizes(self) -> tuple[ExprLike, ...]:
        """The extents along x, y and z."""
        given = tuple(self.grid_size) if isinstance(self.grid_size, Sequence) else (self.grid_size,)
        return (*given, 1, 1)[: max(3, len(given))]


@dataclass(frozen=True)
class DeviceConstraint:
    """`dim` is divided among devices, `tile_size` a device.

    A launch is on the one device that its tensors are on, and does the parts of all: the result is the same.
    """

    dim: sympy.Symbol
    tile_size: ExprLike | None = None
    device_dim: int = 0


@dataclass(frozen=True)
class Assumption:
    """A fact that the caller guarantees: a relation over symbols."""

    expr: sympy.Basic


@dataclass(frozen=True)
class SymbolicAlias:
    """`source` is `apply_fn` of `target`: it has the target's constraints, with its sizes mapped."""

    source: sympy.Symbol
    target: sympy.Symbol
    apply_fn: Callable[[ExprLike], ExprLike] = field(compare=False)


@dataclass(frozen=True)
class IteratorBindings:
    """Names for the iterators of dims, usable in expressions of a kernel."""

    bindings: Mapping[sympy.Symbol, sympy.Symbol]

    def __hash__(self) -> int:
        return hash(tuple(self.bindings.items()))


Constraint = (
    WorkgroupConstraint
    | TilingConstraint
    | WaveConstraint
    | HardwareConstraint
    | ReorderingConstraint
    | GridConstraint
    | DeviceConstraint
    | Assumption
    | SymbolicAlias
    | IteratorBindings
)
