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
SHAPES = [(70, {M: 1, N: BN}), (128, {M: 1, N: BN}), (300, {M: 1, N: BN}), (64, {M: 4, N: 64}), (20, {M: 4, N: BN})]


def constraints(shapes: dict) -> list:
    hardware = tkw.HardwareConstraint(64, vector_shapes=shapes)
    return [tkw.WorkgroupConstraint(M, BM, 0), tkw.WorkgroupConstraint(N, BN, 1), hardware]


def subs(n: int) -> dict:
    return {M: 13, N: n, BM: 4, BN: 1 << (n - 1).bit_length()}


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


@pytest.mark.thin(3)
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


@pytest.mark.parametrize(("n", "waves"), [(128, 2), (500, 4), (70, 2), (256, 1)])
@pytest.mark.parametrize("block", [True, False])
def test_cumsum_over_waves(n: int, waves: int, block: bool) -> None:
    divided = [*constraints({M: 1, N: BN / waves}), tkw.WaveConstraint(N, BN / waves)]

    @tkw.wave(divided)
    def scan(a: tkl.Memory[M, N, GLOBAL, tkl.i32], c: tkl.Memory[M, N, GLOBAL, tkl.i32]):
        tkw.write(tkw.cumsum(tkw.read(a), dim=N, block=block), c)

    a = np.random.default_rng(n).integers(-9, 9, (6, n)).astype(np.int32)
    check(scan, {**subs(n), M: 6, BM: 2}, [a, np.zeros_like(a)], {1: a.cumsum(1).astype(np.int32)})


def test_topk_over_waves_is_refused() -> None:
    divided = [*constraints({M: 1, N: 64}), tkw.WaveConstraint(N, BN / 2), tkw.TilingConstraint(KD)]

    @tkw.wave(divided)
    def best(a: tkl.Memory[M, N, GLOBAL, tkl.f32], c: tkl.Memory[M, KD, GLOBAL, tkl.f32]):
        tkw.write(tkw.topk(tkw.read(a), KD, N)[0], c)

    with pytest.raises(CompileError, match=r"test_scans.py:\d+:\d+.*give one wave all of (it|the dim)"):
        compiled(best, {M: 13, N: 128, BM: 4, BN: 128, KD: 2})
