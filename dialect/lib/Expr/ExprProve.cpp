//===- ExprProve.cpp - proofs of conditions --------------------------------------===//
// 1. Simplify, with the facts' linear reasoning. 2. Write a symbol of a known residue class as modulus * quotient +
// remainder, so that divisibility becomes linear too. 3. Enumerate the symbols with few values (lane, wave, register …)
// and the residues of the others modulo the divisors they stand under; what remains is linear in the others, with
// numbers for coefficients, and is decided point by point, equal points once (see Grid).
#include "Grid.h"
using namespace mlir;
using namespace wave;
using namespace wave::detail;
using Int = Wide::Int;
using State = ExprFacts::State;

/// The condition and facts with symbols replaced by `modulus * quotient + residue`; no residue symbol: a known one.
namespace {
struct Rewriting {
  MLIRContext *ctx;
  State &state;
  SmallVector<std::pair<ExprAttr, ExprAttr>> replacements;
  SmallVector<SymbolFact> facts;
  SmallVector<ExprAttr> limits; // of the replaced symbols

  /// A symbol that no text can contain.
  ExprAttr fresh(ExprAttr symbol, const char *suffix) {
    return getSymbolExpr(ctx, (symbol.getName().getValue() + suffix).str());
  }
  static std::optional<int64_t> bound(Int v) {
    return v >= INT64_MIN && v <= INT64_MAX ? std::optional<int64_t>(int64_t(v)) : std::nullopt;
  }
  void replace(ExprAttr symbol, int64_t modulus, std::optional<int64_t> remainder) {
    Wide w = state.range(symbol);
    auto quotient = [&](Int v, Int r) { // floor of (v - r) / modulus
      Int n = v - r;
      return n / modulus - (n % modulus != 0 && n < 0);
    };
    Int rest = remainder.value_or(0);
    Interval range; // of the quotient; one that leaves a residue open is rounded outwards
    if (w.lo > -Wide::infinity)
      range.lo = bound(remainder ? -quotient(-w.lo, -rest) : quotient(w.lo, 0));
    if (w.hi < Wide::infinity)
      range.hi = bound(quotient(w.hi, rest));
    ExprAttr q = fresh(symbol, "'"), r = remainder ? getConstantExpr(ctx, *remainder) : fresh(symbol, "%");
    facts.push_back({q, range, {}});
    if (!remainder)
      facts.push_back({r, {0, modulus - 1}, {}});
    ExprAttr value = getExpr(ExprKind::Add, {getExpr(ExprKind::Mul, {q, getConstantExpr(ctx, modulus)}), r});
    replacements.push_back({symbol, value});
    if (remainder)
      return;
    if (std::optional<int64_t> lo = w.lo > -Wide::infinity ? bound(w.lo) : std::nullopt)
      limits.push_back(getExpr(ExprKind::Le, {getConstantExpr(ctx, *lo), value}));
    if (std::optional<int64_t> hi = w.hi < Wide::infinity ? bound(w.hi) : std::nullopt)
      limits.push_back(getExpr(ExprKind::Le, {value, getConstantExpr(ctx, *hi)}));
  }
  std::unique_ptr<ExprFacts> derive() {
    for (auto &[key, w] : state.known) {
      ExprAttr symbol = cast<ExprAttr>(key);
      if (symbol.getKind() != ExprKind::Symbol ||
          llvm::any_of(replacements, [&](auto &r) { return r.first == symbol; }))
        continue;
      SymbolFact f{symbol, {}, {}};
      f.range.lo = w.lo > -Wide::infinity ? bound(w.lo) : std::nullopt;
      f.range.hi = w.hi < Wide::infinity ? bound(w.hi) : std::nullopt;
      if (auto it = state.congruent.find(symbol); it != state.congruent.end())
        f.congruence = it->second;
      facts.push_back(f);
    }
    SmallVector<ExprAttr> assumptions = limits;
    for (ExprAttr t : state.truths)
      assumptions.push_back(substitute(t, replacements));
    return std::make_unique<ExprFacts>(ctx, facts, assumptions);
  }
};
} // namespace

/// The least p such that the expression is linear in q where symbol = p * q + r; 0 when there is none below the limit.
static int64_t periodOf(ExprAttr e, ExprAttr symbol, int64_t limit) {
  if (!dependsOn(e, symbol))
    return 1;
  int64_t p = 1;
  for (ExprAttr o : operandsOf(e)) {
    int64_t q = periodOf(o, symbol, limit);
    if (q == 0)
      return 0;
    p = std::lcm(p, q);
    if (p > limit)
      return 0;
  }
  bool division = e.getKind() == ExprKind::FloorDiv || e.getKind() == ExprKind::CeilDiv || e.getKind() == ExprKind::Mod;
  if (!division || !dependsOn(operand(e, 0), symbol) || !isConstant(operand(e, 1)))
    return p;
  int64_t c = operand(e, 1).getValue();
  return c > 0 && c <= limit && p * c <= limit ? p * c : 0;
}

static std::optional<bool> enumerate(ExprFacts &facts, State &state, ExprAttr e, size_t budget) {
  Grid grid(state, budget);
  SmallVector<ExprAttr> symbols = getSymbols(e);
  llvm::stable_sort(symbols, [&](ExprAttr a, ExprAttr b) {
    Wide p = state.range(a), q = state.range(b);
    return p.hi - p.lo < q.hi - q.lo;
  });
  SmallVector<ExprAttr> others;
  for (ExprAttr s : symbols)
    if (!grid.add(s))
      others.push_back(s);
  // residues of the others
  Rewriting rewriting{facts.getContext(), state, {}, {}, {}};
  size_t room = budget / grid.size();
  for (ExprAttr s : others) {
    int64_t p = periodOf(e, s, std::min<size_t>(room, 4096));
    if (p > 1) {
      rewriting.replace(s, p, std::nullopt);
      room /= p;
    }
  }
  if (rewriting.replacements.empty())
    return grid.size() > 1 ? grid.decide(e) : std::nullopt;
  std::unique_ptr<ExprFacts> derived = rewriting.derive();
  ExprAttr next = derived->simplify(substitute(e, rewriting.replacements));
  if (isConstant(next))
    return next.getValue() != 0;
  Grid all(derived->getState(), budget);
  for (ExprAttr s : getSymbols(next))
    if (dependsOn(e, s) ? llvm::is_contained(grid.symbols(), s) : s.getName().getValue().ends_with("%"))
      all.add(s);
  return all.decide(next);
}

static std::optional<bool> proveIn(ExprFacts &facts, ExprAttr e, size_t budget) {
  if (isConstant(e))
    return e.getValue() != 0;
  if (e.getKind() == ExprKind::And || e.getKind() == ExprKind::Or) {
    bool isAnd = e.getKind() == ExprKind::And, all = true;
    for (ExprAttr o : operandsOf(e)) {
      std::optional<bool> r = proveIn(facts, o, budget);
      if (r && *r != isAnd)
        return !isAnd;
      all &= r.has_value();
    }
    if (all)
      return isAnd;
  }
  return enumerate(facts, facts.getState(), e, budget);
}

std::optional<bool> ExprFacts::prove(ExprAttr condition, size_t budget) const {
  ExprAttr e = simplify(condition);
  if (isConstant(e))
    return e.getValue() != 0;
  if (!state->quotients) {
    Rewriting rewriting{ctx, *state, {}, {}, {}};
    SmallVector<ExprAttr> symbols;
    for (auto &[symbol, c] : state->congruent)
      if (c.modulus > 1)
        symbols.push_back(cast<ExprAttr>(symbol));
    llvm::sort(symbols, [](ExprAttr a, ExprAttr b) { return compareExprs(a, b) < 0; });
    for (ExprAttr s : symbols)
      rewriting.replace(s, state->congruent[s].modulus, state->congruent[s].remainder);
    state->quotients = rewriting.derive();
    state->quotientOf = rewriting.replacements;
  }
  ExprFacts &linear = *state->quotients;
  return proveIn(linear, linear.simplify(substitute(e, state->quotientOf)), budget);
}
