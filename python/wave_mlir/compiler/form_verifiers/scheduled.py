"""What scheduled form promises of LDS: places of buffers, and barriers between accesses that depend on each other."""

from __future__ import annotations

from dataclasses import dataclass, field

from mlir import ir

from wave_mlir.compiler.diagnostics import PassError
from wave_mlir.compiler.forms import form_verifier
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.lds import ALIGNMENT, buffers
from wave_mlir.compiler.tile_ir import body_of, kernels


@form_verifier("scheduled")
def verify_places(module: ir.Operation) -> None:
    """Every LDS buffer has an aligned place of its own."""
    for kernel in kernels(module):
        placed = []
        for buffer in buffers(kernel.operation, KernelInfo.of(kernel)):
            if buffer.offset is None:
                raise PassError(buffer.op, "this buffer has no offset; wave-pack-shared gives it one")
            if buffer.offset % ALIGNMENT:
                raise PassError(buffer.op, f"offset {buffer.offset} is no multiple of {ALIGNMENT} bytes")
            for other in placed:
                if buffer.offset < other.offset + other.bytes and other.offset < buffer.offset + buffer.bytes:
                    raise PassError(buffer.op, "this buffer overlaps another one").note(other.op, "the other buffer")
            placed.append(buffer)


@form_verifier("scheduled")
def verify_barriers(module: ir.Operation) -> None:
    """No two accesses of a buffer, one a write, can meet without a barrier (with one wave: a barrier or a fence)."""
    for kernel in kernels(module):
        x, y, z = KernelInfo.of(kernel).block_waves
        fences = () if x * y * z > 1 else ("wave.wave_fence",)
        _run(body_of(kernel), _Pending(), ("wave.shared_memory_barrier", "wave.barrier_wait", *fences))


Trip = tuple[int, ...]
"""Which trip of each loop around: 0 or 1, outermost first."""
Accesses = dict[ir.Value, tuple[tuple[ir.Operation, Trip], ...]]


@dataclass
class _Pending:
    """Accesses since the last barrier, by buffer."""

    reads: Accesses = field(default_factory=dict)
    writes: Accesses = field(default_factory=dict)

    def copy(self) -> _Pending:
        return _Pending(dict(self.reads), dict(self.writes))

    def join(self, other: _Pending) -> _Pending:
        """What may be pending when one of two ways was taken."""
        return _Pending(_union(self.reads, other.reads), _union(self.writes, other.writes))


def _union(a: Accesses, b: Accesses) -> Accesses:
    return a | {memory: (*a.get(memory, ()), *entries) for memory, entries in b.items()}


def _run(block: ir.Block, pending: _Pending, synchronising: tuple[str, ...], trip: Trip = ()) -> _Pending:
    """Execute a block abstractly: a loop none or two times, each branch of a conditional or none."""
    for view in block.operations:
        op = view.operation
        if op.name in synchronising:
            pending = _Pending()
        elif len(op.regions):
            after = pending
            for region in op.regions:
                for inner in region.blocks:
                    way = pending.copy()
                    for number in range(2) if op.name == "wave.iterate" else (None,):
                        way = _run(inner, way, synchronising, trip if number is None else (*trip, number))
                    after = after.join(way)
            pending = after
        else:
            _access(op, pending, trip)
    return pending


def _access(op: ir.Operation, pending: _Pending, trip: Trip) -> None:
    if op.name == "wave.read":
        memory, conflicts, into = op.opview.memory, (pending.writes,), pending.reads
    elif op.name in ("wave.write", "wave.atomic", "wave.gather_to_shared"):
        memory = op.opview.target if op.name == "wave.gather_to_shared" else op.opview.memory
        conflicts, into = (pending.reads, pending.writes), pending.writes
    else:
        return
    if isinstance(memory.owner, ir.Block):
        return
    for entries in conflicts:
        for earlier, then in entries.get(memory, ()):
            if not (then == trip and _are_copies(earlier, op)):
                text = "no barrier separates this access to LDS from an earlier one; run wave-place-barriers"
                raise PassError(op, text).note(earlier, "the earlier access")
    into[memory] = (*into.get(memory, ()), (op, trip))


def _are_copies(a: ir.Operation, b: ir.Operation) -> bool:
    """Whether both write parts of one tile, each element of which has one owner: they cannot meet in one trip."""
    tiles = [str(op.attributes["wave.provenance"]["op"]) for op in (a, b) if "wave.provenance" in op.attributes]
    return len(tiles) == 2 and tiles[0] == tiles[1]
