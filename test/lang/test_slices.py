"""extract_slice: elements of what a lane holds, which keep their places in the tile."""

from __future__ import annotations

import numpy as np
import pytest
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from running import check, compiled
from wave_mlir.compiler.diagnostics import CompileError
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import SHARED_ADDRESS_SPACE as SHARED
from wave_mlir.wave.values import Value

M, N, K, P, Q = tkl.sym.M, tkl.sym.N, tkl.sym.K, tkl.sym.P, tkl.sym.Q
ROWS = [tkw.WorkgroupConstraint(M, 1, 0), tkw.WorkgroupConstraint(N, 256, 1)]
RULES = [*ROWS, tkw.HardwareConstraint(64, vector_shapes={M: 1, N: 256})]
F32 = tkl.f32
X = tkl.Memory[M, N, GLOBAL, tkl.f32]


def ints(*shape: int, dtype: type = np.float32, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(-8, 9, shape).astype(dtype)


def kept(n: int, held: int, offset: int, size: int, stride: int) -> np.ndarray:
    """Which of n elements along a dim a slice keeps, where lanes hold `held` neighbours each."""
    return np.isin(np.arange(n) % held, [offset + i * stride for i in range(size)])


@pytest.mark.parametrize(("offset", "size", "stride"), [(0, 2, 1), (1, 2, 2), (3, 1, 1), (0, 2, 3), (0, 4, 1)])
@pytest.mark.parametrize("n", [512, 301])
def test_written(offset: int, size: int, stride: int, n: int) -> None:
    @tkw.wave(RULES)
    def kernel(x: X, y: X):
        part = tkw.extract_slice(tkw.read(x, elements_per_thread=4), [0, offset], [1, size], [1, stride])
        tkw.write(part * 2.0 + 1.0, y)

    x, y = ints(3, n), ints(3, n, seed=1)
    want = np.where(kept(n, 4, offset, size, stride), x * 2 + 1, y)
    made = check(kernel, {M: 3, N: n}, [x, y], {1: want})
    runs = size if stride > 1 else 1
    assert n % 256 or made.ir("lane").count("wave.buffer_store") == runs, "nothing is stored outside of the slice"


@pytest.mark.parametrize("kind", ["sum", "max", "min"])
def test_reduced(kind: str) -> None:
    """Combined over the elements of the part only; of a part of a part; with an element of it taken out."""

    @tkw.wave(RULES)
    def kernel(x: X, y: tkl.Memory[M, GLOBAL, tkl.f32], z: X):
        odd = tkw.extract_slice(tkw.read(x, elements_per_thread=4), [0, 1], [1, 2], [1, 2])
        last = tkw.extract_slice(odd, [0, 1], [1, 1], [1, 1])
        tkw.write(getattr(tkw, kind)(last, dim=N), y)
        tkw.write(tkw.broadcast(tkw.extract(odd, [0, 1]), [M, N]), z)

    x = ints(3, 200) + 20
    want = getattr(x[:, 3::4], kind)(1)
    args = [x, np.zeros(3, np.float32), np.zeros_like(x)]
    check(kernel, {M: 3, N: 200}, args, {1: want, 2: np.repeat(x[:, 3::4], 4, 1)})


def test_scans_and_selections() -> None:
    @tkw.wave(RULES)
    def kernel(x: X, y: X, top: tkl.Memory[M, P, GLOBAL, F32], at: tkl.Memory[M, P, GLOBAL, tkl.i32]):
        part = tkw.extract_slice(tkw.read(x, elements_per_thread=4), [0, 1], [1, 2], [1, 1])
        tkw.write(tkw.cumsum(part, dim=N), y)
        values, places = tkw.topk(part, P, N)
        tkw.write(values, top)
        tkw.write(places, at)

    x = ints(2, 256)
    keep = kept(256, 4, 1, 2, 1)
    want = np.where(keep, np.cumsum(np.where(keep, x, 0), 1), 7).astype(np.float32)
    order = np.argsort(np.where(keep, -x, 100), 1, kind="stable")[:, :3]
    args = [x, np.full_like(x, 7), np.zeros((2, 3), np.float32), np.zeros((2, 3), np.int32)]
    check(kernel, {M: 2, N: 256, P: 3}, args, {1: want, 2: np.take_along_axis(x, order, 1), 3: order.astype(np.int32)})


@pytest.mark.parametrize("space", [GLOBAL, SHARED])
@pytest.mark.parametrize("k", [64, 100])
def test_operands_of_mma(space: tkl.IndexSymbol, k: int) -> None:
    """In a loop: the product of the first halves of what lanes hold, less that of the second."""
    rules = [tkw.WorkgroupConstraint(M, 32, 0), tkw.WorkgroupConstraint(N, 32, 1), tkw.TilingConstraint(K, 32),
             tkw.WaveConstraint(M, 16), tkw.WaveConstraint(N, 16),
             tkw.HardwareConstraint(64, mma_type=tkw.MMAType.F32_16x16x16_F16)]  # fmt: skip

    @tkw.wave(rules)
    def kernel(
        a: tkl.Memory[M, K, space, tkl.f16], b: tkl.Memory[N, K, space, tkl.f16], c: tkl.Memory[M, N, GLOBAL, F32]
    ):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, F32](0.0)])
        def loop(acc):
            left, right = tkw.read(a), tkw.read(b)
            first = [tkw.extract_slice(v, [0, 0], [1, 4], [1, 2]) for v in (left, right)]
            second = [tkw.extract_slice(v, [0, 1], [1, 4], [1, 2]) for v in (left, -right)]
            return tkw.mma(*second, tkw.mma(*first, acc))

        tkw.write(loop, c)

    a, b = ints(48, k, dtype=np.float16), ints(40, k, dtype=np.float16, seed=1)
    sign = np.where(np.arange(k) % 2, -1, 1).astype(np.float32)
    want = (a * sign) @ b.T.astype(np.float32)
    check(kernel, {M: 48, N: 40, K: k}, [a, b, np.zeros_like(want)], {2: want})


def test_results_of_mma() -> None:
    """Two of the four rows that a lane has of the result, added to memory."""
    rules = [tkw.WorkgroupConstraint(M, 16, 0), tkw.WorkgroupConstraint(N, 16, 1),
             tkw.HardwareConstraint(64, mma_type=tkw.MMAType.F32_16x16x16_F16)]  # fmt: skip

    @tkw.wave(rules)
    def kernel(
        a: tkl.Memory[M, K, GLOBAL, tkl.f16], b: tkl.Memory[N, K, GLOBAL, tkl.f16], c: tkl.Memory[M, N, GLOBAL, F32]
    ):
        product = tkw.mma(tkw.read(a), tkw.read(b), tkl.Register[M, N, F32](0.0))
        tkw.atomic_add(tkw.extract_slice(product, [1, 0], [2, 1], [1, 1]), c)

    a, b, c = ints(16, 16, dtype=np.float16), ints(16, 16, dtype=np.float16, seed=1), ints(16, 16, seed=2)
    whole = a.astype(np.float32) @ b.T.astype(np.float32)
    made = compiled(kernel, {M: 16, N: 16, K: 16})
    made(a, b, given := c.copy())
    rows = kept(16, 4, 1, 2, 1)
    np.testing.assert_array_equal(given, np.where(rows[:, None], c + whole, c))


def test_carried_and_chosen() -> None:
    """Parts carried by a loop and chosen by a condition stay parts; waves divide the dim."""
    rules = [tkw.WorkgroupConstraint(M, 1, 0), tkw.WorkgroupConstraint(N, 512, 1), tkw.WaveConstraint(N, 256),
             tkw.TilingConstraint(K, 1), tkw.HardwareConstraint(64, vector_shapes={M: 1, N: 256})]  # fmt: skip

    @tkw.wave(rules)
    def kernel(x: X, y: X, flag: tkl.i32):
        part = tkw.extract_slice(tkw.read(x, elements_per_thread=4), [0, 2], [1, 2], [1, 1])

        @tkw.iterate(K, init_args=[tkl.Register[M, N, F32](0.0)])
        def loop(acc):
            return acc + part

        @tkw.conditional(flag > tkw.scalar(0, tkl.i32), else_return=[loop])
        def result(start: tkl.Register[M, N, F32]) -> tkl.Register[M, N, F32]:
            return start * 2.0

        tkw.write(result, y)

    x, y = ints(2, 700), ints(2, 700, seed=1)
    for flag in (0, 1):
        want = np.where(kept(700, 4, 2, 2, 1), x * 3 * (1 + flag), y)
        check(kernel, {M: 2, N: 700, K: 3}, [x, y, flag], {1: want})


def test_bitcast_and_reshape() -> None:
    half = [tkw.WorkgroupConstraint(N, N, 0), tkw.HardwareConstraint(64, vector_shapes={N: 256})]

    @tkw.wave(half)
    def kernel(
        x: tkl.Memory[N, GLOBAL, tkl.i16], y: tkl.Memory[N / 2, GLOBAL, tkl.i32], z: tkl.Memory[P, Q, GLOBAL, tkl.i16]
    ):
        part = tkw.extract_slice(tkw.read(x, elements_per_thread=4), [1], [3], [1])
        tkw.write(tkw.bitcast(part, tkl.i32), y)
        tkw.write(tkw.reshape(part, [P, Q]), z)

    x = ints(256, dtype=np.int16)
    y, z = np.full(128, 5, np.int32), np.full((16, 16), 5, np.int16)
    whole = np.arange(128) % 2 == 1
    want = np.where(whole, x.view(np.int32), y), np.where(kept(256, 4, 1, 3, 1), x, 5).reshape(16, 16).astype(np.int16)
    check(kernel, {N: 256, P: 16, Q: 16}, [x, y, z], {1: want[0], 2: want[1]})


def parts(x: Value, *offsets: int) -> list[Value]:
    """Single elements of the four that a lane has."""
    return [tkw.extract_slice(x, [0, offset], [1, 1], [1, 1]) for offset in offsets]


MISTAKES = {
    "takes elements 0 to 4 in steps of 2 along N, and a lane holds 4": lambda x: tkw.extract_slice(
        x, [0, 0], [1, 3], [1, 2]
    ),
    "no element in common along N": lambda x: sum(parts(x, 1), *parts(x, 0)),
    "position 2 along N of a slice that has 1 of": lambda x: tkw.extract(*parts(x, 2), [0, 2]),
    "is known at run time only": lambda x: tkw.extract_slice(x, [0, 0], [1, P], [1, 1]),
    "need 2 numbers each": lambda x: tkw.extract_slice(x, [0], [1], [1]),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes(message: str) -> None:
    @tkw.wave(RULES)
    def kernel(x: X, y: tkl.Memory[M, P, GLOBAL, F32]):
        MISTAKES[message](tkw.read(x, elements_per_thread=4))

    with pytest.raises(CompileError, match=rf"test_slices.py:\d+:\d+: error: .*{message}"):
        compiled(kernel, {M: 1, N: 256}, dynamic=[P])


def test_mistake_with_scales() -> None:
    rules = [tkw.WorkgroupConstraint(M, 16, 0), tkw.WorkgroupConstraint(N, 16, 1),
             tkw.HardwareConstraint(64, mma_type=tkw.ScaledMMAType.F32_16x16x128_F8F6F4)]  # fmt: skip

    @tkw.wave(rules)
    def kernel(
        a: tkl.Memory[M, K, GLOBAL, tkl.i8], scale: tkl.Memory[M, K / 32, GLOBAL, tkl.i8],
        b: tkl.Memory[N, K, GLOBAL, tkl.i8], other: tkl.Memory[N, K / 32, GLOBAL, tkl.i8],
        c: tkl.Memory[M, N, GLOBAL, F32],
    ):  # fmt: skip
        x, y = (tkw.bitcast(tkw.read(v), tkl.f8e4m3fn) for v in (a, b))
        xs, ys = (tkw.bitcast(tkw.read(v), tkl.f8e8m0fnu) for v in (scale, other))
        part = tkw.extract_slice(xs, [0, 0], [1, 1], [1, 1])
        tkw.write(tkw.scaled_mma(x, part, y, ys, tkl.Register[M, N, F32](0.0)), c)

    with pytest.raises(CompileError, match="a scale here is a part of a tile"):
        compiled(kernel, {M: 16, N: 16, K: 256}, target="gfx950")
