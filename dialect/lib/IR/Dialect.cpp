//===- Dialect.cpp - the wave dialect's registration ---------------------------===//
#include "wave/Wave.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
using namespace mlir;
using namespace wave;

#include "wave/WaveDialect.cpp.inc"
#include "wave/WaveEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "wave/WaveAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "wave/WaveTypes.cpp.inc"
#define GET_OP_CLASSES
#include "wave/WaveOps.cpp.inc"

void WaveDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "wave/WaveAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "wave/WaveOps.cpp.inc"
      >();
}
