//===- Syntax.h - pieces of text that attributes, types and ops share -----------===//
#ifndef WAVE_LIB_IR_SYNTAX_H
#define WAVE_LIB_IR_SYNTAX_H
#include "wave/Attrs.h"

namespace wave {
/// A bare word: a symbol, an MMA kind.
mlir::ParseResult parseWord(mlir::AsmParser &p, mlir::StringAttr &word);
/// `[a, b, c]` of symbols.
mlir::ParseResult parseWords(mlir::AsmParser &p, llvm::SmallVectorImpl<mlir::StringAttr> &words);
/// `[e, e]` of expressions.
mlir::ParseResult parseExprs(mlir::AsmParser &p, llvm::SmallVectorImpl<ExprAttr> &exprs);
/// `{name = e, …}`; names are unique.
mlir::ParseResult parseExprDictionary(mlir::AsmParser &p, mlir::DictionaryAttr &dictionary);
void printExprDictionary(mlir::AsmPrinter &p, mlir::DictionaryAttr dictionary);

// Directives of the ops' assembly formats.
mlir::ParseResult parseWord(mlir::OpAsmParser &p, mlir::StringAttr &word);
void printWord(mlir::OpAsmPrinter &p, mlir::Operation *, mlir::StringAttr word);
mlir::ParseResult parseExpr(mlir::OpAsmParser &p, ExprAttr &expr);
void printExpr(mlir::OpAsmPrinter &p, mlir::Operation *, ExprAttr expr);
mlir::ParseResult parseExprs(mlir::OpAsmParser &p, mlir::ArrayAttr &exprs);
void printExprs(mlir::OpAsmPrinter &p, mlir::Operation *, mlir::ArrayAttr exprs);
mlir::ParseResult parseSymbols(mlir::OpAsmParser &p,
                               llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand> &values,
                               llvm::SmallVectorImpl<mlir::Type> &types, mlir::ArrayAttr &names);
void printSymbols(mlir::OpAsmPrinter &p, mlir::Operation *, mlir::OperandRange values, mlir::TypeRange types,
                  mlir::ArrayAttr names);
mlir::ParseResult parseInstructionClasses(mlir::OpAsmParser &p, mlir::ArrayAttr &classes);
void printInstructionClasses(mlir::OpAsmPrinter &p, mlir::Operation *, mlir::ArrayAttr classes);
} // namespace wave
#endif
