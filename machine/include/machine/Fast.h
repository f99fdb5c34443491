// The short way for instructions executed most: whole rows, no modifiers, in loops that the compiler vectorises.
#pragma once
#include "machine/Lanes.h"

namespace machine {

inline unsigned sourceBits(const Instruction &instruction) {
  return instruction.src[0].bits | instruction.src[1].bits | instruction.src[2].bits;
}
// No modifier but perhaps abs and neg of sources, and every register is the one named.
inline bool isNearlyPlain(const Wave &wave, const Instruction &instruction) {
  constexpr uint32_t modifiers = kSdwa | kDpp | kClamp;
  return !(instruction.flags & modifiers) && !(instruction.omod | instruction.opsel) && !indexesRegisters(wave);
}
// No modifier at all.
inline bool isPlain(const Wave &wave, const Instruction &instruction) {
  return isNearlyPlain(wave, instruction) && !sourceBits(instruction);
}

// MODE as kernels have it: nearest even, f32 denormals kept.
inline bool isPlainF32(const Wave &wave) { return (wave.mode & 0x33) == 0x30; }

// 64 words: a register's row, or `buffer` filled with a scalar.
inline const uint32_t *rowOf(const Wave &wave, const Operand &operand, uint32_t *buffer, int word = 0) {
  if (Kind(operand.kind) == Kind::Vgpr)
    return wave.v[operand.reg + word];
  uint64_t value = readScalar(wave, operand, word ? 64 : 32) >> 32 * word;
  for (int lane = 0; lane < kLanes; ++lane)
    buffer[lane] = uint32_t(value);
  return buffer;
}

inline const uint32_t *plainRowOf(const Wave &wave, const Operand &operand, uint32_t *buffer) {
  return rowOf(wave, operand, buffer);
}
// The same with abs and neg of an f32 source.
inline const uint32_t *floatRowOf(const Wave &wave, const Operand &operand, uint32_t *buffer) {
  const uint32_t *row = rowOf(wave, operand, buffer);
  if (!operand.bits)
    return row;
  uint32_t keep = operand.bits & kAbs ? 0x7FFFFFFFu : ~0u, flip = operand.bits & kNeg ? 0x80000000u : 0;
  for (int lane = 0; lane < kLanes; ++lane)
    buffer[lane] = (row[lane] & keep) ^ flip;
  return buffer;
}

inline bool anyNaN(const uint32_t *values) {
  uint32_t any = 0;
  for (int lane = 0; lane < kLanes; ++lane)
    any |= (values[lane] & 0x7FFFFFFFu) > 0x7F800000u;
  return any;
}

// Op: `sources`, `isFloat` (f32: the long way where a NaN comes out), run(a, b, c) on words. With `accumulates` c is
// the destination.
template <class Op> void fastVector(Run &run, Wave &wave, const Instruction &instruction) {
  constexpr auto row = Op::isFloat ? floatRowOf : plainRowOf;
  if (!isNearlyPlain(wave, instruction) || (Op::isFloat ? !isPlainF32(wave) : sourceBits(instruction) != 0))
    return vectorOp(run, wave, instruction);
  alignas(64) uint32_t buffers[3][kLanes], out[kLanes];
  const uint32_t *a = row(wave, instruction.src[0], buffers[0]), *b = a, *c = a;
  if constexpr (Op::sources > 1)
    b = row(wave, instruction.src[1], buffers[1]);
  if constexpr (Op::accumulates)
    c = wave.v[instruction.dst[0].reg];
  else if constexpr (Op::sources > 2)
    c = row(wave, instruction.src[2], buffers[2]);
  for (int lane = 0; lane < kLanes; ++lane)
    out[lane] = Op::run(a[lane], b[lane], c[lane]);
  if (Op::isFloat && anyNaN(out))
    return vectorOp(run, wave, instruction);
  writeRow(wave, instruction.dst[0].reg, out, wave.exec());
}

#define FAST_OP(Name, Sources, IsFloat, Accumulates, ...)                                                              \
  struct Name {                                                                                                        \
    static constexpr int sources = Sources;                                                                            \
    static constexpr bool isFloat = IsFloat, accumulates = Accumulates;                                                \
    static uint32_t run(uint32_t a, uint32_t b, uint32_t c) {                                                          \
      (void)a, (void)b, (void)c;                                                                                       \
      return __VA_ARGS__;                                                                                              \
    }                                                                                                                  \
    static uint64_t lane(Wave &, uint64_t a, uint64_t b, uint64_t c) {                                                 \
      return run(uint32_t(a), uint32_t(b), uint32_t(c));                                                               \
    }                                                                                                                  \
  }

// A lane function written in place: w is the wave, a, b, c the arguments.
#define LANE(...)                                                                                                      \
  [](Wave &w, uint64_t a, uint64_t b, uint64_t c) -> uint64_t {                                                        \
    (void)w, (void)a, (void)b, (void)c;                                                                                \
    __VA_ARGS__                                                                                                        \
  }

inline uint64_t sext(uint64_t value, int bits) { return uint64_t(int64_t(value << (64 - bits)) >> (64 - bits)); }

} // namespace machine
