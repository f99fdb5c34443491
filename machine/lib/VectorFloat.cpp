// Vector floating-point arithmetic.
#include "machine/Arithmetic.h"
#include "machine/Half.h"

namespace machine {

FAST_OP(AddF32, 2, true, false, uint32_t(rawF32(asF32(a) + asF32(b))));
FAST_OP(SubF32, 2, true, false, uint32_t(rawF32(asF32(a) - asF32(b))));
FAST_OP(SubrevF32, 2, true, false, uint32_t(rawF32(asF32(b) - asF32(a))));
FAST_OP(MulF32, 2, true, false, uint32_t(rawF32(asF32(a) * asF32(b))));
// Equal numbers differ in their bits where they are zeros of both signs. A NaN on the left takes the long way.
FAST_OP(MaxF32, 2, true, false,
        either(asF32(a) != asF32(a), a,
               either(asF32(a) > asF32(b), a, either(asF32(a) == asF32(b), a & b, b))));
FAST_OP(MinF32, 2, true, false,
        either(asF32(a) != asF32(a), a,
               either(asF32(a) < asF32(b), a, either(asF32(a) == asF32(b), a | b, b))));
FAST_OP(Max3F32, 3, true, false, MaxF32::run(MaxF32::run(a, b, 0), c, 0));
FAST_OP(Med3F32, 3, true, false, MaxF32::run(MinF32::run(a, b, 0), MinF32::run(MaxF32::run(a, b, 0), c, 0), 0));
FAST_OP(Min3F32, 3, true, false, MinF32::run(MinF32::run(a, b, 0), c, 0));

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) // the choice is made when loading
#define WITH_HARDWARE_FMA __attribute__((target_clones("arch=haswell", "default")))
#else
#define WITH_HARDWARE_FMA
#endif

WITH_HARDWARE_FMA void fmaRows(uint32_t *__restrict out, const uint32_t *a, const uint32_t *b, const uint32_t *c) {
  for (int lane = 0; lane < kLanes; ++lane)
    out[lane] = uint32_t(rawF32(__builtin_fmaf(asF32(a[lane]), asF32(b[lane]), asF32(c[lane]))));
}

template <bool Accumulates> static void fmaF32(Run &run, Wave &wave, const Instruction &instruction) {
  if (!isNearlyPlain(wave, instruction) || !isPlainF32(wave))
    return vectorOp(run, wave, instruction);
  alignas(64) uint32_t buffers[3][kLanes], out[kLanes];
  const uint32_t *a = floatRowOf(wave, instruction.src[0], buffers[0]);
  const uint32_t *b = floatRowOf(wave, instruction.src[1], buffers[1]);
  const uint32_t *c = Accumulates ? wave.v[instruction.dst[0].reg] : floatRowOf(wave, instruction.src[2], buffers[2]);
  fmaRows(out, a, b, c);
  if (anyNaN(out))
    return vectorOp(run, wave, instruction);
  writeRow(wave, instruction.dst[0].reg, out, wave.exec());
}

// --- one source ---

template <int Bits, double (*F)(double)> static uint64_t rounded(Wave &w, uint64_t a, uint64_t, uint64_t) {
  a = flushIn<Bits>(w, a);
  return isNaN<Bits>(a) ? quiet<Bits>(a) : finish<Bits>(w, F(toDouble<Bits>(a)));
}

static double nearestEven(double x) {
  if (std::fabs(x) >= 0x1p52)
    return x;
  double low = std::floor(x), rest = x - low;
  bool up = rest > 0.5 || (rest == 0.5 && std::fmod(low, 2) != 0);
  return std::copysign(up ? low + 1 : low, x);
}

// Never 1: the difference of a tiny negative number would round to it.
template <int Bits> static uint64_t fraction(Wave &w, uint64_t a, uint64_t, uint64_t) {
  a = flushIn<Bits>(w, a);
  if (isNaN<Bits>(a))
    return quiet<Bits>(a);
  if (isInf<Bits>(a))
    return Fields<Bits>::sign | Fields<Bits>::inf | Fields<Bits>::quiet;
  double x = toDouble<Bits>(a);
  uint64_t result = finish<Bits>(w, x - std::floor(x));
  constexpr uint64_t one = uint64_t(Fields<Bits>::bias) << Fields<Bits>::mantissa;
  return std::min(result, one - 1);
}

// What the transcendental unit computes, here rounded correctly from double. Its f32 functions know no denormals,
// whatever MODE says (LLVM scales their arguments and results for that reason).
template <int Bits, double (*F)(double)> static uint64_t transcendental(Wave &w, uint64_t a, uint64_t, uint64_t) {
  a = Bits == 32 && isDenormal<32>(a) ? a & kSignF32 : flushIn<Bits>(w, a);
  if (isNaN<Bits>(a))
    return quiet<Bits>(a);
  double value = F(toDouble<Bits>(a));
  if (std::isnan(value))
    return Fields<Bits>::sign | Fields<Bits>::inf | Fields<Bits>::quiet;
  uint64_t result = finish<Bits>(w, value);
  return Bits == 32 && isDenormal<32>(result) ? result & kSignF32 : result;
}

// The same for rows without special cases.
template <double (*F)(double)> static void fastTranscendental(Run &run, Wave &wave, const Instruction &instruction) {
  if (!isNearlyPlain(wave, instruction) || !isPlainF32(wave))
    return vectorOp(run, wave, instruction);
  uint32_t buffer[kLanes], out[kLanes];
  const uint32_t *in = floatRowOf(wave, instruction.src[0], buffer);
  auto flushed = [](uint32_t raw) { return raw & kInfF32 ? raw : raw & uint32_t(kSignF32); };
  uint64_t exec = wave.exec();
  for (int lane = 0; lane < kLanes; ++lane)
    out[lane] = exec >> lane & 1 ? flushed(uint32_t(rawF32(float(F(asF32(flushed(in[lane]))))))) : 0;
  if (anyNaN(out))
    return vectorOp(run, wave, instruction);
  writeRow(wave, instruction.dst[0].reg, out, exec);
}

static double exp2Of(double x) { return std::exp2(x); }
static double log2Of(double x) { return std::log2(x); }
static double reciprocal(double x) { return 1 / x; }
static double squareRoot(double x) { return std::sqrt(x); }
static double reciprocalRoot(double x) { return double(1 / std::sqrt((long double)x)); }

constexpr double kTurn = 6.283185307179586476925286766559, kMostTurns = 256;

// Sine of so many turns plus `quarter` quarter turns; exact at the quarters.
static double sineOfTurns(double turns, int quarter) {
  double rest = turns - std::floor(turns); // exact
  double nearest = std::floor(rest * 4 + 0.5), angle = (rest - nearest / 4) * kTurn;
  switch ((int(nearest) + quarter) & 3) {
  case 0:
    return std::sin(angle);
  case 1:
    return std::cos(angle);
  case 2:
    return -std::sin(angle) + 0.0;
  default:
    return -std::cos(angle);
  }
}
static double sine(double x) {
  if (!std::isfinite(x))
    return NAN;
  return x == 0 ? x : std::fabs(x) > kMostTurns ? 0 : sineOfTurns(x, 0);
}
static double cosine(double x) {
  if (!std::isfinite(x))
    return NAN;
  return std::fabs(x) > kMostTurns ? 1 : sineOfTurns(x, 1);
}

template <int Bits> static uint64_t frexpMantissa(Wave &w, uint64_t a, uint64_t, uint64_t) {
  a = flushIn<Bits>(w, a);
  int exponent; // NaN and infinity stay as they are, bit for bit (ISA pseudo-code)
  return isNaN<Bits>(a) || isInf<Bits>(a) ? a : fromDouble<Bits>(std::frexp(toDouble<Bits>(a), &exponent), kNearest);
}
template <int Bits> static uint64_t frexpExponent(Wave &w, uint64_t a, uint64_t, uint64_t) {
  a = flushIn<Bits>(w, a);
  if (isNaN<Bits>(a) || isInf<Bits>(a))
    return 0;
  int exponent;
  std::frexp(toDouble<Bits>(a), &exponent);
  return uint64_t(int64_t(exponent));
}

// --- two and three ---

template <int Bits> static uint64_t scaleByPower(Wave &w, uint64_t a, int64_t exponent) {
  a = flushIn<Bits>(w, a);
  if (isNaN<Bits>(a))
    return quiet<Bits>(a);
  int most = Bits == 64 ? 3000 : 400; // beyond: 0 or infinity in any case
  int by = int(std::clamp<int64_t>(exponent, -most, most));
  return finish<Bits>(w, std::ldexp(toDouble<Bits>(a), by));
}

static uint64_t legacyMultiply(Wave &w, uint64_t a, uint64_t b) {
  bool zero = isZero<32>(flushIn<32>(w, a)) || isZero<32>(flushIn<32>(w, b));
  return zero ? 0 : multiply<32>(w, a, b);
}

// Beyond the greatest or below the smallest number, by rounding mode: away from zero or not.
template <int Bits> static uint64_t outOfRange(const Wave &w, uint64_t sign, bool over) {
  Rounding rounding = roundingOf<Bits>(w);
  bool away = rounding == (sign ? kDown : kUp);
  if (over)
    return sign | (Fields<Bits>::inf - (away || rounding == kNearest ? 0 : 1));
  return flushOut<Bits>(w, sign | uint64_t(away));
}

// The last step of a division: a is the quotient computed, b the denominator, c the numerator. The published
// pseudo-code asks whether the denominator's exponent is the greatest, which cannot be there; the quotient's is what
// overflow leaves.
template <int Bits> static uint64_t fixUp(Wave &w, uint64_t a, uint64_t b, uint64_t c) {
  using F = Fields<Bits>;
  uint64_t sign = (b ^ c) & F::sign;
  b = flushIn<Bits>(w, b);
  c = flushIn<Bits>(w, c);
  if (isNaN<Bits>(c))
    return quiet<Bits>(c);
  if (isNaN<Bits>(b))
    return quiet<Bits>(b);
  if ((isZero<Bits>(b) && isZero<Bits>(c)) || (isInf<Bits>(b) && isInf<Bits>(c)))
    return F::sign | F::inf | F::quiet;
  if (isZero<Bits>(b) || isInf<Bits>(c))
    return sign | F::inf;
  if (isInf<Bits>(b) || isZero<Bits>(c))
    return sign;
  // below half of the smallest denormal
  int least = -(F::bias + F::mantissa);
  if (Bits != 16 && exponentField<Bits>(c) - exponentField<Bits>(b) < least)
    return outOfRange<Bits>(w, sign, false);
  if (Bits != 16 && (a & F::inf) == F::inf)
    return outOfRange<Bits>(w, sign, true);
  return sign | magnitude<Bits>(flushOut<Bits>(w, a));
}

// Bits [shift, shift + 53) of 2/pi after its point, as a double scaled to their place.
static uint64_t twoOverPi(Wave &, uint64_t a, uint64_t b, uint64_t) {
  static constexpr uint64_t kBits[20] = { // 2/pi in binary, first bit after the point first
      0xA2F9836E4E441529, 0xFC2757D1F534DDC0, 0xDB6295993C439041, 0xFE5163ABDEBBC561, 0xB7246E3A424DD2E0,
      0x06492EEA09D1921C, 0xFE1DEB1CB129A73E, 0xE88235F52EBB4484, 0xE99C7026B45F7E41, 0x3991D639835339F4,
      0x9C845F8BBDF9283B, 0x1FF897FFDE05980F, 0xEF2F118B5A0A6D1F, 0x6D367ECF27CB09B7, 0x4F463F669E5FEA2D,
      0x7527BAC7EBE5F17B, 0x3D0739F78A5292EA, 0x6BFB5FB11F8D5D08, 0x56033046FC7B6BAB, 0};
  constexpr int known = 1201; // the hardware's table ends here
  int exponent = exponentField<64>(a), shift = int(b & 31) * 53;
  if (exponent > 1077)
    shift += exponent - 1077;
  uint64_t bits = 0;
  for (int i = 0; i < 53; ++i) {
    int at = shift + i;
    bits = bits << 1 | (at < known ? kBits[at / 64] >> (63 - at % 64) & 1 : 0);
  }
  int scale = -53 - shift + (exponent >= 1968 ? 128 : 0);
  return rawF64(std::ldexp(double(bits), scale));
}

// --- cube maps: face, coordinates and major axis of the direction (x, y, z) ---

struct Direction {
  float x, y, z;
  char major;
  Direction(Wave &w, uint64_t a, uint64_t b, uint64_t c)
      : x(asF32(flushIn<32>(w, a))), y(asF32(flushIn<32>(w, b))), z(asF32(flushIn<32>(w, c))) {
    float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
    major = az >= ax && az >= ay ? 'z' : ay >= ax ? 'y' : 'x';
  }
  float along() const { return major == 'z' ? z : major == 'y' ? y : x; }
};
static uint64_t cubeFace(Wave &w, uint64_t a, uint64_t b, uint64_t c) {
  Direction d(w, a, b, c);
  float face = d.major == 'z' ? 4 : d.major == 'y' ? 2 : 0;
  return rawF32(d.along() < 0 ? face + 1 : face);
}
static uint64_t cubeS(Wave &w, uint64_t a, uint64_t b, uint64_t c) {
  Direction d(w, a, b, c);
  bool negative = d.along() < 0;
  return rawF32(d.major == 'z' ? (negative ? -d.x : d.x) : d.major == 'y' ? d.x : negative ? d.z : -d.z);
}
static uint64_t cubeT(Wave &w, uint64_t a, uint64_t b, uint64_t c) {
  Direction d(w, a, b, c);
  return rawF32(d.major != 'y' ? -d.y : d.along() < 0 ? -d.z : d.z);
}
static uint64_t cubeAxis(Wave &w, uint64_t a, uint64_t b, uint64_t c) {
  return rawF32(Direction(w, a, b, c).along() * 2);
}

// --- tables ---

#define UNARY(name, type, ...) {name, Format::Vop1, type " = " type, vectorOp, __VA_ARGS__}
#define OP(name, format, signature, ...) {name, Format::format, signature, vectorOp, LANE(return __VA_ARGS__;)}
#define BINARY(name, format, type, ...) OP(name, format, type " = " type " " type, __VA_ARGS__)
#define TERNARY(name, type, ...) OP(name, Vop3, type " = " type " " type " " type, __VA_ARGS__)
#define TERNARYK(name, type, ...) \
  {name, Format::Vop3, type " = " type " " type " " type, vectorOp, LANE(return __VA_ARGS__;), kKeepHigh}
#define ROUND(name, F)                                                                                                 \
  UNARY(name "_f16", "f16", rounded<16, F>), UNARY(name "_f32", "f32", rounded<32, F>),                                \
      UNARY(name "_f64", "f64", rounded<64, F>)
#define TRANS(name, F)                                                                                                 \
  UNARY(name "_f16", "f16", transcendental<16, F>),                                                                    \
      {name "_f32", Format::Vop1, "f32 = f32", fastTranscendental<F>, transcendental<32, F>}
#define QUICK_HALF(name, Op, ...) {name, Format::Vop2, "f16 = f16 f16", fastHalf<Op>, LANE(return __VA_ARGS__;)}
#define QUICK(name, Op, ...) {name, Format::Vop2, "f32 = f32 f32", fastVector<Op>, LANE(return __VA_ARGS__;)}

static const OpInfo kVectorFloatTable[] = {
    ROUND("v_floor", std::floor),
    ROUND("v_ceil", std::ceil),
    ROUND("v_trunc", std::trunc),
    ROUND("v_rndne", nearestEven),
    UNARY("v_fract_f16", "f16", fraction<16>),
    UNARY("v_fract_f32", "f32", fraction<32>),
    UNARY("v_fract_f64", "f64", fraction<64>),
    TRANS("v_exp", exp2Of),
    TRANS("v_log", log2Of),
    TRANS("v_rcp", reciprocal),
    TRANS("v_rsq", reciprocalRoot),
    TRANS("v_sqrt", squareRoot),
    TRANS("v_sin", sine),
    TRANS("v_cos", cosine),
    UNARY("v_exp_legacy_f32", "f32", transcendental<32, exp2Of>),
    UNARY("v_log_legacy_f32", "f32", transcendental<32, log2Of>),
    UNARY("v_rcp_iflag_f32", "f32", transcendental<32, reciprocal>),
    UNARY("v_rcp_f64", "f64", transcendental<64, reciprocal>),
    UNARY("v_rsq_f64", "f64", transcendental<64, reciprocalRoot>),
    UNARY("v_sqrt_f64", "f64", transcendental<64, squareRoot>),
    UNARY("v_frexp_mant_f16", "f16", frexpMantissa<16>),
    UNARY("v_frexp_mant_f32", "f32", frexpMantissa<32>),
    UNARY("v_frexp_mant_f64", "f64", frexpMantissa<64>),
    {"v_frexp_exp_i16_f16", Format::Vop1, "i16 = f16", vectorOp, frexpExponent<16>},
    {"v_frexp_exp_i32_f32", Format::Vop1, "i32 = f32", vectorOp, frexpExponent<32>},
    {"v_frexp_exp_i32_f64", Format::Vop1, "i32 = f64", vectorOp, frexpExponent<64>},

    QUICK("v_add_f32", AddF32, add<32>(w, a, b)),
    QUICK("v_sub_f32", SubF32, subtract<32>(w, a, b)),
    QUICK("v_subrev_f32", SubrevF32, subtract<32>(w, b, a)),
    QUICK("v_mul_f32", MulF32, multiply<32>(w, a, b)),
    QUICK("v_min_f32", MinF32, (extreme<32, false>(w, a, b))),
    QUICK("v_max_f32", MaxF32, (extreme<32, true>(w, a, b))),
    {"v_fmac_f32", Format::Vop2, "+f32 = f32 f32", fmaF32<true>, LANE(return fusedMultiplyAdd<32>(w, a, b, c);)},
    {"v_fmamk_f32", Format::Vop2, "f32 = f32 f32 f32", fmaF32<false>, LANE(return fusedMultiplyAdd<32>(w, a, b, c);)},
    {"v_fmaak_f32", Format::Vop2, "f32 = f32 f32 f32", fmaF32<false>, LANE(return fusedMultiplyAdd<32>(w, a, b, c);)},
    {"v_fma_f32", Format::Vop3, "f32 = f32 f32 f32", fmaF32<false>, LANE(return fusedMultiplyAdd<32>(w, a, b, c);)},
    {"v_fmac_f64", Format::Vop2, "+f64 = f64 f64", vectorOp, LANE(return fusedMultiplyAdd<64>(w, a, b, c);)},
    QUICK_HALF("v_add_f16", HalfAdd, add<16>(w, a, b)),
    QUICK_HALF("v_sub_f16", HalfSubtract, subtract<16>(w, a, b)),
    QUICK_HALF("v_subrev_f16", HalfSubtractReversed, subtract<16>(w, b, a)),
    QUICK_HALF("v_mul_f16", HalfMultiply, multiply<16>(w, a, b)),
    QUICK_HALF("v_min_f16", HalfExtreme<false>, (extreme<16, false>(w, a, b))),
    QUICK_HALF("v_max_f16", HalfExtreme<true>, (extreme<16, true>(w, a, b))),
    {"v_mac_f16", Format::Vop2, "+f16 = f16 f16", vectorOp, LANE(return multiplyThenAdd<16>(w, a, b, c);)},
    {"v_madmk_f16", Format::Vop2, "f16 = f16 f16 f16", vectorOp, LANE(return multiplyThenAdd<16>(w, a, b, c);)},
    {"v_madak_f16", Format::Vop2, "f16 = f16 f16 f16", vectorOp, LANE(return multiplyThenAdd<16>(w, a, b, c);)},
    {"v_ldexp_f16", Format::Vop2, "f16 = f16 i16", vectorOp, LANE(return scaleByPower<16>(w, a, int16_t(b));)},
    {"v_ldexp_f32", Format::Vop3, "f32 = f32 i32", vectorOp, LANE(return scaleByPower<32>(w, a, int32_t(b));)},
    {"v_ldexp_f64", Format::Vop3, "f64 = f64 i32", vectorOp, LANE(return scaleByPower<64>(w, a, int32_t(b));)},
    BINARY("v_add_f64", Vop3, "f64", add<64>(w, a, b)),
    BINARY("v_mul_f64", Vop3, "f64", multiply<64>(w, a, b)),
    BINARY("v_min_f64", Vop3, "f64", extreme<64, false>(w, a, b)),
    BINARY("v_max_f64", Vop3, "f64", extreme<64, true>(w, a, b)),
    BINARY("v_mul_legacy_f32", Vop3, "f32", legacyMultiply(w, a, b)),
    {"v_trig_preop_f64", Format::Vop3, "f64 = f64 u32", vectorOp, twoOverPi},

    TERNARY("v_fma_f64", "f64", fusedMultiplyAdd<64>(w, a, b, c)),
    {"v_fma_f16", Format::Vop3, "f16 = f16 f16 f16", fastHalf<HalfFma, true>,
     LANE(return fusedMultiplyAdd<16>(w, a, b, c);), kKeepHigh},
    TERNARYK("v_mad_f16", "f16", multiplyThenAdd<16>(w, a, b, c)),
    TERNARY("v_fma_legacy_f16", "f16", fusedMultiplyAdd<16>(w, a, b, c)),
    TERNARY("v_mad_legacy_f16", "f16", multiplyThenAdd<16>(w, a, b, c)),
    {"v_min3_f32", Format::Vop3, "f32 = f32 f32 f32", fastVector<Min3F32>,
     LANE(return extreme3<32, false>(w, a, b, c);)},
    {"v_max3_f32", Format::Vop3, "f32 = f32 f32 f32", fastVector<Max3F32>,
     LANE(return extreme3<32, true>(w, a, b, c);)},
    {"v_med3_f32", Format::Vop3, "f32 = f32 f32 f32", fastVector<Med3F32>, LANE(return median<32>(w, a, b, c);)},
    TERNARYK("v_min3_f16", "f16", extreme3<16, false>(w, a, b, c)),
    TERNARYK("v_max3_f16", "f16", extreme3<16, true>(w, a, b, c)),
    TERNARYK("v_med3_f16", "f16", median<16>(w, a, b, c)),
    {"v_minimum3_f32", Format::Vop3, "f32 = f32 f32 f32", vectorOp,
     LANE(return extremeOrNaN<32, false>(w, extremeOrNaN<32, false>(w, a, b), c);), 0, 2},
    {"v_maximum3_f32", Format::Vop3, "f32 = f32 f32 f32", vectorOp,
     LANE(return extremeOrNaN<32, true>(w, extremeOrNaN<32, true>(w, a, b), c);), 0, 2},
    TERNARY("v_div_fixup_f32", "f32", fixUp<32>(w, a, b, c)),
    TERNARY("v_div_fixup_f64", "f64", fixUp<64>(w, a, b, c)),
    TERNARYK("v_div_fixup_f16", "f16", fixUp<16>(w, a, b, c)),
    TERNARY("v_div_fixup_legacy_f16", "f16", fixUp<16>(w, a, b, c)),
    TERNARY("v_cubeid_f32", "f32", cubeFace(w, a, b, c)),
    TERNARY("v_cubesc_f32", "f32", cubeS(w, a, b, c)),
    TERNARY("v_cubetc_f32", "f32", cubeT(w, a, b, c)),
    TERNARY("v_cubema_f32", "f32", cubeAxis(w, a, b, c)),
};

Table vectorFloatOps() { return {kVectorFloatTable, sizeof kVectorFloatTable / sizeof *kVectorFloatTable}; }

} // namespace machine

#undef WITH_HARDWARE_FMA
#undef UNARY
#undef OP
#undef BINARY
#undef TERNARY
#undef TERNARYK
#undef ROUND
#undef TRANS
#undef QUICK_HALF
#undef QUICK
