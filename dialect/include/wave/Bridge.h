//===- Bridge.h - what the Python extension calls ------------------------------===//
// The extension is compiled with RTTI and exceptions, MLIR without: only this header and MLIR's C API cross over.
#ifndef WAVE_BRIDGE_H
#define WAVE_BRIDGE_H
#include "mlir-c/IR.h"
#ifdef __cplusplus
extern "C" {
#endif
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Wave, wave);

/// Returns false on failure. `options` is the text between { } in the pipeline.
typedef bool (*WavePassRunFn)(MlirOperation op, MlirStringRef options, void *userData);
void waveRegisterCallbackPass(MlirStringRef argument, MlirStringRef description, MlirStringRef opName,
                              WavePassRunFn run, void *userData);
int waveOptMain(int argc, char **argv);
#ifdef __cplusplus
}
#endif
#endif
