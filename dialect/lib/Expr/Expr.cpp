//===- Expr.cpp - nodes and text syntax of expressions -------------------------===//
#include "wave/Expr.h"
#include "wave/Wave.h"
using namespace mlir;
using namespace wave;

static ExprAttr make(MLIRContext *ctx, ExprKind kind, int64_t value, StringRef name, ArrayRef<ExprAttr> operands) {
  SmallVector<Attribute> ops(operands.begin(), operands.end());
  return ExprAttr::get(ctx, kind, value, StringAttr::get(ctx, name), ArrayRef<Attribute>(ops));
}
ExprAttr wave::getConstantExpr(MLIRContext *ctx, int64_t value) { return make(ctx, ExprKind::Constant, value, "", {}); }
ExprAttr wave::getSymbolExpr(MLIRContext *ctx, StringRef name) { return make(ctx, ExprKind::Symbol, 0, name, {}); }
ExprAttr wave::getExpr(ExprKind kind, ArrayRef<ExprAttr> operands) {
  return make(operands.front().getContext(), kind, 0, "", operands);
}

//===- parsing -----------------------------------------------------------------===//
namespace {
struct Parser {
  AsmParser &p;
  MLIRContext *ctx;

  ExprAttr negate(ExprAttr e) { return getExpr(ExprKind::Mul, {e, getConstantExpr(ctx, -1)}); }

  ParseResult call(ExprKind kind, size_t arity, ExprAttr &r) {
    SmallVector<ExprAttr> args;
    SMLoc loc = p.getCurrentLocation();
    if (p.parseCommaSeparatedList(AsmParser::Delimiter::Paren,
                                  [&] { return disjunction(args.emplace_back()); }))
      return failure();
    if (args.size() != arity)
      return p.emitError(loc) << "expected " << arity << " operands, got " << args.size();
    r = getExpr(kind, args);
    return success();
  }
  ParseResult primary(ExprAttr &r) {
    if (succeeded(p.parseOptionalLParen()))
      return failure(disjunction(r) || p.parseRParen());
    if (succeeded(p.parseOptionalMinus())) {
      ExprAttr e;
      if (primary(e))
        return failure();
      r = e.getKind() == ExprKind::Constant ? getConstantExpr(ctx, -e.getValue()) : negate(e);
      return success();
    }
    int64_t n;
    OptionalParseResult number = p.parseOptionalInteger(n);
    if (number.has_value()) {
      if (failed(*number))
        return failure();
      r = getConstantExpr(ctx, n);
      return success();
    }
    StringRef word;
    SMLoc loc = p.getCurrentLocation();
    if (p.parseOptionalKeyword(&word))
      return p.emitError(loc, "expected a symbol, an integer or '(' in an expression");
    if (word == "min") return call(ExprKind::Min, 2, r);
    if (word == "max") return call(ExprKind::Max, 2, r);
    if (word == "select") return call(ExprKind::Select, 3, r);
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
      ExprAttr rhs;
      if (primary(rhs))
        return failure();
      r = getExpr(kind, {r, rhs});
    }
  }
  ParseResult sum(ExprAttr &r) {
    if (product(r))
      return failure();
    for (;;) {
      ExprAttr rhs;
      if (succeeded(p.parseOptionalPlus())) {
        if (product(rhs))
          return failure();
        r = getExpr(ExprKind::Add, {r, rhs});
      } else if (succeeded(p.parseOptionalMinus())) {
        if (product(rhs))
          return failure();
        r = getExpr(ExprKind::Add, {r, negate(rhs)});
      } else
        return success();
    }
  }
  ParseResult bits(ExprAttr &r) {
    if (sum(r))
      return failure();
    while (succeeded(p.parseOptionalKeyword("xor"))) {
      ExprAttr rhs;
      if (sum(rhs))
        return failure();
      r = getExpr(ExprKind::Xor, {r, rhs});
    }
    return success();
  }
  ParseResult comparison(ExprAttr &r) {
    if (bits(r))
      return failure();
    // Words, not signs: MLIR's lexer pairs up every '<' and '>' of an attribute's body.
    static constexpr std::pair<StringLiteral, ExprKind> words[] = {
        {"eq", ExprKind::Eq}, {"ne", ExprKind::Ne}, {"lt", ExprKind::Lt},
        {"le", ExprKind::Le}, {"gt", ExprKind::Lt}, {"ge", ExprKind::Le}};
    for (auto [word, kind] : words) {
      if (failed(p.parseOptionalKeyword(word)))
        continue;
      ExprAttr rhs;
      if (bits(rhs))
        return failure();
      if (word[0] == 'g')
        std::swap(r, rhs);
      r = getExpr(kind, {r, rhs});
      break;
    }
    return success();
  }
  ParseResult conjunction(ExprAttr &r) {
    if (comparison(r)) return failure();
    while (succeeded(p.parseOptionalKeyword("and"))) {
      ExprAttr rhs;
      if (comparison(rhs)) return failure();
      r = getExpr(ExprKind::And, {r, rhs});
    }
    return success();
  }
  ParseResult disjunction(ExprAttr &r) {
    if (conjunction(r)) return failure();
    while (succeeded(p.parseOptionalKeyword("or"))) {
      ExprAttr rhs;
      if (conjunction(rhs)) return failure();
      r = getExpr(ExprKind::Or, {r, rhs});
    }
    return success();
  }
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
  for (auto [i, a] : llvm::enumerate(e.getOperands())) {
    if (i)
      os << (call ? ", " : spelling(k));
    // comparisons do not chain; the right operand of a left-associative operator binds tighter
    print(os, cast<ExprAttr>(a), call ? 0 : prec == 3 || i ? prec + 1 : prec);
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
