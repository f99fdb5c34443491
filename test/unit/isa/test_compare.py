"""VOPC: every condition and type, EXEC, classes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from alu import EDGES_32, EDGES_F16, EDGES_F32, EDGES_F64, pairs
from snippet import LANES, MODE, Registers, run_lines

M64 = (1 << 64) - 1
EDGES_64 = np.concatenate(
    [EDGES_32.astype(np.uint64), ~EDGES_32.astype(np.uint64), EDGES_32.astype(np.uint64) << np.uint64(32)]
)
RAW = {
    "f16": EDGES_F16,
    "f32": EDGES_F32,
    "f64": EDGES_F64,
    "i16": EDGES_F16,
    "u16": EDGES_F16,
    "i32": EDGES_32,
    "u32": EDGES_32,
    "i64": EDGES_64,
    "u64": EDGES_64,
}
KINDS = {
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "i16": np.int16,
    "u16": np.uint16,
    "i32": np.int32,
    "u32": np.uint32,
    "i64": np.int64,
    "u64": np.uint64,
}

Condition = Callable[[np.ndarray, np.ndarray], np.ndarray]
COMMON: dict[str, Condition] = {
    "f": lambda a, b: np.zeros(a.shape, bool),
    "lt": lambda a, b: a < b,
    "eq": lambda a, b: a == b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
INTEGER: dict[str, Condition] = {**COMMON, "ne": lambda a, b: a != b, "t": lambda a, b: np.ones(a.shape, bool)}
FLOAT: dict[str, Condition] = {
    **COMMON,
    "lg": lambda a, b: (a < b) | (a > b),
    "o": lambda a, b: ~(np.isnan(a) | np.isnan(b)),
    "u": lambda a, b: np.isnan(a) | np.isnan(b),
    "nge": lambda a, b: ~(a >= b),
    "nlg": lambda a, b: ~((a < b) | (a > b)),
    "ngt": lambda a, b: ~(a > b),
    "nle": lambda a, b: ~(a <= b),
    "neq": lambda a, b: ~(a == b),
    "nlt": lambda a, b: ~(a < b),
    "tru": lambda a, b: np.ones(a.shape, bool),
}
CASES = [(c, t) for t in KINDS for c in (FLOAT if t[0] == "f" else INTEGER)]


def _mask(bits: np.ndarray) -> int:
    return sum(1 << i for i, bit in enumerate(bits) if bit)


def _batches(type: str) -> list[tuple[np.ndarray, np.ndarray]]:
    a, b = pairs(RAW[type], 128)
    return [(a[i : i + LANES], b[i : i + LANES]) for i in range(0, len(a) - LANES, LANES)][::2]


def _run(lines: list[str], a: np.ndarray, b: np.ndarray, exec: int = M64, mode: int = MODE) -> Registers:
    return run_lines(lines, {0: a, 2: b}, exec=exec, mode=mode)


@pytest.mark.parametrize(("condition", "type"), CASES)
def test_condition(condition: str, type: str) -> None:
    rule = (FLOAT if type[0] == "f" else INTEGER)[condition]
    v = ("v[0:1]", "v[2:3]") if type.endswith("64") else ("v0", "v2")
    exec = 0xFFFF_0000_F0F0_5A5A
    for a, b in _batches(type):
        with np.errstate(all="ignore"):
            want = _mask(rule(a.view(KINDS[type]), b.view(KINDS[type])))
        lines = [
            f"v_cmp_{condition}_{type}_e32 vcc, {v[0]}, {v[1]}",
            f"v_cmp_{condition}_{type}_e64 s[8:9], {v[1]}, {v[0]}",
            f"v_cmpx_{condition}_{type}_e64 s[10:11], {v[0]}, {v[1]}",
        ]
        after = _run(lines, a, b, exec)
        with np.errstate(all="ignore"):
            swapped = _mask(rule(b.view(KINDS[type]), a.view(KINDS[type])))
        assert after.vcc == want & exec
        assert after.pair(8) == swapped & exec
        assert after.pair(10) == after.pair(126) == want & exec


def test_scalars_and_modifiers() -> None:
    a = EDGES_F32[np.arange(LANES) % len(EDGES_F32)]
    x = a.view(np.float32)
    lines = [
        "v_cmp_lt_f32_e64 s[8:9], -v0, |v0|",
        "v_cmp_gt_f32_e32 vcc, 1.0, v0",
        "v_cmp_eq_u32_e64 s[10:11], s20, v0",
    ]
    after = run_lines(lines, {0: a}, {20: 0x3F800000})
    with np.errstate(all="ignore"):
        assert after.pair(8) == _mask(-x < np.abs(x))
        assert after.vcc == _mask(x < 1)
        assert after.pair(10) == _mask(a == 0x3F800000)


def test_denormals_are_zeros_when_flushed() -> None:
    a = np.resize(np.array([1, 0x80000001, 0x7FFFFF, 0x800000], np.uint32), LANES)
    zero = np.zeros(LANES, np.uint32)
    assert _run(["v_cmp_eq_f32_e32 vcc, v0, v2"], a, zero, mode=0x3C0).vcc == 0x7777_7777_7777_7777
    assert _run(["v_cmp_eq_f32_e32 vcc, v0, v2"], a, zero, mode=0x3F0).vcc == 0


def _class(raw: int, bits: int) -> int:
    mantissa = {16: 10, 32: 23, 64: 52}[bits]
    fraction, exponent = raw & (1 << mantissa) - 1, raw >> mantissa & (1 << bits - 1 - mantissa) - 1
    negative, top = raw >> bits - 1, (1 << bits - 1 - mantissa) - 1
    if exponent == top and fraction:
        return 1 if fraction >> mantissa - 1 else 0
    kind = 0 if exponent == top else 1 if exponent else 2 if fraction else 3  # infinity, normal, denormal, zero
    return 2 + kind if negative else 9 - kind


@pytest.mark.parametrize("type", ["f16", "f32", "f64"])
def test_class(type: str) -> None:
    bits = int(type[1:])
    source = "v[0:1]" if bits == 64 else "v0"
    for a, _ in _batches(type):
        classes = [_class(int(x), bits) for x in a]
        for bit in range(10):
            lines = [
                f"v_cmp_class_{type}_e64 s[8:9], {source}, {1 << bit}"
                if bit < 7
                else f"v_cmp_class_{type}_e64 s[8:9], {source}, s20"
            ]
            lines += [f"v_cmpx_class_{type}_e64 s[10:11], {source}, s20"]
            after = run_lines(lines, {0: a}, {20: 1 << bit})
            want = _mask(np.array([c == bit for c in classes]))
            assert after.pair(8) == want, (bit, [hex(int(x)) for x in a])
            assert after.pair(10) == after.pair(126) == want
