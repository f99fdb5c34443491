"""LDS rows that are padded by several chunks, executed: what is written is read, without bank conflicts."""

from __future__ import annotations

import numpy as np
import pytest
from wave_mlir import sim
from wave_mlir.compiler import driver
from wave_mlir.compiler.pass_registry import run_passes

KERNEL = """
module attributes {{wave.form = "lane", wave.target = "{target}"}} {{
  wave.kernel @k(%a: !wave.memory<[32, 56], f16, global>, %c: !wave.memory<[32, 56], f16, global>) symbols {{}}
      constraints [#wave.hardware<threads_per_wave = 64>] {{
    %l = wave.allocate : {lds}
{body}
    wave.return
  }}
}}"""
GLOBAL, LDS, V = "!wave.memory<[32, 56], f16, global>", "!wave.memory<[32, 56], f16, shared>", "vector<8xf16>"


def _copy(number: int) -> str:
    """Chunks lane + 64 * number in row-major order to LDS, by those of the 224 lanes that there are."""
    at = f"[(lane + {64 * number}) floordiv 7, (lane + {64 * number}) mod 7 * 8]"
    mask = f"mask %m{number} " if number == 3 else ""
    made = f"    %m{number} = wave.mask [lane lt 32] : vector<8xi1>\n" if mask else ""
    return f"""{made}    %x{number} = wave.read %a {mask}index {at} : {GLOBAL} -> {V}
    wave.write %x{number}, %l {mask}index {at} : {V}, {LDS}"""


def _fragment(row: int, column: int, time: int) -> str:
    """Sixteen rows of four chunks (or three) from LDS to where they were, as an MMA operand is read."""
    name = f"{row}{column // 32}{time}"
    at = f"[lane mod 16 + {row}, lane floordiv 16 * 8 + {column}]"
    mask = "mask %three " if column else ""
    return f"""    %y{name} = wave.read %l {mask}index {at} : {LDS} -> {V}
    wave.write %y{name}, %c {mask}index {at} : {V}, {GLOBAL}"""


@pytest.mark.parametrize("target", ["gfx942", "gfx950"])
def test_rows_of_seven_chunks(target: str) -> None:
    """Read so often that the conflicts of the reads outweigh those of the writes."""
    body = [_copy(n) for n in range(4)] + ["    %three = wave.mask [lane lt 48] : vector<8xi1>"]
    body += [_fragment(row, column, time) for time in range(4) for row in (0, 16) for column in (0, 32)]
    module = driver.parse(KERNEL.format(target=target, lds=LDS, body="\n".join(body)))
    with module.context:
        run_passes(module, "wave-swizzle-shared")
    assert "strides = [80, 1]" in str(module)
    made = driver.compile_module(module)
    a = np.random.default_rng(3).integers(-99, 99, (32, 56)).astype(np.float16)
    for run in (lambda *args: sim.run(made.module, list(args)), made.run_isa):
        c = np.zeros_like(a)
        run(a, c)
        np.testing.assert_array_equal(c, a)
