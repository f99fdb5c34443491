"""Counted waits against a walk of the paths: random programs of copies, reads, barriers, loops and branches."""

from __future__ import annotations

import random
from collections.abc import Iterator

from mlir import ir
from wave_mlir.compiler.barrier_proof import prove_barriers
from wave_mlir.compiler.gpu_barrier import OUTSTANDING
from wave_mlir.compiler.pass_registry import run_passes

HEAD = """
module attributes {wave.form = "lane", wave.target = "gfx950"} {
  wave.kernel @k(%a: !wave.memory<[M], f32, global>, %c: i1) symbols {M = 64, K = 64} constraints
      [#wave.tiling<K, 16>, #wave.hardware<threads_per_wave = 64, waves_per_block = [2, 1, 1]>] {
"""
MEMORY = "!wave.memory<[128], f32, shared>"


def _statements(rng: random.Random, depth: int, kinds: tuple[str, ...]) -> list[str]:
    lines: list[str] = []
    for _ in range(rng.randint(1, 5)):
        kind = rng.choice(kinds if depth else kinds[:4])
        buffer = rng.randrange(3)
        if kind == "copy":
            lines.append(
                f"wave.gather_to_shared %a [lane] to %l{buffer} [wave.x * 64] elements 1 : "
                f"!wave.memory<[M], f32, global>, {MEMORY}"
            )
        elif kind == "read":
            lines.append(f"wave.read %l{buffer} index [127 - lane] : {MEMORY} -> vector<1xf32>")
        elif kind == "own":
            lines.append(f"wave.read %l{buffer} index [wave.x * 64 + 63 - lane] : {MEMORY} -> vector<1xf32>")
        elif kind == "write":
            lines.append(f"wave.write %v, %l{buffer} index [127 - lane] : vector<1xf32>, {MEMORY}")
        elif kind == "counter":
            lines.append(f"wave.memory_counter_wait load {rng.randrange(3)}")
        elif kind == "loop":
            lines += [f"wave.iterate K iv(%k{depth}) trips(4) {{", *_statements(rng, depth - 1, kinds)]
            lines += ["wave.yield", "}"]
        else:
            lines += ["wave.conditional %c : i1 {", *_statements(rng, depth - 1, kinds), "}"]
    return lines


def _program(seed: int, own: bool = False) -> str:
    """own: each wave reads what it copied alone."""
    rng = random.Random(seed)
    kinds = ("copy", "copy", "own", "counter") if own else ("copy", "copy", "read", "write", "counter")
    body = _statements(rng, 2, (*kinds, "loop", "branch"))
    buffers = [f"%l{i} = wave.allocate : {MEMORY}" for i in range(3)]
    value = "%v = arith.constant dense<0.0> : vector<1xf32>"
    return HEAD + "\n".join([*buffers, value, *body, "wave.return", "}", "}"])


def _paths(block: ir.Block) -> Iterator[list[ir.Operation]]:
    """Ways through a block: loops of one or two trips, conditionals taken or not."""
    ways: list[list[ir.Operation]] = [[]]
    for view in block.operations:
        op = view.operation
        if op.name == "wave.iterate":
            inner = list(_paths(op.regions[0].blocks[0]))[:4]
            trips = [*inner, *([*a, *b] for a in inner for b in inner)]
        elif op.name == "wave.conditional":
            trips = [[], *_paths(op.regions[0].blocks[0])]
        else:
            trips = [[op]]
        ways = [[*way, *trip] for way in ways for trip in trips][:400]
    return iter(ways)


def _left(op: ir.Operation) -> int:
    return ir.IntegerAttr(op.attributes[OUTSTANDING]).value if OUTSTANDING in op.attributes else 0


def _check(path: list[ir.Operation]) -> int:
    """Walk a path of one wave; the number of accesses of copied buffers. A copy is there after a wait and a barrier."""
    flying: list[tuple[ir.Value, bool]] = []  # buffer; whether the wave knows that it is complete
    checked = 0
    for op in path:
        barrier = op.name == "wave.shared_memory_barrier"
        if op.name == "wave.gather_to_shared":
            flying.append((op.opview.target, False))
        elif op.name == "wave.memory_counter_wait":
            done = len(flying) - op.attributes["load"].value
            flying = [(b, known or i < done) for i, (b, known) in enumerate(flying)]
        elif barrier:
            if "wait_async" in op.attributes:
                done = len(flying) - _left(op)
                flying = [(b, known or i < done) for i, (b, known) in enumerate(flying)]
            flying = [entry for entry in flying if not entry[1]]
        elif op.name in ("wave.read", "wave.write"):
            checked += 1
            own = "wave.x" in str(op.attributes["index"])
            assert all(buffer != op.opview.memory or (own and known) for buffer, known in flying), op
    return checked


def test_random_programs() -> None:
    """No access finds a copy of its buffer in flight, on any path; and waits are counted."""
    accesses = counted = 0
    for seed in range(90):
        with ir.Context(), ir.Location.unknown():
            module = ir.Module.parse(_program(seed))
            run_passes(module, "wave-place-barriers,wave-count-waits")
            counted += str(module).count(OUTSTANDING)
            for path in _paths(module.body.operations[0].operation.regions[0].blocks[0]):
                accesses += _check(path)
    assert accesses > 3000 and counted > 1


def test_random_programs_of_own_copies() -> None:
    """Waves that read their own copies alone, with waits of the user's: no barrier, and the proof accepts all."""
    accesses = given = 0
    for seed in range(40):
        with ir.Context(), ir.Location.unknown():
            module = ir.Module.parse(_program(seed, own=True))
            before = str(module).count(" load 0")
            run_passes(module, "wave-place-barriers")
            text = str(module)
            given += before > 0 and text.count(" load 0") == before and "wave_fence" in text
            assert "barrier" not in text
            kernel = module.body.operations[0]
            prove_barriers(kernel)
            for path in _paths(kernel.operation.regions[0].blocks[0]):
                accesses += _check(path)
    assert accesses > 400 and given > 1
