//===- Dialects.h -----------------------------------------------------------------===//
#ifndef WAVE_LIB_PASS_DIALECTS_H
#define WAVE_LIB_PASS_DIALECTS_H
namespace mlir {
class DialectRegistry;
}
namespace wave {
/// The dialects that a pass written in Python may create ops of.
void insertPassDialects(mlir::DialectRegistry &registry);
} // namespace wave
#endif
