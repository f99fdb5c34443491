#include "machine/Formats.h"

#include <algorithm>

namespace machine {

using Codes = FloatFormat::Codes;

static bool isNaNCode(const FloatFormat &format, uint32_t code) {
  uint32_t magnitude = code & (format.signBit() - 1);
  switch (format.codes) {
  case Codes::Ieee:
    return magnitude > format.largest() + 1;
  case Codes::Fn:
    return magnitude == format.signBit() - 1;
  case Codes::Fnuz:
    return code == format.signBit();
  case Codes::None:
    break;
  }
  return false;
}

double decode(const FloatFormat &format, uint32_t code) {
  code &= format.signBit() << 1 ? (format.signBit() << 1) - 1 : ~0u;
  uint64_t sign = code & format.signBit() ? kSignF64 : 0;
  uint32_t magnitude = code & (format.signBit() - 1), mantissa = magnitude & ((1u << format.mantissaBits) - 1);
  int exponent = int(magnitude >> format.mantissaBits);
  if (isNaNCode(format, code)) {
    uint64_t payload = format.codes == Codes::Ieee ? uint64_t(mantissa) << (52 - format.mantissaBits) : 0;
    return asF64((format.codes == Codes::Fnuz ? 0 : sign) | kInfF64 | kQuietF64 | payload);
  }
  if (format.codes == Codes::Ieee && magnitude > format.largest())
    return asF64(sign | kInfF64);
  double value =
      exponent ? std::ldexp(double(mantissa | 1u << format.mantissaBits), exponent - format.bias - format.mantissaBits)
               : std::ldexp(double(mantissa), 1 - format.bias - format.mantissaBits);
  return sign ? -value : value;
}

static uint32_t nanCode(const FloatFormat &format, uint32_t sign, double value) {
  switch (format.codes) {
  case Codes::Ieee: {
    uint32_t quiet = 1u << (format.mantissaBits - 1);
    uint32_t payload = format.bits() > 8 ? uint32_t(rawF64(value) << 12 >> (64 - format.mantissaBits)) : 0;
    return sign | (format.largest() + 1) | quiet | payload;
  }
  case Codes::Fnuz:
    return format.signBit();
  case Codes::Fn:
  case Codes::None:
    break;
  }
  return sign | (format.signBit() - 1); // the largest value where there is no NaN
}

static uint32_t overflowCode(const FloatFormat &format, uint32_t sign, Overflow overflow) {
  if (overflow == Overflow::Saturate || format.codes == Codes::None)
    return sign | format.largest();
  if (format.codes == Codes::Ieee)
    return sign | (format.largest() + 1);
  return nanCode(format, sign, 0);
}

// |value| = mantissa * 2^exponent, as integers; denormal doubles do not occur.
static uint64_t split(double value, int &exponent) {
  uint64_t raw = rawF64(value);
  exponent = int(raw >> 52 & 0x7FF) - 1023 - 52;
  return (raw & ((1ull << 52) - 1)) | 1ull << 52;
}

// The code of `value` whose magnitude `rounded` gives in units of the last place, for the exponent that applies.
template <class Rounded>
static uint32_t encodeWith(const FloatFormat &format, double value, Overflow overflow, Rounded rounded) {
  uint32_t sign = std::signbit(value) ? format.signBit() : 0;
  if (std::isnan(value))
    return nanCode(format, sign, value);
  if (std::isinf(value))
    return overflowCode(format, sign, overflow);
  if (value == 0)
    return format.codes == Codes::Fnuz ? 0 : sign;
  int exponent;
  uint64_t mantissa = split(value, exponent);
  int lowest = 1 - format.bias, top = std::max(exponent + 52, lowest);
  if (top + format.bias >= 1 << format.exponentBits)
    return overflowCode(format, sign, overflow);
  int drop = top - format.mantissaBits - exponent; // at least 52 - mantissaBits
  // For a normal number the count has the implicit bit, hence the exponent field less one.
  uint64_t code = (uint64_t(top + format.bias - 1) << format.mantissaBits) + rounded(mantissa, drop);
  if (code > format.largest())
    return overflowCode(format, sign, overflow);
  return code == 0 && format.codes == Codes::Fnuz ? 0 : sign | uint32_t(code);
}

uint32_t encode(const FloatFormat &format, double value, Overflow overflow) {
  return encodeWith(format, value, overflow, [](uint64_t mantissa, int drop) -> uint64_t {
    if (drop > 53)
      return 0; // below half of the smallest value
    uint64_t kept = mantissa >> drop, rest = mantissa & ((1ull << drop) - 1), half = 1ull << (drop - 1);
    return kept + (rest > half || (rest == half && (kept & 1)));
  });
}

uint32_t encodeStochastic(const FloatFormat &format, double value, uint32_t random, int sourceMantissa,
                          Overflow overflow) {
  int extra = sourceMantissa - format.mantissaBits;
  return encodeWith(format, value, overflow, [=](uint64_t mantissa, int drop) -> uint64_t {
    uint64_t kept = drop - extra > 63 ? 0 : mantissa >> (drop - extra);
    return (kept + (uint64_t(random) >> (32 - extra))) >> extra;
  });
}

double decodeScale(uint32_t code) {
  return (code &= 0xFF) == 0xFF ? asF64(kInfF64 | kQuietF64) : std::ldexp(1.0, int(code) - 127);
}

} // namespace machine
