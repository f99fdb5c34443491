//===- ExprArith.cpp - canonical sums, products, divisions ---------------------===//
// Each function returns null where a fold would leave 64 bits; getExpr then keeps the node as it stands.
#include "ExprDetail.h"
#include "ExprCanon.h"
using namespace mlir;
using namespace wave;
using namespace wave::detail;

ExprAttr canon::add(ArrayRef<ExprAttr> ops) {
  LinearExpr sum;
  for (ExprAttr e : ops)
    if (!addLinear(sum, e, 1))
      return {};
  return fromLinear(ops.front().getContext(), sum);
}

/// Divides a sum by the gcd of its coefficients, the sign chosen so that the first is positive; the divisor is returned.
static int64_t takeContent(ExprAttr &sum) {
  std::optional<LinearExpr> l = getLinear(sum);
  if (!l)
    return 1;
  // A sum that was kept as it stands, because adding it up left 64 bits on the way, may fit now.
  if (ExprAttr fits = fromLinear(sum.getContext(), *l))
    sum = fits;
  if (l->terms.empty() || sum.getKind() != ExprKind::Add)
    return 1;
  int64_t g = l->constant;
  for (auto &t : l->terms)
    g = gcd(g, t.second);
  if (l->terms.front().second < 0)
    g = -g;
  if (g == 1)
    return 1;
  if (g == -1 && (l->constant == INT64_MIN || llvm::any_of(l->terms, [](auto &t) { return t.second == INT64_MIN; })))
    return 1;
  l->constant /= g;
  for (auto &t : l->terms)
    t.second /= g;
  sum = fromLinear(sum.getContext(), *l);
  return g;
}

ExprAttr canon::mul(ArrayRef<ExprAttr> ops) {
  SmallVector<ExprAttr, 6> factors;
  int64_t c = 1;
  for (ExprAttr e : ops) {
    if (isConstant(e, 0))
      return e;
    for (ExprAttr f : partsOf(ExprKind::Mul, e)) {
      if (!isConstant(f))
        factors.push_back(f);
      else if (mulOverflow(c, f.getValue(), c))
        return {};
    }
  }
  if (factors.empty())
    return constant(ops.front(), c);
  if (factors.size() == 1) {
    LinearExpr l;
    return addLinear(l, factors[0], c) ? fromLinear(ops.front().getContext(), l) : ExprAttr();
  }
  for (size_t i = 0; i < factors.size(); ++i) {
    if (factors[i].getKind() != ExprKind::Add)
      continue;
    if (mulOverflow(c, takeContent(factors[i]), c))
      return {};
    if (factors[i].getKind() == ExprKind::Mul || isConstant(factors[i])) // a raw sum may reduce to a product or a number
      return canon::mul(llvm::to_vector(llvm::concat<ExprAttr>(factors, SmallVector{constant(ops[0], c)})));
  }
  llvm::stable_sort(factors, [](ExprAttr a, ExprAttr b) { return compareExprs(a, b) < 0; });
  if (c == 0)
    return constant(ops.front(), 0);
  if (c != 1)
    factors.push_back(constant(ops.front(), c));
  return makeNode(ExprKind::Mul, factors);
}

static ExprAttr negated(ExprAttr e) { return canon::mul({e, constant(e, -1)}); }
static ExprAttr sum(ExprAttr a, ExprAttr b) { return a && b ? canon::add({a, b}) : ExprAttr(); }

/// One division with a constant divisor > 1 of a dividend that no further rule splits: rest + r, 0 <= r < c.
static ExprAttr divideRest(MLIRContext *ctx, LinearExpr rest, int64_t c) {
  int64_t r = rest.constant;
  bool single = rest.terms.size() == 1 && rest.terms[0].second == 1;
  ExprAttr only = single ? rest.terms[0].first : ExprAttr();
  if (single) {
    // (y floordiv d + r) floordiv c = (y + r * d) floordiv (c * d)
    auto [y, d] = asFloorDiv(only);
    int64_t cd, rd;
    if (y && !mulOverflow(c, d, cd) && !mulOverflow(r, d, rd))
      if (ExprAttr dividend = canon::add({y, getConstantExpr(ctx, rd)}))
        return canon::floorDiv(dividend, getConstantExpr(ctx, cd));
    // (y mod m) floordiv c = (y floordiv c) mod (m floordiv c) when c divides m
    if (only.getKind() == ExprKind::Mod && r == 0 && isConstant(operand(only, 1))) {
      int64_t m = operand(only, 1).getValue();
      if (m > 0 && m % c == 0)
        if (ExprAttr q = canon::floorDiv(operand(only, 0), getConstantExpr(ctx, c)))
          return canon::mod(q, getConstantExpr(ctx, m / c));
    }
  }
  bool ceil = r == c - 1;
  if (ceil)
    rest.constant = 0;
  ExprAttr dividend = fromLinear(ctx, rest);
  if (!dividend)
    return {};
  return makeNode(ceil ? ExprKind::CeilDiv : ExprKind::FloorDiv, {dividend, getConstantExpr(ctx, c)});
}

static ExprAttr floorDivConstant(ExprAttr x, int64_t c) {
  MLIRContext *ctx = x.getContext();
  if (c == 1)
    return x;
  if (c < 0) {
    ExprAttr minus = c == INT64_MIN ? ExprAttr() : negated(x);
    return minus ? floorDivConstant(minus, -c) : ExprAttr();
  }
  std::optional<LinearExpr> l = getLinear(x);
  if (!l)
    return {};
  LinearExpr quotient, rest;
  quotient.constant = floorDiv(l->constant, c);
  rest.constant = floorMod(l->constant, c);
  int64_t g = c;
  for (auto &[f, k] : l->terms) {
    if (k % c == 0) {
      quotient.terms.push_back({f, k / c});
    } else {
      rest.terms.push_back({f, k});
      g = gcd(g, k);
    }
  }
  ExprAttr whole = fromLinear(ctx, quotient);
  if (rest.terms.empty())
    return whole;
  for (auto &t : rest.terms)
    t.second /= g;
  rest.constant /= g;
  ExprAttr part = divideRest(ctx, rest, c / g);
  return isConstant(whole, 0) ? part : sum(whole, part);
}

/// Terms of x that are multiples of the non-constant y, divided by it, and the rest.
static bool splitMultiples(ExprAttr x, ExprAttr y, LinearExpr &quotient, LinearExpr &rest) {
  std::optional<LinearExpr> l = getLinear(x);
  if (!l)
    return false;
  auto [factor, c] = splitCoefficient(y);
  rest.constant = l->constant;
  for (auto &[f, k] : l->terms) {
    bool traps = k == INT64_MIN && c == -1; // the quotient does not fit
    ExprAttr q = !traps && k % c == 0 ? divideMonomial(f, factor) : ExprAttr();
    if (!q)
      rest.terms.push_back({f, k});
    else if (!addLinear(quotient, q, k / c))
      return false;
  }
  return true;
}
static ExprAttr divideSymbolic(ExprKind kind, ExprAttr x, ExprAttr y) {
  if (x == y)
    return constant(x, 1);
  if (isConstant(x, 0))
    return x;
  LinearExpr quotient, rest;
  if (!splitMultiples(x, y, quotient, rest))
    return {};
  ExprAttr whole = fromLinear(x.getContext(), quotient);
  if (rest.terms.empty() && rest.constant == 0)
    return whole;
  ExprAttr dividend = fromLinear(x.getContext(), rest);
  ExprAttr part = dividend ? makeNode(kind, {dividend, y}) : ExprAttr();
  return isConstant(whole, 0) ? part : sum(whole, part);
}

ExprAttr canon::floorDiv(ExprAttr x, ExprAttr y) {
  if (isConstant(y))
    return y.getValue() == 0 ? ExprAttr() : floorDivConstant(x, y.getValue());
  return divideSymbolic(ExprKind::FloorDiv, x, y);
}
ExprAttr canon::ceilDiv(ExprAttr x, ExprAttr y) {
  if (!isConstant(y))
    return divideSymbolic(ExprKind::CeilDiv, x, y);
  int64_t c = y.getValue();
  if (c == 0 || c == INT64_MIN)
    return {};
  ExprAttr dividend = c < 0 ? negated(x) : x;
  c = c < 0 ? -c : c;
  dividend = sum(dividend, constant(x, c - 1));
  return dividend ? floorDivConstant(dividend, c) : ExprAttr();
}

/// Coefficients below c in magnitude, inner `mod` by multiples of c gone; the constant in [0, c).
static bool reduceModulo(LinearExpr &l, int64_t c) {
  for (bool again = true; again;) {
    again = false;
    LinearExpr next;
    next.constant = floorMod(l.constant, c);
    for (auto &[f, k] : l.terms) {
      int64_t r = k % c;
      if (r == 0)
        continue;
      ExprAttr inner = f.getKind() == ExprKind::Mod ? operand(f, 1) : ExprAttr();
      bool drop = inner && isConstant(inner) && inner.getValue() != 0 && gcd(inner.getValue(), c) % (c / gcd(r, c)) == 0;
      if (!addLinear(next, drop ? operand(f, 0) : f, r))
        return false;
      again |= drop;
    }
    llvm::erase_if(next.terms, [](auto &t) { return t.second == 0; });
    // merged terms may have grown past c again
    again |= llvm::any_of(next.terms, [&](auto &t) { return t.second % c != t.second; });
    l = next;
  }
  l.constant = floorMod(l.constant, c);
  return true;
}
static ExprAttr modConstant(ExprAttr x, int64_t c) {
  MLIRContext *ctx = x.getContext();
  if (c == 1 || c == -1)
    return constant(x, 0);
  if (c < 0) { // x mod -c = -(-x mod c)
    ExprAttr minus = c == INT64_MIN ? ExprAttr() : negated(x);
    ExprAttr r = minus ? modConstant(minus, -c) : ExprAttr();
    return r ? negated(r) : r;
  }
  std::optional<LinearExpr> l = getLinear(x);
  if (!l || !reduceModulo(*l, c))
    return {};
  if (l->terms.empty())
    return constant(x, l->constant);
  int64_t g = c;
  for (auto &t : l->terms)
    g = gcd(g, t.second);
  // (g * y + r) mod (g * d) = g * (y mod d) + r for 0 <= r < g
  int64_t r = l->constant % g;
  l->constant /= g;
  for (auto &t : l->terms)
    t.second /= g;
  ExprAttr dividend = fromLinear(ctx, *l);
  if (!dividend)
    return {};
  if (g == 1)
    return makeNode(ExprKind::Mod, {dividend, constant(x, c)});
  ExprAttr inner = modConstant(dividend, c / g);
  LinearExpr result;
  result.constant = r;
  return inner && addLinear(result, inner, g) ? fromLinear(ctx, result) : ExprAttr();
}
ExprAttr canon::mod(ExprAttr x, ExprAttr y) {
  if (isConstant(y))
    return y.getValue() == 0 ? ExprAttr() : modConstant(x, y.getValue());
  if (x == y)
    return constant(x, 0);
  LinearExpr quotient, rest;
  if (!splitMultiples(x, y, quotient, rest))
    return {};
  ExprAttr dividend = fromLinear(x.getContext(), rest);
  if (!dividend || isConstant(dividend, 0))
    return dividend;
  return makeNode(ExprKind::Mod, {dividend, y});
}
