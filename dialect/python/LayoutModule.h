//===- LayoutModule.h - Python classes of layouts --------------------------------===//
#ifndef WAVE_PYTHON_LAYOUTMODULE_H
#define WAVE_PYTHON_LAYOUTMODULE_H
#include "wave/LayoutBridge.h"
#include "mlir/Bindings/Python/IRCore.h"
#include "mlir/Bindings/Python/Nanobind.h"
#include <map>
#include <optional>

namespace wave {
namespace nb = nanobind;
namespace D = mlir::python::MLIR_BINDINGS_PYTHON_DOMAIN;
using PyContext = D::PyMlirContextRef;

/// (extent, dim or None, stride)
using PyDigit = std::tuple<int64_t, std::optional<std::string>, int64_t>;
using PyDigits = std::map<std::string, std::vector<PyDigit>>;
using PyExtents = std::vector<std::pair<std::string, int64_t>>;
using PySizes = std::optional<std::map<std::string, int64_t>>;

struct PyLayout : D::PyConcreteAttribute<PyLayout> {
  static constexpr IsAFunctionTy isaFunction = isLayout;
  static constexpr const char *pyClassName = "Layout";
  static constexpr GetTypeIDFunctionTy getTypeIdFunction = layoutTypeID;
  using PyConcreteAttribute::PyConcreteAttribute;
  static void bindDerived(ClassTy &c);
  const LayoutMap &map() { return layoutMapOf(*this); }
  int dim(const std::string &name);
  /// A layout of this context; ValueError with `map`'s error when it is not well formed.
  PyLayout make(const LayoutMap &map);
  PyLayout make(const LayoutResult &result);
};

struct PyLdsLayout : D::PyConcreteAttribute<PyLdsLayout> {
  static constexpr IsAFunctionTy isaFunction = isLdsLayout;
  static constexpr const char *pyClassName = "LdsLayout";
  static constexpr GetTypeIDFunctionTy getTypeIdFunction = ldsLayoutTypeID;
  using PyConcreteAttribute::PyConcreteAttribute;
  static void bindDerived(ClassTy &c);
  const LdsMap &map() { return ldsMapOf(*this); }
};

LayoutSizes sizesOf(const PySizes &sizes);
/// The typed Python attribute, or None for a null one.
nb::object wrapAttribute(const PyContext &ctx, MlirAttribute attr);
/// Checked to be an expression.
MlirAttribute exprOf(D::PyAttribute &attr);

void bindLayoutAlgebra(PyLayout::ClassTy &c);
void bindLayoutPlans(nb::module_ &m);
void bindLayouts(nb::module_ &m);
} // namespace wave
#endif
