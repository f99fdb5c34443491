//===- ElementwiseOps.cpp - folders of maths on elements --------------------------===//
#include "Verify.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OpImplementation.h"
using namespace mlir;
using namespace wave;

#define GET_OP_CLASSES
#include "wave/WaveElementwiseOps.cpp.inc"

void WaveDialect::registerElementwiseOps() {
  addOperations<
#define GET_OP_LIST
#include "wave/WaveElementwiseOps.cpp.inc"
      >();
}

// The literal a value is filled with, null if it is none.
static Attribute literal(Value value) {
  auto fill = value.getDefiningOp<RegisterOp>();
  return fill ? fill.getValueAttr() : Attribute();
}
static bool isInteger(Value value, int64_t n) {
  auto integer = dyn_cast_or_null<IntegerAttr>(literal(value));
  return integer && integer.getValue() == APInt(integer.getValue().getBitWidth(), n, /*isSigned=*/true);
}
static bool isFloat(Value value, double n) {
  auto number = dyn_cast_or_null<FloatAttr>(literal(value));
  return number && number.getValue().bitwiseIsEqual([&] {
    APFloat wanted(n);
    bool inexact;
    wanted.convert(number.getValue().getSemantics(), APFloat::rmNearestTiesToEven, &inexact);
    return wanted;
  }());
}

// x + 0: of floats only -0.0 is neutral.
OpFoldResult AddOp::fold(FoldAdaptor) {
  if (isInteger(getRhs(), 0) || isFloat(getRhs(), -0.0))
    return getLhs();
  return isInteger(getLhs(), 0) || isFloat(getLhs(), -0.0) ? OpFoldResult(getRhs()) : OpFoldResult();
}
OpFoldResult SubOp::fold(FoldAdaptor) {
  return isInteger(getRhs(), 0) || isFloat(getRhs(), 0.0) ? OpFoldResult(getLhs()) : OpFoldResult();
}
OpFoldResult MulOp::fold(FoldAdaptor) {
  if (isInteger(getRhs(), 1) || isFloat(getRhs(), 1.0))
    return getLhs();
  return isInteger(getLhs(), 1) || isFloat(getLhs(), 1.0) ? OpFoldResult(getRhs()) : OpFoldResult();
}
OpFoldResult DivOp::fold(FoldAdaptor) {
  return isInteger(getRhs(), 1) || isFloat(getRhs(), 1.0) ? OpFoldResult(getLhs()) : OpFoldResult();
}
OpFoldResult AndOp::fold(FoldAdaptor) { return getLhs() == getRhs() ? OpFoldResult(getLhs()) : OpFoldResult(); }
OpFoldResult OrOp::fold(FoldAdaptor) { return getLhs() == getRhs() ? OpFoldResult(getLhs()) : OpFoldResult(); }

LogicalResult SelectOp::verify() {
  Type condition = getCondition().getType();
  auto tile = dyn_cast<TileType>(condition);
  auto value = dyn_cast<TileType>(getResult().getType());
  bool one = condition.isInteger(1) || (tile && tile.getKnown() && tile.getRank() == 0);
  if (!one && !haveSameShape(condition, getResult().getType()))
    return emitOpError() << "has a condition of type " << condition << " for values of type " << getResult().getType()
                         << "; it has their shape or one element";
  if (!one && tile && value && tile.getKnown() && value.getKnown() && tile.getLayout() != value.getLayout())
    return emitOpError() << "has a condition with another layout than its values; insert wave.relayout";
  return success();
}
OpFoldResult SelectOp::fold(FoldAdaptor) {
  if (getIfTrue() == getIfFalse())
    return getIfTrue();
  std::optional<bool> condition;
  if (auto number = dyn_cast_or_null<IntegerAttr>(literal(getCondition())))
    condition = !number.getValue().isZero();
  if (auto mask = getCondition().getDefiningOp<MaskOp>(); mask && mask.getExpr().getKind() == ExprKind::Constant)
    condition = mask.getExpr().getValue() != 0;
  if (!condition)
    return {};
  return *condition ? getIfTrue() : getIfFalse();
}
