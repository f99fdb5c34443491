"""Cohorts: sets of waves, over all workgroups, that share a control state and step together.

A value is a numpy array of shape (waves or 1, lanes or 1, *vector dims): a size of 1 means "the same for all". A cohort
can be cut in two (when waves go different ways) and joined with another at the same place. `mask` says which lanes are
active, None for all.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np

from .memory import MemRef, Resource

if TYPE_CHECKING:
    from .machine import Machine

Value = np.ndarray | MemRef | Resource
Mask = np.ndarray | None


def take_array(values: np.ndarray, chosen: np.ndarray, waves: int) -> np.ndarray:
    """`take` of an array."""
    return values[chosen] if values.ndim and values.shape[0] == waves and waves > 1 else values


def take(value: object, chosen: np.ndarray, waves: int) -> object:
    """The part of a value that belongs to the chosen waves (positions in a cohort of `waves`)."""
    if isinstance(value, np.ndarray):
        return take_array(value, chosen, waves)
    if isinstance(value, MemRef):
        pick = lambda v: take(v, chosen, waves)  # noqa: E731
        return replace(
            value,
            base=pick(value.base),
            shape=tuple(pick(v) for v in value.shape),
            strides=tuple(pick(v) for v in value.strides),
            valid=pick(value.valid),
            origin=pick(value.origin),
        )
    if isinstance(value, Resource):
        return Resource(take_array(value.address, chosen, waves), take_array(value.valid, chosen, waves))
    if isinstance(value, tuple | list):
        return type(value)(take(v, chosen, waves) for v in value)
    return value


class CannotJoin(Exception):
    """Two values have no common form; the cohorts stay apart."""


def join(first: object, second: object, waves: tuple[int, int]) -> object:
    """The value of two cohorts of so many waves put one after the other. Raises CannotJoin."""
    if first is second:
        return first
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        return _join_arrays(first, second, waves)
    if isinstance(first, MemRef) and isinstance(second, MemRef) and first.storage is second.storage:
        both = lambda name: join(getattr(first, name), getattr(second, name), waves)  # noqa: E731
        return replace(
            first,
            base=both("base"),
            shape=both("shape"),
            strides=both("strides"),
            valid=both("valid"),
            origin=both("origin"),
        )
    if isinstance(first, Resource) and isinstance(second, Resource):
        return Resource(
            _join_arrays(first.address, second.address, waves), _join_arrays(first.valid, second.valid, waves)
        )
    if isinstance(first, tuple | list) and isinstance(second, tuple | list) and len(first) == len(second):
        return type(first)(join(a, b, waves) for a, b in zip(first, second, strict=True))
    if isinstance(first, int) and isinstance(second, int):
        if first == second:
            return first
        return _join_arrays(np.array([[first]]), np.array([[second]]), waves)
    raise CannotJoin


def _join_arrays(first: np.ndarray, second: np.ndarray, waves: tuple[int, int]) -> np.ndarray:
    if first.ndim != second.ndim or first.shape[2:] != second.shape[2:] or first.dtype != second.dtype:
        raise CannotJoin
    lanes = max(first.shape[1], second.shape[1])
    parts = [np.broadcast_to(v, (n, lanes, *v.shape[2:])) for v, n in zip((first, second), waves, strict=True)]
    return np.concatenate(parts)


def select(mask: np.ndarray, chosen: object, other: object) -> object:
    """Per lane `chosen` where the mask is set, else `other`. Raises CannotJoin."""
    if chosen is other or other is None:
        return chosen
    if isinstance(chosen, np.ndarray) and isinstance(other, np.ndarray):
        return np.where(mask.reshape(mask.shape + (1,) * (chosen.ndim - 2)), chosen, other)
    if isinstance(chosen, MemRef) and isinstance(other, MemRef) and chosen.storage is other.storage:
        both = lambda name: select_part(mask, getattr(chosen, name), getattr(other, name))  # noqa: E731
        return replace(
            chosen,
            base=both("base"),
            shape=both("shape"),
            strides=both("strides"),
            valid=both("valid"),
            origin=both("origin"),
        )
    raise CannotJoin


def select_part(mask: np.ndarray, chosen: object, other: object) -> object:
    """`select` for the fields of a memref: integers, None, arrays and tuples of these."""
    if isinstance(chosen, tuple) and isinstance(other, tuple):
        return tuple(select_part(mask, a, b) for a, b in zip(chosen, other, strict=True))
    if chosen is None or other is None:
        if chosen is other:
            return None
        raise CannotJoin
    if isinstance(chosen, int) and chosen == other:
        return chosen
    return np.where(mask, chosen, other)  # type: ignore[call-overload]


@dataclass(slots=True)
class IfFrame:
    """An open scf.if. saved: the mask before it. then_mask: lanes that take the first branch, where lanes differ;
    else_mask: those still to take the second; then_values: what the first yielded."""

    saved: Mask
    then_mask: Mask = None
    else_mask: Mask = None
    then_values: list | None = None


@dataclass(slots=True)
class LoopFrame:
    """An open loop. saved: the mask before it. partial: some lanes have left. bounds: (iv, ub, step) of scf.for.
    results: what lanes that left a scf.while took with them."""

    saved: Mask
    partial: bool = False
    bounds: tuple = ()
    results: list | None = None


class Cohort:
    """Waves at one place of the program. waves: their numbers; env: value of each slot; stack: open ifs and loops."""

    __slots__ = (
        "env", "group", "machine", "mask", "passed", "pc", "seen", "signalled", "stack", "size", "wave1", "waves"
    )  # fmt: skip

    def __init__(self, machine: Machine, waves: np.ndarray, pc: int, env: list, mask: Mask, stack: list) -> None:
        self.machine = machine
        self.waves = waves
        self.size = int(waves.size)
        self.pc = pc
        self.env = env
        self.mask = mask
        self.stack = stack
        self.wave1 = (waves + 1)[:, None]
        self.seen = -1  # changes of memory at its last turn in a loop that waits for others
        self.refresh()

    def refresh(self) -> None:
        """Read again what depends on the waves' counters."""
        machine = self.machine
        self.passed = machine.waits.passed[self.waves][:, None]
        self.signalled = machine.waits.signalled[self.waves][:, None]
        self.group = machine.group[self.waves][:, None]

    def part(self, chosen: np.ndarray) -> Cohort:
        """A cohort of the chosen waves (a boolean per wave or positions)."""
        positions = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else chosen
        cut = lambda v: take(v, positions, self.size)  # noqa: E731
        mask = None if self.mask is None else take_array(self.mask, positions, self.size)
        stack = [type(f)(**{d.name: cut(getattr(f, d.name)) for d in fields(f)}) for f in self.stack]
        return Cohort(self.machine, self.waves[positions], self.pc, [cut(v) for v in self.env], mask, stack)

    def keep(self, chosen: np.ndarray) -> Cohort:
        """Cut away and return the waves not chosen (a boolean per wave); the chosen ones stay in this cohort."""
        rest, kept = self.part(~chosen), self.part(chosen)
        for name in Cohort.__slots__:
            setattr(self, name, getattr(kept, name))
        return rest

    def joined(self, other: Cohort, visible: list[int] | None) -> Cohort:
        """This cohort and another at the same place as one. visible: slots still needed. Raises CannotJoin."""
        waves = (self.size, other.size)
        slots = range(len(self.env)) if visible is None else visible
        env: list = [None] * len(self.env)
        for slot in slots:
            a, b = self.env[slot], other.env[slot]
            env[slot] = None if a is None or b is None else join(a, b, waves)
        stack = [self._join_frames(a, b, waves) for a, b in zip(self.stack, other.stack, strict=True)]
        mask = self._join_masks(self.mask, other.mask, waves)
        return Cohort(self.machine, np.concatenate([self.waves, other.waves]), self.pc, env, mask, stack)

    def signature(self) -> tuple:
        """Cohorts can be joined only when these agree."""
        return (self.pc, *(type(f).__name__ for f in self.stack))

    def _join_frames(self, a: object, b: object, waves: tuple[int, int]) -> object:
        merged = {}
        for item in fields(a):  # type: ignore[arg-type]
            x, y = getattr(a, item.name), getattr(b, item.name)
            if item.name in ("saved", "then_mask", "else_mask"):
                if item.name != "saved" and (x is None) != (y is None):
                    raise CannotJoin
                merged[item.name] = self._join_masks(x, y, waves)
            elif item.name == "partial":
                merged[item.name] = x or y
            elif x is None or y is None:
                if x is not y:
                    raise CannotJoin
                merged[item.name] = None
            else:
                merged[item.name] = join(x, y, waves)
        return type(a)(**merged)

    def _join_masks(self, a: Mask, b: Mask, waves: tuple[int, int]) -> Mask:
        if a is None and b is None:
            return None
        lanes = self.machine.lanes
        parts = [
            np.ones((n, lanes), dtype=bool) if m is None else np.broadcast_to(m, (n, lanes))
            for m, n in zip((a, b), waves, strict=True)
        ]
        return np.concatenate(parts)
