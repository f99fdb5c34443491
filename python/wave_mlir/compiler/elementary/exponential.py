"""exp, exp2, expm1, sinh, cosh, tanh.

x = k·ln(2) + r with r from -ln(2)/4 to 3 ln(2)/4, so that expm1 of a small positive number needs no sum with 2^k - 1;
then expm1(r) by a polynomial. k is read from the low bits of a number that was rounded by adding a large one.
"""

from __future__ import annotations

from dataclasses import dataclass

from . import tables
from .numbers import Int, Kind, Real, choose

# Beyond these exp is infinity or 0 (below half the least denormal number).
_EXP_RANGE = {"f32": (-105.0, 89.0), "f64": (-746.0, 710.0)}
_EXP2_RANGE = {"f32": (-160.0, 130.0), "f64": (-1080.0, 1026.0)}
# Past these sinh and cosh overflow; a quarter of 2^k does not yet.
_HYPERBOLIC_LIMIT = {"f32": 89.5, "f64": 710.5}
# Past these tanh rounds to 1, below them sinh(x) rounds to x.
_TANH_LIMIT = {"f32": 10.0, "f64": 20.0}
_TANH_LINEAR = {"f32": 2.0**-13, "f64": 2.0**-28}
_SINH_LINEAR = {"f32": 2.0**-12, "f64": 2.0**-27}


@dataclass(frozen=True)
class Rounded:
    """An integer k: as a float, and in the low bits of an integer."""

    real: Real
    bits: Int


def rounded(x: Real) -> Rounded:
    """The nearest integer; |x| must be below 2^(mantissa - 1). NaN gives any bits."""
    shifted = x + x.kind.format.magic
    return Rounded(shifted - x.kind.format.magic, shifted.bits())


def power_of_two(k: Int, offset: int = 0) -> Real:
    """2^(k + offset), of the low bits of k; its exponent must be that of a normal number."""
    form = k.kind.format
    return k.kind.from_bits((k << form.mantissa) + ((form.bias + offset) << form.mantissa))


def scaled(value: Real, k: Int) -> Real:
    """value · 2^k in two steps, so that k may be twice an exponent's range; rounded once, where it is denormal."""
    form = value.kind.format
    spare = form.width - form.mantissa + 1  # bits before k's sign
    half = (k << spare).signed_shift(spare + 1)
    return value * power_of_two(half) * power_of_two(k - half)


@dataclass(frozen=True)
class _Reduced:
    """x = k·ln(2) + r + error, expm1(r) = r + tail. The error is half a unit of r's last place at most."""

    k: Int
    r: Real
    tail: Real
    error: Real

    def less_one(self, exponent: int) -> Real:
        """(e^x - 1) · 2^exponent; small where k is 0."""
        scale = power_of_two(self.k, exponent)
        return scale.fma(self.r + self.tail, scale - 2.0**exponent)

    def whole(self, exponent: int) -> Real:
        """e^x · 2^exponent."""
        scale = power_of_two(self.k, exponent)
        return scale.fma(self.r + self.tail, scale)


def _reduced(x: Real) -> _Reduced:
    name = x.kind.format.name
    k = rounded(x.fma(tables.LOG2_E[name][0], -0.25))
    high, low = tables.LN2_SHORT[name]
    start = k.real.fma(-high, x)  # exact
    r = k.real.fma(-low, start)
    tail = (r * r) * r.polynomial(tables.EXPM1[name])
    return _Reduced(k.bits, r, tail, k.real.fma(-low, start - r))


def exp(x: Real) -> Real:
    """e^x."""
    low, high = _EXP_RANGE[x.kind.format.name]
    parts = _reduced(x.at_most(high).at_least(low))
    return scaled((parts.r + parts.tail) + 1.0, parts.k)


def power_of_fraction(f: Real) -> Real:
    """2^f for |f| <= 1/2."""
    return f.fma(f.polynomial(tables.EXP2[f.kind.format.name]), 1.0)


def exp2(x: Real) -> Real:
    """2^x."""
    low, high = _EXP2_RANGE[x.kind.format.name]
    x = x.at_most(high).at_least(low)
    k = rounded(x)
    return scaled(power_of_fraction(x - k.real), k.bits)


def expm1(x: Real) -> Real:
    """e^x - 1."""
    kind = x.kind
    low, high = -(kind.format.mantissa + 3.0), _EXP_RANGE[kind.format.name][1]
    parts = _reduced(x.at_most(high).at_least(low))
    # Half of it, so that k may be one past the greatest exponent; what is halved must not be denormal. For k = -1 the
    # sum loses a bit or two, so each part is added to it alone.
    scale = power_of_two(parts.k, -1)
    tail = (parts.r + parts.tail).fma(parts.error, parts.tail + parts.error)
    half = scale.fma(tail, scale.fma(parts.r, scale - 0.5))
    return choose(abs(x) < 2.0 ** -(kind.format.mantissa + 1), x, half * 2.0)


def tanh(x: Real) -> Real:
    """Hyperbolic tangent: h / (1 + h), h = expm1(2|x|) / 2; for small h as h - h² / (1 + h), which rounds less."""
    name = x.kind.format.name
    h = _reduced((abs(x) * 2.0).at_most(2 * _TANH_LIMIT[name])).less_one(-1)
    small = h < 0.35
    quotient = choose(small, h * h, h) / (h + 1.0)
    result = choose(small, h - quotient, quotient)
    return choose(abs(x) < _TANH_LINEAR[name], x, result.with_sign_of(x))


def sinh(x: Real) -> Real:
    """Hyperbolic sine: (E + t) / 2, t = E / (E + 1), E = expm1(|x|); for small E as E - E·t / 2, which rounds less."""
    name = x.kind.format.name
    quarter = _reduced(abs(x).at_most(_HYPERBOLIC_LIMIT[name])).less_one(-2)
    t = quarter / quarter.fma(4.0, 1.0)
    result = choose(quarter < 0.17, (quarter * -2.0).fma(t, quarter) * 4.0, (quarter + t) * 2.0)
    return choose(abs(x) < _SINH_LINEAR[name], x, result.with_sign_of(x))


def cosh(x: Real) -> Real:
    """Hyperbolic cosine: (e^|x| + e^-|x|) / 2."""
    quarter = _reduced(abs(x).at_most(_HYPERBOLIC_LIMIT[x.kind.format.name])).whole(-2)
    return quarter.fma(2.0, 0.125 / quarter)


def kind_limit(kind: Kind) -> float:
    """The greatest finite number of a kind's format."""
    form = kind.format
    return (2.0 - 2.0**-form.mantissa) * 2.0**form.bias
