//===- ShapeOps.cpp - checks and folders of ops on the shape of values ------------===//
#include "Verify.h"
#include "llvm/ADT/STLExtras.h"
using namespace mlir;
using namespace wave;

static LogicalResult verifyElementsKept(Operation *op) {
  Type source = getElementType(op->getOperand(0).getType()), result = getElementType(op->getResult(0).getType());
  if (source == result)
    return success();
  return op->emitOpError() << "turns elements of " << source << " into " << result << "; use wave.cast for that";
}

//===- relayout ----------------------------------------------------------------===//
LogicalResult RelayoutOp::verify() {
  auto source = dyn_cast<TileType>(getSource().getType()), result = dyn_cast<TileType>(getResult().getType());
  if (!source || !result || !source.getLayout() || !result.getLayout())
    return emitOpError() << "is from " << getSource().getType() << " to " << getResult().getType()
                         << "; both are tiles with a layout";
  if (source.getDims() != result.getDims())
    return emitOpError() << "changes the dims; a relayout keeps them";
  return verifyElementsKept(*this);
}
OpFoldResult RelayoutOp::fold(FoldAdaptor) {
  if (getSource().getType() == getResult().getType())
    return getSource();
  if (auto first = getSource().getDefiningOp<RelayoutOp>()) {
    getSourceMutable().assign(first.getSource());
    return getResult();
  }
  return {};
}

//===- permute -----------------------------------------------------------------===//
LogicalResult PermuteOp::verify() {
  auto source = dyn_cast<TileType>(getSource().getType()), result = dyn_cast<TileType>(getResult().getType());
  if (!source || !result)
    return emitOpError() << "is from " << getSource().getType() << " to " << getResult().getType()
                         << "; both are tiles";
  if (source.getKnown() && result.getKnown() &&
      !(source.getRank() == result.getRank() &&
        llvm::all_of(source.getDims(), [&](StringAttr d) { return result.hasDim(d.getValue()); })))
    return emitOpError() << "is from " << source << " to " << result << ", which has other dims; only their order changes";
  return verifyElementsKept(*this);
}
OpFoldResult PermuteOp::fold(FoldAdaptor) {
  auto type = dyn_cast<TileType>(getResult().getType());
  if (getSource().getType() == type && type.getKnown())
    return getSource();
  if (auto first = getSource().getDefiningOp<PermuteOp>()) {
    getSourceMutable().assign(first.getSource());
    return getResult();
  }
  return {};
}

//===- broadcast ---------------------------------------------------------------===//
LogicalResult BroadcastOp::verify() {
  auto source = dyn_cast<TileType>(getSource().getType()), result = dyn_cast<TileType>(getResult().getType());
  if (source && result && source.getKnown() && result.getKnown())
    for (StringAttr dim : source.getDims())
      if (!result.hasDim(dim.getValue()))
        return emitOpError() << "loses dim " << dim.getValue() << " from " << source << " to " << result
                             << "; a broadcast only adds dims";
  auto from = dyn_cast<VectorType>(getSource().getType()), to = dyn_cast<VectorType>(getResult().getType());
  if (from && to && from.getNumElements() != 1 && to.getNumElements() % from.getNumElements())
    return emitOpError() << "repeats " << from.getNumElements() << " elements in " << to.getNumElements()
                         << ", which is no multiple";
  if (isa<TileType, VectorType>(getSource().getType()) && !isa<TileType, VectorType>(getResult().getType()))
    return emitOpError() << "is from " << getSource().getType() << " to the scalar " << getResult().getType();
  return verifyElementsKept(*this);
}
static bool isKnown(Type type) {
  auto tile = dyn_cast<TileType>(type);
  return !tile || tile.getKnown();
}
OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  if (getSource().getType() == getResult().getType() && isKnown(getResult().getType()))
    return getSource();
  return {};
}

//===- reshape -----------------------------------------------------------------===//
LogicalResult ReshapeOp::verify() {
  auto from = dyn_cast<VectorType>(getSource().getType()), to = dyn_cast<VectorType>(getResult().getType());
  if (from && to && from.getNumElements() != to.getNumElements())
    return emitOpError() << "is from " << from.getNumElements() << " elements to " << to.getNumElements()
                         << "; a reshape keeps their number";
  return verifyElementsKept(*this);
}
OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (getSource().getType() == getResult().getType() && isKnown(getResult().getType()))
    return getSource();
  return {};
}

//===- casts -------------------------------------------------------------------===//
LogicalResult CastOp::verify() {
  Type from = getSource().getType(), to = getResult().getType();
  if (!haveSameShape(from, to))
    return emitOpError() << "is from " << from << " to " << to << "; a cast keeps the shape";
  if (getSaturate() && !isa<FloatType>(getElementType(to)))
    return emitOpError() << "saturates to " << getElementType(to) << "; only casts to floats saturate";
  return success();
}
OpFoldResult CastOp::fold(FoldAdaptor) {
  return getSource().getType() == getResult().getType() ? OpFoldResult(getSource()) : OpFoldResult();
}

static std::optional<unsigned> bitWidth(Type element) {
  return element.isIntOrFloat() ? std::optional(element.getIntOrFloatBitWidth()) : std::nullopt;
}
LogicalResult BitcastOp::verify() {
  Type from = getSource().getType(), to = getResult().getType();
  std::optional<unsigned> a = bitWidth(getElementType(from)), b = bitWidth(getElementType(to));
  if (!a || !b)
    return emitOpError() << "is of " << (a ? to : from) << "; index has no fixed number of bits";
  auto v = dyn_cast<VectorType>(from), w = dyn_cast<VectorType>(to);
  if (v && w ? v.getNumElements() * *a != w.getNumElements() * *b : !isa<TileType>(from) && !isa<TileType>(to) && *a != *b)
    return emitOpError() << "is from " << from << " to " << to << ", which has another number of bits";
  if (isa<TileType>(from) != isa<TileType>(to))
    return emitOpError() << "is from " << from << " to " << to << "; a bitcast is between tiles or between vectors";
  return success();
}
OpFoldResult BitcastOp::fold(FoldAdaptor) {
  if (getSource().getType() == getResult().getType())
    return getSource();
  if (auto first = getSource().getDefiningOp<BitcastOp>()) {
    getSourceMutable().assign(first.getSource());
    return getResult();
  }
  return {};
}

//===- parts of values ---------------------------------------------------------===//
static LogicalResult verifyRank(Operation *op, StringRef what, ArrayAttr exprs, Type type) {
  int64_t rank = -1;
  if (auto tile = dyn_cast<TileType>(type))
    rank = tile.getKnown() ? tile.getRank() : -1;
  else if (auto vector = dyn_cast<VectorType>(type))
    rank = vector.getRank();
  else
    rank = 0;
  if (rank >= 0 && (int64_t)exprs.size() != rank)
    return op->emitOpError() << "has " << exprs.size() << " " << what << " for a value of " << rank << " dims";
  return success();
}
LogicalResult ExtractOp::verify() {
  if (auto tile = dyn_cast<TileType>(getResult().getType()); tile && tile.getKnown() && tile.getRank())
    return emitOpError() << "has a result of type " << tile << "; one element has no dims";
  return failure(failed(verifyElementsKept(*this)) ||
                 failed(verifyRank(*this, "positions", getPosition(), getSource().getType())) ||
                 failed(verifySymbols(*this, getSymbolNamesAttr(), getSymbolValues())));
}
void ExtractOp::getEffects(Effects &effects) { addSymbolEffects(*this, effects); }

LogicalResult ExtractSliceOp::verify() {
  Type type = getSource().getType();
  return failure(failed(verifyElementsKept(*this)) || failed(verifyRank(*this, "offsets", getOffsets(), type)) ||
                 failed(verifyRank(*this, "sizes", getSizes(), type)) ||
                 failed(verifyRank(*this, "strides", getStrides(), type)) ||
                 failed(verifySymbols(*this, getSymbolNamesAttr(), getSymbolValues())));
}
void ExtractSliceOp::getEffects(Effects &effects) { addSymbolEffects(*this, effects); }

LogicalResult ShuffleOp::verify() {
  int64_t width = getWidth(), offset = getOffset();
  if (width <= 0)
    return emitOpError() << "has groups of " << width << " lanes; give a positive width";
  if (offset < 0 || offset >= width)
    return emitOpError() << "has offset " << offset << "; it is at least 0 and below the width, " << width;
  return success();
}
