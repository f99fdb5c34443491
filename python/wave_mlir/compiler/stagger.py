"""Two groups of waves that run a stretch of a kernel one barrier apart.

A barrier is a number to the hardware: the n-th of one wave meets the n-th of every other one. So a barrier that some of
the waves execute alone, before a loop, pairs with the first barrier *inside* of the loop of the others: from there on
these are one barrier ahead, until they execute one alone behind the loop. In the IR such a barrier is a
`wave.conditional` over wave ids, marked with `wave.stagger`, around one `wave.shared_memory_barrier`.

Between two accesses of a stretch, in program order, one barrier separates waves of one group. From the group behind to
the group ahead it takes two: the group ahead is done with the first one as the other comes to it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from mlir import ir

from wave_mlir.dialect import Expr

from .diagnostics import PassError
from .kernel_info import KernelInfo
from .tile_ir import body_of, walk

STAGGER = "wave.stagger"
"""On a conditional: waves execute the barrier in it, or do not, on purpose."""

SPECIALIZED = "wave.specialized"
"""On a conditional over wave ids: its branches are one program for two kinds of waves, with the same barriers."""

_BARRIER = "wave.shared_memory_barrier"
_SPLIT = ("wave.barrier_signal", "wave.barrier_wait")
_IDS = ("wave.x", "wave.y", "wave.z")


def wave_number(info: KernelInfo) -> Expr:
    """The number of a wave in its workgroup, as the hardware counts: it gives waves to SIMDs in turn."""
    x, y, _ = info.block_waves
    ids = [Expr.symbol(name) for name in _IDS]
    return (ids[0] + ids[1] * x + ids[2] * (x * y)).simplify(info.facts)


def second_half(info: KernelInfo) -> Expr:
    """The condition of the waves with the higher numbers: of the waves of each SIMD every other one."""
    x, y, z = info.block_waves
    return wave_number(info).ge(x * y * z // 2)


def others(info: KernelInfo, condition: Expr) -> Expr:
    """The condition of the waves for which another one does not hold."""
    return condition.eq(0).simplify(info.facts)


def barrier_of_some(condition: Expr, location: ir.Location) -> None:
    """A barrier that the waves for which the condition holds execute alone, at the insertion point."""
    attributes: dict[str, ir.Attribute] = {"condition": condition, STAGGER: ir.UnitAttr.get()}
    attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([0, 0, 0])
    with location:
        branch = ir.Operation.create("wave.conditional", [], [], attributes, regions=2)
        with ir.InsertionPoint(branch.regions[0].blocks.append()):
            ir.Operation.create(_BARRIER, [], [])
            ir.Operation.create("wave.yield", [], [])


def waves_that(info: KernelInfo, op: ir.Operation) -> tuple[bool, ...]:
    """Whether each wave of a workgroup enters a marked conditional. Raises PassError where that is not known."""
    if "condition" not in op.attributes:
        raise _unknown(op)
    return entered_by(info, Expr(op.attributes["condition"]), op)


def _unknown(where: ir.Operation | ir.Location) -> PassError:
    return PassError(where, "which waves execute this barrier is not known; let its condition be over wave ids alone")


def entered_by(info: KernelInfo, condition: Expr, where: ir.Operation | ir.Location) -> tuple[bool, ...]:
    """Whether a condition holds for each wave of a workgroup. Raises PassError where that is not known."""
    resolved = info.resolve(condition)
    if not set(resolved.symbols) <= set(_IDS):
        raise _unknown(where)
    counts = info.block_waves
    found = []
    for wave in np.ndindex(*counts[::-1]):
        ids = {name: int(n) for name, n in zip(_IDS, wave[::-1], strict=True)}
        found.append(bool(resolved.eval({s: ids[s] for s in resolved.symbols})))
    return tuple(found)


def is_staggered(kernel: ir.OpView | ir.Operation) -> bool:
    """Whether a kernel has barriers that only some waves execute on purpose."""
    return any(op.name == "wave.conditional" and STAGGER in op.attributes for op in walk(body_of(kernel)))


@dataclass
class Stretches:
    """The parts of a kernel that two groups of waves run one barrier apart.

    number: of the stretch that an op is in, also of ops in regions. Raises PassError where the groups would not be
    together again at the end of the block, where they would be more than one barrier apart, or where a barrier of
    another kind stands between.
    """

    info: KernelInfo
    number: dict[ir.Operation, int] = field(default_factory=dict)
    _count: int = 0

    @staticmethod
    def of(info: KernelInfo) -> Stretches:
        """Find those of a kernel."""
        found = Stretches(info)
        if is_staggered(info.kernel):
            found._block(body_of(info.kernel))
        return found

    def _block(self, block: ir.Block) -> None:
        opened: ir.Operation | None = None
        for view in block.operations:
            op = view.operation
            if op.name == "wave.conditional" and STAGGER in op.attributes:
                opened = self._turn(op, opened)
            elif opened is not None:
                self._inside(op)
            else:
                for region in op.regions:
                    for inner in region.blocks:
                        self._block(inner)
        if opened is not None:
            raise PassError(
                opened,
                "some of the waves execute a barrier more than the others, who would wait for ever: let the others "
                "execute one alone too, behind it in the same block",
            )

    def _turn(self, op: ir.Operation, opened: ir.Operation | None) -> ir.Operation | None:
        """The groups come apart, or together again."""
        check_body(op)
        waves = waves_that(self.info, op)
        if all(waves) or not any(waves):
            raise PassError(
                op, f"{'all' if all(waves) else 'none'} of the {len(waves)} waves execute this barrier of some; "
                "let its condition hold for a part of the waves"
            )  # fmt: skip
        if opened is None:
            self._count += 1
            return op
        if any(a == b for a, b in zip(waves, waves_that(self.info, opened), strict=True)):
            raise PassError(
                op, "this barrier is not for just those waves that did not execute the one before; the groups would "
                "not be together again"
            ).note(opened, "the barrier before")  # fmt: skip
        return None

    def _inside(self, op: ir.Operation) -> None:
        self.number[op] = self._count
        for region in op.regions:
            for block in region.blocks:
                for inner in walk(block):
                    self.number[inner] = self._count
                    _check_inside(inner)
        _check_inside(op)


def check_body(op: ir.Operation) -> None:
    """A marked conditional has just a barrier in it. Raises PassError."""
    body = [view.operation for view in body_of(op).operations]
    plain = [inner.name for inner in body] == [_BARRIER, "wave.yield"] and not len(body[0].attributes)
    if not plain or len(op.results) or len(op.regions[1].blocks):
        raise PassError(
            op, f"a conditional with {STAGGER} has one wave.shared_memory_barrier without attributes, and no else"
        )


def _check_inside(op: ir.Operation) -> None:
    if op.name == "wave.conditional" and STAGGER in op.attributes:
        raise PassError(op, "the waves are a barrier apart already; this barrier of some has to go behind the next one")
    if op.name in (*_SPLIT, "wave.workgroup_barrier"):
        raise PassError(
            op,
            f"{op.name} between waves that are a barrier apart does not say what LDS accesses it orders; use "
            "wave.shared_memory_barrier",
        )
