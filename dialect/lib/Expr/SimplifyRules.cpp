//===- SimplifyRules.cpp - digits, bits, symbolic divisors, bounds --------------===//
#include "SimplifyRules.h"
#include "llvm/Support/MathExtras.h"
using namespace mlir;
using namespace wave;
using namespace wave::detail;
using State = ExprFacts::State;

static ExprAttr multiply(ExprAttr e, int64_t k) { return getExpr(ExprKind::Mul, {e, constant(e, k)}); }

//===- digits --------------------------------------------------------------------===//
/// Whether all terms of `part` are in `l` with the same coefficients.
static bool contains(const LinearExpr &l, const LinearExpr &part) {
  return !part.terms.empty() && llvm::all_of(part.terms, [&](auto &t) { return llvm::is_contained(l.terms, t); });
}
/// e - remove + add.
static ExprAttr exchange(ExprAttr e, ArrayRef<ExprAttr> remove, ExprAttr add) {
  SmallVector<ExprAttr, 4> ops{e, add};
  for (ExprAttr r : remove)
    ops.push_back(multiply(r, -1));
  return getExpr(ExprKind::Add, ops);
}
static ExprAttr recombineMod(ExprAttr e, const LinearExpr &l, ExprAttr mod, int64_t k) {
  ExprAttr y = operand(mod, 0), c = operand(mod, 1);
  ExprAttr quotient = getExpr(ExprKind::FloorDiv, {y, c});
  // k * c * (y floordiv c) + k * (y mod c) = k * y
  ExprAttr high = multiply(getExpr(ExprKind::Mul, {quotient, c}), k);
  std::optional<LinearExpr> part = getLinear(high);
  if (part && contains(l, *part))
    return exchange(e, {high, multiply(mod, k)}, multiply(y, k));
  // k * c * ((y floordiv c) mod d) + k * (y mod c) = k * (y mod (c * d))
  int64_t kc, cd;
  if (!isConstant(c) || c.getValue() <= 0 || mulOverflow(k, c.getValue(), kc))
    return {};
  for (auto &[f, k2] : l.terms) {
    if (f.getKind() != ExprKind::Mod || k2 != kc || operand(f, 0) != quotient || !isConstant(operand(f, 1)) ||
        operand(f, 1).getValue() <= 0 || mulOverflow(c.getValue(), operand(f, 1).getValue(), cd))
      continue;
    return exchange(e, {multiply(f, k2), multiply(mod, k)}, multiply(getExpr(ExprKind::Mod, {y, constant(e, cd)}), k));
  }
  return {};
}
/// k * y - k * c * (y floordiv c) = k * (y mod c)
static ExprAttr recombineFloorDiv(ExprAttr e, const LinearExpr &l, ExprAttr division, int64_t k) {
  auto [y, c] = asFloorDiv(division);
  if (!y || k % c != 0 || k == INT64_MIN)
    return {};
  ExprAttr whole = multiply(y, -(k / c));
  std::optional<LinearExpr> part = getLinear(whole);
  if (!part || !contains(l, *part))
    return {};
  return exchange(e, {whole, multiply(division, k)},
                  multiply(getExpr(ExprKind::Mod, {y, constant(e, c)}), -(k / c)));
}
ExprAttr rules::recombine(State &, ExprAttr e) {
  std::optional<LinearExpr> l = getLinear(e);
  if (!l)
    return e;
  for (auto &[f, k] : l->terms) {
    ExprAttr r;
    if (f.getKind() == ExprKind::Mod)
      r = recombineMod(e, *l, f, k);
    else if (f.getKind() == ExprKind::FloorDiv || f.getKind() == ExprKind::CeilDiv)
      r = recombineFloorDiv(e, *l, f, k);
    if (r && r != e && treeSize(r) < treeSize(e))
      return r;
  }
  return e;
}

//===- bits ----------------------------------------------------------------------===//
/// The bits that may be set; the top one stands for all from there on (of a negative or a large value).
static uint64_t mayBits(State &s, ExprAttr e) {
  Congruence c = s.congruence(e);
  if (c.modulus == 0)
    return uint64_t(c.remainder);
  Wide w = s.range(e);
  uint64_t mask = ~uint64_t(0);
  if (w.lo >= 0 && w.hi <= INT64_MAX)
    mask = w.hi > 0 ? llvm::maskTrailingOnes<uint64_t>(llvm::Log2_64(uint64_t(w.hi)) + 1) : 0;
  uint64_t low = (uint64_t(c.modulus) & -uint64_t(c.modulus)) - 1; // bits that the residue class fixes
  mask = (mask & ~low) | (uint64_t(c.remainder) & low);
  if (e.getKind() == ExprKind::Xor || e.getKind() == ExprKind::Add) {
    uint64_t bits = 0;
    for (ExprAttr a : operandsOf(e)) {
      uint64_t b = mayBits(s, a);
      if (e.getKind() == ExprKind::Add && (bits & b))
        return mask; // carries
      bits |= b;
    }
    return mask & bits;
  }
  auto [f, k] = splitCoefficient(e);
  if (k <= 1 || !llvm::isPowerOf2_64(k))
    return mask;
  uint64_t bits = mayBits(s, f), shifted = bits << llvm::Log2_64(k);
  return shifted >> llvm::Log2_64(k) == bits ? mask & shifted : mask;
}
/// Terms of operand i that share bits with nothing else are moved to `outside`; whether there were any.
static bool takeDisjoint(State &s, MutableArrayRef<ExprAttr> ops, size_t i, SmallVectorImpl<ExprAttr> &outside) {
  uint64_t others = 0;
  for (size_t j = 0; j < ops.size(); ++j)
    if (j != i)
      others |= mayBits(s, ops[j]);
  SmallVector<ExprAttr, 6> terms = partsOf(ExprKind::Add, ops[i]), keep;
  uint64_t all = 0;
  for (ExprAttr t : terms) {
    uint64_t b = mayBits(s, t);
    if (all & b)
      return false;
    all |= b;
  }
  for (ExprAttr t : terms)
    (mayBits(s, t) & others ? keep : outside).push_back(t);
  if (keep.size() == terms.size())
    return false;
  ops[i] = keep.empty() ? constant(ops[i], 0) : getExpr(ExprKind::Add, keep);
  return true;
}
ExprAttr rules::xorToSum(State &s, ExprAttr e) {
  SmallVector<ExprAttr, 4> ops, outside;
  for (Attribute a : e.getOperands())
    ops.push_back(cast<ExprAttr>(a));
  bool changed = false;
  for (size_t i = 0; i < ops.size(); ++i)
    changed |= takeDisjoint(s, ops, i, outside);
  if (!changed)
    return e;
  outside.push_back(getExpr(ExprKind::Xor, ops));
  return getExpr(ExprKind::Add, outside);
}

//===- symbolic divisors ---------------------------------------------------------===//
ExprAttr rules::divideSymbolic(State &s, ExprAttr e) {
  ExprAttr x = operand(e, 0), y = operand(e, 1);
  LinearExpr below; // x - y + 1, which is <= 0; for ceildiv x - y
  if (s.range(x).lo < (e.getKind() == ExprKind::CeilDiv) || !addLinear(below, expand(x), 1) ||
      !addLinear(below, expand(y), -1))
    return e;
  if (e.getKind() != ExprKind::CeilDiv && addOverflow(below.constant, 1, below.constant))
    return e;
  if (!s.isNonPositive(below, 2))
    return e;
  return e.getKind() == ExprKind::Mod ? x : constant(e, e.getKind() == ExprKind::CeilDiv);
}
