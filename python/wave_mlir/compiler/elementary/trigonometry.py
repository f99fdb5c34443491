"""sin, cos, tan, atan, atan2.

x = k·pi/2 + r with |r| <= pi/4 (r in two parts): up to a limit by subtracting k times pi/2 in three parts; beyond it,
in a branch, by the bits of 2/pi that matter (Payne and Hanek). So arguments of any size have full precision.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from mlir import ir

from . import tables
from .exponential import kind_limit, rounded
from .numbers import Int, Kind, Pair, Real, any_sum, choose, choose_int, pair, product, quotient, sometimes, sum_of

# k below 2^16 and 2^30: k times the first part of pi/2 is near enough to x that the difference is exact.
_SUBTRACTED = {"f32": 100000.0, "f64": 2.0**30}
_LINEAR = {"f32": 2.0**-13, "f64": 2.0**-27}


def reduced(x: Real, *, bounded: bool = False) -> tuple[Int, Pair]:
    """k (its two low bits count) and r. bounded: |x| is known to be below the limit of subtraction."""
    name = x.kind.format.name
    first, second, third = tables.HALF_PI[name]
    k = rounded(x * tables.TWO_OVER_PI[name][0])
    start = k.real.fma(-first, x)  # exact
    subtrahend = k.real * second
    rest = k.real.fma(third, k.real.fma(second, -subtrahend))
    difference = any_sum(start, -subtrahend)
    r = sum_of(difference.high, difference.low - rest)
    if bounded:
        return k.bits, r
    limit = _SUBTRACTED[name]

    def change(one: Real, near: Sequence[ir.Value]) -> list[ir.Value]:
        quadrant, far = _reduced_far(one)
        is_large, (bits, high, low) = abs(one) > limit, near
        chosen = choose_int(is_large, quadrant, Int(bits, one.kind))
        parts = (choose(is_large, a, Real(b, one.kind)) for a, b in ((far.high, high), (far.low, low)))
        return [chosen.ir, *(part.ir for part in parts)]

    quadrant, high_ir, low_ir = sometimes(abs(x) > limit, x, [k.bits.ir, r.high.ir, r.low.ir], change)
    return Int(quadrant, x.kind), Pair(Real(high_ir, x.kind), Real(low_ir, x.kind))


def _reduced_far(x: Real) -> tuple[Int, Pair]:
    """The same for any large x. With x = M·2^E, bits of 2/pi of weight 2^(2-E) and more give whole turns: three words
    after them, times M, have the quadrant in their first two bits and then the fraction."""
    kind, form = x.kind, x.kind.format
    width = form.width
    bits = abs(x).bits()
    significand = (bits & ((1 << form.mantissa) - 1)) | (1 << form.mantissa)
    zeros = tables.TWO_OVER_PI_ZEROS[form.name]
    start = (bits >> form.mantissa) - (form.bias + form.mantissa + 2 - zeros)  # E - 2 + zeros
    b0, b1, b2 = _window(kind, start)
    last, carried = significand.times(b2)
    product_low, product_high = significand.times(b1)
    middle = product_low + carried
    carry = choose_int(middle.below_unsigned(product_low), kind.integer(1), kind.integer(0))
    top = significand * b0 + product_high + carry
    quadrant = (top >> (width - 2)) + ((top >> (width - 3)) & 1)
    # After the quadrant, a signed fraction of a quadrant from -1/2 to 1/2.
    high = (top << 2) | (middle >> (width - 2))
    middle = (middle << 2) | (last >> (width - 2))
    r = _fraction_times_half_pi(kind, high, middle, last << 2)
    negative = x < 0.0
    quadrant = choose_int(negative, kind.integer(0) - quadrant, quadrant)
    r = Pair(choose(negative, -r.high, r.high), choose(negative, -r.low, r.low))
    nan = choose(abs(x) > kind_limit(kind), math.nan, r.high)
    return quadrant, Pair(nan, r.low)


def _window(kind: Kind, start: Int) -> tuple[Int, Int, Int]:
    """Three words of 2/pi from bit `start` on: words are chosen by the bits of its number, then shifted."""
    name, width = kind.format.name, kind.format.width
    words = [kind.integer(w) for w in tables.TWO_OVER_PI_WORDS[name]]
    shift_bits = width.bit_length() - 1
    step = 1 << ((len(words) - 4).bit_length() - 1)
    while step:
        chosen = start.is_set(shift_bits + step.bit_length() - 1)
        count = min(len(words) - step, 3 + step)
        words = [choose_int(chosen, words[i + step], words[i]) for i in range(count)]
        step //= 2
    amount = start & (width - 1)
    rest = amount ^ (width - 1)
    shifted = [(words[i] << amount) | ((words[i + 1] >> 1) >> rest) for i in range(3)]
    return shifted[0], shifted[1], shifted[2]


def _fraction_times_half_pi(kind: Kind, high: Int, middle: Int, low: Int) -> Pair:
    """A signed fixed-point fraction of three words, times pi/2."""
    form = kind.format
    width = form.width
    sign = high.signed_shift(width - 1)
    high, middle, low = high ^ sign, middle ^ sign, low ^ sign  # the size, but for one unit of the last word
    zeros = high.leading_zeros() & (width - 1)
    rest = zeros ^ (width - 1)
    first = (high << zeros) | ((middle >> 1) >> rest)
    second = (middle << zeros) | ((low >> 1) >> rest)
    # The first word in two exact pieces, the second rounded.
    cut = width - form.mantissa - 1
    upper = (first >> cut).unsigned_real() * 2.0 ** (cut - width)
    lower = (first & ((1 << cut) - 1)).unsigned_real() * 2.0**-width
    lower = (second >> 1).unsigned_real().fma(2.0 ** (1 - 2 * width), lower)
    whole = sum_of(upper, lower)
    r = product(whole, pair(kind, tables.HALF_PI[form.name][:2]))
    scale = kind.from_bits(((kind.integer(form.bias) - zeros) << form.mantissa) | (sign << (width - 1)))
    return Pair(r.high * scale, r.low * scale)


def _sine(r: Pair) -> Pair:
    """sin for |r| <= pi/4."""
    z = r.high * r.high
    tail = (r.high * z) * z.polynomial(tables.SIN[z.kind.format.name])
    return sum_of(r.high, r.low.fma(z.fma(-0.5, 1.0), tail))


def _cosine(r: Pair) -> Pair:
    """cos for |r| <= pi/4."""
    z = r.high * r.high
    half = z * 0.5
    first = 1.0 - half
    rest = (z * z).fma(z.polynomial(tables.COS[z.kind.format.name]), -(r.high * r.low))
    return sum_of(first, ((1.0 - first) - half) + rest)


def _negated_if(value: Real, quadrant: Int) -> Real:
    """-value where bit 1 of the quadrant is set."""
    width = value.kind.format.width
    return value.kind.from_bits(value.bits() ^ ((quadrant & 2) << (width - 2)))


def sin(x: Real, *, bounded: bool = False) -> Real:
    """Sine."""
    quadrant, r = reduced(x, bounded=bounded)
    value = _negated_if(choose(quadrant.is_set(0), _cosine(r).high, _sine(r).high), quadrant)
    return choose(abs(x) < _LINEAR[x.kind.format.name], x, value)


def cos(x: Real, *, bounded: bool = False) -> Real:
    """Cosine."""
    quadrant, r = reduced(x, bounded=bounded)
    value = choose(quadrant.is_set(0), _sine(r).high, _cosine(r).high)
    return _negated_if(value, quadrant + 1)


def tan(x: Real, *, bounded: bool = False) -> Real:
    """Tangent: sin / cos, or -cos / sin."""
    quadrant, r = reduced(x, bounded=bounded)
    sine, cosine = _sine(r), _cosine(r)
    odd = quadrant.is_set(0)
    value = quotient(
        Pair(choose(odd, -cosine.high, sine.high), choose(odd, -cosine.low, sine.low)),
        Pair(choose(odd, sine.high, cosine.high), choose(odd, sine.low, cosine.low)),
    )
    return choose(abs(x) < _LINEAR[x.kind.format.name], x, value)


def atan2(y: Real, x: Real) -> Real:
    """The angle of the point (x, y), with C's rules for signed zeros and infinities."""
    kind = y.kind
    far = abs(y) > abs(x)
    big = choose(far, abs(y), abs(x))
    small = choose(far, abs(x), abs(y))
    # big + small must not overflow
    huge = big > kind_limit(kind) / 4
    big, small = (choose(huge, v * 0.25, v) for v in (big, small))
    both = small.equals(math.inf)
    big, small = (choose(both, 1.0, v) for v in (big, small))
    angle = _first_octant(small, big)
    half, whole = (pair(kind, parts[kind.format.name]) for parts in (tables.HALF_PI, tables.PI))
    angle = choose(far, half.high - (angle - half.low), angle)
    angle = choose(x.bits().below(0), whole.high - (angle - whole.low), angle)
    angle = angle.with_sign_of(y)
    return choose(x.is_nan() | y.is_nan(), x + y, angle)


def _first_octant(small: Real, big: Real) -> Real:
    """atan(small / big) for 0 <= small <= big; past pi/8 as pi/4 + atan((small - big) / (small + big))."""
    kind, name = small.kind, small.kind.format.name
    past = small > big * math.tan(math.pi / 8)
    numerator = choose(past, small - big, small)
    denominator = choose(past, small + big, big)
    denominator = choose(denominator.equals(0.0), 1.0, denominator)
    t = numerator / denominator
    z = t * t
    tail = (t * z) * z.polynomial(tables.ATAN[name])
    quarter = pair(kind, tables.QUARTER_PI[name])
    start = choose(past, quarter.high, 0.0)
    rest = choose(past, quarter.low, 0.0)
    return start + (t + (tail + rest))


def atan(x: Real) -> Real:
    """Arc tangent."""
    return atan2(x, x.kind.real(1.0))
