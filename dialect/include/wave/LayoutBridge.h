//===- LayoutBridge.h - layouts for the Python extension -----------------------===//
#ifndef WAVE_LAYOUTBRIDGE_H
#define WAVE_LAYOUTBRIDGE_H
#include "mlir-c/IR.h"
#include "wave/LayoutMap.h"

namespace wave {
bool isLayout(MlirAttribute attr);
MlirTypeID layoutTypeID();
/// The map of a layout attribute; it lives as long as the context.
const LayoutMap &layoutMapOf(MlirAttribute attr);
/// The attribute of a map that verifyLayout accepts.
MlirAttribute layoutAttribute(MlirContext ctx, const LayoutMap &map);

bool isLdsLayout(MlirAttribute attr);
MlirTypeID ldsLayoutTypeID();
const LdsMap &ldsMapOf(MlirAttribute attr);
MlirAttribute ldsAttribute(MlirContext ctx, const LdsMap &map);

/// Expression attributes; see Layout.h. Null where there is none.
enum class LayoutExprKind : int { Exists, Owner };
MlirAttribute layoutCoordinateExpr(MlirContext ctx, const LayoutMap &map, int dim, int64_t reg,
                                   const LayoutSizes &sizes);
MlirAttribute layoutPredicateExpr(MlirContext ctx, const LayoutMap &map, LayoutExprKind kind, int64_t reg,
                                  const LayoutSizes &sizes);
MlirAttribute layoutInverseExpr(MlirContext ctx, const LayoutMap &map, int source,
                                const std::vector<MlirAttribute> &coordinates);
MlirAttribute laneTableExpr(MlirContext ctx, const std::vector<int64_t> &table);
MlirAttribute ldsOffsetExpr(MlirContext ctx, const LdsMap &map, const std::vector<MlirAttribute> &coordinates);
bool isExpr(MlirAttribute attr);
} // namespace wave
#endif
