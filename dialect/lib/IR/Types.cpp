//===- Types.cpp - tiles and memories ------------------------------------------===//
#include "Syntax.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/TypeSwitch.h"
using namespace mlir;
using namespace wave;

#define GET_TYPEDEF_CLASSES
#include "wave/WaveTypes.cpp.inc"

void WaveDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "wave/WaveTypes.cpp.inc"
      >();
}

Type wave::getElementType(Type type) {
  return TypeSwitch<Type, Type>(type)
      .Case<TileType, MemoryType, VectorType>([](auto t) { return t.getElementType(); })
      .Default(type);
}

Type wave::withElementType(Type type, Type element) {
  return TypeSwitch<Type, Type>(type)
      .Case<TileType>([&](TileType t) {
        return TileType::get(t.getContext(), t.getKnown(), t.getDims(), element, t.getLayout());
      })
      .Case<VectorType>([&](VectorType t) { return t.clone(element); })
      .Default(element);
}

Type wave::getMaskType(Type type) { return withElementType(type, IntegerType::get(type.getContext(), 1)); }

bool wave::isElementType(Type type) {
  if (auto i = dyn_cast<IntegerType>(type))
    return i.isSignless();
  return type.isIndex() || isa<FloatType>(type);
}

static LogicalResult verifyElement(function_ref<InFlightDiagnostic()> emitError, Type element) {
  if (isElementType(element))
    return success();
  return emitError() << "an element is a signless integer, index or a float, not " << element;
}

//===- tile --------------------------------------------------------------------===//
TileType TileType::getUnknown(Type elementType) {
  return get(elementType.getContext(), false, {}, elementType, Attribute());
}

bool TileType::hasDim(StringRef dim) const {
  return llvm::any_of(getDims(), [&](StringAttr d) { return d.getValue() == dim; });
}

// The layout is one of the tile's own dims, in any order.
static LogicalResult verifyTileLayout(function_ref<InFlightDiagnostic()> emitError, ArrayRef<StringAttr> dims,
                                      Attribute layout) {
  if (!layout)
    return success();
  auto attr = dyn_cast<LayoutAttr>(layout);
  if (!attr)
    return emitError() << "the layout of a tile is a #wave.layout, not " << layout;
  const LayoutMap &map = attr.getMap();
  if (map.dims.size() == dims.size() &&
      llvm::all_of(dims, [&](StringAttr d) { return llvm::is_contained(map.dims, d.getValue()); }))
    return success();
  auto diag = emitError() << "the layout has dims [";
  llvm::interleaveComma(map.dims, diag, [&](const std::string &d) { diag << d; });
  diag << "] for a tile with dims [";
  llvm::interleaveComma(dims, diag, [&](StringAttr d) { diag << d.getValue(); });
  return diag << "]";
}

LogicalResult TileType::verify(function_ref<InFlightDiagnostic()> emitError, bool known, ArrayRef<StringAttr> dims,
                               Type elementType, Attribute layout) {
  for (auto [i, dim] : llvm::enumerate(dims)) {
    if (!isUserSymbol(dim.getValue()))
      return emitError() << "the dim of a tile is a symbol, not '" << dim.getValue() << "'";
    if (llvm::is_contained(dims.take_front(i), dim))
      return emitError() << "dim " << dim.getValue() << " of a tile is there twice; the dims of a tile are distinct";
  }
  if (!known && (!dims.empty() || layout))
    return emitError() << "a tile of unknown shape has neither dims nor layout";
  if (failed(verifyTileLayout(emitError, dims, layout)))
    return failure();
  return verifyElement(emitError, elementType);
}

Type TileType::parse(AsmParser &p) {
  SMLoc loc = p.getCurrentLocation();
  bool known = true;
  SmallVector<StringAttr> dims;
  Type element;
  Attribute layout;
  if (p.parseLess())
    return {};
  if (succeeded(p.parseOptionalStar()))
    known = false;
  else if (parseWords(p, dims))
    return {};
  if (p.parseComma() || p.parseType(element))
    return {};
  if (succeeded(p.parseOptionalComma()) && p.parseAttribute(layout))
    return {};
  if (p.parseGreater())
    return {};
  return p.getChecked<TileType>(loc, p.getContext(), known, ArrayRef<StringAttr>(dims), element, layout);
}

void TileType::print(AsmPrinter &p) const {
  p << '<';
  if (!getKnown()) {
    p << '*';
  } else {
    p << '[';
    llvm::interleaveComma(getDims(), p, [&](StringAttr d) { p << d.getValue(); });
    p << ']';
  }
  p << ", " << getElementType();
  if (getLayout())
    p << ", " << getLayout();
  p << '>';
}

//===- memory ------------------------------------------------------------------===//
LogicalResult MemoryType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<ExprAttr> shape,
                                 Type elementType, AddressSpace, ArrayRef<Attribute> strides) {
  for (ExprAttr dim : shape)
    if (dim.getKind() == ExprKind::Constant && dim.getValue() < 0)
      return emitError() << "the extent of a memory's dim cannot be " << dim.getValue();
  if (!strides.empty() && strides.size() != shape.size())
    return emitError() << "a memory of " << shape.size() << " dims has " << shape.size() << " strides, not "
                       << strides.size();
  for (Attribute stride : strides)
    if (stride && !isa<ExprAttr, UnitAttr>(stride))
      return emitError() << "a stride is an expression or unknown ('?'), not " << stride;
  return verifyElement(emitError, elementType);
}

SmallVector<ExprAttr> MemoryType::getElementStrides() const {
  SmallVector<ExprAttr> strides;
  if (isStrided()) {
    for (Attribute stride : getStrides())
      strides.push_back(dyn_cast<ExprAttr>(stride));
    return strides;
  }
  ExprAttr product = getConstantExpr(getContext(), 1);
  for (ExprAttr extent : llvm::reverse(getShape())) {
    strides.push_back(product);
    product = getExpr(ExprKind::Mul, {product, extent});
  }
  std::reverse(strides.begin(), strides.end());
  return strides;
}

// A stride known at run time only is a unit attribute in storage.
static ParseResult parseStrides(AsmParser &p, SmallVectorImpl<Attribute> &strides) {
  return p.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    if (succeeded(p.parseOptionalQuestion())) {
      strides.push_back(UnitAttr::get(p.getContext()));
      return success();
    }
    ExprAttr stride;
    if (parseExpr(p, stride))
      return failure();
    strides.push_back(stride);
    return success();
  });
}

Type MemoryType::parse(AsmParser &p) {
  SMLoc loc = p.getCurrentLocation();
  SmallVector<ExprAttr> shape;
  SmallVector<Attribute> strides;
  Type element;
  StringRef word;
  SMLoc spaceLoc;
  if (p.parseLess() || parseExprs(p, shape) || p.parseComma() || p.parseType(element) || p.parseComma() ||
      p.getCurrentLocation(&spaceLoc) || p.parseKeyword(&word))
    return {};
  std::optional<AddressSpace> space = symbolizeAddressSpace(word);
  if (!space) {
    p.emitError(spaceLoc) << "'" << word << "' is no address space; there are global, shared and register";
    return {};
  }
  if (succeeded(p.parseOptionalComma()) && (p.parseKeyword("strides") || p.parseEqual() || parseStrides(p, strides)))
    return {};
  if (p.parseGreater())
    return {};
  return p.getChecked<MemoryType>(loc, p.getContext(), ArrayRef<ExprAttr>(shape), element, *space,
                                  ArrayRef<Attribute>(strides));
}

void MemoryType::print(AsmPrinter &p) const {
  p << "<[";
  llvm::interleaveComma(getShape(), p, [&](ExprAttr e) { printExpr(p.getStream(), e); });
  p << "], " << getElementType() << ", " << stringifyAddressSpace(getSpace());
  if (isStrided()) {
    p << ", strides = [";
    llvm::interleaveComma(getStrides(), p, [&](Attribute a) {
      if (auto e = dyn_cast<ExprAttr>(a))
        printExpr(p.getStream(), e);
      else
        p << '?';
    });
    p << ']';
  }
  p << '>';
}
