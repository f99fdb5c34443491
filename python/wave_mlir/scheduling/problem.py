"""What a scheduler is asked: the operations of one trip of a loop, what they need of each other and of the machine.

Apart from the IR: names stand for operations, and times are clocks of one SIMD.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

VALUE = "value"
READ_AFTER_WRITE = "read after write"
WRITE_AFTER_READ = "write after read"
WRITE_AFTER_WRITE = "write after write"
ORDER = "order"

KINDS = (VALUE, READ_AFTER_WRITE, WRITE_AFTER_READ, WRITE_AFTER_WRITE, ORDER)
"""Why an operation depends on another one: a value, memory, or an order that has to be kept for another reason."""

NAME = re.compile(r"[A-Za-z_%@][\w.%@/-]*$")
"""Names of operations, resources, buffers and problems: what the text form can hold."""


class SchedulingError(ValueError):
    """A problem that is none, or a schedule that breaks it. The text says what is wrong and what to do.

    `dependence` is the broken dependence, `operations` the names of those concerned, where there are such.
    """

    def __init__(self, message: str, *, dependence: Dependence | None = None, operations: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.dependence = dependence
        self.operations = operations or ((dependence.source, dependence.target) if dependence else ())


class NoSchedule(SchedulingError):
    """A solver found no schedule; `operations` are those in the way."""


@dataclass(frozen=True)
class Resource:
    """A part of the machine that `capacity` units of work can use at a time."""

    name: str
    capacity: int = 1


@dataclass(frozen=True)
class Use:
    """`amount` units of a resource for `clocks` clocks, from `start` clocks after the operation's issue on."""

    resource: str
    clocks: int
    amount: int = 1
    start: int = 0


@dataclass(frozen=True)
class Operation:
    """One operation of the loop's body.

    `kind` says what it is (`mma`, `global_load`, `lds_write`, `lds_read`, `vector` …) and is what strategies go by;
    `latency` is the clocks from issue to use of its result; `registers` the 32-bit registers a lane of its results.
    """

    name: str
    kind: str
    latency: int = 0
    uses: tuple[Use, ...] = ()
    registers: int = 0


@dataclass(frozen=True)
class Dependence:
    """`target` of trip i + `distance` is after `source` of trip i, by at least `latency` clocks.

    `kind` is one of KINDS, `reason` a few words for the user. `buffer` names the LDS buffer of a dependence through
    memory: with n copies of it, a write of trip i + d meets an access of trip i only from d + n - 1 on.
    """

    source: str
    target: str
    distance: int = 0
    latency: int = 0
    kind: str = VALUE
    reason: str = ""
    buffer: str = ""

    @property
    def frees(self) -> bool:
        """Whether it only keeps a copy of the buffer from being overwritten, so that more copies loosen it."""
        return bool(self.buffer) and self.distance > 0 and self.kind in (WRITE_AFTER_READ, WRITE_AFTER_WRITE)

    def __str__(self) -> str:
        trips = {0: "in the same trip", 1: "of the next trip"}.get(self.distance, f"{self.distance} trips later")
        where = f" in {self.buffer}" if self.buffer else ""
        because = f": {self.reason}" if self.reason else ""
        return f"'{self.target}' {trips} needs '{self.source}' ({self.kind}{where}{because})"


@dataclass(frozen=True)
class Buffer:
    """An LDS buffer that may be copied, `bytes` a copy, at most `most` copies (0: as many as fit)."""

    name: str
    bytes: int
    most: int = 0


@dataclass(frozen=True)
class Problem:
    """A loop to schedule. Operations are in the order of the program.

    `registers` is what a lane has for the values of the loop (0: not limited), `lds_bytes` the LDS there is for all
    copies of `buffers` (0: not limited). Both are costs to solvers, not part of legality.
    """

    name: str
    operations: tuple[Operation, ...]
    dependences: tuple[Dependence, ...] = ()
    resources: tuple[Resource, ...] = ()
    buffers: tuple[Buffer, ...] = ()
    registers: int = 0
    lds_bytes: int = 0
    attributes: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def by_name(self) -> dict[str, Operation]:
        """Operations by name."""
        return {o.name: o for o in self.operations}

    @cached_property
    def position(self) -> dict[str, int]:
        """Number of each operation in program order."""
        return {o.name: i for i, o in enumerate(self.operations)}

    @cached_property
    def incoming(self) -> dict[str, list[Dependence]]:
        """Dependences by target."""
        found: dict[str, list[Dependence]] = {o.name: [] for o in self.operations}
        for d in self.dependences:
            found[d.target].append(d)
        return found

    @cached_property
    def outgoing(self) -> dict[str, list[Dependence]]:
        """Dependences by source."""
        found: dict[str, list[Dependence]] = {o.name: [] for o in self.operations}
        for d in self.dependences:
            found[d.source].append(d)
        return found

    def of_kind(self, *kinds: str) -> list[Operation]:
        """The operations of some kinds, in program order."""
        return [o for o in self.operations if o.kind in kinds]

    def with_copies(self, copies: Mapping[str, int]) -> Problem:
        """The problem with so many copies of LDS buffers (1 for those not named): distances grow accordingly."""
        return replace(self, dependences=tuple(with_copies(d, copies) for d in self.dependences))

    @cached_property
    def sequence(self) -> dict[str, int]:
        """Rank of each operation in an order that keeps all dependences within a trip, near program order.

        Raises SchedulingError when these are circular.
        """
        waiting = {o.name: 0 for o in self.operations}
        for d in self.dependences:
            waiting[d.target] += d.distance == 0
        ready = [o.name for o in self.operations if waiting[o.name] == 0]
        rank: dict[str, int] = {}
        while ready:
            name = min(ready, key=self.position.__getitem__)
            ready.remove(name)
            rank[name] = len(rank)
            for d in self.outgoing[name]:
                if d.distance == 0:
                    waiting[d.target] -= 1
                    if waiting[d.target] == 0:
                        ready.append(d.target)
        if len(rank) < len(self.operations):
            left = tuple(n for n in waiting if n not in rank)
            raise SchedulingError(
                f"problem '{self.name}': operations depend on each other within one trip: {', '.join(left)}; one of "
                "these dependences needs a distance of a trip or more",
                operations=left,
            )
        return rank


def with_copies(dependence: Dependence, copies: Mapping[str, int]) -> Dependence:
    """A dependence as it is with `copies` of the buffers: see `Dependence.buffer`."""
    more = copies.get(dependence.buffer, 1) - 1 if dependence.buffer else 0
    return replace(dependence, distance=dependence.distance + more) if more and dependence.frees else dependence


def check(problem: Problem) -> None:
    """Raise SchedulingError unless the problem makes sense: names, numbers, no circle within a trip."""
    _check_names(problem)
    resources = {r.name: r for r in problem.resources}
    for operation in problem.operations:
        _check_operation(problem, operation, resources)
    names, buffers = set(problem.by_name), {b.name for b in problem.buffers}
    for dependence in problem.dependences:
        _check_dependence(problem, dependence, names, buffers)
    _ = problem.sequence  # raises where dependences of distance 0 are circular


def _check_names(problem: Problem) -> None:
    _check_unique(problem, "operation", [o.name for o in problem.operations])
    _check_unique(problem, "resource", [r.name for r in problem.resources])
    _check_unique(problem, "buffer", [b.name for b in problem.buffers])
    for resource in problem.resources:
        if resource.capacity < 1:
            raise SchedulingError(
                f"problem '{problem.name}': resource '{resource.name}' has no capacity; give 1 or more"
            )
    for buffer in problem.buffers:
        if buffer.bytes < 0 or buffer.most < 0:
            raise SchedulingError(f"problem '{problem.name}': buffer '{buffer.name}' has a negative size or count")


def _check_unique(problem: Problem, what: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if not NAME.match(name):
            raise SchedulingError(
                f"problem '{problem.name}': '{name}' is no name for a {what}; use letters, digits, _ . /"
            )
        if name in seen:
            raise SchedulingError(f"problem '{problem.name}': two of the {what}s are called '{name}'; rename one")
        seen.add(name)


def _check_operation(problem: Problem, operation: Operation, resources: Mapping[str, Resource]) -> None:
    where = f"problem '{problem.name}': operation '{operation.name}'"
    if operation.latency < 0 or operation.registers < 0:
        raise SchedulingError(f"{where} has a negative latency or number of registers")
    for use in operation.uses:
        resource = resources.get(use.resource)
        if resource is None:
            raise SchedulingError(f"{where} uses a resource '{use.resource}' that the problem does not have; add it")
        if use.clocks < 0 or use.start < 0 or use.amount < 1:
            raise SchedulingError(f"{where} uses '{use.resource}' for a negative time or in no amount")
        if use.amount > resource.capacity:
            raise SchedulingError(
                f"{where} needs {use.amount} of '{use.resource}', of which there are {resource.capacity}; split it"
            )


def _check_dependence(problem: Problem, dependence: Dependence, names: set[str], buffers: set[str]) -> None:
    where = f"problem '{problem.name}': a dependence"
    for name in (dependence.source, dependence.target):
        if name not in names:
            raise SchedulingError(f"{where} names '{name}', which is no operation of the problem")
    if dependence.distance < 0:
        raise SchedulingError(f"{where} has the negative distance {dependence.distance}: {dependence}")
    if dependence.kind not in KINDS:
        raise SchedulingError(f"{where} is of the unknown kind '{dependence.kind}'; use one of {', '.join(KINDS)}")
    if dependence.buffer and dependence.buffer not in buffers:
        raise SchedulingError(
            f"{where} names the buffer '{dependence.buffer}', which the problem does not have; add it"
        )
