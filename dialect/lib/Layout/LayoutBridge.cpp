//===- LayoutBridge.cpp - layouts for the Python extension -----------------------===//
#include "wave/LayoutBridge.h"
#include "wave/Layout.h"
#include "wave/Wave.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
using namespace mlir;
using namespace wave;

bool wave::isLayout(MlirAttribute attr) { return isa<LayoutAttr>(unwrap(attr)); }
MlirTypeID wave::layoutTypeID() { return wrap(LayoutAttr::getTypeID()); }
const LayoutMap &wave::layoutMapOf(MlirAttribute attr) { return cast<LayoutAttr>(unwrap(attr)).getMap(); }
MlirAttribute wave::layoutAttribute(MlirContext ctx, const LayoutMap &map) {
  return wrap(Attribute(LayoutAttr::get(unwrap(ctx), map)));
}

bool wave::isLdsLayout(MlirAttribute attr) { return isa<LdsLayoutAttr>(unwrap(attr)); }
MlirTypeID wave::ldsLayoutTypeID() { return wrap(LdsLayoutAttr::getTypeID()); }
const LdsMap &wave::ldsMapOf(MlirAttribute attr) { return cast<LdsLayoutAttr>(unwrap(attr)).getMap(); }
MlirAttribute wave::ldsAttribute(MlirContext ctx, const LdsMap &map) {
  return wrap(Attribute(LdsLayoutAttr::get(unwrap(ctx), map)));
}

static SmallVector<ExprAttr> exprs(const std::vector<MlirAttribute> &attrs) {
  return llvm::map_to_vector(attrs, [](MlirAttribute a) { return cast<ExprAttr>(unwrap(a)); });
}
bool wave::isExpr(MlirAttribute attr) { return isa<ExprAttr>(unwrap(attr)); }
MlirAttribute wave::layoutCoordinateExpr(MlirContext ctx, const LayoutMap &map, int dim, int64_t reg,
                                         const LayoutSizes &sizes) {
  return wrap(Attribute(layoutCoordinate(unwrap(ctx), map, dim, reg, sizes)));
}
MlirAttribute wave::layoutPredicateExpr(MlirContext ctx, const LayoutMap &map, LayoutExprKind kind, int64_t reg,
                                        const LayoutSizes &sizes) {
  return wrap(Attribute(kind == LayoutExprKind::Exists ? layoutExists(unwrap(ctx), map, reg, sizes)
                                                       : layoutOwner(unwrap(ctx), map, reg, sizes)));
}
MlirAttribute wave::layoutInverseExpr(MlirContext ctx, const LayoutMap &map, int source,
                                      const std::vector<MlirAttribute> &coordinates) {
  return wrap(Attribute(layoutInverse(unwrap(ctx), map, source, exprs(coordinates))));
}
MlirAttribute wave::laneTableExpr(MlirContext ctx, const std::vector<int64_t> &table) {
  return wrap(Attribute(fitLaneTable(unwrap(ctx), table)));
}
MlirAttribute wave::ldsOffsetExpr(MlirContext ctx, const LdsMap &map, const std::vector<MlirAttribute> &coordinates) {
  return wrap(Attribute(ldsOffset(unwrap(ctx), map, exprs(coordinates))));
}
