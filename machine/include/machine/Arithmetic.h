// Floating-point operations on raw bits as the vector ALU does them: denormals and rounding by MODE, quiet NaNs.
//
// A NaN result is the first NaN source, made quiet. A result that is no number without a NaN source is 0xFFC00000
// (and its like in f16 and f64), what CDNA3's v_div_fixup names for 0/0.
#pragma once
#include "machine/Lanes.h"

#include <algorithm>

namespace machine {

template <int Bits> inline uint64_t negate(uint64_t raw) { return raw ^ Fields<Bits>::sign; }
template <int Bits> inline uint64_t magnitude(uint64_t raw) { return raw & (Fields<Bits>::sign - 1); }
template <int Bits> inline uint64_t finish(const Wave &wave, double exact) {
  uint64_t result = fromDouble<Bits>(exact, roundingOf<Bits>(wave));
  if (Bits == 16 && wave.mode & kF16Overflow && isInf<16>(result) && std::isfinite(exact))
    --result; // the greatest number
  return flushOut<Bits>(wave, result);
}
// Where x + y is 0 exactly: rounding down gives -0 unless both are +0.
template <int Bits> inline uint64_t zeroSum(const Wave &wave, uint64_t x, uint64_t y) {
  uint64_t sign = roundingOf<Bits>(wave) == kDown ? x | y : x & y;
  return sign & Fields<Bits>::sign;
}

template <int Bits> uint64_t add(const Wave &wave, uint64_t a, uint64_t b) {
  a = flushIn<Bits>(wave, a);
  b = flushIn<Bits>(wave, b);
  if (isNaN<Bits>(a))
    return quiet<Bits>(a);
  if (isNaN<Bits>(b))
    return quiet<Bits>(b);
  if constexpr (Bits == 16) {
    double sum = f16ToDouble(a) + f16ToDouble(b); // exact
    return sum == 0 ? zeroSum<16>(wave, a, b) : finish<16>(wave, sum);
  } else if constexpr (Bits == 32) {
    return flushOut<32>(wave, rawF32(asF32(a) + asF32(b)));
  } else {
    return flushOut<64>(wave, rawF64(asF64(a) + asF64(b)));
  }
}

template <int Bits> uint64_t subtract(const Wave &wave, uint64_t a, uint64_t b) {
  return isNaN<Bits>(b) ? add<Bits>(wave, a, b) : add<Bits>(wave, a, negate<Bits>(b));
}

template <int Bits> uint64_t multiply(const Wave &wave, uint64_t a, uint64_t b) {
  a = flushIn<Bits>(wave, a);
  b = flushIn<Bits>(wave, b);
  if (isNaN<Bits>(a))
    return quiet<Bits>(a);
  if (isNaN<Bits>(b))
    return quiet<Bits>(b);
  if constexpr (Bits == 16)
    return finish<16>(wave, f16ToDouble(a) * f16ToDouble(b)); // exact product
  else if constexpr (Bits == 32)
    return flushOut<32>(wave, rawF32(asF32(a) * asF32(b)));
  else
    return flushOut<64>(wave, rawF64(asF64(a) * asF64(b)));
}

template <int Bits> uint64_t fusedMultiplyAdd(const Wave &wave, uint64_t a, uint64_t b, uint64_t c) {
  a = flushIn<Bits>(wave, a);
  b = flushIn<Bits>(wave, b);
  c = flushIn<Bits>(wave, c);
  for (uint64_t source : {a, b, c})
    if (isNaN<Bits>(source))
      return quiet<Bits>(source);
  if constexpr (Bits == 16) {
    double product = f16ToDouble(a) * f16ToDouble(b), sum = addToOdd(product, f16ToDouble(c));
    return sum == 0 ? zeroSum<16>(wave, (a ^ b) & kSignF16, c) : finish<16>(wave, sum);
  } else if constexpr (Bits == 32) {
    return flushOut<32>(wave, rawF32(std::fma(asF32(a), asF32(b), asF32(c))));
  } else {
    return flushOut<64>(wave, rawF64(std::fma(asF64(a), asF64(b), asF64(c))));
  }
}

// Two roundings, and no denormals whatever MODE says.
template <int Bits> uint64_t multiplyThenAdd(const Wave &wave, uint64_t a, uint64_t b, uint64_t c) {
  auto noDenormal = [](uint64_t raw) { return isDenormal<Bits>(raw) ? raw & Fields<Bits>::sign : raw; };
  uint64_t product = noDenormal(multiply<Bits>(wave, noDenormal(a), noDenormal(b)));
  if (isNaN<Bits>(c) && !isNaN<Bits>(a) && !isNaN<Bits>(b))
    return quiet<Bits>(c);
  return noDenormal(add<Bits>(wave, product, noDenormal(c)));
}

// Order of two numbers (no NaN) with -0 below +0.
template <int Bits> inline bool below(uint64_t a, uint64_t b) {
  auto key = [](uint64_t raw) {
    int64_t size = int64_t(magnitude<Bits>(raw));
    return raw & Fields<Bits>::sign ? ~size : size;
  };
  return key(a) < key(b);
}

// v_min and v_max: a NaN gives way to a number; in IEEE mode a signalling NaN is the result, quiet.
template <int Bits, bool Max> uint64_t extreme(const Wave &wave, uint64_t a, uint64_t b) {
  a = flushIn<Bits>(wave, a);
  b = flushIn<Bits>(wave, b);
  if (wave.ieee() && isSignalling<Bits>(a))
    return quiet<Bits>(a);
  if (wave.ieee() && isSignalling<Bits>(b))
    return quiet<Bits>(b);
  uint64_t result;
  if (isNaN<Bits>(a))
    result = b;
  else if (isNaN<Bits>(b))
    result = a;
  else
    result = below<Bits>(a, b) != Max ? a : b;
  return flushOut<Bits>(wave, result);
}

// v_minimum3 and v_maximum3: a NaN source is the result.
template <int Bits, bool Max> uint64_t extremeOrNaN(const Wave &wave, uint64_t a, uint64_t b) {
  a = flushIn<Bits>(wave, a);
  b = flushIn<Bits>(wave, b);
  if (isNaN<Bits>(a))
    return quiet<Bits>(a);
  if (isNaN<Bits>(b))
    return quiet<Bits>(b);
  return flushOut<Bits>(wave, below<Bits>(a, b) != Max ? a : b);
}

template <int Bits, bool Max> uint64_t extreme3(const Wave &wave, uint64_t a, uint64_t b, uint64_t c) {
  return extreme<Bits, Max>(wave, extreme<Bits, Max>(wave, a, b), c);
}

template <int Bits> uint64_t median(const Wave &wave, uint64_t a, uint64_t b, uint64_t c) {
  if (isNaN<Bits>(a) || isNaN<Bits>(b) || isNaN<Bits>(c))
    return extreme3<Bits, false>(wave, a, b, c);
  uint64_t low = extreme<Bits, false>(wave, a, b), high = extreme<Bits, true>(wave, a, b);
  return extreme<Bits, true>(wave, low, extreme<Bits, false>(wave, high, c));
}

// The smaller or greater of integers, and the one in the middle.
template <class T> uint64_t middle(T a, T b, T c) {
  return uint64_t(std::max(std::min(a, b), std::min(std::max(a, b), c)));
}

// A float as integer: toward zero, saturated, a NaN gives 0.
template <class T> uint64_t toInteger(double value) {
  if (std::isnan(value))
    return 0;
  double whole = std::trunc(value);
  double least = double(std::numeric_limits<T>::min()), most = double(std::numeric_limits<T>::max());
  return uint64_t(int64_t(T(std::min(std::max(whole, least), most))));
}

} // namespace machine
