"""Times of expression operations, in microseconds each, beside sympy's: `python benchmarks/expr.py`.

The expression is the address of a GEMM operand's element. sympy has the same one over integer symbols, and does the
same work in the same run with its cache cleared between calls, as it would meet new expressions in a compile. Rows
without a counterpart have no ratio. Needs sympy.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable
from itertools import count

import numpy as np
import sympy
from mlir import ir
from sympy.core.cache import clear_cache
from wave_mlir.dialect import Expr, Facts, prove

ADDRESS = "(wg_x * 64 + wave_x * 32 + lane mod 16) * K + trip * 32 + lane floordiv 16 * 8 + el"
NAMES = ("wg_x", "wave_x", "lane", "K", "trip", "el")


def sympy_address(s: dict[str, sympy.Symbol]) -> sympy.Expr:
    """ADDRESS with sympy's Mod and floor."""
    row = s["wg_x"] * 64 + s["wave_x"] * 32 + sympy.Mod(s["lane"], 16)
    return row * s["K"] + s["trip"] * 32 + sympy.floor(s["lane"] / 16) * 8 + s["el"]


def cases() -> dict[str, tuple[Callable[[], object], Callable[[], object] | None]]:
    """name -> (ours, sympy's)."""
    e = {n: Expr.symbol(n) for n in NAMES}
    s = {n: sympy.Symbol(n, integer=True, nonnegative=True) for n in NAMES}
    facts = Facts({"lane": (0, 63), "wave_x": (0, 1), "wg_x": (0, None), "K": (1, None), "el": (0, 6)}, {"K": 32})
    ours, theirs = Expr.parse(ADDRESS), sympy_address(s)
    values = {"wg_x": 3, "wave_x": 1, "lane": 37, "K": 256, "trip": 2, "el": 1}
    points = [(s[n], v) for n, v in values.items()]
    grid = {**values, "lane": np.tile(np.arange(64), 1024), "el": np.arange(1024).repeat(64)}
    fresh = count(1000)
    step = ours.subs({"el": e["el"] + 1}) - ours
    lambdified = sympy.lambdify([s[n] for n in NAMES], theirs, "numpy")
    arrays = [grid[n] for n in NAMES]
    return {
        "sum of two": (lambda: e["lane"] + e["K"], lambda: s["lane"] + s["K"]),
        "sum with a new constant": (lambda: ours + next(fresh), lambda: theirs + next(fresh)),
        "(a * 64 + lane) floordiv 64": (
            lambda: (e["wg_x"] * 64 + e["lane"]) // 64,
            lambda: (s["wg_x"] * 64 + s["lane"]) // 64,
        ),
        "whole address by operators": (
            lambda: (
                (e["wg_x"] * 64 + e["wave_x"] * 32 + e["lane"] % 16) * e["K"]
                + e["trip"] * 32
                + e["lane"] // 16 * 8
                + e["el"]
            ),
            lambda: sympy_address(s),
        ),
        "address + 1 - address": (lambda: ours + 1 - ours, lambda: sympy.expand(theirs + 1 - theirs)),
        "substitute one symbol": (lambda: ours.subs({"lane": 5}), lambda: theirs.subs({s["lane"]: 5})),
        "evaluate": (lambda: ours.eval(values), lambda: theirs.subs(points)),
        "evaluate at 65536 points": (lambda: ours.eval_numpy(grid), lambda: lambdified(*arrays)),
        "symbols": (lambda: ours.symbols, lambda: theirs.free_symbols),
        "split off the uniform part": (lambda: ours.split(["wg_x", "K", "trip"]), None),
        "simplify, new facts": (
            lambda: ours.simplify(Facts(facts.ranges, facts.divisors)),
            lambda: sympy.simplify(theirs),
        ),
        "simplify, known facts": (lambda: ours.simplify(facts), None),
        "range": (lambda: ours.range(facts), None),
        "prove contiguity": (lambda: prove(step.eq(1), facts), None),
        "prove 64 x 64 lanes disjoint": (
            lambda: prove(
                Expr.parse("lane eq b or lane * K + K le b * K or b * K + K le lane * K"),
                Facts({"lane": (0, 63), "b": (0, 63), "K": (1, None)}),
            ),
            None,
        ),
    }


def microseconds(f: Callable[[], object], each: Callable[[], object] | None = None) -> float:
    """Best time of a call; `each` runs before every call, outside of the measured time."""
    timer = timeit.Timer(f, setup=each or "pass")
    number = 1 if each else max(1, int(0.02 / max(timer.timeit(1), 1e-7)))
    repeat = 30 if each else 7
    return min(timer.repeat(repeat, number)) / number * 1e6


def main() -> None:
    """Prints the table."""
    print(f"{'us each':32}{'wave':>10}{'sympy':>12}{'ratio':>9}")
    with ir.Context():
        for name, (ours, theirs) in cases().items():
            a = microseconds(ours)
            b = microseconds(theirs, clear_cache) if theirs else None
            print(f"{name:32}{a:10.2f}" + (f"{b:12.1f}{b / a:8.0f}x" if b else ""))


if __name__ == "__main__":
    main()
