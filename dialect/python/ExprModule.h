//===- ExprModule.h - Python classes of expressions ------------------------------===//
#ifndef WAVE_PYTHON_EXPRMODULE_H
#define WAVE_PYTHON_EXPRMODULE_H
#include "wave/ExprBridge.h"
#include "mlir/Bindings/Python/IRCore.h"
#include "mlir/Bindings/Python/Nanobind.h"
#include <nanobind/stl/map.h>
#include <map>
#include <optional>

namespace wave {
namespace nb = nanobind;
namespace D = mlir::python::MLIR_BINDINGS_PYTHON_DOMAIN;

struct PyExpr : D::PyConcreteAttribute<PyExpr> {
  static constexpr IsAFunctionTy isaFunction = waveAttributeIsAExpr;
  static constexpr const char *pyClassName = "Expr";
  static constexpr GetTypeIDFunctionTy getTypeIdFunction = waveExprAttrGetTypeID;
  using PyConcreteAttribute::PyConcreteAttribute;
  static void bindDerived(ClassTy &c);
};

/// Knowledge of symbols, independent of a context until it is first used (or has assumptions).
struct PyFacts {
  struct Symbol {
    std::optional<int64_t> lo, hi;
    int64_t modulus = 1, remainder = 0;
  };
  std::map<std::string, Symbol> symbols;
  std::vector<PyExpr> assumptions;

  /// The compiled form for the context; `e` is None for no facts beyond the reserved symbols' sign.
  WaveFacts in(D::PyMlirContextRef ctx);
  PyFacts() = default;
  PyFacts(const PyFacts &o) : symbols(o.symbols), assumptions(o.assumptions) {}
  ~PyFacts() { release(); }

private:
  void release();
  WaveFacts compiled{nullptr};
  std::optional<D::PyMlirContextRef> context; // keeps the context of `compiled` alive
};

/// An expression of the context for an Expr or anything with __index__; false for other types.
bool toExpr(nb::handle h, const D::PyMlirContextRef &ctx, MlirAttribute &out);
/// A symbol's name given as str or as a symbol Expr.
std::string symbolName(nb::handle h);
int64_t toInt64(nb::handle h, const char *what);
std::string textOf(MlirAttribute e);
[[noreturn]] void raise(PyObject *type, const std::string &message);
void check(WaveExprStatus status, const char *operation);
D::PyMlirContextRef currentContext();

void bindFacts(nb::module_ &m);
void bindExprAnalysis(PyExpr::ClassTy &c);
void bindExpressions(nb::module_ &m);
} // namespace wave
#endif
