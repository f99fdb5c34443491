//===- Grid.cpp - conditions over all values of finite symbols --------------------===//
#include "Grid.h"
#include "wave/ExprProgram.h"
#include <map>
using namespace mlir;
using namespace wave;
using namespace wave::detail;

/// Points at which a condition is simplified anew, when it does not separate; distinct linear forms to decide.
static constexpr size_t maxSimplified = 2048;

bool Grid::add(ExprAttr symbol) {
  Wide w = state.range(symbol);
  if (!w.finite() || w.hi - w.lo + 1 > Wide::Int(budget / points))
    return false;
  axes.push_back(symbol);
  points *= size_t(w.hi - w.lo + 1);
  return true;
}
void Grid::fill() {
  size_t stride = 1;
  for (ExprAttr s : axes) {
    Wide w = state.range(s);
    int64_t lo = int64_t(w.lo), n = int64_t(w.hi - w.lo) + 1;
    Values &column = columns.emplace_back();
    column.resize_for_overwrite(points);
    for (size_t i = 0; i < points; ++i)
      column[i] = lo + int64_t(i / stride) % n;
    stride *= n;
  }
  for (Values &c : columns)
    inputs.push_back(c.data());
  excluded.assign(points, false);
  for (ExprAttr truth : state.truths) {
    if (!onGrid(truth))
      continue;
    Verdicts v = evaluateNumbers(truth);
    for (size_t i = 0; i < points; ++i)
      excluded[i] |= v[i] == False;
  }
}
bool Grid::onGrid(ExprAttr e) const {
  return llvm::all_of(getSymbols(e), [&](ExprAttr s) { return llvm::is_contained(axes, s); });
}

std::optional<bool> Grid::decide(ExprAttr condition) {
  fill();
  std::optional<bool> result;
  for (auto [v, out] : llvm::zip(evaluate(condition), excluded)) {
    if (out || v == Excluded)
      continue;
    if (v == Unknown || (result && *result != (v == True)))
      return std::nullopt;
    result = v == True;
  }
  return result;
}

Grid::Verdicts Grid::evaluate(ExprAttr e) {
  if (onGrid(e))
    return evaluateNumbers(e);
  if (e.getKind() == ExprKind::And || e.getKind() == ExprKind::Or)
    return combine(e);
  if (isComparison(e.getKind()))
    return compare(e);
  return pointwise(e);
}
Grid::Verdicts Grid::evaluateNumbers(ExprAttr e) {
  Values values;
  values.resize_for_overwrite(points);
  SmallVector<uint8_t, 0> errors(points);
  ExprProgram({e}, axes).run(inputs, points, {values.data()}, errors.data());
  Verdicts r(points);
  for (size_t i = 0; i < points; ++i)
    r[i] = errors[i] == uint8_t(EvalError::None)             ? (values[i] ? True : False)
           : errors[i] == uint8_t(EvalError::DivisionByZero) ? Excluded
                                                             : Unknown;
  return r;
}
Grid::Verdicts Grid::combine(ExprAttr e) {
  bool isAnd = e.getKind() == ExprKind::And;
  Verdict neutral = isAnd ? True : False, decisive = isAnd ? False : True;
  Verdicts r(points, neutral);
  for (ExprAttr o : operandsOf(e)) {
    Verdicts v = evaluate(o);
    for (size_t i = 0; i < points; ++i) {
      if (r[i] == decisive || v[i] == neutral)
        continue;
      // an operand without value counts as unknown: the other ones may decide
      r[i] = v[i] == decisive ? decisive : Unknown;
    }
  }
  return r;
}

/// left - right = sum of others[j] * parts[j], others free of the grid's symbols and parts over them only.
bool Grid::separate(ExprAttr e, SmallVectorImpl<ExprAttr> &others, SmallVectorImpl<ExprAttr> &parts) {
  MLIRContext *ctx = e.getContext();
  LinearExpr l;
  if (!addLinear(l, expand(operand(e, 0)), 1) || !addLinear(l, expand(operand(e, 1)), -1))
    return false;
  others.push_back(getConstantExpr(ctx, 1));
  parts.push_back(getConstantExpr(ctx, l.constant));
  for (auto &[f, k] : l.terms) {
    SmallVector<ExprAttr, 4> mine{getConstantExpr(ctx, k)}, rest{getConstantExpr(ctx, 1)};
    for (ExprAttr factor : factorsOf(f)) {
      bool inside = onGrid(factor);
      if (!inside && dependsOn(factor, axes))
        return false;
      (inside ? mine : rest).push_back(factor);
    }
    ExprAttr other = getExpr(ExprKind::Mul, rest), part = getExpr(ExprKind::Mul, mine);
    size_t j = llvm::find(others, other) - others.begin();
    if (j == others.size()) {
      others.push_back(other);
      parts.push_back(part);
    } else {
      parts[j] = getExpr(ExprKind::Add, {parts[j], part});
    }
  }
  return true;
}
Grid::Verdicts Grid::compare(ExprAttr e) {
  MLIRContext *ctx = e.getContext();
  SmallVector<ExprAttr> others, parts;
  if (!separate(e, others, parts))
    return pointwise(e);
  SmallVector<Values> values(parts.size());
  SmallVector<int64_t *> outputs;
  for (Values &v : values) {
    v.resize_for_overwrite(points);
    outputs.push_back(v.data());
  }
  SmallVector<uint8_t, 0> errors(points);
  ExprProgram(parts, axes).run(inputs, points, outputs, errors.data());
  std::map<SmallVector<int64_t, 4>, Verdict> known;
  Verdicts r(points, Unknown);
  for (size_t i = 0; i < points; ++i) {
    if (excluded[i] || errors[i]) {
      r[i] = errors[i] == uint8_t(EvalError::DivisionByZero) ? Excluded : Unknown;
      continue;
    }
    SmallVector<int64_t, 4> key;
    for (Values &v : values)
      key.push_back(v[i]);
    auto [it, isNew] = known.try_emplace(key, Unknown);
    if (isNew && known.size() > maxSimplified)
      return r; // too many different forms: the rest stays unknown
    if (isNew) {
      LinearExpr l;
      bool fits = true;
      for (auto [other, k] : llvm::zip(others, key))
        fits &= addLinear(l, other, k);
      ExprAttr sum = fits ? fromLinear(ctx, l) : ExprAttr();
      ExprAttr truth = sum ? state.simplify(getExpr(e.getKind(), {sum, getConstantExpr(ctx, 0)})) : ExprAttr();
      if (truth && isConstant(truth))
        it->second = truth.getValue() ? True : False;
    }
    r[i] = it->second;
  }
  return r;
}
Grid::Verdicts Grid::pointwise(ExprAttr e) {
  Verdicts r(points, Unknown);
  if (points > maxSimplified)
    return r;
  for (size_t i = 0; i < points; ++i) {
    if (excluded[i])
      continue;
    SmallVector<std::pair<ExprAttr, ExprAttr>> point;
    for (auto [s, column] : llvm::zip(axes, columns))
      point.push_back({s, getConstantExpr(e.getContext(), column[i])});
    ExprAttr at = state.simplify(substitute(e, point));
    if (isConstant(at))
      r[i] = at.getValue() ? True : False;
  }
  return r;
}
