"""Waves that divide the contracted dim of an MMA: each has a part of the sum."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from running import check
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import SHARED_ADDRESS_SPACE as SHARED
from wave_mlir.wave.kernel import WaveKernel
from wave_mlir.wave.values import Value

M, N, K, T, SPACE = tkl.sym.M, tkl.sym.N, tkl.sym.K, tkl.sym.T, tkl.sym.SPACE
F16, F32, I8, I32 = tkl.f16, tkl.f32, tkl.i8, tkl.i32
ACC = tkl.Register[M, N, F32]
KINDS = {F16: tkw.MMAType.F32_16x16x16_F16, I8: tkw.MMAType.I32_16x16x32_I8}


def ints(*shape: int, dtype: type = np.float16, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(dtype)


def rules(*waves: tkw.Constraint, dtype: tkl.DataType = F16, tile: int = 64, **hardware) -> list[tkw.Constraint]:
    grid = [tkw.WorkgroupConstraint(M, 32, 0), tkw.WorkgroupConstraint(N, 32, 1), tkw.TilingConstraint(K, tile)]
    return [*grid, *waves, tkw.HardwareConstraint(64, mma_type=KINDS[dtype], **hardware)]


def gemm(constraints: list, step: Callable[[Value, Value, Value], Value], dtype=F16, out=F32, start=0) -> WaveKernel:
    """A loop over K whose trips do `step` with tiles of both operands and what is carried."""

    @tkw.wave(constraints)
    def kernel(
        a: tkl.Memory[M, K, SPACE, dtype], b: tkl.Memory[N, K, SPACE, dtype], c: tkl.Memory[M, N, GLOBAL, out]
    ):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, out](start)])
        def loop(acc):
            return step(tkw.read(a), tkw.read(b), acc)

        tkw.write(loop, c)

    return kernel


def barriers_in_loop(ir: str) -> int:
    """Sums over waves would put some there: the operands need none."""
    body = ir[ir.index("wave.iterate") : ir.index("wave.yield")]
    return body.count("barrier")


WAVES = {
    "k": [tkw.WaveConstraint(K, 16)],
    "mk": [tkw.WaveConstraint(M, 16), tkw.WaveConstraint(K, 32)],
    "mnk": [tkw.WaveConstraint(K, 32), tkw.WaveConstraint(M, 16), tkw.WaveConstraint(N, 16)],
}


@pytest.mark.thin(4)
@pytest.mark.parametrize("waves", WAVES)
@pytest.mark.parametrize(("k", "space", "dynamic"), [(256, SHARED, False), (100, GLOBAL, False), (200, SHARED, True)])
def test_gemm(waves: str, k: int, space: tkl.IndexSymbol, dynamic: bool) -> None:
    """From an initial value other than 0, which counts once."""
    kernel = gemm(rules(*WAVES[waves]), lambda a, b, acc: tkw.mma(a, b, acc), start=3.0)
    a, b = ints(40, k), ints(64, k, seed=1)
    want = a.astype(np.float32) @ b.T.astype(np.float32) + 3
    subs = {M: 40, N: 64, SPACE: space} | ({} if dynamic else {K: k})
    made = check(kernel, subs, [a, b, np.zeros_like(want)], {2: want}, dynamic=[K] if dynamic else [])
    assert space is SHARED or barriers_in_loop(made.ir("scheduled")) == 0, "parts are added after the loop"


def test_no_trips() -> None:
    kernel = gemm(rules(*WAVES["mk"]), lambda a, b, acc: tkw.mma(a, b, acc), start=3.0)
    args = [ints(32, 0), ints(32, 0), np.zeros((32, 32), np.float32)]
    check(kernel, {M: 32, N: 32, SPACE: GLOBAL}, args, {2: np.full((32, 32), 3, np.float32)}, dynamic=[K], isa=False)


def test_integers() -> None:
    kernel = gemm(rules(*WAVES["mk"], dtype=I8), lambda a, b, acc: tkw.mma(a, b, acc), I8, I32)
    a, b = ints(32, 160, dtype=np.int8), ints(32, 160, dtype=np.int8, seed=1)
    want = a.astype(np.int32) @ b.T.astype(np.int32)
    check(kernel, {M: 32, N: 32, K: 160, SPACE: SHARED}, [a, b, np.zeros_like(want)], {2: want})


def test_two_products_a_trip() -> None:
    """One sum over waves for both."""
    kernel = gemm(rules(*WAVES["mk"]), lambda a, b, acc: tkw.mma(a + 1, b, tkw.mma(a, b, acc)))
    a, b = ints(32, 128), ints(32, 128, seed=1)
    want = (2 * a.astype(np.float32) + 1) @ b.T.astype(np.float32)
    made = check(kernel, {M: 32, N: 32, K: 128, SPACE: GLOBAL}, [a, b, np.zeros_like(want)], {2: want})
    assert barriers_in_loop(made.ir("scheduled")) == 0


def test_sums_that_a_trip_needs() -> None:
    """The carried value is doubled, so the parts of a trip are added in it."""
    kernel = gemm(rules(*WAVES["mk"]), lambda a, b, acc: tkw.mma(a, b, acc + acc) - 1.0)
    a, b = ints(32, 192), ints(32, 192, seed=1)
    want = np.zeros((32, 32), np.float32)
    for at in range(0, 192, 64):
        want = 2 * want + a[:, at : at + 64].astype(np.float32) @ b[:, at : at + 64].T.astype(np.float32) - 1
    check(kernel, {M: 32, N: 32, K: 192, SPACE: SHARED}, [a, b, np.zeros_like(want)], {2: want})


def test_loops_in_loops_and_none() -> None:
    """K walked inside a loop over batches, each of which ends with what is on its way there; and K not walked."""

    @tkw.wave(rules(*WAVES["k"], tkw.TilingConstraint(T, 1)))
    def kernel(
        a: tkl.Memory[M, K, GLOBAL, F16], b: tkl.Memory[N, K, GLOBAL, F16], c: tkl.Memory[M, N, GLOBAL, F32]
    ):
        @tkw.iterate(T, init_args=[ACC(1.0)])
        def batches(total):
            @tkw.iterate(K, init_args=[total])
            def loop(acc):
                return tkw.mma(tkw.read(a), tkw.read(b), acc)

            return loop * 0.5

        tkw.write(batches, c)

    a, b = ints(32, 128), ints(32, 128, seed=1)
    product = a.astype(np.float32) @ b.T.astype(np.float32)
    want = ((1 + product) / 2 + product) / 2
    check(kernel, {M: 32, N: 32, K: 128, T: 2}, [a, b, np.zeros_like(want)], {2: want})

    @tkw.wave([r for r in rules(*WAVES["k"]) if not isinstance(r, tkw.TilingConstraint)]
              + [tkw.WorkgroupConstraint(K, 64, 2)])  # fmt: skip
    def once(a: tkl.Memory[M, K, SHARED, F16], b: tkl.Memory[N, K, SHARED, F16], c: tkl.Memory[M, N, GLOBAL, F32]):
        tkw.atomic_add(tkw.mma(tkw.read(a), tkw.read(b), ACC(0.0)), c)

    check(once, {M: 32, N: 32, K: 128}, [a, b, np.zeros_like(want)], {2: product})
