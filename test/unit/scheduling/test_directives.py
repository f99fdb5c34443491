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


@pytest.mark.parametrize("text", ["[{}]", "[1]", '[{"loop": "k", "at": ["f", 1]}]', "{", '{"a": 1}'])
def test_other_text(text: str) -> None:
    with pytest.raises(ValueError):
        loaded(text)
