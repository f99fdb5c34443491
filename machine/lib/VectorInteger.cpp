// Vector integer arithmetic and bit operations. Where clamp saturates, lane functions return the exact result.
#include "machine/Arithmetic.h"
#include "machine/Fast.h"

namespace machine {

#define U(x) uint32_t(x)
#define I(x) int64_t(int32_t(x))

FAST_OP(MovB32, 1, false, false, a);
FAST_OP(NotB32, 1, false, false, ~a);
FAST_OP(AndB32, 2, false, false, a & b);
FAST_OP(OrB32, 2, false, false, a | b);
FAST_OP(XorB32, 2, false, false, a ^ b);
FAST_OP(AddU32, 2, false, false, a + b);
FAST_OP(SubU32, 2, false, false, a - b);
FAST_OP(SubrevU32, 2, false, false, b - a);
FAST_OP(LshlrevB32, 2, false, false, b << (a & 31));
FAST_OP(LshrrevB32, 2, false, false, b >> (a & 31));
FAST_OP(AshrrevI32, 2, false, false, uint32_t(int32_t(b) >> (a & 31)));
FAST_OP(MulLoU32, 2, false, false, a * b);
FAST_OP(MaxI32, 2, false, false, int32_t(a) > int32_t(b) ? a : b);
FAST_OP(MinI32, 2, false, false, int32_t(a) < int32_t(b) ? a : b);
FAST_OP(MaxU32, 2, false, false, a > b ? a : b);
FAST_OP(MinU32, 2, false, false, a < b ? a : b);
FAST_OP(Add3U32, 3, false, false, a + b + c);
FAST_OP(LshlAddU32, 3, false, false, (a << (b & 31)) + c);
FAST_OP(AddLshlU32, 3, false, false, (a + b) << (c & 31));
FAST_OP(LshlOrB32, 3, false, false, (a << (b & 31)) | c);
FAST_OP(AndOrB32, 3, false, false, (a & b) | c);
FAST_OP(Or3B32, 3, false, false, a | b | c);
FAST_OP(BfiB32, 3, false, false, (a & b) | (~a & c));
FAST_OP(BfeU32, 3, false, false, a >> (b & 31) & ((1u << (c & 31)) - 1));
FAST_OP(XadU32, 3, false, false, (a ^ b) + c);
FAST_OP(MulU32U24, 2, false, false, (a & 0xFFFFFF) * (b & 0xFFFFFF));

static uint64_t mul24(uint64_t a, uint64_t b) { return (a & 0xFFFFFF) * (b & 0xFFFFFF); }
static uint64_t mulI24(uint64_t a, uint64_t b) { return sext(a, 24) * sext(b, 24); }

static uint64_t reverse32(uint64_t value) {
  uint64_t out = 0;
  for (int i = 0; i < 32; ++i)
    out |= (value >> i & 1) << (31 - i);
  return out;
}
static uint64_t leading(uint64_t value) { return U(value) ? uint64_t(__builtin_clz(U(value))) : ~0ull; }

static uint64_t lerp(uint64_t a, uint64_t b, uint64_t c) {
  uint64_t out = 0;
  for (int at = 0; at < 32; at += 8)
    out |= ((a >> at & 255) + (b >> at & 255) + (c >> at & 1)) >> 1 << at;
  return out;
}

// Byte `selector` of {high, low}; 8-11: a sign bit spread, 12: zeros, above: ones.
static uint64_t pickByte(uint64_t data, unsigned selector) {
  if (selector >= 13)
    return 0xFF;
  if (selector == 12)
    return 0;
  if (selector >= 8)
    return data >> (16 * (selector - 8) + 15) & 1 ? 0xFF : 0;
  return data >> 8 * selector & 0xFF;
}
static uint64_t permute(uint64_t high, uint64_t low, uint64_t selectors) {
  uint64_t data = high << 32 | low, out = 0;
  for (int at = 0; at < 32; at += 8)
    out |= pickByte(data, selectors >> at & 0xFF) << at;
  return out;
}

// With one selector for all lanes, whose bytes are all copies or 0.
static void permuteBytes(Run &run, Wave &wave, const Instruction &instruction) {
  bool uniform = Kind(instruction.src[2].kind) != Kind::Vgpr;
  uint32_t selectors = uniform ? uint32_t(readScalar(wave, instruction.src[2], 32)) : 0;
  bool simple = uniform && isPlain(wave, instruction);
  unsigned shift[4];
  uint32_t mask[4];
  for (int i = 0; i < 4; ++i) {
    unsigned selector = selectors >> 8 * i & 0xFF;
    simple &= selector < 8 || selector == 12;
    shift[i] = 8 * (selector & 7);
    mask[i] = selector < 8 ? 0xFF : 0;
  }
  if (!simple)
    return vectorOp(run, wave, instruction);
  alignas(64) uint32_t buffers[2][kLanes], out[kLanes];
  const uint32_t *high = rowOf(wave, instruction.src[0], buffers[0]);
  const uint32_t *low = rowOf(wave, instruction.src[1], buffers[1]);
  for (int lane = 0; lane < kLanes; ++lane) {
    uint64_t data = uint64_t(high[lane]) << 32 | low[lane];
    uint32_t word = 0;
    for (int i = 0; i < 4; ++i)
      word |= (uint32_t(data >> shift[i]) & mask[i]) << 8 * i;
    out[lane] = word;
  }
  writeRow(wave, instruction.dst[0].reg, out, wave.exec());
}

static uint64_t apart(uint64_t x, uint64_t y) { return x > y ? x - y : y - x; }
// Sum of differences of unsigned elements; `masked`: elements of b that are 0 do not count.
static uint64_t differences(uint64_t a, uint64_t b, int bits, bool masked) {
  uint64_t sum = 0, mask = (1ull << bits) - 1;
  for (int at = 0; at < 32; at += bits)
    if (!masked || (b >> at & mask))
      sum += apart(a >> at & mask, b >> at & mask);
  return sum;
}

static uint64_t fieldI32(uint64_t value, uint64_t at, uint64_t width) {
  width &= 31;
  return width ? sext(uint64_t(I(value) >> (at & 31)), int(width)) : 0;
}

static uint64_t saturateByte(int64_t value, int64_t least, int64_t most) {
  return uint64_t(std::clamp(value, least, most)) & 0xFF;
}
static uint64_t shiftPack(uint64_t a, uint64_t b, uint64_t by, int64_t least, int64_t most) {
  return saturateByte(I(a) >> (by & 31), least, most) | saturateByte(I(b) >> (by & 31), least, most) << 8;
}

#define OP1(name, to, from, ...) {name, Format::Vop1, to " = " from, vectorOp, LANE(return __VA_ARGS__;)}
#define OP2(name, type, ...) {name, Format::Vop2, type " = " type " " type, vectorOp, LANE(return __VA_ARGS__;)}
#define OP3(name, signature, ...) {name, Format::Vop3, signature, vectorOp, LANE(return __VA_ARGS__;)}
#define OP3K(name, signature, ...) {name, Format::Vop3, signature, vectorOp, LANE(return __VA_ARGS__;), kKeepHigh}
#define QUICK(name, format, signature, Op) {name, Format::format, signature, fastVector<Op>, Op::lane}
// With clamp the sum saturates, so the generic way gets the exact one.
#define QUICKX(name, format, signature, Op, ...)                                                                       \
  {name, Format::format, signature, fastVector<Op>, LANE(return __VA_ARGS__;)}

static const OpInfo kVectorIntegerTable[] = {
    QUICK("v_mov_b32", Vop1, "b32 = b32", MovB32),
    QUICK("v_accvgpr_mov_b32", Vop1, "b32 = b32", MovB32),
    QUICK("v_accvgpr_read_b32", Vop3p, "b32 = b32", MovB32),
    QUICK("v_accvgpr_write_b32", Vop3p, "b32 = b32", MovB32),
    OP1("v_mov_b64", "b64", "b64", a),
    QUICK("v_not_b32", Vop1, "b32 = b32", NotB32),
    OP1("v_bfrev_b32", "b32", "b32", reverse32(a)),
    OP1("v_ffbh_u32", "u32", "u32", leading(a)),
    OP1("v_ffbl_b32", "u32", "b32", a ? uint64_t(__builtin_ctzll(a)) : ~0ull),
    OP1("v_ffbh_i32", "u32", "i32", leading(uint64_t(I(a) ^ (I(a) >> 31)))),
    OP1("v_sat_pk_u8_i16", "b16", "i16x2",
        saturateByte(int16_t(a), 0, 255) | saturateByte(int16_t(a >> 16), 0, 255) << 8),

    QUICK("v_and_b32", Vop2, "b32 = b32 b32", AndB32),
    QUICK("v_or_b32", Vop2, "b32 = b32 b32", OrB32),
    QUICK("v_xor_b32", Vop2, "b32 = b32 b32", XorB32),
    OP2("v_xnor_b32", "b32", ~(a ^ b)),
    QUICK("v_lshlrev_b32", Vop2, "b32 = u32 b32", LshlrevB32),
    QUICK("v_lshrrev_b32", Vop2, "b32 = u32 b32", LshrrevB32),
    QUICK("v_ashrrev_i32", Vop2, "i32 = u32 i32", AshrrevI32),
    QUICKX("v_add_u32", Vop2, "u32 = u32 u32", AddU32, a + b),
    QUICKX("v_sub_u32", Vop2, "u32 = u32 u32", SubU32, a - b),
    QUICKX("v_subrev_u32", Vop2, "u32 = u32 u32", SubrevU32, b - a),
    QUICK("v_min_i32", Vop2, "i32 = i32 i32", MinI32),
    QUICK("v_max_i32", Vop2, "i32 = i32 i32", MaxI32),
    QUICK("v_min_u32", Vop2, "u32 = u32 u32", MinU32),
    QUICK("v_max_u32", Vop2, "u32 = u32 u32", MaxU32),
    OP2("v_mul_i32_i24", "i32", mulI24(a, b)),
    OP2("v_mul_hi_i32_i24", "i32", uint64_t(int64_t(mulI24(a, b)) >> 32)),
    QUICKX("v_mul_u32_u24", Vop2, "u32 = u32 u32", MulU32U24, mul24(a, b)),
    OP2("v_mul_hi_u32_u24", "u32", mul24(a, b) >> 32),
    OP2("v_add_u16", "u16", a + b),
    OP2("v_sub_u16", "u16", a - b),
    OP2("v_subrev_u16", "u16", b - a),
    OP2("v_mul_lo_u16", "u16", a * b),
    {"v_lshlrev_b16", Format::Vop2, "b16 = u16 b16", vectorOp, LANE(return b << (a & 15);)},
    {"v_lshrrev_b16", Format::Vop2, "b16 = u16 b16", vectorOp, LANE(return b >> (a & 15);)},
    {"v_ashrrev_i16", Format::Vop2, "i16 = u16 i16", vectorOp, LANE(return sext(b, 16) >> (a & 15);)},
    OP2("v_max_u16", "u16", std::max(a, b)),
    OP2("v_min_u16", "u16", std::min(a, b)),
    OP2("v_max_i16", "i16", uint64_t(std::max(int16_t(a), int16_t(b)))),
    OP2("v_min_i16", "i16", uint64_t(std::min(int16_t(a), int16_t(b)))),

    QUICK("v_mul_lo_u32", Vop3, "u32 = u32 u32", MulLoU32),
    OP3("v_mul_hi_u32", "u32 = u32 u32", a * b >> 32),
    OP3("v_mul_hi_i32", "i32 = i32 i32", uint64_t(I(a) * I(b) >> 32)),
    QUICKX("v_add_i32", Vop3, "i32 = i32 i32", AddU32, uint64_t(I(a) + I(b))),
    QUICKX("v_sub_i32", Vop3, "i32 = i32 i32", SubU32, uint64_t(I(a) - I(b))),
    OP3K("v_add_i16", "i16 = i16 i16", sext(a, 16) + sext(b, 16)),
    OP3K("v_sub_i16", "i16 = i16 i16", sext(a, 16) - sext(b, 16)),
    QUICK("v_add3_u32", Vop3, "u32 = u32 u32 u32", Add3U32),
    QUICK("v_lshl_add_u32", Vop3, "u32 = u32 u32 u32", LshlAddU32),
    QUICK("v_add_lshl_u32", Vop3, "u32 = u32 u32 u32", AddLshlU32),
    QUICK("v_lshl_or_b32", Vop3, "b32 = b32 u32 b32", LshlOrB32),
    QUICK("v_and_or_b32", Vop3, "b32 = b32 b32 b32", AndOrB32),
    QUICK("v_or3_b32", Vop3, "b32 = b32 b32 b32", Or3B32),
    QUICK("v_xad_u32", Vop3, "u32 = u32 u32 u32", XadU32),
    QUICK("v_bfi_b32", Vop3, "b32 = b32 b32 b32", BfiB32),
    QUICK("v_bfe_u32", Vop3, "u32 = u32 u32 u32", BfeU32),
    OP3("v_bfe_i32", "i32 = i32 u32 u32", fieldI32(a, b, c)),
    OP3("v_bfm_b32", "b32 = u32 u32", ((1ull << (a & 31)) - 1) << (b & 31)),
    OP3("v_bcnt_u32_b32", "u32 = b32 u32", uint64_t(__builtin_popcountll(a)) + b),
    OP3("v_lshlrev_b64", "b64 = u32 b64", b << (a & 63)),
    OP3("v_lshrrev_b64", "b64 = u32 b64", b >> (a & 63)),
    OP3("v_ashrrev_i64", "i64 = u32 i64", uint64_t(int64_t(b) >> (a & 63))),
    OP3("v_lshl_add_u64", "u64 = u64 u32 u64", (a << (b & 7)) + c),
    OP3("v_mad_u32_u24", "u32 = u32 u32 u32", mul24(a, b) + c),
    OP3("v_mad_i32_i24", "i32 = i32 i32 i32", mulI24(a, b) + uint64_t(I(c))),
    OP3("v_mad_u32_u16", "u32 = u16 u16 u32", a * b + c),
    OP3("v_mad_i32_i16", "i32 = i16 i16 i32", sext(a, 16) * sext(b, 16) + uint64_t(I(c))),
    OP3K("v_mad_u16", "u16 = u16 u16 u16", a * b + c),
    OP3K("v_mad_i16", "i16 = i16 i16 i16", sext(a, 16) * sext(b, 16) + sext(c, 16)),
    OP3("v_mad_legacy_u16", "u16 = u16 u16 u16", a * b + c),
    OP3("v_mad_legacy_i16", "i16 = i16 i16 i16", sext(a, 16) * sext(b, 16) + sext(c, 16)),
    OP3("v_alignbit_b32", "b32 = b32 b32 u32", (a << 32 | b) >> (c & 31)),
    OP3("v_alignbyte_b32", "b32 = b32 b32 u32", (a << 32 | b) >> 8 * (c & 3)),
    {"v_perm_b32", Format::Vop3, "b32 = b32 b32 b32", permuteBytes, LANE(return permute(a, b, c);)},
    OP3("v_lerp_u8", "u32 = u32 u32 u32", lerp(a, b, c)),
    OP3("v_sad_u8", "u32 = u32 u32 u32", differences(a, b, 8, false) + c),
    OP3("v_sad_hi_u8", "u32 = u32 u32 u32", (differences(a, b, 8, false) << 16) + c),
    OP3("v_sad_u16", "u32 = u32 u32 u32", differences(a, b, 16, false) + c),
    OP3("v_sad_u32", "u32 = u32 u32 u32", apart(a, b) + c),
    OP3("v_msad_u8", "u32 = u32 u32 u32", differences(a, b, 8, true) + c),
    OP3("v_min3_i32", "i32 = i32 i32 i32", uint64_t(std::min({I(a), I(b), I(c)}))),
    OP3("v_max3_i32", "i32 = i32 i32 i32", uint64_t(std::max({I(a), I(b), I(c)}))),
    OP3("v_med3_i32", "i32 = i32 i32 i32", middle(I(a), I(b), I(c))),
    OP3("v_min3_u32", "u32 = u32 u32 u32", std::min({a, b, c})),
    OP3("v_max3_u32", "u32 = u32 u32 u32", std::max({a, b, c})),
    OP3("v_med3_u32", "u32 = u32 u32 u32", middle(a, b, c)),
    OP3K("v_min3_i16", "i16 = i16 i16 i16", uint64_t(std::min({int16_t(a), int16_t(b), int16_t(c)}))),
    OP3K("v_max3_i16", "i16 = i16 i16 i16", uint64_t(std::max({int16_t(a), int16_t(b), int16_t(c)}))),
    OP3K("v_med3_i16", "i16 = i16 i16 i16", middle(int16_t(a), int16_t(b), int16_t(c))),
    OP3K("v_min3_u16", "u16 = u16 u16 u16", std::min({a, b, c})),
    OP3K("v_max3_u16", "u16 = u16 u16 u16", std::max({a, b, c})),
    OP3K("v_med3_u16", "u16 = u16 u16 u16", middle(a, b, c)),
    {"v_ashr_pk_i8_i32", Format::Vop3, "b16 = i32 i32 u32", vectorOp, LANE(return shiftPack(a, b, c, -128, 127);),
     kKeepHigh, 2},
    {"v_ashr_pk_u8_i32", Format::Vop3, "b16 = i32 i32 u32", vectorOp, LANE(return shiftPack(a, b, c, 0, 255);),
     kKeepHigh, 2},
};

Table vectorIntegerOps() { return {kVectorIntegerTable, sizeof kVectorIntegerTable / sizeof *kVectorIntegerTable}; }

} // namespace machine

#undef U
#undef I
#undef OP1
#undef OP2
#undef OP3
#undef OP3K
#undef QUICK
#undef QUICKX
