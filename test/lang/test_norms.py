"""Reductions in combinations: softmax, norms, several dims, clusters, other dtypes."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import sympy
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from running import check
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL

B, K, M, N = tkl.sym.B, tkl.sym.K, tkl.sym.M, tkl.sym.N
BM, BN = tkl.sym.BLOCK_M, tkl.sym.BLOCK_N
RNG = np.random.default_rng(29)
REFERENCE = {"sum": np.sum, "max": np.max, "min": np.min}
DTYPES = {
    "f64": (tkl.f64, np.float64), "f32": (tkl.f32, np.float32), "f16": (tkl.f16, np.float16),
    "bf16": (tkl.bf16, ml_dtypes.bfloat16), "i64": (tkl.i64, np.int64), "i32": (tkl.i32, np.int32),
    "i16": (tkl.i16, np.int16), "i8": (tkl.i8, np.int8),
}  # fmt: skip


def ints(*shape: int, dtype=np.float32) -> np.ndarray:
    return RNG.integers(-2, 3, shape).astype(dtype)


def whole_rows(waves: int) -> list:
    """A row a workgroup, padded to whole waves, as the language's own kernels have it."""
    part = sympy.Max(sympy.ceiling(sympy.ceiling(N / waves) / 64) * 64, 64)
    return [
        tkw.WorkgroupConstraint(M, 1, 1),
        tkw.WorkgroupConstraint(N, part * waves, 0),
        tkw.WaveConstraint(M, 1),
        tkw.WaveConstraint(N, part),
        tkw.HardwareConstraint(64, vector_shapes={M: 1, N: part}),
    ]


@pytest.mark.thin(3)
@pytest.mark.parametrize("n", [1, 64, 100, 500])
@pytest.mark.parametrize("waves", [1, 4])
def test_softmax(n: int, waves: int) -> None:
    @tkw.wave(whole_rows(waves))
    def kernel(a: tkl.Memory[M, N, GLOBAL, tkl.f32], c: tkl.Memory[M, N, GLOBAL, tkl.f32]):
        x = tkw.read(a)
        x = tkw.exp(x - tkw.broadcast(tkw.max(x, dim=N, block=waves > 1), [M, N]))
        tkw.write(x / tkw.broadcast(tkw.sum(x, dim=N, block=waves > 1), [M, N]), c)

    a = RNG.standard_normal((3, n)).astype(np.float32) - 4
    e = np.exp(a.astype(np.float64) - a.max(1, keepdims=True))
    check(kernel, {M: 3, N: n}, [a, np.zeros_like(a)], {1: e / e.sum(1, keepdims=True)}, tolerance=1e-6)


def test_softmax_of_a_dim_without_constraint() -> None:
    @tkw.wave(
        [
            tkw.WorkgroupConstraint(M, 1, 1),
            tkw.WaveConstraint(M, 1),
            tkw.HardwareConstraint(64, vector_shapes={M: 1, N: N}),
        ]
    )
    def kernel(a: tkl.Memory[M, N, GLOBAL, tkl.f32], c: tkl.Memory[M, N, GLOBAL, tkl.f32]):
        x = tkw.read(a)
        x -= tkw.broadcast(tkw.max(x, dim=N), [M, N])
        x = tkw.exp2(x * 1.4426950408889634)
        tkw.write(x / tkw.broadcast(tkw.sum(x, dim=N), [M, N]), c)

    a = RNG.standard_normal((5, 200)).astype(np.float32)
    e = np.exp(a.astype(np.float64))
    check(kernel, {M: 5, N: 200}, [a, np.zeros_like(a)], {1: e / e.sum(1, keepdims=True)}, tolerance=1e-6)


@pytest.mark.parametrize("waves", [1, 2])
@pytest.mark.parametrize("n", [64, 300])
def test_layer_and_rms_norm(n: int, waves: int) -> None:
    @tkw.wave(whole_rows(waves))
    def kernel(
        a: tkl.Memory[M, N, GLOBAL, tkl.f16],
        w: tkl.Memory[N, GLOBAL, tkl.f16],
        layer: tkl.Memory[M, N, GLOBAL, tkl.f32],
        rms: tkl.Memory[M, N, GLOBAL, tkl.f32],
    ):
        x, g = tkw.cast(tkw.read(a), tkl.f32), tkw.cast(tkw.read(w), tkl.f32)
        count = tkw.cast(tkw.scalar(N, tkl.i32), tkl.f32)
        mean = tkw.sum(x, dim=N, block=True) / count
        centred = x - mean
        variance = tkw.sum(centred * centred, dim=N, block=True) / count
        tkw.write(centred * tkw.rsqrt(variance + 1e-5) * g, layer)
        tkw.write(x * tkw.rsqrt(tkw.sum(x * x, dim=N, block=True) / count + 1e-5) * g, rms)

    a, w = RNG.standard_normal((3, n)).astype(np.float16), RNG.standard_normal(n).astype(np.float16)
    x, g = a.astype(np.float64), w.astype(np.float64)
    layer = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * g
    rms = x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-5) * g
    zero = np.zeros((3, n), np.float32)
    check(kernel, {M: 3, N: n}, [a, w, zero, zero.copy()], {2: layer, 3: rms}, tolerance=2e-5)


@pytest.mark.thin(5)
@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("kind", REFERENCE)
def test_dtypes(kind: str, name: str) -> None:
    dtype, array = DTYPES[name]
    waves = 1 + (len(name) + len(kind)) % 2

    @tkw.wave(whole_rows(waves))
    def kernel(a: tkl.Memory[M, N, GLOBAL, dtype], c: tkl.Memory[M, GLOBAL, dtype]):
        tkw.write(getattr(tkw, kind)(tkw.read(a), dim=N, block=True), c)

    a = (ints(3, 150) + {"min": 4, "max": -4, "sum": 0}[kind]).astype(array)
    want = REFERENCE[kind](a.astype(np.float64), axis=1).astype(array)
    check(kernel, {M: 3, N: 150}, [a, np.zeros(3, array)], {1: want})


@pytest.mark.thin(3)
@pytest.mark.parametrize("shapes", [{M: 4, K: 16, N: 1}, {M: 1, K: 4, N: 16}, {M: 1, K: 1, N: 64}, {M: 0, K: 0, N: 64}])
@pytest.mark.parametrize("kind", ["sum", "max"])
def test_several_dims(shapes: dict, kind: str) -> None:
    """One dim after the other, in clusters of any size; each order."""

    @tkw.wave([tkw.WorkgroupConstraint(M, 4, 0), tkw.HardwareConstraint(64, vector_shapes=shapes)])
    def kernel(
        a: tkl.Memory[M, K, N, GLOBAL, tkl.f32],
        c: tkl.Memory[M, GLOBAL, tkl.f32],
        d: tkl.Memory[M, N, GLOBAL, tkl.f32],
    ):
        reduce = getattr(tkw, kind)
        x = tkw.read(a)
        tkw.write(reduce(reduce(x, dim=N), dim=K), c)
        tkw.write(tkw.broadcast(reduce(reduce(x, dim=K), dim=N), [M, N]) + reduce(x, dim=K), d)

    a = ints(6, 12, 40) - 5
    total, rows = REFERENCE[kind](a, axis=(1, 2)), REFERENCE[kind](a, axis=1)
    args = [a, np.zeros(6, np.float32), np.zeros((6, 40), np.float32)]
    check(kernel, {M: 6, K: 12, N: 40}, args, {1: total, 2: rows + total[:, None]})


@pytest.mark.thin(4)
@pytest.mark.parametrize("n", [3, 6, 24, 48, 96, 192])
def test_clusters_that_are_no_power_of_two(n: int) -> None:
    @tkw.wave(
        [
            tkw.WorkgroupConstraint(M, 8, 0),
            tkw.WorkgroupConstraint(N, N, 1),
            tkw.HardwareConstraint(64, vector_shapes={M: 1, N: N}),
        ]
    )
    def kernel(a: tkl.Memory[M, N, GLOBAL, tkl.f32], c: tkl.Memory[M, N, GLOBAL, tkl.f32]):
        x = tkw.read(a) + 1
        tkw.write(x * tkw.max(x, dim=N) + tkw.sum(x, dim=N), c)

    a = ints(11, n) - 7
    x = a + 1
    check(kernel, {M: 11, N: n}, [a, np.zeros_like(a)], {1: x * x.max(1, keepdims=True) + x.sum(1, keepdims=True)})


def test_online_softmax_terms() -> None:
    """Several accumulators of one loop, of a product, with a start of their own."""

    @tkw.wave(
        [
            tkw.WorkgroupConstraint(M, 1, 1),
            tkw.TilingConstraint(N, BN),
            tkw.WaveConstraint(M, 1),
            tkw.HardwareConstraint(64, vector_shapes={M: 1, N: BN}),
        ]
    )
    def kernel(
        a: tkl.Memory[M, N, GLOBAL, tkl.f32], b: tkl.Memory[M, N, GLOBAL, tkl.f32], c: tkl.Memory[M, GLOBAL, tkl.f32]
    ):
        @tkw.iterate(N, init_args=[tkl.Register[M, tkl.f32](-1e6), tkl.Register[M, tkl.f32](0)])
        def repeat(greatest: tkl.Register[M, tkl.f32], total: tkl.Register[M, tkl.f32]):
            x = tkw.read(a) * tkw.read(b)
            return tkw.max(x, greatest, dim=N), tkw.sum(x, total, dim=N)

        greatest, total = repeat
        tkw.write(greatest * 1000 + total, c)

    a, b = ints(5, 300), ints(5, 300)
    want = (a * b).max(1) * 1000 + (a * b).sum(1)
    check(kernel, {M: 5, N: 300, BN: 128}, [a, b, np.zeros(5, np.float32)], {2: want})


def test_cumsum_selects() -> None:
    """A sum, a scan and positions of one row compared: the first place where the scan passes a threshold."""

    @tkw.wave(
        [
            tkw.WorkgroupConstraint(N, sympy.ceiling(N / 64) * 64, 0),
            tkw.WaveConstraint(N, sympy.ceiling(N / 64) * 64),
            tkw.WorkgroupConstraint(M, 4, 1),
            tkw.HardwareConstraint(
                64, waves_per_block=(1, 1, 1), vector_shapes={M: 0, K: 0, N: sympy.ceiling(N / 64) * 64}
            ),
        ]
    )
    def kernel(a: tkl.Memory[M, K, N, GLOBAL, tkl.i32], c: tkl.Memory[M, K, N, GLOBAL, tkl.i32]):
        x = tkw.read(a)
        total = tkw.broadcast(tkw.sum(x, dim=N), target_shape=[M, K, N])
        place = tkw.broadcast(tkw.self_index(N, dtype=tkl.i32), target_shape=[M, K, N])
        tkw.write(tkw.select(total >= tkw.cumsum(x, dim=N) * 2, place, total), c)

    a = RNG.integers(0, 5, (6, 3, 100)).astype(np.int32)
    total = a.sum(2, keepdims=True)
    want = np.where(total >= a.cumsum(2) * 2, np.arange(100), total).astype(np.int32)
    check(kernel, {M: 6, K: 3, N: 100}, [a, np.zeros_like(a)], {1: want})
