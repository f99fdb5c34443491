// v_mfma_* and v_smfmac_*. EXEC is ignored (CDNA3 ISA, "Matrix Arithmetic Instructions"); so are MODE's rounding and
// denormal bits: results are rounded to nearest even, denormals kept on both sides.
//
// Model of the sum: products are exact; f32 and f64 are chains of fused multiply-adds along k, beginning with C; all
// other floats are summed in double, in the order of k beginning with C, and rounded once. Hardware sums groups of
// products with 24 fractional bits and rounds several times (measured: MMA-Sim, arXiv 2511.10909): same where sums are
// exact.
#include "machine/Matrix.h"

#include <algorithm>

namespace machine {

template <class T> using Tile = T[32][kLanes]; // [element][lane]

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
  constexpr MatrixFormat formats[kFormats] = {MatrixFormat::Fp8, MatrixFormat::Bf8, MatrixFormat::Fp6,
                                              MatrixFormat::Bf6, MatrixFormat::Fp4};
  if (format >= kFormats)
    fault("program",
          "no matrix format has the number " + std::to_string(format) + ": 0 to 4 are fp8, bf8, fp6, bf6, fp4");
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

static void decodeFloats(const Run &run, const Wave &wave, const Operand &operand, Element type, int elements,
                         Tile<double> &out) {
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

// Sparse A: by stored element, which of its four it is. A lane's indices take two bits each; where they leave room in
// the register, ABID picks the set, and CBSZ other than 0 the first one (ISA, "Sparse Matrices").
static void readChoices(const Wave &wave, const Instruction &instruction, const MatrixOp &op,
                        uint8_t (&chosen)[32][kLanes]) {
  const uint32_t *index = *registersOf(wave, instruction.src[2], 1);
  int bits = 2 * op.heldA(), set = instruction.cbsz ? 0 : instruction.abid;
  if ((set + 1) * bits > 32)
    fault("program",
          "abid:" + std::to_string(set) + " is past the index register: a set has " + std::to_string(bits) + " bits");
  for (int e = 0; e < op.heldA(); ++e)
    for (int lane = 0; lane < kLanes; ++lane)
      chosen[e][lane] = index[lane] >> (set * bits + 2 * e) & 3;
}

// --- handlers ---

template <class T>
static Product<T> productOf(const Instruction &instruction, const MatrixOp &op, const MatrixPlan &plan,
                            const Tile<T> &a, const Tile<T> &b, Tile<T> &sums) {
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

void matrixFloat(Run &run, Wave &wave, const Instruction &instruction) {
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
  Product<double> product = productOf(instruction, op, matrixPlan(extra), a, b, sums);
  if (op.sparse) {
    readChoices(wave, instruction, op, chosen);
    product.chosen = chosen[0];
  }
  multiply(product);
  writeSums(wave, instruction.dst[0], heldOut(op), sums);
}

void matrixI8(Run &, Wave &wave, const Instruction &instruction) {
  const uint32_t extra = opInfo(instruction.op).extra;
  const MatrixOp op = MatrixOp::unpack(extra);
  Tile<uint32_t> a, b, sums;
  uint8_t chosen[32][kLanes];
  decodeI8(registersOf(wave, instruction.src[0], op.heldA() / 4), op.heldA(), a[0]);
  decodeI8(registersOf(wave, instruction.src[1], op.heldB() / 4), op.heldB(), b[0]);
  permute(instruction.blgp, op.heldB(), b);
  readSums(wave, sourceOfSums(instruction, op), heldOut(op), sums);
  Product<uint32_t> product = productOf(instruction, op, matrixPlan(extra), a, b, sums);
  if (op.sparse) {
    readChoices(wave, instruction, op, chosen);
    product.chosen = chosen[0];
  }
  multiply(product);
  writeSums(wave, instruction.dst[0], heldOut(op), sums);
}

void matrixF32(Run &, Wave &wave, const Instruction &instruction) {
  const uint32_t extra = opInfo(instruction.op).extra;
  const MatrixOp op = MatrixOp::unpack(extra);
  Tile<float> a, b, sums;
  readSums(wave, instruction.src[0], op.heldA(), a);
  readSums(wave, instruction.src[1], op.heldB(), b);
  permute(instruction.blgp, op.heldB(), b);
  readSums(wave, instruction.src[2], heldOut(op), sums);
  multiplyFused(productOf(instruction, op, matrixPlan(extra), a, b, sums));
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
void matrixF64(Run &, Wave &wave, const Instruction &instruction) {
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
  multiplyFused(productOf(instruction, op, matrixPlan(extra), a, b, sums));
  registersOf(wave, instruction.dst[0], 2 * elements);
  for (int e = 0; e < elements; ++e)
    for (int lane = 0; lane < kLanes; ++lane) {
      double value = sums[e][lane];
      uint64_t raw = value != value ? kInfF64 | kQuietF64 : rawF64(value);
      wave.v[instruction.dst[0].reg + 2 * e][lane] = uint32_t(raw);
      wave.v[instruction.dst[0].reg + 2 * e + 1][lane] = uint32_t(raw >> 32);
    }
}

// Multiplies each element by the scale of its row and block of 32 along k: lane l's register has, in byte `byte`, that
// of row l mod m and block l div m.
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

void matrixF8f6f4(Run &, Wave &wave, const Instruction &instruction) {
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
  multiply(Product<double>{op, matrixPlan(extra, runsA, runsB), a[0], b[0], sums[0]});
  writeSums(wave, instruction.dst[0], heldOut(op), sums);
}

} // namespace machine
