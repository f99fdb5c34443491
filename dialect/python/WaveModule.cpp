//===- WaveModule.cpp - the Python extension -----------------------------------===//
#include "PassModule.h"
#include "wave/Bridge.h"
#include "AttrModule.h"
#include "ExprModule.h"
#include "LayoutModule.h"
#include "mlir/Bindings/Python/IRCore.h"
#include "mlir/Bindings/Python/Nanobind.h"
#include "mlir/Bindings/Python/NanobindAdaptors.h"
namespace nb = nanobind;
namespace D = mlir::python::MLIR_BINDINGS_PYTHON_DOMAIN;

NB_MODULE(_wave, m) {
  wave::bindExpressions(m);
  wave::bindLayouts(m);
  wave::bindTypes(m);
  wave::bindConstraints(m);
  m.def("insert_into_registry", [](MlirDialectRegistry r) {
    mlirDialectHandleInsertDialect(mlirGetDialectHandle__wave__(), r);
  });
  m.def("register_dialect", [](D::DefaultingPyMlirContext ctx, bool load) {
    MlirDialectHandle h = mlirGetDialectHandle__wave__();
    mlirDialectHandleRegisterDialect(h, ctx->get());
    if (load)
      mlirDialectHandleLoadDialect(h, ctx->get());
  }, nb::arg("context").none() = nb::none(), nb::arg("load") = true);
  populatePassModule(m);
}
