// Vector instructions that are more than a function of each lane: carries, other lanes, scalars, division's scaling.
#include "machine/Arithmetic.h"
#include "machine/Fast.h"

namespace machine {

static void nothingVector(Run &, Wave &, const Instruction &) {}

// --- carries: the exact sum or difference; bit 32 is the carry or borrow ---

using Exact = uint64_t (*)(uint64_t a, uint64_t b, uint64_t carry);

template <Exact F> static void carryOp(Run &, Wave &wave, const Instruction &instruction) {
  const Shape &shape = shapeOf(instruction.op);
  Values in[kSources], out = {};
  uint64_t lanes = readSources(wave, instruction, shape, in), carries = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!(lanes >> lane & 1))
      continue;
    out[lane] = F(in[0][lane], in[1][lane], shape.srcs > 2 ? in[2][lane] : 0);
    carries |= (out[lane] >> 32 & 1) << lane;
  }
  modifyResult(wave, instruction, shape.dst[0], out);
  writeResult(wave, instruction, shape.dst[0], out, lanes);
  writeScalar(wave, instruction.dst[1], carries, 64);
}

static uint64_t sum(uint64_t a, uint64_t b, uint64_t carry) { return a + b + carry; }
static uint64_t difference(uint64_t a, uint64_t b, uint64_t borrow) { return a - b - borrow; }
static uint64_t reversed(uint64_t a, uint64_t b, uint64_t borrow) { return b - a - borrow; }

// a * b + c with 65 bits of result.
template <class Wide, class Word, class Long>
static void multiplyAdd64(Run &, Wave &wave, const Instruction &instruction) {
  const Shape &shape = shapeOf(instruction.op);
  Values in[kSources], out = {};
  uint64_t lanes = readSources(wave, instruction, shape, in), carries = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!(lanes >> lane & 1))
      continue;
    Wide exact = Wide(Word(in[0][lane])) * Wide(Word(in[1][lane])) + Wide(Long(in[2][lane]));
    carries |= uint64_t(exact >> 64 & 1) << lane;
    if (instruction.flags & kClamp)
      exact = std::clamp<Wide>(exact, std::numeric_limits<Long>::min(), std::numeric_limits<Long>::max());
    out[lane] = uint64_t(exact);
  }
  writeResult(wave, instruction, shape.dst[0], out, lanes);
  writeScalar(wave, instruction.dst[1], carries, 64);
}
__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UnsignedWide;

static void selectByMask(Run &run, Wave &wave, const Instruction &instruction) {
  if (!isPlain(wave, instruction))
    return vectorOp(run, wave, instruction);
  alignas(64) uint32_t buffers[2][kLanes], out[kLanes];
  const uint32_t *clear = rowOf(wave, instruction.src[0], buffers[0]);
  const uint32_t *set = rowOf(wave, instruction.src[1], buffers[1]);
  uint64_t mask = readScalar(wave, instruction.src[2], 64);
  for (int half = 0; half < 2; ++half) {
    uint32_t bits = uint32_t(mask >> 32 * half);
    for (int i = 0; i < 32; ++i) {
      int lane = 32 * half + i;
      out[lane] = bits & 1u << i ? set[lane] : clear[lane];
    }
  }
  writeRow(wave, instruction.dst[0].reg, out, wave.exec());
}

// --- scalars and lanes ---

static uint32_t fromLane(const Wave &wave, const Operand &operand, int lane) {
  return Kind(operand.kind) == Kind::Vgpr ? wave.v[operand.reg][lane] : uint32_t(readScalar(wave, operand, 32));
}
static void readFirstLane(Run &, Wave &wave, const Instruction &instruction) {
  int lane = wave.exec() ? __builtin_ctzll(wave.exec()) : 0;
  writeScalar(wave, instruction.dst[0], fromLane(wave, instruction.src[0], lane), 32);
}
static void readLane(Run &, Wave &wave, const Instruction &instruction) {
  int lane = int(readScalar(wave, instruction.src[1], 32) & (kLanes - 1));
  writeScalar(wave, instruction.dst[0], fromLane(wave, instruction.src[0], lane), 32);
}
static void writeLane(Run &, Wave &wave, const Instruction &instruction) {
  int lane = int(readScalar(wave, instruction.src[1], 32) & (kLanes - 1));
  wave.v[instruction.dst[0].reg][lane] = uint32_t(readScalar(wave, instruction.src[0], 32));
}

// b + the number of a's bits that belong to lanes below; a holds lanes 0-31 or 32-63.
template <bool High> static void countBelow(Run &, Wave &wave, const Instruction &instruction) {
  const Shape &shape = shapeOf(instruction.op);
  Values in[kSources], out = {};
  uint64_t lanes = readSources(wave, instruction, shape, in);
  for (int lane = 0; lane < kLanes; ++lane) {
    uint64_t below = (1ull << lane) - 1;
    uint32_t mask = uint32_t(High ? below >> 32 : below);
    out[lane] = in[1][lane] + uint64_t(__builtin_popcount(uint32_t(in[0][lane]) & mask));
  }
  writeResult(wave, instruction, shape.dst[0], out, lanes);
}

static void swapRegisters(Run &, Wave &wave, const Instruction &instruction) {
  uint32_t *x = wave.v[instruction.dst[0].reg], *y = wave.v[instruction.dst[1].reg];
  for (int lane = 0; lane < kLanes; ++lane)
    if (wave.exec() >> lane & 1)
      std::swap(x[lane], y[lane]);
}

// --- bits by a truth table: bit 4a + 2b + c of it ---

template <int Bits> static void truthTable(Run &, Wave &wave, const Instruction &instruction) {
  const Shape &shape = shapeOf(instruction.op);
  Values in[kSources], out = {};
  uint64_t lanes = readSources(wave, instruction, shape, in);
  for (int lane = 0; lane < kLanes; ++lane) {
    out[lane] = 0;
    for (int row = 0; row < 8; ++row) {
      if (!(instruction.offset >> row & 1))
        continue;
      uint64_t a = row & 4 ? in[0][lane] : ~in[0][lane], b = row & 2 ? in[1][lane] : ~in[1][lane];
      out[lane] |= a & b & (row & 1 ? in[2][lane] : ~in[2][lane]);
    }
  }
  writeResult(wave, instruction, shape.dst[0], out, lanes, true);
}

// --- sums of absolute differences at four offsets ---

static uint64_t byteDifferences(uint64_t a, uint64_t b, bool masked) {
  uint64_t sum = 0;
  for (int at = 0; at < 32; at += 8) {
    int64_t x = int64_t(a >> at & 255), y = int64_t(b >> at & 255);
    if (!masked || y)
      sum += uint64_t(std::abs(x - y));
  }
  return sum;
}

template <bool Masked> static void sumsOfDifferences(Run &, Wave &wave, const Instruction &instruction) {
  const Shape &shape = shapeOf(instruction.op);
  Values in[kSources], out = {};
  uint64_t lanes = readSources(wave, instruction, shape, in);
  for (int lane = 0; lane < kLanes; ++lane) {
    out[lane] = 0;
    for (int i = 0; i < 4; ++i) {
      uint64_t sum = byteDifferences(in[0][lane] >> 8 * i, in[1][lane], Masked) + (in[2][lane] >> 16 * i & 0xFFFF);
      if (instruction.flags & kClamp)
        sum = std::min<uint64_t>(sum, 0xFFFF);
      out[lane] |= (sum & 0xFFFF) << 16 * i;
    }
  }
  writeResult(wave, instruction, shape.dst[0], out, lanes);
}

static void maskedSums32(Run &, Wave &wave, const Instruction &instruction) {
  Values window, pattern, added;
  readRaw(wave, instruction.src[0], 64, window);
  readRaw(wave, instruction.src[1], 32, pattern);
  Operand accumulator = instruction.src[2];
  bool perRegister = Kind(accumulator.kind) != Kind::Constant;
  uint32_t rows[4][kLanes];
  for (int i = 0; i < 4; ++i) {
    readRaw(wave, accumulator, 32, added);
    accumulator.reg = uint16_t(accumulator.reg + perRegister);
    for (int lane = 0; lane < kLanes; ++lane) {
      uint64_t sum = byteDifferences(window[lane] >> 8 * i, pattern[lane], true) + added[lane];
      rows[i][lane] = uint32_t(instruction.flags & kClamp ? std::min<uint64_t>(sum, 0xFFFFFFFFu) : sum);
    }
  }
  for (int i = 0; i < 4; ++i)
    writeRow(wave, instruction.dst[0].reg + i, rows[i], wave.exec());
}

// --- division ---

// What v_div_scale multiplies by, as a power of two, and whether v_div_fmas has to undo it.
struct Scaling {
  int power = 0;
  bool undo = false, invalid = false;
};

// a is one of the denominator b and the numerator c: the one to be scaled.
template <int Bits> static Scaling scalingOf(double value, double below, double above, uint64_t b, uint64_t c) {
  using F = Fields<Bits>;
  constexpr int power = Bits == 32 ? 64 : 128, far = Bits == 32 ? 96 : 768;
  const double smallest = std::ldexp(1.0, 1 - F::bias);
  Scaling s;
  if (above == 0 || below == 0) {
    s.invalid = true;
    return s;
  }
  auto tiny = [&](double x) { return x != 0 && std::fabs(x) < smallest; };
  int apart = exponentField<Bits>(c) - exponentField<Bits>(b);
  bool inverseTiny = tiny(1 / below);
  bool quotientTiny = tiny(Bits == 32 ? double(float(above / below)) : above / below);
  if (apart >= far) { // the quotient is near the greatest number
    s.undo = true;
    s.power = value == below ? power : 0;
  } else if (isDenormal<Bits>(b)) {
    s.power = power;
  } else if (inverseTiny && quotientTiny) { // the text says up, where the denominator would overflow
    s.undo = true;
    s.power = value == below ? -power : 0;
  } else if (inverseTiny) {
    s.power = -power;
  } else if (quotientTiny) {
    s.undo = true;
    s.power = value == above ? power : 0;
  } else if (exponentField<Bits>(c) <= F::mantissa + (Bits == 64)) {
    s.power = power;
  }
  return s;
}

template <int Bits> static void divideScale(Run &, Wave &wave, const Instruction &instruction) {
  const Shape &shape = shapeOf(instruction.op);
  Values in[kSources], out = {};
  uint64_t lanes = readSources(wave, instruction, shape, in), undo = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!(lanes >> lane & 1))
      continue;
    uint64_t a = in[0][lane], b = in[1][lane], c = in[2][lane];
    Scaling s = scalingOf<Bits>(toDouble<Bits>(a), toDouble<Bits>(b), toDouble<Bits>(c), b, c);
    undo |= uint64_t(s.undo) << lane;
    if (s.invalid)
      out[lane] = Fields<Bits>::sign | Fields<Bits>::inf | Fields<Bits>::quiet;
    else
      out[lane] = s.power ? finish<Bits>(wave, std::ldexp(toDouble<Bits>(a), s.power)) : a;
  }
  writeResult(wave, instruction, shape.dst[0], out, lanes);
  writeScalar(wave, instruction.dst[1], undo, 64);
}

// (a * b + c) * 2^power in f64, rounded once: the fused sum, with a bit far below its last one that says where the
// exact sum lies, is scaled and then rounded.
static double scaledSum(double a, double b, double c, int power, Rounding rounding) {
  double sum = std::fma(a, b, c), product = a * b, low = std::fma(a, b, -product);
  double whole = product + c, part = whole - product, lost = (product - (whole - part)) + (c - part);
  long double error = ((long double)whole - sum + lost) + low, value = sum;
  if (error != 0)
    value += std::copysign(std::ldexp(std::fabs((long double)sum), -60), error);
  HostRounding host(rounding);
  volatile long double scaled = std::ldexp(value, power);
  return double(scaled);
}

template <int Bits> static uint64_t scaledFma(const Wave &wave, uint64_t a, uint64_t b, uint64_t c, int power) {
  uint64_t sum = fusedMultiplyAdd<Bits>(wave, a, b, c);
  if (isNaN<Bits>(sum) || isInf<Bits>(sum) || isZero<Bits>(sum))
    return sum;
  for (uint64_t *source : {&a, &b, &c})
    *source = flushIn<Bits>(wave, *source);
  if constexpr (Bits == 32)
    return finish<32>(wave, std::ldexp(addToOdd(double(asF32(a)) * asF32(b), asF32(c)), power));
  return flushOut<64>(wave, rawF64(scaledSum(asF64(a), asF64(b), asF64(c), power, roundingOf<64>(wave))));
}

// The published pseudo-code scales by 2^32 (2^64 in f64), which does not undo v_div_scale; what makes a division come
// out right, and later generations' text says, is twice that, down where the quotient is small.
template <int Bits> static void divideFma(Run &, Wave &wave, const Instruction &instruction) {
  const Shape &shape = shapeOf(instruction.op);
  constexpr int power = Bits == 32 ? 64 : 128;
  Values in[kSources], out = {};
  uint64_t lanes = readSources(wave, instruction, shape, in), scaled = wave.vcc();
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!(lanes >> lane & 1))
      continue;
    uint64_t a = in[0][lane], b = in[1][lane], c = in[2][lane];
    bool large = exponentField<Bits>(c) > Fields<Bits>::bias;
    if (scaled >> lane & 1) {
      out[lane] = scaledFma<Bits>(wave, a, b, c, large ? power : -power);
    } else {
      HostRounding rounding(roundingOf<Bits>(wave));
      out[lane] = fusedMultiplyAdd<Bits>(wave, a, b, c);
    }
  }
  modifyResult(wave, instruction, shape.dst[0], out);
  writeResult(wave, instruction, shape.dst[0], out, lanes);
}

#define CARRY(name, F) {name, Format::Vop2, "u32 sbool = u32 u32", withIndexing<carryOp<F>>}
#define CARRY_IN(name, F) {name, Format::Vop2, "u32 sbool = u32 u32 sbool", withIndexing<carryOp<F>>}

static const OpInfo kVectorSpecialTable[] = {
    {"v_nop", Format::Vop1, "=", nothingVector},
    {"v_clrexcp", Format::Vop1, "=", nothingVector},
    {"v_cndmask_b32", Format::Vop2, "b32 = b32 b32 sbool", selectByMask, LANE(return c ? b : a;)},
    CARRY("v_add_co_u32", sum),
    CARRY("v_sub_co_u32", difference),
    CARRY("v_subrev_co_u32", reversed),
    CARRY_IN("v_addc_co_u32", sum),
    CARRY_IN("v_subb_co_u32", difference),
    CARRY_IN("v_subbrev_co_u32", reversed),
    {"v_mad_u64_u32", Format::Vop3, "u64 sbool = u32 u32 u64",
     withIndexing<multiplyAdd64<UnsignedWide, uint32_t, uint64_t>>},
    {"v_mad_i64_i32", Format::Vop3, "i64 sbool = i32 i32 i64", withIndexing<multiplyAdd64<Wide, int32_t, int64_t>>},
    {"v_readfirstlane_b32", Format::Vop1, "b32 = b32", withIndexing<readFirstLane>},
    {"v_readlane_b32", Format::Vop3, "b32 = b32 u32", withIndexing<readLane>},
    {"v_writelane_b32", Format::Vop3, "+b32 = b32 u32", withIndexing<writeLane>},
    {"v_mbcnt_lo_u32_b32", Format::Vop3, "u32 = b32 u32", withIndexing<countBelow<false>>},
    {"v_mbcnt_hi_u32_b32", Format::Vop3, "u32 = b32 u32", withIndexing<countBelow<true>>},
    {"v_swap_b32", Format::Vop1, "+b32 +b32 =", swapRegisters},
    {"v_bitop3_b32", Format::Vop3, "b32 = b32 b32 b32", withIndexing<truthTable<32>>, nullptr, 0, 2},
    {"v_bitop3_b16", Format::Vop3, "b16 = b16 b16 b16", withIndexing<truthTable<16>>, nullptr, 0, 2},
    {"v_qsad_pk_u16_u8", Format::Vop3, "b64 = b64 b32 b64", withIndexing<sumsOfDifferences<false>>},
    {"v_mqsad_pk_u16_u8", Format::Vop3, "b64 = b64 b32 b64", withIndexing<sumsOfDifferences<true>>},
    {"v_mqsad_u32_u8", Format::Vop3, "b128 = b64 b32 b128", withIndexing<maskedSums32>},
    {"v_div_scale_f32", Format::Vop3, "f32 sbool = f32 f32 f32", withIndexing<divideScale<32>>},
    {"v_div_scale_f64", Format::Vop3, "f64 sbool = f64 f64 f64", withIndexing<divideScale<64>>},
    {"v_div_fmas_f32", Format::Vop3, "f32 = f32 f32 f32", withIndexing<divideFma<32>>},
    {"v_div_fmas_f64", Format::Vop3, "f64 = f64 f64 f64", withIndexing<divideFma<64>>},
};

Table vectorOps() { return {kVectorSpecialTable, sizeof kVectorSpecialTable / sizeof *kVectorSpecialTable}; }

} // namespace machine

#undef CARRY
#undef CARRY_IN
