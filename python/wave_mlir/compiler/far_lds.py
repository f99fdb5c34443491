"""LDS beyond the reach of an instruction's offset.

An LDS access has a 16-bit immediate offset. LLVM adds a greater constant to the lane's address, in a register for each
constant. Here constants from 2^16 on are counted from a base of their own, which LLVM cannot see through, so that the
accesses of one 64 KiB window share the lane's register and have immediates.
"""

from __future__ import annotations

from mlir import ir

WINDOW = 1 << 16
"""Bytes that an LDS access reaches from its address: the immediate offset has 16 bits."""

_DYNAMIC = -(1 << 31)


def keep_in_reach(function: ir.Operation) -> None:
    """Give the far LDS addresses of an `llvm.func` bases of their own."""
    windows: dict[tuple[ir.Value, int], ir.Value] = {}
    for block in function.regions[0].blocks:
        for view in list(block.operations):
            place = _constant_place(view.operation)
            if place is not None and place >= WINDOW:
                _rebase(view.operation, place, windows)


def _constant_place(op: ir.Operation) -> int | None:
    """The byte offset of an address in LDS that is a constant from another one."""
    if op.name != "llvm.getelementptr" or len(op.operands) != 1 or str(op.results[0].type) != "!llvm.ptr<3>":
        return None
    indices = list(ir.DenseI32ArrayAttr(op.attributes["rawConstantIndices"]))
    if len(indices) != 1 or indices[0] == _DYNAMIC or str(op.attributes["elem_type"]) != "i8":
        return None
    return indices[0]


def _rebase(op: ir.Operation, place: int, windows: dict[tuple[ir.Value, int], ir.Value]) -> None:
    base, window = op.operands[0], place // WINDOW
    if isinstance(base.owner, ir.Block):
        return
    if (base, window) not in windows:
        place_of = {"rawConstantIndices": ir.DenseI32ArrayAttr.get([window * WINDOW])}
        with op.location, ir.InsertionPoint.after(base.owner):
            attributes = place_of | {"elem_type": op.attributes["elem_type"]}
            start = ir.Operation.create("llvm.getelementptr", [base.type], [base], attributes)
            texts = {"asm_string": ir.StringAttr.get(""), "constraints": ir.StringAttr.get("=s,0")}
            hidden = ir.Operation.create("llvm.inline_asm", [base.type], [start.results[0]], texts)
        windows[base, window] = hidden.results[0]
    op.operands[0] = windows[base, window]
    op.attributes["rawConstantIndices"] = ir.DenseI32ArrayAttr.get([place - window * WINDOW])
