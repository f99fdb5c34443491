// VOPC: comparisons of lanes to a mask; v_cmpx writes EXEC too.
#include "machine/Arithmetic.h"
#include "machine/Fast.h"

namespace machine {

constexpr uint32_t kWritesExec = 1; // OpInfo::extra

static void writeMask(Wave &wave, const Instruction &instruction, uint64_t mask, bool toExec) {
  writeScalar(wave, instruction.dst[0], mask, 64);
  if (toExec)
    wave.setPair(kExec, mask);
}

// Bits of lanes that are inactive, or that DPP keeps from writing, become 0.
static void compareLanes(Run &, Wave &wave, const Instruction &instruction) {
  const OpInfo &op = opInfo(instruction.op);
  Values in[kSources];
  uint64_t lanes = readSources(wave, instruction, shapeOf(instruction.op), in), mask = 0;
  for (int lane = 0; lane < kLanes; ++lane)
    if (lanes >> lane & 1)
      mask |= op.lane(wave, in[0][lane], in[1][lane], 0) << lane;
  writeMask(wave, instruction, mask, op.extra & kWritesExec);
}

static void compareOp(Run &run, Wave &wave, const Instruction &instruction) {
  withIndexing<compareLanes>(run, wave, instruction);
}

// The short way for 32-bit values without modifiers.
template <class T, bool (*Holds)(T, T)> static void compareWords(Run &run, Wave &wave, const Instruction &instruction) {
  if (!isPlain(wave, instruction) || (std::is_floating_point_v<T> && !isPlainF32(wave)))
    return compareOp(run, wave, instruction);
  alignas(64) uint32_t buffers[2][kLanes];
  uint8_t holds[kLanes];
  const uint32_t *a = rowOf(wave, instruction.src[0], buffers[0]), *b = rowOf(wave, instruction.src[1], buffers[1]);
  for (int lane = 0; lane < kLanes; ++lane)
    holds[lane] = Holds(bitCast<T>(a[lane]), bitCast<T>(b[lane]));
  uint64_t mask = 0;
  for (int byte = 0; byte < 8; ++byte) { // eight bytes of 0 or 1 → eight bits
    uint64_t eight;
    std::memcpy(&eight, holds + 8 * byte, sizeof eight);
    mask |= (eight * 0x0102040810204080ull >> 56) << 8 * byte;
  }
  writeMask(wave, instruction, mask & wave.exec(), opInfo(instruction.op).extra & kWritesExec);
}

template <class T> static T valueOf(const Wave &wave, uint64_t raw) {
  if constexpr (std::is_same_v<T, float>)
    return asF32(flushIn<32>(wave, raw));
  else if constexpr (std::is_same_v<T, double>)
    return asF64(flushIn<64>(wave, raw));
  else
    return T(raw);
}

template <class T, bool (*Holds)(T, T)> static uint64_t lane(Wave &w, uint64_t a, uint64_t b, uint64_t) {
  return Holds(valueOf<T>(w, a), valueOf<T>(w, b));
}
template <bool (*Holds)(double, double)> static uint64_t laneHalf(Wave &w, uint64_t a, uint64_t b, uint64_t) {
  return Holds(f16ToDouble(flushIn<16>(w, a)), f16ToDouble(flushIn<16>(w, b)));
}

template <class T> bool never(T, T) { return false; }
template <class T> bool always(T, T) { return true; }
template <class T> bool less(T a, T b) { return a < b; }
template <class T> bool equal(T a, T b) { return a == b; }
template <class T> bool lessEqual(T a, T b) { return a <= b; }
template <class T> bool greater(T a, T b) { return a > b; }
template <class T> bool greaterEqual(T a, T b) { return a >= b; }
template <class T> bool notEqual(T a, T b) { return a != b; }
template <class T> bool lessGreater(T a, T b) { return a < b || a > b; }
template <class T> bool ordered(T a, T b) { return a == a && b == b; }
template <class T> bool unordered(T a, T b) { return a != a || b != b; }
template <class T> bool notGreaterEqual(T a, T b) { return !(a >= b); }
template <class T> bool notLessGreater(T a, T b) { return !(a < b || a > b); }
template <class T> bool notGreater(T a, T b) { return !(a > b); }
template <class T> bool notLessEqual(T a, T b) { return !(a <= b); }
template <class T> bool notLess(T a, T b) { return !(a < b); }

// Bits of b: signalling NaN, quiet NaN, -inf, -normal, -denormal, -0, +0, +denormal, +normal, +inf.
template <int Bits> static uint64_t isOfClass(Wave &, uint64_t a, uint64_t b, uint64_t) {
  if (isNaN<Bits>(a))
    return b >> (isSignalling<Bits>(a) ? 0 : 1) & 1;
  int size = isInf<Bits>(a) ? 3 : isZero<Bits>(a) ? 0 : isDenormal<Bits>(a) ? 1 : 2;
  return b >> (a & Fields<Bits>::sign ? 5 - size : 6 + size) & 1;
}

#define ENTRY(condition, type, handler, laneFn)                                                                        \
  {"v_cmp_" condition "_" type, Format::Vopc, "sbool = " type " " type, handler, laneFn},                              \
  {"v_cmpx_" condition "_" type, Format::Vopc, "sbool = " type " " type, handler, laneFn, kWritesExec}
#define INTEGERS(condition, F)                                                                                         \
  ENTRY(condition, "i16", compareOp, (lane<int16_t, F<int16_t>>)),                                                     \
  ENTRY(condition, "u16", compareOp, (lane<uint16_t, F<uint16_t>>)),                                                   \
  ENTRY(condition, "i32", (compareWords<int32_t, F<int32_t>>), (lane<int32_t, F<int32_t>>)),                           \
  ENTRY(condition, "u32", (compareWords<uint32_t, F<uint32_t>>), (lane<uint32_t, F<uint32_t>>)),                       \
  ENTRY(condition, "i64", compareOp, (lane<int64_t, F<int64_t>>)),                                                     \
  ENTRY(condition, "u64", compareOp, (lane<uint64_t, F<uint64_t>>))
#define FLOATS(condition, F)                                                                                           \
  ENTRY(condition, "f16", compareOp, laneHalf<F<double>>),                                                             \
  ENTRY(condition, "f32", (compareWords<float, F<float>>), (lane<float, F<float>>)),                                   \
  ENTRY(condition, "f64", compareOp, (lane<double, F<double>>))
#define CLASS(type, bits)                                                                                              \
  {"v_cmp_class_" type, Format::Vopc, "sbool = " type " b32", compareOp, isOfClass<bits>},                             \
  {"v_cmpx_class_" type, Format::Vopc, "sbool = " type " b32", compareOp, isOfClass<bits>, kWritesExec}

static const OpInfo kCompareTable[] = {
    INTEGERS("f", never),
    INTEGERS("lt", less),
    INTEGERS("eq", equal),
    INTEGERS("le", lessEqual),
    INTEGERS("gt", greater),
    INTEGERS("ne", notEqual),
    INTEGERS("ge", greaterEqual),
    INTEGERS("t", always),
    FLOATS("f", never),
    FLOATS("lt", less),
    FLOATS("eq", equal),
    FLOATS("le", lessEqual),
    FLOATS("gt", greater),
    FLOATS("lg", lessGreater),
    FLOATS("ge", greaterEqual),
    FLOATS("o", ordered),
    FLOATS("u", unordered),
    FLOATS("nge", notGreaterEqual),
    FLOATS("nlg", notLessGreater),
    FLOATS("ngt", notGreater),
    FLOATS("nle", notLessEqual),
    FLOATS("neq", notEqual),
    FLOATS("nlt", notLess),
    FLOATS("tru", always),
    CLASS("f16", 16),
    CLASS("f32", 32),
    CLASS("f64", 64),
};

Table compareOps() { return {kCompareTable, sizeof kCompareTable / sizeof *kCompareTable}; }

} // namespace machine

#undef ENTRY
#undef INTEGERS
#undef FLOATS
#undef CLASS
