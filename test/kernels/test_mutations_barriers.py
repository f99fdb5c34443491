"""Races, each kind with a kernel and wrong barrier passes: the proof of scheduled form finds them, so do the runners.

What is checked of each kernel: forms, all checks of the simulator, exact results, how many barriers there are.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import gemm_cases
import numpy as np
import pytest
from gemm_cases import GemmCase
from mutations import Mutation, must_find, run, unverified
from wave_mlir.compiler import driver, gpu_barrier, lds_hazards
from wave_mlir.compiler.barrier_proof import prove_barriers
from wave_mlir.compiler.barrier_states import race, traces_of
from wave_mlir.compiler.diagnostics import CompileError, PassError
from wave_mlir.compiler.lds_hazards import Program
from wave_mlir.compiler.loop_slots import Schedule
from wave_mlir.compiler.pass_registry import run_passes
from wave_mlir.passes import pack_shared, pipeline_loops, pipelines, place_barriers, to_gpu

Check = Callable[[], None]
RACE = "no barrier separates|race: "
IN_FLIGHT = "still be in flight|async: "


def _no_way_round(program: Program, producer: object):
    return iter(())


def _dropping(number: int):
    """The points that are chosen, but for one."""

    def wrong(intervals, given, allowed):
        points = stab(intervals, given, allowed)
        return points and [p for i, p in enumerate(points) if i != number or len(points) <= number]

    return wrong


stab, copies_of = place_barriers.stab, pipeline_loops._copies
WAY_ROUND = Mutation("around loops ignored", Program, "_around", _no_way_round, RACE)
DROPPED = [Mutation(f"barrier {n} dropped", place_barriers, "stab", _dropping(n), RACE) for n in (0, 1)]


# --- kernels ---


def gemm(tile: tuple[int, int, int], waves: tuple[int, int], trips: int, barriers: int, text=lambda t: t) -> None:
    """One workgroup; `barriers` is how many the loop has."""
    case = GemmCase("gfx942", "f16", 16, "shared", tile, waves, tile[0], tile[1], trips * tile[2])
    a, b, c = gemm_cases.inputs(case)
    compiled = run(text(gemm_cases.gemm_text(case)), [a, b, c], {2: gemm_cases.expected(a, b, c.dtype)})
    placed = compiled.ir("scheduled").count("wave.shared_memory_barrier")
    assert placed == barriers, f"{placed} barriers"


def b_in_registers(text: str) -> str:
    """B read by each wave from global memory."""
    return re.sub(r"(%b: \S+ \S+ )?(!wave.memory<\[N, K\], f16, )shared", r"\1\2global", text)


def users_barrier(text: str) -> str:
    """And the user's barrier at the end of a trip."""
    return re.sub(r"(\n *)(wave.yield %z)", r"\1wave.shared_memory_barrier\1\2", b_in_registers(text))


LANE = """
module attributes {{wave.form = "lane", wave.target = "{target}"}} {{
  wave.kernel @k(%a: !wave.memory<[1024], f32, global>, %c: !wave.memory<[256], f32, global>)
      symbols {{M = {m}, K = 256, BK = 32}} dynamic []
      constraints [#wave.workgroup<M, {m}, x>, #wave.wave<M, 64>, #wave.tiling<K, BK>,
                   #wave.hardware<threads_per_wave = 64>] {{
    %z = arith.constant dense<0.0> : vector<1xf32>
{body}
    wave.return
  }}
}}"""
OWN, OTHER = "wave.x * 64 + lane", "127 - wave.x * 64 - lane"
L128, V = "!wave.memory<[128], f32, shared>", "vector<1xf32>"
A, C = "!wave.memory<[1024], f32, global>", "!wave.memory<[256], f32, global>"


def lane(body: str, m: int = 128, target: str = "gfx942") -> str:
    return LANE.format(body=body, m=m, target=target)


def shared_bytes() -> None:
    """Two buffers with bytes in common, by the proof and by all orders of the waves."""
    module = driver.parse(
        lane(f"""
    %l = wave.allocate offset 0 : {L128}
    %m = wave.allocate offset 384 : {L128}
    wave.iterate K iv(%k) trips(4) {{
      wave.write %z, %l index [{OWN}] : {V}, {L128}
      wave.write %z, %m index [{OWN}] : {V}, {L128}
      wave.yield
    }}""")
    )
    with module.context:
        run_passes(module, "wave-place-barriers")
        kernel = module.body.operations[0]
        assert str(kernel).count("wave.shared_memory_barrier") == 2
        try:
            prove_barriers(kernel)
        except PassError as error:
            assert any(race(t) for t in traces_of(kernel)), "the orders of the waves do not show it"
            raise AssertionError(str(error)) from None


def packed() -> None:
    """33 and 16 bytes: the second buffer is at a multiple of 16."""
    source, target = "!wave.memory<[33], i8, shared>", "!wave.memory<[16], i8, shared>"
    scheduled = driver.compile_module(
        lane(f"""
    %l = wave.allocate : {source}
    %m = wave.allocate : {target}"""),
        until="scheduled",
    ).ir("scheduled")
    assert re.findall(r"offset (\d+)", scheduled) == ["0", "48"]


def exchange() -> None:
    """Waves exchange values each trip; the order of the instructions, and both runners."""
    text = lane(f"""
    %l = wave.allocate : {L128}
    %sum = wave.iterate K iv(%k) trips(4) iter_args(%s = %z : {V}) {{
      %x = wave.read %a index [iv.K * 128 + {OWN}] symbols(iv.K = %k) : {A} -> {V}
      wave.write %x, %l index [{OWN}] : {V}, {L128}
      %y = wave.read %l index [{OTHER}] : {L128} -> {V}
      %n = arith.addf %y, %s : {V}
      wave.yield %n : {V}
    }}
    wave.write %sum, %c index [{OWN}] : {V}, {C}""")
    a = np.arange(1024, dtype=np.float32)
    want = a[:512].reshape(4, 128)[:, ::-1].sum(0)
    c = np.zeros(256, np.float32)
    compiled = driver.compile_module(text)
    order = re.findall(r"\t(ds_write|ds_read|s_barrier)", compiled.isa)
    assert re.fullmatch(r"(ds_write,s_barrier,ds_read,(s_barrier,)?|s_barrier,ds_write,s_barrier,ds_read,)+",
                        "".join(o + "," for o in order)), f"order of instructions: {order}"  # fmt: skip
    compiled.run_isa(a, c)
    np.testing.assert_array_equal(c[:128], want)
    run(text, [a, np.zeros(256, np.float32)], {1: np.concatenate([want, np.zeros(128, np.float32)])})


def one_wave() -> None:
    """Lanes of one wave exchange values: LLVM must not read before it writes."""
    l64 = "!wave.memory<[65], f32, shared>"
    text = lane(
        f"""
    %l = wave.allocate : {l64}
    wave.write %z, %l index [lane + 1] : {V}, {l64}
    wave.write %z, %l index [0] : {V}, {l64}
    %x = wave.read %a index [lane] : {A} -> {V}
    wave.write %x, %l index [lane] : {V}, {l64}
    %y = wave.read %l index [lane + 1] : {l64} -> {V}
    wave.write %y, %c index [lane] : {V}, {C}""",
        m=64,
    )
    order = re.findall(r"\t(ds_write|ds_read)", driver.compile_module(text).isa)
    assert order[-1:] == ["ds_read"] and order.count("ds_write") == 3, f"order of instructions: {order}"


def direct_copies() -> None:
    """GEMM whose tiles are copied to LDS without registers."""
    case = GemmCase("gfx950", "f16", 16, "shared", (64, 64, 64), (2, 2), 64, 64, 256)
    a, b, c = gemm_cases.inputs(case)
    options = {"options": pipelines.PipelineOptions(global_to_shared=True)}
    made = run(gemm_cases.gemm_text(case), [a, b, c], {2: gemm_cases.expected(a, b, c.dtype)}, options=options)
    assert "wave.gather_to_shared" in made.ir("scheduled")


def rotating(stages: int, copies: int) -> None:
    """Tiles written `stages - 1` ahead of their readers, in LDS buffers that take turns."""

    def slot(stage: int, order: int) -> str:
        return f"{{wave.slot = {{stage = {stage} : i64, order = {order} : i64}}}}"

    text = lane(f"""
    %l = wave.allocate {{wave.copies = {copies} : i64}} : {L128}
    %sum = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : {V})
        attributes {{wave.pipeline = {{stages = {stages} : i64, unroll = 1 : i64}}}} {{
      %x = wave.read %a index [iv.K * 128 + {OWN}] symbols(iv.K = %k) {slot(0, 0)} : {A} -> {V}
      wave.write %x, %l index [{OWN}] {slot(0, 1)} : {V}, {L128}
      %y = wave.read %l index [{OTHER}] {slot(stages - 1, 2)} : {L128} -> {V}
      %n = arith.addf %y, %s : {V}
      wave.yield %n : {V}
    }}
    wave.write %sum, %c index [{OWN}] : {V}, {C}""")
    module = driver.parse(text)
    with module.context:
        run_passes(module, "wave-pipeline-loops")
    a = np.arange(1024, dtype=np.float32)
    want = np.concatenate([a.reshape(8, 128)[:, ::-1].sum(0), np.zeros(128, np.float32)])
    run(str(module), [a, np.zeros(256, np.float32)], {1: want})


def too_few_copies() -> None:
    """Refused, or right."""
    try:
        rotating(3, 2)
    except CompileError as error:
        assert "the buffer has 2 copies" in str(error) or "no barrier" in str(error), error
        if "no barrier" in str(error):
            raise


def reduced_twice() -> None:
    """A reduction over waves in a loop: the same scratch slots each trip."""
    memory, tile, row = "!wave.memory<[T, N], f32, global>", "!wave.tile<[T, N], f32>", "!wave.tile<[T], f32>"
    text = f"""
module attributes {{wave.form = "tile", wave.target = "gfx942"}} {{
  wave.kernel @k(%a: {memory}, %c: !wave.memory<[T], f32, global>) symbols {{T = 3, N = 256}} dynamic []
      constraints [#wave.workgroup<N, 256, x>, #wave.wave<N, 64>, #wave.tiling<T, 1>,
                   #wave.hardware<threads_per_wave = 64, vector_shapes = {{T = 1, N = 64}}>] {{
    wave.iterate T {{
      %x = wave.read %a : {memory} -> {tile}
      %s = wave.reduce sum %x along N block : {tile} -> {row}
      wave.write %s, %c : {row}, !wave.memory<[T], f32, global>
      wave.yield
    }}
    wave.return
  }}
}}"""
    a = np.random.default_rng(1).integers(-9, 9, (3, 256)).astype(np.float32)
    run(text, [a, np.zeros(3, np.float32)], {1: a.sum(1)})


def partly_entered() -> None:
    """Two of four waves exchange values in a conditional: refused, as a barrier there would hang."""
    text = lane(
        f"""
    %l = wave.allocate : {L128}
    wave.conditional [wave.x lt 2] {{
      %x = wave.read %a index [{OWN}] : {A} -> {V}
      wave.write %x, %l index [{OWN}] : {V}, {L128}
      %y = wave.read %l index [{OTHER}] : {L128} -> {V}
      wave.write %y, %c index [{OWN}] : {V}, {C}
      wave.yield
    }}
    wave.shared_memory_barrier""",
        m=256,
    )
    a = np.arange(1024, dtype=np.float32)
    want = np.concatenate([a[:128][::-1], np.zeros(128, np.float32)])
    try:
        run(text, [a, np.zeros(256, np.float32)], {1: want})
    except CompileError as error:
        assert "both are in a conditional that not every wave may enter" in str(error), error


def through_global_memory() -> None:
    """Waves read from global memory what others wrote there."""
    source, target = "!wave.memory<[M, N], f32, global>", "!wave.memory<[N, M], f32, global>"
    tile = "!wave.tile<[M, N], f32>"
    text = f"""
module attributes {{wave.form = "tile", wave.target = "gfx942"}} {{
  wave.kernel @k(%a: {source}, %c: {source}, %d: {target}) symbols {{M = 64, N = 64}} dynamic []
      constraints [#wave.workgroup<M, 64, x>, #wave.workgroup<N, 64, y>, #wave.wave<M, 32>, #wave.wave<N, 32>,
                   #wave.hardware<threads_per_wave = 64, vector_shapes = {{M = 1, N = 32}}>] {{
    %x = wave.read %a : {source} -> {tile}
    wave.write %x, %c : {tile}, {source}
    %y = wave.read %c mapping <[M = i, N = j] -> [63 - i, j]> : {source} -> {tile}
    wave.write %y, %d : {tile}, {target}
    wave.return
  }}
}}"""
    a = np.arange(4096, dtype=np.float32).reshape(64, 64)
    c, d = np.zeros_like(a), np.zeros_like(a)
    made = run(text, [a, c, d], {1: a, 2: a[::-1].T})
    made.run_isa(a, c, d, seed=1)
    np.testing.assert_array_equal(d, a[::-1].T)


# --- the table ---


def _one_group(program: Program):
    """Buffers apart, whatever bytes they share."""
    users: dict = {}
    for node in program.nodes:
        for touch in node.touches:
            users.setdefault(touch.memory, []).append((node, touch))
    return list(users.values())


def _bare(function, op, waits):
    gpu_barrier.rocdl.SBarrierOp()


def _wrong_lowering(name: str, lowering) -> dict:
    return {**to_gpu._LOWERINGS, name: lowering}


def _one_copy_less(buffer, schedules):
    made = copies_of(buffer, schedules)
    made[-1].owner.erase()
    return [*made[:-1], made[0]]


def _gone(function, op):
    op.erase()


ONE_LDS_READ = partial(gemm, (64, 16, 16), (4, 1), 8, 2)
UNPIPELINED = partial(gemm, (64, 64, 32), (2, 2), 4, 2)
ONE_OPERAND = partial(gemm, (64, 64, 32), (2, 2), 4, 2, b_in_registers)
USERS = partial(gemm, (64, 64, 32), (2, 2), 4, 2, users_barrier)

FAULTS: dict[str, tuple[Check, list[Mutation]]] = {
    "1": (ONE_LDS_READ, [WAY_ROUND]),
    "2": (UNPIPELINED, [WAY_ROUND, *DROPPED]),
    "3": (ONE_OPERAND, [WAY_ROUND, *DROPPED]),
    "3-given": (USERS, [
        *DROPPED[:1],
        Mutation("the user's barriers ignored", place_barriers._Placer, "_serves", lambda *_: False, "3 barriers"),
    ]),
    "4-bytes": (shared_bytes, [
        Mutation("hazards by buffer", Program, "_groups", _one_group, "assert 0 == 2"),
        Mutation("around loops ignored", Program, "_around", _no_way_round, "assert 1 == 2"),
    ]),
    "4-places": (packed, [Mutation("not aligned", pack_shared, "aligned", lambda offset: offset, "offset 33")]),
    "5": (exchange, [
        Mutation("barrier without a wait", gpu_barrier, "_barrier", _bare, "race|order of instructions"),
        Mutation("barrier deleted", to_gpu, "_LOWERINGS", _wrong_lowering("wave.shared_memory_barrier", _gone),
                 "order of instructions"),
    ]),
    "5-wave": (one_wave, [
        Mutation("fence deleted", to_gpu, "_LOWERINGS", _wrong_lowering("wave.wave_fence", _gone),
                 "order of instructions"),
    ]),
    "6": (direct_copies, [
        Mutation("no barrier waits", place_barriers._Placer, "_wait", lambda *_: None, IN_FLIGHT),
        Mutation("waits for all but all", gpu_barrier, "waitcnt", lambda vm=63, lgkm=15: 0xFF7F, "async|race"),
    ]),
    "7": (partial(rotating, 3, 3), [
        Mutation("one copy too few", pipeline_loops, "_copies", _one_copy_less, "not equal|uninitialised|race"),
    ]),
    "7-few": (too_few_copies, [
        Mutation("schedules are not verified", Schedule, "_check", lambda *_: None, "not equal|uninitialised"),
    ]),
    "8": (reduced_twice, [WAY_ROUND]),
    "global": (through_global_memory, [
        Mutation("for LDS alone", place_barriers._Placer, "_order_global", lambda *_: None, "no barrier orders|race: "),
        Mutation("global memory ignored", lds_hazards, "global_touches", lambda _: (), "no barrier orders|race: "),
    ]),
    "9": (partly_entered, [
        Mutation("barriers anywhere", Program, "may_place", lambda *_: True, "deadlock"),
    ]),
}  # fmt: skip
CASES = [pytest.param(*entry[:1], m, id=f"{n}-{m}") for n, entry in FAULTS.items() for m in entry[1]]


@pytest.mark.parametrize("check", [pytest.param(entry[0], id=n) for n, entry in FAULTS.items()])
def test_right(check: Check) -> None:
    check()


@pytest.mark.parametrize(("check", "mutation"), CASES)
def test_wrong_passes_are_found(check: Check, mutation: Mutation) -> None:
    must_find(check, mutation)


@pytest.mark.parametrize(("check", "mutation"), [c for c in CASES if re.search("race: |async: ", c.values[1].found)])
def test_the_simulator_finds_them_too(check: Check, mutation: Mutation) -> None:
    with unverified():
        must_find(check, mutation)
