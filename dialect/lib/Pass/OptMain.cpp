//===- OptMain.cpp - mlir-opt's main, in process -------------------------------===//
// libMLIRPythonCAPI.so lacks MlirOptMain: it comes from the static libMLIROptLib.a.
#include "wave/Bridge.h"
#include "wave/Wave.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Signals.h"
#include <unistd.h>

// Flags that Python has taken out of the command line before: they stand here for --help.
static void declarePythonFlags() {
  namespace cl = llvm::cl;
  static cl::OptionCategory category("wave-opt options");
  static cl::opt<std::string> pipeline("pipeline", cl::desc("Run a named pipeline"), cl::value_desc("NAME{options}"),
                                       cl::cat(category));
  static cl::opt<bool> print("print-pipeline", cl::desc("Print the passes of --pipeline and stop"), cl::cat(category));
  static cl::opt<bool> list("list-pipelines", cl::desc("List the named pipelines and stop"), cl::cat(category));
  static cl::opt<bool> verify("verify-forms", cl::desc("Check the module's form after each pass of the compiler"),
                              cl::cat(category));
}

// LLVM has removed the output file when this runs, in the signal handler.
static void interrupted() {
  static const char text[] = "wave-opt: interrupted\n";
  (void)!write(2, text, sizeof(text) - 1);
  _exit(130);
}

// A pass may not load a dialect while it runs, and making an op of one that is not loaded ends the process. So the
// dialects that passes written in Python create ops of are there whenever the wave dialect is.
static void loadWhatPassesCreate(mlir::MLIRContext *context, wave::WaveDialect *) {
  for (const char *name : {"affine", "amdgpu", "arith", "cf", "func", "gpu", "index", "llvm", "math", "memref", "rocdl",
                           "scf", "ub", "vector"})
    context->getOrLoadDialect(name);
}

int waveOptMain(int argc, char **argv) {
  declarePythonFlags();
  llvm::sys::SetInterruptFunction(interrupted);
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<wave::WaveDialect>();
  registry.addExtension(loadWhatPassesCreate);
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "wave-opt\n", registry));
}
