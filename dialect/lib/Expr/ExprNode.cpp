//===- ExprNode.cpp - nodes, their order, sums as linear forms -----------------===//
#include "ExprDetail.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/xxhash.h"
using namespace mlir;
using namespace wave;
using namespace wave::detail;

//===- nodes -------------------------------------------------------------------===//
// `value` of an inner node holds its tree's size and depth, so that the limits cost nothing to check.
static ExprAttr make(MLIRContext *ctx, ExprKind kind, int64_t value, StringRef name, ArrayRef<Attribute> operands) {
  return ExprAttr::get(ctx, kind, value, StringAttr::get(ctx, name), operands);
}
ExprAttr wave::getConstantExpr(MLIRContext *ctx, int64_t value) { return make(ctx, ExprKind::Constant, value, "", {}); }
ExprAttr wave::getSymbolExpr(MLIRContext *ctx, StringRef name) { return make(ctx, ExprKind::Symbol, 0, name, {}); }

ExprAttr wave::detail::makeNode(ExprKind kind, ArrayRef<ExprAttr> operands) {
  SmallVector<Attribute, 6> attrs(operands.begin(), operands.end());
  uint64_t size = 1, depth = 0;
  for (ExprAttr e : operands) {
    size += treeSize(e);
    depth = std::max<uint64_t>(depth, treeDepth(e));
  }
  size = std::min<uint64_t>(size, UINT32_MAX / 2);
  depth = std::min<uint64_t>(depth + 1, UINT16_MAX);
  return make(operands.front().getContext(), kind, int64_t(size << 16 | depth), "", attrs);
}
static bool isLeaf(ExprAttr e) { return e.getKind() == ExprKind::Constant || e.getKind() == ExprKind::Symbol; }
unsigned wave::treeSize(ExprAttr e) { return isLeaf(e) ? 1 : uint64_t(e.getValue()) >> 16; }
unsigned wave::treeDepth(ExprAttr e) { return isLeaf(e) ? 1 : uint64_t(e.getValue()) & 0xffff; }

std::optional<int64_t> wave::getConstantValue(ExprAttr e) {
  return isConstant(e) ? std::optional<int64_t>(e.getValue()) : std::nullopt;
}
bool wave::detail::isComparison(ExprKind k) {
  return k == ExprKind::Eq || k == ExprKind::Ne || k == ExprKind::Lt || k == ExprKind::Le;
}
bool wave::detail::isBoolean(ExprAttr e) {
  ExprKind k = e.getKind();
  if (k == ExprKind::Constant)
    return e.getValue() == 0 || e.getValue() == 1;
  if (k == ExprKind::Select)
    return isBoolean(operand(e, 1)) && isBoolean(operand(e, 2));
  return isComparison(k) || k == ExprKind::And || k == ExprKind::Or;
}
int64_t wave::detail::gcd(int64_t a, int64_t b) {
  auto magnitude = [](int64_t v) { return v == INT64_MIN ? int64_t(1) << 62 : v < 0 ? -v : v; };
  return std::gcd(magnitude(a), magnitude(b));
}

//===- symbols -----------------------------------------------------------------===//
static bool isIdentifier(StringRef s) {
  return !s.empty() && (llvm::isAlpha(s[0]) || s[0] == '_') &&
         llvm::all_of(s, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}
/// Order of classes: what is uniform over a workgroup first, what differs by lane and element last. -1: not a symbol.
static int symbolClass(StringRef s) {
  size_t dot = s.find('.');
  if (dot == StringRef::npos)
    return s == "lane" ? 4 : s == "el" ? 6 : 2;
  StringRef head = s.take_front(dot), tail = s.drop_front(dot + 1);
  if (head == "wg" || head == "wave")
    return tail == "x" || tail == "y" || tail == "z" ? (head == "wg" ? 0 : 3) : -1;
  return !isIdentifier(tail) ? -1 : head == "iv" || head == "stride" ? 1 : head == "at" ? 5 : -1;
}
bool wave::isValidSymbolName(StringRef s) {
  if (s.contains('.'))
    return symbolClass(s) >= 0;
  static const llvm::StringSet<> words = {"floordiv", "ceildiv", "mod", "xor", "min", "max", "select", "and",
                                          "or",       "eq",      "ne",  "lt",  "le",  "gt",  "ge"};
  return isIdentifier(s) && !words.contains(s);
}
bool wave::isNonNegativeSymbol(StringRef s) { return symbolClass(s) != 2 && symbolClass(s) >= 0; }

//===- order -------------------------------------------------------------------===//
static ExprAttr leadingSymbol(ExprAttr e) {
  if (e.getKind() == ExprKind::Symbol)
    return e;
  for (Attribute a : e.getOperands())
    if (ExprAttr s = leadingSymbol(cast<ExprAttr>(a)))
      return s;
  return {};
}
static int compareSymbols(ExprAttr a, ExprAttr b) {
  StringRef x = a.getName().getValue(), y = b.getName().getValue();
  int p = symbolClass(x), q = symbolClass(y);
  return p != q ? (p < q ? -1 : 1) : x.compare(y);
}
int wave::compareExprs(ExprAttr a, ExprAttr b) {
  if (a == b)
    return 0;
  ExprAttr x = leadingSymbol(a), y = leadingSymbol(b);
  if (!x || !y) { // constants last
    if (x || y)
      return x ? -1 : 1;
    if (isConstant(a) && isConstant(b))
      return a.getValue() < b.getValue() ? -1 : 1;
  } else if (x != y) {
    return compareSymbols(x, y);
  }
  if (a.getKind() != b.getKind())
    return a.getKind() < b.getKind() ? -1 : 1;
  ArrayRef<Attribute> p = a.getOperands(), q = b.getOperands();
  if (p.size() != q.size())
    return p.size() < q.size() ? -1 : 1;
  for (auto [l, r] : llvm::zip(p, q))
    if (int c = compareExprs(cast<ExprAttr>(l), cast<ExprAttr>(r)))
      return c;
  return 0;
}
uint64_t wave::stableHash(ExprAttr e) {
  SmallVector<uint64_t, 8> parts{uint64_t(e.getKind()), isConstant(e) ? uint64_t(e.getValue()) : 0,
                                 llvm::xxh3_64bits(e.getName().getValue())};
  for (Attribute a : e.getOperands())
    parts.push_back(stableHash(cast<ExprAttr>(a)));
  return llvm::xxh3_64bits(ArrayRef<uint8_t>(reinterpret_cast<uint8_t *>(parts.data()), parts.size() * 8));
}

//===- queries -----------------------------------------------------------------===//
template <typename F> static void walk(ExprAttr e, llvm::DenseSet<Attribute> &seen, F &&visit) {
  if (!isLeaf(e) && !seen.insert(e).second)
    return;
  visit(e);
  for (Attribute a : e.getOperands())
    walk(cast<ExprAttr>(a), seen, visit);
}
SmallVector<ExprAttr> wave::getSymbols(ExprAttr e) {
  SmallVector<ExprAttr> result;
  llvm::DenseSet<Attribute> seen;
  walk(e, seen, [&](ExprAttr n) {
    if (n.getKind() == ExprKind::Symbol && !llvm::is_contained(result, n))
      result.push_back(n);
  });
  llvm::sort(result, [](ExprAttr a, ExprAttr b) { return compareSymbols(a, b) < 0; });
  return result;
}
bool wave::dependsOn(ExprAttr e, ArrayRef<ExprAttr> symbols) {
  if (e.getKind() == ExprKind::Symbol)
    return llvm::is_contained(symbols, e);
  return llvm::any_of(e.getOperands(), [&](Attribute a) { return dependsOn(cast<ExprAttr>(a), symbols); });
}
bool wave::dividesByZero(ExprAttr e) {
  bool found = false;
  llvm::DenseSet<Attribute> seen;
  walk(e, seen, [&](ExprAttr n) {
    ExprKind k = n.getKind();
    if (k == ExprKind::FloorDiv || k == ExprKind::CeilDiv || k == ExprKind::Mod)
      found |= isConstant(operand(n, 1), 0);
  });
  return found;
}

//===- sums and products -------------------------------------------------------===//
/// A product that getExpr kept as it stands, because a constant of it would leave 64 bits: not factors and then at most one
/// constant.
static bool isOverflowedProduct(ExprAttr e) {
  ArrayRef<Attribute> ops = e.getOperands();
  return e.getKind() == ExprKind::Mul &&
         (llvm::any_of(ops, [](Attribute a) { return cast<ExprAttr>(a).getKind() == ExprKind::Mul; }) ||
          llvm::any_of(ops.drop_back(), [](Attribute a) { return isConstant(cast<ExprAttr>(a)); }));
}
std::pair<ExprAttr, int64_t> wave::detail::splitCoefficient(ExprAttr e) {
  if (e.getKind() != ExprKind::Mul || !isConstant(cast<ExprAttr>(e.getOperands().back())))
    return {e, 1};
  ArrayRef<Attribute> ops = e.getOperands();
  if (isOverflowedProduct(e)) // it has no coefficient that fits
    return {e, 1};
  int64_t c = cast<ExprAttr>(ops.back()).getValue();
  if (ops.size() == 2)
    return {operand(e, 0), c};
  SmallVector<ExprAttr, 4> rest;
  for (Attribute a : ops.drop_back())
    rest.push_back(cast<ExprAttr>(a));
  return {makeNode(ExprKind::Mul, rest), c};
}
SmallVector<ExprAttr, 4> wave::detail::factorsOf(ExprAttr e) {
  SmallVector<ExprAttr, 4> r;
  if (e.getKind() != ExprKind::Mul || isOverflowedProduct(e))
    return {e};
  for (Attribute a : e.getOperands())
    if (!isConstant(cast<ExprAttr>(a)))
      r.push_back(cast<ExprAttr>(a));
  return r;
}
ExprAttr wave::detail::divideMonomial(ExprAttr a, ExprAttr b) {
  SmallVector<ExprAttr, 4> left = factorsOf(a);
  for (ExprAttr f : factorsOf(b)) {
    auto *it = llvm::find(left, f);
    if (it == left.end())
      return {};
    left.erase(it);
  }
  if (left.empty())
    return getConstantExpr(a.getContext(), 1);
  return left.size() == 1 ? left[0] : getExpr(ExprKind::Mul, left);
}
std::pair<ExprAttr, int64_t> wave::detail::asFloorDiv(ExprAttr e) {
  if (e.getKind() != ExprKind::FloorDiv && e.getKind() != ExprKind::CeilDiv)
    return {{}, 0};
  ExprAttr divisor = operand(e, 1), dividend = operand(e, 0);
  if (!isConstant(divisor) || divisor.getValue() <= 0)
    return {{}, 0};
  if (e.getKind() == ExprKind::CeilDiv)
    dividend = getExpr(ExprKind::Add, {dividend, getConstantExpr(e.getContext(), divisor.getValue() - 1)});
  return {dividend, divisor.getValue()};
}

bool wave::detail::addLinear(LinearExpr &linear, ExprAttr e, int64_t scale) {
  int64_t v;
  if (isConstant(e))
    return !mulOverflow(e.getValue(), scale, v) && !addOverflow(linear.constant, v, linear.constant);
  if (e.getKind() == ExprKind::Add)
    return llvm::all_of(e.getOperands(), [&](Attribute a) { return addLinear(linear, cast<ExprAttr>(a), scale); });
  auto [factor, c] = splitCoefficient(e);
  if (isOverflowedProduct(factor) || mulOverflow(c, scale, v)) // it stays whole
    return false;
  for (auto &[f, k] : linear.terms)
    if (f == factor)
      return !addOverflow(k, v, k);
  linear.terms.push_back({factor, v});
  return true;
}
std::optional<LinearExpr> wave::getLinear(ExprAttr e) {
  LinearExpr r;
  if (!addLinear(r, e, 1))
    return std::nullopt;
  llvm::erase_if(r.terms, [](auto &t) { return t.second == 0; });
  return r;
}
static ExprAttr scaled(ExprAttr factor, int64_t c) {
  if (c == 1)
    return factor;
  SmallVector<ExprAttr, 4> factors;
  if (factor.getKind() == ExprKind::Mul)
    factors = factorsOf(factor);
  else
    factors.push_back(factor);
  factors.push_back(getConstantExpr(factor.getContext(), c));
  return makeNode(ExprKind::Mul, factors);
}
ExprAttr wave::fromLinear(MLIRContext *ctx, const LinearExpr &linear) {
  auto terms = linear.terms;
  auto before = [](auto &a, auto &b) { return compareExprs(a.first, b.first) < 0; };
  if (!llvm::is_sorted(terms, before))
    llvm::stable_sort(terms, before);
  SmallVector<ExprAttr, 6> ops;
  for (size_t i = 0; i < terms.size();) {
    int64_t c = terms[i].second;
    size_t j = i + 1;
    for (; j < terms.size() && terms[j].first == terms[i].first; ++j)
      if (addOverflow(c, terms[j].second, c))
        return {};
    if (c != 0)
      ops.push_back(scaled(terms[i].first, c));
    i = j;
  }
  if (linear.constant || ops.empty())
    ops.push_back(getConstantExpr(ctx, linear.constant));
  return ops.size() == 1 ? ops[0] : makeNode(ExprKind::Add, ops);
}
