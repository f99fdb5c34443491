"""The worked example of docs/report.md is what the compiler and the model give now."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from wave_mlir import report
from wave_mlir.compiler import driver
from wave_mlir.passes.pipelines import PipelineOptions

DOCUMENT = Path(__file__).parents[3] / "docs" / "report.md"
TEXT = (Path(__file__).parents[2] / "tools" / "Inputs" / "gemm_tile.mlir").read_text()
ROW = re.compile(
    r"^\| (?:`--options schedule=(\w+)`)?(, 256 x 256 x 64 by 8 waves)? ?\| (\d) \| (\d+) % \| (\d+), (\d+) \|", re.M
)
ROWS = [m.groups() for m in ROW.finditer(DOCUMENT.read_text())]


def test_the_table_is_there() -> None:
    assert [row[0] for row in ROWS] == [None, "list", "prefetch", "modulo", "prefetch"]


@pytest.mark.parametrize(
    "row", [pytest.param(row, id=str(n), marks=[pytest.mark.slow] * (n in (1, 2, 3))) for n, row in enumerate(ROWS)]
)
def test_row(row: tuple[str | None, ...]) -> None:
    """Utilisation within 4 points, flights within a tenth or 4 clocks."""
    schedule, large, waves, percent, loads, reads = row
    text = re.sub(r"\b([MNK]) = 64\b", r"\1 = 4096", TEXT)
    block, part = (256, "BLOCK_N floordiv 4") if large else (128, "BLOCK_N floordiv 2")
    text = re.sub(r"BLOCK_([MN]) = 64", rf"BLOCK_\1 = {block}", text).replace("BLOCK_K = 32", "BLOCK_K = 64")
    text = text.replace("BLOCK_N floordiv 2", part)
    options = PipelineOptions(target="gfx942", schedule=schedule or "none")  # type: ignore[arg-type]
    (kernel,) = report.analyze(driver.compile_module(text, options=options).isa).kernels
    found = kernel.model
    assert found is not None and found.global_flight is not None and found.lds_flight is not None
    assert found.waves == int(waves or 0)
    assert 100 * found.replay.utilisation == pytest.approx(int(percent or 0), abs=4)
    assert found.global_flight.least == pytest.approx(int(loads or 0), rel=0.1, abs=4)
    assert found.lds_flight.least == pytest.approx(int(reads or 0), rel=0.1, abs=4)
