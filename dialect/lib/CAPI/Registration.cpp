//===- Registration.cpp - the dialect's C API handle ----------------------------===//
#include "wave/Bridge.h"
#include "wave/Wave.h"
#include "mlir/CAPI/Registration.h"
MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Wave, wave, ::wave::WaveDialect)
