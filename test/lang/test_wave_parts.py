"""A dim that the waves of a workgroup divide, each for results of its own, which another dim counts."""

from __future__ import annotations

import numpy as np
import pytest
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from running import check, compiled
from wave_mlir.compiler.diagnostics import CompileError
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import SHARED_ADDRESS_SPACE as SHARED

M, N, K, U, T = tkl.sym.M, tkl.sym.N, tkl.sym.K, tkl.sym.U, tkl.sym.T
PART = 64
GROUP = 2 * PART


def rules(*more: tkw.Constraint, size: int = PART, **hardware) -> list[tkw.Constraint]:
    alias = tkw.SymbolicAlias(U, K, lambda x: -(-x // size))
    over_k = [tkw.WorkgroupConstraint(K, 2 * size, 1), tkw.WaveConstraint(K, size)]
    return [*more, *over_k, alias, tkw.HardwareConstraint(64, **hardware)]


@pytest.mark.parametrize(("length", "dynamic", "dtype"), [(256, False, "f32"), (200, False, "i32"), (200, True, "f32")])
def test_reductions(length: int, dynamic: bool, dtype: str) -> None:
    """Each wave has the maximum of its part, the sum of squares of what is below it, and the position of the part."""
    kind = getattr(tkl, dtype)

    @tkw.wave(rules(tkw.WorkgroupConstraint(M, 1, 0), vector_shapes={M: 1, K: PART}))
    def parts(
        x: tkl.Memory[M, K, GLOBAL, kind], top: tkl.Memory[U, M, GLOBAL, kind], squares: tkl.Memory[M, U, GLOBAL, kind],
        first: tkl.Memory[U, M, GLOBAL, tkl.i32],
    ):  # fmt: skip
        value = tkw.read(x)
        greatest = tkw.max(value, dim=K)
        below = greatest - value
        tkw.write(greatest, top)
        tkw.write(tkw.sum(below * below, tkl.Register[M, kind](1), dim=K), squares)
        tkw.write(tkw.min(tkw.broadcast(tkw.self_index(K, tkl.i32), [M, K]), dim=K), first)

    array = np.int32 if dtype == "i32" else np.float32
    x = np.random.default_rng(0).integers(-50, -1, (2, length)).astype(array)
    count = -(-length // PART)
    cut = [x[:, n * PART : (n + 1) * PART] for n in range(count)]
    top = np.stack([c.max(1) for c in cut])
    squares = np.stack([((c.max(1, keepdims=True) - c) ** 2).sum(1) + 1 for c in cut], 1).astype(array)
    args = [x, np.zeros_like(top), np.zeros_like(squares), np.zeros((count, 2), np.int32)]
    subs = {M: 2, **({} if dynamic else {K: length, U: count})}
    expected = {1: top, 2: squares, 3: np.repeat(np.arange(count, dtype=np.int32) * PART, 2).reshape(count, 2)}
    check(parts, subs, args, expected, dynamic=(K, U) if dynamic else ())


def test_mma() -> None:
    """A product over each wave's half of the tile along K, of operands over other dims."""
    grid = (tkw.WorkgroupConstraint(M, 16, 0), tkw.WorkgroupConstraint(N, 16, 2))
    F16 = tkw.MMAType.F32_16x16x16_F16

    @tkw.wave(rules(*grid, size=32, mma_type=F16))
    def product(
        a: tkl.Memory[M, K, SHARED, tkl.f16], b: tkl.Memory[N, K, GLOBAL, tkl.f16],
        c: tkl.Memory[U, M, N, GLOBAL, tkl.f32],
    ):  # fmt: skip
        tkw.write(tkw.mma(tkw.read(a), tkw.read(b), tkl.Register[M, N, tkl.f32](0.0)), c)

    rng = np.random.default_rng(0)
    a, b = (rng.integers(-4, 5, (16, 128)).astype(np.float16) for _ in range(2))
    want = np.einsum("muk,nuk->umn", *(x.astype(np.float32).reshape(16, 4, 32) for x in (a, b)))
    check(product, {M: 16, N: 16, K: 128, U: 4}, [a, b, np.zeros_like(want)], {2: want})


LOOP = rules(tkw.WorkgroupConstraint(M, 1, 0), tkw.TilingConstraint(T, 1), vector_shapes={M: 1, K: PART, T: 1})
X, S = tkl.Memory[M, K, GLOBAL, tkl.f32], tkl.Memory[U, M, GLOBAL, tkl.f32]
ROW = tkl.Register[M, tkl.f32]


def rows() -> np.ndarray:
    return np.random.default_rng(0).integers(-50, -1, (2, 256)).astype(np.float32)


def test_carried_through_a_loop() -> None:
    """A result for each part, which starts from one value for all, and the tile that waves divide."""

    @tkw.wave(LOOP)
    def kernel(x: X, y: X, s: S):
        @tkw.iterate(T, init_args=[ROW(1.0), tkw.read(x), ROW(0.0)])
        def loop(total, tile, last):
            more = tkw.sum(tile, total, dim=K)
            return more, tile - tkw.broadcast(more, [M, K]), ROW(2.0) + last * 0.0 + total * 0.0

        tkw.write(loop[1], y)
        tkw.write(loop[0] + loop[2], s)

    x = rows()
    total, tile = np.ones((2, 4), np.float32), x.reshape(2, 4, 64)
    for _ in range(2):
        total = total + tile.sum(2)
        tile = tile - total[:, :, None]
    args = [x, np.zeros_like(x), np.zeros((4, 2), np.float32)]
    check(kernel, {M: 2, K: 256, U: 4, T: 2}, args, {1: tile.reshape(2, 256), 2: (total + 2).T.copy()})


def test_carried_products() -> None:
    grid = (tkw.WorkgroupConstraint(M, 16, 0), tkw.WorkgroupConstraint(N, 16, 2), tkw.TilingConstraint(T, 1))

    @tkw.wave(rules(*grid, size=32, mma_type=tkw.MMAType.F32_16x16x16_F16))
    def kernel(
        a: tkl.Memory[M, K, SHARED, tkl.f16], b: tkl.Memory[N, K, GLOBAL, tkl.f16],
        c: tkl.Memory[U, M, N, GLOBAL, tkl.f32],
    ):  # fmt: skip
        @tkw.iterate(T, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
        def loop(acc: tkl.Register[M, N, tkl.f32]) -> tkl.Register[M, N, tkl.f32]:
            return tkw.mma(tkw.read(a), tkw.read(b), acc)

        tkw.write(loop, c)

    rng = np.random.default_rng(0)
    a, b = (rng.integers(-4, 5, (16, 128)).astype(np.float16) for _ in range(2))
    want = 2 * np.einsum("muk,nuk->umn", *(x.astype(np.float32).reshape(16, 4, 32) for x in (a, b)))
    check(kernel, {M: 16, N: 16, K: 128, U: 4, T: 2}, [a, b, np.zeros_like(want)], {2: want})


def test_in_branches_and_while_loops() -> None:
    @tkw.wave(LOOP)
    def kernel(x: X, s: S, n: tkl.i32):
        @tkw.conditional(n > tkw.scalar(0, tkl.i32), else_return=[ROW(7.0)])
        def first() -> ROW:
            return tkw.sum(tkw.read(x), dim=K)

        @tkw.iterate(T, start=tkw.scalar(0, tkl.i32), condition=T < 3, init_args=[ROW(0.0)])
        def loop(acc):
            tkw.set_symbol(T, tkw.scalar(T + 1, tkl.i32))
            return tkw.max(tkw.read(x), acc, dim=K) + 1.0

        tkw.write(first + loop, s)

    x = rows()
    cut = x.reshape(2, 4, 64)
    for n in (0, 1):
        want = (cut.sum(2) if n else np.full((2, 4), 7, np.float32)) + 3
        check(kernel, {M: 2, K: 256, U: 4}, [x, np.zeros((4, 2), np.float32), n], {1: want.T.copy()})


def test_logged_bodies_start_from_parts() -> None:
    @tkw.wave(LOOP)
    def kernel(x: X, s: S):
        @tkw.iterate(T, init_args=[ROW(0.0)])
        def loop(acc):
            tkw.debug_log(acc)
            return tkw.sum(tkw.read(x), acc, dim=K)

        tkw.write(loop, s)

    with pytest.raises(CompileError, match="a body with a debug_log has results for each part"):
        compiled(kernel, {M: 2, K: 256, U: 4, T: 2})
