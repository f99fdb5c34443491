//===- ExprCanon.h - canonical construction, kind by kind ---------------------===//
// Operands are canonical. Null: nothing could be folded exactly, keep the node as it stands.
#ifndef WAVE_EXPR_CANON_H
#define WAVE_EXPR_CANON_H
#include "ExprDetail.h"

namespace wave::canon {
using Operands = llvm::ArrayRef<ExprAttr>;
ExprAttr add(Operands ops);
ExprAttr mul(Operands ops);
ExprAttr floorDiv(ExprAttr x, ExprAttr y);
ExprAttr ceilDiv(ExprAttr x, ExprAttr y);
ExprAttr mod(ExprAttr x, ExprAttr y);
ExprAttr extremum(ExprKind kind, Operands ops);
ExprAttr exclusiveOr(Operands ops);
ExprAttr comparison(ExprKind kind, ExprAttr a, ExprAttr b);
ExprAttr connective(ExprKind kind, Operands ops);
ExprAttr select(ExprAttr condition, ExprAttr a, ExprAttr b);
} // namespace wave::canon
#endif
