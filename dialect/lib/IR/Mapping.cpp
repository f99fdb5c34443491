//===- Mapping.cpp - index mappings ---------------------------------------------===//
#include "Syntax.h"
#include "mlir/IR/Builders.h"
using namespace mlir;
using namespace wave;

LogicalResult MappingAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<StringAttr> dims,
                                  ArrayRef<StringAttr> iterators, ArrayRef<ExprAttr>, ArrayRef<DictionaryAttr> dynamic) {
  if (dims.size() != iterators.size())
    return emitError() << "a mapping has one iterator for each dim, not " << iterators.size() << " for "
                       << dims.size();
  for (auto [names, what] : {std::pair(dims, "dim"), std::pair(iterators, "iterator")})
    for (auto [i, name] : llvm::enumerate(names)) {
      if (!isUserSymbol(name.getValue()))
        return emitError() << "the " << what << " of a mapping is a symbol, not '" << name.getValue() << "'";
      if (llvm::is_contained(names.take_front(i), name))
        return emitError() << what << " " << name.getValue() << " is in the mapping twice";
    }
  for (DictionaryAttr entry : dynamic)
    for (NamedAttribute position : entry)
      if (!isa<ExprAttr>(position.getValue()))
        return emitError() << "the position of a dynamic value is an expression, not " << position.getValue();
  return success();
}

// `[T = i, N = j]`
static ParseResult parseIterators(AsmParser &p, SmallVectorImpl<StringAttr> &dims,
                                  SmallVectorImpl<StringAttr> &iterators) {
  return p.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return failure(parseWord(p, dims.emplace_back()) || p.parseEqual() || parseWord(p, iterators.emplace_back()));
  });
}
// `[T = i, K = j + 1]`
static ParseResult parsePosition(AsmParser &p, SmallVectorImpl<DictionaryAttr> &dynamic) {
  NamedAttrList entries;
  auto entry = [&]() -> ParseResult {
    SMLoc loc = p.getCurrentLocation();
    StringAttr dim;
    ExprAttr expr;
    if (parseWord(p, dim) || p.parseEqual() || parseExpr(p, expr))
      return failure();
    if (entries.set(dim, expr))
      return p.emitError(loc) << "dim " << dim.getValue() << " is given twice";
    return success();
  };
  if (p.parseCommaSeparatedList(AsmParser::Delimiter::Square, entry))
    return failure();
  dynamic.push_back(entries.getDictionary(p.getContext()));
  return success();
}

Attribute MappingAttr::parse(AsmParser &p, Type) {
  SMLoc loc = p.getCurrentLocation();
  SmallVector<StringAttr> dims, iterators;
  SmallVector<ExprAttr> memory;
  SmallVector<DictionaryAttr> dynamic;
  if (p.parseLess() || parseIterators(p, dims, iterators) || p.parseArrow() || parseExprs(p, memory))
    return {};
  if (succeeded(p.parseOptionalComma()) &&
      (p.parseKeyword("dynamic") || p.parseEqual() ||
       p.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] { return parsePosition(p, dynamic); })))
    return {};
  if (p.parseGreater())
    return {};
  return p.getChecked<MappingAttr>(loc, p.getContext(), ArrayRef<StringAttr>(dims), ArrayRef<StringAttr>(iterators),
                                   ArrayRef<ExprAttr>(memory), ArrayRef<DictionaryAttr>(dynamic));
}

void MappingAttr::print(AsmPrinter &p) const {
  p << "<[";
  llvm::interleaveComma(llvm::zip_equal(getDims(), getIterators()), p, [&](auto pair) {
    p << std::get<0>(pair).getValue() << " = " << std::get<1>(pair).getValue();
  });
  p << "] -> [";
  llvm::interleaveComma(getMemory(), p, [&](ExprAttr e) { printExpr(p.getStream(), e); });
  p << ']';
  if (!getDynamic().empty()) {
    p << ", dynamic = [";
    llvm::interleaveComma(getDynamic(), p, [&](DictionaryAttr position) {
      p << '[';
      llvm::interleaveComma(position, p, [&](NamedAttribute entry) {
        p << entry.getName().getValue() << " = ";
        printExpr(p.getStream(), cast<ExprAttr>(entry.getValue()));
      });
      p << ']';
    });
    p << ']';
  }
  p << '>';
}
