// Scalar arithmetic: SOP1, SOP2, SOPC and SOPK without control.
#include "machine/Lanes.h"

namespace machine {

// Bit of OpInfo::extra: SCC says whether the result is not zero.
constexpr uint32_t kSetsScc = 1;

static uint64_t scalarSource(const Wave &wave, const Instruction &instruction, const Type &type, int index) {
  if (type.cls == Type::Class::Immediate)
    return uint64_t(int64_t(instruction.offset));
  uint64_t value = readScalar(wave, instruction.src[index], type.width());
  return type.width() <= 32 ? uint32_t(value) : value;
}

// Lane function's arguments: the sources, then the destination's old value where the signature reads it.
static void scalarOp(Run &, Wave &wave, const Instruction &instruction) {
  const OpInfo &op = opInfo(instruction.op);
  const Shape &shape = shapeOf(instruction.op);
  uint64_t in[3] = {0, 0, 0};
  int count = 0;
  for (; count < shape.srcs; ++count)
    in[count] = scalarSource(wave, instruction, shape.src[count], count);
  const Type &type = shape.dst[0];
  if (shape.dsts && type.old)
    in[count] = readScalar(wave, instruction.dst[0], type.width());
  uint64_t result = op.lane(wave, in[0], in[1], in[2]);
  if (!shape.dsts)
    return;
  if (type.width() <= 32)
    result = uint32_t(result);
  if (op.extra & kSetsScc)
    wave.scc = result != 0;
  writeScalar(wave, instruction.dst[0], result, type.width());
}

#define FN(...)                                                                                                        \
  [](Wave &w, uint64_t a, uint64_t b, uint64_t c) -> uint64_t {                                                        \
    (void)w, (void)a, (void)b, (void)c;                                                                                \
    __VA_ARGS__                                                                                                        \
  }
#define U(x) uint32_t(x)
#define I(x) int32_t(x)

// --- pieces ---

static uint64_t field(uint64_t value, uint64_t control, int bits, bool isSigned) {
  unsigned at = control & unsigned(bits - 1), width = control >> 16 & 0x7F;
  if (width == 0)
    return 0;
  uint64_t moved = isSigned ? uint64_t((bits == 32 ? int64_t(I(value)) : int64_t(value)) >> at) : value >> at;
  if (width >= 64)
    return moved;
  uint64_t cut = moved & ((1ull << width) - 1);
  if (isSigned && width < unsigned(bits))
    cut = uint64_t(int64_t(cut << (64 - width)) >> (64 - width));
  return cut;
}

static uint64_t reverse(uint64_t value, int bits) {
  uint64_t out = 0;
  for (int i = 0; i < bits; ++i)
    out |= (value >> i & 1) << (bits - 1 - i);
  return out;
}

static uint64_t firstOne(uint64_t value) { return value ? uint64_t(__builtin_ctzll(value)) : ~0ull; }
static uint64_t leadingZeros(uint64_t value, int bits) {
  return value ? uint64_t(__builtin_clzll(value) - (64 - bits)) : ~0ull;
}
// How many of the top bits equal the sign bit; -1 when all do.
static uint64_t signBits(int64_t value, int bits) { return leadingZeros(uint64_t(value ^ value >> 63), bits); }

// Bit i (of `each` neighbours, or one for all of them): whether any bit of its group of four is set.
static uint64_t quads(uint64_t value, int bits, bool whole) {
  uint64_t out = 0;
  for (int i = 0; i < bits / 4; ++i)
    if (value >> 4 * i & 15)
      out |= whole ? 15ull << 4 * i : 1ull << i;
  return out;
}

static uint64_t doubled(uint64_t value) {
  uint64_t out = 0;
  for (int i = 0; i < 32; ++i)
    out |= (value >> i & 1) * (3ull << 2 * i);
  return out;
}

static uint64_t addCarry(Wave &w, uint64_t a, uint64_t b, uint64_t carry) {
  uint64_t sum = a + b + carry;
  w.scc = sum >> 32 != 0;
  return sum;
}
static uint64_t subBorrow(Wave &w, uint64_t a, uint64_t b, uint64_t borrow) {
  w.scc = b + borrow > a;
  return a - b - borrow;
}
// The sum in 32 bits; SCC: it overflowed as a signed one.
static uint64_t addSigned(Wave &w, int64_t a, int64_t b) {
  int64_t sum = a + b;
  w.scc = sum != I(sum);
  return uint64_t(sum);
}
static uint64_t choose(Wave &w, bool first, uint64_t a, uint64_t b) {
  w.scc = first;
  return first ? a : b;
}
static uint64_t compare(Wave &w, bool result) {
  w.scc = result;
  return 0;
}

#define SOP2(name, type, ...) {name, Format::Sop2, type " = " type " " type, scalarOp, FN(__VA_ARGS__)}
#define LOGIC(name, type, ...) {name, Format::Sop2, type " = " type " " type, scalarOp, FN(__VA_ARGS__), kSetsScc}
#define SHIFT(name, type, ...) {name, Format::Sop2, type " = " type " u32", scalarOp, FN(__VA_ARGS__), kSetsScc}
#define SOP1(name, to, from, ...) {name, Format::Sop1, to " = " from, scalarOp, FN(__VA_ARGS__)}
#define SOP1S(name, to, from, ...) {name, Format::Sop1, to " = " from, scalarOp, FN(__VA_ARGS__), kSetsScc}
#define SOPC(name, type, ...) {name, Format::Sopc, "= " type, scalarOp, FN(return compare(w, __VA_ARGS__);)}
#define SOPK(name, type, ...) {name, Format::Sopk, "= " type " simm16", scalarOp, FN(return compare(w, __VA_ARGS__);)}

static const OpInfo kScalarTable[] = {
    // SOP2
    SOP2("s_add_u32", "u32", return addCarry(w, a, b, 0);),
    SOP2("s_sub_u32", "u32", return subBorrow(w, a, b, 0);),
    SOP2("s_addc_u32", "u32", return addCarry(w, a, b, w.scc);),
    SOP2("s_subb_u32", "u32", return subBorrow(w, a, b, w.scc);),
    SOP2("s_add_i32", "i32", return addSigned(w, I(a), I(b));),
    SOP2("s_sub_i32", "i32", return addSigned(w, I(a), -int64_t(I(b)));),
    SOP2("s_min_i32", "i32", return choose(w, I(a) < I(b), a, b);),
    SOP2("s_min_u32", "u32", return choose(w, a < b, a, b);),
    SOP2("s_max_i32", "i32", return choose(w, I(a) >= I(b), a, b);),
    SOP2("s_max_u32", "u32", return choose(w, a >= b, a, b);),
    SOP2("s_cselect_b32", "b32", return w.scc ? a : b;),
    SOP2("s_cselect_b64", "b64", return w.scc ? a : b;),
    LOGIC("s_and_b32", "b32", return a & b;),
    LOGIC("s_and_b64", "b64", return a & b;),
    LOGIC("s_or_b32", "b32", return a | b;),
    LOGIC("s_or_b64", "b64", return a | b;),
    LOGIC("s_xor_b32", "b32", return a ^ b;),
    LOGIC("s_xor_b64", "b64", return a ^ b;),
    LOGIC("s_andn2_b32", "b32", return a & ~b;),
    LOGIC("s_andn2_b64", "b64", return a & ~b;),
    LOGIC("s_orn2_b32", "b32", return a | ~b;),
    LOGIC("s_orn2_b64", "b64", return a | ~b;),
    LOGIC("s_nand_b32", "b32", return ~(a & b);),
    LOGIC("s_nand_b64", "b64", return ~(a & b);),
    LOGIC("s_nor_b32", "b32", return ~(a | b);),
    LOGIC("s_nor_b64", "b64", return ~(a | b);),
    LOGIC("s_xnor_b32", "b32", return ~(a ^ b);),
    LOGIC("s_xnor_b64", "b64", return ~(a ^ b);),
    SHIFT("s_lshl_b32", "b32", return a << (b & 31);),
    SHIFT("s_lshl_b64", "b64", return a << (b & 63);),
    SHIFT("s_lshr_b32", "b32", return a >> (b & 31);),
    SHIFT("s_lshr_b64", "b64", return a >> (b & 63);),
    SHIFT("s_ashr_i32", "i32", return uint64_t(I(a) >> (b & 31));),
    SHIFT("s_ashr_i64", "i64", return uint64_t(int64_t(a) >> (b & 63));),
    SOP2("s_bfm_b32", "b32", return ((1ull << (a & 31)) - 1) << (b & 31);),
    {"s_bfm_b64", Format::Sop2, "b64 = b32 b32", scalarOp, FN(return ((1ull << (a & 63)) - 1) << (b & 63);)},
    SOP2("s_mul_i32", "i32", return a * b;),
    SHIFT("s_bfe_u32", "u32", return field(a, b, 32, false);),
    SHIFT("s_bfe_i32", "i32", return field(a, b, 32, true);),
    SHIFT("s_bfe_u64", "u64", return field(a, b, 64, false);),
    SHIFT("s_bfe_i64", "i64", return field(a, b, 64, true);),
    LOGIC("s_absdiff_i32", "i32", int32_t d = I(U(a) - U(b)); return d < 0 ? 0 - U(d) : U(d);),
    SOP2("s_mul_hi_u32", "u32", return a * b >> 32;),
    SOP2("s_mul_hi_i32", "i32", return uint64_t(int64_t(I(a)) * I(b) >> 32);),
    SOP2("s_lshl1_add_u32", "u32", return addCarry(w, a << 1, b, 0);),
    SOP2("s_lshl2_add_u32", "u32", return addCarry(w, a << 2, b, 0);),
    SOP2("s_lshl3_add_u32", "u32", return addCarry(w, a << 3, b, 0);),
    SOP2("s_lshl4_add_u32", "u32", return addCarry(w, a << 4, b, 0);),
    SOP2("s_pack_ll_b32_b16", "b32", return (a & 0xFFFF) | b << 16;),
    SOP2("s_pack_lh_b32_b16", "b32", return (a & 0xFFFF) | (b & 0xFFFF0000u);),
    SOP2("s_pack_hh_b32_b16", "b32", return a >> 16 | (b & 0xFFFF0000u);),
    // SOP1
    SOP1("s_mov_b32", "b32", "b32", return a;),
    SOP1("s_mov_b64", "b64", "b64", return a;),
    SOP1("s_cmov_b32", "+b32", "b32", return w.scc ? a : b;),
    SOP1("s_cmov_b64", "+b64", "b64", return w.scc ? a : b;),
    SOP1S("s_not_b32", "b32", "b32", return ~a;),
    SOP1S("s_not_b64", "b64", "b64", return ~a;),
    SOP1S("s_wqm_b32", "b32", "b32", return quads(a, 32, true);),
    SOP1S("s_wqm_b64", "b64", "b64", return quads(a, 64, true);),
    SOP1S("s_quadmask_b32", "b32", "b32", return quads(a, 32, false);),
    SOP1S("s_quadmask_b64", "b64", "b64", return quads(a, 64, false);),
    SOP1("s_brev_b32", "b32", "b32", return reverse(a, 32);),
    SOP1("s_brev_b64", "b64", "b64", return reverse(a, 64);),
    SOP1S("s_bcnt0_i32_b32", "i32", "b32", return 32 - uint64_t(__builtin_popcountll(a));),
    SOP1S("s_bcnt0_i32_b64", "i32", "b64", return 64 - uint64_t(__builtin_popcountll(a));),
    SOP1S("s_bcnt1_i32_b32", "i32", "b32", return uint64_t(__builtin_popcountll(a));),
    SOP1S("s_bcnt1_i32_b64", "i32", "b64", return uint64_t(__builtin_popcountll(a));),
    SOP1("s_ff0_i32_b32", "i32", "b32", return firstOne(U(~a));),
    SOP1("s_ff0_i32_b64", "i32", "b64", return firstOne(~a);),
    SOP1("s_ff1_i32_b32", "i32", "b32", return firstOne(a);),
    SOP1("s_ff1_i32_b64", "i32", "b64", return firstOne(a);),
    SOP1("s_flbit_i32_b32", "i32", "b32", return leadingZeros(a, 32);),
    SOP1("s_flbit_i32_b64", "i32", "b64", return leadingZeros(a, 64);),
    SOP1("s_flbit_i32", "i32", "i32", return signBits(I(a), 32);),
    SOP1("s_flbit_i32_i64", "i32", "i64", return signBits(int64_t(a), 64);),
    SOP1("s_sext_i32_i8", "i32", "b32", return uint64_t(int64_t(int8_t(a)));),
    SOP1("s_sext_i32_i16", "i32", "b32", return uint64_t(int64_t(int16_t(a)));),
    SOP1("s_bitset0_b32", "+b32", "b32", return b & ~(1ull << (a & 31));),
    SOP1("s_bitset0_b64", "+b64", "b32", return b & ~(1ull << (a & 63));),
    SOP1("s_bitset1_b32", "+b32", "b32", return b | 1ull << (a & 31);),
    SOP1("s_bitset1_b64", "+b64", "b32", return b | 1ull << (a & 63);),
    SOP1S("s_abs_i32", "i32", "i32", return I(a) < 0 ? 0 - a : a;),
    SOP1("s_bitreplicate_b64_b32", "b64", "b32", return doubled(a);),
    // SOPC
    SOPC("s_cmp_eq_i32", "i32 i32", a == b),
    SOPC("s_cmp_lg_i32", "i32 i32", a != b),
    SOPC("s_cmp_gt_i32", "i32 i32", I(a) > I(b)),
    SOPC("s_cmp_ge_i32", "i32 i32", I(a) >= I(b)),
    SOPC("s_cmp_lt_i32", "i32 i32", I(a) < I(b)),
    SOPC("s_cmp_le_i32", "i32 i32", I(a) <= I(b)),
    SOPC("s_cmp_eq_u32", "u32 u32", a == b),
    SOPC("s_cmp_lg_u32", "u32 u32", a != b),
    SOPC("s_cmp_gt_u32", "u32 u32", a > b),
    SOPC("s_cmp_ge_u32", "u32 u32", a >= b),
    SOPC("s_cmp_lt_u32", "u32 u32", a < b),
    SOPC("s_cmp_le_u32", "u32 u32", a <= b),
    SOPC("s_cmp_eq_u64", "u64 u64", a == b),
    SOPC("s_cmp_lg_u64", "u64 u64", a != b),
    SOPC("s_bitcmp0_b32", "b32 u32", !(a >> (b & 31) & 1)),
    SOPC("s_bitcmp1_b32", "b32 u32", a >> (b & 31) & 1),
    SOPC("s_bitcmp0_b64", "b64 u32", !(a >> (b & 63) & 1)),
    SOPC("s_bitcmp1_b64", "b64 u32", a >> (b & 63) & 1),
    // SOPK
    {"s_movk_i32", Format::Sopk, "i32 = simm16", scalarOp, FN(return uint64_t(int64_t(int16_t(a)));)},
    {"s_cmovk_i32", Format::Sopk, "+i32 = simm16", scalarOp, FN(return w.scc ? uint64_t(int64_t(int16_t(a))) : b;)},
    {"s_addk_i32", Format::Sopk, "+i32 = simm16", scalarOp, FN(return addSigned(w, I(b), int16_t(a));)},
    {"s_mulk_i32", Format::Sopk, "+i32 = simm16", scalarOp, FN(return uint64_t(int64_t(int16_t(a))) * b;)},
    SOPK("s_cmpk_eq_i32", "i32", I(a) == int16_t(b)),
    SOPK("s_cmpk_lg_i32", "i32", I(a) != int16_t(b)),
    SOPK("s_cmpk_gt_i32", "i32", I(a) > int16_t(b)),
    SOPK("s_cmpk_ge_i32", "i32", I(a) >= int16_t(b)),
    SOPK("s_cmpk_lt_i32", "i32", I(a) < int16_t(b)),
    SOPK("s_cmpk_le_i32", "i32", I(a) <= int16_t(b)),
    SOPK("s_cmpk_eq_u32", "u32", a == uint16_t(b)),
    SOPK("s_cmpk_lg_u32", "u32", a != uint16_t(b)),
    SOPK("s_cmpk_gt_u32", "u32", a > uint16_t(b)),
    SOPK("s_cmpk_ge_u32", "u32", a >= uint16_t(b)),
    SOPK("s_cmpk_lt_u32", "u32", a < uint16_t(b)),
    SOPK("s_cmpk_le_u32", "u32", a <= uint16_t(b)),
};

Table scalarOps() { return {kScalarTable, sizeof kScalarTable / sizeof *kScalarTable}; }

} // namespace machine

#undef FN
#undef U
#undef I
#undef SOP2
#undef LOGIC
#undef SHIFT
#undef SOP1
#undef SOP1S
#undef SOPC
#undef SOPK
