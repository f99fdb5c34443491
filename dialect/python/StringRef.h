//===- StringRef.h - strings for MLIR's C API --------------------------------------===//
#ifndef WAVE_PYTHON_STRINGREF_H
#define WAVE_PYTHON_STRINGREF_H
#include "mlir-c/Support.h"
#include <string>

namespace wave {
/// The text of `s`, which must outlive the reference.
inline MlirStringRef stringRef(const std::string &s) { return mlirStringRefCreate(s.data(), s.size()); }
} // namespace wave
#endif
