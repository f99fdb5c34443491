"""Two kinds of waves with programs of their own between the same barriers, for the proof of barriers.

To the hardware a barrier is a number: the n-th of one wave meets the n-th of every other. Here the two programs have
the same loops and conditionals around their barriers, so that the n-th of one is known to be that of the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from mlir import ir

from wave_mlir.dialect import Expr

from .diagnostics import PassError
from .lane_access import names_of
from .shared_values import SharedValues
from .stagger import STAGGER
from .tile_ir import walk

_MEETINGS = ("wave.shared_memory_barrier", "wave.workgroup_barrier", "wave.barrier_signal", "wave.barrier_wait")


@dataclass
class Stretch:
    """Ops without barriers; behind them a barrier, or a loop or conditional with some (None: the block ends)."""

    ops: list[ir.Operation] = field(default_factory=list)
    end: ir.Operation | None = None


@dataclass(frozen=True)
class Sides:
    """A conditional that takes waves apart, with the groups of waves in its first branch and in the other."""

    op: ir.Operation
    groups: tuple[list[int], list[int]]
    values: SharedValues

    def check_alike(self, first: ir.Operation, second: ir.Operation) -> None:
        """Whether two meetings are the same one. Raises PassError."""
        named_alike = first.name == second.name and STAGGER not in first.attributes
        if not named_alike or self._decided_by(first) != self._decided_by(second):
            text = "this is not known to be run as often as what the other waves have in its place; give both the same"
            raise PassError(second, text).note(first, "what the other waves have")

    def _decided_by(self, op: ir.Operation) -> tuple[object, ...]:
        """What decides whether, and how often, the barriers in an op are executed; the number of a split barrier."""
        found: list[object] = [len(region.blocks) for region in op.regions]
        for name in ("trips", "step", "condition"):
            if name in op.attributes:
                resolved = self.values.info.resolve(Expr(op.attributes[name]), names_of(op))
                found.append((name, self.values.canonical(op, resolved)))
        if op.name == "wave.iterate" and "condition" in op.attributes:
            found.append(op)  # a while loop: like no other
        if op.name == "wave.conditional":
            found.append(op.opview.condition_value)
        found += [op.attributes[name] for name in ("id", "wave.everywhere") if name in op.attributes]
        return tuple(found)


def paired(sides: Sides, blocks: Sequence[ir.Block]) -> Iterator[tuple[Stretch, Stretch]]:
    """The stretches of two blocks. Raises PassError where one has more barriers than the other."""
    first, second = (_stretches(block) for block in blocks)
    if len(first) != len(second):
        more, fewer = (first, second) if len(first) > len(second) else (second, first)
        end = more[len(fewer) - 1].end
        text = "the other waves have no barrier, or loop with one, for this one; give both kinds of waves the same"
        raise PassError(end if end is not None else sides.op, text)
    return zip(first, second, strict=True)


def _stretches(block: ir.Block) -> list[Stretch]:
    found = [Stretch()]
    for view in block.operations:
        op = view.operation
        inside = (inner for region in op.regions for b in region.blocks for inner in walk(b))
        if op.name in _MEETINGS or any(inner.name in _MEETINGS for inner in inside):
            found[-1].end = op
            found.append(Stretch())
        elif op.name != "wave.yield":
            found[-1].ops.append(op)
    return found
