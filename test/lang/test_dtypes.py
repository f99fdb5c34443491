"""Every dtype: casts between each two, arithmetic, comparisons and truth values."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from running import check
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL

M = tkl.sym.M
CONSTRAINTS = [tkw.WorkgroupConstraint(M, 256, 0), tkw.WaveConstraint(M, 128), tkw.HardwareConstraint(64)]
DTYPES = {
    "f64": (tkl.f64, np.float64), "f32": (tkl.f32, np.float32), "f16": (tkl.f16, np.float16),
    "bf16": (tkl.bf16, ml_dtypes.bfloat16), "f8": (tkl.f8e4m3fnuz, ml_dtypes.float8_e4m3fnuz),
    "bf8": (tkl.f8e5m2fnuz, ml_dtypes.float8_e5m2fnuz), "i64": (tkl.i64, np.int64), "i32": (tkl.i32, np.int32),
    "i16": (tkl.i16, np.int16), "i8": (tkl.i8, np.int8),
}  # fmt: skip
WIDE = [n for n in DTYPES if n not in ("f8", "bf8")]


def numbers(name: str) -> np.ndarray:
    """Small integers, which every dtype has."""
    return np.random.default_rng(5).integers(-4, 5, 300).astype(DTYPES[name][1])


@pytest.mark.parametrize("name", DTYPES)
def test_casts(name: str) -> None:
    """From one dtype to all others."""
    others = [n for n in DTYPES if n != name]
    kinds = [tkl.Memory[M, GLOBAL, DTYPES[n][0]] for n in others]

    def body(a, b, c, d, e, f, g, h, i, j):
        for memory, other in zip((b, c, d, e, f, g, h, i, j), others, strict=True):
            tkw.write(tkw.cast(tkw.read(a), DTYPES[other][0]), memory)

    names = body.__code__.co_varnames[:10]
    body.__annotations__ = dict(zip(names, [tkl.Memory[M, GLOBAL, DTYPES[name][0]], *kinds], strict=True))
    a = numbers(name)
    want = {k + 1: a.astype(np.float64).astype(DTYPES[n][1]) for k, n in enumerate(others)}
    check(tkw.wave(CONSTRAINTS)(body), {M: 300}, [a, *(np.zeros_like(w) for w in want.values())], want)


@pytest.mark.parametrize("name", WIDE)
def test_arithmetic(name: str) -> None:
    dtype, array = DTYPES[name]

    @tkw.wave(CONSTRAINTS)
    def kernel(a: tkl.Memory[M, GLOBAL, dtype], b: tkl.Memory[M, GLOBAL, dtype], c: tkl.Memory[M, GLOBAL, dtype]):
        x, y = tkw.read(a), tkw.read(b)
        z = (x + y) * 2 - x * y
        z = tkw.select(x > y, z, -z) + tkw.maximum(x, y) - tkw.minimum(tkw.abs(x), 3)
        tkw.write(z + x % 3 + y // 2, c)

    a, b = numbers(name), numbers(name)[::-1].copy()
    x, y = a.astype(np.int64), b.astype(np.int64)
    z = (x + y) * 2 - x * y
    z = np.where(x > y, z, -z) + np.maximum(x, y) - np.minimum(np.abs(x), 3) + x % 3 + y // 2
    check(kernel, {M: 300}, [a, b, np.zeros_like(a)], {2: z.astype(array)})


@pytest.mark.parametrize("name", WIDE)
def test_comparisons(name: str) -> None:
    """Comparisons joined by and, or, xor and not."""
    dtype, _ = DTYPES[name]

    @tkw.wave(CONSTRAINTS)
    def kernel(a: tkl.Memory[M, GLOBAL, dtype], b: tkl.Memory[M, GLOBAL, dtype], c: tkl.Memory[M, GLOBAL, tkl.bool]):
        x, y = tkw.read(a), tkw.read(b)
        first = ((x < y) & (x >= -2)) | (x == 3)
        tkw.write(first ^ ~((x != y) & (y <= 2)), c)

    a, b = numbers(name), numbers(name)[::-1].copy()
    x, y = a.astype(np.int64), b.astype(np.int64)
    want = (((x < y) & (x >= -2)) | (x == 3)) ^ ~((x != y) & (y <= 2))
    check(kernel, {M: 300}, [a, b, np.zeros(300, bool)], {2: want})


@pytest.mark.parametrize("name", ["f32", "f16", "bf16", "i32", "i8"])
def test_scalars(name: str) -> None:
    """Scalar arguments, constants and expressions as scalars; dynamic sizes among them."""
    dtype, array = DTYPES[name]

    @tkw.wave(CONSTRAINTS)
    def kernel(a: tkl.Memory[M, GLOBAL, dtype], c: tkl.Memory[M, GLOBAL, dtype], s: dtype, n: tkl.i32):
        factor = tkw.select(tkw.scalar(M, tkl.i32) > n, tkw.scalar(2, dtype), tkw.scalar(3, dtype))
        tkw.write(tkw.read(a) * tkw.broadcast(factor, [M]) + tkw.broadcast(s, [M]), c)

    a = numbers(name)
    for n, factor in ((299, 2), (300, 3)):
        want = (a.astype(np.float64) * factor + 5).astype(array)
        check(kernel, {}, [a, np.zeros_like(a), 5, n], {1: want}, dynamic=[M])


def test_an_argument_that_binds_a_symbol() -> None:
    LIMIT = tkl.sym.LIMIT

    @tkw.wave(CONSTRAINTS)
    def kernel(a: tkl.Memory[M, GLOBAL, tkl.i32], c: tkl.Memory[M, GLOBAL, tkl.i32], LIMIT: tkl.SymbolBind[tkl.i32]):
        place = tkw.self_index(M, tkl.i32)
        tkw.write(tkw.select(place < LIMIT, tkw.read(a), tkw.read(a) * 0 + LIMIT), c)

    a = numbers("i32")
    for limit in (0, 100, 1000):
        check(kernel, {M: 300}, [a, np.zeros_like(a), limit], {1: np.where(np.arange(300) < limit, a, limit)})
    assert str(LIMIT) == "LIMIT"
