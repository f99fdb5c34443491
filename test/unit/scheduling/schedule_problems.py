"""Problems for tests: random small ones, GEMM-like loops, and the shortest interval by trying everything."""

from __future__ import annotations

import itertools

from hypothesis import strategies as st
from wave_mlir.scheduling import (
    READ_AFTER_WRITE,
    VALUE,
    WRITE_AFTER_READ,
    Buffer,
    Dependence,
    Operation,
    Problem,
    Resource,
    Use,
)


@st.composite
def small_problems(draw: st.DrawFn, most: int = 5, longest: int = 4) -> Problem:
    """Problems of a few operations: two resources, of one and of two units; dependences of all distances."""
    count = draw(st.integers(1, most))
    operations = []
    for i in range(count):
        uses = [Use("one", draw(st.integers(1, 2)), start=draw(st.integers(0, 1)))] if draw(st.booleans()) else []
        if draw(st.booleans()):
            uses.append(Use("two", 1, draw(st.integers(1, 2))))
        operations.append(Operation(f"op{i}", "x", draw(st.integers(0, longest)), tuple(uses)))
    pairs = [(i, j) for i in range(count) for j in range(count)]
    chosen = draw(st.lists(st.sampled_from(pairs), max_size=2 * count))
    dependences = []
    for i, j in chosen:
        distance = draw(st.integers(0 if i < j else 1, 2))
        dependences.append(Dependence(f"op{i}", f"op{j}", distance, draw(st.integers(0, longest)), VALUE, "random"))
    return Problem("random", tuple(operations), tuple(dependences), (Resource("one"), Resource("two", 2)))


def shortest_interval(problem: Problem, limit: int) -> int | None:
    """The least interval up to `limit` for which places modulo the interval exist, all of them tried."""
    names = [o.name for o in problem.operations]
    for interval in range(1, limit + 1):
        for places in itertools.product(range(interval), repeat=len(names)):
            at = dict(zip(names, places, strict=True))
            if _fits(problem, interval, at) and _stages_exist(problem, interval, at):
                return interval
    return None


def _fits(problem: Problem, interval: int, at: dict[str, int]) -> bool:
    for resource in problem.resources:
        busy = [0] * interval
        for operation in problem.operations:
            for use in operation.uses:
                if use.resource == resource.name:
                    for t in range(use.clocks):
                        busy[(at[operation.name] + use.start + t) % interval] += use.amount
        if max(busy) > resource.capacity:
            return False
    return True


def _stages_exist(problem: Problem, interval: int, at: dict[str, int]) -> bool:
    """Whether stages exist that keep the dependences: no circle of them asks for more trips than it has."""
    edges = [
        (d.source, d.target, -(-(d.latency - interval * d.distance - at[d.target] + at[d.source]) // interval))
        for d in problem.dependences
    ]
    far = dict.fromkeys(at, 0)
    for _ in range(len(at) + 1):
        changed = False
        for source, target, way in edges:
            if far[source] + way > far[target]:
                far[target] = far[source] + way
                changed = True
        if not changed:
            return True
    return False


def gemm(rows: int, columns: int, depth: int, loads: int, *, halves: int = 2) -> Problem:
    """The loop of a GEMM through LDS, with rows x columns accumulators and `depth` fragments along K.

    Clocks as on a CDNA3 SIMD: an MMA 16, an LDS access 32 with its share of the other SIMDs, 4 to issue anything.
    """
    issue = Use("issue", 4)
    operations: list[Operation] = []
    dependences: list[Dependence] = []
    writes: dict[str, list[str]] = {"a": [], "b": []}
    for i in range(loads):
        buffer = "ab"[2 * i // loads]
        operations.append(Operation(f"load.{i}", "global_load", 1000, (issue, Use("memory", 64)), 4))
        operations.append(Operation(f"write.{i}", "lds_write", 64, (issue, Use("lds", 32))))
        dependences.append(Dependence(f"load.{i}", f"write.{i}", 0, 1000, reason=buffer))
        writes[buffer].append(f"write.{i}")
    for buffer, count in (("a", rows), ("b", columns)):
        for t, k in itertools.product(range(count), range(depth)):
            name = f"read.{buffer}{t}.{k}"
            operations.append(Operation(name, "lds_read", 128, (issue, Use("lds", 32)), 4))
            for write in writes[buffer]:
                dependences.append(Dependence(write, name, 0, 64, READ_AFTER_WRITE, "tile", buffer))
                dependences.append(Dependence(name, write, 1, 0, WRITE_AFTER_READ, "tile", buffer))
    for m, n in itertools.product(range(rows), range(columns)):
        chain = [f"mma.{m}.{n}.{k}.{h}" for k in range(depth) for h in range(halves)]
        for name in chain:
            k = name.split(".")[3]
            operations.append(Operation(name, "mma", 32, (issue, Use("matrix", 16)), 4))
            dependences += [Dependence(f"read.{r}.{k}", name, 0, 128) for r in (f"a{m}", f"b{n}")]
        dependences += [Dependence(u, v, 0, 32) for u, v in itertools.pairwise(chain)]
        dependences.append(Dependence(chain[-1], chain[0], 1, 32))
    resources = tuple(map(Resource, ("issue", "memory", "lds", "matrix")))
    return Problem("gemm", tuple(operations), tuple(dependences), resources, (Buffer("a", 16384), Buffer("b", 16384)))
