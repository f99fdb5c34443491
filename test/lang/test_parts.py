"""Parts of tiles and other shapes: extract, reshape, scatter_add, atomics with results, threads as symbols."""

from __future__ import annotations

import numpy as np
import pytest
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from running import check, compiled
from wave_mlir import sim
from wave_mlir.compiler.diagnostics import CompileError
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import SHARED_ADDRESS_SPACE as SHARED
from wave_mlir.lang.global_symbols import THREAD_0, WORKGROUP_0

M, N, P, Q, R = tkl.sym.M, tkl.sym.N, tkl.sym.P, tkl.sym.Q, tkl.sym.R
BM, BN, SPACE = tkl.sym.BLOCK_M, tkl.sym.BLOCK_N, tkl.sym.SPACE
RNG = np.random.default_rng(17)
ROW, COL, D0 = tkw.IndexMapping.iterator(0), tkw.IndexMapping.iterator(1), tkw.IndexMapping.dynamic_val(0)


def ints(*shape: int, dtype=np.float32, low: int = -9) -> np.ndarray:
    return RNG.integers(low, 9, shape).astype(dtype)


def rows(waves: int = 1, **shapes) -> list:
    return [
        tkw.WorkgroupConstraint(M, BM, 0),
        tkw.WorkgroupConstraint(N, BN, 1),
        tkw.WaveConstraint(M, BM / waves),
        tkw.HardwareConstraint(64, vector_shapes={M: 1, N: BN}),
    ]


@pytest.mark.parametrize(("shape", "elements", "waves"), [((64, 64), 1, 1), ((64, 128), 2, 2), ((70, 3), 1, 1)])
@pytest.mark.parametrize("space", [GLOBAL, SHARED], ids=["global", "shared"])
def test_scatter_add_rows(shape: tuple[int, int], elements: int, waves: int, space) -> None:
    """Rows of the result are chosen for each element; the memory starts with something."""

    @tkw.wave(rows(waves))
    def kernel(
        a: tkl.Memory[M, N, GLOBAL, tkl.f32],
        idx: tkl.Memory[M, N, GLOBAL, tkl.i32],
        c: tkl.Memory[M, N, SPACE, tkl.f32],
    ):
        same = tkw.IndexMapping(2, inputs={M: ROW, N: COL}, outputs={M: ROW, N: COL})
        tkw.scatter_add(tkw.read(a), tkw.read(idx), 0, c, same, elements_per_thread=elements)

    m, n = shape
    a, idx, c = ints(m, n), RNG.integers(0, m, shape).astype(np.int32), ints(m, n)
    want = c.copy()
    np.add.at(want, (idx, np.arange(n)[None, :]), a)
    check(kernel, {M: m, N: n, BM: 4, BN: 64, SPACE: space}, [a, idx, c], {2: want})


@pytest.mark.parametrize(("dtype", "array"), [(tkl.f16, np.float16), (tkl.i32, np.int32)])
def test_scatter_add_into_fewer_rows(dtype, array) -> None:
    """The dim with positions is another one in memory; a position for each row."""

    @tkw.wave(rows())
    def kernel(
        a: tkl.Memory[M, N, GLOBAL, dtype], idx: tkl.Memory[M, GLOBAL, tkl.i32], c: tkl.Memory[R, N, GLOBAL, dtype]
    ):
        tkw.scatter_add(tkw.read(a), tkw.read(idx), M, c)

    a, idx = ints(20, 70, dtype=array), RNG.integers(0, 5, 20).astype(np.int32)
    want = np.zeros((5, 70), array)
    np.add.at(want, idx, a)
    check(kernel, {M: 20, N: 70, R: 5, BM: 8, BN: 128}, [a, idx, np.zeros_like(want)], {2: want})


def test_scatter_add_to_allocated() -> None:
    """A histogram in LDS."""

    @tkw.wave([tkw.WorkgroupConstraint(M, 256, 0), tkw.WaveConstraint(M, 128), tkw.HardwareConstraint(64)])
    def kernel(idx: tkl.Memory[M, GLOBAL, tkl.i32], c: tkl.Memory[R, GLOBAL, tkl.i32]):
        bins = tkw.allocate((R,), (R,), tkl.i32)
        tkw.write(tkl.Register[R, tkl.i32](0), bins)
        tkw.scatter_add(tkl.Register[M, tkl.i32](1), tkw.read(idx), M, bins)
        tkw.write(tkw.read(bins), c)

    idx = RNG.integers(0, 16, 256).astype(np.int32)
    check(kernel, {M: 256, R: 16}, [idx, np.zeros(16, np.int32)], {1: np.bincount(idx, minlength=16).astype(np.int32)})


@pytest.mark.parametrize("kind", ["add", "min"])
def test_atomics_give_what_was_there(kind: str) -> None:
    @tkw.wave([tkw.WorkgroupConstraint(M, 64, 0), tkw.HardwareConstraint(64, vector_shapes={M: 64})])
    def kernel(a: tkl.Memory[M, SPACE, tkl.i32], old: tkl.Memory[M, GLOBAL, tkl.i32]):
        tkw.write(getattr(tkw, f"atomic_{kind}")(tkl.Register[M, tkl.i32](3), a), old)

    a = ints(100, dtype=np.int32)
    want = a + 3 if kind == "add" else np.minimum(a, 3)
    for space in (GLOBAL, SHARED):
        check(kernel, {M: 100, SPACE: space}, [a, np.zeros_like(a)], {0: want, 1: a})


def test_minimum_over_waves_in_lds() -> None:
    """All waves meet in the first row of a buffer; the mapping is written as that of a read."""
    first = tkw.IndexMapping(2, inputs={M: 0, N: COL}, outputs={M: ROW, N: COL})

    @tkw.wave(rows(2))
    def kernel(a: tkl.Memory[M, N, GLOBAL, tkl.i32], c: tkl.Memory[M, N, GLOBAL, tkl.i32]):
        buffer = tkw.allocate((M, N), (1, BN), tkl.i32, SHARED)
        tkw.write(tkl.Register[M, N, tkl.i32](1e6), buffer)
        tkw.atomic_min(tkw.read(a), buffer, mapping=first)
        tkw.write(tkw.read(buffer, mapping=first), c)

    a = ints(2, 64, dtype=np.int32)
    want = np.repeat(a.min(0, keepdims=True), 2, 0)
    check(kernel, {M: 2, N: 64, BM: 2, BN: 64}, [a, np.zeros_like(a)], {1: want})


@pytest.mark.parametrize("position", [0, 2, 3])
def test_extract(position: int) -> None:
    """Each lane holds 4 elements of a row; all of them become the one that is extracted."""

    @tkw.wave([tkw.WorkgroupConstraint(M, 256, 0), tkw.HardwareConstraint(64, vector_shapes={M: 256})])
    def kernel(a: tkl.Memory[M, GLOBAL, tkl.f32], c: tkl.Memory[M, GLOBAL, tkl.f32]):
        tkw.write(tkw.broadcast(tkw.extract(tkw.read(a, elements_per_thread=4), position), [M]), c)

    a = ints(512)
    want = np.repeat(a.reshape(-1, 4)[:, position], 4)
    check(kernel, {M: 512}, [a, np.zeros_like(a)], {1: want})


def test_extract_as_a_symbol() -> None:
    @tkw.wave([*rows(), tkw.TilingConstraint(Q, 4)])
    def kernel(
        n: tkl.Memory[R, GLOBAL, tkl.i32], a: tkl.Memory[M, N, GLOBAL, tkl.f32], c: tkl.Memory[M, N, GLOBAL, tkl.f32]
    ):
        tkw.set_symbol(Q, tkw.extract(tkw.read(n), [0]))

        @tkw.iterate(Q, init_args=[tkw.read(a)])
        def loop(x):
            return x + 1

        tkw.write(loop, c)

    a = ints(5, 70)
    check(kernel, {M: 5, N: 70, R: 1, BM: 4, BN: 64}, [np.array([10], np.int32), a, np.zeros_like(a)], {2: a + 3})


RESHAPES = [
    ((16, 64), (P, Q), (8, 128)),
    ((8, 64), (P,), (512,)),
    ((4, 32), (P, Q), (32, 4)),
    ((64, 6), (Q, P), (12, 32)),
]


@pytest.mark.parametrize(("shape", "dims", "after"), RESHAPES, ids=lambda v: str(v))
@pytest.mark.parametrize(("dtype", "array"), [(tkl.f32, np.float32), (tkl.f16, np.float16), (tkl.i8, np.int8)])
def test_reshape(shape: tuple, dims: tuple, after: tuple, dtype, array) -> None:
    @tkw.wave([tkw.WorkgroupConstraint(M, M, 0), tkw.WaveConstraint(M, M / 2), tkw.HardwareConstraint(64)])
    def kernel(a: tkl.Memory[M, N, GLOBAL, dtype], c: tkl.Memory[(*dims, GLOBAL, dtype)]):
        tkw.write(tkw.reshape(tkw.read(a) + 1, dims), c)

    a = ints(*shape, dtype=array)
    subs = {M: shape[0], N: shape[1], **dict(zip(dims, after, strict=True))}
    check(kernel, subs, [a, np.zeros(after, array)], {1: (a + 1).reshape(after)})


def test_threads_as_symbols() -> None:
    @tkw.wave([tkw.WorkgroupConstraint(M, 256, 0), tkw.WaveConstraint(M, 128), tkw.HardwareConstraint(64)])
    def kernel(c: tkl.Memory[M, GLOBAL, tkl.i32]):
        tkw.write(tkw.broadcast(tkw.scalar(THREAD_0 + 1000 * WORKGROUP_0, tkl.i32), [M]), c)

    want = (np.arange(512) % 256 // 2 + np.arange(512) // 256 * 1000).astype(np.int32)
    check(kernel, {M: 512}, [np.zeros(512, np.int32)], {0: want})


def test_trip_counter_of_ones_own() -> None:
    TRIP = tkl.sym.TRIP

    @tkw.wave([*rows(), tkw.TilingConstraint(P, 4, induction_var=TRIP)])
    def kernel(a: tkl.Memory[M, N, GLOBAL, tkl.i32], c: tkl.Memory[M, N, GLOBAL, tkl.i32]):
        @tkw.iterate(P, init_args=[tkw.read(a)])
        def loop(x):
            return x + tkw.broadcast(tkw.scalar(TRIP * TRIP, tkl.i32), [M, N])

        tkw.write(loop, c)

    a = ints(5, 70, dtype=np.int32)
    check(kernel, {M: 5, N: 70, P: 13, BM: 4, BN: 64}, [a, np.zeros_like(a)], {1: a + 0 + 1 + 4 + 9})


def test_conditional_starts_from_its_other_values() -> None:
    @tkw.wave(rows())
    def kernel(a: tkl.Memory[M, N, GLOBAL, tkl.f32], c: tkl.Memory[M, N, GLOBAL, tkl.f32], n: tkl.f32):
        zero = tkl.Register[M, N, tkl.f32](4.0)

        @tkw.conditional(n > tkw.scalar(0.5, tkl.f32), else_return=[zero])
        def sums(start: tkl.Register[M, N, tkl.f32]) -> tkl.Register[M, N, tkl.f32]:
            return start + tkw.read(a)

        tkw.write(sums, c)

    a = ints(5, 70)
    for n, want in ((0.0, np.full_like(a, 4)), (1.0, a + 4)):
        check(kernel, {M: 5, N: 70, BM: 4, BN: 64}, [a, np.zeros_like(a), n], {1: want})


BAD = {
    "position 7 along M: a lane holds 4": lambda a, i: tkw.extract(tkw.read(a), 7),
    "reshape is of a tile": lambda a, i: tkw.reshape(tkw.read(a), [R]),
    "positions are integers": lambda a, i: tkw.scatter_add(tkw.read(a), tkw.read(a), 0, a),
    "scatter_add: dim 1 of a tile": lambda a, i: tkw.scatter_add(tkw.read(a), tkw.read(i), 1, a),
    "has no dim R": lambda a, i: tkw.scatter_add(tkw.read(a), tkw.read(i), R, a),
}


@pytest.mark.parametrize("message", BAD)
def test_mistakes(message: str) -> None:
    @tkw.wave([tkw.WorkgroupConstraint(M, 256, 0), tkw.HardwareConstraint(64, vector_shapes={M: 256})])
    def kernel(a: tkl.Memory[M, GLOBAL, tkl.f32], i: tkl.Memory[M, GLOBAL, tkl.i32], c: tkl.Memory[R, GLOBAL, tkl.f32]):
        x = BAD[message](a, i)
        if x is not None:
            tkw.write(tkw.broadcast(x, [R]), c)

    with pytest.raises(CompileError, match=rf"test_parts.py:\d+:\d+: error: .*{message}"):
        compiled(kernel, {M: 512, R: 16})


def test_extract_of_a_product() -> None:
    """What is made of a lane's element is where the lane had its elements, though memory would be written otherwise."""
    rules = [tkw.WorkgroupConstraint(M, 16, 0), tkw.WorkgroupConstraint(N, 16, 1),
             tkw.HardwareConstraint(64, mma_type=tkw.MMAType.F32_16x16x16_F16)]  # fmt: skip

    @tkw.wave(rules)
    def kernel(
        a: tkl.Memory[M, P, GLOBAL, tkl.f16], b: tkl.Memory[N, P, GLOBAL, tkl.f16], c: tkl.Memory[M, N, GLOBAL, tkl.f32]
    ):
        product = tkw.mma(tkw.read(a), tkw.read(b), tkl.Register[M, N, tkl.f32](0.0))
        tkw.write(tkw.broadcast(tkw.extract(product, [2, 0]), [M, N]), c)

    a, b = ints(16, 16, dtype=np.float16), ints(16, 16, dtype=np.float16)
    want = np.repeat((a.astype(np.float32) @ b.T.astype(np.float32))[2::4], 4, 0)
    check(kernel, {M: 16, N: 16, P: 16}, [a, b, np.zeros_like(want)], {2: want})


def test_old_values_of_elements_that_several_lanes_hold() -> None:
    """One of them does the atomic, and all get what it found: each workgroup takes a row by a counter."""
    SLOT = tkl.sym.SLOT
    rules = [tkw.WorkgroupConstraint(M, 1, 0), tkw.WorkgroupConstraint(N, N, 1), tkw.WaveConstraint(N, 64),
             tkw.HardwareConstraint(64, vector_shapes={M: 1, N: 64, R: 1})]  # fmt: skip
    i, j = tkw.IndexMapping.iterator(0), tkw.IndexMapping.iterator(1)
    to_slot = tkw.IndexMapping(2, {M: i, N: j}, {P: SLOT, N: j})

    @tkw.wave(rules)
    def kernel(
        x: tkl.Memory[M, N, GLOBAL, tkl.f32], count: tkl.Memory[R, GLOBAL, tkl.i32],
        total: tkl.Memory[M, GLOBAL, tkl.f32], y: tkl.Memory[P, N, GLOBAL, tkl.f32],
    ):  # fmt: skip
        tkw.set_symbol(SLOT, tkw.atomic_add(tkl.Register[R, tkl.i32](1), count))
        value = tkw.read(x)
        before = tkw.atomic_add(tkw.sum(value, dim=N, block=True), total)
        tkw.write(value + tkw.broadcast(before, [M, N]), y, mapping=to_slot)

    x, total = ints(5, 128), ints(5)
    made = compiled(kernel, {M: 5, N: 128, R: 1, P: 5})
    args = [x, np.zeros(1, np.int32), total.copy(), np.zeros_like(x)]
    sim.run(made._compiled.module, args, order="random")
    rows = x + total[:, None]
    np.testing.assert_array_equal(args[2], total + x.sum(1))
    assert args[1] == 5 and sorted(map(bytes, args[3])) == sorted(map(bytes, rows))
