"""A dim that the waves of a workgroup divide, each for results of its own, which another dim counts."""

from __future__ import annotations

import numpy as np
import pytest
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from running import check
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import SHARED_ADDRESS_SPACE as SHARED

M, N, K, U = tkl.sym.M, tkl.sym.N, tkl.sym.K, tkl.sym.U
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
