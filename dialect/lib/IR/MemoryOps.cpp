//===- MemoryOps.cpp - checks and effects of memory access ------------------------===//
#include "Syntax.h"
#include "Verify.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
using namespace mlir;
using namespace wave;

#define GET_OP_CLASSES
#include "wave/WaveMemoryOps.cpp.inc"

void WaveDialect::registerMemoryOps() {
  addOperations<
#define GET_OP_LIST
#include "wave/WaveMemoryOps.cpp.inc"
      >();
}

static LogicalResult verifyElements(Operation *op, Type value, MemoryType memory) {
  Type element = getElementType(value);
  if (element == memory.getElementType())
    return success();
  return op->emitOpError() << "moves elements of type " << element << " but the memory has "
                           << memory.getElementType() << "; insert wave.cast";
}

// What reads, writes and atomics have in common.
template <typename Op>
static LogicalResult verifyAccess(Op op, Type value) {
  MemoryType memory = op.getMemory().getType();
  if (failed(verifyElements(op, value, memory)) || failed(verifyIndex(op, memory, op.getIndexAttr())) ||
      failed(verifySymbols(op, op.getSymbolNamesAttr(), op.getSymbolValues())))
    return failure();
  if (auto n = op.getElementsPerThread(); n && (int64_t)*n <= 0)
    return op.emitOpError() << "has elements_per_thread " << (int64_t)*n << "; it is positive";
  return success();
}

static LogicalResult verifyMapping(Operation *op, MappingAttr mapping, bool indexed, MemoryType memory, Type value,
                                   ValueRange dynamic) {
  size_t positions = mapping ? mapping.getDynamic().size() : 0;
  if (positions != dynamic.size())
    return op->emitOpError() << "has " << dynamic.size() << " dynamic values, its mapping has positions for "
                             << positions;
  if (!mapping)
    return success();
  if (indexed)
    return op->emitOpError() << "has both an index and a mapping; an index has all of a mapping in it";
  if ((int64_t)mapping.getMemory().size() != memory.getRank())
    return op->emitOpError() << "has a mapping to " << mapping.getMemory().size() << " coordinates of a memory of "
                             << memory.getRank() << " dims; give one for each dim";
  auto tile = dyn_cast<TileType>(value);
  if (!tile)
    return op->emitOpError() << "has a mapping but its value is no tile";
  if (tile.getKnown()) {
    for (StringAttr dim : tile.getDims())
      if (!llvm::is_contained(mapping.getDims(), dim))
        return op->emitOpError() << "has no iterator in its mapping for dim " << dim.getValue() << " of " << tile;
    for (StringAttr dim : mapping.getDims())
      if (!tile.hasDim(dim.getValue()))
        return op->emitOpError() << "has an iterator for " << dim.getValue() << ", which is no dim of " << tile;
  }
  for (auto [i, pair] : llvm::enumerate(llvm::zip(mapping.getDynamic(), dynamic))) {
    auto source = dyn_cast<TileType>(std::get<1>(pair).getType());
    if (!source || !source.getKnown())
      continue;
    for (StringAttr dim : source.getDims())
      if (!std::get<0>(pair).contains(dim))
        return op->emitOpError() << "has no position for dim " << dim.getValue() << " of dynamic value d" << i;
  }
  return success();
}

template <typename Op>
static void addAccessEffects(Op op, Effects &effects, bool reads, bool writes) {
  OpOperand *memory = &op.getMemoryMutable();
  if (reads)
    effects.emplace_back(MemoryEffects::Read::get(), memory);
  if (writes)
    effects.emplace_back(MemoryEffects::Write::get(), memory);
  addSymbolEffects(op, effects);
}

//===- read and write ----------------------------------------------------------===//
LogicalResult ReadOp::verify() {
  return failure(failed(verifyAccess(*this, getResult().getType())) ||
                 failed(verifyMapping(*this, getMappingAttr(), !!getIndexAttr(), getMemory().getType(),
                                      getResult().getType(), getDynamicValues())));
}
// A volatile read is never removed or moved.
void ReadOp::getEffects(Effects &effects) { addAccessEffects(*this, effects, true, getIsVolatile()); }

LogicalResult WriteOp::verify() {
  return failure(failed(verifyAccess(*this, getValue().getType())) ||
                 failed(verifyMapping(*this, getMappingAttr(), !!getIndexAttr(), getMemory().getType(),
                                      getValue().getType(), getDynamicValues())));
}
void WriteOp::getEffects(Effects &effects) { addAccessEffects(*this, effects, false, true); }

//===- other accesses ----------------------------------------------------------===//
LogicalResult AtomicOp::verify() {
  Type element = getElementType(getValue().getType());
  bool bits = getKind() == AtomicKind::And || getKind() == AtomicKind::Or || getKind() == AtomicKind::Xor;
  if (bits && !element.isIntOrIndex())
    return emitOpError() << "does '" << stringifyAtomicKind(getKind()) << "' on " << element
                         << "; bitwise updates want integers";
  if (getResult() && getResult().getType() != getValue().getType())
    return emitOpError() << "has a result of type " << getResult().getType() << ", its value is of "
                         << getValue().getType();
  return failure(failed(verifyAccess(*this, getValue().getType())) ||
                 failed(verifyMapping(*this, getMappingAttr(), !!getIndexAttr(), getMemory().getType(),
                                      getValue().getType(), getDynamicValues())));
}
void AtomicOp::getEffects(Effects &effects) { addAccessEffects(*this, effects, true, true); }

LogicalResult ScatterAddOp::verify() {
  if (!haveSameShape(getValue().getType(), getPositions().getType()))
    return emitOpError() << "has values of type " << getValue().getType() << " but positions of type "
                         << getPositions().getType() << "; give a position for each value";
  auto tile = dyn_cast<TileType>(getValue().getType());
  if (tile && tile.getKnown() && !tile.hasDim(getDim()))
    return emitOpError() << "is along " << getDim() << ", which is no dim of " << tile;
  return failure(failed(verifyAccess(*this, getValue().getType())) ||
                 failed(verifyMapping(*this, getMappingAttr(), !!getIndexAttr(), getMemory().getType(),
                                      getValue().getType(), {})));
}
void ScatterAddOp::getEffects(Effects &effects) { addAccessEffects(*this, effects, true, true); }

LogicalResult BoundsCheckOp::verify() {
  return failure(failed(verifyIndex(*this, getMemory().getType(), getIndexAttr())) ||
                 failed(verifySymbols(*this, getSymbolNamesAttr(), getSymbolValues())));
}
void BoundsCheckOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Write::get());
  addSymbolEffects(*this, effects);
}

LogicalResult AllocateOp::verify() {
  MemoryType memory = getMemory().getType();
  if (memory.getSpace() == AddressSpace::Global)
    return emitOpError() << "allocates in global space; a workgroup has shared and register memory of its own";
  if (auto offset = getOffset(); offset && (int64_t)*offset < 0)
    return emitOpError() << "has byte offset " << (int64_t)*offset << "; it cannot be negative";
  if (auto shape = getDistributedAttr(); shape && (int64_t)shape.size() != memory.getRank())
    return emitOpError() << "has a distributed shape of " << shape.size() << " dims for a memory of "
                         << memory.getRank();
  return success();
}

//===- buffer access -----------------------------------------------------------===//
template <typename Op>
static LogicalResult verifyBuffer(Op op, Type value) {
  MemoryType memory = op.getMemory().getType();
  if (memory.getSpace() != AddressSpace::Global)
    return op.emitOpError() << "is of a memory in " << stringifyAddressSpace(memory.getSpace())
                            << " space; descriptors are for global memory";
  if (failed(verifyElements(op, value, memory)))
    return failure();
  return failure(failed(verifyUniform(op, "base", op.getBaseAttr())) ||
                 failed(verifySymbols(op, op.getSymbolNamesAttr(), op.getSymbolValues())));
}

LogicalResult BufferLoadOp::verify() { return verifyBuffer(*this, getResult().getType()); }
void BufferLoadOp::getEffects(Effects &effects) { addAccessEffects(*this, effects, true, getIsVolatile()); }
LogicalResult BufferStoreOp::verify() { return verifyBuffer(*this, getValue().getType()); }
void BufferStoreOp::getEffects(Effects &effects) { addAccessEffects(*this, effects, false, true); }

LogicalResult GatherToSharedOp::verify() {
  MemoryType source = getSource().getType(), target = getTarget().getType();
  if (target.getSpace() != AddressSpace::Shared)
    return emitOpError() << "copies to " << stringifyAddressSpace(target.getSpace()) << " space; the target is shared";
  if (source.getSpace() == AddressSpace::Register)
    return emitOpError() << "copies from register space; the source is global";
  if (source.getElementType() != target.getElementType())
    return emitOpError() << "copies elements of " << source.getElementType() << " to a memory of "
                         << target.getElementType();
  if ((int64_t)getElements() <= 0)
    return emitOpError() << "copies " << (int64_t)getElements() << " elements a lane; it is a positive number";
  return failure(failed(verifyIndex(*this, source, getSourceIndexAttr(), "source index")) ||
                 failed(verifyIndex(*this, target, getTargetIndexAttr(), "target index")) ||
                 failed(verifySymbols(*this, getSymbolNamesAttr(), getSymbolValues())));
}
void GatherToSharedOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getSourceMutable());
  effects.emplace_back(MemoryEffects::Write::get(), &getTargetMutable());
  addSymbolEffects(*this, effects);
}

//===- canonicalisation --------------------------------------------------------===//
namespace {
/// A mask that is true everywhere masks nothing.
template <typename Op>
struct DropTrueMask : public OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Value mask = op.getMask();
    auto producer = mask ? mask.getDefiningOp<MaskOp>() : MaskOp();
    if (!producer || producer.getExpr().getKind() != ExprKind::Constant || producer.getExpr().getValue() != 1)
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.getMaskMutable().clear(); });
    return success();
  }
};
} // namespace

void ReadOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropTrueMask<ReadOp>>(context);
}
void WriteOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropTrueMask<WriteOp>>(context);
}
