"""Elementary functions in machine code: errors against numpy's 80-bit functions, within the documented bounds."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from elementwise_machine import NUMPY, all_values, assembly, assembly_of, kernel_text, machine, simulated, ulps

ROOT = Path(__file__).resolve().parents[3]
KINDS = ("f32", "f64", "f16", "bf16")
Reference = Callable[..., np.ndarray]
UNARY: dict[str, Reference] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "cbrt": np.cbrt,
    "atan": np.arctan,
    "log1p": np.log1p,
    "expm1": np.expm1,
}
BINARY: dict[str, Reference] = {"powf": np.power, "atan2": np.arctan2}
NOT_IN_TABLE = {"atan": 2.0, "log1p": 1.0, "expm1": 3.0}
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 2.0, 0.5, -0.5, 3.0, -3.0, 1e-40, -1e-40, 1e-45, 3e38, -3e38]


def documented() -> dict[tuple[str, str], float]:
    """(function, format) -> bound, as docs/elementary-functions.md has them."""
    bounds = {}
    for line in (ROOT / "docs" / "elementary-functions.md").read_text().splitlines():
        if row := re.match(r"\| (\w+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|", line):
            name = "powf" if row[1] == "pow" else row[1]
            for kind, bound in zip(KINDS, (row[2], row[3], row[4], row[4]), strict=True):
                bounds[name, kind] = float(bound)
    return bounds


BOUNDS = documented()


def bound_of(name: str, kind: str) -> float:
    if name in NOT_IN_TABLE:
        return 0.501 if "16" in kind else NOT_IN_TABLE[name]
    return BOUNDS[name, kind]


def sample(name: str, kind: str, count: int = 1 << 13) -> np.ndarray:
    """All 16-bit numbers; else numbers of all sizes, of the sizes that the function is about, and special ones."""
    if "16" in kind:
        return all_values(kind)
    rng = np.random.default_rng(len(name))
    word = np.uint32 if kind == "f32" else np.uint64
    any_bits = rng.integers(0, np.iinfo(word).max, count, word, endpoint=True).view(NUMPY[kind])
    sizes = np.exp2(rng.uniform(-12, 7 if kind == "f32" else 9.5, count)) * rng.choice([-1, 1], count)
    multiples = np.rint(rng.uniform(-1e5, 1e5, count // 4)) * np.pi / 2  # where sin, cos and tan are small or large
    near_one = 1 + rng.uniform(-0.05, 0.05, count // 4)
    chosen = [x.astype(NUMPY[kind]) for x in (sizes, multiples, near_one, np.array(SPECIAL))]
    return np.concatenate([any_bits, *chosen])


def pairs(kind: str, count: int = 1 << 12) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of special numbers; any; powers that are neither 0 nor infinite, of bases near 1 too; small integers."""
    dtype = NUMPY[kind]
    rng = np.random.default_rng(5)
    edges = np.array([*SPECIAL, 16777215.0, -16777215.0, 16777216.0, 1.5, -1.5, 1e10, 65504.0]).astype(dtype)
    a, b = (v.reshape(-1) for v in np.meshgrid(edges, edges))
    word = np.dtype(f"u{np.dtype(dtype).itemsize}")
    bits = [rng.integers(0, np.iinfo(word).max, count, word, endpoint=True).view(dtype) for _ in range(2)]
    near = 1 + rng.standard_normal(count) * rng.choice([1e-6, 1e-3, 0.1], count)
    near = near.astype(dtype)
    limit = 1100 if kind == "f64" else 150
    with np.errstate(all="ignore"):
        exponents = rng.uniform(-limit, limit, count) / np.log2(near.astype(np.float64))
    x = [a, bits[0], np.exp(rng.standard_normal(count) * 3), near, rng.integers(-9, 9, count)]
    y = [b, bits[1], rng.standard_normal(count) * 20, exponents, rng.integers(-40, 40, count)]
    return tuple(np.concatenate([p.astype(dtype) for p in parts]) for parts in (x, y))


def check(got: np.ndarray, want: np.ndarray, kind: str, bound: float, *inputs: np.ndarray) -> None:
    error = ulps(got, want, kind)
    worst = int(np.argmax(np.where(np.isnan(error), np.inf, error)))
    at = ", ".join(repr(x[worst]) for x in inputs)
    assert error[worst] <= bound, f"{error[worst]} ulp at {at}: {got[worst]!r} instead of {want[worst]!r}"


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


def test_the_table_is_read() -> None:
    assert len(BOUNDS) == 16 * len(KINDS)
    assert {name for name, _ in BOUNDS} == ({*UNARY, *BINARY} - {*NOT_IN_TABLE})


@pytest.mark.thin(3)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str, kind: str) -> None:
    x = sample(name, kind)
    got = machine(f"%y = math.{name} %x0 : {kind}", [kind], kind, [x])
    check(got, UNARY[name](x.astype(np.longdouble)), kind, bound_of(name, kind), x)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", BINARY)
def test_binary(name: str, kind: str) -> None:
    x, y = pairs(kind)
    got = machine(f"%y = math.{name} %x0, %x1 : {kind}", [kind] * 2, kind, [x, y])
    want = BINARY[name](x.astype(np.longdouble), y.astype(np.longdouble))
    check(got, want, kind, bound_of(name, kind), x, y)


@pytest.mark.parametrize("name,kind", [
    ("tanh", "f32"), ("sin", "f32"), ("sin", "f64"), ("cbrt", "f16"), ("exp", "f64"),
])  # fmt: skip
def test_vectors(name: str, kind: str) -> None:
    """Vectors give what scalars give, also when only some elements take the branch for large arguments."""
    x = sample(name, kind, 1 << 10)[:4096]
    body = f"%y = math.{name} %x0 : "
    vector = machine(body + f"vector<4x{kind}>", [kind], kind, [x], vector=4)
    np.testing.assert_array_equal(vector, machine(body + kind, [kind], kind, [x]))


@pytest.mark.parametrize("shape", ["2x2xf32", "f32"])
def test_vectors_of_other_ranks(shape: str) -> None:
    x = sample("sin", "f32", 1 << 9)
    x = x[: len(x) // 4 * 4]
    if shape == "f32":
        lines = "%s = vector.extract %x0[0] : f32 from vector<4xf32>\n%v = vector.broadcast %s : f32 to vector<f32>"
        back = "%e = vector.extract %r[] : f32 from vector<f32>\n%y = vector.broadcast %e : f32 to vector<4xf32>"
    else:
        lines = "%v = vector.shape_cast %x0 : vector<4xf32> to vector<2x2xf32>"
        back = "%y = vector.shape_cast %r : vector<2x2xf32> to vector<4xf32>"
    body = f"{lines}\n%r = math.sin %v : vector<{shape}>\n{back}"
    want = machine("%y = math.sin %x0 : f32", ["f32"], "f32", [np.repeat(x[::4], 4) if shape == "f32" else x])
    np.testing.assert_array_equal(machine(body, ["f32"], "f32", [x], vector=4), want)


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("name", ["tan", "tanh", "cbrt", "log1p"])
def test_written_out_in_the_simulator(name: str, kind: str) -> None:
    """The simulator runs what the pass writes with the machine's bits; before the pass it is within the bound."""
    x = sample(name, kind, 1 << 9)
    body = f"%y = math.{name} %x0 : {kind}"
    got = machine(body, [kind], kind, [x])
    np.testing.assert_array_equal(simulated(body, [kind], kind, [x], passes="wave-expand-math"), got)
    before = simulated(body, [kind], kind, [x])
    check(got, before.astype(np.longdouble), kind, bound_of(name, kind) + 0.5, x)


def test_power_written_out_in_the_simulator() -> None:
    x, y = pairs("f32", 1 << 8)
    body = "%y = math.powf %x0, %x1 : f32"
    got = machine(body, ["f32"] * 2, "f32", [x, y])
    np.testing.assert_array_equal(simulated(body, ["f32"] * 2, "f32", [x, y], passes="wave-expand-math"), got)


# ------------------------------------------------------------------------------------------------ approximate forms


def off_by_one(instruction: str, step: int) -> Callable[[str], str]:
    """Edits assembly such that results of an instruction are one unit off."""
    find = re.compile(rf"^(\s+{instruction}_e32 (v\d+), .*)$", re.MULTILINE)
    return lambda text: find.sub(rf"\1\n\tv_add_u32_e32 \2, {step}, \2", text)


@pytest.mark.parametrize("name,instruction,bound", [
    ("exp", "v_exp_f32", 2.5), ("exp2", "v_exp_f32", 2.5), ("log", "v_log_f32", 2.6), ("log2", "v_log_f32", 1.5),
    ("log10", "v_log_f32", 2.6), ("sqrt", "v_sqrt_f32", 0.501), ("rsqrt", "v_sqrt_f32", 1.5),
    ("tanh", "v_rcp_f32", 2.0),
])  # fmt: skip
@pytest.mark.parametrize("step", [1, -1])
def test_inexact_instructions(name: str, instruction: str, bound: float, step: int) -> None:
    x = sample(name, "f32", 1 << 12)
    want = UNARY[name](x.astype(np.longdouble))
    ordinary = np.isfinite(want) & (np.abs(want) > 1e-37) & (np.abs(want) < 3e38) & np.isfinite(x)
    edit = off_by_one(instruction, step)
    body = f"%y = math.{name} %x0 : f32"
    assert edit(assembly(body, ["f32"], "f32")) != assembly(body, ["f32"], "f32")
    got = machine(body, ["f32"], "f32", [x], edit=edit)
    check(got[ordinary], want[ordinary], "f32", bound, x[ordinary])


def instructions(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if re.match(r"\s+[vs]_", line))


@pytest.mark.parametrize("name,instruction", [
    ("exp2", "v_exp_f32"), ("log2", "v_log_f32"), ("rsqrt", "v_rsq_f32"), ("sqrt", "v_sqrt_f32"), ("exp", "v_exp_f32"),
])  # fmt: skip
def test_bare_instructions(name: str, instruction: str) -> None:
    """At most a product beside the instruction, and what loads and stores take."""
    fast = instructions(assembly(f"%y = math.{name} %x0 fastmath<afn> : f32", ["f32"], "f32"))
    empty = instructions(assembly("%y = arith.negf %x0 : f32", ["f32"], "f32"))
    assert fast.count(instruction) == 1
    assert len(fast.splitlines()) - len(empty.splitlines()) <= (1 if name == "exp" else 0)


def test_fast_module() -> None:
    """The module's attribute: sums are fused with products, quotients are products; not so in f64 and without it."""
    body = "%p = arith.mulf %x0, %x1 : {0}\n%s = arith.addf %p, %x1 : {0}\n%y = arith.divf %s, %x0 : {0}"
    for kind, fused in (("f32", "v_fma"), ("f64", "v_fma_f64")):
        exact = kernel_text(body.format(kind), [kind] * 2, kind)
        fast = exact.replace("module attributes {", "module attributes {wave.fast_math, ")
        before, after = (instructions(assembly_of(text)) for text in (exact, fast))
        assert "div_scale" in before
        assert ("div_scale" in after) == (kind == "f64")
        if kind == "f32":
            assert "v_mul_f32_e32" in before and fused in after and "v_rcp_f32" in after
        else:
            assert before == after


@pytest.mark.parametrize("kind", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("instruction,step", [("v_exp_f32", 1), ("v_rcp_f32", 1), ("v_rcp_f32", -1), ("none", 0)])
def test_fast_tanh(kind: str, instruction: str, step: int) -> None:
    x = sample("tanh", kind, 1 << 12)
    x = x[~np.isnan(x)]
    body = f"%y = math.tanh %x0 fastmath<afn> : {kind}"
    got = machine(body, [kind], kind, [x], edit=off_by_one(instruction, step)).astype(np.float64)
    want = np.tanh(x.astype(np.float64))
    allowed = np.abs(want) * 2.0**-14
    if kind != "f32":  # and half a unit of the last place
        least, half = (-14, 2.0**-11) if kind == "f16" else (-126, 2.0**-8)
        allowed += np.exp2(np.maximum(np.frexp(want)[1] - 1, least)) * half
    assert np.all(np.abs(got - want) <= allowed)
    assert not np.any(np.signbit(got) != np.signbit(want))


# ----------------------------------------------------------------------------------------------------------- the rest


@pytest.mark.parametrize("kind", ["bf16", "f16", "f32", "f64"])
def test_remainder(kind: str) -> None:
    x, y = pairs(kind, 1 << 11)
    got = machine(f"%y = arith.remf %x0, %x1 : {kind}", [kind] * 2, kind, [x, y])
    want = np.fmod(x.astype(np.longdouble), y.astype(np.longdouble))
    check(got, want, kind, 0, x, y)


@pytest.mark.parametrize("target", ["gfx950", "gfx90a", "gfx1201"])
def test_other_targets_compile(target: str) -> None:
    for name, kind in [("tanh", "f32"), ("sin", "f64"), ("cbrt", "bf16"), ("log10", "f16")]:
        assert "s_endpgm" in assembly(f"%y = math.{name} %x0 : {kind}", [kind], kind, target=target)
    body = "%y = math.powf %x0, %x1 : f32"
    assert "s_endpgm" in assembly(body, ["f32"] * 2, "f32", target=target)


def test_constants_are_derived() -> None:
    script = [sys.executable, str(ROOT / "tools" / "math_tables.py")]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
