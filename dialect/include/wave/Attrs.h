//===- Attrs.h - attributes and types of the wave dialect ----------------------===//
// For code that needs no ops: it compiles much faster than Wave.h.
#ifndef WAVE_ATTRS_H
#define WAVE_ATTRS_H
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "wave/Expr.h"
#include "wave/Layout.h"

#include "wave/WaveDialect.h.inc"
#include "wave/WaveEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "wave/WaveAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "wave/WaveTypes.h.inc"

namespace wave {
/// The element type of a tile, vector or memory; another type itself.
mlir::Type getElementType(mlir::Type type);
/// The same tile, vector or scalar with other elements.
mlir::Type withElementType(mlir::Type type, mlir::Type element);
/// The type of a mask for a value: i1 elements, the same shape and layout.
mlir::Type getMaskType(mlir::Type type);
/// A name that a user may give: an identifier without a dot that is no word of the expression syntax.
bool isUserSymbol(llvm::StringRef name);
/// Calls `fn` for each symbol of the expression, repeated ones too.
void walkSymbols(ExprAttr expr, llvm::function_ref<void(llvm::StringRef)> fn);
/// Whether the expression is a comparison or a combination of them.
bool isPredicate(ExprAttr expr);
/// Whether an element of this type can be in a tile or memory.
bool isElementType(mlir::Type type);
} // namespace wave
#endif
