//===- ComputeOps.cpp - checks of matrix products, reductions and shape ops -------===//
#include "Syntax.h"
#include "Verify.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
using namespace mlir;
using namespace wave;

#define GET_OP_CLASSES
#include "wave/WaveComputeOps.cpp.inc"

void WaveDialect::registerComputeOps() {
  addOperations<
#define GET_OP_LIST
#include "wave/WaveComputeOps.cpp.inc"
      >();
}

//===- register ----------------------------------------------------------------===//
ParseResult RegisterOp::parse(OpAsmParser &p, OperationState &result) {
  OpAsmParser::UnresolvedOperand operand;
  OptionalParseResult scalar = p.parseOptionalOperand(operand);
  SMLoc loc = p.getCurrentLocation();
  APFloat number(0.0);
  APInt bits;
  bool negative = false, isFloat = false, isHex = false;
  if (!scalar.has_value()) {
    negative = succeeded(p.parseOptionalMinus());
    loc = p.getCurrentLocation();
    OptionalParseResult integer = p.parseOptionalInteger(bits);
    if (!integer.has_value()) {
      double value;
      if (p.parseFloat(value))
        return failure();
      number = APFloat(value);
      isFloat = true;
    } else if (failed(*integer)) {
      return failure();
    }
    isHex = !isFloat && StringRef(loc.getPointer()).starts_with_insensitive("0x");
  } else if (failed(*scalar)) {
    return failure();
  }
  Type type;
  if (p.parseOptionalAttrDict(result.attributes) || p.parseColonType(type))
    return failure();
  result.addTypes(type);
  Type element = getElementType(type);
  if (scalar.has_value())
    return p.resolveOperand(operand, element, result.operands);
  Attribute value;
  if (auto floatType = dyn_cast<FloatType>(element)) {
    const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
    if (isHex) { // the bits, as MLIR writes numbers that have no decimal form
      if (negative || bits.getActiveBits() > floatType.getWidth())
        return p.emitError(loc) << "expected the " << floatType.getWidth() << " bits of a number of " << element;
      number = APFloat(semantics, bits.zextOrTrunc(floatType.getWidth()));
    } else {
      if (!isFloat)
        number = APFloat(APInt(bits.zext(bits.getBitWidth() + 1)).roundToDouble(/*isSigned=*/true));
      bool inexact;
      number.convert(semantics, APFloat::rmNearestTiesToEven, &inexact);
      if (negative)
        number.changeSign();
    }
    value = FloatAttr::get(element, number);
  } else if (element.isIntOrIndex()) {
    if (isFloat)
      return p.emitError(loc) << "expected an integer for elements of " << element;
    unsigned width = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
    APInt integer = bits.zext(std::max(width, bits.getBitWidth()) + 1);
    if (negative)
      integer.negate();
    if (integer.getSignificantBits() > width && integer.getActiveBits() > width)
      return p.emitError(loc) << "the number does not fit " << element;
    value = IntegerAttr::get(element, integer.trunc(width));
  } else {
    return p.emitError(loc) << "expected a type with elements, not " << type;
  }
  result.addAttribute(getValueAttrName(result.name), value);
  return success();
}

void RegisterOp::print(OpAsmPrinter &p) {
  p << ' ';
  if (getScalar())
    p << getScalar();
  else if (auto integer = dyn_cast<IntegerAttr>(getValueAttr()); integer && integer.getType().isInteger(1))
    p << integer.getValue().getZExtValue();
  else
    p.printAttributeWithoutType(getValueAttr());
  p.printOptionalAttrDict((*this)->getAttrs(), {getValueAttrName()});
  p << " : " << getResult().getType();
}

LogicalResult RegisterOp::verify() {
  if (static_cast<bool>(getValueAttr()) == static_cast<bool>(getScalar()))
    return emitOpError() << "has " << (getScalar() ? "a literal and a scalar" : "neither literal nor scalar")
                         << "; give one";
  Type element = getElementType(getResult().getType());
  Type given = getScalar() ? getScalar().getType() : cast<TypedAttr>(getValueAttr()).getType();
  if (given != element)
    return emitOpError() << "has a number of type " << given << " for elements of " << element;
  return success();
}

//===- matrix products ---------------------------------------------------------===//
static SmallVector<StringAttr> minus(ArrayRef<StringAttr> a, ArrayRef<StringAttr> b) {
  SmallVector<StringAttr> rest;
  llvm::copy_if(a, std::back_inserter(rest), [&](StringAttr d) { return !llvm::is_contained(b, d); });
  return rest;
}
static std::string list(ArrayRef<StringAttr> dims) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(dims, os, [&](StringAttr d) { os << d.getValue(); });
  return "[" + text + "]";
}

// The dims of lhs[M…, K…] * rhs[N…, K…] + acc[M…, N…] with batch dims in all three.
static LogicalResult verifyProduct(Operation *op, Type lhs, Type rhs, Type acc) {
  auto a = dyn_cast<TileType>(lhs), b = dyn_cast<TileType>(rhs), c = dyn_cast<TileType>(acc);
  if (!a != !b || !a != !c)
    return op->emitOpError() << "mixes tiles and vectors; operands are all tiles or all vectors";
  if (!a || !a.getKnown() || !b.getKnown() || !c.getKnown())
    return success();
  SmallVector<StringAttr> m = minus(a.getDims(), b.getDims()), n = minus(b.getDims(), a.getDims());
  SmallVector<StringAttr> common = minus(a.getDims(), m), k = minus(common, c.getDims());
  for (auto [dims, side] : {std::pair(m, "lhs"), std::pair(n, "rhs")})
    if (SmallVector<StringAttr> lost = minus(dims, c.getDims()); !lost.empty())
      return op->emitOpError() << "has dim " << lost.front().getValue() << " in " << side
                               << " only; it is in the other operand too (then it is contracted) or in the accumulator "
                               << list(c.getDims());
  for (StringAttr d : c.getDims())
    if (!a.hasDim(d) && !b.hasDim(d))
      return op->emitOpError() << "has dim " << d.getValue() << " in the accumulator but in neither operand";
  if (k.empty())
    return op->emitOpError() << "contracts no dim: lhs " << list(a.getDims()) << " and rhs " << list(b.getDims())
                             << " share none that the accumulator " << list(c.getDims()) << " has not";
  return success();
}

LogicalResult MmaOp::verify() {
  Type a = getElementType(getLhs().getType()), b = getElementType(getRhs().getType());
  Type c = getElementType(getAcc().getType());
  auto isF8 = [](Type t) { return isa<FloatType>(t) && t.getIntOrFloatBitWidth() == 8; };
  if (a != b && !(isF8(a) && isF8(b)))
    return emitOpError() << "multiplies elements of " << a << " and " << b << "; insert wave.cast";
  if (a.isIntOrIndex() != c.isIntOrIndex())
    return emitOpError() << "multiplies elements of " << a << " but accumulates in " << c
                         << "; integers accumulate in integers, floats in floats";
  return failure(failed(verifyProduct(*this, getLhs().getType(), getRhs().getType(), getAcc().getType())) ||
                 failed(verifySymbols(*this, getSymbolNamesAttr(), getSymbolValues())));
}
void MmaOp::getEffects(Effects &effects) { addSymbolEffects(*this, effects); }

LogicalResult ScaledMmaOp::verify() {
  for (auto [value, name] : {std::pair(getLhsScale(), "lhs"), std::pair(getRhsScale(), "rhs")})
    if (Type e = getElementType(value.getType()); !isa<Float8E8M0FNUType>(e) && !e.isInteger(8))
      return emitOpError() << "has scales of " << name << " of type " << e << "; scales are f8E8M0FNU (or its bits, i8)";
  for (auto [value, name] : {std::pair(getLhs(), "lhs"), std::pair(getRhs(), "rhs")})
    if (Type e = getElementType(value.getType()); !isa<FloatType>(e) || e.getIntOrFloatBitWidth() > 8)
      return emitOpError() << "has " << name << " of " << e << "; operands are f8, f6 or f4";
  if (!isa<FloatType>(getElementType(getAcc().getType())))
    return emitOpError() << "accumulates in " << getElementType(getAcc().getType()) << "; it accumulates in floats";
  return failure(failed(verifyProduct(*this, getLhs().getType(), getRhs().getType(), getAcc().getType())) ||
                 failed(verifySymbols(*this, getSymbolNamesAttr(), getSymbolValues())));
}
void ScaledMmaOp::getEffects(Effects &effects) { addSymbolEffects(*this, effects); }

//===- reductions and scans ----------------------------------------------------===//
static LogicalResult verifyAlong(Operation *op, StringRef dim, Type type) {
  if (!isUserSymbol(dim))
    return op->emitOpError() << "is along '" << dim << "', which is no symbol";
  auto tile = dyn_cast<TileType>(type);
  if (tile && tile.getKnown() && !tile.hasDim(dim))
    return op->emitOpError() << "is along " << dim << ", which is no dim of " << tile;
  return success();
}

LogicalResult ReduceOp::verify() {
  if (getSources().empty())
    return emitOpError() << "has no source";
  Type source = getSources().front().getType(), result = getResult().getType();
  if (!llvm::all_equal(getSources().getTypes()))
    return emitOpError() << "has sources of different types";
  if (getElementType(source) != getElementType(result))
    return emitOpError() << "reduces elements of " << getElementType(source) << " to " << getElementType(result)
                         << "; insert wave.cast";
  if (failed(verifyAlong(*this, getDim(), source)))
    return failure();
  auto from = dyn_cast<TileType>(source), to = dyn_cast<TileType>(result);
  if (from && getSources().size() > 1)
    return emitOpError() << "has several tiles as sources; several are for vectors of lane form";
  if (from && to && from.getKnown() && to.getKnown() &&
      to.getDims() != ArrayRef<StringAttr>(minus(from.getDims(), {getDimAttr()})))
    return emitOpError() << "has a result with dims " << list(to.getDims()) << "; " << list(from.getDims())
                         << " without " << getDim() << " is "
                         << list(minus(from.getDims(), {getDimAttr()}));
  return verifySymbols(*this, getSymbolNamesAttr(), getSymbolValues());
}
void ReduceOp::getEffects(Effects &effects) { addSymbolEffects(*this, effects); }

LogicalResult CumsumOp::verify() {
  return failure(failed(verifyAlong(*this, getDim(), getSource().getType())) ||
                 failed(verifySymbols(*this, getSymbolNamesAttr(), getSymbolValues())));
}
void CumsumOp::getEffects(Effects &effects) { addSymbolEffects(*this, effects); }

LogicalResult TopkOp::verify() {
  if ((int64_t)getK() <= 0)
    return emitOpError() << "selects " << (int64_t)getK() << " elements; k is positive";
  if (getElementType(getValues().getType()) != getElementType(getSource().getType()))
    return emitOpError() << "selects elements of " << getElementType(getSource().getType()) << " as "
                         << getElementType(getValues().getType());
  if (!haveSameShape(getValues().getType(), getPositions().getType()))
    return emitOpError() << "has values of type " << getValues().getType() << " but positions of type "
                         << getPositions().getType() << "; they have one shape";
  return failure(failed(verifyAlong(*this, getDim(), getSource().getType())) ||
                 failed(verifySymbols(*this, getSymbolNamesAttr(), getSymbolValues())));
}
void TopkOp::getEffects(Effects &effects) { addSymbolEffects(*this, effects); }
