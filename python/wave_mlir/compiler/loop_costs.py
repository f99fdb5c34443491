"""What the ops of a loop in lane form cost: kind, latency, use of the machine, registers.

The machine as one wave sees it in the steady state: its SIMD's matrix and vector units are its own, LDS and the path to
memory are shared with as many waves of the other SIMDs, all of which do the same.
"""

from __future__ import annotations

from collections.abc import Callable

from mlir import ir

from wave_mlir.dialect import MemoryType
from wave_mlir.scheduling import Operation, Resource, Use

from .expand_exchange import SWAPS
from .kernel_info import KernelInfo
from .lane_access import is_shared, stored_of
from .lds_hazards import MEETINGS
from .targets import Target
from .targets.rates import TRANSCENDENTAL, TURN

RESOURCES = ("issue", "matrix", "vector", "lds", "memory")
"""Parts of the machine: a wave's turn to issue, its SIMD's matrix and vector units, LDS, the path to global memory."""

ORDERED = (
    *MEETINGS,
    "wave.wave_fence",
    "wave.memory_counter_wait",
    "wave.scheduling_barrier",
    "wave.scheduling_group_barrier",
    "wave.set_wave_prio",
)
"""Ops the user put where they are: nothing that touches memory or the matrix unit moves across."""

FREE = (
    "arith.constant",
    "llvm.extractvalue",
    "ub.poison",
    "vector.extract_strided_slice",
    "vector.shape_cast",
    "vector.bitcast",
    "vector.broadcast",
    "vector.extract",
    "vector.from_elements",
    "vector.to_elements",
    "wave.apply_expr",
    "wave.mask",
    "wave.scalar",
)
"""Pure ops that name registers anew or compute addresses and masks: they have no place of their own."""

_MATHS = ("arith.", "math.", "vector.")
_SLOW = (
    "math.exp2",
    "math.exp",
    "math.log2",
    "math.log",
    "math.rsqrt",
    "math.sqrt",
    "math.sin",
    "math.cos",
    "arith.divf",
)


def resources() -> tuple[Resource, ...]:
    """All parts of the machine, one of each."""
    return tuple(map(Resource, RESOURCES))


def is_free(op: ir.Operation) -> bool:
    """Whether an op has no place in a schedule: it goes where its users are."""
    return op.name in FREE or (
        op.name.startswith(_MATHS) and not any(isinstance(r.type, ir.VectorType) for r in op.results)
    )


class Costs:
    """Costs of the ops of one kernel."""

    def __init__(self, info: KernelInfo) -> None:
        self.target: Target = info.target
        self._makers: dict[str, Callable[[ir.Operation, str], Operation]] = {
            "wave.mma": self._mma,
            "wave.scaled_mma": self._mma,
            "wave.read": self._read,
            "wave.write": self._write,
            "wave.buffer_load": self._read,
            "wave.buffer_store": self._write,
            "wave.atomic": self._atomic,
            "wave.gather_to_shared": self._direct,
            "wave.shuffle": self._shuffle,
            "gpu.shuffle": self._shuffle,
            **dict.fromkeys(SWAPS.values(), self._swap),
        }

    def kind(self, op: ir.Operation) -> str | None:
        """What an op is to a scheduler; None for one that cannot be scheduled."""
        if op.name in self._makers:
            return self._makers[op.name](op, "x").kind
        if op.name in ORDERED:
            return "barrier" if op.name in MEETINGS else "order"
        return "vector" if op.name.startswith(_MATHS) else None

    def operation(self, op: ir.Operation, name: str) -> Operation:
        """The operation of a problem that stands for an op of a kind."""
        if op.name in self._makers:
            return self._makers[op.name](op, name)
        if op.name in ORDERED:
            return Operation(name, "barrier" if op.name in MEETINGS else "order", TURN, (Use("issue", TURN),))
        return self._vector(op, name)

    def barrier(self, name: str) -> Operation:
        """A barrier that a later pass will have to place somewhere."""
        return Operation(name, "barrier", TURN, (Use("issue", TURN),))

    def _mma(self, op: ir.Operation, name: str) -> Operation:
        kind = self.target.mma(ir.StringAttr(op.attributes["kind"]).value)
        uses = (Use("issue", TURN * kind.instruction.count), Use("matrix", kind.clocks))
        latency = kind.clocks + self.target.latencies.mma_extra
        return Operation(name, "mma", latency, uses, registers(op.results[0].type))

    def _shared(self, waves_clocks: int) -> int:
        """Clocks that an access takes of a unit that the waves of all SIMDs of a compute unit use alike."""
        return waves_clocks * self.target.simds_per_compute_unit

    def _lds_use(self, direction: str, vector: ir.Type) -> tuple[Use, ...]:
        phases = self.target.lds_access(direction, min(128, bits(vector))).phases
        count = max(1, -(-bits(vector) // 128))
        return (Use("issue", TURN * count), Use("lds", self._shared(len(phases)) * count))

    def _memory_use(self, vector: ir.Type) -> tuple[Use, ...]:
        count = max(1, -(-bits(vector) // 128))
        moved = self.target.wave_size * max(32, bits(vector)) // 8
        clocks = self._shared(-(-moved // self.target.vector_memory_bytes_per_clock))
        return (Use("issue", TURN * count), Use("memory", clocks))

    def _read(self, op: ir.Operation, name: str) -> Operation:
        vector = op.results[0].type
        if op.name == "wave.read" and is_shared(op):
            return Operation(
                name, "lds_read", self.target.latencies.lds, self._lds_use("read", vector), registers(vector)
            )
        return Operation(name, "global_load", self.target.latencies.memory, self._memory_use(vector), registers(vector))

    def _write(self, op: ir.Operation, name: str) -> Operation:
        vector = stored_of(op).type
        if op.name == "wave.write" and is_shared(op):
            return Operation(name, "lds_write", self.target.latencies.lds // 2, self._lds_use("write", vector))
        return Operation(name, "global_store", TURN, self._memory_use(vector))

    def _atomic(self, op: ir.Operation, name: str) -> Operation:
        vector = stored_of(op).type
        held = registers(op.results[0].type) if len(op.results) else 0
        if is_shared(op):
            return Operation(name, "lds_atomic", self.target.latencies.lds, self._lds_use("write", vector), held)
        return Operation(name, "global_atomic", self.target.latencies.memory, self._memory_use(vector), held)

    def _direct(self, op: ir.Operation, name: str) -> Operation:
        element = MemoryType(op.operands[0].type).element_type
        moved = self.target.wave_size * ir.IntegerAttr(op.attributes["elements"]).value * bits(element) // 8
        clocks = self._shared(-(-moved // self.target.vector_memory_bytes_per_clock))
        uses = (Use("issue", TURN), Use("memory", clocks))
        return Operation(name, "gather_to_lds", self.target.latencies.memory, uses)

    def _shuffle(self, op: ir.Operation, name: str) -> Operation:
        held = registers(op.results[0].type)
        latency = self.target.latencies.lds // 2
        if (
            "offset" in op.attributes
            and ir.IntegerAttr(op.attributes["offset"]).value in self.target.exchanges.dpp_xors
        ):
            latency = self.target.latencies.vector
        return Operation(name, "shuffle", latency, (Use("issue", TURN * max(1, held)),), held)

    def _swap(self, op: ir.Operation, name: str) -> Operation:
        clocks = self.target.exchanges.swap
        uses = (Use("issue", TURN), Use("vector", clocks))
        return Operation(name, "vector", clocks + self.target.latencies.vector - TURN, uses, 2)

    def _vector(self, op: ir.Operation, name: str) -> Operation:
        held = max((registers(r.type) for r in op.results), default=1)
        each = TRANSCENDENTAL if op.name in _SLOW else TURN
        uses = (Use("issue", TURN * held), Use("vector", each * held))
        return Operation(name, "vector", each * held + self.target.latencies.vector - TURN, uses, held)


def bits(type_: ir.Type) -> int:
    """Bits of a value that a lane holds; an element of an i1 vector counts as one register."""
    if isinstance(type_, ir.VectorType):
        count = 1
        for extent in type_.shape:
            count *= extent
        return count * bits(type_.element_type)
    if isinstance(type_, ir.IntegerType):
        return type_.width
    if isinstance(type_, ir.IndexType):
        return 32
    return int(getattr(type_, "width", 32))


def registers(type_: ir.Type) -> int:
    """32-bit registers that a value takes of a lane."""
    return -(-bits(type_) // 32)
