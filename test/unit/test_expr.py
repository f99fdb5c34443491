"""Expressions: arithmetic at its edges, what simplification and proofs must achieve, errors of the Python class."""

from __future__ import annotations

import gc
import pickle
import subprocess
import sys
from collections.abc import Iterator
from types import MappingProxyType

import numpy as np
import pytest
from mlir import ir
from mlir.ir import Attribute, Context, MLIRError
from wave_mlir.dialect import Expr, Facts, prove

INT_MAX, INT_MIN = 2**63 - 1, -(2**63)


@pytest.fixture(autouse=True, scope="module")
def context() -> Iterator[Context]:
    ctx = Context()
    with ctx:
        yield ctx


def ev(text: str, **values: int) -> int:
    return Expr.parse(text).eval(values)


@pytest.mark.parametrize("sign", [1, -1])
def test_division_by_every_small_divisor(sign: int) -> None:
    """Folded, for one point and over arrays, with and without an added negative constant."""
    x = Expr.symbol("x")
    numbers = np.concatenate([np.arange(-1030, 1030, 7), np.array([INT_MIN, INT_MIN + 1, INT_MAX - 600, INT_MAX])])
    inner = numbers[np.abs(numbers.astype(float)) < 2**40]
    for n in range(1, 513):
        d = n * sign
        points = numbers if d > 0 else inner  # the quotient by -1 and negations of the least number do not fit
        assert (x // d).eval_numpy({"x": points}).tolist() == [int(v) // d for v in points]
        assert (x % d).eval_numpy({"x": points}).tolist() == [int(v) % d for v in points]
        assert ((x - n * 3 - 1) // d).eval_numpy({"x": inner}).tolist() == [(int(v) - n * 3 - 1) // d for v in inner]
        assert ((x - n * 3 - 1) % d).eval_numpy({"x": inner}).tolist() == [(int(v) - n * 3 - 1) % d for v in inner]
        for v in (-513, -n, -1, 0, 1, n - 1, n, 777):
            c = Expr.constant(v)
            assert (c // d).constant_value == v // d
            assert (c % d).constant_value == v % d
            assert Expr.ceildiv(c, d).constant_value == -(-v // d)


def test_folds_never_wrap() -> None:
    big, x = Expr.constant(INT_MAX), Expr.symbol("x")
    for e in (big + 1, big * 2, x * INT_MAX * 2, Expr.constant(INT_MIN) // -1, x + INT_MAX + 1, big - INT_MIN):
        assert Expr.parse(str(e)) == e
        with pytest.raises(OverflowError, match="64 bits"):
            e.eval({"x": 1})
    assert (x * INT_MAX * 2).eval({"x": 0}) == 0
    assert (x + INT_MAX + 1 - INT_MAX).kind == "add"  # not folded over the sum that does not fit
    assert (x * INT_MIN // INT_MIN).eval({"x": 1}) == 1
    with pytest.raises(OverflowError):
        (x - INT_MIN).eval({"x": 0})
    for name, e in (("eq", x.eq(INT_MIN)), ("lt", x.lt(INT_MIN)), ("ge", x.ge(INT_MAX)), ("mod", x % INT_MIN)):
        assert Expr.parse(str(e)) == e, name
        assert e.eval({"x": 5}) in (0, 5 + INT_MIN)
    with pytest.raises(OverflowError):
        (x * x).eval({"x": 2**40})
    with pytest.raises(OverflowError):
        (x * x).eval_numpy({"x": np.array([1, 2**40])})
    with pytest.raises(OverflowError, match="integer of an expression does not fit 64 bits"):
        x + 2**63
    facts = Facts({"x": (INT_MIN, INT_MAX)})
    assert (x * 2).range(facts) == (None, None)
    assert (x + 1).range(facts) == (INT_MIN + 1, None)
    assert (x + 1).gt(x).simplify(facts).constant_value == 1


def test_select_evaluates_the_chosen_arm_only() -> None:
    guarded = Expr.parse("select(y eq 0, 0, x floordiv y)")
    assert guarded.eval({"x": 7, "y": 0}) == 0
    assert guarded.eval_numpy({"x": 7, "y": np.array([0, 2])}).tolist() == [0, 3]
    assert guarded.subs({"y": 0}).constant_value == 0
    with pytest.raises(ZeroDivisionError):
        ev("x floordiv y", x=1, y=0)
    with pytest.raises(ZeroDivisionError):
        Expr.parse("x mod y").eval_numpy({"x": np.arange(3), "y": np.arange(3)})
    with pytest.raises(ZeroDivisionError):
        Expr.parse("x mod y").subs({"y": 0})
    # an operand that decides makes the other's missing value irrelevant
    assert ev("y ne 0 and x floordiv y lt 3", x=1, y=0) == 0
    assert Expr.parse("y ne 0 and x floordiv y lt 3").eval_numpy({"x": 1, "y": np.array([0, 1])}).tolist() == [0, 1]


LANE = Facts(
    {"lane": (0, 63), "at.M": (0, 63), "wave.x": (0, 3), "l": (0, 63), "K": (1, None)},
    {"M": 64, "N": (16, 3)},
)


@pytest.mark.parametrize(
    ("text", "simple"),
    [
        ("(a * 64 + l) floordiv 64", "a"),
        ("(a * 64 + l) mod 64", "l"),
        ("(a * 64 + l + 64) mod 64", "l"),
        ("lane floordiv 64", "0"),
        ("lane mod 64", "lane"),
        ("lane floordiv 16 mod 4", "lane floordiv 16"),
        ("lane mod 32 floordiv 8", "lane floordiv 8 mod 4"),
        ("x floordiv 4 floordiv 8", "x floordiv 32"),
        ("x mod 64 mod 16", "x mod 16"),
        ("16 * (x floordiv 16) + x mod 16", "x"),
        ("K * (x floordiv K) + x mod K", "x"),
        ("x - 16 * (x floordiv 16)", "x mod 16"),
        ("x mod 4 + 4 * (x floordiv 4 mod 8)", "x mod 32"),
        ("min(lane, 100)", "lane"),
        ("max(lane, 0)", "lane"),
        ("min(lane, lane + K)", "lane"),
        ("lane lt 64", "1"),
        ("lane ge 64", "0"),
        ("M mod 64", "0"),
        ("M ceildiv 64", "M floordiv 64"),
        ("(M + lane) floordiv 64", "M floordiv 64"),
        ("N mod 16", "3"),
        ("(N + 13) mod 16", "0"),
        ("M ne N", "1"),
        ("(wg.x * 64 + at.M) floordiv 16", "wg.x * 4 + at.M floordiv 16"),
        ("wg.x * 64 + at.M lt M", "wg.x * 64 lt M"),
        ("lane mod 8 xor wave.x * 8", "wave.x * 8 + lane mod 8"),
        ("(wave.x * 64 + lane) xor 5", "wave.x * 64 + (lane xor 5)"),
        ("(lane xor 3) floordiv 4", "lane floordiv 4"),
        ("(lane * 8 + el) mod 8 floordiv 8", "0"),
        ("select(lane lt 64, a, b)", "a"),
        ("x mod K lt K", "1"),
        ("lane floordiv 4 * 4 le lane", "1"),
    ],
)
def test_simplification(text: str, simple: str) -> None:
    assert Expr.parse(text).simplify(LANE) == Expr.parse(simple).simplify(LANE)
    assert str(Expr.parse(text).simplify(LANE)) == str(Expr.parse(simple))


ADDRESS = "(wg.x * 64 + wave.x * 32 + lane mod 16) * K + iv.K * 32 + lane floordiv 16 * 8 + el"


@pytest.mark.parametrize(
    ("condition", "answer"),
    [
        ("wg.x * 64 + at.M lt M", True),
        ("wg.x * 64 + at.M lt M - 1", None),
        ("wg.x * 64 ge M", False),
        ("(x floordiv 2) mod 2 eq x mod 4 floordiv 2", True),
        ("x * (x + 1) mod 2 eq 0", True),
        ("x * (x + 1) mod 3 eq 0", None),
        ("x * x + 1 ge 1", True),
        # what two lanes write does not overlap: 8 elements each; rows of K >= 8 elements; one element too many
        ("lane eq other or lane * 8 + 8 le other * 8 or other * 8 + 8 le lane * 8", True),
        ("lane eq other or lane * K + K le other * K or other * K + K le lane * K", True),
        ("lane eq other or lane * 8 + 9 le other * 8 or other * 8 + 9 le lane * 8", None),
        ("(lane xor 3) mod 4 + lane mod 4 eq 3", True),
        ("select(lane lt 32, lane, 63 - lane) lt 32", True),
        ("row * K + col lt R * K", True),
        ("K floordiv 3 lt K", True),
        ("M mod 48 eq 0", None),
        ("lane lt 0", False),
    ],
)
def test_proofs(condition: str, answer: bool | None) -> None:
    facts = LANE.extended(
        {"other": (0, 63), "row": (0, None), "col": (0, None)},
        assumptions=["wg.x lt M floordiv 64", "row lt R", "col lt K"],
    )
    assert prove(Expr.parse(condition), facts) is answer


def test_contiguity_of_an_address_with_a_symbolic_stride() -> None:
    address = Expr.parse(ADDRESS)
    step = address.subs({"el": Expr.symbol("el") + 1}) - address
    assert prove(step.eq(1), LANE) is True
    assert prove((address.subs({"lane": Expr.symbol("lane") + 1}) - address).eq(1), LANE) is None
    swizzled = Expr.parse("lane * 64 + ((lane mod 8 * 8) xor (el floordiv 8 * 8)) + el mod 8")
    step = swizzled.subs({"el": Expr.symbol("el") + 1}) - swizzled
    assert prove(step.eq(1), Facts({"lane": (0, 63), "el": (0, 6)})) is True
    assert prove(step.eq(1), Facts({"lane": (0, 63), "el": (0, 7)})) is None


def test_an_assumed_equality_replaces_a_symbol() -> None:
    facts = Facts({}, {}, ["M eq 64 * q", "wg.x lt q"])
    assert str(Expr.parse("M floordiv 64").simplify(facts)) == "q"
    assert prove(Expr.parse("wg.x * 64 + 63 lt M"), facts) is True


def test_address_split() -> None:
    address = Expr.parse(ADDRESS)
    uniform, rest = address.split(["wg.x", "iv.K", "K", "wave.x"])
    assert uniform == Expr.parse("wg.x * K * 64 + iv.K * 32 + wave.x * K * 32")
    assert rest == Expr.parse("(lane mod 16) * K + lane floordiv 16 * 8 + el")
    assert address.coefficient("el") == Expr.constant(1)
    assert address.coefficient("wg.x") == Expr.parse("K * 64")
    assert address.coefficient("lane") is None
    assert address.coefficient("unused") == Expr.constant(0)


def test_operators_take_integers_on_either_side() -> None:
    x = Expr.symbol("x")
    for e, want in (
        (3 + x, 10), (3 - x, -4), (x - 3, 4), (3 * x, 21), (15 // x, 2), (15 % x, 1), (6 ^ x, 1), (-x, -7),
        (Expr.ceildiv(15, x), 3), (Expr.min(3, x, 9), 3), (Expr.max(x, np.int64(9)), 9),
        (Expr.select(x.gt(6), x, 0), 7),
        (Expr.and_(x, x.lt(8)), 1), (Expr.or_(x.eq(1), x.ne(7)), 0), (Expr.not_(x.le(7)), 0), (x.ge(8), 0),
    ):  # fmt: skip
        assert e.eval({"x": 7}) == want
        assert e.eval({x: 7}) == want
    assert x.subs({"x": Expr.symbol("y"), "y": 3}) == Expr.symbol("y")
    assert x.subs({x: 4}).constant_value == 4
    frozen = MappingProxyType({"x": 5})
    assert (x.subs(frozen).constant_value, x.eval(frozen), int(x.eval_numpy(frozen))) == (5, 5, 5)
    with pytest.raises(TypeError):
        x + 1.5  # type: ignore[operator]
    with pytest.raises(TypeError):
        x + "y"  # type: ignore[operator]


def test_truth_of_a_symbolic_condition_is_an_error() -> None:
    with pytest.raises(TypeError, match=r"'x lt 3' depends on symbols .* prove\(condition, facts\)"):
        bool(Expr.symbol("x").lt(3))
    assert Expr.constant(3).lt(4)
    assert not Expr.constant(0)


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("x + ", 5, "expected a symbol"),
        ("x + foo.bar", 5, "'foo.bar' is no symbol"),
        ("a < b", 3, "comparisons are words: lt, le"),
        ("(a + b", 7, r"expected '\)'"),
        ("a)", 2, r"this '\)' has no '\('"),
        ("3 floordiv 0", 12, "division by zero"),
        ("x mod", 6, "expected a symbol"),
        ("x " * 3, 2, "expected an operator"),
        ("min(1, 2", 9, r"expected '\)'"),
        ("", 1, "expected a symbol"),
        ("(" * 1000 + "x" + ")" * 1000, 201, "nested too deeply"),
        ("lt", 1, "'lt' is no symbol"),
        ("x[0]", 2, "not part of an expression"),
    ],
)
def test_parse_errors_have_the_column(text: str, column: int, message: str) -> None:
    with pytest.raises(ValueError, match=f"at column {column}: .*{message}"):
        Expr.parse(text)


def test_errors() -> None:
    x = Expr.symbol("x")
    with pytest.raises(ZeroDivisionError):
        x // 0
    with pytest.raises(KeyError, match="no value for symbol 'x'"):
        (x + 1).eval({})
    with pytest.raises(ValueError, match="'a.b' is no symbol"):
        Expr.symbol("a.b")
    with pytest.raises(ValueError, match="'floordiv' is no symbol"):
        Expr.symbol("floordiv")
    with pytest.raises(ValueError, match="expected a symbol, got the expression"):
        x.subs({x + 1: 3})
    with pytest.raises(ValueError, match="the range of 'x' is empty"):
        Facts({"x": (3, 2)})
    with pytest.raises(ValueError, match="must be positive"):
        Facts({}, {"x": 0})
    with pytest.raises(TypeError, match="not integers"):
        x.eval_numpy({"x": np.ones(3)})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="different MLIR contexts"), Context():
        x + Expr.symbol("y")
    with pytest.raises(ValueError, match="too large"):
        for _ in range(600):
            x = (x // 3) * x + (x ^ 1)
    e = Expr.symbol("x")
    with pytest.raises(ValueError, match="too large"):
        for _ in range(10_000):
            e = (e ^ 1) // 3 + 1


def test_text_of_an_attribute_that_is_too_large() -> None:
    text = "x" + "".join(f" floordiv (y + {i})" for i in range(2, 520))
    with Context(), pytest.raises(MLIRError, match="expression too large: at most 50000 nodes, nested 500 deep"):
        Attribute.parse(f"#wave.expr<{text}>")


def test_attributes_of_operations_come_back_as_expressions() -> None:
    module = ir.Module.parse("module attributes {t.e = #wave.expr<a + 1>} {}")
    e = module.operation.attributes["t.e"]
    assert isinstance(e, Expr)
    assert e == Expr.parse("1 + a")
    assert {e: 1}[Expr.parse("a + 1")] == 1
    assert repr(e) == "Expr(#wave.expr<a + 1>)"


def test_facts_outlive_contexts() -> None:
    facts = Facts({"lane": (0, 63)})
    for _ in range(3):
        with Context():
            assert Expr.parse("lane mod 64").simplify(facts) == Expr.symbol("lane")
        gc.collect()
    assert Facts({"x": (1, None), "y": 3}, {"y": (4, 3), "z": 8}).ranges == {"x": (1, None), "y": (3, 3)}
    assert Facts({"x": (1, None)}, {"y": (4, 7), "z": 8}).divisors == {"y": (4, 3), "z": (8, 0)}
    text = str(facts)
    assert text == "Facts({'lane': (0, 63)}, {}, [])"
    with Context():
        bound = Facts({}, {}, [Expr.parse("x lt 3")])
    with pytest.raises(ValueError, match="another MLIR context"):
        Expr.symbol("x").simplify(bound)


def test_output_does_not_depend_on_the_hash_seed() -> None:
    code = (
        "from mlir.ir import Context\nfrom wave_mlir.dialect import Expr\n"
        "with Context():\n e = Expr.parse('lane mod 4 + b*a + zz + (q xor p) + min(c, d) + wg.x*iv.K')\n"
        " print(e, e.stable_hash, e.symbols)"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("0", "1")
    }
    assert len(runs) == 1


def test_expressions_are_not_picklable() -> None:
    with pytest.raises(TypeError):
        pickle.dumps(Expr.symbol("x"))
