"""All small programs over two LDS buffers: placed barriers leave no race, and no fewer would do.

Races are found by trying every order of two waves (`barrier_states`), fewest by trying every placement.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations, product

import barrier_programs
import pytest
from barrier_programs import Program
from mlir import ir
from wave_mlir.compiler import driver
from wave_mlir.compiler.barrier_proof import prove_barriers
from wave_mlir.compiler.barrier_states import check_orders, race, traces_of
from wave_mlir.compiler.diagnostics import PassError
from wave_mlir.compiler.pass_registry import run_passes

READ_WRITE = [kind + buffer for buffer in "01" for kind in "WR"]
ALL = [kind + buffer for buffer in "01" for kind in "WXRO"]


def first_buffer_first(items: Sequence[str]) -> bool:
    """Of two programs that differ in the names of the buffers alone one is enough."""
    return next((i[1] for i in items if i != "B"), "0") == "0"


def with_barrier(items: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """As it is, and with the user's barrier at each place."""
    yield tuple(items)
    for n in range(len(items) + 1):
        yield (*items[:n], "B", *items[n:])


def loops(alphabet: Sequence[str], length: int) -> Iterator[Program]:
    """Loop bodies of a length."""
    for items in product(alphabet, repeat=length):
        if first_buffer_first(items):
            yield (("loop", 3, items),)


def given(length: int) -> Iterator[Program]:
    """Loop bodies with a barrier of the user's."""
    for items in product(READ_WRITE, repeat=length):
        if first_buffer_first(items):
            yield from ((("loop", 3, body),) for body in with_barrier(items))


def straight(length: int) -> Iterator[Program]:
    """Without a loop, with and without a barrier."""
    for items in product(ALL, repeat=length):
        if first_buffer_first(items):
            yield from with_barrier(items)


def nested(length: int, trips: tuple[int, int] = (2, 2)) -> Iterator[Program]:
    """A loop in a loop, with accesses before, in and after it."""
    outer, inner = trips
    for items in product(READ_WRITE, repeat=length):
        if not first_buffer_first(items):
            continue
        for start in range(length):
            for end in range(start + 1, length + 1):
                middle = ("loop", inner, items[start:end])
                yield (("loop", outer, (*items[:start], middle, *items[end:])),)


@cache
def races(traces: tuple) -> bool:
    return race(traces) is not None


def is_safe(program: Program, barriers: frozenset[int], trips: int) -> bool:
    return not races(barrier_programs.traces(program, barriers, trips))


def check(programs: Sequence[Program]) -> None:
    module = driver.parse(barrier_programs.module(programs))
    with module.context:
        run_passes(module, "wave-place-barriers")
        for program, kernel in zip(programs, module.body.operations, strict=True):
            barriers = frozenset(barrier_programs.read_back(kernel, program))
            assert is_safe(program, barriers, 3), (program, barriers)
            prove_barriers(kernel)
            if barriers:
                fewer = combinations(range(barrier_programs.points(program)), len(barriers) - 1)
                better = next((f for f in fewer if is_safe(program, frozenset(f), 2)), None)
                assert better is None or not is_safe(program, frozenset(better), 3), (program, barriers, better)


@pytest.mark.parametrize(
    "programs",
    [[p for n in (1, 2) for p in loops(ALL, n)], list(given(3)), list(straight(2)), list(nested(2)), list(nested(3))],
    ids=["loops", "given", "straight", "nested2", "nested3"],
)
def test_small(programs: Sequence[Program]) -> None:
    check(programs)


@pytest.mark.slow
@pytest.mark.parametrize(
    "programs",
    [list(loops(ALL, 3)), list(loops(READ_WRITE, 5)), list(given(4)), list(straight(3)), list(nested(3, (3, 1)))],
    ids=["loops3", "loops5", "given4", "straight3", "inner_once"],
)
def test_larger(programs: Sequence[Program]) -> None:
    check(programs)


def test_proofs_agree() -> None:
    """Every placement of up to two barriers: the proof by data flow and all orders of the waves say the same."""
    programs = [(("loop", 2, items),) for items in (("W0", "R0"), ("W0", "R0", "W1"), ("R0", "W0"), ("X0", "W0", "O0"))]
    programs.append((("loop", 2, ("W0", ("loop", 2, ("W1", "R1")), "R0")),))
    for program in programs:
        chosen = [b for size in range(3) for b in combinations(range(barrier_programs.points(program)), size)]
        module = driver.parse(barrier_programs.module([_with(program, set(b)) for b in chosen]))
        with module.context:
            for barriers, kernel in zip(chosen, module.body.operations, strict=True):
                safe = is_safe(program, frozenset(barriers), 3)
                assert all((race(traces) is None) == safe for traces in traces_of(kernel)), (program, barriers)
                assert _is_proven(kernel) == safe, (program, barriers)


def test_small_kernels_are_tried() -> None:
    """What the verifier does: all orders of a small kernel; nothing of one that is not small."""
    programs = [(("loop", 3, ("W0", "B", "R0")),), (("loop", 3, ("W0", "B", "R0", "B")),), ("W0", "B", "R0") * 20]
    module = driver.parse(barrier_programs.module(programs))
    with module.context:
        racing, safe, large = module.body.operations
        with pytest.raises(PassError, match="waves can run in an order in which this access to LDS meets another one"):
            check_orders(racing)
        assert check_orders(safe) and not check_orders(large)


def _is_proven(kernel: ir.OpView) -> bool:
    try:
        prove_barriers(kernel)
    except PassError as error:
        return "no barrier" not in str(error)
    return True


def _with(program: Program, barriers: set[int], first: int = 0) -> Program:
    found: list = []
    point = first
    for item in program:
        found += ["B"] * (point in barriers)
        if isinstance(item, tuple):
            found.append((*item[:2], _with(item[2], barriers, point + 1)))
            point += barrier_programs.points(item[2])
        else:
            found.append(item)
        point += 1
    return tuple(found + ["B"] * (point in barriers))
