"""Schedules by hand that tell the trips of an unrolled loop apart: exact, in the order that was asked for."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import wave_mlir.wave as tkw
from test_manual_schedule import Ops, check_exact, made, steady
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE


class Trip:
    """The ops of one tile of the loop's trips."""

    def __init__(self, number: int) -> None:
        self.mma = tkw.get_node_by_tag_and_iteration("mma", number)
        accesses = [tkw.get_node_by_tag_and_iteration(tag, number) for tag in ("read_a", "read_b")]
        reads = [tkw.filter_nodes(a, node_type=tkw.Read) for a in accesses]
        parts = [tkw.partition_by_address_space(r, GLOBAL_ADDRESS_SPACE) for r in reads]
        self.loads, self.reads = [p[0] for p in parts], [p[1] for p in parts]
        self.writes = [tkw.filter_nodes(a, node_type=tkw.Write) for a in accesses]


def one_stage(ops: Ops) -> None:
    """Both tiles' loads first; LDS has one buffer, so that its uses come one after the other."""
    tkw.unroll(ops.loop, 2)
    first, second = Trip(0), Trip(1)
    tkw.reorder_graph(
        ops.loop,
        [first.loads, second.loads, first.writes, first.reads, first.mma, second.writes, second.reads, second.mma],
    )


def stages(ops: Ops, mmas: Callable[[Trip, Trip], list[object]] = lambda a, b: [a.mma, b.mma]) -> None:
    """Loads of the next two tiles before the MMAs of these; each tile of a trip has LDS buffers of its own."""
    tkw.unroll(ops.loop, 2)
    first, second = Trip(0), Trip(1)
    pipelined = tkw.pipeline(ops.loop)
    with pipelined as p:
        p.set_stage([[*first.loads, *second.loads], [*first.writes, *second.writes]])
        p.set_stage([[*first.reads, *second.reads], [first.mma, second.mma]])
    order = [first.reads, second.reads, first.loads, second.loads, *mmas(first, second), first.writes, second.writes]
    tkw.reorder_graph(pipelined.KERNEL, order)


@pytest.mark.parametrize("k", [64, 320])
def test_one_stage(k: int) -> None:
    kernel = made(tkw.wave_schedule()(lambda: one_stage(Ops())), k=k)
    check_exact(kernel, k)
    text = kernel.ir("scheduled")
    assert "trips(1)" in text and ("trips(2)" in text) == (k > 64)


def test_stages() -> None:
    kernel = made(tkw.wave_schedule()(lambda: stages(Ops())), k=448, multi_buffer_count=2)
    assert steady(kernel) == "R" * 16 + "L" * 8 + "M" * 32 + "W" * 8
    check_exact(kernel, 448)


@pytest.mark.parametrize("k", [0, 64, 192, 320])
def test_trips_at_run_time(k: int) -> None:
    check_exact(made(tkw.wave_schedule()(lambda: one_stage(Ops())), k=None), k)


WRONG: list[tuple[Callable[[Ops], None], dict[str, int], str]] = [
    (lambda ops: tkw.reorder_graph(ops.loop, Trip(0).mma), {}, "'mma' of one trip: the loop 'k_loop' is not unrolled"),
    (stages, {}, "the schedule runs this op .* before one in the same tile that it depends on"),
    (stages, {"multi_buffer_count": 3}, "give its LDS buffers 2 copies, or one"),
    (
        lambda ops: stages(ops, lambda a, b: [b.mma, a.mma]),
        {"multi_buffer_count": 2},
        "the schedule runs this op .* before one in the same tile that it depends on",
    ),
    (lambda ops: (tkw.unroll(ops.loop, 2), tkw.reorder_graph(ops.loop, [Trip(2).mma]))[0], {}, "is in this set of ops"),
    (lambda ops: tkw.get_node_by_tag_and_iteration("mma", -1), {}, "a whole number from 0 on, not -1"),  # type: ignore[list-item]
]


@pytest.mark.parametrize(
    ("body", "options", "message"), WRONG, ids=["rolled", "one_buffer", "copies", "order", "trip", "number"]
)
def test_wrong(body: Callable[[Ops], None], options: dict[str, int], message: str) -> None:
    with pytest.raises(tkw.CompileError) as caught:
        made(tkw.wave_schedule()(lambda: body(Ops())), **options)
    text = str(caught.value)
    assert re.search(message, text), text
    assert re.match(r"\S*test_manual_(iterations|schedule)\.py:\d+:\d+: error: ", text), text
