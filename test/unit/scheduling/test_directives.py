"""Schedules by hand as data: text and back."""

from __future__ import annotations

import pytest
from wave_mlir.compiler.directives import Inserted, Interleaved, LoopPlan, Nodes, dumped, loaded

AT = ("gemm.py", 7, 3)


def test_text_and_back() -> None:
    loads = Nodes((("tag", "a"),), AT).then(AT, "type", "Read", "Write").then(AT, "space", "global", True)
    part = loads.then(("gemm.py", 8, 1), "dim", "K", 2, 1)
    wait = Inserted("MemoryCounterWait", (("load", 2), ("ds", 0)), AT)
    mixed = Interleaved((loads,), ((part,), (part, loads)), (1, 2), (0, 3), AT)
    full = LoopPlan(
        "k", AT, [[[loads], [part]], [[mixed]]], [loads, wait, mixed], [wait], [wait], [], [("after", part, wait)], 2
    )
    plain = LoopPlan("n", AT)
    assert loaded(dumped([full, plain])) == [full, plain]


PLAN = (
    '[{"loop": "k", "at": ["f", 1, 1], "stages": [], "order": [ITEM], "before": [], "starts": [], "ends": [], '
    '"beside": [], "unroll": 1}]'
)


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ('{"nodes": [], "at": ["f", 1, 1]}', "a set of ops without steps"),
        ('{"nodes": [["tag", 3]], "at": ["f", 1, 1]}', "is no step to a set of ops"),
        ('{"nodes": [["dim", "K", 2, 2]], "at": ["f", 1, 1]}', "is part 2 of 2"),
        ('{"nodes": [["dim", "K", 0, 0]], "at": ["f", 1, 1]}', "is part 0 of 0"),
        ('{"nodes": [[3]], "at": ["f", 1, 1]}', "step 3 is no text"),
        ('{"nodes": [["tag", "a"]], "at": ["f", "x", 1]}', "line 'x' is no whole number from 0 to 2147483648"),
        ('{"nodes": [["tag", "a"]], "at": [3, 1, 1]}', "file 3 is no text"),
        ('{"insert": "Exit", "arguments": [], "at": ["f", 1, 1]}', "Exit is none of the ops to add: SchedulingBarrier"),
        ('{"insert": "SetWavePrio", "arguments": [], "at": ["f", 1, 1]}', "SetWavePrio has one argument, priority"),
        ('{"interleave": [], "groups": [], "intervals": [1], "offsets": [], "at": ["f", 1, 1]}', "0 groups have 1 int"),
    ],
)
def test_wrong_items(item: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        loaded(PLAN.replace("ITEM", item))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"unroll": 1', '"unroll": "x"', "unroll 'x' is no whole number from 1 to"),
        ('"beside": []', '"beside": [["at", 1, 1]]', "'at' is neither before nor after"),
        ('"stages": []', '"stages": 3', "'int' object is not iterable"),
        ('"loop": "k", ', "", "there is no 'loop'"),
    ],
)
def test_wrong_plans(old: str, new: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        loaded(PLAN.replace("ITEM", "").replace(old, new))


@pytest.mark.parametrize("text", ["[{}]", "[1]", '[{"loop": "k", "at": ["f", 1]}]', "{", '{"a": 1}'])
def test_other_text(text: str) -> None:
    with pytest.raises(ValueError):
        loaded(text)
