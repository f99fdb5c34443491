// Conversions between f32, f16, bf16 and the formats of 8, 6 and 4 bits, with and without scales; permlane swaps.
// All round to nearest even or stochastically, whatever MODE says (CDNA4 ISA, "VOP3 instructions").
//
// Scaled: the scale is 2^(exponent field of an f32 - 127), NaN for the highest exponent. Widening multiplies by it,
// narrowing divides by it before it rounds. A magnitude past the narrow format becomes infinity or NaN, with
// MODE.FP16_OVFL its largest value; 6 and 4 bits always saturate.
#include "machine/Formats.h"
#include "machine/Lanes.h"

#include <algorithm>

namespace machine {

enum class Narrow : uint8_t { F32, F16, Bf16, Fp8, Bf8, Fp6, Bf6, Fp4 };

// How one instruction of the family converts; kept in OpInfo::extra.
struct Conversion {
  Narrow from, to;
  uint8_t count;           // elements
  bool scaled = false;     // the last source is the scale
  bool stochastic = false; // the source before it holds random bits
  bool separate = false;   // elements alternate between the first two sources

  constexpr uint32_t packed() const {
    return uint32_t(from) | uint32_t(to) << 4 | uint32_t(count) << 8 | uint32_t(scaled) << 14 |
           uint32_t(stochastic) << 15 | uint32_t(separate) << 16;
  }
  static constexpr Conversion unpack(uint32_t bits) {
    return {Narrow(bits & 15),     Narrow(bits >> 4 & 15), uint8_t(bits >> 8 & 63),
            (bits >> 14 & 1) != 0, (bits >> 15 & 1) != 0,  (bits >> 16 & 1) != 0};
  }
};

constexpr int kMostElements = 32;
using Numbers = double[kMostElements][kLanes]; // [element][lane]
using Words = uint32_t[kMostElements][kLanes]; // consecutive registers

static FloatFormat formatOf(const Run &run, Narrow type) {
  const bool fnuz = run.config.target == 0; // gfx942
  switch (type) {
  case Narrow::F32:
    return kF32;
  case Narrow::F16:
    return kF16;
  case Narrow::Bf16:
    return kBf16;
  case Narrow::Fp8:
    return fnuz ? kFp8Fnuz : kFp8;
  case Narrow::Bf8:
    return fnuz ? kBf8Fnuz : kBf8;
  case Narrow::Fp6:
    return kFp6;
  case Narrow::Bf6:
    return kBf6;
  case Narrow::Fp4:
    break;
  }
  return kFp4;
}

// --- sources ---

// A source of `bits` in its registers; op_sel chooses a byte or a word of one that is narrower than a register.
static void readWords(const Wave &wave, const Instruction &instruction, int source, int bits, Words &out,
                      uint64_t &lanes) {
  const Operand &operand = instruction.src[source];
  if (bits > 32) {
    const int words = bits / 32;
    for (int i = 0; i < words; ++i) {
      if (Kind(operand.kind) == Kind::Vgpr)
        std::copy_n(wave.v[operand.reg + i], kLanes, out[i]);
      else // a constant of one element, or scalar registers
        std::fill_n(out[i], kLanes,
                    Kind(operand.kind) == Kind::Sgpr ? wave.s[operand.reg + i] : uint32_t(operand.value));
    }
    return;
  }
  Instruction plain = instruction; // signs are those of elements: applied after decoding
  plain.src[source].bits &= kSext;
  Type type;
  type.cls = Type::Class::Bits;
  type.bits = 32;
  Values values;
  readSource(wave, plain, source, type, values, lanes);
  const int select = bits == 8    ? 8 * (instruction.opsel >> source & 3)
                     : bits == 16 ? 16 * (instruction.opsel >> source & 1)
                                  : 0;
  for (int lane = 0; lane < kLanes; ++lane)
    out[0][lane] = uint32_t(values[lane] >> select);
}

static uint32_t element(const Words &words, int bits, int index, int lane) {
  int at = index * bits, word = at / 32, shift = at % 32;
  uint64_t both = words[word][lane] | (shift + bits > 32 ? uint64_t(words[word + 1][lane]) << 32 : 0);
  return uint32_t(both >> shift & ((1ull << bits) - 1));
}

static double signedBy(const Operand &operand, double value) {
  if (operand.bits & kAbs)
    value = std::fabs(value);
  return operand.bits & kNeg ? -value : value;
}

// Elements of one source to out[first], out[first + step], ...
static void readNumbers(const Run &run, const Wave &wave, const Instruction &instruction, const Conversion &conversion,
                        int source, int count, int first, int step, Numbers &out, uint64_t &lanes) {
  const FloatFormat format = formatOf(run, conversion.from);
  const int bits = format.bits();
  const bool flush = conversion.from == Narrow::F32 && !conversion.scaled && flushesIn<32>(wave);
  Words words;
  readWords(wave, instruction, source, bits * count, words, lanes);
  for (int i = 0; i < count; ++i)
    for (int lane = 0; lane < kLanes; ++lane) {
      uint32_t code = element(words, bits, i, lane);
      if (flush && isDenormal<32>(code))
        code &= uint32_t(kSignF32);
      out[first + i * step][lane] = signedBy(instruction.src[source], decode(format, code));
    }
}

// --- results ---

// Writes `bits` of a result; one that is narrower than a register goes to the byte or half that op_sel names, and
// leaves the others.
static void writeWords(Wave &wave, const Instruction &instruction, int bits, const Words &words, uint64_t lanes) {
  if (Kind(instruction.dst[0].kind) != Kind::Vgpr)
    fault("program", "a vector register is needed as the destination");
  const int reg = instruction.dst[0].reg;
  if (bits >= 32) {
    for (int i = 0; i < bits / 32; ++i)
      writeRow(wave, reg + i, words[i], lanes);
    return;
  }
  const int shift = bits == 8 ? 8 * (instruction.opsel >> 2 & 3) : 16 * (instruction.opsel >> 3 & 1);
  const uint32_t mask = ((1u << bits) - 1) << shift;
  uint32_t row[kLanes];
  for (int lane = 0; lane < kLanes; ++lane)
    row[lane] = (wave.v[reg][lane] & ~mask) | (words[0][lane] << shift & mask);
  writeRow(wave, reg, row, lanes);
}

static void put(Words &words, int bits, int index, int lane, uint32_t code) {
  int at = index * bits, word = at / 32, shift = at % 32;
  words[word][lane] |= code << shift;
  if (shift + bits > 32)
    words[word + 1][lane] |= code >> (32 - shift);
}

// Clamp and output modifiers of one element, raw bits of the result's format.
static void modify(const Wave &wave, const Instruction &instruction, Narrow to, Values &values) {
  if (!(instruction.flags & kClamp) && !instruction.omod)
    return;
  Type type;
  type.cls = Type::Class::Float;
  type.bits = to == Narrow::F16 ? 16 : 32;
  if (to != Narrow::F32 && to != Narrow::F16 && to != Narrow::Bf16)
    fault("unsupported", "clamp or an output modifier of this conversion");
  const int shift = to == Narrow::Bf16 ? 16 : 0; // bf16 is f32's high half: 0 and 1 are exact in it
  if (shift && instruction.omod)
    fault("unsupported", "an output modifier of a bf16 result");
  for (uint64_t &value : values)
    value <<= shift;
  modifyResult(wave, instruction, type, values);
  for (uint64_t &value : values)
    value >>= shift;
}

static double scaleOf(uint32_t raw) { return decodeScale(raw >> 23 & 0xFF); }

// Random bits and scales, a lane each.
struct Lanewise {
  uint32_t random[kLanes];
  double scale[kLanes];
};

static void readLanewise(const Wave &wave, const Instruction &instruction, const Conversion &conversion,
                         Lanewise &out) {
  int source = conversion.separate ? 2 : 1;
  Values values;
  if (conversion.stochastic) {
    readRaw(wave, instruction.src[source++], 32, values);
    std::copy_n(values, kLanes, out.random);
  }
  if (!conversion.scaled)
    return;
  readRaw(wave, instruction.src[source], 32, values);
  for (int lane = 0; lane < kLanes; ++lane)
    out.scale[lane] = scaleOf(uint32_t(values[lane]));
}

static uint32_t convertOne(const Wave &wave, const Conversion &conversion, const FloatFormat &from,
                           const FloatFormat &to, double value, int lane, Lanewise &lanewise) {
  const bool narrows = to.bits() < from.bits();
  if (conversion.scaled)
    value = narrows ? value / lanewise.scale[lane] : value * lanewise.scale[lane];
  Overflow overflow = Overflow::Infinite;
  if (to.bits() == 8 || (conversion.to == Narrow::F16 && !std::isinf(value)))
    overflow = overflowOf(wave);
  if (!conversion.stochastic)
    return encode(to, value, overflow);
  uint32_t random = lanewise.random[lane];
  lanewise.random[lane] = nextRandom(random);
  return encodeStochastic(to, value, random, from.mantissaBits, overflow);
}

static void convert(Run &run, Wave &wave, const Instruction &instruction) {
  const Conversion conversion = Conversion::unpack(opInfo(instruction.op).extra);
  const FloatFormat from = formatOf(run, conversion.from), to = formatOf(run, conversion.to);
  const int count = conversion.count;
  uint64_t lanes = wave.exec();
  Numbers numbers;
  if (conversion.separate) {
    readNumbers(run, wave, instruction, conversion, 0, count / 2, 0, 2, numbers, lanes);
    readNumbers(run, wave, instruction, conversion, 1, count / 2, 1, 2, numbers, lanes);
  } else {
    readNumbers(run, wave, instruction, conversion, 0, count, 0, 1, numbers, lanes);
  }
  Lanewise lanewise;
  readLanewise(wave, instruction, conversion, lanewise);
  Words words = {};
  for (int i = 0; i < count; ++i) {
    Values codes;
    for (int lane = 0; lane < kLanes; ++lane) {
      uint32_t code = convertOne(wave, conversion, from, to, numbers[i][lane], lane, lanewise);
      bool flush = conversion.to == Narrow::F16 && !conversion.scaled;
      codes[lane] = flush ? flushOut<16>(wave, code) : code;
    }
    modify(wave, instruction, conversion.to, codes);
    for (int lane = 0; lane < kLanes; ++lane)
      put(words, to.bits(), i, lane, uint32_t(codes[lane]));
  }
  const int bits = to.bits() * count;
  if (bits == 32 && instruction.flags & kSdwa) {
    Type type;
    type.cls = Type::Class::Bits;
    type.bits = 32;
    Values values;
    std::copy_n(words[0], kLanes, values);
    writeResult(wave, instruction, type, values, lanes);
    return;
  }
  writeWords(wave, instruction, bits, words, lanes);
}

// --- v_prng_b32, v_permlane16_swap_b32, v_permlane32_swap_b32 ---

static uint64_t prng(Wave &, uint64_t state, uint64_t, uint64_t) { return nextRandom(uint32_t(state)); }

// A bfloat16 is the high half of an f32: the bits move, those of a signalling NaN too (CDNA4 ISA, V_CVT_F32_BF16).
static uint64_t widenBf16(Wave &, uint64_t raw, uint64_t, uint64_t) { return raw << 16; }

// The odd runs of `extra` lanes of the first register change places with the even ones of the second, whatever EXEC
// says: unlike other permutes, the published text does not look at it.
static void permlaneSwap(Run &, Wave &wave, const Instruction &instruction) {
  const int run = int(opInfo(instruction.op).extra);
  for (const Operand &operand : instruction.dst)
    if (Kind(operand.kind) != Kind::Vgpr)
      fault("program", "two vector registers are needed here");
  uint32_t first[kLanes], second[kLanes];
  std::copy_n(wave.v[instruction.dst[0].reg], kLanes, first);
  std::copy_n(wave.v[instruction.dst[1].reg], kLanes, second);
  for (int lane = 0; lane < kLanes; ++lane)
    if (!(lane & run))
      std::swap(first[lane + run], second[lane]);
  writeRow(wave, instruction.dst[0].reg, first, ~0ull);
  writeRow(wave, instruction.dst[1].reg, second, ~0ull);
}

// --- the table ---

using N = Narrow;


static constexpr OpInfo vop3(const char *name, const char *signature, Conversion conversion, uint8_t targets = kGfx950,
                             Format format = Format::Vop3) {
  return {name, format, signature, convert, nullptr, conversion.packed(), targets};
}

// Unscaled.
static constexpr OpInfo plain1(const char *name, const char *signature, N from, N to, int count, uint8_t targets) {
  return vop3(name, signature, {from, to, uint8_t(count)}, targets, Format::Vop1);
}
static constexpr OpInfo pair(const char *name, const char *signature, N to, uint8_t targets) {
  return vop3(name, signature, {N::F32, to, 2, false, false, true}, targets);
}
static constexpr OpInfo random(const char *name, const char *signature, N to, uint8_t targets) {
  return vop3(name, signature, {N::F32, to, 1, false, true}, targets);
}
// Scaled: elements in one source, the same with random bits, and in two sources.
static constexpr OpInfo scaled(const char *name, const char *signature, N from, N to, int count) {
  return vop3(name, signature, {from, to, uint8_t(count), true});
}
static constexpr OpInfo scaledRandom(const char *name, const char *signature, N from, N to, int count) {
  return vop3(name, signature, {from, to, uint8_t(count), true, true});
}
static constexpr OpInfo scaledPair(const char *name, const char *signature, N to, int count) {
  return vop3(name, signature, {N::F32, to, uint8_t(count), true, false, true});
}

#define S "v_cvt_scalef32_"
static const OpInfo kConvertTable[] = {
    plain1("v_cvt_f32_fp8", "f32 = b8", N::Fp8, N::F32, 1, kBoth),
    plain1("v_cvt_f32_bf8", "f32 = b8", N::Bf8, N::F32, 1, kBoth),
    plain1("v_cvt_pk_f32_fp8", "f32x2 = b16", N::Fp8, N::F32, 2, kBoth),
    plain1("v_cvt_pk_f32_bf8", "f32x2 = b16", N::Bf8, N::F32, 2, kBoth),
    {"v_cvt_f32_bf16", Format::Vop1, "f32 = bf16", vectorOp, widenBf16, 0, kGfx950},
    pair("v_cvt_pk_fp8_f32", "+b16 = f32 f32", N::Fp8, kBoth),
    pair("v_cvt_pk_bf8_f32", "+b16 = f32 f32", N::Bf8, kBoth),
    random("v_cvt_sr_fp8_f32", "+b8 = f32 b32", N::Fp8, kBoth),
    random("v_cvt_sr_bf8_f32", "+b8 = f32 b32", N::Bf8, kBoth),
    pair("v_cvt_pk_f16_f32", "f16x2 = f32 f32", N::F16, kGfx950),
    pair("v_cvt_pk_bf16_f32", "bf16x2 = f32 f32", N::Bf16, kGfx950),
    random("v_cvt_sr_f16_f32", "+f16 = f32 b32", N::F16, kGfx950),
    random("v_cvt_sr_bf16_f32", "+bf16 = f32 b32", N::Bf16, kGfx950),

    scaledPair(S "pk_fp8_f32", "+b16 = f32 f32 f32", N::Fp8, 2),
    scaledPair(S "pk_bf8_f32", "+b16 = f32 f32 f32", N::Bf8, 2),
    scaledPair(S "pk_fp4_f32", "+b8 = f32 f32 f32", N::Fp4, 2),
    scaledRandom(S "sr_fp8_f32", "+b8 = f32 b32 f32", N::F32, N::Fp8, 1),
    scaledRandom(S "sr_bf8_f32", "+b8 = f32 b32 f32", N::F32, N::Bf8, 1),
    scaledRandom(S "sr_fp8_f16", "+b8 = f16 b32 f32", N::F16, N::Fp8, 1),
    scaledRandom(S "sr_bf8_f16", "+b8 = f16 b32 f32", N::F16, N::Bf8, 1),
    scaledRandom(S "sr_fp8_bf16", "+b8 = bf16 b32 f32", N::Bf16, N::Fp8, 1),
    scaledRandom(S "sr_bf8_bf16", "+b8 = bf16 b32 f32", N::Bf16, N::Bf8, 1),
    scaledRandom(S "sr_pk_fp4_f32", "+b8 = f32x2 b32 f32", N::F32, N::Fp4, 2),
    scaledRandom(S "sr_pk_fp4_f16", "+b8 = f16x2 b32 f32", N::F16, N::Fp4, 2),
    scaledRandom(S "sr_pk_fp4_bf16", "+b8 = bf16x2 b32 f32", N::Bf16, N::Fp4, 2),
    scaled(S "pk_fp8_f16", "+b16 = f16x2 f32", N::F16, N::Fp8, 2),
    scaled(S "pk_bf8_f16", "+b16 = f16x2 f32", N::F16, N::Bf8, 2),
    scaled(S "pk_fp8_bf16", "+b16 = bf16x2 f32", N::Bf16, N::Fp8, 2),
    scaled(S "pk_bf8_bf16", "+b16 = bf16x2 f32", N::Bf16, N::Bf8, 2),
    scaled(S "pk_fp4_f16", "+b8 = f16x2 f32", N::F16, N::Fp4, 2),
    scaled(S "pk_fp4_bf16", "+b8 = bf16x2 f32", N::Bf16, N::Fp4, 2),

    scaled(S "f32_fp8", "f32 = b8 f32", N::Fp8, N::F32, 1),
    scaled(S "f32_bf8", "f32 = b8 f32", N::Bf8, N::F32, 1),
    scaled(S "f16_fp8", "+f16 = b8 f32", N::Fp8, N::F16, 1),
    scaled(S "f16_bf8", "+f16 = b8 f32", N::Bf8, N::F16, 1),
    scaled(S "pk_f32_fp8", "f32x2 = b16 f32", N::Fp8, N::F32, 2),
    scaled(S "pk_f32_bf8", "f32x2 = b16 f32", N::Bf8, N::F32, 2),
    scaled(S "pk_f32_fp4", "f32x2 = b8 f32", N::Fp4, N::F32, 2),
    scaled(S "pk_f16_fp8", "f16x2 = b16 f32", N::Fp8, N::F16, 2),
    scaled(S "pk_f16_bf8", "f16x2 = b16 f32", N::Bf8, N::F16, 2),
    scaled(S "pk_f16_fp4", "f16x2 = b8 f32", N::Fp4, N::F16, 2),
    scaled(S "pk_bf16_fp8", "bf16x2 = b16 f32", N::Fp8, N::Bf16, 2),
    scaled(S "pk_bf16_bf8", "bf16x2 = b16 f32", N::Bf8, N::Bf16, 2),
    scaled(S "pk_bf16_fp4", "bf16x2 = b8 f32", N::Fp4, N::Bf16, 2),

    scaledPair(S "2xpk16_fp6_f32", "b192 = f32x16 f32x16 f32", N::Fp6, 32),
    scaledPair(S "2xpk16_bf6_f32", "b192 = f32x16 f32x16 f32", N::Bf6, 32),
    scaledRandom(S "sr_pk32_fp6_f32", "b192 = f32x32 b32 f32", N::F32, N::Fp6, 32),
    scaledRandom(S "sr_pk32_bf6_f32", "b192 = f32x32 b32 f32", N::F32, N::Bf6, 32),
    scaledRandom(S "sr_pk32_fp6_f16", "b192 = f16x32 b32 f32", N::F16, N::Fp6, 32),
    scaledRandom(S "sr_pk32_bf6_f16", "b192 = f16x32 b32 f32", N::F16, N::Bf6, 32),
    scaledRandom(S "sr_pk32_fp6_bf16", "b192 = bf16x32 b32 f32", N::Bf16, N::Fp6, 32),
    scaledRandom(S "sr_pk32_bf6_bf16", "b192 = bf16x32 b32 f32", N::Bf16, N::Bf6, 32),
    scaled(S "pk32_fp6_f16", "b192 = f16x32 f32", N::F16, N::Fp6, 32),
    scaled(S "pk32_bf6_f16", "b192 = f16x32 f32", N::F16, N::Bf6, 32),
    scaled(S "pk32_fp6_bf16", "b192 = bf16x32 f32", N::Bf16, N::Fp6, 32),
    scaled(S "pk32_bf6_bf16", "b192 = bf16x32 f32", N::Bf16, N::Bf6, 32),
    scaled(S "pk32_f32_fp6", "f32x32 = b192 f32", N::Fp6, N::F32, 32),
    scaled(S "pk32_f32_bf6", "f32x32 = b192 f32", N::Bf6, N::F32, 32),
    scaled(S "pk32_f16_fp6", "f16x32 = b192 f32", N::Fp6, N::F16, 32),
    scaled(S "pk32_f16_bf6", "f16x32 = b192 f32", N::Bf6, N::F16, 32),
    scaled(S "pk32_bf16_fp6", "bf16x32 = b192 f32", N::Fp6, N::Bf16, 32),
    scaled(S "pk32_bf16_bf6", "bf16x32 = b192 f32", N::Bf6, N::Bf16, 32),

    {"v_prng_b32", Format::Vop1, "b32 = b32", vectorOp, prng, 0, kGfx950},
    {"v_permlane16_swap_b32", Format::Vop1, "+b32 +b32 =", permlaneSwap, nullptr, 16, kGfx950},
    {"v_permlane32_swap_b32", Format::Vop1, "+b32 +b32 =", permlaneSwap, nullptr, 32, kGfx950},
};

Table convertOps() { return {kConvertTable, sizeof kConvertTable / sizeof *kConvertTable}; }

} // namespace machine

#undef S
