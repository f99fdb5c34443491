//===- ExprAlgebra.cpp - substitution, expansion, splitting, evaluation ---------===//
#include "ExprDetail.h"
using namespace mlir;
using namespace wave;
using namespace wave::detail;

namespace {
/// Rebuilds a tree from the leaves up, each shared part once; parts that stay the same are kept as they are.
template <typename F> struct Rebuild {
  F leafOrNode; // (node, rebuilt operands or empty for a leaf) -> replacement
  llvm::DenseMap<Attribute, ExprAttr> done{};

  ExprAttr operator()(ExprAttr e) {
    if (isConstant(e))
      return e;
    auto it = done.find(e);
    if (it != done.end())
      return it->second;
    SmallVector<ExprAttr, 6> ops;
    bool changed = false;
    for (Attribute a : e.getOperands()) {
      ops.push_back((*this)(cast<ExprAttr>(a)));
      changed |= ops.back() != a;
    }
    ExprAttr r = leafOrNode(e, ops, changed);
    done[e] = r;
    return r;
  }
};
template <typename F> ExprAttr rebuild(ExprAttr e, F &&f) { return Rebuild<F>{std::forward<F>(f)}(e); }
} // namespace

ExprAttr wave::substitute(ExprAttr e, ArrayRef<std::pair<ExprAttr, ExprAttr>> replacements) {
  return rebuild(e, [&](ExprAttr node, ArrayRef<ExprAttr> ops, bool changed) {
    if (node.getKind() == ExprKind::Symbol)
      for (auto &[from, to] : replacements)
        if (from == node)
          return to;
    return changed ? getExpr(node.getKind(), ops) : node;
  });
}

/// The product of sums, term by term; null when it has more than `limit` terms or a coefficient does not fit.
static ExprAttr expandProduct(ExprAttr product, ArrayRef<ExprAttr> factors, size_t limit = 4096) {
  MLIRContext *ctx = product.getContext();
  SmallVector<ExprAttr> terms{getConstantExpr(ctx, 1)};
  for (ExprAttr f : factors) {
    auto addends = partsOf(ExprKind::Add, f);
    if (terms.size() * addends.size() > limit)
      return {};
    SmallVector<ExprAttr> next;
    for (ExprAttr t : terms)
      for (ExprAttr a : addends)
        next.push_back(getExpr(ExprKind::Mul, {t, a}));
    terms = std::move(next);
  }
  LinearExpr sum;
  for (ExprAttr t : terms)
    if (!addLinear(sum, t, 1))
      return {};
  return fromLinear(ctx, sum);
}
ExprAttr wave::expand(ExprAttr e) {
  return rebuild(e, [&](ExprAttr node, ArrayRef<ExprAttr> ops, bool changed) {
    bool sums = llvm::any_of(ops, [](ExprAttr o) { return o.getKind() == ExprKind::Add; });
    if (node.getKind() == ExprKind::Mul && sums)
      if (ExprAttr r = expandProduct(node, ops))
        return r;
    return changed ? getExpr(node.getKind(), ops) : node;
  });
}

static ExprAttr sumOf(MLIRContext *ctx, ArrayRef<ExprAttr> terms) {
  return terms.empty() ? getConstantExpr(ctx, 0) : getExpr(ExprKind::Add, terms);
}
std::pair<ExprAttr, ExprAttr> wave::splitSum(ExprAttr e, ArrayRef<ExprAttr> symbols) {
  e = expand(e);
  SmallVector<ExprAttr> only, rest;
  for (ExprAttr term : partsOf(ExprKind::Add, e)) {
    bool inside = !isConstant(term) &&
                  llvm::all_of(getSymbols(term), [&](ExprAttr s) { return llvm::is_contained(symbols, s); });
    (inside ? only : rest).push_back(term);
  }
  return {sumOf(e.getContext(), only), sumOf(e.getContext(), rest)};
}
ExprAttr wave::getCoefficient(ExprAttr e, ExprAttr symbol) {
  e = expand(e);
  SmallVector<ExprAttr> coefficients;
  for (ExprAttr term : partsOf(ExprKind::Add, e)) {
    if (!dependsOn(term, symbol))
      continue;
    auto [factor, c] = splitCoefficient(term);
    ExprAttr q = divideMonomial(factor, symbol);
    if (!q || dependsOn(q, symbol))
      return {};
    coefficients.push_back(getExpr(ExprKind::Mul, {q, getConstantExpr(e.getContext(), c)}));
  }
  return sumOf(e.getContext(), coefficients);
}

//===- evaluation for one point ------------------------------------------------===//
namespace {
struct Evaluator {
  llvm::function_ref<std::optional<int64_t>(StringRef)> lookup;
  ExprAttr missing{};

  EvalError all(ExprAttr e, SmallVectorImpl<int64_t> &values) {
    for (Attribute a : e.getOperands())
      if (EvalError err = run(cast<ExprAttr>(a), values.emplace_back()); err != EvalError::None)
        return err;
    return EvalError::None;
  }
  EvalError division(ExprKind kind, int64_t a, int64_t b, int64_t &r) {
    if (b == 0)
      return EvalError::DivisionByZero;
    if (kind == ExprKind::Mod) {
      r = floorMod(a, b);
      return EvalError::None;
    }
    if (a == INT64_MIN && b == -1)
      return EvalError::Overflow;
    r = floorDiv(a, b) + (kind == ExprKind::CeilDiv && a % b != 0);
    return EvalError::None;
  }
  /// An operand that decides the result makes the others irrelevant, wherever it stands.
  EvalError connective(ExprAttr e, bool isAnd, int64_t &r) {
    EvalError error = EvalError::None;
    for (Attribute a : e.getOperands()) {
      int64_t v;
      EvalError err = run(cast<ExprAttr>(a), v);
      if (err != EvalError::None)
        error = err;
      else if ((v != 0) != isAnd) {
        r = !isAnd;
        return EvalError::None;
      }
    }
    r = isAnd;
    return error;
  }
  EvalError run(ExprAttr e, int64_t &r) {
    ExprKind kind = e.getKind();
    switch (kind) {
    case ExprKind::Constant: r = e.getValue(); return EvalError::None;
    case ExprKind::Symbol: {
      std::optional<int64_t> v = lookup(e.getName().getValue());
      if (!v)
        missing = e;
      r = v.value_or(0);
      return v ? EvalError::None : EvalError::MissingSymbol;
    }
    case ExprKind::And: case ExprKind::Or: return connective(e, kind == ExprKind::And, r);
    case ExprKind::Select: {
      int64_t c;
      if (EvalError err = run(operand(e, 0), c); err != EvalError::None)
        return err;
      return run(operand(e, c ? 1 : 2), r);
    }
    default: break;
    }
    SmallVector<int64_t, 6> v;
    if (EvalError err = all(e, v); err != EvalError::None)
      return err;
    r = v[0];
    bool overflow = false;
    switch (kind) {
    case ExprKind::FloorDiv: case ExprKind::CeilDiv: case ExprKind::Mod: return division(kind, v[0], v[1], r);
    case ExprKind::Eq: r = v[0] == v[1]; break;
    case ExprKind::Ne: r = v[0] != v[1]; break;
    case ExprKind::Lt: r = v[0] < v[1]; break;
    case ExprKind::Le: r = v[0] <= v[1]; break;
    default:
      for (int64_t o : ArrayRef<int64_t>(v).drop_front()) {
        if (kind == ExprKind::Add) overflow |= addOverflow(r, o, r);
        else if (kind == ExprKind::Mul) overflow |= mulOverflow(r, o, r);
        else r = kind == ExprKind::Min ? std::min(r, o) : kind == ExprKind::Max ? std::max(r, o) : r ^ o;
      }
    }
    return overflow ? EvalError::Overflow : EvalError::None;
  }
};
} // namespace

EvalError wave::evaluate(ExprAttr e, llvm::function_ref<std::optional<int64_t>(StringRef)> lookup, int64_t &value,
                         ExprAttr *missing) {
  Evaluator evaluator{lookup};
  EvalError err = evaluator.run(e, value);
  if (missing)
    *missing = evaluator.missing;
  return err;
}
