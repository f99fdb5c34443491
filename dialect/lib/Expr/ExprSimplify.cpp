//===- ExprSimplify.cpp - rewriting with facts -----------------------------------===//
// Operands first, then the rules of the node's kind; a rewritten node is simplified again. Every rule keeps the value
// for all values of the symbols that fit the facts.
#include "FactsState.h"
#include "SimplifyRules.h"
#include "llvm/Support/MathExtras.h"
using namespace mlir;
using namespace wave;
using namespace wave::detail;
using Int = Wide::Int;
using State = ExprFacts::State;

//===- high and low part of a sum ------------------------------------------------===//
/// linear = high + low where a `unit` divides high and 0 <= low < unit. The unit divides `period` if that is not 0.
namespace {
struct HighLow {
  LinearExpr high, low;
};
} // namespace
static int64_t termDivisor(State &s, ExprAttr factor, int64_t k) {
  Congruence c = s.congruence(factor);
  int64_t d = gcd(c.modulus, c.remainder), r;
  return mulOverflow(d, k, r) || r == INT64_MIN ? gcd(k, 0) : gcd(r, 0);
}
static std::optional<HighLow> splitAt(State &s, const LinearExpr &l, ArrayRef<int64_t> divisors, int64_t unit) {
  HighLow r;
  for (auto [i, t] : llvm::enumerate(l.terms))
    (divisors[i] % unit == 0 ? r.high : r.low).terms.push_back(t);
  r.low.constant = l.constant;
  Wide w = s.rangeOf(r.low);
  if (!w.finite())
    return std::nullopt;
  auto block = [&](Int v) { return v / unit - (v % unit != 0 && v < 0); };
  if (block(w.lo) != block(w.hi))
    return std::nullopt;
  Int base = block(w.lo) * unit, rest = Int(l.constant) - base;
  if (base < INT64_MIN || base > INT64_MAX || rest < INT64_MIN || rest > INT64_MAX)
    return std::nullopt;
  r.high.constant = int64_t(base);
  r.low.constant = int64_t(rest);
  return r;
}
static std::optional<HighLow> splitHighLow(State &s, const LinearExpr &l, int64_t period) {
  SmallVector<int64_t, 6> divisors, units;
  for (auto &[f, k] : l.terms) {
    int64_t d = gcd(termDivisor(s, f, k), period);
    divisors.push_back(d);
    if (d > 1 && !llvm::is_contained(units, d))
      units.push_back(d);
  }
  if (period > 1 && !llvm::is_contained(units, period))
    units.push_back(period);
  llvm::sort(units, std::greater<>());
  for (int64_t unit : units) {
    std::optional<HighLow> r = splitAt(s, l, divisors, unit);
    if (r && (!r->low.terms.empty() || r->low.constant != 0))
      return r;
  }
  return std::nullopt;
}

//===- division --------------------------------------------------------------------===//
/// (a xor b) floordiv 2^n and mod 2^n, where that makes an operand simple.
static ExprAttr divideXor(State &s, ExprKind kind, ExprAttr x, ExprAttr c) {
  if (x.getKind() != ExprKind::Xor || !llvm::isPowerOf2_64(c.getValue()))
    return {};
  SmallVector<ExprAttr, 4> parts;
  bool simpler = false;
  for (Attribute a : x.getOperands()) {
    ExprAttr op = cast<ExprAttr>(a);
    parts.push_back(s.simplify(getExpr(kind, {op, c})));
    simpler |= isConstant(op) ? isConstant(parts.back(), 0) : parts.back() == op || isConstant(parts.back());
  }
  return simpler ? getExpr(ExprKind::Xor, parts) : ExprAttr();
}
static ExprAttr simplifyFloorDiv(State &s, ExprAttr e) {
  auto [x, c] = asFloorDiv(e);
  if (!x)
    return rules::divideSymbolic(s, e);
  std::optional<LinearExpr> l = getLinear(x);
  if (!l)
    return e;
  if (ExprAttr r = divideXor(s, ExprKind::FloorDiv, x, constant(e, c)))
    return r;
  // whole multiples leave
  LinearExpr rest;
  rest.constant = l->constant;
  SmallVector<ExprAttr, 4> quotients;
  for (auto &[f, k] : l->terms) {
    if (termDivisor(s, f, k) % c != 0) {
      rest.terms.push_back({f, k});
      continue;
    }
    ExprAttr term = getExpr(ExprKind::Mul, {f, constant(e, k)});
    quotients.push_back(getExpr(ExprKind::FloorDiv, {term, constant(e, c)}));
  }
  bool progress = quotients.size() > 1 || (!quotients.empty() && (!rest.terms.empty() || rest.constant != 0));
  if (progress) {
    if (ExprAttr dividend = fromLinear(e.getContext(), rest)) {
      quotients.push_back(getExpr(ExprKind::FloorDiv, {dividend, constant(e, c)}));
      return getExpr(ExprKind::Add, quotients);
    }
  }
  if (std::optional<HighLow> parts = splitHighLow(s, *l, c))
    if (ExprAttr high = fromLinear(e.getContext(), parts->high))
      return getExpr(ExprKind::FloorDiv, {high, constant(e, c)});
  return e;
}
static ExprAttr simplifyMod(State &s, ExprAttr e) {
  ExprAttr x = operand(e, 0), divisor = operand(e, 1);
  if (!isConstant(divisor) || divisor.getValue() <= 1)
    return isConstant(divisor) ? e : rules::divideSymbolic(s, e);
  std::optional<LinearExpr> l = getLinear(x);
  if (!l)
    return e;
  if (ExprAttr r = divideXor(s, ExprKind::Mod, x, divisor))
    return r;
  int64_t c = divisor.getValue();
  Congruence residue = s.congruence(x);
  if (residue.modulus % c == 0)
    return constant(e, floorMod(residue.remainder, c));
  LinearExpr rest;
  rest.constant = l->constant;
  for (auto &[f, k] : l->terms)
    if (termDivisor(s, f, k) % c != 0)
      rest.terms.push_back({f, k});
  std::optional<HighLow> parts = splitHighLow(s, rest, c);
  if (parts && !(parts->low.terms.empty() && parts->high.terms.empty())) {
    ExprAttr high = fromLinear(e.getContext(), parts->high), low = fromLinear(e.getContext(), parts->low);
    if (high && low)
      return getExpr(ExprKind::Add, {getExpr(ExprKind::Mod, {high, divisor}), low});
  }
  if (rest.terms.size() != l->terms.size())
    if (ExprAttr dividend = fromLinear(e.getContext(), rest))
      return getExpr(ExprKind::Mod, {dividend, divisor});
  return e;
}

//===- comparisons ---------------------------------------------------------------===//
static ExprAttr simplifyOrder(State &s, ExprAttr e, LinearExpr &l) {
  // l < 0
  if (e.getKind() == ExprKind::Le && subOverflow(l.constant, 1, l.constant))
    return e;
  if (std::optional<bool> r = s.isNegative(l))
    return constant(e, *r);
  // a part below the unit of the rest does not matter
  if (std::optional<HighLow> parts = splitHighLow(s, l, 0))
    if (ExprAttr high = fromLinear(e.getContext(), parts->high))
      return getExpr(ExprKind::Lt, {high, constant(e, 0)});
  return e;
}
static ExprAttr simplifyComparison(State &s, ExprAttr e) {
  if (llvm::is_contained(s.truths, e))
    return constant(e, 1);
  if (llvm::is_contained(s.truths, getNot(e)))
    return constant(e, 0);
  LinearExpr l;
  if (!addLinear(l, expand(operand(e, 0)), 1) || !addLinear(l, expand(operand(e, 1)), -1))
    return e;
  llvm::erase_if(l.terms, [](auto &t) { return t.second == 0; });
  if (e.getKind() == ExprKind::Lt || e.getKind() == ExprKind::Le)
    return simplifyOrder(s, e, l);
  ExprAttr difference = fromLinear(e.getContext(), l);
  if (!difference)
    return e;
  bool isEq = e.getKind() == ExprKind::Eq;
  Congruence c = s.congruence(difference);
  if (c.remainder != 0)
    return constant(e, !isEq);
  LinearExpr minus;
  if (!addLinear(minus, difference, -1))
    return e;
  if (s.isNegative(l) == true || s.isNegative(minus) == true)
    return constant(e, !isEq);
  if (s.isNonPositive(l, 2) && s.isNonPositive(minus, 2))
    return constant(e, isEq);
  return e;
}

//===- min, max, select ----------------------------------------------------------===//
static ExprAttr simplifyExtremum(State &s, ExprAttr e) {
  SmallVector<ExprAttr, 4> ops;
  for (Attribute a : e.getOperands())
    ops.push_back(cast<ExprAttr>(a));
  bool isMin = e.getKind() == ExprKind::Min, changed = false;
  for (size_t i = 0; i < ops.size(); ++i) {
    for (size_t j = 0; j < ops.size(); ++j) {
      LinearExpr l; // the operand to keep minus the other, for min
      if (i == j || !addLinear(l, expand(ops[isMin ? i : j]), 1) || !addLinear(l, expand(ops[isMin ? j : i]), -1) ||
          !s.isNonPositive(l, 2))
        continue;
      ops.erase(ops.begin() + j);
      changed = true;
      i -= j < i;
      --j;
    }
  }
  return changed ? getExpr(e.getKind(), ops) : e;
}

ExprAttr State::simplifyNode(ExprAttr e) {
  if (e.getKind() == ExprKind::Symbol)
    for (auto &[symbol, value] : replacements)
      if (symbol == e)
        return value;
  Wide w = range(e);
  if (w.single() && w.lo >= INT64_MIN && w.lo <= INT64_MAX)
    return constant(e, int64_t(w.lo));
  switch (e.getKind()) {
  case ExprKind::Add: return rules::recombine(*this, e);
  case ExprKind::FloorDiv: case ExprKind::CeilDiv: return simplifyFloorDiv(*this, e);
  case ExprKind::Mod: return simplifyMod(*this, e);
  case ExprKind::Min: case ExprKind::Max: return simplifyExtremum(*this, e);
  case ExprKind::Xor: return rules::xorToSum(*this, e);
  case ExprKind::Eq: case ExprKind::Ne: case ExprKind::Lt: case ExprKind::Le: return simplifyComparison(*this, e);
  case ExprKind::And: case ExprKind::Or:
    if (llvm::is_contained(truths, e))
      return constant(e, 1);
    return e;
  default: return e;
  }
}

ExprAttr State::simplify(ExprAttr e) {
  if (isConstant(e))
    return e;
  if (auto it = simplified.find(e); it != simplified.end())
    return it->second;
  ExprAttr node = llvm::is_contained(truths, e) ? constant(e, 1) : e;
  // the rules terminate; the bound is there for a pair of rules that undo each other in a case not thought of
  for (int round = 0; round < 16; ++round) {
    if (isConstant(node))
      break;
    SmallVector<ExprAttr, 6> ops;
    bool changed = false;
    for (Attribute a : node.getOperands()) {
      ops.push_back(simplify(cast<ExprAttr>(a)));
      changed |= ops.back() != a;
    }
    ExprAttr next = changed ? getExpr(node.getKind(), ops) : node;
    if (next == node)
      next = simplifyNode(node);
    if (next == node)
      break;
    node = next;
  }
  return simplified[e] = node;
}
