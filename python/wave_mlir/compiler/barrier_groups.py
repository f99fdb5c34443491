"""How many barriers each group of waves has passed, for the proof of barriers.

Groups are the waves that execute the same of those barriers that not all execute (`stagger`). What counts is how far
the groups are apart: an access is known to a group once that has passed one barrier more than its maker had signalled.
"""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from .diagnostics import PassError
from .kernel_info import KernelInfo
from .stagger import SPECIALIZED, STAGGER, check_body, waves_that
from .tile_ir import body_of, walk

_UNCLEAR = ("wave.workgroup_barrier", "wave.barrier_signal", "wave.barrier_wait")


class Groups:
    """The groups of a kernel's waves at one point of the program. passed: how many barriers of some each group has
    executed; all other barriers they execute alike. sides: of a conditional that takes waves apart, the groups in its
    first branch and those in the other."""

    def __init__(self, info: KernelInfo, kernel: ir.OpView) -> None:
        ops = [op for op in walk(body_of(kernel)) if op.name == "wave.conditional" and STAGGER in op.attributes]
        for op in ops:
            check_body(op)
        taken_apart = [op for op in walk(body_of(kernel)) if SPECIALIZED in op.attributes]
        executes = [waves_that(info, op) for op in (*ops, *taken_apart)]
        x, y, z = info.block_waves
        kinds = list(dict.fromkeys(tuple(e[wave] for e in executes) for wave in range(x * y * z)))
        self.of_some: dict[ir.Operation, list[int]] = {
            op: [g for g, kind in enumerate(kinds) if kind[n]] for n, op in enumerate(ops)
        }
        self.sides: dict[ir.Operation, tuple[list[int], list[int]]] = {}
        for n, op in enumerate(taken_apart, len(ops)):
            there = [g for g, kind in enumerate(kinds) if kind[n]]
            self.sides[op] = there, [g for g in range(len(kinds)) if g not in there]
        self.passed = [0] * len(kinds)

    def enter(self, op: ir.Operation) -> list[int]:
        """The groups that execute the barrier of some in a conditional, which they pass."""
        for group in self.of_some[op]:
            self.passed[group] += 1
        return self.of_some[op]

    def owed(self, group: int, outside: bool) -> tuple[int, ...]:
        """How many barriers each group has to pass before it knows of what a group did here.

        outside: it is about global memory, for which the barriers of others do not count: at least one.
        """
        here = self.passed[group]
        return tuple(max(int(outside), 1 + here - there) for there in self.passed)

    def check_as(self, before: Sequence[int], op: ir.Operation) -> None:
        """The groups are as far apart behind a loop's body, or a branch, as before it."""
        if len({now - then for now, then in zip(self.passed, before, strict=True)}) > 1:
            raise PassError(op, "groups of waves execute different numbers of barriers in here")

    def check_together(self, kernel: ir.Operation) -> None:
        """At the end all waves have executed as many barriers."""
        if len(set(self.passed)) > 1:
            raise PassError(kernel, "groups of waves execute different numbers of barriers in this kernel")

    def check_kind(self, op: ir.Operation) -> None:
        """Between waves that are apart there are but barriers that order LDS."""
        if op.name in _UNCLEAR and len(set(self.passed)) > 1:
            raise PassError(op, f"{op.name} does not order LDS accesses of waves that are a barrier apart")
