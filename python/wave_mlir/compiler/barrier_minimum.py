"""Proves that a kernel needs as many barriers as it has: a lower bound with witnesses.

A witness is a set of points of the program: with barriers everywhere but there the kernel still races, as the proof by
data flow says. Barriers only make things safer, so every placement has one of the points. Witnesses that have no point
in common need a barrier each. The sets are those of `lds_hazards`, but nothing depends on where they come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir

from .barrier_proof import prove_barriers
from .diagnostics import PassError
from .driver import parse
from .footprints import Meeting
from .lds_hazards import BARRIERS, Program, touches
from .tile_ir import kernels


@dataclass(frozen=True)
class Minimum:
    """given: the user's barriers. least: what any placement needs besides. accesses: ops on LDS."""

    given: int
    least: int
    accesses: int


def minimum(text: str) -> Minimum:
    """The least number of barriers of the only kernel of a module in lane form, before barriers are placed."""
    module = parse(text)
    with module.context:
        program = Program.of(kernels(module.operation)[0])
        given = [n.number for n in program.nodes if n.op.name in BARRIERS]
        needed = [frozenset(i.points) for i in program.intervals() if i.who == Meeting.WAVES]
        needed = [points for points in needed if not points.intersection(given)]
        witnesses = [points for points in _apart(needed) if _races(text, points)]
        accesses = sum(len(touches(n.op)) > 0 for n in program.nodes)
        return Minimum(len(given), len(witnesses), accesses)


def _races(text: str, points: frozenset[int]) -> bool:
    """Whether the kernel races with barriers before all ops that matter but these."""
    module = ir.Module.parse(text)  # in the context that is entered
    kernel = kernels(module.operation)[0]
    i64 = ir.IntegerType.get_signless(64)
    for node in Program.of(kernel).nodes:
        with node.op.location, ir.InsertionPoint(node.op):
            if node.number in points:  # what does without other waves is there
                zero = ir.IntegerAttr.get(i64, 0)
                ir.Operation.create("wave.memory_counter_wait", [], [], {"load": zero})
                ir.Operation.create("wave.wave_fence", [], [])
            else:
                ir.Operation.create("wave.shared_memory_barrier", [], [], {"wait_async": ir.UnitAttr.get()})
    try:
        prove_barriers(kernel)
    except PassError as error:
        return "no barrier" in error.message
    return False


def _apart(sets: Sequence[frozenset[int]]) -> list[frozenset[int]]:
    """As many of the sets as can be had without a point in two of them."""
    ordered = sorted(sets, key=lambda s: (len(s), sorted(s)))
    best: list[frozenset[int]] = []
    budget = 20_000

    def search(chosen: list[frozenset[int]], left: list[frozenset[int]]) -> None:
        nonlocal best, budget
        budget -= 1
        if len(chosen) > len(best):
            best = list(chosen)
        for number, first in enumerate(left):
            if len(chosen) + len(left) - number <= len(best) or budget <= 0:
                return
            search([*chosen, first], [s for s in left[number + 1 :] if not s & first])

    search([], ordered)
    return best
