"""Packed arithmetic, dot products and mixed precision: all half selections, negation, clamp."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from alu import EDGES_32, EDGES_F16, EDGES_F32, apply, check_bits, check_floats, triples, words
from snippet import LANES, run_lines

LOW, SIXTEEN = np.uint32(0xFFFF), np.uint32(16)
F16_WORDS = (
    EDGES_F16[np.random.default_rng(1).integers(0, len(EDGES_F16), 60)].astype(np.uint32) << SIXTEEN
    | EDGES_F16[np.random.default_rng(2).integers(0, len(EDGES_F16), 60)]
)
SELECTIONS = [((0, 0, 0), (1, 1, 1)), ((1, 0, 1), (0, 1, 0)), ((1, 1, 1), (0, 0, 0)), ((0, 1, 1), (1, 1, 0))]


def _signed(x: np.ndarray, bits: int = 16) -> np.ndarray:
    return (x.astype(np.int64) & (1 << bits) - 1) - ((x.astype(np.int64) >> bits - 1 & 1) << bits)


def _halves(x: np.ndarray, sel: int) -> np.ndarray:
    return (x >> SIXTEEN if sel else x) & LOW


def _text(name: str, count: int, low: tuple[int, ...], high: tuple[int, ...], more: str = "") -> str:
    operands = ", ".join(["{d}", "{a}", "{b}", "{c}"][: count + 1])
    lists = [
        f"{word}:[{','.join(map(str, values[:count]))}]" for word, values in (("op_sel", low), ("op_sel_hi", high))
    ]
    return f"{name} {operands} {' '.join(lists)} {more}"


Formula = Callable[..., np.ndarray]
INTEGERS: dict[str, tuple[int, Formula]] = {
    "v_pk_mad_i16": (3, lambda a, b, c: _signed(a) * _signed(b) + _signed(c)),
    "v_pk_mad_u16": (3, lambda a, b, c: a * b + c),
    "v_pk_mul_lo_u16": (2, lambda a, b: a * b),
    "v_pk_add_i16": (2, lambda a, b: _signed(a) + _signed(b)),
    "v_pk_sub_i16": (2, lambda a, b: _signed(a) - _signed(b)),
    "v_pk_add_u16": (2, lambda a, b: a + b),
    "v_pk_sub_u16": (2, lambda a, b: a - b),
    "v_pk_lshlrev_b16": (2, lambda a, b: b << a % 16),
    "v_pk_lshrrev_b16": (2, lambda a, b: b >> a % 16),
    "v_pk_ashrrev_i16": (2, lambda a, b: _signed(b) >> a % 16),
    "v_pk_max_i16": (2, lambda a, b: np.maximum(_signed(a), _signed(b))),
    "v_pk_min_i16": (2, lambda a, b: np.minimum(_signed(a), _signed(b))),
    "v_pk_max_u16": (2, np.maximum),
    "v_pk_min_u16": (2, np.minimum),
}
SATURATING = ("v_pk_mad_i16", "v_pk_mad_u16", "v_pk_add_i16", "v_pk_sub_i16", "v_pk_add_u16", "v_pk_sub_u16")


@pytest.mark.parametrize("name", INTEGERS)
def test_integers(name: str) -> None:
    count, formula = INTEGERS[name]
    sources = triples(EDGES_32, 300)[:count]
    for low, high in SELECTIONS:
        halves = []
        for chosen in (low, high):
            args = [_halves(x, s).astype(np.int64) for x, s in zip(sources, chosen, strict=False)]
            halves.append(formula(*args))
        want = (halves[0] & 0xFFFF | (halves[1] & 0xFFFF) << 16).astype(np.uint32)
        check_bits(apply(_text(name, count, low, high), *sources), want, *sources)
        if name not in SATURATING:
            continue
        least, most = (-32768, 32767) if name.endswith("i16") else (0, 65535)
        clipped = [np.clip(h, least, most) for h in halves]
        want = (clipped[0] & 0xFFFF | (clipped[1] & 0xFFFF) << 16).astype(np.uint32)
        check_bits(apply(_text(name, count, low, high, "clamp"), *sources), want, *sources)


F16: dict[str, tuple[int, str]] = {
    "v_pk_fma_f16": (3, "v_fma_legacy_f16"),
    "v_pk_add_f16": (2, "v_add_f16_e32"),
    "v_pk_mul_f16": (2, "v_mul_f16_e32"),
    "v_pk_min_f16": (2, "v_min_f16_e32"),
    "v_pk_max_f16": (2, "v_max_f16_e32"),
}


@pytest.mark.thin(4)
@pytest.mark.parametrize("mode", [0x3F0, 0x330, 0x3F4])
@pytest.mark.parametrize("name", F16)
def test_halves(name: str, mode: int) -> None:
    """Each half is what the instruction for one f16 gives (which has tests of its own)."""
    count, single = F16[name]
    sources = triples(F16_WORDS, 700)[:count]
    operands = ", ".join(["{d}", "{a}", "{b}", "{c}"][: count + 1])
    for low, high in SELECTIONS:
        for neg_lo, neg_hi in (((0, 0, 0), (0, 0, 0)), ((1, 0, 1), (0, 1, 1))):
            halves = []
            for chosen, signs in ((low, neg_lo), (high, neg_hi)):
                args = [
                    (_halves(x, s) ^ np.uint32(n << 15)).astype(np.uint16)
                    for x, s, n in zip(sources, chosen, signs, strict=False)
                ]
                halves.append(apply(f"{single} {operands}", *args, mode=mode))
            more = f"neg_lo:[{','.join(map(str, neg_lo[:count]))}] neg_hi:[{','.join(map(str, neg_hi[:count]))}]"
            got = apply(_text(name, count, low, high, more), *sources, mode=mode)
            check_bits(got, halves[0] | halves[1] << SIXTEEN, *sources)


def test_halves_clamped_and_accumulated() -> None:
    a, b, c = triples(F16_WORDS, 500)
    plain = apply("v_pk_add_f16 {d}, {a}, {b}", a, b)
    with np.errstate(all="ignore"):
        x = plain.view(np.float16)
        want = (np.where(np.isnan(x), np.float16(0), np.clip(x, 0, 1)) + np.float16(0)).astype(np.float16)
    check_bits(apply("v_pk_add_f16 {d}, {a}, {b} clamp", a, b), want.view(np.uint32), a, b)
    check_bits(apply("v_pk_fmac_f16_e32 {d}, {a}, {b}", a, b, old=c), apply("v_pk_fma_f16 {d}, {a}, {b}, {c}", a, b, c))


def test_constants_of_packed_halves() -> None:
    """An inline constant is in the low half; op_sel_hi:[..,0] repeats it."""
    a = np.resize(np.array([0x3C004000, 0x40003C00], np.uint32), LANES)
    lines = [
        "v_pk_add_f16 v1, v0, 1.0 op_sel_hi:[1,0]",
        "v_pk_add_f16 v2, v0, 1.0",
        "v_pk_add_u16 v3, v0, 5 op_sel_hi:[1,0]",
        "v_pk_add_f16 v4, v0, s8",
        "v_pk_add_f16 v5, s8, v0 op_sel:[1,0] op_sel_hi:[0,1]",
    ]
    after = run_lines(lines, {0: a}, {8: 0x3C004400})
    assert [hex(x) for x in after.v[1:6, 0]] == ["0x40004200", "0x3c004200", "0x3c054005", "0x40004600", "0x45004200"]


@pytest.mark.parametrize("name", ["fma", "mul", "add"])
def test_pairs_of_words(name: str) -> None:
    count = 3 if name == "fma" else 2
    rng = np.random.default_rng(4)
    many = np.concatenate([EDGES_F32, words(300, 4)])
    pairs = [rng.choice(many, (900, 2)) for _ in range(count)]
    raw = [np.ascontiguousarray(p).view(np.uint64)[:, 0] for p in pairs]
    single = {"fma": "v_fma_f32", "mul": "v_mul_f32_e32", "add": "v_add_f32_e32"}[name]
    operands = ", ".join(["{d}", "{a}", "{b}", "{c}"][: count + 1])
    for mode in (0x3F0, 0x3C0, 0x3F2):
        for low, high in SELECTIONS:
            for neg_lo, neg_hi in (((0, 0, 0), (0, 0, 0)), ((1, 0, 1), (0, 1, 1))):
                result = []
                for chosen, signs in ((low, neg_lo), (high, neg_hi)):
                    args = [p[:, s] ^ np.uint32(n << 31) for p, s, n in zip(pairs, chosen, signs, strict=False)]
                    result.append(apply(f"{single} {operands}", *args, mode=mode))
                more = f"neg_lo:[{','.join(map(str, neg_lo[:count]))}] neg_hi:[{','.join(map(str, neg_hi[:count]))}]"
                got = apply(_text(f"v_pk_{name}_f32", count, low, high, more), *raw, out=64, mode=mode)
                check_bits(got.astype(np.uint32), result[0], *raw)
                check_bits((got >> np.uint64(32)).astype(np.uint32), result[1], *raw)


def test_pairs_from_scalars_and_constants() -> None:
    a = np.arange(LANES * 2, dtype=np.float32).reshape(LANES, 2)
    lines = [
        "v_pk_mul_f32 v[2:3], v[0:1], s[8:9]",
        "v_pk_mul_f32 v[4:5], v[0:1], s[8:9] op_sel_hi:[1,0]",
        "v_pk_fma_f32 v[6:7], v[0:1], 2.0, v[0:1] op_sel_hi:[1,0,1]",
        "v_pk_add_f32 v[0:1], v[0:1], v[0:1] op_sel:[1,0]",
    ]
    after = run_lines(lines, {0: a}, {8: np.array([3, 5], np.float32)})
    f = after.v.view(np.float32)
    x, y = a.T
    for register, want in enumerate([x + y, 2 * y, 3 * x, 5 * y, 3 * x, 3 * y, 3 * x, 3 * y]):
        assert np.array_equal(f[register], want), register


def test_move_pair() -> None:
    a, b = words(LANES * 2, 1).reshape(LANES, 2), words(LANES * 2, 2).reshape(LANES, 2)
    for first in (0, 1):
        for second in (0, 1):
            after = run_lines(f"v_pk_mov_b32 v[4:5], v[0:1], v[2:3] op_sel:[{first},{second}]", {0: a, 2: b})
            check_bits(after.v[4], a[:, first])
            check_bits(after.v[5], b[:, second])


def _elements(x: np.ndarray, bits: int, signed: bool) -> list[np.ndarray]:
    parts = [(x >> np.uint32(i)).astype(np.int64) & (1 << bits) - 1 for i in range(0, 32, bits)]
    return [_signed(p, bits) if signed else p for p in parts]


DOTS = {
    "v_dot2_i32_i16": (16, True),
    "v_dot2_u32_u16": (16, False),
    "v_dot4_i32_i8": (8, True),
    "v_dot4_u32_u8": (8, False),
    "v_dot8_i32_i4": (4, True),
    "v_dot8_u32_u4": (4, False),
}


@pytest.mark.parametrize("name", DOTS)
def test_dot_products_of_integers(name: str) -> None:
    bits, signed = DOTS[name]
    a, b, c = triples(EDGES_32, 500)
    products = [x * y for x, y in zip(_elements(a, bits, signed), _elements(b, bits, signed), strict=True)]
    exact = sum(products) + (_signed(c, 32) if signed else c.astype(np.int64))
    check_bits(apply(f"{name} {{d}}, {{a}}, {{b}}, {{c}}", a, b, c), (exact & 0xFFFFFFFF).astype(np.uint32), a, b, c)
    least, most = (-(1 << 31), (1 << 31) - 1) if signed else (0, (1 << 32) - 1)
    want = (np.clip(exact, least, most) & 0xFFFFFFFF).astype(np.uint32)
    check_bits(apply(f"{name} {{d}}, {{a}}, {{b}}, {{c}} clamp", a, b, c), want, a, b, c)
    if not signed:
        return
    short = name.replace("_i32", "c_i32", 1)
    check_bits(apply(f"{short}_e32 {{d}}, {{a}}, {{b}}", a, b, old=c), (exact & 0xFFFFFFFF).astype(np.uint32), a, b, c)


def test_dot_products_of_halves() -> None:
    rng = np.random.default_rng(6)
    a, b = (rng.standard_normal((600, 2)).astype(np.float16) for _ in range(2))
    c = rng.standard_normal(600).astype(np.float32)
    products = a.astype(np.float32) * b.astype(np.float32)
    want = (c + products[:, 0] + products[:, 1]).view(np.uint32)
    raw = [np.ascontiguousarray(x).view(np.uint32)[:, 0] for x in (a, b)]
    check_bits(apply("v_dot2_f32_f16 {d}, {a}, {b}, {c}", *raw, c.view(np.uint32)), want)
    check_bits(apply("v_dot2c_f32_f16_e32 {d}, {a}, {b}", *raw, old=c.view(np.uint32)), want)
    negated = (-c + products[:, 0] - products[:, 1]).view(np.uint32)
    got = apply("v_dot2_f32_f16 {d}, {a}, {b}, {c} neg_lo:[0,0,1] neg_hi:[1,0,0]", *raw, c.view(np.uint32))
    check_bits(got, negated)


def test_dot_products_of_brain_floats() -> None:
    rng = np.random.default_rng(7)
    a, b = (rng.standard_normal((600, 2)).astype(np.float32).view(np.uint32) & np.uint32(0xFFFF0000) for _ in range(2))
    c = rng.standard_normal(600).astype(np.float32)
    raw = [x[:, 0] >> SIXTEEN | x[:, 1] for x in (a, b)]
    products = a.view(np.float32) * b.view(np.float32)
    got = apply("v_dot2_f32_bf16 {d}, {a}, {b}, {c}", *raw, c.view(np.uint32), target="gfx950")
    check_bits(got, (products[:, 0] + products[:, 1] + c).view(np.uint32))
    got = apply("v_dot2c_f32_bf16_e32 {d}, {a}, {b}", *raw, old=c.view(np.uint32), target="gfx950")
    check_bits(got, (c + products[:, 0] + products[:, 1]).view(np.uint32))


def test_mixed_precision() -> None:
    a, b, c = triples(np.concatenate([EDGES_F32, F16_WORDS]), 500)
    raw = (a, b, c)
    for high, halves in (
        ((0, 0, 0), (0, 0, 0)),
        ((1, 0, 1), (0, 0, 1)),
        ((1, 1, 1), (1, 0, 1)),
        ((0, 1, 0), (0, 1, 0)),
    ):
        args = []
        for x, is_half, sel in zip(raw, high, halves, strict=True):
            args.append(apply("v_cvt_f32_f16_e32 {d}, {a}", _halves(x, sel).astype(np.uint16)) if is_half else x)
        args[0] = args[0] ^ np.uint32(1 << 31)
        args[1] = args[1] & np.uint32(0x7FFFFFFF)
        want = apply("v_fma_f32 {d}, {a}, {b}, {c}", *args)
        lists = [",".join(map(str, values)) for values in (halves, high)]
        text = f"{{d}}, -{{a}}, |{{b}}|, {{c}} op_sel:[{lists[0]}] op_sel_hi:[{lists[1]}]"
        check_floats(apply(f"v_fma_mix_f32 {text}", *raw), want, 32, *raw)
        half = apply("v_cvt_f16_f32_e32 {d}, {a}", want)
        check_floats(apply(f"v_fma_mixlo_f16 {text}", *raw, old=0x12345678) & LOW, half, 16, *raw)
        check_floats(apply(f"v_fma_mixhi_f16 {text}", *raw, old=0x12345678) >> SIXTEEN, half, 16, *raw)
    assert apply("v_fma_mixlo_f16 {d}, 1.0, 1.0, 1.0", a[:1], old=0x12345678)[0] == 0x12344000
    assert apply("v_fma_mixhi_f16 {d}, 1.0, 1.0, 1.0", a[:1], old=0x12345678)[0] == 0x40005678


def test_three_halves() -> None:
    a, b, c = triples(F16_WORDS, 400)
    for name, f in (("minimum3", np.minimum), ("maximum3", np.maximum)):
        got = apply(f"v_pk_{name}_f16 {{d}}, {{a}}, {{b}}, {{c}}", a, b, c, target="gfx950").view(np.float16)
        with np.errstate(all="ignore"):
            want = f(f(a.view(np.float16), b.view(np.float16)), c.view(np.float16))
        assert np.array_equal(got, want, equal_nan=True)


@pytest.mark.parametrize(("name", "shift"), [("v_pk_lshlrev_b16", np.left_shift), ("v_pk_lshrrev_b16", np.right_shift)])
def test_float_constant_of_a_shift_is_a_single(name: str, shift: np.ufunc) -> None:
    amounts = np.arange(64, dtype=np.uint32) % 16
    out = run_lines(f"{name} v1, v0, 1.0 op_sel_hi:[0,1]", {0: amounts}).v[1]
    np.testing.assert_array_equal(out, (shift(np.uint32(0x3F80), amounts) & 0xFFFF) << 16)
