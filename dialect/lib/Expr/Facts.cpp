//===- Facts.cpp - knowledge from ranges, divisibility and assumptions ----------===//
#include "FactsState.h"
using namespace mlir;
using namespace wave;
using namespace wave::detail;
using Int = Wide::Int;

void ExprFacts::State::intersect(ExprAttr e, Wide w) {
  Wide &k = known[e];
  k = {std::max(k.lo, w.lo), std::min(k.hi, w.hi)};
  knowsSums |= e.getKind() == ExprKind::Add;
}
void ExprFacts::State::clearCaches() {
  ranges.clear();
  congruences.clear();
  simplified.clear();
}

/// linear <= 0.
void ExprFacts::State::assumeUpper(const LinearExpr &linear) {
  MLIRContext *ctx = linear.terms.front().first.getContext();
  upper.push_back(linear);
  auto [key, sign] = boundKey(ctx, linear);
  if (!key)
    return;
  auto [factor, k] = splitCoefficient(key); // k * factor <= -constant, or >= constant
  Int bound = -Int(linear.constant);
  if (sign < 0)
    bound = -bound;
  auto floorOf = [](Int a, Int b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); };
  // terms of a sum have a first coefficient > 0, and so has a single term
  if (sign > 0)
    intersect(factor, {-Wide::infinity, floorOf(bound, k)});
  else
    intersect(factor, {-floorOf(-bound, k), Wide::infinity});
}

/// left = right: both bounds, a residue class of a symbol, or a symbol's replacement.
void ExprFacts::State::assumeEqual(ExprAttr condition) {
  ExprAttr a = operand(condition, 0), b = operand(condition, 1);
  if (a.getKind() == ExprKind::Mod && operand(a, 0).getKind() == ExprKind::Symbol && isConstant(b) &&
      isConstant(operand(a, 1)) && operand(a, 1).getValue() > 0) {
    Congruence fact{operand(a, 1).getValue(), floorMod(b.getValue(), operand(a, 1).getValue())};
    Congruence &old = congruent.try_emplace(operand(a, 0), Congruence{}).first->second;
    if (old.modulus != 0 && fact.modulus % old.modulus == 0) // the finer class replaces the coarser
      old = fact;
  }
  LinearExpr l, minus;
  if (!addLinear(l, a, 1) || !addLinear(l, b, -1) || !addLinear(minus, b, 1) || !addLinear(minus, a, -1) ||
      l.terms.empty())
    return;
  assumeUpper(l);
  assumeUpper(minus);
  // symbol = rest, the last such symbol in the order
  ExprAttr best;
  for (auto &[f, k] : l.terms) {
    bool elsewhere = llvm::any_of(l.terms, [&, f = f](auto &t) { return t.first != f && dependsOn(t.first, f); });
    if (f.getKind() == ExprKind::Symbol && (k == 1 || k == -1) && !elsewhere && (!best || compareExprs(f, best) > 0))
      best = f;
  }
  if (!best)
    return;
  LinearExpr rest;
  int64_t sign = llvm::find_if(l.terms, [&](auto &t) { return t.first == best; })->second == 1 ? -1 : 1;
  for (auto &[f, k] : l.terms)
    if (f != best && !addLinear(rest, f, sign * k))
      return;
  if (l.constant == INT64_MIN)
    return;
  rest.constant = sign * l.constant;
  ExprAttr value = fromLinear(condition.getContext(), rest);
  if (!value)
    return;
  for (auto &r : replacements)
    r.second = substitute(r.second, {{best, value}});
  replacements.push_back({best, value});
}

void ExprFacts::State::assume(ExprAttr condition) {
  if (!replacements.empty())
    condition = substitute(condition, replacements);
  if (!isBoolean(condition))
    condition = getExpr(ExprKind::Ne, {condition, getConstantExpr(condition.getContext(), 0)});
  if (condition.getKind() == ExprKind::And) {
    for (Attribute a : condition.getOperands())
      assume(cast<ExprAttr>(a));
    return;
  }
  if (isConstant(condition))
    return;
  truths.push_back(condition);
  if (condition.getKind() == ExprKind::Eq)
    return assumeEqual(condition);
  if (condition.getKind() != ExprKind::Lt && condition.getKind() != ExprKind::Le)
    return;
  LinearExpr l;
  if (addLinear(l, operand(condition, 0), 1) && addLinear(l, operand(condition, 1), -1) && !l.terms.empty() &&
      (condition.getKind() == ExprKind::Le || !addOverflow(l.constant, 1, l.constant)))
    assumeUpper(l);
}

ExprFacts::ExprFacts(MLIRContext *ctx, ArrayRef<SymbolFact> symbols, ArrayRef<ExprAttr> assumptions)
    : ctx(ctx), state(std::make_unique<State>()) {
  for (const SymbolFact &f : symbols) {
    Wide w;
    if (f.range.lo) w.lo = *f.range.lo;
    if (f.range.hi) w.hi = *f.range.hi;
    if (isNonNegativeSymbol(f.symbol.getName().getValue()))
      w.lo = std::max<Int>(w.lo, 0);
    state->intersect(f.symbol, w);
    if (f.congruence.modulus != 1)
      state->congruent[f.symbol] = f.congruence;
  }
  for (ExprAttr e : assumptions)
    state->assume(e);
  // what is known of a replaced symbol holds for its replacement; a residue class of it becomes an assumption
  for (auto [symbol, value] : llvm::to_vector(state->replacements)) {
    if (auto it = state->known.find(symbol); it != state->known.end()) {
      Wide w = it->second;
      LinearExpr l, minus;
      if (!addLinear(l, value, 1) || !addLinear(minus, value, -1) || l.terms.empty())
        continue;
      int64_t constant;
      if (w.hi < Wide::infinity && w.hi >= INT64_MIN && w.hi <= INT64_MAX &&
          !subOverflow(l.constant, int64_t(w.hi), constant)) {
        l.constant = constant;
        state->assumeUpper(l);
      }
      if (w.lo > -Wide::infinity && w.lo >= INT64_MIN && w.lo <= INT64_MAX &&
          !addOverflow(minus.constant, int64_t(w.lo), constant)) {
        minus.constant = constant;
        state->assumeUpper(minus);
      }
    }
    if (auto it = state->congruent.find(symbol); it != state->congruent.end() && it->second.modulus > 1) {
      ExprAttr modulus = getConstantExpr(ctx, it->second.modulus), rest = getConstantExpr(ctx, it->second.remainder);
      ExprAttr condition = getExpr(ExprKind::Eq, {getExpr(ExprKind::Mod, {value, modulus}), rest});
      if (condition.getKind() == ExprKind::Eq)
        state->assume(condition);
    }
  }
  state->clearCaches();
}
ExprFacts::~ExprFacts() = default;

Interval ExprFacts::range(ExprAttr e) const {
  Wide w = state->range(e), s = state->range(simplify(e));
  w = {std::max(w.lo, s.lo), std::min(w.hi, s.hi)};
  Interval r;
  if (w.lo >= INT64_MIN && w.lo <= INT64_MAX) r.lo = int64_t(w.lo);
  if (w.hi >= INT64_MIN && w.hi <= INT64_MAX) r.hi = int64_t(w.hi);
  return r;
}
Congruence ExprFacts::congruence(ExprAttr e) const {
  Congruence a = state->congruence(simplify(e)), b = state->congruence(e);
  return a.modulus == 0 || (b.modulus != 0 && a.modulus >= b.modulus) ? a : b;
}
int64_t ExprFacts::divisor(ExprAttr e) const {
  Congruence c = congruence(e);
  return gcd(c.modulus, c.remainder);
}
ExprAttr ExprFacts::simplify(ExprAttr e) const {
  if (state->simplified.size() > 1 << 16) // keep long-lived facts small
    state->clearCaches();
  return state->simplify(e);
}
