// Matrix instructions (CDNA3 and CDNA4 ISA, "Matrix Arithmetic Instructions"): what one computes and where elements
// live.
#pragma once
#include "machine/Formats.h"
#include "machine/Run.h"

namespace machine {

enum class Element : uint8_t { F16, Bf16, Fp8, Bf8, I8, F32, Xf32, F64, F8f6f4 };

// D = A * B + C on `blocks` pairs of matrices of m x k and k x m. Kept in OpInfo::extra.
struct MatrixOp {
  uint8_t m, k, blocks;
  Element a, b;
  bool sparse = false; // A holds two of every four elements along k, an index register says which; C is D
  bool scaled = false; // block scales for A and B are operands

  constexpr uint32_t packed() const {
    return uint32_t(m) | uint32_t(k) << 6 | uint32_t(blocks) << 14 | uint32_t(a) << 19 | uint32_t(b) << 23 |
           uint32_t(sparse) << 27 | uint32_t(scaled) << 28;
  }
  static constexpr MatrixOp unpack(uint32_t bits) {
    return {uint8_t(bits & 63),       uint8_t(bits >> 6 & 255), uint8_t(bits >> 14 & 31), Element(bits >> 19 & 15),
            Element(bits >> 23 & 15), (bits >> 27 & 1) != 0,    (bits >> 28 & 1) != 0};
  }

  // Along k: elements of A, stored and held by a lane; of B, held by a lane.
  int storedK() const { return sparse ? k / 2 : k; }
  int heldA() const { return storedK() * m * blocks / kLanes; }
  int heldB() const { return k * m * blocks / kLanes; }
};

// Element e of lane l is at e * kLanes + l in the arrays of operands, accumulator register r of lane l at r * kLanes +
// l.
struct MatrixPlan {
  uint16_t a[128], b[128]; // of row (column) 0 of block 0, by k; of sparse A, by stored k
  uint16_t out[64];        // of column 0, by block * m + row
};

// `runs`: the operand consists of two halves of k, each dealt in runs of 16 to the lanes (8 bits in f8f6f4).
MatrixPlan planOf(const MatrixOp &op, bool runsA, bool runsB);

// That of an instruction of the table, computed once.
const MatrixPlan &matrixPlan(uint32_t extra, bool runsA = false, bool runsB = false);

// The lane whose data B's lane `lane` takes under a lane-group pattern (ISA, "BLGP").
int patternLane(int pattern, int lane);

// Rows of 64 lanes of consecutive registers.
using MatrixRows = const uint32_t (*)[kLanes];

// Elements of operands, at e * kLanes + lane, from registers without gaps.
enum class MatrixFormat : uint8_t { F16, Bf16, Fp8Fnuz, Bf8Fnuz, Fp8, Bf8, Fp6, Bf6, Fp4 };
void decodeNarrow(MatrixFormat format, MatrixRows rows, int elements, double *out);
void decodeI8(MatrixRows rows, int elements, uint32_t *out);

// Everything one multiplication needs; T: double, float or uint32_t.
template <class T> struct Product {
  const MatrixOp &op;
  const MatrixPlan &plan;
  const T *a, *b;
  T *sums;
  int broadcast = 0, block = 0;    // CBSZ, ABID
  const uint8_t *chosen = nullptr; // sparse: which of four, like a
};
// Double: products are exact, so that a fused multiply-add makes no difference.
void multiply(const Product<double> &product);
// f64 and f32: a chain of fused multiply-adds along k.
void multiplyFused(const Product<double> &product);
void multiplyFused(const Product<float> &product);
void multiply(const Product<uint32_t> &product);

// Handlers, by the kind of the elements.
void matrixFloat(Run &run, Wave &wave, const Instruction &instruction); // f16, bf16, 8-bit floats, xf32
void matrixF32(Run &run, Wave &wave, const Instruction &instruction);
void matrixF64(Run &run, Wave &wave, const Instruction &instruction);
void matrixI8(Run &run, Wave &wave, const Instruction &instruction);
void matrixF8f6f4(Run &run, Wave &wave, const Instruction &instruction);

} // namespace machine
