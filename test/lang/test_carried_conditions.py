"""While loops whose condition is on carried values: GET_ITER_ARG."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from running import check, compiled
from wave_mlir.compiler.diagnostics import CompileError
from wave_mlir.lang.global_symbols import GET_ITER_ARG
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL

M, N, AT = tkl.sym.M, tkl.sym.N, tkl.sym.AT
RULES = [
    tkw.WorkgroupConstraint(M, 1, 0),
    tkw.TilingConstraint(AT),
    tkw.HardwareConstraint(64, vector_shapes={M: 0, N: 64, AT: 0}),
]
COLUMN = tkw.IndexMapping(1, {M: tkw.IndexMapping.iterator(0), N: AT}, {M: tkw.IndexMapping.iterator(0)})


@pytest.mark.parametrize("limit", [0, 1, 5, 1000])
def test_first_columns_whose_sum_reaches_a_limit(limit: int) -> None:
    """Columns are taken one by one until their sum reaches the limit, or there are none: two conditions, one of them on
    a value that the loop carries."""

    @tkw.wave(RULES)
    def take(x: tkl.Memory[M, N, GLOBAL, tkl.i32], taken: tkl.Memory[M, GLOBAL, tkl.i32], total: taken_type):
        zero = tkl.Register[M, tkl.i32](0)

        @tkw.iterate(AT, start=zero, condition=(AT < N) & sympy.Lt(GET_ITER_ARG(1), limit), init_args=[zero, zero])
        def loop(count, summed):
            at = tkw.scalar(AT, tkl.i32)
            column = tkw.read(x, mapping=COLUMN)
            tkw.set_symbol(AT, at + tkw.scalar(1, tkl.i32))
            return count + 1, summed + column

        tkw.write(loop[0], taken)
        tkw.write(loop[1], total)

    x = np.random.default_rng(1).integers(0, 4, (3, 9)).astype(np.int32)
    sums = np.concatenate([np.zeros((3, 1), np.int32), np.cumsum(x, 1, dtype=np.int32)], 1)
    count = np.array([next((i for i, s in enumerate(row) if s >= limit), 9) for row in sums], np.int32)
    expected = {1: count, 2: sums[np.arange(3), count]}
    args = [x, np.full(3, -1, np.int32), np.full(3, -1, np.int32)]
    check(take, {M: 3, N: 9}, args, expected)


@pytest.mark.parametrize("most", [0, 2, 9])
def test_a_chain_that_ends_at_a_negative_number(most: int) -> None:
    """The axis follows a table until it says -1, or enough has been taken: a value that a kernel sets has any sign."""
    node = sympy.Symbol("NODE")
    follow = tkw.IndexMapping(1, {M: tkw.IndexMapping.iterator(0), N: node}, {M: tkw.IndexMapping.iterator(0)})
    rules = [*RULES[:1], tkw.TilingConstraint(node), tkw.HardwareConstraint(64, vector_shapes={M: 0, N: 64, node: 0})]

    @tkw.wave(rules)
    def walk(
        following: tkl.Memory[M, N, GLOBAL, tkl.i32],
        start: tkl.Memory[M, GLOBAL, tkl.i32],
        length: tkl.Memory[M, GLOBAL, tkl.i32],
    ):
        first, zero = tkw.read(start), tkl.Register[M, tkl.i32](0)
        goes_on = (node >= 0) & sympy.Lt(GET_ITER_ARG(1), most) & (GET_ITER_ARG(0) >= 0)

        @tkw.iterate(node, start=first, condition=goes_on, init_args=[first, zero])
        def loop(at, count):
            tkw.set_symbol(node, at)
            reached = tkw.read(following, mapping=follow)
            tkw.set_symbol(node, reached)
            return reached, count + 1

        tkw.write(loop[1], length)

    following = np.array([[1, 2, -1, 0, 3], [3, -1, 0, 2, 1]], np.int32)
    args = [np.repeat(following, 2, 0), np.array([0, -1, 4, 0], np.int32), np.full(4, -1, np.int32)]
    lengths = np.array([3, 0, 2, 4 if most < 4 else 9])  # the last goes round 0 3 2
    check(walk, {M: 4, N: 5}, args, {2: np.minimum(lengths, most).astype(np.int32)})


taken_type = tkl.Memory[M, GLOBAL, tkl.i32]


@pytest.mark.parametrize(
    ("number", "dtype", "message"),
    [
        (1, tkl.i32, r"GET_ITER_ARG\(1\), and the loop carries 1 values; they are numbered from 0"),
        (0, tkl.f32, r"GET_ITER_ARG\(0\), which is of f32; carry an integer"),
    ],
)
def test_mistakes(number: int, dtype: tkl.DataType, message: str) -> None:
    @tkw.wave(RULES)
    def wrong(x: tkl.Memory[M, GLOBAL, tkl.i32]):
        start = tkl.Register[M, tkl.i32](0)

        @tkw.iterate(
            AT, start=start, condition=sympy.Lt(GET_ITER_ARG(number), 4), init_args=[tkl.Register[M, dtype](0)]
        )
        def loop(value):
            tkw.set_symbol(AT, start)
            return value

    with pytest.raises(CompileError, match=rf"test_carried_conditions.py:\d+:\d+: error: iterate: .*{message}"):
        compiled(wrong, {M: 3})


def test_a_counted_loop_over_a_dim_without_a_tile_goes_one_by_one() -> None:
    @tkw.wave(RULES)
    def double_five_times(x: tkl.Memory[M, N, GLOBAL, tkl.i32], y: tkl.Memory[M, N, GLOBAL, tkl.i32]):
        @tkw.iterate(AT, init_args=[tkw.read(x)])
        def loop(value):
            return value + value

        tkw.write(loop, y)

    x = np.arange(3 * 64, dtype=np.int32).reshape(3, 64)
    check(double_five_times, {M: 3, N: 64, AT: 5}, [x, np.zeros_like(x)], {1: x * 32})
