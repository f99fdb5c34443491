//===- ExprFacts.h - what is known of symbols; simplification and proof --------===//
#ifndef WAVE_EXPR_FACTS_H
#define WAVE_EXPR_FACTS_H
#include "wave/ExprAlgebra.h"
#include "llvm/ADT/DenseMap.h"

namespace wave {
/// lo <= value <= hi; an empty bound is open (or outside of 64 bits).
struct Interval {
  std::optional<int64_t> lo, hi;
  bool operator==(const Interval &o) const { return lo == o.lo && hi == o.hi; }
};
/// value = remainder modulo modulus (0 <= remainder < modulus); modulus 0: the value is the remainder.
struct Congruence {
  int64_t modulus = 1, remainder = 0;
};
struct SymbolFact {
  ExprAttr symbol;
  Interval range;
  Congruence congruence;
};

/// Immutable knowledge of symbols: ranges, divisibility, and assumed conditions. Results hold for all values of the
/// symbols that fit the facts and for which the expression has a value. Results are cached: keep an instance
/// while expressions over the same symbols are looked at. Not for use by several threads at a time.
class ExprFacts {
public:
  ExprFacts(mlir::MLIRContext *ctx, llvm::ArrayRef<SymbolFact> symbols, llvm::ArrayRef<ExprAttr> assumptions);
  ~ExprFacts();

  Interval range(ExprAttr e) const;
  Congruence congruence(ExprAttr e) const;
  /// The greatest number known to divide the value; 0 for the constant 0.
  int64_t divisor(ExprAttr e) const;
  ExprAttr simplify(ExprAttr e) const;
  /// true, false: the condition holds for all values, for none. `budget`: points to enumerate at most.
  std::optional<bool> prove(ExprAttr condition, size_t budget = 1 << 16) const;

  mlir::MLIRContext *getContext() const { return ctx; }
  struct State;
  State &getState() const { return *state; }

private:
  mlir::MLIRContext *ctx;
  std::unique_ptr<State> state;
};
} // namespace wave
#endif
