//===- Constraints.cpp - text and checks of the constraint attributes -----------===//
#include "Syntax.h"
#include "mlir/IR/Builders.h"
using namespace mlir;
using namespace wave;

using Emit = function_ref<InFlightDiagnostic()>;

//===- shared pieces -----------------------------------------------------------===//
static ParseResult parseAxis(AsmParser &p, unsigned &axis) {
  SMLoc loc = p.getCurrentLocation();
  OptionalParseResult number = p.parseOptionalInteger(axis);
  if (number.has_value())
    return *number;
  StringRef word;
  if (succeeded(p.parseOptionalKeyword(&word)) && word.size() == 1 && StringRef("xyz").contains(word)) {
    axis = word[0] - 'x';
    return success();
  }
  return p.emitError(loc, "expected a grid dim: x, y, z or a number");
}
static void printAxis(AsmPrinter &p, unsigned axis) {
  if (axis < 3)
    p << StringRef("xyz").substr(axis, 1);
  else
    p << axis;
}

// `, key = expr` clauses in any order, each once.
static ParseResult parseClauses(AsmParser &p, ArrayRef<std::pair<StringRef, function_ref<ParseResult()>>> clauses) {
  SmallVector<StringRef> seen;
  while (succeeded(p.parseOptionalComma())) {
    SMLoc loc = p.getCurrentLocation();
    StringRef word;
    if (p.parseKeyword(&word))
      return failure();
    auto *clause = llvm::find_if(clauses, [&](auto &c) { return c.first == word; });
    if (clause == clauses.end())
      return p.emitError(loc) << "unknown option '" << word << "'";
    if (llvm::is_contained(seen, word))
      return p.emitError(loc) << "option '" << word << "' is given twice";
    seen.push_back(word);
    if (clause->second())
      return failure();
  }
  return success();
}
static void printExprClause(AsmPrinter &p, StringRef word, ExprAttr expr) {
  if (!expr)
    return;
  p << ", " << word << " = ";
  printExpr(p.getStream(), expr);
}
static LogicalResult verifyDim(Emit emitError, StringAttr dim) {
  if (isUserSymbol(dim.getValue()))
    return success();
  return emitError() << "the constrained dim is a symbol, not '" << dim.getValue() << "'";
}
static LogicalResult verifyPositive(Emit emitError, StringRef what, ExprAttr expr) {
  if (!expr || expr.getKind() != ExprKind::Constant || expr.getValue() > 0)
    return success();
  return emitError() << what << " is positive, not " << expr.getValue();
}
static LogicalResult verifyCount(Emit emitError, StringRef what, ExprAttr expr) {
  if (!expr || expr.getKind() != ExprKind::Constant || expr.getValue() >= 0)
    return success();
  return emitError() << what << " cannot be " << expr.getValue();
}
//===- workgroup ---------------------------------------------------------------===//
LogicalResult WorkgroupConstraintAttr::verify(Emit emitError, StringAttr dim, ExprAttr tile, unsigned, ExprAttr,
                                              ExprAttr iters, bool) {
  return success(succeeded(verifyDim(emitError, dim)) && succeeded(verifyPositive(emitError, "a tile size", tile)) &&
                 succeeded(verifyCount(emitError, "the number of workgroups", iters)));
}
Attribute WorkgroupConstraintAttr::parse(AsmParser &p, Type) {
  SMLoc loc = p.getCurrentLocation();
  StringAttr dim;
  ExprAttr tile, fn, iters;
  unsigned axis = 0;
  bool secondary = false;
  auto parseFn = [&] { return failure(p.parseEqual() || parseExpr(p, fn)); };
  auto parseIters = [&] { return failure(p.parseEqual() || parseExpr(p, iters)); };
  auto parseSecondary = [&]() -> ParseResult { secondary = true; return success(); };
  if (p.parseLess() || parseWord(p, dim) || p.parseComma() || parseExpr(p, tile) || p.parseComma() ||
      parseAxis(p, axis) ||
      parseClauses(p, {{"fn", parseFn}, {"iters", parseIters}, {"secondary", parseSecondary}}) || p.parseGreater())
    return {};
  return p.getChecked<WorkgroupConstraintAttr>(loc, p.getContext(), dim, tile, axis, fn, iters, secondary);
}
void WorkgroupConstraintAttr::print(AsmPrinter &p) const {
  p << '<' << getDim().getValue() << ", ";
  printExpr(p.getStream(), getTile());
  p << ", ";
  printAxis(p, getAxis());
  printExprClause(p, "fn", getFn());
  printExprClause(p, "iters", getIters());
  if (getSecondary())
    p << ", secondary";
  p << '>';
}

//===- tiling ------------------------------------------------------------------===//
LogicalResult TilingConstraintAttr::verify(Emit emitError, StringAttr dim, ExprAttr tile, ExprAttr iters, ExprAttr) {
  return success(succeeded(verifyDim(emitError, dim)) && succeeded(verifyPositive(emitError, "a tile size", tile)) &&
                 succeeded(verifyCount(emitError, "a trip count", iters)));
}
Attribute TilingConstraintAttr::parse(AsmParser &p, Type) {
  SMLoc loc = p.getCurrentLocation();
  StringAttr dim;
  ExprAttr tile, iters, start;
  if (p.parseLess() || parseWord(p, dim))
    return {};
  bool clausesLeft = true;
  if (succeeded(p.parseOptionalComma())) {
    // `<K, iters = 3>` has no tile: a clause's word followed by '=' is no expression.
    if (parseExpr(p, tile))
      return {};
    if (tile.getKind() == ExprKind::Symbol && succeeded(p.parseOptionalEqual())) {
      StringRef word = tile.getName().getValue();
      ExprAttr *slot = word == "iters" ? &iters : word == "start" ? &start : nullptr;
      if (!slot) {
        p.emitError(loc) << "unknown option '" << word << "'";
        return {};
      }
      tile = {};
      if (parseExpr(p, *slot))
        return {};
    }
  } else {
    clausesLeft = false;
  }
  auto parseIters = [&] { return failure(p.parseEqual() || parseExpr(p, iters)); };
  auto parseStart = [&] { return failure(p.parseEqual() || parseExpr(p, start)); };
  if ((clausesLeft && parseClauses(p, {{"iters", parseIters}, {"start", parseStart}})) || p.parseGreater())
    return {};
  return p.getChecked<TilingConstraintAttr>(loc, p.getContext(), dim, tile, iters, start);
}
void TilingConstraintAttr::print(AsmPrinter &p) const {
  p << '<' << getDim().getValue();
  if (getTile()) {
    p << ", ";
    printExpr(p.getStream(), getTile());
  }
  printExprClause(p, "iters", getIters());
  printExprClause(p, "start", getStart());
  p << '>';
}

//===- wave --------------------------------------------------------------------===//
LogicalResult WaveConstraintAttr::verify(Emit emitError, StringAttr dim, ExprAttr tile, std::optional<unsigned> axis) {
  if (failed(verifyDim(emitError, dim)) || failed(verifyPositive(emitError, "a wave's tile size", tile)))
    return failure();
  if (axis && *axis > 2)
    return emitError() << "waves lie along x, y or z, not " << *axis;
  return success();
}
Attribute WaveConstraintAttr::parse(AsmParser &p, Type) {
  SMLoc loc = p.getCurrentLocation();
  StringAttr dim;
  ExprAttr tile;
  std::optional<unsigned> axis;
  if (p.parseLess() || parseWord(p, dim) || p.parseComma() || parseExpr(p, tile))
    return {};
  if (succeeded(p.parseOptionalComma()) && parseAxis(p, axis.emplace(0)))
    return {};
  if (p.parseGreater())
    return {};
  return p.getChecked<WaveConstraintAttr>(loc, p.getContext(), dim, tile, axis);
}
void WaveConstraintAttr::print(AsmPrinter &p) const {
  p << '<' << getDim().getValue() << ", ";
  printExpr(p.getStream(), getTile());
  if (getAxis()) {
    p << ", ";
    printAxis(p, *getAxis());
  }
  p << '>';
}

//===- hardware ----------------------------------------------------------------===//
LogicalResult HardwareConstraintAttr::verify(Emit emitError, int64_t threadsPerWave, StringAttr, DictionaryAttr shapes,
                                             ArrayRef<int64_t> waves, int64_t maxBits, int64_t serviceWaves) {
  if (threadsPerWave <= 0 || (threadsPerWave & (threadsPerWave - 1)))
    return emitError() << "threads_per_wave is a power of two, not " << threadsPerWave;
  for (NamedAttribute shape : shapes) {
    if (!isUserSymbol(shape.getName()))
      return emitError() << "vector_shapes names dims, '" << shape.getName().getValue() << "' is no symbol";
    auto expr = dyn_cast<ExprAttr>(shape.getValue());
    if (!expr)
      return emitError() << "the vector shape of " << shape.getName().getValue() << " is an expression, not "
                         << shape.getValue();
    if (failed(verifyCount(emitError, ("the vector shape of " + shape.getName().getValue()).str(), expr)))
      return failure();
  }
  if (!waves.empty() && waves.size() != 3)
    return emitError() << "waves_per_block has three numbers, not " << waves.size();
  if (llvm::any_of(waves, [](int64_t n) { return n <= 0; }))
    return emitError() << "waves_per_block has positive numbers only";
  if (maxBits <= 0 || maxBits % 8)
    return emitError() << "max_bits_per_load is a positive number of whole bytes, not " << maxBits << " bits";
  if (serviceWaves < 0)
    return emitError() << "service_waves cannot be " << serviceWaves;
  return success();
}
Attribute HardwareConstraintAttr::parse(AsmParser &p, Type) {
  SMLoc loc = p.getCurrentLocation();
  int64_t threads = 0, maxBits = 128, service = 0;
  StringAttr mma;
  DictionaryAttr shapes = DictionaryAttr::get(p.getContext());
  SmallVector<int64_t> waves;
  auto integer = [&](int64_t &n) -> ParseResult { return failure(p.parseEqual() || p.parseInteger(n)); };
  auto parseMma = [&] { return failure(p.parseEqual() || parseWord(p, mma)); };
  auto parseShapes = [&] { return failure(p.parseEqual() || parseExprDictionary(p, shapes)); };
  auto parseWaves = [&]() -> ParseResult {
    return failure(p.parseEqual() || p.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
      return p.parseInteger(waves.emplace_back());
    }));
  };
  auto parseMax = [&] { return integer(maxBits); };
  auto parseService = [&] { return integer(service); };
  if (p.parseLess() || p.parseKeyword("threads_per_wave") || integer(threads) ||
      parseClauses(p, {{"mma", parseMma}, {"vector_shapes", parseShapes}, {"waves_per_block", parseWaves},
                       {"max_bits_per_load", parseMax}, {"service_waves", parseService}}) ||
      p.parseGreater())
    return {};
  return p.getChecked<HardwareConstraintAttr>(loc, p.getContext(), threads, mma, shapes, ArrayRef<int64_t>(waves),
                                              maxBits, service);
}
void HardwareConstraintAttr::print(AsmPrinter &p) const {
  p << "<threads_per_wave = " << getThreadsPerWave();
  if (getMma())
    p << ", mma = " << getMma().getValue();
  if (!getVectorShapes().empty()) {
    p << ", vector_shapes = ";
    printExprDictionary(p, getVectorShapes());
  }
  if (!getWavesPerBlock().empty()) {
    p << ", waves_per_block = [";
    llvm::interleaveComma(getWavesPerBlock(), p);
    p << ']';
  }
  if (getMaxBitsPerLoad() != 128)
    p << ", max_bits_per_load = " << getMaxBitsPerLoad();
  if (getServiceWaves())
    p << ", service_waves = " << getServiceWaves();
  p << '>';
}

//===- reordering, grid, device, assume ----------------------------------------===//
LogicalResult ReorderingConstraintAttr::verify(Emit, ExprAttr, unsigned) { return success(); }
Attribute ReorderingConstraintAttr::parse(AsmParser &p, Type) {
  SMLoc loc = p.getCurrentLocation();
  ExprAttr equation;
  unsigned axis = 0;
  if (p.parseLess() || parseExpr(p, equation) || p.parseComma() || parseAxis(p, axis) || p.parseGreater())
    return {};
  return p.getChecked<ReorderingConstraintAttr>(loc, p.getContext(), equation, axis);
}
void ReorderingConstraintAttr::print(AsmPrinter &p) const {
  p << '<';
  printExpr(p.getStream(), getEquation());
  p << ", ";
  printAxis(p, getAxis());
  p << '>';
}

LogicalResult GridConstraintAttr::verify(Emit emitError, ArrayRef<ExprAttr> sizes) {
  if (sizes.empty())
    return emitError() << "a grid has one size or more";
  for (ExprAttr size : sizes)
    if (failed(verifyCount(emitError, "the size of a grid", size)))
      return failure();
  return success();
}
Attribute GridConstraintAttr::parse(AsmParser &p, Type) {
  SMLoc loc = p.getCurrentLocation();
  SmallVector<ExprAttr> sizes;
  if (p.parseLess() || parseExprs(p, sizes) || p.parseGreater())
    return {};
  return p.getChecked<GridConstraintAttr>(loc, p.getContext(), ArrayRef<ExprAttr>(sizes));
}
void GridConstraintAttr::print(AsmPrinter &p) const {
  p << "<[";
  llvm::interleaveComma(getSizes(), p, [&](ExprAttr e) { printExpr(p.getStream(), e); });
  p << "]>";
}

LogicalResult DeviceConstraintAttr::verify(Emit emitError, StringAttr dim, ExprAttr tile, unsigned) {
  return success(succeeded(verifyDim(emitError, dim)) && succeeded(verifyPositive(emitError, "a tile size", tile)));
}
Attribute DeviceConstraintAttr::parse(AsmParser &p, Type) {
  SMLoc loc = p.getCurrentLocation();
  StringAttr dim;
  ExprAttr tile;
  unsigned device = 0;
  if (p.parseLess() || parseWord(p, dim) || p.parseComma() || parseExpr(p, tile) || p.parseComma() ||
      p.parseInteger(device) || p.parseGreater())
    return {};
  return p.getChecked<DeviceConstraintAttr>(loc, p.getContext(), dim, tile, device);
}
void DeviceConstraintAttr::print(AsmPrinter &p) const {
  p << '<' << getDim().getValue() << ", ";
  printExpr(p.getStream(), getTile());
  p << ", " << getDeviceDim() << '>';
}

LogicalResult AssumeConstraintAttr::verify(Emit emitError, ExprAttr predicate) {
  if (isPredicate(predicate))
    return success();
  auto diag = emitError() << "an assumption is a predicate (eq ne lt le gt ge, and, or), not ";
  std::string text;
  llvm::raw_string_ostream os(text);
  printExpr(os, predicate);
  return diag << "'" << text << "'";
}
Attribute AssumeConstraintAttr::parse(AsmParser &p, Type) {
  SMLoc loc = p.getCurrentLocation();
  ExprAttr predicate;
  if (p.parseLess() || parseExpr(p, predicate) || p.parseGreater())
    return {};
  return p.getChecked<AssumeConstraintAttr>(loc, p.getContext(), predicate);
}
void AssumeConstraintAttr::print(AsmPrinter &p) const {
  p << '<';
  printExpr(p.getStream(), getPredicate());
  p << '>';
}
