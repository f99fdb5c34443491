"""Loops, conditionals and set symbols, in each form and inside each other."""

from __future__ import annotations

import numpy as np
import pytest
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from running import check
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import SHARED_ADDRESS_SPACE as SHARED
from wave_mlir.lang.global_symbols import WORKGROUP_0, WORKGROUP_1

B, K, M, N, R, S, T = tkl.sym.B, tkl.sym.K, tkl.sym.M, tkl.sym.N, tkl.sym.R, tkl.sym.S, tkl.sym.T
BK, BM, BN = tkl.sym.BLOCK_K, tkl.sym.BLOCK_M, tkl.sym.BLOCK_N
ROW, COL = tkw.IndexMapping.iterator(0), tkw.IndexMapping.iterator(1)
RNG = np.random.default_rng(23)


def ints(*shape: int, dtype=np.float32) -> np.ndarray:
    return RNG.integers(-9, 9, shape).astype(dtype)


def constraints(*more, waves: int = 1) -> list:
    return [
        tkw.WorkgroupConstraint(M, BM, 0),
        tkw.WorkgroupConstraint(N, BN, 1),
        tkw.WaveConstraint(M, BM / waves),
        tkw.HardwareConstraint(64, vector_shapes={M: 1, N: BN}),
        *more,
    ]


SUBS = {M: 6, N: 70, BM: 2, BN: 64}
F32 = tkl.Memory[M, N, GLOBAL, tkl.f32]


def run(kernel, want: np.ndarray, a: np.ndarray, subs: dict = SUBS, more: tuple = (), **options) -> None:
    check(kernel, subs, [a, np.zeros_like(want), *more], {1: want}, **options)


@pytest.mark.parametrize("waves", [1, 2])
@pytest.mark.parametrize("k", [1, 12, 13])
def test_two_loops_over_one_dim(k: int, waves: int) -> None:
    @tkw.wave(constraints(tkw.TilingConstraint(K, BK), waves=waves))
    def kernel(a: tkl.Memory[M, K, GLOBAL, tkl.f32], c: tkl.Memory[M, K, GLOBAL, tkl.f32]):
        @tkw.iterate(K, init_args=[tkl.Register[M, tkl.f32](-1000.0)])
        def greatest(acc):
            return tkw.max(tkw.read(a), acc, dim=K)

        @tkw.iterate(K, init_args=[])
        def rest():
            tkw.write(tkw.read(a) - greatest, c)

    a = ints(6, k)
    run(kernel, a - a.max(1, keepdims=True), a, {M: 6, K: k, BK: 4, BM: 2, N: 64, BN: 64})


@pytest.mark.parametrize("step", [None, 2, 3])
def test_step(step) -> None:
    """Every tile, every second one: what is between is left out."""

    @tkw.wave(constraints(tkw.TilingConstraint(K, BK)))
    def kernel(a: tkl.Memory[K, N, GLOBAL, tkl.f32], c: tkl.Memory[M, N, GLOBAL, tkl.f32]):
        @tkw.iterate(K, init_args=[tkl.Register[N, tkl.f32](0.0)], step=step)
        def total(acc):
            return tkw.sum(tkw.read(a), acc, dim=K)

        tkw.write(tkw.broadcast(total, [M, N]), c)

    a = ints(22, 70)
    tiles = [a[i : i + 4] for i in range(0, 22, 4 * (step or 1))]
    want = np.repeat(np.concatenate(tiles).sum(0, keepdims=True), 6, 0)
    run(kernel, want, a, {**SUBS, K: 22, BK: 4})


def test_no_trips_and_given_trips() -> None:
    for iters, start, tiles in ((0, 0, []), (2, 0, [0, 1]), (2, 1, [1, 2])):

        @tkw.wave(constraints(tkw.TilingConstraint(K, BK, iters=iters, start=start * BK)))
        def kernel(a: tkl.Memory[K, N, GLOBAL, tkl.f32], c: tkl.Memory[M, N, GLOBAL, tkl.f32]):
            @tkw.iterate(K, init_args=[tkl.Register[N, tkl.f32](1.0)])
            def total(acc):
                return tkw.sum(tkw.read(a), acc, dim=K)

            tkw.write(tkw.broadcast(total, [M, N]), c)

        a = ints(12, 70)
        part = np.concatenate([a[4 * t : 4 * t + 4] for t in tiles] or [a[:0]])
        run(kernel, np.repeat(part.sum(0, keepdims=True) + 1, 6, 0), a, {**SUBS, K: 12, BK: 4})


def test_nested_loops_carry_several() -> None:
    @tkw.wave(constraints(tkw.TilingConstraint(K, BK), tkw.TilingConstraint(B, 1)))
    def kernel(a: tkl.Memory[B, K, N, GLOBAL, tkl.f32], c: tkl.Memory[M, N, GLOBAL, tkl.f32]):
        zero = tkl.Register[N, tkl.f32](0.0)

        @tkw.iterate(B, init_args=[zero, zero])
        def outer(total, greatest):
            @tkw.iterate(K, init_args=[zero])
            def inner(acc):
                return tkw.sum(tkw.sum(tkw.read(a), dim=K), acc, dim=B)

            return total + inner, tkw.maximum(greatest, inner)

        total, greatest = outer
        tkw.write(tkw.broadcast(total * 100 + greatest, [M, N]), c)

    a = ints(3, 10, 70)
    sums = a.sum(1)
    want = np.repeat((sums.sum(0) * 100 + np.maximum(sums.max(0), 0))[None], 6, 0)
    run(kernel, want, a, {**SUBS, B: 3, K: 10, BK: 4})


@pytest.mark.parametrize("first", [0, 1, 4])
def test_while_over_batches(first: int) -> None:
    """A while loop whose axis indexes memory; the next value comes from self_index."""

    @tkw.wave([*constraints(), tkw.TilingConstraint(B)])
    def kernel(a: tkl.Memory[B, M, N, GLOBAL, tkl.f32], c: tkl.Memory[B, M, N, GLOBAL, tkl.f32], n: tkl.i32):
        @tkw.iterate(B, start=n, condition=B < 4, init_args=[])
        def body():
            tkw.write(tkw.read(a) * 2, c)
            tkw.set_symbol(B, tkw.apply_expr(tkw.self_index(B, tkl.i32), lambda x: x + 2))

    a = ints(5, 6, 70)
    want = np.zeros_like(a)
    want[first:4:2] = a[first:4:2] * 2
    run(kernel, want, a, {**SUBS, B: 5}, more=(first,))


def test_while_finds_its_end() -> None:
    """The bound is a value that the loop changes by what it reads: a chain of links."""
    AXIS = tkl.sym.AXIS
    link = tkw.IndexMapping(1, inputs={R: AXIS}, outputs={S: ROW})

    @tkw.wave(
        [tkw.WorkgroupConstraint(S, 1, 0), tkw.TilingConstraint(AXIS), tkw.HardwareConstraint(64, vector_shapes={S: 1})]
    )
    def kernel(a: tkl.Memory[R, GLOBAL, tkl.i32], c: tkl.Memory[S, GLOBAL, tkl.i32]):
        @tkw.iterate(AXIS, start=tkw.scalar(0, tkl.i32), condition=AXIS < 100, init_args=[tkl.Register[S, tkl.i32](0)])
        def count(n):
            tkw.set_symbol(AXIS, tkw.read(a, mapping=link))
            return n + 1

        tkw.write(count, c)

    run(kernel, np.array([4], np.int32), np.array([3, 100, 1, 2], np.int32), {R: 4, S: 1})


@pytest.mark.parametrize("waves", [1, 2])
def test_conditionals_in_each_other(waves: int) -> None:
    @tkw.wave(constraints(waves=waves))
    def kernel(a: F32, c: F32, n: tkl.i32):
        x = tkw.read(a)

        @tkw.conditional(WORKGROUP_0 > 0)
        def some():
            tkw.write(x, c)

            @tkw.conditional(n > 3)
            def more():
                tkw.write(x * 2, c)

                @tkw.conditional((WORKGROUP_0 + WORKGROUP_1) % 2 > 0)
                def most():
                    tkw.write(x * 3, c)

    a = ints(6, 70)
    for n in (3, 4):
        want = a.copy() if n == 3 else a * 2
        if n == 4:
            want[2:4, :64] = a[2:4, :64] * 3
            want[4:, 64:] = a[4:, 64:] * 3
        want[:2] = 0
        run(kernel, want, a, more=(n,))


def test_conditional_in_a_loop_with_results() -> None:
    @tkw.wave(constraints(tkw.TilingConstraint(K, 1)))
    def kernel(a: F32, c: F32, odd: tkl.Memory[K, GLOBAL, tkl.i32]):
        @tkw.iterate(K, init_args=[tkw.read(a), tkl.Register[M, N, tkl.f32](0.0)])
        def loop(x, y):
            flag = tkw.read(odd)

            @tkw.conditional(flag > 0, else_return=[x - 1, y])
            def both():
                return x * 2, y + x

            return both

        tkw.write(loop[0] + loop[1] * 100, c)

    a, odd = ints(6, 70), np.array([1, 0, 0, 1, 1], np.int32)
    x, y = a.copy(), np.zeros_like(a)
    for flag in odd:
        x, y = (x * 2, y + x) if flag else (x - 1, y)
    run(kernel, x + y * 100, a, {**SUBS, K: 5}, more=(odd,))


def test_conditional_on_one_element_of_memory() -> None:
    @tkw.wave([tkw.WorkgroupConstraint(M, 1, 0), tkw.WorkgroupConstraint(N, 64, 1), tkw.HardwareConstraint(64)])
    def kernel(a: F32, c: F32, flags: tkl.Memory[M, GLOBAL, tkl.i32]):
        @tkw.conditional(tkw.apply_expr(tkw.read(flags), lambda f: f > 2))
        def store():
            tkw.write(tkw.read(a), c)

    a, flags = ints(6, 70), np.array([1, 3, 2, 9, -5, 4], np.int32)
    run(kernel, np.where(flags[:, None] > 2, a, 0), a, {M: 6, N: 70}, more=(flags,))


def test_symbols_set_again() -> None:
    """A later value, a value in a region, the old one behind it."""
    P = tkl.sym.P
    at = tkw.IndexMapping(2, inputs={R: P, N: COL}, outputs={M: ROW, N: COL})

    @tkw.wave([tkw.WorkgroupConstraint(M, 1, 0), tkw.WorkgroupConstraint(N, 64, 1), tkw.HardwareConstraint(64)])
    def kernel(
        a: tkl.Memory[R, N, GLOBAL, tkl.f32],
        c: tkl.Memory[M, N, GLOBAL, tkl.f32],
        p: tkl.Memory[M, GLOBAL, tkl.i32],
    ):
        tkw.set_symbol(P, tkw.read(p))
        x = tkw.read(a, mapping=at)
        tkw.set_symbol(P, P + 1)
        y = tkw.read(a, mapping=at)

        @tkw.conditional(P > 2, else_return=[x])
        def z():
            tkw.set_symbol(P, 0 * P)
            return tkw.read(a, mapping=at)

        tkw.write(x + 10 * y + 100 * z + 1000 * tkw.read(a, mapping=at), c)

    a, p = ints(8, 70), np.array([0, 1, 2, 5, 6], np.int32)
    x, y = a[p], a[p + 1]
    z = np.where(p[:, None] + 1 > 2, a[0][None], x)
    run(kernel, x + 10 * y + 100 * z + 1000 * y, a, {M: 5, N: 70, R: 8}, more=(p,))


def test_symbols_that_differ_from_lane_to_lane() -> None:
    P = tkl.sym.P
    at = tkw.IndexMapping(2, inputs={R: P, N: COL}, outputs={M: ROW, N: COL})

    @tkw.wave([tkw.WorkgroupConstraint(M, 1, 0), tkw.WorkgroupConstraint(N, 64, 1), tkw.HardwareConstraint(64)])
    def kernel(
        a: tkl.Memory[R, N, GLOBAL, tkl.f32],
        c: tkl.Memory[M, N, GLOBAL, tkl.f32],
        off: tkl.Memory[M, N, GLOBAL, tkl.i32],
    ):
        tkw.set_symbol(P, tkw.apply_expr(tkw.read(off), lambda o: R - o - 1))
        tkw.write(tkw.read(a, mapping=at), c)

    a, off = ints(8, 70), RNG.integers(0, 8, (5, 70)).astype(np.int32)
    run(kernel, np.take_along_axis(a, (7 - off).astype(np.int64), 0), a, {M: 5, N: 70, R: 8}, more=(off,))


@pytest.mark.parametrize("space", [GLOBAL, SHARED], ids=["global", "shared"])
def test_length_of_a_loop_from_memory(space) -> None:
    """Trip counts and masks from a value of each workgroup; with LDS and two waves there are barriers in the loop."""
    L, SPACE = tkl.sym.L, tkl.sym.SPACE

    @tkw.wave(constraints(tkw.TilingConstraint(K, BK, iters=tkl.sym.TRIPS), waves=2))
    def kernel(
        a: tkl.Memory[K, N, SPACE, tkl.f32], c: tkl.Memory[M, N, GLOBAL, tkl.f32], n: tkl.Memory[L, GLOBAL, tkl.i32]
    ):
        tkw.set_symbol(tkl.sym.TRIPS, tkw.apply_expr(tkw.read(n), lambda v: v))

        @tkw.iterate(K, init_args=[tkl.Register[N, tkl.f32](0.0)])
        def total(acc):
            return tkw.sum(tkw.read(a), acc, dim=K)

        tkw.write(tkw.broadcast(total, [M, N]), c)

    a = ints(16, 70)
    for n in (0, 1, 3):
        want = np.repeat(a[: 4 * n].sum(0, keepdims=True), 6, 0)
        run(kernel, want, a, {**SUBS, K: 16, BK: 4, L: 1, SPACE: space}, more=(np.array([n], np.int32),))


def test_barriers_placed_by_hand() -> None:
    """A rotation through an allocated buffer, with the user's own barriers."""
    other = tkw.IndexMapping(1, inputs={M: (ROW + 64) % 128}, outputs={M: ROW})

    @tkw.wave([tkw.WorkgroupConstraint(M, 128, 0), tkw.WaveConstraint(M, 64), tkw.HardwareConstraint(64)])
    def kernel(a: tkl.Memory[M, GLOBAL, tkl.f32], c: tkl.Memory[M, GLOBAL, tkl.f32]):
        buffer = tkw.allocate((M,), (M,), tkl.f32, SHARED)
        tkw.write(tkw.read(a), buffer)
        tkw.shared_memory_barrier()
        x = tkw.read(buffer, mapping=other)
        tkw.shared_memory_barrier()
        tkw.write(x + 1, buffer)
        tkw.shared_memory_barrier()
        tkw.set_wave_prio(1)
        tkw.write(tkw.read(buffer, mapping=other), c)
        tkw.set_wave_prio(0)
        tkw.workgroup_barrier()

    a = ints(128)
    made_barriers = 3
    made = check(kernel, {M: 128}, [a, np.zeros_like(a)], {1: a + 1})
    assert made.ir("gpu").count("amdgpu.lds_barrier") == made_barriers


@pytest.mark.parametrize("number", [-1, 0, 2])
def test_split_barriers_and_other_hints(number: int) -> None:
    """Signal and wait in place of a barrier (-1 is that of the workgroup); hints for the scheduler change nothing."""
    other = tkw.IndexMapping(1, inputs={M: (ROW + 64) % 128}, outputs={M: ROW})

    @tkw.wave([tkw.WorkgroupConstraint(M, 128, 0), tkw.WaveConstraint(M, 64), tkw.HardwareConstraint(64)])
    def kernel(a: tkl.Memory[M, GLOBAL, tkl.f32], c: tkl.Memory[M, GLOBAL, tkl.f32]):
        buffer = tkw.allocate((M,), (M,), tkl.f32)
        x = tkw.tag(tkw.read(a), "input")
        tkw.write(x, buffer)
        tkw.shared_memory_barrier_signal(number)
        tkw.scheduling_barrier()
        y = x * 2
        tkw.bounds_check(a)
        tkw.shared_memory_barrier_wait(number)
        tkw.memory_counter_wait(load=0)
        tkw.write(y + tkw.read(buffer, mapping=other), c)

    a = ints(128)
    made = check(kernel, {M: 128}, [a, np.zeros_like(a)], {1: a * 2 + np.roll(a, 64)})
    assert made.ir("gpu").count("amdgpu.lds_barrier") == 1


@pytest.mark.parametrize("space", [GLOBAL, SHARED])
def test_a_loop_in_a_loop_over_the_same_dim(space: tkl.IndexSymbol) -> None:
    """Each trip of the outer loop walks the whole dim again: positions and masks inside are of the inner trip."""
    rules = [tkw.WorkgroupConstraint(M, 2, 0), tkw.TilingConstraint(N, 16), tkw.HardwareConstraint(64)]

    @tkw.wave(rules)
    def kernel(x: tkl.Memory[M, N, space, tkl.f32], y: tkl.Memory[M, GLOBAL, tkl.f32]):
        @tkw.iterate(N, init_args=[tkl.Register[M, tkl.f32](0.0)])
        def outer(acc):
            own = tkw.sum(tkw.read(x), dim=N)

            @tkw.iterate(N, init_args=[tkl.Register[M, tkl.f32](0.0)])
            def inner(total):
                return tkw.sum(tkw.read(x) * 2.0, total, dim=N)

            return acc + own * inner + tkw.max(tkw.read(x), dim=N)

        tkw.write(outer, y)

    x = ints(3, 50)
    most = sum(x[:, at : at + 16].max(1) for at in range(0, 50, 16))
    check(kernel, {M: 3, N: 50}, [x, np.zeros(3, np.float32)], {1: 2 * x.sum(1) ** 2 + most})
