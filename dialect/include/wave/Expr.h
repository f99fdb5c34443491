//===- Expr.h - integer expressions over symbols ------------------------------===//
// Construction (canonicalising), text syntax and algebra of `#wave.expr`.
#ifndef WAVE_EXPR_H
#define WAVE_EXPR_H
#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpImplementation.h"

namespace wave {
/// What a node of an expression does. Division is by floor; `mod` has the sign of the divisor.
enum class ExprKind : int32_t {
  Constant, Symbol, Add, Mul, FloorDiv, CeilDiv, Mod, Min, Max, Xor,
  Eq, Ne, Lt, Le, And, Or, Select,
};
class ExprAttr;

ExprAttr getConstantExpr(mlir::MLIRContext *ctx, int64_t value);
ExprAttr getSymbolExpr(mlir::MLIRContext *ctx, llvm::StringRef name);
/// The canonical form of `kind(operands)`.
ExprAttr getExpr(ExprKind kind, llvm::ArrayRef<ExprAttr> operands);

/// Parses an expression of the infix syntax at the parser's position.
mlir::ParseResult parseExpr(mlir::AsmParser &parser, ExprAttr &result);
void printExpr(llvm::raw_ostream &os, ExprAttr expr);
} // namespace wave
#endif
