//===- Wave.h - the wave dialect ----------------------------------------------===//
#ifndef WAVE_WAVE_H
#define WAVE_WAVE_H
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "wave/Expr.h"
#include "wave/Layout.h"

#include "wave/WaveDialect.h.inc"
#include "wave/WaveEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "wave/WaveAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "wave/WaveTypes.h.inc"
#define GET_OP_CLASSES
#include "wave/WaveOps.h.inc"
#endif
