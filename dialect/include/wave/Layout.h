//===- Layout.h - layouts as attributes and expressions ------------------------===//
#ifndef WAVE_LAYOUT_H
#define WAVE_LAYOUT_H
#include "wave/Expr.h"
#include "wave/LayoutMap.h"
#include "llvm/ADT/Hashing.h"

namespace wave {
llvm::hash_code hash_value(const LayoutDigit &digit);
llvm::hash_code hash_value(const LayoutMap &map);
llvm::hash_code hash_value(const LdsMap &map);

/// The coordinate along `dim` as an expression over reg, lane, wave.x, wave.y and wave.z. With `reg` >= 0 that register
/// is meant. Where `sizes` says how many values a source has (0: unknown), the expression spares a `mod`.
ExprAttr layoutCoordinate(mlir::MLIRContext *ctx, const LayoutMap &map, int dim, int64_t reg, const LayoutSizes &sizes);
/// Whether the element exists: the conjunction of what is not true anyway (1 when nothing is).
ExprAttr layoutExists(mlir::MLIRContext *ctx, const LayoutMap &map, int64_t reg, const LayoutSizes &sizes);
/// True for exactly one of the places that hold the same element, the one whose replication digits are all 0.
ExprAttr layoutOwner(mlir::MLIRContext *ctx, const LayoutMap &map, int64_t reg, const LayoutSizes &sizes);
/// The value of `source` that owns the element at `coordinates` (one a dim), or null when there is no expression.
ExprAttr layoutInverse(mlir::MLIRContext *ctx, const LayoutMap &map, int source, llvm::ArrayRef<ExprAttr> coordinates);
/// `table[lane]` as an expression of `lane` (entries of -1 do not matter), or null when it is not linear over bits.
ExprAttr fitLaneTable(mlir::MLIRContext *ctx, llvm::ArrayRef<int64_t> table);
/// The offset in elements of the element at `coordinates` of an LDS buffer.
ExprAttr ldsOffset(mlir::MLIRContext *ctx, const LdsMap &map, llvm::ArrayRef<ExprAttr> coordinates);
} // namespace wave
#endif
