//===- ExprBridge.cpp - expressions for the Python extension ---------------------===//
#include "wave/ExprBridge.h"
#include "ExprDetail.h"
#include "wave/ExprFacts.h"
#include "wave/ExprProgram.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/CAPI/Utils.h"
#include "mlir/IR/Diagnostics.h"
using namespace mlir;
using namespace wave;

static ExprAttr expr(MlirAttribute a) { return cast<ExprAttr>(unwrap(a)); }
static SmallVector<ExprAttr, 8> exprs(intptr_t n, const MlirAttribute *a) {
  SmallVector<ExprAttr, 8> r;
  for (intptr_t i = 0; i < n; ++i)
    r.push_back(expr(a[i]));
  return r;
}
static WaveExprStatus checked(ExprAttr e, MlirAttribute *result) {
  *result = wrap(e);
  return treeSize(e) > maxTreeSize || treeDepth(e) > maxTreeDepth ? WaveExprTooLarge : WaveExprOk;
}
static MLIRContext *loaded(MlirContext ctx) {
  unwrap(ctx)->getOrLoadDialect<WaveDialect>();
  return unwrap(ctx);
}
static_assert(int(WaveExprSelect) == int(ExprKind::Select) && int(WaveExprLt) == int(ExprKind::Lt));

bool waveAttributeIsAExpr(MlirAttribute attr) { return isa<ExprAttr>(unwrap(attr)); }
MlirTypeID waveExprAttrGetTypeID(void) { return wrap(ExprAttr::getTypeID()); }

MlirAttribute waveExprConstant(MlirContext ctx, int64_t value) { return wrap(getConstantExpr(loaded(ctx), value)); }
bool waveExprIsSymbolName(MlirStringRef name) { return isValidSymbolName(unwrap(name)); }
MlirAttribute waveExprSymbol(MlirContext ctx, MlirStringRef name) {
  return wrap(getSymbolExpr(loaded(ctx), unwrap(name)));
}
MlirAttribute waveExprParse(MlirContext ctx, MlirStringRef text, void (*message)(int64_t, MlirStringRef, void *),
                            void *user) {
  // the lexer looks for the end of the attribute before the parser sees it, with less helpful messages
  int64_t open = 0;
  for (auto [i, c] : llvm::enumerate(unwrap(text))) {
    open += (c == '(') - (c == ')');
    StringRef mistake = c == '<' || c == '>'   ? "comparisons are words: lt, le, gt, ge, eq, ne"
                        : open < 0             ? "this ')' has no '('"
                        : StringRef("[]{}\"").contains(c) ? "this character is not part of an expression"
                                               : "";
    if (!mistake.empty()) {
      message(i, wrap(mistake), user);
      return {nullptr};
    }
  }
  if (open > 0) {
    message(text.length, wrap(StringRef("expected ')'")), user);
    return {nullptr};
  }
  StringRef prefix = "#wave.expr<";
  std::string source = (prefix + unwrap(text) + ">").str();
  bool reported = false;
  ScopedDiagnosticHandler handler(loaded(ctx), [&](Diagnostic &d) {
    int64_t column = 0;
    if (auto loc = d.getLocation()->findInstanceOf<FileLineColLoc>())
      column = std::max<int64_t>(0, int64_t(loc.getColumn()) - 1 - int64_t(prefix.size()));
    std::string text = d.str();
    if (text == "expected '>'") // of the attribute around the expression
      text = "expected an operator or the end of the expression";
    if (!reported)
      message(column, wrap(StringRef(text)), user);
    reported = true;
    return success();
  });
  Attribute a = parseAttribute(source, unwrap(ctx));
  return wrap(a ? dyn_cast<ExprAttr>(a) : ExprAttr());
}
void waveExprPrint(MlirAttribute e, MlirStringCallback callback, void *user) {
  mlir::detail::CallbackOstream stream(callback, user);
  printExpr(stream, expr(e));
}

WaveExprStatus waveExprBuild(WaveExprKind kind, intptr_t n, const MlirAttribute *operands, MlirAttribute *result) {
  auto ops = exprs(n, operands);
  bool division = kind == WaveExprFloorDiv || kind == WaveExprCeilDiv || kind == WaveExprMod;
  if (division && wave::detail::isConstant(ops[1], 0))
    return WaveExprDivisionByZero;
  return checked(getExpr(ExprKind(kind), ops), result);
}
WaveExprStatus waveExprDifference(MlirAttribute a, MlirAttribute b, MlirAttribute *result) {
  return checked(getDifference(expr(a), expr(b)), result);
}
MlirAttribute waveExprNot(MlirAttribute e) { return wrap(getNot(expr(e))); }
WaveExprStatus waveExprSubstitute(MlirAttribute e, intptr_t n, const MlirAttribute *from, const MlirAttribute *to,
                                  MlirAttribute *result) {
  SmallVector<std::pair<ExprAttr, ExprAttr>, 8> pairs;
  for (intptr_t i = 0; i < n; ++i)
    pairs.push_back({expr(from[i]), expr(to[i])});
  ExprAttr r = substitute(expr(e), pairs);
  WaveExprStatus status = checked(r, result);
  return status == WaveExprOk && dividesByZero(r) ? WaveExprDivisionByZero : status;
}
WaveExprStatus waveExprExpand(MlirAttribute e, MlirAttribute *result) { return checked(expand(expr(e)), result); }

WaveExprKind waveExprKind(MlirAttribute e) { return WaveExprKind(expr(e).getKind()); }
int64_t waveExprValue(MlirAttribute e) { return expr(e).getValue(); }
MlirStringRef waveExprName(MlirAttribute e) { return wrap(expr(e).getName().getValue()); }
intptr_t waveExprNumOperands(MlirAttribute e) { return expr(e).getOperands().size(); }
MlirAttribute waveExprOperand(MlirAttribute e, intptr_t i) { return wrap(expr(e).getOperands()[i]); }
int waveExprCompare(MlirAttribute a, MlirAttribute b) { return compareExprs(expr(a), expr(b)); }
uint64_t waveExprStableHash(MlirAttribute e) { return stableHash(expr(e)); }
void waveExprSymbols(MlirAttribute e, void (*each)(MlirAttribute, void *), void *user) {
  for (ExprAttr s : getSymbols(expr(e)))
    each(wrap(s), user);
}

bool waveExprLinear(MlirAttribute e, void (*each)(MlirAttribute, int64_t, void *), void *user) {
  std::optional<LinearExpr> l = getLinear(expand(expr(e)));
  if (!l)
    return false;
  for (auto &[factor, k] : l->terms)
    each(wrap(factor), k, user);
  each(MlirAttribute{nullptr}, l->constant, user);
  return true;
}
void waveExprSplit(MlirAttribute e, intptr_t n, const MlirAttribute *symbols, MlirAttribute *only,
                   MlirAttribute *rest) {
  auto [a, b] = splitSum(expr(e), exprs(n, symbols));
  *only = wrap(a);
  *rest = wrap(b);
}
MlirAttribute waveExprCoefficient(MlirAttribute e, MlirAttribute symbol) {
  return wrap(getCoefficient(expr(e), expr(symbol)));
}

static_assert(int(WaveExprMissingSymbol) == int(EvalError::MissingSymbol));
WaveExprStatus waveExprEvaluate(MlirAttribute e, intptr_t n, const MlirStringRef *names, const int64_t *values,
                                int64_t *result, MlirAttribute *missing) {
  ExprAttr unknown;
  auto lookup = [&](StringRef name) -> std::optional<int64_t> {
    for (intptr_t i = 0; i < n; ++i)
      if (unwrap(names[i]) == name)
        return values[i];
    return std::nullopt;
  };
  EvalError error = evaluate(expr(e), lookup, *result, &unknown);
  *missing = wrap(unknown);
  return WaveExprStatus(error);
}
WaveExprStatus waveExprEvaluateMany(MlirAttribute e, intptr_t n, const MlirAttribute *symbols,
                                    const int64_t *const *inputs, const bool *uniform, size_t points, int64_t *output) {
  ExprProgram program({expr(e)}, exprs(n, symbols));
  return WaveExprStatus(program.run(ArrayRef(inputs, n), points, {output}, nullptr, ArrayRef(uniform, n)));
}

static ExprFacts *facts(WaveFacts f) { return static_cast<ExprFacts *>(f.ptr); }
WaveFacts waveFactsCreate(MlirContext ctx, intptr_t n, const WaveSymbolFact *symbols, intptr_t numAssumptions,
                          const MlirAttribute *assumptions) {
  SmallVector<SymbolFact> known;
  for (const WaveSymbolFact &s : ArrayRef(symbols, n)) {
    SymbolFact f{expr(s.symbol), {}, {s.modulus, s.remainder}};
    if (s.hasLo) f.range.lo = s.lo;
    if (s.hasHi) f.range.hi = s.hi;
    known.push_back(f);
  }
  return {new ExprFacts(loaded(ctx), known, exprs(numAssumptions, assumptions))};
}
void waveFactsDestroy(WaveFacts f) { delete facts(f); }
MlirAttribute waveFactsSimplify(WaveFacts f, MlirAttribute e) { return wrap(facts(f)->simplify(expr(e))); }
void waveFactsRange(WaveFacts f, MlirAttribute e, bool *hasLo, int64_t *lo, bool *hasHi, int64_t *hi) {
  Interval r = facts(f)->range(expr(e));
  *hasLo = r.lo.has_value();
  *hasHi = r.hi.has_value();
  *lo = r.lo.value_or(0);
  *hi = r.hi.value_or(0);
}
void waveFactsCongruence(WaveFacts f, MlirAttribute e, int64_t *modulus, int64_t *remainder) {
  Congruence c = facts(f)->congruence(expr(e));
  *modulus = c.modulus;
  *remainder = c.remainder;
}
int64_t waveFactsDivisor(WaveFacts f, MlirAttribute e) { return facts(f)->divisor(expr(e)); }
int waveFactsProve(WaveFacts f, MlirAttribute condition, size_t budget) {
  std::optional<bool> r = facts(f)->prove(expr(condition), budget);
  return r ? *r : -1;
}
