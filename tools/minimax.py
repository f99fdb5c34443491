"""Weighted minimax polynomials by the exchange algorithm of Remez, with coefficients rounded to a float format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mpmath import mp, mpf

Function = Callable[[mpf], mpf]
_GRID = 10
"""Points between two nodes where the error is looked at."""


@dataclass(frozen=True)
class Fit:
    """sum(coefficients[i] * x**i) is near the function; `error` is the greatest weighted error on a dense grid."""

    coefficients: tuple[mpf, ...]
    error: mpf


def rounded(value: mpf, bits: int) -> mpf:
    """The nearest number of `bits` mantissa bits, halves to even."""
    if not value:
        return value
    _, exponent = mp.frexp(value)
    return mp.ldexp(mp.nint(mp.ldexp(value, bits - exponent)), exponent - bits)


def horner(coefficients: Sequence[mpf], x: mpf) -> mpf:
    """The polynomial at x, lowest coefficient first."""
    total = mpf(0)
    for c in reversed(coefficients):
        total = total * x + c
    return total


def remez(function: Function, weight: Function, low: mpf, high: mpf, powers: Sequence[int], rounds: int = 12) -> Fit:
    """The polynomial in the given powers that has the least max |weight · (polynomial - function)| on [low, high]."""
    unknowns = len(powers) + 1
    middle, half = (low + high) / 2, (high - low) / 2
    nodes = [middle - half * mp.cos(mp.pi * i / (unknowns - 1)) for i in range(unknowns)]
    best = None
    for _ in range(rounds):
        rows = mp.matrix(unknowns, unknowns)
        right = mp.matrix(unknowns, 1)
        for i, x in enumerate(nodes):
            for j, power in enumerate(powers):
                rows[i, j] = x**power
            rows[i, unknowns - 1] = (-1) ** i / weight(x)
            right[i] = function(x)
        solved = mp.lu_solve(rows, right)
        coefficients = [mpf(0)] * (powers[-1] + 1)
        for j, power in enumerate(powers):
            coefficients[power] = solved[j]
        samples = _samples(nodes, low, high)
        errors = [weight(x) * (horner(coefficients, x) - function(x)) for x in samples]
        worst = max(map(abs, errors))
        if best is None or worst < best.error:
            best = Fit(tuple(coefficients), worst)
        if worst <= abs(solved[unknowns - 1]) * mpf("1.02"):
            break
        nodes = _extrema(samples, errors, unknowns)
    if best is None:
        raise ValueError("remez needs a round at least")
    return best


def _samples(nodes: Sequence[mpf], low: mpf, high: mpf) -> list[mpf]:
    """Points from low to high, denser between nodes that are near each other."""
    edges = sorted({low, high, *nodes})
    points = [a + (b - a) * i / _GRID for a, b in zip(edges, edges[1:], strict=False) for i in range(_GRID)]
    return [*points, high]


def _extrema(samples: Sequence[mpf], errors: Sequence[mpf], count: int) -> list[mpf]:
    """The greatest error of each run of one sign; of too many runs those at the ends with the least error go."""
    runs: list[int] = []
    for i, error in enumerate(errors):
        if runs and (errors[runs[-1]] > 0) == (error > 0):
            if abs(error) > abs(errors[runs[-1]]):
                runs[-1] = i
        else:
            runs.append(i)
    while len(runs) > count:
        del runs[0 if abs(errors[runs[0]]) < abs(errors[runs[-1]]) else -1]
    if len(runs) < count:
        raise ValueError(
            f"the error has {len(runs)} extrema instead of {count}: more precision or another degree is needed"
        )
    return [samples[i] for i in runs]


def fit(
    function: Function,
    weight: Function,
    low: mpf,
    high: mpf,
    degree: int,
    bits: int,
    refits: int = 2,
) -> Fit:
    """A minimax polynomial whose coefficients have `bits` bits.

    The lowest `refits` coefficients, whose rounding matters most, are rounded one by one, and the rest is fitted
    again each time. That needs an interval without 0, where the rest can correct nothing.
    """
    fixed: list[mpf] = []
    for power in range(degree + 1):
        done = tuple(fixed)
        found = remez(lambda x, d=done: function(x) - horner(d, x), weight, low, high, range(power, degree + 1))
        fixed.append(rounded(found.coefficients[power], bits))
        if power == refits:
            fixed += [rounded(c, bits) for c in found.coefficients[power + 1 :]]
            break
    points = [low + (high - low) * i / 400 for i in range(401)]
    error = max(abs(weight(x) * (horner(fixed, x) - function(x))) for x in points if weight(x))
    return Fit(tuple(fixed), error)
