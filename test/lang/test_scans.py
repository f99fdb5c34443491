"""cumsum and topk against numpy."""

from __future__ import annotations

import numpy as np
import pytest
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from running import check, compiled
from wave_mlir.compiler.diagnostics import CompileError
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL

M, N, KD, BM, BN = tkl.sym.M, tkl.sym.N, tkl.sym.KD, tkl.sym.BLOCK_M, tkl.sym.BLOCK_N
T, TRIP = tkl.sym.T, tkl.sym.TRIP
SHAPES = [(70, {M: 1, N: BN}), (128, {M: 1, N: BN}), (300, {M: 1, N: BN}), (64, {M: 4, N: 64}), (20, {M: 4, N: BN})]


def constraints(shapes: dict) -> list:
    hardware = tkw.HardwareConstraint(64, vector_shapes=shapes)
    return [tkw.WorkgroupConstraint(M, BM, 0), tkw.WorkgroupConstraint(N, BN, 1), hardware]


def subs(n: int) -> dict:
    return {M: 13, N: n, BM: 4, BN: 1 << (n - 1).bit_length()}


@pytest.mark.thin(3)
@pytest.mark.parametrize(("n", "shapes"), SHAPES, ids=lambda v: str(v) if isinstance(v, int) else "")
@pytest.mark.parametrize(("dtype", "array"), [(tkl.f32, np.float32), (tkl.i32, np.int32)])
def test_cumsum(n: int, shapes: dict, dtype, array) -> None:
    @tkw.wave(constraints(shapes))
    def kernel(a: tkl.Memory[M, N, GLOBAL, dtype], c: tkl.Memory[M, N, GLOBAL, dtype]):
        tkw.write(tkw.cumsum(tkw.read(a) + 1, dim=N), c)

    a = np.random.default_rng(n).integers(-9, 9, (13, n)).astype(array)
    check(kernel, subs(n), [a, np.zeros_like(a)], {1: (a + 1).cumsum(1).astype(array)})


def test_cumsum_over_rows() -> None:
    """The dim is in registers only."""

    @tkw.wave(constraints({M: 1, N: BN}))
    def kernel(a: tkl.Memory[M, N, GLOBAL, tkl.f32], c: tkl.Memory[M, N, GLOBAL, tkl.f32]):
        tkw.write(tkw.cumsum(tkw.read(a), dim=M), c)

    a = np.random.default_rng(0).integers(-9, 9, (13, 70)).astype(np.float32)
    check(kernel, {M: 13, N: 70, BM: 16, BN: 64}, [a, np.zeros_like(a)], {1: a.cumsum(0)})


@pytest.mark.thin(7)
@pytest.mark.parametrize(("n", "shapes"), SHAPES, ids=lambda v: str(v) if isinstance(v, int) else "")
@pytest.mark.parametrize(("k", "dtype", "array"), [(1, tkl.f32, np.float32), (5, tkl.i32, np.int32)])
def test_topk(n: int, shapes: dict, k: int, dtype, array) -> None:
    @tkw.wave([*constraints(shapes), tkw.TilingConstraint(KD)])
    def kernel(
        a: tkl.Memory[M, N, GLOBAL, dtype],
        v: tkl.Memory[M, KD, GLOBAL, dtype],
        p: tkl.Memory[M, KD, GLOBAL, tkl.i32],
    ):
        values, positions = tkw.topk(tkw.read(a), KD, N)
        tkw.write(values, v)
        tkw.write(positions, p)

    a = np.random.default_rng(n).integers(-9, -1, (13, n)).astype(array)  # all below 0, and many equal
    order = np.argsort(-a, 1, kind="stable")[:, :k]
    args = [a, np.zeros((13, k), array), np.zeros((13, k), np.int32)]
    want = {1: np.take_along_axis(a, order, 1), 2: order.astype(np.int32)}
    check(kernel, {**subs(n), KD: k}, args, want)


@pytest.mark.thin(3)
@pytest.mark.parametrize(("n", "waves"), [(128, 2), (500, 4), (70, 2), (256, 1)])
@pytest.mark.parametrize("block", [True, False])
def test_cumsum_over_waves(n: int, waves: int, block: bool) -> None:
    divided = [*constraints({M: 1, N: BN / waves}), tkw.WaveConstraint(N, BN / waves)]

    @tkw.wave(divided)
    def scan(a: tkl.Memory[M, N, GLOBAL, tkl.i32], c: tkl.Memory[M, N, GLOBAL, tkl.i32]):
        tkw.write(tkw.cumsum(tkw.read(a), dim=N, block=block), c)

    a = np.random.default_rng(n).integers(-9, 9, (6, n)).astype(np.int32)
    check(scan, {**subs(n), M: 6, BM: 2}, [a, np.zeros_like(a)], {1: a.cumsum(1).astype(np.int32)})


def best_of(a: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Values and positions of the k greatest of each row."""
    order = np.argsort(-a.astype(np.float64), 1, kind="stable")[:, :k]
    return np.take_along_axis(a, order, 1), order.astype(np.int32)


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    ("n", "waves", "k", "kind"),
    [(128, 2, 3, "f32"), (500, 4, 8, "i32"), (70, 2, 1, "f16"), (16, 4, 11, "f32"), (256, 8, 5, "bf16")],
)
def test_topk_over_waves(n: int, waves: int, k: int, kind: str) -> None:
    """Also where a wave has fewer elements than are wanted, and many are equal; rows in registers and lanes."""
    dtype = getattr(tkl, kind)
    stored = tkl.f32 if dtype == tkl.bf16 else dtype
    divided = [*constraints({M: 1, N: BN / waves}), tkw.WaveConstraint(N, BN / waves), tkw.TilingConstraint(KD)]

    @tkw.wave(divided)
    def best(
        a: tkl.Memory[M, N, GLOBAL, stored], v: tkl.Memory[M, KD, GLOBAL, stored], p: tkl.Memory[M, KD, GLOBAL, tkl.i32]
    ):
        values, places = tkw.topk(tkw.cast(tkw.read(a), dtype), KD, N)
        tkw.write(tkw.cast(values, stored), v)
        tkw.write(places, p)

    array = {"i32": np.int32, "f16": np.float16}.get(kind, np.float32)
    a = np.random.default_rng(n).integers(-9, -1, (3, n)).astype(array)
    values, places = best_of(a, k)
    args = [a, np.zeros_like(values), np.zeros_like(places)]
    check(best, {**subs(n), M: 3, BM: 2, KD: k}, args, {1: values, 2: places}, isa=n != 256)


def test_topk_over_waves_in_a_loop() -> None:
    """Waves divide rows too; lists go through LDS in each trip of a loop, and what is found is taken away."""
    divided = [*constraints({M: 1, N: BN / 2}), tkw.WaveConstraint(N, BN / 2), tkw.WaveConstraint(M, BM / 2),
               tkw.TilingConstraint(KD), tkw.TilingConstraint(T, 1, induction_var=TRIP)]  # fmt: skip
    i, j = tkw.IndexMapping.iterator(0), tkw.IndexMapping.iterator(1)
    at_trip = tkw.IndexMapping(2, {M: i, KD: j}, {T: TRIP, M: i, KD: j})

    @tkw.wave(divided)
    def best(a: tkl.Memory[M, N, GLOBAL, tkl.f32], v: tkl.Memory[T, M, KD, GLOBAL, tkl.f32]):
        @tkw.iterate(T, init_args=[tkw.read(a)])
        def loop(x):
            values, places = tkw.topk(x, KD, N)
            tkw.write(values, v, mapping=at_trip)
            least = tkw.min(values, dim=KD)
            return tkw.select(x >= tkw.broadcast(least, [M, N]), x - 20.0, x)

        del loop

    a = np.random.default_rng(0).permuted(np.tile(np.arange(128, dtype=np.float32), (6, 1)), axis=1)
    want, x = [], a
    for _ in range(3):
        want.append(best_of(x, 5)[0])
        x = np.where(x >= want[-1].min(1, keepdims=True), x - 20, x)
    args = [a, np.zeros((3, 6, 5), np.float32)]
    check(best, {M: 6, N: 128, BM: 4, BN: 128, KD: 5, T: 3}, args, {1: np.stack(want)})


def test_topk_in_a_loop() -> None:
    """The greatest of each tile that a loop walks, at its position in the whole dim."""
    i, j = tkw.IndexMapping.iterator(0), tkw.IndexMapping.iterator(1)
    at_trip = tkw.IndexMapping(2, {M: i, KD: j}, {T: TRIP, M: i, KD: j})
    rules = [tkw.WorkgroupConstraint(M, BM, 0), tkw.TilingConstraint(N, BN, induction_var=TRIP),
             tkw.TilingConstraint(KD), tkw.HardwareConstraint(64, vector_shapes={M: 1, N: 32})]  # fmt: skip

    @tkw.wave(rules)
    def best(a: tkl.Memory[M, N, GLOBAL, tkl.i32], p: tkl.Memory[T, M, KD, GLOBAL, tkl.i32]):
        @tkw.iterate(N, init_args=[])
        def loop():
            tkw.write(tkw.topk(tkw.read(a), KD, N)[1], p, mapping=at_trip)

        del loop

    a = np.random.default_rng(0).integers(-9, -1, (4, 128)).astype(np.int32)
    want = np.stack([best_of(a[:, n : n + 32], 2)[1] + n for n in range(0, 128, 32)])
    check(best, {M: 4, N: 128, BM: 4, BN: 32, KD: 2, T: 4}, [a, np.zeros_like(want)], {1: want})


def test_topk_of_too_many() -> None:
    @tkw.wave([*constraints({M: 1, N: BN}), tkw.TilingConstraint(KD)])
    def best(a: tkl.Memory[M, N, GLOBAL, tkl.f32], c: tkl.Memory[M, KD, GLOBAL, tkl.f32]):
        tkw.write(tkw.topk(tkw.read(a), KD, N)[0], c)

    with pytest.raises(CompileError, match=r"test_scans.py:\d+:\d+.*the 65 greatest of 64 elements along N"):
        compiled(best, {M: 13, N: 64, BM: 4, BN: 64, KD: 65})
