"""Mappings that put the lane's own number in place of a dim's position: each lane has a row to itself."""

from __future__ import annotations

import numpy as np
import pytest
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from running import check
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import THREAD_0

M, N, ROW = tkl.sym.M, tkl.sym.N, tkl.sym.ROW
I, J = tkw.IndexMapping.iterator(0), tkw.IndexMapping.iterator(1)  # noqa: E741
TAKE = tkw.IndexMapping(2, inputs={M: ROW, N: J}, outputs={M: I, N: J})
PUT = tkw.IndexMapping(2, inputs={M: I, N: J}, outputs={M: ROW, N: J})


@pytest.mark.parametrize("elements", [None, 4, 16])
@pytest.mark.parametrize("rows, shapes", [(100, {M: 16, N: 16}), (128, {M: 1, N: 32}), (128, None)])
def test_a_row_for_each_lane(rows: int, shapes: dict | None, elements: int | None) -> None:
    """No two lanes hold one element, whatever vector_shapes says: they would hold different rows of it."""
    constraints = [
        tkw.WorkgroupConstraint(M, 128, 0),
        tkw.WorkgroupConstraint(N, 64, 1),
        tkw.WaveConstraint(M, 64),
        tkw.WaveConstraint(N, 32),
        tkw.HardwareConstraint(64, vector_shapes=shapes),
    ]

    @tkw.wave(constraints)
    def kernel(x: tkl.Memory[M, N, GLOBAL, tkl.f32], y: tkl.Memory[M, N, GLOBAL, tkl.f32]):
        tkw.set_symbol(ROW, tkw.scalar(THREAD_0, tkl.i32))
        value = tkw.read(x, mapping=TAKE, elements_per_thread=elements)
        tkw.write(value + value, y, mapping=PUT, elements_per_thread=elements)

    x = np.arange(rows * 64, dtype=np.float32).reshape(rows, 64)
    check(kernel, {M: rows, N: 64}, [x, np.zeros_like(x)], {1: 2 * x})


def test_more_lanes_than_elements() -> None:
    """The 64 lanes hold 16 rows of the tile, in fours: each lane stores at its own place all the same."""
    constraints = [
        tkw.GridConstraint(1),
        tkw.WorkgroupConstraint(M, 16, 0),
        tkw.WorkgroupConstraint(N, 8, 1),
        tkw.HardwareConstraint(64),
    ]

    @tkw.wave(constraints)
    def kernel(x: tkl.Memory[M, N, GLOBAL, tkl.f32], y: tkl.Memory[M, N, GLOBAL, tkl.f32]):
        tkw.set_symbol(ROW, tkw.scalar(THREAD_0, tkl.i32))
        tkw.write(tkw.read(x, mapping=TAKE, elements_per_thread=8) + 1.0, y, mapping=PUT)

    x = np.arange(60 * 8, dtype=np.float32).reshape(60, 8)
    check(kernel, {M: 60, N: 8}, [x, np.zeros_like(x)], {1: x + 1})
