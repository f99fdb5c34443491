// Registers of matrix operands to numbers, in loops that the compiler vectorises.
#include "machine/Matrix.h"
#include "machine/Variants.h"

namespace machine {

// One of two words, without a branch.
static INLINE uint32_t choose(bool first, uint32_t a, uint32_t b) {
  const uint32_t mask = 0u - uint32_t(first);
  return (a & mask) | (b & ~mask);
}

// As `decode`, for formats of up to 16 bits, in f32 and without a branch. A NaN may have another payload.
template <int Exponent, int Mantissa, int Bias, FloatFormat::Codes Codes>
static INLINE float narrowValue(uint32_t code) {
  constexpr FloatFormat format{Exponent, Mantissa, Bias, Codes};
  const uint32_t magnitude = code & (format.signBit() - 1), sign = (code & format.signBit()) << (32 - format.bits());
  const uint32_t normal = (magnitude << (23 - Mantissa)) + (uint32_t(127 - Bias) << 23);
  // of a denormal: the mantissa counts units of the last place (bf16 has f32's exponents: its bits are the value's)
  constexpr float unit = Bias == 127 ? 0 : float(1.0 / (1ull << (Bias + Mantissa - 1)));
  const uint32_t denormal = Bias == 127 ? normal : bitCast<uint32_t>(float(int32_t(magnitude)) * unit);
  uint32_t raw = choose(magnitude < 1u << Mantissa, denormal, normal);
  if (Codes == FloatFormat::Codes::Ieee)
    raw = choose(magnitude > format.largest(), normal | uint32_t(kInfF32), raw);
  if (Codes == FloatFormat::Codes::Fn)
    raw = choose(magnitude > format.largest(), uint32_t(kInfF32 | kQuietF32), raw);
  if (Codes == FloatFormat::Codes::Fnuz)
    raw = choose(code == format.signBit(), uint32_t(kInfF32 | kQuietF32), raw);
  return bitCast<float>(raw | sign);
}

// Elements are packed without gaps; one may lie across two registers.
template <int Exponent, int Mantissa, int Bias, FloatFormat::Codes Codes>
static INLINE void decodeAll(MatrixRows rows, int elements, double *out) {
  constexpr int bits = 1 + Exponent + Mantissa;
  constexpr uint32_t mask = (1u << bits) - 1;
  for (int e = 0; e < elements; ++e) {
    const int shift = e * bits % 32;
    const uint32_t *low = rows[e * bits / 32], *high = low + kLanes;
    double *to = out + e * kLanes;
    if (shift + bits > 32)
      for (int lane = 0; lane < kLanes; ++lane)
        to[lane] =
            narrowValue<Exponent, Mantissa, Bias, Codes>((low[lane] >> shift | high[lane] << (32 - shift)) & mask);
    else
      for (int lane = 0; lane < kLanes; ++lane)
        to[lane] = narrowValue<Exponent, Mantissa, Bias, Codes>(low[lane] >> shift & mask);
  }
}

using Codes = FloatFormat::Codes;
#define DECODER(name, exponent, mantissa, bias, codes)                                                                 \
  VARIANTS("avx2") static void name(MatrixRows rows, int elements, double *out) {                                      \
    decodeAll<exponent, mantissa, bias, codes>(rows, elements, out);                                                   \
  }
DECODER(f16, 5, 10, 15, Codes::Ieee)
DECODER(bf16, 8, 7, 127, Codes::Ieee)
DECODER(fp8Fnuz, 4, 3, 8, Codes::Fnuz)
DECODER(bf8Fnuz, 5, 2, 16, Codes::Fnuz)
DECODER(fp8, 4, 3, 7, Codes::Fn)
DECODER(bf8, 5, 2, 15, Codes::Ieee)
DECODER(fp6, 2, 3, 1, Codes::None)
DECODER(bf6, 3, 2, 3, Codes::None)
DECODER(fp4, 2, 1, 1, Codes::None)

void decodeNarrow(MatrixFormat format, MatrixRows rows, int elements, double *out) {
  switch (format) {
  case MatrixFormat::F16:
    return f16(rows, elements, out);
  case MatrixFormat::Bf16:
    return bf16(rows, elements, out);
  case MatrixFormat::Fp8Fnuz:
    return fp8Fnuz(rows, elements, out);
  case MatrixFormat::Bf8Fnuz:
    return bf8Fnuz(rows, elements, out);
  case MatrixFormat::Fp8:
    return fp8(rows, elements, out);
  case MatrixFormat::Bf8:
    return bf8(rows, elements, out);
  case MatrixFormat::Fp6:
    return fp6(rows, elements, out);
  case MatrixFormat::Bf6:
    return bf6(rows, elements, out);
  case MatrixFormat::Fp4:
    return fp4(rows, elements, out);
  }
}

VARIANTS("avx2") void decodeI8(MatrixRows rows, int elements, uint32_t *out) {
  for (int e = 0; e < elements; ++e)
    for (int lane = 0; lane < kLanes; ++lane)
      out[e * kLanes + lane] = uint32_t(int32_t(rows[e / 4][lane] << (24 - 8 * (e % 4))) >> 24);
}

} // namespace machine

#undef DECODER
