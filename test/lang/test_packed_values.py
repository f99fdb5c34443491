"""Bitcasts that change the width: packed elements, and scaled MMAs of them."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import sympy
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from running import check
from wave_mlir.compiler.diagnostics import CompileError
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import SHARED_ADDRESS_SPACE as SHARED

M, N, K = tkl.sym.M, tkl.sym.N, tkl.sym.K
BM, BN, BK, SPACE = tkl.sym.BLOCK_M, tkl.sym.BLOCK_N, tkl.sym.BLOCK_K, tkl.sym.SPACE
PACKED = {
    "f4": (tkl.f4e2m1fn, sympy.Rational(1, 2), ml_dtypes.float4_e2m1fn),
    "f6": (tkl.f6e2m3fn, sympy.Rational(3, 4), ml_dtypes.float6_e2m3fn),
    "f8": (tkl.f8e4m3fn, 1, ml_dtypes.float8_e4m3fn),
    "bf8": (tkl.f8e5m2, 1, ml_dtypes.float8_e5m2),
}


def packed(name: str, rows: int, columns: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """(bytes of each row, values): small integers and halves, whose products are exact."""
    dtype, _, array = PACKED[name]
    values = rng.integers(-4, 5, (rows, columns)).astype(np.float32) / (2 if dtype.bits < 8 else 1)
    codes = values.astype(array).view(np.uint8)
    bits = (codes[..., None] >> np.arange(dtype.bits)) & 1
    return np.packbits(bits.reshape(rows, -1), axis=1, bitorder="little").view(np.int8), values.astype(array)


def scaled_gemm(kind, lhs: str, rhs: str, waves: int):
    constraints = [
        tkw.WorkgroupConstraint(M, BM, 0),
        tkw.WorkgroupConstraint(N, BN, 1),
        tkw.TilingConstraint(K, BK),
        tkw.WaveConstraint(M, BM / waves),
        tkw.HardwareConstraint(64, mma_type=kind),
    ]

    @tkw.wave(constraints)
    def gemm(
        a: tkl.Memory[M, K * PACKED[lhs][1], SPACE, tkl.i8],
        a_scale: tkl.Memory[M, K // 32, SPACE, tkl.i8],
        b: tkl.Memory[N, K * PACKED[rhs][1], SPACE, tkl.i8],
        b_scale: tkl.Memory[N, K // 32, SPACE, tkl.i8],
        c: tkl.Memory[M, N, GLOBAL, tkl.f32],
    ):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
        def loop(acc):
            x, y = tkw.bitcast(tkw.read(a), PACKED[lhs][0]), tkw.bitcast(tkw.read(b), PACKED[rhs][0])
            xs, ys = (tkw.bitcast(tkw.read(s), tkl.f8e8m0fnu) for s in (a_scale, b_scale))
            return tkw.scaled_mma(x, xs, y, ys, acc)

        tkw.write(loop, c)

    return gemm


SCALED = [
    ("F32_16x16x128_F8F6F4", "f4", "f4", 1, (64, 48, 256), GLOBAL),
    ("F32_16x16x128_F8F6F4", "f4", "f4", 2, (64, 64, 512), SHARED),
    ("F32_16x16x128_F8F6F4", "f8", "f4", 2, (40, 30, 384), SHARED),
    ("F32_16x16x128_F8F6F4", "f6", "f6", 1, (32, 32, 128), GLOBAL),
    ("F32_16x16x128_F8F6F4", "f8", "bf8", 1, (32, 32, 160), GLOBAL),
    ("F32_32x32x64_F8F6F4", "f4", "f4", 1, (32, 64, 192), SHARED),
    ("F32_32x32x64_F8F6F4", "f8", "f8", 1, (64, 32, 256), GLOBAL),
    ("F32_32x32x64_F8F6F4", "f6", "f8", 1, (32, 32, 96), SHARED),
]


@pytest.mark.thin(3)
@pytest.mark.parametrize(("kind", "lhs", "rhs", "waves", "shape", "space"), SCALED, ids=lambda v: str(v))
def test_scaled_gemm(kind: str, lhs: str, rhs: str, waves: int, shape: tuple, space) -> None:
    rng = np.random.default_rng(5)
    m, n, k = shape
    (a, av), (b, bv) = packed(lhs, m, k, rng), packed(rhs, n, k, rng)
    sa, sb = (rng.integers(126, 129, (rows, k // 32)).astype(np.uint8) for rows in (m, n))
    want = [
        v.astype(np.float64) * np.repeat(2.0 ** (s.astype(np.float64) - 127), 32, 1) for v, s in ((av, sa), (bv, sb))
    ]
    block = 32 if "32x32" in kind or waves == 2 else 16
    subs = {M: m, N: n, K: k, BM: block, BN: 32, BK: 128, SPACE: space}
    args = [a, sa.view(np.int8), b, sb.view(np.int8), np.zeros((m, n), np.float32)]
    kernel = scaled_gemm(getattr(tkw.ScaledMMAType, kind), lhs, rhs, waves)
    check(kernel, subs, args, {4: (want[0] @ want[1].T).astype(np.float32)}, target="gfx950")


WIDTHS = [
    (tkl.i8, np.int8, tkl.i32, np.int32),
    (tkl.i32, np.int32, tkl.i8, np.int8),
    (tkl.i16, np.int16, tkl.f32, np.float32),
    (tkl.f32, np.float32, tkl.bf16, ml_dtypes.bfloat16),
    (tkl.i64, np.int64, tkl.i8, np.int8),
    (tkl.f16, np.float16, tkl.i16, np.int16),
]


@pytest.mark.parametrize(("source", "given", "target", "taken"), WIDTHS)
@pytest.mark.parametrize("n", [64, 256, 24])
def test_widths(source, given, target, taken, n: int) -> None:
    """The bits of a row as other elements."""
    whole = N * sympy.Rational(source.bits, target.bits)

    @tkw.wave([tkw.WorkgroupConstraint(M, 1, 0), tkw.WorkgroupConstraint(N, 256, 1), tkw.HardwareConstraint(64)])
    def kernel(a: tkl.Memory[M, N, GLOBAL, source], c: tkl.Memory[M, whole, GLOBAL, target]):
        tkw.write(tkw.bitcast(tkw.read(a), target), c)

    rng = np.random.default_rng(n)
    raw = rng.integers(0, 100, (3, n * source.bits // 8)).astype(np.uint8)
    a = raw.view(given)
    want = raw.view(taken)
    check(kernel, {M: 3, N: n}, [a, np.zeros(want.shape, taken)], {1: want})


def test_unpacked_by_hand() -> None:
    """Two 4-bit integers in a byte: both halves of a packed tile, cast."""

    @tkw.wave([tkw.WorkgroupConstraint(M, 4, 0), tkw.WorkgroupConstraint(N, 64, 1), tkw.HardwareConstraint(64)])
    def kernel(a: tkl.Memory[M, N / 2, GLOBAL, tkl.i8], c: tkl.Memory[M, N, GLOBAL, tkl.f32]):
        tkw.write(tkw.cast(tkw.cast(tkw.bitcast(tkw.read(a), tkl.i4), tkl.i32), tkl.f32), c)

    values = np.random.default_rng(1).integers(-8, 8, (7, 100)).astype(np.int8)
    a = ((values[:, ::2] & 15) | (values[:, 1::2] << 4)).astype(np.int8)
    check(kernel, {M: 7, N: 100}, [a, np.zeros((7, 100), np.float32)], {1: values.astype(np.float32)})


def test_one_element_has_no_other_width() -> None:
    @tkw.wave([tkw.WorkgroupConstraint(M, 64, 0), tkw.HardwareConstraint(64)])
    def kernel(c: tkl.Memory[M, GLOBAL, tkl.i16]):
        tkw.write(tkw.bitcast(tkw.scalar(1.0, tkl.f32), tkl.i16), c)

    with pytest.raises(CompileError, match=r"test_packed_values.py:\d+:\d+: error: bitcast: one element of f32"):
        kernel.trace({M: 64})
