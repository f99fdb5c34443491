//===- Symbols.cpp - symbols in expressions---------------------------------------===//
#include "wave/Attrs.h"
#include "wave/ExprAlgebra.h"
using namespace mlir;
using namespace wave;

bool wave::isUserSymbol(StringRef name) {
  return isValidSymbolName(name) && !name.contains('.') && name != "lane" && name != "el";
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
