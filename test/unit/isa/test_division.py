"""Division as LLVM expands it (scale, reciprocal, Newton steps, fmas, fixup) is correctly rounded, everywhere."""

from __future__ import annotations

import numpy as np
from alu import EDGES_F16, EDGES_F32, EDGES_F64, apply, check_floats, pairs
from snippet import LANES, run_lines

F32 = """v_div_scale_f32 v3, s[0:1], v1, v1, v0
v_div_scale_f32 v4, vcc, v0, v1, v0
v_rcp_f32_e32 v5, v3
v_fma_f32 v6, -v3, v5, 1.0
v_fmac_f32_e32 v5, v6, v5
v_mul_f32_e32 v6, v4, v5
v_fma_f32 v7, -v3, v6, v4
v_fmac_f32_e32 v6, v7, v5
v_fma_f32 v3, -v3, v6, v4
v_div_fmas_f32 v3, v3, v5, v6
v_div_fixup_f32 v2, v3, v1, v0"""
F64 = """v_div_scale_f64 v[6:7], s[0:1], v[2:3], v[2:3], v[0:1]
v_rcp_f64_e32 v[8:9], v[6:7]
v_fma_f64 v[10:11], -v[6:7], v[8:9], 1.0
v_fma_f64 v[8:9], v[8:9], v[10:11], v[8:9]
v_fma_f64 v[10:11], -v[6:7], v[8:9], 1.0
v_fma_f64 v[8:9], v[8:9], v[10:11], v[8:9]
v_div_scale_f64 v[10:11], vcc, v[0:1], v[2:3], v[0:1]
v_mul_f64 v[12:13], v[10:11], v[8:9]
v_fma_f64 v[6:7], -v[6:7], v[12:13], v[10:11]
v_div_fmas_f64 v[6:7], v[6:7], v[8:9], v[12:13]
v_div_fixup_f64 v[4:5], v[6:7], v[2:3], v[0:1]"""


def _scattered(bits: int, count: int, seed: int) -> np.ndarray:
    """Random mantissas with all exponents, and some near each other."""
    kind, mantissa = (np.uint32, 23) if bits == 32 else (np.uint64, 52)
    raw = np.random.default_rng(seed).integers(0, np.iinfo(kind).max, count, kind, endpoint=True)
    top = (np.iinfo(kind).max >> 1) >> mantissa
    return np.where(raw >> kind(mantissa) & kind(top) == top, raw >> kind(2), raw)


def test_f32() -> None:
    a, b = pairs(EDGES_F32, 0)
    a = np.concatenate([a, _scattered(32, 20000, 1)])
    b = np.concatenate([b, _scattered(32, 20000, 2)])
    for i in range(0, len(a) - LANES, LANES):
        x, y = a[i : i + LANES], b[i : i + LANES]
        with np.errstate(all="ignore"):
            want = (x.view(np.float32) / y.view(np.float32)).view(np.uint32)
        check_floats(run_lines(F32, {0: x, 1: y}).v[2], want, 32, x, y)


def test_f64() -> None:
    a, b = pairs(EDGES_F64, 0)
    a = np.concatenate([a, _scattered(64, 12000, 3)])
    b = np.concatenate([b, _scattered(64, 12000, 4)])
    for i in range(0, len(a) - LANES, LANES):
        x, y = a[i : i + LANES], b[i : i + LANES]
        with np.errstate(all="ignore"):
            want = (x.view(np.float64) / y.view(np.float64)).view(np.uint64)
        check_floats(run_lines(F64, {0: x, 2: y}).v64(4), want, 64, x, y)


def test_fixup_f16() -> None:
    a, b = pairs(EDGES_F16, 2000)
    with np.errstate(all="ignore"):
        quotient = (a.view(np.float16).astype(np.float32) / b.view(np.float16).astype(np.float32)).astype(np.float16)
        want = (a.view(np.float16) / b.view(np.float16)).view(np.uint16)
    got = apply("v_div_fixup_legacy_f16 {d}, {c}, {b}, {a}", a, b, quotient.view(np.uint16))
    check_floats(got, want, 16, a, b)
    kept = apply("v_div_fixup_f16 {d}, {c}, {b}, {a}", a, b, quotient.view(np.uint16), old=0x56780000)
    check_floats(kept & np.uint32(0xFFFF), want, 16, a, b)
    assert np.all(kept >> 16 == 0x5678)
