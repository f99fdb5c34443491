"""GEMMs scheduled by hand in Python: exact in the simulator and as machine code, in the order that was asked for; what
is wrong with a schedule is an error at the user's line."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable

import numpy as np
import pytest
import wave_mlir.compat  # noqa: F401
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.compiler import driver
from wave_mlir.compiler.directives import dumped
from wave_mlir.compiler.pass_registry import run_passes
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE, SHARED_ADDRESS_SPACE
from wave_mlir.wave.compile import CompiledKernel, WaveCompileOptions, wave_compile
from wave_mlir.wave.manual import PipelinedLoop, WaveSchedule
from wave_mlir.wave.scheduling import SchedulingType

M, N, K = tkl.sym.M, tkl.sym.N, tkl.sym.K
BM, BN, BK, SPACE = tkl.sym.BLOCK_M, tkl.sym.BLOCK_N, tkl.sym.BLOCK_K, tkl.sym.ADDRESS_SPACE
CONSTRAINTS = [
    tkw.WorkgroupConstraint(M, BM, 0),
    tkw.WorkgroupConstraint(N, BN, 1),
    tkw.TilingConstraint(K, BK),
    tkw.WaveConstraint(M, BM / 2),
    tkw.WaveConstraint(N, BN / 2),
    tkw.HardwareConstraint(threads_per_wave=64, mma_type=tkw.MMAType.F32_16x16x16_F16),
]


@tkw.wave(CONSTRAINTS)
def gemm(
    a: tkl.Memory[M, K, SPACE, tkl.f16],
    b: tkl.Memory[N, K, SPACE, tkl.f16],
    c: tkl.Memory[M, N, GLOBAL_ADDRESS_SPACE, tkl.f32],
):
    zero = tkl.Register[M, N, tkl.f32](0.0)

    @tkw.iterate(K, init_args=[zero], tag="k_loop")
    def loop(acc: tkl.Register[M, N, tkl.f32]) -> tkl.Register[M, N, tkl.f32]:
        return tkw.mma(tkw.read(a, tag="read_a"), tkw.read(b, tag="read_b"), acc, tag="mma")

    tkw.write(loop, c)


class Ops:
    """The ops of the kernel's loop."""

    def __init__(self) -> None:
        self.loop = tkw.get_node_by_tag("k_loop")
        self.mma = tkw.get_node_by_tag("mma")
        reads = [tkw.get_node_by_tag_and_type(tag, tkw.Read) for tag in ("read_a", "read_b")]
        parts = [tkw.partition_by_address_space(r, GLOBAL_ADDRESS_SPACE) for r in reads]
        self.loads, self.reads = [p[0] for p in parts], [p[1] for p in parts]
        self.writes = [tkw.get_node_by_tag_and_type(tag, tkw.Write) for tag in ("read_a", "read_b")]

    def pipeline(self) -> PipelinedLoop:
        """Loads and LDS writes a trip ahead of LDS reads and MMAs."""
        pipelined = tkw.pipeline(self.loop)
        with pipelined as stages:
            stages.set_stage([self.loads, self.writes])
            stages.set_stage([self.reads, (self.mma,)])
        return pipelined


def made(
    schedule: WaveSchedule, k: int | None = 320, kind: SchedulingType = SchedulingType.MANUAL, **options: object
) -> CompiledKernel:
    subs = {BM: 64, BN: 64, BK: 64, SPACE: SHARED_ADDRESS_SPACE, M: 64, N: 64, **({} if k is None else {K: k})}
    options = {"target": "gfx942", **({"dynamic_symbols": [K]} if k is None else {}), **options}
    given = WaveCompileOptions(subs=subs, schedule=kind, cache=False, **options)
    return wave_compile(given, gemm, schedule)


def check_exact(kernel: CompiledKernel, k: int = 320) -> None:
    rng = np.random.default_rng(k)
    a, b = (rng.integers(-3, 4, (64, k)).astype(np.float16) for _ in range(2))
    want = a.astype(np.float32) @ b.astype(np.float32).T
    for run in (kernel, kernel.run_isa):
        c = np.full((64, 64), np.nan, np.float32)
        run(a, b, c)
        np.testing.assert_array_equal(c, want)


def steady(kernel: CompiledKernel) -> str:
    """The ops of the steady loop that matter, one letter each: Load, Write, Read, Mma, Barrier, Priority."""
    text = kernel.ir("scheduled")
    body = text[text.index("wave.steady") :]
    letters = {"buffer_load": "L", "write": "W", "read": "R", "mma": "M"}
    letters |= {"set_wave_prio": "P", "workgroup_barrier": "B"}
    return "".join(
        letters.get(n, "")
        for n in re.findall(r"^ *(?:%\w+ = )?wave\.(\w+)", body[: body.index("wave.yield")], re.MULTILINE)
    )


@tkw.wave_schedule()
def two_stages() -> None:
    Ops().pipeline()


@tkw.wave_schedule
def clusters() -> None:
    ops = Ops()
    pipelined = ops.pipeline()
    mma = tkw.filter_nodes(ops.mma, subgraph=pipelined.KERNEL, node_type=tkw.MMA)
    first, second = tkw.partition_by_dim(mma, dim=K, num_partitions=2)
    halves = [tkw.partition_by_dim(r, dim=K, num_partitions=2) for r in ops.reads]
    order = [
        tkw.cluster([[h[0] for h in halves], tkw.SchedulingBarrier([]), ops.loads[0], [h[1] for h in halves]]),
        tkw.cluster([ops.loads[1], tkw.WorkgroupBarrier(), tkw.SetWavePrio(1), first, tkw.SetWavePrio(0)]),
        tkw.cluster([tkw.SharedMemoryBarrier(), *ops.writes, tkw.MemoryCounterWait(ds=0), tkw.WorkgroupBarrier()]),
        tkw.cluster([tkw.SetWavePrio(1), second]),
    ]
    tkw.insert_before(pipelined.KERNEL, tkw.SharedMemoryBarrier())
    tkw.insert_at_end(pipelined.KERNEL, tkw.SetWavePrio(0))
    tkw.insert_at_start(pipelined.KERNEL, tkw.SchedulingBarrier([]))
    tkw.reorder_graph(pipelined.KERNEL, order)


@tkw.wave_schedule()
def interleaved() -> None:
    ops = Ops()
    pipelined = ops.pipeline()
    mixed = tkw.interleave_operations([ops.mma], [ops.loads], intervals=2, start_offsets=1)
    tkw.reorder_graph(pipelined.KERNEL, [tkw.cluster(ops.reads), tkw.cluster(mixed), tkw.cluster(ops.writes)])
    tkw.insert_before(ops.mma, tkw.SetWavePrio(2))
    tkw.insert_after(ops.mma, tkw.SetWavePrio(0))
    tkw.unroll(ops.loop, 2)


@tkw.wave_schedule()
def one_stage() -> None:
    """Trips apart: only an order."""
    ops = Ops()
    tkw.reorder_graph(ops.loop, [[*reversed(ops.loads)], ops.writes, [*reversed(ops.reads)], [ops.mma]])
    tkw.insert_before(ops.loop, tkw.SetWavePrio(0))


ORDERS = {
    "two_stages": "R" * 8 + "L" * 4 + "M" * 16 + "W" * 4,
    "clusters": "RRRRLLRRRRLLBP" + "M" * 8 + "PWWWWBP" + "M" * 8 + "P",
    "one_stage": "LLLLWWWWRRRRRRRR" + "M" * 16,
    "interleaved": ("R" * 8 + "PMMMLMMLMMLMMLMMMMMMMPWWWW") * 2,
}


@pytest.mark.parametrize("schedule", [two_stages, clusters, interleaved, one_stage], ids=lambda s: s.name)
def test_exact_and_in_order(schedule: WaveSchedule) -> None:
    kernel = made(schedule)
    assert steady(kernel) == ORDERS[schedule.name]
    assert "wave.first" not in kernel.ir("scheduled")
    check_exact(kernel)


@pytest.mark.parametrize("k", [64, 200])
def test_trips(k: int) -> None:
    """Too few trips for a steady loop, and a last one that is not whole."""
    kernel = made(clusters, k)
    assert "wave.first" not in kernel.ir("scheduled")
    check_exact(kernel, k)


def test_trips_at_run_time() -> None:
    kernel = made(clusters, None)
    for k in (64, 128, 192, 200, 320):
        check_exact(kernel, k)


def test_copies_without_registers() -> None:
    @tkw.wave_schedule()
    def direct() -> None:
        ops = Ops()
        copies = [tkw.get_node_by_tag_and_type(tag, tkw.GatherToLDS) for tag in ("read_a", "read_b")]
        with tkw.pipeline(ops.loop) as stages:
            stages.set_stage([(), copies])
            stages.set_stage([ops.reads, [ops.mma]])

    kernel = made(direct, target="gfx950", use_global_to_shared=True)
    assert "wave.steady" in kernel.ir("scheduled") and "wave.gather_to_shared" in kernel.ir("scheduled")
    check_exact(kernel)


def test_copies() -> None:
    kernel = made(two_stages, multi_buffer_count=2)
    assert kernel.ir("scheduled").count("wave.allocate") == 4
    check_exact(kernel)


def test_copies_that_the_places_need() -> None:
    """Tiles are written before those of the trip before are read: two copies, unless one is asked for."""
    schedule = tkw.wave_schedule()(lambda: writes_before_reads(Ops()))
    kernel = made(schedule)
    assert kernel.ir("scheduled").count("wave.allocate") == 4
    check_exact(kernel)
    text = (
        r"test_manual_schedule\.py:\d+:\d+: error: .* before one 1 tile earlier that it depends on [^$]*same LDS 1 tile"
    )
    with pytest.raises(tkw.CompileError, match=text):
        made(schedule, multi_buffer_count=1)


def test_tags_that_became_nothing() -> None:
    """A schedule of several kernels asks which tags there are; what is a constant, or is done before the loop, has
    no place in it."""

    @tkw.wave(CONSTRAINTS)
    def scaled(
        a: tkl.Memory[M, K, SPACE, tkl.f16],
        b: tkl.Memory[N, K, SPACE, tkl.f16],
        bias: tkl.Memory[N, GLOBAL_ADDRESS_SPACE, tkl.f32],
        c: tkl.Memory[M, N, GLOBAL_ADDRESS_SPACE, tkl.f32],
    ):
        zero = tkl.Register[M, N, tkl.f32](0.0)

        @tkw.iterate(K, init_args=[zero], tag="k_loop")
        def loop(acc: tkl.Register[M, N, tkl.f32]) -> tkl.Register[M, N, tkl.f32]:
            start = tkw.register((M, N), tkl.f32, 0.0, tag="start")
            product = tkw.mma(tkw.read(a, tag="read_a"), tkw.read(b, tag="read_b"), start, tag="mma")
            return tkw.tag(acc + tkw.broadcast(tkw.read(bias), [M, N]) + product, "add")

        tkw.write(loop, c)

    @tkw.wave_schedule()
    def schedule() -> None:
        ops = Ops()
        start, added, mask = (tkw.get_node_by_tag(tag) for tag in ("start", "add", "mask"))
        assert start and added and not mask
        with tkw.pipeline(ops.loop) as stages:
            stages.set_stage([ops.loads, ops.writes])
            stages.set_stage([ops.reads, (start, ops.mma), (added,)])

    subs = {BM: 64, BN: 64, BK: 64, SPACE: SHARED_ADDRESS_SPACE, M: 64, N: 64, K: 320}
    kernel = wave_compile(
        WaveCompileOptions(subs=subs, schedule=SchedulingType.MANUAL, target="gfx942"), scaled, schedule
    )
    steady_loop = kernel.ir("scheduled").partition("wave.steady")[2]
    assert "%bias" not in steady_loop
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, (64, 320)).astype(np.float16) for _ in range(2))
    bias, c = rng.integers(-3, 4, 64).astype(np.float32), np.zeros((64, 64), np.float32)
    kernel(a, b, bias, c)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32).T + 5 * bias)


def test_imports_of_the_existing_package() -> None:
    module = importlib.import_module("wave_lang.kernel.wave.wave_schedule")
    schedule = module.wave_schedule()(two_stages.function)
    assert steady(made(schedule)) == ORDERS["two_stages"]


# --- what is wrong with a schedule ---------------------------------------------------------------------------------


def mma_before_reads(ops: Ops) -> None:
    tkw.reorder_graph(ops.pipeline().KERNEL, [[ops.mma], ops.reads, ops.loads, ops.writes])


def writes_before_reads(ops: Ops) -> None:
    tkw.reorder_graph(ops.pipeline().KERNEL, [ops.loads, ops.writes, ops.reads, [ops.mma]])


def two_places(ops: Ops) -> None:
    tkw.reorder_graph(ops.loop, [ops.loads, ops.loads])


def two_stages_of_one(ops: Ops) -> None:
    with tkw.pipeline(ops.loop) as stages:
        stages.set_stage([ops.loads])
        stages.set_stage([ops.loads])


def no_stage(ops: Ops) -> None:
    with tkw.pipeline(ops.loop) as stages:
        stages.set_stage([ops.loads])


def no_place(ops: Ops) -> None:
    tkw.reorder_graph(ops.loop, [ops.loads])


def nothing_there(ops: Ops) -> None:
    tkw.reorder_graph(ops.loop, [tkw.get_node_by_tag("mmm")])


def other_dim(ops: Ops) -> None:
    tkw.reorder_graph(ops.loop, [*tkw.partition_by_dim(ops.mma, dim=M, num_partitions=2)])


def three_parts(ops: Ops) -> None:
    tkw.reorder_graph(ops.loop, [*tkw.partition_by_dim(ops.mma, dim=K, num_partitions=3)])


def no_loop(ops: Ops) -> None:
    tkw.reorder_graph(tkw.get_node_by_tag("n_loop"), [ops.loads])


IN_COMPILER: list[tuple[Callable[[Ops], None], str]] = [
    (mma_before_reads, r"runs this op \(stage 1, order \d+\) before one in the same tile that it depends on"),
    (two_places, "the schedule has this op twice; give it one place in the clusters"),
    (two_stages_of_one, "an op is put into stage 1 and into stage 0; give it one"),
    (no_stage, "this op is in no stage of the schedule; give it one with set_stage"),
    (no_place, "this op has no place in the schedule; put it into a cluster"),
    (
        nothing_there,
        "no op of the loop 'k_loop' is in this set of ops of 'mmm'; its tags and types of ops are: mma .MMA., "
        r"read_a .Read., read_a .Write.",
    ),
    (
        other_dim,
        "'mma' cannot be cut into 2 equal parts along M: the loop's dim is K; MMAs, and reads of their operands, are "
        "cut along the loop's dim",
    ),
    (three_parts, "'mma' cannot be cut into 3 equal parts along K: there are 4 steps along K"),
    (no_loop, "no innermost loop has the tag 'n_loop'; the tags of loops are: k_loop"),
]


@pytest.mark.parametrize(("body", "message"), IN_COMPILER, ids=[b.__name__ for b, _ in IN_COMPILER])
def test_wrong_schedules(body: Callable[[Ops], None], message: str) -> None:
    with pytest.raises(tkw.CompileError) as caught:
        made(tkw.wave_schedule()(lambda: body(Ops())))
    text = str(caught.value)
    assert re.search(message, text, re.DOTALL), text
    assert re.match(r"\S*test_manual_schedule\.py:\d+:\d+: error: ", text), text


IN_PYTHON: list[tuple[Callable[[Ops], object], str]] = [
    (lambda ops: None, "says nothing of any loop"),
    (lambda ops: tkw.stagger(3), "stagger takes a loop: get_node_by_tag of an iterate's tag"),
    (lambda ops: tkw.insert_cond_barrier_before(None, ops.loop), "insert_cond_barrier_before: None is no integer"),
    (lambda ops: tkw.insert_cond_barrier_after("x", ops.loop), "insert_cond_barrier_after: 'x' is no integer"),
    (lambda ops: tkw.insert_cond_barrier_after(M < 3, 3), "insert_cond_barrier_after takes a loop"),
    (lambda ops: tkw.get_node_by_tag_and_type("mma", int), "a type of ops is one of Read, Write, MMA"),
    (lambda ops: tkw.partition_by_address_space(ops.mma, 3), "the space is GLOBAL_ADDRESS_SPACE or SHARED"),
    (lambda ops: tkw.partition_by_dim(ops.mma, K, 0), "num_partitions is a whole number from 1 on, not 0"),
    (lambda ops: tkw.partition_by_dim("mma", K, 2), "partition_by_dim takes ops of the kernel"),
    (lambda ops: tkw.pipeline("k_loop"), "pipeline takes a loop: get_node_by_tag of an iterate's tag"),
    (lambda ops: tkw.pipeline(ops.loop).__exit__(None, None, None), "pipeline: no stage is set"),
    (lambda ops: tkw.reorder_graph(ops.pipeline().PROLOGUE, []), "the PROLOGUE follows from the steady loop"),
    (lambda ops: tkw.cluster([ops.mma, 3]), "cluster: 3 is neither ops of the kernel nor one of SchedulingBarrier"),
    (lambda ops: tkw.cluster([tkw.SetWavePrio(4)]), "a priority is 0, 1, 2 or 3, not 4"),
    (lambda ops: tkw.cluster([tkw.SchedulingBarrier([3])]), "ops that may cross it are not in this version"),
    (lambda ops: tkw.insert_after(ops.pipeline().KERNEL, tkw.WorkgroupBarrier()), "right after a steady loop are not"),
    (lambda ops: tkw.insert_after(ops.mma, tkw.WorkgroupBarrier()), "say first what loop is meant"),
    (lambda ops: tkw.get_node_by_tag(3), "get_node_by_tag: a tag is a text, not 3"),
    (lambda ops: tkw.get_node_by_tag_and_type("mma", {}), "a type of ops is one of Read, Write"),
    (lambda ops: tkw.partition_by_address_space(ops.mma, []), "the space is GLOBAL_ADDRESS_SPACE or SHARED"),
    (lambda ops: tkw.reorder_graph(ops.loop, 3), "reorder_graph: 3 is neither ops of the kernel nor one of Scheduling"),
    (lambda ops: tkw.pipeline(ops.loop).set_stage(None), "set_stage: None is neither ops of the kernel nor one of"),
    (lambda ops: tkw.cluster("mma"), "cluster: 'mma' is neither ops of the kernel nor one of"),
    (lambda ops: tkw.cluster([tkw.SetWavePrio([1])]), r"a priority is 0, 1, 2 or 3, not \[1\]"),
    (lambda ops: tkw.cluster([tkw.MemoryCounterWait("x")]), "MemoryCounterWait: load = 'x'; give a whole"),
    (lambda ops: tkw.cluster([tkw.MemoryCounterWait(ds=1 << 64)]), "ds = 18446744073709551616; give a whole number"),
    (lambda ops: tkw.interleave_operations(ops.mma, 3), "interleave_operations takes ops of the kernel"),
    (lambda ops: tkw.interleave_operations(ops.mma, [ops.mma], None), r"there are 1 groups, intervals \[None\]"),
    (lambda ops: tkw.interleave_operations(ops.mma, [ops.mma], [1.5]), r"there are 1 groups, intervals \[1.5\]"),
    (lambda ops: tkw.interleave_operations(ops.mma, [ops.mma], 1, 0, 3), "start_after_groups is not in this version"),
    (lambda ops: tkw.cluster(tkw.SetWavePrio(np.zeros(2))), "cluster: it cannot take one of its arguments .ValueError"),
    (lambda ops: tkw.unroll(ops.loop, 1 << 40), "unroll: the factor is a whole number from 1 on, not 1099511627776"),
    (lambda ops: tkw.unroll(ops.loop, 0), "unroll: the factor is a whole number from 1 on, not 0"),
    (lambda ops: tkw.interleave_operations(ops.mma, [ops.mma], [0]), "each group has an interval from 1 on"),
    (
        lambda ops: tkw.interleave_operations(ops.mma, [ops.mma], 1, 0, [[0]]),
        "start_after_groups is not in this version",
    ),
]


@pytest.mark.parametrize(("body", "message"), IN_PYTHON, ids=[f"{i}" for i in range(len(IN_PYTHON))])
def test_wrong_calls(body: Callable[[Ops], object], message: str) -> None:
    with pytest.raises(tkw.CompileError, match=message) as caught:
        made(tkw.wave_schedule()(lambda: body(Ops())))
    assert re.match(r"\S*test_manual_schedule\.py:\d+:\d+: error: ", str(caught.value))


def test_one_alone_is_a_list() -> None:
    """An op, a cluster or a cycle without the list around it."""

    def listed(ops: Ops) -> None:
        ops.pipeline()
        raised = tkw.cluster([tkw.SetWavePrio(1)])
        tkw.reorder_graph(ops.loop, [[ops.loads], [ops.reads], [raised, ops.mma], ops.writes])

    def alone(ops: Ops) -> None:
        ops.pipeline()
        order = (part for part in (ops.loads, ops.reads, tkw.cluster(tkw.SetWavePrio(1)), ops.mma, ops.writes))
        tkw.reorder_graph(ops.loop, tkw.cluster(order))

    def one_stage(ops: Ops) -> None:
        all_of_them = tkw.cluster([ops.loads, ops.writes, ops.reads, ops.mma])
        with tkw.pipeline(ops.loop) as pipelined:
            pipelined.set_stage(all_of_them)
        tkw.reorder_graph(ops.loop, all_of_them)

    texts = [dumped(WaveSchedule(lambda body=body: body(Ops())).plans()) for body in (listed, alone)]
    first, second = (re.sub(r'"at": \[[^]]*\]', "", text) for text in texts)
    assert first == second
    made(tkw.wave_schedule()(lambda: one_stage(Ops())))


def test_the_users_own_mistakes_pass() -> None:
    with pytest.raises(ZeroDivisionError):
        made(tkw.wave_schedule()(lambda: 1 // 0))


def test_what_is_no_schedule() -> None:
    with pytest.raises(tkw.CompileError, match="wave_schedule decorates a function that schedules a kernel; 3 is none"):
        tkw.wave_schedule(3)  # type: ignore[call-overload]
    with pytest.raises(tkw.CompileError, match=r"has parameters \(ops\), which nobody gives; take them out"):
        tkw.wave_schedule()(lambda ops, count=3: None)  # type: ignore[misc]


def test_wrong_arguments_of_wave_compile() -> None:
    with pytest.raises(tkw.CompileError, match="takes a function decorated by tkw.wave_schedule"):
        made(lambda: None)  # type: ignore[arg-type]
    with pytest.raises(tkw.CompileError, match="let the options say SchedulingType.MANUAL"):
        made(two_stages, kind=SchedulingType.MODULO)
    with pytest.raises(tkw.CompileError, match="override_schedule and dump_schedule are of schedules"):
        made(two_stages, override_schedule="x.txt")
    with pytest.raises(tkw.CompileError, match="is for functions decorated by tkw.wave_schedule"):
        tkw.get_node_by_tag("mma")
    with pytest.raises(
        tkw.CompileError,
        match="16 copies of this loop's LDS buffers take 245760 bytes more, and 49152 are free; "
        "ask for fewer copies or use smaller tiles",
    ):
        made(two_stages, multi_buffer_count=16)


BODY = """
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M], f32, global>) symbols {M = 64} dynamic []
      constraints [#wave.hardware<threads_per_wave = 64>] attributes {wave.manual = "TEXT"} {
    %x = arith.constant dense<0.0> : vector<1xf32>
    wave.iterate K iv(%k) trips(16) {
      wave.debug_log %x "x" : vector<1xf32>
    } loc("wave.tag:k"("k.py":1:1))
    wave.return
  }
}
"""
EMPTY = (
    '[{"loop": "k", "at": ["k.py", 1, 1], "stages": [], "order": [], "before": [], "starts": [], "ends": [], '
    '"beside": [], "unroll": 1}]'
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[{}]", "wave.manual cannot be read: not the text of a schedule by hand: there is no 'stages'"),
        (EMPTY, "the loop 'k' cannot be scheduled: 'wave.debug_log' cannot be moved; take it out of the schedule"),
    ],
    ids=["text", "op"],
)
def test_wrong_kernels(text: str, message: str) -> None:
    quoted = text.replace('"', '\\"')
    module = driver.parse(BODY.replace("TEXT", quoted))
    with pytest.raises(tkw.CompileError, match=re.escape(message)):
        run_passes(module, "wave-apply-schedule")
