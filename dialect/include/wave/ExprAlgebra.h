//===- ExprAlgebra.h - order, sums, substitution, evaluation of expressions ---===//
#ifndef WAVE_EXPR_ALGEBRA_H
#define WAVE_EXPR_ALGEBRA_H
#include "wave/Wave.h"
#include <optional>

namespace wave {
/// lhs - rhs and the logical negation of a condition.
ExprAttr getDifference(ExprAttr lhs, ExprAttr rhs);
ExprAttr getNot(ExprAttr condition);

/// A user's symbol (an identifier that is no operator) or one of the reserved ones (`wg.x`, `iv.K`, `at.M` …).
bool isValidSymbolName(llvm::StringRef name);
/// Reserved symbols are never negative, whatever the facts.
bool isNonNegativeSymbol(llvm::StringRef name);

/// The value of a constant.
std::optional<int64_t> getConstantValue(ExprAttr e);
/// Total order that depends on structure only: symbols by class (wg, iv, user's, wave, lane, at, el), then name.
int compareExprs(ExprAttr a, ExprAttr b);
/// The same on every run and machine, unlike the attribute's own hash.
uint64_t stableHash(ExprAttr e);
/// Sorted as compareExprs does.
llvm::SmallVector<ExprAttr> getSymbols(ExprAttr e);
bool dependsOn(ExprAttr e, llvm::ArrayRef<ExprAttr> symbols);
/// Whether some division's divisor is the constant 0.
bool dividesByZero(ExprAttr e);
/// Nodes of the tree (shared parts count each time, saturating) and its depth. Recursions rely on both being limited.
unsigned treeSize(ExprAttr e);
unsigned treeDepth(ExprAttr e);
constexpr unsigned maxTreeSize = 50000, maxTreeDepth = 500;

/// Simultaneous substitution.
ExprAttr substitute(ExprAttr e, llvm::ArrayRef<std::pair<ExprAttr, ExprAttr>> replacements);
/// Products distributed over sums as well (construction distributes constants only).
ExprAttr expand(ExprAttr e);

/// sum of coefficient * factor, plus a constant. Factors are distinct and no sums, constants or products with constants.
struct LinearExpr {
  llvm::SmallVector<std::pair<ExprAttr, int64_t>, 4> terms;
  int64_t constant = 0;
};
/// Empty when a coefficient does not fit.
std::optional<LinearExpr> getLinear(ExprAttr e);
/// Null when a coefficient does not fit. Terms may be unsorted and repeat.
ExprAttr fromLinear(mlir::MLIRContext *ctx, const LinearExpr &linear);
/// Splits a sum (after expansion) into what depends on `symbols` only, and the rest (which has the constant).
std::pair<ExprAttr, ExprAttr> splitSum(ExprAttr e, llvm::ArrayRef<ExprAttr> symbols);
/// a, where e = a * symbol + b and neither depends on the symbol; null when e is not of that form.
ExprAttr getCoefficient(ExprAttr e, ExprAttr symbol);

/// Why an evaluation has no result.
enum class EvalError : uint8_t { None, DivisionByZero, Overflow, MissingSymbol };
/// The value for one point; `missing` names the symbol that `lookup` does not know.
EvalError evaluate(ExprAttr e, llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> lookup, int64_t &value,
                   ExprAttr *missing = nullptr);
} // namespace wave
#endif
