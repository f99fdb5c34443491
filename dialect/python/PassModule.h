//===- PassModule.h ---------------------------------------------------------------===//
#ifndef WAVE_PASSMODULE_H
#define WAVE_PASSMODULE_H
#include "mlir/Bindings/Python/Nanobind.h"
/// Adds the functions behind the pass registry and wave-opt to the extension.
void populatePassModule(nanobind::module_ &m);
#endif
