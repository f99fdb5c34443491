"""What the workgroups of a kernel in placed form read, for the model of reuse in L2."""

from __future__ import annotations

import math

import numpy as np
from mlir import ir

from wave_mlir.compiler.kernel_info import AXES, KernelInfo
from wave_mlir.compiler.tile_ir import body_of, walk
from wave_mlir.dialect import Expr, MemoryType, TileType
from wave_mlir.report.l2 import TileRead

_MOST = 1 << 16
"""Workgroups of the largest grid that is enumerated."""


def reads_of(module: ir.Module) -> dict[str, list[TileRead]]:
    """The reads of each kernel whose grid is known, is not too large, and whose tiles start where the ids alone say."""
    found = {}
    for op in module.body.operations:
        if op.operation.name == "wave.kernel":
            found[ir.StringAttr(op.operation.attributes["sym_name"]).value] = _reads(op)
    return found


def _reads(kernel: ir.OpView) -> list[TileRead]:
    info = KernelInfo.of(kernel)
    sizes = [e.constant_value for e in info.grid]
    if None in sizes or not 0 < math.prod(s or 0 for s in sizes) <= _MOST:
        return []
    z, y, x = (axis.reshape(-1) for axis in np.indices([s or 0 for s in reversed(sizes)]))
    ids: dict[str, np.ndarray | int] = {"wg.x": x, "wg.y": y, "wg.z": z}
    if info.binds_remap:
        remapped = [_evaluate(e, ids) for e in info.remapped_ids]
        if any(r is None for r in remapped):
            return []
        ids = {f"wg.{axis}": r for axis, r in zip(AXES, remapped, strict=True) if r is not None}
    reads = []
    for op in walk(body_of(kernel)):
        if op.name == "wave.read" and (read := _read(op, info, ids)) is not None:
            reads.append(read)
    return reads


def _read(op: ir.Operation, info: KernelInfo, ids: dict[str, np.ndarray | int]) -> TileRead | None:
    memory, kind = op.operands[0], op.results[0].type
    if not isinstance(memory, ir.BlockArgument) or not isinstance(kind, TileType):
        return None
    places = [_evaluate(Expr(e), ids) for e in ir.ArrayAttr(op.attributes["index"])]
    if any(p is None for p in places):
        return None
    elements = math.prod(info.tile_extent(dim) for dim in TileType(kind).dims or ())
    size = -(-elements * MemoryType(memory.type).element_type.width // 8)
    names = ir.ArrayAttr(info.kernel.attributes["arg_names"])
    name = ir.StringAttr(names[memory.arg_number]).value
    return TileRead(name, size, np.stack([p for p in places if p is not None], axis=1))


def _evaluate(expr: Expr, ids: dict[str, np.ndarray | int]) -> np.ndarray | None:
    """Values for all workgroups at the start of tiles and loops; None if other symbols have a part in it."""
    known = dict(ids)
    for symbol in expr.symbols:
        if symbol.startswith(("at.", "iv.")):
            known[symbol] = 0
        elif symbol not in known:
            return None
    total = next(iter(ids.values()))
    used = {s: known[s] for s in expr.symbols}
    return np.broadcast_to(expr.eval_numpy(used), np.shape(total)) if used else np.full(np.shape(total), expr.eval({}))
