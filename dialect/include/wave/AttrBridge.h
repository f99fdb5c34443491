//===- AttrBridge.h - types and constraints for the Python extension ------------===//
// See Bridge.h for why. A type or attribute is seen as a dictionary of fields.
#ifndef WAVE_ATTR_BRIDGE_H
#define WAVE_ATTR_BRIDGE_H
#include "mlir-c/IR.h"
#ifdef __cplusplus
extern "C" {
#endif
typedef enum {
  WaveKindWorkgroup, WaveKindTiling, WaveKindWave, WaveKindHardware, WaveKindReordering, WaveKindGrid, WaveKindDevice,
  WaveKindAssume, WaveKindMapping
} WaveAttrKind;

bool waveAttributeIs(MlirAttribute attr, WaveAttrKind kind);
MlirTypeID waveAttributeTypeID(WaveAttrKind kind);
/// From a DictionaryAttr of fields (those of the attribute's definition; a missing one has its default). Null after a
/// diagnostic at `loc`.
MlirAttribute waveAttributeGet(MlirLocation loc, WaveAttrKind kind, MlirAttribute fields);
/// A DictionaryAttr of the fields that are there.
MlirAttribute waveAttributeFields(MlirAttribute attr);

bool waveTypeIsATile(MlirType type);
bool waveTypeIsAMemory(MlirType type);
MlirTypeID waveTileTypeID(void);
MlirTypeID waveMemoryTypeID(void);
/// `dims` is an ArrayAttr of strings, null for an unknown shape; `layout` may be null.
MlirType waveTileGet(MlirLocation loc, MlirAttribute dims, MlirType element, MlirAttribute layout);
/// `shape` is an ArrayAttr of expressions; `strides` one of expressions and unit attributes, or null.
MlirType waveMemoryGet(MlirLocation loc, MlirAttribute shape, MlirType element, MlirStringRef space,
                       MlirAttribute strides);
/// Null for an unknown shape.
MlirAttribute waveTileDims(MlirType type);
MlirAttribute waveTileLayout(MlirType type);
MlirType waveElementType(MlirType type);
MlirAttribute waveMemoryShape(MlirType type);
MlirStringRef waveMemorySpace(MlirType type);
/// Null when dense.
MlirAttribute waveMemoryStrides(MlirType type);
/// All strides, a unit attribute where one is known at run time only.
MlirAttribute waveMemoryElementStrides(MlirType type);
#ifdef __cplusplus
}
#endif
#endif
