"""A loop in lane form as a scheduling problem.

loop = LoopProblem(info, op)           # raises CannotSchedule, which names the op in the way
problem = loop.problem({"lds.0": 2})   # with so many copies of LDS buffers
loop.ops["mma.3"]                      # the op that an operation stands for
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mlir import ir

from wave_mlir.dialect import Expr
from wave_mlir.scheduling import ORDER, VALUE, Buffer, Dependence, Problem

from .kernel_info import KernelInfo
from .lds import buffer_of
from .lds_hazards import BARRIERS
from .loop_costs import Costs, is_free, registers, resources
from .loop_memory import (
    Access,
    Barriers,
    buffer_dependences,
    global_dependences,
    has_offset,
    lds_accesses,
    may_copy,
    variant_values,
)
from .register_pressure import budget
from .tile_ir import bound_names


class CannotSchedule(Exception):
    """A loop whose body cannot be put into another order; `op` is in the way, the text says why."""

    def __init__(self, op: ir.Operation, reason: str) -> None:
        super().__init__(reason)
        self.op = op


class LoopProblem:
    """The problem of one `wave.iterate`."""

    def __init__(self, info: KernelInfo, loop: ir.Operation, spare_bytes: int = 0) -> None:
        self.info = info
        self.loop = loop
        self.costs = Costs(info)
        self.name = f"{ir.StringAttr(info.kernel.operation.attributes['sym_name']).value}.{_axis(loop)}"
        self.body: list[tuple[str, ir.Operation]] = []
        self._collect()
        self.ops = dict(self.body)
        self.operations = {name: self.costs.operation(op, name) for name, op in self.body}
        self._lds = lds_accesses(self.body)
        self._keep_apart()
        self._variant = variant_values(loop)
        self.buffers: dict[str, ir.Operation] = {
            f"lds.{i}": memory.owner.operation for i, memory in enumerate(self._lds)
        }
        self._names = {memory: f"lds.{i}" for i, memory in enumerate(self._lds)}
        self._several = info.block_waves != (1, 1, 1)
        self.sizes = {n: buffer_of(op, info).bytes for n, op in self.buffers.items()}
        self.spare_bytes = spare_bytes

    def _collect(self) -> None:
        counts: dict[str, int] = {}
        block = self.loop.regions[0].blocks[0]
        if "condition" in self.loop.attributes:
            raise CannotSchedule(self.loop, "its trips end by a condition that each trip decides")
        ops = [view.operation for view in block.operations]
        yielded = set(ops[-1].operands)
        for op in ops[:-1]:
            if op.name == "arith.constant":
                continue
            if len(op.regions):
                raise CannotSchedule(op, f"'{op.name}' inside of it has a body of its own")
            kind = self.costs.kind(op)
            if is_free(op):
                if not any(r in yielded for r in op.results):
                    continue
                kind = "vector"
            if kind is None:
                raise CannotSchedule(op, f"'{op.name}' cannot be moved")
            self.body.append((f"{kind}.{counts.setdefault(kind, 0)}", op))
            counts[kind] += 1

    def _keep_apart(self) -> None:
        """Buffers of a problem are apart; those that say their place in LDS need not be."""
        placed = [listed[0].op for buffer, listed in self._lds.items() if has_offset(buffer)]
        if len(placed) > 1:
            text = f"'{placed[1].name}' may access what another LDS buffer has, as both buffers have an offset"
            raise CannotSchedule(placed[1], text)

    def accesses(self, buffer: str) -> list[Access]:
        """The accesses of an LDS buffer in the loop, in program order."""
        return self._lds[next(memory for memory, name in self._names.items() if name == buffer)]

    def copyable(self) -> list[str]:
        """The LDS buffers of which each trip may have its own copy."""
        return [
            name
            for memory, name in self._names.items()
            if may_copy(memory, self.loop, self._lds[memory], self._variant)
        ]

    def problem(self, copies: Mapping[str, int] | None = None, *, barriers: bool = True) -> Problem:
        """The problem where LDS buffers have so many copies (1 for those not named).

        `barriers`: with those that a later pass has to place, as operations `barrier.…` that stand for no op.
        """
        copies = copies or {}
        operations = dict(self.operations)
        dependences = [*self._values(), *global_dependences(self.body), *self._ordered()]
        for memory, listed in self._lds.items():
            dependences += buffer_dependences(listed, self._names[memory], operations, self._several)
        if barriers and self._several and not any(op.name in BARRIERS for _, op in self.body):
            placed = Barriers(self._lds, self._names)
            dependences += placed.dependences(copies, operations)
            for point in [*([placed.empty] if placed.empty else []), *placed.points]:
                operations[point.name] = self.costs.barrier(point.name)
        may = self.copyable()
        buffers = tuple(Buffer(n, size, 0 if n in may else 1) for n, size in self.sizes.items())
        limit = sum(self.sizes.values()) + self.spare_bytes
        made = Problem(
            self.name, tuple(operations.values()), tuple(dict.fromkeys(dependences)), resources(), buffers,
            self._registers(), limit, self._attributes(),
        )  # fmt: skip
        return made

    def _registers(self) -> int:
        """Registers a lane has for the values of the loop: without those it uses only, such as reads in front of it."""
        inside = self.loop.regions[0].blocks[0]
        given: dict[ir.Value, int] = {}
        for _, op in self.body:
            for value in op.operands:
                is_argument = isinstance(value.owner, ir.Block)
                block = value.owner if is_argument else value.owner.operation.block
                if block != inside and (is_argument or value.owner.operation.name != "arith.constant"):
                    given[value] = registers(value.type) if isinstance(value.type, ir.VectorType) else 0
        return max(1, budget(self.info.threads, self.info.target) - sum(given.values()))

    def _attributes(self) -> dict[str, str]:
        """`trips`: how many the loop makes, where that is known."""
        return {} if self.trips is None else {"trips": str(self.trips)}

    @property
    def trips(self) -> int | None:
        """How many trips the loop makes; None where that is known at run time only."""
        return self.info.resolve(Expr(self.loop.attributes["trips"]), bound_names(self.loop)).constant_value

    def _values(self) -> Iterator[Dependence]:
        """Dependences through values, also those carried from trip to trip."""
        tracer = _Tracer(self.loop, {op: name for name, op in self.body})
        for name, op in self.body:
            found: dict[tuple[str, int], None] = {}
            for operand in op.operands:
                found.update(dict.fromkeys(tracer.sources(operand)))
            for source, distance in found:
                latency = self.operations[source].latency
                yield Dependence(source, name, distance, latency, VALUE, "its result")

    def _ordered(self) -> Iterator[Dependence]:
        """Nothing that touches memory or the matrix unit moves across the user's barriers and the like."""
        kinds = [self.operations[name].kind for name, _ in self.body]
        for i, (name, _) in enumerate(self.body):
            if kinds[i] not in ("barrier", "order"):
                continue
            for j, (other, _) in enumerate(self.body):
                if j == i or kinds[j] == "vector":
                    continue
                first, second = (other, name) if j < i else (name, other)
                yield Dependence(first, second, 0, 0, ORDER, "kept in place by the user")
                yield Dependence(second, first, 1, 0, ORDER, "kept in place by the user")


class _Tracer:
    """From a value to the operations of the body that it comes from, through ops without a place and loop results."""

    def __init__(self, loop: ir.Operation, names: Mapping[ir.Operation, str]) -> None:
        block = loop.regions[0].blocks[0]
        self._block = block
        self._names = names
        count = len(loop.results)
        self._first = len(block.arguments) - count
        self._yielded = list(block.operations[len(block.operations) - 1].operands)[-count:] if count else []
        self._known: dict[ir.Value, list[tuple[str, int]]] = {}

    def sources(self, value: ir.Value) -> list[tuple[str, int]]:
        """(operation, trips before) of all operations that the value is made from."""
        if value not in self._known:
            self._known[value] = []  # a value carried on unchanged comes from outside
            self._known[value] = self._find(value)
        return self._known[value]

    def _find(self, value: ir.Value) -> list[tuple[str, int]]:
        if isinstance(value, ir.BlockArgument):
            if value.owner != self._block or value.arg_number < self._first:
                return []
            carried = self.sources(self._yielded[value.arg_number - self._first])
            return [(name, distance + 1) for name, distance in carried]
        op = value.owner.operation
        if op in self._names:
            return [(self._names[op], 0)]
        if op.block != self._block:
            return []
        found: dict[tuple[str, int], None] = {}
        for operand in op.operands:
            found.update(dict.fromkeys(self.sources(operand)))
        return list(found)


def _axis(loop: ir.Operation) -> str:
    return ir.StringAttr(loop.attributes["axis"]).value
