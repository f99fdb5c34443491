"""What a target table holds. Nothing outside this package compares target names: it asks a `Target` for facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from .mma import DTYPE_BITS, F8_FLAVORS, MmaKind, flavor_of

_WIDE_BITS = 128  # the widest access of a lane

ASSUMED = "assumed"


class TargetError(ValueError):
    """The user named a target, an MMA kind or an element type that is not there. The text says what is."""


@dataclass(frozen=True)
class LdsAccess:
    """Which lanes access LDS in the same clock, for one kind of access.

    `op` is "read" or "write", `bits` the width a lane accesses. A phase costs as many clocks as the most rows that any
    bank is asked for. `source` says where the row comes from, or `assumed`.
    """

    op: str
    bits: int
    phases: tuple[tuple[int, ...], ...]
    source: str


@dataclass(frozen=True)
class Lds:
    """Memory shared by a workgroup: sizes in bytes, `banks` of `bank_bytes` each."""

    bytes: int  # one workgroup can have at most this much
    granule: int  # bytes allocated are rounded up to a multiple of this
    banks: int
    bank_bytes: int
    read_bytes_per_clock: int
    write_bytes_per_clock: int
    accesses: tuple[LdsAccess, ...]


@dataclass(frozen=True)
class Registers:
    """The vector registers, in 32-bit registers a lane.

    `file` is what all waves of a SIMD share; `addressable` what one wave can use in all; `general` of these can be an
    operand of any vector instruction, `accumulator` are extra ones for MMA operands and spills (0: none);
    allocation is in multiples of `granule`.
    """

    file: int
    addressable: int
    general: int
    accumulator: int
    granule: int
    scalar: int
    max_mma_accumulators: int  # the compiler refuses kernels whose accumulators alone need more a lane


@dataclass(frozen=True)
class OffsetRange:
    """Immediate byte offsets of an instruction, both ends included."""

    low: int
    high: int

    @property
    def bits(self) -> int:
        """Width of the field, with the sign if there is one."""
        return self.high.bit_length() + (self.low < 0)


@dataclass(frozen=True)
class Buffers:
    """Access to global memory through descriptors.

    `flags` is the last word of a raw descriptor (stride 0, 32-bit data). `nontemporal` and `volatile` are bits of the
    cache policy operand of LLVM's raw buffer intrinsics.
    """

    flags: int
    nontemporal: int
    volatile: int = 1 << 31  # LLVM: the same for all, and no bit of the instruction


@dataclass(frozen=True)
class WaitCounter:
    """A counter that a wave can wait on. `counts` names what it counts, `maximum` its largest value."""

    name: str
    maximum: int
    counts: tuple[str, ...]


@dataclass(frozen=True)
class Latencies:
    """Clocks from issue to use. Orders of magnitude, except `mma_extra`.

    `mma_extra`: a dependent MMA waits for the clocks of the first plus this. `mma_to_vector_extra`: wait states
    beyond clocks / 4 between an MMA and a vector instruction that reads its result.
    """

    vector: int
    lds: int
    l2: int
    memory: int
    mma_extra: int
    mma_to_vector_extra: int


@dataclass(frozen=True)
class Exchanges:
    """How lanes of a wave exchange 32-bit registers. Clocks are of a SIMD's vector unit, unless they are LDS's.

    `dpp_xors`: masks m such that one move with a DPP control reads lane `lane xor m`; `row_xmask`: by the control of
    that name. `swapped_rows`: numbers of lanes of which one instruction swaps the odd rows of a register with the even
    rows of another. Anything else goes through LDS's crossbar (ds_swizzle, ds_bpermute) as a 32-bit read does.
    """

    dpp_xors: tuple[int, ...]
    row_xmask: bool
    swapped_rows: tuple[int, ...]
    vector: int  # a move, a select, a permutation of bytes; also a DPP move
    swap: int
    barrier: int  # what a barrier of the workgroup costs a wave: order of magnitude


@dataclass(frozen=True)
class Target:
    """Facts of one target. Sizes are in bytes, times in clocks, unless a name says otherwise."""

    name: str
    description: str
    triple: str
    wave_size: int
    max_threads_per_workgroup: int
    compute_units: int
    simds_per_compute_unit: int
    max_waves_per_simd: int
    clock_ghz: float
    memory_tb_per_s: float
    xcds: int  # chips with an L2 of their own, to which workgroups go in turns
    l2_bytes: int  # of one of them
    vector_memory_bytes_per_clock: int  # that a compute unit's vector loads and stores move at most
    lds: Lds
    registers: Registers
    offsets: Mapping[str, OffsetRange]  # by "global", "buffer", "lds", "scalar"
    max_load_bits: Mapping[str, int]  # by "global", "lds"
    buffers: Buffers
    direct_to_lds_bits: tuple[int, ...]  # widths a lane copies from global memory to LDS without registers
    transposed_lds_bits: tuple[int, ...]  # element widths that LDS reads can transpose
    f8_flavor: str | None  # "FNUZ", "OCP" or None
    counters: tuple[WaitCounter, ...]
    latencies: Latencies
    exchanges: Exchanges
    has_split_barrier: bool
    kinds: tuple[MmaKind, ...]

    @property
    def lds_bytes(self) -> int:
        """Most LDS one workgroup can have."""
        return self.lds.bytes

    @property
    def lds_banks(self) -> int:
        """Number of LDS banks."""
        return self.lds.banks

    @property
    def max_waves_per_workgroup(self) -> int:
        """Waves in the largest workgroup."""
        return self.max_threads_per_workgroup // self.wave_size

    def lds_access(self, op: str, bits: int) -> LdsAccess:
        """The phases of an LDS access; narrower than the narrowest row counts as that row.

        Raises TargetError when the target has no access that wide.
        """
        rows = sorted((a for a in self.lds.accesses if a.op == op), key=lambda a: a.bits)
        for row in rows:
            if bits <= row.bits:
                return row
        widths = ", ".join(str(a.bits) for a in rows)
        raise TargetError(f"{self.name} has no LDS {op} of {bits} bits a lane; it has {widths}")

    def waves_by_registers(self, registers: int) -> int:
        """Waves a SIMD holds when each lane uses `registers` vector registers; 0 when a wave cannot have so many."""
        if registers > self.registers.addressable:
            return 0
        granules = max(1, -(-registers // self.registers.granule))
        return min(self.max_waves_per_simd, self.registers.file // (granules * self.registers.granule))

    def occupancy(self, registers: int, lds_bytes: int, waves_per_workgroup: int) -> int:
        """Waves on the fullest SIMD of a compute unit, limited by registers, LDS and whole workgroups."""
        slots = self.waves_by_registers(registers) * self.simds_per_compute_unit
        workgroups = slots // max(1, waves_per_workgroup)
        if lds_bytes > 0:
            rounded = -(-lds_bytes // self.lds.granule) * self.lds.granule
            workgroups = min(workgroups, self.lds.bytes // rounded)
        return -(-workgroups * waves_per_workgroup // self.simds_per_compute_unit)

    def mma_kinds(self, dtype: str | None = None) -> tuple[MmaKind, ...]:
        """All kinds of the target, or those with an operand of element type `dtype`, in the order of the table."""
        return tuple(k for k in self.kinds if dtype is None or dtype in (k.lhs_dtype, k.rhs_dtype))

    def mma(self, name: str) -> MmaKind:
        """The kind called `name`. Raises TargetError with the reason and the kinds there are instead."""
        for kind in self.kinds:
            if kind.name == name:
                return kind
        raise TargetError(self._no_such_kind(name))

    def widened_mma(self, kind: MmaKind) -> MmaKind | None:
        """The kind of a multiple of the K of `kind`, of which a lane reads 16 bytes at once; None if there is none.

        It is virtual, but where an instruction has the layout of one.
        """

        def what(k: MmaKind, count: int) -> tuple[object, ...]:
            return (k.m, k.n, k.k * count, k.operand_type, k.lhs_dtype, k.rhs_dtype, k.acc_dtype)

        if kind.variant:
            return None
        times, rest = divmod(_WIDE_BITS // DTYPE_BITS[kind.lhs_dtype], kind.lhs.elements)
        wanted, name = what(kind, times), f"k{times * kind.lhs.elements}"
        if rest or times < 2:
            return None
        return next((k for k in self.kinds if k.variant == name and what(k, 1) == wanted), None)

    def default_mma(self, dtype: str, k: int | None = None) -> MmaKind:
        """The kind to use for operands of `dtype` when the user names none.

        The fastest plain kind, the smaller tile if several are; with `k`, only kinds whose K divides it, if there are.
        Raises TargetError when the target has none.
        """
        plain = [kind for kind in self.kinds if kind.is_plain and kind.lhs_dtype == dtype]
        if not plain:
            raise TargetError(self._no_such_dtype(dtype))
        if k is not None:
            plain = [kind for kind in plain if k % kind.k == 0] or plain

        def rank(kind: MmaKind) -> tuple[float, int, int, int]:
            narrow = -DTYPE_BITS[kind.acc_dtype]  # the exacter accumulator first
            return (-kind.flops / kind.clocks, narrow, kind.m * kind.n, kind.k)

        return min(plain, key=rank)

    def _no_such_dtype(self, dtype: str) -> str:
        flavor = flavor_of(dtype)
        if flavor is not None and self.f8_flavor not in (None, flavor):
            own = ", ".join(F8_FLAVORS[str(self.f8_flavor)])
            return (
                f"{dtype} is an 8-bit float of the {flavor} kind, but {self.name} computes with {self.f8_flavor} "
                f"({own}); use one of these"
            )
        known = sorted({k.lhs_dtype for k in self.kinds if k.is_plain})
        return f"{self.name} has no MMA for operands of {dtype}; it has them for {', '.join(known)}"

    def _no_such_kind(self, name: str) -> str:
        from . import all_targets  # the tables import this module

        operands = [part for part in name.split("_")[2:] if part not in ("k4", "k8", "scaled")]
        spelled = {d.lower(): d for d in DTYPE_BITS}
        types = [spelled[p] for p in operands if p in spelled]
        for dtype in types:
            if flavor_of(dtype) is not None and self.f8_flavor not in (None, flavor_of(dtype)):
                return f"no MMA kind '{name}' on {self.name}: {self._no_such_dtype(dtype)}{self._nearest(name)}"
        text = f"{self.name} has no MMA kind '{name}'"
        others = [t.name for t in all_targets() if any(k.name == name for k in t.kinds)]
        if others:
            text += f" ({', '.join(others)} {'has' if len(others) == 1 else 'have'} it)"
        if not types:
            return text + (self._nearest(name) or f"; known: {', '.join(k.name for k in self.kinds)}")
        same = [k.name for k in self.kinds if (k.lhs_dtype, k.rhs_dtype) == (types[0], types[-1])]
        if not same:
            return f"{text}: {self._no_such_dtype(types[0])}"
        return f"{text}; its kinds for {' and '.join(dict.fromkeys(types))}: {', '.join(same)}"

    def _nearest(self, name: str) -> str:
        close = get_close_matches(name.lower(), [k.name for k in self.kinds], n=1)
        return f"; did you mean {close[0]}?" if close else ""


def runs(lanes: int, per_phase: int) -> tuple[tuple[int, ...], ...]:
    """Phases of `per_phase` consecutive lanes each."""
    return tuple(tuple(range(first, first + per_phase)) for first in range(0, lanes, per_phase))


def lane_ranges(*phases: str) -> tuple[tuple[int, ...], ...]:
    """Phases written as ranges: lane_ranges("0-3,20-23", ...)."""

    def one(text: str) -> tuple[int, ...]:
        bounds = [tuple(map(int, part.split("-"))) for part in text.split(",")]
        return tuple(lane for low, high in bounds for lane in range(low, high + 1))

    return tuple(one(text) for text in phases)
