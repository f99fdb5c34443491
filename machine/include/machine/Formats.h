// Narrow floating-point formats: exact decoding, encoding rounded to nearest even or stochastically.
#pragma once
#include "machine/Float.h"

namespace machine {

// A format of a sign, an exponent and a mantissa. `codes` says what the codes at the top mean.
struct FloatFormat {
  enum class Codes : uint8_t {
    Ieee, // the highest exponent holds infinity and NaN
    Fn,   // all ones is NaN, there is no infinity (OCP E4M3)
    Fnuz, // the code of -0 is NaN, there is neither infinity nor -0
    None, // every code is a finite number (OCP 6 and 4 bits)
  };
  uint8_t exponentBits, mantissaBits;
  int16_t bias;
  Codes codes;

  constexpr int bits() const { return 1 + exponentBits + mantissaBits; }
  constexpr uint32_t signBit() const { return 1u << (bits() - 1); }
  // The code of the largest finite magnitude.
  constexpr uint32_t largest() const {
    return codes == Codes::Ieee ? (((1u << exponentBits) - 1) << mantissaBits) - 1
           : codes == Codes::Fn ? signBit() - 2
                                : signBit() - 1;
  }
};

// OCP "8-bit Floating Point Specification" and "Microscaling Formats"; FNUZ: AMD, CDNA3 ISA ("FP8 and BF8").
constexpr FloatFormat kF32{8, 23, 127, FloatFormat::Codes::Ieee};
constexpr FloatFormat kF16{5, 10, 15, FloatFormat::Codes::Ieee};
constexpr FloatFormat kBf16{8, 7, 127, FloatFormat::Codes::Ieee};
constexpr FloatFormat kFp8Fnuz{4, 3, 8, FloatFormat::Codes::Fnuz};
constexpr FloatFormat kBf8Fnuz{5, 2, 16, FloatFormat::Codes::Fnuz};
constexpr FloatFormat kFp8{4, 3, 7, FloatFormat::Codes::Fn};
constexpr FloatFormat kBf8{5, 2, 15, FloatFormat::Codes::Ieee};
constexpr FloatFormat kFp6{2, 3, 1, FloatFormat::Codes::None};
constexpr FloatFormat kBf6{3, 2, 3, FloatFormat::Codes::None};
constexpr FloatFormat kFp4{2, 1, 1, FloatFormat::Codes::None};

// What becomes of a magnitude past the largest one, and of infinity: the format's infinity, else its NaN, or the
// largest finite value (MODE.FP16_OVFL). Formats without NaN always saturate, and turn NaN into their largest value.
enum class Overflow : uint8_t { Infinite, Saturate };

// The value of a code (bits above the format's are ignored). NaN is quiet and keeps its sign and payload.
double decode(const FloatFormat &format, uint32_t code);

// The code nearest to the value, ties to even, denormals kept.
uint32_t encode(const FloatFormat &format, double value, Overflow overflow = Overflow::Infinite);

// Stochastic: the top bits of `random` are added below the last bit that is kept, then the rest is cut off. As many of
// them as the source's mantissa (`sourceMantissa` bits) is longer than the format's; what lies below these is cut
// first.
uint32_t encodeStochastic(const FloatFormat &format, double value, uint32_t random, int sourceMantissa,
                          Overflow overflow = Overflow::Infinite);

// E8M0, the format of block scales: 2^(code - 127); 255 is NaN.
double decodeScale(uint32_t code);

// xf32 of gfx942: f32 with the mantissa cut to 10 bits (truncated, as measured on hardware: MMA-Sim, arXiv 2511.10909);
// a NaN stays one.
inline float toXf32(float value) {
  uint32_t raw = bitCast<uint32_t>(value);
  return isNaN<32>(raw) ? value : bitCast<float>(raw & ~0x1FFFu);
}

// The next state of the generator of v_prng_b32, which instructions with many stochastic results step (CDNA4 ISA).
inline uint32_t nextRandom(uint32_t state) { return state << 1 ^ (state >> 31 ? 197u : 0u); }

// MODE, bit 23: FP16_OVFL (CDNA3 ISA, "MODE register"; assumed to turn infinity into the largest value, too).
inline Overflow overflowOf(const Wave &wave) { return wave.mode >> 23 & 1 ? Overflow::Saturate : Overflow::Infinite; }

} // namespace machine
