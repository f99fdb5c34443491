// Floating point as raw bits: conversions, rounding in software, denormals by MODE.
#pragma once
#include "machine/State.h"

#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace machine {

template <class To, class From> inline To bitCast(From from) {
  static_assert(sizeof(To) == sizeof(From), "sizes differ");
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}
inline float asF32(uint64_t raw) { return bitCast<float>(uint32_t(raw)); }
inline double asF64(uint64_t raw) { return bitCast<double>(raw); }
inline uint64_t rawF32(float value) { return bitCast<uint32_t>(value); }
inline uint64_t rawF64(double value) { return bitCast<uint64_t>(value); }

// Rounding modes of MODE: bits 1:0 for f32, 3:2 for f16 and f64.
enum Rounding : uint32_t { kNearest = 0, kUp = 1, kDown = 2, kTruncate = 3 };

// MODE.FP16_OVFL: f16 results that overflow become the greatest number.
constexpr uint32_t kF16Overflow = 1u << 23;

constexpr uint64_t kSignF16 = 0x8000, kInfF16 = 0x7C00, kQuietF16 = 0x200;
constexpr uint64_t kSignF32 = 0x80000000u, kInfF32 = 0x7F800000u, kQuietF32 = 0x400000u;
constexpr uint64_t kSignF64 = 1ull << 63, kInfF64 = 0x7FFull << 52, kQuietF64 = 1ull << 51;

// The fields of a format with so many bits in all.
template <int Bits> struct Fields;
template <> struct Fields<16> {
  static constexpr uint64_t sign = kSignF16, inf = kInfF16, quiet = kQuietF16;
  static constexpr int mantissa = 10, bias = 15;
};
template <> struct Fields<32> {
  static constexpr uint64_t sign = kSignF32, inf = kInfF32, quiet = kQuietF32;
  static constexpr int mantissa = 23, bias = 127;
};
template <> struct Fields<64> {
  static constexpr uint64_t sign = kSignF64, inf = kInfF64, quiet = kQuietF64;
  static constexpr int mantissa = 52, bias = 1023;
};

template <int Bits> inline bool isNaN(uint64_t raw) {
  return (raw & (Fields<Bits>::sign - 1)) > Fields<Bits>::inf;
}
template <int Bits> inline bool isSignalling(uint64_t raw) { return isNaN<Bits>(raw) && !(raw & Fields<Bits>::quiet); }
template <int Bits> inline bool isInf(uint64_t raw) { return (raw & (Fields<Bits>::sign - 1)) == Fields<Bits>::inf; }
template <int Bits> inline bool isZero(uint64_t raw) { return (raw & (Fields<Bits>::sign - 1)) == 0; }
template <int Bits> inline bool isDenormal(uint64_t raw) { return !(raw & Fields<Bits>::inf) && !isZero<Bits>(raw); }
template <int Bits> inline int exponentField(uint64_t raw) {
  return int((raw & Fields<Bits>::inf) >> Fields<Bits>::mantissa);
}
template <int Bits> inline uint64_t quiet(uint64_t raw) { return raw | Fields<Bits>::quiet; }

// Whether MODE lets denormals of the format pass, into an operation and out of it.
template <int Bits> inline bool flushesIn(const Wave &wave) {
  return Bits == 32 ? wave.flushF32In() : wave.flushF16F64In();
}
template <int Bits> inline bool flushesOut(const Wave &wave) {
  return Bits == 32 ? wave.flushF32() : wave.flushF16F64();
}
template <int Bits> inline uint64_t flushIn(const Wave &wave, uint64_t raw) {
  return isDenormal<Bits>(raw) && flushesIn<Bits>(wave) ? raw & Fields<Bits>::sign : raw;
}
template <int Bits> inline uint64_t flushOut(const Wave &wave, uint64_t raw) {
  return isDenormal<Bits>(raw) && flushesOut<Bits>(wave) ? raw & Fields<Bits>::sign : raw;
}
template <int Bits> inline Rounding roundingOf(const Wave &wave) {
  return Rounding(Bits == 32 ? wave.mode & 3 : wave.mode >> 2 & 3);
}

// A float of a narrow format as double (exact; a NaN becomes quiet and keeps its payload's top bits).
double f16ToDouble(uint64_t raw);
inline double bf16ToDouble(uint64_t raw) { return asF32(raw << 16); }
// The nearest value of the narrow format, rounded once.
uint64_t doubleToF16(double value, Rounding rounding);
uint64_t doubleToF32(double value, Rounding rounding);

template <int Bits> inline double toDouble(uint64_t raw) {
  return Bits == 16 ? f16ToDouble(raw) : Bits == 32 ? double(asF32(raw)) : asF64(raw);
}
template <int Bits> inline uint64_t fromDouble(double value, Rounding rounding) {
  if (Bits == 32 && rounding == kNearest)
    return rawF32(float(value)); // the host rounds so wherever f32 does
  return Bits == 16 ? doubleToF16(value, rounding) : Bits == 32 ? doubleToF32(value, rounding) : rawF64(value);
}

// a + b rounded to odd: rounding it again to a format of at most 51 bits gives the sum rounded once.
double addToOdd(double a, double b);

// The host's rounding mode for as long as this lives.
class HostRounding {
public:
  explicit HostRounding(Rounding rounding);
  ~HostRounding();
  HostRounding(const HostRounding &) = delete;
  HostRounding &operator=(const HostRounding &) = delete;

private:
  int old = -1;
};

} // namespace machine
