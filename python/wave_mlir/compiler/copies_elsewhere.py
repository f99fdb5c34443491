"""Whether other users of an LDS buffer can tell that a loop of no trips has written it."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from .tile_ir import ancestors, bound_names

_COPY = "wave.gather_to_shared"


class Elsewhere:
    """The accesses `others` of a buffer, outside of a loop whose writes, of the accesses `own`, go in front of it.

    The loop may have no trip. Then what it writes is there all the same, which none sees who writes the same places
    between that and their own reads: so do the two loops that wave-peel-loops makes of one.
    """

    def __init__(self, loop: ir.Operation, own: Sequence[ir.Operation], others: Sequence[ir.Operation]) -> None:
        self._loop = loop
        self._own = [_place(op) for op in own if op.name in ("wave.write", _COPY)]
        self._others = others

    def all_write_first(self) -> bool:
        """Whether each read elsewhere is behind writes of all that the loop writes."""
        if None in self._own and self._others:
            return False
        readers = [op for op in self._others if op.name not in ("wave.write", _COPY)]
        return all(self._is_behind(op) for op in readers)

    def _is_behind(self, reader: ir.Operation) -> bool:
        written = {_place(op) for op in self._others if op.name in ("wave.write", _COPY) and self._comes(op, reader)}
        return written.issuperset(self._own)

    def _comes(self, write: ir.Operation, reader: ir.Operation) -> bool:
        """Whether a write is on every way from the loop to a reader: the reader, or what it is in, comes after the
        write in its block, and the loop not between them."""
        inside = [reader, *ancestors(reader)]
        around = [self._loop, *ancestors(self._loop)]
        passed = False
        for view in write.block.operations:
            op = view.operation
            if op == write:
                passed = True
            elif op in inside:
                return passed
            elif passed and op in around:
                return False
        return False


def _place(op: ir.Operation) -> str | None:
    """Where a write stores, as a text that is the same for the same places; None where that may change or be masked."""
    if op.name == _COPY:
        index = op.attributes["target_index"]
        if any(name in entry.symbols for name in bound_names(op) for entry in index):
            return None
        return f"{index} {op.attributes['elements']}"
    if op.opview.mask is not None or bound_names(op):
        return None
    return f"{op.attributes['index']} {op.operands[0].type}"
