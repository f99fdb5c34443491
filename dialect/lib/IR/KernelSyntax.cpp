//===- KernelSyntax.cpp - text of kernels, loops and conditionals -----------------===//
#include "Syntax.h"
#include "wave/Wave.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
using namespace mlir;
using namespace wave;

//===- kernel ------------------------------------------------------------------===//
ParseResult KernelOp::parse(OpAsmParser &p, OperationState &result) {
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments;
  if (p.parseSymbolName(name, getSymNameAttrName(result.name), result.attributes) ||
      p.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren, /*allowType=*/true))
    return failure();
  DictionaryAttr symbols = DictionaryAttr::get(p.getContext());
  SmallVector<StringAttr> dynamic;
  SmallVector<Attribute> constraints;
  if (succeeded(p.parseOptionalKeyword("symbols")) && parseExprDictionary(p, symbols))
    return failure();
  if (succeeded(p.parseOptionalKeyword("dynamic")) && parseWords(p, dynamic))
    return failure();
  if (succeeded(p.parseOptionalKeyword("constraints")) &&
      p.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                [&] { return p.parseAttribute(constraints.emplace_back()); }))
    return failure();
  Builder &b = p.getBuilder();
  SmallVector<Attribute> names, dynamicNames(dynamic.begin(), dynamic.end());
  for (OpAsmParser::Argument &argument : arguments) {
    StringRef word = argument.ssaName.name.drop_front(); // '%'
    names.push_back(b.getStringAttr(llvm::isDigit(word.front()) ? "arg" + word : Twine(word)));
  }
  result.addAttribute(getArgNamesAttrName(result.name), b.getArrayAttr(names));
  result.addAttribute(getSymbolsAttrName(result.name), symbols);
  result.addAttribute(getDynamicAttrName(result.name), b.getArrayAttr(dynamicNames));
  result.addAttribute(getConstraintsAttrName(result.name), b.getArrayAttr(constraints));
  if (p.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  Region *body = result.addRegion();
  if (p.parseRegion(*body, arguments))
    return failure();
  ensureTerminator(*body, b, result.location);
  return success();
}

void KernelOp::print(OpAsmPrinter &p) {
  p << ' ';
  p.printSymbolName(getSymName());
  p << '(';
  llvm::interleaveComma(getBody().getArguments(), p, [&](BlockArgument a) { p.printRegionArgument(a); });
  p << ')';
  if (!getSymbols().empty()) {
    p << " symbols ";
    printExprDictionary(p, getSymbols());
  }
  if (!getDynamic().empty()) {
    p << " dynamic [";
    llvm::interleaveComma(getDynamic(), p, [&](Attribute a) { p << cast<StringAttr>(a).getValue(); });
    p << ']';
  }
  if (!getConstraints().empty())
    p << " constraints " << getConstraints();
  p.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {getSymNameAttrName(), getArgNamesAttrName(),
                                                           getSymbolsAttrName(), getDynamicAttrName(),
                                                           getConstraintsAttrName()});
  p << ' ';
  p.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

//===- shared clauses ----------------------------------------------------------===//
static ParseResult parseExprClause(OpAsmParser &p, StringRef word, StringAttr name, OperationState &result) {
  if (failed(p.parseOptionalKeyword(word)))
    return success();
  ExprAttr expr;
  if (p.parseLParen() || parseExpr(p, expr) || p.parseRParen())
    return failure();
  result.addAttribute(name, expr);
  return success();
}
static void printExprClause(OpAsmPrinter &p, StringRef word, ExprAttr expr) {
  if (!expr)
    return;
  p << ' ' << word << '(';
  printExpr(p.getStream(), expr);
  p << ')';
}

static ParseResult parseSymbolClause(OpAsmParser &p, StringAttr name, SmallVectorImpl<Value> &values,
                                     OperationState &result) {
  if (failed(p.parseOptionalKeyword("symbols")))
    return success();
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types;
  ArrayAttr names;
  SMLoc loc = p.getCurrentLocation();
  if (p.parseLParen() || parseSymbols(p, operands, types, names) || p.parseRParen() ||
      p.resolveOperands(operands, types, loc, values))
    return failure();
  result.addAttribute(name, names);
  return success();
}
static void printSymbolClause(OpAsmPrinter &p, Operation *op, OperandRange values, ArrayAttr names) {
  if (values.empty())
    return;
  p << " symbols(";
  printSymbols(p, op, values, values.getTypes(), names);
  p << ')';
}

//===- iterate -----------------------------------------------------------------===//
// iterate AXIS [iv(%k)] [start(%s : t)] [trips(e)] [step(e)] [condition(e)] [symbols(…)] [iter_args(%a = %b : t, …)]
ParseResult IterateOp::parse(OpAsmParser &p, OperationState &result) {
  Builder &b = p.getBuilder();
  StringAttr axis;
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Value> start, inits, symbols;
  if (parseWord(p, axis))
    return failure();
  result.addAttribute(getAxisAttrName(result.name), axis);
  if (succeeded(p.parseOptionalKeyword("iv"))) {
    if (p.parseLParen() || p.parseArgument(arguments.emplace_back()) || p.parseRParen())
      return failure();
    arguments.back().type = b.getIndexType();
    result.addAttribute(getHasIvAttrName(result.name), b.getUnitAttr());
  }
  if (succeeded(p.parseOptionalKeyword("start"))) {
    OpAsmParser::UnresolvedOperand operand;
    Type type;
    if (p.parseLParen() || p.parseOperand(operand) || p.parseColonType(type) || p.parseRParen() ||
        p.resolveOperand(operand, type, start))
      return failure();
  }
  if (parseExprClause(p, "trips", getTripsAttrName(result.name), result) ||
      parseExprClause(p, "step", getStepAttrName(result.name), result) ||
      parseExprClause(p, "condition", getConditionAttrName(result.name), result) ||
      parseSymbolClause(p, getSymbolNamesAttrName(result.name), symbols, result))
    return failure();
  if (succeeded(p.parseOptionalKeyword("iter_args"))) {
    auto element = [&]() -> ParseResult {
      OpAsmParser::UnresolvedOperand operand;
      OpAsmParser::Argument &argument = arguments.emplace_back();
      return failure(p.parseArgument(argument) || p.parseEqual() || p.parseOperand(operand) ||
                     p.parseColonType(argument.type) || p.resolveOperand(operand, argument.type, inits));
    };
    if (p.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, element))
      return failure();
  }
  for (Value init : inits)
    result.addTypes(init.getType());
  result.addOperands(start);
  result.addOperands(inits);
  result.addOperands(symbols);
  result.addAttribute(getOperandSegmentSizesAttrName(result.name),
                      b.getDenseI32ArrayAttr({(int32_t)start.size(), (int32_t)inits.size(), (int32_t)symbols.size()}));
  if (p.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  Region *body = result.addRegion();
  if (p.parseRegion(*body, arguments))
    return failure();
  ensureTerminator(*body, b, result.location);
  return success();
}

void IterateOp::print(OpAsmPrinter &p) {
  p << ' ' << getAxis();
  if (getHasIv())
    p << " iv(" << getInductionVar() << ')';
  if (getStart())
    p << " start(" << getStart() << " : " << getStart().getType() << ')';
  printExprClause(p, "trips", getTripsAttr());
  printExprClause(p, "step", getStepAttr());
  printExprClause(p, "condition", getConditionAttr());
  printSymbolClause(p, *this, getSymbolValues(), getSymbolNamesAttr());
  if (!getInitArgs().empty()) {
    p << " iter_args(";
    llvm::interleaveComma(llvm::zip(getCarried(), getInitArgs()), p, [&](auto pair) {
      p << std::get<0>(pair) << " = " << std::get<1>(pair) << " : " << std::get<1>(pair).getType();
    });
    p << ')';
  }
  p.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                     {getAxisAttrName(), getHasIvAttrName(), getTripsAttrName(), getStepAttrName(),
                                      getConditionAttrName(), getSymbolNamesAttrName(),
                                      getOperandSegmentSizesAttrName()});
  p << ' ';
  p.printRegion(getBody(), /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/getYield()->getNumOperands() > 0);
}

//===- conditional -------------------------------------------------------------===//
// conditional [e] | %c : t  [symbols(…)] [otherwise(%v, …)] [-> (t, …)] {…} [else {…}]
ParseResult ConditionalOp::parse(OpAsmParser &p, OperationState &result) {
  Builder &b = p.getBuilder();
  SmallVector<Value> condition, symbols, elseValues;
  if (succeeded(p.parseOptionalLSquare())) {
    ExprAttr expr;
    if (parseExpr(p, expr) || p.parseRSquare())
      return failure();
    result.addAttribute(getConditionAttrName(result.name), expr);
  } else {
    OpAsmParser::UnresolvedOperand operand;
    Type type;
    if (p.parseOperand(operand) || p.parseColonType(type) || p.resolveOperand(operand, type, condition))
      return failure();
  }
  if (parseSymbolClause(p, getSymbolNamesAttrName(result.name), symbols, result))
    return failure();
  SmallVector<OpAsmParser::UnresolvedOperand> others;
  SMLoc loc = p.getCurrentLocation();
  if (succeeded(p.parseOptionalKeyword("otherwise")) && p.parseOperandList(others, OpAsmParser::Delimiter::Paren))
    return failure();
  if (p.parseOptionalArrowTypeList(result.types))
    return failure();
  if (!others.empty() && p.resolveOperands(others, result.types, loc, elseValues))
    return failure();
  result.addOperands(condition);
  result.addOperands(symbols);
  result.addOperands(elseValues);
  result.addAttribute(getOperandSegmentSizesAttrName(result.name),
                      b.getDenseI32ArrayAttr({(int32_t)condition.size(), (int32_t)symbols.size(),
                                              (int32_t)elseValues.size()}));
  if (p.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  Region *thenRegion = result.addRegion(), *elseRegion = result.addRegion();
  if (p.parseRegion(*thenRegion))
    return failure();
  ensureTerminator(*thenRegion, b, result.location);
  if (failed(p.parseOptionalKeyword("else")))
    return success();
  if (p.parseRegion(*elseRegion))
    return failure();
  ensureTerminator(*elseRegion, b, result.location);
  return success();
}

void ConditionalOp::print(OpAsmPrinter &p) {
  if (getConditionAttr()) {
    p << " [";
    printExpr(p.getStream(), getConditionAttr());
    p << ']';
  } else {
    p << ' ' << getConditionValue() << " : " << getConditionValue().getType();
  }
  printSymbolClause(p, *this, getSymbolValues(), getSymbolNamesAttr());
  if (!getElseValues().empty())
    p << " otherwise(" << getElseValues() << ')';
  p.printOptionalArrowTypeList(getResultTypes());
  p.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {getConditionAttrName(), getSymbolNamesAttrName(), getOperandSegmentSizesAttrName()});
  bool yields = getNumResults() > 0;
  p << ' ';
  p.printRegion(getThenRegion(), /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/yields);
  if (getElseRegion().empty())
    return;
  p << " else ";
  p.printRegion(getElseRegion(), /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/yields);
}
