//===- FactsState.h - inside of ExprFacts --------------------------------------===//
#ifndef WAVE_FACTS_STATE_H
#define WAVE_FACTS_STATE_H
#include "ExprDetail.h"
#include "wave/ExprFacts.h"

namespace wave {
namespace detail {
/// An interval with room for every sum and product of 64-bit bounds; |bound| = infinity: open.
struct Wide {
  using Int = __int128;
  static constexpr Int infinity = Int(1) << 100;
  Int lo = -infinity, hi = infinity;
  bool empty() const { return lo > hi; }
  bool single() const { return lo == hi; }
  bool finite() const { return lo > -infinity && hi < infinity; }
};
} // namespace detail

struct ExprFacts::State {
  /// Intervals of symbols, of other nodes that are no sums, and of sums without constant whose first coefficient is
  /// positive (see boundKey).
  llvm::DenseMap<mlir::Attribute, detail::Wide> known;
  llvm::DenseMap<mlir::Attribute, Congruence> congruent; // symbols
  llvm::SmallVector<LinearExpr, 4> upper;                // assumed: each <= 0
  llvm::SmallVector<ExprAttr, 4> truths;                 // assumed conditions
  llvm::SmallVector<std::pair<ExprAttr, ExprAttr>, 2> replacements; // symbols assumed equal to an expression
  bool knowsSums = false;
  /// The same facts with symbols of known residue class written as modulus * quotient + remainder (for proofs).
  std::unique_ptr<ExprFacts> quotients;
  llvm::SmallVector<std::pair<ExprAttr, ExprAttr>> quotientOf;

  llvm::DenseMap<mlir::Attribute, detail::Wide> ranges;
  llvm::DenseMap<mlir::Attribute, Congruence> congruences;
  llvm::DenseMap<mlir::Attribute, ExprAttr> simplified;

  detail::Wide range(ExprAttr e);
  detail::Wide rangeOf(const LinearExpr &linear);
  Congruence congruence(ExprAttr e);
  ExprAttr simplify(ExprAttr e);
  /// The truth of a comparison `linear < 0` by intervals and assumptions.
  std::optional<bool> isNegative(const LinearExpr &linear);
  /// Whether linear <= 0 follows from intervals, adding multiples of at most `depth` assumptions.
  bool isNonPositive(const LinearExpr &linear, unsigned depth);
  void intersect(ExprAttr e, detail::Wide w);
  void assume(ExprAttr condition);
  void assumeUpper(const LinearExpr &linear);
  void assumeEqual(ExprAttr condition);
  void clearCaches();

private:
  detail::Wide computeRange(ExprAttr e);
  Congruence computeCongruence(ExprAttr e);
  ExprAttr simplifyNode(ExprAttr e);
};

namespace detail {
/// The key in `known` of a sum, with the sign to apply; null for one with a constant only.
std::pair<ExprAttr, int> boundKey(mlir::MLIRContext *ctx, LinearExpr linear);
Congruence joined(Congruence a, Congruence b);
} // namespace detail
} // namespace wave
#endif
