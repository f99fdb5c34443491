//===- SimplifyRules.h - rules of simplification that stand alone --------------===//
#ifndef WAVE_SIMPLIFY_RULES_H
#define WAVE_SIMPLIFY_RULES_H
#include "FactsState.h"

namespace wave::rules {
/// Digits of one number put together: c * (y floordiv c) + y mod c = y and the like. Returns e when nothing applies.
ExprAttr recombine(ExprFacts::State &s, ExprAttr e);
/// Operands of an xor without common bits add.
ExprAttr xorToSum(ExprFacts::State &s, ExprAttr e);
/// x floordiv y, x ceildiv y, x mod y where 0 <= x < y is known.
ExprAttr divideSymbolic(ExprFacts::State &s, ExprAttr e);
} // namespace wave::rules
#endif
