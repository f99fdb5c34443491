"""Unrolls a loop of lane form for a schedule by hand that tells the trips of its body apart.

The new loop runs several tiles a trip, in the order of the program; each op's location says which of them it is for.
The tiles left go to the loop as it was.
"""

from __future__ import annotations

from dataclasses import replace

from mlir import ir

from wave_mlir.compiler.directives import Interleaved, Item, LoopPlan, Nodes
from wave_mlir.dialect import Expr

from .loop_pipeline import Part, Pipeline
from .loop_slots import STEADY

ITERATION = "wave.iteration:"
"""How the names of locations begin that say for which tile of a trip an op is."""


class Unrolled(Pipeline):
    """Makes an unrolled loop instead of a pipelined one; `made` is that loop, once it is there."""

    made: ir.Operation | None = None

    def _run_steady(self, part: Part) -> None:
        for step in range(self.schedule.unroll):
            for plan in self._plans.ops:
                where = ir.Location.name(f"{ITERATION}{step}", plan.location)
                part.emit(replace(plan, placed=False, location=where, moved=True), step)

    def _open_steady(self, trips: Expr, inits: list[ir.Value]) -> ir.Operation:
        self.made = super()._open_steady(trips, inits)
        del self.made.attributes[STEADY]
        return self.made


def iteration_of(location: ir.Location) -> int | None:
    """For which tile of a trip an op is; None for one that was not unrolled."""
    if location.is_a_name():
        if location.name_str.startswith(ITERATION):
            return int(location.name_str.removeprefix(ITERATION))
        return iteration_of(location.child_loc)
    if location.is_a_fused():
        return next((n for n in map(iteration_of, location.locations) if n is not None), None)
    return None


def of_iterations(plan: LoopPlan) -> Nodes | None:
    """The first set of ops of a plan that is for one tile of a trip."""

    def found(items: list[Item]) -> list[Nodes]:
        sets: list[Nodes] = []
        for item in items:
            if isinstance(item, Nodes):
                sets.append(item)
            elif isinstance(item, Interleaved):
                sets += [*item.base, *(n for group in item.groups for n in group)]
        return sets

    cycles = [cycle for stage in plan.stages for cycle in stage]
    every = [n for items in (*cycles, plan.order or [], plan.starts, plan.ends) for n in found(items)]
    every += [nodes for _, nodes, _ in plan.beside]
    return next((n for n in every if any(step[0] == "iteration" for step in n.steps)), None)
