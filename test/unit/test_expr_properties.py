"""Properties of random expressions, against Python integers."""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Iterator

import numpy as np
import pytest
from exprgen import NoValue, Tree, build, text, trees, value
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from mlir.ir import Context
from wave_mlir.dialect import Expr, Facts, prove

SYMBOLS = ("lane", "wg.x", "M", "K")
settings.register_profile("expr", deadline=None, max_examples=400 if os.environ.get("WAVE_MORE_EXAMPLES") else 150)
settings.load_profile("expr")


@pytest.fixture(autouse=True, scope="module")
def context() -> Iterator[Context]:
    ctx = Context()
    with ctx:
        yield ctx


def expr_of(tree: Tree) -> Expr:
    try:
        return build(tree)
    except ZeroDivisionError:
        assume(False)
        raise


def values(tree: Tree, env: dict[str, int]) -> int | None:
    try:
        return value(tree, env)
    except NoValue:
        return None


def check_same(tree: Tree, e: Expr, envs: list[dict[str, int]]) -> None:
    for env in envs:
        expected = values(tree, env)
        if expected is not None:
            assert e.eval(env) == expected, (text(tree), str(e), env)


ENVS = st.lists(st.fixed_dictionaries({s: st.integers(-40, 100) for s in SYMBOLS}), min_size=6, max_size=6)


@given(trees(SYMBOLS), ENVS)
def test_canonical_form_keeps_the_value(tree: Tree, envs: list[dict[str, int]]) -> None:
    check_same(tree, expr_of(tree), envs)


@given(trees(SYMBOLS))
def test_text_round_trip(tree: Tree) -> None:
    e = expr_of(tree)
    assert Expr.parse(str(e)) == e
    assert Expr.parse(text(tree)) == e


@given(trees(SYMBOLS), ENVS)
def test_arrays_agree_with_scalars(tree: Tree, envs: list[dict[str, int]]) -> None:
    e = expr_of(tree)
    envs = [env for env in envs if values(tree, env) is not None]
    arrays = {s: np.array([env[s] for env in envs], dtype=np.int64) for s in SYMBOLS}
    assert e.eval_numpy(arrays).tolist() == [value(tree, env) for env in envs]


@given(trees(SYMBOLS), st.dictionaries(st.sampled_from(SYMBOLS), trees(SYMBOLS, leaves=4)), ENVS)
def test_substitution_is_simultaneous(tree: Tree, replacements: dict[str, Tree], envs: list[dict[str, int]]) -> None:
    e = expr_of(tree)
    exprs = {s: expr_of(t) for s, t in replacements.items()}
    try:
        replaced = e.subs(exprs)
    except ZeroDivisionError:
        assume(False)
        return
    for env in envs:
        inner = {s: values(replacements[s], env) if s in replacements else env[s] for s in SYMBOLS}
        if any(v is None for v in inner.values()):
            continue
        expected = values(tree, {s: v for s, v in inner.items() if v is not None})
        if expected is not None:
            assert replaced.eval(env) == expected


# Facts: small ranges and residue classes, so that all values can be looked at.
RANGES = st.fixed_dictionaries(
    {s: st.tuples(st.integers(0 if s in ("lane", "wg.x") else -6, 9), st.integers(0, 9)) for s in ("lane", "M", "K")}
)
DIVISORS = st.dictionaries(st.sampled_from(("lane", "M", "K")), st.tuples(st.integers(1, 4), st.integers(0, 3)))
FEW = ("lane", "M", "K")


def domain(ranges: dict[str, tuple[int, int]], divisors: dict[str, tuple[int, int]]) -> list[dict[str, int]]:
    axes = []
    for s in FEW:
        m, r = divisors.get(s, (1, 0))
        axes.append([v for v in range(ranges[s][0], ranges[s][1] + 1) if v % m == r % m])
    return [dict(zip(FEW, point, strict=True)) for point in itertools.product(*axes)]


@given(trees(FEW), RANGES, DIVISORS, st.one_of(st.none(), trees(FEW, leaves=4)))
def test_facts(tree: Tree, spans: dict, divisors: dict, assumption: Tree | None) -> None:
    """Simplified form, range, residue class and proof, each against all values of the domain."""
    ranges = {s: (lo, lo + n) for s, (lo, n) in spans.items()}
    e = expr_of(tree)
    points = domain(ranges, divisors)
    assumptions = []
    if assumption is not None:
        condition = expr_of(assumption)
        assumptions = [condition]
        points = [p for p in points if values(assumption, p)]
    facts = Facts(ranges, divisors, assumptions)
    simple, (lo, hi), (modulus, remainder) = e.simplify(facts), e.range(facts), e.congruence(facts)
    proof = prove(e, facts)
    for p in points:
        expected = values(tree, p)
        if expected is None:
            continue
        assert simple.eval(p) == expected, (text(tree), str(simple), facts, p)
        assert lo is None or lo <= expected, (text(tree), lo, facts, p)
        assert hi is None or expected <= hi, (text(tree), hi, facts, p)
        assert (expected - remainder) % modulus == 0 if modulus else expected == remainder, (text(tree), facts, p)
        assert proof is None or proof == bool(expected), (text(tree), proof, facts, p)


@given(trees(FEW), RANGES, DIVISORS)
def test_proofs_over_finite_symbols_are_complete(tree: Tree, spans: dict, divisors: dict) -> None:
    """Where all symbols are finite and every point has a value, the answer is brute force's."""
    ranges = {s: (lo, lo + n) for s, (lo, n) in spans.items()}
    truths = {None if v is None else bool(v) for v in (values(tree, p) for p in domain(ranges, divisors))}
    assume(truths and None not in truths)
    expected = truths.pop() if len(truths) == 1 else None
    assert prove(expr_of(tree), Facts(ranges, divisors)) == expected, text(tree)


@given(trees(SYMBOLS, leaves=6), st.integers(0, 8), st.lists(st.integers(-1000, 1000), min_size=24, max_size=24))
def test_proofs_hold_beyond_what_is_enumerated(tree: Tree, lanes: int, samples: list[int]) -> None:
    """M and K are any integers, wg.x any natural number: no sample may contradict a proof or a range."""
    e = expr_of(tree)
    facts = Facts({"lane": (0, lanes)})
    proof, (lo, hi), simple = prove(e, facts), e.range(facts), e.simplify(facts)
    for i in range(0, len(samples), 3):
        env = {"lane": i % (lanes + 1), "wg.x": abs(samples[i]), "M": samples[i + 1], "K": samples[i + 2]}
        expected = values(tree, env)
        if expected is None:
            continue
        assert proof is None or proof == bool(expected), (text(tree), proof, env)
        assert (lo is None or lo <= expected) and (hi is None or expected <= hi), (text(tree), lo, hi, env)
        assert simple.eval(env) == expected, (text(tree), str(simple), env)


@given(trees(SYMBOLS), st.lists(st.sampled_from(SYMBOLS), unique=True), ENVS)
def test_split_adds_up(tree: Tree, symbols: list[str], envs: list[dict[str, int]]) -> None:
    e = expr_of(tree)
    only, rest = e.split(symbols)
    assert set(only.symbols) <= set(symbols)
    terms, constant = e.linear_parts()
    for env in envs:
        expected = values(tree, env)
        if expected is not None:
            assert only.eval(env) + rest.eval(env) == expected
            assert sum(k * f.eval(env) for f, k in terms) + constant == expected


@given(st.lists(trees(SYMBOLS, leaves=4), min_size=2, max_size=6))
def test_order_is_total(sample: list[Tree]) -> None:
    exprs = sorted((expr_of(t) for t in sample), key=functools.cmp_to_key(Expr.compare))
    for i, a in enumerate(exprs):
        for j, b in enumerate(exprs):
            assert (a.compare(b) == 0) == (a == b)
            assert (a == b) or (a.compare(b) < 0) == (i < j)
            assert (a == b) <= (a.stable_hash == b.stable_hash)


MIN, MAX = -(2**63), 2**63 - 1
ZEROS = [dict.fromkeys(SYMBOLS, 0) | {"lane": i, "M": 3 - i} for i in range(6)]
HUGE = (2**63 - 1, -(2**63), 2**62, 1 - 2**63, 2, -1, 3)


@given(trees(SYMBOLS, constants=HUGE), ENVS)
@example(("floordiv", "lane", ("*", MAX, MAX)), ZEROS)  # a divisor that is no product of factors
@example(("-", 3, ("-", 5, ("*", MIN, ("*", "M", "lane")))), ZEROS)  # a coefficient whose negation does not fit
@example(("-", 7, ("+", 3, ("*", MIN, ("-", "M", "lane")))), ZEROS)  # the same, constant first
@example(("floordiv", ("*", "M", MIN), ("*", "M", -1)), ZEROS)  # a quotient of coefficients that does not fit
@example(("mod", ("*", "M", MIN), ("*", "M", -1)), ZEROS)
def test_values_beyond_64_bits_are_never_wrong(tree: Tree, envs: list[dict[str, int]]) -> None:
    """The exact value or OverflowError, at construction in canonical form, after simplification and over arrays."""
    e = expr_of(tree)
    again = Expr.parse(str(e))
    facts = Facts({s: (-40, 100) for s in ("M", "K")} | {s: (0, 100) for s in ("lane", "wg.x")})
    simple, (lo, hi), proof = e.simplify(facts), e.range(facts), prove(e, facts)
    for env in envs:
        expected = values(tree, env)
        if expected is None:
            continue
        fits = env["lane"] >= 0 and env["wg.x"] >= 0
        assert not fits or ((lo is None or lo <= expected) and (hi is None or expected <= hi))
        assert not fits or proof is None or proof == bool(expected)
        for form in (e, again, simple) if fits else (e, again):
            try:
                assert form.eval(env) == expected
                assert form.eval_numpy(env).item() == expected
            except OverflowError:
                continue
