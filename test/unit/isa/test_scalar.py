"""Scalar arithmetic against formulas on Python integers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from snippet import run_lines

M32, M64 = (1 << 32) - 1, (1 << 64) - 1
Two = Callable[[int, int, int], tuple[int, "bool | None"]]


def s32(x: int) -> int:
    return (x & M32) - ((x & 0x80000000) << 1)


def s64(x: int) -> int:
    return (x & M64) - ((x & 1 << 63) << 1)


def _logic(f: Callable[[int, int], int], mask: int) -> Two:
    def go(a: int, b: int, _scc: int) -> tuple[int, bool]:
        result = f(a, b) & mask
        return result, result != 0

    return go


def _carry(f: Callable[[int, int, int], int]) -> Two:
    return lambda a, b, scc: (f(a, b, scc) & M32, not 0 <= f(a, b, scc) <= M32)


def _signed(f: Callable[[int, int], int]) -> Two:
    return lambda a, b, scc: (f(s32(a), s32(b)) & M32, not -(1 << 31) <= f(s32(a), s32(b)) < 1 << 31)


def _plain(f: Callable[[int, int], int], mask: int = M32) -> Two:
    return lambda a, b, scc: (f(a, b) & mask, None)


def _field(a: int, control: int, bits: int, signed: bool) -> int:
    offset, width = control % bits, control >> 16 & 0x7F
    text = format(a & ((1 << bits) - 1), f"0{bits}b")[::-1]  # bit 0 first
    picked = text[offset : offset + width]
    if not width:
        return 0
    fill = (text[-1] if len(picked) < width else picked[-1]) if signed else "0"
    return int((picked + fill * bits)[:bits][::-1], 2)


_BITS = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "andn2": lambda a, b: a & ~b,
    "orn2": lambda a, b: a | ~b,
    "nand": lambda a, b: ~(a & b),
    "nor": lambda a, b: ~(a | b),
    "xnor": lambda a, b: ~(a ^ b),
}

# name: (bits of destination, of first and second source, formula)
SOP2: dict[str, tuple[int, int, int, Two]] = {
    "s_add_u32": (32, 32, 32, _carry(lambda a, b, c: a + b)),
    "s_sub_u32": (32, 32, 32, _carry(lambda a, b, c: a - b)),
    "s_addc_u32": (32, 32, 32, _carry(lambda a, b, c: a + b + c)),
    "s_subb_u32": (32, 32, 32, _carry(lambda a, b, c: a - b - c)),
    "s_add_i32": (32, 32, 32, _signed(lambda a, b: a + b)),
    "s_sub_i32": (32, 32, 32, _signed(lambda a, b: a - b)),
    "s_min_i32": (32, 32, 32, lambda a, b, c: (min(s32(a), s32(b)) & M32, s32(a) < s32(b))),
    "s_max_i32": (32, 32, 32, lambda a, b, c: (max(s32(a), s32(b)) & M32, s32(a) >= s32(b))),
    "s_min_u32": (32, 32, 32, lambda a, b, c: (min(a, b), a < b)),
    "s_max_u32": (32, 32, 32, lambda a, b, c: (max(a, b), a >= b)),
    "s_cselect_b32": (32, 32, 32, lambda a, b, c: (a if c else b, None)),
    "s_cselect_b64": (64, 64, 64, lambda a, b, c: (a if c else b, None)),
    "s_lshl_b32": (32, 32, 32, _logic(lambda a, b: a << b % 32, M32)),
    "s_lshl_b64": (64, 64, 32, _logic(lambda a, b: a << b % 64, M64)),
    "s_lshr_b32": (32, 32, 32, _logic(lambda a, b: a >> b % 32, M32)),
    "s_lshr_b64": (64, 64, 32, _logic(lambda a, b: a >> b % 64, M64)),
    "s_ashr_i32": (32, 32, 32, _logic(lambda a, b: s32(a) >> b % 32, M32)),
    "s_ashr_i64": (64, 64, 32, _logic(lambda a, b: s64(a) >> b % 64, M64)),
    "s_bfm_b32": (32, 32, 32, _plain(lambda a, b: (2 ** (a % 32) - 1) * 2 ** (b % 32))),
    "s_bfm_b64": (64, 32, 32, _plain(lambda a, b: (2 ** (a % 64) - 1) * 2 ** (b % 64), M64)),
    "s_mul_i32": (32, 32, 32, _plain(lambda a, b: a * b)),
    "s_mul_hi_u32": (32, 32, 32, _plain(lambda a, b: a * b >> 32)),
    "s_mul_hi_i32": (32, 32, 32, _plain(lambda a, b: s32(a) * s32(b) >> 32)),
    "s_bfe_u32": (32, 32, 32, _logic(lambda a, b: _field(a, b, 32, False), M32)),
    "s_bfe_i32": (32, 32, 32, _logic(lambda a, b: _field(a, b, 32, True), M32)),
    "s_bfe_u64": (64, 64, 32, _logic(lambda a, b: _field(a, b, 64, False), M64)),
    "s_bfe_i64": (64, 64, 32, _logic(lambda a, b: _field(a, b, 64, True), M64)),
    "s_absdiff_i32": (32, 32, 32, _logic(lambda a, b: abs(s32(a - b)), M32)),
    "s_lshl1_add_u32": (32, 32, 32, _carry(lambda a, b, c: 2 * a + b)),
    "s_lshl2_add_u32": (32, 32, 32, _carry(lambda a, b, c: 4 * a + b)),
    "s_lshl3_add_u32": (32, 32, 32, _carry(lambda a, b, c: 8 * a + b)),
    "s_lshl4_add_u32": (32, 32, 32, _carry(lambda a, b, c: 16 * a + b)),
    "s_pack_ll_b32_b16": (32, 32, 32, _plain(lambda a, b: a % 65536 + b % 65536 * 65536)),
    "s_pack_lh_b32_b16": (32, 32, 32, _plain(lambda a, b: a % 65536 + b // 65536 * 65536)),
    "s_pack_hh_b32_b16": (32, 32, 32, _plain(lambda a, b: a // 65536 + b // 65536 * 65536)),
}
for _name, _f in _BITS.items():
    SOP2[f"s_{_name}_b32"] = (32, 32, 32, _logic(_f, M32))
    SOP2[f"s_{_name}_b64"] = (64, 64, 64, _logic(_f, M64))


def _find(a: int, bits: int, bit: str, from_top: bool) -> int:
    text = format(a, f"0{bits}b")
    return (text if from_top else text[::-1]).find(bit) & M32


def _sign_run(a: int, bits: int) -> int:
    text = format(a, f"0{bits}b")
    return text.find("1" if text[0] == "0" else "0") & M32


def _quads(a: int, bits: int, whole: bool) -> int:
    nibbles = format(a, f"0{bits // 4}x")
    if whole:
        return int("".join("0" if n == "0" else "f" for n in nibbles), 16)
    return int("".join("0" if n == "0" else "1" for n in nibbles), 2)


def _one(f: Callable[[int], int], mask: int, scc: bool) -> Two:
    return lambda a, old, c: (f(a) & mask, (f(a) & mask) != 0 if scc else None)


# `b` of the formula is the destination's old value
SOP1: dict[str, tuple[int, int, Two]] = {
    "s_mov_b32": (32, 32, _one(lambda a: a, M32, False)),
    "s_mov_b64": (64, 64, _one(lambda a: a, M64, False)),
    "s_cmov_b32": (32, 32, lambda a, old, c: (a if c else old, None)),
    "s_cmov_b64": (64, 64, lambda a, old, c: (a if c else old, None)),
    "s_not_b32": (32, 32, _one(lambda a: ~a, M32, True)),
    "s_not_b64": (64, 64, _one(lambda a: ~a, M64, True)),
    "s_wqm_b32": (32, 32, _one(lambda a: _quads(a, 32, True), M32, True)),
    "s_wqm_b64": (64, 64, _one(lambda a: _quads(a, 64, True), M64, True)),
    "s_quadmask_b32": (32, 32, _one(lambda a: _quads(a, 32, False), M32, True)),
    "s_quadmask_b64": (64, 64, _one(lambda a: _quads(a, 64, False), M64, True)),
    "s_brev_b32": (32, 32, _one(lambda a: int(format(a, "032b")[::-1], 2), M32, False)),
    "s_brev_b64": (64, 64, _one(lambda a: int(format(a, "064b")[::-1], 2), M64, False)),
    "s_bcnt0_i32_b32": (32, 32, _one(lambda a: format(a, "032b").count("0"), M32, True)),
    "s_bcnt0_i32_b64": (32, 64, _one(lambda a: format(a, "064b").count("0"), M32, True)),
    "s_bcnt1_i32_b32": (32, 32, _one(lambda a: a.bit_count(), M32, True)),
    "s_bcnt1_i32_b64": (32, 64, _one(lambda a: a.bit_count(), M32, True)),
    "s_ff0_i32_b32": (32, 32, _one(lambda a: _find(a, 32, "0", False), M32, False)),
    "s_ff0_i32_b64": (32, 64, _one(lambda a: _find(a, 64, "0", False), M32, False)),
    "s_ff1_i32_b32": (32, 32, _one(lambda a: _find(a, 32, "1", False), M32, False)),
    "s_ff1_i32_b64": (32, 64, _one(lambda a: _find(a, 64, "1", False), M32, False)),
    "s_flbit_i32_b32": (32, 32, _one(lambda a: _find(a, 32, "1", True), M32, False)),
    "s_flbit_i32_b64": (32, 64, _one(lambda a: _find(a, 64, "1", True), M32, False)),
    "s_flbit_i32": (32, 32, _one(lambda a: _sign_run(a, 32), M32, False)),
    "s_flbit_i32_i64": (32, 64, _one(lambda a: _sign_run(a, 64), M32, False)),
    "s_sext_i32_i8": (32, 32, _one(lambda a: (a % 256 + 128) % 256 - 128, M32, False)),
    "s_sext_i32_i16": (32, 32, _one(lambda a: (a % 65536 + 32768) % 65536 - 32768, M32, False)),
    "s_bitset0_b32": (32, 32, lambda a, old, c: (old & ~(1 << a % 32), None)),
    "s_bitset0_b64": (64, 32, lambda a, old, c: (old & ~(1 << a % 64), None)),
    "s_bitset1_b32": (32, 32, lambda a, old, c: (old | 1 << a % 32, None)),
    "s_bitset1_b64": (64, 32, lambda a, old, c: (old | 1 << a % 64, None)),
    "s_abs_i32": (32, 32, _one(lambda a: abs(s32(a)), M32, True)),
    "s_bitreplicate_b64_b32": (64, 32, _one(lambda a: int("".join(d * 2 for d in format(a, "032b")), 2), M64, False)),
}

_ORDER = {
    "eq": lambda a, b: a == b,
    "lg": lambda a, b: a != b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
}

SOPC: dict[str, tuple[int, int, Callable[[int, int], bool]]] = {
    "s_cmp_eq_u64": (64, 64, lambda a, b: a == b),
    "s_cmp_lg_u64": (64, 64, lambda a, b: a != b),
    "s_bitcmp0_b32": (32, 32, lambda a, b: not a >> b % 32 & 1),
    "s_bitcmp1_b32": (32, 32, lambda a, b: bool(a >> b % 32 & 1)),
    "s_bitcmp0_b64": (64, 32, lambda a, b: not a >> b % 64 & 1),
    "s_bitcmp1_b64": (64, 32, lambda a, b: bool(a >> b % 64 & 1)),
}
for _name, _f in _ORDER.items():
    SOPC[f"s_cmp_{_name}_u32"] = (32, 32, _f)
    SOPC[f"s_cmp_{_name}_i32"] = (32, 32, lambda a, b, f=_f: f(s32(a), s32(b)))


def _operands() -> list[tuple[int, int, int]]:
    rng = np.random.default_rng(7)
    edges = [0, 1, M64, 1 << 63, 1 << 31, (1 << 31) - 1, M32, 0x00200008, 0x8000000000000001, 0x0040003F, 5]
    drawn = [int(x) for x in rng.integers(0, 1 << 64, 24, np.uint64)]
    shifts = [int(x) for x in rng.integers(0, 0x7F, 12)]
    fields = [int(w) << 16 | int(o) for w, o in rng.integers(0, 66, (12, 2))]
    left, right = edges + drawn, edges + drawn + shifts + fields
    return [
        (left[int(i)], right[int(j)], k % 2)
        for k, (i, j) in enumerate(rng.integers(0, (len(left), len(right)), (60, 2)))
    ]


def _source(register: int, bits: int) -> str:
    return f"s{register}" if bits == 32 else f"s[{register}:{register + 1}]"


def _run(lines: list[tuple[str, int]], a: int, b: int, scc: int) -> list[tuple[int, int]]:
    """(destination s[4:5], SCC) after each line, each from the same start."""
    text, v = [], 0
    for line, _ in lines:
        text += ["s_mov_b64 s[4:5], s[2:3]", f"s_cmp_eq_u32 {scc}, 1", line]
        text += [f"v_mov_b32_e32 v{v}, s4", f"v_mov_b32_e32 v{v + 1}, s5", "s_cselect_b32 s6, 1, 0"]
        text += [f"v_mov_b32_e32 v{v + 2}, s6"]
        v += 3
    after = run_lines(text, {}, {0: np.array([a], np.uint64), 2: np.array([b], np.uint64)})
    flat = after.v[:v, 0].astype(np.uint64).reshape(-1, 3)
    return [(int(low) | int(high) << 32, int(flag)) for low, high, flag in flat]


def _check(cases: list[tuple[str, int, Callable[[int, int, int], tuple[int, bool | None]]]]) -> None:
    lines = [(line, bits) for line, bits, _ in cases]
    for a, b, scc in _operands():
        for (line, bits, formula), (value, flag) in zip(cases, _run(lines, a, b, scc), strict=True):
            result, sets = formula(a, b, scc)
            mask = M32 if bits == 32 else M64
            assert value & mask == result, (line, hex(a), hex(b), scc, hex(value & mask), hex(result))
            assert flag == (scc if sets is None else int(sets)), (line, hex(a), hex(b), scc, "SCC")


def test_sop2() -> None:
    cases = []
    for name, (to, first, second, formula) in SOP2.items():
        line = f"{name} {_source(4, to)}, {_source(0, first)}, {_source(2, second)}"

        def cut(
            a: int, b: int, c: int, f: Two = formula, w: tuple[int, int] = (first, second)
        ) -> tuple[int, bool | None]:
            return f(a & (M64 if w[0] == 64 else M32), b & (M64 if w[1] == 64 else M32), c)

        cases.append((line, to, cut))
    _check(cases)


def test_sop1() -> None:
    cases = []
    for name, (to, first, formula) in SOP1.items():
        line = f"{name} {_source(4, to)}, {_source(0, first)}"

        def cut(a: int, b: int, c: int, f: Two = formula, w: tuple[int, int] = (first, to)) -> tuple[int, bool | None]:
            return f(a & (M64 if w[0] == 64 else M32), b & (M64 if w[1] == 64 else M32), c)

        cases.append((line, to, cut))
    _check(cases)


def test_sopc() -> None:
    cases = []
    for name, (first, second, formula) in SOPC.items():
        line = f"{name} {_source(0, first)}, {_source(2, second)}"

        def cut(a: int, b: int, c: int, f: Callable[[int, int], bool] = formula, w: int = first, x: int = second):
            return b & M64, f(a & (M64 if w == 64 else M32), b & (M64 if x == 64 else M32))

        cases.append((line, 64, cut))
    _check(cases)


@pytest.mark.parametrize("imm", [0, 1, -1, 0x7FFF, -0x8000, 1234])
def test_sopk(imm: int) -> None:
    unsigned = imm & 0xFFFF
    cases = [
        (f"s_movk_i32 s4, {imm}", 32, lambda a, b, c: (imm & M32, None)),
        (f"s_cmovk_i32 s4, {imm}", 32, lambda a, b, c: ((imm if c else b) & M32, None)),
        (f"s_addk_i32 s4, {imm}", 32, lambda a, b, c: _signed(lambda x, y: x + y)(b & M32, imm & M32, c)),
        (f"s_mulk_i32 s4, {imm}", 32, lambda a, b, c: (s32(b) * imm & M32, None)),
    ]
    for name, f in _ORDER.items():
        cases.append((f"s_cmpk_{name}_i32 s0, {imm}", 64, lambda a, b, c, f=f: (b, f(s32(a), imm))))
        cases.append((f"s_cmpk_{name}_u32 s0, {unsigned}", 64, lambda a, b, c, f=f: (b, f(a & M32, unsigned))))
    _check(cases)
