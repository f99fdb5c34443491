//===- Wave.h - the wave dialect ----------------------------------------------===//
#ifndef WAVE_WAVE_H
#define WAVE_WAVE_H
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "wave/Attrs.h"

#define GET_OP_CLASSES
#include "wave/WaveComputeOps.h.inc"
#define GET_OP_CLASSES
#include "wave/WaveElementwiseOps.h.inc"
#define GET_OP_CLASSES
#include "wave/WaveKernelOps.h.inc"
#define GET_OP_CLASSES
#include "wave/WaveMemoryOps.h.inc"
#define GET_OP_CLASSES
#include "wave/WaveSyncOps.h.inc"
#endif
