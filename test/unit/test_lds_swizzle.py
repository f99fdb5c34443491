"""Layouts of LDS rows: bijections, and never more clocks than rows as they are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wave_mlir.compiler import driver
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.lds_swizzle import RowLayout, buffer_of, choose, clocks
from wave_mlir.dialect import Expr

KERNEL = """
module attributes {{wave.form = "lane", wave.target = "{target}"}} {{
  wave.kernel @k() symbols {{}} dynamic [] constraints [#wave.hardware<threads_per_wave = 64>] {{
    %l = wave.allocate : !wave.memory<[64, {columns}], {dtype}, shared>
    %z = arith.constant dense<0> : vector<{width}x{dtype}>
    wave.write %z, %l index [lane floordiv {per_row}, lane mod {per_row} * {width}]
      : vector<{width}x{dtype}>, !wave.memory<[64, {columns}], {dtype}, shared>
    %x = wave.read %l index [lane mod {across}, lane floordiv {across} * {width}]
      : !wave.memory<[64, {columns}], {dtype}, shared> -> vector<{width}x{dtype}>
    wave.return
  }}
}}"""


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from([4, 8, 16]), st.sampled_from([2, 4, 8, 16]), st.sampled_from([1, 2, 4, 8]), st.integers(1, 3),
    st.sampled_from([0, 8]), st.sampled_from([1, 2, 4]), st.booleans(),
)  # fmt: skip
def test_bijection(chunk: int, phases: int, rows: int, groups: int, pad: int, fold: int, mixed: bool) -> None:
    """Each element of a row (of `fold` rows that count as one) has a place of its own in it, and chunks stay whole."""
    fold = min(fold, phases)
    with driver.parse("module {}").context:
        layout = RowLayout(chunk, phases, rows, pad, fold, mixed)
        columns = groups * phases * chunk // fold
        row, column = np.meshgrid(np.arange(40), np.arange(columns), indexing="ij")
        places = [np.broadcast_to(e.eval_numpy({"r": row, "c": column}), row.shape)
                  for e in layout.place(Expr.symbol("r"), Expr.symbol("c"), columns)]  # fmt: skip
        assert (places[0] // fold == row // fold).all() and (places[1] % chunk == column % chunk).all()
        found = (places[0] % fold * columns + places[1]).reshape(40 // fold, -1)
        assert (np.sort(found, axis=1) == np.arange(fold * columns)).all()


@pytest.mark.parametrize("target", ["gfx942", "gfx950"])
@pytest.mark.parametrize("dtype", ["i8", "i16", "i32"])
@pytest.mark.parametrize("columns", [16, 32, 64, 96, 128, 256])
@pytest.mark.parametrize("across", [16, 32])
def test_choice(target: str, dtype: str, columns: int, across: int) -> None:
    """Not worse than rows as they are; without conflicts where rows are of a power of two of chunks."""
    width = 128 // int(dtype[1:])
    if width * (64 // across) > columns:
        columns *= 64 // across * width // columns
    sizes = {"columns": columns, "width": width, "per_row": columns // width, "across": across}
    text = KERNEL.format(target=target, dtype=dtype, **sizes)
    module = driver.parse(text)
    with module.context:
        (kernel,) = list(module.body.operations)
        info = KernelInfo.of(kernel)
        allocate = next(op for op in kernel.operation.regions[0].blocks[0] if op.operation.name == "wave.allocate")
        buffer = buffer_of(info, allocate.operation)
        assert buffer is not None
        layout, total, worst = choose(info, buffer, 1 << 16)
        assert (total, worst) == clocks(info, buffer, layout)
        assert total <= clocks(info, buffer, RowLayout(width))[0]
        if columns // width in (2, 4, 8, 16, 32) and across == 16 and columns // width >= 4:
            assert worst == 1


@pytest.mark.parametrize("target", ["gfx942", "gfx950"])
@pytest.mark.parametrize(("dtype", "columns"), [("i8", 112), ("i16", 56), ("i16", 120), ("i32", 28)])
def test_rows_of_odd_numbers_of_chunks(target: str, dtype: str, columns: int) -> None:
    """No exchange of chunks divides such rows; of paddings the least without conflicts is taken, if there is room."""
    width = 128 // int(dtype[1:])
    sizes = {"columns": columns, "width": width, "per_row": columns // width, "across": 16}
    module = driver.parse(KERNEL.format(target=target, dtype=dtype, **sizes).replace("[64,", "[128,"))
    with module.context:
        (kernel,) = list(module.body.operations)
        info = KernelInfo.of(kernel)
        allocate = next(op for op in kernel.operation.regions[0].blocks[0] if op.operation.name == "wave.allocate")
        buffer = buffer_of(info, allocate.operation)
        assert buffer is not None
        reads = {p: n for p, n in buffer.patterns.items() if p.op == "read"}
        buffer.patterns.clear()
        buffer.patterns.update(reads)
        best = min(range(9), key=lambda n: clocks(info, buffer, RowLayout(width, pad=n * width)))
        layout, total, worst = choose(info, buffer, 1 << 16)
        assert (layout.pad, worst) == (3 * width, 1) and best == 3
        assert choose(info, buffer, 128 * 16 * 3 - 1)[1] > total
