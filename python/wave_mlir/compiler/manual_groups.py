"""Groups of waves that a schedule by hand lets run a loop one barrier apart."""

from __future__ import annotations

from mlir import ir

from wave_mlir.compiler.directives import LoopPlan, Position
from wave_mlir.dialect import Expr

from .diagnostics import PassError
from .kernel_info import KernelInfo
from .stagger import entered_by, others, second_half

_THREAD_X = "__thread_x"
"""The work-item's number along x, as the front end writes it."""


def stagger_of(info: KernelInfo, plan: LoopPlan) -> Expr | None:
    """The condition of the waves that a plan puts a barrier behind the others; None where all are together.

    Raises PassError, at the user's line, where not just the others execute a barrier alone behind the loop.
    """
    if not plan.groups:
        return None
    found: dict[str, tuple[Expr, tuple[bool, ...], ir.Location]] = {}
    for where, text, at in plan.groups:
        location = _place(at)
        if where in found:
            text = f"there is a barrier of some waves {where} the loop '{plan.loop}' already; leave one of them out"
            raise PassError(location, text).note(found[where][2], "the other one")
        condition = _condition(info, text)
        if where == "after" and not text:
            condition = others(info, condition)
        found[where] = condition, entered_by(info, condition, location), location
    for here, there in (("before", "after"), ("after", "before")):
        if there not in found:
            raise PassError(
                found[here][2],
                f"some waves execute a barrier alone {here} the loop '{plan.loop}' and no others {there} it: they "
                f"would wait for ever; add insert_cond_barrier_{there} for the other waves",
            )
    (condition, ahead, location), (_, behind, other) = found["before"], found["after"]
    if sum(ahead) in (0, len(ahead)):
        raise PassError(
            location,
            f"{sum(ahead)} of the {len(ahead)} waves are in this group; let its condition hold for a part of them",
        )
    if any(a == b for a, b in zip(ahead, behind, strict=True)):
        raise PassError(other, "these are not just the waves that did not execute the barrier before the loop").note(
            location, "the barrier before it"
        )
    return condition


def _condition(info: KernelInfo, text: str) -> Expr:
    if not text:
        return second_half(info)
    thread = Expr.symbol("wave.x") * info.wave_size + Expr.symbol("lane")
    return info.resolve(Expr.parse(text).subs({_THREAD_X: thread})).simplify(info.facts)


def _place(at: Position) -> ir.Location:
    return ir.Location.file(*at)
