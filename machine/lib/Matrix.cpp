// v_mfma_* and v_smfmac_*. EXEC is ignored (CDNA3 ISA, "Matrix Arithmetic Instructions"); so are MODE's rounding and
// denormal bits: results are rounded to nearest even, denormals kept on both sides.
//
// Model of the sum: products are exact; f32 and f64 are chains of fused multiply-adds along k, beginning with C; all other
// floats are summed in double, in the order of k beginning with C, and rounded once. Hardware sums groups of products
// with 24 fractional bits and rounds several times (measured: MMA-Sim, arXiv 2511.10909): same where sums are exact.
#include "machine/Matrix.h"

#include <algorithm>
#include <unordered_map>

namespace machine {

template <class T> using Tile = T[32][kLanes]; // [element][lane]

struct Plans {
  MatrixPlan byRuns[4]; // bit 0: A in runs, bit 1: B
};
static const Plans &plansOf(uint32_t extra);

// --- operands: registers to elements ---

static MatrixRows registersOf(const Wave &wave, const Operand &operand, int dwords) {
  if (Kind(operand.kind) != Kind::Vgpr)
    fault("program", "a matrix operand is needed in vector or accumulation registers");
  if (operand.dwords && operand.dwords < dwords)
    fault("program", "the operand has " + std::to_string(operand.dwords) + " registers, its format needs " +
                         std::to_string(dwords));
  return wave.v + operand.reg;
}

// f8f6f4 formats by CBSZ and BLGP (CDNA4 ISA).
constexpr int kElementsF8f6f4 = 32, kFormats = 5, kDwords[kFormats] = {8, 8, 6, 6, 4};

static void decodeF8f6f4(const Wave &wave, const Operand &operand, int format, Tile<double> &out) {
  constexpr MatrixFormat formats[kFormats] = {MatrixFormat::Fp8, MatrixFormat::Bf8, MatrixFormat::Fp6, MatrixFormat::Bf6,
                                              MatrixFormat::Fp4};
  if (format >= kFormats)
    fault("program", "no matrix format has the number " + std::to_string(format) + ": 0 to 4 are fp8, bf8, fp6, bf6, fp4");
  decodeNarrow(formats[format], registersOf(wave, operand, kDwords[format]), kElementsF8f6f4, out[0]);
}

// f8 is FNUZ on gfx942, OCP on gfx950.
static MatrixFormat formatOf(const Run &run, Element type) {
  const bool fnuz = run.config.target == 0;
  switch (type) {
  case Element::F16:
    return MatrixFormat::F16;
  case Element::Bf16:
    return MatrixFormat::Bf16;
  case Element::Fp8:
    return fnuz ? MatrixFormat::Fp8Fnuz : MatrixFormat::Fp8;
  default:
    return fnuz ? MatrixFormat::Bf8Fnuz : MatrixFormat::Bf8;
  }
}

static void decodeFloats(const Run &run, const Wave &wave, const Operand &operand, Element type, int elements, Tile<double> &out) {
  if (type == Element::Xf32) {
    auto rows = registersOf(wave, operand, elements);
    for (int e = 0; e < elements; ++e)
      for (int lane = 0; lane < kLanes; ++lane)
        out[e][lane] = toXf32(bitCast<float>(rows[e][lane]));
    return;
  }
  const int perRegister = type == Element::F16 || type == Element::Bf16 ? 2 : 4;
  decodeNarrow(formatOf(run, type), registersOf(wave, operand, elements / perRegister), elements, out[0]);
}

template <class T> static void permute(int pattern, int elements, Tile<T> &tile) {
  if (!pattern)
    return;
  for (int e = 0; e < elements; ++e) {
    T old[kLanes];
    std::copy_n(tile[e], kLanes, old);
    for (int lane = 0; lane < kLanes; ++lane)
      tile[e][lane] = old[patternLane(pattern, lane)];
  }
}

// --- accumulators ---

// Registers of C or D that a lane holds, as elements.
static int heldOut(const MatrixOp &op) { return op.m * op.m * op.blocks / kLanes; }

template <class T> static T fromRaw(uint32_t raw) {
  if constexpr (std::is_same_v<T, uint32_t>)
    return raw;
  else
    return T(bitCast<float>(raw));
}

// C: registers, or one constant for all elements.
template <class T> static void readSums(const Wave &wave, const Operand &operand, int elements, Tile<T> &sums) {
  if (Kind(operand.kind) == Kind::Constant) {
    std::fill_n(sums[0], elements * kLanes, fromRaw<T>(uint32_t(operand.value)));
    return;
  }
  auto rows = registersOf(wave, operand, elements);
  for (int e = 0; e < elements; ++e)
    for (int lane = 0; lane < kLanes; ++lane)
      sums[e][lane] = fromRaw<T>(rows[e][lane]);
}

// NaN as the hardware makes it: quiet, positive, without payload (assumed for one that comes from an operand).
constexpr uint32_t kNaNF32 = 0x7FC00000;

template <class T> static void writeSums(Wave &wave, const Operand &operand, int elements, const Tile<T> &sums) {
  registersOf(wave, operand, elements);
  for (int e = 0; e < elements; ++e) {
    uint32_t *to = wave.v[operand.reg + e];
    for (int lane = 0; lane < kLanes; ++lane) {
      if constexpr (std::is_same_v<T, uint32_t>) {
        to[lane] = sums[e][lane];
      } else {
        float value = float(sums[e][lane]);
        to[lane] = value != value ? kNaNF32 : bitCast<uint32_t>(value);
      }
    }
  }
}

// --- modifiers ---

static void checkBroadcast(const Instruction &instruction, const MatrixOp &op) {
  if (1 << instruction.cbsz > op.blocks || instruction.abid >= 1 << instruction.cbsz)
    fault("program", "cbsz:" + std::to_string(instruction.cbsz) + " abid:" + std::to_string(instruction.abid) +
                         " name a block that is not among the " + std::to_string(op.blocks) + " of A");
}

// Sparse A: by stored element, which of its four it is. A lane's indices take two bits each; where they leave room in the
// register, ABID picks the set, and CBSZ other than 0 the first one (ISA, "Sparse Matrices").
static void readChoices(const Wave &wave, const Instruction &instruction, const MatrixOp &op, uint8_t (&chosen)[32][kLanes]) {
  const uint32_t *index = *registersOf(wave, instruction.src[2], 1);
  int bits = 2 * op.heldA(), set = instruction.cbsz ? 0 : instruction.abid;
  if ((set + 1) * bits > 32)
    fault("program", "abid:" + std::to_string(set) + " is past the index register: a set has " + std::to_string(bits) + " bits");
  for (int e = 0; e < op.heldA(); ++e)
    for (int lane = 0; lane < kLanes; ++lane)
      chosen[e][lane] = index[lane] >> (set * bits + 2 * e) & 3;
}

// --- handlers ---

template <class T>
static Product<T> productOf(const Instruction &instruction, const MatrixOp &op, const MatrixPlan &plan, const Tile<T> &a,
                            const Tile<T> &b, Tile<T> &sums) {
  Product<T> product{op, plan, a[0], b[0], sums[0]};
  if (!op.sparse) {
    checkBroadcast(instruction, op);
    product.broadcast = instruction.cbsz;
    product.block = instruction.abid;
  }
  return product;
}

static const Operand &sourceOfSums(const Instruction &instruction, const MatrixOp &op) {
  return op.sparse ? instruction.dst[0] : instruction.src[2];
}

static void matrixFloat(Run &run, Wave &wave, const Instruction &instruction) {
  const uint32_t extra = opInfo(instruction.op).extra;
  const MatrixOp op = MatrixOp::unpack(extra);
  if (op.a == Element::Xf32 && instruction.blgp)
    fault("unsupported", "blgp of an xf32 instruction, which the ISA does not define");
  Tile<double> a, b, sums;
  uint8_t chosen[32][kLanes];
  decodeFloats(run, wave, instruction.src[0], op.a, op.heldA(), a);
  decodeFloats(run, wave, instruction.src[1], op.b, op.heldB(), b);
  permute(instruction.blgp, op.heldB(), b);
  readSums(wave, sourceOfSums(instruction, op), heldOut(op), sums);
  Product<double> product = productOf(instruction, op, plansOf(extra).byRuns[0], a, b, sums);
  if (op.sparse) {
    readChoices(wave, instruction, op, chosen);
    product.chosen = chosen[0];
  }
  multiply(product);
  writeSums(wave, instruction.dst[0], heldOut(op), sums);
}

static void matrixI8(Run &, Wave &wave, const Instruction &instruction) {
  const uint32_t extra = opInfo(instruction.op).extra;
  const MatrixOp op = MatrixOp::unpack(extra);
  Tile<uint32_t> a, b, sums;
  uint8_t chosen[32][kLanes];
  decodeI8(registersOf(wave, instruction.src[0], op.heldA() / 4), op.heldA(), a[0]);
  decodeI8(registersOf(wave, instruction.src[1], op.heldB() / 4), op.heldB(), b[0]);
  permute(instruction.blgp, op.heldB(), b);
  readSums(wave, sourceOfSums(instruction, op), heldOut(op), sums);
  Product<uint32_t> product = productOf(instruction, op, plansOf(extra).byRuns[0], a, b, sums);
  if (op.sparse) {
    readChoices(wave, instruction, op, chosen);
    product.chosen = chosen[0];
  }
  multiply(product);
  writeSums(wave, instruction.dst[0], heldOut(op), sums);
}

static void matrixF32(Run &, Wave &wave, const Instruction &instruction) {
  const uint32_t extra = opInfo(instruction.op).extra;
  const MatrixOp op = MatrixOp::unpack(extra);
  Tile<float> a, b, sums;
  readSums(wave, instruction.src[0], op.heldA(), a);
  readSums(wave, instruction.src[1], op.heldB(), b);
  permute(instruction.blgp, op.heldB(), b);
  readSums(wave, instruction.src[2], heldOut(op), sums);
  multiplyFused(productOf(instruction, op, plansOf(extra).byRuns[0], a, b, sums));
  writeSums(wave, instruction.dst[0], heldOut(op), sums);
}

static bool negates(const Instruction &instruction, int source) {
  return ((instruction.neglo | instruction.blgp) >> source & 1) || (instruction.src[source].bits & kNeg);
}

static void negate(const Instruction &instruction, int source, int elements, Tile<double> &tile) {
  if (!negates(instruction, source))
    return;
  for (int i = 0; i < elements * kLanes; ++i)
    tile[0][i] = -tile[0][i];
}

static void readDoubles(MatrixRows rows, int elements, Tile<double> &out) {
  for (int e = 0; e < elements; ++e)
    for (int lane = 0; lane < kLanes; ++lane)
      out[e][lane] = asF64(rows[2 * e][lane] | uint64_t(rows[2 * e + 1][lane]) << 32);
}

// BLGP of f64 negates operands: bit 0 A, bit 1 B, bit 2 C (CDNA3 ISA); LLVM writes it as neg:[...].
static void matrixF64(Run &, Wave &wave, const Instruction &instruction) {
  const uint32_t extra = opInfo(instruction.op).extra;
  const MatrixOp op = MatrixOp::unpack(extra);
  const int elements = heldOut(op);
  Tile<double> a, b, sums;
  readDoubles(registersOf(wave, instruction.src[0], 2), 1, a);
  readDoubles(registersOf(wave, instruction.src[1], 2), 1, b);
  const Operand &c = instruction.src[2];
  if (Kind(c.kind) == Kind::Constant)
    std::fill_n(sums[0], elements * kLanes, asF64(c.value));
  else
    readDoubles(registersOf(wave, c, 2 * elements), elements, sums);
  negate(instruction, 0, 1, a);
  negate(instruction, 1, 1, b);
  negate(instruction, 2, elements, sums);
  multiplyFused(productOf(instruction, op, plansOf(extra).byRuns[0], a, b, sums));
  registersOf(wave, instruction.dst[0], 2 * elements);
  for (int e = 0; e < elements; ++e)
    for (int lane = 0; lane < kLanes; ++lane) {
      double value = sums[e][lane];
      uint64_t raw = value != value ? kInfF64 | kQuietF64 : rawF64(value);
      wave.v[instruction.dst[0].reg + 2 * e][lane] = uint32_t(raw);
      wave.v[instruction.dst[0].reg + 2 * e + 1][lane] = uint32_t(raw >> 32);
    }
}

// Multiplies each element by the scale of its row and block of 32 along k: lane l's register has, in byte `byte`, that of
// row l mod m and block l div m.
static void scale(const Wave &wave, const Operand &operand, int byte, int m, bool runs, Tile<double> &tile) {
  const uint32_t *codes = *registersOf(wave, operand, 1);
  double scales[kLanes];
  for (int lane = 0; lane < kLanes; ++lane)
    scales[lane] = decodeScale(codes[lane] >> 8 * byte);
  const int groups = kLanes / m;
  for (int half = 0; half < 2; ++half) {
    double factors[kLanes]; // of the lane's elements 16 * half and on
    for (int lane = 0; lane < kLanes; ++lane)
      factors[lane] = scales[(runs ? (half * groups + lane / m) / 2 : lane / m) * m + lane % m];
    for (int e = 16 * half; e < 16 * half + 16; ++e)
      for (int lane = 0; lane < kLanes; ++lane)
        tile[e][lane] *= factors[lane];
  }
}

static void matrixF8f6f4(Run &, Wave &wave, const Instruction &instruction) {
  const uint32_t extra = opInfo(instruction.op).extra;
  const MatrixOp op = MatrixOp::unpack(extra);
  const bool runsA = instruction.cbsz < 2, runsB = instruction.blgp < 2;
  Tile<double> a, b, sums;
  decodeF8f6f4(wave, instruction.src[0], instruction.cbsz, a);
  decodeF8f6f4(wave, instruction.src[1], instruction.blgp, b);
  readSums(wave, instruction.src[2], heldOut(op), sums);
  if (op.scaled) {
    auto byte = [&](int source) { return (instruction.opsel >> source & 1) + 2 * (instruction.opselhi >> source & 1); };
    scale(wave, instruction.src[3], byte(0), op.m, runsA, a);
    scale(wave, instruction.src[4], byte(1), op.m, runsB, b);
  }
  multiply(Product<double>{op, plansOf(extra).byRuns[runsA + 2 * runsB], a[0], b[0], sums[0]});
  writeSums(wave, instruction.dst[0], heldOut(op), sums);
}

// --- the table ---

constexpr uint8_t kGfx942 = 1, kGfx950 = 2, kBoth = 3;

static constexpr OpInfo dense(const char *name, const char *signature, Handler run, MatrixOp op, uint8_t targets = kBoth) {
  return {name, Format::Mfma, signature, run, nullptr, op.packed(), targets};
}

constexpr const char *k1f32 = "f32x4 = f32 f32 f32x4", *k16f32 = "f32x16 = f32 f32 f32x16", *k32f32 = "f32x32 = f32 f32 f32x32";
constexpr const char *k64x4 = "f32x4 = b64 b64 f32x4", *k64x16 = "f32x16 = b64 b64 f32x16", *k64x32 = "f32x32 = b64 b64 f32x32";
constexpr const char *k128x4 = "f32x4 = b128 b128 f32x4", *k128x16 = "f32x16 = b128 b128 f32x16";
constexpr const char *kSparse64x4 = "+f32x4 = b64 b128 b32", *kSparse64x16 = "+f32x16 = b64 b128 b32";
constexpr const char *kSparse128x4 = "+f32x4 = b128 b256 b32", *kSparse128x16 = "+f32x16 = b128 b256 b32";

using E = Element;

#define SPARSE(name, signature, run, m, k, a, b, targets)                                                                  \
  dense(name, signature, run, MatrixOp{m, k, 1, a, b, true}, targets)
// The four pairs of 8-bit types.
#define PAIRS(make, name, signature, m, k, targets)                                                                        \
  make(name "_bf8_bf8", signature, m, k, E::Bf8, E::Bf8, targets), make(name "_bf8_fp8", signature, m, k, E::Bf8, E::Fp8, targets), \
      make(name "_fp8_bf8", signature, m, k, E::Fp8, E::Bf8, targets), make(name "_fp8_fp8", signature, m, k, E::Fp8, E::Fp8, targets)
#define DENSE8(name, signature, m, k, a, b, targets) dense(name, signature, matrixFloat, MatrixOp{m, k, 1, a, b}, targets)
#define SPARSE8(name, signature, m, k, a, b, targets) SPARSE(name, signature, matrixFloat, m, k, a, b, targets)

static const OpInfo kOps[] = {
    dense("v_mfma_f32_32x32x1_2b_f32", k32f32, matrixF32, {32, 1, 2, E::F32, E::F32}),
    dense("v_mfma_f32_16x16x1_4b_f32", k16f32, matrixF32, {16, 1, 4, E::F32, E::F32}),
    dense("v_mfma_f32_4x4x1_16b_f32", k1f32, matrixF32, {4, 1, 16, E::F32, E::F32}),
    dense("v_mfma_f32_32x32x2_f32", k16f32, matrixF32, {32, 2, 1, E::F32, E::F32}),
    dense("v_mfma_f32_16x16x4_f32", k1f32, matrixF32, {16, 4, 1, E::F32, E::F32}),
    dense("v_mfma_f32_16x16x8_xf32", k64x4, matrixFloat, {16, 8, 1, E::Xf32, E::Xf32}, kGfx942),
    dense("v_mfma_f32_32x32x4_xf32", k64x16, matrixFloat, {32, 4, 1, E::Xf32, E::Xf32}, kGfx942),
    dense("v_mfma_f64_16x16x4_f64", "f64x4 = f64 f64 f64x4", matrixF64, {16, 4, 1, E::F64, E::F64}),
    dense("v_mfma_f64_4x4x4_4b_f64", "f64 = f64 f64 f64", matrixF64, {4, 4, 4, E::F64, E::F64}),

    dense("v_mfma_f32_32x32x4_2b_f16", k64x32, matrixFloat, {32, 4, 2, E::F16, E::F16}),
    dense("v_mfma_f32_16x16x4_4b_f16", k64x16, matrixFloat, {16, 4, 4, E::F16, E::F16}),
    dense("v_mfma_f32_4x4x4_16b_f16", k64x4, matrixFloat, {4, 4, 16, E::F16, E::F16}),
    dense("v_mfma_f32_32x32x8_f16", k64x16, matrixFloat, {32, 8, 1, E::F16, E::F16}),
    dense("v_mfma_f32_16x16x16_f16", k64x4, matrixFloat, {16, 16, 1, E::F16, E::F16}),
    dense("v_mfma_f32_32x32x16_f16", k128x16, matrixFloat, {32, 16, 1, E::F16, E::F16}, kGfx950),
    dense("v_mfma_f32_16x16x32_f16", k128x4, matrixFloat, {16, 32, 1, E::F16, E::F16}, kGfx950),
    dense("v_mfma_f32_32x32x4_2b_bf16", k64x32, matrixFloat, {32, 4, 2, E::Bf16, E::Bf16}),
    dense("v_mfma_f32_16x16x4_4b_bf16", k64x16, matrixFloat, {16, 4, 4, E::Bf16, E::Bf16}),
    dense("v_mfma_f32_4x4x4_16b_bf16", k64x4, matrixFloat, {4, 4, 16, E::Bf16, E::Bf16}),
    dense("v_mfma_f32_32x32x8_bf16", k64x16, matrixFloat, {32, 8, 1, E::Bf16, E::Bf16}),
    dense("v_mfma_f32_16x16x16_bf16", k64x4, matrixFloat, {16, 16, 1, E::Bf16, E::Bf16}),
    dense("v_mfma_f32_32x32x16_bf16", k128x16, matrixFloat, {32, 16, 1, E::Bf16, E::Bf16}, kGfx950),
    dense("v_mfma_f32_16x16x32_bf16", k128x4, matrixFloat, {16, 32, 1, E::Bf16, E::Bf16}, kGfx950),

    PAIRS(DENSE8, "v_mfma_f32_16x16x32", k64x4, 16, 32, kBoth),
    PAIRS(DENSE8, "v_mfma_f32_32x32x16", k64x16, 32, 16, kBoth),

    dense("v_mfma_i32_32x32x4_2b_i8", "i32x32 = b32 b32 i32x32", matrixI8, {32, 4, 2, E::I8, E::I8}),
    dense("v_mfma_i32_16x16x4_4b_i8", "i32x16 = b32 b32 i32x16", matrixI8, {16, 4, 4, E::I8, E::I8}),
    dense("v_mfma_i32_4x4x4_16b_i8", "i32x4 = b32 b32 i32x4", matrixI8, {4, 4, 16, E::I8, E::I8}),
    dense("v_mfma_i32_32x32x16_i8", "i32x16 = b64 b64 i32x16", matrixI8, {32, 16, 1, E::I8, E::I8}),
    dense("v_mfma_i32_16x16x32_i8", "i32x4 = b64 b64 i32x4", matrixI8, {16, 32, 1, E::I8, E::I8}),
    dense("v_mfma_i32_32x32x32_i8", "i32x16 = b128 b128 i32x16", matrixI8, {32, 32, 1, E::I8, E::I8}, kGfx950),
    dense("v_mfma_i32_16x16x64_i8", "i32x4 = b128 b128 i32x4", matrixI8, {16, 64, 1, E::I8, E::I8}, kGfx950),

    dense("v_mfma_f32_16x16x128_f8f6f4", "f32x4 = b256- b256- f32x4", matrixF8f6f4, {16, 128, 1, E::F8f6f4, E::F8f6f4}, kGfx950),
    dense("v_mfma_f32_32x32x64_f8f6f4", "f32x16 = b256- b256- f32x16", matrixF8f6f4, {32, 64, 1, E::F8f6f4, E::F8f6f4}, kGfx950),
    dense("v_mfma_scale_f32_16x16x128_f8f6f4", "f32x4 = b256- b256- f32x4 b32 b32", matrixF8f6f4,
          {16, 128, 1, E::F8f6f4, E::F8f6f4, false, true}, kGfx950),
    dense("v_mfma_scale_f32_32x32x64_f8f6f4", "f32x16 = b256- b256- f32x16 b32 b32", matrixF8f6f4,
          {32, 64, 1, E::F8f6f4, E::F8f6f4, false, true}, kGfx950),

    SPARSE("v_smfmac_f32_16x16x32_f16", kSparse64x4, matrixFloat, 16, 32, E::F16, E::F16, kBoth),
    SPARSE("v_smfmac_f32_32x32x16_f16", kSparse64x16, matrixFloat, 32, 16, E::F16, E::F16, kBoth),
    SPARSE("v_smfmac_f32_16x16x32_bf16", kSparse64x4, matrixFloat, 16, 32, E::Bf16, E::Bf16, kBoth),
    SPARSE("v_smfmac_f32_32x32x16_bf16", kSparse64x16, matrixFloat, 32, 16, E::Bf16, E::Bf16, kBoth),
    SPARSE("v_smfmac_i32_16x16x64_i8", "+i32x4 = b64 b128 b32", matrixI8, 16, 64, E::I8, E::I8, kBoth),
    SPARSE("v_smfmac_i32_32x32x32_i8", "+i32x16 = b64 b128 b32", matrixI8, 32, 32, E::I8, E::I8, kBoth),
    PAIRS(SPARSE8, "v_smfmac_f32_16x16x64", kSparse64x4, 16, 64, kBoth),
    PAIRS(SPARSE8, "v_smfmac_f32_32x32x32", kSparse64x16, 32, 32, kBoth),
    SPARSE("v_smfmac_f32_16x16x64_f16", kSparse128x4, matrixFloat, 16, 64, E::F16, E::F16, kGfx950),
    SPARSE("v_smfmac_f32_32x32x32_f16", kSparse128x16, matrixFloat, 32, 32, E::F16, E::F16, kGfx950),
    SPARSE("v_smfmac_f32_16x16x64_bf16", kSparse128x4, matrixFloat, 16, 64, E::Bf16, E::Bf16, kGfx950),
    SPARSE("v_smfmac_f32_32x32x32_bf16", kSparse128x16, matrixFloat, 32, 32, E::Bf16, E::Bf16, kGfx950),
    SPARSE("v_smfmac_i32_16x16x128_i8", "+i32x4 = b128 b256 b32", matrixI8, 16, 128, E::I8, E::I8, kGfx950),
    SPARSE("v_smfmac_i32_32x32x64_i8", "+i32x16 = b128 b256 b32", matrixI8, 32, 64, E::I8, E::I8, kGfx950),
    PAIRS(SPARSE8, "v_smfmac_f32_16x16x128", kSparse128x4, 16, 128, kGfx950),
    PAIRS(SPARSE8, "v_smfmac_f32_32x32x64", kSparse128x16, 32, 64, kGfx950),
};

static const Plans &plansOf(uint32_t extra) {
  static const std::unordered_map<uint32_t, Plans> all = [] {
    std::unordered_map<uint32_t, Plans> plans;
    for (const OpInfo &info : kOps) {
      MatrixOp op = MatrixOp::unpack(info.extra);
      bool runs = op.a == Element::F8f6f4;
      for (int i = 0; i < (runs ? 4 : 1); ++i)
        plans[info.extra].byRuns[i] = planOf(op, i & 1, i >> 1);
    }
    return plans;
  }();
  return all.at(extra);
}

Table matrixOps() { return {kOps, sizeof kOps / sizeof *kOps}; }

} // namespace machine
