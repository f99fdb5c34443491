//===- AttrModule.h - what the typed classes share -------------------------------===//
#ifndef WAVE_PYTHON_ATTRMODULE_H
#define WAVE_PYTHON_ATTRMODULE_H
#include "ExprModule.h"
#include "wave/AttrBridge.h"

namespace wave {
/// Fields of an attribute under construction, from Python values.
class Fields {
public:
  explicit Fields(D::PyMlirContextRef ctx) : context(std::move(ctx)) {}
  /// None leaves the field out.
  Fields &symbol(const char *name, nb::handle value);
  Fields &word(const char *name, nb::handle value);
  Fields &expr(const char *name, nb::handle value);
  Fields &integer(const char *name, int64_t value);
  Fields &axis(const char *name, nb::handle value);
  Fields &flag(const char *name, bool value);
  Fields &set(const char *name, MlirAttribute value);
  MlirAttribute dictionary() const;

private:
  D::PyMlirContextRef context;
  std::vector<MlirNamedAttribute> entries;
};

MlirContext contextOf(const D::PyMlirContextRef &ctx);
/// The context given, or the current one; an error says how to make one.
D::PyMlirContextRef contextArgument(nb::handle context);
MlirAttribute stringAttribute(const D::PyMlirContextRef &ctx, const std::string &text);
/// An Expr, an int or text.
MlirAttribute exprArgument(const D::PyMlirContextRef &ctx, nb::handle value);
MlirAttribute symbolArrayArgument(const D::PyMlirContextRef &ctx, nb::handle values);
MlirAttribute exprArrayArgument(const D::PyMlirContextRef &ctx, nb::handle values);
MlirAttribute exprDictionaryArgument(const D::PyMlirContextRef &ctx, nb::handle values);
/// str, int, list, dict, Expr for the builtin attributes; None for null and unit attributes.
nb::object toPython(const D::PyMlirContextRef &ctx, MlirAttribute attr);

void bindTypes(nb::module_ &m);
void bindConstraints(nb::module_ &m);
} // namespace wave
#endif
