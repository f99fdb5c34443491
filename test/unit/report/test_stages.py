"""Stages of scheduled loops: the table by hand, and what it says of a kernel against the kernel's IR."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

from wave_mlir import report
from wave_mlir.compiler import driver
from wave_mlir.passes.pipelines import PipelineOptions
from wave_mlir.report.stages import LoopStages, StageSlot
from wave_mlir.tools import wave_stages

TEXT = (Path(__file__).parents[2] / "tools" / "Inputs" / "gemm_tile.mlir").read_text().replace("K = 64}", "K = 512}")


def test_table_by_hand() -> None:
    slots = (StageSlot(1, "mfma"), StageSlot(0, "load"), StageSlot(1, "valu"), StageSlot(0, "lds_write"))
    loop = LoopStages("k.mlir:3:4", "modulo", 2, 64, 1, slots)
    lines = report.stages_text([loop]).splitlines()
    assert lines[0].startswith("loop at k.mlir:3:4: strategy modulo, 2 stages, a trip each 64 clocks")
    assert lines[1:3] == ["  stage 0 |.G.W|", "  stage 1 |M.V.|"] and "stage 0 is the newest trip" in lines[3]
    assert report.stages_text([]) == ""
    long = report.stages_text([LoopStages("x", "list", 1, 1, 1, slots * 30)])
    assert long.count("stage 0 |") == 2 and max(map(len, long.splitlines())) < 130
    parts, width, end = report.stages_parts([loop], 10)
    assert len([p for p in parts if "<rect" in p]) == 2 + len(slots) and width > 0 and end > 10


def test_stages_of_a_kernel() -> None:
    options = PipelineOptions(target="gfx942", schedule="modulo")
    lane = driver.compile_module(TEXT, until="lane", options=options).module
    before = str(lane)
    with lane.context:
        (loop,) = wave_stages.stages_of(lane, options)["gemm"]
        assert wave_stages.stages_of(lane, PipelineOptions(target="gfx942")) == {}
    assert str(lane) == before, "it works on a copy"
    kinds = Counter(s.kind for s in loop.slots)
    # a wave: 2 x 2 tiles of 16 x 16, K of 32 in two MMAs each; A and B: one load and one write of 16 bytes a lane each
    assert (kinds["mfma"], kinds["load"], kinds["lds_write"], kinds["lds_read"]) == (8, 2, 2, 4)
    assert loop.strategy == "modulo" and loop.stages == 1 + max(s.stage for s in loop.slots) > 1
    first = {kind: min(s.stage for s in loop.slots if s.kind == kind) for kind in ("load", "lds_write", "mfma")}
    assert first["load"] <= first["lds_write"] <= first["mfma"], "what comes later in a trip is of an older one"


def test_pictures_are_well_formed() -> None:
    """Timeline and stages, LDS and layouts parse as XML."""
    options = PipelineOptions(target="gfx942", schedule="prefetch")
    loop = LoopStages("a<b>", "modulo", 1, 1, 1, (StageSlot(0, "mfma"),))
    (kernel,) = report.analyze(driver.compile_module(TEXT, options=options).isa).kernels
    assert kernel.model is not None
    svg = report.timeline_svg(kernel.model, "k & <l>", lambda top: report.stages_parts([loop], top))
    root = ElementTree.fromstring(svg)
    assert root.tag.endswith("svg") and float(root.attrib["height"]) > 100
    assert any("k & <l>" in (e.text or "") for e in root.iter()), "text is escaped"
