"""Lengths set in the kernel for dims that are sizes of memories too: masks and reductions end at the length."""

from __future__ import annotations

import numpy as np
import pytest
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from running import check
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL

N, S, T = tkl.sym.N, tkl.sym.S, tkl.sym.T
LENGTHS = np.array([0, 1, 7, 8, 10], np.int32)


@pytest.mark.thin(5)
@pytest.mark.parametrize("dynamic", [False, True], ids=["set", "dynamic"])
@pytest.mark.parametrize("kind", ["sum", "max"])
@pytest.mark.parametrize(("tile", "covered"), [(4, 4), (4, 1), (3, 1), (16, 4)])
def test_reduction_to_a_length(kind: str, tile: int, covered: int, dynamic: bool) -> None:
    reduce, start = (tkw.sum, 0.0) if kind == "sum" else (tkw.max, -1000.0)

    @tkw.wave(
        [
            tkw.WorkgroupConstraint(S, 1, 0),
            tkw.TilingConstraint(T, tile),
            tkw.HardwareConstraint(64, vector_shapes={S: 0, T: covered, N: 64}),
        ]
    )
    def of_first(
        length: tkl.Memory[S, GLOBAL, tkl.i32],
        x: tkl.Memory[T, N, GLOBAL, tkl.f32],
        y: tkl.Memory[S, N, GLOBAL, tkl.f32],
    ):
        tkw.set_symbol(T, tkw.read(length))

        @tkw.iterate(T, init_args=[tkl.Register[S, N, tkl.f32](start)])
        def total(acc):
            return reduce(tkw.read(x), acc, dim=T)

        @tkw.conditional(T > 0)
        def store():
            tkw.write(total, y)

    x = np.random.default_rng(tile).integers(-9, 10, (10, 64)).astype(np.float32)
    want = np.full((5, 64), -1, np.float32)
    for row, n in enumerate(LENGTHS):
        if n:
            want[row] = x[:n].sum(axis=0) if kind == "sum" else x[:n].max(axis=0)
    y = np.full_like(want, -1)
    made = check(of_first, {S: 5, N: 64}, [LENGTHS, x, y], {2: want}, dynamic=[T] if dynamic else ())
    made.run_isa(LENGTHS, x, y, seed=tile)
    np.testing.assert_array_equal(y, want)
