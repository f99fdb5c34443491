//===- Symbols.cpp - symbols in expressions---------------------------------------===//
#include "wave/Attrs.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
using namespace mlir;
using namespace wave;

static bool isIdentifier(StringRef name) {
  return !name.empty() && (llvm::isAlpha(name[0]) || name[0] == '_') &&
         llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

bool wave::isUserSymbol(StringRef name) {
  static constexpr StringLiteral words[] = {"floordiv", "ceildiv", "mod", "xor", "min",    "max",  "eq", "ne", "lt",
                                            "le",       "gt",      "ge",  "and", "or", "select", "lane", "el"};
  return isIdentifier(name) && !llvm::is_contained(words, name);
}

bool wave::isSymbol(StringRef name) {
  if (isUserSymbol(name) || name == "lane" || name == "el")
    return true;
  auto [head, tail] = name.split('.');
  if (head == "wg" || head == "wave")
    return tail == "x" || tail == "y" || tail == "z";
  return (head == "iv" || head == "at") && isUserSymbol(tail);
}

void wave::walkSymbols(ExprAttr expr, function_ref<void(StringRef)> fn) {
  if (expr.getKind() == ExprKind::Symbol)
    return fn(expr.getName().getValue());
  for (Attribute operand : expr.getOperands())
    walkSymbols(cast<ExprAttr>(operand), fn);
}

bool wave::isPredicate(ExprAttr e) {
  auto operand = [&](unsigned i) { return isPredicate(cast<ExprAttr>(e.getOperands()[i])); };
  switch (e.getKind()) {
  case ExprKind::Eq: case ExprKind::Ne: case ExprKind::Lt: case ExprKind::Le:
    return true;
  case ExprKind::And: case ExprKind::Or:
    return llvm::all_of(e.getOperands(), [](Attribute a) { return isPredicate(cast<ExprAttr>(a)); });
  case ExprKind::Select:
    return operand(1) && operand(2);
  case ExprKind::Constant:
    return e.getValue() == 0 || e.getValue() == 1;
  default:
    return false;
  }
}
