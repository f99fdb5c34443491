"""arith, index and math against numpy and Python integers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sim_harness import NUMPY, assert_same, lanewise
from wave_mlir import sim

RNG = np.random.default_rng(7)
WIDTHS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64}


def ints(kind: str, nonzero: bool = False) -> np.ndarray:
    info = np.iinfo(NUMPY[kind])
    values = RNG.integers(info.min, info.max, 64, dtype=NUMPY[kind], endpoint=True)
    values[:6] = [info.min, info.max, -1, 1, 2, -2]
    return np.where(values == 0, 3, values).astype(NUMPY[kind]) if nonzero else values


def wrap(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def unsigned(value: int, bits: int) -> int:
    return value & ((1 << bits) - 1)


def trunc_div(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


INTEGER = {
    "addi": lambda a, b, n: a + b,
    "subi": lambda a, b, n: a - b,
    "muli": lambda a, b, n: a * b,
    "andi": lambda a, b, n: a & b,
    "ori": lambda a, b, n: a | b,
    "xori": lambda a, b, n: a ^ b,
    "divsi": lambda a, b, n: trunc_div(a, b),
    "divui": lambda a, b, n: unsigned(a, n) // unsigned(b, n),
    "remsi": lambda a, b, n: a - trunc_div(a, b) * b,
    "remui": lambda a, b, n: unsigned(a, n) % unsigned(b, n),
    "floordivsi": lambda a, b, n: a // b,
    "ceildivsi": lambda a, b, n: -(-a // b),
    "ceildivui": lambda a, b, n: -(-unsigned(a, n) // unsigned(b, n)),
    "maxsi": lambda a, b, n: max(a, b),
    "minsi": lambda a, b, n: min(a, b),
    "maxui": lambda a, b, n: max(unsigned(a, n), unsigned(b, n)),
    "minui": lambda a, b, n: min(unsigned(a, n), unsigned(b, n)),
}


@pytest.mark.parametrize("kind", WIDTHS)
@pytest.mark.parametrize("name", INTEGER)
def test_integer(name, kind):
    a, b = ints(kind), ints(kind, nonzero="div" in name or "rem" in name)[::-1].copy()
    (got,) = lanewise(f"%y0 = arith.{name} %x0, %x1 : {kind}", [(kind, a), (kind, b)], [kind])
    n = WIDTHS[kind]
    assert got.tolist() == [wrap(INTEGER[name](int(x), int(y), n), n) for x, y in zip(a, b, strict=True)]


@pytest.mark.parametrize("kind", WIDTHS)
def test_shifts_and_extended(kind):
    n = WIDTHS[kind]
    a, s = ints(kind), RNG.integers(0, n, 64).astype(NUMPY[kind])
    body = f"""
      %y0 = arith.shli %x0, %x1 : {kind}
      %y1 = arith.shrsi %x0, %x1 : {kind}
      %y2 = arith.shrui %x0, %x1 : {kind}
      %y3, %y4 = arith.mulsi_extended %x0, %x2 : {kind}
      %y5, %y6 = arith.mului_extended %x0, %x2 : {kind}
      %y7, %y8 = arith.addui_extended %x0, %x2 : {kind}, i1"""
    b = ints(kind)[::-1].copy()
    got = lanewise(body, [(kind, a), (kind, s), (kind, b)], [kind] * 8 + ["i1"])
    want = [[] for _ in got]
    for x, t, y in zip(a.tolist(), s.tolist(), b.tolist(), strict=True):
        u, v = unsigned(x, n), unsigned(y, n)
        row = (x << t, x >> t, u >> t, x * y, x * y >> n, u * v, u * v >> n, u + v)
        for out, value in zip(want, row, strict=False):
            out.append(wrap(value, n))
        want[8].append(bool(u + v >> n))
    for out, expected in zip(got, want, strict=True):
        assert out.tolist() == expected


PREDICATES = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"]


def test_compare_integers():
    a, b = RNG.integers(-3, 3, 64).astype(np.int32), RNG.integers(-3, 3, 64).astype(np.int32)
    body = "\n".join(f"%y{i} = arith.cmpi {p}, %x0, %x1 : i32" for i, p in enumerate(PREDICATES))
    got = lanewise(body, [("i32", a), ("i32", b)], ["i1"] * 10)
    u, v = a.view(np.uint32), b.view(np.uint32)
    want = [a == b, a != b, a < b, a <= b, a > b, a >= b, u < v, u <= v, u > v, u >= v]
    for out, expected in zip(got, want, strict=True):
        np.testing.assert_array_equal(out, expected)


def floats(kind: str) -> np.ndarray:
    values = RNG.normal(0, 4, 64)
    values[:8] = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.5, 65504.0]
    return RNG.permutation(values).astype(NUMPY[kind])


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32", "f64"])
def test_float(kind):
    a, b = floats(kind), floats(kind)
    names = ["addf", "subf", "mulf", "divf", "maximumf", "minimumf", "maxnumf", "minnumf"]
    body = (
        "\n".join(f"%y{i} = arith.{p} %x0, %x1 : {kind}" for i, p in enumerate(names))
        + f"""
      %y8 = arith.negf %x0 : {kind}"""
    )
    got = lanewise(body, [(kind, a), (kind, b)], [kind] * 9)
    with np.errstate(all="ignore"):
        x, y = a.astype(np.float64), b.astype(np.float64)
        wide = [x + y, x - y, x * y, x / y, np.maximum(x, y), np.minimum(x, y), np.fmax(x, y), np.fmin(x, y), -x]
        for out, expected in zip(got, wide, strict=True):
            np.testing.assert_array_equal(out.astype(np.float64), expected.astype(NUMPY[kind]).astype(np.float64))


def test_compare_floats():
    names = [
        "false",
        "oeq",
        "ogt",
        "oge",
        "olt",
        "ole",
        "one",
        "ord",
        "ueq",
        "ugt",
        "uge",
        "ult",
        "ule",
        "une",
        "uno",
        "true",
    ]
    values = np.array([1.0, 2.0, np.nan, -0.0, 0.0, np.inf, 1.0, 2.0] * 8, np.float32)
    a, b = values, RNG.permutation(values)
    body = "\n".join(f"%y{i} = arith.cmpf {p}, %x0, %x1 : f32" for i, p in enumerate(names))
    got = lanewise(body, [("f32", a), ("f32", b)], ["i1"] * 16)
    for i, name in enumerate(names):
        for lane, (x, y) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
            unordered = math.isnan(x) or math.isnan(y)
            core = {"eq": x == y, "gt": x > y, "ge": x >= y, "lt": x < y, "le": x <= y, "ne": x != y}
            if name in ("true", "false"):
                want = name == "true"
            elif name in ("ord", "uno"):
                want = unordered == (name == "uno")
            else:
                want = (core[name[1:]] and not unordered) if name[0] == "o" else (core[name[1:]] or unordered)
            assert bool(got[i][lane]) == want, (name, x, y)


@pytest.mark.parametrize("kind", ["f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ"])
def test_all_f8_codes(kind):
    codes = np.arange(256, dtype=np.uint8).view(NUMPY[kind])
    for part in codes.reshape(4, 64):
        got = lanewise(
            f"%y0 = arith.extf %x0 : {kind} to f32\n%y1 = arith.truncf %y0 : f32 to {kind}",
            [(kind, part)],
            ["f32", kind],
        )
        assert_same(got[0], part.astype(np.float32))
        assert_same(got[1], part)


@pytest.mark.parametrize("kind", ["f16", "bf16", "f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ"])
@pytest.mark.parametrize("source", ["f32", "f64"])
def test_truncation_rounds_once(kind, source):
    values = RNG.normal(0, 8, 64).astype(NUMPY[source])
    halfway = np.float64(1) + np.float64(2) ** -np.arange(3, 12)  # ties of the narrow types
    values[:9] = halfway
    values[9:18] = np.nextafter(halfway, 2) if source == "f64" else halfway
    (got,) = lanewise(f"%y0 = arith.truncf %x0 : {source} to {kind}", [(source, values)], [kind])
    table = np.arange(1 << 8 * got.itemsize, dtype=f"u{got.itemsize}").view(NUMPY[kind]).astype(np.float64)
    finite = np.unique(table[np.isfinite(table)])
    for value, result in zip(values.astype(np.float64), got.astype(np.float64), strict=True):
        nearest = np.abs(finite - value).min()
        assert abs(result - value) == nearest


def test_integer_casts():
    a = ints("i32")
    body = """
      %y0 = arith.trunci %x0 : i32 to i8
      %y1 = arith.extsi %x0 : i32 to i64
      %y2 = arith.extui %x0 : i32 to i64
      %y3 = arith.sitofp %x0 : i32 to f32
      %y4 = arith.uitofp %x0 : i32 to f32
      %y5 = arith.sitofp %x0 : i32 to bf16
      %y6 = arith.index_cast %x0 : i32 to index
      %y7 = arith.index_castui %x0 : i32 to index
      %y8 = arith.bitcast %x0 : i32 to f32"""
    got = lanewise(body, [("i32", a)], ["i8", "i64", "i64", "f32", "f32", "bf16", "index", "index", "f32"])
    u = a.view(np.uint32)
    want = [
        a.astype(np.int8),
        a.astype(np.int64),
        u.astype(np.int64),
        a.astype(np.float32),
        u.astype(np.float32),
        a.astype(np.float64).astype(NUMPY["bf16"]),
        a.astype(np.int64),
        u.astype(np.int64),
        a.view(np.float32),
    ]
    for out, expected in zip(got, want, strict=True):
        assert_same(out, expected)


def test_float_to_integer():
    a = np.concatenate([RNG.normal(0, 1000, 60), [-0.7, 0.7, 2.5, -2.5]]).astype(np.float32)
    body = "%y0 = arith.fptosi %x0 : f32 to i32\n%y1 = math.absf %x0 : f32\n%y2 = arith.fptoui %y1 : f32 to i32"
    got = lanewise(body, [("f32", a)], ["i32", "f32", "i32"])
    np.testing.assert_array_equal(got[0], np.trunc(a).astype(np.int32))
    np.testing.assert_array_equal(got[2], np.trunc(np.abs(a)).astype(np.int32))


UNARY = [
    "exp",
    "exp2",
    "log",
    "log2",
    "log10",
    "log1p",
    "expm1",
    "sqrt",
    "rsqrt",
    "sin",
    "cos",
    "tan",
    "tanh",
    "sinh",
    "cosh",
    "atan",
    "erf",
    "cbrt",
    "floor",
    "ceil",
    "round",
    "roundeven",
    "trunc",
]


@pytest.mark.parametrize("kind", ["f16", "f32"])
@pytest.mark.parametrize("name", UNARY)
def test_math(name, kind):
    a = np.abs(floats(kind))
    a = np.where(np.isfinite(a), a, 1).astype(NUMPY[kind])
    (got,) = lanewise(f"%y0 = math.{name} %x0 : {kind}", [(kind, a)], [kind])
    scalar = {
        "exp2": lambda x: 2.0**x,
        "rsqrt": lambda x: 1 / math.sqrt(x) if x else math.inf,
        "cbrt": math.cbrt,
        "round": lambda x: math.copysign(math.floor(abs(x) + 0.5), x),
        "roundeven": round,
    }
    function = scalar.get(name) or getattr(math, name)
    for x, y in zip(a.astype(np.float64).tolist(), got.astype(np.float64).tolist(), strict=True):
        try:
            want = float(NUMPY[kind](function(x)))
        except (OverflowError, ValueError):
            continue
        assert y == want or abs(y - want) <= 1e-6 * abs(want) or math.isinf(want), (x, y, want)


def test_fma_rounds_once():
    a = np.float32(1 + 2**-12) * np.ones(64, np.float32)
    c = -np.ones(64, np.float32) * np.float32(1 + 2**-11)
    (got,) = lanewise("%y0 = math.fma %x0, %x0, %x1 : f32", [("f32", a), ("f32", c)], ["f32"])
    assert got[0] == np.float32(2.0**-24)
    x, y, z = (RNG.normal(0, 1, 64).astype(np.float16) for _ in range(3))
    (got,) = lanewise("%y0 = math.fma %x0, %x1, %x2 : f16", [("f16", x), ("f16", y), ("f16", z)], ["f16"])
    assert_same(got, (x.astype(np.float64) * y + z.astype(np.float64)).astype(np.float16))


def test_bit_counts():
    a = ints("i32")
    a[10] = 0
    body = "%y0 = math.ctpop %x0 : i32\n%y1 = math.ctlz %x0 : i32\n%y2 = math.cttz %x0 : i32\n%y3 = math.absi %x0 : i32"
    got = lanewise(body, [("i32", a)], ["i32"] * 4)
    for lane, value in enumerate(unsigned(int(v), 32) for v in a):
        text = f"{value:032b}"
        assert got[0][lane] == text.count("1")
        assert got[1][lane] == len(text) - len(text.lstrip("0"))
        assert got[2][lane] == len(text) - len(text.rstrip("0"))
    np.testing.assert_array_equal(got[3], np.abs(a))


def test_odd_width_wraps():
    a = RNG.integers(-8, 8, 64).astype(np.int8)
    body = "%t = arith.trunci %x0 : i8 to i4\n%u = arith.addi %t, %t : i4\n%y0 = arith.extsi %u : i4 to i8"
    (got,) = lanewise(body, [("i8", a)], ["i8"])
    assert got.tolist() == [wrap(2 * int(v), 4) for v in a]


FAULTS = {
    "division": "%z = arith.constant 0 : i32\n%d = arith.index_cast %lane : index to i32\n"
    "%y0 = arith.divsi %z, %d : i32",
    "overflow": "%big = arith.constant 2147483647 : i32\n%d = arith.index_cast %lane : index to i32\n"
    "%y0 = arith.addi %big, %d overflow<nsw> : i32",
}
CLEAN = {
    "division": "%z = arith.constant 1 : i32\n%d = arith.index_cast %lane : index to i32\n"
    "%e = arith.addi %d, %z : i32\n"
    "%y0 = arith.divsi %z, %e : i32",
    "overflow": "%big = arith.constant 2147483584 : i32\n%d = arith.index_cast %lane : index to i32\n"
    "%y0 = arith.addi %big, %d overflow<nsw> : i32",
}


@pytest.mark.parametrize("kind", FAULTS)
def test_arithmetic_fault(kind):
    lanewise(CLEAN[kind], [], ["i32"], checks=True)
    with pytest.raises(sim.SimError) as caught:
        lanewise(FAULTS[kind], [], ["i32"], checks=True)
    assert caught.value.kind == kind and caught.value.location
    lanewise(FAULTS[kind], [], ["i32"], checks=[kind])


def test_index_overflow():
    body = "%c = arith.constant {} : index\n%m = arith.muli %lane, %c : index\n%y0 = arith.addi %m, %m : index"
    lanewise(body.format(1 << 50), [], ["index"], checks=True)
    for factor in (1 << 57, 1 << 60):
        with pytest.raises(sim.SimError, match="does not fit 64 bits"):
            lanewise(body.format(factor), [], ["index"], checks=True)
    narrow = (
        "%c = arith.constant {} : index\n%m = arith.muli %lane, %c : index\n%y0 = arith.index_cast %m : index to i32"
    )
    lanewise(narrow.format(1 << 24), [], ["i32"], checks=True)
    with pytest.raises(sim.SimError, match="does not fit i32"):
        lanewise(narrow.format(1 << 26), [], ["i32"], checks=True)
