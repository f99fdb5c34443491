#include "machine/Float.h"

namespace machine {

double f16ToDouble(uint64_t raw) {
  uint64_t sign = raw >> 15 & 1, exponent = raw >> 10 & 31, mantissa = raw & 0x3FF;
  if (exponent == 31) {
    uint64_t payload = mantissa ? mantissa << 42 | kQuietF64 : 0;
    return asF64(sign << 63 | kInfF64 | payload);
  }
  if (exponent)
    return asF64(sign << 63 | (exponent + 1023 - 15) << 52 | mantissa << 42);
  double value = double(mantissa) * 0x1p-24;
  return sign ? -value : value;
}

// value's magnitude is kept * 2^shift + rest: whether the kept integer is to grow by one.
static bool roundsUp(uint64_t kept, uint64_t rest, uint64_t half, bool negative, Rounding rounding) {
  switch (rounding) {
  case kNearest:
    return rest > half || (rest == half && (kept & 1));
  case kUp:
    return rest && !negative;
  case kDown:
    return rest && negative;
  case kTruncate:
    break;
  }
  return false;
}

template <int Bits> static uint64_t narrow(double value, Rounding rounding) {
  using F = Fields<Bits>;
  uint64_t raw = rawF64(value);
  bool negative = raw >> 63;
  uint64_t sign = negative ? F::sign : 0, mantissa = raw & ((1ull << 52) - 1);
  int exponent = int(raw >> 52 & 0x7FF);
  if (exponent == 0x7FF)
    return sign | F::inf | (mantissa ? mantissa >> (52 - F::mantissa) | F::quiet : 0);
  if (exponent == 0)
    exponent = 1; // a denormal
  else
    mantissa |= 1ull << 52;
  int unbiased = exponent - 1023, lowest = 1 - F::bias;
  int drop = 52 - F::mantissa + (unbiased < lowest ? lowest - unbiased : 0);
  uint64_t kept = 0, rest = mantissa ? 1 : 0, half = 2; // all is dropped: below half of the smallest value
  if (drop < 64) {
    kept = mantissa >> drop;
    rest = mantissa & ((1ull << drop) - 1);
    half = 1ull << (drop - 1);
  }
  uint64_t result = kept;
  if (unbiased >= lowest)
    result += uint64_t(unbiased + F::bias - 1) << F::mantissa; // kept has the implicit bit
  if (unbiased >= lowest + 2 * F::bias)
    result = F::inf;
  else
    result += roundsUp(kept, rest, half, negative, rounding);
  bool awayFromZero = rounding == kNearest || (rounding == kUp && !negative) || (rounding == kDown && negative);
  if (result >= F::inf)
    result = awayFromZero ? F::inf : F::inf - 1;
  return sign | result;
}

uint64_t doubleToF16(double value, Rounding rounding) { return narrow<16>(value, rounding); }
uint64_t doubleToF32(double value, Rounding rounding) { return narrow<32>(value, rounding); }

double addToOdd(double a, double b) {
  double sum = a + b;
  double partA = sum - b, partB = sum - partA;
  double error = (a - partA) + (b - partB);
  if (!std::isfinite(sum) || error == 0)
    return sum;
  uint64_t raw = rawF64(sum);
  if (!(raw & 1))
    raw += (error > 0) == (sum > 0) ? 1 : -1;
  return asF64(raw);
}

HostRounding::HostRounding(Rounding rounding) {
  if (rounding == kNearest) // the host's own
    return;
  old = std::fegetround();
  std::fesetround(rounding == kUp ? FE_UPWARD : rounding == kDown ? FE_DOWNWARD : FE_TOWARDZERO);
}

HostRounding::~HostRounding() {
  if (old >= 0)
    std::fesetround(old);
}

} // namespace machine
