"""Features of the language that meet: each program against numpy, in the simulator and in machine code."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
import sympy
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from running import check
from wave_mlir import sim
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import SHARED_ADDRESS_SPACE as SHARED
from wave_mlir.lang.global_symbols import WORKGROUP_0
from wave_mlir.wave.compile import WaveCompileOptions, wave_compile
from wave_mlir.wave.kernel import WaveKernel
from wave_mlir.wave.scheduling import SchedulingType

M, N, K, P, Q, R, T = (getattr(tkl.sym, name) for name in "MNKPQRT")
TRIP, SELECTED = tkl.sym.TRIP, tkl.sym.SELECTED
F16, F32, I32 = tkl.f16, tkl.f32, tkl.i32
I, J = tkw.IndexMapping.iterator(0), tkw.IndexMapping.iterator(1)  # noqa: E741
D0, D1 = tkw.IndexMapping.dynamic_val(0), tkw.IndexMapping.dynamic_val(1)
MMA = tkw.HardwareConstraint(64, mma_type=tkw.MMAType.F32_16x16x16_F16)
ROWS = [tkw.WorkgroupConstraint(M, 1, 0), tkw.WorkgroupConstraint(N, 64, 1)]
X = tkl.Memory[M, N, GLOBAL, F32]


def ints(*shape: int, dtype: type = np.float32, low: int = -4, high: int = 5, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(low, high, shape).astype(dtype)


def table(count: int, below: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, below, count).astype(np.int32)


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a.astype(np.float32) @ b.T.astype(np.float32)


def scheduled(kernel: WaveKernel, subs: Mapping, args: list, want: np.ndarray, **options) -> None:
    """The last argument's results under options of the compiler, in the simulator and in machine code."""
    made = wave_compile(WaveCompileOptions(subs=subs, target="gfx942", **options), kernel)
    for machine in (False, True):
        given = [a.copy() for a in args]
        bound = made._launcher.bind(given)
        if machine:
            made._compiled.run_isa(*bound.memories)
        else:
            sim.run(made._compiled.module, bound.memories, order="random")
        np.testing.assert_array_equal(given[-1], want)


def test_lengths_of_inner_loops_and_conditions_on_them() -> None:
    """Each trip reads how many trips the loop inside it makes, and doubles the sum where these were many."""
    rules = [*ROWS, tkw.TilingConstraint(T, 1, induction_var=TRIP), tkw.TilingConstraint(Q, 4),
             tkw.HardwareConstraint(64, vector_shapes={M: 1, N: 64, T: 1, R: 1})]  # fmt: skip
    at_trip = tkw.IndexMapping(1, {T: TRIP, R: I}, {R: I})

    @tkw.wave(rules)
    def kernel(x: X, counts: tkl.Memory[T, R, GLOBAL, I32], y: X):
        tile = tkw.read(x)

        @tkw.iterate(T, init_args=[tkl.Register[M, N, F32](0.0)])
        def outer(acc):
            tkw.set_symbol(Q, tkw.read(counts, mapping=at_trip))

            @tkw.iterate(Q, init_args=[acc])
            def inner(a):
                return a + tile

            @tkw.conditional(Q > 5, else_return=[inner])
            def result(v):
                return v * 2.0

            return result

        tkw.write(outer, y)

    x, counts = ints(3, 100), np.array([[3], [8], [0], [9]], np.int32)
    want = np.zeros_like(x)
    for count in counts[:, 0]:
        want = (want + -(-count // 4) * x) * (2 if count > 5 else 1)
    check(kernel, {M: 3, N: 100, T: 4, R: 1}, [x, counts, np.zeros_like(x)], {2: want.astype(np.float32)})


@pytest.mark.parametrize("schedule", [None, SchedulingType.PREFETCH, SchedulingType.MODULO])
def test_gather_of_a_gather_as_an_operand(schedule: SchedulingType | None) -> None:
    """Rows named by a table that a table names; waves divide the contracted dim."""
    rules = [tkw.WorkgroupConstraint(M, 32, 0), tkw.WorkgroupConstraint(N, 32, 1), tkw.TilingConstraint(K, 32),
             tkw.WaveConstraint(M, 16), tkw.WaveConstraint(K, 16), MMA]  # fmt: skip
    second = tkw.IndexMapping(1, {P: D0}, {M: I}, dynamic_val_mappings={M: I})
    rows = tkw.IndexMapping(2, {R: D0, K: J}, {M: I, K: J}, dynamic_val_mappings={M: I})

    @tkw.wave(rules)
    def kernel(
        first: tkl.Memory[M, GLOBAL, I32], then: tkl.Memory[P, GLOBAL, I32], x: tkl.Memory[R, K, SHARED, F16],
        b: tkl.Memory[N, K, SHARED, F16], y: tkl.Memory[M, N, GLOBAL, F32],
    ):  # fmt: skip
        at = tkw.read(then, mapping=second, mapping_dynamic_vals=(tkw.read(first),))

        @tkw.iterate(K, init_args=[tkl.Register[M, N, F32](0.0)])
        def loop(acc):
            return tkw.mma(tkw.read(x, mapping=rows, mapping_dynamic_vals=(at,)), tkw.read(b), acc)

        tkw.write(loop, y)

    first, then = table(40, 9), table(9, 20, 1)
    x, b = ints(20, 150, dtype=np.float16), ints(48, 150, dtype=np.float16, seed=1)
    want = product(x[then[first]], b)
    args, subs = [first, then, x, b, np.zeros_like(want)], {M: 40, N: 48, P: 9, R: 20, K: 150}
    if schedule is None:
        check(kernel, subs, args, {4: want})
    else:
        scheduled(kernel, subs, args, want, schedule=schedule)


@pytest.mark.slow
def test_a_scheduled_loop_in_a_loop_over_the_same_dim() -> None:
    rules = [tkw.WorkgroupConstraint(M, 64, 0), tkw.WorkgroupConstraint(N, 64, 1), tkw.TilingConstraint(K, 64),
             tkw.WaveConstraint(M, 32), MMA]  # fmt: skip

    @tkw.wave(rules)
    def kernel(a: tkl.Memory[M, K, SHARED, F16], b: tkl.Memory[N, K, SHARED, F16], c: tkl.Memory[M, N, GLOBAL, F32]):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, F32](0.0)])
        def outer(acc):
            @tkw.iterate(K, init_args=[acc])
            def inner(v):
                return tkw.mma(tkw.read(a), tkw.read(b), v)

            return inner

        tkw.write(outer, c)

    a, b = ints(70, 210, dtype=np.float16), ints(64, 210, dtype=np.float16, seed=1)
    want = 4 * product(a, b)
    scheduled(
        kernel, {M: 70, N: 64, K: 210}, [a, b, np.zeros_like(want)], want, schedule=SchedulingType.PREFETCH
    )


def test_symbols_set_again_in_branches_and_loops() -> None:
    rules = [*ROWS, tkw.TilingConstraint(T, 1), tkw.HardwareConstraint(64, vector_shapes={M: 1, N: 64, R: 1})]
    chosen = tkw.IndexMapping(2, {P: SELECTED, N: J}, {M: I, N: J})

    @tkw.wave(rules)
    def kernel(n: tkl.Memory[R, GLOBAL, I32], x: tkl.Memory[P, N, GLOBAL, F32], y: X):
        tkw.set_symbol(SELECTED, tkw.read(n))

        @tkw.iterate(T, init_args=[tkl.Register[M, N, F32](0.0)])
        def loop(acc):
            first = tkw.read(x, mapping=chosen)
            tkw.set_symbol(SELECTED, tkw.read(n) + 1)
            second = tkw.read(x, mapping=chosen)

            @tkw.conditional(SELECTED > 2, else_return=[second])
            def third(_):
                tkw.set_symbol(SELECTED, tkw.read(n) - 1)
                return tkw.read(x, mapping=chosen)

            return acc + first + second * 10.0 + third * 100.0

        tkw.write(loop + tkw.read(x, mapping=chosen) * 1000.0, y)

    x = ints(6, 70)
    for n in (1, 3):
        third = x[n - 1] if n + 1 > 2 else x[n + 1]
        want = 2 * (x[n] + 10 * x[n + 1] + 100 * third) + 1000 * x[n]
        args = [np.array([n], np.int32), x, np.zeros((1, 70), np.float32)]
        check(kernel, {M: 1, N: 70, R: 1, P: 6, T: 2}, args, {2: want[None]})


def test_two_tables_in_one_coordinate() -> None:
    rules = [tkw.WorkgroupConstraint(M, 4, 0), tkw.WorkgroupConstraint(N, 64, 1),
             tkw.HardwareConstraint(64, vector_shapes={M: 4, N: 64})]  # fmt: skip
    anywhere = tkw.IndexMapping(
        2, {P: D0 + D1, Q: sympy.floor(D1 / 2) + J % 3}, {M: I, N: J}, dynamic_val_mappings=({M: I}, {N: J})
    )

    @tkw.wave(rules)
    def kernel(
        rows: tkl.Memory[M, GLOBAL, I32], columns: tkl.Memory[N, GLOBAL, I32], x: tkl.Memory[P, Q, GLOBAL, F32], y: X
    ):
        dynamic = (tkw.read(rows), tkw.read(columns))
        tkw.write(tkw.read(x, mapping=anywhere, mapping_dynamic_vals=dynamic), y)

    rows, columns, x = table(9, 10), table(70, 10, 1), ints(20, 10)
    want = x[rows[:, None] + columns, np.broadcast_to(columns // 2 + np.arange(70) % 3, (9, 70))]
    check(kernel, {M: 9, N: 70, P: 20, Q: 10}, [rows, columns, x, np.zeros_like(want)], {3: want})


def test_barriers_in_branches_in_loops() -> None:
    rules = [tkw.WorkgroupConstraint(M, 1, 0), tkw.WorkgroupConstraint(N, 128, 1), tkw.WaveConstraint(N, 64),
             tkw.TilingConstraint(T, 1, induction_var=TRIP),
             tkw.HardwareConstraint(64, vector_shapes={M: 1, N: 64})]  # fmt: skip
    reversed_ = tkw.IndexMapping(2, {M: I, N: 127 - J}, {M: I, N: J})

    @tkw.wave(rules)
    def kernel(x: X, y: X):
        buffer = tkw.allocate((M, N), (1, 128), F32, SHARED)

        @tkw.iterate(T, init_args=[tkw.read(x)])
        def loop(v):
            @tkw.conditional(TRIP > 0, else_return=[v])
            def later(_):
                tkw.write(v, buffer)

                @tkw.conditional(WORKGROUP_0 > 0, else_return=[v])
                def turned(_):
                    return tkw.read(buffer, mapping=reversed_) * 2.0

                return turned + 1.0

            return later

        tkw.write(loop, y)

    x = ints(2, 128)
    want = x.copy()
    for _ in range(2):
        want = np.stack([want[0], 2 * want[1, ::-1]]) + 1
    check(kernel, {M: 2, N: 128, T: 3}, [x, np.zeros_like(x)], {1: want})


@pytest.mark.slow
def test_the_greatest_of_a_product_over_waves() -> None:
    rules = [tkw.WorkgroupConstraint(M, 16, 0), tkw.WorkgroupConstraint(N, 32, 1), tkw.TilingConstraint(K, 32),
             tkw.TilingConstraint(P), tkw.WaveConstraint(N, 16), MMA]  # fmt: skip

    @tkw.wave(rules)
    def kernel(
        a: tkl.Memory[M, K, SHARED, F16], b: tkl.Memory[N, K, SHARED, F16], v: tkl.Memory[M, P, GLOBAL, F32],
        at: tkl.Memory[M, P, GLOBAL, I32],
    ):  # fmt: skip
        @tkw.iterate(K, init_args=[tkl.Register[M, N, F32](0.0)])
        def loop(acc):
            return tkw.mma(tkw.read(a), tkw.read(b), acc)

        values, places = tkw.topk(loop, P, N)
        tkw.write(values, v)
        tkw.write(places, at)

    a, b = ints(20, 70, dtype=np.float16), ints(30, 70, dtype=np.float16, seed=1)
    whole = product(a, b)
    order = np.argsort(-whole, 1, kind="stable")[:, :3]
    args = [a, b, np.zeros((20, 3), np.float32), np.zeros((20, 3), np.int32)]
    want = {2: np.take_along_axis(whole, order, 1), 3: order.astype(np.int32)}
    check(kernel, {M: 20, N: 30, K: 70, P: 3}, args, want)
