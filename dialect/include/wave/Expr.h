//===- Expr.h - integer expressions over symbols ------------------------------===//
// Construction (canonicalising) and text syntax of `#wave.expr`. Algebra is in wave/ExprAlgebra.h; facts, ranges,
// simplification and proofs are in wave/ExprFacts.h.
//
// An expression denotes a mathematical integer. Where a fold would leave 64 bits the node stays unfolded, so no
// function here returns a wrapped value. Division is by floor, `mod` has the sign of the divisor, an expression whose
// evaluation divides by zero has no value (a rewrite may give it one).
#ifndef WAVE_EXPR_H
#define WAVE_EXPR_H
#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpImplementation.h"

namespace wave {
/// What a node of an expression does. And, Or, Select take any non-zero value as true; comparisons, And, Or give 0 or 1.
enum class ExprKind : int32_t {
  Constant, Symbol, Add, Mul, FloorDiv, CeilDiv, Mod, Min, Max, Xor,
  Eq, Ne, Lt, Le, And, Or, Select,
};
class ExprAttr;

ExprAttr getConstantExpr(mlir::MLIRContext *ctx, int64_t value);
/// Does not check the name: see isValidSymbolName.
ExprAttr getSymbolExpr(mlir::MLIRContext *ctx, llvm::StringRef name);
/// The canonical form of `kind(operands)`: n-ary for the associative kinds, else of the kind's arity. Never null:
/// a division by the constant 0 and an overflowing fold stay as nodes.
ExprAttr getExpr(ExprKind kind, llvm::ArrayRef<ExprAttr> operands);
/// Parses an expression of the infix syntax at the parser's position.
mlir::ParseResult parseExpr(mlir::AsmParser &parser, ExprAttr &result);
void printExpr(llvm::raw_ostream &os, ExprAttr expr);
} // namespace wave
#endif
