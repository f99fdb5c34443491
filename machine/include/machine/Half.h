// f16 in rows of words: the short way, in f32 arithmetic without branches, so that the compiler vectorises it.
//
// f32 has more than twice f16's bits and two, so that a sum or product rounded to f32 and then to f16 is the one
// rounded to f16 at once; the fused sum is rounded to odd in f32.
#pragma once
#include "machine/Fast.h"

namespace machine {

// MODE as kernels have it: f16 to nearest even, denormals kept, infinities where it overflows.
inline bool isPlainF16(const Wave &wave) { return (wave.mode & (0xCC | kF16Overflow)) == 0xC0; }

// x or y without a branch.
inline uint32_t either(bool first, uint32_t x, uint32_t y) {
  uint32_t mask = 0u - uint32_t(first);
  return (x & mask) | (y & ~mask);
}

// The low half as f32; NaNs keep their payload.
inline float halfToFloat(uint32_t half) {
  uint32_t body = (half & 0x7FFF) << 13;
  float scaled = bitCast<float>(body) * 0x1p112f;
  uint32_t raw = either((half & 0x7C00) == 0x7C00, body | 0x7F800000u, bitCast<uint32_t>(scaled));
  return bitCast<float>(raw | (half & 0x8000) << 16);
}

// Nearest even. A NaN gives some NaN.
inline uint32_t floatToHalf(float value) {
  uint32_t raw = bitCast<uint32_t>(value), size = raw & 0x7FFFFFFFu;
  uint32_t normal = ((size + 0xFFF + (size >> 13 & 1)) >> 13) - (112 << 10);
  uint32_t small = bitCast<uint32_t>(bitCast<float>(size) + 0.5f) - 0x3F000000u; // in units of 2^-24
  uint32_t half = either(size < 0x38800000u, small, normal);
  half = either(size >= 0x47800000u, 0x7C00, half);
  half = either(size > 0x7F800000u, 0x7E00, half);
  return half | (raw >> 16 & 0x8000);
}

// Toward zero.
inline uint32_t floatToHalfCut(float value) {
  uint32_t raw = bitCast<uint32_t>(value), size = raw & 0x7FFFFFFFu;
  uint32_t normal = (size >> 13) - (112 << 10);
  float tiny = bitCast<float>(either(size < 0x38800000u, size, 0));
  uint32_t small = uint32_t(int32_t(tiny * 0x1p24f));
  uint32_t half = either(size < 0x38800000u, small, normal);
  half = either(size >= 0x47800000u, 0x7BFF, half);
  half = either(size == 0x7F800000u, 0x7C00, half);
  half = either(size > 0x7F800000u, 0x7E00, half);
  return half | (raw >> 16 & 0x8000);
}

struct HalfAdd {
  static constexpr int sources = 2;
  static uint32_t run(uint32_t a, uint32_t b, uint32_t) { return floatToHalf(halfToFloat(a) + halfToFloat(b)); }
};
struct HalfSubtract {
  static constexpr int sources = 2;
  static uint32_t run(uint32_t a, uint32_t b, uint32_t) { return floatToHalf(halfToFloat(a) - halfToFloat(b)); }
};
struct HalfSubtractReversed {
  static constexpr int sources = 2;
  static uint32_t run(uint32_t a, uint32_t b, uint32_t) { return floatToHalf(halfToFloat(b) - halfToFloat(a)); }
};
struct HalfMultiply {
  static constexpr int sources = 2;
  static uint32_t run(uint32_t a, uint32_t b, uint32_t) { return floatToHalf(halfToFloat(a) * halfToFloat(b)); }
};
struct HalfFma {
  static constexpr int sources = 3;
  static uint32_t run(uint32_t a, uint32_t b, uint32_t c) {
    float product = halfToFloat(a) * halfToFloat(b), addend = halfToFloat(c); // exact
    float sum = product + addend, partA = sum - addend, partB = sum - partA;
    float error = (product - partA) + (addend - partB);
    uint32_t raw = bitCast<uint32_t>(sum);
    uint32_t rawError = bitCast<uint32_t>(error), step = 1 - 2 * ((rawError ^ raw) >> 31);
    uint32_t move = step & (0u - (~raw & 1)); // an even last bit moves towards the exact sum
    bool inexact = (rawError & 0x7FFFFFFFu) - 1 < 0x7F7FFFFFu; // not 0, infinite or NaN
    return floatToHalf(bitCast<float>(raw + either(inexact, move, 0)));
  }
};
// Halves as numbers that order like them, -0 below +0; a NaN comes out as one.
template <bool Max> struct HalfExtreme {
  static constexpr int sources = 2;
  static int32_t key(uint32_t half) { return int32_t(either(half & 0x8000, ~(half & 0x7FFF), half & 0x7FFF)); }
  static uint32_t run(uint32_t a, uint32_t b, uint32_t) {
    a &= 0xFFFF;
    b &= 0xFFFF;
    uint32_t result = either((key(a) < key(b)) != Max, a, b);
    result = either((b & 0x7FFF) > 0x7C00, b, result);
    return either((a & 0x7FFF) > 0x7C00, a, result);
  }
};

inline bool anyHalfNaN(const uint32_t *values) {
  uint32_t any = 0;
  for (int lane = 0; lane < kLanes; ++lane)
    any |= (values[lane] & 0x7FFF) > 0x7C00;
  return any;
}

// One f16 result; `Keeps`: the high half of the destination stays.
template <class Op, bool Keeps = false> void fastHalf(Run &run, Wave &wave, const Instruction &instruction) {
  if (!isPlain(wave, instruction) || !isPlainF16(wave))
    return vectorOp(run, wave, instruction);
  alignas(64) uint32_t buffers[3][kLanes], out[kLanes];
  const uint32_t *rows[3];
  for (int i = 0; i < 3; ++i)
    rows[i] = rowOf(wave, instruction.src[i < Op::sources ? i : 0], buffers[i]);
  for (int lane = 0; lane < kLanes; ++lane)
    out[lane] = Op::run(rows[0][lane], rows[1][lane], rows[2][lane]);
  if (anyHalfNaN(out))
    return vectorOp(run, wave, instruction);
  if (Keeps)
    for (int lane = 0; lane < kLanes; ++lane)
      out[lane] |= wave.v[instruction.dst[0].reg][lane] & 0xFFFF0000u;
  writeRow(wave, instruction.dst[0].reg, out, wave.exec());
}

} // namespace machine
