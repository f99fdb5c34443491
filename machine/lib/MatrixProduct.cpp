// The inner loops of matrix instructions, and where elements live.
#include "machine/Matrix.h"
#include "machine/Variants.h"

namespace machine {

// Where k lies in an operand, row 0 of block 0.
static uint16_t place(const MatrixOp &op, int k, int held, bool runs) {
  if (!runs)
    return uint16_t(k % held * kLanes + k / held * op.m * op.blocks);
  int half = op.k / 2, inHalf = k % half;
  return uint16_t((k / half * 16 + inHalf % 16) * kLanes + inHalf / 16 * op.m);
}

// Where row `row` of block `block` lies in the accumulator: rows in runs of 4 registers, or of one for f64.
static uint16_t outPlace(const MatrixOp &op, int block, int row) {
  int run = op.a == Element::F64 ? 1 : 4, groups = kLanes / op.m;
  if (op.m == 4 && op.a != Element::F64)
    return uint16_t(row * kLanes + block * 4);
  if (op.m == 4)
    return uint16_t(row * 16 + block * 4);
  int reg = row / (run * groups) * run + row % run + block * op.m * op.m / kLanes;
  return uint16_t(reg * kLanes + row / run % groups * op.m);
}

MatrixPlan planOf(const MatrixOp &op, bool runsA, bool runsB) {
  MatrixPlan plan{};
  for (int k = 0; k < op.storedK(); ++k)
    plan.a[k] = place(op, k, op.heldA(), runsA);
  for (int k = 0; k < op.k; ++k)
    plan.b[k] = place(op, k, op.heldB(), runsB);
  for (int block = 0; block < op.blocks; ++block)
    for (int row = 0; row < op.m; ++row)
      plan.out[block * op.m + row] = outPlace(op, block, row);
  return plan;
}

int patternLane(int pattern, int lane) {
  switch (pattern) {
  case 1: // the first half to all
    return lane % 32;
  case 2: // the second half to all
    return lane % 32 + 32;
  case 3: // rotate by 16
    return (lane + 16) % kLanes;
  case 4: // one row of 16 to all
  case 5:
  case 6:
  case 7:
    return lane % 16 + 16 * (pattern - 4);
  default:
    return lane;
  }
}

struct Separate {
  template <class T> static INLINE T step(T a, T b, T sum) { return sum + a * b; }
};
struct Fused {
  static INLINE double step(double a, double b, double sum) { return __builtin_fma(a, b, sum); }
  static INLINE float step(float a, float b, float sum) { return __builtin_fmaf(a, b, sum); }
};

// Columns [first, first + Columns) of all rows; the sums stay in registers.
template <class Step, int Columns, class T> static INLINE void rows(const Product<T> &p, int first) {
  const int m = p.op.m, stored = p.op.storedK();
  for (int block = 0; block < p.op.blocks; ++block) {
    int from = (block >> p.broadcast << p.broadcast) + (p.broadcast ? p.block : 0);
    for (int row = 0; row < m; ++row) {
      T *out = p.sums + p.plan.out[block * m + row] + first;
      T sum[Columns];
      for (int column = 0; column < Columns; ++column)
        sum[column] = out[column];
      for (int k = 0; k < stored; ++k) {
        int at = p.plan.a[k] + from * m + row;
        int other = p.chosen ? k / 2 * 4 + p.chosen[at] : k;
        const T a = p.a[at], *b = p.b + p.plan.b[other] + block * m + first;
        for (int column = 0; column < Columns; ++column)
          sum[column] = Step::step(a, b[column], sum[column]);
      }
      for (int column = 0; column < Columns; ++column)
        out[column] = sum[column];
    }
  }
}

template <class Step, class T> static INLINE void anyShape(const Product<T> &p) {
  if (p.op.m == 4)
    return rows<Step, 4>(p, 0);
  for (int first = 0; first < p.op.m; first += 16)
    rows<Step, 16>(p, first);
}

VARIANTS("fma", "fp-contract=fast") void multiply(const Product<double> &product) { anyShape<Separate>(product); }
VARIANTS("fma") void multiplyFused(const Product<double> &product) { anyShape<Fused>(product); }
VARIANTS("fma") void multiplyFused(const Product<float> &product) { anyShape<Fused>(product); }
VARIANTS("avx2") void multiply(const Product<uint32_t> &product) { anyShape<Separate>(product); }

} // namespace machine
