// Conversions between f16, f32, f64 and integers. Formats of 8, 6 and 4 bits and bf16: Convert.cpp.
#include "machine/Arithmetic.h"
#include "machine/Half.h"

namespace machine {

template <int Bits> static double valueOf(Wave &w, uint64_t raw) { return toDouble<Bits>(flushIn<Bits>(w, raw)); }

template <int To, int From> static uint64_t convertFloat(Wave &w, uint64_t a, uint64_t, uint64_t) {
  return finish<To>(w, valueOf<From>(w, a));
}
template <int To, class From> static uint64_t fromInteger(Wave &w, uint64_t a, uint64_t, uint64_t) {
  return finish<To>(w, double(From(a)));
}
template <class To, int From> static uint64_t integerOf(Wave &w, uint64_t a, uint64_t, uint64_t) {
  return toInteger<To>(valueOf<From>(w, a));
}
template <int Byte> static uint64_t byteToFloat(Wave &, uint64_t a, uint64_t, uint64_t) {
  return rawF32(float(a >> 8 * Byte & 0xFF));
}

static double roundEven(double x) {
  double low = std::floor(x), rest = x - low;
  return rest > 0.5 || (rest == 0.5 && std::fmod(low, 2) != 0) ? low + 1 : low;
}
// [-1, 1] or [0, 1] as a 16-bit integer.
template <int Bits, bool Signed> static uint64_t normalised(Wave &w, uint64_t raw) {
  double x = valueOf<Bits>(w, raw);
  if (std::isnan(x))
    return 0;
  double most = Signed ? 32767 : 65535, least = Signed ? -1 : 0;
  return uint64_t(int64_t(roundEven(std::clamp(x, least, 1.0) * most))) & 0xFFFF;
}

static uint64_t pack(uint64_t low, uint64_t high) { return (low & 0xFFFF) | (high & 0xFFFF) << 16; }
static uint64_t truncated(Wave &w, uint64_t raw) {
  return flushOut<16>(w, doubleToF16(valueOf<32>(w, raw), kTruncate));
}
static uint64_t clipped(uint64_t raw) { return uint64_t(int64_t(std::clamp(int32_t(raw), -32768, 32767))); }
static uint64_t halfUp(Wave &w, uint64_t a, uint64_t, uint64_t) {
  return toInteger<int32_t>(std::floor(toDouble<32>(add<32>(w, a, rawF32(0.5f)))));
}
static uint64_t insertByte(uint64_t word, uint64_t byte, uint64_t at) {
  unsigned shift = 8 * unsigned(at & 3);
  return (word & ~(0xFFull << shift)) | (byte & 0xFF) << shift;
}
static uint64_t byteOf(Wave &w, uint64_t raw) { return toInteger<uint8_t>(valueOf<32>(w, raw)); }

// --- rows without special cases ---

FAST_OP(IntToFloat, 1, true, false, uint32_t(rawF32(float(int32_t(a)))));
FAST_OP(UnsignedToFloat, 1, true, false, uint32_t(rawF32(float(a))));
FAST_OP(HalfToFloat, 1, true, false, uint32_t(rawF32(halfToFloat(a))));

template <uint32_t (*Narrow)(float), bool Pair>
static void fastNarrow(Run &run, Wave &wave, const Instruction &instruction) {
  if (!isNearlyPlain(wave, instruction) || !isPlainF16(wave) || wave.flushF32In())
    return vectorOp(run, wave, instruction);
  alignas(64) uint32_t buffers[2][kLanes], out[kLanes];
  const uint32_t *low = floatRowOf(wave, instruction.src[0], buffers[0]), *high = low;
  if (Pair)
    high = floatRowOf(wave, instruction.src[1], buffers[1]);
  if (anyNaN(low) || anyNaN(high))
    return vectorOp(run, wave, instruction);
  for (int lane = 0; lane < kLanes; ++lane)
    out[lane] = Narrow(asF32(low[lane])) | (Pair ? Narrow(asF32(high[lane])) << 16 : 0);
  writeRow(wave, instruction.dst[0].reg, out, wave.exec());
}

static void widen(Run &run, Wave &wave, const Instruction &instruction) {
  if (!sourceBits(instruction) && isPlainF16(wave)) // abs and neg are of f16 here
    fastVector<HalfToFloat>(run, wave, instruction);
  else
    vectorOp(run, wave, instruction);
}

static void packHalves(Run &run, Wave &wave, const Instruction &instruction) {
  if (instruction.flags & (kSdwa | kDpp) || sourceBits(instruction) || indexesRegisters(wave))
    return vectorOp(run, wave, instruction);
  alignas(64) uint32_t buffers[2][kLanes], out[kLanes];
  const uint32_t *low = rowOf(wave, instruction.src[0], buffers[0]);
  const uint32_t *high = rowOf(wave, instruction.src[1], buffers[1]);
  int lowShift = instruction.opsel & 1 ? 16 : 0, highShift = instruction.opsel & 2 ? 16 : 0;
  for (int lane = 0; lane < kLanes; ++lane)
    out[lane] = (low[lane] >> lowShift & 0xFFFF) | high[lane] >> highShift << 16;
  writeRow(wave, instruction.dst[0].reg, out, wave.exec());
}

#define CVT(name, to, from, ...) {name, Format::Vop1, to " = " from, vectorOp, __VA_ARGS__}
#define CVT2(name, from, ...) {name, Format::Vop3, "b32 = " from " " from, vectorOp, LANE(return __VA_ARGS__;)}

static const OpInfo kVectorConvertTable[] = {
    {"v_cvt_f16_f32", Format::Vop1, "f16 = f32", fastNarrow<floatToHalf, false>, convertFloat<16, 32>},
    {"v_cvt_f32_f16", Format::Vop1, "f32 = f16", widen, convertFloat<32, 16>},
    CVT("v_cvt_f32_f64", "f32", "f64", convertFloat<32, 64>),
    CVT("v_cvt_f64_f32", "f64", "f32", convertFloat<64, 32>),
    {"v_cvt_f32_i32", Format::Vop1, "f32 = i32", fastVector<IntToFloat>, fromInteger<32, int32_t>},
    {"v_cvt_f32_u32", Format::Vop1, "f32 = u32", fastVector<UnsignedToFloat>, fromInteger<32, uint32_t>},
    CVT("v_cvt_f64_i32", "f64", "i32", fromInteger<64, int32_t>),
    CVT("v_cvt_f64_u32", "f64", "u32", fromInteger<64, uint32_t>),
    CVT("v_cvt_f16_i16", "f16", "i16", fromInteger<16, int16_t>),
    CVT("v_cvt_f16_u16", "f16", "u16", fromInteger<16, uint16_t>),
    CVT("v_cvt_i32_f32", "i32", "f32", integerOf<int32_t, 32>),
    CVT("v_cvt_u32_f32", "u32", "f32", integerOf<uint32_t, 32>),
    CVT("v_cvt_i32_f64", "i32", "f64", integerOf<int32_t, 64>),
    CVT("v_cvt_u32_f64", "u32", "f64", integerOf<uint32_t, 64>),
    CVT("v_cvt_i16_f16", "i16", "f16", integerOf<int16_t, 16>),
    CVT("v_cvt_u16_f16", "u16", "f16", integerOf<uint16_t, 16>),
    CVT("v_cvt_rpi_i32_f32", "i32", "f32", halfUp),
    CVT("v_cvt_flr_i32_f32", "i32", "f32", LANE(return toInteger<int32_t>(std::floor(valueOf<32>(w, a)));)),
    CVT("v_cvt_off_f32_i4", "f32", "b32", LANE(return rawF32(float(int64_t(sext(a, 4))) / 16);)),
    CVT("v_cvt_f32_ubyte0", "f32", "b32", byteToFloat<0>),
    CVT("v_cvt_f32_ubyte1", "f32", "b32", byteToFloat<1>),
    CVT("v_cvt_f32_ubyte2", "f32", "b32", byteToFloat<2>),
    CVT("v_cvt_f32_ubyte3", "f32", "b32", byteToFloat<3>),
    CVT("v_cvt_norm_i16_f16", "i16", "f16", LANE(return normalised<16, true>(w, a);)),
    CVT("v_cvt_norm_u16_f16", "u16", "f16", LANE(return normalised<16, false>(w, a);)),
    CVT2("v_cvt_pknorm_i16_f32", "f32", pack(normalised<32, true>(w, a), normalised<32, true>(w, b))),
    CVT2("v_cvt_pknorm_u16_f32", "f32", pack(normalised<32, false>(w, a), normalised<32, false>(w, b))),
    CVT2("v_cvt_pknorm_i16_f16", "f16", pack(normalised<16, true>(w, a), normalised<16, true>(w, b))),
    CVT2("v_cvt_pknorm_u16_f16", "f16", pack(normalised<16, false>(w, a), normalised<16, false>(w, b))),
    {"v_cvt_pkrtz_f16_f32", Format::Vop3, "b32 = f32 f32", fastNarrow<floatToHalfCut, true>,
     LANE(return pack(truncated(w, a), truncated(w, b));)},
    CVT2("v_cvt_pk_u16_u32", "u32", pack(std::min<uint64_t>(a, 0xFFFF), std::min<uint64_t>(b, 0xFFFF))),
    CVT2("v_cvt_pk_i16_i32", "i32", pack(clipped(a), clipped(b))),
    {"v_cvt_pk_u8_f32", Format::Vop3, "b32 = f32 u32 b32", vectorOp, LANE(return insertByte(c, byteOf(w, a), b);)},
    {"v_cvt_pkaccum_u8_f32", Format::Vop3, "+b32 = f32 u32", vectorOp, LANE(return insertByte(c, byteOf(w, a), b);)},
    {"v_pack_b32_f16", Format::Vop3, "b32 = f16 f16", packHalves, LANE(return pack(a, b);)},
};

Table vectorConvertOps() { return {kVectorConvertTable, sizeof kVectorConvertTable / sizeof *kVectorConvertTable}; }

} // namespace machine

#undef CVT
#undef CVT2
