// VOP3P without matrices: packed 16-bit and 32-bit arithmetic, dot products, mixed precision.
#include "machine/Arithmetic.h"
#include "machine/Half.h"

namespace machine {

// One element of a packed source: the half that op_sel (low result) or op_sel_hi (high result) names, negated by
// neg_lo or neg_hi; elements of 16 bits in a word, or words of a pair.
struct Selection {
  uint8_t sel, neg;
};
static Selection selectionOf(const Instruction &instruction, int element) {
  return element ? Selection{instruction.opselhi, instruction.neghi} : Selection{instruction.opsel, instruction.neglo};
}

static void readHalves(const Instruction &instruction, const Type &type, int index, int element, const Values &whole,
                       Values &out) {
  Selection selection = selectionOf(instruction, element);
  bool constant = Kind(instruction.src[index].kind) == Kind::Constant;
  int shift = selection.sel >> index & 1 && !(constant && type.bits == 32) ? type.bits : 0;
  uint64_t mask = (1ull << type.bits) - 1;
  uint64_t flip = type.isFloat() && selection.neg >> index & 1 ? 1ull << (type.bits - 1) : 0;
  for (int lane = 0; lane < kLanes; ++lane)
    out[lane] = (whole[lane] >> shift & mask) ^ flip;
}

static void packedOp(Run &, Wave &wave, const Instruction &instruction) {
  const OpInfo &op = opInfo(instruction.op);
  const Shape &shape = shapeOf(instruction.op);
  const Type &type = shape.dst[0];
  Type element = type;
  element.count = 1;
  Values whole[kSources], in[3] = {}, half[2];
  int sources = shape.srcs + type.old;
  for (int i = 0; i < shape.srcs; ++i)
    readRaw(wave, instruction.src[i], shape.src[i].width(), whole[i]);
  if (type.old)
    readRaw(wave, instruction.dst[0], type.width(), whole[shape.srcs]);
  HostRounding rounding(type.bits == 32 ? roundingOf<32>(wave) : kNearest);
  for (int e = 0; e < 2; ++e) {
    for (int i = 0; i < sources; ++i)
      readHalves(instruction, i < shape.srcs ? shape.src[i] : element, i, e, whole[i], in[i]);
    for (int lane = 0; lane < kLanes; ++lane)
      half[e][lane] = op.lane(wave, in[0][lane], in[1][lane], in[2][lane]);
    modifyResult(wave, instruction, element, half[e]);
  }
  uint64_t mask = (1ull << type.bits) - 1;
  for (int lane = 0; lane < kLanes; ++lane)
    half[0][lane] = (half[0][lane] & mask) | half[1][lane] << type.bits;
  writeResult(wave, instruction, type, half[0], wave.exec());
}

// VOP2's v_pk_fmac_f16: no selection, each half on its own.
static void packedPlain(Run &run, Wave &wave, const Instruction &instruction) {
  Instruction meant = instruction;
  meant.opsel = 0;
  meant.opselhi = 7;
  packedOp(run, wave, meant);
}

// --- the short way for f32 pairs: op_sel takes any words, negation flips signs ---

template <class Op> static void fastPairs(Run &run, Wave &wave, const Instruction &instruction) {
  if (instruction.flags & kClamp || !isPlainF32(wave))
    return packedOp(run, wave, instruction);
  alignas(64) uint32_t buffers[3][kLanes], out[2][kLanes];
  for (int e = 0; e < 2; ++e) {
    Selection selection = selectionOf(instruction, e);
    const uint32_t *rows[3] = {};
    for (int i = 0; i < Op::sources; ++i) {
      const Operand &source = instruction.src[i];
      int word = selection.sel >> i & 1 && Kind(source.kind) != Kind::Constant;
      rows[i] = rowOf(wave, source, buffers[i], word);
      if (!(selection.neg >> i & 1))
        continue;
      for (int lane = 0; lane < kLanes; ++lane)
        buffers[i][lane] = rows[i][lane] ^ uint32_t(kSignF32);
      rows[i] = buffers[i];
    }
    Op::rows(out[e], rows[0], rows[1], rows[2]);
    if (anyNaN(out[e]))
      return packedOp(run, wave, instruction);
  }
  for (int e = 0; e < 2; ++e)
    writeRow(wave, instruction.dst[0].reg + e, out[e], wave.exec());
}

void fmaRows(uint32_t *__restrict out, const uint32_t *a, const uint32_t *b, const uint32_t *c);

struct PairAdd {
  static constexpr int sources = 2;
  static void rows(uint32_t *__restrict out, const uint32_t *a, const uint32_t *b, const uint32_t *) {
    for (int lane = 0; lane < kLanes; ++lane)
      out[lane] = uint32_t(rawF32(asF32(a[lane]) + asF32(b[lane])));
  }
};
struct PairMultiply {
  static constexpr int sources = 2;
  static void rows(uint32_t *__restrict out, const uint32_t *a, const uint32_t *b, const uint32_t *) {
    for (int lane = 0; lane < kLanes; ++lane)
      out[lane] = uint32_t(rawF32(asF32(a[lane]) * asF32(b[lane])));
  }
};
struct PairFma {
  static constexpr int sources = 3;
  static void rows(uint32_t *__restrict out, const uint32_t *a, const uint32_t *b, const uint32_t *c) {
    fmaRows(out, a, b, c);
  }
};

// --- the short way for pairs of halves ---

template <class Op> static void fastHalves(Run &run, Wave &wave, const Instruction &instruction) {
  if (instruction.flags & kClamp || !isPlainF16(wave))
    return packedOp(run, wave, instruction);
  alignas(64) uint32_t buffers[3][kLanes], in[3][kLanes], out[2][kLanes];
  const uint32_t *rows[3];
  for (int i = 0; i < Op::sources; ++i)
    rows[i] = rowOf(wave, instruction.src[i], buffers[i]);
  for (int e = 0; e < 2; ++e) {
    Selection selection = selectionOf(instruction, e);
    for (int i = 0; i < Op::sources; ++i) {
      int shift = selection.sel >> i & 1 ? 16 : 0;
      uint32_t flip = selection.neg >> i & 1 ? 0x8000 : 0;
      for (int lane = 0; lane < kLanes; ++lane)
        in[i][lane] = (rows[i][lane] >> shift & 0xFFFF) ^ flip;
    }
    constexpr int last = Op::sources > 2 ? 2 : 0;
    for (int lane = 0; lane < kLanes; ++lane)
      out[e][lane] = Op::run(in[0][lane], in[1][lane], in[last][lane]);
    if (anyHalfNaN(out[e]))
      return packedOp(run, wave, instruction);
  }
  for (int lane = 0; lane < kLanes; ++lane)
    out[0][lane] |= out[1][lane] << 16;
  writeRow(wave, instruction.dst[0].reg, out[0], wave.exec());
}

// A word of each source: op_sel's bit 0 for the low result, bit 1 for the high one.
static void movePair(Run &, Wave &wave, const Instruction &instruction) {
  uint32_t buffers[2][kLanes], out[2][kLanes];
  for (int e = 0; e < 2; ++e) {
    const Operand &source = instruction.src[e];
    int word = instruction.opsel >> e & 1 && Kind(source.kind) != Kind::Constant;
    std::copy_n(rowOf(wave, source, buffers[e], word), kLanes, out[e]);
  }
  for (int e = 0; e < 2; ++e)
    writeRow(wave, instruction.dst[0].reg + e, out[e], wave.exec());
}

// --- dot products: sources with their halves chosen and negated, then one lane function on whole words ---

static void dotOp(Run &run, Wave &wave, const Instruction &instruction) {
  const OpInfo &op = opInfo(instruction.op);
  const Shape &shape = shapeOf(instruction.op);
  const Type &type = shape.dst[0];
  if (type.old) // VOP2
    return vectorOp(run, wave, instruction);
  Values whole, low, high, in[3], out;
  for (int i = 0; i < 3; ++i) {
    const Type &source = shape.src[i];
    readRaw(wave, instruction.src[i], 32, whole);
    if (source.bits == 16) {
      readHalves(instruction, source, i, 0, whole, low);
      readHalves(instruction, source, i, 1, whole, high);
      for (int lane = 0; lane < kLanes; ++lane)
        in[i][lane] = low[lane] | high[lane] << 16;
    } else {
      uint64_t flip = source.isFloat() && instruction.neglo >> i & 1 ? kSignF32 : 0;
      uint64_t keep = source.isFloat() && instruction.neghi >> i & 1 ? ~kSignF32 : ~0ull;
      for (int lane = 0; lane < kLanes; ++lane)
        in[i][lane] = (whole[lane] & keep) ^ flip;
    }
  }
  HostRounding rounding(roundingOf<32>(wave));
  for (int lane = 0; lane < kLanes; ++lane)
    out[lane] = op.lane(wave, in[0][lane], in[1][lane], in[2][lane]);
  modifyResult(wave, instruction, type, out);
  writeResult(wave, instruction, type, out, wave.exec());
}

static uint64_t element(uint64_t word, int index, int bits, bool isSigned) {
  uint64_t value = word >> index * bits & ((1ull << bits) - 1);
  return isSigned ? sext(value, bits) : value;
}
// The exact sum: clamp saturates it.
template <int Bits, bool Signed> static uint64_t dotIntegers(Wave &, uint64_t a, uint64_t b, uint64_t c) {
  uint64_t sum = Signed ? sext(c, 32) : c;
  for (int i = 0; i < 32 / Bits; ++i)
    sum += element(a, i, Bits, Signed) * element(b, i, Bits, Signed);
  return sum;
}

// Products are exact; each addition rounds, first the low product to the accumulator.
static uint64_t dotHalves(Wave &w, uint64_t a, uint64_t b, uint64_t c) {
  for (int i = 0; i < 2; ++i) {
    double x = f16ToDouble(flushIn<16>(w, a >> 16 * i & 0xFFFF)), y = f16ToDouble(flushIn<16>(w, b >> 16 * i & 0xFFFF));
    c = add<32>(w, c, rawF32(float(x * y)));
  }
  return c;
}
template <bool AccumulatorFirst> static uint64_t dotBrains(Wave &w, uint64_t a, uint64_t b, uint64_t c) {
  uint64_t low = multiply<32>(w, (a & 0xFFFF) << 16, (b & 0xFFFF) << 16);
  uint64_t high = multiply<32>(w, a & 0xFFFF0000u, b & 0xFFFF0000u);
  return AccumulatorFirst ? add<32>(w, add<32>(w, c, low), high) : add<32>(w, add<32>(w, low, high), c);
}

// --- mixed precision: op_sel_hi says that a source is f16, op_sel which half of it; neg_hi means abs ---

static void readMixed(const Wave &wave, const Instruction &instruction, int index, Values &out) {
  const Operand &operand = instruction.src[index];
  bool half = instruction.opselhi >> index & 1, high = instruction.opsel >> index & 1;
  bool absolute = (operand.bits & kAbs) || instruction.neghi >> index & 1;
  bool negative = (operand.bits & kNeg) || instruction.neglo >> index & 1;
  readRaw(wave, operand, 32, out);
  if (Kind(operand.kind) == Kind::Constant)
    half = false; // the encoder gives the value as f32
  for (uint64_t &value : out) {
    if (half)
      value = rawF32(float(f16ToDouble(flushIn<16>(wave, value >> (high ? 16 : 0) & 0xFFFF))));
    if (absolute)
      value &= ~kSignF32;
    if (negative)
      value ^= kSignF32;
  }
}

// Destination: 32 bits, or the low or high half as f16.
enum class Mixed { Word, Low, High };

// The f32 result, rounded again.
static uint64_t mixedHalf(const Wave &wave, uint64_t a, uint64_t b, uint64_t c) {
  return finish<16>(wave, asF32(fusedMultiplyAdd<32>(wave, a, b, c)));
}

template <Mixed To> static void mixedFma(Run &, Wave &wave, const Instruction &instruction) {
  Values in[3], out;
  for (int i = 0; i < 3; ++i)
    readMixed(wave, instruction, i, in[i]);
  {
    HostRounding rounding(roundingOf<32>(wave));
    for (int lane = 0; lane < kLanes; ++lane)
      out[lane] = To == Mixed::Word ? fusedMultiplyAdd<32>(wave, in[0][lane], in[1][lane], in[2][lane])
                                    : mixedHalf(wave, in[0][lane], in[1][lane], in[2][lane]);
  }
  Type type = shapeOf(instruction.op).dst[0];
  type.bits = To == Mixed::Word ? 32 : 16;
  modifyResult(wave, instruction, type, out);
  Instruction meant = instruction;
  meant.opsel = To == Mixed::High ? 8 : 0;
  writeResult(wave, meant, type, out, wave.exec(), true);
}

#define PK(name, signature, ...) {name, Format::Vop3p, signature, withIndexing<packedOp>, LANE(return __VA_ARGS__;)}
#define PK2(name, type, ...) PK(name, type " = " type " " type, __VA_ARGS__)
#define PK3(name, type, ...) PK(name, type " = " type " " type " " type, __VA_ARGS__)
#define PKH(name, Op, ...)                                                                                             \
  {name, Format::Vop3p, "f16x2 = f16x2 f16x2", withIndexing<fastHalves<Op>>, LANE(return __VA_ARGS__;)}
#define DOT(name, to, from, ...) {name, Format::Vop3p, to " = " from " " from " " to, withIndexing<dotOp>, __VA_ARGS__}
#define DOTC(name, to, from, ...) {name, Format::Vop2, "+" to " = " from " " from, withIndexing<dotOp>, __VA_ARGS__}

static const OpInfo kPackedTable[] = {
    PK3("v_pk_mad_i16", "i16x2", sext(a, 16) * sext(b, 16) + sext(c, 16)),
    PK3("v_pk_mad_u16", "u16x2", a * b + c),
    PK2("v_pk_mul_lo_u16", "u16x2", a * b),
    PK2("v_pk_add_i16", "i16x2", sext(a, 16) + sext(b, 16)),
    PK2("v_pk_sub_i16", "i16x2", sext(a, 16) - sext(b, 16)),
    PK2("v_pk_add_u16", "u16x2", a + b),
    PK2("v_pk_sub_u16", "u16x2", a - b),
    PK2("v_pk_lshlrev_b16", "b16x2", b << (a & 15)),
    PK2("v_pk_lshrrev_b16", "b16x2", b >> (a & 15)),
    PK2("v_pk_ashrrev_i16", "i16x2", uint64_t(int64_t(sext(b, 16)) >> (a & 15))),
    PK2("v_pk_max_i16", "i16x2", uint64_t(std::max(int16_t(a), int16_t(b)))),
    PK2("v_pk_min_i16", "i16x2", uint64_t(std::min(int16_t(a), int16_t(b)))),
    PK2("v_pk_max_u16", "u16x2", std::max(a, b)),
    PK2("v_pk_min_u16", "u16x2", std::min(a, b)),
    {"v_pk_fma_f16", Format::Vop3p, "f16x2 = f16x2 f16x2 f16x2", withIndexing<fastHalves<HalfFma>>,
     LANE(return fusedMultiplyAdd<16>(w, a, b, c);)},
    PKH("v_pk_add_f16", HalfAdd, add<16>(w, a, b)),
    PKH("v_pk_mul_f16", HalfMultiply, multiply<16>(w, a, b)),
    PKH("v_pk_min_f16", HalfExtreme<false>, (extreme<16, false>(w, a, b))),
    PKH("v_pk_max_f16", HalfExtreme<true>, (extreme<16, true>(w, a, b))),
    {"v_pk_minimum3_f16", Format::Vop3p, "f16x2 = f16x2 f16x2 f16x2", withIndexing<packedOp>,
     LANE(return extremeOrNaN<16, false>(w, extremeOrNaN<16, false>(w, a, b), c);), 0, 2},
    {"v_pk_maximum3_f16", Format::Vop3p, "f16x2 = f16x2 f16x2 f16x2", withIndexing<packedOp>,
     LANE(return extremeOrNaN<16, true>(w, extremeOrNaN<16, true>(w, a, b), c);), 0, 2},
    {"v_pk_fmac_f16", Format::Vop2, "+f16x2 = f16x2 f16x2", withIndexing<packedPlain>,
     LANE(return fusedMultiplyAdd<16>(w, a, b, c);)},
    {"v_pk_fma_f32", Format::Vop3p, "f32x2 = f32x2 f32x2 f32x2", withIndexing<fastPairs<PairFma>>,
     LANE(return fusedMultiplyAdd<32>(w, a, b, c);)},
    {"v_pk_mul_f32", Format::Vop3p, "f32x2 = f32x2 f32x2", withIndexing<fastPairs<PairMultiply>>,
     LANE(return multiply<32>(w, a, b);)},
    {"v_pk_add_f32", Format::Vop3p, "f32x2 = f32x2 f32x2", withIndexing<fastPairs<PairAdd>>,
     LANE(return add<32>(w, a, b);)},
    {"v_pk_mov_b32", Format::Vop3p, "b32x2 = b32x2 b32x2", withIndexing<movePair>},
    DOT("v_dot2_f32_f16", "f32", "f16x2", dotHalves),
    {"v_dot2_f32_bf16", Format::Vop3p, "f32 = bf16x2 bf16x2 f32", withIndexing<dotOp>, dotBrains<false>, 0, 2},
    DOT("v_dot2_i32_i16", "i32", "i16x2", dotIntegers<16, true>),
    DOT("v_dot2_u32_u16", "u32", "u16x2", dotIntegers<16, false>),
    DOT("v_dot4_i32_i8", "i32", "b32", dotIntegers<8, true>),
    DOT("v_dot4_u32_u8", "u32", "b32", dotIntegers<8, false>),
    DOT("v_dot8_i32_i4", "i32", "b32", dotIntegers<4, true>),
    DOT("v_dot8_u32_u4", "u32", "b32", dotIntegers<4, false>),
    DOTC("v_dot2c_f32_f16", "f32", "f16x2", dotHalves),
    {"v_dot2c_f32_bf16", Format::Vop2, "+f32 = bf16x2 bf16x2", withIndexing<dotOp>, dotBrains<true>, 0, 2},
    DOTC("v_dot2c_i32_i16", "i32", "i16x2", dotIntegers<16, true>),
    DOTC("v_dot4c_i32_i8", "i32", "b32", dotIntegers<8, true>),
    DOTC("v_dot8c_i32_i4", "i32", "b32", dotIntegers<4, true>),
    {"v_fma_mix_f32", Format::Vop3p, "f32 = f32 f32 f32", withIndexing<mixedFma<Mixed::Word>>},
    {"v_fma_mixlo_f16", Format::Vop3p, "+f32 = f32 f32 f32", withIndexing<mixedFma<Mixed::Low>>},
    {"v_fma_mixhi_f16", Format::Vop3p, "+f32 = f32 f32 f32", withIndexing<mixedFma<Mixed::High>>},
};

Table packedOps() { return {kPackedTable, sizeof kPackedTable / sizeof *kPackedTable}; }

} // namespace machine

#undef PK
#undef PK2
#undef PK3
#undef PKH
#undef DOT
#undef DOTC
