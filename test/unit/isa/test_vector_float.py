"""Vector floating point against numpy and exact rational arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from alu import (
    ALL_F16,
    EDGES_F16,
    EDGES_F32,
    EDGES_F64,
    apply,
    check_bits,
    check_floats,
    pairs,
    round_exact,
    to_float,
    triples,
    words,
)

KINDS = {16: np.float16, 32: np.float32, 64: np.float64}
EDGES = {16: EDGES_F16, 32: EDGES_F32, 64: EDGES_F64}
SIGN = {16: 0x8000, 32: 0x80000000, 64: 1 << 63}
FLUSH = 0x300  # MODE: no denormals
E32 = {16: "_e32", 32: "_e32", 64: ""}


def _raw(values: np.ndarray, bits: int) -> np.ndarray:
    with np.errstate(all="ignore"):
        return values.astype(KINDS[bits]).view(f"u{bits // 8}")


def _values(raw: np.ndarray, bits: int) -> np.ndarray:
    return raw.view(KINDS[bits])


def _narrow(got: np.ndarray, bits: int) -> np.ndarray:
    if bits == 16:
        assert not np.any(got >> 16), "the high half of a 16-bit result is not 0"
        return got.astype(np.uint16)
    return got


ARITHMETIC: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "subrev": lambda a, b: b - a,
    "mul": lambda a, b: a * b,
}
BINARY = [(n, bits) for n in ARITHMETIC for bits in (16, 32)] + [("add", 64), ("mul", 64)]


@pytest.mark.parametrize(("name", "bits"), BINARY)
def test_arithmetic(name: str, bits: int) -> None:
    a, b = pairs(EDGES[bits], 3000)
    with np.errstate(all="ignore"):
        want = _raw(ARITHMETIC[name](_values(a, bits), _values(b, bits)), bits)
    got = apply(f"v_{name}_f{bits}{E32[bits]} {{d}}, {{a}}, {{b}}", a, b, out=max(bits, 32))
    check_floats(_narrow(got, bits), want, bits, a, b)


@pytest.mark.parametrize(("name", "bits"), BINARY)
def test_denormals_flushed(name: str, bits: int) -> None:
    a, b = pairs(EDGES[bits], 1000)
    smallest = np.finfo(KINDS[bits]).smallest_normal

    def flush(x: np.ndarray) -> np.ndarray:
        return np.where(np.abs(x) < smallest, np.copysign(KINDS[bits](0), x), x)

    with np.errstate(all="ignore"):
        want = _raw(flush(ARITHMETIC[name](flush(_values(a, bits)), flush(_values(b, bits)))), bits)
    got = apply(f"v_{name}_f{bits}{E32[bits]} {{d}}, {{a}}, {{b}}", a, b, out=max(bits, 32), mode=FLUSH)
    check_floats(_narrow(got, bits), want, bits, a, b)


@pytest.mark.parametrize(("code", "rounding"), [(1, "up"), (2, "down"), (3, "zero")])
@pytest.mark.parametrize(
    ("name", "bits"), [("add", 16), ("mul", 16), ("add", 32), ("mul", 32), ("add", 64), ("mul", 64)]
)
def test_rounding_modes(name: str, bits: int, code: int, rounding: str) -> None:
    a, b = pairs(EDGES[bits], 300)
    finite = np.isfinite(_values(a, bits)) & np.isfinite(_values(b, bits))
    a, b = a[finite], b[finite]
    left, right = ([Fraction(to_float(int(x), bits)) for x in source] for source in (a, b))
    exact = [x + y if name == "add" else x * y for x, y in zip(left, right, strict=True)]
    nonzero = np.array([e != 0 for e in exact])
    want = np.array([round_exact(e, bits, rounding) for e in exact], np.uint64)
    mode = 0x3F0 | (code if bits == 32 else code << 2)
    got = apply(f"v_{name}_f{bits}{E32[bits]} {{d}}, {{a}}, {{b}}", a, b, out=max(bits, 32), mode=mode).astype(
        np.uint64
    )
    check_bits(got[nonzero], want[nonzero], a[nonzero], b[nonzero])


def test_sum_of_opposites() -> None:
    """x + -x is -0 when rounding down, else +0."""
    for bits, one in ((16, 0x3C00), (32, 0x3F800000), (64, 0x3FF0000000000000)):
        a = np.array([one, 0, SIGN[bits], 0], f"u{bits // 8}")
        b = np.array([one | SIGN[bits], SIGN[bits], SIGN[bits], 0], f"u{bits // 8}")
        for mode, want in ((0x3F0, [0, 0, SIGN[bits], 0]), (0x3FA, [SIGN[bits], SIGN[bits], SIGN[bits], 0])):
            got = apply(f"v_add_f{bits}{E32[bits]} {{d}}, {{a}}, {{b}}", a, b, out=max(bits, 32), mode=mode)
            assert got.tolist() == want


def _fma_exact(a: int, b: int, c: int, bits: int) -> int | None:
    """Raw bits; None where the sum is 0 or an input is no number."""
    x, y, z = (to_float(v, bits) for v in (a, b, c))
    if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
        return None
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    return round_exact(exact, bits) if exact else None


FMA = {16: "v_fma_legacy_f16", 32: "v_fma_f32", 64: "v_fma_f64"}


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_fma_rounds_once(bits: int) -> None:
    a, b, c = triples(EDGES[bits], 700)
    # sums whose last bits decide: c near a * b, or far below it
    near = np.concatenate([a, a[:400], a[:400]]), np.concatenate([b, b[:400], b[:400]])
    with np.errstate(all="ignore"):
        product = _values(near[0], bits) * _values(near[1], bits)
        tail = np.concatenate(
            [c, _raw(-product[:400], bits), _raw(product[:400] * KINDS[bits](2.0 ** -(bits // 3)), bits)]
        )
    a, b, c = near[0], near[1], tail
    got = apply(f"{FMA[bits]} {{d}}, {{a}}, {{b}}, {{c}}", a, b, c, out=max(bits, 32)).astype(np.uint64)
    exact = [_fma_exact(int(x), int(y), int(z), bits) for x, y, z in zip(a, b, c, strict=True)]
    known = np.array([e is not None for e in exact])
    assert known.sum() > 1000
    check_bits(got[known], np.array([e for e in exact if e is not None], np.uint64), a[known], b[known], c[known])


def test_fma_special_values() -> None:
    inf, nan, one, zero = 0x7F800000, 0x7FC00123, 0x3F800000, 0
    a = np.array([inf, inf, one, nan, one, one, zero | SIGN[32]], np.uint32)
    b = np.array([zero, one, one, one, nan, one, one], np.uint32)
    c = np.array([one, inf | SIGN[32], inf, nan + 1, nan + 1, 0x7F800001, zero | SIGN[32]], np.uint32)
    want = [0xFFC00000, 0xFFC00000, inf, nan, nan, 0x7FC00001, SIGN[32]]
    assert apply("v_fma_f32 {d}, {a}, {b}, {c}", a, b, c).tolist() == want


def test_fma_forms() -> None:
    a, b, c = triples(EDGES_F32, 500)
    want = apply("v_fma_f32 {d}, {a}, {b}, {c}", a, b, c)
    check_bits(apply("v_fmac_f32_e32 {d}, {a}, {b}", a, b, old=c), want, a, b, c)
    k = np.full(len(a), 0x41234567, np.uint32)
    check_bits(
        apply("v_fmamk_f32 {d}, {a}, 0x41234567, {b}", a, b), apply("v_fma_f32 {d}, {a}, {c}, {b}", a, b, k), a, b
    )
    check_bits(
        apply("v_fmaak_f32 {d}, {a}, {b}, 0x41234567", a, b), apply("v_fma_f32 {d}, {a}, {b}, {c}", a, b, k), a, b
    )
    check_bits(
        apply("v_fma_f32 {d}, -{a}, |{b}|, -|{c}|", a, b, c),
        apply(
            "v_fma_f32 {d}, {a}, {b}, {c}", a ^ np.uint32(SIGN[32]), b & ~np.uint32(SIGN[32]), c | np.uint32(SIGN[32])
        ),
        a,
        b,
        c,
    )


def test_mad_f16_rounds_twice() -> None:
    a, b, c = triples(EDGES_F16, 800)

    def flush(x: np.ndarray) -> np.ndarray:
        return np.where(np.abs(x) < np.float16(2.0**-14), np.copysign(np.float16(0), x), x)

    with np.errstate(all="ignore"):
        product = flush(flush(_values(a, 16)) * flush(_values(b, 16)))
        want = _raw(flush(product + flush(_values(c, 16))), 16)
    check_floats(_narrow(apply("v_mad_legacy_f16 {d}, {a}, {b}, {c}", a, b, c), 16), want, 16, a, b, c)
    check_floats(_narrow(apply("v_mac_f16_e32 {d}, {a}, {b}", a, b, old=c), 16), want, 16, a, b, c)
    kept = apply("v_mad_f16 {d}, {a}, {b}, {c}", a, b, c, old=0x12340000)
    check_floats(kept & np.uint32(0xFFFF), want, 16, a, b, c)
    assert np.all(kept >> 16 == 0x1234)


def _less(x: int, y: int, bits: int) -> bool:
    """Order with -0 below +0."""
    a, b = to_float(x, bits), to_float(y, bits)
    return a < b or (a == b and x >> (bits - 1) > y >> (bits - 1))


def _is_nan(x: int, bits: int) -> bool:
    return math.isnan(to_float(x, bits))


def _signals(x: int, bits: int) -> bool:
    return _is_nan(x, bits) and not x >> {16: 9, 32: 22, 64: 51}[bits] & 1


def _extreme(x: int, y: int, bits: int, greatest: bool) -> int:
    quiet = 1 << {16: 9, 32: 22, 64: 51}[bits]
    for v in (x, y):
        if _signals(v, bits):
            return v | quiet
    if _is_nan(x, bits):
        return y
    if _is_nan(y, bits):
        return x
    return x if _less(x, y, bits) != greatest else y


@pytest.mark.parametrize("bits", [16, 32, 64])
@pytest.mark.parametrize("greatest", [False, True])
def test_min_max(bits: int, greatest: bool) -> None:
    a, b = pairs(EDGES[bits], 300)
    want = np.array([_extreme(int(x), int(y), bits, greatest) for x, y in zip(a, b, strict=True)], np.uint64)
    name = "max" if greatest else "min"
    got = apply(f"v_{name}_f{bits}{E32[bits]} {{d}}, {{a}}, {{b}}", a, b, out=max(bits, 32))
    check_bits(got.astype(np.uint64), want, a, b)


@pytest.mark.parametrize("bits", [16, 32])
def test_three_of_them(bits: int) -> None:
    a, b, c = triples(EDGES[bits], 500)
    rows = list(zip(a.tolist(), b.tolist(), c.tolist(), strict=True))

    def median(x: int, y: int, z: int) -> int:
        if any(_is_nan(v, bits) for v in (x, y, z)):
            return _extreme(_extreme(x, y, bits, False), z, bits, False)
        return sorted((x, y, z), key=lambda v: (to_float(v, bits), -(v >> (bits - 1))))[1]

    for name, f in {
        "min3": lambda x, y, z: _extreme(_extreme(x, y, bits, False), z, bits, False),
        "max3": lambda x, y, z: _extreme(_extreme(x, y, bits, True), z, bits, True),
        "med3": median,
    }.items():
        got = apply(f"v_{name}_f{bits} {{d}}, {{a}}, {{b}}, {{c}}", a, b, c, old=0)
        check_bits(got, np.array([f(*r) for r in rows], np.uint32), a, b, c)


def test_minimum_and_maximum_pass_nans() -> None:
    a, b, c = triples(EDGES_F32, 400)
    va, vb, vc = (_values(x, 32) for x in (a, b, c))
    for name, f in (("minimum3", np.minimum), ("maximum3", np.maximum)):
        want = f(f(va, vb), vc)
        got = apply(f"v_{name}_f32 {{d}}, {{a}}, {{b}}, {{c}}", a, b, c, target="gfx950")
        zero = want == 0  # numpy does not order zeros
        nans = np.isnan(want)
        assert np.all(np.isnan(got.view(np.float32)) == nans)
        check_bits(got[~zero & ~nans], want.view(np.uint32)[~zero & ~nans], a[~zero & ~nans])
    zeros = [np.array(x, np.uint32) for x in ([0, SIGN[32]], [SIGN[32], SIGN[32]], [SIGN[32], 0])]
    assert apply("v_minimum3_f32 {d}, {a}, {b}, {c}", *zeros, target="gfx950").tolist() == [SIGN[32], SIGN[32]]
    assert apply("v_maximum3_f32 {d}, {a}, {b}, {c}", *zeros, target="gfx950").tolist() == [0, 0]


ROUNDED = {"floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "rndne": np.rint}


@pytest.mark.parametrize("bits", [16, 32, 64])
@pytest.mark.parametrize("name", ROUNDED)
def test_round_to_integer(name: str, bits: int) -> None:
    a = ALL_F16 if bits == 16 else np.concatenate([EDGES[bits], words(2000, 5, EDGES[bits].dtype.type)])
    if bits > 16:
        small = np.random.default_rng(1).integers(-40, 40, 2000) / 4
        a = np.concatenate([a, _raw(small, bits)])
    with np.errstate(all="ignore"):
        want = _raw(ROUNDED[name](_values(a, bits)), bits)
    check_floats(_narrow(apply(f"v_{name}_f{bits}_e32 {{d}}, {{a}}", a, out=max(bits, 32)), bits), want, bits, a)


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_fraction(bits: int) -> None:
    a = ALL_F16 if bits == 16 else np.concatenate([EDGES[bits], words(3000, 6, EDGES[bits].dtype.type)])
    x = _values(a, bits)
    with np.errstate(all="ignore"):
        want = np.minimum(x - np.floor(x), np.nextafter(KINDS[bits](1), KINDS[bits](0)))
    got = apply(f"v_fract_f{bits}_e32 {{d}}, {{a}}", a, out=max(bits, 32))
    check_floats(_narrow(got, bits), want.view(f"u{bits // 8}"), bits, a)


TRANSCENDENTAL: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "exp": np.exp2,
    "log": np.log2,
    "rcp": lambda x: 1 / x,
    "rsq": lambda x: 1 / np.sqrt(x),
    "sqrt": np.sqrt,
}


@pytest.mark.parametrize("name", TRANSCENDENTAL)
def test_transcendental_f16(name: str) -> None:
    with np.errstate(all="ignore"):
        want = TRANSCENDENTAL[name](ALL_F16.view(np.float16).astype(np.float64)).astype(np.float16)
    check_floats(_narrow(apply(f"v_{name}_f16_e32 {{d}}, {{a}}", ALL_F16), 16), want.view(np.uint16), 16, ALL_F16)


@pytest.mark.parametrize("name", [*TRANSCENDENTAL, "exp_legacy", "log_legacy", "rcp_iflag"])
def test_transcendental_f32(name: str) -> None:
    a = np.concatenate([EDGES_F32, words(4000, 8), _raw(np.random.default_rng(2).uniform(-150, 150, 4000), 32)])

    def flush(x: np.ndarray) -> np.ndarray:
        return np.where(np.abs(x) < np.float32(2.0**-126), np.copysign(np.float32(0), x), x)

    with np.errstate(all="ignore"):
        exact = TRANSCENDENTAL[name.split("_")[0]](flush(a.view(np.float32)).astype(np.float64))
        want = flush(exact.astype(np.float32)).view(np.uint32)
    check_floats(apply(f"v_{name}_f32_e32 {{d}}, {{a}}", a), want, 32, a)


def test_transcendental_f64() -> None:
    a = np.concatenate([EDGES_F64, words(2000, 9, np.uint64)])
    x = a.view(np.float64)
    with np.errstate(all="ignore"):
        for name, want in (("rcp", 1 / x), ("sqrt", np.sqrt(x))):
            check_floats(apply(f"v_{name}_f64_e32 {{d}}, {{a}}", a, out=64), want.view(np.uint64), 64, a)
        # 1 / sqrt, correct to the last bit: not farther from the exact square than its neighbours
        got = apply("v_rsq_f64_e32 {d}, {a}", a, out=64).view(np.float64)
        close = 1 / np.sqrt(x.astype(np.longdouble))
    finite = np.isfinite(close) & (close != 0)
    assert np.all(np.abs(got[finite] - close[finite]) <= np.spacing(np.abs(got[finite])) * 0.51)


@pytest.mark.parametrize("bits", [16, 32])
def test_sine_and_cosine_of_turns(bits: int) -> None:
    if bits == 16:
        a = ALL_F16
    else:
        a = np.concatenate(
            [EDGES_F32, _raw(np.random.default_rng(3).uniform(-256, 256, 6000), 32), _raw(np.arange(-64, 64) / 8, 32)]
        )
    with np.errstate(all="ignore"):
        x = _values(a, bits).astype(np.float64)
    inside = np.abs(x) <= 256
    for name, f, beyond in (("sin", np.sin, 0.0), ("cos", np.cos, 1.0)):
        got = _values(_narrow(apply(f"v_{name}_f{bits}_e32 {{d}}, {{a}}", a), bits), bits).astype(np.float64)
        with np.errstate(all="ignore"):
            want = f(2 * np.pi * np.fmod(x, 1))
        tolerance = np.spacing(np.abs(want[inside]).astype(KINDS[bits])).astype(np.float64) * 0.51 + 2e-15
        assert np.all(np.abs(got[inside] - want[inside]) <= tolerance)
        assert np.all(got[(np.abs(x) > 256) & np.isfinite(x)] == beyond)
        assert np.all(np.isnan(got[~np.isfinite(x)]))
        with np.errstate(invalid="ignore"):
            quarters = inside & (x * 4 == np.floor(x * 4))
        assert np.all(got[quarters] == np.rint(want[quarters]))


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_frexp_and_ldexp(bits: int) -> None:
    a = ALL_F16 if bits == 16 else np.concatenate([EDGES[bits], words(2000, 6, EDGES[bits].dtype.type)])
    x = _values(a, bits)
    with np.errstate(all="ignore"):
        mantissa, exponent = np.frexp(x)
    got = apply(f"v_frexp_mant_f{bits}_e32 {{d}}, {{a}}", a, out=max(bits, 32))
    check_floats(_narrow(got, bits), mantissa.view(f"u{bits // 8}"), bits, a)
    kind = "i16_f16" if bits == 16 else f"i32_f{bits}"
    got = apply(f"v_frexp_exp_{kind}_e32 {{d}}, {{a}}", a)
    finite = np.isfinite(x)
    want = np.where(finite, exponent, 0).astype(np.int32).view(np.uint32) & np.uint32(
        0xFFFF if bits == 16 else 0xFFFFFFFF
    )
    check_bits(got, want, a)
    n = np.random.default_rng(4).integers(-80 * bits, 80 * bits, len(a)).astype(np.int32)
    n[:3] = [-(2**31), 2**31 - 1, 5]
    if bits == 16:
        n = np.clip(n // 32, -32768, 32767)
    with np.errstate(all="ignore"):
        want = np.ldexp(x, np.clip(n, -4000, 4000))
    if bits > 16:  # numpy rounds a denormal result twice at worst on no format; compare with exact arithmetic
        exact = [
            round_exact(Fraction(float(v)) * Fraction(2) ** int(np.clip(k, -3000, 3000)), bits)
            if np.isfinite(v) and v
            else None
            for v, k in zip(x[:600], n[:600], strict=True)
        ]
        want = want.view(f"u{bits // 8}").copy()
        for i, e in enumerate(exact):
            want[i] = want[i] if e is None else e
    else:
        want = want.view(np.uint16)
    suffix = "_e32" if bits == 16 else ""
    got = apply(f"v_ldexp_f{bits}{suffix} {{d}}, {{a}}, {{b}}", a, n.view(np.uint32), out=max(bits, 32))
    check_floats(_narrow(got, bits), want, bits, a, n.view(np.uint32))


def test_output_modifiers() -> None:
    """clamp brings into [0, 1]; mul:2 and the like work only where IEEE mode and output denormals are off."""
    a, b = pairs(EDGES_F32, 500)
    plain = apply("v_add_f32_e32 {d}, {a}, {b}", a, b).view(np.float32)
    with np.errstate(all="ignore"):
        want = np.where(np.isnan(plain), np.float32(0), np.clip(plain, 0, 1)) + np.float32(0)
        check_bits(apply("v_add_f32_e64 {d}, {a}, {b} clamp", a, b), want.view(np.uint32), a, b)
        keep = np.where(np.isnan(plain), plain, np.clip(plain, 0, 1) + np.float32(0))
        check_floats(apply("v_add_f32_e64 {d}, {a}, {b} clamp", a, b, mode=0x2F0), keep.view(np.uint32), 32, a, b)
        check_bits(apply("v_add_f32_e64 {d}, {a}, {b} mul:2", a, b), apply("v_add_f32_e32 {d}, {a}, {b}", a, b), a, b)
        flushed = apply("v_add_f32_e32 {d}, {a}, {b}", a, b, mode=0x100).view(np.float32)
        for text, factor in (("mul:2", 2), ("mul:4", 4), ("div:2", 0.5)):
            want = flushed * np.float32(factor)
            want = np.where(np.abs(want) < np.float32(2.0**-126), np.float32(0), want)
            check_floats(
                apply(f"v_add_f32_e64 {{d}}, {{a}}, {{b}} {text}", a, b, mode=0x100), want.view(np.uint32), 32, a, b
            )


def test_legacy_multiply() -> None:
    a, b = pairs(EDGES_F32, 200)
    x, y = a.view(np.float32), b.view(np.float32)
    with np.errstate(all="ignore"):
        want = np.where((x == 0) | (y == 0), np.float32(0), x * y)
    check_floats(apply("v_mul_legacy_f32 {d}, {a}, {b}", a, b), want.view(np.uint32), 32, a, b)


def test_cube_maps() -> None:
    rng = np.random.default_rng(5)
    x, y, z = (rng.integers(-3, 4, 2000).astype(np.float32) for _ in range(3))
    raw = [v.view(np.uint32) for v in (x, y, z)]
    ax, ay, az = np.abs(x), np.abs(y), np.abs(z)
    is_z = (az >= ax) & (az >= ay)
    is_y = ~is_z & (ay >= ax)
    major = np.where(is_z, z, np.where(is_y, y, x))
    negative = major < 0
    want = {
        "id": np.where(is_z, 4, np.where(is_y, 2, 0)) + negative,
        "sc": np.where(is_z, np.where(negative, -x, x), np.where(is_y, x, np.where(negative, z, -z))),
        "tc": np.where(is_y, np.where(negative, -z, z), -y),
        "ma": 2 * major,
    }
    for name, value in want.items():
        got = apply(f"v_cube{name}_f32 {{d}}, {{a}}, {{b}}, {{c}}", *raw).view(np.float32)
        assert np.array_equal(got, value.astype(np.float32)), name


def test_digits_of_two_over_pi() -> None:
    """v_trig_preop gives 53 bits of 2/pi from a place on; here the digits come from Machin's formula."""

    def inverse_tangent(n: int, bits: int) -> int:
        term, total, k = (1 << bits) // n, 0, 1
        while term:
            total += term // k if k % 4 == 1 else -(term // k)
            term //= n * n
            k += 2
        return total

    bits = 1400
    pi = 4 * (4 * inverse_tangent(5, bits) - inverse_tangent(239, bits))
    digits = (2 << 2 * bits) // pi >> bits - 1201 & (1 << 1201) - 1
    a = np.array([1.0, 1e10, 1e300, 2.0**60, 2.0**54, 2.0**55, 2.0**1000, 1.0, 1.0], np.float64)
    b = np.array([0, 1, 2, 3, 0, 0, 5, 20, 22], np.uint32)
    got = apply("v_trig_preop_f64 {d}, {a}, {b}", a.view(np.uint64), b, out=64).view(np.float64)
    for x, n, value in zip(a, b, got, strict=True):
        exponent = int(np.float64(x).view(np.uint64)) >> 52 & 0x7FF
        shift = int(n) * 53 + max(0, exponent - 1077)
        cut = (digits << shift & (1 << 1201) - 1) >> 1201 - 53
        exact = Fraction(cut) * Fraction(2) ** (-53 - shift + 128 * (exponent >= 1968))
        assert int(value.view(np.uint64)) == round_exact(exact, 64)


def test_f16_overflow_mode() -> None:
    """MODE.FP16_OVFL makes results that overflow the greatest number; infinities stay."""
    a = np.array([0x7BFF, 0xFBFF, 0x7C00, 0x3C00], np.uint16)
    b = np.array([0x7BFF, 0xFBFF, 0x3C00, 0x3C00], np.uint16)
    assert apply("v_add_f16_e32 {d}, {a}, {b}", a, b, mode=0x8003F0).tolist() == [0x7BFF, 0xFBFF, 0x7C00, 0x4000]
    assert apply("v_add_f16_e32 {d}, {a}, {b}", a, b).tolist() == [0x7C00, 0xFC00, 0x7C00, 0x4000]
    big = np.array([1e6, -1e6, np.inf, 1], np.float32).view(np.uint32)
    assert apply("v_cvt_f16_f32_e32 {d}, {a}", big, mode=0x8003F0).tolist() == [0x7BFF, 0xFBFF, 0x7C00, 0x3C00]
