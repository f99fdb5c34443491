"""Two groups of waves a barrier apart: what the passes and the proof say of small loops is what all orders of the waves
say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import pytest
from mlir import ir
from wave_mlir.compiler import driver
from wave_mlir.compiler.barrier_proof import prove_barriers
from wave_mlir.compiler.barrier_states import race, traces_of
from wave_mlir.compiler.diagnostics import PassError
from wave_mlir.compiler.pass_registry import CompileError, run_passes

MEMORY = "!wave.memory<[256], f32, shared>"
Program = tuple[Sequence[str], Sequence[str], Sequence[str]]
"""Before the loop, in its body, behind it: W writes a wave's own part of buffer 0 or 1, R reads all, B is a barrier."""


def some(condition: str) -> str:
    """A barrier of the waves for which the condition holds."""
    return (
        f"wave.conditional [{condition}] attributes {{wave.stagger}} {{\n wave.shared_memory_barrier\n wave.yield\n}}"
    )


OTHERS = {"B": "wave.shared_memory_barrier", "N": "wave.workgroup_barrier", "E": some("wave.x ge 2")}


def kernel(name: str, program: Program, before: str = "wave.x ge 2", behind: str = "wave.x lt 2") -> str:
    """Four waves; those from 2 on are a barrier behind in the loop."""
    count = iter(range(100))

    def lines(items: Sequence[str]) -> str:
        return "\n".join(line(item) for item in items)

    def line(item: str) -> str:
        if item in OTHERS:
            return OTHERS[item]
        if item[0] == "W":
            return f"wave.write %z, %b{item[1]} index [wave.x * 64 + lane] : vector<1xf32>, {MEMORY}"
        return f"%v{next(count)} = wave.read %b{item[1]} index [lane * 4] : {MEMORY} -> vector<4xf32>"

    return f"""
      wave.kernel @{name}(%a: !wave.memory<[256], f32, global>) symbols {{M = 256, K = 256}} constraints [
        #wave.workgroup<M, 256, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {{
        %z = arith.constant dense<0.0> : vector<1xf32>
        %b0 = wave.allocate : {MEMORY}
        %b1 = wave.allocate : {MEMORY}
        {lines(program[0])}
        {some(before)}
        wave.iterate K iv(%i) trips(3) {{
          {lines(program[1])}
          wave.yield
        }}
        {some(behind)}
        {lines(program[2])}
        wave.return
      }}"""


def module(programs: Sequence[Program]) -> str:
    text = "\n".join(kernel(f"p{n}", program) for n, program in enumerate(programs))
    return f'module attributes {{wave.form = "lane", wave.target = "gfx942"}} {{{text}}}'


def bodies(length: int) -> Iterator[Program]:
    """Loop bodies over one buffer, with barriers at all places."""
    for items in product(("W0", "R0", "B"), repeat=length):
        if "W0" in items:
            yield (), items, ()


def around(length: int) -> Iterator[Program]:
    """Accesses before and behind a loop with barriers and accesses."""
    for body in product(("W0", "R0", "W1", "B"), repeat=length):
        for before, behind in product(((), ("W0",), ("W1", "B")), ((), ("R0",), ("B", "W1"))):
            yield before, body, behind


def is_safe(op: ir.OpView) -> bool:
    return all(race(traces) is None for traces in traces_of(op))


def is_proven(op: ir.OpView) -> bool:
    try:
        prove_barriers(op)
    except PassError as error:
        assert "no barrier" in error.message, error.message
        return False
    return True


def is_placed(program: Program) -> bool:
    """Whether wave-place-barriers takes a kernel; what it makes of it is then safe."""
    made = driver.parse(module([program]))
    with made.context:
        try:
            run_passes(made, "wave-place-barriers")
        except CompileError as error:
            assert "it takes two barriers between" in str(error)
            return False
        (op,) = made.body.operations
        assert is_safe(op) and is_proven(op), program
    return True


@pytest.mark.parametrize("programs", [list(bodies(3)), list(around(1))], ids=["bodies", "around"])
def test_proof_is_what_all_orders_say(programs: Sequence[Program]) -> None:
    made = driver.parse(module(programs))
    with made.context:
        for program, op in zip(programs, made.body.operations, strict=True):
            assert is_proven(op) == is_safe(op), program


@pytest.mark.slow
@pytest.mark.parametrize("programs", [list(bodies(6)), list(around(3))], ids=["bodies6", "around3"])
def test_larger_proofs(programs: Sequence[Program]) -> None:
    for start in range(0, len(programs), 200):
        test_proof_is_what_all_orders_say(programs[start : start + 200])


def test_places_what_is_safe() -> None:
    """A loop that two barriers make safe is taken, with barriers before and behind placed; one that races is not."""
    loops = [body for _, body, _ in bodies(3)]
    taken = {body for body in loops if is_placed((("W0",), body, ("R0",)))}
    checked = driver.parse(module([((), body, ()) for body in loops]))
    with checked.context:
        safe = {body for body, op in zip(loops, checked.body.operations, strict=True) if is_safe(op)}
    assert taken == safe and len(taken) > 2


def test_loops_need_the_barriers_of_a_trip() -> None:
    """Two buffers that take turns with two barriers a trip; a buffer that is written and read with four."""
    assert is_placed(((), ("W0", "B", "B", "R0", "B", "B"), ()))
    assert not is_placed(((), ("W0", "B", "R0", "B", "B"), ()))
    assert not is_placed(((), ("W0", "B", "B", "R0", "B"), ()))


@pytest.mark.parametrize(
    ("program", "behind", "text"),
    [
        (((), (), ()), "wave.x eq 0", "groups of waves execute different numbers of barriers in this kernel"),
        (((), ("E",), ()), "wave.x lt 2", "groups of waves execute different numbers of barriers in here"),
        (
            ((), ("N",), ()),
            "wave.x lt 2",
            "wave.workgroup_barrier does not order LDS accesses of waves that are",
        ),
    ],
    ids=["kernel", "loop", "kind"],
)
def test_proof_counts_barriers_of_groups(program: Program, behind: str, text: str) -> None:
    """E: a barrier of some more in each trip; N: one that orders nothing."""
    made = kernel("p0", program, behind=behind)
    parsed = driver.parse(f'module attributes {{wave.form = "lane", wave.target = "gfx942"}} {{{made}}}')
    with parsed.context, pytest.raises(PassError, match=text):
        prove_barriers(parsed.body.operations[0])
