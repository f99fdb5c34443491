//===- KernelOps.cpp - checks of kernels, regions and symbols ---------------------===//
#include "Syntax.h"
#include "Verify.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
using namespace mlir;
using namespace wave;

#define GET_OP_CLASSES
#include "wave/WaveKernelOps.cpp.inc"

void WaveDialect::registerKernelOps() {
  addOperations<
#define GET_OP_LIST
#include "wave/WaveKernelOps.cpp.inc"
      >();
}

//===- kernel ------------------------------------------------------------------===//
void KernelOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  for (auto [argument, name] : llvm::zip(region.getArguments(), getArgNames()))
    setName(argument, cast<StringAttr>(name).getValue());
}

static bool isConstraint(Attribute a) {
  return isa<WorkgroupConstraintAttr, TilingConstraintAttr, WaveConstraintAttr, HardwareConstraintAttr,
             ReorderingConstraintAttr, GridConstraintAttr, DeviceConstraintAttr, AssumeConstraintAttr>(a);
}

LogicalResult KernelOp::verify() {
  for (NamedAttribute entry : getSymbols()) {
    StringRef name = entry.getName();
    if (!isUserSymbol(name))
      return emitOpError() << "binds '" << name << "', which is no symbol: an identifier without a dot that is no word "
                           << "of the expression syntax";
    auto value = dyn_cast<ExprAttr>(entry.getValue());
    if (!value)
      return emitOpError() << "binds " << name << " to " << entry.getValue() << ", which is no expression";
    LogicalResult known = success();
    walkSymbols(value, [&](StringRef used) {
      if (succeeded(known) && !isUserSymbol(used))
        known = emitOpError() << "binds " << name << " to an expression with '" << used
                              << "'; the value of a symbol depends on other symbols only";
    });
    if (failed(known))
      return failure();
  }
  for (auto [i, attr] : llvm::enumerate(getDynamic())) {
    StringRef name = cast<StringAttr>(attr).getValue();
    if (!isUserSymbol(name))
      return emitOpError() << "has '" << name << "' as a dynamic symbol, which is no symbol";
    if (getSymbols().contains(name))
      return emitOpError() << "has symbol " << name << " both bound and dynamic; drop one";
    if (llvm::is_contained(getDynamic().getValue().take_front(i), attr))
      return emitOpError() << "lists dynamic symbol " << name << " twice";
  }
  for (Attribute constraint : getConstraints())
    if (!isConstraint(constraint))
      return emitOpError() << "has " << constraint << " as a constraint; constraints are workgroup, tiling, wave, "
                           << "hardware, reordering, grid, device and assume";
  return success();
}

LogicalResult KernelOp::verifyRegions() {
  Block &body = getBody().front();
  if (getArgNames().size() != body.getNumArguments())
    return emitOpError() << "has " << body.getNumArguments() << " arguments but " << getArgNames().size() << " names";
  for (auto [i, attr] : llvm::enumerate(getArgNames())) {
    StringRef name = cast<StringAttr>(attr).getValue();
    if (name.empty())
      return emitOpError() << "has no name for argument " << i;
    if (llvm::is_contained(getArgNames().getValue().take_front(i), attr))
      return emitOpError() << "has two arguments called " << name;
    Type type = body.getArgument(i).getType();
    if (!isa<MemoryType>(type) && !(type.isIntOrFloat() && isElementType(type)))
      return emitOpError() << "has argument " << name << " of type " << type << "; arguments are memories and scalars";
    auto memory = dyn_cast<MemoryType>(type);
    if (memory && memory.getSpace() == AddressSpace::Register)
      return emitOpError() << "has argument " << name << " in register space; use global or shared";
  }
  return success();
}

//===- iterate -----------------------------------------------------------------===//
BlockArgument IterateOp::getInductionVar() {
  return getHasIv() ? getBody().getArgument(0) : BlockArgument();
}
Block::BlockArgListType IterateOp::getCarried() { return getBody().getArguments().drop_front(getHasIv() ? 1 : 0); }
YieldOp IterateOp::getYield() { return cast<YieldOp>(getBody().front().getTerminator()); }
SmallVector<Region *> IterateOp::getLoopRegions() { return {&getBody()}; }

void IterateOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  if (getHasIv() && region.getNumArguments())
    setName(region.getArgument(0), "iv");
}

LogicalResult IterateOp::verify() {
  if (!isUserSymbol(getAxis()))
    return emitOpError() << "walks '" << getAxis() << "', which is no symbol";
  if (static_cast<bool>(getStart()) != static_cast<bool>(getConditionAttr()))
    return emitOpError() << "has " << (getStart() ? "a start without a condition" : "a condition without a start")
                         << "; a while loop has both, a loop over tiles neither";
  if (getStart() && getTripsAttr())
    return emitOpError() << "has a trip count and a condition; a while loop has no trip count";
  if (getHasIv() && !getStart() && !getTripsAttr())
    return emitOpError() << "has an induction variable but no trip count; give 'trips(…)'";
  if (getTripsAttr() && !getHasIv())
    return emitOpError() << "has a trip count but no induction variable; give 'iv(…)'";
  if (getConditionAttr() && !isPredicate(getConditionAttr()))
    return emitOpError() << "has a condition that is no predicate; compare with eq ne lt le gt ge";
  if (auto step = getStepAttr(); step && step.getKind() == ExprKind::Constant && step.getValue() <= 0)
    return emitOpError() << "has step " << step.getValue() << "; a step is positive";
  if (failed(verifyUniform(*this, "trip count", getTripsAttr())) || failed(verifyUniform(*this, "step", getStepAttr())) ||
      failed(verifyUniform(*this, "condition", getConditionAttr())))
    return failure();
  if (getInitArgs().getTypes() != getResultTypes())
    return emitOpError() << "has results of other types than its initial values";
  return verifySymbols(*this, getSymbolNamesAttr(), getSymbolValues());
}

LogicalResult IterateOp::verifyRegions() {
  unsigned ivs = getHasIv() ? 1 : 0;
  if (getBody().getNumArguments() != ivs + getInitArgs().size())
    return emitOpError() << "has " << getBody().getNumArguments() << " region arguments for " << getInitArgs().size()
                         << " initial values" << (ivs ? " and an induction variable" : "");
  if (ivs && !getInductionVar().getType().isIndex())
    return emitOpError() << "has an induction variable of type " << getInductionVar().getType() << ", not index";
  for (auto [i, argument] : llvm::enumerate(getCarried()))
    if (argument.getType() != getInitArgs()[i].getType())
      return emitOpError() << "carries value " << i << " of type " << argument.getType() << " but starts with "
                           << getInitArgs()[i].getType();
  auto yield = cast<YieldOp>(getBody().front().getTerminator());
  SmallVector<Type> expected;
  if (isWhile() && getHasIv())
    expected.push_back(IndexType::get(getContext()));
  llvm::append_range(expected, getResultTypes());
  if (yield.getNumOperands() != expected.size())
    return yield.emitOpError() << "gives " << yield.getNumOperands() << " values, the loop wants " << expected.size()
                               << (isWhile() && getHasIv() ? " (the next value of its axis first)" : "");
  for (auto [i, type] : llvm::enumerate(expected))
    if (yield.getOperand(i).getType() != type)
      return yield.emitOpError() << "gives " << yield.getOperand(i).getType() << " as value " << i
                                 << ", the loop carries " << type;
  return success();
}

//===- conditional -------------------------------------------------------------===//
LogicalResult ConditionalOp::verify() {
  if (static_cast<bool>(getConditionAttr()) == static_cast<bool>(getConditionValue()))
    return emitOpError() << "has " << (getConditionValue() ? "two conditions" : "no condition")
                         << "; give an expression in brackets or a value";
  if (failed(verifyUniform(*this, "condition", getConditionAttr())))
    return failure();
  if (getConditionValue())
    if (auto vector = dyn_cast<VectorType>(getConditionValue().getType()); vector && vector.getNumElements() != 1)
      return emitOpError() << "has a condition of " << vector.getNumElements() << " elements; a condition has one";
  if (!getElseValues().empty() && !getElseRegion().empty())
    return emitOpError() << "has both an else region and values after 'otherwise'; keep one";
  if (!getElseValues().empty() && getElseValues().getTypes() != getResultTypes())
    return emitOpError() << "has results of other types than the values after 'otherwise'";
  if (getNumResults() && getElseValues().empty() && getElseRegion().empty())
    return emitOpError() << "has results but neither an else region nor values after 'otherwise'";
  return verifySymbols(*this, getSymbolNamesAttr(), getSymbolValues());
}

LogicalResult ConditionalOp::verifyRegions() {
  for (Region *region : getRegions()) {
    if (region->empty())
      continue;
    if (region->getNumArguments())
      return emitOpError() << "has a region with arguments";
    auto yield = cast<YieldOp>(region->front().getTerminator());
    if (yield.getOperandTypes() != getResultTypes())
      return yield.emitOpError() << "gives (" << yield.getOperandTypes() << "), the conditional has results ("
                                 << getResultTypes() << ")";
  }
  return success();
}

//===- symbols -----------------------------------------------------------------===//
LogicalResult SetSymbolOp::verify() {
  if (!isUserSymbol(getSymbol()))
    return emitOpError() << "sets '" << getSymbol() << "', which is no symbol";
  if (auto vector = dyn_cast<VectorType>(getValue().getType()); vector && vector.getNumElements() != 1)
    return emitOpError() << "sets a symbol to " << vector.getNumElements() << " elements; a lane has one";
  return success();
}

LogicalResult ApplyExprOp::verify() {
  Type element = getElementType(getResult().getType());
  if (isPredicate(getExpr()) ? !element.isIntOrIndex() : !(element.isIntOrIndex() && !element.isInteger(1)))
    return emitOpError() << "has elements of type " << element
                         << "; index arithmetic gives index or integers, i1 for a predicate only";
  return verifySymbols(*this, getSymbolNamesAttr(), getSymbolValues());
}
void ApplyExprOp::getEffects(Effects &effects) { addSymbolEffects(*this, effects); }

LogicalResult ScalarOp::verify() {
  if (auto tile = dyn_cast<TileType>(getResult().getType()); tile && (!tile.getKnown() || tile.getRank()))
    return emitOpError() << "has a result of type " << tile << "; a scalar is a tile without dims or an element";
  return verifySymbols(*this, getSymbolNamesAttr(), getSymbolValues());
}
void ScalarOp::getEffects(Effects &effects) { addSymbolEffects(*this, effects); }

LogicalResult MaskOp::verify() {
  if (!getElementType(getResult().getType()).isInteger(1))
    return emitOpError() << "has a result of type " << getResult().getType() << "; a mask has elements of i1";
  if (!isPredicate(getExpr()))
    return emitOpError() << "has an expression that is no predicate; compare with eq ne lt le gt ge";
  return verifySymbols(*this, getSymbolNamesAttr(), getSymbolValues());
}
void MaskOp::getEffects(Effects &effects) { addSymbolEffects(*this, effects); }

LogicalResult SelfIndexOp::verify() {
  if (!isUserSymbol(getDim()))
    return emitOpError() << "is along '" << getDim() << "', which is no symbol";
  auto tile = dyn_cast<TileType>(getResult().getType());
  if (tile && tile.getKnown() && !tile.hasDim(getDim()))
    return emitOpError() << "is along " << getDim() << ", which is no dim of " << tile;
  if (auto n = getElementsPerThread(); n && (int64_t)*n <= 0)
    return emitOpError() << "has elements_per_thread " << (int64_t)*n << "; it is positive";
  return verifySymbols(*this, getSymbolNamesAttr(), getSymbolValues());
}
void SelfIndexOp::getEffects(Effects &effects) { addSymbolEffects(*this, effects); }
