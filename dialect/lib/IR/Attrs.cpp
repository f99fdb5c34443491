//===- Attrs.cpp - generated code of attributes and enums ----------------------===//
#include "wave/Attrs.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
using namespace mlir;
using namespace wave;

#include "wave/WaveEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "wave/WaveAttrs.cpp.inc"

void WaveDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "wave/WaveAttrs.cpp.inc"
      >();
}
