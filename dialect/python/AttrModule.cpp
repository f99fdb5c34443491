//===- AttrModule.cpp - Python values to fields of attributes and back -----------===//
#include "AttrModule.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir/Bindings/Python/NanobindAdaptors.h"
using namespace wave;

MlirContext wave::contextOf(const D::PyMlirContextRef &ctx) { return const_cast<D::PyMlirContextRef &>(ctx)->get(); }

D::PyMlirContextRef wave::contextArgument(nb::handle context) {
  if (context.is_none())
    return currentContext();
  return nb::cast<D::PyMlirContext &>(context).getRef();
}

MlirAttribute wave::stringAttribute(const D::PyMlirContextRef &ctx, const std::string &text) {
  return mlirStringAttrGet(contextOf(ctx), mlirStringRefCreate(text.data(), text.size()));
}

MlirAttribute wave::exprArgument(const D::PyMlirContextRef &ctx, nb::handle value) {
  MlirAttribute expr;
  if (toExpr(value, ctx, expr))
    return expr;
  if (!nb::isinstance<nb::str>(value))
    raise(PyExc_TypeError, "an expression is given as an Expr, an int or text, not as " +
                               nb::cast<std::string>(nb::str(value.type().attr("__name__"))));
  std::string text = nb::cast<std::string>(value), error;
  expr = waveExprParse(contextOf(ctx), mlirStringRefCreate(text.data(), text.size()),
                       [](int64_t, MlirStringRef message, void *user) {
                         static_cast<std::string *>(user)->assign(message.data, message.length);
                       }, &error);
  if (mlirAttributeIsNull(expr))
    raise(PyExc_ValueError, "in the expression '" + text + "': " + error);
  return expr;
}

static MlirAttribute arrayOf(const D::PyMlirContextRef &ctx, const std::vector<MlirAttribute> &values) {
  return mlirArrayAttrGet(contextOf(ctx), values.size(), values.data());
}
static void requireSequence(nb::handle values, const char *what) {
  if (nb::isinstance<nb::str>(values) || !nb::isinstance<nb::iterable>(values))
    raise(PyExc_TypeError, std::string("expected a sequence of ") + what);
}
MlirAttribute wave::symbolArrayArgument(const D::PyMlirContextRef &ctx, nb::handle values) {
  requireSequence(values, "symbols");
  std::vector<MlirAttribute> names;
  for (nb::handle value : values)
    names.push_back(stringAttribute(ctx, symbolName(value)));
  return arrayOf(ctx, names);
}
MlirAttribute wave::exprArrayArgument(const D::PyMlirContextRef &ctx, nb::handle values) {
  requireSequence(values, "expressions");
  std::vector<MlirAttribute> exprs;
  for (nb::handle value : values)
    exprs.push_back(exprArgument(ctx, value));
  return arrayOf(ctx, exprs);
}
MlirAttribute wave::exprDictionaryArgument(const D::PyMlirContextRef &ctx, nb::handle values) {
  Fields fields(ctx);
  std::vector<std::string> names; // the names outlive the call below: identifiers are uniqued by then
  for (auto [key, value] : nb::cast<nb::dict>(values)) {
    std::string name = symbolName(key);
    fields.set(name.c_str(), exprArgument(ctx, value));
  }
  return fields.dictionary();
}

//===- fields ------------------------------------------------------------------===//
Fields &Fields::set(const char *name, MlirAttribute value) {
  entries.push_back({mlirIdentifierGet(contextOf(context), mlirStringRefCreateFromCString(name)), value});
  return *this;
}
Fields &Fields::symbol(const char *name, nb::handle value) {
  return set(name, stringAttribute(context, symbolName(value)));
}
Fields &Fields::word(const char *name, nb::handle value) {
  return value.is_none() ? *this : set(name, stringAttribute(context, nb::cast<std::string>(value)));
}
Fields &Fields::expr(const char *name, nb::handle value) {
  return value.is_none() ? *this : set(name, exprArgument(context, value));
}
Fields &Fields::integer(const char *name, int64_t value) {
  return set(name, mlirIntegerAttrGet(mlirIntegerTypeGet(contextOf(context), 64), value));
}
Fields &Fields::axis(const char *name, nb::handle value) {
  if (value.is_none())
    return *this;
  if (!nb::isinstance<nb::str>(value)) {
    int64_t axis = toInt64(value, "grid dim");
    if (axis < 0)
      raise(PyExc_ValueError, "a grid dim is x, y, z or a number from 0 up, not " + std::to_string(axis));
    return integer(name, axis);
  }
  std::string text = nb::cast<std::string>(value);
  if (text != "x" && text != "y" && text != "z")
    raise(PyExc_ValueError, "a grid dim is x, y, z or a number from 0 up, not '" + text + "'");
  return integer(name, text[0] - 'x');
}
Fields &Fields::flag(const char *name, bool value) {
  return value ? set(name, mlirUnitAttrGet(contextOf(context))) : *this;
}
MlirAttribute Fields::dictionary() const {
  return mlirDictionaryAttrGet(contextOf(context), entries.size(), entries.data());
}

//===- back to Python ----------------------------------------------------------===//
nb::object wave::toPython(const D::PyMlirContextRef &ctx, MlirAttribute attr) {
  if (mlirAttributeIsNull(attr) || mlirAttributeIsAUnit(attr))
    return nb::none();
  if (mlirAttributeIsAString(attr)) {
    MlirStringRef s = mlirStringAttrGetValue(attr);
    return nb::str(s.data, s.length);
  }
  if (mlirAttributeIsAInteger(attr))
    return nb::int_(mlirIntegerAttrGetValueInt(attr));
  if (mlirAttributeIsAArray(attr)) {
    nb::list list;
    for (intptr_t i = 0, n = mlirArrayAttrGetNumElements(attr); i < n; ++i)
      list.append(toPython(ctx, mlirArrayAttrGetElement(attr, i)));
    return list;
  }
  if (mlirAttributeIsADictionary(attr)) {
    nb::dict dict;
    for (intptr_t i = 0, n = mlirDictionaryAttrGetNumElements(attr); i < n; ++i) {
      MlirNamedAttribute entry = mlirDictionaryAttrGetElement(attr, i);
      MlirStringRef name = mlirIdentifierStr(entry.name);
      dict[nb::str(name.data, name.length)] = toPython(ctx, entry.attribute);
    }
    return dict;
  }
  return D::PyAttribute(ctx, attr).maybeDownCast();
}
