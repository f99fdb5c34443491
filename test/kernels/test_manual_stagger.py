"""Schedules by hand with two groups of waves a barrier apart: exact, or an error at the user's line."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import wave_mlir.wave as tkw
from test_manual_schedule import K, Ops, check_exact, made
from wave_mlir.lang.global_symbols import THREAD_0, THREAD_1
from wave_mlir.wave.manual import PipelinedLoop


def clusters(ops: Ops, barrier: object = tkw.WorkgroupBarrier(), last: tuple[object, ...] = ()) -> PipelinedLoop:
    """Reads and loads, half of the products, LDS writes, the other half; `barrier` behind all but the last of them."""
    pipelined = ops.pipeline()
    first, second = tkw.partition_by_dim(ops.mma, dim=K, num_partitions=2)
    order = [
        tkw.cluster([*ops.loads, *ops.reads, barrier]),
        tkw.cluster([tkw.SetWavePrio(1), first, tkw.SetWavePrio(0), barrier]),
        tkw.cluster([*ops.writes, barrier]),
        tkw.cluster([tkw.SetWavePrio(1), second, tkw.SetWavePrio(0), *last]),
    ]
    tkw.reorder_graph(pipelined.KERNEL, order)
    return pipelined


def staggered(ops: Ops) -> None:
    tkw.stagger(clusters(ops, last=(tkw.SharedMemoryBarrier(),)).KERNEL)


def by_condition(ops: Ops) -> None:
    """The waves along N: two and two."""
    pipelined = clusters(ops, last=(tkw.SharedMemoryBarrier(),))
    tkw.insert_cond_barrier_before(THREAD_1 >= 1, pipelined.KERNEL)
    tkw.insert_cond_barrier_after(THREAD_1 < 1, pipelined.KERNEL)


def by_thread(ops: Ops) -> None:
    pipelined = clusters(ops, last=(tkw.SharedMemoryBarrier(),))
    tkw.insert_cond_barrier_before(THREAD_0 // 64 >= 1, pipelined.KERNEL)
    tkw.insert_cond_barrier_after(THREAD_0 < 64, pipelined.KERNEL)


@pytest.mark.parametrize("body", [staggered, by_condition, by_thread])
def test_exact(body: Callable[[Ops], None]) -> None:
    kernel = made(tkw.wave_schedule()(lambda: body(Ops())))
    text = kernel.ir("scheduled")
    steady = text[text.index("wave.steady") :]
    steady = steady[: steady.index("wave.yield")]
    assert text.count("wave.stagger") == 2
    assert steady.count("wave.shared_memory_barrier") == 4 and "workgroup_barrier" not in steady
    check_exact(kernel)


@pytest.mark.parametrize("k", [0, 192])
def test_trips_at_run_time(k: int) -> None:
    check_exact(made(tkw.wave_schedule()(lambda: staggered(Ops())), k=None), k)


def three_barriers(ops: Ops) -> None:
    tkw.stagger(clusters(ops).KERNEL)


def no_barriers(ops: Ops) -> None:
    tkw.stagger(clusters(ops, tkw.SchedulingBarrier([])).KERNEL)


def only_before(ops: Ops) -> None:
    tkw.insert_cond_barrier_before(THREAD_1 >= 1, clusters(ops).KERNEL)


def twice(ops: Ops) -> None:
    pipelined = clusters(ops)
    tkw.stagger(pipelined.KERNEL)
    tkw.stagger(pipelined.KERNEL)


def not_the_others(ops: Ops) -> None:
    pipelined = clusters(ops)
    tkw.insert_cond_barrier_before(THREAD_1 >= 1, pipelined.KERNEL)
    tkw.insert_cond_barrier_after(THREAD_0 < 64, pipelined.KERNEL)


def all_of_them(ops: Ops) -> None:
    pipelined = clusters(ops)
    tkw.insert_cond_barrier_before(THREAD_1 >= 0, pipelined.KERNEL)
    tkw.insert_cond_barrier_after(THREAD_1 < 0, pipelined.KERNEL)


def by_lane(ops: Ops) -> None:
    pipelined = clusters(ops)
    tkw.insert_cond_barrier_before(THREAD_0 < 3, pipelined.KERNEL)
    tkw.insert_cond_barrier_after(THREAD_0 >= 3, pipelined.KERNEL)


WRONG = [
    (three_barriers, "it takes two barriers between, and there is one"),
    (no_barriers, "it takes two barriers between, and there is none"),
    (only_before, "some waves execute a barrier alone before the loop 'k_loop' and no others after it"),
    (twice, "there is a barrier of some waves before the loop 'k_loop' already"),
    (not_the_others, "these are not just the waves that did not execute the barrier before the loop"),
    (all_of_them, "4 of the 4 waves are in this group; let its condition hold for a part of them"),
    (by_lane, "which waves execute this barrier is not known; let its condition be over wave ids alone"),
]


@pytest.mark.parametrize(("body", "message"), WRONG, ids=[b.__name__ for b, _ in WRONG])
def test_wrong(body: Callable[[Ops], None], message: str) -> None:
    with pytest.raises(tkw.CompileError) as caught:
        made(tkw.wave_schedule()(lambda: body(Ops())))
    text = str(caught.value)
    assert message in text, text
    assert re.match(r"\S*test_manual_(stagger|schedule)\.py:\d+:\d+: error: ", text), text
