"""log, log2, log10, log1p, pow, cbrt.

x = m·2^e with m from sqrt(1/2) to sqrt(2), log(m) = 2 atanh(s), s = (m - 1)/(m + 1). All of it, but the tail of
atanh, in two parts, so that the logarithm has about twice the format's precision, as pow needs; the others round
that once.
"""

from __future__ import annotations

import math

from . import tables
from .exponential import power_of_fraction, rounded, scaled
from .numbers import Pair, Real, choose, choose_int, pair, product, sum_of

# |y·log2(x)| past which a power is infinity or 0 for sure.
_POWER_LIMIT = {"f32": 200.0, "f64": 1500.0}


def _split(x: Real) -> tuple[Real, Real]:
    """(e, m) of a positive finite number."""
    kind, form = x.kind, x.kind.format
    is_denormal = x < form.least_normal
    lift = form.mantissa + 1
    bits = choose(is_denormal, x * 2.0**lift, x).bits()
    root = kind.real(math.sqrt(0.5)).bits()
    exponent = (bits - root).signed_shift(form.mantissa)
    m = kind.from_bits(bits - (exponent << form.mantissa))
    shift = choose_int(is_denormal, kind.integer(lift), kind.integer(0))
    return (exponent - shift).real(), m


def _two_atanh_over_ln2(m: Real) -> Pair:
    """log2(m) for m from sqrt(1/2) to sqrt(2)."""
    kind, name = m.kind, m.kind.format.name
    numerator = m - 1.0  # exact
    denominator = m + 1.0
    rest = m - (denominator - 1.0)
    inverse = 1.0 / denominator
    high = numerator * inverse
    low = (-high).fma(rest, (-high).fma(denominator, numerator)) * inverse
    s = Pair(high, low)
    square_high = high * high
    square = Pair(square_high, high.fma(high, -square_high) + (high * low) * 2.0)
    third = pair(kind, tables.THIRD[name])
    tail = square_high * square_high.polynomial(tables.ATANH[name])
    inner = sum_of(third.high, tail)
    inner = Pair(inner.high, inner.low + third.low)
    cubic = product(s, product(square, inner))
    total = sum_of(high, cubic.high)
    atanh = Pair(total.high, total.low + (cubic.low + low))
    return product(atanh, pair(kind, tables.TWO_OVER_LN2[name]))


def _log2_finite(x: Real) -> Pair:
    """log2 of a positive finite number."""
    exponent, m = _split(x)
    fraction = _two_atanh_over_ln2(m)
    total = sum_of(exponent, fraction.high)
    return Pair(total.high, total.low + fraction.low)


def _with_poles(x: Real, result: Real) -> Real:
    """What a logarithm is at 0, infinity, and where there is none."""
    result = choose(x.equals(0.0), -math.inf, result)
    result = choose(x.equals(math.inf), x, result)
    return choose((x < 0.0) | x.is_nan(), math.nan, result)


def _scaled_log(x: Real, factor: tuple[float, ...]) -> Real:
    log = product(_log2_finite(x), pair(x.kind, factor))
    return _with_poles(x, log.high + log.low)


def log2(x: Real) -> Real:
    """Logarithm to base 2."""
    log = _log2_finite(x)
    return _with_poles(x, log.high + log.low)


def log(x: Real) -> Real:
    """Natural logarithm."""
    return _scaled_log(x, tables.LN2[x.kind.format.name])


def log10(x: Real) -> Real:
    """Logarithm to base 10."""
    return _scaled_log(x, tables.LOG10_2[x.kind.format.name])


def log1p(x: Real) -> Real:
    """log(1 + x): the logarithm of the rounded sum, and the rounding error over it."""
    total = x + 1.0
    bigger = choose(abs(x) > 1.0, x, 1.0)
    smaller = choose(abs(x) > 1.0, 1.0, x)
    error = (bigger - total) + smaller
    log = product(_log2_finite(total), pair(x.kind, tables.LN2[x.kind.format.name]))
    result = log.high + (log.low + error / total)
    result = _with_poles(total, result)
    return choose(abs(x) < 2.0 ** -(x.kind.format.mantissa + 2), x, result)


def power(x: Real, y: Real) -> Real:
    """x to the power y: 2^(y·log2|x|), with C's rules for signs, zeros, infinities and NaN."""
    size = abs(x)
    log = _log2_finite(size)
    high = choose(size.equals(0.0), -math.inf, choose(size.equals(math.inf), math.inf, log.high))
    exponent = y * high
    low = y.fma(high, -exponent) + y * log.low
    limit = _POWER_LIMIT[x.kind.format.name]
    is_far = abs(exponent) > limit
    exponent = exponent.at_most(limit).at_least(-limit)
    low = choose(is_far, 0.0, low)
    k = rounded(exponent)
    result = scaled(power_of_fraction((exponent - k.real) + low), k.bits)
    return _with_power_rules(x, y, choose(size.equals(1.0), 1.0, result))


def _with_power_rules(x: Real, y: Real, result: Real) -> Real:
    """The power of a base with its sign, from that of its size."""
    kind = x.kind
    whole = y.floor().equals(y)
    half = y * 0.5
    odd = whole & half.floor().differs(half)
    negative = x.bits().below(0)
    result = choose(odd & negative, -result, result)
    has_none = (x < 0.0) & (x > -math.inf) & whole.negated()
    result = choose(has_none, math.nan, result)
    result = choose(x.is_nan() | y.is_nan(), x + y, result)
    return choose(x.equals(1.0) | y.equals(0.0), kind.real(1.0), result)


def _inverse_root_guess(a: Real) -> Real:
    """a^(-1/3) to 4 %: a third of the exponent and mantissa taken together, from a constant."""
    kind, form = a.kind, a.kind.format
    # log2(a) is about bits / 2^mantissa - bias + 0.045. Of 64 bits the upper half is enough.
    mantissa = form.mantissa - (form.width - 32)
    constant = kind.integer(int(4.0 / 3.0 * (form.bias - 0.0450466) * 2**mantissa), 32)
    if form.width == 32:
        return kind.from_bits(constant - a.bits().divided(3))
    guess = constant - (a.bits() >> 32).truncated(32).divided(3)
    return kind.from_bits(guess.extended(64) << 32)


def cbrt(x: Real) -> Real:
    """Cube root: y = |x|^(-1/3) by iterations of third order, then x·y² and a correction by its residue."""
    form = x.kind.format
    size = abs(x)
    lift = 24 if form.width == 32 else 54  # a multiple of 3
    is_denormal = size < form.least_normal
    a = choose(is_denormal, size * 2.0**lift, size)
    y = _inverse_root_guess(a)
    for _ in range(2 if form.width == 32 else 3):
        error = (-(a * y * y)).fma(y, 1.0)
        y = (y * error).fma(error.fma(2.0 / 9.0, 1.0 / 3.0), y)
    root = a * y * y
    square = root * root
    square_low = root.fma(root, -square)
    residue = (-square_low).fma(root, (-square).fma(root, a))
    root = (residue * (1.0 / 3.0)).fma(y * y, root)
    root = choose(is_denormal, root * 2.0 ** -(lift // 3), root).with_sign_of(x)
    keeps = size.equals(0.0) | (size < math.inf).negated()
    return choose(keeps, x, root)
