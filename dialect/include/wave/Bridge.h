//===- Bridge.h - what the Python extension calls ------------------------------===//
// The extension is compiled with RTTI and exceptions, MLIR without: only this header and MLIR's C API cross over.
#ifndef WAVE_BRIDGE_H
#define WAVE_BRIDGE_H
#include "mlir-c/IR.h"
#ifdef __cplusplus
extern "C" {
#endif
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Wave, wave);

int waveOptMain(int argc, char **argv);
#ifdef __cplusplus
}
#endif
#endif
