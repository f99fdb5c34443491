//===- Verify.h - checks and effects that ops share ------------------------------===//
#ifndef WAVE_LIB_IR_VERIFY_H
#define WAVE_LIB_IR_VERIFY_H
#include "wave/Wave.h"

namespace wave {
using Effects = llvm::SmallVectorImpl<mlir::SideEffects::EffectInstance<mlir::MemoryEffects::Effect>>;

/// What `set_symbol` writes and the tile-form users of symbols read.
struct SymbolResource : public mlir::SideEffects::Resource::Base<SymbolResource> {
  llvm::StringRef getName() final { return "wave.symbols"; }
};

/// Names and values of `symbols(…)` belong together, and each name is a symbol that may stand there.
mlir::LogicalResult verifySymbols(mlir::Operation *op, mlir::ArrayAttr names, mlir::ValueRange values);
/// The expression decides control flow: it depends on no lane.
mlir::LogicalResult verifyUniform(mlir::Operation *op, llvm::StringRef what, ExprAttr expr);
/// An index has a coordinate for each dim of the memory.
mlir::LogicalResult verifyIndex(mlir::Operation *op, MemoryType memory, mlir::ArrayAttr index,
                                llvm::StringRef what = "index");
/// Whether two values can be the same tile: equal dims in order, or one shape unknown, or no tile at all.
bool haveSameShape(mlir::Type a, mlir::Type b);

/// In tile form a symbol can be redefined between two ops, so what uses one reads state.
void addSymbolEffects(mlir::Operation *op, Effects &effects);
} // namespace wave
#endif
