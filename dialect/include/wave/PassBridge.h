//===- PassBridge.h - passes whose body is elsewhere (Python) -------------------===//
// The extension is compiled with RTTI and exceptions, MLIR without: only C types cross this header.
#ifndef WAVE_PASSBRIDGE_H
#define WAVE_PASSBRIDGE_H
#include "mlir-c/Diagnostics.h"
#include "mlir-c/IR.h"
#ifdef __cplusplus
extern "C" {
#endif

/// What a registered pass calls. All of them may be called from any thread.
typedef struct WavePassHooks {
  /// The pass called `name` is about to be made: registers it again with its true anchor, where that was not known.
  void (*load)(MlirStringRef name);
  /// Makes the pass called `name` from the text between { } in a pipeline. Reports each option that is not at its
  /// default, as canonical text, to `sink(key, value, closure)`. Returns null after reporting one error with the key
  /// empty. The result is owned by the caller.
  void *(*construct)(MlirStringRef name, MlirStringRef options,
                     void (*sink)(MlirStringRef, MlirStringRef, void *), void *closure);
  /// Reports name and help of each option of the pass called `name`.
  void (*describe)(MlirStringRef name, void (*sink)(MlirStringRef, MlirStringRef, void *), void *closure);
  /// Runs the pass on `op`; false: it failed, and has said why in a diagnostic.
  bool (*run)(void *instance, MlirOperation op);
  void (*retain)(void *instance);
  void (*release)(void *instance);
  /// Does the calling thread hold the lock that `run` needs?
  bool (*holdsLock)();
} WavePassHooks;

void waveSetPassHooks(WavePassHooks hooks);
/// Registers a pass in MLIR's registry. An empty `opName` lets it run on any op. Returns false when a pass
/// that is not ours already has the name; a second registration of ours only changes description and anchor.
bool waveRegisterPass(MlirStringRef name, MlirStringRef description, MlirStringRef opName);
/// While on, passes that are made list all their options, for --help.
void waveDescribePasses(bool on);

/// Emits a diagnostic with notes.
void waveEmitDiagnostic(MlirLocation location, MlirDiagnosticSeverity severity, MlirStringRef message, intptr_t count,
                        const MlirLocation *noteLocations, const MlirStringRef *notes);
/// Is `op` `root` or an op inside it? Reads nothing of `op`, which may have been erased.
bool waveContainsOp(MlirOperation root, MlirOperation op);
#ifdef __cplusplus
}
#endif
#endif
