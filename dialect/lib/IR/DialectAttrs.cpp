//===- DialectAttrs.cpp - the dialect's attributes on other ops -------------------===//
#include "wave/Attrs.h"
#include "mlir/IR/Operation.h"
using namespace mlir;
using namespace wave;

static constexpr StringLiteral forms[] = {"tile", "typed", "placed", "staged", "lane", "scheduled", "gpu", "rocdl"};

static LogicalResult verifyForm(Operation *op, Attribute value) {
  auto form = dyn_cast<StringAttr>(value);
  if (form && llvm::is_contained(forms, form.getValue()))
    return success();
  auto diag = op->emitOpError() << "has wave.form " << value << "; the forms are ";
  llvm::interleaveComma(forms, diag, [&](StringRef f) { diag << f; });
  return diag;
}

static LogicalResult verifyGrid(Operation *op, Attribute value) {
  auto grid = dyn_cast<ArrayAttr>(value);
  if (!grid || grid.size() != 3 || !llvm::all_of(grid, [](Attribute a) { return isa<ExprAttr>(a); }))
    return op->emitOpError() << "has wave.grid " << value << "; it is an array of three #wave.expr";
  return success();
}

static LogicalResult verifySymbolValues(Operation *op, Attribute value) {
  auto symbols = dyn_cast<DictionaryAttr>(value);
  if (!symbols)
    return op->emitOpError() << "has wave.symbols " << value << "; it is a dictionary of integers";
  for (NamedAttribute entry : symbols)
    if (!isa<IntegerAttr>(entry.getValue()))
      return op->emitOpError() << "has " << entry.getValue() << " for " << entry.getName().getValue()
                               << " in wave.symbols; values are integers";
  return success();
}

//===- wave.args ---------------------------------------------------------------===//
static LogicalResult verifyArg(Operation *op, unsigned i, Attribute value) {
  auto fail = [&]() { return op->emitOpError() << "has entry " << i << " of wave.args "; };
  auto arg = dyn_cast<DictionaryAttr>(value);
  auto kind = arg ? arg.getAs<StringAttr>("kind") : StringAttr();
  if (!kind)
    return fail() << "without a kind: memory, scalar, symbol or stride";
  auto need = [&](StringRef key, bool ok, StringRef what) -> LogicalResult {
    return ok ? success() : LogicalResult(fail() << "(a " << kind.getValue() << ") without '" << key << "', " << what);
  };
  auto isString = [&](StringRef key) { return !!arg.getAs<StringAttr>(key); };
  bool typed = arg.getAs<TypeAttr>("dtype") && isElementType(arg.getAs<TypeAttr>("dtype").getValue());
  if (kind == "memory") {
    auto shape = arg.getAs<ArrayAttr>("shape");
    bool exprs = shape && llvm::all_of(shape, [](Attribute a) { return isa<ExprAttr>(a); });
    auto access = arg.getAs<StringAttr>("access");
    bool known = access && (access == "read" || access == "write" || access == "readwrite");
    return failure(failed(need("name", isString("name"), "a string")) ||
                   failed(need("dtype", typed, "an element type")) ||
                   failed(need("shape", exprs, "an array of #wave.expr")) ||
                   failed(need("access", known, "read, write or readwrite")));
  }
  if (kind == "scalar")
    return failure(failed(need("name", isString("name"), "a string")) ||
                   failed(need("dtype", typed, "an element type")));
  if (kind == "symbol")
    return need("name", isString("name"), "a string");
  if (kind == "stride")
    return failure(failed(need("memory", isString("memory"), "a string")) ||
                   failed(need("dim", !!arg.getAs<IntegerAttr>("dim"), "an integer")));
  return fail() << "of kind '" << kind.getValue() << "'; kinds are memory, scalar, symbol and stride";
}

static LogicalResult verifyArgs(Operation *op, Attribute value) {
  auto args = dyn_cast<ArrayAttr>(value);
  if (!args)
    return op->emitOpError() << "has wave.args " << value << "; it is an array of dictionaries";
  for (auto [i, arg] : llvm::enumerate(args))
    if (failed(verifyArg(op, i, arg)))
      return failure();
  return success();
}

LogicalResult WaveDialect::verifyOperationAttribute(Operation *op, NamedAttribute attr) {
  StringRef name = attr.getName().getValue();
  if (name == "wave.form")
    return verifyForm(op, attr.getValue());
  if (name == "wave.target" && !isa<StringAttr>(attr.getValue()))
    return op->emitOpError() << "has wave.target " << attr.getValue() << "; it is the name of a target, a string";
  if (name == "wave.grid")
    return verifyGrid(op, attr.getValue());
  if (name == "wave.symbols")
    return verifySymbolValues(op, attr.getValue());
  if (name == "wave.args")
    return verifyArgs(op, attr.getValue());
  return success();
}
