//===- ExprProve.cpp - proofs of conditions --------------------------------------===//
#include "FactsState.h"
using namespace mlir;
using namespace wave;
using namespace wave::detail;

std::optional<bool> ExprFacts::prove(ExprAttr condition, size_t budget) const {
  ExprAttr e = simplify(condition);
  if (isConstant(e))
    return e.getValue() != 0;
  return std::nullopt;
}
