//===- OptMain.cpp - mlir-opt's main, in process -------------------------------===//
// libMLIRPythonCAPI.so lacks MlirOptMain: it comes from the static libMLIROptLib.a.
#include "wave/Bridge.h"
#include "wave/Wave.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int waveOptMain(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<wave::WaveDialect>();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "wave-opt\n", registry));
}
