"""Conditionals that lanes decide for their own elements, and positions that are named by other dims."""

from __future__ import annotations

import numpy as np
import pytest
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from running import check, compiled
from wave_mlir.compiler.diagnostics import CompileError
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import THREAD_0

M, N, E, T, U = tkl.sym.M, tkl.sym.N, tkl.sym.E, tkl.sym.T, tkl.sym.U
ROWS = [
    tkw.WorkgroupConstraint(M, 1, 0), tkw.WorkgroupConstraint(N, 256, 1), tkw.TilingConstraint(T, 1),
    tkw.HardwareConstraint(64, vector_shapes={M: 1, N: 256}),
]  # fmt: skip
X = tkl.Memory[M, N, GLOBAL, tkl.i32]
I = tkw.IndexMapping.iterator(0)  # noqa: E741
D0 = tkw.IndexMapping.dynamic_val(0)


def ints(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).integers(-9, 9, shape).astype(np.int32)


@pytest.mark.parametrize("flag", [False, True], ids=["relation", "integer"])
def test_a_condition_of_several_elements_a_lane(flag: bool) -> None:
    """Four elements a lane: writes in the branch, also in a loop, and a result of it."""

    @tkw.wave(ROWS)
    def kernel(a: X, b: X, y: X, z: X):
        x = tkw.read(a)

        @tkw.conditional(tkw.read(b) if flag else tkw.read(b) != 0, else_return=x)
        def doubled():
            @tkw.iterate(T, init_args=[x])
            def loop(value):
                tkw.write(value + 1, y)
                return value + value

            return loop

        tkw.write(doubled, z)

    a, b = ints(2, 300), ints(2, 300) // 5
    want = np.where(b != 0, 8 * a, a)
    args = [a, b, np.full_like(a, 77), np.zeros_like(a)]
    check(kernel, {M: 2, N: 300, T: 3}, args, {2: np.where(b != 0, 4 * a + 1, 77), 3: want})


def test_a_condition_on_the_lane() -> None:
    """The first ten lanes of each row store."""

    @tkw.wave([*ROWS[:1], tkw.WorkgroupConstraint(N, 64, 1), tkw.HardwareConstraint(64, vector_shapes={M: 1, N: 64})])
    def kernel(a: X, y: X):
        @tkw.conditional(THREAD_0 < 10)
        def _():
            tkw.write(tkw.read(a), y)

    a = ints(2, 64)
    want = np.where(np.arange(64) < 10, a, 77)
    check(kernel, {M: 2, N: 64}, [a, np.full_like(a, 77)], {1: want})


def test_a_condition_on_the_lane_around_a_barrier() -> None:
    @tkw.wave([*ROWS, tkw.WaveConstraint(N, 64)])
    def kernel(a: X):
        @tkw.conditional(THREAD_0 < 10)
        def _():
            tkw.workgroup_barrier()

    with pytest.raises(CompileError, match=r"test_predication.py:\d+:\d+: error: .*barrier"):
        compiled(kernel, {M: 2, N: 256})


def test_positions_named_by_the_dim_of_memory() -> None:
    """A histogram: one is added for each position, whose own dim the mapping calls by that of memory."""
    at = tkw.IndexMapping(1, {E: D0}, {E: I}, {E: I})
    rules = [
        tkw.WorkgroupConstraint(U, U, 0), tkw.WorkgroupConstraint(E, E, 1), tkw.WaveConstraint(U, U),
        tkw.HardwareConstraint(64, vector_shapes={U: 64, E: 4}),
    ]  # fmt: skip

    @tkw.wave(rules)
    def histogram(which: tkl.Memory[U, GLOBAL, tkl.i32], counts: tkl.Memory[E, GLOBAL, tkl.i32]):
        shared = tkw.allocate((E,), (E,), tkl.i32)
        tkw.write(tkl.Register[E, tkl.i32](0), shared)
        one = tkl.Register[E, tkl.i32](1)
        tkw.atomic_add(one, shared, mapping=at, mapping_dynamic_vals=(tkw.read(which),), elements_per_thread=1)
        tkw.write(tkw.read(shared), counts)

    which = np.random.default_rng(0).integers(0, 4, 64).astype(np.int32)
    check(histogram, {U: 64, E: 4}, [which, np.zeros(4, np.int32)], {1: np.bincount(which, minlength=4)})


def test_a_scalar_as_position() -> None:
    turned = tkw.IndexMapping(1, {N: (I + D0) % N}, {N: I}, {N: I})

    @tkw.wave([tkw.WorkgroupConstraint(N, 64, 0), tkw.HardwareConstraint(64, vector_shapes={N: 64})])
    def turn(a: tkl.Memory[N, GLOBAL, tkl.i32], by: tkl.i32, y: tkl.Memory[N, GLOBAL, tkl.i32]):
        tkw.write(tkw.read(a, mapping=turned, mapping_dynamic_vals=(by,)), y)

    a = ints(100)
    check(turn, {N: 100}, [a, 3, np.zeros_like(a)], {2: np.roll(a, -3)})
