//===- ExprRange.cpp - intervals and congruences of expressions -----------------===//
#include "FactsState.h"
#include "llvm/Support/MathExtras.h"
using namespace mlir;
using namespace wave;
using namespace wave::detail;
using Int = Wide::Int;
static constexpr Int infinity = Wide::infinity;

//===- intervals ---------------------------------------------------------------===//
/// Bounds beyond 64 bits become open, so that later products of two bounds fit.
static Wide clamp(Wide w) {
  if (w.lo < INT64_MIN) w.lo = -infinity;
  if (w.hi > INT64_MAX) w.hi = infinity;
  w.lo = std::min<Int>(w.lo, INT64_MAX);
  w.hi = std::max<Int>(w.hi, INT64_MIN);
  return w;
}
static Wide hull(Wide a, Wide b) { return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)}; }
static Int times(Int a, Int b) {
  if (a == 0 || b == 0)
    return 0;
  if (a <= -infinity || a >= infinity || b <= -infinity || b >= infinity)
    return (a < 0) == (b < 0) ? infinity : -infinity;
  return a * b;
}
template <typename F> static Wide corners(Wide a, Wide b, F &&f) {
  Int v[4] = {f(a.lo, b.lo), f(a.lo, b.hi), f(a.hi, b.lo), f(a.hi, b.hi)};
  return clamp({*std::min_element(v, v + 4), *std::max_element(v, v + 4)});
}
static Wide product(Wide a, Wide b) { return corners(a, b, times); }
static Wide plus(Wide a, Wide b) { return clamp({std::max(a.lo + b.lo, -infinity), std::min(a.hi + b.hi, infinity)}); }

/// a / b for b >= 1 by floor or ceiling; an infinite divisor leaves 0 or the rounding of a small fraction.
static Int quotient(Int a, Int b, bool ceil) {
  if (b >= infinity)
    return ceil ? (a > 0) : -(a < 0);
  if (a <= -infinity || a >= infinity)
    return a;
  Int q = a / b, r = a % b;
  return q + (r > 0 && ceil) - (r < 0 && !ceil);
}
static Wide divide(Wide a, Wide b, bool ceil) {
  // a quotient by a negative number is that of the negations; a divisor of 0 gives no value
  std::optional<Wide> r;
  if (b.hi >= 1)
    r = corners(a, {std::max<Int>(b.lo, 1), b.hi}, [&](Int x, Int y) { return quotient(x, y, ceil); });
  if (b.lo <= -1) {
    Wide minus = corners({-a.hi, -a.lo}, {std::max<Int>(-b.hi, 1), -b.lo},
                         [&](Int x, Int y) { return quotient(x, y, ceil); });
    r = r ? hull(*r, minus) : minus;
  }
  return r.value_or(Wide{});
}
static Wide modulo(Wide a, Wide b) {
  std::optional<Wide> r;
  if (b.hi >= 1) {
    Wide w{0, b.hi >= infinity ? infinity : b.hi - 1};
    if (a.lo >= 0) {
      w.hi = std::min(w.hi, a.hi);
      if (a.hi < std::max<Int>(b.lo, 1))
        w = a;
    }
    // one divisor, and the dividend within one period
    if (b.single() && a.finite() && quotient(a.lo, b.lo, false) == quotient(a.hi, b.lo, false))
      w = {a.lo - quotient(a.lo, b.lo, false) * b.lo, a.hi - quotient(a.lo, b.lo, false) * b.lo};
    r = w;
  }
  if (b.lo <= -1) {
    Wide minus{b.lo <= -infinity ? -infinity : b.lo + 1, 0};
    r = r ? hull(*r, minus) : minus;
  }
  return r.value_or(Wide{});
}
static Wide exclusiveOr(Wide a, Wide b) {
  if (a.lo < 0 || b.lo < 0 || !a.finite() || !b.finite())
    return a.lo >= 0 && b.lo >= 0 ? Wide{0, infinity} : Wide{};
  uint64_t bits = uint64_t(a.hi) | uint64_t(b.hi);
  return {0, bits ? Int(llvm::maskTrailingOnes<uint64_t>(llvm::Log2_64(bits) + 1)) : 0};
}

std::pair<ExprAttr, int> wave::detail::boundKey(MLIRContext *ctx, LinearExpr l) {
  l.constant = 0;
  if (l.terms.empty())
    return {{}, 1};
  ExprAttr first = l.terms.front().first;
  int64_t k = l.terms.front().second;
  for (auto &[f, c] : l.terms)
    if (compareExprs(f, first) < 0) {
      first = f;
      k = c;
    }
  if (k < 0)
    for (auto &t : l.terms)
      if (subOverflow(0, t.second, t.second))
        return {{}, 1};
  return {fromLinear(ctx, l), k < 0 ? -1 : 1};
}

Wide ExprFacts::State::rangeOf(const LinearExpr &l) {
  Wide w{l.constant, l.constant};
  for (auto &[f, k] : l.terms)
    w = plus(w, product(range(f), {k, k}));
  if (!knowsSums || l.terms.size() < 2)
    return w;
  auto [key, sign] = boundKey(l.terms[0].first.getContext(), l);
  auto it = key ? known.find(key) : known.end();
  if (it == known.end())
    return w;
  Wide k = it->second;
  if (sign < 0)
    k = {-k.hi, -k.lo};
  k = plus(k, {l.constant, l.constant});
  return {std::max(w.lo, k.lo), std::min(w.hi, k.hi)};
}

Wide ExprFacts::State::computeRange(ExprAttr e) {
  ExprKind kind = e.getKind();
  if (isConstant(e))
    return {e.getValue(), e.getValue()};
  if (kind == ExprKind::Symbol)
    return isNonNegativeSymbol(e.getName().getValue()) ? Wide{0, infinity} : Wide{};
  if (kind == ExprKind::Add) {
    if (std::optional<LinearExpr> l = getLinear(e))
      return rangeOf(*l);
  }
  if (isBoolean(e) && kind != ExprKind::Select)
    return {0, 1};
  if (kind == ExprKind::Select)
    return hull(range(operand(e, 1)), range(operand(e, 2)));
  if (kind == ExprKind::Mul) // a square is not negative
    if (SmallVector<ExprAttr, 4> f = factorsOf(e); f.size() == 2 && f[0] == f[1]) {
      Wide w = range(f[0]), square = product(w, w);
      square = {w.lo >= 0 || w.hi <= 0 ? std::max<Int>(square.lo, 0) : 0, square.hi};
      return product(square, {splitCoefficient(e).second, splitCoefficient(e).second});
    }
  Wide r = range(operand(e, 0));
  for (Attribute a : e.getOperands().drop_front()) {
    Wide o = range(cast<ExprAttr>(a));
    switch (kind) {
    case ExprKind::Add: r = plus(r, o); break;
    case ExprKind::Mul: r = product(r, o); break;
    case ExprKind::FloorDiv: r = divide(r, o, false); break;
    case ExprKind::CeilDiv: r = divide(r, o, true); break;
    case ExprKind::Mod: r = modulo(r, o); break;
    case ExprKind::Min: r = {std::min(r.lo, o.lo), std::min(r.hi, o.hi)}; break;
    case ExprKind::Max: r = {std::max(r.lo, o.lo), std::max(r.hi, o.hi)}; break;
    default: r = exclusiveOr(r, o);
    }
  }
  return r;
}

Wide ExprFacts::State::range(ExprAttr e) {
  if (isConstant(e))
    return {e.getValue(), e.getValue()};
  if (auto it = ranges.find(e); it != ranges.end())
    return it->second;
  Wide w = computeRange(e);
  if (auto it = known.find(e); it != known.end())
    w = {std::max(w.lo, it->second.lo), std::min(w.hi, it->second.hi)};
  Congruence c = congruence(e);
  if (c.modulus > 1) { // to the nearest values of the residue class
    auto mod = [&](Int v) { return ((v - c.remainder) % c.modulus + c.modulus) % c.modulus; };
    if (w.lo > -infinity && mod(w.lo))
      w.lo += c.modulus - mod(w.lo);
    if (w.hi < infinity)
      w.hi -= mod(w.hi);
  }
  if (w.empty()) // contradicting facts: nothing to say
    w = {};
  return ranges[e] = w;
}

//===- congruences -------------------------------------------------------------===//
static Congruence normal(int64_t modulus, int64_t remainder) {
  if (modulus == INT64_MIN)
    return {};
  modulus = modulus < 0 ? -modulus : modulus;
  return {modulus, modulus ? floorMod(remainder, modulus) : remainder};
}
/// The smallest class that holds both.
Congruence wave::detail::joined(Congruence a, Congruence b) {
  int64_t d;
  if (subOverflow(a.remainder, b.remainder, d))
    return {};
  return normal(gcd(gcd(a.modulus, b.modulus), d), a.remainder);
}
static Congruence sum(Congruence a, Congruence b) {
  int64_t g = gcd(a.modulus, b.modulus), r;
  if (g > 0) { // remainders may be reduced first
    a.remainder = floorMod(a.remainder, g);
    b.remainder = floorMod(b.remainder, g);
  }
  return addOverflow(a.remainder, b.remainder, r) ? Congruence{} : normal(g, r);
}
static Congruence product(Congruence a, Congruence b) {
  int64_t mm, mr, rm, rr;
  if (mulOverflow(a.modulus, b.modulus, mm) || mulOverflow(a.modulus, b.remainder, mr) ||
      mulOverflow(a.remainder, b.modulus, rm) || mulOverflow(a.remainder, b.remainder, rr))
    return {};
  return normal(gcd(gcd(mm, mr), rm), rr);
}
static Congruence quotient(Congruence a, Congruence b) {
  // (m * k + r) floordiv c = (m / c) * k + r floordiv c when c divides m
  int64_t c = b.remainder;
  if (b.modulus != 0 || c <= 0 || a.modulus % c != 0)
    return {};
  return normal(a.modulus / c, floorDiv(a.remainder, c));
}
static Congruence modulo(Congruence a, Congruence b) {
  // a mod b = a - b * k for some k
  if (b.modulus == 0 && b.remainder > 0 && a.modulus % b.remainder == 0)
    return normal(0, floorMod(a.remainder, b.remainder));
  int64_t g = gcd(gcd(a.modulus, b.modulus), b.remainder);
  return g ? normal(g, a.remainder) : Congruence{};
}
static Congruence exclusiveOr(Congruence a, Congruence b) {
  if (a.modulus == 0 && b.modulus == 0)
    return {0, a.remainder ^ b.remainder};
  int64_t g = gcd(a.modulus, b.modulus);
  g &= -g; // low bits that both know
  return normal(g, (a.remainder ^ b.remainder));
}

Congruence ExprFacts::State::computeCongruence(ExprAttr e) {
  ExprKind kind = e.getKind();
  if (kind == ExprKind::Symbol) {
    auto it = congruent.find(e);
    return it == congruent.end() ? Congruence{} : it->second;
  }
  if (kind == ExprKind::Select)
    return joined(congruence(operand(e, 1)), congruence(operand(e, 2)));
  if (isBoolean(e))
    return {};
  Congruence r = congruence(operand(e, 0));
  for (Attribute a : e.getOperands().drop_front()) {
    Congruence o = congruence(cast<ExprAttr>(a));
    switch (kind) {
    case ExprKind::Add: r = sum(r, o); break;
    case ExprKind::Mul: r = ::product(r, o); break;
    case ExprKind::FloorDiv: r = ::quotient(r, o); break;
    case ExprKind::CeilDiv: r = Congruence{}; break; // looked at as a division by floor where it can be
    case ExprKind::Mod: r = ::modulo(r, o); break;
    case ExprKind::Min: case ExprKind::Max: r = joined(r, o); break;
    default: r = ::exclusiveOr(r, o);
    }
  }
  if (kind == ExprKind::CeilDiv) {
    auto [dividend, c] = asFloorDiv(e);
    if (dividend)
      r = ::quotient(congruence(dividend), {0, c});
  }
  return r;
}
Congruence ExprFacts::State::congruence(ExprAttr e) {
  if (isConstant(e))
    return {0, e.getValue()};
  if (auto it = congruences.find(e); it != congruences.end())
    return it->second;
  Congruence c = computeCongruence(e);
  if (c.modulus == 0 && c.remainder == INT64_MIN) // its negation would not fit
    c = {};
  return congruences[e] = c;
}
