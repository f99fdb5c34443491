"""Ways to write things that need the language's own reading of them."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from running import check
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import WORKGROUP_0
from wave_mlir.lang.symbols import index_expr, xor

M, N, K, S = tkl.sym.M, tkl.sym.N, tkl.sym.K, tkl.sym.S
TILE, ROW, GROUPS, UNUSED = tkl.sym.TILE, tkl.sym.ROW, tkl.sym.GROUPS, tkl.sym.UNUSED
INPUT = tkl.KernelBufferUsage.INPUT
I, J = tkw.IndexMapping.iterator(0), tkw.IndexMapping.iterator(1)  # noqa: E741
SHAPES = tkw.HardwareConstraint(64, vector_shapes={M: 1, N: 64, S: 1, TILE: 0})
ROWS = [tkw.WorkgroupConstraint(M, 1, 0), tkw.WorkgroupConstraint(N, 64, 1), SHAPES]


@pytest.mark.parametrize("groups", [1, 3, 8])
def test_persistent_workgroups(groups: int) -> None:
    """Each workgroup takes row after row, from its own number on by the grid; a constraint on a dim that occurs
    nowhere is left out."""
    at_row = tkw.IndexMapping(2, {M: I + ROW, N: J}, {M: I, N: J})
    to_row = tkw.IndexMapping(2, {M: I, N: J}, {M: I + ROW, N: J})
    rules = [tkw.GridConstraint(GROUPS), *ROWS, tkw.TilingConstraint(TILE), tkw.TilingConstraint(UNUSED)]

    @tkw.wave(rules)
    def double(x: tkl.Memory[M, N, GLOBAL, tkl.f32], y: tkl.Memory[M, N, GLOBAL, tkl.f32]):
        @tkw.iterate(TILE, start=tkw.scalar(WORKGROUP_0, tkl.i32), condition=TILE < M, init_args=[])
        def rows():
            row = tkw.scalar(TILE, tkl.i32)
            tkw.set_symbol(ROW, row)
            value = tkw.read(x, mapping=at_row)
            tkw.write(value + value, y, mapping=to_row)
            tkw.set_symbol(TILE, row + tkw.scalar(GROUPS, tkl.i32))

    x = np.arange(5 * 50, dtype=np.float32).reshape(5, 50)
    check(double, {M: 5, N: 50, GROUPS: groups}, [x, np.zeros_like(x)], {1: 2 * x})


def test_a_dim_whose_symbol_is_set() -> None:
    """Each element takes its row of x from a tile; the result has the dims of that tile, in place of the dim S."""
    anywhere = tkw.IndexMapping(2, {S: S, N: J}, {S: I, N: J})

    @tkw.wave(ROWS)
    def take(
        x: tkl.Memory[S, N, GLOBAL, tkl.f16], rows: tkl.Memory[M, N, GLOBAL, tkl.i32],
        y: tkl.Memory[M, N, GLOBAL, tkl.f16],
    ):  # fmt: skip
        tkw.set_symbol(S, tkw.read(rows))
        tkw.write(tkw.read(x, mapping=anywhere), y)

    rng = np.random.default_rng(0)
    x, rows = rng.normal(size=(5, 64)).astype(np.float16), rng.integers(0, 5, (3, 64)).astype(np.int32)
    want = np.take_along_axis(x, rows, 0)
    check(take, {M: 3, N: 64}, [x, rows, np.zeros_like(want)], {2: want}, dynamic=[S])


def test_a_mapping_over_a_part_of_a_dim() -> None:
    """K in a mapping of memory that has K / 2 and no K means K / 2."""
    exchanged = tkw.IndexMapping(2, {N: I, K: J}, {N: I, K: J})
    shapes = tkw.HardwareConstraint(64, vector_shapes={N: 1, K: 64})

    @tkw.wave([tkw.WorkgroupConstraint(N, 1, 0), tkw.WorkgroupConstraint(K, 64, 1), shapes])
    def turn(x: tkl.Memory[K / 2, N, GLOBAL, tkl.i32], y: tkl.Memory[N, K / 2, GLOBAL, tkl.i32]):
        tkw.write(tkw.read(x, mapping=exchanged), y)

    x = np.arange(64 * 3, dtype=np.int32).reshape(64, 3)
    check(turn, {N: 3, K: 128}, [x, np.zeros((3, 64), np.int32)], {1: x.T})


def test_exclusive_or_in_an_index() -> None:
    """Columns swapped in a way that depends on the row; of numbers it is a number."""
    assert xor(sympy.Integer(6), sympy.Integer(3)) == 5 and index_expr("M + 1") - 1 == sympy.Symbol("M")
    swapped = tkw.IndexMapping(2, {M: I, N: xor(J, I % 8 * 4)}, {M: I, N: J})

    @tkw.wave(ROWS)
    def kernel(x: tkl.Memory[(M, N), GLOBAL, tkl.f32, INPUT], y: tkl.Memory[M, N, GLOBAL, tkl.f32]):
        tkw.write(tkw.read(x, mapping=swapped) + tkl.Register[(M, N), tkl.f32](1.0), y)

    x = np.arange(9 * 64, dtype=np.float32).reshape(9, 64)
    rows, columns = np.arange(9)[:, None], np.arange(64)
    check(kernel, {M: 9, N: 64}, [x, np.zeros_like(x)], {1: x[rows, columns ^ (rows % 8 * 4)] + 1})
