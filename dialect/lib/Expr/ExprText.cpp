//===- ExprText.cpp - text syntax of expressions --------------------------------===//
#include "ExprDetail.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/ScopeExit.h"
using namespace mlir;
using namespace wave;
using namespace wave::detail;

//===- parsing -----------------------------------------------------------------===//
namespace {
struct Parser {
  AsmParser &p;
  MLIRContext *ctx;
  int depth = 0;

  /// The node, unless it divides by zero, is too large or nested too deeply.
  ParseResult build(SMLoc loc, ExprKind kind, ArrayRef<ExprAttr> operands, ExprAttr &r) {
    bool division = kind == ExprKind::FloorDiv || kind == ExprKind::CeilDiv || kind == ExprKind::Mod;
    if (division && isConstant(operands[1], 0))
      return p.emitError(loc, "division by zero in an expression");
    r = getExpr(kind, operands);
    if (treeSize(r) > maxTreeSize || treeDepth(r) > maxTreeDepth)
      return p.emitError(loc, "expression too large: at most ") << maxTreeSize << " nodes, nested " << maxTreeDepth << " deep";
    return success();
  }
  ExprAttr negate(ExprAttr e) { return getExpr(ExprKind::Mul, {e, getConstantExpr(ctx, -1)}); }

  ParseResult call(StringRef name, ExprKind kind, size_t arity, ExprAttr &r) {
    SmallVector<ExprAttr> args;
    SMLoc loc = p.getCurrentLocation();
    if (p.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] { return disjunction(args.emplace_back()); },
                                  " in an expression"))
      return failure();
    if (arity ? args.size() != arity : args.size() < 2)
      return p.emitError(loc) << name << " takes " << (arity ? "3 operands" : "at least 2 operands") << ", got "
                              << args.size();
    return build(loc, kind, args, r);
  }
  ParseResult integer(bool minus, std::optional<ExprAttr> &r) {
    SMLoc loc = p.getCurrentLocation();
    llvm::APInt n;
    OptionalParseResult parsed = p.parseOptionalInteger(n);
    if (!parsed.has_value())
      return success();
    if (failed(*parsed))
      return failure();
    n = n.zext(n.getBitWidth() + 1);
    if (minus)
      n.negate();
    if (!n.isSignedIntN(64))
      return p.emitError(loc, "integer of an expression does not fit 64 bits");
    r = getConstantExpr(ctx, n.getSExtValue());
    return success();
  }
  ParseResult primary(ExprAttr &r) {
    SMLoc loc = p.getCurrentLocation();
    if (++depth > 200)
      return p.emitError(loc, "expression nested too deeply");
    llvm::scope_exit leave([&] { --depth; });
    if (succeeded(p.parseOptionalLParen()))
      return failure(disjunction(r) || p.parseRParen());
    bool minus = false;
    while (succeeded(p.parseOptionalMinus()))
      minus = !minus;
    std::optional<ExprAttr> number;
    if (integer(minus, number))
      return failure();
    if (number) {
      r = *number;
      return success();
    }
    if (minus) {
      if (primary(r))
        return failure();
      r = negate(r);
      return success();
    }
    StringRef word;
    if (p.parseOptionalKeyword(&word))
      return p.emitError(loc, "expected a symbol, an integer or '(' in an expression");
    if (word == "min") return call(word, ExprKind::Min, 0, r);
    if (word == "max") return call(word, ExprKind::Max, 0, r);
    if (word == "select") return call(word, ExprKind::Select, 3, r);
    if (!isValidSymbolName(word))
      return p.emitError(loc) << "'" << word << "' is no symbol: a user's symbol is an identifier without a dot and no "
                              << "operator; reserved are wg.x, wave.x (and .y, .z), lane, el, iv.K and at.K";
    r = getSymbolExpr(ctx, word);
    return success();
  }
  ParseResult product(ExprAttr &r) {
    if (primary(r))
      return failure();
    for (;;) {
      ExprKind kind;
      if (succeeded(p.parseOptionalStar())) kind = ExprKind::Mul;
      else if (succeeded(p.parseOptionalKeyword("floordiv"))) kind = ExprKind::FloorDiv;
      else if (succeeded(p.parseOptionalKeyword("ceildiv"))) kind = ExprKind::CeilDiv;
      else if (succeeded(p.parseOptionalKeyword("mod"))) kind = ExprKind::Mod;
      else return success();
      SMLoc loc = p.getCurrentLocation();
      ExprAttr rhs;
      if (primary(rhs) || build(loc, kind, {r, rhs}, r))
        return failure();
    }
  }
  ParseResult sum(ExprAttr &r) {
    if (product(r))
      return failure();
    for (;;) {
      bool minus = succeeded(p.parseOptionalMinus());
      if (!minus && failed(p.parseOptionalPlus()))
        return success();
      SMLoc loc = p.getCurrentLocation();
      ExprAttr rhs;
      if (product(rhs) || build(loc, ExprKind::Add, {r, minus ? negate(rhs) : rhs}, r))
        return failure();
    }
  }
  using Level = ParseResult (Parser::*)(ExprAttr &);
  ParseResult chain(Level next, StringRef word, ExprKind kind, ExprAttr &r) {
    if ((this->*next)(r))
      return failure();
    SMLoc loc = p.getCurrentLocation();
    while (succeeded(p.parseOptionalKeyword(word))) {
      ExprAttr rhs;
      if ((this->*next)(rhs) || build(loc, kind, {r, rhs}, r))
        return failure();
    }
    return success();
  }
  ParseResult bits(ExprAttr &r) { return chain(&Parser::sum, "xor", ExprKind::Xor, r); }
  ParseResult comparison(ExprAttr &r) {
    if (bits(r))
      return failure();
    if (succeeded(p.parseOptionalLess()))
      return p.emitError(p.getCurrentLocation(), "comparisons of an expression are words: lt, le, gt, ge, eq, ne");
    // Words, not signs: MLIR's lexer pairs up every '<' and '>' of an attribute's body.
    static constexpr std::pair<StringLiteral, ExprKind> words[] = {
        {"eq", ExprKind::Eq}, {"ne", ExprKind::Ne}, {"lt", ExprKind::Lt},
        {"le", ExprKind::Le}, {"gt", ExprKind::Lt}, {"ge", ExprKind::Le}};
    for (auto [word, kind] : words) {
      SMLoc loc = p.getCurrentLocation();
      if (failed(p.parseOptionalKeyword(word)))
        continue;
      ExprAttr rhs;
      if (bits(rhs))
        return failure();
      if (word[0] == 'g')
        std::swap(r, rhs);
      return build(loc, kind, {r, rhs}, r);
    }
    return success();
  }
  ParseResult conjunction(ExprAttr &r) { return chain(&Parser::comparison, "and", ExprKind::And, r); }
  ParseResult disjunction(ExprAttr &r) { return chain(&Parser::conjunction, "or", ExprKind::Or, r); }
};
} // namespace

ParseResult wave::parseExpr(AsmParser &parser, ExprAttr &result) {
  return Parser{parser, parser.getContext()}.disjunction(result);
}

//===- printing ----------------------------------------------------------------===//
static int precedence(ExprKind k) {
  switch (k) {
  case ExprKind::Or: return 1;
  case ExprKind::And: return 2;
  case ExprKind::Eq: case ExprKind::Ne: case ExprKind::Lt: case ExprKind::Le: return 3;
  case ExprKind::Xor: return 4;
  case ExprKind::Add: return 5;
  case ExprKind::Mul: case ExprKind::FloorDiv: case ExprKind::CeilDiv: case ExprKind::Mod: return 6;
  default: return 7;
  }
}
static const char *spelling(ExprKind k) {
  switch (k) {
  case ExprKind::Or: return " or ";
  case ExprKind::And: return " and ";
  case ExprKind::Eq: return " eq ";
  case ExprKind::Ne: return " ne ";
  case ExprKind::Lt: return " lt ";
  case ExprKind::Le: return " le ";
  case ExprKind::Xor: return " xor ";
  case ExprKind::Add: return " + ";
  case ExprKind::Mul: return " * ";
  case ExprKind::FloorDiv: return " floordiv ";
  case ExprKind::CeilDiv: return " ceildiv ";
  case ExprKind::Mod: return " mod ";
  case ExprKind::Min: return "min";
  case ExprKind::Max: return "max";
  case ExprKind::Select: return "select";
  default: return "";
  }
}
static void print(raw_ostream &os, ExprAttr e, int context);

/// A term of a sum or product whose sign is written before it; false when its sign cannot be taken off.
static bool printNegative(raw_ostream &os, ExprAttr e, bool first) {
  auto [factor, c] = isConstant(e) ? std::pair(ExprAttr(), e.getValue()) : splitCoefficient(e);
  if (c >= 0 || c == INT64_MIN || (first && c != -1) || (first && !factor))
    return false;
  os << (first ? "-" : " - ");
  if (!factor) {
    os << -c;
    return true;
  }
  ArrayRef<Attribute> factors = e.getOperands().drop_back();
  for (auto [i, f] : llvm::enumerate(factors)) {
    if (i)
      os << " * ";
    // after a leading minus the first factor must be atomic: the sign binds tightest
    print(os, cast<ExprAttr>(f), i || first ? 7 : 6);
  }
  if (c != -1)
    os << " * " << -c;
  return true;
}
static void printSum(raw_ostream &os, ExprAttr e) {
  for (auto [i, a] : llvm::enumerate(e.getOperands())) {
    ExprAttr term = cast<ExprAttr>(a);
    if (printNegative(os, term, i == 0))
      continue;
    if (i)
      os << " + ";
    print(os, term, i ? 6 : 5);
  }
}
static void print(raw_ostream &os, ExprAttr e, int context) {
  ExprKind k = e.getKind();
  if (k == ExprKind::Constant) {
    os << e.getValue();
    return;
  }
  if (k == ExprKind::Symbol) {
    os << e.getName().getValue();
    return;
  }
  int prec = precedence(k);
  bool call = prec == 7, parens = !call && prec < context;
  if (call)
    os << spelling(k);
  if (call || parens)
    os << '(';
  if (k == ExprKind::Add) {
    printSum(os, e);
  } else if (k != ExprKind::Mul || !printNegative(os, e, true)) {
    for (auto [i, a] : llvm::enumerate(e.getOperands())) {
      if (i)
        os << (call ? ", " : spelling(k));
      // comparisons do not chain; the right operand of a left-associative operator binds tighter
      print(os, cast<ExprAttr>(a), call ? 0 : prec == 3 || i ? prec + 1 : prec);
    }
  }
  if (call || parens)
    os << ')';
}
void wave::printExpr(raw_ostream &os, ExprAttr expr) { print(os, expr, 0); }

Attribute ExprAttr::parse(AsmParser &p, Type) {
  ExprAttr r;
  if (p.parseLess() || parseExpr(p, r) || p.parseGreater())
    return {};
  return r;
}
void ExprAttr::print(AsmPrinter &p) const {
  p << '<';
  printExpr(p.getStream(), *this);
  p << '>';
}
