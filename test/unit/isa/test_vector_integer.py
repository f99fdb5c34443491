"""Vector integer instructions against formulas on Python integers: random words and edges."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from alu import EDGES_32, apply, check_bits, pairs, triples, words
from snippet import LANES, run_lines

M32, M64 = (1 << 32) - 1, (1 << 64) - 1
EDGES_64 = np.concatenate(
    [
        EDGES_32.astype(np.uint64),
        EDGES_32.astype(np.uint64) << np.uint64(32),
        np.array([M64, 1 << 63, (1 << 63) - 1, M32 << 16], np.uint64),
    ]
)


def signed(x: int, bits: int = 32) -> int:
    """The low bits as a signed number."""
    x &= (1 << bits) - 1
    return x - (x >> (bits - 1) << bits)


def _bytes(x: int) -> list[int]:
    return [x >> i & 255 for i in (0, 8, 16, 24)]


def _sad(a: int, b: int, masked: bool = False) -> int:
    return sum(abs(x - y) for x, y in zip(_bytes(a), _bytes(b), strict=True) if y or not masked)


def _first(text: str, digit: str) -> int:
    return text.find(digit)


def _perm(a: int, b: int, c: int) -> int:
    data = [*_bytes(b), *_bytes(a)]

    def pick(s: int) -> int:
        if s < 8:
            return data[s]
        return 255 * (data[2 * (s - 8) + 1] >> 7) if s < 12 else 0 if s == 12 else 255

    return sum(pick(s) << 8 * i for i, s in enumerate(_bytes(c)))


def _bfe(a: int, b: int, c: int, is_signed: bool) -> int:
    width = c % 32
    value = (signed(a) >> b % 32) % (1 << width) if is_signed else (a >> b % 32) % (1 << width)
    return signed(value, width) if is_signed and width else value


def _clip(x: int, least: int, most: int) -> int:
    return max(least, min(most, x))


ONE: dict[str, Callable[[int], int]] = {
    "v_mov_b32_e32": lambda a: a,
    "v_not_b32_e32": lambda a: ~a,
    "v_bfrev_b32_e32": lambda a: int(format(a, "032b")[::-1], 2),
    "v_ffbh_u32_e32": lambda a: _first(format(a, "032b"), "1"),
    "v_ffbl_b32_e32": lambda a: _first(format(a, "032b")[::-1], "1"),
    "v_ffbh_i32_e32": lambda a: _first(format(a, "032b"), "1" if a < 1 << 31 else "0"),
    "v_sat_pk_u8_i16_e32": lambda a: _clip(signed(a, 16), 0, 255) | _clip(signed(a >> 16, 16), 0, 255) << 8,
}

TWO: dict[str, Callable[[int, int], int]] = {
    "v_and_b32_e32": lambda a, b: a & b,
    "v_or_b32_e32": lambda a, b: a | b,
    "v_xor_b32_e32": lambda a, b: a ^ b,
    "v_xnor_b32_e32": lambda a, b: ~(a ^ b),
    "v_lshlrev_b32_e32": lambda a, b: b << a % 32,
    "v_lshrrev_b32_e32": lambda a, b: b >> a % 32,
    "v_ashrrev_i32_e32": lambda a, b: signed(b) >> a % 32,
    "v_add_u32_e32": lambda a, b: a + b,
    "v_sub_u32_e32": lambda a, b: a - b,
    "v_subrev_u32_e32": lambda a, b: b - a,
    "v_add_i32": lambda a, b: a + b,
    "v_sub_i32": lambda a, b: a - b,
    "v_min_i32_e32": lambda a, b: min(signed(a), signed(b)),
    "v_max_i32_e32": lambda a, b: max(signed(a), signed(b)),
    "v_min_u32_e32": min,
    "v_max_u32_e32": max,
    "v_mul_i32_i24_e32": lambda a, b: signed(a, 24) * signed(b, 24),
    "v_mul_hi_i32_i24_e32": lambda a, b: signed(a, 24) * signed(b, 24) >> 32,
    "v_mul_u32_u24_e32": lambda a, b: a % 2**24 * (b % 2**24),
    "v_mul_hi_u32_u24_e32": lambda a, b: a % 2**24 * (b % 2**24) >> 32,
    "v_mul_lo_u32": lambda a, b: a * b,
    "v_mul_hi_u32": lambda a, b: a * b >> 32,
    "v_mul_hi_i32": lambda a, b: signed(a) * signed(b) >> 32,
    "v_bfm_b32": lambda a, b: (2 ** (a % 32) - 1) << b % 32,
    "v_bcnt_u32_b32": lambda a, b: a.bit_count() + b,
    "v_cvt_pk_u16_u32": lambda a, b: min(a, 65535) | min(b, 65535) << 16,
    "v_cvt_pk_i16_i32": lambda a, b: (
        _clip(signed(a), -32768, 32767) % 65536 | _clip(signed(b), -32768, 32767) % 65536 << 16
    ),
    "v_pack_b32_f16": lambda a, b: a % 65536 | b % 65536 << 16,
    # 16 bits: the high half becomes 0
    "v_add_u16_e32": lambda a, b: (a + b) % 65536,
    "v_sub_u16_e32": lambda a, b: (a - b) % 65536,
    "v_subrev_u16_e32": lambda a, b: (b - a) % 65536,
    "v_mul_lo_u16_e32": lambda a, b: a * b % 65536,
    "v_lshlrev_b16_e32": lambda a, b: (b << a % 16) % 65536,
    "v_lshrrev_b16_e32": lambda a, b: b % 65536 >> a % 16,
    "v_ashrrev_i16_e32": lambda a, b: (signed(b, 16) >> a % 16) % 65536,
    "v_max_u16_e32": lambda a, b: max(a % 65536, b % 65536),
    "v_min_u16_e32": lambda a, b: min(a % 65536, b % 65536),
    "v_max_i16_e32": lambda a, b: max(signed(a, 16), signed(b, 16)) % 65536,
    "v_min_i16_e32": lambda a, b: min(signed(a, 16), signed(b, 16)) % 65536,
}

THREE: dict[str, Callable[[int, int, int], int]] = {
    "v_add3_u32": lambda a, b, c: a + b + c,
    "v_lshl_add_u32": lambda a, b, c: (a << b % 32) + c,
    "v_add_lshl_u32": lambda a, b, c: (a + b) << c % 32,
    "v_lshl_or_b32": lambda a, b, c: a << b % 32 | c,
    "v_and_or_b32": lambda a, b, c: a & b | c,
    "v_or3_b32": lambda a, b, c: a | b | c,
    "v_xad_u32": lambda a, b, c: (a ^ b) + c,
    "v_bfi_b32": lambda a, b, c: a & b | ~a & c,
    "v_bfe_u32": lambda a, b, c: _bfe(a, b, c, False),
    "v_bfe_i32": lambda a, b, c: _bfe(a, b, c, True),
    "v_mad_u32_u24": lambda a, b, c: a % 2**24 * (b % 2**24) + c,
    "v_mad_i32_i24": lambda a, b, c: signed(a, 24) * signed(b, 24) + c,
    "v_mad_u32_u16": lambda a, b, c: a % 2**16 * (b % 2**16) + c,
    "v_mad_i32_i16": lambda a, b, c: signed(a, 16) * signed(b, 16) + c,
    "v_alignbit_b32": lambda a, b, c: (a << 32 | b) >> c % 32,
    "v_alignbyte_b32": lambda a, b, c: (a << 32 | b) >> 8 * (c % 4),
    "v_perm_b32": _perm,
    "v_lerp_u8": lambda a, b, c: sum(
        (x + y + (z & 1) >> 1) << 8 * i for i, (x, y, z) in enumerate(zip(_bytes(a), _bytes(b), _bytes(c), strict=True))
    ),
    "v_sad_u8": lambda a, b, c: _sad(a, b) + c,
    "v_sad_hi_u8": lambda a, b, c: (_sad(a, b) << 16) + c,
    "v_sad_u16": lambda a, b, c: abs(a % 65536 - b % 65536) + abs((a >> 16) - (b >> 16)) + c,
    "v_sad_u32": lambda a, b, c: abs(a - b) + c,
    "v_msad_u8": lambda a, b, c: _sad(a, b, True) + c,
    "v_min3_i32": lambda a, b, c: min(signed(a), signed(b), signed(c)),
    "v_max3_i32": lambda a, b, c: max(signed(a), signed(b), signed(c)),
    "v_med3_i32": lambda a, b, c: sorted((signed(a), signed(b), signed(c)))[1],
    "v_min3_u32": min,
    "v_max3_u32": max,
    "v_med3_u32": lambda a, b, c: sorted((a, b, c))[1],
    "v_mad_legacy_u16": lambda a, b, c: (a * b + c) % 65536,
    "v_mad_legacy_i16": lambda a, b, c: (a * b + c) % 65536,
}

# results that leave the high half of their register
THREE_LOW: dict[str, Callable[[int, int, int], int]] = {
    "v_mad_u16": lambda a, b, c: a * b + c,
    "v_mad_i16": lambda a, b, c: a * b + c,
    "v_min3_i16": lambda a, b, c: min(signed(a, 16), signed(b, 16), signed(c, 16)),
    "v_max3_i16": lambda a, b, c: max(signed(a, 16), signed(b, 16), signed(c, 16)),
    "v_med3_i16": lambda a, b, c: sorted((signed(a, 16), signed(b, 16), signed(c, 16)))[1],
    "v_min3_u16": lambda a, b, c: min(a % 65536, b % 65536, c % 65536),
    "v_max3_u16": lambda a, b, c: max(a % 65536, b % 65536, c % 65536),
    "v_med3_u16": lambda a, b, c: sorted((a % 65536, b % 65536, c % 65536))[1],
}


def _each(formula: Callable[..., int], *sources: np.ndarray, mask: int = M32) -> np.ndarray:
    rows = zip(*(s.tolist() for s in sources), strict=True)
    return np.array([formula(*row) & mask for row in rows], np.uint64 if mask == M64 else np.uint32)


@pytest.mark.parametrize("name", ONE)
def test_one_source(name: str) -> None:
    a = np.concatenate([EDGES_32, words(200)])
    check_bits(apply(f"{name} {{d}}, {{a}}", a), _each(ONE[name], a), a)


@pytest.mark.parametrize("name", TWO)
def test_two_sources(name: str) -> None:
    a, b = pairs(EDGES_32)
    check_bits(apply(f"{name} {{d}}, {{a}}, {{b}}", a, b), _each(TWO[name], a, b), a, b)


@pytest.mark.parametrize("name", THREE)
def test_three_sources(name: str) -> None:
    a, b, c = triples(EDGES_32, 400)
    check_bits(apply(f"{name} {{d}}, {{a}}, {{b}}, {{c}}", a, b, c), _each(THREE[name], a, b, c), a, b, c)


@pytest.mark.parametrize("name", [*THREE_LOW, "v_add_i16", "v_sub_i16"])
def test_low_half_only(name: str) -> None:
    a, b, c = triples(EDGES_32, 200)
    low = {"v_add_i16": lambda a, b, c: a + b, "v_sub_i16": lambda a, b, c: a - b, **THREE_LOW}[name]
    operands = "{a}, {b}" if name in ("v_add_i16", "v_sub_i16") else "{a}, {b}, {c}"
    want = _each(low, a, b, c, mask=0xFFFF)
    check_bits(apply(f"{name} {{d}}, {operands}", a, b, c, old=0xABCD1234), want | np.uint32(0xABCD0000), a, b, c)
    high = apply(
        f"{name} {{d}}, {operands} op_sel:[0,0,0,1]" if "c" in operands else f"{name} {{d}}, {operands} op_sel:[0,0,1]",
        a,
        b,
        c,
        old=0xABCD1234,
    )
    check_bits(high, want << np.uint32(16) | np.uint32(0x1234), a, b, c)


CLAMPED: dict[str, tuple[Callable[..., int], int, int]] = {
    "v_add_u32_e64 {d}, {a}, {b} clamp": (lambda a, b, c: a + b, 0, M32),
    "v_sub_u32_e64 {d}, {a}, {b} clamp": (lambda a, b, c: a - b, 0, M32),
    "v_subrev_u32_e64 {d}, {a}, {b} clamp": (lambda a, b, c: b - a, 0, M32),
    "v_add_i32 {d}, {a}, {b} clamp": (lambda a, b, c: signed(a) + signed(b), -(1 << 31), (1 << 31) - 1),
    "v_sub_i32 {d}, {a}, {b} clamp": (lambda a, b, c: signed(a) - signed(b), -(1 << 31), (1 << 31) - 1),
    "v_add_u16_e64 {d}, {a}, {b} clamp": (lambda a, b, c: a % 65536 + b % 65536, 0, 65535),
    "v_sub_u16_e64 {d}, {a}, {b} clamp": (lambda a, b, c: a % 65536 - b % 65536, 0, 65535),
    "v_mad_u32_u24 {d}, {a}, {b}, {c} clamp": (lambda a, b, c: a % 2**24 * (b % 2**24) + c, 0, M32),
    "v_mad_i32_i24 {d}, {a}, {b}, {c} clamp": (
        lambda a, b, c: signed(a, 24) * signed(b, 24) + signed(c),
        -(1 << 31),
        (1 << 31) - 1,
    ),
    "v_mad_u32_u16 {d}, {a}, {b}, {c} clamp": (lambda a, b, c: a % 2**16 * (b % 2**16) + c, 0, M32),
    "v_sad_u8 {d}, {a}, {b}, {c} clamp": (lambda a, b, c: _sad(a, b) + c, 0, M32),
    "v_sad_u32 {d}, {a}, {b}, {c} clamp": (lambda a, b, c: abs(a - b) + c, 0, M32),
}


@pytest.mark.parametrize("line", CLAMPED)
def test_clamp_saturates(line: str) -> None:
    a, b, c = triples(EDGES_32, 300)
    formula, least, most = CLAMPED[line]
    mask = 0xFFFF if "16_e64" in line else M32
    want = _each(lambda x, y, z: _clip(formula(x, y, z), least, most) & mask, a, b, c)
    check_bits(apply(line, a, b, c), want, a, b, c)


def test_64_bits() -> None:
    a, b = pairs(EDGES_64, 300)
    n = (b & np.uint64(M32)).astype(np.uint32)
    for line, formula in {
        "v_mov_b64_e32 {d}, {a}": lambda x, y: x,
        "v_lshlrev_b64 {d}, {b}, {a}": lambda x, y: x << y % 64,
        "v_lshrrev_b64 {d}, {b}, {a}": lambda x, y: x >> y % 64,
        "v_ashrrev_i64 {d}, {b}, {a}": lambda x, y: signed(x, 64) >> y % 64,
        "v_lshl_add_u64 {d}, {a}, {b}, 7": lambda x, y: (x << y % 8) + 7,
    }.items():
        check_bits(apply(line, a, n, out=64), _each(formula, a, n, mask=M64), a, n)


def test_mad_64() -> None:
    a, b = pairs(EDGES_32, 300)
    c = np.resize(np.concatenate([EDGES_64, words(500, 9, np.uint64)]), len(a))
    unsigned = _each(lambda x, y, z: x * y + z, a, b, c, mask=M64)
    check_bits(apply("v_mad_u64_u32 {d}, vcc, {a}, {b}, {c}", a, b, c, out=64), unsigned, a, b, c)
    is_signed = _each(lambda x, y, z: signed(x) * signed(y) + z, a, b, c, mask=M64)
    check_bits(apply("v_mad_i64_i32 {d}, vcc, {a}, {b}, {c}", a, b, c, out=64), is_signed, a, b, c)
    after = run_lines("v_mad_u64_u32 v[4:5], s[8:9], v0, v1, v[2:3]", {0: a[:LANES], 1: b[-LANES:], 2: c[:LANES]})
    sums = [int(x) * int(y) + int(z) for x, y, z in zip(a[:LANES], b[-LANES:], c[:LANES], strict=True)]
    assert after.pair(8) == sum((s >> 64 & 1) << i for i, s in enumerate(sums))


CARRIES = {
    "v_add_co_u32_e32 v2, vcc, v0, v1": lambda a, b, c: a + b,
    "v_sub_co_u32_e32 v2, vcc, v0, v1": lambda a, b, c: a - b,
    "v_subrev_co_u32_e32 v2, vcc, v0, v1": lambda a, b, c: b - a,
    "v_addc_co_u32_e32 v2, vcc, v0, v1, vcc": lambda a, b, c: a + b + c,
    "v_subb_co_u32_e32 v2, vcc, v0, v1, vcc": lambda a, b, c: a - b - c,
    "v_subbrev_co_u32_e32 v2, vcc, v0, v1, vcc": lambda a, b, c: b - a - c,
    "v_addc_co_u32_e64 v2, vcc, v0, v1, s[8:9]": lambda a, b, c: a + b + c,
}


@pytest.mark.parametrize("line", CARRIES)
@pytest.mark.parametrize("exec", [M64, 0x0F0F_FFFF_1234_8001])
def test_carry(line: str, exec: int) -> None:
    all_a, all_b = pairs(EDGES_32, 39)
    carry = 0xA5A5_0F0F_3C3C_9999
    for i in range(0, len(all_a) - LANES, LANES):
        a, b = all_a[i : i + LANES], all_b[i : i + LANES]
        after = run_lines(line, {0: a, 1: b, 2: 77}, {8: carry}, vcc=carry, exec=exec)
        out = 0
        for lane in range(LANES):
            exact = CARRIES[line](int(a[lane]), int(b[lane]), carry >> lane & 1)
            active = exec >> lane & 1
            assert after.v[2, lane] == (exact & M32 if active else 77), (lane, hex(a[lane]), hex(b[lane]))
            out |= (not 0 <= exact <= M32 and bool(active)) << lane
        assert after.vcc == out


def test_select_by_mask() -> None:
    a, b = words(LANES, 1), words(LANES, 2)
    mask = 0x1234_5678_9ABC_DEF0
    bit = np.array([mask >> i & 1 for i in range(LANES)], bool)
    after = run_lines(
        [
            "v_cndmask_b32_e32 v2, v0, v1, vcc",
            "v_cndmask_b32_e64 v3, v0, -1, s[8:9]",
            "v_cndmask_b32_e64 v4, -v0, |v1|, vcc",
        ],
        {0: a, 1: b},
        {8: ~mask & M64},
        vcc=mask,
    )
    check_bits(after.v[2], np.where(bit, b, a))
    check_bits(after.v[3], np.where(~bit, np.uint32(M32), a))
    check_bits(after.v[4], np.where(bit, b & np.uint32(0x7FFFFFFF), a ^ np.uint32(0x80000000)))


def test_lanes() -> None:
    a = words(LANES, 3)
    exec = 0xF0F0_0000_00F0_0100
    after = run_lines(
        [
            "v_readfirstlane_b32 s0, v0",
            "v_readlane_b32 s1, v0, 63",
            "v_readlane_b32 s2, v0, s8",
            "s_mov_b32 m0, 3",
            "v_readlane_b32 s3, v0, m0",
            "v_writelane_b32 v1, s8, 5",
            "v_writelane_b32 v1, 17, m0",
            "v_mbcnt_lo_u32_b32 v2, -1, 0",
            "v_mbcnt_hi_u32_b32 v2, -1, v2",
            "v_mbcnt_lo_u32_b32 v3, v0, 9",
            "v_mbcnt_hi_u32_b32 v4, v0, 9",
            "v_mov_b32_e32 v5, v0",
            "v_mov_b32_e32 v6, 1",
            "v_swap_b32 v5, v6",
            "s_mov_b64 exec, 0",
            "v_readfirstlane_b32 s4, v0",
        ],
        {i: a if i == 0 else 0 for i in range(7)},
        {8: 70},
        exec=exec,
    )
    active = np.array([exec >> i & 1 for i in range(LANES)], bool)
    lane = np.arange(LANES)
    assert [int(x) for x in after.s[:5]] == [a[8], a[63], a[6], a[3], a[0]]
    assert after.v[1, 5] == 70 and after.v[1, 3] == 17 and np.count_nonzero(after.v[1]) == 2
    check_bits(after.v[2], np.where(active, lane, 0))
    low = [bin(int(x) & ((1 << i) - 1)).count("1") + 9 for i, x in enumerate(a)]
    high = [bin(int(x) & ((1 << max(i - 32, 0)) - 1)).count("1") + 9 for i, x in enumerate(a)]
    check_bits(after.v[3], np.where(active, low, 0))
    check_bits(after.v[4], np.where(active, high, 0))
    check_bits(after.v[5], np.where(active, 1, 0))
    check_bits(after.v[6], np.where(active, a, 0))


def test_accumulation_registers() -> None:
    a = words(LANES, 3)
    lines = [
        "v_accvgpr_write_b32 a3, v0",
        "v_accvgpr_mov_b32 a4, a3",
        "v_accvgpr_read_b32 v1, a4",
        "v_accvgpr_write_b32 a5, 1.0",
    ]
    after = run_lines(lines, {0: a})
    check_bits(after.v[1], a)
    check_bits(after.v[256 + 5], np.full(LANES, 0x3F800000, np.uint32))


def test_sums_at_offsets() -> None:
    a, c = words(LANES, 5, np.uint64), words(LANES, 6, np.uint64)
    b = words(LANES, 7) & np.uint32(0xFF00FFFF)
    d = np.random.default_rng(8).integers(0, 1 << 32, (LANES, 4), dtype=np.uint32)
    lines = [
        "v_qsad_pk_u16_u8 v[20:21], v[0:1], v4, v[2:3]",
        "v_mqsad_pk_u16_u8 v[22:23], v[0:1], v4, v[2:3]",
        "v_mqsad_u32_u8 v[24:27], v[0:1], v4, v[8:11]",
        "v_qsad_pk_u16_u8 v[28:29], v[0:1], v4, v[2:3] clamp",
    ]
    after = run_lines(lines, {0: a, 2: c, 4: b, 8: d})
    for lane in range(LANES):
        for i in range(4):
            window, added = int(a[lane]) >> 8 * i & M32, int(c[lane]) >> 16 * i & 0xFFFF
            plain, masked = _sad(window, int(b[lane])), _sad(window, int(b[lane]), True)
            assert int(after.v64(20)[lane]) >> 16 * i & 0xFFFF == (plain + added) & 0xFFFF
            assert int(after.v64(22)[lane]) >> 16 * i & 0xFFFF == (masked + added) & 0xFFFF
            assert after.v[24 + i, lane] == (masked + int(d[lane, i])) & M32
            assert int(after.v64(28)[lane]) >> 16 * i & 0xFFFF == min(plain + added, 0xFFFF)


@pytest.mark.parametrize("table", [0x00, 0xFF, 0x96, 0xE8, 0xCA, 0x01, 0x80, 0x5A])
def test_bits_by_truth_table(table: int) -> None:
    a, b, c = (words(LANES, i) for i in (1, 2, 3))
    lines = [f"v_bitop3_b32 v4, v0, v1, v2 bitop3:{table:#x}", f"v_bitop3_b16 v5, v0, v1, v2 bitop3:{table:#x}"]
    after = run_lines(lines, {0: a, 1: b, 2: c, 5: 0x55AA0000}, target="gfx950")
    rows = zip(a.tolist(), b.tolist(), c.tolist(), strict=True)
    want = [
        sum((table >> (4 * (x >> i & 1) + 2 * (y >> i & 1) + (z >> i & 1)) & 1) << i for i in range(32))
        for x, y, z in rows
    ]
    check_bits(after.v[4], np.array(want, np.uint32))
    check_bits(after.v[5], np.array(want, np.uint32) & np.uint32(0xFFFF) | np.uint32(0x55AA0000))


@pytest.mark.parametrize(("name", "least", "most"), [("v_ashr_pk_i8_i32", -128, 127), ("v_ashr_pk_u8_i32", 0, 255)])
def test_shift_and_pack(name: str, least: int, most: int) -> None:
    a, b, c = triples(EDGES_32, 300)

    def byte(x: int, by: int) -> int:
        return _clip(signed(x) >> by % 32, least, most) & 255

    want = _each(lambda x, y, z: byte(x, z) | byte(y, z) << 8, a, b, c)
    got = apply(f"{name} {{d}}, {{a}}, {{b}}, {{c}}", a, b, c, target="gfx950", old=0x77770000)
    check_bits(got, want | np.uint32(0x77770000), a, b, c)


def test_accumulate_byte() -> None:
    a = np.array([0.0, 1.9, 254.99, 255.5, 300.0, -3.0, np.nan, 128.0], np.float32)
    whole = [0, 1, 254, 255, 255, 0, 0, 128]
    after = run_lines(
        [f"v_cvt_pk_u8_f32 v{2 + i}, v0, {i}, v1" for i in range(4)], {0: np.resize(a, LANES), 1: 0x11223344}
    )
    for i in range(4):
        want = [0x11223344 & ~(255 << 8 * i) | w << 8 * i for w in whole]
        check_bits(after.v[2 + i][:8], np.array(want, np.uint32))
