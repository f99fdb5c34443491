//===- ExprProgram.h - expressions compiled for many points -------------------===//
#ifndef WAVE_EXPR_PROGRAM_H
#define WAVE_EXPR_PROGRAM_H
#include "wave/ExprAlgebra.h"

namespace wave {
/// Expressions compiled to straight-line code that runs over arrays of points; shared parts are computed once.
class ExprProgram {
public:
  /// `symbols` must have every symbol of the roots.
  ExprProgram(llvm::ArrayRef<ExprAttr> roots, llvm::ArrayRef<ExprAttr> symbols);
  /// inputs[i] is the array of n values of symbols[i], or of one value where uniform[i] (empty: none is); outputs[j] receives the n values of roots[j]. With `errors`
  /// (n bytes, an EvalError each) a point without value is noted there and its outputs are unspecified; without, the
  /// error of such a point is returned.
  EvalError run(llvm::ArrayRef<const int64_t *> inputs, size_t n, llvm::ArrayRef<int64_t *> outputs,
                uint8_t *errors = nullptr, llvm::ArrayRef<bool> uniform = {}) const;

private:
  struct Instruction {
    ExprKind kind;
    uint32_t a, b, c; // values; of a Symbol: a is its number
    int64_t constant;
  };
  uint32_t emit(ExprAttr e, llvm::DenseMap<mlir::Attribute, uint32_t> &done, llvm::ArrayRef<ExprAttr> symbols);
  struct Block;
  void step(const Instruction &inst, size_t index, size_t n, Block &block) const;
  llvm::SmallVector<Instruction, 0> code;
  llvm::SmallVector<uint32_t, 4> results;
};
} // namespace wave
#endif
