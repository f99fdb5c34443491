//===- Dialect.cpp - the wave dialect's registration ---------------------------===//
#include "wave/Attrs.h"
#include "mlir/IR/DialectImplementation.h"
using namespace mlir;
using namespace wave;

#include "wave/WaveDialect.cpp.inc"

namespace {
/// Names layouts `#layout`, `#layout1`, … at the top of a module.
struct AsmInterface : public OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;
  AliasResult getAlias(Attribute attr, raw_ostream &os) const override {
    if (attr.getAbstractAttribute().getName() != "wave.layout")
      return AliasResult::NoAlias;
    os << "layout";
    return AliasResult::FinalAlias;
  }
};
} // namespace

void WaveDialect::initialize() {
  registerAttributes();
  registerTypes();
  registerComputeOps();
  registerElementwiseOps();
  registerKernelOps();
  registerMemoryOps();
  registerSyncOps();
  addInterfaces<AsmInterface>();
}
