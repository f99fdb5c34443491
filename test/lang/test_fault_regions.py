"""Kinds of faults in loops, conditionals and chains of MMAs: each reproducer with its neighbours, exact."""

from __future__ import annotations

import numpy as np
import pytest
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from gemms import BM, GLOBAL, SHARED, K, M, N, constraints, integers, plain, product, run, tiles
from running import check
from wave_mlir.compiler.diagnostics import CompileError
from wave_mlir.wave.compile import WaveCompileOptions, wave_compile
from wave_mlir.wave.constraints import MMAType

K1, K2, S, T = tkl.sym.K1, tkl.sym.K2, tkl.sym.S, tkl.sym.T
BK2 = tkl.sym.BLOCK_K2
SQUARE, TALL = MMAType.F32_16x16x16_F16, MMAType.F32_32x32x8_F16
F16, F32 = tkl.f16, tkl.f32
ROWS = [tkw.WorkgroupConstraint(M, 1, 0), tkw.HardwareConstraint(64, vector_shapes={M: 1, N: 64})]


# --- trips: none, fewer than anything, many ---


@pytest.mark.parametrize("space", [GLOBAL, SHARED], ids=["global", "shared"])
def test_trip_counts(space) -> None:
    kernel = plain(F16, constraints())
    for trips in range(8):
        a, b = integers((16, 16 * trips), F16, trips), integers((16, 16 * trips), F16, trips + 9)
        subs = {**tiles(16, 16, 16, space), M: 16, N: 16}
        run(kernel, subs, [a, b], product(a, b).astype(np.float32), dynamic=[K])
        if trips in (1, 2, 5):
            run(kernel, {**subs, K: 16 * trips}, [a, b], product(a, b).astype(np.float32), machine=True)


# --- MMA results inside loops over other dims, chains ---


@pytest.mark.thin(5)
@pytest.mark.parametrize(("mma", "m"), [(SQUARE, 16), (SQUARE, 32), (TALL, 32)], ids=str)
@pytest.mark.parametrize(("k2", "k1"), [(64, 32), (32, 64), (48, 16), (40, 24)])
def test_mma_result_written_in_a_loop(mma: MMAType, m: int, k2: int, k1: int) -> None:
    """The last of the chain over K1, which is expanded, is what the loop over K2 writes."""
    rules = [
        tkw.WorkgroupConstraint(M, BM, 0),
        tkw.TilingConstraint(K2, BK2),
        tkw.HardwareConstraint(64, mma_type=mma),
    ]

    @tkw.wave(rules)
    def logits(
        q: tkl.Memory[M, K1, GLOBAL, F16], k: tkl.Memory[K2, K1, GLOBAL, F16], s: tkl.Memory[M, K2, GLOBAL, F32]
    ):
        @tkw.iterate(K2)
        def loop():
            tkw.write(tkw.mma(tkw.read(q), tkw.read(k), tkl.Register[M, K2, F32](0.0)), s)

    q, k = integers((m, k1), F16), integers((k2, k1), F16, 1)
    subs = {M: m, K1: k1, K2: k2, BM: m, BK2: 32}
    run(logits, subs, [q, k], product(q, k).astype(np.float32), machine=(k2, k1) == (64, 32))


@pytest.mark.parametrize("k1", [32, 64, 24])
@pytest.mark.parametrize(("k2", "n"), [(16, 32), (64, 48), (24, 40)])
def test_chain_without_a_loop(k1: int, k2: int, n: int) -> None:
    """(q·kᵀ)·v with dims neither distributed nor tiled."""
    rules = [tkw.WorkgroupConstraint(M, 16, 0), tkw.HardwareConstraint(64, mma_type=SQUARE)]

    @tkw.wave(rules)
    def chain(
        q: tkl.Memory[M, K1, GLOBAL, F16],
        k: tkl.Memory[K2, K1, GLOBAL, F16],
        v: tkl.Memory[N, K2, GLOBAL, F16],
        c: tkl.Memory[M, N, GLOBAL, F32],
    ):
        inner = tkw.mma(tkw.read(k), tkw.read(q), tkl.Register[K2, M, F32](0.0))
        p = tkw.cast(tkw.permute(inner, target_shape=[M, K2]), F16)
        tkw.write(tkw.mma(p, tkw.read(v), tkl.Register[M, N, F32](0.0)), c)

    q, k, v = integers((33, k1), F16), integers((k2, k1), F16, 1), integers((n, k2), F16, 2)
    want = product(product(q, k), v).astype(np.float32)
    run(chain, {M: 33, K1: k1, K2: k2, N: n}, [q, k, v], want, machine=(k1, k2) == (32, 16))


@pytest.mark.parametrize("swap", [False, True], ids=["straight", "permuted"])
@pytest.mark.parametrize("mma", [SQUARE, TALL], ids=str)
def test_elementwise_between_mma_and_write(mma: MMAType, swap: bool) -> None:
    """An identity permute changes nothing, with or without arithmetic around it."""

    @tkw.wave(constraints(mma))
    def gemm(a: tkl.Memory[M, K, SHARED, F16], b: tkl.Memory[N, K, SHARED, F16], c: tkl.Memory[M, N, GLOBAL, F32]):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, F32](0.0)])
        def total(acc):
            return tkw.mma(tkw.read(a), tkw.read(b), acc)

        doubled = total + total
        if swap:
            doubled = tkw.permute(doubled, target_shape=[M, N])
        tkw.write(doubled * 3.0 - 1.0, c)

    a, b = integers((40, 64), F16), integers((50, 64), F16, 1)
    want = (product(a, b) * 6 - 1).astype(np.float32)
    run(gemm, {**tiles(32, 32, 32), M: 40, N: 50, K: 64}, [a, b], want)


@pytest.mark.parametrize("role", ["lhs", "rhs"])
def test_first_result_in_either_role(role: str) -> None:
    """(a·bᵀ) as left or right operand of a second MMA, not transposed by the user: the layouts are converted."""
    rules = [tkw.WorkgroupConstraint(M, 16, 0), tkw.HardwareConstraint(64, mma_type=SQUARE)]

    @tkw.wave(rules)
    def chain(
        a: tkl.Memory[M, K, GLOBAL, F16],
        b: tkl.Memory[K2, K, GLOBAL, F16],
        d: tkl.Memory[N, K2, GLOBAL, F16],
        c: tkl.Memory[M, N, GLOBAL, F32],
    ):
        first = tkw.cast(tkw.mma(tkw.read(a), tkw.read(b), tkl.Register[M, K2, F32](0.0)), F16)
        if role == "lhs":
            tkw.write(tkw.mma(first, tkw.read(d), tkl.Register[M, N, F32](0.0)), c)
        else:
            second = tkw.mma(tkw.read(d), first, tkl.Register[N, M, F32](0.0))
            tkw.write(tkw.permute(second, target_shape=[M, N]), c)

    a, b, d = integers((16, 32), F16), integers((32, 32), F16, 1), integers((48, 32), F16, 2)
    want = product(product(a, b), d).astype(np.float32)
    run(chain, {M: 16, N: 48, K: 32, K2: 32}, [a, b, d], want, machine=True)


@pytest.mark.parametrize("m", [16, 32, 48])
def test_one_tensor_in_two_roles(m: int) -> None:
    """a·aᵀ: one memory read for rows and for columns."""
    i, j = tkw.IndexMapping.iterator(0), tkw.IndexMapping.iterator(1)
    as_rhs = tkw.IndexMapping(2, inputs={M: i, K: j}, outputs={N: i, K: j})
    rules = [tkw.WorkgroupConstraint(M, 16, 0), tkw.HardwareConstraint(64, mma_type=SQUARE)]

    @tkw.wave(rules)
    def gram(a: tkl.Memory[M, K, GLOBAL, F16], c: tkl.Memory[M, N, GLOBAL, F32]):
        tkw.write(tkw.mma(tkw.read(a), tkw.read(a, mapping=as_rhs), tkl.Register[M, N, F32](0.0)), c)

    a = integers((m, 32), F16)
    run(gram, {M: m, N: m, K: 32}, [a], product(a, a).astype(np.float32), machine=m == 32)


# --- carried values ---


@pytest.mark.parametrize("block", [64, 32, 48])
def test_several_carried_values(block: int) -> None:
    """A loop that carries a maximum, a sum and an accumulator, expanded 4 x 4."""

    @tkw.wave(constraints())
    def kernel(
        a: tkl.Memory[M, K, SHARED, F16],
        b: tkl.Memory[N, K, SHARED, F16],
        most: tkl.Memory[M, GLOBAL, F32],
        sums: tkl.Memory[M, GLOBAL, F32],
        c: tkl.Memory[M, N, GLOBAL, F32],
    ):
        start = [tkl.Register[M, F32](-1e6), tkl.Register[M, F32](0.0), tkl.Register[M, N, F32](0.0)]

        @tkw.iterate(K, init_args=start)
        def loop(largest, total, acc):
            x = tkw.read(a)
            wide = tkw.cast(x, F32)
            return tkw.max(wide, largest, dim=K), tkw.sum(wide, total, dim=K), tkw.mma(x, tkw.read(b), acc)

        largest, total, acc = loop
        tkw.write(largest, most)
        tkw.write(total, sums)
        tkw.write(acc, c)

    a, b = integers((64, 96), F16), integers((block, 96), F16, 1)
    args = [a, b, np.zeros(64, np.float32), np.zeros(64, np.float32), np.zeros((64, block), np.float32)]
    wide = a.astype(np.float32)
    want = {2: wide.max(axis=1), 3: wide.sum(axis=1), 4: product(a, b).astype(np.float32)}
    check(kernel, {**tiles(block, block, 32), M: 64, N: block, K: 96}, args, want)


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("flag", [0, 1])
def test_loops_and_conditionals_in_each_other(count: int, flag: int) -> None:
    """A loop in a conditional that captures another loop's results, two levels, 1 to 3 carried values."""

    @tkw.wave([*ROWS, tkw.TilingConstraint(T, 1), tkw.TilingConstraint(S, 1)])
    def kernel(on: tkl.Memory[M, GLOBAL, tkl.i32], x: tkl.Memory[M, N, GLOBAL, F32], y: tkl.Memory[M, N, GLOBAL, F32]):
        value = tkw.read(x)

        @tkw.iterate(T, init_args=[tkl.Register[M, N, F32](float(i)) for i in range(count)])
        def first(*carried):
            return tuple(c + value for c in carried)

        results = first if count > 1 else (first,)

        @tkw.conditional(tkw.read(on) > 0)
        def store():
            @tkw.iterate(S, init_args=list(results))
            def second(*carried):
                @tkw.iterate(T, init_args=list(carried))
                def third(*inner):
                    return tuple(c + 1.0 for c in inner)

                return third

            total = second if count > 1 else (second,)
            tkw.write(sum(total[1:], total[0]) + results[0], y)

    x = integers((2, 64), F32)
    on = np.array([flag, 1], np.int32)
    first = [i + 3 * x for i in range(count)]
    want = sum(f + 2 * 3 for f in first) + first[0]
    y = np.full((2, 64), 7, np.float32)
    want[on == 0] = 7
    made = check(kernel, {M: 2, N: 64, T: 3, S: 2}, [on, x, y], {2: want})
    made.run_isa(on, x, y, seed=count)
    np.testing.assert_array_equal(y, want)


@pytest.mark.parametrize(("prefix", "extension"), [(0, 0), (1, 5), (7, 0), (8, 8), (0, 3)])
def test_symbol_set_twice(prefix: int, extension: int) -> None:
    """Each of two loops over one dim has the length that was set last before it."""

    @tkw.wave([*ROWS, tkw.TilingConstraint(T, 1)])
    def kernel(
        first: tkl.Memory[M, GLOBAL, tkl.i32], second: tkl.Memory[M, GLOBAL, tkl.i32], y: tkl.Memory[M, N, GLOBAL, F32]
    ):
        tkw.set_symbol(T, tkw.read(first))

        @tkw.iterate(T, init_args=[tkl.Register[M, N, F32](0.0)])
        def one(acc):
            return acc + 1.0

        tkw.set_symbol(T, tkw.read(second))

        @tkw.iterate(T, init_args=[one])
        def two(acc):
            return acc + 100.0

        tkw.write(two, y)

    numbers = [np.array([n, n + 1], np.int32) for n in (prefix, extension)]
    want = np.repeat([[prefix + 100 * extension], [prefix + 1 + 100 * (extension + 1)]], 64, axis=1).astype(np.float32)
    run(kernel, {M: 2, N: 64}, numbers, want, machine=True)


# --- shapes against the MMA ---


@pytest.mark.parametrize(("m", "legal"), [(16, True), (32, True), (64, True), (20, False), (8, False), (24, False)])
def test_vector_shapes_against_mma(m: int, legal: bool) -> None:
    kernel = plain(F16, constraints(vector_shapes={M: m}))
    subs = {**tiles(64, 32, 32), M: 64, N: 32, K: 32}
    if not legal:
        with pytest.raises(CompileError, match=f"vector_shapes says M = {m}, but MMA kind f32_16x16x16_f16 covers 16"):
            wave_compile(WaveCompileOptions(subs=subs, target="gfx942"), kernel)
        return
    a, b = integers((64, 32), F16), integers((32, 32), F16, 1)
    run(kernel, subs, [a, b], product(a, b).astype(np.float32))


@pytest.mark.thin(5)
@pytest.mark.parametrize("mma", [SQUARE, TALL], ids=str)
@pytest.mark.parametrize("size", [13, 40, 72, 80, 96, 192])
def test_odd_head_sizes(size: int, mma: MMAType) -> None:
    """As contracted dim and as columns of the result, whole in one workgroup."""

    @tkw.wave([tkw.WorkgroupConstraint(M, 32, 0), tkw.HardwareConstraint(64, mma_type=mma)])
    def kernel(a: tkl.Memory[M, K, GLOBAL, F16], b: tkl.Memory[N, K, GLOBAL, F16], c: tkl.Memory[M, N, GLOBAL, F32]):
        tkw.write(tkw.mma(tkw.read(a), tkw.read(b), tkl.Register[M, N, F32](0.0)), c)

    a, b = integers((32, size), F16), integers((size, size), F16, 1)
    run(kernel, {M: 32, N: size, K: size}, [a, b], product(a, b).astype(np.float32), machine=size == 40)


def test_integer_dot_of_extremes() -> None:
    """i8 at ±127 over K = 4608: exact in i32."""
    rng = np.random.default_rng(0)
    a, b = (rng.choice(np.array([-127, 127], np.int8), (16, 4608)) for _ in range(2))
    subs = {**tiles(16, 16, 64), M: 16, N: 16, K: 4608}
    kernel = plain(tkl.i8, constraints(MMAType.I32_16x16x32_I8))
    run(kernel, subs, [a, b], product(a, b).astype(np.int32), machine=True)
    full = np.full((16, 4608), -127, np.int8)
    run(kernel, subs, [full, full], product(full, full).astype(np.int32))
