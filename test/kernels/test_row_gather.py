"""Rows gathered through a table whose length no load divides: what LLVM loads behind its end is no fault."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from wave_mlir.compiler import driver

KERNEL = """
module attributes {{wave.form = "tile", wave.target = "{target}"}} {{
  wave.kernel @k(%a: !wave.memory<[R, D], f16, global>, %t: !wave.memory<[M], i32, global>,
                 %c: !wave.memory<[M, D], f16, global>) symbols {{M = {m}, D = 64, R = 37}}
      constraints [#wave.workgroup<M, {tile}, x>, #wave.hardware<threads_per_wave = 64>] {{
    %i = wave.read %t : !wave.memory<[M], i32, global> -> !wave.tile<[M], i32>
    %x = wave.read %a mapping <[M = i, D = j] -> [d0, j], dynamic = [[M = i]]> dynamic(%i : !wave.tile<[M], i32>)
           : !wave.memory<[R, D], f16, global> -> !wave.tile<[M, D], f16>
    wave.write %x, %c : !wave.tile<[M, D], f16>, !wave.memory<[M, D], f16, global>
    wave.return
  }}
}}
"""


@pytest.mark.parametrize("m,tile", [(19, 1), (19, 19), (19, 8), (21, 1)])
@pytest.mark.parametrize("target", ["gfx942", "gfx950"])
def test_table_of_19_entries(isa: Callable[..., object], target: str, m: int, tile: int) -> None:
    compiled = driver.compile_module(KERNEL.format(target=target, m=m, tile=tile))
    rng = np.random.default_rng(0)
    rows, table = rng.integers(-3, 4, (37, 64)).astype(np.float16), rng.integers(0, 37, m).astype(np.int32)
    c = np.full((m, 64), np.nan, np.float16)
    isa(compiled, rows, table, c, seed=1)
    assert np.array_equal(c, rows[table])
