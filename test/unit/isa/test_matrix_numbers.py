"""Numbers in matrix instructions: every code of the narrow formats, special values, denormals, how sums are rounded."""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from matrix_layout import LANES, TYPES, codes, numpy_type, pack_accumulator, pack_operand, parse, unpack_accumulator
from snippet import MODE, run_lines

RNG = np.random.default_rng(11)
NAN = 0x7FC00000


def same(got: np.ndarray, want: np.ndarray) -> bool:
    """Equal bits; any NaN where NaN is wanted."""
    nan = np.isnan(want)
    return np.array_equal(np.isnan(got), nan) and np.array_equal(got[~nan].view(np.uint32), want[~nan].view(np.uint32))


@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_every_16_bit_input(element: str) -> None:
    """Row i of A is (x, 0, 0, 0), column j of B is (1, 0, 0, 0): D is x, exactly, NaN and denormals included."""
    op = parse(f"v_mfma_f32_4x4x4_16b_{element}")
    one = int(codes(np.ones(1), TYPES[element])[0])
    lines = [
        f"v_mfma_f32_4x4x4_16b_{element} a[{4 * i}:{4 * i + 3}], v[{2 * i}:{2 * i + 1}], v[254:255], 0"
        for i in range(64)
    ]
    for base in range(0, 1 << 16, 64 * LANES):
        x = np.arange(base, base + 64 * LANES, dtype=np.uint32).reshape(64, LANES)
        start: dict[int, object] = {254: one, 255: 0}
        for i in range(64):
            start |= {2 * i: x[i], 2 * i + 1: 0}
        after = run_lines(lines, start, mode=0)  # MODE that flushes denormals is not looked at
        for i in range(64):
            out = unpack_accumulator(op, after.v[256 + 4 * i : 260 + 4 * i])
            want = x[i].astype(np.uint16).view(TYPES[element]).astype(np.float32).reshape(16, 4, 1)
            # +0 + -0 is +0
            assert same(out, np.broadcast_to(np.where(want == 0, np.float32(0), want), (16, 4, 4)))


@pytest.mark.parametrize(("target", "element"), [(t, e) for t in ("gfx942", "gfx950") for e in ("fp8", "bf8")])
def test_every_8_bit_input(target: str, element: str) -> None:
    op = parse(f"v_mfma_f32_16x16x32_{element}_{element}")
    dtype = numpy_type(element, target)
    raw_b = np.zeros((1, 16, 32), np.uint8)
    raw_b[:, :, 0] = codes(np.ones(1), dtype)[0]
    for base in range(0, 256, 16):
        raw_a = np.zeros((1, 16, 32), np.uint8)
        raw_a[0, :, 0] = np.arange(base, base + 16)
        start = {4: pack_operand(op, element, raw_a), 6: pack_operand(op, element, raw_b)}
        after = run_lines(f"{op.mnemonic} v[0:3], v[4:5], v[6:7], 0", start, target=target)
        want = np.arange(base, base + 16, dtype=np.uint8).view(dtype).astype(np.float32)[:, None]
        want = np.where(want == 0, np.float32(0), want)
        assert same(unpack_accumulator(op, after.v[:4])[0], np.broadcast_to(want, (16, 16)))


@pytest.mark.parametrize(("number", "element"), [(0, "fp8"), (1, "bf8"), (2, "fp6"), (3, "bf6"), (4, "fp4")])
def test_every_input_of_mixed_formats(number: int, element: str) -> None:
    op = parse("v_mfma_f32_16x16x128_f8f6f4", element, element)
    bits = {0: 8, 1: 8, 2: 6, 3: 6, 4: 4}[number]
    raw_b = np.zeros((1, 16, 128), np.uint8)
    raw_b[:, :, 77] = codes(np.ones(1), TYPES[element])[0]
    for base in range(0, 1 << bits, 16):
        raw_a = np.zeros((1, 16, 128), np.uint8)
        raw_a[0, :, 77] = np.arange(base, base + 16)
        a, b = pack_operand(op, element, raw_a), pack_operand(op, element, raw_b)
        n = a.shape[1] - 1
        line = f"{op.mnemonic} v[0:3], v[8:{8 + n}], v[16:{16 + n}], 0 cbsz:{number} blgp:{number}"
        after = run_lines(line, {8: a, 16: b}, target="gfx950")
        want = np.arange(base, base + 16, dtype=np.uint8).view(TYPES[element]).astype(np.float32)[:, None]
        want = np.where(want == 0, np.float32(0), want)
        assert same(unpack_accumulator(op, after.v[:4])[0], np.broadcast_to(want, (16, 16)))


def product(mnemonic: str, a: np.ndarray, b: np.ndarray, c: np.ndarray, mode: int = MODE) -> np.ndarray:
    """D of A [m, k], B [k, m] and C [m, m], one block, gfx942."""
    op = parse(mnemonic)
    start = {
        64: pack_operand(op, op.a, codes(a[None], numpy_type(op.a, "gfx942"))),
        80: pack_operand(op, op.b, codes(b.T[None], numpy_type(op.b, "gfx942"))),
        100: pack_accumulator(op, c[None]),
    }
    n = start[100].shape[1]
    ends = [f"v[{first}:{first + start[first].shape[1] - 1}]" for first in (64, 80, 100)]
    after = run_lines(f"{mnemonic} v[0:{n - 1}], {', '.join(ends)}", start, mode=mode)
    return unpack_accumulator(op, after.v[:n])[0]


@pytest.mark.parametrize(
    ("mnemonic", "dtype"),
    [
        ("v_mfma_f32_16x16x16_f16", np.float16),
        ("v_mfma_f32_32x32x8_bf16", ml_dtypes.bfloat16),
        ("v_mfma_f32_16x16x32_fp8_bf8", np.float32),
    ],
)
def test_one_rounding(mnemonic: str, dtype: type) -> None:
    """The sum is rounded once (values chosen so that double holds it exactly)."""
    op = parse(mnemonic)
    a = RNG.uniform(0.5, 2, (op.m, op.k)).astype(dtype if dtype is not np.float32 else numpy_type("fp8", "gfx942"))
    b = RNG.uniform(-2, 2, (op.k, op.m)).astype(dtype if dtype is not np.float32 else numpy_type("bf8", "gfx942"))
    c = RNG.uniform(-100, 100, (op.m, op.m)).astype(np.float32)
    want = (a.astype(np.float64) @ b.astype(np.float64) + c).astype(np.float32)
    assert np.array_equal(product(mnemonic, a, b, c), want)


def test_f32_is_a_chain_of_fused_steps() -> None:
    a, b = (RNG.standard_normal((16, 4)).astype(np.float32), RNG.standard_normal((4, 16)).astype(np.float32))
    c = RNG.standard_normal((16, 16)).astype(np.float32)
    out = product("v_mfma_f32_16x16x4_f32", a, b, c)
    for i in range(16):
        for j in range(16):
            sum_ = c[i, j]
            for k in range(4):
                sum_ = rounded(Fraction(float(a[i, k])) * Fraction(float(b[k, j])) + Fraction(float(sum_)))
            assert out[i, j] == sum_


def rounded(exact: Fraction) -> np.float32:
    """The nearest f32, ties to even."""
    near = np.float32(float(exact))
    around = sorted((np.nextafter(near, np.float32(-np.inf)), near, np.nextafter(near, np.float32(np.inf))))
    return min(around, key=lambda x: (abs(Fraction(float(x)) - exact), int(x.view(np.uint32)) & 1))


def test_xf32_cuts_the_mantissa() -> None:
    a, b = (RNG.uniform(1, 2, (16, 8)).astype(np.float32), RNG.uniform(-2, 2, (8, 16)).astype(np.float32))
    cut_a, cut_b = ((x.view(np.uint32) & ~np.uint32(0x1FFF)).view(np.float32).astype(np.float64) for x in (a, b))
    c = RNG.uniform(-4, 4, (16, 16)).astype(np.float32)
    assert np.array_equal(product("v_mfma_f32_16x16x8_xf32", a, b, c), (cut_a @ cut_b + c).astype(np.float32))


@pytest.mark.parametrize("mnemonic", ["v_mfma_f32_16x16x16_f16", "v_mfma_f32_16x16x4_f32", "v_mfma_f64_16x16x4_f64"])
def test_special_values(mnemonic: str) -> None:
    op = parse(mnemonic)
    a, b = np.zeros((op.m, op.k)), np.zeros((op.k, op.m))
    a[:, 0] = [np.inf, -np.inf, np.nan, 1, *[0] * 12]
    b[0, :4] = [1, 0, np.inf, -np.inf]
    c = np.zeros((op.m, op.m), TYPES[op.acc])
    c[3] = [np.inf, -np.inf, -np.inf, np.inf, *[0] * 12]
    with np.errstate(invalid="ignore"):
        want = np.array([[a[i, 0] * b[0, j] + c[i, j] for j in range(16)] for i in range(16)])
    out = product(mnemonic, a, b, c)
    assert np.array_equal(out, want.astype(out.dtype), equal_nan=True)
    raw = out[np.isnan(out)].view(np.uint64 if out.itemsize == 8 else np.uint32)
    assert set(raw.tolist()) == {NAN if out.itemsize == 4 else 0x7FF8 << 48}


@pytest.mark.parametrize("mode", [0, MODE])
def test_denormals_stay(mode: int) -> None:
    tiny = np.float32(2.0**-149)
    c = np.full((16, 16), tiny, np.float32)
    zero = np.zeros((16, 16))
    assert np.array_equal(product("v_mfma_f32_16x16x16_f16", zero, zero, c, mode), c)
    assert np.array_equal(product("v_mfma_f32_16x16x4_f32", zero[:, :4], zero[:4], c, mode), c)
    a = np.full((16, 4), np.float32(2.0**-140))
    out = product("v_mfma_f32_16x16x4_f32", a, np.full((4, 16), 0.5, np.float32), 0 * c, mode)
    assert np.array_equal(out, np.full((16, 16), np.float32(2.0**-139)))


def test_integers_wrap() -> None:
    a, b = np.full((16, 32), -128), np.full((32, 16), -128)
    c = np.full((16, 16), 2**31 - 1, np.int32)
    want = (np.full((16, 16), 32 * 128 * 128 + 2**31 - 1) + 2**31) % 2**32 - 2**31
    assert np.array_equal(product("v_mfma_i32_16x16x32_i8", a, b, c), want)
