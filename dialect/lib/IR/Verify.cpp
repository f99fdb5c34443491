//===- Verify.cpp - checks and effects that ops share ----------------------------===//
#include "Verify.h"
using namespace mlir;
using namespace wave;

LogicalResult wave::verifySymbols(Operation *op, ArrayAttr names, ValueRange values) {
  size_t count = names ? names.size() : 0;
  if (count != values.size())
    return op->emitOpError() << "has " << values.size() << " values for " << count << " symbols; give one for each";
  for (size_t i = 0; i < count; ++i) {
    StringRef name = cast<StringAttr>(names[i]).getValue();
    if (!isUserSymbol(name) && !(name.starts_with("iv.") && isUserSymbol(name.drop_front(3))))
      return op->emitOpError() << "gives a value for '" << name << "', which is neither a user's symbol nor iv.DIM";
    for (size_t k = 0; k < i; ++k)
      if (names[k] == names[i])
        return op->emitOpError() << "gives two values for symbol " << name;
  }
  return success();
}

LogicalResult wave::verifyUniform(Operation *op, StringRef what, ExprAttr expr) {
  LogicalResult result = success();
  if (expr)
    walkSymbols(expr, [&](StringRef name) {
      if (succeeded(result) && (name == "lane" || name == "el" || name.starts_with("at.")))
        result = op->emitOpError() << "has '" << name << "' in its " << what
                                   << ", which must be the same for all lanes of a wave";
    });
  return result;
}

LogicalResult wave::verifyIndex(Operation *op, MemoryType memory, ArrayAttr index, StringRef what) {
  if (!index)
    return success();
  if ((int64_t)index.size() != memory.getRank())
    return op->emitOpError() << "has " << index.size() << " coordinates in its " << what << " of a memory of "
                             << memory.getRank() << " dims; give one for each dim";
  return success();
}

bool wave::haveSameShape(Type a, Type b) {
  auto s = dyn_cast<TileType>(a), t = dyn_cast<TileType>(b);
  if (s && t)
    return !s.getKnown() || !t.getKnown() || s.getDims() == t.getDims();
  auto v = dyn_cast<VectorType>(a), w = dyn_cast<VectorType>(b);
  if (v && w)
    return v.getShape() == w.getShape() && v.getScalableDims() == w.getScalableDims();
  return !s && !t && !v && !w;
}

void wave::addSymbolEffects(Operation *op, Effects &effects) {
  Operation *module = op;
  while (module && !module->hasAttr("wave.form"))
    module = module->getParentOp();
  auto form = module ? module->getAttrOfType<StringAttr>("wave.form") : StringAttr();
  if (!form || form.getValue() == "tile")
    effects.emplace_back(MemoryEffects::Read::get(), SymbolResource::get());
}
