//===- ExprLogic.cpp - canonical min, max, xor, conditions; getExpr ------------===//
#include "ExprCanon.h"
using namespace mlir;
using namespace wave;
using namespace wave::detail;

static bool before(ExprAttr a, ExprAttr b) { return compareExprs(a, b) < 0; }

/// Operands with those of nested nodes of the kind in their place.
static SmallVector<ExprAttr, 4> flatten(ExprKind kind, ArrayRef<ExprAttr> ops) {
  SmallVector<ExprAttr, 4> r;
  for (ExprAttr e : ops)
    llvm::append_range(r, partsOf(kind, e));
  return r;
}
/// The node of the operands and, last, the constant; `neutral` is not written.
static ExprAttr finish(ExprKind kind, SmallVector<ExprAttr, 4> &ops, std::optional<int64_t> value,
                       std::optional<int64_t> neutral, ExprAttr like) {
  if (value && (value != neutral || ops.empty()))
    ops.push_back(constant(like, *value));
  return ops.size() == 1 ? ops[0] : makeNode(kind, ops);
}

ExprAttr canon::extremum(ExprKind kind, ArrayRef<ExprAttr> input) {
  std::optional<int64_t> value;
  SmallVector<ExprAttr, 4> ops;
  for (ExprAttr e : flatten(kind, input)) {
    if (!isConstant(e))
      ops.push_back(e);
    else if (!value)
      value = e.getValue();
    else
      value = kind == ExprKind::Min ? std::min(*value, e.getValue()) : std::max(*value, e.getValue());
  }
  llvm::sort(ops, before);
  ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
  // of operands that differ by a constant one remains
  for (size_t i = 0; i < ops.size(); ++i) {
    for (size_t j = i + 1; j < ops.size();) {
      ExprAttr d = canon::add({ops[i], getExpr(ExprKind::Mul, {ops[j], constant(ops[j], -1)})});
      if (!d || !isConstant(d)) {
        ++j;
        continue;
      }
      if ((d.getValue() < 0) != (kind == ExprKind::Min))
        ops[i] = ops[j];
      ops.erase(ops.begin() + j);
    }
  }
  llvm::sort(ops, before);
  return finish(kind, ops, value, std::nullopt, input.front());
}

ExprAttr canon::exclusiveOr(ArrayRef<ExprAttr> input) {
  int64_t value = 0;
  SmallVector<ExprAttr, 4> all, ops;
  for (ExprAttr e : flatten(ExprKind::Xor, input)) {
    if (isConstant(e))
      value ^= e.getValue();
    else
      all.push_back(e);
  }
  llvm::sort(all, before);
  for (ExprAttr e : all) { // pairs cancel
    if (!ops.empty() && ops.back() == e)
      ops.pop_back();
    else
      ops.push_back(e);
  }
  return finish(ExprKind::Xor, ops, value, 0, input.front());
}

//===- conditions --------------------------------------------------------------===//
static ExprAttr toBoolean(ExprAttr e) {
  if (isConstant(e))
    return constant(e, e.getValue() != 0);
  return isBoolean(e) ? e : getExpr(ExprKind::Ne, {e, constant(e, 0)});
}
ExprAttr wave::getNot(ExprAttr e) {
  auto each = [&](ExprKind kind) {
    SmallVector<ExprAttr, 4> ops;
    for (Attribute a : e.getOperands())
      ops.push_back(getNot(cast<ExprAttr>(a)));
    return getExpr(kind, ops);
  };
  switch (e.getKind()) {
  case ExprKind::Constant: return constant(e, e.getValue() == 0);
  case ExprKind::Eq: return getExpr(ExprKind::Ne, {operand(e, 0), operand(e, 1)});
  case ExprKind::Ne: return getExpr(ExprKind::Eq, {operand(e, 0), operand(e, 1)});
  case ExprKind::Lt: return getExpr(ExprKind::Le, {operand(e, 1), operand(e, 0)});
  case ExprKind::Le: return getExpr(ExprKind::Lt, {operand(e, 1), operand(e, 0)});
  case ExprKind::And: return each(ExprKind::Or);
  case ExprKind::Or: return each(ExprKind::And);
  case ExprKind::Select:
    if (isBoolean(e))
      return getExpr(ExprKind::Select, {operand(e, 0), getNot(operand(e, 1)), getNot(operand(e, 2))});
    [[fallthrough]];
  default: return getExpr(ExprKind::Eq, {e, constant(e, 0)});
  }
}

ExprAttr canon::connective(ExprKind kind, ArrayRef<ExprAttr> input) {
  bool isAnd = kind == ExprKind::And;
  SmallVector<ExprAttr, 4> conditions, ops;
  for (ExprAttr e : input)
    conditions.push_back(toBoolean(e));
  for (ExprAttr e : flatten(kind, conditions)) {
    if (!isConstant(e))
      ops.push_back(e);
    else if ((e.getValue() != 0) != isAnd)
      return constant(e, !isAnd);
  }
  llvm::sort(ops, before);
  ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
  for (ExprAttr e : ops)
    if (isComparison(e.getKind()) && llvm::is_contained(ops, getNot(e)))
      return constant(e, !isAnd);
  return finish(kind, ops, isAnd, isAnd, input.front());
}

/// left - right, each side's coefficients positive.
static bool splitSides(const LinearExpr &l, LinearExpr &left, LinearExpr &right) {
  for (auto &[f, k] : l.terms) {
    if (k == INT64_MIN)
      return false;
    (k > 0 ? left : right).terms.push_back({f, k > 0 ? k : -k});
  }
  return true;
}
static ExprAttr compareNode(ExprKind kind, MLIRContext *ctx, const LinearExpr &l, const LinearExpr &r) {
  ExprAttr a = fromLinear(ctx, l), b = fromLinear(ctx, r);
  return a && b ? makeNode(kind, {a, b}) : ExprAttr();
}
/// terms + constant < 0.
static ExprAttr lessThanZero(MLIRContext *ctx, LinearExpr &l, int64_t g) {
  LinearExpr left, right;
  l.constant = floorDiv(l.constant, g);
  if (l.constant == INT64_MIN || l.constant == INT64_MAX || !splitSides(l, left, right))
    return {};
  int64_t c = l.constant;
  if (left.terms.empty()) { // c < right
    left.constant = c + 1;
    return compareNode(ExprKind::Le, ctx, left, right);
  }
  if (right.terms.empty() || c < -1) {
    right.constant = -c;
    return compareNode(ExprKind::Lt, ctx, left, right);
  }
  if (c == -1)
    return compareNode(ExprKind::Le, ctx, left, right);
  left.constant = c;
  return compareNode(ExprKind::Lt, ctx, left, right);
}
/// terms + constant = 0 (or not).
static ExprAttr equalToZero(ExprKind kind, MLIRContext *ctx, LinearExpr &l, int64_t g) {
  bool isEq = kind == ExprKind::Eq;
  if (l.constant % g != 0)
    return getConstantExpr(ctx, !isEq);
  l.constant /= g;
  if (l.constant == INT64_MIN)
    return {};
  if (l.terms.front().second < 0) {
    l.constant = -l.constant;
    for (auto &t : l.terms)
      if (__builtin_sub_overflow(int64_t(0), t.second, &t.second))
        return {};
  }
  int64_t c = l.constant;
  if (l.terms.size() == 1 && l.terms[0].second == 1 && isBoolean(l.terms[0].first)) {
    ExprAttr condition = l.terms[0].first;
    if (c != 0 && c != -1)
      return getConstantExpr(ctx, !isEq);
    return (c == -1) == isEq ? condition : getNot(condition);
  }
  LinearExpr left, right;
  if (!splitSides(l, left, right))
    return {};
  if (c > 0 && !right.terms.empty())
    left.constant = c;
  else
    right.constant = -c;
  return compareNode(kind, ctx, left, right);
}
ExprAttr canon::comparison(ExprKind kind, ExprAttr a, ExprAttr b) {
  LinearExpr l;
  if (!addLinear(l, a, 1) || !addLinear(l, b, -1))
    return {};
  if (kind == ExprKind::Le && subOverflow(l.constant, 1, l.constant))
    return {};
  llvm::erase_if(l.terms, [](auto &t) { return t.second == 0; });
  bool order = kind == ExprKind::Lt || kind == ExprKind::Le;
  if (l.terms.empty()) {
    bool holds = order ? l.constant < 0 : (l.constant == 0) == (kind == ExprKind::Eq);
    return constant(a, holds);
  }
  llvm::sort(l.terms, [](auto &p, auto &q) { return compareExprs(p.first, q.first) < 0; });
  int64_t g = 0;
  for (auto &t : l.terms)
    g = gcd(g, t.second);
  for (auto &t : l.terms)
    t.second /= g;
  return order ? lessThanZero(a.getContext(), l, g) : equalToZero(kind, a.getContext(), l, g);
}

ExprAttr canon::select(ExprAttr condition, ExprAttr a, ExprAttr b) {
  condition = toBoolean(condition);
  if (isConstant(condition))
    return condition.getValue() ? a : b;
  if (a == b)
    return a;
  if (isConstant(a, 1) && isConstant(b, 0))
    return condition;
  if (isConstant(a, 0) && isConstant(b, 1))
    return getNot(condition);
  if (condition.getKind() == ExprKind::Ne) {
    condition = getNot(condition);
    std::swap(a, b);
  }
  return makeNode(ExprKind::Select, {condition, a, b});
}

//===- dispatch ----------------------------------------------------------------===//
static ExprAttr canonical(ExprKind kind, ArrayRef<ExprAttr> ops) {
  switch (kind) {
  case ExprKind::Add: return canon::add(ops);
  case ExprKind::Mul: return canon::mul(ops);
  case ExprKind::FloorDiv: return canon::floorDiv(ops[0], ops[1]);
  case ExprKind::CeilDiv: return canon::ceilDiv(ops[0], ops[1]);
  case ExprKind::Mod: return canon::mod(ops[0], ops[1]);
  case ExprKind::Min: case ExprKind::Max: return canon::extremum(kind, ops);
  case ExprKind::Xor: return canon::exclusiveOr(ops);
  case ExprKind::Eq: case ExprKind::Ne: case ExprKind::Lt: case ExprKind::Le:
    return canon::comparison(kind, ops[0], ops[1]);
  case ExprKind::And: case ExprKind::Or: return canon::connective(kind, ops);
  case ExprKind::Select: return canon::select(ops[0], ops[1], ops[2]);
  case ExprKind::Constant: case ExprKind::Symbol: break;
  }
  return ops.front();
}
ExprAttr wave::getExpr(ExprKind kind, ArrayRef<ExprAttr> ops) {
  if (ExprAttr e = canonical(kind, ops))
    return e;
  if (ops.size() <= 2 || kind == ExprKind::Select)
    return makeNode(kind, ops);
  ExprAttr e = ops[0]; // one operator after the other, as it is written
  for (ExprAttr next : ops.drop_front())
    e = getExpr(kind, {e, next});
  return e;
}
ExprAttr wave::getDifference(ExprAttr lhs, ExprAttr rhs) {
  return getExpr(ExprKind::Add, {lhs, getExpr(ExprKind::Mul, {rhs, getConstantExpr(rhs.getContext(), -1)})});
}
