"""Proves that LDS buffers with common bytes are not needed at one time, by data flow, whoever gave them their places.

Forward through the program goes which buffers have *lost* their contents: another one with common bytes was written
since. A read of such a buffer is an error; a write makes its contents good again. Loops are run until nothing changes.
"""

from __future__ import annotations

from mlir import ir

from .diagnostics import PassError
from .lds import Buffer, shared_bytes
from .lds_hazards import touches
from .tile_ir import body_of

Lost = dict[ir.Value, ir.Operation]
"""Buffers that may have lost what was written to them, each with a write that may have done it."""


def prove_contents(kernel: ir.OpView, found: list[Buffer]) -> None:
    """Check a kernel whose buffers have places. Raises PassError at the first read of a buffer that has lost bytes."""
    common = {a.op.results[0]: [b.op.results[0] for b in found if a is not b and shared_bytes(a, b)] for a in found}
    if any(common.values()):
        _Contents({memory: others for memory, others in common.items() if others}).block(body_of(kernel), {})


class _Contents:
    def __init__(self, common: dict[ir.Value, list[ir.Value]]) -> None:
        self.common = common
        self.written: set[ir.Value] = set()

    def block(self, block: ir.Block, lost: Lost) -> Lost:
        """What is lost after a block, given what is before it."""
        for view in block.operations:
            op = view.operation
            if op.name == "wave.iterate":
                lost = self._loop(op, lost)
            elif len(op.regions):
                ways = [self.block(b, dict(lost)) for region in op.regions for b in region.blocks]
                lost = _any([*ways, lost] if len(ways) == 1 else ways)
            else:
                self._step(op, lost)
        return lost

    def _loop(self, op: ir.Operation, lost: Lost) -> Lost:
        while True:
            known = len(self.written)
            again = _any([lost, self.block(op.regions[0].blocks[0], dict(lost))])
            if again.keys() == lost.keys() and known == len(self.written):
                return again
            lost = again

    def _step(self, op: ir.Operation, lost: Lost) -> None:
        found = [t for t in touches(op) if t.memory in self.common]
        for touch in found:
            if touch.kind != "write" and touch.memory in lost:
                error = PassError(
                    op,
                    "this access needs what another LDS buffer with common bytes has overwritten; give the buffers "
                    "places apart (wave-share-shared does)",
                )
                raise error.note(lost[touch.memory], "the other buffer is written here")
        for touch in found:
            if touch.kind != "read":
                lost.pop(touch.memory, None)
                self.written.add(touch.memory)
                lost.update((m, op) for m in self.common[touch.memory] if m in self.written and m not in lost)


def _any(ways: list[Lost]) -> Lost:
    """What is lost after one of several ways."""
    joined: Lost = {}
    for way in reversed(ways):
        joined.update(way)
    return joined
