"""Which pairs of signal and wait become the target's split barrier.

The hardware has one such barrier for a workgroup, and a whole barrier is its signal and its wait. So a pair stands for
it only where nothing else that waves meet at comes between; other pairs become whole barriers at their waits.
"""

from __future__ import annotations

from mlir import ir

from .lds_hazards import MEETINGS
from .tile_ir import walk

SPLIT = "wave.split"
"""On a signal and its wait, while wave-to-gpu runs: they are the hardware's own."""
_SIGNAL, _WAIT = "wave.barrier_signal", "wave.barrier_wait"


def mark_split_pairs(entry: ir.Block) -> None:
    """Mark the pairs of a kernel that stand in one block with nothing that waves meet at between."""
    pairs: list[tuple[ir.Operation, ir.Operation]] = []
    _find(entry, pairs)
    paired = {op for pair in pairs for op in pair}
    others = {op.attributes["id"] for op in walk(entry) if op.name in (_SIGNAL, _WAIT) and op not in paired}
    for signal, wait in pairs:
        if signal.attributes["id"] not in others and "wave.everywhere" not in wait.attributes:
            for op in (signal, wait):
                op.attributes[SPLIT] = ir.UnitAttr.get()


def _find(block: ir.Block, pairs: list[tuple[ir.Operation, ir.Operation]]) -> None:
    signal: ir.Operation | None = None
    for view in block.operations:
        op = view.operation
        for region in op.regions:
            for inner in region.blocks:
                _find(inner, pairs)
                if any(o.name in MEETINGS for o in walk(inner)):
                    signal = None
        if op.name not in MEETINGS:
            continue
        if op.name == _WAIT and signal is not None and signal.attributes["id"] == op.attributes["id"]:
            pairs.append((signal, op))
        signal = op if op.name == _SIGNAL else None
