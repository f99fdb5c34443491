//===- SyncOps.cpp - checks of barriers, waits and scheduling ---------------------===//
#include "Syntax.h"
#include "Verify.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
using namespace mlir;
using namespace wave;

#define GET_OP_CLASSES
#include "wave/WaveSyncOps.cpp.inc"

void WaveDialect::registerSyncOps() {
  addOperations<
#define GET_OP_LIST
#include "wave/WaveSyncOps.cpp.inc"
      >();
}

static LogicalResult verifyBarrierId(Operation *op, int64_t id) {
  if (id >= 0)
    return success();
  return op->emitOpError() << "names barrier " << id << "; barriers count from 0";
}
LogicalResult BarrierSignalOp::verify() { return verifyBarrierId(*this, getId()); }
LogicalResult BarrierWaitOp::verify() { return verifyBarrierId(*this, getId()); }

LogicalResult MemoryCounterWaitOp::verify() {
  bool any = false;
  for (auto [count, name] : {std::pair(getLoad(), "load"), std::pair(getStore(), "store"), std::pair(getDs(), "ds"),
                             std::pair(getExp(), "exp")}) {
    any |= count.has_value();
    if (count && (int64_t)*count < 0)
      return emitOpError() << "waits for " << name << " " << (int64_t)*count << "; a count cannot be negative";
  }
  return any ? success() : emitOpError() << "waits for nothing; give one of load, store, ds, exp";
}

LogicalResult SetWavePrioOp::verify() {
  int64_t priority = getPriority();
  if (priority >= 0 && priority <= 3)
    return success();
  return emitOpError() << "sets priority " << priority << "; priorities are 0 to 3";
}

LogicalResult SchedulingGroupBarrierOp::verify() {
  if (getInstructions().empty())
    return emitOpError() << "names no class of instructions";
  if ((int64_t)getSize() <= 0)
    return emitOpError() << "groups " << (int64_t)getSize() << " instructions; give a positive size";
  if ((int64_t)getGroup() < 0)
    return emitOpError() << "is of group " << (int64_t)getGroup() << "; groups count from 0";
  return success();
}
