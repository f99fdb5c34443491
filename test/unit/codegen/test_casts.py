"""Casts in machine code against the simulator: all 8- and 16-bit floats, and wider ones around every tie of those."""

from __future__ import annotations

import numpy as np
import pytest
from elementwise_machine import NUMPY, all_values, assembly, machine, simulated

F8 = {"gfx942": ("f8E4M3FNUZ", "f8E5M2FNUZ"), "gfx950": ("f8E4M3FN", "f8E5M2"), "gfx90a": ()}
ALL_F8 = (*F8["gfx942"], *F8["gfx950"])
SIZES = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, **{f: 1 for f in ALL_F8}}


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


def every(kind: str) -> np.ndarray:
    """All values of a type of at most 16 bits."""
    return np.arange(256, dtype=np.uint8).view(NUMPY[kind]) if kind.startswith("f8") else all_values(kind)


def floats(kind: str, seed: int = 0) -> np.ndarray:
    """All numbers of 8 or 16 bits; else those of narrower types, the ties between them, what is beside both, any."""
    if SIZES[kind] <= 2:
        return every(kind)
    rng = np.random.default_rng(seed)
    dtype = NUMPY[kind]
    parts = [rng.integers(0, 1 << (8 * SIZES[kind]), 4096, dtype=f"u{SIZES[kind]}").view(dtype)]
    for narrow in ("f16", "bf16", *ALL_F8):
        values = every(narrow).astype(np.float64)
        values = np.unique(values[np.isfinite(values)])
        values = values if len(values) < 1500 else np.sort(rng.choice(values, 1500))
        past = values[-1] * np.array([1.0, 1.03, 1.0625, 1.07, 1.125, 2.0])
        points = np.concatenate([values, (values[1:] + values[:-1]) / 2, past]).astype(dtype)
        parts += [points, np.nextafter(points, dtype(np.inf)), np.nextafter(points, dtype(-np.inf))]
    return np.concatenate([*parts, np.array([np.inf, -np.inf, np.nan, 0.0, -0.0], dtype)])


def integers(kind: str) -> np.ndarray:
    """Any, of all sizes, and those around the ties of f32, f16 and bf16."""
    dtype, info = NUMPY[kind], np.iinfo(NUMPY[kind])
    rng = np.random.default_rng(1)
    any_size = rng.integers(info.min, info.max, 4096, dtype, endpoint=True) >> rng.integers(0, info.bits, 4096).astype(
        dtype
    )
    powers = np.array([1 << j for j in range(info.bits - 1)], dtype)
    near = [powers + (powers >> s) + d for s in (8, 9, 11, 12, 24, 25) for d in (-1, 0, 1)]
    return np.concatenate([any_size, powers, -powers, *near, np.array([info.min, info.max], dtype)]).astype(dtype)


def check(op: str, source: str, result: str, x: np.ndarray, target: str = "gfx942", vector: int = 1) -> None:
    """Equal values; zeros have their sign, NaN is NaN."""
    a, b = (source, result) if vector == 1 else (f"vector<{vector}x{source}>", f"vector<{vector}x{result}>")
    body = f"%y = arith.{op} %x0 : {a} to {b}"
    got = machine(body, [source], result, [x], vector=vector, target=target)
    want = simulated(body, [source], result, [x], vector=vector)
    if not result.startswith(("f", "bf")):
        np.testing.assert_array_equal(got, want, f"{op} {source} {result}")
        return
    first, second = got.astype(np.float64), want.astype(np.float64)
    number = ~np.isnan(second)
    same = (first == second) & (np.signbit(first) == np.signbit(second)) | (~number & np.isnan(first))
    wrong = np.flatnonzero(~same)
    shown = [(x[i], got[i], want[i]) for i in wrong[:3]]
    assert not len(wrong), f"{op} {source} to {result}, {target}: {len(wrong)} differ: {shown}"


@pytest.mark.parametrize("source", ["f64", "f32", "f16", "bf16"])
def test_between_floats(source: str) -> None:
    for result in ("f64", "f32", "f16", "bf16"):
        if SIZES[result] != SIZES[source]:
            op = "truncf" if SIZES[result] < SIZES[source] else "extf"
            check(op, source, result, floats(source))
            check(op, source, result, floats(source)[:4096], vector=4)


@pytest.mark.thin(5)
@pytest.mark.parametrize("target", F8)
@pytest.mark.parametrize("f8", ALL_F8)
def test_eight_bit_floats(f8: str, target: str) -> None:
    """Every flavor on every target, with instructions for it or without; the runner has no gfx90a."""
    if target == "gfx90a":
        body = f"%y = arith.truncf %x0 : f32 to {f8}"
        assert "s_endpgm" in assembly(body, ["f32"], f8, target=target)
        return
    for wide in ("f64", "f32", "f16", "bf16"):
        check("extf", f8, wide, every(f8), target)
        check("truncf", wide, f8, floats(wide), target)
    check("extf", f8, "f32", np.tile(every(f8), 4), target, vector=4)
    check("truncf", "f32", f8, floats("f32")[-4096:], target, vector=4)


@pytest.mark.parametrize("source", ["f64", "f32", "f16", "bf16", "f8E4M3FNUZ", "f8E5M2"])
def test_floats_to_integers(source: str) -> None:
    """Toward zero; what is out of range becomes the nearest integer there is, NaN becomes 0."""
    rng = np.random.default_rng(2)
    x = floats(source)[-6000:]
    if SIZES[source] > 1:
        limits = [rng.uniform(-limit, limit, 300) for limit in (300, 40000, 3e9, 1e19)]
        edges = np.array([2.0**n + d for n in (7, 8, 15, 16, 31, 32, 63) for d in (-1, -0.5, 0, 0.5, 1)])
        x = np.concatenate([x, *(v.astype(x.dtype) for v in (*limits, edges, -edges))])
    for result in ("i8", "i16", "i32", "i64"):
        check("fptosi", source, result, x)
    for result in ("i8", "i32"):
        check("fptoui", source, result, x)


def test_integers_of_vectors() -> None:
    check("fptosi", "f32", "i8", floats("f32")[-2048:], vector=4)
    check("sitofp", "i32", "bf16", integers("i32")[-1024:], vector=4)


@pytest.mark.parametrize("source", ["i8", "i16", "i32", "i64"])
def test_integers_to_floats(source: str) -> None:
    for result in ("f64", "f32", "f16", "bf16", "f8E4M3FNUZ", "f8E4M3FN"):
        for op in ("sitofp", "uitofp") if source in ("i32", "i64") else ("sitofp",):
            check(op, source, result, integers(source))
