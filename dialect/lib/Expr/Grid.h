//===- Grid.h - conditions over all values of finite symbols ---------------------===//
#ifndef WAVE_GRID_H
#define WAVE_GRID_H
#include "FactsState.h"

namespace wave::detail {
/// All points of the finite symbols added to it, at most `budget`.
class Grid {
public:
  Grid(ExprFacts::State &state, size_t budget) : state(state), budget(budget) {}
  /// False when the symbol's range is not finite or the points would be too many.
  bool add(ExprAttr symbol);
  size_t size() const { return points; }
  llvm::ArrayRef<ExprAttr> symbols() const { return axes; }
  /// The condition's truth if it is the same at all points that fit the assumptions.
  std::optional<bool> decide(ExprAttr condition);

private:
  enum Verdict : int8_t { False, True, Unknown, Excluded };
  using Verdicts = llvm::SmallVector<Verdict, 0>;
  using Values = llvm::SmallVector<int64_t, 0>;

  void fill();
  bool onGrid(ExprAttr e) const;
  Verdicts evaluate(ExprAttr condition);
  Verdicts evaluateNumbers(ExprAttr condition);
  Verdicts combine(ExprAttr connective);
  Verdicts compare(ExprAttr comparison);
  Verdicts pointwise(ExprAttr condition);
  bool separate(ExprAttr comparison, llvm::SmallVectorImpl<ExprAttr> &others, llvm::SmallVectorImpl<ExprAttr> &parts);

  ExprFacts::State &state;
  size_t budget, points = 1;
  llvm::SmallVector<ExprAttr> axes;
  llvm::SmallVector<Values> columns; // a value of each axis per point
  llvm::SmallVector<const int64_t *> inputs;
  llvm::SmallVector<bool, 0> excluded;
};
} // namespace wave::detail
#endif
