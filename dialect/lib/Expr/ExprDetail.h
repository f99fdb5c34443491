//===- ExprDetail.h - shared by the files of this folder ----------------------===//
#ifndef WAVE_EXPR_DETAIL_H
#define WAVE_EXPR_DETAIL_H
#include "wave/ExprAlgebra.h"
#include <numeric>

namespace wave::detail {
/// A node as it stands, no canonicalisation.
ExprAttr makeNode(ExprKind kind, llvm::ArrayRef<ExprAttr> operands);

inline ExprAttr operand(ExprAttr e, unsigned i) { return llvm::cast<ExprAttr>(e.getOperands()[i]); }
inline llvm::SmallVector<ExprAttr, 6> operandsOf(ExprAttr e) {
  llvm::SmallVector<ExprAttr, 6> r;
  for (mlir::Attribute a : e.getOperands())
    r.push_back(llvm::cast<ExprAttr>(a));
  return r;
}
/// The operands of a node of the kind, else the node itself.
inline llvm::SmallVector<ExprAttr, 6> partsOf(ExprKind kind, ExprAttr e) {
  return e.getKind() == kind ? operandsOf(e) : llvm::SmallVector<ExprAttr, 6>{e};
}
inline bool isConstant(ExprAttr e) { return e.getKind() == ExprKind::Constant; }
inline bool isConstant(ExprAttr e, int64_t v) { return isConstant(e) && e.getValue() == v; }
/// A constant in the context of another expression.
inline ExprAttr constant(ExprAttr like, int64_t v) { return getConstantExpr(like.getContext(), v); }
/// 0 or 1 whatever the symbols.
bool isBoolean(ExprAttr e);
bool isComparison(ExprKind k);

inline bool mulOverflow(int64_t a, int64_t b, int64_t &r) { return __builtin_mul_overflow(a, b, &r); }
inline bool addOverflow(int64_t a, int64_t b, int64_t &r) { return __builtin_add_overflow(a, b, &r); }
inline bool subOverflow(int64_t a, int64_t b, int64_t &r) { return __builtin_sub_overflow(a, b, &r); }
/// b != 0; the only overflow, INT64_MIN / -1, is the caller's to exclude.
inline int64_t floorDiv(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a % b < 0) != (b < 0)); }
inline int64_t floorMod(int64_t a, int64_t b) {
  if (b == -1)
    return 0; // INT64_MIN % -1 traps
  int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
/// Greatest common divisor of absolute values, saturating at 2^62 for INT64_MIN (a divisor of it still).
int64_t gcd(int64_t a, int64_t b);

/// linear += scale * e; false when a coefficient does not fit (linear is then unspecified).
bool addLinear(LinearExpr &linear, ExprAttr e, int64_t scale);
/// factor, coefficient of a product with a constant; (e, 1) for others.
std::pair<ExprAttr, int64_t> splitCoefficient(ExprAttr e);
/// The factors of a product without its constant; {e} for others.
llvm::SmallVector<ExprAttr, 4> factorsOf(ExprAttr e);
/// The product of a / b where b's factors all occur in a; null otherwise. Neither has a constant.
ExprAttr divideMonomial(ExprAttr a, ExprAttr b);
/// A division by a positive constant as (dividend, divisor) of a division by floor; null dividend otherwise.
std::pair<ExprAttr, int64_t> asFloorDiv(ExprAttr e);
} // namespace wave::detail

#endif
