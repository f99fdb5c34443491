//===- ExprBound.cpp - linear reasoning over assumptions -------------------------===//
// linear <= 0 follows when linear - q * u <= 0 does, for an assumption u <= 0 and a q >= 0. Intervals end the search.
#include "FactsState.h"
using namespace mlir;
using namespace wave;
using namespace wave::detail;
using State = ExprFacts::State;

namespace {
/// Sums that are never positive: assumptions, and what the definition of a node says of it.
struct Lemmas {
  State &state;
  SmallVector<LinearExpr, 8> lemmas;

  /// sum of scale * expression over the pairs, plus constant <= 0.
  void add(ArrayRef<std::pair<ExprAttr, int64_t>> sum, int64_t constant) {
    LinearExpr l;
    l.constant = constant;
    for (auto &[e, k] : sum)
      if (!addLinear(l, expand(e), k))
        return;
    llvm::erase_if(l.terms, [](auto &t) { return t.second == 0; });
    if (!l.terms.empty())
      lemmas.push_back(l);
  }
  void division(ExprAttr node) {
    // y * (x floordiv y) <= x <= y * (x floordiv y) + y - 1
    ExprAttr x = operand(node, 0), y = operand(node, 1);
    if (state.range(y).lo < 1)
      return;
    ExprAttr product = getExpr(ExprKind::Mul, {node, y});
    if (node.getKind() == ExprKind::FloorDiv) {
      add({{product, 1}, {x, -1}}, 0);
      add({{x, 1}, {product, -1}, {y, -1}}, 1);
    } else { // x <= y * (x ceildiv y) <= x + y - 1
      add({{x, 1}, {product, -1}}, 0);
      add({{product, 1}, {x, -1}, {y, -1}}, 1);
    }
  }
  void define(ExprAttr f) {
    switch (f.getKind()) {
    case ExprKind::FloorDiv: case ExprKind::CeilDiv: return division(f);
    case ExprKind::Mod:
      if (state.range(operand(f, 1)).lo < 1)
        return;
      add({{f, 1}, {operand(f, 1), -1}}, 1);
      if (state.range(operand(f, 0)).lo >= 0)
        add({{f, 1}, {operand(f, 0), -1}}, 0);
      return;
    case ExprKind::Min: case ExprKind::Max:
      for (Attribute a : f.getOperands()) {
        int64_t sign = f.getKind() == ExprKind::Min ? 1 : -1;
        add({{f, sign}, {cast<ExprAttr>(a), -sign}}, 0);
      }
      return;
    default: return;
    }
  }
};

struct Search {
  State &state;
  int budget = 300;

  /// l <= slack.
  bool nonPositive(const LinearExpr &l, unsigned depth, int64_t slack = 0) {
    if (state.rangeOf(l).hi <= slack)
      return true;
    if (depth == 0 || --budget < 0)
      return false;
    Lemmas all{state, {}};
    for (const LinearExpr &u : state.upper)
      all.lemmas.push_back(u);
    for (auto &[f, k] : l.terms)
      for (ExprAttr part : factorsOf(f))
        all.define(part);
    for (auto &[f, k] : l.terms) {
      if (k == 0)
        continue;
      for (const LinearExpr &u : all.lemmas)
        for (auto &[g, a] : u.terms)
          if (eliminate(l, f, k, u, g, a, depth, slack))
            return true;
    }
    return false;
  }
  /// Takes the term k * f out of l with the term a * g of u.
  bool eliminate(const LinearExpr &l, ExprAttr f, int64_t k, const LinearExpr &u, ExprAttr g, int64_t a,
                 unsigned depth, int64_t slack) {
    if ((k > 0) != (a > 0))
      return false;
    ExprAttr q = divideMonomial(f, g);
    if (!q || state.range(q).lo < 0)
      return false;
    int64_t d = gcd(k, a), scale = a / d, times = k / d;
    if (a < 0) {
      if (scale == INT64_MIN || times == INT64_MIN)
        return false;
      scale = -scale;
      times = -times;
    }
    LinearExpr next;
    if (mulOverflow(l.constant, scale, next.constant))
      return false;
    for (auto &[e, c] : l.terms)
      if (int64_t v; mulOverflow(c, scale, v) || !addLinear(next, e, v))
        return false;
    for (auto &[e, c] : u.terms)
      if (int64_t v; mulOverflow(c, times, v) || v == INT64_MIN || !addLinear(next, getExpr(ExprKind::Mul, {q, e}), -v))
        return false;
    int64_t v;
    if (mulOverflow(u.constant, times, v) || v == INT64_MIN || !addLinear(next, q, -v))
      return false;
    llvm::erase_if(next.terms, [](auto &t) { return t.second == 0; });
    // scale * l <= scale * slack + scale - 1 is enough for an integer l
    if (mulOverflow(slack, scale, slack) || addOverflow(slack, scale - 1, slack))
      return false;
    return next.terms.size() <= l.terms.size() + 2 && nonPositive(next, depth - 1, slack);
  }
};
} // namespace

bool State::isNonPositive(const LinearExpr &linear, unsigned depth) { return Search{*this}.nonPositive(linear, depth); }

std::optional<bool> State::isNegative(const LinearExpr &linear) {
  Wide w = rangeOf(linear);
  if (w.hi < 0)
    return true;
  if (w.lo >= 0)
    return false;
  LinearExpr below = linear, minus;
  if (!addOverflow(below.constant, 1, below.constant) && isNonPositive(below, 3))
    return true;
  for (auto &[f, k] : linear.terms)
    if (!addLinear(minus, f, k == INT64_MIN ? 0 : -k) || k == INT64_MIN)
      return std::nullopt;
  if (subOverflow(0, linear.constant, minus.constant) || !isNonPositive(minus, 3))
    return std::nullopt;
  return false;
}
