"""Two accounts of dependences through memory are one: of problems, and of the verifier of annotated loops."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from mlir import ir
from wave_mlir.compiler import driver
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.loop_problem import LoopProblem
from wave_mlir.compiler.loop_schedule import SOLVERS, STAGGERED, annotate, loops, solve
from wave_mlir.compiler.loop_slots import PIPELINE, SLOT, Schedule
from wave_mlir.compiler.pass_registry import run_passes
from wave_mlir.compiler.tile_ir import body_of, kernels

HEAD = """
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[512], f32, global>, %b: !wave.memory<[512], f32, global>,
                 %h: !wave.memory<[512], f32, shared>) symbols {K = 512, BK = 64} dynamic []
      constraints [#wave.tiling<K, BK>, #wave.workgroup<K, 64, 0>, #wave.wave<K, 64>,
                   #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant dense<0.0> : vector<1xf32>
    %l = wave.allocate : !wave.memory<[512], f32, shared>
    %m = wave.allocate : !wave.memory<[512], f32, shared>
    wave.iterate K iv(%k) trips(8) {
"""
TAIL = "    }\n    wave.return\n  }\n}\n"
MEMORIES = {"a": "global", "b": "global", "h": "shared", "l": "shared", "m": "shared"}


def access(kind: str, memory: str, number: int, tile: int | None = None) -> str:
    """One access in text: "read", "volatile", "write" or "atomic"; `tile` numbers the tile op that it is a copy of."""
    marks = "" if tile is None else f" {{wave.provenance = {{op = {tile} : i64}}}}"
    of = f"index [iv.K * 64 + lane] symbols(iv.K = %k){' volatile' if kind == 'volatile' else ''}{marks}"
    type_ = f"!wave.memory<[512], f32, {MEMORIES[memory]}>"
    if kind in ("read", "volatile"):
        return f"      %x{number} = wave.read %{memory} {of} : {type_} -> vector<1xf32>\n"
    return f"      wave.write %z, %{memory} {of} : vector<1xf32>, {type_}\n"


def text(*accesses: tuple[str, str, int | None]) -> str:
    return HEAD + "".join(access(kind, memory, n, tile) for n, (kind, memory, tile) in enumerate(accesses)) + TAIL


def randomly(seed: int) -> str:
    rng = random.Random(seed)
    kinds = ("read", "volatile", "write")
    return text(*((rng.choice(kinds), rng.choice("ablmh"), rng.choice((None, 1, 2))) for _ in range(7)))


CASES = {
    "volatile reads": text(("volatile", "a", None), ("volatile", "b", None), ("read", "a", None)),
    "volatile reads of LDS": text(("volatile", "l", None), ("volatile", "l", None), ("read", "l", None)),
    "copies of one store": text(("write", "a", 1), ("write", "a", 1), ("write", "l", 2), ("write", "l", 2)),
    "an argument in LDS": text(("read", "h", None), ("write", "h", None), ("write", "a", None)),
    **{f"random {seed}": randomly(seed) for seed in range(24)},
}


def loop_of(source: str) -> Iterator[LoopProblem]:
    module = driver.parse(source)
    with module.context, ir.Location.unknown():
        (kernel,) = kernels(module)
        (loop,) = loops(body_of(kernel))
        yield LoopProblem(KernelInfo.of(kernel), loop)


@pytest.mark.parametrize("name", CASES)
def test_same_dependences(name: str) -> None:
    for loop in loop_of(CASES[name]):
        wanted = {(d.source, d.target, d.distance) for d in loop.problem(barriers=False).dependences}
        i64 = ir.IntegerType.get_signless(64)
        one, zero = ir.IntegerAttr.get(i64, 1), ir.IntegerAttr.get(i64, 0)
        loop.loop.attributes[PIPELINE] = ir.DictAttr.get({"stages": one, "unroll": one})
        for order, (_, op) in enumerate(loop.body):
            op.attributes[SLOT] = ir.DictAttr.get({"stage": zero, "order": ir.IntegerAttr.get(i64, order)})
        names = {op: n for n, op in loop.body}
        found = {(names[d.earlier], names[d.later], d.distance) for d in Schedule.of(loop.loop).dependences()}
        assert found == wanted


@pytest.mark.parametrize("strategy", [s for s in SOLVERS if s != STAGGERED])  # which is for 8 waves
@pytest.mark.parametrize("name", list(CASES)[:10])
def test_the_compiler_takes_its_own_schedules(name: str, strategy: str) -> None:
    for loop in loop_of(CASES[name]):
        annotate(loop, solve(loop, strategy, {}))
        run_passes(loop.info.kernel.operation.parent.opview, "wave-pipeline-loops")
