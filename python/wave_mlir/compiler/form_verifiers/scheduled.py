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
        _run(body_of(kernel), _Pending(), ("wave.shared_memory_barrier", *fences))


@dataclass
class _Pending:
    """Accesses since the last barrier, by buffer."""

    reads: dict[ir.Value, ir.Operation] = field(default_factory=dict)
    writes: dict[ir.Value, ir.Operation] = field(default_factory=dict)

    def copy(self) -> _Pending:
        return _Pending(dict(self.reads), dict(self.writes))

    def join(self, other: _Pending) -> _Pending:
        """What may be pending when one of two ways was taken."""
        return _Pending(self.reads | other.reads, self.writes | other.writes)


def _run(block: ir.Block, pending: _Pending, synchronising: tuple[str, ...]) -> _Pending:
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
                    for _ in range(2 if op.name == "wave.iterate" else 1):
                        way = _run(inner, way, synchronising)
                    after = after.join(way)
            pending = after
        else:
            _access(op, pending)
    return pending


def _access(op: ir.Operation, pending: _Pending) -> None:
    if op.name == "wave.read":
        memory, conflicts, into = op.opview.memory, (pending.writes,), pending.reads
    elif op.name in ("wave.write", "wave.atomic", "wave.gather_to_shared"):
        memory = op.opview.target if op.name == "wave.gather_to_shared" else op.opview.memory
        conflicts, into = (pending.reads, pending.writes), pending.writes
    else:
        return
    if isinstance(memory.owner, ir.Block):
        return
    for earlier in conflicts:
        if memory in earlier:
            text = "no barrier separates this access to LDS from an earlier one; run wave-place-barriers"
            raise PassError(op, text).note(earlier[memory], "the earlier access")
    into[memory] = op
