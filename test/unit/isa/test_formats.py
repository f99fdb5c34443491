"""Every code of the narrow formats through a conversion; modifiers of conversions; lane swaps and the generator."""

from __future__ import annotations

import narrow
import numpy as np
import pytest
from matrix_layout import LANES
from narrow import Narrow
from snippet import MODE, run_lines
from wave_mlir.isa.errors import IsaError

RNG = np.random.default_rng(31)
EIGHTS = [(t, e) for t in ("gfx942", "gfx950") for e in ("fp8", "bf8")]
OVERFLOW = 1 << 23  # MODE.FP16_OVFL
FLUSH = MODE & ~0xF0
NO_IEEE = 0x1C0  # MODE: denormals of f32 flushed, DX10_CLAMP


def floats(raw: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(raw, np.uint32).view(np.float32)


def equal(got: np.ndarray, want: np.ndarray) -> bool:
    """Equal floats, signs of zeros too; any NaN where NaN is wanted."""
    return np.array_equal(got, want, equal_nan=True) and np.array_equal(
        np.signbit(got)[~np.isnan(want)], np.signbit(want)[~np.isnan(want)]
    )


@pytest.mark.parametrize(("target", "name"), EIGHTS)
def test_every_8_bit_code_widens(target: str, name: str) -> None:
    """All bytes and words of a register, by SDWA."""
    f = narrow.formats(target)[name]
    codes = np.arange(256, dtype=np.uint8)
    want = f.values(codes).astype(np.float32)
    lines = [f"v_cvt_f32_{name}_sdwa v{1 + i}, v0 src0_sel:BYTE_{i}" for i in range(4)]
    lines += [f"v_cvt_pk_f32_{name}_sdwa v[{6 + 2 * i}:{7 + 2 * i}], v0 src0_sel:WORD_{i}" for i in range(2)]
    lines += [f"v_cvt_f32_{name}_e32 v5, v0", f"v_cvt_pk_f32_{name}_e32 v[10:11], v0"]
    after = run_lines(lines, {0: codes.view(np.uint32)}, target=target)
    got = floats(after.v[:12])
    for i in range(4):
        assert equal(got[1 + i], want[i::4])
        assert equal(got[6 + i], want[i::4])
    assert equal(got[5], want[0::4]) and equal(got[10], want[0::4]) and equal(got[11], want[1::4])


def test_every_bf16_code_widens() -> None:
    lines = [f"v_cvt_f32_bf16_e32 v{64 + i}, v{i}" for i in range(64)]
    lines += [f"v_cvt_f32_bf16_sdwa v{128 + i}, v{i} src0_sel:WORD_1" for i in range(64)]
    for base in range(0, 1 << 16, 2 * 64 * LANES):
        codes = np.arange(base, base + 2 * 64 * LANES, dtype=np.uint16).view(np.uint32).reshape(64, LANES)
        after = run_lines(lines, dict(enumerate(codes)), target="gfx950")
        assert equal(floats(after.v[64:128]), floats(codes << 16))
        assert equal(floats(after.v[128:192]), floats(codes & 0xFFFF0000))


def test_signalling_bf16_stays() -> None:
    after = run_lines(["v_cvt_f32_bf16_e32 v1, v0", "v_cvt_f32_bf16_e64 v2, -v0"], {0: 0x7F81}, target="gfx950").v
    assert after[1][0] == 0x7F810000 and after[2][0] == 0xFF810000


def edges(f: Narrow) -> np.ndarray:
    """f32 values: all of the format, the midpoints, and their neighbours; past the range; special ones."""
    codes = np.arange(f.sign, dtype=np.uint32)
    values = f.values(codes)
    values = np.unique(values[np.isfinite(values)]).astype(np.float32)
    middle = ((values[1:].astype(np.float64) + values[:-1]) / 2).astype(np.float32)
    past = [float(values[-1]) + float(values[-1] - values[-2]) / 2, 3e38, np.inf, np.nan, 2.0**-149]
    points = np.concatenate([values, middle, np.array(past, np.float64).astype(np.float32)])
    points = np.concatenate([points, *(np.nextafter(points, np.float32(to)) for to in (0, np.inf))])
    points = np.concatenate([points, -points])
    return np.pad(points, (0, -len(points) % (2 * LANES)))


NARROWING = [(*case, mode) for case in EIGHTS for mode in (MODE, MODE | OVERFLOW)]
NARROWING += [("gfx950", "f16", MODE), ("gfx950", "bf16", MODE)]


@pytest.mark.parametrize(("target", "name", "mode"), NARROWING)
def test_every_edge_narrows(target: str, name: str, mode: int) -> None:
    f = narrow.formats(target)[name]
    points = edges(f)
    with np.errstate(invalid="ignore"):
        want = narrow.nearest(f, points.astype(np.float64), bool(mode & OVERFLOW))
    rows = points.reshape(-1, 2, LANES)
    for first in range(0, len(rows), 80):
        chunk = rows[first : first + 80]
        lines = [f"v_cvt_pk_{name}_f32 v{i}, v{80 + i}, v{160 + i}" for i in range(len(chunk))]
        start: dict[int, object] = {80 + i: row[0] for i, row in enumerate(chunk)}
        start |= {160 + i: row[1] for i, row in enumerate(chunk)} | dict.fromkeys(range(len(chunk)), 0)
        after = run_lines(lines, start, target=target, mode=mode)
        expected = want[first * 2 * LANES : (first + len(chunk)) * 2 * LANES].reshape(-1, 2, LANES)
        for half in range(2):
            got = after.v[: len(chunk)] >> (half * f.bits) & ((1 << f.bits) - 1)
            nan = np.isnan(f.values(expected[:, half].reshape(-1))).reshape(got.shape)
            assert np.array_equal(got[~nan], expected[:, half][~nan])
            assert np.isnan(f.values(got[nan])).all()


def test_denormals_by_mode() -> None:
    """f32 denormals vanish before the conversion, f16 ones after it, where MODE says so."""
    tiny = np.full(LANES, 2.0**-130, np.float32)
    small = np.full(LANES, 2.0**-20, np.float32)
    lines = ["v_cvt_pk_bf16_f32 v2, v0, v0", "v_cvt_pk_f16_f32 v3, v1, v1"]
    kept, flushed = (run_lines(lines, {0: tiny, 1: small}, target="gfx950", mode=m).v for m in (MODE, FLUSH))
    assert kept[2][0] == 0x00080008 and kept[3][0] == 0x00100010
    assert flushed[2][0] == 0 and flushed[3][0] == 0


def test_signs_of_sources() -> None:
    x, y = np.full(LANES, 3.0, np.float32), np.full(LANES, -5.0, np.float32)
    lines = ["v_cvt_pk_fp8_f32 v2, -v0, |v1|", "v_cvt_pk_bf16_f32 v3, -|v1|, v0", "v_cvt_sr_bf8_f32 v4, -v0, v5"]
    lines += ["v_cvt_scalef32_pk_fp8_f16 v6, -v7, v0"]
    pair = np.full((LANES, 2), [1.0, -2.0], np.float16)
    start = {0: x, 1: y, 2: 0, 4: 0, 5: 0, 6: 0, 7: pair}
    after = run_lines(lines, start, target="gfx950").v
    assert np.array_equal(narrow.FP8.values(after[2][:1] >> np.array([0, 8], np.uint32)), [-3.0, 5.0])
    assert np.array_equal(narrow.BF16.values(after[3][:1] >> np.array([0, 16], np.uint32)), [-5.0, 3.0])
    assert narrow.BF8.values(after[4][:1])[0] == -3.0
    assert np.array_equal(narrow.FP8.values(after[6][:1] >> np.array([0, 8], np.uint32)), [-0.5, 1.0])


def test_clamp_and_output_modifiers() -> None:
    codes = np.arange(LANES, dtype=np.uint32) * 4
    lines = ["v_cvt_f32_fp8_e64 v1, v0 clamp", "v_cvt_f32_fp8_e64 v2, v0 mul:2"]
    after = floats(run_lines(lines, {0: codes}, mode=NO_IEEE).v[:3])
    values = narrow.FP8_FNUZ.values(codes)
    assert np.array_equal(after[1], np.where(np.isnan(values), 0, np.clip(values, 0, 1)))
    assert np.array_equal(after[2], values * 2, equal_nan=True)
    x = np.linspace(-2, 2, LANES, dtype=np.float32)
    bf16 = run_lines("v_cvt_pk_bf16_f32 v1, v0, v0 clamp", {0: x}, target="gfx950").v[1] & 0xFFFF
    assert np.array_equal(bf16, narrow.nearest(narrow.BF16, np.clip(x.astype(np.float64), 0, 1)))


def test_dpp_source() -> None:
    codes = RNG.integers(0, 256, LANES).astype(np.uint32)
    after = run_lines("v_cvt_f32_bf8_dpp v1, v0 row_ror:3 row_mask:0xf bank_mask:0xf", {0: codes}, target="gfx950")
    moved = codes.reshape(4, 16)[:, (np.arange(16) - 3) % 16].reshape(-1)
    assert equal(floats(after.v[1]), narrow.BF8.values(moved).astype(np.float32))


def test_constant_source_of_several_registers() -> None:
    start = {0: 0, 3: np.full(LANES, 0, np.uint32), 4: np.float32(1.0).repeat(LANES)}
    after = run_lines("v_cvt_scalef32_sr_pk_fp4_f32 v0, 2.0, v3, v4", start, target="gfx950")
    assert set((after.v[0] & 0xFF).tolist()) == {0x44}


# --- the generator and the swaps ---


def test_generator() -> None:
    x = RNG.integers(0, 1 << 32, LANES, np.uint32)
    after = run_lines("v_prng_b32 v1, v0", {0: x}, target="gfx950")
    assert np.array_equal(after.v[1], narrow.next_random(x))


@pytest.mark.parametrize("run", [16, 32])
def test_lane_swap(run: int) -> None:
    """Odd runs of the first register change places with even ones of the second."""
    x, y = np.arange(LANES, dtype=np.uint32), np.arange(100, 100 + LANES, dtype=np.uint32)
    after = run_lines(f"v_permlane{run}_swap_b32 v3, v7", {3: x, 7: y}, target="gfx950").v
    a, b = x.reshape(-1, 2, run), y.reshape(-1, 2, run)
    assert np.array_equal(after[3], np.stack([a[:, 0], b[:, 0]], 1).reshape(-1))
    assert np.array_equal(after[7], np.stack([a[:, 1], b[:, 1]], 1).reshape(-1))


def test_lane_swap_under_exec() -> None:
    """EXEC says nothing here (published text)."""
    x, y = np.arange(LANES, dtype=np.uint32), np.arange(100, 100 + LANES, dtype=np.uint32)
    after = run_lines("v_permlane32_swap_b32 v3, v7", {3: x, 7: y}, target="gfx950", exec=0xFFFFFFFF).v
    assert np.array_equal(after[3], np.concatenate([x[:32], y[:32]]))
    assert np.array_equal(after[7], np.concatenate([x[32:], y[32:]]))


def test_new_instructions_are_not_on_gfx942() -> None:
    with pytest.raises(IsaError, match="v_permlane16_swap_b32"):
        run_lines("v_permlane16_swap_b32 v0, v1", {}, target="gfx942")
