"""The model of L2 reuse against tiles counted by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from wave_mlir.compiler import driver, targets
from wave_mlir.report.l2 import TileRead, reuse
from wave_mlir.tools import wave_traffic

SMALL = replace(targets.get("gfx942"), compute_units=8, xcds=2, l2_bytes=1000)

TEXT = """
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M, N], f16, global>, %c: !wave.memory<[M, N], f16, global>)
      symbols {M = 256, N = 128} constraints [#wave.workgroup<M, 64, x>, #wave.workgroup<N, 64, y>, REMAP
        #wave.hardware<threads_per_wave = 64, vector_shapes = {M = 1, N = 64}>] {
    %x = wave.read %a : !wave.memory<[M, N], f16, global> -> !wave.tile<[M, N], f16>
    wave.write %x, %c : !wave.tile<[M, N], f16>, !wave.memory<[M, N], f16, global>
    wave.return
  }
}
"""


def test_windows_by_hand() -> None:
    """16 workgroups, 2 XCDs of 4 compute units: an XCD runs 0 2 4 6, then 8 10 12 14; the other the odd ones."""
    number = np.arange(16)
    quarter = TileRead("q", 100, number[:, None] // 4)  # 0 0 1 1, then 2 2 3 3
    parity = TileRead("p", 10, number[:, None] % 2)
    found = reuse([quarter, parity], SMALL, 1)
    assert found is not None
    assert (found.window, found.distinct) == (4, (("q", 2.0), ("p", 1.0)))
    assert (found.requested, found.fetched) == (4 * 110, 2 * 100 + 10)
    assert "2.1 times reused), 21.0% of its L2" in found.lines()[1]
    two = reuse([quarter], SMALL, 2)
    assert two is not None and (two.window, two.distinct[0][1]) == (8, 4.0)
    assert reuse([], SMALL, 1) is None


def test_reads_of_a_kernel() -> None:
    def places(remap: str) -> list[list[int]]:
        module = driver.compile_module(TEXT.replace("REMAP", remap), until="placed").module
        with module.context:
            (read,) = wave_traffic.reads_of(module)["k"]
        assert (read.name, read.bytes) == ("a", 64 * 64 * 2)
        return read.places.tolist()

    assert places("") == [[64 * x, 64 * y] for y in range(2) for x in range(4)]
    assert places("#wave.reordering<3 - wg.x, x>,") == [[64 * (3 - x), 64 * y] for y in range(2) for x in range(4)]


def test_no_reads_where_the_grid_is_unknown() -> None:
    text = TEXT.replace("REMAP", "").replace("M = 256, N = 128}", "N = 128} dynamic [M]")
    module = driver.compile_module(text, until="placed").module
    with module.context:
        assert wave_traffic.reads_of(module) == {"k": []}
