"""Masked stores of global memory by 64-bit addresses: one branch for those that follow one another, not one for each.

A masked store is a branch, as there is no address that a lane could store to instead. Stores with one condition get one
branch. Where conditions differ, as with the rows or elements at a tile's edge, all of them hold in most workgroups: so
one branch leads to all stores, and only lanes for which some do not hold ask for each.
"""

from __future__ import annotations

from collections.abc import Iterator

from mlir import ir
from mlir.dialects import arith, scf

from wave_mlir.dialect import Expr

from .footprints import HARDWARE
from .kernel_info import KernelInfo
from .lane_access import names_of

MASKED_STORE = "wave.masked_store"
"""On an `scf.if` that is one masked store, while wave-to-gpu runs: "edge" or "lanes"."""

_EDGE, _LANES = "edge", "lanes"
_PURE = ("arith.", "math.", "vector.", "memref.view", "gpu.thread_id", "gpu.block_id", "wave.mask")
_ACCESSES = tuple(f"vector.{n}" for n in ("load", "store", "gather", "scatter", "maskedload", "maskedstore"))


def kind_of(info: KernelInfo, mask: ir.Value) -> ir.StringAttr:
    """ "edge": a mask asks if elements are inside what workgroups share, as all of most waves are; "lanes": it parts
    the lanes of every wave."""
    owner = None if isinstance(mask.owner, ir.Block) else mask.owner.operation
    if owner is None or owner.name != "wave.mask":
        return ir.StringAttr.get(_LANES)
    conditions = [info.resolve(Expr(owner.attributes["expr"]), names_of(owner))]
    while any(e.kind == "and" for e in conditions):
        conditions = [part for e in conditions for part in (e.operands if e.kind == "and" else [e])]
    edge = not any(HARDWARE.issuperset(e.symbols) for e in conditions)
    return ir.StringAttr.get(_EDGE if edge else _LANES)


def join_masked_stores(block: ir.Block) -> None:
    """Join the masked stores of a block and those in it that follow one another with nothing but arithmetic between."""
    for run in list(_runs(block)):
        _join(run)


def _runs(block: ir.Block) -> Iterator[list[ir.Operation]]:
    run: list[ir.Operation] = []
    for view in list(block.operations):
        op = view.operation
        if MASKED_STORE in op.attributes:
            run.append(op)
            continue
        for region in op.regions:
            for inner in region.blocks:
                join_masked_stores(inner)
        if run and not _is_pure(op):
            yield run
            run = []
    if run:
        yield run


def _is_pure(op: ir.Operation) -> bool:
    return op.name.startswith(_PURE) and op.name not in _ACCESSES and not len(op.regions)


def _join(run: list[ir.Operation]) -> None:
    """Replace branches, at the place of the last, by one for each condition; before these one for all conditions."""
    kinds = {ir.StringAttr(op.attributes[MASKED_STORE]).value for op in run}
    conditions = list(dict.fromkeys(op.operands[0] for op in run))
    last = run[-1]
    if len(conditions) > 1 and kinds == {_EDGE}:
        with last.location, ir.InsertionPoint(last):
            every = conditions[0]
            for condition in conditions[1:]:
                every = arith.AndIOp(every, condition).result
            outer = scf.IfOp(every, has_else=True)
            with ir.InsertionPoint(outer.then_block):
                copies = [op.clone() for op in run]  # whole branches: values made inside stay with their users
                scf.YieldOp([])
            for copy in copies:
                for store in _stores(copy):
                    store.move_before(copy)
                copy.operation.erase()
            with ir.InsertionPoint(outer.else_block):
                end = scf.YieldOp([]).operation
        for op in run:
            op.move_before(end)
    for group in _alike(run):
        target = group[-1]
        first = target.regions[0].blocks[0].operations[0].operation
        for op in group[:-1]:
            for store in _stores(op):
                store.move_before(first)
            op.erase()
        del target.attributes[MASKED_STORE]


def _stores(branch: ir.Operation) -> list[ir.Operation]:
    """The ops of a masked store's branch but for its end."""
    return [view.operation for view in list(branch.regions[0].blocks[0].operations)[:-1]]


def _alike(run: list[ir.Operation]) -> Iterator[list[ir.Operation]]:
    """Neighbours with one condition."""
    group: list[ir.Operation] = []
    for op in run:
        if group and group[-1].operands[0] != op.operands[0]:
            yield group
            group = []
        group.append(op)
    yield group
