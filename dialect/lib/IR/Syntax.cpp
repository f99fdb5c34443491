//===- Syntax.cpp - pieces of text that attributes, types and ops share ---------===//
#include "Syntax.h"
#include "mlir/IR/Builders.h"
using namespace mlir;
using namespace wave;

ParseResult wave::parseWord(AsmParser &p, StringAttr &word) {
  StringRef text;
  SMLoc loc = p.getCurrentLocation();
  if (p.parseOptionalKeyword(&text))
    return p.emitError(loc, "expected a name");
  word = p.getBuilder().getStringAttr(text);
  return success();
}

ParseResult wave::parseWords(AsmParser &p, SmallVectorImpl<StringAttr> &words) {
  return p.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] { return parseWord(p, words.emplace_back()); });
}

ParseResult wave::parseExprs(AsmParser &p, SmallVectorImpl<ExprAttr> &exprs) {
  return p.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] { return parseExpr(p, exprs.emplace_back()); });
}

ParseResult wave::parseExprDictionary(AsmParser &p, DictionaryAttr &dictionary) {
  NamedAttrList entries;
  auto entry = [&]() -> ParseResult {
    SMLoc loc = p.getCurrentLocation();
    StringAttr name;
    ExprAttr value;
    if (parseWord(p, name) || p.parseEqual() || parseExpr(p, value))
      return failure();
    if (entries.set(name, value))
      return p.emitError(loc) << "'" << name.getValue() << "' is given twice";
    return success();
  };
  if (p.parseCommaSeparatedList(AsmParser::Delimiter::Braces, entry))
    return failure();
  dictionary = entries.getDictionary(p.getContext());
  return success();
}

void wave::printExprDictionary(AsmPrinter &p, DictionaryAttr dictionary) {
  p << '{';
  llvm::interleaveComma(dictionary, p, [&](NamedAttribute entry) {
    p << entry.getName().getValue() << " = ";
    printExpr(p.getStream(), cast<ExprAttr>(entry.getValue()));
  });
  p << '}';
}

ParseResult wave::parseWord(OpAsmParser &p, StringAttr &word) { return parseWord(static_cast<AsmParser &>(p), word); }
void wave::printWord(OpAsmPrinter &p, Operation *, StringAttr word) { p << word.getValue(); }

ParseResult wave::parseExpr(OpAsmParser &p, ExprAttr &expr) { return parseExpr(static_cast<AsmParser &>(p), expr); }
void wave::printExpr(OpAsmPrinter &p, Operation *, ExprAttr expr) { printExpr(p.getStream(), expr); }

ParseResult wave::parseExprs(OpAsmParser &p, ArrayAttr &exprs) {
  SmallVector<Attribute> elements;
  auto element = [&]() -> ParseResult {
    ExprAttr expr;
    if (parseExpr(static_cast<AsmParser &>(p), expr))
      return failure();
    elements.push_back(expr);
    return success();
  };
  // The brackets are the format's: `[` custom<Exprs>(…) `]`; an empty list is a scalar's.
  if (failed(p.parseOptionalKeyword("none")) && p.parseCommaSeparatedList(element))
    return failure();
  exprs = p.getBuilder().getArrayAttr(elements);
  return success();
}
void wave::printExprs(OpAsmPrinter &p, Operation *, ArrayAttr exprs) {
  if (exprs.empty())
    p << "none";
  llvm::interleaveComma(exprs, p, [&](Attribute e) { printExpr(p.getStream(), cast<ExprAttr>(e)); });
}

// `iv.K = %k, T = %n : vector<1xi32>`; a value of type index has no type in the text.
ParseResult wave::parseSymbols(OpAsmParser &p, SmallVectorImpl<OpAsmParser::UnresolvedOperand> &values,
                               SmallVectorImpl<Type> &types, ArrayAttr &names) {
  SmallVector<Attribute> words;
  auto binding = [&]() -> ParseResult {
    StringAttr word;
    if (parseWord(p, word) || p.parseEqual() || p.parseOperand(values.emplace_back()))
      return failure();
    words.push_back(word);
    types.push_back(p.getBuilder().getIndexType());
    return succeeded(p.parseOptionalColon()) ? p.parseType(types.back()) : success();
  };
  if (p.parseCommaSeparatedList(binding))
    return failure();
  names = p.getBuilder().getArrayAttr(words);
  return success();
}
void wave::printSymbols(OpAsmPrinter &p, Operation *, OperandRange values, TypeRange types, ArrayAttr names) {
  for (auto [i, value] : llvm::enumerate(values)) {
    if (i)
      p << ", ";
    StringAttr name = names && i < names.size() ? cast<StringAttr>(names[i]) : StringAttr();
    p << (name ? name.getValue() : StringRef("?")) << " = " << value;
    if (!types[i].isIndex())
      p << " : " << types[i];
  }
}

ParseResult wave::parseInstructionClasses(OpAsmParser &p, ArrayAttr &classes) {
  SmallVector<Attribute> elements;
  auto element = [&]() -> ParseResult {
    StringRef word;
    SMLoc loc = p.getCurrentLocation();
    if (p.parseKeyword(&word))
      return failure();
    std::optional<InstructionClass> value = symbolizeInstructionClass(word);
    if (!value)
      return p.emitError(loc) << "'" << word << "' is no class of instructions";
    elements.push_back(InstructionClassAttr::get(p.getContext(), *value));
    return success();
  };
  if (p.parseCommaSeparatedList(element))
    return failure();
  classes = p.getBuilder().getArrayAttr(elements);
  return success();
}
void wave::printInstructionClasses(OpAsmPrinter &p, Operation *, ArrayAttr classes) {
  llvm::interleaveComma(classes, p, [&](Attribute a) {
    p << stringifyInstructionClass(cast<InstructionClassAttr>(a).getValue());
  });
}
