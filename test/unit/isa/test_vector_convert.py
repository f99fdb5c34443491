"""Conversions between f16, f32, f64 and integers against numpy and exact rational arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from alu import (
    ALL_F16,
    EDGES_32,
    EDGES_F32,
    EDGES_F64,
    apply,
    check_bits,
    check_floats,
    pairs,
    round_exact,
    to_float,
    words,
)

F32 = np.concatenate(
    [
        EDGES_F32,
        words(3000, 1),
        np.random.default_rng(1).uniform(-70000, 70000, 3000).astype(np.float32).view(np.uint32),
    ]
)
F64 = np.concatenate(
    [EDGES_F64, words(1000, 2, np.uint64), np.random.default_rng(2).uniform(-5e9, 5e9, 2000).view(np.uint64)]
)
SMALL = np.concatenate([np.arange(-40, 40) / 8, np.arange(-40, 40) * 2.0**-26]).astype(np.float32).view(np.uint32)
INTEGERS = np.concatenate([EDGES_32, words(1500, 3)])


def test_f32_to_f16() -> None:
    a = np.concatenate([F32, SMALL, (ALL_F16[::7].astype(np.uint32) << 13) + 0x38000000 + 0x1000])
    with np.errstate(all="ignore"):
        want = a.view(np.float32).astype(np.float16).view(np.uint16)
    got = apply("v_cvt_f16_f32_e32 {d}, {a}", a)
    assert not np.any(got >> 16)
    check_floats(got, want, 16, a)


@pytest.mark.parametrize(("code", "rounding"), [(1, "up"), (2, "down"), (3, "zero")])
def test_f32_to_f16_in_rounding_modes(code: int, rounding: str) -> None:
    a = np.concatenate([SMALL, F32[:1500]])
    a = a[np.isfinite(a.view(np.float32)) & (a << np.uint32(1) != 0)]
    want = [round_exact(Fraction(to_float(int(x), 32)), 16, rounding) for x in a]
    check_bits(apply("v_cvt_f16_f32_e32 {d}, {a}", a, mode=0x3F0 | code << 2), np.array(want, np.uint32), a)


def test_pack_toward_zero() -> None:
    a, b = F32, F32[::-1].copy()

    def cut(raw: int) -> int:
        x = to_float(raw, 32)
        if not math.isfinite(x) or x == 0:
            return int(np.float32(x).astype(np.float16).view(np.uint16))
        return round_exact(Fraction(x), 16, "zero")

    with np.errstate(all="ignore"):
        want = [[cut(int(x)) for x in half] for half in (a, b)]
    got = apply("v_cvt_pkrtz_f16_f32 {d}, {a}, {b}", a, b)
    check_floats(got & np.uint32(0xFFFF), np.array(want[0]), 16, a)
    check_floats(got >> np.uint32(16), np.array(want[1]), 16, b)


def test_widening() -> None:
    with np.errstate(all="ignore"):
        want = ALL_F16.view(np.float16).astype(np.float32).view(np.uint32)
        check_floats(apply("v_cvt_f32_f16_e32 {d}, {a}", ALL_F16), want, 32, ALL_F16)
        want = F32.view(np.float32).astype(np.float64).view(np.uint64)
        check_floats(apply("v_cvt_f64_f32_e32 {d}, {a}", F32, out=64), want, 64, F32)
        want = F64.view(np.float64).astype(np.float32).view(np.uint32)
        check_floats(apply("v_cvt_f32_f64_e32 {d}, {a}", F64), want, 32, F64)


def test_quiet_nans_keep_their_payload() -> None:
    f16 = np.array([0x7C01, 0xFE12, 0x7DFF], np.uint16)
    want = [(x & 0x8000) << 16 | 0x7FC00000 | (x & 0x3FF) << 13 for x in f16.tolist()]
    assert apply("v_cvt_f32_f16_e32 {d}, {a}", f16).tolist() == want
    assert apply("v_cvt_f16_f32_e32 {d}, {a}", np.array(want, np.uint32)).tolist() == [x | 0x200 for x in f16.tolist()]


def _saturated(values: np.ndarray, kind: type) -> np.ndarray:
    info = np.iinfo(kind)
    whole = [
        0
        if math.isnan(x)
        else max(info.min, min(info.max, math.trunc(x) if math.isfinite(x) else (info.max if x > 0 else info.min)))
        for x in values.astype(np.float64).tolist()
    ]
    return np.array(whole, np.int64).astype(np.uint64).astype(np.uint32)


def test_to_integers() -> None:
    x32, x64, x16 = F32.view(np.float32), F64.view(np.float64), ALL_F16.view(np.float16)
    with np.errstate(all="ignore"):
        check_bits(apply("v_cvt_i32_f32_e32 {d}, {a}", F32), _saturated(x32, np.int32), F32)
        check_bits(apply("v_cvt_u32_f32_e32 {d}, {a}", F32), _saturated(x32, np.uint32), F32)
        check_bits(apply("v_cvt_i32_f64_e32 {d}, {a}", F64), _saturated(x64, np.int32), F64)
        check_bits(apply("v_cvt_u32_f64_e32 {d}, {a}", F64), _saturated(x64, np.uint32), F64)
        low = np.uint32(0xFFFF)
        check_bits(apply("v_cvt_i16_f16_e32 {d}, {a}", ALL_F16), _saturated(x16, np.int16) & low, ALL_F16)
        check_bits(apply("v_cvt_u16_f16_e32 {d}, {a}", ALL_F16), _saturated(x16, np.uint16) & low, ALL_F16)
        floor = _saturated(np.floor(x32.astype(np.float64)), np.int32)
        check_bits(apply("v_cvt_flr_i32_f32_e32 {d}, {a}", F32), floor, F32)
        nearest = _saturated(np.floor(x32 + np.float32(0.5)), np.int32)
        check_bits(apply("v_cvt_rpi_i32_f32_e32 {d}, {a}", F32), nearest, F32)


def test_from_integers() -> None:
    signed, unsigned = INTEGERS.view(np.int32), INTEGERS
    for kind, source, a in (("f32_i32", signed, INTEGERS), ("f32_u32", unsigned, INTEGERS)):
        check_bits(apply(f"v_cvt_{kind}_e32 {{d}}, {{a}}", a), source.astype(np.float32).view(np.uint32), a)
    for kind, source in (("f64_i32", signed), ("f64_u32", unsigned)):
        check_bits(
            apply(f"v_cvt_{kind}_e32 {{d}}, {{a}}", INTEGERS, out=64),
            source.astype(np.float64).view(np.uint64),
            INTEGERS,
        )
    for kind, source in (("f16_i16", ALL_F16.view(np.int16)), ("f16_u16", ALL_F16)):
        with np.errstate(over="ignore"):
            want = source.astype(np.float64).astype(np.float16).view(np.uint16)
        check_bits(apply(f"v_cvt_{kind}_e32 {{d}}, {{a}}", ALL_F16), want, ALL_F16)
    for i in range(4):
        want = (INTEGERS >> np.uint32(8 * i) & np.uint32(255)).astype(np.float32).view(np.uint32)
        check_bits(apply(f"v_cvt_f32_ubyte{i}_e32 {{d}}, {{a}}", INTEGERS), want, INTEGERS)
    nibble = ((INTEGERS & np.uint32(15)).astype(np.int32) + 8) % 16 - 8
    check_bits(
        apply("v_cvt_off_f32_i4_e32 {d}, {a}", INTEGERS), (nibble / 16).astype(np.float32).view(np.uint32), INTEGERS
    )


def test_from_integers_in_rounding_modes() -> None:
    a = INTEGERS[INTEGERS != 0]
    for code, rounding in ((1, "up"), (2, "down"), (3, "zero")):
        want = [round_exact(Fraction(int(x)), 32, rounding) for x in a]
        check_bits(apply("v_cvt_f32_u32_e32 {d}, {a}", a, mode=0x3F0 | code), np.array(want, np.uint32), a)


def _normalised(x: float, signed: bool) -> int:
    if math.isnan(x):
        return 0
    scaled = Fraction(max(-1.0 if signed else 0.0, min(1.0, x))) * (32767 if signed else 65535)
    return round(scaled) & 0xFFFF  # to even


def test_normalised() -> None:
    a = np.concatenate(
        [EDGES_F32, np.random.default_rng(4).uniform(-1.2, 1.2, 1000).astype(np.float32).view(np.uint32)]
    )
    b = a[::-1].copy()
    for kind, signed in (("i16", True), ("u16", False)):
        want = [
            _normalised(to_float(int(x), 32), signed) | _normalised(to_float(int(y), 32), signed) << 16
            for x, y in zip(a, b, strict=True)
        ]
        check_bits(apply(f"v_cvt_pknorm_{kind}_f32 {{d}}, {{a}}, {{b}}", a, b), np.array(want, np.uint32), a, b)
        want = np.array([_normalised(to_float(int(x), 16), signed) for x in ALL_F16[::3]], np.uint32)
        check_bits(apply(f"v_cvt_norm_{kind}_f16_e32 {{d}}, {{a}}", ALL_F16[::3].copy()), want, ALL_F16[::3])
        got = apply(f"v_cvt_pknorm_{kind}_f16 {{d}}, {{a}}, {{b}}", ALL_F16[::3].copy(), ALL_F16[::3][::-1].copy())
        check_bits(got, want | want[::-1] << np.uint32(16))


def test_denormals_flushed() -> None:
    """The source by its own format's mode, the result by its own."""
    keep_f16, keep_f32 = 0x3C0, 0x330
    low = np.array([1, 0x3FF, 0x8200, 0x3C00], np.uint16)
    assert apply("v_cvt_f32_f16_e32 {d}, {a}", low, mode=keep_f32).tolist() == [0, 0, 0x80000000, 0x3F800000]
    assert apply("v_cvt_f32_f16_e32 {d}, {a}", low, mode=keep_f16)[0] == 0x33800000
    small = np.array([2.0**-20, -(2.0**-15), 1.0], np.float32).view(np.uint32)
    assert apply("v_cvt_f16_f32_e32 {d}, {a}", small, mode=keep_f32).tolist() == [0, 0x8000, 0x3C00]
    assert apply("v_cvt_f16_f32_e32 {d}, {a}", small, mode=keep_f16).tolist() == [16, 0x8200, 0x3C00]


def test_pack_halves_by_op_sel() -> None:
    a, b = pairs(EDGES_32, 50)
    got = apply("v_pack_b32_f16 {d}, {a}, {b} op_sel:[1,0,0]", a, b)
    check_bits(got, a >> np.uint32(16) | b << np.uint32(16), a, b)
