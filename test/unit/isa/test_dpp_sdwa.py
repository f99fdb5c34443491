"""DPP and SDWA: each control, masks, bounds, inactive lanes; selections of sources and destinations."""

from __future__ import annotations

import numpy as np
import pytest
from alu import check_bits, words
from snippet import LANES, run_lines

M64 = (1 << 64) - 1
CONTROLS: dict[str, list[int | None]] = {}


def _rows(f: object) -> list[int | None]:
    """Sources of all lanes from a rule within a row of 16: position → position, or None outside."""
    out: list[int | None] = []
    for lane in range(LANES):
        source = f(lane % 16)  # type: ignore[operator]
        out.append(None if source is None else lane // 16 * 16 + source)
    return out


for _n in (1, 2, 4, 7, 15):
    CONTROLS[f"row_shl:{_n}"] = _rows(lambda i, n=_n: i + n if i + n < 16 else None)
    CONTROLS[f"row_shr:{_n}"] = _rows(lambda i, n=_n: i - n if i >= n else None)
    CONTROLS[f"row_ror:{_n}"] = _rows(lambda i, n=_n: (i + 16 - n) % 16)
    CONTROLS[f"row_newbcast:{_n}"] = _rows(lambda i, n=_n: n)
CONTROLS["quad_perm:[3,0,2,1]"] = [lane // 4 * 4 + (3, 0, 2, 1)[lane % 4] for lane in range(LANES)]
CONTROLS["quad_perm:[0,0,0,0]"] = [lane // 4 * 4 for lane in range(LANES)]
CONTROLS["row_mirror"] = _rows(lambda i: 15 - i)
CONTROLS["row_half_mirror"] = _rows(lambda i: 7 - i if i < 8 else 23 - i)
CONTROLS["wave_shl:1"] = [*range(1, 64), None]
CONTROLS["wave_shr:1"] = [None, *range(63)]
CONTROLS["wave_rol:1"] = [*range(1, 64), 0]
CONTROLS["wave_ror:1"] = [63, *range(63)]
CONTROLS["row_bcast:15"] = [None] * 16 + [15] * 16 + [31] * 16 + [47] * 16
CONTROLS["row_bcast:31"] = [None] * 32 + [31] * 32


def _expected(
    sources: list[int | None], a: np.ndarray, old: int, exec: int, rows: int, banks: int, bound: bool
) -> np.ndarray:
    out = np.full(LANES, old, np.uint32)
    for lane, source in enumerate(sources):
        if not exec >> lane & 1 or not rows >> lane // 16 & 1 or not banks >> lane // 4 % 4 & 1:
            continue
        if source is not None and exec >> source & 1:
            out[lane] = a[source]
        elif bound:
            out[lane] = 0
    return out


@pytest.mark.parametrize("control", CONTROLS)
@pytest.mark.parametrize("exec", [M64, 0xF7FE_0FF0_7FFF_A5A5])
def test_dpp(control: str, exec: int) -> None:
    a = words(LANES, 1)
    lines, wants = [], []
    for rows, banks, bound in (
        (15, 15, False),
        (15, 15, True),
        (0b1010, 15, False),
        (15, 0b0110, True),
        (0b0111, 0b1101, False),
    ):
        lines.append(
            f"v_mov_b32_dpp v{len(lines) + 1}, v0 {control} row_mask:{rows:#x} bank_mask:{banks:#x}"
            + (" bound_ctrl:1" if bound else "")
        )
        wants.append(_expected(CONTROLS[control], a, 777, exec, rows, banks, bound))
    after = run_lines(lines, {0: a, **{i + 1: 777 for i in range(len(lines))}}, exec=exec)
    for i, want in enumerate(wants):
        check_bits(after.v[i + 1], want)


def test_dpp_in_arithmetic() -> None:
    """The first source goes through DPP, then its modifiers; the destination is read where it accumulates."""
    a = np.random.default_rng(2).standard_normal(LANES).astype(np.float32)
    b = np.random.default_rng(3).standard_normal(LANES).astype(np.float32)
    lines = [
        "v_add_f32_dpp v2, v0, v1 row_ror:1 row_mask:0xf bank_mask:0xf",
        "v_sub_f32_dpp v3, -|v0|, v1 row_mirror row_mask:0xf bank_mask:0xf",
        "v_mac_f16_dpp v4, v0, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf",
        "v_cmp_lt_f32_e32 vcc, 0, v0",
        "v_cndmask_b32_dpp v5, v0, v1, vcc row_shl:1 row_mask:0xf bank_mask:0xf bound_ctrl:1",
        "v_add_co_u32_dpp v6, vcc, v0, v1 row_shr:1 row_mask:0xf bank_mask:0xf",
    ]
    after = run_lines([x for x in lines if "mac" not in x], {0: a, 1: b, 6: 1})
    rolled = a.reshape(4, 16)[:, np.arange(16) - 1].reshape(-1)
    mirrored = a.reshape(4, 16)[:, ::-1].reshape(-1)
    check_bits(after.v[2], (rolled + b).view(np.uint32))
    check_bits(after.v[3], (-np.abs(mirrored) - b).view(np.uint32))
    left = np.concatenate([a.reshape(4, 16)[:, 1:], np.zeros((4, 1), np.float32)], 1).reshape(-1)
    check_bits(after.v[5], np.where(a > 0, b, left).view(np.uint32))
    ra, rb = a.view(np.uint32).astype(np.uint64), b.view(np.uint32).astype(np.uint64)
    carry = 0
    for lane in range(LANES):
        if lane % 16 == 0:
            assert after.v[6, lane] == 1
            continue
        total = int(ra[lane - 1] + rb[lane])
        assert after.v[6, lane] == total & 0xFFFFFFFF
        carry |= total >> 32 << lane
    assert after.vcc == carry


def test_dpp_64_bits() -> None:
    a = words(LANES, 4, np.uint64)
    after = run_lines("v_mov_b64_dpp v[2:3], v[0:1] row_newbcast:5 row_mask:0xf bank_mask:0xf", {0: a})
    check_bits(after.v64(2), a[np.arange(LANES) // 16 * 16 + 5])


def test_reduction_by_dpp() -> None:
    """The sum of a wave as compilers write it."""
    a = words(LANES, 5)
    steps = ["quad_perm:[1,0,3,2]", "quad_perm:[2,3,0,1]", "row_half_mirror", "row_mirror"]
    lines = [f"v_add_u32_dpp v0, v0, v0 {s} row_mask:0xf bank_mask:0xf" for s in steps]
    lines += [
        "v_add_u32_dpp v0, v0, v0 row_bcast:15 row_mask:0xa bank_mask:0xf",
        "v_add_u32_dpp v0, v0, v0 row_bcast:31 row_mask:0xc bank_mask:0xf",
        "v_readlane_b32 s0, v0, 63",
    ]
    after = run_lines(lines, {0: a})
    assert after.s[0] == np.sum(a, dtype=np.uint32)


SELECTIONS = ("BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD")


def _select(x: np.ndarray, sel: str, sext: bool) -> np.ndarray:
    """The part, zero- or sign-extended to 32 bits."""
    if sel == "DWORD":
        return x
    kind = {(True, "BYTE"): np.int8, (False, "BYTE"): np.uint8, (True, "WORD"): np.int16, (False, "WORD"): np.uint16}
    part = x.view(kind[sext, sel[:4]]).reshape(LANES, -1)[:, int(sel[-1])]
    return part.astype(np.int32).view(np.uint32) if sext else part.astype(np.uint32)


@pytest.mark.parametrize("sel", SELECTIONS)
def test_sdwa_sources(sel: str) -> None:
    a, b = words(LANES, 6), words(LANES, 7)
    lines = [
        f"v_add_u32_sdwa v2, v0, v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:{sel} src1_sel:DWORD",
        f"v_add_u32_sdwa v3, sext(v0), v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:{sel} src1_sel:WORD_1",
        f"v_lshlrev_b32_sdwa v4, v1, sext(v0) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_2 src1_sel:{sel}",
    ]
    after = run_lines(lines, {0: a, 1: b})
    check_bits(after.v[2], _select(a, sel, False) + b)
    check_bits(after.v[3], _select(a, sel, True) + (b >> np.uint32(16)))
    check_bits(after.v[4], _select(a, sel, True) << (b >> np.uint32(16) & np.uint32(31)))


@pytest.mark.parametrize("sel", SELECTIONS)
def test_sdwa_destinations(sel: str) -> None:
    a, b, old = words(LANES, 8), words(LANES, 9), words(LANES, 10)
    unused = ("UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE")
    lines = [
        f"v_add_u32_sdwa v{2 + i}, v0, v1 dst_sel:{sel} dst_unused:{u} src0_sel:DWORD src1_sel:DWORD"
        for i, u in enumerate(unused)
    ]
    after = run_lines(lines, {0: a, 1: b, 2: old, 3: old, 4: old})
    total = a + b
    bits = {"B": 8, "W": 16, "D": 32}[sel[0]]
    at = 0 if sel == "DWORD" else int(sel[-1]) * bits
    mask = (1 << bits) - 1 << at
    for lane in range(LANES):
        placed = int(total[lane]) << at & mask
        negative = int(total[lane]) >> bits - 1 & 1
        above = 0xFFFFFFFF & ~(mask | (1 << at) - 1)
        assert after.v[2, lane] == placed
        assert after.v[3, lane] == placed | (above if negative else 0)
        assert after.v[4, lane] == placed | int(old[lane]) & ~mask & 0xFFFFFFFF


def test_sdwa_floats() -> None:
    rng = np.random.default_rng(11)
    a, b = (rng.standard_normal((LANES, 2)).astype(np.float16) for _ in range(2))
    raw = [np.ascontiguousarray(x).view(np.uint32)[:, 0] for x in (a, b)]
    lines = [
        "v_add_f16_sdwa v2, v0, v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:WORD_0",
        "v_mul_f16_sdwa v3, -v0, |v1| dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0 src1_sel:WORD_1",
        "v_cvt_f32_f16_sdwa v4, v0 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1",
        "v_cmp_lt_f16_sdwa vcc, v0, v1 src0_sel:WORD_1 src1_sel:WORD_1",
        "v_cmp_eq_u32_sdwa s[8:9], v0, v0 src0_sel:WORD_1 src1_sel:DWORD",
    ]
    after = run_lines(lines, {0: raw[0], 1: raw[1], 3: raw[0]})
    check_bits(after.v[2], (a[:, 1] + b[:, 0]).view(np.uint16))
    check_bits(after.v[3] >> np.uint32(16), (-a[:, 0] * np.abs(b[:, 1])).view(np.uint16))
    check_bits(after.v[3] & np.uint32(0xFFFF), a[:, 0].view(np.uint16))
    check_bits(after.v[4], a[:, 1].astype(np.float32).view(np.uint32))
    assert after.vcc == sum(int(x < y) << i for i, (x, y) in enumerate(zip(a[:, 1], b[:, 1], strict=True)))
    assert after.pair(8) == sum(int(x >> 16 == x) << i for i, x in enumerate(raw[0].tolist()))


def test_half_selection_of_vop3() -> None:
    rng = np.random.default_rng(12)
    a, b, c = (rng.standard_normal((LANES, 2)).astype(np.float16) for _ in range(3))
    raw = [np.ascontiguousarray(x).view(np.uint32)[:, 0] for x in (a, b, c)]
    lines = [
        "v_max3_f16 v4, v0, v1, v2 op_sel:[1,0,1,0]",
        "v_max3_f16 v5, v0, -v1, v2 op_sel:[0,1,0,1]",
        "v_pack_b32_f16 v6, v0, v1 op_sel:[1,1,0]",
        "v_mad_i32_i16 v7, v0, v1, 5 op_sel:[1,0,0,0]",
    ]
    after = run_lines(lines, {0: raw[0], 1: raw[1], 2: raw[2], 4: 0x11112222, 5: 0x11112222, 6: 0x11112222})
    m = np.maximum(np.maximum(a[:, 1], b[:, 0]), c[:, 1]).view(np.uint16).astype(np.uint32)
    check_bits(after.v[4], m | np.uint32(0x11110000))
    m = np.maximum(np.maximum(a[:, 0], -b[:, 1]), c[:, 0]).view(np.uint16).astype(np.uint32)
    check_bits(after.v[5], m << np.uint32(16) | np.uint32(0x2222))
    check_bits(after.v[6], raw[0] >> 16 | raw[1] & np.uint32(0xFFFF0000))
    product = a[:, 1].view(np.int16).astype(np.int64) * b[:, 0].view(np.int16) + 5
    check_bits(after.v[7], (product & 0xFFFFFFFF).astype(np.uint32))
